# SPDX-License-Identifier: Apache-2.0
"""The families of the nineteen models, small: one whole graph each, numbers as PyTorch's, forward and backward."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import transformers as hf
from compiled import assert_agree, on_chip

SMALL: dict[str, Any] = {"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 128}
VISION: dict[str, Any] = {**SMALL, "image_size": 32, "patch_size": 8}


def tokens(count: int = 16) -> dict[str, torch.Tensor]:
    return {"input_ids": torch.randint(3, 500, (2, count))}


def image(height: int = 32, width: int = 32) -> dict[str, torch.Tensor]:
    return {"pixel_values": torch.rand(2, 3, height, width)}


@dataclass(frozen=True)
class Family:
    make: Callable[[], Any]
    inputs: Callable[[], dict[str, torch.Tensor]] = tokens


WORDS: dict[str, Any] = {"vocab_size": 512}
NO_ENDS: dict[str, Any] = {"bos_token_id": 1, "eos_token_id": 2}
FAMILIES: dict[str, Family] = {
    "BERT": Family(lambda: hf.BertModel(hf.BertConfig(**SMALL, **WORDS))),
    "BERT for questions": Family(lambda: hf.BertForQuestionAnswering(hf.BertConfig(**SMALL, **WORDS))),
    "Bloom": Family(lambda: hf.BloomForCausalLM(hf.BloomConfig(n_layer=2, hidden_size=64, n_head=4, **WORDS))),
    "Falcon": Family(
        lambda: hf.FalconForCausalLM(
            hf.FalconConfig(**{k: v for k, v in SMALL.items() if k != "intermediate_size"}, **WORDS)
        )
    ),
    "GPT-2": Family(lambda: hf.GPT2LMHeadModel(hf.GPT2Config(n_layer=2, n_embd=64, n_head=4, **WORDS, **NO_ENDS))),
    "Llama": Family(lambda: hf.LlamaForCausalLM(hf.LlamaConfig(**SMALL, num_key_value_heads=2, **WORDS))),
    "ALBERT": Family(lambda: hf.AlbertForMaskedLM(hf.AlbertConfig(**SMALL, embedding_size=32, **WORDS))),
    "DistilBERT": Family(
        lambda: hf.DistilBertForMaskedLM(hf.DistilBertConfig(n_layers=2, dim=64, n_heads=4, hidden_dim=128, **WORDS))
    ),
    "DeiT": Family(lambda: hf.DeiTForImageClassification(hf.DeiTConfig(**VISION)), image),
    "BEiT": Family(
        lambda: hf.BeitForImageClassification(hf.BeitConfig(**VISION, use_relative_position_bias=True)), image
    ),
    "YOLOS": Family(
        lambda: hf.YolosForObjectDetection(
            hf.YolosConfig(**{**VISION, "image_size": [32, 48]}, num_detection_tokens=5)
        ),
        lambda: image(40, 56),  # positions are resampled
    ),
    "ResNet": Family(
        lambda: hf.ResNetForImageClassification(
            hf.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic")
        ),
        image,
    ),
    "MobileNetV2": Family(
        lambda: hf.MobileNetV2ForImageClassification(hf.MobileNetV2Config(image_size=32, depth_multiplier=0.25)), image
    ),
}


def settled(model: torch.nn.Module, inputs: dict[str, torch.Tensor]) -> torch.nn.Module:
    """Statistics of batch norms as of these inputs, and shifts that let most values pass relu.

    With those of a new model values vanish with depth, and f32 differs from f64 by more than the tolerance.
    """
    norms = [m for m in model.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = None
        torch.nn.init.uniform_(norm.weight, 0.5, 1.5)
        torch.nn.init.normal_(norm.bias, mean=1.0, std=0.1)
    if norms:
        with torch.no_grad():
            model.train()(**inputs)
    return model.eval()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
@pytest.mark.parametrize("name", FAMILIES)
def test_runs_like_pytorch(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    family = FAMILIES[name]
    inputs = family.inputs()
    model = settled(family.make(), inputs).to(dtype)
    inputs = {k: v.to(dtype) if v.is_floating_point() else v for k, v in inputs.items()}
    with torch.no_grad():
        want = model(**inputs)
        assert_agree(on_chip(model)(**inputs), want, name)


@pytest.mark.parametrize("name", ["BERT for questions", "GPT-2", "ResNet"])
def test_gradients_are_those_of_pytorch(name: str) -> None:
    torch.manual_seed(0)
    family = FAMILIES[name]
    inputs = family.inputs()
    model = settled(family.make(), inputs)
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
