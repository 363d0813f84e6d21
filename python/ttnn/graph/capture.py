# SPDX-License-Identifier: Apache-2.0
"""Captures what functions do, as a list of nodes, which JSON can hold.

A node has a `counter`, which is its place in the list, a `node_type`, `params`, all text, the `connections` to nodes
that follow from it, and `arguments`. Types: capture_start, function_start, tensor, buffer_allocate,
buffer_deallocate, circular_buffer_allocate, circular_buffer_deallocate_all, function_end, capture_end. Functions are
those of the dialect, in which are the programs that the library would run: "MatmulDeviceOperation" with its configs as
arguments. A function that is made of others is these others.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from os import PathLike
from pathlib import Path
from typing import Any

from _ttmlir_runtime import runtime as _runtime
from _ttmlir_runtime.runtime import Device

from . import records

Node = dict[str, Any]
REPORT_VERSION = 1
_TYPES = {
    "bf16": "BFLOAT16", "f32": "FLOAT32", "f16": "FLOAT16", "si32": "INT32", "u32": "UINT32", "u16": "UINT16",
    "u8": "UINT8", "bfp_bf8": "BFLOAT8_B", "bfp_bf4": "BFLOAT4_B",
}  # fmt: skip


class RunMode(Enum):
    """Says whether captured functions compute. They do in both modes here."""

    NORMAL = 0
    NO_DISPATCH = 1


@dataclass
class _Capture:
    """The nodes so far, which of them are tensors, by identity, and what is allocated, by device and block."""

    nodes: list[Node] = field(default_factory=list)
    open: list[int] = field(default_factory=list)
    tensors: dict[int, int] = field(default_factory=dict)
    held: dict[int, dict[tuple[str, int, int], int]] = field(default_factory=dict)
    observer: int = 0

    def add(self, node_type: str, params: dict[str, Any], arguments: Sequence[str] = ()) -> int:
        counter = len(self.nodes)
        self.nodes.append(
            {
                "counter": counter,
                "node_type": node_type,
                "params": {name: str(value) for name, value in params.items()},
                "connections": [],
                "arguments": list(arguments),
            }
        )
        return counter

    def connect(self, source: int, sink: int) -> None:
        links = self.nodes[source]["connections"]
        if sink not in links:
            links.append(sink)

    def begin(self, name: str, arguments: Sequence[str], inputs: int) -> int:
        start = self.add("function_start", {"name": name, "inputs": inputs}, arguments)
        self.connect(self.open[-1], start)
        self.open.append(start)
        return start

    def end(self, node_type: str = "function_end") -> int:
        start = self.open.pop()
        name = self.nodes[start]["params"].get("name")
        end = self.add(node_type, {} if name is None else {"name": name})
        self.connect(start, end)
        return end

    def tensor(self, described: dict[str, Any]) -> int:
        if described["id"] not in self.tensors:
            desc = described["desc"]
            params = {
                "tensor_id": described["id"],
                "shape": f"Shape({desc['shape']})",
                "dtype": f"DataType::{_TYPES.get(desc['data_type'], desc['data_type'].upper())}",
                "layout": f"Layout::{desc['layout'].upper()}",
                "buffer_type": desc["buffer_type"].upper(),
            }
            if "address" in described:
                params["address"] = described["address"]
            self.tensors[described["id"]] = self.add("tensor", params)
        return self.tensors[described["id"]]

    def blocks(self, device: Any, start: int) -> None:
        """Adds nodes of the blocks that are allocated since the last call, and of those that are freed."""
        place = int(device.id())
        known = self.held.setdefault(place, {})
        now = _allocated(device)
        for block in [each for each in known if each not in now]:
            self.connect(known.pop(block), self.add("buffer_deallocate", _block_params(block, place)))
        for block in now:
            if block not in known:
                params = _block_params(block, place)
                if records.is_detailed_buffer_tracing_enabled():
                    view = _view(device, block[0])
                    params |= {"num_banks": view.num_banks, "free_per_bank": view.total_bytes_free_per_bank}
                known[block] = self.add("buffer_allocate", params)
                self.connect(start, known[block])

    def program(self, step: dict[str, Any]) -> None:
        """Adds the nodes of a program of the library: its configs, and its circular buffers on each core."""
        configs = {"program_factory": step["factory"], "compute_kernel_config": step.get("compute")}
        configs |= {"blocks": step.get("blocks")} | step["arguments"]
        start = self.begin(step["operation"], [f"{k}={v}" for k, v in configs.items() if v not in (None, "")], 0)
        for buffer in step["buffers"]:
            if not buffer["shared"]:
                size = {"size": buffer["bytes"], "globally_allocated": int(buffer["globally_allocated"])}
                allocated = self.add("circular_buffer_allocate", size | {"data_format": buffer["format"]})
                self.connect(start, allocated)
        self.add("circular_buffer_deallocate_all", {})
        self.end()

    def called(self, device: Device | None, text: str, perf: Any, begun: int) -> None:
        """Adds the nodes of one call."""
        del begun
        call = json.loads(text)
        inputs = [self.tensor(each) for each in call["ins"] if each is not None]
        arguments = [f"{name}={value}" for name, value in call["attributes"].items()]
        start = self.begin(call["name"].replace(".", "::"), arguments, len(inputs))
        for each in inputs:
            self.connect(each, start)
        if device is not None:
            self.blocks(device, start)
        for step in call["plan"]:
            self.program(step)
        if perf.circular_buffer_bytes and not call["plan"]:
            self.connect(start, self.add("circular_buffer_allocate", {"size": perf.circular_buffer_bytes}))
            self.add("circular_buffer_deallocate_all", {})
        outputs = [self.tensor(each) for each in call["outs"] if each is not None]
        end = self.end()
        self.nodes[end]["params"]["duration_ns"] = str(perf.device_ns)
        for each in outputs:
            self.connect(end, each)


def _allocated(device: Device) -> list[tuple[str, int, int]]:
    return [
        (memory.name, int(row["address"]), int(row["size"]))
        for memory, view in device.get_memory_view().items()
        for row in view.block_table
        if row["allocated"] == "yes"
    ]


def _view(device: Device, memory: str) -> Any:
    return next(view for kind, view in device.get_memory_view().items() if kind.name == memory)


def _block_params(block: tuple[str, int, int], device: int) -> dict[str, Any]:
    return {"type": block[0], "address": block[1], "size": block[2], "device_id": device}


_lock = threading.Lock()
_active: list[_Capture] = []


def begin_graph_capture(run_mode: RunMode = RunMode.NORMAL) -> None:
    """Begins a capture; calls of all threads are part of it. Functions compute in either mode.

    Raises:
        TypeError: run_mode is no RunMode.
        RuntimeError: a capture is there.
    """
    if not isinstance(run_mode, RunMode):
        raise TypeError(f"ttnn.graph.begin_graph_capture: run_mode is {run_mode!r}; expected a ttnn.graph.RunMode")
    with _lock:
        if _active:
            raise RuntimeError("ttnn.graph.begin_graph_capture: a capture has begun; end it first")
        capture = _Capture()
        capture.open.append(capture.add("capture_start", {}))
        _active.append(capture)
    records.begin()
    capture.observer = _runtime.observe_calls(lambda *call: _observed(capture, call))


def _observed(capture: _Capture, call: tuple[Any, ...]) -> None:
    with _lock:
        capture.called(*call)


def end_graph_capture() -> list[Node]:
    """Ends the capture and returns its nodes.

    Raises:
        RuntimeError: there is no capture.
    """
    capture = _current("end_graph_capture")
    _runtime.end_observing_calls(capture.observer)
    records.disable_python_io_recording()
    with _lock:
        _active.clear()
        while capture.open:
            last = capture.end("capture_end" if len(capture.open) == 1 else "function_end")
        for node in capture.nodes:
            if node["node_type"] == "tensor" and not node["connections"]:
                capture.connect(node["counter"], last)
    return capture.nodes


def _current(name: str) -> _Capture:
    if not _active:
        raise RuntimeError(f"ttnn.graph.{name}: there is no capture; call ttnn.graph.begin_graph_capture first")
    return _active[0]


def is_graph_capture_active() -> bool:
    """Returns whether a capture has begun."""
    return bool(_active)


def end_graph_capture_to_file(report_path: str | PathLike[str]) -> list[Node]:
    """Ends the capture, writes it to a JSON file with `version` and `graph`, and returns its nodes.

    The file has the program's own records, too, where there are some.
    """
    nodes = end_graph_capture()
    Path(report_path).write_text(json.dumps({"version": REPORT_VERSION, "graph": nodes} | records.kept(), indent=1))
    return nodes


@contextmanager
def full_graph_capture(report_path: str | PathLike[str], *, run_mode: RunMode = RunMode.NORMAL) -> Iterator[None]:
    """Captures what is called inside of `with`, and writes it to a JSON file."""
    begin_graph_capture(run_mode)
    try:
        yield
    finally:
        end_graph_capture_to_file(report_path)


def track_function_start(function_name: str) -> None:
    """Begins a function of the program's own, which the following functions are part of."""
    capture = _current("track_function_start")
    with _lock:
        capture.begin(function_name, (), 0)


def track_function_end() -> None:
    """Ends the function that track_function_start began.

    Raises:
        RuntimeError: none has begun.
    """
    capture = _current("track_function_end")
    with _lock:
        if len(capture.open) < 2:
            raise RuntimeError("ttnn.graph.track_function_end: no function has begun")
        capture.end()
