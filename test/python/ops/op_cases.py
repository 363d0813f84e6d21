# SPDX-License-Identifier: Apache-2.0
"""From rows of the op table to modules, compiled programs and their results on the simulated chip."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

import _ttmlir_runtime as rt
import torch
from builder.api import lowering
from builder.base.builder_apis import build_module
from builder.execution.device_tensors import convert_input_layouts, create_tensor, fetched
from builder.execution.verdicts import Verdict, compare_shards
from golden import Comparison, GoldenMapTensor
from op_gaps import NO_HOST
from op_rows import Case, Row
from op_table import NO_ROW, TTIR
from op_table_stablehlo import NO_ROW as NO_STABLEHLO_ROW
from op_table_stablehlo import STABLEHLO
from op_table_ttnn import TTNN
from ttmlir import ir
from ttmlir.passes import stablehlo_to_ttir_pipeline, ttir_to_ttnn_backend_pipeline, ttnn_to_flatbuffer_bin

TABLE: dict[str, Row] = TTIR | STABLEHLO | TTNN
WITHOUT_ROW: dict[str, str] = NO_ROW | NO_STABLEHLO_ROW

DTYPES = {
    "f32": torch.float32,
    "bf16": torch.bfloat16,
    "i32": torch.int32,
    "u32": torch.uint32,
    "u16": torch.uint16,
    "u8": torch.uint8,
    "i1": torch.bool,
}


def runs(table: dict[str, Row]) -> list[tuple[str, str]]:
    """(op, dtype) of every row."""
    return [(name, dtype) for name, made in sorted(table.items()) for dtype in made.dtypes]


def operand_types(made: Row, case: Case, dtype: str) -> tuple[list[tuple[int, ...]], list[torch.dtype]]:
    """Shapes and dtypes of all arguments of a case, variadic ones one by one."""
    shapes, dtypes = [], []
    for key, operand in case.items():
        for shape in operand if isinstance(operand, list) else [operand]:
            if isinstance(shape, tuple):
                shapes.append(shape)
                dtypes.append(DTYPES[made.fixed.get(key, dtype)])
    return shapes, dtypes


def attribute_values(case: Case, dtype: str) -> dict[str, Any]:
    """Attributes of a case; "dtype" stands for the dtype of the run, "sample" for a tensor of it."""
    fixed = {"dtype": DTYPES[dtype], "sample": sample(DTYPES[dtype])}
    return {
        name: fixed[value] if isinstance(value, str) and value in fixed else value
        for name, value in case.attributes.items()
    }


@functools.cache
def sample(dtype: torch.dtype) -> torch.Tensor:
    return torch.linspace(-8, 8, 33 * 5).reshape(33, 5).to(dtype)


def called(builder: Any, name: str, made: Row, case: Case, arguments: list[Any], dtype: str) -> list[Any]:
    """Results of an op's builder method. On a mesh, operands are split before and results are joined after."""
    arguments = list(arguments)
    splits = {case.items()[0][0]: made.split, **made.splits} if made.mesh != (1, 1) else {}
    values: list[tuple[str | int, Any]] = []
    for key, operand in case.items():
        if isinstance(operand, list):
            values.append((key, [arguments.pop(0) for _ in operand]))
        elif isinstance(operand, float):
            values.append((key, builder.constant(torch.tensor(operand, dtype=DTYPES[dtype]))))
        elif operand is None:
            values.append((key, None))
        elif key in splits:
            whole = arguments.pop(0)
            values.append((key, mesh_shard(builder, whole, "full_to_shard", made.mesh, splits[key])))
        else:
            values.append((key, arguments.pop(0)))
    attributes = attribute_values(case, dtype)
    if made.result:
        attributes["output_type"] = DTYPES[made.result]
    positional = [value for key, value in values if isinstance(key, int)]
    by_name = {key: value for key, value in values if isinstance(key, str)}
    results = getattr(builder, method_name(name))(*positional, **by_name, **attributes)
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    if made.mesh != (1, 1):
        results = [mesh_shard(builder, r, "shard_to_full", made.mesh, made.join) for r in results]
    return results


def method_name(name: str) -> str:
    bare = name.partition(".")[2]
    return f"{bare}_" if bare in ("not", "and", "or") else bare


def mesh_shard(builder: Any, value: Any, direction: str, mesh: tuple[int, int], dims: tuple[int, int]) -> Any:
    counts = [1] * len(builder.get_shape(value))
    for axis, dim in enumerate(dims):
        if dim >= 0:
            counts[dim] *= mesh[axis]
    return builder.mesh_shard(
        value, shard_type="devices", shard_direction=direction, shard_shape=counts, shard_dims=list(dims)
    )


context = functools.cache(ir.Context)


def build_cases(name: str, made: Row, cases: list[Case], dtype: str) -> tuple[Any, Any]:
    """(module, builder) with a function for each case."""

    def module(builder: Any) -> None:
        for index, case in enumerate(cases):
            shapes, dtypes = operand_types(made, case, dtype)

            def function(*arguments: Any, case: Case = case) -> Any:
                results = called(builder, name, made, case, list(arguments[:-1]), dtype)
                return results[0] if len(results) == 1 else tuple(results)

            function.__name__ = f"case{index}"
            builder.func(shapes, dtypes)(function)

    rows, columns = made.mesh
    # One context for all modules: making one takes as long as compiling a row.
    with mock.patch.object(lowering, "Context", context):
        return build_module(module, name.partition(".")[0], mesh_dict={"x": rows, "y": columns})


@functools.lru_cache(maxsize=4)
def built(name: str, dtype: str) -> tuple[Any, Any]:
    """(module, builder) with all cases of a row. The module must not be changed."""
    made = TABLE[name]
    return build_cases(name, made, list(made.cases), dtype)


def clone(module: Any) -> Any:
    return ir.Module.parse(module.operation.get_asm(enable_debug_info=True), module.context)


def lowered(module: Any, mesh: tuple[int, int], options: str = "") -> Any:
    """The TTNN module of a module of any dialect, as the pipelines make it."""
    result = clone(module)
    if re.search(r"\b(stablehlo|chlo)\.", str(result)):
        stablehlo_to_ttir_pipeline(result)
    ttir_to_ttnn_backend_pipeline(result, f"mesh-shape={mesh[0]},{mesh[1]} {options}".strip())
    return result


@functools.cache
def device(mesh: tuple[int, int] = (1, 1)) -> Any:
    """A mesh of simulated chips that stays open for all tests of this process."""
    options = rt.runtime.MeshDeviceOptions()
    options.mesh_shape = mesh
    return rt.runtime.open_mesh_device(options)


@dataclass(frozen=True)
class Outcome:
    """One result of one case on one device compared with its golden."""

    case: int
    output: int
    golden: torch.Tensor
    found: torch.Tensor
    comparison: Comparison


def execute(
    binary: Any, index: int, inputs: Sequence[GoldenMapTensor], mesh: tuple[int, int]
) -> list[list[torch.Tensor]]:
    """Run a program on the chip: the values of each output by device."""
    host = [create_tensor(value.golden_map_tensor_as_torch_tensors(), mesh) for value in inputs]
    placed = convert_input_layouts(device(mesh), host, fbb=binary, program_index=index)
    outputs = rt.runtime.submit(device(mesh), binary, index, placed)
    return [fetched(tensor) for tensor in outputs]


@dataclass(frozen=True)
class Compiled:
    """A row's cases as one flatbuffer, with inputs and goldens by case."""

    made: Row
    dtype: str
    binary: Any
    goldens: dict[int, Any]


def compiled(name: str, dtype: str, options: str = "") -> Compiled:
    made = TABLE[name]
    module, builder = built(name, dtype)
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, made.mesh, options)))
    return Compiled(made, dtype, binary, dict(builder.golden_map[0].items()))


def compared(row: Compiled) -> Iterator[Outcome]:
    """Run a row's cases on the chip, compare each result with its golden."""
    atol, rtol = row.made.tolerance.get(row.dtype, (None, None))
    verdict = Verdict(atol=atol, rtol=rtol, check_atol=True, check_rtol=True)
    for index, goldens in row.goldens.items():
        found = execute(row.binary, index, goldens.inputs, row.made.mesh)
        expected = goldens.outputs
        assert len(found) == len(expected), f"case {index}: {len(found)} outputs, expected {len(expected)}"
        for output, (golden, shards) in enumerate(zip(expected, found, strict=True)):
            for where, value, comparison in compare_shards(golden, shards, verdict, True):
                yield Outcome(index, output, golden.shard_at(where), value, comparison)


def outcomes(name: str, dtype: str, options: str = "") -> Iterator[Outcome]:
    """Compile a row's cases, run them on the chip, compare each result with its golden."""
    return compared(compiled(name, dtype, options))


# ---------------------------------------------------------------------- the host

# The ops that have code for the host.
HOST = frozenset(name for name in TTIR if name.startswith("ttir.")) - NO_HOST.keys()


def tagged(module: ir.Module, chosen: Callable[[ir.Operation], bool]) -> ir.Module:
    """The module with the chosen ops marked for the host."""
    made = clone(module)

    def mark(op: ir.Operation) -> ir.WalkResult:
        if chosen(op):
            op.attributes["ttir.should_hoist"] = ir.UnitAttr.get(op.context)
        return ir.WalkResult.ADVANCE

    made.operation.walk(mark)
    return made
