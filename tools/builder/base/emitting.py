"""What a module is compiled to: a flatbuffer, or a C++ or Python program with its constants beside it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ttmlir import ir, passes

from .builder_utils import write_whole
from .errors import TTBuilderCompileException, diagnostics_of, did_you_mean

ARTIFACT = "test_ttnn.mlir"  # with the target's suffix behind
TENSORS = f"{ARTIFACT}.tensors"  # constants of a program, beside it
TENSOR_SUFFIX = ".tensorbin"


@dataclass(frozen=True)
class Language:
    """A language that TTNN programs are emitted in. pipeline changes a TTNN module, print_ gives its text."""

    pipeline: Callable[[Any, str], None]
    print_: Callable[[Any], str]
    library: str  # the pipeline's option for a program without main
    suffix: str


LANGUAGES = {
    "emitc": Language(passes.ttnn_common_to_emitc_pipeline, passes.mlir_to_cpp, "target-dylib", ".cpp"),
    "emitpy": Language(passes.ttnn_common_to_emitpy_pipeline, passes.mlir_to_python, "target-module", ".py"),
}
SUFFIXES = {"ttnn": ".ttnn"} | {name: language.suffix for name, language in LANGUAGES.items()}
# Named in the guide, but their back ends are no part of this project.
OTHER_TARGETS = ("ttmetal", "ttnn-mode")


def check_target(target: str) -> None:
    if target in SUFFIXES:
        return
    if target in OTHER_TARGETS:
        raise TTBuilderCompileException(
            f"target {target!r} is not part of this version; there is {', '.join(SUFFIXES)}"
        )
    raise TTBuilderCompileException(f"no target {target!r}{did_you_mean(target, [*SUFFIXES, *OTHER_TARGETS])}")


@dataclass(frozen=True)
class Artifact:
    """A compiled module: the bytes of a flatbuffer, or the text of a program, whose constants its module has."""

    data: bytes | str
    target: str
    module: Any = None

    @property
    def name(self) -> str:
        return ARTIFACT + SUFFIXES[self.target]

    def write(self, folder: str | os.PathLike[str]) -> str:
        """Write the file, and constants into a folder beside it; returns the file's path.

        Raises:
            TTBuilderCompileException: a folder that cannot be made or written to; names it.
        """
        folder = Path(folder)
        path = folder / self.name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if self.module is not None:
                self.write_tensors(folder / TENSORS)
            write_whole(path, self.data)
        except OSError as error:
            raise TTBuilderCompileException(f"cannot write {path}: {error.strerror or error}") from error
        except ir.MLIRError as error:
            raise TTBuilderCompileException(f"cannot write the constants of {path}: {error}") from error
        return str(path)

    def write_tensors(self, folder: Path) -> None:
        """Those of this program; what an earlier one left in the folder goes."""
        files = self.module.attributes.get("ttnn.tensor_files", ())
        needed = {entry.name for entry in files}
        passes.write_tensor_files(self.module, folder)
        for old in folder.glob(f"*{TENSOR_SUFFIX}"):
            if old.name not in needed:
                old.unlink()
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def emitted(module: Any, target: str) -> Artifact:
    """The artifact that a target makes of a TTNN module, which is not changed.

    Raises:
        TTBuilderCompileException: an op that the target cannot carry; has the diagnostics.
    """
    try:
        if target not in LANGUAGES:
            return Artifact(passes.ttnn_to_flatbuffer_bin(module), target)
        language = LANGUAGES[target]
        program = module.operation.clone(ip=False)
        options = f"tensor-directory={TENSORS}" + (f" {language.library}=true" if target == "emitc" else "")
        language.pipeline(program, options)
        return Artifact(language.print_(program), target, program)
    except (ir.MLIRError, ValueError, RuntimeError) as error:
        diagnostics = diagnostics_of(error)
        what = "writing the flatbuffer" if target not in LANGUAGES else f"emitting {SUFFIXES[target][1:]}"
        raise TTBuilderCompileException(
            f"{what} failed" + ("" if diagnostics else f": {error}"), diagnostics
        ) from error
