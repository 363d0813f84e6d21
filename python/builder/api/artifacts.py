# SPDX-License-Identifier: Apache-2.0
"""What a module is compiled to: a flatbuffer, or a C++ or Python program with its constants next to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _ttmlir_runtime import binary
from ttmlir import ir, passes
from ttmlir.files import write_whole

from builder.base.errors import TTBuilderCompileException, diagnostics_of, did_you_mean

TENSORS = "test_ttnn.mlir.tensors"  # constants of a program, next to it
TENSOR_SUFFIX = ".tensorbin"
MAIN = "main"  # the file of a program, when it has several
# Options of the pipelines of this module; others are of those before them.
EMIT_OPTIONS = (
    "load-input-tensors-from-disk",
    "split-files",
    "target-dylib",
    "target-module",
    "tensor-load-directory",
    "tensor-load-file-prefix",
    "try-recover-structure",
    "tuplify-input-if-empty",
)


@dataclass(frozen=True)
class Language:
    """A language that TTNN programs are emitted in. pipeline changes a TTNN module, print_ gives its text."""

    pipeline: Callable[[Any, str], None]
    print_: Callable[[Any], dict[str, str]]
    library: str  # the pipeline's option for a program without main
    suffix: str


def cpp_text(module: Any) -> dict[str, str]:
    return {MAIN: passes.mlir_to_cpp(module)}


def python_texts(module: Any) -> dict[str, str]:
    return {name: passes.mlir_to_python(module, name) for name in passes.python_files(module)} or {
        MAIN: passes.mlir_to_python(module)
    }


def ttnn_bytes(module: Any) -> bytes:
    """Returns the flatbuffer of a TTNN module. What it has of machine code may run in this process, which compiled it."""
    data = passes.ttnn_to_flatbuffer_bin(module)
    if any(op.operation.name == "ttcore.cpu_module" for op in module.body.operations):
        binary.load_binary_from_bytes(data, allow_native=True)
    return data


def ttmetal_bytes(module: Any) -> bytes:
    """Returns the flatbuffer of a TTMetal module. Its kernels may run in this process, which compiled it."""
    data = passes.ttmetal_to_flatbuffer_bin(module)
    binary.load_binary_from_bytes(data, allow_native=True)
    return data


@dataclass(frozen=True)
class Flatbuffer:
    """A format of flatbuffers. pipeline changes a TTIR module to one of `dialect`, write gives that one's bytes."""

    pipeline: Callable[[Any, str], None]
    write: Callable[[Any], bytes]
    suffix: str
    dialect: str


FLATBUFFERS = {
    "ttnn": Flatbuffer(passes.ttir_to_ttnn_backend_pipeline, ttnn_bytes, ".ttnn", "ttnn"),
    "ttmetal": Flatbuffer(passes.ttir_to_ttmetal_pipeline, ttmetal_bytes, ".ttm", "ttmetal"),
}
LANGUAGES = {
    "emitc": Language(passes.ttnn_common_to_emitc_pipeline, cpp_text, "target-dylib", ".cpp"),
    "emitpy": Language(passes.ttnn_common_to_emitpy_pipeline, python_texts, "target-module", ".py"),
}
SUFFIXES = {n: t.suffix for n, t in FLATBUFFERS.items()} | {n: t.suffix for n, t in LANGUAGES.items()}
# Named in the guide; its back end is not there.
OTHER_TARGETS = ("ttnn-mode",)


def check_target(target: str) -> None:
    if target in SUFFIXES:
        return
    if target in OTHER_TARGETS:
        raise TTBuilderCompileException(
            f"target {target!r} is not part of this version; there is {', '.join(SUFFIXES)}"
        )
    raise TTBuilderCompileException(f"no target {target!r}{did_you_mean(target, [*SUFFIXES, *OTHER_TARGETS])}")


def lowering_of(target: str) -> Flatbuffer:
    """Returns what a TTIR module is lowered to for a target; emitted programs are made of TTNN."""
    return FLATBUFFERS.get(target, FLATBUFFERS["ttnn"])


def is_emit_option(option: str) -> bool:
    """Returns whether "name=value" is an option of emitting."""
    return option.partition("=")[0].strip() in EMIT_OPTIONS


@dataclass(frozen=True)
class Artifact:
    """A compiled module: the bytes of a flatbuffer, or the text of a program, whose constants its module has, and the
    texts of files that it imports, by name."""

    data: bytes | str
    target: str
    module: Any = None
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"test_{lowering_of(self.target).dialect}.mlir{SUFFIXES[self.target]}"

    def write(self, folder: str | os.PathLike[str]) -> str:
        """Writes the file, and constants into a folder next to it; returns the file's path.

        Raises:
            TTBuilderCompileException: a folder that cannot be made or written to; names it.
        """
        folder = Path(folder)
        path = folder / self.name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if self.module is not None:
                self.write_tensors(folder / TENSORS)
            for name, text in self.files.items():
                write_whole(folder / f"{name}{SUFFIXES[self.target]}", text)
            write_whole(path, self.data)
        except OSError as error:
            raise TTBuilderCompileException(f"cannot write {path}: {error.strerror or error}") from error
        except ir.MLIRError as error:
            raise TTBuilderCompileException(f"cannot write the constants of {path}: {error}") from error
        return str(path)

    def write_tensors(self, folder: Path) -> None:
        """Writes the constants of this program; what an earlier one left in the folder goes."""
        files = self.module.attributes.get("ttnn.tensor_files", ())
        needed = {entry.name for entry in files}
        passes.write_tensor_files(self.module, folder)
        for old in folder.glob(f"*{TENSOR_SUFFIX}"):
            if old.name not in needed:
                old.unlink()
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def emitted(module: Any, target: str, options: Sequence[str] = ()) -> Artifact:
    """Returns the artifact that a target makes of a module that was lowered for it, which is not changed.

    Args:
        options: of the target's pipeline, "name=value"; see EMIT_OPTIONS.
    Raises:
        TTBuilderCompileException: an op that the target cannot carry; has the diagnostics.
    """
    try:
        if target not in LANGUAGES:
            if options:
                raise ValueError(f"{', '.join(options)}: for a target that is emitted, {' or '.join(LANGUAGES)}")
            return Artifact(FLATBUFFERS[target].write(module), target)
        language = LANGUAGES[target]
        program = module.operation.clone(ip=False)
        own = [f"tensor-directory={TENSORS}", *([f"{language.library}=true"] if target == "emitc" else [])]
        language.pipeline(program, " ".join([*own, *options]))
        texts = language.print_(program)
        return Artifact(texts.pop(MAIN), target, program, texts)
    except (ir.MLIRError, ValueError, RuntimeError) as error:
        diagnostics = diagnostics_of(error)
        what = "writing the flatbuffer" if target not in LANGUAGES else f"emitting {SUFFIXES[target][1:]}"
        raise TTBuilderCompileException(
            f"{what} failed" + ("" if diagnostics else f": {error}"), diagnostics
        ) from error
