# SPDX-License-Identifier: Apache-2.0
"""Pointwise functions of aten over zeros of both signs, infinities, NaN, ties and ends of the range: as eager PyTorch.

Every overload that PyTorch tags as pointwise is here, whether a rule lowers it, PyTorch decomposes it, or PyTorch runs
it; numbers are arguments of the overloads that take them.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from compiled import on_chip

DTYPES = (torch.float32, torch.bfloat16, torch.float16)
MANTISSA = {torch.float32: 23, torch.bfloat16: 7, torch.float16: 10}
RELATIVE = {torch.float32: 2e-5, torch.bfloat16: 2**-7, torch.float16: 2**-9}
BITS = {2: torch.int16, 4: torch.int32}
NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -3.0, 2.0, 3.0, -2.0, math.inf, -math.inf, math.nan, 6.0]
FEW = [0.0, -0.0, 1.0, -1.0, 2.5, -3.0, math.inf, -math.inf, math.nan]
VALUES: dict[str, list[Any]] = {
    "number": NUMBERS,
    "float": NUMBERS,
    "Optional[number]": NUMBERS,
    "int": [1, 2],
    "bool": [False, True],
}
KEYWORDS: dict[str, list[dict[str, Any]]] = {
    "div.Tensor_mode": [{"rounding_mode": how} for how in ("trunc", "floor", None)],
    "div.Scalar_mode": [{"rounding_mode": how} for how in ("trunc", "floor", None)],
}
# Zeros of extremes have the order of IEEE 754-2019 (docs/numerics.md), which test_torch_order.py is about.
OF_ORDER = ("relu", "relu6", "hardtanh", "clamp", "clip", "maximum", "minimum", "fmax", "fmin", "max", "min")
# PyTorch's zeros have the sign of a rounding: of a slope below the least number, and of log2(1/2 + 1/2).
OF_ROUNDING = ("gelu_backward", "logaddexp2")
LEFT_OUT = {
    "equal": "its result is no tensor",
    "lerp": "near the largest number its result depends on which of its roundings are fused",
    "native_dropout_backward": "its second operand is a mask",
    "polygamma": "at poles PyTorch has a large number for infinity",
    "sigmoid_backward": "products of three overflow in another order",
    "silu_backward": "products of three overflow in another order",
    "tanh_backward": "products of three overflow in another order",
}
# Functions that PyTorch gives no tag.
UNTAGGED = [torch.ops.aten.floor_divide.default, torch.ops.aten.floor_divide.Scalar, torch.ops.aten.hardswish.default]


def overloads() -> Iterator[Any]:
    yield from UNTAGGED
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        for overload in packet.overloads() if name not in LEFT_OUT and hasattr(packet, "overloads") else ():
            function = getattr(packet, overload)
            if torch.Tag.pointwise in function.tags and not function._schema.is_mutable:
                yield function


def name_of(function: Any) -> str:
    return str(function).removeprefix("aten.").removesuffix(".default")


def table(dtype: torch.dtype) -> torch.Tensor:
    info, tie = torch.finfo(dtype), 2.0 ** MANTISSA[dtype]
    half = [0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 6.0, 7.0, 20.0, 100.0, 0.49999997, math.inf, math.nan]
    half += [info.smallest_normal, info.smallest_normal / 2, info.max, tie - 0.5, tie, tie + 1]
    smallest = torch.ones(1, dtype=BITS[dtype.itemsize]).view(dtype)
    values = torch.cat([torch.tensor(half, dtype=torch.float64).to(dtype), smallest])
    return torch.cat([values, -values])


def tensors(dtype: torch.dtype, count: int) -> list[torch.Tensor]:
    values = table(dtype) if count < 3 else torch.tensor(FEW).to(dtype)
    return [part.reshape(-1).contiguous() for part in torch.meshgrid(*[values] * count, indexing="ij")]


def calls(function: Any) -> Iterator[tuple[int, Callable[..., Any]]]:
    """The number of tensors, and the function of them, for all numbers that it takes besides."""
    parameters = [p for p in function._schema.arguments if not p.kwarg_only]
    counted = [str(p.type) == "Tensor" for p in parameters]
    demanded = [str(p.type) for p in parameters if str(p.type) != "Tensor" and not p.has_default_value()]
    if any(kind not in VALUES for kind in demanded):
        return
    for keywords in KEYWORDS.get(name_of(function), [{}]):
        for values in itertools.islice(itertools.product(*(VALUES[kind] for kind in demanded)), 30):
            numbers = iter(values)
            names = (f"x{i}" for i in range(len(parameters)))
            given = [
                next(names) if is_tensor else repr(next(numbers))
                for p, is_tensor in zip(parameters, counted, strict=True)
                if is_tensor or not p.has_default_value()
            ]
            given += [f"{name}={value!r}" for name, value in keywords.items()]
            # As text, since Dynamo does not look through loops over a schema.
            heads = ", ".join(f"x{i}" for i in range(sum(counted)))
            scope = {"function": function, "inf": math.inf, "nan": math.nan}
            yield sum(counted), eval(f"lambda {heads}: function({', '.join(given)})", scope)


FUNCTIONS = {name_of(function): function for function in overloads() if any(count for count, _ in calls(function))}


def differing(name: str, got: torch.Tensor, want: torch.Tensor) -> torch.Tensor:
    assert got.dtype == want.dtype and got.shape == want.shape, f"{got.dtype} {got.shape}, {want.dtype} {want.shape}"
    if not want.is_floating_point():
        return got != want
    info, relative = torch.finfo(want.dtype), RELATIVE.get(want.dtype, 2e-5)
    got, want = got.float(), want.float()
    near = (
        ((got - want).abs() <= relative * want.abs() + info.smallest_normal + 1e-6) & got.isfinite() & want.isfinite()
    )
    same = (got == want) | near | (got.isnan() & want.isnan())
    if name.partition(".")[0].removesuffix("_max").removesuffix("_min") not in OF_ORDER + OF_ROUNDING:
        same &= ~((got == 0) & (want == 0) & (got.signbit() != want.signbit()))
    return ~same


def as_list(results: Any) -> list[torch.Tensor]:
    return list(results) if isinstance(results, tuple) else [results]


def different(
    name: str, call: Callable[..., Any], k: int, got: torch.Tensor, want: torch.Tensor, operands: list[torch.Tensor]
) -> Iterator[str]:
    """Yields what each element of result k that differs was made of."""
    for i in differing(name, got, want).nonzero().flatten().tolist():
        # Loops over vectors and over single elements differ, and double has more digits: each is right.
        element = [x[i : i + 1] for x in operands]
        alone = [as_list(call(*(x.to(wide) for x in element)))[k] for wide in (operands[0].dtype, torch.float64)]
        if all(differing(name, got[i : i + 1], x.to(want.dtype)) for x in alone):
            yield f"{[x.item() for x in element]} gives {got[i].item()}, PyTorch {alone[0].item()}"


@pytest.mark.sampled(8)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_agrees_with_eager(name: str, dtype: torch.dtype) -> None:
    wrong: list[str] = []
    warnings.simplefilter("ignore")
    for count, several in itertools.groupby(calls(FUNCTIONS[name]), key=lambda pair: pair[0]):
        alike, operands = [call for _, call in several], tensors(dtype, count)
        try:
            wants = [as_list(call(*operands)) for call in alike]
        except (RuntimeError, TypeError):
            pytest.skip("PyTorch does not take floats of this dtype")
        # One program for all numbers: compiling takes most of the time.
        found = on_chip(lambda *x, alike=alike: [call(*x) for call in alike])(*operands)
        for call, got, want in zip(alike, found, wants, strict=True):
            for k, pair in enumerate(zip(as_list(got), want, strict=True)):
                wrong += different(name, call, k, *pair, operands)
    assert not wrong, f"{len(wrong)} differ: {'; '.join(wrong[:5])}"
