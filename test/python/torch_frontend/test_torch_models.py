# SPDX-License-Identifier: Apache-2.0
"""The nineteen models, small: one whole graph each, numbers as PyTorch's, forward and backward."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch_zoo
from compiled import assert_agree, error_of, on_chip
from ttmlir.torch.metrics import tensors
from ttmlir.torch.report import record

# Rows that differ in sizes only are one model when small.
NAMES = list({(row.architecture, row.train): name for name, row in reversed(torch_zoo.MODELS.items())}.values())[::-1]


def results(name: str, dtype: torch.dtype, wrap: Any = lambda model: model) -> Any:
    model, inputs = torch_zoo.make(name, small=True, dtype=dtype)
    torch.manual_seed(0)
    with torch.no_grad():
        return wrap(model)(**inputs)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NAMES)
def test_runs_whole_with_the_numbers_of_pytorch(name: str) -> None:
    with record() as reports:
        got = results(name, torch.float32, on_chip)
    assert_agree(got, results(name, torch.float32), name)
    assert [(r.kind, r.on_host, len(r.programs)) for r in reports] == [("forward", {}, 1)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NAMES)
def test_bf16_is_as_exact_as_pytorch(name: str) -> None:
    """Within the tolerance of PyTorch's bf16, or no farther from f32 than that is: deep networks amplify roundings."""
    exact, want, got = (
        tensors(results(name, dtype, wrap))
        for dtype, wrap in ((torch.float32, lambda m: m), (torch.bfloat16, lambda m: m), (torch.bfloat16, on_chip))
    )
    assert len(got) == len(want) == len(exact)
    for i, (a, b, f32) in enumerate(zip(got, want, exact, strict=True)):
        assert a.dtype is b.dtype and a.shape == b.shape
        if error_of(a, b) > 4e-2:
            assert error_of(a, f32) <= 1.25 * error_of(b, f32), f"{name} output {i}"


@pytest.mark.long
@pytest.mark.parametrize("name", ["BERT", "GPT-2", "ResNet18"])
def test_gradients_are_those_of_pytorch(name: str) -> None:
    model, inputs = torch_zoo.make(name, small=True)
    grads = []
    for run in (model, on_chip(model)):
        model.zero_grad()
        output = run(**inputs)
        loss = output[0].float().square().mean()
        loss.backward()
        grads.append([p.grad.clone() for p in model.parameters() if p.grad is not None])
    want, got = grads
    assert len(want) > 5
    # Each gradient as a part of the range of its own; those that are rounding noise around zero, of the largest.
    largest = max(float(g.abs().max()) for g in want)
    for a, b in zip(got, want, strict=True):
        scale = max(float(b.abs().max()), 1e-4 * largest)
        assert float((a - b).abs().max()) <= 1e-4 * scale


def test_the_table_has_the_nineteen_models_as_published() -> None:
    assert len(torch_zoo.MODELS) == 19
    on_meta = {}
    with torch.device("meta"):
        for name, row in torch_zoo.MODELS.items():
            on_meta[name] = sum(p.numel() for p in torch_zoo.models.network(row, small=False).parameters()) / 1e6
    # Millions of parameters, as the model cards have them; Falcon and Llama with 4 of 32 layers.
    published = {
        "BERT": 334, "Bloom": 1065, "GPT-2": 124, "Mnist (Eval)": 1.2, "MobileNetV2": 3.5, "ResNet18": 11.7,
        "YOLOS": 6.5, "albert/albert-base-v2": 11.2, "albert/albert-large-v2": 16.7, "albert/albert-xlarge-v2": 54.8,
        "albert/albert-xxlarge-v2": 206, "distilbert-base-uncased": 67, "facebook/deit-base-patch16-224": 86.6,
        "microsoft/beit-base-patch16-224": 86.5, "microsoft/beit-large-patch16-224": 304,
    }  # fmt: skip
    for name, millions in published.items():
        assert on_meta[name] == pytest.approx(millions, rel=0.02), name
    assert {name: row.note for name, row in torch_zoo.MODELS.items() if row.note} == {
        "Falcon": "4 of 32 layers",
        "Llama": "4 of 32 layers",
    }


def test_a_name_of_the_hub_is_known_and_another_is_not() -> None:
    assert torch_zoo.names(["openai-community/gpt2", "BERT"]) == ["GPT-2", "BERT"]
    with pytest.raises(KeyError, match="no model 'gpt3'; there are BERT, Bloom"):
        torch_zoo.names(["gpt3"])
