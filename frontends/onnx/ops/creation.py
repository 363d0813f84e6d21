# SPDX-License-Identifier: Apache-2.0
"""Ops that make tensors of positions and constants."""

from __future__ import annotations

import math

import numpy as np

from ..emitter import Emitter
from ..errors import Refused
from ..registry import Node, op
from ..values import BOOL, F32, I32, I64, Value, is_float
from .casts import element_type
from .data_movement import dimension, known_ints
from .elementwise import positions, require_numbers

# Elements of a row of one number that are known: NonZero of such a row is a range.
MOST_KNOWN = 1 << 16


@op("Constant", keep=True)
def constant(g: Emitter, node: Node) -> Value:
    for name, value in node.attributes.items():
        if name == "value":
            if value.dtype.kind in "OUS":
                raise Refused("a constant of strings has no form on the chip")
            return Value.of(value)
        if name in ("value_float", "value_floats"):
            return Value.of(np.array(value, F32))
        if name in ("value_int", "value_ints"):
            return Value.of(np.array(value, I64))
        if name == "sparse_value":
            from ..files import dense_of

            return Value.of(dense_of(value))
        raise Refused(f"a constant by attribute {name} has no form on the chip")
    raise Refused("the constant has no value")


@op("ConstantOfShape")
def constant_of_shape(g: Emitter, node: Node, shape: Value) -> Value:
    one = np.asarray(node.get("value", np.zeros(1, F32)))
    sizes = known_ints(shape, "the shape")
    if one.size != 1 or any(n < 0 for n in sizes):
        raise Refused(f"value of {one.size} elements, shape {sizes}; expected one element and sizes from 0")
    result = g.broadcast(Value.of(one.reshape(())), sizes)
    if result.known is None and len(sizes) == 1 and result.size <= MOST_KNOWN:
        result.known = np.broadcast_to(one.reshape(()), sizes)
    return result


@op("Range")
def range_of(g: Emitter, node: Node, start: Value, limit: Value, delta: Value) -> Value:
    numbers = []
    for name, x in (("start", start), ("limit", limit), ("delta", delta)):
        if x.known is None:
            raise Refused(
                f"{name} is computed from the inputs' elements; expected one that is known when it is compiled"
            )
        if x.size != 1 or x.dtype != start.dtype:
            raise Refused(f"{name} is {x!r}; expected one number of type {start.dtype.name}")
        numbers.append(x.known.reshape(-1)[0].item())
    first, last, step = numbers
    if step == 0 or not all(math.isfinite(n) for n in numbers):
        raise Refused(f"from {first} to {last} by {step}; expected finite numbers and a step")
    exact = not is_float(start.dtype)
    count = max(0, -((first - last) // step) if exact else math.ceil((last - first) / step))
    if not any(x.varying for x in (start, limit, delta)) and count <= 64 and not g.is_open:
        return Value.of(np.array([first + i * step for i in range(count)], start.dtype))
    dtype = start.dtype if exact or start.dtype.itemsize >= 4 else np.dtype(F32)
    result = g.iota((count,), 0, dtype)
    if step != 1 or delta.varying:
        result = g.mul(result, g.cast(g.reshape(delta, (1,)), dtype))
    if first != 0 or start.varying:
        result = g.add(result, g.cast(g.reshape(start, (1,)), dtype))
    return g.cast(result, start.dtype)


@op("EyeLike")
def eye_like(g: Emitter, node: Node, x: Value) -> Value:
    if x.rank != 2:
        raise Refused(f"{x!r}; expected 2 dimensions")
    code = node.get("dtype")
    dtype = x.dtype if code is None else element_type(node, code)
    row, column = positions(g, x.shape, 0), positions(g, x.shape, 1)
    k = bounded(node.get("k", 0), x)
    return g.cast(g.compare("EQ", g.add(row, g.full((), k, I32)), column), dtype)


def bounded(k: int, x: Value) -> int:
    """Returns the number of a diagonal; of those beyond the matrix the next one."""
    most = max(x.shape[-2:]) + 1
    return max(-most, min(most, k))


@op("Trilu")
def trilu(g: Emitter, node: Node, x: Value, k: Value | None = None) -> Value:
    if x.rank < 2 or (k is not None and k.size != 1):
        raise Refused(f"{x!r} with the diagonal {k!r}; expected at least 2 dimensions and one number")
    if not x.size:
        return x
    column, row = positions(g, x.shape, x.rank - 1), positions(g, x.shape, x.rank - 2)
    if k is None:
        diagonal = row
    elif k.known is not None and not k.varying:
        diagonal = g.add(row, g.full((), bounded(int(k.known.reshape(-1)[0]), x), I32))
    else:
        diagonal = g.add(row, g.cast(g.reshape(k, ()), I32))
    kept = g.compare("GE" if node.get("upper", 1) else "LE", column, diagonal)
    return g.select(kept, x, g.scalar(0, x))


@op("OneHot")
def one_hot(g: Emitter, node: Node, indices: Value, depth: Value, values: Value) -> Value:
    """Returns one-hot rows. values: off and on. Positions that are not in the range have no element that is on."""
    require_numbers(indices)
    (size,) = known_ints(depth, "depth")
    if values.shape != (2,) or size < 0:
        raise Refused(f"depth {size} and values {values!r}; expected a size and two values")
    axis = dimension(node.get("axis", -1), indices.rank + 1)
    shape = [*indices.shape[:axis], size, *indices.shape[axis:]]
    if not math.prod(shape):
        return g.full(shape, 0, values.dtype)
    place = indices if indices.dtype.kind == "f" and indices.dtype.itemsize > 2 else g.cast(
        indices, F32 if is_float(indices.dtype) else I32
    )  # fmt: skip
    place = g.expand_dims(g.wrapped(place, size), axis)
    is_on = g.compare("EQ", g.cast(positions(g, shape, axis), place.dtype), place)
    off, on = (g.reshape(g.slice(values, [i], [i + 1]), ()) for i in (0, 1))
    if values.dtype == BOOL and values.known is not None and values.known.tolist() == [False, True]:
        return is_on
    return g.select(is_on, on, off)
