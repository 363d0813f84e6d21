# SPDX-License-Identifier: Apache-2.0
"""A program that leaves sizes of its graph open: compiled once, called with arguments of any sizes in their bounds."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import _ttmlir_runtime as tt
import sympy  # type: ignore[import-untyped]
from ttmlir import ir
from ttmlir.chips import lower
from ttmlir.options import CompileOptions
from ttmlir.sizes import GENERIC, OpenSizeError, Size, open_flatbuffer

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import Node
from torch.fx.node import map_aggregate

from ..errors import OverflowedError, UnsupportedError
from ..importer import Imported, import_graph
from ..integers import MOST
from ..lowering import Draw, HostNumber
from ..options import Options
from ..program import Call, Program, form_of, host_tensor, lower_once
from .expressions import SYMBOLIC, ClosedError, Point, Sizes, Tensor
from .guards import Conditions, together

# Sets of sizes of which a program remembers what its results look like.
MOST_CALLS = 256
# What stands for a size that a program does not depend on, while it is compiled.
ANY = 2


@dataclass(frozen=True)
class Group:
    """Sizes of a graph that are one size of a program: they are equal at each call of it.

    members: by their places in `Sizes.open`. factor, remainder: they are the factor times the program's size, plus the
        remainder.
    carried: no tensor has the size as a dimension, where the runtime would find it; an input of no elements does.
    """

    members: tuple[int, ...]
    factor: int
    remainder: int
    declared: Size
    carried: bool

    def of(self, n: int) -> int:
        """Returns the size of the graph for one of the program."""
        return n * self.factor + self.remainder

    def size(self, n: int) -> int:
        """Returns the size of the program for one of the graph."""
        return (n - self.remainder) // self.factor

    def text(self) -> str:
        """Returns the bounds in sizes of the graph."""
        least, most = (None if n is None else self.of(n) for n in (self.declared.least, self.declared.most))
        bounds = f"{least} <= {self.declared.name}" + ("" if most is None else f" <= {most}")
        if self.factor == 1:
            return bounds
        return f"{bounds}, {self.declared.name} % {self.factor} == {self.remainder}"


def group_of(sizes: Sizes, members: Sequence[int], way: Way) -> Group:
    """
    Raises:
        OpenSizeError: the bounds of the members leave no size.
    """
    open_sizes = [sizes.open[i] for i in members]
    name = str(open_sizes[0].symbol)
    both = reduce(lambda one, other: one and together(one, other), [(s.factor, s.remainder) for s in open_sizes])
    if both is None:
        raise OpenSizeError(f"size {name} has no value that is equal to others: remainders differ")
    factor, remainder = both
    least = max(2, *(-((remainder - size.least) // factor) for size in open_sizes))
    bounds = [way.most, *(size.most - way.below for size in open_sizes if size.most is not None)]
    most = min(((n - remainder) // factor for n in bounds if n is not None), default=None)
    if most is not None and most < least:
        raise OpenSizeError(f"size {name} has no value from {least} to {most} in which nothing is 0 or 1")
    carried = factor > 1 or not any(size.symbol in sizes.bare for size in open_sizes)
    return Group(tuple(members), factor, remainder, Size(name, least, most), carried)


@dataclass(frozen=True)
class Way:
    """One way in which a program leaves sizes of a graph open.

    groups: sizes that are equal at each call, by their places in `Sizes.open`.
    fixed: sizes and the value that they have. most: of each size; None for no bound.
    below: how far bounds of PyTorch's are left: a slice of all of a table is no slice.
    signs: further conditions that the sizes keep, as numbers of `Sizes.signs`: a pad of less than 0 is a slice.
    """

    groups: tuple[tuple[int, ...], ...]
    fixed: tuple[tuple[int, int], ...] = ()
    most: int | None = None
    below: int = 0
    signs: tuple[Any, ...] = ()


def each_alone(free: Sequence[int], fixed: Mapping[int, int]) -> Way:
    """Returns each size by itself."""
    return Way(tuple((i,) for i in free), tuple(fixed.items()))


def equal_ones(free: Sequence[int], fixed: Mapping[int, int], point: Point) -> Way:
    """Returns those sizes together that are equal at a point: ops need what PyTorch does not ask for, such as as many
    keys as values.
    """
    found: dict[int, list[int]] = {}
    for i in free:
        found.setdefault(point[i], []).append(i)
    return Way(tuple(map(tuple, found.values())), tuple(fixed.items()))


def host_number(value: int | float, dtype: torch.dtype) -> Callable[[], torch.Tensor]:
    """Returns what makes a number of a call, [1].

    Raises (where it is made):
        OverflowedError: an integer that the chip does not hold.
    """
    if dtype is torch.int64 and not -MOST <= value < MOST:

        def refused() -> torch.Tensor:
            raise OverflowedError(f"the size {value} exceeds the 32 bits in which the chip holds it")

        return refused
    return torch.tensor([value], dtype=dtype).clone


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
        names = [sympy.Symbol(f"n{i}", integer=True, positive=True) for i in range(len(self.groups))]
        values = {sizes.open[i].symbol: sympy.Integer(n) for i, n in self.fixed}
        for group, name in zip(self.groups, names, strict=True):
            values |= {sizes.open[i].symbol: group.of(name) for i in group.members}
        self.conditions = Conditions([*sizes.guards, *way.signs], names, values)
        self.has_signs = bool(way.signs)
        # Where two sizes are equal, ops can be equal that are not elsewhere.
        self.lower = lower_once if self.conditions.tells_apart() else lower
        self.declared = [self.conditions.bounded(group.declared, i) for i, group in enumerate(self.groups)]
        self.context = ir.Context()
        self.lowered: dict[Point, Imported] = {}
        self.recent: OrderedDict[Point, Call] = OrderedDict()
        self.pipeline = CompileOptions()
        nodes = sizes.graph_module.graph.nodes
        self.nodes = {node.name: (node, describe) for node, describe in zip(nodes, sizes.values, strict=True)}
        given = [node.meta.get("val") for node in sizes.placeholders]
        tensors = {i: value.dtype for i, value in enumerate(given) if isinstance(value, torch.Tensor)}
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
        # Most outputs have a form that others have, too: the keys and values of all layers.
        described = [self.nodes[x.name][1] if isinstance(x, Node) else None for x in self.returned]
        forms = [(x.dtype, x.shape, x.stride) if isinstance(x, Tensor) else None for x in described]
        self.forms = {form: x for form, x in zip(forms, described, strict=True) if isinstance(x, Tensor)}
        self.form_keys = forms

    def points(self) -> list[Point]:
        """Returns the sizes that the graph is lowered at."""
        return self.conditions.points(self.declared, GENERIC[0]) if self.declared else [()]

    def nearest(self, point: Point, least: Sequence[int]) -> Point | None:
        bounded = [replace(size, least=n) for size, n in zip(self.declared, least, strict=True)]
        return self.conditions.nearest(point, bounded)

    def make(self) -> None:
        cache, self.pipeline = self.options.cache, self.options.compile_options()
        name = ""
        if cache and not self.keep_text:
            names = [cache.name(self.imported_at(point).module, str(self.pipeline)) for point in self.points()]
            # Graphs that are one program at these points can be two at others.
            described = (self.groups, self.fixed, self.sizes.text(), names)
            name = f"{hashlib.sha256(repr(described).encode()).hexdigest()}.ttnn"
            if found := cache.find(name):
                self.flatbuffer, self.binary = found
                return self.bind()
        if not self.declared:  # strides change, which a program does not have
            return self.compile(self.pipeline)
        started = time.perf_counter()
        self.flatbuffer = open_flatbuffer(
            self.lower_at,
            self.declared,
            self.conditions.points,
            self.conditions.admits,
            self.sizes.periods(),
            self.nearest,
        )
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
        """Returns the graph's module for a set of declared sizes; one for each, which `lower_at` lowers."""
        found = self.lowered.get(point)
        if found is None:
            full = [ANY] * len(self.sizes.open)
            for i, n in self.fixed:
                full[i] = n
            for group, n in zip(self.groups, point, strict=True):
                for i in group.members:
                    full[i] = group.of(n)
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
        """Returns the sizes of a call, as the graph has them."""
        return ", ".join(f"{size.symbol} = {n}" for size, n in zip(self.sizes.open, point, strict=True))

    def lower_at(self, point: Point) -> ir.Module:
        imported = self.imported_at(point)
        first = next(iter(self.lowered.values()))
        for what in ("results", "writes", "updated", "limits"):
            if getattr(imported, what) != getattr(first, what):
                raise OpenSizeError(f"{what} of the graph depend on its sizes")
        started = time.perf_counter()
        self.lower(imported.module, self.pipeline.with_(open_sizes=True) if self.declared else self.pipeline)
        self.times.passes += time.perf_counter() - started
        return imported.module

    def accepts(self, point: Point) -> bool:
        """Returns whether sizes that are one here are equal, and all are divisible as required and within bounds."""
        if any(point[i] != n for i, n in self.fixed):
            return False
        for group in self.groups:
            n = point[group.members[0]]
            if n % group.factor != group.remainder or any(point[i] != n for i in group.members):
                return False
            least, most = group.declared.least, group.declared.most
            if n < group.of(least) or (most is not None and n > group.of(most)):
                return False
        if not self.has_signs:  # guards hold of each call
            return True
        return self.conditions.admits([group.size(point[group.members[0]]) for group in self.groups])

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
                return host_number(numbers[draw.place], draw.dtype)
            node, _ = self.nodes[draw.node.name]
            return Draw(draw.sample, node, value(node), *map_aggregate((node.args, node.kwargs), value))

        forms = {key: describe.form(numbers) for key, describe in self.forms.items()}
        outputs = [
            forms[key] if key is not None else form_of(value(output))
            for output, key in zip(self.returned, self.form_keys, strict=True)
        ]
        known = [
            now if isinstance(now, int | float) else then
            for now, then in zip(outputs, self.imported.known, strict=False)
        ]
        inputs = []
        for group in self.groups:
            if group.carried:
                size = group.size(point[group.members[0]])
                inputs.append(host_tensor(torch.empty((size, 0), dtype=torch.uint8)))
        return Call(outputs, known, [drawn(draw) for draw in self.imported.draws], inputs)
