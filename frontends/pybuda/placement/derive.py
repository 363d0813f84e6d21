# SPDX-License-Identifier: Apache-2.0
"""Ops of the netlist from programs: each op that computes is one, with the operands, the results and the place that it
has there; ops that only move elements are on the way to what reads them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from torch.fx import Graph as FxGraph
from torch.fx import Node as FxNode
from ttmlir.op_facts import has_fact

from ..capture.copies import COPIES
from ..capture.formats import FLOATS, PRODUCTS, DataFormat
from ..capture.functions import behind, function_of, in_epoch, label_of, makes_ops, node_names, source_of
from ..tenstorrent.chip import TILE
from .graph import Graph, Node, Op, Operand, Queue
from .moves import Shape, broadcast, letters, reshaped, text_of
from .program import (
    ABSENT,
    CONVERSION,
    COPY,
    LOADING,
    PART,
    Executable,
    Function,
    location_of,
    merged_into,
    moving_ops,
    node_of,
    place_of,
    work_of,
)  # fmt: skip

OF_CHIP = {name: data_format for data_format, name in FLOATS.items()}
OF_TYPE = OF_CHIP | {
    "si32": DataFormat.Int32, "ui32": DataFormat.RawUInt32, "ui16": DataFormat.UInt16, "ui8": DataFormat.RawUInt8,
    "bool": DataFormat.RawUInt8,
}  # fmt: skip
NO_CORES = "it moves elements, on the way to what reads them, and has no cores"
ONCE = "it is computed once, of constants (enable_consteval)"
# Types of ops of the netlist that have other names in programs.
TYPES = {
    "linear": "matmul", "concat": "splice", "assign": "nop", "sum": "reduce_sum", "mean": "reduce_avg",
    "max": "reduce_max", "min": "reduce_min", "prod": "reduce_prod",
}  # fmt: skip
ALONG = ("dim_arg", "dim", "dimension", "dims")  # attributes that name the dimensions along which an op computes


@dataclass(frozen=True, slots=True)
class Row:
    """An op of a program: number of the program and index there.

    work: nanoseconds on one core; None if it launches no kernel.
    """

    program: int
    index: int
    op: Mapping[str, Any]
    work: float | None


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor: a node, and the moves of its elements behind it.

    df: the format in which what follows reads it, where that is not the node's. move: the last op that moves elements.
    """

    node: Node
    shape: Shape
    tms: tuple[str, ...] = ()
    df: DataFormat | None = None
    move: Row | None = None

    def moved(self, shape: Shape, text: str, move: Row | None = None) -> Value:
        """Returns the value behind one more move, if there is a text."""
        if not text:
            return replace(self, shape=shape)
        return replace(self, shape=shape, tms=(*self.tms, text), move=move or self.move)


@dataclass(frozen=True)
class Settings:
    """How ops compute, as the configuration has it.

    of: returns a setting of an op, by its name, its type and whether it gives the gradient of a parameter.
    chips: of the parts of ops that are cut, by their names. arch: the simulated chip.
    """

    of: Callable[[str, str, str, bool], Any]
    chips: Mapping[str, Sequence[int]]
    arch: str


class Captured:
    """A captured graph, whose programs become ops.

    gradients: names of nodes that give gradients of parameters.
    scope: is a part of names of ops that have none in the module.
    """

    def __init__(
        self, graph: Graph, fx: FxGraph, epoch_type: str, settings: Settings, gradients: frozenset[str], scope: str = ""
    ) -> None:
        self.graph, self.epoch_type, self.settings, self.gradients = graph, epoch_type, settings, gradients
        self.nodes: dict[str, FxNode] = {node.name: node for node in fx.nodes}
        self.names = node_names(fx, epoch_type, scope)
        self.values: dict[str, Value] = {}  # of nodes
        self.written: dict[str, Value] = {}  # new values of arguments
        self.units: dict[str, list[Op]] = {}  # by the names that theirs begin with
        self.parts: dict[str, list[Op]] = {}  # of nodes that are cut, with what joins them
        self.own: set[str] = set()  # names of nodes whose values ops of their own give
        self.joins: Counter[str] = Counter()
        self.once: set[str] = set()  # names of what is evaluated before the first run
        self.equal: list[tuple[str, Op]] = []

    def add(self, executable: Executable, number: int) -> None:
        """Adds what a program computes of values that are known, and of others as inputs from the host."""
        main = executable.functions[0]
        given = []
        for value in main.inputs:
            name, shape = main.values[value]["name"], main.shape(value)
            if name not in self.values:
                df = OF_TYPE[main.data_type(value)]
                self.values[name] = Value(self.graph.queue(f"host_{name}", shape, df, "input"), shape)
            given.append(self.values[name].moved(shape, reshaped(self.values[name].shape, shape)))
        arch = self.settings.arch
        work = {index: work_of(perf, arch) for index, perf in executable.costs(arch).items()}
        rows = [Row(number, index, op, work.get(index)) for index, op in enumerate(main.ops)]
        computing = (op for op in main.ops if op["outs"] and op["name"] not in moving_ops() | {CONVERSION, LOADING})
        self.own |= {node_of(op["loc"]) for op in computing}
        outputs = self.run(executable.functions, 0, given, rows)
        self.values |= {name: outputs[i] for name, i in executable.results}
        self.written |= {name: outputs[i] for name, i in executable.writes}

    def run(
        self, functions: Sequence[Function], number: int, given: Sequence[Value], rows: Sequence[Row]
    ) -> list[Value]:
        """Returns the results of a function. Ops of all but the first one are evaluated once."""
        function = functions[number]
        known = dict(zip(function.inputs, given, strict=True))
        for index, op in enumerate(function.ops):
            operands = [known[i] for i in op["ins"] if i != ABSENT]
            shapes = [function.shape(i) for i in op["outs"]]
            node = self.node_of(op)
            if not shapes:
                continue
            if op["name"] == LOADING:
                results = self.run(functions, op["attributes"]["callee"], operands, [])
            elif not operands or (number and not is_move(op, operands) and not is_rounding(node)):
                results = [self.constant(function, i, node, bool(operands)) for i in op["outs"]]
            elif node is not None and is_rounding(node):
                results = [rounded(node, operands[0].moved(shape, "")) for shape in shapes]
            elif is_move(op, operands):
                x = operands[0]
                row = None if number or rows[index].work is None else rows[index]
                results = [x.moved(s, text_of(op, x.shape, s, i), row) for i, s in enumerate(shapes)]
            else:
                made = self.op(rows[index], node, operands, shapes[0], OF_TYPE[function.data_type(op["outs"][0])])
                results = [Value(made, shape) for shape in shapes]
            known |= zip(op["outs"], results, strict=True)
        return [known[i] for i in function.outputs]

    def node_of(self, op: Mapping[str, Any]) -> FxNode | None:
        """Returns the node that an op computes: of several one that is more than a move."""
        found = [self.nodes[name] for name in (node_of(op["loc"]), *merged_into(op)) if name in self.nodes]
        return next((node for node in found if makes_ops(node)), found[0] if found else None)

    def constant(self, function: Function, value: int, node: FxNode | None, computed: bool) -> Value:
        """Returns a value that exists before the first run; it is named when something reads it."""
        name = node.name if node is not None else str(value)
        if computed and node is not None:
            name = self.names.get(node, name)
            self.once.add(name)
        shape = function.shape(value)
        name = name if computed else f"constant_{name}"
        return Value(Queue(name, shape, OF_TYPE[function.data_type(value)], "constant"), shape)

    def op(self, row: Row, node: FxNode | None, operands: Sequence[Value], shape: Shape, df: DataFormat) -> Op:
        """Adds an op of the netlist for one of a program."""
        op = row.op
        short = op["name"].removeprefix("ttnn.")
        source, kind = source_of(node) if node is not None else ("", "")
        function = function_of(node) if node is not None else short
        label = kind.lower() or label_of(function)
        gradient = node is not None and node.name in self.gradients
        made = Op(
            "", shape, df, kind.lower() if kind in COPIES else TYPES.get(short, short),
            [Operand(x.node, x.shape, x.tms, x.df) for x in operands], self.epoch_type, source,
            node=node.name if node is not None else "", is_product=function in PRODUCTS,
            attributes={"gradient_op": True} if gradient else {}, rows=((row.program, row.index),), work=row.work,
            place=place_of(op), location=location_of(op),
        )  # fmt: skip
        describe(made, op)
        setting = self.settings.of
        made.fidelity = setting("math_fidelity", source, label, gradient).name
        made.acc_df = setting("accumulate_df", source, label, gradient)
        made.spill_df = setting("intermediate_df", source, label, gradient)
        for operand in made.operands:
            self.graph.keep(operand.source)
        self.graph.ops.append(made)
        merged = [self.nodes[name] for name in merged_into(op) if name in self.nodes and name not in self.own]
        merged = [x for x in merged if makes_ops(x)]
        groups = connected(node, merged) if node is not None else [[]]
        units = [made]
        if len(groups[0]) > 1:
            made.name, made.type = self.graph.unique(f"_fused_op_{self.graph.fused}"), "fused_op"
            made.parts = units = parts_of(made, groups[0])
            self.graph.fused += 1
            for part, each in zip(units, groups[0], strict=True):
                self.units.setdefault(self.names[each], []).append(part)
        else:
            self.units.setdefault(self.base_of(made, op, node), []).append(made)
        for others in groups[1:]:
            if len(others) == len(units):
                self.equal += [(self.names[other], unit) for other, unit in zip(others, units, strict=True)]
        return made

    def base_of(self, made: Op, op: Mapping[str, Any], node: FxNode | None) -> str:
        """Returns what the name of an op begins with, also of a part of a result and of what joins parts."""
        if node is None:
            return in_epoch(made.type, self.epoch_type)
        base = self.names.get(node) or in_epoch(label_of(function_of(node)), self.epoch_type)
        number, cut = op["attributes"].get(PART), self.parts.setdefault(base, [])
        if number is None and sum(x.source in cut for x in made.operands) < 2:
            return base
        cut.append(made)
        if number is None:
            self.joins[base] += 1
            if base in self.settings.chips:
                return f"fracture_gather_{base}"
            return f"{base}.dc.add.{self.joins[base]}"
        if base not in self.settings.chips:
            return f"{base}.dc.conv2d.{2 * number + 1}.dc.matmul.11"
        if chips := self.settings.chips[base]:
            made.chip = chips[number % len(chips)]
        return f"fractured_{number}_{base}"

    def finish(self) -> None:
        """Names the ops, and says why other names are none."""
        aliases = self.graph.aliases
        for name, ops in self.units.items():
            for number, op in enumerate(ops):
                op.name = self.graph.unique(name if len(ops) == 1 else f"{name}.dc.{op.type}.{number}")
            if len(ops) > 1:
                aliases[name] = f"it is {', '.join(op.name for op in ops)}"
        aliases |= {name: f"it is cut into {', '.join(x.name for x in ops)}" for name, ops in self.parts.items() if ops}
        aliases |= {name: f"it is equal to {op.name}" for name, op in self.equal}
        for op in self.graph.ops:
            aliases |= {part.name: f"it is a part of {op.name}" for part in op.parts}
        for name in self.names.values():
            aliases.setdefault(name, ONCE if name in self.once else NO_CORES)

    def computed(self, x: Value) -> Op | None:
        """Returns the op whose result a value is: one that moves elements behind others is an op of its own; None where
        nothing is computed."""
        if x.move is None or not x.tms:
            return x.node if isinstance(x.node, Op) else None
        row = ((x.move.program, x.move.index),)
        known = next((op for op in self.graph.ops if op.rows == row), None)
        if known is not None:
            return known
        self.graph.keep(x.node)
        copy = Op(
            self.graph.unique(f"nop_{x.node.name}"), x.shape, x.node.df, "nop", [Operand(x.node, x.shape, x.tms)],
            self.epoch_type, node=node_of(x.move.op["loc"]), rows=row, work=x.move.work, place=place_of(x.move.op),
        )  # fmt: skip
        self.graph.ops.append(copy)
        return copy

    def output(self, x: Value, name: str, kind: str) -> Queue:
        """Adds a queue that a value is written to. Where nothing is computed, it is the memory of the value's."""
        producer = self.computed(x)
        queue = self.graph.queue(name, x.shape, x.node.df, kind, producer)
        if producer is None:
            self.graph.keep(x.node)
            self.graph.same[queue] = x.node
        return queue

    def results(self) -> list[Value | None]:
        """Returns the results of the graph."""
        (output,) = [node for node in self.nodes.values() if node.op == "output"]
        returned = output.args[0] if isinstance(output.args[0], Sequence) else [output.args[0]]
        return [self.values.get(x.name) if isinstance(x, FxNode) else None for x in returned]


def is_move(op: Mapping[str, Any], operands: Sequence[Value]) -> bool:
    """Returns whether an op only moves, or converts, the elements of one operand. A copy has cores of its own."""
    if op["name"] == CONVERSION:
        return True
    return op["name"] in moving_ops() and len(operands) == 1 and op["name"] != COPY


def is_rounding(node: FxNode | None) -> bool:
    """Returns whether a node rounds a value to a format."""
    return node is not None and node.op == "call_function" and function_of(node) == "round_to"


def rounded(node: FxNode, x: Value) -> Value:
    """Returns a value in the format of a node that rounds it: as one op reads it, or for all."""
    arguments = [*node.args, *node.kwargs.values()]
    data_format = OF_CHIP[arguments[1]]  # type: ignore[index]
    if len(arguments) > 2 and arguments[2]:
        return replace(x, df=data_format)
    if not x.tms:
        x.node.df = data_format
    return x


def describe(made: Op, op: Mapping[str, Any]) -> None:
    """Adds the dimensions along which an op computes, the windows of a convolution, the inner dimension of a product,
    and what an op does to its operands first."""
    name, attributes = op["name"], op["attributes"]
    for operand, key in zip(made.operands, ("transpose_a", "transpose_b"), strict=False):
        if attributes.get(key):
            operand.shape = (*operand.shape[:-2], operand.shape[-1], operand.shape[-2])
            operand.tms = operand.tms[:-1] if operand.tms[-1:] == ("transpose",) else (*operand.tms, "transpose")
    if made.type == "matmul":
        made.inner = max(1, -(-made.operands[0].shape[-1] // TILE))
    elif has_fact(name, "convolves"):
        weights = made.operands[1]
        raw = math.prod(weights.shape[1:]) if weights.shape[:1] == (attributes["out_channels"],) else weights.shape[-2]
        weights.shape = (raw, attributes["out_channels"])
        made.inner = max(1, -(-raw // TILE))
        made.attributes |= {"kernel": attributes["kernel_size"], "stride": attributes["stride"]}
    elif has_fact(name, "elementwise"):
        for operand in made.operands:
            if len(operand.shape) <= len(made.shape) and (text := broadcast(operand.shape, made.shape)):
                operand.tms = (*operand.tms, text)
    else:
        # Ops that name no dimension need whole rows, windows whole columns.
        rank = max(1, len(made.operands[0].shape))
        found = next((attributes[key] for key in ALONG if key in attributes), -2 if "kernel_size" in attributes else -1)
        dims = [found] if isinstance(found, int) else found or [*range(rank)]
        made.attributes["dim"] = letters(dims, rank)
    if made.inner and len(made.operands) > 2:
        made.attributes["bias"] = True


def connected(node: FxNode, others: Sequence[FxNode]) -> list[list[FxNode]]:
    """Returns groups of nodes that read one another, each in the order of the graph; first that of `node`."""
    order = {x: i for i, x in enumerate(node.graph.nodes)} if others else {node: 0}
    groups: list[list[FxNode]] = []
    for x in sorted({node, *others}, key=lambda x: order[x]):
        read = set(behind(x))
        joined = [group for group in groups if read & set(group)]
        groups = [group for group in groups if group not in joined]
        groups.append([*(y for group in joined for y in group), x])
    return sorted(groups, key=lambda group: node not in group)


def parts_of(op: Op, chain: Sequence[FxNode]) -> list[Op]:
    """Returns the ops that a fused op is made of; the operands that are no parts are those of the op, in order."""
    found: dict[FxNode, Op] = {}
    outside = iter(op.operands)
    for x in chain:
        source = source_of(x)[0]
        part = Op("", op.shape, op.df, label_of(function_of(x)), [], op.epoch_type, source, node=x.name)
        inside = [Operand(found[y], found[y].shape) for y in behind(x) if y in found]
        count = len(list(behind(x))) - len(inside)
        part.operands = [*inside, *(y for _, y in zip(range(count), outside, strict=False))]
        part.inner, part.fidelity, part.is_product = op.inner, op.fidelity, function_of(x) in PRODUCTS
        found[x] = part
    return [*found.values()]
