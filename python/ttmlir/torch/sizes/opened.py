# SPDX-License-Identifier: Apache-2.0
"""A program that leaves sizes of its graph open: compiled once, called with arguments of any sizes in their bounds."""

from __future__ import annotations

import hashlib
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import _ttmlir_runtime as tt
import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import Node
from torch.fx.node import map_aggregate

from ... import ir
from ...chips import lower
from ...sizes import OpenSizeError, Size, open_flatbuffer, points
from ..errors import UnsupportedError
from ..importer import Imported, import_graph
from ..lowering import Draw, HostNumber
from ..options import Options
from ..program import Call, Program, host_tensor
from .expressions import SYMBOLIC, ClosedError, Point, Sizes

# Sets of sizes of which a program remembers what its results look like.
MOST_CALLS = 256
# What stands for a size that a program does not depend on, while it is compiled.
ANY = 2


@dataclass(frozen=True)
class Group:
    """Sizes of a graph that are one size of a program: they are equal at each call of it.

    members: by their places in `Sizes.open`. factor: they are multiples of it, and the program counts in it.
    carried: no tensor has the size as a dimension, where the runtime would find it; an input of no elements does.
    """

    members: tuple[int, ...]
    factor: int
    declared: Size
    carried: bool


def group_of(sizes: Sizes, members: Sequence[int], way: Way) -> Group:
    """
    Raises:
        OpenSizeError: the bounds of the members leave no size.
    """
    open_sizes = [sizes.open[i] for i in members]
    factor = math.lcm(*(size.factor for size in open_sizes))
    least = max(2, *(-(-size.least // factor) for size in open_sizes))
    bounds = [way.most, *(size.most - way.below for size in open_sizes if size.most is not None)]
    most = min((n // factor for n in bounds if n is not None), default=None)
    name = str(open_sizes[0].symbol)
    if most is not None and most < least:
        raise OpenSizeError(f"size {name} has no value from {least} to {most} in which nothing is 0 or 1")
    carried = factor > 1 or not any(size.symbol in sizes.bare for size in open_sizes)
    return Group(tuple(members), factor, Size(name, least, most), carried)


@dataclass(frozen=True)
class Way:
    """How a program leaves sizes of a graph open.

    groups: sizes that are equal at each call, by their places in `Sizes.open`.
    fixed: sizes and the value that they have. most: of each size; None for no bound.
    below: how far bounds of PyTorch's are left: a slice of all of a table is no slice.
    """

    groups: tuple[tuple[int, ...], ...]
    fixed: tuple[tuple[int, int], ...] = ()
    most: int | None = None
    below: int = 0


def each_alone(free: Sequence[int], fixed: Mapping[int, int]) -> Way:
    """Each size by itself."""
    return Way(tuple((i,) for i in free), tuple(fixed.items()))


def equal_ones(free: Sequence[int], fixed: Mapping[int, int], point: Point) -> Way:
    """Those sizes together that are equal at a point: ops need what PyTorch does not ask for, such as as many keys as
    values.
    """
    found: dict[int, list[int]] = {}
    for i in free:
        found.setdefault(point[i], []).append(i)
    return Way(tuple(map(tuple, found.values())), tuple(fixed.items()))


class OpenProgram(Program):
    """A graph that was compiled for all of its sizes.

    sizes: of the graph, whose values were described with symbols.
    way: which of these sizes are open, and which are one.

    Raises:
        OpenSizeError: names the op, and what of it depends on a size.
        UnsupportedError, MLIRError: an op that the chip refuses.
    """

    def __init__(
        self,
        sizes: Sizes,
        way: Way,
        parameters: Sequence[int] = (),
        options: Options | None = None,
        watch: bool = False,
        keep_text: bool = False,
    ) -> None:
        self.sizes = sizes
        self.fixed = way.fixed
        self.groups = [group_of(sizes, members, way) for members in way.groups]
        self.declared = [group.declared for group in self.groups]
        self.context = ir.Context()
        self.lowered: dict[Point, Imported] = {}
        self.recent: OrderedDict[Point, Call] = OrderedDict()
        self.pipeline = ""
        nodes = sizes.graph_module.graph.nodes
        self.nodes = {node.name: (node, describe) for node, describe in zip(nodes, sizes.values, strict=True)}
        values = [node.meta.get("val") for node in sizes.placeholders]
        tensors = {i: value.dtype for i, value in enumerate(values) if isinstance(value, torch.Tensor)}
        self.parameters, self.checks = frozenset(parameters), not keep_text
        started = time.perf_counter()
        self.varying: frozenset[int] = frozenset()
        filled = [self.imported_at(point).filled for point in self.points()[:2]]
        if len(set(map(len, filled))) > 1:
            raise OpenSizeError("how many tensors are filled with numbers depends on the sizes")
        self.varying = frozenset(i for i, values in enumerate(zip(*filled, strict=True)) if len(set(values)) > 1)
        if self.varying:
            self.lowered.clear()
        first = self.imported_at(self.points()[0])
        super().__init__(first, tensors, self.parameters, (), options or Options(), watch, keep_text)
        self.times.import_graph = time.perf_counter() - started - self.times.passes - self.times.flatbuffer
        (output,) = sizes.graph_module.graph.find_nodes(op="output")
        returned = output.args[0] if isinstance(output.args[0], Sequence) else [output.args[0]]
        written = [sizes.placeholders[number] for number, _ in first.writes]
        self.returned = [*returned, *written]

    def points(self) -> list[Point]:
        """The sizes that the graph is lowered at."""
        return points(self.declared) if self.declared else [()]

    def make(self) -> None:
        cache, self.pipeline = self.options.cache, self.options.pipeline_options()
        name = ""
        if cache and not self.keep_text:
            names = [cache.name(self.imported_at(point).module, self.pipeline) for point in self.points()]
            # Graphs that are one program at these points can be two at others.
            described = (self.groups, self.fixed, self.sizes.text(), names)
            name = f"{hashlib.sha256(repr(described).encode()).hexdigest()}.ttnn"
            if found := cache.find(name):
                self.flatbuffer, self.binary = found
                return self.bind()
        if not self.declared:  # strides change, which a program does not have
            return self.compile(self.pipeline)
        started = time.perf_counter()
        self.flatbuffer = open_flatbuffer(self.lower_at, self.declared, periods=self.sizes.periods())
        self.binary = tt.binary.load_binary_from_bytes(self.flatbuffer, allow_native=True)
        self.times.flatbuffer = time.perf_counter() - started - self.times.passes
        self.bind()
        if cache and name:
            cache.keep(name, self.flatbuffer)

    def bind(self) -> None:
        """Takes over the bounds that the flatbuffer has, which can be closer."""
        self.declared = [Size(*bounds) for bounds in self.binary.open_sizes]
        self.groups = [replace(group, declared=size) for group, size in zip(self.groups, self.declared, strict=True)]

    def imported_at(self, point: Point) -> Imported:
        """The graph's module for a set of declared sizes; one for each, which `lower_at` lowers."""
        found = self.lowered.get(point)
        if found is None:
            full = [ANY] * len(self.sizes.open)
            for i, n in self.fixed:
                full[i] = n
            for group, n in zip(self.groups, point, strict=True):
                for i in group.members:
                    full[i] = n * group.factor
            with unset_fake_temporarily():
                carried = [n for group, n in zip(self.groups, point, strict=True) if group.carried]
                try:
                    graph = self.sizes.at(tuple(full), is_open=True)
                    found = import_graph(
                        graph, self.parameters, self.context, checks=self.checks, sizes=carried, varying=self.varying
                    )
                except ClosedError as error:
                    raise OpenSizeError(f"{error}, for {self.text_of(point)}") from None
                except UnsupportedError as error:
                    refused = UnsupportedError(f"{error}, for {self.text_of(point)}")
                    raise refused from error.__cause__
            self.lowered[point] = found
        return found

    def text_of(self, point: Point) -> str:
        return ", ".join(f"{size.name} = {n}" for size, n in zip(self.declared, point, strict=True))

    def text_at(self, point: Point) -> str:
        """The sizes of a call, as the graph has them."""
        return ", ".join(f"{size.symbol} = {n}" for size, n in zip(self.sizes.open, point, strict=True))

    def lower_at(self, point: Point) -> ir.Module:
        imported = self.imported_at(point)
        first = next(iter(self.lowered.values()))
        for what in ("results", "writes", "updated", "limits"):
            if getattr(imported, what) != getattr(first, what):
                raise OpenSizeError(f"{what} of the graph depend on its sizes")
        started = time.perf_counter()
        lower(imported.module, f"{self.pipeline} open-sizes=true" if self.declared else self.pipeline)
        self.times.passes += time.perf_counter() - started
        return imported.module

    def accepts(self, point: Point) -> bool:
        """Whether sizes that are one here are equal, multiples of what they have to be, and within their bounds."""
        if any(point[i] != n for i, n in self.fixed):
            return False
        for group in self.groups:
            n = point[group.members[0]]
            if n % group.factor or any(point[i] != n for i in group.members):
                return False
            least, most = group.declared.least, group.declared.most
            if n < least * group.factor or (most is not None and n > most * group.factor):
                return False
        return True

    def at(self, arguments: Sequence[Any]) -> Call:
        point = self.sizes.of(arguments)
        found = self.recent.get(point)
        if found is None:
            found = self.recent[point] = self.call_at(point)
            if len(self.recent) > MOST_CALLS:
                self.recent.popitem(last=False)
        return found

    def call_at(self, point: Point) -> Call:
        numbers = self.sizes.numbers(point)

        def value(argument: Any) -> Any:
            if isinstance(argument, Node):
                node, describe = self.nodes[argument.name]
                return node.meta.get("val") if describe is None else describe(numbers)
            return numbers[self.sizes.table.place(argument)] if isinstance(argument, SYMBOLIC) else argument

        def drawn(draw: Draw | HostNumber) -> Callable[[], torch.Tensor]:
            if isinstance(draw, HostNumber):
                return torch.tensor([numbers[draw.place]], dtype=draw.dtype).clone
            node, _ = self.nodes[draw.node.name]
            return Draw(draw.sample, node, value(node), *map_aggregate((node.args, node.kwargs), value))

        outputs = [value(output) for output in self.returned]
        known = [
            now if isinstance(now, int | float) else then
            for now, then in zip(outputs, self.imported.known, strict=False)
        ]
        inputs = []
        for group in self.groups:
            if group.carried:
                size = point[group.members[0]] // group.factor
                inputs.append(host_tensor(torch.empty((size, 0), dtype=torch.uint8)))
        return Call(outputs, known, [drawn(draw) for draw in self.imported.draws], inputs)
