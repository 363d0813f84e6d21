# SPDX-License-Identifier: Apache-2.0
"""Reductions, cumulative ops, sorting."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ttmlir.dialects import ttir

import torch

from ..errors import UnsupportedError
from ..lowering import Lowering, Number, Rule, Value, dimension, dimensions, rule
from ..types import is_float


def growth(op: Callable[..., Any], lower: Rule) -> bool | Rule:
    """Returns sums grow; of products, so do those of the magnitudes that are 1 or more."""

    def of_products(g: Lowering, x: Value, *args: Any, **options: Any) -> Any:
        return lower(g, g.elementwise(ttir.maximum, x, g.scalar(1, x)), *args, **options)

    return of_products if op in (ttir.prod, ttir.cumprod) else op in (ttir.sum, ttir.cumsum)


def _reduction(names: Sequence[str], op: Callable[..., Any]) -> None:
    def lower(g: Lowering, x: Value, dim: Any = None, keepdim: bool = False, **options: Any) -> Value:
        x = g.cast(x, g.out().dtype)
        if not x.size:
            return g.full(g.out().shape, {ttir.sum: 0, ttir.prod: 1, ttir.mean: math.nan}[op], g.out().dtype)
        return g.finish(g.reduce(op, x, dimensions(dim, x.rank), keepdim), g.out())

    lower.__name__ = lower.__qualname__ = f"lower_{names[0]}"
    rule(*names, grows=growth(op, lower))(lower)


_reduction(["sum.dim_IntList", "sum"], ttir.sum)
_reduction(["mean.dim", "mean"], ttir.mean)
_reduction(["prod.dim_int", "prod"], ttir.prod)
_reduction(["amax", "max"], ttir.max)
_reduction(["amin", "min"], ttir.min)


def _truth(names: Sequence[str], op: Callable[..., Any], empty: bool) -> None:
    def lower(g: Lowering, x: Value, dim: Any = None, keepdim: bool = False) -> Value:
        if not x.size:
            return g.full(g.out().shape, empty, g.out().dtype)
        result = g.reduce(op, g.cast(x, torch.bool), dimensions(dim, x.rank), keepdim)
        return g.finish(result, g.out())

    lower.__name__ = lower.__qualname__ = f"lower_{names[0]}"
    rule(*names)(lower)


_truth(["any", "any.dim", "any.dims"], ttir.reduce_or, False)
_truth(["all", "all.dim", "all.dims"], ttir.reduce_and, True)


def positions(g: Lowering, x: Value, dim: int | None, keep: bool, smallest: bool) -> Value:
    """Returns where the largest (smallest) element is, the first of equal ones; NaN is larger (smaller) than all."""
    if dim is None or not x.rank:
        x, dim, keep = g.reshape(x, (x.size,)), 0, False
    dim = dimension(dim, x.rank)
    if x.dtype is torch.bool:
        x = g.cast(x, torch.int32)
    if smallest:
        x = g.call(ttir.bitwise_not if not is_float(x.dtype) else ttir.neg, x)
    shape = [1 if d == dim else n for d, n in enumerate(x.shape)]
    if not keep:
        del shape[dim]
    result = ttir.argmax(x.ir, keep, dim_arg=[dim], results=[g.type(shape, torch.int32)])
    return Value(result, tuple(shape), torch.int32)


@rule("argmax")
def argmax(g: Lowering, x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
    return g.finish(positions(g, x, dim, keepdim, smallest=False), g.out())


@rule("argmin")
def argmin(g: Lowering, x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
    return g.finish(positions(g, x, dim, keepdim, smallest=True), g.out())


def _extreme(name: str, op: Callable[..., Any], smallest: bool) -> None:
    def lower(g: Lowering, x: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
        values = x
        if g.wants(0):
            whole = g.cast(x, torch.int32) if x.dtype is torch.bool else x
            values = g.finish(g.reduce(op, whole, dimensions(dim, x.rank), keepdim), g.out(0))
        places = g.finish(positions(g, x, dim, keepdim, smallest), g.out(1)) if g.wants(1) else x
        return values, places

    lower.__name__ = lower.__qualname__ = f"lower_{name}"
    rule(name)(lower)


_extreme("max.dim", ttir.max, False)
_extreme("min.dim", ttir.min, True)


@rule("std.correction")
def deviation(g: Lowering, x: Value, dim: Any = None, correction: Number | None = 1, keepdim: bool = False) -> Value:
    return g.finish(g.call(ttir.sqrt, spread(g, x, dim, correction, keepdim)[0]), g.out())


@rule("var.correction", "var.dim", "var_mean.correction")
def variance(g: Lowering, x: Value, dim: Any = None, correction: Number | None = 1, keepdim: bool = False) -> Any:
    result, mean = spread(g, x, dim, correction, keepdim)
    if not isinstance(g.fake, tuple | list):
        return g.finish(result, g.out())
    return g.finish(result, g.out(0)), g.finish(mean, g.out(1))


def spread(g: Lowering, x: Value, dim: Any, correction: Number | None, keepdim: bool) -> tuple[Value, Value]:
    """Returns variance and mean, in f32; the mean keeps its dimensions."""
    wide = g.cast(x, torch.float32)
    dims = dimensions(dim, x.rank)
    mean = g.reduce(ttir.mean, wide, dims, True)
    centred = g.sub(wide, mean)
    count = math.prod(x.shape[d] for d in dims) - (1 if correction is None else correction)
    total = g.reduce(ttir.sum, g.mul(centred, centred), dims, keepdim)
    return g.mul(total, g.scalar(1 / count if count > 0 else math.inf, total)), mean


def _cumulative(name: str, op: Callable[..., Any]) -> None:
    def lower(g: Lowering, x: Value, dim: int, dtype: torch.dtype | None = None) -> Value:
        x = g.cast(x, g.out().dtype)
        if not x.rank or not x.size:
            return x
        return g.call(op, x, dim=dimension(dim, x.rank))

    rule(name, grows=growth(op, lower))(lower)


_cumulative("cumsum", ttir.cumsum)
_cumulative("cumprod", ttir.cumprod)


@rule("topk")
def topk(
    g: Lowering, x: Value, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Value, Value]:
    if not x.rank:
        return x, g.full((), 0, torch.int64)
    kind = g.type(g.out(0).shape, x.dtype)
    places = g.type(g.out(1).shape, torch.int32)
    found = ttir.topk(x.ir, k, dim=dimension(dim, x.rank), largest=largest, sorted=sorted, results=[kind, places])
    shape = tuple(g.out(0).shape)
    return Value(found[0], shape, x.dtype), g.cast(Value(found[1], shape, torch.int32), torch.int64)


@rule("sort", "sort.stable")
def sort(g: Lowering, x: Value, dim: int = -1, descending: bool = False, stable: bool = False) -> tuple[Value, Value]:
    if not x.rank:
        return x, g.full((), 0, torch.int64)
    if x.dtype is torch.bool:
        wide = g.cast(x, torch.int32)
        values, places = _sorted(g, wide, dim, descending)
        return g.cast(values, torch.bool), places
    return _sorted(g, x, dim, descending)


def _sorted(g: Lowering, x: Value, dim: int, descending: bool) -> tuple[Value, Value]:
    kinds = [g.type(x.shape, x.dtype), g.type(x.shape, torch.int32)]
    found = ttir.sort(x.ir, dim=dimension(dim, x.rank), descending=descending, stable=True, results=kinds)
    return Value(found[0], x.shape, x.dtype), g.cast(Value(found[1], x.shape, torch.int32), torch.int64)


@rule("argsort", "argsort.stable")
def argsort(g: Lowering, x: Value, dim: int = -1, descending: bool = False, **options: Any) -> Value:
    if not x.rank:
        return g.full((), 0, torch.int64)
    return _sorted(g, x, dim, descending)[1]


def in_order(g: Lowering, x: Value, dim: int) -> Value:
    """Returns elements in ascending order, NaN last.

    Raises:
        UnsupportedError: PyTorch refuses booleans and no elements. Among equal elements, its algorithm decides whose
            place it returns.
    """
    if x.dtype is torch.bool or not x.size:
        raise UnsupportedError("an element by its order, of booleans or of no elements")
    if isinstance(g.fake, tuple | list) and g.wants(1) and x.rank and x.shape[dim] > 1:
        raise UnsupportedError("the place of an element by its order: among equal elements, the choice is PyTorch's")
    return _sorted(g, x, dim, descending=False)[0] if x.rank else g.reshape(x, (1,))


def ordered(g: Lowering, value: Value) -> Any:
    """Returns an element, with place 0 if the op has places: `in_order` leaves others to PyTorch."""
    if not isinstance(g.fake, tuple | list):
        return g.finish(value, g.out())
    value = g.finish(value, g.out(0))
    return value, g.full(g.out(1).shape, 0, torch.int64) if g.wants(1) else value


def _at(g: Lowering, x: Value, dim: int, place: int) -> Value:
    return g.slice(x, dim, place, place + 1)


@rule("kthvalue")
def kthvalue(g: Lowering, x: Value, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Value, Value]:
    dim = dimension(dim, x.rank)
    return ordered(g, _at(g, in_order(g, x, dim), dim, k - 1))


def median(g: Lowering, x: Value, dim: int | None = None, keepdim: bool = False) -> Any:
    if dim is None:
        x = g.reshape(x, (x.size,))
    dim = dimension(dim or 0, x.rank)
    values = in_order(g, x, dim)
    last = _at(g, values, dim, values.shape[dim] - 1)
    middle = _at(g, values, dim, (values.shape[dim] - 1) // 2)
    return ordered(g, g.where(g.compare(ttir.ne, last, last), last, middle) if is_float(x.dtype) else middle)


@rule("nanmedian", "nanmedian.dim")
def nanmedian(g: Lowering, x: Value, dim: int | None = None, keepdim: bool = False) -> Any:
    if not is_float(x.dtype):
        return median(g, x, dim, keepdim)
    if dim is None:
        x = g.reshape(x, (x.size,))
    dim = dimension(dim or 0, x.rank)
    values = in_order(g, x, dim)
    known = g.reduce(ttir.sum, g.cast(g.compare(ttir.eq, values, values), torch.int32), [dim], True)
    zero, one = g.scalar(0, known), g.scalar(1, known)
    place = g.elementwise(ttir.maximum, g.sub(known, one), zero)
    place = g.elementwise(ttir.right_shift, place, one)
    found = ttir.gather(values.ir, place.ir, dim, results=[g.type(place.shape, x.dtype)])
    return ordered(g, Value(found, place.shape, x.dtype))


rule("median", "median.dim")(median)


@rule("_softmax", "softmax.int")
def softmax(g: Lowering, x: Value, dim: int, half_to_float: Any = False, dtype: Any = None) -> Value:
    x = g.cast(x, g.out().dtype)
    if not x.rank:
        return g.full((), 1, x.dtype)
    return g.call(ttir.softmax, x, dimension=dimension(dim, x.rank), numeric_stable=True)


@rule("_log_softmax", "log_softmax.int")
def log_softmax(g: Lowering, x: Value, dim: int, half_to_float: Any = False, dtype: Any = None) -> Value:
    if not x.rank:
        return g.full((), 0, g.out().dtype)
    wide = g.cast(x, torch.float32)
    dims = [dimension(dim, x.rank)]
    shifted = g.sub(wide, g.reduce(ttir.max, wide, dims, True))
    total = g.reduce(ttir.sum, g.call(ttir.exp, shifted), dims, True)
    return g.finish(g.sub(shifted, g.call(ttir.log, total)), g.out())


@rule("logsumexp")
def logsumexp(g: Lowering, x: Value, dim: Any, keepdim: bool = False) -> Value:
    wide = g.cast(x, torch.float32)
    dims = dimensions(dim, x.rank)
    largest = g.reduce(ttir.max, wide, dims, True)
    # An infinite maximum is taken out of the difference, which would be NaN.
    finite = g.compare(ttir.lt, g.call(ttir.abs, largest), g.scalar(math.inf, largest))
    largest = g.where(finite, largest, g.full((1,) * largest.rank, 0, torch.float32))
    total = g.reduce(ttir.sum, g.call(ttir.exp, g.sub(wide, largest)), dims, True)
    return g.finish(g.add(g.call(ttir.log, total), largest), g.out())


@rule("linalg_vector_norm")
def vector_norm(
    g: Lowering, x: Value, order: Number = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Value:
    wide = g.call(ttir.abs, g.cast(x, torch.float32))
    dims = dimensions(dim, x.rank)
    if order == math.inf:
        result = g.reduce(ttir.max, wide, dims, keepdim)
    elif order == -math.inf:
        result = g.reduce(ttir.min, wide, dims, keepdim)
    elif order == 0:
        result = g.reduce(ttir.sum, g.cast(g.compare(ttir.ne, wide, g.scalar(0, wide)), torch.float32), dims, keepdim)
    elif order == 1:
        result = g.reduce(ttir.sum, wide, dims, keepdim)
    elif order == 2:
        result = g.call(ttir.sqrt, g.reduce(ttir.sum, g.mul(wide, wide), dims, keepdim))
    else:
        powers = g.elementwise(ttir.pow, wide, g.scalar(order, wide))
        total = g.reduce(ttir.sum, powers, dims, keepdim)
        result = g.elementwise(ttir.pow, total, g.scalar(1 / order, total))
    return g.finish(result, g.out())
