# SPDX-License-Identifier: Apache-2.0
"""Records calls of ttnn's functions by hand as a program that ran once."""

from __future__ import annotations

import json
import math
import os
import sys
import threading
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import _ttmlir_runtime as tt_runtime

from .cores import CoresRecord, cores_record
from .records import BufferRecord, OpRecord, ProgramInfo, Run, TensorRecord, op_record, tensor_record

NAME = "calls of ttnn"
GENERATED = "<ttnn."  # files of functions that are made from tables


def caller() -> str:
    """Returns the line of the program that called a function of ttnn: "model.py:12"; nothing where there is none."""
    libraries = (getattr(sys.modules.get(name), "__file__", None) for name in ("ttnn", "ttl"))
    own = tuple(os.path.dirname(path) + os.sep for path in (__file__, *filter(None, libraries)))
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((GENERATED, *own)):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""


@dataclass
class Held:
    """A block of memory that is allocated. begin: the first call that found it. values: that lie in it."""

    bytes: int
    begin: int
    values: set[int] = field(default_factory=set)


Place = tuple[str, int]  # memory and address


def buffer_record(at: Place, held: Held, end: int) -> BufferRecord:
    return BufferRecord(held.begin, end, *at, held.bytes, False, tuple(sorted(held.values)))


@dataclass
class Calls:
    """The calls on one device so far. A block that is freed and allocated again between two calls counts as one."""

    device: int
    arch: str
    mesh: tuple[int, ...]
    begin: int
    ops: list[OpRecord] = field(default_factory=list)
    host_ns: list[int] = field(default_factory=list)
    end: int = 0
    peaks: dict[str, int] = field(default_factory=dict)
    buffers: list[BufferRecord] = field(default_factory=list)
    cores: list[CoresRecord] = field(default_factory=list)
    _values: dict[tuple[int, str], int] = field(default_factory=dict)
    _held: dict[Place, Held] = field(default_factory=dict)

    def add(self, device: Any, call: dict[str, Any], perf: Any, start: int, location: str) -> None:
        """Adds a call that has returned, `start` on the clock of perf_counter_ns."""
        place = len(self.ops)
        blocks, resident = self._blocks(device)
        for at, size in blocks.items():
            if at not in self._held or self._held[at].bytes != size:
                self._free(at, place)
                self._held[at] = Held(size, place)
        inputs = tuple(self._tensor(tensor) for tensor in call["ins"] if tensor is not None)
        outputs = tuple(self._tensor(tensor) for tensor in call["outs"] if tensor is not None)
        for at in [at for at in self._held if at not in blocks]:
            self._free(at, place + 1)
        if perf.circular_buffer_bytes:
            base = tt_runtime.runtime.chip_figures(self.arch)["l1_unreserved_base"]
            self.buffers.append(BufferRecord(place, place + 1, "L1", base, perf.circular_buffer_bytes, True, ()))
        self.ops.append(
            op_record(
                perf, self.arch, place, location, "", call["attributes"], inputs, outputs, resident["DRAM"],
                resident["L1"], json.dumps(call["plan"]),
            )
        )  # fmt: skip
        self.host_ns.append(perf.host_ns)
        self.end = start + perf.host_ns

    def add_kernels(self, name: str, report: Any, start: int, taken: int, location: str) -> None:
        """Adds a run of kernels that are written by hand, `start` on the clock of perf_counter_ns."""
        place, clock = len(self.ops), tt_runtime.runtime.chip_figures(self.arch)["clock_ghz"]
        cores = len({kernel.core for kernel in report.kernels})
        self.ops.append(
            OpRecord(
                place, name, location, "", math.ceil(report.device_ns * clock), report.device_ns, 0,
                report.moved_bytes, 0, report.matmul_tiles, report.fpu_tiles, report.sfpu_tiles, 0, 0, 0, "other",
                cores, 4, report.device_ns - report.cycles / clock, "{}", (), (),
            )
        )  # fmt: skip
        self.cores.append(cores_record(place, report.activity))
        self.host_ns.append(taken)
        self.end = start + taken

    def _blocks(self, device: Any) -> tuple[dict[Place, int], dict[str, int]]:
        """Returns the bytes of each allocated block, and the allocated bytes per bank of each memory."""
        blocks, resident = {}, {}
        for memory, view in device.get_memory_view().items():
            resident[memory.name] = view.total_bytes_allocated_per_bank
            self.peaks[memory.name] = max(self.peaks.get(memory.name, 0), view.total_bytes_allocated_per_bank)
            for row in view.block_table:
                if row["allocated"] == "yes":
                    blocks[memory.name, int(row["address"])] = int(row["size"])
        return blocks, resident

    def _tensor(self, tensor: dict[str, Any]) -> TensorRecord:
        desc = tensor["desc"]
        record = tensor_record(self._values.setdefault((tensor["id"], str(desc)), len(self._values)), desc)
        if held := self._held.get((record.buffer_type.upper(), tensor.get("address", -1))):
            held.values.add(record.value)
        return record

    def _free(self, at: Place, end: int) -> None:
        if held := self._held.pop(at, None):
            self.buffers.append(buffer_record(at, held, end))

    def program(self, number: int) -> ProgramInfo:
        held = [buffer_record(at, held, len(self.ops)) for at, held in self._held.items()]
        return ProgramInfo(
            number, NAME, "", self.device, self.arch, self.mesh, tuple(self.ops), (), self.peaks.get("DRAM", 0),
            self.peaks.get("L1", 0), buffers=(*self.buffers, *held), cores=tuple(self.cores),
        )  # fmt: skip

    def run(self, number: int, program: int, trace_begin: int) -> Run:
        begin, taken = self.begin - trace_begin, self.end - self.begin
        return Run(number, program, threading.get_ident(), begin, taken, tuple(self.host_ns))
