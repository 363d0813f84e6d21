"""Goldens of a flatbuffer's programs, from the MLIR that it carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import _ttmlir_runtime as rt
import torch
from builder.base.attributes import elements_attr
from builder.base.builder_runtime import fetched
from builder.base.goldens import Goldens
from builder.base.input_range_constraints import infer_arg_ranges
from builder.base.structure import public_functions, symbol, walk
from golden import GoldenMapTensor
from ttmlir import ir

from .errors import InputError
from .file import File, Program

CONSTANT = "ttnn.constant"


def constants_of(device: Any, file: File, program: Program, placed: Sequence[Any]) -> list[torch.Tensor]:
    """The values of a program's constants, in order, as one run of it on the device holds them."""
    found: list[torch.Tensor] = []

    def look(binary: Any, values: Any, op: Any) -> None:
        if rt.runtime.get_op_name(op) == CONSTANT:
            (result,) = rt.runtime.get_op_output_refs(op)
            found.append(fetched(rt.runtime.retrieve_tensor_from_pool(values, result, True))[0])

    if any(op["name"] == CONSTANT for op in program.operations):
        hooks = rt.runtime.DebugHooks.get(post_op=look)
        try:
            rt.runtime.submit(device, file.binary, program.index, placed)
        finally:
            rt.runtime.unregister_hooks()
            del hooks
    return found


class Source:
    """The TTNN module of a flatbuffer."""

    def __init__(self, file: File):
        self.path = file.path
        if not file.mlir:
            raise InputError(f"{file.path}: carries no MLIR, so that there is nothing to compute goldens from")
        self.module = ir.Module.parse(file.mlir, ir.Context())

    def _function(self, program: Program) -> Any:
        for function in public_functions(self.module.operation):
            if symbol(function) == program.name:
                arguments = function.regions[0].blocks[0].arguments
                if len(arguments) != len(program.inputs):
                    raise InputError(
                        f"{self.path}: @{program.name} has {len(arguments)} arguments in the MLIR, but the program "
                        f"takes {len(program.inputs)} inputs"
                    )
                return function
        raise InputError(f"{self.path}: the MLIR has no public function @{program.name}")

    def ranges(self, program: Program) -> Mapping[int, Any]:
        """The values that a program's ops accept, by input."""
        return infer_arg_ranges(self._function(program))

    def outputs(
        self, program: Program, inputs: Sequence[GoldenMapTensor], constants: Sequence[torch.Tensor], seed: int
    ) -> list[GoldenMapTensor]:
        """What the program computes by the golden of every op.

        Args:
            constants: values of the program's constants in order; the file's MLIR leaves them out.
        Raises:
            TTBuilderGoldenException: an op has no golden; names it.
        """
        ops = [op for op in walk(self._function(program)) if op.name == CONSTANT]
        if len(ops) != len(constants):
            raise InputError(
                f"{self.path}: @{program.name} has {len(ops)} constants in the MLIR, the program {len(constants)}"
            )
        for op, value in zip(ops, constants, strict=True):
            op.attributes["value"] = elements_attr(value, self.module.context)
        goldens = Goldens(program.mesh, seed)
        goldens.set_inputs(program.name, list(inputs))
        found = goldens.snapshot(self.module).programs.named(program.name)
        if found is None:
            raise InputError(f"{self.path}: the MLIR has no program {program.name!r}")
        return list(found.outputs)
