# SPDX-License-Identifier: Apache-2.0
"""Ops at the limits of their attributes: sizes of 0, operands of rank 0, NaN."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import pybuda
import pytest
import torch
from modules import Function, read
from pybuda import op

IMAGE = torch.ones(1, 1, 5, 5)
KERNEL = torch.ones(1, 1, 2, 2)
SCALAR = torch.tensor(1.0)

# (op, operands, what the error says)
REFUSED: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...], str]] = {
    "stride of Conv2d": (lambda x, w: op.Conv2d("op", x, w, stride=0), (IMAGE, KERNEL), "stride is 0; expected 1"),
    "stride of MaxPool2d": (lambda x: op.MaxPool2d("op", x, 2, stride=0), (IMAGE,), "stride is 0; expected 1"),
    "divisor": (
        lambda x: op.AvgPool2d("op", x, 2, divisor_override=0), (IMAGE,), "divisor_override is 0; expected another",
    ),
    "Clip without a number": (
        lambda x: op.Clip("op", x, math.nan, 1.0), (IMAGE,), "min is nan and max is 1.0; expected",
    ),
    "PadTile of rank 0": (lambda x: op.PadTile("op", x, 0, 1), (SCALAR,), "the operand has rank 0; expected 1"),
    "PadTile of another size": (
        lambda x: op.PadTile("op", x, 1, 40), (torch.ones(2, 6),), "original_length is 40; dimension 1 has size 6",
    ),
    "BinaryStack of rank 0": (
        lambda a, b: op.BinaryStack("op", a, b, 0), (SCALAR, SCALAR), "the operand has rank 0; expected 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    function, operands, message = REFUSED[name]
    with pytest.raises(pybuda.PyBudaError, match=rf"pybuda\.op\.\w+ 'op': {re.escape(message)}"):
        read(pybuda.run_inference(Function("limits", function), inputs=[operands]))


@pytest.mark.parametrize("threshold", [0.0, 0.5])
def test_relu_keeps_nan(threshold: float) -> None:
    x = torch.tensor([[math.nan, math.inf, -math.inf, 0.25, 0.5, 2.0]])
    module = Function("limits", lambda x: op.Relu("relu", x, threshold=threshold))
    (result,) = read(pybuda.run_inference(module, inputs=[(x,)]))
    expected = [0.25, 0.5] if threshold == 0 else [0.0, 0.0]
    assert math.isnan(result[0, 0])
    assert result[0, 1:].tolist() == [math.inf, 0.0, *expected, 2.0]
