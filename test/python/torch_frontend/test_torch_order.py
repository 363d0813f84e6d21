# SPDX-License-Identifier: Apache-2.0
"""Ops that order numbers, over zeros, infinities and NaN of both signs.

Sorts have PyTorch's order: any NaN is the largest number, and zeros are equal. PyTorch's maximum and minimum of zeros
of both signs depend on the order of operands; here they are those of IEEE 754, which any order of operands gives.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from compiled import on_chip

DTYPES = (torch.float32, torch.bfloat16, torch.float16)
NUMBERS = torch.tensor([1.0, -1.0, 0.0, -0.0, torch.inf, -torch.inf, torch.nan, 2.0, -3.0])
Function = Callable[..., torch.Tensor | tuple[torch.Tensor, ...]]


def drawn(shape: tuple[int, ...], dtype: torch.dtype, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    picked = NUMBERS[torch.randint(len(NUMBERS), shape, generator=generator)]
    # Half of the NaN have a sign.
    signs = torch.where(torch.randint(2, shape, generator=generator) > 0, 1.0, -1.0)
    return torch.where(picked.isnan(), picked.copysign(signs), picked).to(dtype)


def the_same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return torch.equal(a.signbit(), b.signbit()) and torch.allclose(a, b, rtol=0, atol=0, equal_nan=True)


SORTS: dict[str, Function] = {
    "sort": lambda x: tuple(torch.sort(x, stable=True)),
    "sort downwards": lambda x: tuple(torch.sort(x, stable=True, descending=True)),
    "sort of columns": lambda x: tuple(torch.sort(x, dim=0, stable=True)),
    "argsort": lambda x: torch.argsort(x, stable=True),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", SORTS)
def test_sorts_in_the_order_of_pytorch(name: str, dtype: torch.dtype, seed: int) -> None:
    for shape in ((1, 1), (3, 7), (5, 40)):
        x = drawn(shape, dtype, seed)
        got, want = on_chip(SORTS[name])(x), SORTS[name](x)
        if isinstance(want, torch.Tensor):
            assert torch.equal(got, want)
        else:
            assert the_same(got[0], want[0]), f"{shape}: {got[0]}, expected {want[0]}"
            assert torch.equal(got[1], want[1])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("largest", [True, False])
def test_topk_takes_any_nan_for_the_largest(dtype: torch.dtype, largest: bool, seed: int) -> None:
    x = drawn((6, 33), dtype, seed)
    for k in (1, 9, 33):
        values, places = on_chip(lambda x, k=k: torch.topk(x, k, largest=largest))(x)
        want = torch.topk(x, k, largest=largest).values
        assert torch.allclose(values, want, rtol=0, atol=0, equal_nan=True)
        # Which of equal ones is anyone's choice.
        assert the_same(x.gather(-1, places), values)


def larger(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The maximum of IEEE 754: of what PyTorch gives in both orders of operands, 0 rather than -0."""
    one, other = torch.maximum(a, b), torch.maximum(b, a)
    return torch.where(one.signbit() & ~other.signbit(), other, one)


def smaller(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return -larger(-a, -b)


def extreme(x: torch.Tensor, dim: int, of: Function) -> torch.Tensor:
    parts = x.unbind(dim)
    result = parts[0]
    for part in parts[1:]:
        result = of(result, part)
    return result


ZERO = torch.zeros(())
EXTREMES: dict[str, tuple[Function, Function]] = {
    "maximum": (torch.maximum, larger),
    "minimum": (torch.minimum, smaller),
    "maximum, swapped": (lambda a, b: torch.maximum(b, a), larger),
    "minimum, swapped": (lambda a, b: torch.minimum(b, a), smaller),
    "relu": (lambda a, b: F.relu(a), lambda a, b: larger(a, ZERO.to(a.dtype).expand_as(a))),
    "relu of a sum": (lambda a, b: F.relu(a + b), lambda a, b: larger(a + b, ZERO.to(a.dtype).expand_as(a))),
    "clamp": (
        lambda a, b: a.clamp(0, 1),
        lambda a, b: smaller(larger(a, torch.zeros_like(a)), torch.ones_like(a)),
    ),
    "clamp by tensors": (lambda a, b: a.clamp(b, b), lambda a, b: smaller(larger(a, b), b)),
    "amax": (lambda a, b: a.amax(1), lambda a, b: extreme(a, 1, larger)),
    "amin": (lambda a, b: a.amin(0), lambda a, b: extreme(a, 0, smaller)),
    "max pool": (
        lambda a, b: F.max_pool1d(a[None], 3, 1),
        lambda a, b: larger(larger(a[:, :-2], a[:, 1:-1]), a[:, 2:])[None],
    ),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", EXTREMES)
def test_extremes_are_those_of_ieee_754(name: str, dtype: torch.dtype, seed: int) -> None:
    function, expected = EXTREMES[name]
    for shape in ((1, 3), (4, 40)):
        a, b = drawn(shape, dtype, seed), drawn(shape, dtype, seed + 1)
        got, want = on_chip(function)(a, b), expected(a, b)
        kept = ~want.isnan()
        assert torch.equal(got.isnan(), ~kept), f"{shape}: {got}, expected {want}"
        assert the_same(got[kept], want[kept]), f"{shape}: {got}, expected {want}"


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_extremes_with_places_take_the_first(dtype: torch.dtype, seed: int) -> None:
    x = drawn((7, 30), dtype, seed)
    for function in (torch.argmax, torch.argmin, lambda x, dim: x.max(dim).indices, lambda x, dim: x.min(dim).indices):
        for dim in (0, 1):
            assert torch.equal(on_chip(lambda x, of=function, dim=dim: of(x, dim))(x), function(x, dim))
