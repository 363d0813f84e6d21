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

from .calls import Calls, caller
from .cores import cores_records
from .records import BufferRecord, Exchange, Once, OpRecord, ProgramInfo, Run, Scope, op_record, plain, tensor_record

runtime = tt_runtime.runtime

# Ops of the debug dialect that open and close a scope, and the attribute that names it.
SCOPES = {
    "debug.begin_trace": ("debug.end_trace", "trace_id"),
    "debug.profiler_start": ("debug.profiler_end", "scope_id"),
    "debug.region_start": ("debug.region_end", "region_id"),
}
INSTANTS = {"debug.annotate": "annotation", "debug.timestamp": None}


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
    """Returns the numbers of the programs that an op runs: one of constants, those of a loop or of
    branches."""
    if not op["name"].startswith("ttcore."):
        return []
    named = [op["attributes"].get(name, []) for name in ("callee", "cond", "body", "branches")]
    return [i for found in named for i in (found if isinstance(found, list) else [found])]


def program_info(number: int, device: Any, executable: Any, index: int, report: Any) -> ProgramInfo:
    programs, arch = json.loads(executable.as_json())["programs"], device.arch
    program, mesh = programs[index], tuple(programs[index]["mesh_shape"])
    if executable.file_identifier == "TTM0":
        return metal_program_info(number, device, executable.file_name, program, report)
    callees = [op["attributes"]["callee"] for op in program["operations"] if op["name"] == "ttcore.load_cached"]
    once = [
        Once(
            programs[i]["name"],
            op_records(
                programs[i], runtime.estimate(executable, i, arch, mesh), arch, runtime.plans(executable, i, arch)
            ),
        )
        for i in dict.fromkeys(callees)
    ]
    return ProgramInfo(
        number, program["name"], executable.file_name, device.id, arch, mesh,
        op_records(program, report, arch, runtime.plans(executable, index, arch)),
        scopes_of(program["operations"]), report.dram_peak_bytes_per_bank, report.l1_peak_bytes_per_bank, tuple(once),
        exchanges_of(executable, index, arch) if math.prod(mesh) > 1 and program["operations"] else (),
        buffers_of(executable, index, arch) if program["operations"] else (),
    )  # fmt: skip


def metal_program_info(number: int, device: Any, file: str, program: dict[str, Any], report: Any) -> ProgramInfo:
    """Returns a program of TTMetal: commands in the place of ops, with what the cores did."""
    commands = program["operations"]
    return ProgramInfo(
        number, program["name"], file, device.id, device.arch, tuple(program["mesh_shape"]),
        op_records(program, report, device.arch, ["[]"] * len(commands)), (), report.dram_peak_bytes_per_bank,
        report.l1_peak_bytes_per_bank, buffers=metal_buffers(commands), cores=cores_records(report.ops),
    )  # fmt: skip


def metal_buffers(commands: Sequence[dict[str, Any]]) -> tuple[BufferRecord, ...]:
    """Returns the buffers that commands create, from there until they are deallocated, and the circular buffers."""
    found: list[BufferRecord] = []
    held: dict[int, tuple[int, dict[str, Any]]] = {}

    def free(buffer: int, end: int) -> None:
        begin, made = held.pop(buffer)
        found.append(BufferRecord(begin, end, made["buffer_type"].upper(), made["address"], made["bytes_per_bank"],
                                  False, (buffer,)))  # fmt: skip

    for at, command in enumerate(commands):
        attributes = command["attributes"]
        if command["name"] == "CreateBufferCommand":
            held[attributes["buffer"]["id"]] = at, attributes["buffer"]
        elif command["name"] == "DeallocateBufferCommand":
            free(attributes["buffer"], at)
        for ring in attributes.get("circular_buffers", ()):
            size = ring["page_size"] * ring["num_pages"]
            found.append(BufferRecord(at, at + 1, "L1", ring["address"], size, True, ()))
    for buffer in list(held):
        free(buffer, len(commands))
    return tuple(found)


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


def op_records(program: dict[str, Any], report: Any, arch: str, plans: list[str]) -> tuple[OpRecord, ...]:
    """Returns what the runtime says of a program's ops, with their operands and results."""
    values = [tensor_record(i, v["desc"]) for i, v in enumerate(program["values"])]
    return tuple(
        op_record(
            perf, arch, perf.index, plain(perf.loc), op["source"], op["attributes"],
            tuple(values[v] for v in op["ins"] if v is not None), tuple(values[v] for v in op["outs"]),
            perf.dram_resident_bytes_per_bank, perf.l1_resident_bytes_per_bank, plan,
        )
        for op, perf, plan in zip(program["operations"], report.ops, plans, strict=True)
    )  # fmt: skip


@dataclass
class Recorder:
    """The runs between start() and stop(). Several recorders may be active at a time. Thread-safe."""

    programs: list[ProgramInfo] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    _begin: int = 0
    _numbers: dict[tuple[int, int, int], int] = field(default_factory=dict)
    _calls: dict[int, Calls] = field(default_factory=dict)  # by device
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

    def add_call(self, device: Any, text: str, perf: Any, start: int, location: str) -> None:
        """Records a call of an op by hand that returned, `start` on the clock of perf_counter_ns."""
        with self._lock:
            self._calls_on(device, start).add(device, json.loads(text), perf, start, location)

    def add_kernels(self, device: Any, name: str, report: Any, start: int, taken: int, location: str) -> None:
        """Records a run of kernels that are written by hand, `start` on the clock of perf_counter_ns."""
        with self._lock:
            self._calls_on(device, start).add_kernels(name, report, start, taken, location)

    def _calls_on(self, device: Any, start: int) -> Calls:
        if device.id not in self._calls:
            self._calls[device.id] = Calls(device.id, device.arch, tuple(device.get_mesh_shape()), start)
        return self._calls[device.id]

    def add_failure(self, start: int, taken: int, error: str) -> None:
        with self._lock:
            self._run(-1, start, taken, error=error)

    def _run(self, program: int, start: int, taken: int, host: tuple[int, ...] = (), error: str = "") -> None:
        begin = start - self._begin
        self.runs.append(Run(len(self.runs), program, threading.get_ident(), begin, taken, host, error))

    def snapshot(self) -> tuple[list[ProgramInfo], list[Run]]:
        """Returns what is known so far. The calls by hand on a device are a program of their own, which ran once."""
        with self._lock:
            programs, runs = list(self.programs), list(self.runs)
            for calls in self._calls.values():
                runs.append(calls.run(len(runs), len(programs), self._begin))
                programs.append(calls.program(len(programs)))
            return programs, runs


class Tap:
    """Stands in for `runtime.submit` while a recorder is at work."""

    def __init__(self) -> None:
        self._recorders: list[Recorder] = []
        self._lock = threading.Lock()
        self._turns: dict[Any, Any] = {}  # by device
        self._submit: Callable[..., Any] = runtime.submit
        self._run_on_tensors: Callable[..., Any] = tt_runtime.metal.run_on_tensors
        self._recording = False
        self._observer = 0

    def add(self, recorder: Recorder) -> None:
        with self._lock:
            if not self._recorders:
                self._submit, self._recording = runtime.submit, runtime.get_perf_recording()
                runtime.set_perf_recording(True)
                runtime.submit = self.submit
                self._run_on_tensors = tt_runtime.metal.run_on_tensors
                tt_runtime.metal.run_on_tensors = self.run_on_tensors
                self._observer = runtime.observe_calls(self.called)
            self._recorders.append(recorder)

    def remove(self, recorder: Recorder) -> None:
        with self._lock:
            self._recorders = [r for r in self._recorders if r is not recorder]
            if not self._recorders:
                runtime.submit = self._submit
                tt_runtime.metal.run_on_tensors = self._run_on_tensors
                runtime.end_observing_calls(self._observer)
                runtime.set_perf_recording(self._recording)

    def called(self, device: Any, text: str, perf: Any, start: int) -> None:
        """Records a call of an op by hand; one on the host alone is not recorded."""
        if device is None:
            return
        with self._lock:
            recorders = list(self._recorders)
        location = caller()
        for recorder in recorders:
            recorder.add_call(device, text, perf, start, location)

    def run_on_tensors(
        self, tensors: Any, kernels: Any, circular_buffers: Any, semaphores: Any, chips: Any, name: str = "program"
    ) -> Any:
        """Runs kernels that are written by hand as the runtime's own function does."""
        start = time.perf_counter_ns()
        report = self._run_on_tensors(tensors, kernels, circular_buffers, semaphores, chips, name)
        taken, location = time.perf_counter_ns() - start, caller()
        with self._lock:
            recorders = list(self._recorders)
        for recorder in recorders:
            recorder.add_kernels(tensors[0].tensor.device(), name, report, start, taken, location)
        return report

    def submit(
        self, device: Any, executable: Any, program_index: int, inputs: Any, max_loop_iterations: int | None = None
    ) -> Any:
        """Submits a program as the runtime's own function does."""
        with self._lock:
            recorders = list(self._recorders)
            turn = self._turns.setdefault(getattr(device, "id", None), threading.RLock())
        start = time.perf_counter_ns()
        with turn:  # the device runs one program at a time anyway, and its last report is ours then
            try:
                outputs = self._submit(device, executable, program_index, inputs, max_loop_iterations)
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
