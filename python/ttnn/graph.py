# SPDX-License-Identifier: Apache-2.0
"""Captures of what functions do: `ttnn.graph`. A capture is a list of nodes, which JSON can hold.

A node has a `counter`, which is its place in the list, a `node_type`, `params`, all text, the `connections` to nodes
that follow from it, and `arguments`. Types: capture_start, function_start, tensor, buffer_allocate,
buffer_deallocate, circular_buffer_allocate, circular_buffer_deallocate_all, function_end, capture_end. Functions are
those of the dialect, in which are the programs that the library would run: "MatmulDeviceOperation" with its configs as
arguments. A function that is made of others is these others.
"""

from __future__ import annotations

import json
import math
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


@dataclass(frozen=True)
class TensorInfo:
    """Describes a result: its shape, the bytes of its buffer, and the memory that it lies in."""

    shape: tuple[int, ...]
    size: int
    type: str


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
                known[block] = self.add("buffer_allocate", _block_params(block, place))
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
    """Ends the capture, writes it to a JSON file with `version` and `graph`, and returns its nodes."""
    nodes = end_graph_capture()
    Path(report_path).write_text(json.dumps({"version": REPORT_VERSION, "graph": nodes}, indent=1))
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


# What a capture says.


def extract_calltrace(trace: Sequence[Node]) -> list[str]:
    """Returns the names of functions in the order of their beginnings."""
    return [node["params"]["name"] for node in trace if node["node_type"] == "function_start"]


def extract_peak_L1_memory_usage(trace: Sequence[Node]) -> int:
    """Returns the most bytes of buffers and circular buffers in L1 at a time."""
    used, circular, peak = 0, 0, 0
    for node in trace:
        kind, params = node["node_type"], node["params"]
        if kind in ("buffer_allocate", "buffer_deallocate") and params["type"] == "L1":
            used += int(params["size"]) * (1 if kind == "buffer_allocate" else -1)
        elif kind == "circular_buffer_allocate" and params.get("globally_allocated") != "1":
            circular += int(params["size"])
        elif kind == "circular_buffer_deallocate_all":
            circular = 0
        peak = max(peak, used + circular)
    return peak


def extract_output_tensors(trace: Sequence[Node]) -> list[Node]:
    """Returns the tensor nodes that a function produced and no other used."""
    end = len(trace) - 1
    produced = {sink for node in trace if node["node_type"] == "function_end" for sink in node["connections"]}
    return [
        node
        for node in trace
        if node["node_type"] == "tensor" and node["counter"] in produced and node["connections"] in ([], [end])
    ]


def extract_output_info(trace: Sequence[Node]) -> list[TensorInfo]:
    """Returns shape, bytes and memory of the tensors that extract_output_tensors finds."""
    sizes = {n["params"]["address"]: int(n["params"]["size"]) for n in trace if n["node_type"] == "buffer_allocate"}
    found = []
    for node in extract_output_tensors(trace):
        params = node["params"]
        shape = tuple(json.loads(params["shape"].removeprefix("Shape(").removesuffix(")")))
        found.append(TensorInfo(shape, sizes.get(params.get("address", ""), 0), params["buffer_type"]))
    return found


def count_intermediate_and_output_tensors(trace: Sequence[Node]) -> tuple[int, int]:
    """Returns how many tensors functions produced that others used, and that none used."""
    produced = {sink for node in trace if node["node_type"] == "function_end" for sink in node["connections"]}
    tensors = [node for node in trace if node["node_type"] == "tensor" and node["counter"] in produced]
    outputs = len(extract_output_tensors(trace))
    return len(tensors) - outputs, outputs


def extract_operation_durations(graph: Sequence[Node]) -> list[tuple[str, float]]:
    """Returns the simulated time of each function that computes, in nanoseconds."""
    ends = [node["params"] for node in graph if node["node_type"] == "function_end"]
    return [(params["name"], float(params["duration_ns"])) for params in ends if "duration_ns" in params]


def extract_total_duration_from_graph(graph: Sequence[Node]) -> float:
    """Returns the simulated time of all functions, in nanoseconds."""
    return math.fsum(duration for _, duration in extract_operation_durations(graph))


def pretty_format(captured_graph: Sequence[Node]) -> str:
    """Returns functions and what they allocate as lines, those inside of others further to the right.

    Raises:
        TypeError: the argument is no list of nodes, as end_graph_capture returns them.
    """
    lines, depth = [], 0
    if not isinstance(captured_graph, Sequence) or not all(isinstance(node, dict) for node in captured_graph):
        raise TypeError(f"ttnn.graph.pretty_format: captured_graph is {captured_graph!r:.80}; expected a list of nodes")
    for node in captured_graph:
        kind, params = node["node_type"], node["params"]
        if kind == "function_end":
            depth -= 1
        elif kind == "function_start":
            lines.append("  " * depth + f"{params['name']}({', '.join(node['arguments'])})")
            depth += 1
        elif kind in ("buffer_allocate", "buffer_deallocate"):
            lines.append("  " * depth + f"{kind} {params['type']} {params['size']} bytes at {params['address']}")
    return "\n".join(lines)


def pretty_print(captured_graph: Sequence[Node]) -> None:
    """Prints what pretty_format returns."""
    print(pretty_format(captured_graph))
