# SPDX-License-Identifier: Apache-2.0
"""Sequences and optionals: of lengths that are known when the graph is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onnx import helper

from ..emitter import Emitter
from ..errors import Refused
from ..loops import row_of, stacked
from ..registry import Node, op
from ..values import F32, I32, I64, DType, Given, Optional, Sequence, Value

if TYPE_CHECKING:
    from ..importer import Graph

COMPUTED = "computed from the inputs' elements"


def items_of(x: Given) -> tuple[Value, ...]:
    if isinstance(x, Optional) and x.value is not None:
        x = x.value
    if not isinstance(x, Sequence):
        raise Refused(f"an operand is {'no value' if x is None else repr(x)}; expected a sequence")
    return x.items


def dtype_of(x: Given) -> DType | None:
    if isinstance(x, Optional):
        return dtype_of(x.value)
    if not isinstance(x, Sequence):
        return None
    return x.items[0].dtype if x.items else x.dtype


def place(position: Value, length: int, most: int) -> int:
    """Returns a known position in a sequence. most: the last one that is allowed.

    Raises:
        Refused: it is computed, or there is no such position.
    """
    if position.known is None or position.varying or position.size != 1:
        raise Refused(
            "the position is computed from the inputs' elements; expected one that is known when it is compiled"
        )
    found = int(position.known.reshape(()))
    if not -length <= found <= most:
        raise Refused(f"position {found} of a sequence of {length}; expected {-length} to {most}")
    return found + length if found < 0 else found


@op("SequenceEmpty", keep=True)
def sequence_empty(g: Emitter, node: Node) -> Sequence:
    kind = node.get("dtype")
    return Sequence((), F32 if kind is None else np.dtype(helper.tensor_dtype_to_np_dtype(kind)))


@op("SequenceConstruct", keep=True)
def sequence_construct(g: Emitter, node: Node, *xs: Value) -> Sequence:
    if any(x.dtype != xs[0].dtype for x in xs):
        raise Refused(f"items of different types: {', '.join(map(repr, xs))}")
    return Sequence(tuple(xs), xs[0].dtype)


@op("SequenceAt", keep=True)
def sequence_at(g: Emitter, node: Node, x: Given, position: Value) -> Value:
    items = items_of(x)
    if position.known is not None and not position.varying:
        return items[place(position, len(items), len(items) - 1)]
    if not items or any((i.shape, i.dtype) != (items[0].shape, items[0].dtype) for i in items):
        raise Refused(
            f"the position is {COMPUTED}, and the items have different types: {', '.join(map(repr, items)) or 'none'}; "
            f"expected one type, or a position that is known when it is compiled"
        )
    where = g.wrapped(g.cast(g.reshape(position, ()), I32), len(items))
    return row_of(g, stacked(g, items), where)


@op("SequenceInsert", keep=True)
def sequence_insert(g: Emitter, node: Node, x: Given, item: Value, position: Value | None = None) -> Sequence:
    items = items_of(x)
    kind = dtype_of(x)
    if items and kind != item.dtype:
        raise Refused(f"{item!r} into a sequence of {items[0]!r}; expected one type of elements")
    at = len(items) if position is None else place(position, len(items), len(items))
    return Sequence((*items[:at], item, *items[at:]), item.dtype)


@op("SequenceErase", keep=True)
def sequence_erase(g: Emitter, node: Node, x: Given, position: Value | None = None) -> Sequence:
    items = items_of(x)
    if not items:
        raise Refused("the sequence is empty; expected an item to erase")
    at = len(items) - 1 if position is None else place(position, len(items), len(items) - 1)
    return Sequence(items[:at] + items[at + 1 :], dtype_of(x))


@op("SequenceLength", keep=True)
def sequence_length(g: Emitter, node: Node, x: Given) -> Value:
    return Value.of(np.array(len(items_of(x)), I64))


@op("SplitToSequence", keep=True)
def split_to_sequence(g: Emitter, node: Node, x: Value, split: Value | None = None) -> Sequence:
    if not x.rank:
        raise Refused(f"{x!r} has no dimension to split")
    axis = node.get("axis", 0)
    if not -x.rank <= axis < x.rank:
        raise Refused(f"axis {axis} of {x!r}")
    axis %= x.rank
    if g.is_open_size(x, axis):
        raise Refused(f"dimension {axis} of {x!r} is open; expected a size that is known when it is compiled")
    size, keeps = x.shape[axis], True
    if split is None:
        sizes, keeps = [1] * size, bool(node.get("keepdims", 1))
    elif split.known is None or split.varying:
        raise Refused(
            "the sizes are computed from the inputs' elements; expected some that are known when it is compiled"
        )
    elif split.rank:
        sizes = [int(n) for n in split.known]
    else:
        step = int(split.known)
        if step < 1:
            raise Refused(f"items of size {step}; expected at least 1")
        sizes = [min(step, size - begin) for begin in range(0, size, step)]
    if sum(sizes) != size or any(n < 0 for n in sizes):
        raise Refused(f"sizes {sizes}; expected their sum to be {size}, of dimension {axis} of {x!r}")
    items, begin = [], 0
    for n in sizes:
        item = g.slice_dim(x, axis, begin, begin + n)
        items.append(item if keeps else g.reshape(item, [m for d, m in enumerate(item.shape) if d != axis]))
        begin += n
    return Sequence(tuple(items), x.dtype)


@op("ConcatFromSequence", keep=True)
def concat_from_sequence(g: Emitter, node: Node, x: Given) -> Value:
    items = items_of(x)
    axis = node.need("axis")
    if not items:
        raise Refused("the sequence is empty; expected at least one item")
    rank = items[0].rank + (1 if node.get("new_axis", 0) else 0)
    if not -rank <= axis < rank:
        raise Refused(f"axis {axis} of a result of rank {rank}")
    axis %= rank
    if node.get("new_axis", 0):
        items = tuple(g.expand_dims(item, axis) for item in items)
    return g.concat(items, axis)


@op("SequenceMap", keep=True)
def sequence_map(g: Graph, node: Node, x: Given, *others: Given) -> tuple[Sequence, ...]:
    body = node.need("body")
    items = items_of(x)
    for other in others:
        if isinstance(other, Sequence) and len(other.items) != len(items):
            raise Refused(f"sequences of {len(items)} and {len(other.items)} items; expected as many")
    result = []
    for i, item in enumerate(items):
        given = [other.items[i] if isinstance(other, Sequence) else other for other in others]
        found = g.subgraph(body, [item, *given], str(i))
        if not all(isinstance(value, Value) for value in found):
            raise Refused("a result of the body is no tensor")
        result.append([value for value in found if isinstance(value, Value)])
    if not result:
        kinds = [output.type.tensor_type.elem_type for output in body.output]
        return tuple(Sequence((), np.dtype(helper.tensor_dtype_to_np_dtype(kind)) if kind else F32) for kind in kinds)
    return tuple(Sequence(tuple(those), those[0].dtype) for those in zip(*result, strict=True))


@op("Optional", keep=True)
def optional(g: Emitter, node: Node, x: Given = None) -> Optional:
    return Optional(x)


@op("OptionalHasElement", keep=True)
def optional_has_element(g: Emitter, node: Node, x: Given = None) -> Value:
    has = x is not None and not (isinstance(x, Optional) and x.value is None)
    return Value.of(np.array(has))


@op("OptionalGetElement", keep=True)
def optional_get_element(g: Emitter, node: Node, x: Given) -> Given:
    if x is None or (isinstance(x, Optional) and x.value is None):
        raise Refused("the optional has no value")
    return x.value if isinstance(x, Optional) else x
