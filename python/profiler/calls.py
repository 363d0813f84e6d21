# SPDX-License-Identifier: Apache-2.0
"""Records calls of ttnn's functions by hand as a program that ran once."""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import _ttmlir_runtime as tt_runtime

from .records import BufferRecord, OpRecord, ProgramInfo, Run, op_record, tensor_record

NAME = "calls of ttnn"
GENERATED = "<ttnn."  # files of functions that are made from tables


def caller() -> str:
    """Returns the line of the program that called a function of ttnn: "model.py:12"; nothing where there is none."""
    library = getattr(sys.modules.get("ttnn"), "__file__", None) or __file__
    own = tuple(os.path.dirname(path) + os.sep for path in (__file__, library))
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((GENERATED, *own)):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""


@dataclass
class Calls:
    """The calls on a device so far."""

    device: int
    arch: str
    mesh: tuple[int, ...]
    begin: int
    ops: list[OpRecord] = field(default_factory=list)
    host_ns: list[int] = field(default_factory=list)
    end: int = 0
    peaks: dict[str, int] = field(default_factory=dict)
    buffers: list[BufferRecord] = field(default_factory=list)
    _values: dict[tuple[int, str], int] = field(default_factory=dict)
    # Since which call a block is allocated, and the values that lie in it, by memory, address and bytes.
    _held: dict[tuple[str, int, int], tuple[int, set[int]]] = field(default_factory=dict)

    def add(self, device: Any, call: dict[str, Any], perf: Any, start: int, location: str) -> None:
        place = len(self.ops)
        blocks, resident = self._blocks(device)
        for block in blocks:
            self._held.setdefault(block, (place, set()))
        inputs = tuple(self._tensor(tensor) for tensor in call["ins"] if tensor is not None)
        outputs = tuple(self._tensor(tensor) for tensor in call["outs"] if tensor is not None)
        self.buffers += [
            record for block in [b for b in self._held if b not in blocks] for record in self._freed(block, place + 1)
        ]
        if perf.circular_buffer_bytes:
            base = tt_runtime.runtime.chip_figures(self.arch)["l1_unreserved_base"]
            self.buffers.append(BufferRecord(place, place + 1, "L1", base, perf.circular_buffer_bytes, True, ()))
        self.ops.append(
            op_record(
                perf, self.arch, place, location, "", call["attributes"], inputs, outputs, resident["DRAM"],
                resident["L1"],
            )
        )  # fmt: skip
        self.host_ns.append(perf.host_ns)
        self.end = start + perf.host_ns

    def _blocks(self, device: Any) -> tuple[set[tuple[str, int, int]], dict[str, int]]:
        """Returns what is allocated: blocks, and bytes per bank by memory."""
        blocks, resident = set(), {}
        for memory, view in device.get_memory_view().items():
            resident[memory.name] = view.total_bytes_allocated_per_bank
            self.peaks[memory.name] = max(self.peaks.get(memory.name, 0), view.total_bytes_allocated_per_bank)
            for row in view.block_table:
                if row["allocated"] == "yes":
                    blocks.add((memory.name, int(row["address"]), int(row["size"])))
        return blocks, resident

    def _tensor(self, tensor: dict[str, Any]) -> Any:
        desc = tensor["desc"]
        value = self._values.setdefault((tensor["id"], str(desc)), len(self._values))
        record = tensor_record(value, desc)
        if "address" in tensor:
            for (memory, address, _), (_, values) in self._held.items():
                if address == tensor["address"] and memory == record.buffer_type.upper():
                    values.add(value)
        return record

    def _freed(self, block: tuple[str, int, int], end: int) -> list[BufferRecord]:
        begin, values = self._held.pop(block)
        memory, address, size = block
        return [BufferRecord(begin, end, memory, address, size, False, tuple(sorted(values)))]

    def program(self, number: int) -> ProgramInfo:
        held = [
            BufferRecord(begin, len(self.ops), memory, address, size, False, tuple(sorted(values)))
            for (memory, address, size), (begin, values) in self._held.items()
        ]
        return ProgramInfo(
            number, NAME, "", self.device, self.arch, self.mesh, tuple(self.ops), (), self.peaks.get("DRAM", 0),
            self.peaks.get("L1", 0), buffers=(*self.buffers, *held),
        )  # fmt: skip

    def run(self, number: int, program: int, trace_begin: int) -> Run:
        begin, taken = self.begin - trace_begin, self.end - self.begin
        return Run(number, program, threading.get_ident(), begin, taken, tuple(self.host_ns))
