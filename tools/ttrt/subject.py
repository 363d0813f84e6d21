# SPDX-License-Identifier: Apache-2.0
"""One side of a comparison: a module at any level, or a flatbuffer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import _ttmlir_runtime as rt
from builder.ops.structure import number_ops, public_functions, symbol
from ttmlir import ir, util

from .divergence import Ops, correspondence, ops_of
from .errors import InputError
from .file import File, Program, Tensor, check_name
from .file import load as load_flatbuffer
from .inputs import given, random_inputs
from .stages import numbered
from .values import Inputs, Mesh, NotEvaluated, Values, evaluated, known_inputs, mesh_of, run_binary


@dataclass(frozen=True)
class Subject:
    """module: with numbers; None for a flatbuffer, which is in `file`. had_numbers: the text came with them."""

    path: str
    context: ir.Context
    mesh: Mesh
    module: Any = None
    had_numbers: bool = True
    file: File | None = None

    @classmethod
    def load(cls, path: str, mesh: Mesh | None = None, context: ir.Context | None = None) -> Subject:
        """Reads a .ttnn, .onnx or .mlir file. mesh: that of the module where None.

        Raises:
            OSError, _ttmlir_runtime.Error: it cannot be read, or is no flatbuffer.
            InputError: the text is no valid module, or the flatbuffer has no ops.
        """
        context = context or ir.Context()
        if path.endswith((".ttnn", ".ttm", ".onnx")):
            file = load_flatbuffer(path)
            if file.is_metal:
                raise InputError(
                    f"{path}: is a TTMetal program, whose commands have no values to compare; run it instead"
                )
            largest = max((p.mesh for p in file.programs), key=lambda m: m[0] * m[1], default=(1, 1))
            return cls(path, context, largest, file=file)
        check_name(path)
        with Path(path).open("rb"):  # says why not, in the system's words
            pass
        try:
            module = ir.Module.parseFile(path, context)
        except ir.MLIRError as error:
            raise InputError(f"{path}: not a valid module: {' '.join(str(error).split())}") from error
        return cls.of(module, path, mesh)

    @classmethod
    def of(cls, module: ir.Module, path: str, mesh: Mesh | None = None) -> Subject:
        """Returns an existing module; it is not changed."""
        if not public_functions(module.operation):
            raise InputError(f"{path}: has no public function, and so nothing to compute")
        had = any(util.source_path(op.location) for op in number_ops(module.operation))
        return cls(path, module.context, mesh or mesh_of(module), numbered(module), had)

    def programs(self) -> list[Program]:
        """Returns public programs, with their inputs."""
        if self.file is not None:
            return self.file.chosen(None)
        return [program_of(f, i, self.mesh) for i, f in enumerate(public_functions(self.module.operation))]

    def inputs(self, seed: int, path: str | None) -> Inputs:
        """Reads a file of tensors, or draws random ones that the ops accept."""
        programs = self.programs()
        if path is None and self.file is not None:
            return {p.name: [v.golden() for v in random_inputs(self.file, p, seed)] for p in programs}
        if path is None:
            return known_inputs(self.module, self.mesh, seed)
        if len(programs) != 1:
            raise InputError(f"--inputs are for one program; {self.path} has {', '.join(p.name for p in programs)}")
        return {programs[0].name: [v.golden() for v in given(path, programs[0])]}

    def adopted(self, inputs: Inputs) -> Inputs:
        """Returns inputs of another module under the names of this one's programs: the same names, or others in that
        order."""
        names = [p.name for p in self.programs()]
        if set(names) <= set(inputs):
            return inputs
        if len(names) != len(inputs):
            ours, theirs = ", ".join(f"@{n}" for n in names), ", ".join(f"@{n}" for n in inputs)
            raise InputError(f"{self.path}: has the programs {ours}; known inputs are of {theirs}")
        return dict(zip(names, inputs.values(), strict=True))

    def evaluated(self, inputs: Inputs, by: str, seed: int) -> Values:
        """
        Raises:
            InputError: nothing can compute it; says why.
        """
        try:
            if self.file is not None:
                if by == "goldens":
                    raise NotEvaluated("a flatbuffer runs on the device")
                return run_binary(self.file.binary, inputs)
            return evaluated(self.module, inputs, self.mesh, by, seed)
        except (NotEvaluated, rt.Error) as error:
            raise InputError(f"{self.path}: {error}") from error

    def ops(self) -> Ops:
        return ops_of(self.module, self.had_numbers, self.path)

    def correspondence(self, first: Subject) -> tuple[Mapping[str, str], str]:
        """Returns number of an op of this -> number of the same op of `first`, and by what they were recognised."""
        if self.file is not None or first.file is not None:
            sources = {op["source"] for s in (self, first) if s.file for p in s.file.programs for op in p.operations}
            return {part: part for source in sources for part in source.split("/")}, "number"
        return correspondence(first.ops(), self.ops())


def program_of(function: Any, index: int, mesh: tuple[int, int]) -> Program:
    """Returns a function as `given` knows programs."""
    arguments: Sequence[Any] = function.regions[0].blocks[0].arguments
    inputs = []
    for argument in arguments:
        tensor = ir.RankedTensorType(argument.type)
        desc = {"shape": list(tensor.shape), "data_type": str(tensor.element_type), "distributed": False}
        inputs.append(Tensor(name_of(argument), desc))
    return Program(index, symbol(function), False, mesh, tuple(inputs), (), ())


def name_of(argument: Any) -> str:
    """Returns the name of a name location."""
    return util.get_loc_name(argument.location) or ""
