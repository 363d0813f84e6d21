# SPDX-License-Identifier: Apache-2.0
"""Random graphs of square matrices of small integers, and random shardings of what is in them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import torch
from auto_sharding_models import Model, Writer, tensor
from sharded_programs import Mesh, splits_of, with_mesh

ROWS, COLUMNS = (1, 2, 2, 3, 4, 4, 5, 6, 8, 8), (1, 2, 2, 3, 4, 4)  # of meshes; sizes that divide occur more often


class Graph(Writer):
    """Its methods each give a matrix of integers below 7, whose products have sums that f32 has exactly.

    So the order of a sum changes nothing, and results are compared bit by bit.
    """

    def __init__(self, rng: random.Random, side: int) -> None:
        super().__init__()
        self.rng, self.side = rng, side
        self.square, self.row, self.half = tensor(side, side), tensor(side), tensor(side // 2, side)
        self.values = [self.argument(side, side) for _ in range(rng.randint(1, 3))]
        self.zero, self.lowest, self.seven = self.constant(0), self.constant(-1e6), self.constant(7)
        self.sevens = self.op(f"broadcast_in_dim {self.seven}, dims = [] : ({tensor()}) -> {self.square}")
        self.start = len(self.lines)

    # ------------------------------------------------------------------------------------------------- parts of a line

    def pick(self) -> str:
        return self.rng.choice(self.values[-4:])

    def small(self, value: str) -> str:
        return self.op(f"remainder {value}, {self.sevens} : {self.square}")

    def reshape(self, value: str, before: str, after: str) -> str:
        return self.op(f"reshape {value} : ({before}) -> {after}")

    def sliced(self, value: str, dim: int, low: int, high: int) -> str:
        n = self.side
        ranges, shape = [f"0:{n}", f"0:{n}"], [n, n]
        ranges[dim], shape[dim] = f"{low}:{high}", high - low
        return self.op(f"slice {value} [{', '.join(ranges)}] : ({self.square}) -> {tensor(*shape)}")

    def generic(self, name: str, operands: str, attributes: str, regions: str, types: str) -> str:
        """An op in its generic form, whose regions are at its end."""
        number = len(self.lines)
        self.lines.append(f'  %{number} = "stablehlo.{name}"({operands}) <{{{attributes}}}> ({regions}) : {types}')
        return f"%{number}"

    @staticmethod
    def computation(name: str, result: str = tensor()) -> str:
        types = f"({tensor()}, {tensor()}) -> {result}" if result != tensor() else tensor()
        line = f"%m = stablehlo.{name} %p, %q : {types}"
        return f"{{ ^bb0(%p: {tensor()}, %q: {tensor()}): {line} stablehlo.return %m : {result} }}"

    def windows(
        self, value: str, name: str, start: str, sizes: str, pads: str, strides: str = "1, 1", result: str = ""
    ) -> str:
        attributes = (
            f"window_dimensions = array<i64: {sizes}>, window_strides = array<i64: {strides}>, "
            f"padding = dense<{pads}> : tensor<2x2xi64>"
        )
        types = f"({self.square}, {tensor()}) -> {result or self.square}"
        return self.generic("reduce_window", f"{value}, {start}", attributes, self.computation(name), types)

    def integers(self, value: str, below: int) -> str:
        """A row of places below `below`, which the first row of the value says."""
        n = self.side
        part = self.reshape(self.sliced(value, 0, 0, 1), tensor(1, n), self.row)
        part = self.op(f"abs {part} : {self.row}")
        limit = self.constant(below - 1)
        limit = self.op(f"broadcast_in_dim {limit}, dims = [] : ({tensor()}) -> {self.row}")
        part = self.op(f"minimum {part}, {limit} : {self.row}")
        part = self.op(f"convert {part} : ({self.row}) -> tensor<{n}xi32>")
        return self.op(f"reshape {part} : (tensor<{n}xi32>) -> tensor<{n}x1xi32>")

    # -------------------------------------------------------------------------------------------------------- families

    def binary(self) -> str:
        return self.small(
            self.op(f"{self.rng.choice(['add', 'subtract', 'multiply'])} {self.pick()}, {self.pick()} : {self.square}")
        )

    def greater(self) -> str:
        return self.op(f"{self.rng.choice(['maximum', 'minimum'])} {self.pick()}, {self.pick()} : {self.square}")

    def unary(self) -> str:
        return self.op(f"{self.rng.choice(['negate', 'abs', 'sign'])} {self.pick()} : {self.square}")

    def transposed(self) -> str:
        return self.op(f"transpose {self.pick()}, dims = [1, 0] : ({self.square}) -> {self.square}")

    def selected(self) -> str:
        a, b, of = self.pick(), self.pick(), self.square
        bits = of.replace("f32", "i1")
        where = self.op(f"compare {self.rng.choice(['LT', 'GE', 'EQ'])}, {a}, {b} : ({of}, {of}) -> {bits}")
        return self.op(f"select {where}, {self.pick()}, {b} : {bits}, {of}")

    def counted(self) -> str:
        of = self.square
        places = self.op(f"iota dim = {self.rng.randint(0, 1)} : {of}")
        return self.small(self.op(f"add {self.pick()}, {places} : {of}"))

    def dot(self) -> str:
        a, b, of = self.rng.randint(0, 1), self.rng.randint(0, 1), self.square
        types = f"({of}, {of}) -> {of}"
        return self.small(
            self.op(f"dot_general {self.pick()}, {self.pick()}, contracting_dims = [{a}] x [{b}] : {types}")
        )

    def batched(self) -> str:
        n, cube = self.side, tensor(4, self.side // 4, self.side)
        a, b = (self.reshape(self.pick(), self.square, cube) for _ in range(2))
        value = self.op(
            f"dot_general {a}, {b}, batching_dims = [0] x [0], contracting_dims = [1] x [1] : "
            f"({cube}, {cube}) -> {tensor(4, n, n)}"
        )
        return self.small(self.reduced(value, "add", self.zero, 0, tensor(4, n, n), self.square))

    def reduced(self, value: str, name: str, start: str, dim: int, before: str, after: str) -> str:
        return self.op(
            f"reduce({value} init: {start}) applies stablehlo.{name} across dimensions = [{dim}] : "
            f"({before}, {tensor()}) -> {after}"
        )

    def centred(self) -> str:
        value, dim = self.pick(), self.rng.randint(0, 1)
        name, start = self.rng.choice([("add", self.zero), ("maximum", self.lowest)])
        part = self.reduced(value, name, start, 1 - dim, self.square, self.row)
        part = self.op(f"broadcast_in_dim {part}, dims = [{dim}] : ({self.row}) -> {self.square}")
        return self.small(self.op(f"subtract {value}, {part} : {self.square}"))

    def outer(self) -> str:
        a, b = (
            self.reduced(self.pick(), "add", self.zero, self.rng.randint(0, 1), self.square, self.row) for _ in range(2)
        )
        value = self.op(f"dot_general {a}, {b}, contracting_dims = [] x [] : ({self.row}, {self.row}) -> {self.square}")
        return self.small(value)

    def joined(self) -> str:
        """The end of one matrix, and the beginning of it or another one."""
        n, dim, a = self.side, self.rng.randint(0, 1), self.pick()
        b, cut = self.rng.choice([a, self.pick()]), self.rng.choice([n // 2, n // 4, 1, n - 3])
        shapes = [[n, n], [n, n]]
        shapes[0][dim], shapes[1][dim] = n - cut, cut
        parts = [self.sliced(a, dim, cut, n), self.sliced(b, dim, 0, cut)]
        types = ", ".join(tensor(*shape) for shape in shapes)
        return self.op(f"concatenate {', '.join(parts)}, dim = {dim} : ({types}) -> {self.square}")

    def doubled(self) -> str:
        """Two matrices behind one another, every second element of them."""
        n, dim = self.side, self.rng.randint(0, 1)
        shape, ranges = [n, n], [f"0:{n}", f"0:{n}"]
        shape[dim], ranges[dim] = 2 * n, f"{self.rng.randint(0, 1)}:{2 * n}:2"
        wide, of = tensor(*shape), self.square
        both = self.op(f"concatenate {self.pick()}, {self.pick()}, dim = {dim} : ({of}, {of}) -> {wide}")
        return self.op(f"slice {both} [{', '.join(ranges)}] : ({wide}) -> {of}")

    def folded(self) -> str:
        n = self.side
        before, after = tensor(n // 2, 2, n), tensor(2, n // 2, n)
        value = self.reshape(self.pick(), self.square, before)
        value = self.op(f"transpose {value}, dims = [1, 0, 2] : ({before}) -> {after}")
        return self.reshape(value, after, self.square)

    def mirrored(self) -> str:
        return self.op(f"reverse {self.pick()}, dims = [{self.rng.choice(['0', '1', '0, 1'])}] : {self.square}")

    def ordered(self) -> str:
        region = self.computation("compare LT,", "tensor<i1>")
        types = f"({self.square}) -> {self.square}"
        return self.generic("sort", self.pick(), f"dimension = {self.rng.randint(0, 1)} : i64", region, types)

    def windowed(self) -> str:
        """The greatest of each element and its neighbours."""
        size = self.rng.choice(["3, 3", "1, 5", "3, 1"])
        pads = ", ".join(f"[{(int(n) - 1) // 2}, {(int(n) - 1) // 2}]" for n in size.split(", "))
        return self.windows(self.pick(), "maximum", self.lowest, size, f"[{pads}]")

    def running(self) -> str:
        """Sums of all elements before each one."""
        n = self.side
        size, pads = self.rng.choice([(f"{n}, 1", f"[[{n - 1}, 0], [0, 0]]"), (f"1, {n}", f"[[0, 0], [{n - 1}, 0]]")])
        return self.small(self.windows(self.pick(), "add", self.zero, size, pads))

    def pooled(self) -> str:
        """The greatest of four elements, in the place of each of them."""
        m = self.side // 2
        few, apart, wide = tensor(m, m), tensor(m, 1, m, 1), tensor(m, 2, m, 2)
        value = self.windows(self.pick(), "maximum", self.lowest, "2, 2", "0", "2, 2", few)
        value = self.reshape(value, few, apart)
        value = self.op(f"broadcast_in_dim {value}, dims = [0, 1, 2, 3] : ({apart}) -> {wide}")
        return self.reshape(value, wide, self.square)

    def unpooled(self) -> str:
        """The gradient of a pool, of windows that overlap or do not."""
        m = self.side // 2
        size, pads = self.rng.choice([("2, 2", "0"), ("3, 2", "[[0, 1], [0, 0]]"), ("3, 3", "[[1, 0], [0, 1]]")])
        source = self.windows(self.pick(), "maximum", self.lowest, "2, 2", "0", "2, 2", tensor(m, m))
        attributes = (
            f"window_dimensions = array<i64: {size}>, window_strides = array<i64: 2, 2>, "
            f"padding = dense<{pads}> : tensor<2x2xi64>"
        )
        regions = f"{self.computation('compare GE,', 'tensor<i1>')}, {self.computation('add')}"
        types = f"({self.square}, {tensor(m, m)}, {tensor()}) -> {self.square}"
        operands = f"{self.pick()}, {source}, {self.zero}"
        return self.small(self.generic("select_and_scatter", operands, attributes, regions, types))

    def convolved(self) -> str:
        n = self.side
        image, kernel = tensor(1, n, n, 1), tensor(3, 3, 1, 1)
        corner = self.op(f"slice {self.pick()} [0:3, 0:3] : ({self.square}) -> {tensor(3, 3)}")
        kernel_value = self.reshape(corner, tensor(3, 3), kernel)
        value = self.reshape(self.pick(), self.square, image)
        value = self.op(
            f"convolution({value}, {kernel_value}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
            "window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
            f"({image}, {kernel}) -> {image}"
        )
        return self.small(self.reshape(value, image, self.square))

    def moved(self) -> str:
        low = self.rng.choice([-2, -1, 1, 3])
        return self.op(
            f"pad {self.pick()}, {self.seven}, low = [{low}, 0], high = [{-low}, 0], interior = [0, 0] : "
            f"({self.square}, {tensor()}) -> {self.square}"
        )

    def spread(self) -> str:
        """Elements apart, with others between them; of this a half."""
        n, wide = self.side, tensor(2 * self.side, self.side)
        low = self.rng.randint(0, 1)
        value = self.op(
            f"pad {self.pick()}, {self.seven}, low = [{low}, 0], high = [{1 - low}, 0], interior = [1, 0] : "
            f"({self.square}, {tensor()}) -> {wide}"
        )
        start = self.rng.choice([0, 1, n // 2, n])
        return self.op(f"slice {value} [{start}:{start + n}, 0:{n}] : ({wide}) -> {self.square}")

    def replaced(self) -> str:
        """Half of one matrix in another one."""
        n, i32 = self.side, "tensor<i32>"
        places = [self.op(f"constant dense<{self.rng.randint(0, n // 2)}> : {i32}") for _ in range(2)]
        zero = self.op(f"constant dense<0> : {i32}")
        part = self.op(
            f"dynamic_slice {self.pick()}, {places[0]}, {zero}, sizes = [{n // 2}, {n}] : "
            f"({self.square}, {i32}, {i32}) -> {self.half}"
        )
        return self.op(
            f"dynamic_update_slice {self.pick()}, {part}, {places[1]}, {zero} : "
            f"({self.square}, {self.half}, {i32}, {i32}) -> {self.square}"
        )

    def gathered(self) -> str:
        n = self.side
        rows = self.integers(self.pick(), 7)
        attributes = (
            "dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
            f"start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, {n}>"
        )
        self.lines.append(
            f'  %{len(self.lines)} = "stablehlo.gather"({self.pick()}, {rows}) <{{{attributes}}}> : '
            f"({self.square}, tensor<{n}x1xi32>) -> {self.square}"
        )
        return f"%{len(self.lines) - 1}"

    def scattered(self) -> str:
        n = self.side
        rows = self.integers(self.pick(), 7)
        attributes = (
            "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
            "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>"
        )
        types = f"({self.square}, tensor<{n}x1xi32>, {self.square}) -> {self.square}"
        operands = f"{self.pick()}, {rows}, {self.pick()}"
        return self.small(self.generic("scatter", operands, attributes, self.computation("add"), types))

    def looped(self) -> str:
        """Multiplied several times by a matrix from outside of the loop."""
        i32, of = "tensor<i32>", self.square
        first, step = (self.op(f"constant dense<{number}> : {i32}") for number in (0, 1))
        end = self.op(f"constant dense<{self.rng.randint(1, 3)}> : {i32}")
        start, other = self.pick(), self.pick()
        self.lines.append(
            f"""  %{len(self.lines)}:2 = stablehlo.while(%k = {first}, %v = {start}) : {i32}, {of}
   cond {{
    %p = stablehlo.compare LT, %k, {end} : ({i32}, {i32}) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %m = stablehlo.add %k, {step} : {i32}
    %d = stablehlo.dot_general %v, {other}, contracting_dims = [1] x [0] : ({of}, {of}) -> {of}
    %u = stablehlo.remainder %d, {self.sevens} : {of}
    stablehlo.return %m, %u : {i32}, {of}
  }}"""
        )
        return f"%{len(self.lines) - 1}#1"

    def families(self) -> list[Callable[[], str]]:
        return [
            self.binary, self.greater, self.unary, self.transposed, self.selected, self.counted, self.dot, self.dot,
            self.batched, self.centred, self.outer, self.joined, self.doubled, self.folded, self.mirrored, self.ordered,
            self.windowed, self.running, self.pooled, self.unpooled, self.convolved, self.moved, self.spread,
            self.replaced, self.gathered, self.scattered, self.looped,
        ]  # fmt: skip


def random_graph(rng: random.Random, ops: int, side: int) -> Model:
    graph = Graph(rng, side)
    total = graph.values[0]
    for value in graph.values[1:]:
        total = graph.op(f"add {total}, {value} : {graph.square}")
    graph.values.append(total)
    families = graph.families()
    while (count := len(graph.lines) - graph.start) < ops:
        kept = list(graph.lines)
        value = rng.choice(families)()
        if count and len(graph.lines) - graph.start > ops:  # too many: end with one op
            graph.lines[:] = kept
            value = graph.op(f"negate {graph.values[-1]} : {graph.square}")
        graph.values.append(value)
    # No argument is dead.
    return graph.model(graph.op(f"add {total}, {graph.values[-1]} : {graph.square}"), side, side)


def integers_of(model: Model) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(13)
    return [torch.randint(-6, 7, shape, generator=generator).float() for shape in model.shapes]


# ----------------------------------------------------------------------------------------------------------------------
# Shardings
# ----------------------------------------------------------------------------------------------------------------------


def random_mesh(rng: random.Random) -> Mesh:
    """Up to 8x4, of two chips or more."""
    while (mesh := (rng.choice(ROWS), rng.choice(COLUMNS))) == (1, 1):
        pass
    return mesh


def random_sharding(rng: random.Random, shape: tuple[int, ...], mesh: Mesh, hasSubAxes: bool = False) -> str:
    """One of all ways to split it, closed or open, of some priority; with parts of axes, too."""
    is_open = rng.random() < 0.5
    names = {"x": '"x"', "y": '"y"'}
    split = rng.choice(splits_of(shape, mesh))
    if hasSubAxes and rng.random() < 0.3:
        for axis, size in zip("xy", mesh, strict=True):
            if factors := [f for f in range(2, size) if size % f == 0]:
                factor = rng.choice(factors)
                names[axis] = f'"{axis}":({rng.choice([f"1){factor}", f"{factor}){size // factor}"])}'

    def dimension(axes: str) -> str:
        entries = [names[axis] for axis in axes] + ["?"] * is_open
        priority = f"p{rng.randint(0, 2)}" if entries and rng.random() < 0.2 else ""
        return "{" + ", ".join(entries) + "}" + priority

    return f"<@mesh, [{', '.join(map(dimension, split))}]>"


def annotated(rng: random.Random, model: Model, mesh: Mesh, hasConstraints: bool = True) -> str:
    """Some arguments split in some way, and some values in the middle."""
    text = with_mesh(model.text, mesh)
    for index, shape in enumerate(model.shapes):
        if rng.random() < 0.8:
            sharding = f" {{sdy.sharding = #sdy.sharding{random_sharding(rng, shape, mesh)}}}"
            text = text.replace(f"%a{index}: {tensor(*shape)}", f"%a{index}: {tensor(*shape)}{sharding}", 1)
    if not hasConstraints:
        return text
    square = model.shapes[0]
    lines, renamed = [], {}
    for line in text.splitlines():
        line = re.sub(r"%\d+\b", lambda found: renamed.get(found[0], found[0]), line)
        lines.append(line)
        result = re.match(rf"  (%\d+) = .*{re.escape(tensor(*square))}$", line)
        if result and rng.random() < 0.1:
            renamed[result[1]] = f"%c{result[1][1:]}"
            sharding = random_sharding(rng, square, mesh, hasSubAxes=True)
            lines.append(f"  %c{result[1][1:]} = sdy.sharding_constraint {result[1]} {sharding} : {tensor(*square)}")
    return "\n".join(lines)
