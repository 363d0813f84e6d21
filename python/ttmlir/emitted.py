# SPDX-License-Identifier: Apache-2.0
"""Compiled modules as programs to read and change: C++ and Python."""

from __future__ import annotations

from pathlib import Path

from . import ir, passes
from .files import write_whole
from .options import CompileOptions, Given

# Suffix -> (pipeline from TTIR, text of its module).
LANGUAGES = {
    ".cpp": (passes.ttir_to_emitc_pipeline, passes.mlir_to_cpp),
    ".py": (passes.ttir_to_emitpy_pipeline, passes.mlir_to_python),
}


def write_program(ttir: ir.Module, path: Path, options: Given = None) -> list[Path]:
    """Writes the program that a TTIR module makes, which is lowered by this, and its constants next to it.

    Args:
        path: its suffix says in which language.
        options: of the pipeline to TTNN.
    Returns:
        The program, and the folder of its constants where there are any.
    """
    lower, text = LANGUAGES[path.suffix]
    tensors = path.with_name(path.name + ".tensors")
    lower(ttir, {"tensor-directory": tensors.name, **CompileOptions(options)})
    program = text(ttir)
    passes.write_tensor_files(ttir, tensors)
    write_whole(path, program)
    return [path, *([tensors] if tensors.is_dir() else [])]


def write_texts(path: Path, ttir: str, ttnn: str) -> list[Path]:
    """Writes the text of a compiled module before and after the pipeline to TTNN.

    Returns:
        `path`, and a `.ttnn.mlir` next to it.
    """
    lowered = path.with_suffix(".ttnn.mlir")
    write_whole(path, ttir)
    write_whole(lowered, ttnn)
    return [path, lowered]


def check_suffix(path: Path, known: tuple[str, ...]) -> None:
    """
    Raises:
        ValueError: the suffix of `path`, which says what to write, is none of `known`.
    """
    if path.suffix not in known:
        raise ValueError(f"save to {path.name}: suffix {path.suffix!r}; known: {', '.join(known)}")
