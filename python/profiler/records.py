# SPDX-License-Identifier: Apache-2.0
"""Holds what a trace records: programs, their ops, tensors and buffers, and runs."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from .cores import CoresRecord


class ProfilerError(RuntimeError):
    """A trace cannot be made as it was requested."""


@dataclass(frozen=True)
class TensorRecord:
    """An operand or a result. Reads like "32x64 bf16 tile dram interleaved"; the names are those of the runtime.

    value: its number in the program. shape: of the tensor, or of a chip's part where chips have different parts. grid,
    shard_shape: cores that have shards, and the elements of each.
    """

    value: int
    shape: tuple[int, ...]
    data_type: str
    layout: str
    buffer_type: str
    memory_layout: str
    grid: tuple[int, ...]
    shard_shape: tuple[int, ...]

    def __str__(self) -> str:
        shape = "x".join(map(str, self.shape)) or "scalar"
        memory = "" if self.buffer_type == "system_memory" else f" {self.memory_layout}"
        grid = f" on {'x'.join(map(str, self.grid))} cores" if self.grid else ""
        return f"{shape} {self.data_type} {self.layout} {self.buffer_type}{memory}{grid}"


@dataclass(frozen=True)
class OpRecord:
    """The properties of an op that are the same in every run.

    cycles, device_ns: estimated on the chip. dram_bytes, l1_bytes, fabric_bytes: moved on all cores. *_resident: bytes
    per bank that the program's tensors take while the op runs. circular_buffers: bytes of a core's L1 that the op's
    kernels take in addition to them. family: of its kernels. cores: that are busy. phases: of the matrix unit, 1 for
    LoFi to 4 for HiFi4. launch_ns: the part of device_ns before its kernels run.
    attributes: as JSON. plan: how the library runs the op, as JSON (`runtime.plans`).
    """

    index: int
    name: str
    location: str
    source: str
    cycles: int
    device_ns: float
    dram_bytes: int
    l1_bytes: int
    fabric_bytes: int
    matmul_tiles: int
    fpu_tiles: int
    sfpu_tiles: int
    dram_resident: int
    l1_resident: int
    circular_buffers: int
    family: str
    cores: int
    phases: int
    launch_ns: float
    attributes: str
    inputs: tuple[TensorRecord, ...]
    outputs: tuple[TensorRecord, ...]
    plan: str = "[]"


@dataclass(frozen=True)
class Scope:
    """Ops begin to end (excluded) that the debug dialect put a name on; a mark at one place has end == begin."""

    name: str
    begin: int
    end: int


@dataclass(frozen=True)
class BufferRecord:
    """A buffer in the memory of each chip, or the circular buffers of an op, during ops begin to end (excluded).

    memory: DRAM, L1, L1_SMALL or TRACE. address: in every bank that it touches, on a device that holds nothing else.
    values: of the program, that lie in it.
    """

    begin: int
    end: int
    memory: str
    address: int
    bytes_per_bank: int
    circular: bool
    values: tuple[int, ...]


@dataclass(frozen=True)
class Exchange:
    """An op in which chips send to each other. op: its place in the program. sends: (from, to, bytes, hops).

    fabric_ns: what sending takes on the chip, at the same time as the op's other work.
    """

    op: int
    sends: tuple[tuple[int, int, int, int], ...]
    fabric_ns: float


@dataclass(frozen=True)
class Once:
    """A program of constants that a program calls: its results are computed when that is prepared, and kept."""

    name: str
    ops: tuple[OpRecord, ...]


@dataclass(frozen=True)
class ProgramInfo:
    """A program on a device; `number` counts them in the order in which they were first run."""

    number: int
    name: str
    file: str
    device: int
    arch: str
    mesh: tuple[int, ...]
    ops: tuple[OpRecord, ...]
    scopes: tuple[Scope, ...]
    dram_peak: int
    l1_peak: int
    once: tuple[Once, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    buffers: tuple[BufferRecord, ...] = ()
    cores: tuple[CoresRecord, ...] = ()  # of the first run

    @property
    def chips(self) -> int:
        return math.prod(self.mesh)

    @property
    def device_ns(self) -> float:
        return sum(op.device_ns for op in self.ops)

    @property
    def cycles(self) -> int:
        return sum(op.cycles for op in self.ops)


@dataclass(frozen=True)
class Run:
    """One submit. start_ns counts from the beginning of the trace; host_ns is by op."""

    number: int
    program: int
    thread: int
    start_ns: int
    submit_ns: int
    host_ns: tuple[int, ...] = ()
    error: str = ""

    @property
    def prepare_ns(self) -> int:
        """Returns what the submit took besides its ops. The first of a program plans it and brings its weights into the
        form in which kernels read them; each checks its inputs and creates its outputs."""
        return max(self.submit_ns - sum(self.host_ns), 0)


def tensor_record(value: int, desc: dict[str, Any]) -> TensorRecord:
    return TensorRecord(
        value, tuple(desc["shape"]), desc["data_type"], desc["layout"], desc["buffer_type"], desc["memory_layout"],
        tuple(desc["grid"]), tuple(desc["shard_shape"]),
    )  # fmt: skip


def plain(location: str) -> str:
    """Returns `file:line` where that is all that `loc("file:line")` says."""
    text = location.removeprefix("loc(").removesuffix(")")
    return text[1:-1] if text.count('"') == 2 and text[0] == text[-1] == '"' else text


def op_record(
    perf: Any,
    arch: str,
    index: int,
    location: str,
    source: str,
    attributes: dict[str, Any],
    inputs: tuple[TensorRecord, ...],
    outputs: tuple[TensorRecord, ...],
    dram_resident: int,
    l1_resident: int,
    plan: str,
) -> OpRecord:
    """Returns an op as the runtime reports it, with what the runtime does not say of it."""
    return OpRecord(
        index, perf.name, location, source, perf.cycles, perf.device_ns, perf.dram_bytes, perf.l1_bytes,
        perf.fabric_bytes, perf.matmul_tiles, perf.fpu_tiles, perf.sfpu_tiles, dram_resident, l1_resident,
        perf.circular_buffer_bytes, perf.family, perf.cores(arch), perf.phases, perf.launch_ns(arch),
        json.dumps(attributes), inputs, outputs, plan,
    )  # fmt: skip
