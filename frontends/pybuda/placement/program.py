# SPDX-License-Identifier: Apache-2.0
"""The programs that run: their ops in order, as the flatbuffers and the cost model describe them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

from _ttmlir_runtime import runtime
from torch.fx import Graph as FxGraph
from ttmlir.op_facts import ops_with
from ttmlir.torch.importer import OP_ATTRIBUTES

from .graph import Graph, Place

NAMED = re.compile(r'"([^"]*)"(?!:)')
EPOCH, MERGED, PART, PLACED = "ttcore.epoch", "ttcore.merged", "ttcore.part", "ttcore.placed_"
LOADING = "ttcore.load_cached"  # gives what was evaluated once
CONVERSION = "ttnn.typecast"  # changes how a value is stored, and computes nothing
COPY = "ttnn.assign"  # a copy that was requested
ABSENT = 4294967295  # an operand that an op does not have


def node_of(location: str) -> str:
    """Returns the name of the node that a location names, or ""."""
    found = NAMED.search(location)
    return found[1] if found else ""


def merged_into(op: Mapping[str, Any]) -> list[str]:
    """Returns the names of nodes that an op of a program computes in addition to that of its location."""
    return [node_of(location) for location in op["attributes"].get(MERGED, ())]


def location_of(op: Mapping[str, Any]) -> str:
    """Returns the name of an op as the option `epoch-overrides` has it, of a part of a result with the number."""
    part = op["attributes"].get(PART)
    return node_of(op["loc"]) + ("" if part is None else f"#{part}")


def moving_ops() -> frozenset[str]:
    """Returns the names of the ops that only move values, by the facts on their rows."""
    return ops_with("moves_values")


def record_merged(graph: FxGraph) -> None:
    """Has the passes of the compiler record which ops they fuse, and which are equal."""
    for node in graph.nodes:
        if node.op == "call_function":
            node.meta.setdefault(OP_ATTRIBUTES, {})[MERGED] = "[]"


@dataclass(frozen=True)
class Function:
    """A function of a flatbuffer: operations and values as plain data, and numbers of the values that are inputs and
    outputs."""

    ops: Sequence[Mapping[str, Any]]
    values: Sequence[Mapping[str, Any]]
    inputs: Sequence[int]
    outputs: Sequence[int]

    def shape(self, value: int) -> tuple[int, ...]:
        return tuple(self.values[value]["desc"]["shape"])

    def data_type(self, value: int) -> str:
        name: str = self.values[value]["desc"]["data_type"]
        return name


@dataclass(frozen=True)
class Executable:
    """A program of a device.

    epoch_type: fwd, bwd or opt. binary: the flatbuffer.
    results: names of nodes of the captured graph, with the number of the program's output that is their value.
    writes: names of arguments that the program writes, with the same.
    """

    epoch_type: str
    binary: Any
    results: tuple[tuple[str, int], ...] = ()
    writes: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, program: Any, epoch_type: str) -> Executable:
        """Returns what a compiled graph (`ttmlir.torch.program.Program`) runs."""
        imported, names = program.imported, [name.partition(" ")[0] for name in program.imported.names]
        results = [(name, n) for name, n in zip(names, imported.results, strict=False) if n is not None]
        writes = [(name, n) for name, (_, n) in zip(names[len(imported.results) :], imported.writes, strict=True)]
        return cls(epoch_type, program.binary, tuple(results), tuple(writes))

    @cached_property
    def functions(self) -> Sequence[Function]:
        """Returns the functions of the flatbuffer: first the one that runs, then those that are evaluated once."""
        described = json.loads(self.binary.as_json())["programs"]
        return [
            Function(
                json.loads(self.binary.get_program_ops_as_json(i)),
                x["values"],
                [y["value"] for y in x["inputs"]],
                [y["value"] for y in x["outputs"]],
            )
            for i, x in enumerate(described)
        ]

    def costs(self, arch: str) -> Mapping[int, Any]:
        """Returns the estimate of each op that launches a kernel."""
        return {perf.index: perf for perf in runtime.estimate(self.binary, 0, arch).ops if perf.programs}


def work_of(perf: Any, arch: str) -> float:
    """Returns the nanoseconds that an op of a program computes on one core."""
    work: tuple[float, ...] = runtime.estimate_times(
        arch, 1, matmul_tiles=perf.matmul_tiles, fpu_tiles=perf.fpu_tiles, sfpu_tiles=perf.sfpu_tiles,
        sfpu_cycles=perf.sfpu_cycles, phases=perf.phases,
    )  # fmt: skip
    return work[0]


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


@dataclass(frozen=True, slots=True)
class ProgramOp:
    """An op of a program, as the runtime runs it.

    node: the node of the captured graph whose value it gives. merged: others that it computes. computes: the op of the
        netlist, if any. epochs: its number there.
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


def programs_of(
    executables: Sequence[Executable], graph: Graph, epochs: Mapping[str, int], arch: str
) -> list[ProgramTime]:
    """Returns programs with the estimates of the cost model, and the ops of the netlist next to their ops.

    epochs: numbers of those of the netlist's ops.
    """
    rows = {row: op.name for op in graph.ops for row in op.rows}
    found = []
    for number, executable in enumerate(executables):
        report = runtime.estimate(executable.binary, 0, arch)
        places = runtime.result_places(executable.binary, 0)
        described = executable.functions[0].ops
        ops = []
        for perf in (perf for perf in report.ops if perf.programs):
            op = described[perf.index]
            buffer, layout, grid, shard = places[perf.index] or ("", "", (), ())
            named = rows.get((number, perf.index))
            row = ProgramOp(
                perf.name, node_of(op["loc"]), tuple(merged_into(op)), (named,) if named else (),
                (epochs[named],) if named else (), op["attributes"].get(EPOCH), place_of(op),
                f"{buffer} {layout}".strip(), tuple(grid), tuple(shard), work_of(perf, arch), perf.cycles, perf.bound,
                perf.circular_buffer_bytes, perf.l1_resident_bytes_per_bank, perf.dram_resident_bytes_per_bank,
            )  # fmt: skip
            ops.append(row)
        found.append(ProgramTime(executable.epoch_type, report.cycles, report.device_ns, tuple(ops)))
    return found
