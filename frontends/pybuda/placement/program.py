# SPDX-License-Identifier: Apache-2.0
"""The program that runs: its ops in order, with memory and estimated time, and the ops of the netlist that each
computes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from _ttmlir_runtime import runtime
from torch.fx import Graph
from torch.fx.node import map_arg
from ttmlir.op_facts import ops_with
from ttmlir.torch.importer import OP_ATTRIBUTES

from .graph import COPIES, MOVES, Op
from .place import Epoch

NAMED = re.compile(r'"([^"]*)"(?!:)')
EPOCH = "ttcore.epoch"
LOADING = "ttcore.load_cached"  # gives what was evaluated once
CONVERSION = "ttnn.typecast"  # changes how a value is stored, and computes nothing


@dataclass(frozen=True)
class Executable:
    """A program of a device.

    epoch_type: fwd or bwd. binary: the flatbuffer. users: for each node of the captured graph the nodes that read it.
    equal: for each node that computes what an earlier one does the first of these.
    """

    epoch_type: str
    binary: Any
    users: Mapping[str, Sequence[str]]
    equal: Mapping[str, str]


def equal_nodes(graph: Graph) -> dict[str, str]:
    """Returns for each node that calls a function with the arguments of an earlier node the name of the first such
    node."""
    first: dict[str, str] = {}
    found: dict[str, str] = {}
    for node in graph.nodes:
        if node.op == "call_function":
            given = map_arg((node.args, node.kwargs), lambda x: ("node", found.get(x.name, x.name)))
            name = first.setdefault(repr((str(node.target), given, node.meta.get(OP_ATTRIBUTES))), node.name)
            if name != node.name:
                found[node.name] = name
    return found


@dataclass(frozen=True, slots=True)
class ProgramOp:
    """An op of a program, as the runtime runs it.

    node: the node of the captured graph whose value it gives. computes: ops of the netlist. epochs: numbers of theirs.
    requested_epoch: its number among the epochs that the configuration requests, from the flatbuffer; None if it
        requests none, or the compiler added the op.
    memory, grid, shard: of its first result. cycles, bound: of the runtime's estimate. l1_bytes: of circular buffers on
    each core; l1_resident, dram_resident: of tensors that are held while it runs, for each bank.
    """

    name: str
    node: str
    computes: tuple[str, ...]
    epochs: tuple[int, ...]
    requested_epoch: int | None
    memory: str
    grid: tuple[int, ...]
    shard: tuple[int, ...]
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


def running_nodes(executables: Sequence[Executable]) -> frozenset[tuple[str, str]]:
    """Returns the epoch types and names of the nodes whose values are computed in each run, and not once."""
    found: set[tuple[str, str]] = set()
    for executable in executables:
        binary = executable.binary
        run, *once = [
            [(x["name"], node_of(x["loc"])) for x in operations(binary, number) if x["outs"]]
            for number in range(binary.get_num_programs())
        ]
        evaluated = {node for program in once for _, node in program}
        # What is evaluated once may be loaded, moved and converted in each run.
        computing = {node for name, node in run if name not in moving_ops() | {CONVERSION, LOADING}}
        nodes = computing | {node for _, node in run if node not in evaluated}
        nodes |= {node for node, first in executable.equal.items() if first in nodes}
        found |= {(executable.epoch_type, node) for node in nodes}
    return frozenset(found)


def placed_ops(epochs: Sequence[Epoch], epoch_type: str) -> Iterator[tuple[int, str, Op]]:
    """Yields the number of the epoch, the name in the netlist, and the op, of each op and of the parts of fused
    ones."""
    for epoch in epochs:
        if epoch.type == epoch_type:
            for placed in epoch.placed:
                for part in placed.op.parts or [placed.op]:
                    yield epoch.number, placed.op.name, part


def computed_by(node: str, executable: Executable, known: Mapping[str, int]) -> int | None:
    """Returns the first op of a program that a node is a part of: its own, else that of the nearest node that reads it.

    The compiler fuses an op into the one that reads its value, whose location the result has, and computes equal nodes
    once, as the first of them.
    """
    waiting, seen = [node], {node}
    for name in waiting:
        for same in (name, executable.equal.get(name, name)):
            if same in known:
                return known[same]
        users = [x for same in (executable.equal.get(name, name), name) for x in executable.users.get(same, ())]
        waiting += [x for x in dict.fromkeys(users) if x not in seen]
        seen.update(users)
    return None


def program_of(executable: Executable, epochs: Sequence[Epoch], arch: str) -> ProgramTime:
    """Returns a program with the estimates of the cost model, and the ops of the netlist next to its ops."""
    report = runtime.estimate(executable.binary, 0, arch)
    places = runtime.result_places(executable.binary, 0)
    requested = [x["attributes"].get(EPOCH) for x in operations(executable.binary, 0)]
    ran = [perf for perf in report.ops if perf.programs]
    nodes = {perf.index: node_of(perf.loc) for perf in ran}
    computing: dict[str, int] = {}
    moving: dict[str, int] = {}
    for perf in ran:
        if perf.name != CONVERSION:
            works = perf.name not in moving_ops() or perf.sfpu_tiles
            # The last op of a node gives its value.
            (computing if works else moving)[nodes[perf.index]] = perf.index
    computes: dict[int, dict[str, None]] = {}
    epochs_of: dict[int, set[int]] = {}
    for number, name, op in placed_ops(epochs, executable.epoch_type):
        if not op.node or op.type in COPIES:
            continue
        moved = moving.get(op.node, moving.get(executable.equal.get(op.node, op.node)))
        at = moved if op.type in MOVES else None
        if at is None:
            at = computed_by(op.node, executable, computing)
        if at is None:
            at = moved
        if at is not None:
            computes.setdefault(at, {})[name] = None
            epochs_of.setdefault(at, set()).add(number)
    ops = []
    for perf in ran:
        buffer, layout, grid, shard = places[perf.index] or ("", "", (), ())
        row = ProgramOp(
            perf.name, nodes[perf.index], tuple(computes.get(perf.index, ())),
            tuple(sorted(epochs_of.get(perf.index, ()))), requested[perf.index], f"{buffer} {layout}".strip(),
            tuple(grid), tuple(shard), perf.cycles, perf.bound, perf.circular_buffer_bytes,
            perf.l1_resident_bytes_per_bank, perf.dram_resident_bytes_per_bank,
        )  # fmt: skip
        ops.append(row)
    return ProgramTime(executable.epoch_type, report.cycles, report.device_ns, tuple(ops))
