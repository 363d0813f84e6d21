# SPDX-License-Identifier: Apache-2.0
"""Collects what every submit took, from the runtime's own reports."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import _ttmlir_runtime as tt_runtime

runtime = tt_runtime.runtime

# Ops of the debug dialect that open and close a scope, and the attribute that names it.
SCOPES = {
    "debug.begin_trace": ("debug.end_trace", "trace_id"),
    "debug.profiler_start": ("debug.profiler_end", "scope_id"),
    "debug.region_start": ("debug.region_end", "region_id"),
}
INSTANTS = {"debug.annotate": "annotation", "debug.timestamp": None}


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
    """What is the same in every run of an op.

    cycles, device_ns: estimated on the chip. dram_bytes, l1_bytes, fabric_bytes: moved on all cores. *_resident: bytes
    per bank that the program's tensors take while the op runs. circular_buffers: bytes of a core's L1 that the op's
    kernels take in addition to them. family: of its kernels. cores: that are busy. phases: of the matrix unit, 1 for
    LoFi to 4 for HiFi4. launch_ns: the part of device_ns before its kernels run. attributes: as JSON.
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


def scopes_of(operations: Sequence[dict[str, Any]]) -> tuple[Scope, ...]:
    """Returns a scope that is never closed ends with the program; an end without a beginning is nothing."""
    ends = {end: begin for begin, (end, _) in SCOPES.items()}
    open_: dict[tuple[str, str], list[int]] = {}
    found = []
    for i, op in enumerate(operations):
        name, attributes = op["name"], op["attributes"]
        if name in SCOPES:
            open_.setdefault((name, attributes[SCOPES[name][1]]), []).append(i)
        elif name in ends:
            begin = ends[name]
            starts = open_.get((begin, attributes[SCOPES[begin][1]]))
            if starts:
                found.append(Scope(attributes[SCOPES[begin][1]], starts.pop(), i))
        elif name in INSTANTS:
            attribute = INSTANTS[name]
            found.append(Scope(attributes[attribute] if attribute else "timestamp", i, i))
    found += [Scope(key[1], start, len(operations)) for key, starts in open_.items() for start in starts]
    return tuple(sorted(found, key=lambda s: (s.begin, -s.end)))


def callees_of(op: Mapping[str, Any]) -> list[int]:
    """Returns the numbers of the programs that an op runs: one that was made of constants, those of a loop or of
    branches."""
    if not op["name"].startswith("ttcore."):
        return []
    named = [op["attributes"].get(name, []) for name in ("callee", "cond", "body", "branches")]
    return [i for found in named for i in (found if isinstance(found, list) else [found])]


def program_info(number: int, device: Any, executable: Any, index: int, report: Any) -> ProgramInfo:
    programs, arch = json.loads(executable.as_json())["programs"], device.arch
    program, mesh = programs[index], tuple(programs[index]["mesh_shape"])
    callees = [op["attributes"]["callee"] for op in program["operations"] if op["name"] == "ttcore.load_cached"]
    once = [
        Once(
            programs[i]["name"],
            op_records(programs[i], runtime.estimate(executable, i, arch, mesh), arch),
        )
        for i in dict.fromkeys(callees)
    ]
    return ProgramInfo(
        number, program["name"], executable.file_name, device.id, arch, mesh, op_records(program, report, arch),
        scopes_of(program["operations"]), report.dram_peak_bytes_per_bank, report.l1_peak_bytes_per_bank, tuple(once),
        exchanges_of(executable, index, arch) if math.prod(mesh) > 1 and program["operations"] else (),
        buffers_of(executable, index, arch) if program["operations"] else (),
    )  # fmt: skip


def buffers_of(executable: Any, index: int, arch: str) -> tuple[BufferRecord, ...]:
    return tuple(
        BufferRecord(b.begin, b.end, b.memory, b.address, b.bytes_per_bank, b.circular, tuple(b.values))
        for b in runtime.memory_map(executable, index, arch)
    )


def exchanges_of(executable: Any, index: int, arch: str) -> tuple[Exchange, ...]:
    return tuple(
        Exchange(op.index, tuple((s.route[0], s.route[-1], s.bytes, s.hops) for s in op.sends), op.fabric_ns)
        for op in runtime.sends(executable, index, arch)
    )


def op_records(program: dict[str, Any], report: Any, arch: str) -> tuple[OpRecord, ...]:
    """Returns what the runtime says of a program's ops, with their operands and results."""
    values = [tensor_record(i, v["desc"]) for i, v in enumerate(program["values"])]
    return tuple(
        OpRecord(
            perf.index, perf.name, plain(perf.loc), op["source"], perf.cycles, perf.device_ns, perf.dram_bytes,
            perf.l1_bytes, perf.fabric_bytes, perf.matmul_tiles, perf.fpu_tiles, perf.sfpu_tiles,
            perf.dram_resident_bytes_per_bank, perf.l1_resident_bytes_per_bank, perf.circular_buffer_bytes,
            perf.family, perf.cores(arch), perf.phases, perf.launch_ns(arch), json.dumps(op["attributes"]),
            tuple(values[v] for v in op["ins"] if v is not None), tuple(values[v] for v in op["outs"]),
        )
        for op, perf in zip(program["operations"], report.ops, strict=True)
    )  # fmt: skip


@dataclass
class Recorder:
    """What was submitted between start() and stop(). Several may be at work at a time. Safe for threads."""

    programs: list[ProgramInfo] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    _begin: int = 0
    _numbers: dict[tuple[int, int, int], int] = field(default_factory=dict)
    _lock: Any = field(default_factory=threading.Lock)

    def start(self) -> None:
        self._begin = time.perf_counter_ns()
        _tap.add(self)

    def stop(self) -> None:
        _tap.remove(self)

    def add(self, device: Any, executable: Any, index: int, start: int, taken: int, report: Any) -> None:
        """Records a submit that went well, `start` on the clock of perf_counter_ns."""
        key = (device.id, executable.id, index)
        ops = report.ops
        with self._lock:
            if key not in self._numbers:
                self._numbers[key] = len(self.programs)
                self.programs.append(program_info(len(self.programs), device, executable, index, report))
            self._run(self._numbers[key], start, taken, tuple(op.host_ns for op in ops))

    def add_failure(self, start: int, taken: int, error: str) -> None:
        with self._lock:
            self._run(-1, start, taken, error=error)

    def _run(self, program: int, start: int, taken: int, host: tuple[int, ...] = (), error: str = "") -> None:
        begin = start - self._begin
        self.runs.append(Run(len(self.runs), program, threading.get_ident(), begin, taken, host, error))

    def snapshot(self) -> tuple[list[ProgramInfo], list[Run]]:
        """Returns what is known so far."""
        with self._lock:
            return list(self.programs), list(self.runs)


class Tap:
    """Stands in for `runtime.submit` while a recorder is at work."""

    def __init__(self) -> None:
        self._recorders: list[Recorder] = []
        self._lock = threading.Lock()
        self._turns: dict[Any, Any] = {}  # by device
        self._submit: Callable[..., Any] = runtime.submit
        self._recording = False

    def add(self, recorder: Recorder) -> None:
        with self._lock:
            if not self._recorders:
                self._submit, self._recording = runtime.submit, runtime.get_perf_recording()
                runtime.set_perf_recording(True)
                runtime.submit = self.submit
            self._recorders.append(recorder)

    def remove(self, recorder: Recorder) -> None:
        with self._lock:
            self._recorders = [r for r in self._recorders if r is not recorder]
            if not self._recorders:
                runtime.submit = self._submit
                runtime.set_perf_recording(self._recording)

    def submit(
        self, device: Any, executable: Any, program_index: int, inputs: Any, max_loop_turns: int | None = None
    ) -> Any:
        """Submits a program as the runtime's own function does."""
        with self._lock:
            recorders = list(self._recorders)
            turn = self._turns.setdefault(getattr(device, "id", None), threading.RLock())
        start = time.perf_counter_ns()
        with turn:  # the device runs one program at a time anyway, and its last report is ours then
            try:
                outputs = self._submit(device, executable, program_index, inputs, max_loop_turns)
            except Exception as error:
                for recorder in recorders:
                    recorder.add_failure(start, time.perf_counter_ns() - start, f"{type(error).__name__}: {error}")
                raise
            taken = time.perf_counter_ns() - start
            report = runtime.last_run(device)
        for recorder in recorders:
            if report is not None and report.ops:
                recorder.add(device, executable, program_index, start, taken, report)
        return outputs


_tap = Tap()
