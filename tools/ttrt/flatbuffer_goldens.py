# SPDX-License-Identifier: Apache-2.0
"""Goldens of a flatbuffer's programs, from the MLIR that it carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import _ttmlir_runtime as rt
from builder.base.builder_utils import plain_location
from builder.execution.device_tensors import fetched
from builder.goldens.evaluation import Evaluation, Producer
from builder.goldens.module_goldens import Goldens
from builder.goldens.records import Kept, OpGoldens
from builder.ops.attributes import elements_attr
from builder.ops.structure import functions, symbol, walk
from golden import GoldenMapTensor
from golden.optional import torch
from profiler.recorder import callees_of
from ttmlir import ir

from .arrays import Shards, placed
from .errors import InputError
from .file import CALL, File, Program

CONSTANT = "ttnn.constant"


def called(file: File, program: Program) -> list[Program]:
    """Returns programs that a program calls, and those that they call."""
    found: dict[int, Program] = {}
    left = [program]
    while left:
        for i in [i for op in left.pop().operations for i in callees_of(op)]:
            if i not in found:
                found[i] = file.programs[i]
                left.append(file.programs[i])
    return list(found.values())


def constants_of(device: Any, file: File, program: Program, inputs: Sequence[Shards]) -> dict[str, list[torch.Tensor]]:
    """Returns the values of the constants of a program and of those it calls, by program and in order, as a run has
    them."""
    found: dict[str, list[torch.Tensor]] = {p.name: [] for p in (program, *called(file, program))}
    seen: set[tuple[str, int]] = set()  # a program may run several times

    def look(binary: Any, values: Any, op: Any) -> None:
        if rt.runtime.get_op_name(op) == CONSTANT:
            (result,) = rt.runtime.get_op_output_refs(op)
            name = binary.get_program_name(rt.runtime.get_program_index(values))
            if (name, result.value) in seen:
                return
            seen.add((name, result.value))
            found[name].append(fetched(rt.runtime.retrieve_tensor_from_pool(values, result, True))[0])

    if any(op["name"] == CONSTANT for p in (program, *called(file, program)) for op in p.operations):
        given = placed(device, file.binary, program.index, inputs)
        hooks = rt.runtime.DebugHooks.get(post_op=look)
        try:
            rt.runtime.submit(device, file.binary, program.index, given)
        finally:
            rt.runtime.unregister_hooks()
            del hooks
    return found


@dataclass(frozen=True)
class ProgramGoldens:
    """The expected values of a program. ops: by source number, where the MLIR and the program have the same ops.
    producers: consulted when output_0, or a result of op 12 or 12#1, is not its golden."""

    outputs: list[GoldenMapTensor]
    ops: Mapping[str, OpGoldens] = field(default_factory=dict)
    producers: Mapping[str, Producer] = field(default_factory=dict)


class Source:
    """The TTNN module of a flatbuffer."""

    def __init__(self, file: File):
        self.path = file.path
        if not file.mlir:
            raise InputError(f"{file.path}: carries no MLIR, so that there is nothing to compute goldens from")
        self.module = ir.Module.parse(file.mlir, ir.Context())

    def goldens(
        self,
        file: File,
        program: Program,
        inputs: Sequence[Shards],
        constants: Mapping[str, Sequence[torch.Tensor]],
        seed: int,
        inside: bool = True,
    ) -> ProgramGoldens:
        """Returns what the program computes by the golden of every op.

        Args:
            constants: see `constants_of`; the file's MLIR leaves their values out.
            inside: keep the goldens of all ops; else each is freed when no op needs it any more.
        Raises:
            TTBuilderGoldenException: an op has no golden; names it.
        """
        for function in functions(self.module.operation):
            if symbol(function) in constants:
                self._fill(function, constants[symbol(function)])
        values = [value.golden() for value in inputs]
        if program.micro_batches == 1:
            return self._once(file, program, values, seed, inside)
        parts = [
            self._once(file, program, self._micro_batch(program, values, turn), seed, inside)
            for turn in range(program.micro_batches)
        ]
        return together(program, parts)

    def _micro_batch(self, program: Program, values: Sequence[GoldenMapTensor], turn: int) -> list[GoldenMapTensor]:
        """Returns one part of the arguments that are cut: the module describes the work on one part."""
        function = next(f for f in functions(self.module.operation) if symbol(f) == program.name)
        arguments = function.regions[0].blocks[0].arguments
        found = []
        for value, argument in zip(values, arguments, strict=True):
            shape = ir.RankedTensorType(argument.type).shape
            cut = tuple(value.shape) != tuple(shape)
            parts = {d: t.narrow(0, turn * shape[0], shape[0]) if cut else t for d, t in value.shard_map.items()}
            found.append(GoldenMapTensor(parts, value.mesh_shape))
        return found

    def _once(
        self, file: File, program: Program, inputs: Sequence[GoldenMapTensor], seed: int, inside: bool
    ) -> ProgramGoldens:
        goldens = Goldens(program.mesh, seed)
        goldens.set_inputs(program.name, inputs)
        snapshot = goldens.snapshot(self.module)
        found = snapshot.programs.named(program.name)
        if found is None:
            raise InputError(f"{self.path}: the MLIR has no program {program.name!r}")
        if len(found.input_names) != len(program.inputs):
            raise InputError(
                f"{self.path}: @{program.name} has {len(found.input_names)} arguments in the MLIR, but the program "
                f"takes {len(program.inputs)} inputs"
            )
        evaluation, function = snapshot.evaluation, found.function
        keep: Kept = None if inside else frozenset()
        outputs = list(evaluation.outputs(function, keep))
        ops = by_source(file, program, evaluation)
        producers = dict(found.producers)
        for source, record in ops.items():
            for i in range(len(record.results)):
                name = source if len(record.results) == 1 else f"{source}#{i}"
                producers[name] = evaluation.producer_of(record, i)
        return ProgramGoldens(outputs, ops, producers)

    def _fill(self, function: Any, constants: Sequence[torch.Tensor]) -> None:
        ops = [op for op in walk(function) if op.name == CONSTANT]
        if not constants:  # a branch that was not taken
            return
        if len(ops) != len(constants):
            raise InputError(
                f"{self.path}: @{symbol(function)} has {len(ops)} constants in the MLIR, the program {len(constants)}"
            )
        for op, value in zip(ops, constants, strict=True):
            op.attributes["value"] = elements_attr(value, self.module.context)


def together(program: Program, parts: Sequence[ProgramGoldens]) -> ProgramGoldens:
    """Returns goldens of a batch, of those of its micro-batches. Inside, what is alike for all of these is not of the
    batch, or any of them will do."""

    def join(values: Sequence[GoldenMapTensor]) -> GoldenMapTensor:
        first = values[0]
        shards = {d: torch.cat([value.shard_map[d] for value in values]) for d in first.shard_map}
        return GoldenMapTensor(shards, first.mesh_shape)

    outputs = [
        values[0] if tuple(values[0].shape) == tuple(declared.shape) else join(values)
        for declared, *values in zip(program.outputs, *(part.outputs for part in parts), strict=True)
    ]
    ops = {}
    for source, record in parts[0].ops.items():
        results = zip(*(part.ops[source].results for part in parts), strict=True)
        ops[source] = replace(
            record,
            results=tuple(
                values[0] if values[0].shard_at(0).dim() == 0 or all(v == values[0] for v in values) else join(values)
                for values in results
            ),
        )
    return ProgramGoldens(outputs, ops, parts[0].producers)


def by_source(file: File, program: Program, evaluation: Evaluation) -> dict[str, OpGoldens]:
    """Returns goldens of the ops of a program and of those it calls.

    The MLIR in the file has no numbers, but the same ops in the same order.
    """
    by_name = {symbol(f): f for f in functions(evaluation.root)}
    found: dict[str, OpGoldens] = {}

    def add(current: Program, path: str) -> None:
        body = [view.operation for view in by_name[current.name].regions[0].blocks[0].operations]
        if current.stages:
            calls = [op for op in body if op.name == "func.call"]
            for op, stage in zip(calls, current.stages, strict=True):
                add(file.programs[stage], f"{path}{evaluation.numbers.get(op, '')}/")
            return
        ops = [op for op in body if op.name not in ("func.return", "ttnn.get_device")]
        if [op.name for op in ops] != [op["name"] for op in current.operations]:
            return
        for op, written in zip(ops, current.operations, strict=True):
            number = f"{path}{evaluation.numbers.get(op, '')}"
            if written["name"] == CALL:
                add(file.programs[written["attributes"]["callee"]], f"{number}/")
            record, source = evaluation.records.get(number), written["source"]
            if record is not None and source:
                found[source] = replace(record, location=plain_location(written["loc"]))

    add(program, "")
    return found
