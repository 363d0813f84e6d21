# SPDX-License-Identifier: Apache-2.0
"""Numbers of a graph as expressions of its sizes, and the graph at given sizes.

PyTorch describes values of a graph with symbolic sizes. Its expressions are compiled to one function of the sizes, so
that the graph is known at other sizes without running it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import sympy  # type: ignore[import-untyped]

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import Graph, GraphModule, Node
from torch.fx._lazy_graph_module import _LazyGraphModule
from torch.fx.experimental.sym_node import SymNode
from torch.fx.node import map_aggregate

from ..importer import reason_of, source_line
from ..integers import LARGEST
from ..lowering import OpenFloat, OpenInt
from ..program import Form
from ..strided import read_owners
from .guards import guards_of, numeric, period, residues

SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)
Point: TypeAlias = tuple[int, ...]
# A size with fewer values is fixed in each program.
FEW = 4


class ClosedError(Exception):
    """Raised when sizes of a graph do not follow from its arguments; the text says why."""


def symbolic(value: Any) -> SymNode | None:
    """Returns the node of a symbolic number, or None for a known one.

    Raises:
        ClosedError: a size of nested tensors, which is no number.
    """
    if not isinstance(value, SYMBOLIC):
        return None
    if not isinstance(value.node, SymNode):
        raise ClosedError(f"{value} is a size of nested tensors")
    return value.node


class Table:
    """Numbers, each once: known ones, and expressions of symbols. What refers to a number has its place."""

    def __init__(self) -> None:
        self.places: dict[Any, int] = {}
        self.expressions: list[Any] = []
        self._function: Callable[..., list[Any]] | None = None

    def place(self, value: Any) -> int:
        """Returns the place of an integer or a symbolic number."""
        node = symbolic(value)
        key = value if node is None else node._expr
        found = self.places.get(key)
        if found is None:
            expression = value if node is None else node.expr
            found = self.places[key] = len(self.expressions)
            self.expressions.append(expression)
            self._function = None
        return found

    def is_open(self, place: int) -> bool:
        return bool(getattr(self.expressions[place], "free_symbols", ()))

    def symbols(self, places: Sequence[int]) -> set[sympy.Symbol]:
        found = set[sympy.Symbol]()
        for place in places:
            found |= getattr(self.expressions[place], "free_symbols", set())
        return found

    def at(self, names: Sequence[sympy.Symbol], values: Sequence[int]) -> list[Any]:
        """Returns all numbers where the symbols have these values."""
        if self._function is None:
            self._function = numeric(self.expressions, names)
        return self._function(*values)


# A value of a graph at the numbers of a table.
Describe: TypeAlias = Callable[[Sequence[Any]], Any]


@dataclass(frozen=True)
class Tensor:
    """A tensor by the places of its numbers."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int

    def __call__(self, numbers: Sequence[Any]) -> torch.Tensor:
        shape, stride = [numbers[i] for i in self.shape], [numbers[i] for i in self.stride]
        if not (offset := numbers[self.offset]):
            return torch.empty_strided(shape, stride, dtype=self.dtype, device="meta")
        size = 1 + offset + sum(max(n - 1, 0) * step for n, step in zip(shape, stride, strict=True))
        return torch.empty(size, dtype=self.dtype, device="meta").as_strided(shape, stride, offset)

    def form(self, numbers: Sequence[Any]) -> Form:
        return Form(self.dtype, tuple([numbers[i] for i in self.shape]), tuple([numbers[i] for i in self.stride]))


@dataclass(frozen=True)
class OpenSize:
    """A size that arguments bring.

    symbol: PyTorch's. argument: that has it, by number. read: its number there. scale, shift: that number is
        scale * symbol + shift.
    factor, remainder: the symbol is a multiple of the factor, plus the remainder. least, most: bounds of the symbol;
        None for no bound. hint: what it was when the graph was captured.
    """

    symbol: sympy.Symbol
    argument: int
    read: Callable[[Any], int]
    scale: int
    shift: int
    factor: int
    remainder: int
    least: int
    most: int | None
    hint: int

    def is_one_of_few(self) -> bool:
        """Returns whether its bounds allow so few values that each should be a separate program."""
        return self.most is not None and self.most // self.factor - self.least // self.factor < FEW

    def of(self, arguments: Sequence[Any]) -> int:
        return (self.read(arguments[self.argument]) - self.shift) // self.scale


def linear(expression: Any) -> tuple[sympy.Symbol, int, int] | None:
    """Returns the symbol, scale and shift of scale * symbol + shift, or None for any other expression."""
    symbols = list(getattr(expression, "free_symbols", ()))
    if len(symbols) != 1:
        return None
    symbol = symbols[0]
    scale, shift = expression.coeff(symbol, 1), expression.coeff(symbol, 0)
    if not (scale.is_Integer and shift.is_Integer) or scale == 0 or expression != scale * symbol + shift:
        return None
    return symbol, int(scale), int(shift)


def read_size(dimension: int) -> Callable[[Any], int]:
    return lambda tensor: int(tensor.shape[dimension])


def read_stride(dimension: int) -> Callable[[Any], int]:
    return lambda tensor: tensor.stride(dimension)


def read_offset(tensor: torch.Tensor) -> int:
    return int(tensor.storage_offset())


def read_number(number: Any) -> int:
    return int(number)


def is_number(value: Any) -> bool:
    """Returns whether a symbolic number has a value: sizes of nested tensors, which are passed on, have none."""
    return isinstance(value.node, SymNode) and isinstance(value.node.hint, int | float)


def numbers_of(value: Any) -> list[tuple[Any, Callable[[Any], int]]]:
    """Returns the symbolic numbers of an argument, and how they are read from its value; sizes before strides."""
    if isinstance(value, torch.SymInt):
        return [(value, read_number)] if is_number(value) else []
    if not isinstance(value, torch.Tensor):
        return []
    sizes = [(n, read_size(d)) for d, n in enumerate(value.shape)]
    strides = [(n, read_stride(d)) for d, n in enumerate(value.stride())]
    found = [*sizes, *strides, (value.storage_offset(), read_offset)]
    return [(n, read) for n, read in found if isinstance(n, torch.SymInt)]


class Sizes:
    """The sizes that a graph leaves open, and what its values are at given sizes.

    ranges: bounds of symbols, where they are not those of PyTorch's environment of shapes.

    Raises:
        ClosedError: a size that does not follow from the arguments.
    """

    def __init__(self, graph_module: GraphModule, ranges: Mapping[sympy.Symbol, Any] | None = None) -> None:
        read_owners(graph_module.graph)
        self.graph_module = graph_module
        self.placeholders = graph_module.graph.find_nodes(op="placeholder")
        self.table = Table()
        self.environment: Any = None
        self.open = self._sources(ranges or {})
        self.symbols = [size.symbol for size in self.open]
        # Those that a tensor has as a dimension.
        shapes = [x.shape for node in self.placeholders if isinstance(x := node.meta.get("val"), torch.Tensor)]
        numbers: list[Any] = [n for shape in shapes for n in shape]
        self.bare = {n.node.expr for n in numbers if isinstance(n, torch.SymInt)}
        self.dimensions: set[int] = set()  # places of sizes of tensors
        self.used: set[int] = set()  # places of numbers that the graph computes with
        self.values = [self._described(node) for node in graph_module.graph.nodes]
        unknown = self.table.symbols(range(len(self.table.expressions))) - set(self.symbols)
        if unknown:
            raise ClosedError(f"{', '.join(sorted(map(str, unknown)))} does not follow from sizes of arguments")
        self.open_dimensions = [place for place in self.dimensions if self.table.is_open(place)]
        computed = [e for place in self.open_dimensions if not (e := self.table.expressions[place]).is_Symbol]
        # What must hold of sizes that a program is compared at; see `is_general`.
        self.guards = [*guards_of(self.environment), *(sympy.Ge(e, 2) for e in computed)]
        # What a program depends on: other numbers are strides, which it does not have.
        needed = self.table.symbols([*self.dimensions, *self.used])
        self.needed = [i for i, size in enumerate(self.open) if size.symbol in needed]

    def _sources(self, ranges: Mapping[sympy.Symbol, Any]) -> list[OpenSize]:
        found: dict[sympy.Symbol, tuple[int, Callable[[Any], int], int, int]] = {}
        for number, node in enumerate(self.placeholders):
            for value, read in numbers_of(node.meta.get("val")):
                described = symbolic(value)
                assert described is not None
                self.environment = described.shape_env
                parts = linear(described.expr)
                if parts is None:
                    continue
                symbol, scale, shift = parts
                # A symbol itself is read before one that is computed from a number.
                if symbol not in found or (abs(scale), abs(shift)) < tuple(map(abs, found[symbol][2:])):
                    found[symbol] = (number, read, scale, shift)
        known = residues(guards_of(self.environment))
        sizes = []
        for symbol, source in found.items():
            bounds = (ranges or self.environment.var_to_range).get(symbol)
            least, most = (0, None) if bounds is None else (bounded(bounds.lower) or 0, bounded(bounds.upper))
            hint = int(self.environment.backed_var_to_val[symbol])
            sizes.append(OpenSize(symbol, *source, *known.get(symbol, (1, 0)), least, most, hint))
        return sizes

    def _described(self, node: Node) -> Describe | None:
        value = node.meta.get("val")
        map_aggregate((node.args, node.kwargs), self._use)
        if isinstance(value, SYMBOLIC) and not is_number(value):
            return None
        return self.described(value, used=node.op != "placeholder")

    def _use(self, argument: Any) -> Any:
        if isinstance(argument, SYMBOLIC):
            self.used.add(self.table.place(argument))
        return argument

    def described(self, value: Any, used: bool = False) -> Describe | None:
        """Returns a value by the places of its numbers; None for one that has no symbolic numbers."""
        place = self.table.place
        if isinstance(value, SYMBOLIC):
            number = place(value)
            if used:
                self.used.add(number)
            return lambda numbers: numbers[number]
        if isinstance(value, tuple | list):
            parts = [self.described(part, used) for part in value]
            if not any(parts):
                return None
            return lambda numbers: type(value)(
                [known if part is None else part(numbers) for known, part in zip(value, parts, strict=True)]
            )
        if not isinstance(value, torch.Tensor) or not value._has_symbolic_sizes_strides:
            return None
        if value.layout is not torch.strided:
            raise ClosedError(f"a tensor of {value.layout}")
        shape, stride = tuple(map(place, value.shape)), tuple(map(place, value.stride()))
        self.dimensions.update(shape)
        return Tensor(value.dtype, shape, stride, place(value.storage_offset()))

    def periods(self) -> list[int]:
        """Returns how numbers repeat that the program depends on; see `period`."""
        return sorted({period(self.table.expressions[place]) for place in self.dimensions | self.used})

    def text(self) -> str:
        """Returns all that the graph computes, with its symbols: two graphs with one text are one program at all
        sizes."""

        def known(value: Any) -> Any:
            return f"#{self.table.place(value)}" if isinstance(value, SYMBOLIC) else value

        nodes = self.graph_module.graph.nodes
        lines = []
        for node in nodes:
            arguments, value = map_aggregate((node.args, node.kwargs), known), node.meta.get("val")
            lines.append(f"{node.name} {node.op} {node._pretty_print_target(node.target)} {arguments}")
            if isinstance(value, torch.Tensor):
                lines.append(f"{node.name} {value.dtype} {[known(n) for n in (*value.shape, '|', *value.stride())]}")
            elif isinstance(value, SYMBOLIC) and is_number(value):
                lines.append(f"{node.name} {known(value)}")
        described = [
            (s.symbol, s.argument, s.scale, s.shift, s.factor, s.remainder, s.least, s.most) for s in self.open
        ]
        return "\n".join([*lines, *map(str, self.table.expressions), str(described)])

    def of(self, arguments: Sequence[Any]) -> Point:
        """Returns the sizes that these arguments bring, in the order of `open`."""
        return tuple([size.of(arguments) for size in self.open])

    def numbers(self, point: Point) -> list[Any]:
        return self.table.at(self.symbols, point)

    def is_general(self, point: Point, numbers: Sequence[Any]) -> bool:
        """Returns whether no size that changes is 0 or 1 here, where ops may mean something else, and all keep their
        bounds."""
        return all(numbers[place] > 1 for place in self.open_dimensions) and all(
            n >= size.least and (size.most is None or n <= size.most) for n, size in zip(point, self.open, strict=True)
        )

    def signs(self, point: Point) -> list[Any]:
        """Returns conditions for other sizes: numbers of the graph are positive and negative where they are at this
        point."""
        numbers, conditions = self.numbers(point), list[Any]()
        for place in sorted(self.dimensions | self.used):
            expression, n = self.table.expressions[place], numbers[place]
            if n and self.table.is_open(place) and not expression.is_Symbol and not isinstance(n, bool):
                conditions.append(sympy.Gt(expression, 0) if n > 0 else sympy.Lt(expression, 0))
        return conditions

    def largest(self, most: int = LARGEST) -> list[Any]:
        """Returns bounds of the numbers, where they grow with the sizes."""
        return self.numbers(tuple(most if size.most is None else min(size.most, most) for size in self.open))

    def at(self, point: Point, is_open: bool = False) -> GraphModule:
        """Returns the graph at these sizes, whose numbers are known.

        is_open: other sizes will be taken for these: numbers say what they depend on (`OpenInt`), and `meta["most"]`
            of integers is the largest shape that they have.
        """
        numbers = self.numbers(point)
        most = self.largest() if is_open else None
        graph, result = Graph(), dict[Node, Any]()

        def known(argument: Any) -> Any:
            if isinstance(argument, Node):
                return result[argument]
            return number(self.table.place(argument)) if isinstance(argument, SYMBOLIC) else argument

        def number(place: int) -> Any:
            value = numbers[place]
            if not is_open or isinstance(value, bool) or not self.table.is_open(place):
                return value
            marked = OpenFloat(value) if isinstance(value, float) else OpenInt(value)
            marked.place = place
            return marked

        with unset_fake_temporarily():
            for node, describe in zip(self.graph_module.graph.nodes, self.values, strict=True):
                try:
                    value = node.meta.get("val") if describe is None else describe(numbers)
                except Exception as error:  # a size below 0, or one that does not fit into memory
                    raise ClosedError(f"{text_of(node)} gives no tensor: {reason_of(error)}") from None
                if isinstance(value, int | float) and describe is not None:
                    result[node] = number(self.table.place(node.meta["val"]))
                    if node.op != "placeholder":
                        continue
                copied = graph.create_node(
                    node.op, node.target, map_aggregate(node.args, known), map_aggregate(node.kwargs, known), node.name
                )
                copied.meta = {**node.meta, "val": value} if "val" in node.meta else dict(node.meta)
                result.setdefault(node, copied)
                if most is not None and isinstance(describe, Tensor) and not describe.dtype.is_floating_point:
                    copied.meta["most"] = tuple(most[i] for i in describe.shape)
        return _LazyGraphModule(self.graph_module, graph)


def text_of(node: Node) -> str:
    """Returns an op and the sizes of its operands as expressions of the graph's, for errors."""

    def text(value: Any) -> str:
        if isinstance(value, Node):
            given = value.meta.get("val")
            return str(list(given.shape)) if isinstance(given, torch.Tensor) else str(given)
        return f"[{', '.join(map(text, value))}]" if isinstance(value, list | tuple) else str(value)

    place = source_line(node)
    where = f"{place[0]}:{place[1]}: " if place else ""
    return f"{where}{node.target}({', '.join(map(text, node.args))})"


def bounded(bound: Any) -> int | None:
    """Returns a bound of PyTorch's as a number; None for infinity."""
    return int(bound) if getattr(bound, "is_Integer", isinstance(bound, int)) else None
