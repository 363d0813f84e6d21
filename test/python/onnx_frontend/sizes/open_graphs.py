# SPDX-License-Identifier: Apache-2.0
"""Random ONNX graphs with named dimensions: sizes are known at several points, so that every graph is valid there."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# The values of a size at all points.
Sizes: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
MOST_ELEMENTS = 1 << 19
FEWEST_POINTS = 5
OPSET = 23
NAMES = ("batch", "length", "height", "width")
KINDS = {"f": TensorProto.FLOAT, "i": TensorProto.INT64, "b": TensorProto.BOOL}


class Unfit(Exception):
    """Raised where an op does not suit what is there; another one is drawn."""


@dataclass(frozen=True)
class Tensor:
    """A value of the graph. is_exact: no rounding, so that positions of its elements can be compared."""

    name: str
    dims: tuple[Sizes, ...]
    is_exact: bool = False

    @property
    def rank(self) -> int:
        return len(self.dims)


@dataclass(frozen=True)
class Size:
    """A tensor [1] of one int64 that follows from sizes."""

    name: str
    values: Sizes


class Builder:
    """A graph that grows by random nodes. alive: the points at which it is valid."""

    def __init__(self, seed: int, points: int = 9) -> None:
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.inputs: list[tuple[str, list[int | str]]] = []
        self.tensors: list[Tensor] = []
        self.sizes: list[Size] = []
        self.names = list(NAMES[: self.random.choice((1, 2, 2, 3, 4))])
        self.at = [self._point(i) for i in range(points)]
        self.alive = np.ones(points, bool)
        self.count = 0
        self.log: list[str] = []

    def _point(self, i: int) -> dict[str, int]:
        draw, names = self.random, self.names
        spread = {n: 5 + 4 * k for k, n in enumerate(names)}
        one = draw.choice(names)
        large = {1: 4000, 2: 1300, 3: 400, 4: 200}[len(names)]
        return {
            0: spread,
            1: dict.fromkeys(names, draw.choice((6, 8, 12))),
            2: {n: draw.choice((16, 32, 48, 64)) for n in names},
            3: {n: draw.randrange(3, 40) for n in names},
            4: dict.fromkeys(names, 2),
            5: {n: 1 if n == one else draw.choice((1, 3, 10)) for n in names},
            6: {n: 0 if n == one else draw.choice((2, 7)) for n in names},
            7: {n: large + draw.randrange(50) if n == one else draw.choice((2, 3, 4)) for n in names},
            8: {n: draw.choice((32, 33, 64, 96, 31)) for n in names},
        }.get(i, {n: draw.randrange(2, 70) for n in names})

    #
    # Nodes
    #

    def constant(self, value: int) -> Sizes:
        return np.full(len(self.at), value, np.int64)

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def weight(self, array: Any) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def ints(self, *values: int) -> str:
        return self.weight(np.array(values, np.int64))

    def floats(self, *shape: int, scale: float = 0.4) -> str:
        return self.weight((self.numbers.standard_normal(shape) * scale).astype(np.float32))

    def node(self, op: str, inputs: Sequence[str], outputs: int = 1, **attributes: Any) -> Any:
        names = [self.fresh() for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name=f"n{len(self.nodes)}", **attributes))
        return names[0] if outputs == 1 else names

    def require(self, holds: Any) -> None:
        """Leaves out the points at which this does not hold.

        Raises:
            Unfit: too few are left.
        """
        alive = self.alive & np.broadcast_to(np.asarray(holds, bool), self.alive.shape)
        if alive.sum() < min(FEWEST_POINTS, len(self.at)):
            raise Unfit
        self.alive = alive

    def tensor(self, name: str, dims: Sequence[Any], is_exact: bool = False) -> Tensor:
        result = tuple(np.broadcast_to(np.asarray(d, np.int64), self.alive.shape) for d in dims)
        elements = np.ones(len(self.at), object)
        for d in result:
            elements = elements * d
        if len(result) > 6:
            raise Unfit
        self.require((elements <= MOST_ELEMENTS) & np.all([d >= 0 for d in result], axis=0) if result else True)
        return Tensor(name, result, is_exact)

    def add(self, name: str, dims: Sequence[Any], is_exact: bool = False) -> Tensor:
        result = self.tensor(name, dims, is_exact)
        self.tensors.append(result)
        return result

    def same(self, a: Any, b: Any) -> bool:
        """Whether sizes are equal at all points."""
        return bool((np.asarray(a) == np.asarray(b))[self.alive].all())

    def static(self, d: Sizes) -> int | None:
        """The size if it is one number."""
        values = set(d[self.alive].tolist())
        return values.pop() if len(values) == 1 and (d == d[0]).all() else None

    def pick(self, rank: int | None = None, least: int = 1, exact: bool = False) -> Tensor:
        found = [t for t in self.tensors if (t.rank == rank if rank is not None else t.rank >= least)]
        found = [t for t in found if t.is_exact or not exact]
        if not found:
            raise Unfit
        return self.random.choice(found[-4:] if self.random.random() < 0.7 else found)

    def open_dim(self, t: Tensor) -> int:
        """A dimension, rather one that is open."""
        found = [d for d in range(t.rank) if self.static(t.dims[d]) is None]
        return self.random.choice(found) if found and self.random.random() < 0.8 else self.random.randrange(t.rank)

    def axis(self, t: Tensor, d: int) -> int:
        return d - t.rank if self.random.random() < 0.4 else d

    #
    # Sizes
    #

    def size(self, name: str, values: Any) -> Size:
        result = Size(name, np.broadcast_to(np.asarray(values, np.int64), self.alive.shape))
        self.sizes.append(result)
        return result

    def number(self, value: int) -> Size:
        return Size(self.ints(value), self.constant(value))

    def shape_of(self, t: Tensor) -> str:
        return str(self.node("Shape", [t.name]))

    def size_of(self, t: Tensor, d: int) -> Size:
        way = self.random.randrange(4)
        if way == 0:
            return self.size(self.node("Shape", [t.name], start=d, end=d + 1), t.dims[d])
        shape = self.shape_of(t)
        if way == 1:
            return self.size(self.node("Gather", [shape, self.ints(d)]), t.dims[d])
        if way == 2:
            one = self.node("Gather", [shape, self.weight(np.array(d - t.rank, np.int64))])
            return self.size(self.node("Unsqueeze", [one, self.ints(0)]), t.dims[d])
        return self.size(self.node("Slice", [shape, self.ints(d), self.ints(d + 1)]), t.dims[d])

    def any_size(self) -> Size:
        if self.sizes and self.random.random() < 0.5:
            return self.random.choice(self.sizes[-5:])
        t = self.pick()
        return self.size_of(t, self.open_dim(t))

    def sum_of(self, a: Size, b: Size) -> Size:
        return self.size(self.node("Add", [a.name, b.name]), a.values + b.values)

    def less(self, a: Size, b: Size) -> Size:
        return self.size(self.node("Sub", [a.name, b.name]), a.values - b.values)

    def times(self, a: Size, b: Size) -> Size:
        return self.size(self.node("Mul", [a.name, b.name]), a.values * b.values)

    def over(self, a: Size, n: int) -> Size:
        self.require(a.values >= 0)
        return self.size(self.node("Div", [a.name, self.ints(n)]), a.values // n)

    def computed_size(self) -> Size:
        """A number that follows from sizes by one or two random ops."""
        a = self.any_size()
        for _ in range(self.random.choice((1, 1, 2))):
            a = self.random.choice(ARITHMETIC)(self, a)
        return a

    def positive(self, least: int = 1, most: int = 300) -> Size:
        """A computed number within these bounds."""
        a = self.computed_size()
        low = self.number(least)
        a = self.size(self.node("Max", [a.name, low.name]), np.maximum(a.values, least))
        if self.random.random() < 0.5:
            a = self.size(self.node("Min", [a.name, self.ints(most)]), np.minimum(a.values, most))
        self.require(a.values <= 5000)
        return a

    def scalar(self, a: Size) -> str:
        way = self.random.choice(("Squeeze", "Reshape", "Gather"))
        if way == "Squeeze":
            return str(self.node("Squeeze", [a.name, *([self.ints(0)] if self.random.random() < 0.5 else [])]))
        if way == "Reshape":
            return str(self.node("Reshape", [a.name, self.weight(np.zeros(0, np.int64))]))
        return str(self.node("Gather", [a.name, self.weight(np.array(0, np.int64))]))

    def shape(self, dims: Sequence[Size | int]) -> str:
        """A tensor of these sizes."""
        parts: list[str] = []
        numbers: list[int] = []
        for d in dims:
            if isinstance(d, int):
                numbers.append(d)
                continue
            if numbers:
                parts.append(self.ints(*numbers))
                numbers = []
            parts.append(d.name)
        if numbers:
            parts.append(self.ints(*numbers))
        if not parts:
            return self.weight(np.zeros(0, np.int64))
        return str(self.node("Concat", parts, axis=0)) if len(parts) > 1 or self.random.random() < 0.3 else parts[0]

    def size_or_number(self, t: Tensor, d: int) -> Size | int:
        n = self.static(t.dims[d])
        return n if n is not None and self.random.random() < 0.6 else self.size_of(t, d)

    def range_to(self, a: Size) -> str:
        """Positions 0 to a - 1."""
        zero, one = (self.weight(np.array(n, np.int64)) for n in (0, 1))
        return str(self.node("Range", [zero, self.scalar(a), one]))

    #
    # The graph
    #

    def grow(self, op: Callable[[Builder], None]) -> bool:
        """Adds the nodes of an op, or none if it does not fit."""
        before = len(self.nodes), len(self.weights), len(self.tensors), len(self.sizes), self.alive, self.count
        try:
            op(self)
        except Unfit:
            for kept, n in zip((self.nodes, self.weights, self.tensors, self.sizes), before[:4], strict=True):
                del kept[n:]
            self.alive, self.count = before[4:]
            return False
        self.log.append(op.__name__)
        return True

    def model(self, outputs: Sequence[str]) -> onnx.ModelProto:
        values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in self.inputs]
        kinds = {a.name: TensorProto.INT64 for a in self.sizes}
        results = [helper.make_tensor_value_info(n, kinds.get(n, TensorProto.FLOAT), None) for n in outputs]
        graph = helper.make_graph(self.nodes, "net", values, results, self.weights)
        imports = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=imports, ir_version=10)

    def given(self, point: int) -> dict[str, Any]:
        """Values of the inputs at a point."""
        numbers, sizes = np.random.default_rng(point), self.at[point]
        shapes = {name: [n if isinstance(n, int) else sizes[n] for n in shape] for name, shape in self.inputs}
        return {name: numbers.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


#
# Arithmetic of sizes
#


def number_of(op: str, function: Callable[[Any, int], Any], *choices: int) -> Callable[[Builder, Size], Size]:
    def apply(b: Builder, a: Size) -> Size:
        n = b.random.choice(choices)
        return b.size(b.node(op, [a.name, b.ints(n)]), function(a.values, n))

    return apply


def pair_of(op: str, function: Callable[[Any, Any], Any]) -> Callable[[Builder, Size], Size]:
    def apply(b: Builder, a: Size) -> Size:
        other = b.any_size()
        return b.size(b.node(op, [a.name, other.name]), function(a.values, other.values))

    return apply


def truncated(a: Any, n: int) -> Any:
    return np.sign(a) * (np.abs(a) // n)


def by_float(b: Builder, a: Size) -> Size:
    factor, op = b.random.choice((0.5, 0.25, 2.0, 0.75)), b.random.choice(("Floor", "Ceil"))
    real = b.node("Cast", [a.name], to=TensorProto.FLOAT)
    real = b.node(op, [b.node("Mul", [real, b.weight(np.array([factor], np.float32))])])
    values = np.floor(a.values * factor) if op == "Floor" else np.ceil(a.values * factor)
    return b.size(b.node("Cast", [real], to=TensorProto.INT64), values)


def chosen(b: Builder, a: Size) -> Size:
    """Where(compare(size, number or size), one, other)."""
    op = b.random.choice(("Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual"))
    other = b.number(b.random.choice((0, 1, 3, 10, 50, 200, -1))) if b.random.random() < 0.7 else b.any_size()
    holds = {
        "Less": np.less, "Greater": np.greater, "Equal": np.equal, "LessOrEqual": np.less_equal,
        "GreaterOrEqual": np.greater_equal,
    }[op](a.values, other.values)  # fmt: skip
    left = b.random.choice((a, other, b.number(3)))
    right = b.random.choice((a, b.number(2)))
    condition = b.node(op, [a.name, other.name])
    if b.random.random() < 0.2:
        condition, holds = b.node("Not", [condition]), ~holds
    return b.size(b.node("Where", [condition, left.name, right.name]), np.where(holds, left.values, right.values))


def to_multiple(b: Builder, a: Size) -> Size:
    """(a + n - 1) / n * n"""
    n = b.random.choice((2, 4, 8, 7, 32))
    b.require(a.values >= 0)
    more = b.node("Add", [a.name, b.ints(n - 1)])
    return b.size(b.node("Mul", [b.node("Div", [more, b.ints(n)]), b.ints(n)]), (a.values + n - 1) // n * n)


def all_elements(b: Builder, a: Size) -> Size:
    t = b.pick()
    product = np.prod([d.astype(object) for d in t.dims], axis=0)
    b.require(product < 1 << 20)
    product = np.minimum(product, 1 << 20)
    if b.random.random() < 0.5:
        return b.size(b.node("Unsqueeze", [b.node("Size", [t.name]), b.ints(0)]), product)
    return b.size(b.node("ReduceProd", [b.shape_of(t)], keepdims=1), product)


ARITHMETIC: list[Callable[[Builder, Size], Size]] = [
    number_of("Add", np.add, 1, 2, 7, -1, -3),
    number_of("Sub", np.subtract, 1, 2, 5),
    number_of("Mul", np.multiply, 2, 3, 4),
    number_of("Div", truncated, 2, 3, 4, 5, 8, 32),
    number_of("Div", truncated, 2, 2, 4),
    number_of("Mod", np.mod, 2, 3, 4, 8, 16, 32),
    number_of("Min", np.minimum, 3, 10, 40, 100, 500),
    number_of("Max", np.maximum, 2, 4, 10, 60),
    pair_of("Add", np.add),
    pair_of("Sub", np.subtract),
    pair_of("Min", np.minimum),
    pair_of("Max", np.maximum),
    by_float,
    chosen,
    chosen,
    to_multiple,
    all_elements,
]
