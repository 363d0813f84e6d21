# SPDX-License-Identifier: Apache-2.0
"""Values of a module: of every op and every output, by goldens or on a simulated device."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import _ttmlir_runtime as rt
from builder.base.builder_utils import mesh_shape_of
from builder.base.errors import TTBuilderGoldenException
from builder.base.loading import meshes_of
from builder.execution.device_tensors import convert_input_layouts, create_tensor, fetched, opened
from builder.execution.op_watcher import OpWatcher, hooks
from builder.goldens.evaluation import Producer
from builder.goldens.module_goldens import Goldens, golden_of
from builder.ops.structure import location_text, public_functions, symbol, walk
from golden import GoldenMapTensor
from golden.optional import torch
from ttmlir import ir, passes, util

from .stages import clone

# Dialects that the conversion to TTIR takes.
PORTABLE = {"stablehlo", "chlo"}
EVALUATORS = ("auto", "goldens", "device")
Mesh = tuple[int, int]
Inputs = Mapping[str, Sequence[GoldenMapTensor]]


class NotEvaluated(Exception):
    """A module has no values that can be computed; the message says why."""


@dataclass(frozen=True)
class Value:
    """The value of an op. key: number of the op, after those of the calls that lead to it; "" without one."""

    key: str
    program: str
    op: str
    location: str
    results: tuple[GoldenMapTensor, ...]


@dataclass(frozen=True)
class Values:
    """by: "goldens" or "device". values: in the order of execution. outputs: by program, in the module's order.

    formats: number formats of the tensors, with the block formats that torch has no dtype for. producers: by program,
    key ("" for an output) and place: which is consulted when a value is not its golden.
    """

    by: str
    values: tuple[Value, ...]
    outputs: Mapping[str, tuple[GoldenMapTensor, ...]]
    formats: frozenset[str] = frozenset()
    producers: Mapping[tuple[str, str, int], Producer] = field(default_factory=dict)


def dialects(module: Any) -> set[str]:
    return {op.name.partition(".")[0] for op in walk(module.operation)}


def mesh_of(module: Any) -> Mesh:
    """Returns the mesh of its device, else of its meshes, else 1x1."""
    for op in walk(module.operation):
        if op.name == "ttcore.device" and (found := re.search(r"meshShape = (\d+)x(\d+)", str(op))):
            return int(found[1]), int(found[2])
    return mesh_shape_of(meshes_of(module)[1][0])


def evaluated(module: Any, inputs: Inputs, mesh: Mesh, by: str, seed: int) -> Values:
    """Runs a module, which is not changed. by: one of EVALUATORS; auto is the device for TTNN and goldens for the rest.

    Raises:
        NotEvaluated: an op without a golden, a module that cannot be lowered, or a device that refuses it.
    """
    found = dialects(module)
    if by == "auto":
        by = "device" if "ttnn" in found and not found & {"ttir", *PORTABLE} else "goldens"
    try:
        return by_goldens(module, inputs, mesh, seed) if by == "goldens" else on_device(module, inputs, mesh)
    except (TTBuilderGoldenException, ir.MLIRError, rt.Error, ValueError, TypeError) as error:
        raise NotEvaluated(" ".join(str(error).split())) from error


# ---------------------------------------------------------------------- goldens


def goldens_with(module: Any, inputs: Inputs, mesh: Mesh, seed: int) -> Any:
    """Returns goldens of a module for given inputs: where the module takes another type, the values are cast to it."""
    goldens = Goldens(mesh, seed)
    for function in public_functions(module.operation):
        name, arguments = symbol(function), function.regions[0].blocks[0].arguments
        given = inputs.get(name)
        if given is None or len(given) != len(arguments):
            count = "none" if given is None else str(len(given))
            raise NotEvaluated(f"@{name} takes {len(arguments)} inputs, {count} are known")
        typed = []
        for i, (value, argument) in enumerate(zip(given, arguments, strict=True)):
            try:
                typed.append(golden_of(value, argument.type, mesh))
            except (TypeError, ValueError) as error:
                raise NotEvaluated(f"argument {i} of @{name}: {error}") from error
        goldens.set_inputs(name, typed)
    return goldens.snapshot(module)


def by_goldens(module: Any, inputs: Inputs, mesh: Mesh, seed: int) -> Values:
    snapshot = goldens_with(module, inputs, mesh, seed)
    evaluation = snapshot.evaluation
    paths = {str(n): "" if op.name == "ttcore.load_cached" else util.source_path(op.location) or str(n)
             for op, n in evaluation.numbers.items()}  # fmt: skip
    values, outputs = [], {}
    producers: dict[tuple[str, str, int], Producer] = {}
    for program in snapshot.programs.values():
        before = set(evaluation.records)
        outputs[program.name] = tuple(evaluation.outputs(program.function, keep=None))
        for number, record in evaluation.records.items():
            if number in before:
                continue
            calls = number.split("/")[:-1]
            # An op that a pass made for itself has no number of its own.
            path = [paths[call] for call in calls] + [util.source_path(record.operation.location)]
            key = "/".join(p for p in path if p) if path[-1] else ""
            values.append(Value(key, program.name, record.op, location_text(record.operation), record.results))
            for i in range(len(record.results) if key else 0):
                producers[program.name, key, i] = evaluation.producer_of(record, i)
        for output, producer in program.producers.items():
            producers[program.name, "", int(output.removeprefix("output_"))] = producer
    types = {str(result.type) for op in walk(module.operation) for result in op.results}
    return Values("goldens", tuple(values), outputs, formats_of(outputs, values, " ".join(types)), producers)


def formats_of(outputs: Mapping[str, Sequence[GoldenMapTensor]], values: Sequence[Value], text: str) -> frozenset[str]:
    """Returns names of torch dtypes, and bfp8, bfp4 or bfp2 where `text` names such a format."""
    tensors = [t for results in outputs.values() for t in results] + [t for v in values for t in v.results]
    blocks = {f"bfp{bits}" for bits in re.findall(r"bfp_b?f([842])", text)}
    return frozenset({str(t.dtype).removeprefix("torch.") for t in tensors} | blocks)


def known_inputs(module: Any, mesh: Mesh, seed: int, given: Inputs | None = None) -> Inputs:
    """Returns inputs for all programs of a module: those given, else random ones that its ops accept."""
    goldens = Goldens(mesh, seed)
    for name, values in (given or {}).items():
        goldens.set_inputs(name, list(values))
    return {program.name: program.inputs for program in goldens.snapshot(module).programs.values()}


# ---------------------------------------------------------------------- device


def lowered(module: Any, mesh: Mesh) -> Any:
    """Returns a TTNN module for the device: the rest of the way from wherever the module stands."""
    copy, found = clone(module), dialects(module)
    shape = {"mesh-shape": mesh}
    if found & PORTABLE:
        passes.stablehlo_to_ttir_pipeline(copy)
    if found & {"ttir", *PORTABLE}:
        passes.ttir_to_ttnn_backend_pipeline(copy, shape)
    else:
        passes.run_pass(copy, "ttnn-common-to-runtime-pipeline", shape)
    return copy


def on_device(module: Any, inputs: Inputs, mesh: Mesh, exact: bool = False) -> Values:
    data = passes.ttnn_to_flatbuffer_bin(lowered(module, mesh))
    return run_binary(rt.binary.load_binary_from_bytes(data, allow_native=True), inputs, exact)  # compiled here


def run_binary(binary: Any, inputs: Inputs, exact: bool = False) -> Values:
    """Runs the public programs of a flatbuffer and keep the value of every op of the source. exact: with the chip's
    arithmetic."""
    values: list[Value] = []
    outputs = {}
    with opened(None, binary, exact) as device:
        for index in range(binary.get_num_programs()):
            if binary.is_program_private(index):
                continue
            name = binary.get_program_name(index)
            if name not in inputs:
                raise NotEvaluated(f"no inputs are known for @{name}")
            mesh = tuple(binary.get_program_mesh_shape(index))
            host = [create_tensor(v.golden_map_tensor_as_torch_tensors(), v.mesh_shape) for v in inputs[name]]
            placed = convert_input_layouts(device, host, fbb=binary, program_index=index)
            watcher = OpWatcher(None, True, frozenset())
            with hooks(watcher):
                results = rt.runtime.submit(device, binary, index, placed)
            outputs[name] = tuple(whole(fetched(tensor), mesh) for tensor in results)
            for source, found in watcher.values.items():
                op, location = watcher.ops[source]
                values.append(Value(source, name, op, location, tuple(whole(shards, mesh) for shards in found)))
    return Values("device", tuple(values), outputs, formats_of(outputs, values, binary.as_json()))


def whole(shards: Sequence[torch.Tensor], mesh: tuple[int, ...]) -> GoldenMapTensor:
    return GoldenMapTensor(dict(enumerate(shards)), mesh)
