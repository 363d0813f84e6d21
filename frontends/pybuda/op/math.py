# SPDX-License-Identifier: Apache-2.0
"""Elementwise ops, reductions and products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ..capture.formats import copied
from ..errors import PyBudaError
from .registry import op

# Ops of one or two operands that are functions of PyTorch.
UNARY: dict[str, tuple[Callable[..., torch.Tensor], str]] = {
    "Exp": (torch.exp, "e to the power of each element."),
    "Log": (torch.log, "The natural logarithm of each element."),
    "Sqrt": (torch.sqrt, "The square root of each element."),
    "Abs": (torch.abs, "The absolute value of each element."),
    "Reciprocal": (torch.reciprocal, "One over each element."),
    "Sigmoid": (torch.sigmoid, "1 / (1 + e^-x) of each element."),
    "Tanh": (torch.tanh, "The hyperbolic tangent of each element."),
    "Sine": (torch.sin, "The sine of each element."),
    "Cosine": (torch.cos, "The cosine of each element."),
    "LogicalNot": (lambda x: (x == 0).to(x.dtype), "1 where an element is 0, else 0."),
    "Buffer": (copied, "The operand, held in a buffer of its own."),
    "Tilize": (torch.clone, "The operand in tiles, as a module's results are in any case."),
}
BINARY: dict[str, tuple[Callable[..., torch.Tensor], str]] = {
    "Add": (torch.add, "The elementwise sum; operands are broadcast."),
    "Subtract": (torch.sub, "The elementwise difference; operands are broadcast."),
    "Multiply": (torch.mul, "The elementwise product; operands are broadcast."),
    "Divide": (torch.div, "The elementwise quotient; operands are broadcast."),
    "Max": (torch.maximum, "The larger of two elements; operands are broadcast."),
    "Min": (torch.minimum, "The smaller of two elements; operands are broadcast."),
    "Power": (torch.pow, "operandA to the power of operandB, elementwise."),
    "Heaviside": (torch.heaviside, "0 where operandA is below 0, 1 where it is above, operandB where it is 0."),
    "LogicalAnd": (
        lambda a, b: torch.logical_and(a, b).to(a.dtype),
        "1 where neither element is 0, else 0; operands are broadcast.",
    ),
}
# 1 where a comparison holds, else 0.
COMPARISONS: dict[str, Callable[..., torch.Tensor]] = {
    "Greater": torch.gt, "GreaterEqual": torch.ge, "Less": torch.lt, "LessEqual": torch.le, "Equal": torch.eq,
    "NotEqual": torch.ne,
}  # fmt: skip


def _unary(name: str, function: Callable[..., torch.Tensor], text: str) -> Callable[..., Any]:
    def row(operandA: torch.Tensor) -> torch.Tensor:
        return function(operandA)

    row.__name__, row.__doc__ = name, text
    return op(row)


def _binary(name: str, function: Callable[..., torch.Tensor], text: str) -> Callable[..., Any]:
    def row(operandA: torch.Tensor, operandB: torch.Tensor) -> torch.Tensor:
        return function(operandA, operandB)

    row.__name__, row.__doc__ = name, text
    return op(row)


for _name, (_function, _text) in UNARY.items():
    globals()[_name] = _unary(_name, _function, _text)
for _name, (_function, _text) in BINARY.items():
    globals()[_name] = _binary(_name, _function, _text)
for _name, _function in COMPARISONS.items():
    globals()[_name] = _binary(
        _name, lambda a, b, f=_function: f(a, b).to(a.dtype), f"1 where operandA is {_name} operandB, else 0."
    )


@op
def Matmul(operandA: torch.Tensor, operandB: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """Returns the product of matrices, operandA operandB + bias."""
    product = torch.matmul(operandA, operandB)
    return product if bias is None else product + bias


@op
def SparseMatmul(sparseA: torch.Tensor, denseB: torch.Tensor) -> torch.Tensor:
    """Returns the product of a matrix, most elements of which are 0, and a dense one. sparseA may be a sparse tensor of
    PyTorch; the chip multiplies its dense form."""
    dense = sparseA.to_dense() if sparseA.layout is not torch.strided else sparseA
    return torch.matmul(dense, denseB)


@op
def Constant(*, constant: float) -> torch.Tensor:
    """Returns a tensor of one element."""
    return torch.full((1,), float(constant))


@op
def Identity(operandA: torch.Tensor, unsqueeze: str | None = None, unsqueeze_dim: int | None = None) -> torch.Tensor:
    """Returns the operand; with `unsqueeze` with one more dimension, of size 1, at `unsqueeze_dim`."""
    if unsqueeze is None:
        return operandA
    if unsqueeze_dim is None:
        raise PyBudaError("unsqueeze has no unsqueeze_dim; expected where the dimension is inserted")
    return operandA.unsqueeze(unsqueeze_dim)


@op
def ReduceSum(operandA: torch.Tensor, dim: int) -> torch.Tensor:
    """Returns the sum over a dimension, which stays with size 1."""
    return operandA.sum(dim, keepdim=True)


@op
def ReduceAvg(operandA: torch.Tensor, dim: int) -> torch.Tensor:
    """Returns the mean over a dimension, which stays with size 1."""
    return operandA.mean(dim, keepdim=True)


@op
def GroupedReduceAvg(operandA: torch.Tensor, dim: int, groups: int, keep_dims: bool = False) -> torch.Tensor:
    """Returns the means of `groups` equal parts of a dimension, in order; with `keep_dims` each element is the mean of
    its part."""
    size = operandA.shape[dim]
    if not isinstance(groups, int) or groups < 1 or size % groups:
        raise PyBudaError(f"groups is {groups!r}; expected a divisor of the size of dimension {dim}, {size}")
    dim = dim % operandA.dim()
    means = operandA.unflatten(dim, (groups, size // groups)).mean(dim + 1)
    return means.repeat_interleave(size // groups, dim) if keep_dims else means


@op
def ReduceMax(operandA: torch.Tensor, dim: int, stride: int = -1) -> torch.Tensor:
    """Returns the largest element over a dimension, which stays with size 1; with a stride that of each `stride`
    elements, in order."""
    if stride == -1:
        return operandA.amax(dim, keepdim=True)
    size = operandA.shape[dim]
    if not isinstance(stride, int) or stride < 1 or size % stride:
        raise PyBudaError(f"stride is {stride!r}; expected a divisor of the size of dimension {dim}, {size}, or -1")
    dim = dim % operandA.dim()
    return operandA.unflatten(dim, (size // stride, stride)).amax(dim + 1)


@op
def CumSum(operandA: torch.Tensor, axis: int, exclusive: bool = False) -> torch.Tensor:
    """Returns sums of all elements up to each one along a dimension; with `exclusive` without that one itself."""
    sums = operandA.cumsum(axis)
    return sums - operandA if exclusive else sums


@op
def Pow(operandA: torch.Tensor, exponent: float) -> torch.Tensor:
    """Returns each element to the power of a number."""
    return torch.pow(operandA, exponent)


@op
def Where(condition: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Returns elements of x where the condition is not 0, else of y; operands are broadcast."""
    return torch.where(condition != 0, x, y)


@op
def Dropout(operandA: torch.Tensor, p: float = 0.5, training: bool = True, seed: int = 0) -> torch.Tensor:
    """Sets each element to 0 with probability p, and divides the others by 1 - p; without `training` returns the
    operand. The mask is that of the seed: the same at each call."""
    if not 0 <= p <= 1:
        raise PyBudaError(f"p is {p}; expected 0 to 1")
    if not training or p == 0:
        return operandA
    kept = np.random.default_rng(seed).random(tuple(operandA.shape), np.float32) >= p
    scale = 0.0 if p == 1 else 1 / (1 - p)
    return operandA * torch.from_numpy(kept.astype(np.float32) * np.float32(scale)).to(operandA.dtype)


@op
def Argmax(operandA: torch.Tensor, dim: int | None = None) -> torch.Tensor:
    """Returns the position of the largest element along `dim`, which stays with size 1; without `dim` of the whole
    tensor."""
    return operandA.argmax().reshape(1) if dim is None else operandA.argmax(dim, keepdim=True)


@op
def Clip(operandA: torch.Tensor, min: float, max: float) -> torch.Tensor:
    """Returns each element, not below `min` and not above `max`."""
    if not min <= max:
        raise PyBudaError(f"min is {min} and max is {max}; expected numbers, and min not above max")
    return operandA.clamp(min, max)


@op
def Relu(operandA: torch.Tensor, threshold: float = 0.0, mode: str = "min") -> torch.Tensor:
    """Returns mode "min": elements above the threshold, else 0. "max": elements not above the threshold."""
    if mode not in ("min", "max"):
        raise PyBudaError(f"mode is {mode!r}; expected 'min' or 'max'")
    if mode == "max":
        return operandA.clamp(max=threshold)
    return torch.relu(operandA) if threshold == 0 else torch.where(operandA <= threshold, 0.0, operandA)


@op
def LeakyRelu(operandA: torch.Tensor, alpha: float) -> torch.Tensor:
    """Returns elements above 0, `alpha` times the others."""
    return torch.nn.functional.leaky_relu(operandA, alpha)


@op
def Gelu(operandA: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    """Returns the Gaussian error linear unit, exact ("none") or by tanh ("tanh")."""
    return torch.nn.functional.gelu(operandA, approximate=approximate)
