# SPDX-License-Identifier: Apache-2.0
"""The benchmark of text on a small model: both sides run, on weights that a file holds."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT))

from forked import forked_output_of  # noqa: E402

from bench.frontends import text  # noqa: E402
from bench.frontends.text_child import make, mapped_model  # noqa: E402
from bench.harness import Measure, Result, Settings  # noqa: E402
from bench.isolated import output_of  # noqa: E402
from bench.names import EAGER  # noqa: E402

SMALL = {
    "vocab_size": 320, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2,
}  # fmt: skip


def test_weights_are_those_of_the_file(tmp_path: Path) -> None:
    shape, path = json.dumps(SMALL), str(tmp_path / "weights")
    make(shape, path)
    model = mapped_model(shape, path)
    values = torch.frombuffer(bytearray(Path(path).read_bytes()), dtype=torch.bfloat16)
    assert values.numel() == sum(weight.numel() for weight in model.parameters())
    first, *_, last = model.parameters()
    assert torch.equal(first.flatten(), values[: first.numel()])
    assert torch.equal(last.flatten(), values[-last.numel() :])
    assert 0.01 < float(values.float().std()) < 0.03
    assert torch.equal(model.model.norm.weight, torch.ones(64, dtype=torch.bfloat16))


@pytest.mark.long
def test_both_sides_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "output_of", forked_output_of)
    monkeypatch.setattr(text, "TOKENS", 6)
    outcomes = list(text.benchmark("small", {**SMALL, "num_hidden_layers": 1}, Settings(peers=(EAGER,))))
    assert [type(outcome) for outcome in outcomes] == [Result, Measure, Measure]
    result, ours, theirs = outcomes
    assert isinstance(result, Result) and result.peer == EAGER and result.ratio is not None
    assert isinstance(ours, Measure) and ours.value > 0 and "first token" in ours.note
    assert isinstance(theirs, Measure) and theirs.name == f"small, {EAGER}, peak memory"


def test_a_side_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match=r"^no weights$"):
        output_of([sys.executable, "-c", "raise SystemExit('first\\nno weights')"])
    with pytest.raises(RuntimeError, match=r"^ended with 3$"):
        output_of([sys.executable, "-c", "raise SystemExit(3)"])
