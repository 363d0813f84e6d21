# SPDX-License-Identifier: Apache-2.0
"""Results of functions of PyTorch: values, and the ops and tensor manipulations between them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from ..capture.formats import DataFormat
from ..enums import FORWARD
from .graph import TILE, Graph, Node, Op, Operand, Queue

Shape = tuple[int, ...]
NO_CORES = "it moves elements, on the way to what reads them, and has no cores"


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor: a node, and the manipulations behind it.

    df: the format in which what follows reads it, where that is not the node's.
    """

    node: Node
    shape: Shape
    tms: tuple[str, ...] = ()
    df: DataFormat | None = None

    def moved(self, shape: Sequence[int], text: str) -> Value:
        """Returns the value behind one more manipulation; without `text` only dimensions of size 1 come or go."""
        return Value(self.node, tuple(shape), (*self.tms, *((text,) if text else ())), df=self.df)

    def reshaped(self, shape: Sequence[int]) -> Value:
        shape = tuple(shape)
        if shape == self.shape:
            return self
        squeezed = [[n for n in s if n != 1] for s in (shape, self.shape)]
        same = squeezed[0] == squeezed[1] and matrix(shape) == matrix(self.shape)
        return self.moved(shape, "" if same else f"reshape: [{', '.join(map(str, shape))}]")


def matrix(shape: Shape) -> Shape:
    """Returns rows and columns."""
    return (1, 1, *shape)[-2:]


@dataclass(frozen=True)
class Precisions:
    """How ops compute: by rules, the last that fits; else by the defaults."""

    out: Callable[[str, str], DataFormat]
    setting: Callable[..., Any]  # what, name, type, and whether it gives a gradient


class Builder:
    """Adds ops to a graph for one function of PyTorch at a time.

    out: the shape that the function gives. base: its name. label: what its ops are called. source: the op of the module
        that it is a part of, or "": then `label` is the name of its op, or begins those of several.
    """

    def __init__(self, graph: Graph, precisions: Precisions, epoch_type: str) -> None:
        self.graph, self.precisions, self.epoch_type = graph, precisions, epoch_type
        self.out: Any = ()
        self.base, self.label, self.source, self.kind = "", "", "", ""
        self.made: list[Op] = []  # of the function
        self.sources: dict[str, list[Op]] = {}  # of each op of the module, in this epoch type

    def begin(self, base: str, label: str, out: Any, source: str, kind: str) -> None:
        self.out, self.source, self.kind, self.base, self.label = out, source, kind, base, label
        self.made = []

    def end(self) -> None:
        """Names the ops of the function; those of an op of the module are named at the end."""
        if self.source:
            self.sources.setdefault(self.source, []).extend(self.made)
            return
        if self.made:
            self.name(self.label, self.made)

    def name(self, name: str, ops: Sequence[Op]) -> None:
        for number, op in enumerate(ops):
            op.name = self.graph.unique(name if len(ops) == 1 else f"{name}.dc.{op.type}.{number}")
        if len(ops) != 1:
            self.graph.aliases.setdefault(name, f"it is {', '.join(x.name for x in ops)}" if ops else NO_CORES)

    def finish(self) -> None:
        for source, ops in self.sources.items():
            self.name(in_epoch(source, self.epoch_type), ops)

    def op(self, type: str, *values: Value, shape: Shape | None = None, **attributes: Any) -> Value:
        """Returns an op whose result has this shape, by default that of the function."""
        shape = tuple(self.out if shape is None else shape)
        label = self.kind or type
        df = self.precisions.out(self.source, label)
        setting = self.precisions.setting
        op = Op(
            "", shape, df, type, [Operand(x.node, x.shape, x.tms, x.df) for x in values], self.epoch_type, self.source,
            attributes=attributes,
        )  # fmt: skip
        op.fidelity = setting("math_fidelity", self.source, label).name
        op.acc_df = setting("accumulate_df", self.source, label)
        op.spill_df = setting("intermediate_df", self.source, label)
        op.intermed_df = op.spill_df or df
        self.graph.ops.append(op)
        self.made.append(op)
        return Value(op, shape)

    def product(self, type: str, inner: int, *values: Value, shape: Shape | None = None, **attributes: Any) -> Value:
        """Adds a product of the first two values, over so many elements; the others are added to it."""
        if len(values) > 2:
            attributes["bias"] = True
        product = self.op(type, *values, shape=shape, **attributes)
        assert isinstance(product.node, Op)
        product.node.inner = max(1, -(-inner // TILE))
        return product

    def reduce(self, x: Value, kind: str, dims: Sequence[int], shape: Shape | None = None) -> Value:
        """Reduces along dimensions; the result has `shape`."""
        shape = tuple(self.out if shape is None else shape)
        rank = len(x.shape)
        picked = {d % rank for d in dims} if rank else set()
        kept = tuple(1 if d in picked else n for d, n in enumerate(x.shape))
        return self.op(f"reduce_{kind}", x, shape=kept, dim=letters(picked, rank)).reshaped(shape)


def letters(dims: Collection[int], rank: int) -> str:
    """Returns dimensions in letters: c for columns, r for rows, z for all others."""
    found = {{1: "c", 2: "r"}.get(rank - d, "z") for d in dims}
    return "".join(letter for letter in "crz" if letter in found)


def in_epoch(name: str, epoch_type: str) -> str:
    """Returns the name of an op in epochs of a type: "gelu", "bwd_gelu"."""
    return name if epoch_type == FORWARD else f"{epoch_type}_{name}"


def compact(shape: Shape) -> Shape:
    """Returns how a parameter is stored: the small dimensions of windows next to each other."""
    if len(shape) < 3 or shape[-1] >= TILE:
        return shape
    return (shape[0], math.prod(shape[1:]))


def constant(graph: Graph, name: str, shape: Sequence[int], df: DataFormat) -> Value:
    queue: Queue = graph.queue(name, shape, df, "constant")
    return Value(queue, tuple(shape))


def plain(name: str) -> str:
    """Returns a name with letters, digits, dots and underscores only."""
    return re.sub(r"[^A-Za-z0-9_.]", "_", name)
