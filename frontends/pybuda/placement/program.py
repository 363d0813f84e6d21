# SPDX-License-Identifier: Apache-2.0
"""The program that runs: its ops in order, with memory and estimated time, and the ops of the netlist that each
computes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from _ttmlir_runtime import runtime
from torch.fx import Graph
from ttmlir.op_facts import ops_with
from ttmlir.torch.importer import OP_ATTRIBUTES

from .graph import Op, Place
from .place import Epoch

NAMED = re.compile(r'"([^"]*)"(?!:)')
EPOCH, MERGED, PART, PLACED = "ttcore.epoch", "ttcore.merged", "ttcore.part", "ttcore.placed_"
LOADING = "ttcore.load_cached"  # gives what was evaluated once
CONVERSION = "ttnn.typecast"  # changes how a value is stored, and computes nothing


@dataclass(frozen=True)
class Executable:
    """A program of a device.

    epoch_type: fwd or bwd. binary: the flatbuffer.
    """

    epoch_type: str
    binary: Any


def record_merged(graph: Graph) -> None:
    """Has the passes of the compiler record which ops they fuse, and which are equal."""
    for node in graph.nodes:
        if node.op == "call_function":
            node.meta.setdefault(OP_ATTRIBUTES, {})[MERGED] = "[]"


@dataclass(frozen=True, slots=True)
class ProgramOp:
    """An op of a program, as the runtime runs it.

    node: the node of the captured graph whose value it gives. merged: others that it computes. computes: ops of the
        netlist. epochs: numbers of theirs.
    requested_epoch: its number among the epochs that the configuration requests, from the flatbuffer; None if it
        requests none, or the compiler added the op.
    place: its epoch and cores, from the flatbuffer; None for ops that are not placed.
    memory, grid, shard: of its first result. work: nanoseconds on one core. cycles, bound: of the runtime's estimate.
    l1_bytes: of circular buffers on each core; l1_resident, dram_resident: of tensors that are held while it runs, for
        each bank.
    """

    name: str
    node: str
    merged: tuple[str, ...]
    computes: tuple[str, ...]
    epochs: tuple[int, ...]
    requested_epoch: int | None
    place: Place | None
    memory: str
    grid: tuple[int, ...]
    shard: tuple[int, ...]
    work: float
    cycles: int
    bound: str
    l1_bytes: int
    l1_resident: int
    dram_resident: int


ROW = [field.name for field in fields(ProgramOp)]


@dataclass(frozen=True, slots=True)
class ProgramTime:
    """A program with its ops, and the runtime's estimate of a run."""

    epoch_type: str
    cycles: int
    device_ns: float
    ops: tuple[ProgramOp, ...]

    def as_dict(self) -> dict[str, Any]:
        """Returns plain data."""
        rows = [{name: getattr(row, name) for name in ROW} for row in self.ops]
        for row in rows:
            row["place"] = asdict(row["place"]) if row["place"] is not None else None
        return {"epoch_type": self.epoch_type, "cycles": self.cycles, "device_ns": self.device_ns, "ops": rows}


def node_of(location: str) -> str:
    """Returns the name of the node that a location names, or ""."""
    found = NAMED.search(location)
    return found[1] if found else ""


def moving_ops() -> frozenset[str]:
    """Returns the names of the ops that only move values, by the facts on their rows."""
    return ops_with("moves_values")


def operations(binary: Any, number: int) -> list[dict[str, Any]]:
    """Returns the ops of a program of a flatbuffer as plain data."""
    found: list[dict[str, Any]] = json.loads(binary.get_program_ops_as_json(number))
    return found


def nodes_of(op: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the names of the nodes that an op of a program computes: first that of the node whose value it gives."""
    return (node_of(op["loc"]), *map(node_of, op["attributes"].get(MERGED, ())))


def part_node(node: str, number: int) -> str:
    """Returns the name under which a part of a node is known."""
    return f"{node}#{number}"


def join_node(node: str, number: int) -> str:
    """Returns the name of what joins parts of a node."""
    return f"{node}#join{number}"


def parts_in(ops: Sequence[Mapping[str, Any]]) -> dict[str, list[int]]:
    """Returns the indices of ops that compute parts of nodes, and of those that join parts, by names of either."""
    found: dict[str, list[int]] = {}
    node_of_value: dict[int, str] = {}  # parts, and what joins them
    joins: dict[str, int] = {}
    for index, x in enumerate(ops):
        node, part = node_of(x["loc"]), x["attributes"].get(PART)
        of_node = [value for value in x["ins"] if node_of_value.get(value) == node]
        if part is None and len(of_node) > 1:
            number = joins[node] = joins.get(node, -1) + 1
            found[join_node(node, number)] = [index]
        elif part is not None and x["name"] != CONVERSION and x["name"] not in moving_ops():
            found.setdefault(part_node(node, part), []).append(index)
        elif not of_node:
            continue
        node_of_value.update(dict.fromkeys(x["outs"], node))
    return found


def place_of(op: Mapping[str, Any]) -> Place | None:
    """Returns where the compiler places an op of a program."""
    attributes = op["attributes"]
    if PLACED + "epoch" not in attributes:
        return None
    row, column, rows, columns = attributes[PLACED + "cores"]
    return Place(
        attributes[PLACED + "epoch"], (row, column), (rows, columns), attributes.get(PLACED + "transposed", False),
        attributes[PLACED + "cycles"], attributes[PLACED + "l1"],
    )  # fmt: skip


def united(places: Sequence[Place | None]) -> Place | None:
    """Returns the place of what several ops of a program compute one after the other: that of the slowest, in the last
    one's epoch, and the cycles of all."""
    known = [place for place in places if place is not None]
    if not known:
        return None
    slowest = max(known, key=lambda place: place.cycles)
    return replace(slowest, epoch=known[-1].epoch, cycles=sum(place.cycles for place in known))


@dataclass(frozen=True, slots=True)
class Computed:
    """The ops of a program that compute a node in each run.

    rows: ops of a program, as number of the executable and index. work: nanoseconds on one core. shape: of the result.
    place: where the compiler places them.
    """

    rows: tuple[tuple[int, int], ...]
    work: float
    shape: tuple[int, ...]
    place: Place | None


def work_of(perf: Any, arch: str) -> float:
    """Returns the nanoseconds that an op of a program computes on one core."""
    work: tuple[float, ...] = runtime.estimate_times(
        arch, 1, matmul_tiles=perf.matmul_tiles, fpu_tiles=perf.fpu_tiles, sfpu_tiles=perf.sfpu_tiles,
        sfpu_cycles=perf.sfpu_cycles, phases=perf.phases,
    )  # fmt: skip
    return work[0]


def computed_nodes(executables: Sequence[Executable], arch: str) -> dict[tuple[str, str], Computed]:
    """Returns what computes the nodes of each epoch type, and their parts, by names. Missing are those that are
    evaluated once."""
    found: dict[tuple[str, str], Computed] = {}
    for number, executable in enumerate(executables):
        binary = executable.binary
        run, *once = [operations(binary, i) for i in range(binary.get_num_programs())]
        evaluated = {node for ops in once for x in ops if x["outs"] for node in nodes_of(x)}
        values = json.loads(binary.as_json())["programs"][0]["values"]
        report = {perf.index: perf for perf in runtime.estimate(binary, 0, arch).ops}
        # An op of its own gives the value of a node, before one that it is merged into; one that computes, before ones
        # that move values or convert them. What is evaluated once may be loaded, moved and converted in each run.
        ranked: dict[str, dict[tuple[int, bool], list[int]]] = {}
        for index, x in enumerate(run):
            rank = 0 if x["name"] in (CONVERSION, LOADING) else 1 if x["name"] in moving_ops() else 2
            if rank == 1 and index in report and report[index].sfpu_tiles:
                rank = 2
            for i, node in enumerate(nodes_of(x) if x["outs"] else ()):
                if rank == 2 or node not in evaluated:
                    ranked.setdefault(node, {}).setdefault((rank, i == 0), []).append(index)
        of_node = {node: by_rank[max(by_rank)] for node, by_rank in ranked.items()}
        for node, indices in (of_node | parts_in(run)).items():
            work = sum(work_of(report[i], arch) for i in indices if i in report)
            shape = tuple(values[run[indices[-1]]["outs"][0]]["desc"]["shape"])
            place = united([place_of(run[i]) for i in indices])
            found[executable.epoch_type, node] = Computed(tuple((number, i) for i in indices), work, shape, place)
    return found


def of_step(name: str, node: str) -> str:
    """Returns the name of a node in the step of a parameter."""
    return f"{name}/{node}"


def computed_steps(steps: Mapping[str, Sequence[Executable]], arch: str, first: int) -> dict[tuple[str, str], Computed]:
    """Returns what computes the nodes of the steps of an optimizer, by the names of parameters.

    first: a number that no program has.
    """
    found: dict[tuple[str, str], Computed] = {}
    known: dict[int, Mapping[tuple[str, str], Computed]] = {}  # parameters of one shape have the same programs
    for number, (name, executables) in enumerate(steps.items()):
        nodes = known.setdefault(id(executables), computed_nodes(executables, arch))
        for (kind, node), x in nodes.items():
            found[kind, of_step(name, node)] = replace(x, rows=tuple((first + number, i) for _, i in x.rows))
    return found


def placed_ops(epochs: Sequence[Epoch], epoch_type: str) -> Iterator[tuple[int, Op]]:
    """Yields the number of the epoch and the op of each op that a node of the graph becomes."""
    for epoch in epochs:
        if epoch.type == epoch_type:
            yield from ((epoch.number, placed.op) for placed in epoch.placed if placed.op.node)


def programs_of(executables: Sequence[Executable], epochs: Sequence[Epoch], arch: str) -> list[ProgramTime]:
    """Returns programs with the estimates of the cost model, and the ops of the netlist next to their ops."""
    ran = computed_nodes(executables, arch)
    found = []
    for number, executable in enumerate(executables):
        report = runtime.estimate(executable.binary, 0, arch)
        places = runtime.result_places(executable.binary, 0)
        described = operations(executable.binary, 0)
        computes: dict[int, dict[str, int]] = {}
        for epoch, op in placed_ops(epochs, executable.epoch_type):
            computed = ran.get((executable.epoch_type, op.node))
            for _, index in [x for x in computed.rows if x[0] == number] if computed is not None else ():
                computes.setdefault(index, {})[op.name] = epoch
        ops = []
        for perf in (perf for perf in report.ops if perf.programs):
            node, *merged = nodes_of(described[perf.index])
            buffer, layout, grid, shard = places[perf.index] or ("", "", (), ())
            named = computes.get(perf.index, {})
            row = ProgramOp(
                perf.name, node, tuple(merged), tuple(named), tuple(sorted(set(named.values()))),
                described[perf.index]["attributes"].get(EPOCH), place_of(described[perf.index]),
                f"{buffer} {layout}".strip(), tuple(grid), tuple(shard), work_of(perf, arch), perf.cycles, perf.bound,
                perf.circular_buffer_bytes,
                perf.l1_resident_bytes_per_bank, perf.dram_resident_bytes_per_bank,
            )  # fmt: skip
            ops.append(row)
        found.append(ProgramTime(executable.epoch_type, report.cycles, report.device_ns, tuple(ops)))
    return found
