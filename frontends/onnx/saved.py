# SPDX-License-Identifier: Apache-2.0
"""Compiled ONNX models as files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from ttmlir import ir, passes, safetensors
from ttmlir.arrays import held_type
from ttmlir.chips import lower
from ttmlir.emitted import LANGUAGES, check_suffix, write_program, write_texts
from ttmlir.files import write_whole

from .program import Fixed, Open, Program
from .values import Array

if TYPE_CHECKING:
    from .compiled import OnnxModel

# Where a saved program has its weights.
SEPARATE, INSIDE = "beside", "inside"


def save(model: OnnxModel, path: str | os.PathLike[str], weights: str = SEPARATE) -> list[Path]:
    """Writes the program; the suffix of `path` says as what.

    Args:
        path: .ttnn (flatbuffer), .mlir (TTIR, with TTNN in a `.ttnn.mlir` and StableHLO in a `.stablehlo.mlir` next to
            it), .cpp or .py (a program that calls the library), .safetensors (the weights alone).
        weights: "beside", as inputs whose values are in a `.safetensors` of the same name (`ttrt run --weights`), or
            "inside", as constants.
    Returns:
        The files that were written.
    Raises:
        ValueError: another suffix, or another place for the weights.
        OpenSizeError: sizes that cannot stay open in a file.
    """
    target = Path(path)
    check_suffix(target, (".ttnn", ".mlir", ".safetensors", *LANGUAGES))
    if weights not in (SEPARATE, INSIDE):
        raise ValueError(f"save with weights={weights!r}; expected {SEPARATE!r} or {INSIDE!r}")
    program = model.needed()
    inside = weights == INSIDE
    if target.suffix in LANGUAGES:
        with ir.Context():
            module = model.module(program, inside)
            passes.stablehlo_to_ttir_pipeline(module)
            return write_program(module, target, model.options)
    if target.suffix == ".mlir":
        stablehlo, ttir, ttnn = model.texts(inside)
        source = target.with_suffix(".stablehlo.mlir")
        write_whole(source, stablehlo)
        return [*write_texts(target, ttir, ttnn), source]
    written = []
    if target.suffix == ".ttnn":
        write_whole(target, with_weights(model, program) if inside else program.flatbuffer)
        written.append(target)
    if program.parameters and (not inside or target.suffix == ".safetensors"):
        values = target.with_suffix(".safetensors")
        safetensors.write(values, held(program.parameters))
        written.append(values)
    return written


def save_module(model: OnnxModel, path: Path | None, level: str, weights: str) -> None:
    """Writes the module of a model with fixed sizes, with its weights in a `.safetensors` next to it, or prints it.

    level: "stablehlo", "ttir" or "ttnn".
    """
    inside = weights == INSIDE
    program = model.needed()
    with ir.Context():
        module = model.module(program, inside)
        if level != "stablehlo":
            passes.stablehlo_to_ttir_pipeline(module)
        if level == "ttnn":
            lower(module, model.options, is_said=True)
        text = module.operation.get_asm(enable_debug_info=True)
    if path is None:
        print(text)
        return
    write_whole(path, text)
    if program.parameters and not inside:
        safetensors.write(path.with_suffix(".safetensors"), held(program.parameters))


def with_weights(model: OnnxModel, program: Program) -> bytes:
    """Returns the flatbuffer of a program whose weights are constants."""
    if isinstance(program, Open):
        return model.with_weights(program).flatbuffer
    assert isinstance(program, Fixed)
    with ir.Context():
        module = program.at(inside=True)
        passes.stablehlo_to_ttir_pipeline(module)
        lower(module, model.options, is_said=True)
        data: bytes = passes.ttnn_to_flatbuffer_bin(module)
        return data


def held(parameters: Sequence[tuple[str, Array]]) -> dict[str, Array]:
    """Returns weights by name, in types that the runtime and the file have."""
    return {name: np.asarray(array).astype(held_type(array.dtype), copy=False) for name, array in parameters}
