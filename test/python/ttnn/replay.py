# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of a flatbuffer op by op through the functions of the package ttnn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import _ttmlir_runtime as rt
import ttnn
from _ttmlir_runtime import ttnn as native
from ttnn.configs import CONFIGS
from ttnn.enums import ENUMS

NATIVE_ENUMS = {
    "ttcore.data_type": ttnn.DataType,
    "ttnn.layout": ttnn.Layout,
    "ttnn.buffer_type": ttnn.BufferType,
    "ttnn.tensor_memory_layout": ttnn.TensorMemoryLayout,
}
CORES = {
    "ttnn.core_coord": ttnn.CoreCoord,
    "ttnn.core_range": ttnn.CoreRange,
}
ROWS = {row.op: (function, row) for function in native.functions() for row in function.rows}
DATA_TYPES = {symbol: ttnn.DataType(value) for kind, _, cases in native.enums() if kind == "ttcore.data_type"
              for _, symbol, value in cases}  # fmt: skip
LAYOUTS = {"tile": ttnn.TILE_LAYOUT, "row_major": ttnn.ROW_MAJOR_LAYOUT}


def bits(tensor: Any) -> list[bytes]:
    """The stored values of each shard, row by row."""
    shards = rt.runtime.get_device_tensors(tensor)
    return [bytes(rt.runtime.to_host(shard, untilize=True)[0].get_data_buffer()) for shard in shards]


@contextmanager
def recorded(program: dict[str, Any], index: int) -> Iterator[dict[int, list[tuple[str, list[bytes], Any]]]]:
    """Records what each op of a program wrote while it ran: by value, in order, the op, the bits and a copy."""
    found: dict[int, list[tuple[str, list[bytes], Any]]] = {}

    def after(binary: Any, context: Any, op: Any) -> None:
        if rt.runtime.get_program_index(context) != index:
            return
        for ref in rt.runtime.get_op_output_refs(op):
            tensor = rt.runtime.retrieve_tensor_from_pool(context, ref, False)
            if tensor is not None:
                found.setdefault(ref.value, []).append((op.name, bits(tensor), tensor))

    rt.runtime.DebugHooks.get(post_op=after)
    try:
        yield found
    finally:
        rt.runtime.unregister_hooks()


class Replay:
    """A program, run through ttnn; `differences` says which values were not those of the executor."""

    def __init__(self, binary: Any, device: Any) -> None:
        self.binary = binary
        self.device = device
        self.programs = json.loads(binary.as_json())["programs"]
        self.differences: list[str] = []
        self.ops: set[str] = set()

    def run(self, index: int, inputs: Sequence[Any], expected: dict[int, list[Any]] | None = None) -> list[Any]:
        """Outputs of a program. `expected`: what the executor's ops wrote."""
        program = self.programs[index]
        values = {declared["value"]: tensor for declared, tensor in zip(program["inputs"], inputs, strict=True)}
        times: dict[int, int] = {}
        for operation in program["operations"]:
            results = self.perform(program, operation, values, expected)
            for value, result in zip(operation["outs"], results, strict=True):
                values[value] = result
                if expected and value in expected:
                    turn = times.get(value, 0)
                    times[value] = turn + 1
                    self.compare(operation, value, result, expected[value][turn])
        return [values[declared["value"]] for declared in program["outputs"]]

    def compare(
        self, operation: dict[str, Any], value: int, result: Any, reference: tuple[str, list[bytes], Any]
    ) -> None:
        found = bits(result)
        # A value that is the same everywhere may be held once or for each device.
        count = max(len(found), len(reference[1]))
        if found * (count // len(found)) != reference[1] * (count // len(reference[1])):
            self.differences.append(f"value {value} of {operation['debug'] or operation['name']}")

    def perform(
        self, program: dict[str, Any], operation: dict[str, Any], values: dict[int, Any], expected: Any
    ) -> list[Any]:
        name = operation["name"]
        ins = [None if i is None else values[i] for i in operation["ins"]]
        specs = [program["values"][out]["desc"] for out in operation["outs"]]
        if name == "ttnn.constant":
            return [self.constant(expected[operation["outs"][0]][0][2], specs[0])]
        if name == "ttcore.load_cached":
            return list(self.run(operation["attributes"]["callee"], ins))
        function, row = ROWS[name]
        self.ops.add(name)
        arguments = self.arguments(function, row, operation, ins, specs)
        result = called(function)(**arguments)
        return [] if result is None else list(result) if isinstance(result, tuple) else [result]

    def arguments(
        self, function: Any, row: Any, operation: dict[str, Any], ins: list[Any], specs: list[dict[str, Any]]
    ) -> dict[str, Any]:
        given: dict[str, Any] = {}
        operands = iter(ins)
        for name, ods, kind in row.parameters:
            if kind == "tensors":
                given[name] = list(operands)
            elif kind == "tensor":
                given[name] = next(operands, None)
            elif kind == "attribute" and ods in operation["attributes"]:
                given[name] = value_of(operation["attributes"][ods])
            elif kind == "device":
                given[name] = self.device
            elif kind == "fixed":
                given[name] = operation["name"].endswith("_training")
            elif kind == "result" and specs:
                each = [described(name, spec) for spec in specs]
                given[name] = each[0] if len(each) == 1 else each
        return given

    def constant(self, recorded: Any, spec: dict[str, Any]) -> Any:
        tensor = rt.runtime.to_host(recorded, untilize=False)[0]
        return ttnn.to_device(tensor, self.device) if spec["buffer_type"] != "system_memory" else tensor


def called(function: Any) -> Any:
    module: Any = ttnn
    for part in function.name.split("."):
        module = getattr(module, part)
    return module


def described(name: str, spec: dict[str, Any]) -> Any:
    """Returns the parameters dtype, layout and memory_config of a result."""
    if name == "dtype":
        return DATA_TYPES[spec["data_type"]]
    if name == "layout":
        return LAYOUTS[spec["layout"]]
    if spec["buffer_type"] == "system_memory":
        return ttnn.MemoryConfig(buffer_type=ttnn.BufferType.SYSTEM_MEMORY)
    layout = ttnn.TensorMemoryLayout[spec["memory_layout"].upper()]
    shard = None
    if spec["shard_shape"]:
        rows, columns = spec["grid"]
        shard = ttnn.ShardSpec(ttnn.CoreGrid(y=rows, x=columns), spec["shard_shape"], ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(layout, ttnn.BufferType[spec["buffer_type"].upper()], shard)


def value_of(attribute: Any) -> Any:
    """An attribute of the JSON as a Python argument."""
    if isinstance(attribute, list):
        return [value_of(item) for item in attribute]
    if isinstance(attribute, str) and attribute in ("inf", "-inf", "nan"):
        return float(attribute)
    if not isinstance(attribute, dict):
        return attribute
    kind = attribute["type"]
    if kind in NATIVE_ENUMS:
        return NATIVE_ENUMS[kind](attribute["value"])
    if kind in ENUMS:
        return next(member for member in ENUMS[kind] if member.row and member.row[2] == attribute["value"])
    fields = {name: value_of(field) for name, field in attribute["fields"].items()}
    if kind == "ttnn.core_range_set":
        return ttnn.CoreRangeSet(fields.get("core_ranges", []))
    # These take their fields by place.
    return CORES[kind](*fields.values()) if kind in CORES else CONFIGS[kind](**fields)
