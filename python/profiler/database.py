# SPDX-License-Identifier: Apache-2.0
"""Writes the memory report that ttnn-visualizer opens (`db.sqlite`): ops, tensors, and the buffers of each op.

It has the first run of each program. Addresses are those of a device that holds nothing else; durations are estimates
of the cost model. Tables and columns are those that ttnn-visualizer 0.108 reads.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import _ttmlir_runtime as tt_runtime

from .ops_table import attribute_items, data_type, device_operation, layout
from .records import BufferRecord, OpRecord, ProgramInfo, Run, TensorRecord

SCHEMA = """
CREATE TABLE devices (device_id INT, num_y_cores INT, num_x_cores INT, num_y_compute_cores INT,
    num_x_compute_cores INT, worker_l1_size INT, l1_num_banks INT, l1_bank_size INT, address_at_first_l1_bank INT,
    address_at_first_l1_cb_buffer INT, num_banks_per_storage_core INT, num_compute_cores INT, num_storage_cores INT,
    total_l1_memory INT, total_l1_for_tensors INT, total_l1_for_interleaved_buffers INT,
    total_l1_for_sharded_buffers INT, cb_limit INT);
CREATE TABLE operations (operation_id INT UNIQUE, name TEXT, duration REAL);
CREATE TABLE operation_arguments (operation_id INT, name TEXT, value TEXT);
CREATE TABLE stack_traces (operation_id INT, stack_trace TEXT);
CREATE TABLE tensors (tensor_id INT UNIQUE, shape TEXT, dtype TEXT, layout TEXT, memory_config TEXT, device_id INT,
    address INT, buffer_type INT);
CREATE TABLE input_tensors (operation_id INT, input_index INT, tensor_id INT);
CREATE TABLE output_tensors (operation_id INT, output_index INT, tensor_id INT);
CREATE TABLE buffers (operation_id INT, device_id INT, address INT, max_size_per_bank INT, buffer_type INT,
    buffer_layout INT);
CREATE TABLE captured_graph (operation_id INT, captured_graph TEXT);
CREATE TABLE errors (operation_id INT, operation_name TEXT, error_type TEXT, error_message TEXT, stack_trace TEXT,
    timestamp TEXT);
CREATE TABLE local_tensor_comparison_records (tensor_id INT UNIQUE, golden_tensor_id INT, matches INT,
    desired_pcc INT, actual_pcc REAL);
CREATE TABLE global_tensor_comparison_records (tensor_id INT UNIQUE, golden_tensor_id INT, matches INT,
    desired_pcc INT, actual_pcc REAL);
"""
BUFFER_TYPES = {"DRAM": 0, "L1": 1, "SYSTEM_MEMORY": 2, "L1_SMALL": 3, "TRACE": 4}
MEMORY_LAYOUTS = {"interleaved": 0, "height_sharded": 2, "width_sharded": 3, "block_sharded": 4}
# The file and the line in `/a/b.py:9` and in `"add"("/a/b.py":9:0)`.
PLACE = re.compile(r'(?:^|")([^"]+?)"?:(\d+)(?::\d+)?\)*$')


def memory_config(tensor: TensorRecord) -> str | None:
    """Returns the text that the library prints; None for a tensor of the host."""
    if tensor.buffer_type == "system_memory":
        return None
    shards = "std::nullopt"
    if tensor.grid:
        rows, columns = (*tensor.grid, 1)[:2]
        cores = f'[{{"start":{{"x":0,"y":0}},"end":{{"x":{columns - 1},"y":{rows - 1}}}}}]'
        height, width = (*tensor.shard_shape, 1)[:2]
        shards = (
            f"ShardSpec(grid={{{cores}}},shape={{{height}, {width}}},orientation=ShardOrientation::ROW_MAJOR,halo=0)"
        )
    return (
        f"MemoryConfig(memory_layout=TensorMemoryLayout::{tensor.memory_layout.upper()},"
        f"buffer_type=BufferType::{tensor.buffer_type.upper()},shard_spec={shards})"
    )


def stack_trace(op: OpRecord) -> str:
    """Returns the place where the op was built, as Python prints one."""
    found = PLACE.search(op.location)
    return f'  File "{found[1]}", line {found[2]}\n' if found else f"  {op.location}\n"


def buffer_nodes(step: dict[str, Any], base: int, cores: str) -> list[tuple[str, dict[str, str]]]:
    """Returns the circular buffers of a program, one after the other from the base of L1."""
    nodes, address = [], base
    for buffer in step["buffers"]:
        if buffer["shared"]:
            continue
        place = {} if buffer["globally_allocated"] else {"address": str(address)}
        size = {
            "size": str(buffer["bytes"]),
            "type": "L1",
            "globally_allocated": str(int(buffer["globally_allocated"])),
        }
        nodes.append(("circular_buffer_allocate", {"core_range_set": cores, **place, **size}))
        address += 0 if buffer["globally_allocated"] else buffer["bytes"]
    return [*nodes, ("circular_buffer_deallocate_all", {})]


def captured_graph(op: OpRecord, buffer: BufferRecord | None, cores: str) -> str:
    """Returns the op as the library's trace has it: its device operations and the circular buffers of their kernels."""
    nodes: list[tuple[str, dict[str, str]]] = [("capture_start", {})]
    base = buffer.address if buffer else 0
    for step in json.loads(op.plan):
        name = {"name": step["operation"]}
        nodes.append(("function_start", {"inputs": str(len(op.inputs)), **name}))
        nodes += [*buffer_nodes(step, base, cores), ("function_end", name)]
    if len(nodes) == 1:  # the library's plan is not known
        name = {"name": device_operation(op)}
        nodes.append(("function_start", {"inputs": str(len(op.inputs)), **name}))
        if buffer is not None:
            one = {"bytes": buffer.bytes_per_bank, "shared": False, "globally_allocated": False}
            nodes += buffer_nodes({"buffers": [one]}, base, cores)
        nodes.append(("function_end", name))
    nodes.append(("capture_end", {}))
    return json.dumps(
        [
            {
                "counter": i,
                "node_type": kind,
                "params": params,
                "connections": [i + 1] if i + 1 < len(nodes) else [],
                "arguments": [],
                "stacking_level": 0 if kind.startswith("capture") else 1,
            }
            for i, (kind, params) in enumerate(nodes)
        ]
    )


def device_row(chip: int, arch: str) -> tuple[int, ...]:
    figures = tt_runtime.runtime.chip_figures(arch)
    rows, columns = figures["grid"]
    cores, base, size = rows * columns, figures["l1_unreserved_base"], figures["l1_size"]
    bank = size - base
    return (
        chip,
        rows,
        columns,
        rows,
        columns,
        size,
        cores,
        bank,
        base,
        base,
        1,
        cores,
        0,
        size,
        bank,
        bank,
        bank,
        bank,
    )


class Writer:
    """Writes programs one after the other; ids of ops and tensors count through all of them."""

    def __init__(self, connection: sqlite3.Connection):
        self.connection = connection
        self.operations = self.tensors = 0
        self.chips: set[int] = set()

    def insert(self, table: str, rows: Iterable[tuple[object, ...]]) -> None:
        columns = len(self.connection.execute(f"SELECT * FROM {table}").description)
        self.connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})", rows)

    def add(self, program: ProgramInfo) -> None:
        chips = range(program.chips)
        for chip in chips:
            if chip not in self.chips:
                self.chips.add(chip)
                self.insert("devices", [device_row(chip, program.arch)])
        first_op, first_tensor = self.operations, self.tensors
        held = {value: buffer for buffer in program.buffers for value in buffer.values}
        circular = {buffer.begin: buffer for buffer in program.buffers if buffer.circular}
        described: dict[int, TensorRecord] = {}
        rows, columns = tt_runtime.runtime.chip_figures(program.arch)["grid"]
        cores = f"{{[(x=0,y=0) - (x={columns - 1},y={rows - 1})]}}"
        for place, op in enumerate(program.ops):
            number = first_op + place
            described.update({tensor.value: tensor for tensor in (*op.inputs, *op.outputs)})
            self.insert("operations", [(number, op.name, op.device_ns / 1e9)])
            self.insert("operation_arguments", ((number, name, value) for name, value in attribute_items(op)))
            self.insert("stack_traces", [(number, stack_trace(op))])
            for table, tensors in (("input_tensors", op.inputs), ("output_tensors", op.outputs)):
                self.insert(table, [(number, i, first_tensor + t.value) for i, t in enumerate(tensors)])
            if op.device_ns:
                self.insert("captured_graph", [(number, captured_graph(op, circular.get(place), cores))])
        for value, tensor in described.items():
            buffer = held.get(value)
            place_ = (0, buffer.address, BUFFER_TYPES[buffer.memory]) if buffer else (None, None, None)
            shape = f"Shape([{', '.join(map(str, tensor.shape))}])"
            kind = (f"DataType.{data_type(tensor)}", f"Layout.{layout(tensor)}", memory_config(tensor))
            self.insert("tensors", [(first_tensor + value, shape, *kind, *place_)])
        for buffer in program.buffers:
            self.insert("buffers", buffer_rows(buffer, described, first_op, len(program.ops), chips))
        self.operations += len(program.ops)
        self.tensors += 1 + max([*described, -1])


def buffer_rows(
    buffer: BufferRecord, described: dict[int, TensorRecord], first_op: int, ops: int, chips: range
) -> Iterator[tuple[object, ...]]:
    """Returns a row for each op during which a buffer is allocated, and each chip."""
    if buffer.circular:
        return
    tensor = next((described[value] for value in buffer.values if value in described), None)
    kept = MEMORY_LAYOUTS.get(tensor.memory_layout) if tensor else None
    for op in range(buffer.begin, min(buffer.end, ops)):
        for chip in chips:
            yield (
                first_op + op, chip, buffer.address, buffer.bytes_per_bank, BUFFER_TYPES[buffer.memory], kept
            )  # fmt: skip


def memory_report(programs: Sequence[ProgramInfo], runs: Sequence[Run]) -> bytes:
    """Returns the contents of a database with each program that was run, in order of first runs."""
    used = dict.fromkeys(run.program for run in runs if not run.error)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "db.sqlite")
        connection = sqlite3.connect(path)
        try:
            connection.executescript(SCHEMA)
            writer = Writer(connection)
            for number in used:
                writer.add(programs[number])
            connection.commit()
        finally:
            connection.close()
        return Path(path).read_bytes()
