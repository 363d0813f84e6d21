# SPDX-License-Identifier: Apache-2.0
"""Graphs whose sizes change: one program that leaves them open, and additional programs for single sets of sizes."""

from __future__ import annotations

import copy
import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import _ttmlir_runtime as tt
from ttmlir.ir import MLIRError
from ttmlir.sizes import OpenSizeError

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import GraphModule
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.utils._pytree import tree_leaves

from ..compilation import compile_graph, compile_whole, with_wide_integers, without_collection
from ..errors import OutOfRangeError, UnsupportedError
from ..importer import reason_of
from ..options import Options
from ..program import Program
from ..report import Report, add, counted, left_on_host
from .expressions import ClosedError, Point, Sizes
from .opened import OpenProgram, Way, each_alone, equal_ones

# Sets of sizes that a graph keeps programs for.
MOST_PROGRAMS = 32
# The number of sizes that are tried as separate sizes, and of ways in which some of them are tried as equal.
MOST_SIZES, MOST_WAYS = 8, 6
# Bounds of sizes that are tried where the graph has no form for very large ones.
BOUNDS = (8211, 1047)
# If a product of many sizes would otherwise not be an integer of 32 bits.
BOUND_OF_PRODUCTS = 40
OUTSIDE = "sizes beyond the bounds of the programs that leave them open"
SINGULAR = "sizes that are 0 or 1, where ops may mean something else"

Run: TypeAlias = Callable[[Sequence[Any]], Any]


def is_dynamic(graph_module: GraphModule) -> bool:
    """Returns whether sizes of the graph's arguments are known only when it is called."""
    for node in graph_module.graph.find_nodes(op="placeholder"):
        value = node.meta.get("val")
        if isinstance(value, torch.SymInt) or (
            isinstance(value, torch.Tensor) and any(isinstance(n, torch.SymInt) for n in value.shape)
        ):
            return True
    return False


def sized_by_values(graph_module: GraphModule) -> str:
    """Returns why no set of sizes of a graph of Dynamo's arguments tells the sizes of all its tensors; or ""."""
    for part in graph_module.modules():
        for node in part.graph.nodes if isinstance(part, GraphModule) else ():
            for value in tree_leaves(node.meta.get("example_value")):
                sizes = value.shape if isinstance(value, torch.Tensor) else ()
                if any(free_unbacked_symbols(n) for n in sizes if isinstance(n, torch.SymInt)):
                    return f"sizes depend on values from {getattr(node.target, '__name__', node.target)}() on"
    return ""


def specialised(graph_module: GraphModule, arguments: Sequence[Any]) -> GraphModule:
    """Returns a copy of the graph for the sizes of these arguments, run on fake tensors.

    It takes much longer than `Sizes.at`, which does not know sizes of nested tensors.
    """
    known = copy.copy(graph_module)
    known.graph = copy.deepcopy(graph_module.graph)
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    # Another tensor with this memory: offsets of a nested tensor have a size that is not a number.
    given = [mode.from_tensor(a.detach(), static_shapes=True) if isinstance(a, torch.Tensor) else a for a in arguments]

    class Record(torch.fx.Interpreter):
        def run_node(self, node: torch.fx.Node) -> Any:
            result = super().run_node(node)
            node.meta["val"] = result
            return result

    with mode:
        Record(known).run(*given)
    return known


def size_of(argument: Any) -> Any:
    """Returns the key of a program. Sizes of nested tensors are not numbers, and differ for each tensor."""
    if isinstance(argument, torch.Tensor):
        return tuple(argument.shape), argument.stride()
    return None if isinstance(argument, torch.SymInt) else argument


class Specialising:
    """A graph whose sizes change.

    ranges: as `Sizes` has them. keep_text: the model is compiled ahead, and the text of its programs is kept.
    closed: why the last try gave no program that leaves sizes open, or "".
    programs: what runs the graph for sets of sizes that it was called with.
    """

    def __init__(
        self,
        graph_module: GraphModule,
        parameters: Sequence[int],
        options: Options,
        kind: str,
        training: bool,
        unsuited: str,
        ranges: Mapping[Any, Any] | None = None,
        keep_text: bool = False,
    ) -> None:
        self.graph_module, self.parameters, self.options = graph_module, parameters, options
        self.kind, self.training, self.unsuited, self.keep_text = kind, training, unsuited, keep_text
        self.programs: OrderedDict[Any, Run] = OrderedDict()
        self.sizes: Sizes | None = None
        self.closed = ""  # why the last try gave no program that leaves sizes open
        self.refused: dict[Point, str] = {}  # sizes within the bounds of such a program, and why it did not take them
        self.is_warned = False
        self._opened: list[tuple[OpenProgram, Run]] = []
        self._tried = set[Way]()
        self._seen: list[Point] = []
        try:
            self.sizes = Sizes(graph_module, ranges)
        except ClosedError as error:
            self.closed = str(error)

    def __call__(self, arguments: Sequence[Any]) -> Any:
        sizes = self.sizes
        key = tuple(map(size_of, arguments)) if sizes is None else sizes.of(arguments)
        program = self.programs.get(key)
        if program is None:
            return self.first_call(key, arguments)
        self.programs.move_to_end(key)
        return program(arguments)

    def first_call(self, key: Any, arguments: Sequence[Any]) -> Any:
        """Calls the graph with sizes that it has no program for. A program that leaves them open may refuse them.

        Warns:
            UserWarning: sizes within the bounds of a program were refused, so that they have one of their own.
        """
        with without_collection():
            run = self.compiled(key, arguments)
        opened = next((program for program, other in self._opened if other is run), None)
        state = torch.get_rng_state() if opened is not None and opened.imported.draws else None
        try:
            results = run(arguments)
        except OutOfRangeError:
            raise
        except tt.Error as error:
            if opened is None or opened.updates:  # arguments that are written where they are may have been
                raise
            self.refused[key] = f"{opened.text_at(key)}: {error}"
            if not self.is_warned:
                self.is_warned = True
                warnings.warn(f"a program is compiled for single sizes: {self.refused[key]}", stacklevel=2)
            if state is not None:  # the program has drawn its numbers
                torch.set_rng_state(state)
            with without_collection():
                run = self.compiled(key, arguments)
            results = run(arguments)
        self.programs[key] = run
        if len(self.programs) > MOST_PROGRAMS:
            self.programs.popitem(last=False)
        return results

    def of_examples(self) -> Program:
        """Returns a program for the sizes that the graph was captured with: one that leaves them open, if there is
        one."""
        sizes = self.sizes
        if sizes is None:
            raise UnsupportedError(f"sizes that change: {self.closed}")
        point = tuple(size.hint for size in sizes.open)
        run = self.compiled(point, ())
        self.programs[point] = run
        return run if isinstance(run, Program) else self._opened[0][0]

    def compiled(self, key: Any, arguments: Sequence[Any]) -> Run:
        sizes, closed = self.sizes, self.closed
        if sizes is None:
            known = specialised(self.graph_module, arguments)
        else:
            if key in self.refused:
                closed = self.refused[key]
            elif not sizes.is_general(key, sizes.numbers(key)):
                closed = SINGULAR
            elif (program := self.opened(key)) is not None:
                return program
            else:
                closed = self.closed
            known = sizes.at(key)
        if self.keep_text:  # compiled ahead, where an op that the chip refuses is an error
            return compile_graph(known, self.parameters, self.options)
        return compile_whole(
            known, self.parameters, self.options, self.kind, self.training, self.unsuited, closed=closed
        )

    def opened(self, point: Point) -> Run | None:
        """Returns a program that leaves sizes open and takes these; None where there is none, and `closed` says why."""
        sizes = self.sizes
        assert sizes is not None
        for program, run in self._opened:
            if program.accepts(point):
                return run
        self._seen.append(point)
        ways = self.ways(sizes, point)
        if not ways:
            self.closed = "sizes of so few values that each is a program of its own"
        for way in ways:
            if way in self._tried or len(self._tried) >= MOST_WAYS:
                continue
            self._tried.add(way)
            if (found := self.compiled_open(way, point)) is not None and self._opened[-1][0].accepts(point):
                return found
        self.closed = self.closed or OUTSIDE
        return None

    def ways(self, sizes: Sizes, point: Point) -> list[Way]:
        """Returns the ways in which sizes may stay open, the most open one first. The last one fixes those that never
        changed so far: sizes of kernels and channels are not guards of PyTorch, and decide which ops are built.
        """
        few = {i for i in sizes.needed if sizes.open[i].is_one_of_few()}
        ways = []
        for fixed in (few, few | {i for i in sizes.needed if len({seen[i] for seen in self._seen}) == 1}):
            values = {i: point[i] for i in sorted(fixed)}
            free = [i for i in sizes.needed if i not in fixed]
            if not free and sizes.needed:
                continue
            if len(free) <= MOST_SIZES:
                ways.append(each_alone(free, values))
            ways.append(equal_ones(free, values, point))
        return ways

    def compiled_open(self, way: Way, point: Point) -> Run | None:
        """Returns a program that leaves sizes open in this way; None where `closed` says why there is none."""
        sizes = self.sizes
        assert sizes is not None
        graph = sizes.at(point).graph
        on_host, _ = left_on_host(graph)
        if on_host:
            self.closed = f"PyTorch runs {', '.join(sorted(on_host))}"
            return None
        watch = self.training if self.options.watch_weights is None else self.options.watch_weights
        self.closed, program, bounds_left = "", None, [*BOUNDS]
        while program is None:
            try:
                program = OpenProgram(sizes, way, self.parameters, self.options, watch, self.keep_text)
            except UnsupportedError as error:
                self.closed = str(error)
                if isinstance(error.__cause__, ValueError) and not bounds_left and way.most != BOUND_OF_PRODUCTS:
                    bounds_left.append(BOUND_OF_PRODUCTS)
                # A rule that does not know the op refuses it at all sizes, another one perhaps tensors this large.
                if error.__cause__ is None or isinstance(error.__cause__, UnsupportedError) or not bounds_left:
                    return None
                way = replace(way, most=bounds_left.pop(0))
            except OpenSizeError as error:
                self.closed = self.closed or str(error)
                has_bounds = any(sizes.open[i].most is not None for members in way.groups for i in members)
                if has_bounds and not way.below:
                    way = replace(way, below=1)
                elif not way.signs and (signs := tuple(sizes.signs(point))):
                    way = replace(way, signs=signs)
                else:
                    return None
            except MLIRError as error:  # some op refuses tensors that are too large
                self.closed = reason_of(error)
                if not bounds_left:
                    return None
                way = replace(way, most=bounds_left.pop(0))
        self.closed = ""
        bounds = tuple(group.text() for group in program.groups)
        options = str(self.options.compile_options())
        add(
            Report(
                self.kind, counted(graph), programs=[program], unsuited=self.unsuited, open=bounds, options=options
            )
        )  # fmt: skip
        run = with_wide_integers(program, lambda given: sizes.at(sizes.of(given)))
        self._opened.append((program, run))
        return run
