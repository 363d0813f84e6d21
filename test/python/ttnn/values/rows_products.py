# SPDX-License-Identifier: Apache-2.0
"""Calls of products of matrices, with all transposes, broadcasts, biases and activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from composite_cases import of
from value_rows import FLOATS, NUMBERS, Rows

Tensor = torch.Tensor
INF, NAN = float("inf"), float("nan")
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "silu": F.silu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
}


def product(input_tensor_a: Tensor, input_tensor_b: Tensor, bias: Tensor | None = None, transpose_a: bool = False,
            transpose_b: bool = False, activation: str | None = None) -> Tensor:  # fmt: skip
    a = input_tensor_a.mT if transpose_a else input_tensor_a
    b = input_tensor_b.mT if transpose_b else input_tensor_b
    found = a @ b if bias is None else a @ b + bias
    return ACTIVATIONS[activation](found) if activation else found


def shapes(m: int, k: int, n: int, *batches: tuple[int, ...]) -> list[dict[str, Any]]:
    """Returns products of [m, k] and [k, n] with all transposes."""
    first, second = batches or ((), ())
    return [
        {"input_tensor_a": of(*first, *((k, m) if ta else (m, k))), "transpose_a": ta, "transpose_b": tb,
         "input_tensor_b": of(*second, *((n, k) if tb else (k, n)))}
        for ta in (False, True) for tb in (False, True)
    ]  # fmt: skip


MATRICES = [
    *shapes(5, 37, 7), *shapes(33, 64, 65), *shapes(1, 1, 1), *shapes(64, 32, 96), *shapes(1, 130, 3),
    *shapes(5, 7, 6, (2, 3), (2, 3)), *shapes(5, 7, 6, (2, 3), ()), *shapes(5, 7, 6, (1, 3), (2, 1)),
    *shapes(5, 7, 6, (), (2, 3)), *shapes(0, 4, 3), *shapes(3, 4, 0), *shapes(3, 0, 4), *shapes(2, 3, 4, (0,), (0,)),
]  # fmt: skip
STRANGE = torch.tensor([[1.0, INF, 2.0], [NAN, 1.0, 2.0], [INF, -INF, 0.0], [0.0, -0.0, 1.0]])
SIMPLE = torch.tensor([[1.0, 0.0], [1.0, 2.0], [-1.0, 1.0]])


def linears(m: int, k: int, n: int, *batch: int) -> list[dict[str, Any]]:
    biases = [of(n), of(1, n), of(*batch, 1, n), of(m, n)]
    return [
        {**row, "bias": bias, "activation": activation}
        for row in shapes(m, k, n, batch, ())[:2]
        for bias, activation in zip([None, *biases], [None, "gelu", None, "relu", "silu"], strict=True)
    ]


TABLE: dict[str, Rows] = {
    "matmul": Rows(product, NUMBERS, [
        *MATRICES, {"input_tensor_a": STRANGE, "input_tensor_b": SIMPLE},
        {"input_tensor_a": SIMPLE, "input_tensor_b": STRANGE[:2]},
        {"input_tensor_a": of(7), "input_tensor_b": of(7)}, {"input_tensor_a": of(3, 7), "input_tensor_b": of(7)},
        {"input_tensor_a": of(7), "input_tensor_b": of(7, 4)},
        {"input_tensor_a": of(2, 5, 7), "input_tensor_b": of(7)}], 2),
    "linear": Rows(product, FLOATS, [
        *linears(5, 37, 7), *linears(33, 64, 40, 2), *linears(1, 1, 1), *linears(2, 0, 3), *linears(0, 3, 2)] + [
        {"input_tensor_a": of(3, 9), "input_tensor_b": of(9, 5), "activation": activation}
        for activation in ACTIVATIONS], 2),
}  # fmt: skip
