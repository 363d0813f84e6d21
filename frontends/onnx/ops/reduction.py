# SPDX-License-Identifier: Apache-2.0
"""Reductions, their positions, cumulative ops and the largest elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ttmlir.dialects import stablehlo, ttir

from ..emitter import Emitter
from ..errors import Refused
from ..registry import Decides, Node, op
from ..values import BOOL, I32, I64, Value, is_float, is_unsigned
from .data_movement import dimension, dimensions, given_ints, known_ints
from .elementwise import in_f32, limits, require_numbers

Dims = Sequence[int]


def sized(x: Value, dims: Dims, keep: bool) -> tuple[int, ...]:
    if keep:
        return tuple(1 if d in dims else n for d, n in enumerate(x.shape))
    return tuple(n for d, n in enumerate(x.shape) if d not in dims)


def reduced(g: Emitter, name: str, x: Value, dims: Dims, keep: bool) -> Value:
    """Reduces by an op of TTIR: sum, prod, max, min or mean; of no elements, to what leaves others unchanged."""
    shape = sized(x, dims, keep)
    if not x.size:
        nothing = {"sum": 0, "prod": 1, "mean": math.nan}.get(name)
        if nothing is None:
            ends = (False, True) if x.dtype == BOOL else limits(x.dtype)
            ends = (-math.inf, math.inf) if is_float(x.dtype) else ends
            nothing = ends[0] if name == "max" else ends[1]
        return g.full(shape, nothing, x.dtype)
    if not dims:
        return x
    if x.dtype == BOOL:
        name = {"max": "reduce_or", "min": "reduce_and"}[name]
    if name == "prod":  # which has one dimension
        for d in dims:
            x = g.ttir(name, x, shape=sized(x, [d], True), dtype=x.dtype, keep_dim=True, dim_arg=[d])
        return g.reshape(x, shape)
    return g.ttir(name, x, shape=shape, dtype=x.dtype, keep_dim=keep, dim_arg=list(dims))


def total(g: Emitter, x: Value, dims: Dims, keep: bool) -> Value:
    return reduced(g, "sum", x, dims, keep)


def mean(g: Emitter, x: Value, dims: Dims, keep: bool) -> Value:
    """Returns integers are divided towards zero."""
    if is_float(x.dtype):
        return reduced(g, "mean", x, dims, keep)
    count = math.prod(x.shape[d] for d in dims)
    if not count:
        raise Refused(f"mean of no elements of {x!r}")
    result = total(g, x, dims, keep)
    return g.div(result, g.scalar(count, result))


def of_reals(formula: Callable[[Emitter, Value, Dims, bool], Value]) -> Callable[..., Value]:
    """Computes a formula in at least f32; integers are converted, and cut off afterwards."""

    def run(g: Emitter, x: Value, dims: Dims, keep: bool) -> Value:
        return in_f32(g, lambda wide: formula(g, wide, dims, keep), x)

    return run


def log_sum(g: Emitter, x: Value, dims: Dims, keep: bool) -> Value:
    return g.unary(stablehlo.log, total(g, x, dims, keep))


def log_sum_exp(g: Emitter, x: Value, dims: Dims, keep: bool) -> Value:
    """Returns log(sum(e^x)) with the largest element taken out, if it is finite."""
    if not x.size:
        return g.full(sized(x, dims, keep), -math.inf, x.dtype)
    most = reduced(g, "max", x, dims, True)
    is_finite = g.compare("LT", g.unary(stablehlo.abs, most), g.scalar(math.inf, most))
    most = g.select(is_finite, most, g.scalar(0, most))
    inner = total(g, g.unary(stablehlo.exponential, g.sub(x, most)), dims, True)
    result = g.add(g.unary(stablehlo.log, inner), most)
    return g.reshape(result, sized(x, dims, keep))


FORMULAS: dict[str, Callable[[Emitter, Value, Dims, bool], Value]] = {
    "ReduceSum": total,
    "ReduceMean": mean,
    "ReduceProd": lambda g, x, dims, keep: reduced(g, "prod", x, dims, keep),
    "ReduceMax": lambda g, x, dims, keep: reduced(g, "max", x, dims, keep),
    "ReduceMin": lambda g, x, dims, keep: reduced(g, "min", x, dims, keep),
    "ReduceL1": lambda g, x, dims, keep: total(g, x if is_unsigned(x.dtype) else g.unary(stablehlo.abs, x), dims, keep),
    "ReduceL2": of_reals(lambda g, x, dims, keep: g.unary(stablehlo.sqrt, total(g, g.mul(x, x), dims, keep))),
    "ReduceSumSquare": lambda g, x, dims, keep: total(g, g.mul(x, x), dims, keep),
    "ReduceLogSum": of_reals(log_sum),
    "ReduceLogSumExp": of_reals(log_sum_exp),
}


@op(*FORMULAS, decides=dict.fromkeys(("ReduceMax", "ReduceMin"), Decides.ORDER))
def reduction(g: Emitter, node: Node, x: Value, axes: Value | None = None) -> Value:
    """Reduces without axes over all dimensions, or with noop_with_empty_axes, over none: then of single elements."""
    if x.dtype != BOOL or node.op not in ("ReduceMax", "ReduceMin"):
        require_numbers(x)
    given = given_ints(node, "axes", axes)
    dims = dimensions(given, x.rank) if given else list(range(x.rank))
    if not given and node.get("noop_with_empty_axes", 0):
        dims = []
    return FORMULAS[node.op](g, x, sorted(dims), bool(node.get("keepdims", 1)))


@op("ArgMax", "ArgMin", decides=Decides.ORDER)
def arg(g: Emitter, node: Node, x: Value) -> Value:
    """Returns positions of the first (select_last_index: the last) of the largest or smallest elements."""
    require_numbers(x)
    axis = dimension(node.get("axis", 0), max(x.rank, 1))
    keep, last = bool(node.get("keepdims", 1)), bool(node.get("select_last_index", 0))
    if not x.rank:
        return g.full((), 0, I64)
    shape = sized(x, [axis], keep)
    if not x.size:
        if x.shape[axis] == 0:
            raise Refused(f"dimension {axis} of {x!r} has no elements")
        return g.full(shape, 0, I64)
    if node.op == "ArgMin":
        x = g.unary(stablehlo.negate if is_float(x.dtype) else stablehlo.not_, x)
    if last:
        x = g.reverse(x, [axis])
    found = g.ttir("argmax", x, shape=shape, dtype=I32, keep_dim=keep, dim_arg=[axis])
    if last:
        end = g.reshape(g.number(x.shape[axis] - 1, I32), ()) if g.is_open else g.full((), x.shape[axis] - 1, I32)
        found = g.sub(end, found)
    return g.cast(found, I64)


@op("CumSum", "CumProd")
def cumulative(g: Emitter, node: Node, x: Value, axis: Value) -> Value:
    require_numbers(x)
    numbers = known_ints(axis, "axis")
    if len(numbers) != 1:
        raise Refused(f"axis is {axis!r}; expected one number")
    if not x.rank:
        raise Refused("a tensor of rank 0 has no axis")
    dim = dimension(numbers[0], x.rank)
    if not x.size:
        return x
    backward = bool(node.get("reverse", 0))
    if backward:
        x = g.reverse(x, [dim])
    if node.get("exclusive", 0):
        low = [1 if d == dim else 0 for d in range(x.rank)]
        x = g.pad(x, low, [-n for n in low], 0 if node.op == "CumSum" else 1)
    x = g.ttir(node.op.lower(), x, dtype=x.dtype, dim=dim)
    return g.reverse(x, [dim]) if backward else x


@op("TopK", decides=Decides.ORDER)
def top_k(g: Emitter, node: Node, x: Value, count: Value | None = None) -> tuple[Value, ...]:
    """Returns the largest or smallest elements with their positions; of equal ones the first."""
    require_numbers(x)
    (k,) = [node.need("k")] if count is None else known_ints(count, "K")
    axis = dimension(node.get("axis", -1), x.rank)
    if not 0 <= k <= x.shape[axis]:
        raise Refused(f"{k} elements of {x.shape[axis]} in dimension {axis} of {x!r}")
    shape = tuple(k if d == axis else n for d, n in enumerate(x.shape))
    if not math.prod(shape):
        return g.full(shape, 0, x.dtype), g.full(shape, 0, I64)
    kinds = [g.type(shape, x.dtype), g.type(shape, I32)]
    found: Any = ttir.topk(g.ir(x), k, dim=axis, largest=bool(node.get("largest", 1)), sorted=True, results=kinds)
    return Value(shape, x.dtype, found[0]), g.cast(Value(shape, I32, found[1]), I64)
