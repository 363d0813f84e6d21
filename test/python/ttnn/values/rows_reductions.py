# SPDX-License-Identifier: Apache-2.0
"""Calls of functions along dimensions: reductions, running sums, orders, softmax and normalizations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from composite_cases import of
from value_rows import ALL, FLOATS, NUMBERS, WIDE, Rows

Tensor = torch.Tensor
INF, NAN = float("inf"), float("nan")
SPECIAL = torch.tensor(
    [[0.0, -0.0, 1.0, -1.0], [INF, 1.0, 2.0, 3.0], [INF, -INF, 0.0, 1.0], [NAN, 1.0, INF, 3.0],
     [1.0, 2.0, 3.0, NAN], [-INF, -INF, -INF, -INF], [1e30, 1e30, -1e30, 2.0], [-2.0, -2.0, -2.0, -3.0]]
)  # fmt: skip
# Every way to name dimensions, and tensors without elements, of one, and of odd sizes.
DIMS: list[dict[str, Any]] = [
    {"input_tensor": x, "dim": dim, "keepdim": keepdim}
    for x in (of(2, 3, 5, 37), of(1, 1, 1, 1))
    for dim in (None, 0, 1, -1, -2, [0], [-1, -2], [0, 2], [1, 2, 3], [0, 1, 2, 3])
    for keepdim in (False, True)
] + [
    {"input_tensor": x, "dim": dim, "keepdim": keepdim}
    for x in (of(33, 70), SPECIAL) for dim in (0, 1) for keepdim in (False, True)
] + [{"input_tensor": of(7), "dim": 0}, {"input_tensor": of(), "dim": None},
     {"input_tensor": of(3, 0, 2), "dim": 0}]  # fmt: skip
EMPTY: list[dict[str, Any]] = [
    {"input_tensor": of(3, 0, 2), "dim": dim, "keepdim": keepdim}
    for dim in (1, None, [0, 1])
    for keepdim in (False, True)
]


def along(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Returns a reduction of any dimensions; all where none is named."""

    def reduced(input_tensor: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        all_of = list(range(input_tensor.dim())) if dim is None else dim
        return function(input_tensor, all_of, keepdim) if all_of != [] else input_tensor

    return reduced


def prod(input_tensor: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    if dim is not None:
        return input_tensor.prod(dim, keepdim)
    found = input_tensor.prod()
    return found.reshape([1] * input_tensor.dim()) if keepdim else found


def scan(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def running(dim: int, **tensors: Tensor) -> Tensor:
        [x] = tensors.values()
        return function(x, dim)

    return running


def scanned(name: str) -> list[dict[str, Any]]:
    return [
        {name: x, "dim": d}
        for x, dims in ((of(2, 3, 33, 5), (0, 1, 2, 3, -1, -2)), (SPECIAL, (0, 1)), (of(1, 1), (0,)), (of(9), (0,)),
                        (of(0, 4), (0, 1)), (of(3, 70), (1,)))
        for d in dims
    ]  # fmt: skip


TIES = torch.tensor([[1.0, 3.0, 3.0, 1.0, 2.0], [0.0, -0.0, 0.0, -0.0, 0.0], [NAN, 1.0, NAN, INF, -INF],
                     [5.0, 4.0, 3.0, 2.0, 1.0], [7.0, 7.0, 7.0, 7.0, 7.0]])  # fmt: skip


def argmax(input_tensor: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    return torch.argmax(input_tensor, dim, keepdim)


def topk(input_tensor: Tensor, k: int, dim: int = -1, largest: bool = True) -> tuple[Tensor, None]:
    return torch.topk(input_tensor, k, dim, largest)[0], None


def ordered(input_tensor: Tensor, dim: int = -1, descending: bool = False, stable: bool = True) -> list[Tensor]:
    return list(torch.sort(input_tensor, dim=dim, descending=descending, stable=True))


def softmax(input_tensor: Tensor, dim: int = -1, numeric_stable: bool = True) -> Tensor:
    return torch.softmax(input_tensor, dim)


BOUNDS = torch.tensor([[100.0, 0.0, -100.0, 3.0], [3e38, 1.0, 2.0, 3.0], [-INF, 0.0, 1.0, 2.0], [INF, 0.0, 1.0, 2.0],
                       [NAN, 0.0, 1.0, 2.0], [-INF, -INF, -INF, -INF], [5.0, 5.0, 5.0, 5.0]])  # fmt: skip


def vector(value: Tensor | None) -> Tensor | None:
    return None if value is None else value.reshape(-1)


def layer_norm(input_tensor: Tensor, epsilon: float = 1e-12, weight: Tensor | None = None, bias: Tensor | None = None,
               residual_input_tensor: Tensor | None = None) -> Tensor:  # fmt: skip
    x = input_tensor if residual_input_tensor is None else input_tensor + residual_input_tensor
    return F.layer_norm(x, x.shape[-1:], vector(weight), vector(bias), epsilon)


def rms_norm(input_tensor: Tensor, epsilon: float = 1e-12, weight: Tensor | None = None, bias: Tensor | None = None,
             residual_input_tensor: Tensor | None = None) -> Tensor:  # fmt: skip
    x = input_tensor if residual_input_tensor is None else input_tensor + residual_input_tensor
    y = F.rms_norm(x, x.shape[-1:], vector(weight), epsilon)
    return y if bias is None else y + bias


NORMS: list[dict[str, Any]] = [
    {"input_tensor": of(*shape, size), "epsilon": 1e-5, **own}
    for shape, size in (((2, 3, 5), 37), ((4,), 64), ((1, 1), 1), ((), 9), ((0,), 8))
    for own in ({}, {"weight": of(size)}, {"weight": of(size), "bias": of(size)},
                {"weight": of(1, size), "residual_input_tensor": of(*shape, size)})
] + [{"input_tensor": SPECIAL[:6], "epsilon": 1e-5}, {"input_tensor": of(3, 40)},
     {"input_tensor": torch.full((2, 8), 3.0), "epsilon": 1e-5}]  # fmt: skip


def group_norm(input_tensor: Tensor, num_groups: int, epsilon: float, weight: Tensor | None = None,
               bias: Tensor | None = None) -> Tensor:  # fmt: skip
    batch, _, area, channels = input_tensor.shape
    x = input_tensor.reshape(batch, area, channels).permute(0, 2, 1)
    found = F.group_norm(x, num_groups, vector(weight), vector(bias), epsilon)
    return found.permute(0, 2, 1).reshape(input_tensor.shape)


def batch_norm(input: Tensor, eps: float = 1e-5, training: bool = False, momentum: float = 0.1,
               **parts: Tensor) -> Tensor:  # fmt: skip
    mean, variance, weight, bias = (vector(parts.get(name)) for name in (
        "running_mean", "running_var", "weight", "bias"))  # fmt: skip
    return F.batch_norm(input, mean, variance, weight, bias, training, momentum, eps)


CHANNELS = of(1, 6, 1, 1)
POSITIVE = torch.tensor([0.5, 1.0, 2.0, 0.25, 4.0, 1.5]).reshape(1, 6, 1, 1)

TABLE: dict[str, Rows] = {
    "sum": Rows(along(torch.sum), ALL, DIMS + EMPTY),
    "mean": Rows(along(torch.mean), FLOATS, DIMS + EMPTY),
    "max": Rows(along(torch.amax), ALL, DIMS),
    "min": Rows(along(torch.amin), ALL, DIMS),
    "prod": Rows(prod, WIDE + " i32", [row for row in DIMS + EMPTY if not isinstance(row.get("dim"), list)], 4),
    "moreh_sum": Rows(
        lambda input, dim=None, keepdim=False: along(torch.sum)(input, dim, keepdim), NUMBERS,
        [{"input" if k == "input_tensor" else k: v for k, v in row.items()} for row in DIMS]),
    "argmax": Rows(argmax, FLOATS, [
        {"input_tensor": x, "dim": d, "keepdim": k}
        for x in (of(3, 5, 37), of(1, 1, 1), TIES, SPECIAL) for d in (None, 0, -1) for k in (False, True)
    ] + [{"input_tensor": of(0, 4), "dim": 1}]),
    "cumsum": Rows(scan(torch.cumsum), NUMBERS, scanned("input")),
    "cumprod": Rows(scan(torch.cumprod), WIDE, scanned("input_tensor"), 4),
    "sort": Rows(ordered, FLOATS, [
        {"input_tensor": x, "dim": dim, "descending": d, "stable": True}
        for x, dims in ((of(2, 5, 37), (0, 1, -1)), (TIES, (0, 1)), (SPECIAL, (1,)), (of(1, 1), (0,)), (of(9), (0,)),
                        (of(0, 4), (0, 1)))
        for dim in dims for d in (False, True)]),
    "topk": Rows(topk, FLOATS, [
        {"input_tensor": x, "k": k, "dim": dim, "largest": largest}
        for x, ks, dims in ((of(2, 5, 37), (1, 4), (1, -1)), (of(3, 70), (32,), (1,)), (TIES, (3, 5), (1,)),
                            (SPECIAL, (1, 2), (0, 1)), (of(1, 1), (1,), (0, 1)), (of(0, 4), (2,), (1,)))
        for k in ks for dim in dims for largest in (True, False)]),
    "softmax": Rows(softmax, FLOATS, [
        {"input_tensor": x, "dim": d}
        for x, dims in ((of(2, 3, 33, 5), (0, 1, 2, 3, -2)), (BOUNDS, (0, 1)), (of(1, 1), (0,)), (of(9), (0,)),
                        (of(0, 4), (0, 1)), (of(4, 0), (1,)), (of(3, 130), (1,)))
        for d in dims] + [{"input_tensor": of(4, 40), "numeric_stable": False}]),
    "layer_norm": Rows(layer_norm, FLOATS, NORMS, 3),
    "rms_norm": Rows(rms_norm, FLOATS, NORMS, 3),
    "group_norm": Rows(group_norm, FLOATS, [
        {"input_tensor": of(n, 1, area, channels), "num_groups": groups, "epsilon": 1e-5, **own}
        for n, area, channels in ((2, 12, 6), (1, 1, 3), (1, 33, 64))
        for groups in (1, 3 if channels < 64 else 4, channels)
        for own in ({}, {"weight": of(1, 1, 1, channels), "bias": of(1, 1, 1, channels)})
        if area > 1 or groups < channels], 4),
    "batch_norm": Rows(batch_norm, WIDE, [
        {"input": of(n, 6, h, 5), **own} for n, h in ((2, 7), (1, 1)) for own in (
            {"running_mean": CHANNELS, "running_var": POSITIVE},
            {"running_mean": CHANNELS, "running_var": POSITIVE, "weight": CHANNELS, "bias": CHANNELS, "eps": 1e-3},
            {"running_mean": CHANNELS, "running_var": POSITIVE, "weight": CHANNELS, "bias": CHANNELS,
             "training": True},
            {"training": True}, {"running_mean": CHANNELS, "running_var": POSITIVE, "weight": CHANNELS})], 4),
}  # fmt: skip
