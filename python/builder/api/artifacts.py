# SPDX-License-Identifier: Apache-2.0
"""Outputs of compilation: a flatbuffer, or a C++ or Python program with its constants next to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _ttmlir_runtime import binary
from ttmlir import ir, passes
from ttmlir.files import write_whole
from ttmlir.options import CompileOptions, Given

from builder.base.errors import TTBuilderCompileException, diagnostics_of, did_you_mean

TENSORS = "test_ttnn.mlir.tensors"  # constants of a program, next to it
TENSOR_SUFFIX = ".tensorbin"
MAIN = "main"  # the file of a program, when it has several


@dataclass(frozen=True)
class Language:
    """A language that TTNN programs are emitted in.

    pipeline changes a TTNN module, print_ gives its text. whole: the pipeline from TTIR, which has the options of both.
    defaults: options that are set unless the user does.
    """

    pipeline: str
    whole: str
    print_: Callable[[Any], dict[str, str]]
    suffix: str
    defaults: Mapping[str, Any] = field(default_factory=dict)


def cpp_text(module: Any) -> dict[str, str]:
    return {MAIN: passes.mlir_to_cpp(module)}


def python_texts(module: Any) -> dict[str, str]:
    return {name: passes.mlir_to_python(module, name) for name in passes.python_files(module)} or {
        MAIN: passes.mlir_to_python(module)
    }


def ttnn_bytes(module: Any) -> bytes:
    """Returns the flatbuffer of a TTNN module. Its code may run in this process, which compiled it."""
    data = passes.ttnn_to_flatbuffer_bin(module)
    loaded = binary.load_binary_from_bytes(data)
    if loaded.has_native:
        loaded.allow_native()
    return data


def ttmetal_bytes(module: Any) -> bytes:
    """Returns the flatbuffer of a TTMetal module. Its kernels may run in this process, which compiled it."""
    data = passes.ttmetal_to_flatbuffer_bin(module)
    binary.load_binary_from_bytes(data, allow_native=True)
    return data


@dataclass(frozen=True)
class Flatbuffer:
    """A format of flatbuffers. pipeline lowers a TTIR module to one of `dialect`, write returns that module's bytes.

    fixed: options of the pipeline that the target sets.
    """

    pipeline: str
    write: Callable[[Any], bytes]
    suffix: str
    dialect: str
    fixed: Mapping[str, Any] = field(default_factory=dict)


FLATBUFFERS = {
    "ttnn": Flatbuffer("ttir-to-ttnn-backend-pipeline", ttnn_bytes, ".ttnn", "ttnn"),
    "ttmetal": Flatbuffer("ttir-to-ttmetal-pipeline", ttmetal_bytes, ".ttm", "ttmetal"),
    "ttnn-mode": Flatbuffer("ttir-to-ttmetal-pipeline", ttnn_bytes, ".ttnn", "ttnn", {"ttnn-mode": True}),
}
LANGUAGES = {
    "emitc": Language(
        "ttnn-common-to-emitc-pipeline", "ttir-to-emitc-pipeline", cpp_text, ".cpp", {"target-dylib": True}
    ),
    "emitpy": Language("ttnn-common-to-emitpy-pipeline", "ttir-to-emitpy-pipeline", python_texts, ".py"),
}
SUFFIXES = {n: t.suffix for n, t in FLATBUFFERS.items()} | {n: t.suffix for n, t in LANGUAGES.items()}


def check_target(target: str) -> None:
    if target not in SUFFIXES:
        raise TTBuilderCompileException(f"no target {target!r}{did_you_mean(target, list(SUFFIXES))}")


def lowering_of(target: str) -> Flatbuffer:
    """Returns the lowered form of a TTIR module for a target; emitted programs are lowered from TTNN."""
    return FLATBUFFERS.get(target, FLATBUFFERS["ttnn"])


def whole_pipeline(target: str) -> str:
    """Returns the pipeline that has all options of a target."""
    return LANGUAGES[target].whole if target in LANGUAGES else FLATBUFFERS[target].pipeline


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
        """Writes the constants of this program; the files of an earlier one in the folder are removed."""
        files = self.module.attributes.get("ttnn.tensor_files", ())
        needed = {entry.name for entry in files}
        passes.write_tensor_files(self.module, folder)
        for old in folder.glob(f"*{TENSOR_SUFFIX}"):
            if old.name not in needed:
                old.unlink()
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def emitted(module: Any, target: str, options: Given = None) -> Artifact:
    """Returns the artifact of a target for a module that was lowered for it, which is not changed.

    Args:
        options: of `whole_pipeline(target)`; the lowering has read its own.
    Raises:
        TTBuilderCompileException: an op that the target cannot carry; has the diagnostics.
    """
    try:
        if target not in LANGUAGES:
            return Artifact(FLATBUFFERS[target].write(module), target)
        language = LANGUAGES[target]
        program = module.operation.clone(ip=False)
        own = CompileOptions(options, pipeline=language.whole).of(language.pipeline)
        chosen = CompileOptions(language.defaults, pipeline=language.pipeline).with_(own)
        if chosen.get("tensor-directory", TENSORS) != TENSORS:
            raise ValueError(f"option tensor-directory is {chosen['tensor-directory']!r}; the builder writes {TENSORS}")
        passes.run_pass(program, language.pipeline, chosen.with_(tensor_directory=TENSORS))
        texts = language.print_(program)
        return Artifact(texts.pop(MAIN), target, program, texts)
    except (ir.MLIRError, ValueError, RuntimeError) as error:
        diagnostics = diagnostics_of(error)
        what = "writing the flatbuffer" if target not in LANGUAGES else f"emitting {SUFFIXES[target][1:]}"
        raise TTBuilderCompileException(
            f"{what} failed" + ("" if diagnostics else f": {error}"), diagnostics
        ) from error
