# SPDX-License-Identifier: Apache-2.0
"""Control flow: If, Loop, Scan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from ttmlir.dialects import stablehlo
from ttmlir.sizes import OpenSizeError

from ..errors import OnnxError, Refused
from ..loops import Kind, row_of, stacked, steps
from ..registry import Node, op
from ..values import BOOL, I32, I64, Given, Optional, Value
from ..values import Sequence as Items

if TYPE_CHECKING:
    from ..importer import Graph

# The number of iterations that are unrolled where a loop would be possible, and where only unrolling is.
FEW, MOST = 8, 4096
TRUE = np.array(True)
ENDLESS, LARGEST = 2**63 - 1, 2**31 - 1


def flat(values: Sequence[Given]) -> list[Value]:
    """Returns the tensors of values, those of sequences and optionals included."""
    found: list[Value] = []
    for x in values:
        if isinstance(x, Items):
            found += x.items
        elif isinstance(x, Optional):
            found += flat([] if x.value is None else [x.value])
        elif x is not None:
            found.append(x)
    return found


def like(pattern: Given, tensors: Any) -> Given:
    """Returns a value as `flat` found it, of the next tensors of an iterator."""
    if isinstance(pattern, Items):
        return Items(tuple(next(tensors) for _ in pattern.items), pattern.dtype)
    if isinstance(pattern, Optional):
        return Optional(None if pattern.value is None else like(pattern.value, tensors))
    return None if pattern is None else next(tensors)


def form(x: Given) -> str:
    if isinstance(x, Items):
        return f"a sequence of [{', '.join(map(repr, x.items))}]"
    if isinstance(x, Optional):
        return "no value" if x.value is None else f"an optional {form(x.value)}"
    return "no value" if x is None else repr(x)


def decided(value: Value, what: str) -> Any:
    """Returns the one element of a known value, None where the program computes it.

    Raises:
        OpenSizeError: open sizes decide it.
    """
    if value.size != 1:
        raise Refused(f"{what} is {value!r}; expected one element")
    if value.known is None:
        return None
    if value.varying:
        raise OpenSizeError(f"{what} depends on an open size")
    return value.known.reshape(()).item()


@op("If", keep=True)
def if_(g: Graph, node: Node, condition: Value) -> tuple[Given, ...]:
    branches = {name: node.need(name) for name in ("then_branch", "else_branch")}
    which = decided(condition, "the condition")
    if which is not None:
        name = "then_branch" if which else "else_branch"
        return tuple(g.subgraph(branches[name], [], name.removesuffix("_branch")))
    result: list[list[Given]] = []

    def branch(name: str) -> Callable[[], Sequence[Value]]:
        def run() -> Sequence[Value]:
            result.append(g.subgraph(branches[name], [], name.removesuffix("_branch")))
            return flat(result[-1])

        return run

    index = g.cast(g.reshape(g.cast(condition, BOOL), ()), I32)
    why = "the condition is computed from the inputs' elements"
    try:
        results = iter(g.case(index, [branch("else_branch"), branch("then_branch")]))
    except OnnxError as error:
        name = "then" if result else "else"
        raise Refused(
            f"{why}, and its {name} branch cannot be; expected a condition that is known when it is compiled: {error}"
        ) from None
    except Refused:
        if len(result) < 2:
            raise
        results = None
    texts = [[form(x) for x in results_of] for results_of in result]
    if results is None or texts[0] != texts[1]:
        raise Refused(
            f"{why}, and the branches have different results: {', '.join(texts[1])} and {', '.join(texts[0])}; "
            f"expected the same types and shapes, or a condition that is known when it is compiled"
        )
    return tuple(like(x, results) for x in result[0])


def probed(g: Graph, graph: Any, given: Sequence[Given]) -> list[Given]:
    """Returns the outputs of a graph; its ops are inlined."""
    found: list[Given] = []

    def run() -> Sequence[Value]:
        found.extend(g.subgraph(graph, given))
        return []

    g.aside(run)
    return found


def together(graph: Any) -> int:
    """Returns the number of iterations of a loop that are unrolled: many for a small body."""
    return max(1, min(32, 256 // max(1, size_of(graph))))


def size_of(graph: Any) -> int:
    """Returns the number of nodes, those of inner graphs included."""
    return sum(1 + sum(size_of(a.g) for a in node.attribute if a.HasField("g")) for node in graph.node)


def same(x: Given, y: Given) -> bool:
    return isinstance(x, Value) and isinstance(y, Value) and (x.shape, x.dtype) == (y.shape, y.dtype)


@op("Loop", keep=True)
def loop(g: Graph, node: Node, limit: Value | None, condition: Value | None = None, *initial: Given
         ) -> tuple[Given, ...]:  # fmt: skip
    body = node.need("body")
    many = len(body.output) - 1 - len(initial)
    if many < 0:
        raise Refused(f"the body has {len(body.output)} outputs; expected at least {1 + len(initial)}")
    starts = True if condition is None else decided(condition, "the condition")
    turns = Turns(g, node, body, list(initial), many, limit, None if starts else condition)
    if starts is False:
        return turns.unrolled(0)
    if starts is None or (limit is not None and (limit.known is None or limit.varying)):
        return turns.computed()
    if limit is None:
        return turns.known(ENDLESS) if turns.ends else turns.computed()
    return turns.known(max(int(decided(limit, "the number of turns")), 0))


class Turns:
    """A Loop: iterations of a body with loop-carried values and rows of results."""

    def __init__(self, g: Graph, node: Node, body: Any, initial: list[Given], many: int, limit: Value | None,
                 condition: Value | None) -> None:  # fmt: skip
        self.g, self.node, self.body, self.initial, self.many = g, node, body, initial, many
        self.limit, self.condition = limit, condition
        self.requested = [node.wants(len(initial) + i) for i in range(many)]
        self.found: list[Given] | None = None
        self.refusal: Exception | None = None
        try:
            # In a turn, the condition holds.
            position = Value((), I64, g.ir(g.full((), 0, I64)))
            self.found = probed(g, body, [*self.heading(position), *map(self.unknown, initial)])
        except (OnnxError, Refused, OpenSizeError) as error:
            self.refusal = error

    def unknown(self, x: Given) -> Given:
        """Returns a value of the same type that nothing is known of."""
        return Value(x.shape, x.dtype, self.g.ir(x)) if isinstance(x, Value) else x

    def heading(self, position: Value) -> list[Value]:
        """Returns the first inputs of a turn: its number, and the condition, which holds."""
        given = [self.g.cast(position, I64), Value.of(TRUE)]
        for i, declared in enumerate(self.body.input[:2]):
            if len(declared.type.tensor_type.shape.dim) == 1:
                given[i] = self.g.reshape(given[i], (1,))
        return given

    @property
    def carries(self) -> bool:
        """Returns whether a loop can carry the values: their types stay the same."""
        return self.found is not None and all(map(same, self.initial, self.found[1 : 1 + len(self.initial)]))

    @property
    def ends(self) -> bool:
        """Returns whether the body may end the loop."""
        if self.found is None:
            return True
        goes_on = self.found[0]
        return not (isinstance(goes_on, Value) and goes_on.known is not None and bool(goes_on.known.all()))

    def require_loop(self) -> None:
        """
        Raises:
            Refused: types change, and the number of turns is not known.
        """
        if self.found is None:
            assert self.refusal is not None
            raise self.refusal
        for i, (before, after) in enumerate(zip(self.initial, self.found[1:], strict=False)):
            if not same(before, after):
                raise Refused(
                    f"value {i} that the loop carries is {form(before)} before and {form(after)} after a turn, and the "
                    f"number of turns is not known when it is compiled"
                )

    def kinds(self) -> list[Kind]:
        """Returns the types of the rows that are requested."""
        assert self.found is not None
        rows = self.found[1 + len(self.initial) :]
        return [(x.shape, x.dtype) for x, requested in zip(rows, self.requested, strict=True)
                if requested and isinstance(x, Value)]  # fmt: skip

    def results(self, states: Sequence[Given], rows: Sequence[Value]) -> tuple[Given, ...]:
        result = iter(rows)
        empty = Value.of(np.zeros(0, np.float32))
        return (*states, *(next(result) if requested else empty for requested in self.requested))

    def known(self, count: int) -> tuple[Given, ...]:
        """Returns the results of this many iterations, unless the body ends the loop earlier."""
        if not self.carries or count <= (FEW if not self.ends else 0) or self.in_rows:
            return self.unrolled(count)
        if self.ends:
            return self.computed()
        states, rows = steps(
            self.g, count, [x for x in self.initial if isinstance(x, Value)], [], self.turn, self.kinds(), False,
            together=together(self.body) if any(self.requested) else 1,
        )  # fmt: skip
        return self.results(states, rows)

    @property
    def in_rows(self) -> bool:
        """Returns whether rows are requested of a loop that its body may end, so that only turns themselves tell how
        many."""
        return self.ends and any(self.requested)

    def turn(self, position: Value, states: Sequence[Value], _: Sequence[Value]) -> tuple[list[Value], list[Value]]:
        result = self.g.subgraph(self.body, [*self.heading(position), *states])
        after, rows = result[1 : 1 + len(states)], result[1 + len(states) :]
        requested = [x for x, is_requested in zip(rows, self.requested, strict=True) if is_requested]
        return [x for x in after if isinstance(x, Value)], [x for x in requested if isinstance(x, Value)]

    def unrolled(self, count: int) -> tuple[Given, ...]:
        """Builds unrolled iterations in sequence, each with its known values."""
        g, states = self.g, self.initial
        rows: list[list[Value]] = []
        for i in range(count):
            if i == MOST:
                raise self.refusal or Refused(f"{count} turns that change types; expected at most {MOST}")
            result = g.subgraph(self.body, [*self.heading(Value.of(np.array(i, np.int64))), *states], str(i))
            states = result[1 : 1 + len(self.initial)]
            new = [x for x, requested in zip(result[1 + len(states) :], self.requested, strict=True) if requested]
            if not all(isinstance(x, Value) for x in new):
                raise Refused("a row that the loop makes is no tensor")
            rows.append([x for x in new if isinstance(x, Value)])
            goes_on = result[0]
            if not isinstance(goes_on, Value):
                raise Refused("the condition is no tensor")
            which = decided(goes_on, "the condition that the body returns")
            if which is None and i + 1 < count:
                raise Refused(
                    "the body's condition is computed from the inputs' elements, and "
                    + (
                        "decides how many rows the loop makes"
                        if any(self.requested)
                        else "types change from turn to turn"
                    )
                    + "; expected one that is known when it is compiled"
                )
            if which is False:
                break
        if not rows:
            if not any(self.requested):
                return self.results(states, [])
            if self.found is None:
                assert self.refusal is not None
                raise self.refusal
            return self.results(states, [g.full((0, *shape), 0, dtype) for shape, dtype in self.kinds()])
        made_rows = []
        for those in zip(*rows, strict=True):
            if any(not same(those[0], x) for x in those):
                raise Refused(f"the rows of the loop have different types: {', '.join(map(repr, those))}")
            made_rows.append(stacked(g, those))
        return self.results(states, made_rows)

    def last(self) -> Value:
        """Returns the number of turns in 32 bits; the largest one for exporters' limits of loops that only the body
        ends."""
        assert self.limit is not None
        limit = self.limit
        if limit.known is not None and not limit.varying:
            limit = Value.of(np.clip(limit.known, 0, LARGEST))
        return self.g.cast(self.g.reshape(limit, ()), I32)

    def computed(self) -> tuple[Given, ...]:
        """Returns a loop whose end the program decides."""
        g = self.g
        self.require_loop()
        if self.limit is None and not self.ends:
            raise Refused("the loop has no limit, and its body never ends it")
        if any(self.requested):
            if self.limit is not None and self.limit.known is not None and not self.ends and self.condition is None:
                count = max(int(self.limit.known.reshape(())), 0)
                states, rows = steps(
                    g, count, [x for x in self.initial if isinstance(x, Value)], [], self.turn, self.kinds(), False
                )
                return self.results(states, rows)
            raise Refused(
                "the number of turns is computed from the inputs' elements, and with it the size of a result; "
                "expected one that is known when it is compiled"
            )
        end = None if self.limit is None else self.last()
        goes = g.full((), True, BOOL) if self.condition is None else g.cast(g.reshape(self.condition, ()), BOOL)
        states = [x for x in self.initial if isinstance(x, Value)]

        def holds(position: Value, goes_on: Value, *_: Value) -> Value:
            if end is None:
                return goes_on
            inside = g.compare("LT", position, end)
            return g.binary(stablehlo.and_, goes_on, inside)

        def body(position: Value, _: Value, *carried: Value) -> Sequence[Value]:
            result = g.subgraph(self.body, [*self.heading(position), *carried])
            found = [x for x in result[: 1 + len(carried)] if isinstance(x, Value)]
            return [g.add(position, g.full((), 1, I32)), g.reshape(g.cast(found[0], BOOL), ()), *found[1:]]

        results = g.loop([g.full((), 0, I32), goes, *states], holds, body)
        return self.results(results[2:], [])


@op("Scan", keep=True)
def scan(g: Graph, node: Node, *inputs: Value | None) -> tuple[Value, ...]:
    body, many = node.need("body"), node.need("num_scan_inputs")
    if not 0 < many <= len(inputs):
        raise Refused(f"num_scan_inputs {many} of {len(inputs)} inputs")
    if node.version >= 9:
        given = [x for x in inputs if x is not None]
        return scan_rows(g, node, body, given[: len(given) - many], given[len(given) - many :])
    lengths, rest = inputs[0], [x for x in inputs[1:] if x is not None]
    states, rows = rest[: len(rest) - many], rest[len(rest) - many :]
    if not rows or min(x.rank for x in (*states, *rows)) < 1 or rows[0].rank < 2:
        raise Refused(f"operands {', '.join(map(repr, rest))}; expected batches of states and of sequences")
    batch = rows[0].shape[0]
    found = []
    for b in range(batch):
        length = None
        if lengths is not None:
            length = g.cast(g.reshape(g.slice_dim(lengths, 0, b, b + 1), ()), I32)
        found.append(scan_rows(g, node, body, [row_of(g, x, b) for x in states], [row_of(g, x, b) for x in rows],
                               length))  # fmt: skip
    return tuple(stacked(g, those) for those in zip(*found, strict=True))


def scan_rows(g: Graph, node: Node, body: Any, states: list[Value], tensors: list[Value], length: Value | None = None
              ) -> tuple[Value, ...]:  # fmt: skip
    """Returns the results of a scan of one batch. length: of the steps that count, i32 []."""
    directions = node.get("scan_input_directions", node.get("directions", [0] * len(tensors)))
    axes = node.get("scan_input_axes", [0] * len(tensors))
    many = len(body.output) - len(states)
    if not tensors or min(len(directions), len(axes)) < len(tensors) or many < 0:
        raise Refused(f"{len(tensors)} inputs to scan, {len(axes)} axes, {len(directions)} directions, {many} results")
    moved = []
    for x, axis in zip(tensors, axes, strict=True):
        if not x.rank or not -x.rank <= axis < x.rank:
            raise Refused(f"axis {axis} of {x!r}")
        axis %= x.rank
        moved.append(g.transpose(x, [axis, *(d for d in range(x.rank) if d != axis)]))
    counts = {x.shape[0] for x in moved}
    if len(counts) > 1:
        raise Refused(f"the inputs to scan have different numbers of steps: {sorted(counts)}")
    count = moved[0].shape[0]
    is_open = any(g.is_open_size(x, axis % x.rank) for x, axis in zip(tensors, axes, strict=True))

    zeros = [Value(x.shape[1:], x.dtype, g.ir(g.full(x.shape[1:], 0, x.dtype))) for x in moved]
    found = probed(g, body, [*(Value(x.shape, x.dtype, g.ir(x)) for x in states), *zeros])
    kinds = [(x.shape, x.dtype) for x in found[len(states) :] if isinstance(x, Value)]
    for before, after in zip(states, found, strict=False):
        if not same(before, after):
            raise Refused(f"a state of the scan is {form(before)} before and {form(after)} after a step")

    def step(position: Value, before: Sequence[Value], rows: Sequence[Value]) -> tuple[list[Value], list[Value]]:
        result = [x for x in g.subgraph(body, [*before, *rows], label(position)) if isinstance(x, Value)]
        after, new = result[: len(before)], result[len(before) :]
        if length is not None:
            counts = g.compare("LT", position, length)
            after = [g.select(counts, x, y) for x, y in zip(after, before, strict=True)]
            new = [g.select(counts, x, g.scalar(0, x)) for x in new]
        return after, new

    backward = [bool(x) for x in directions]
    made_backward = [bool(x) for x in node.get("scan_output_directions", [0] * many)]
    last, rows = steps(g, count, states, moved, step, kinds, count <= FEW and not is_open, backward,
                       made_backward, together(body))  # fmt: skip
    results = []
    for x, axis in zip(rows, node.get("scan_output_axes", [0] * many), strict=True):
        if not -x.rank <= axis < x.rank:
            raise Refused(f"scan_output_axes has {axis}; the result has rank {x.rank}")
        axis %= x.rank
        order = [*range(1, axis + 1), 0, *range(axis + 1, x.rank)]
        results.append(g.transpose(x, order))
    return (*last, *results)


def label(position: Value) -> str:
    return "" if position.known is None else str(int(position.known))
