# SPDX-License-Identifier: Apache-2.0
"""Reads captures: what functions were called, what they allocated, what they returned."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from .capture import Node


@dataclass(frozen=True)
class TensorInfo:
    """Describes a result: its shape, the bytes of its buffer, and the memory that it lies in."""

    shape: tuple[int, ...]
    size: int
    type: str


@dataclass(frozen=True)
class PeakMemoryUsagePerCore:
    """Holds the most bytes of a core that are in use at a time; there are no dataflow buffers or scratchpads here."""

    peak_cb: int
    peak_l1: int
    peak_total: int
    peak_dataflow_buffer: int = 0
    peak_scratchpad: int = 0


def extract_resource_usage_per_core(
    trace: Sequence[Node], interleaved_storage_cores: int | None = None
) -> PeakMemoryUsagePerCore:
    """Returns the most bytes of circular buffers and of tensors in the L1 of a core, and of both at a time.

    Args:
        interleaved_storage_cores: makes no difference: a capture has the bytes of a bank.
    """
    del interleaved_storage_cores
    used, circular = [0], [0]
    for node in trace:
        kind, params = node["node_type"], node["params"]
        tensors, buffers = used[-1], circular[-1]
        if kind in ("buffer_allocate", "buffer_deallocate") and params["type"] == "L1":
            tensors += int(params["size"]) * (1 if kind == "buffer_allocate" else -1)
        elif kind == "circular_buffer_allocate" and params.get("globally_allocated") != "1":
            buffers += int(params["size"])
        elif kind == "circular_buffer_deallocate_all":
            buffers = 0
        used.append(tensors)
        circular.append(buffers)
    total = max(a + b for a, b in zip(used, circular, strict=True))
    return PeakMemoryUsagePerCore(max(circular), max(used), total)


def extract_levelized_graph(trace: Sequence[Node], max_level: int = 1) -> list[Node]:
    """Returns the functions of a capture down to a level, functions inside of others behind them.

    Each has its `counter` in the list, `name`, `arguments`, `stacking_level` (1 for one that the program called),
    `internals` (the counters of functions that it called), `in_edges` and `out_edges` (those of functions of its level
    whose results it takes, and that take its results), and `output_shape`.

    Raises:
        ValueError: max_level is not positive.
    """
    if max_level < 1:
        raise ValueError(f"ttnn.graph.extract_levelized_graph: max_level is {max_level}; expected 1 or more")
    functions: list[Node] = []
    open_ones: list[Node | None] = []
    result: dict[int, list[Node]] = {}  # by tensor: functions that it came from, of all levels
    for node in trace:
        kind = node["node_type"]
        if kind == "function_start":
            level = len(open_ones) + 1
            found = None
            if level <= max_level:
                found = {
                    "counter": len(functions), "name": node["params"]["name"], "arguments": list(node["arguments"]),
                    "stacking_level": level, "internals": [], "in_edges": [], "out_edges": [], "output_shape": [],
                    "output_info": [],
                }  # fmt: skip
                functions.append(found)
                if open_ones and open_ones[-1] is not None:
                    open_ones[-1]["internals"].append(found["counter"])
                inputs = [each["counter"] for each in trace if _is_input(each, node)]
                for source in (one for tensor in inputs for one in result.get(tensor, [])):
                    if source["stacking_level"] == level and source["counter"] not in found["in_edges"]:
                        found["in_edges"].append(source["counter"])
                        source["out_edges"].append(found["counter"])
            open_ones.append(found)
        elif kind == "function_end":
            ended = open_ones.pop()
            for tensor in node["connections"]:
                if ended is not None and trace[tensor]["node_type"] == "tensor":
                    params = trace[tensor]["params"]
                    ended["output_shape"].append(params["shape"])
                    ended["output_info"].append(f"{params['dtype']}, {params['layout']}")
                    result.setdefault(tensor, []).append(ended)
    return functions


def _is_input(node: Node, function: Node) -> bool:
    return node["node_type"] == "tensor" and function["counter"] in node["connections"]


def extract_calltrace(trace: Sequence[Node]) -> list[str]:
    """Returns the names of functions in the order of their beginnings."""
    return [node["params"]["name"] for node in trace if node["node_type"] == "function_start"]


def extract_peak_L1_memory_usage(trace: Sequence[Node]) -> int:
    """Returns the most bytes of buffers and circular buffers in L1 at a time."""
    return extract_resource_usage_per_core(trace).peak_total


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
