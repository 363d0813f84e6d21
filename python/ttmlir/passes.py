# SPDX-License-Identifier: Apache-2.0
"""Passes and pipelines as functions, and translation to flatbuffers, C++ and Python.

Every pipeline takes a module, changes it in place, and raises `ttmlir.ir.MLIRError` with the diagnostics of whatever
pass refused it. `options` is anything that `ttmlir.CompileOptions` takes: "mesh-shape=1,2 system-desc-path=desc.json".
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from ._mlir_libs._ttmlir import translate as _translate
from ._mlir_libs._ttmlir.translate import MLIRModuleLogger
from .files import whole_file
from .golden_tensor import DataType, GoldenTensor, lookup_dtype
from .ir import Context, Diagnostic, DiagnosticInfo, DiagnosticSeverity, Location, MLIRError, Module, StringAttr
from .options import CompileOptions, Given, pipelines
from .passmanager import PassManager
from .util import without_source_number


@contextmanager
def _printed_errors() -> Iterator[list[str]]:
    """Collects what the parser of options prints instead of reporting it: a list, filled after the block."""
    lines: list[str] = []
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield lines
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            lines += [line for line in file.read().decode(errors="replace").splitlines() if line.strip(" :")]


@dataclass(frozen=True)
class _Readable:
    """A diagnostic at the place that the source has, without the numbers that passes keep in locations."""

    severity: DiagnosticSeverity
    location: Location
    message: str
    notes: list[_Readable]

    @classmethod
    def of(cls, given: DiagnosticInfo) -> _Readable:
        notes = [cls.of(note) for note in given.notes]
        return cls(given.severity, without_source_number(given.location), given.message, notes)


@contextmanager
def _warnings(context: Context) -> Iterator[None]:
    """Reports the compiler's warnings, which a context keeps to itself, as Python's."""
    found: list[str] = []

    def collect(diagnostic: Diagnostic) -> bool:
        if diagnostic.severity != DiagnosticSeverity.WARNING:
            return False
        place = str(without_source_number(diagnostic.location)).removeprefix("loc(").removesuffix(")")
        found.append(f"{place}: {diagnostic.message}")
        return True

    handler: Any = context.attach_diagnostic_handler(collect)
    try:
        yield
    finally:
        handler.detach()
    for text in found:
        warnings.warn(text, stacklevel=4)


def _parsed(pipeline: str) -> PassManager:
    with _printed_errors() as printed:
        try:
            return PassManager.parse(pipeline)
        except ValueError as error:
            refused = error
    reasons = [line.removeprefix(": ").removeprefix("<Pass-Options-Parser>: ") for line in printed]
    raise ValueError("; ".join([*reasons, str(refused)])) from refused


def run_pass(module: Module, name: str, options: Given = "", print_ir: bool | str = False, verify: bool = True) -> None:
    """Runs one registered pass or pipeline over `module`, in place.

    Args:
        name: as registered with ttmlir-opt, or with options, `name{options}`.
        options: of a pipeline, what `CompileOptions` takes; of a pass, the text between the braces of `name{...}`.
        print_ir: print the module after each pass that changed it, to stderr; with a string, into files of that folder.
        verify: check the module after each pass.
    Warns:
        UserWarning: for each warning of a pass.
    Raises:
        ValueError: no such pass, or an option that it does not have.
        ttmlir.ir.MLIRError: a pass failed; carries the diagnostics.
    """
    with module.context:
        if written := re.fullmatch(r"([\w-]+)\{((?:[^{}]|\{[^{}]*\})*)\} *", name):
            name, options = written[1], written[2] or options
        text = str(CompileOptions(options, pipeline=name)) if options and name in pipelines() else options
        manager = _parsed(f"builtin.module({name}{{{text}}})" if text else f"builtin.module({name})")
        manager.enable_verifier(verify)
        if print_ir:
            module.context.enable_multithreading(False)
            manager.enable_ir_printing(tree_printing_dir_path=print_ir if isinstance(print_ir, str) else None)
        with _warnings(module.context):
            try:
                manager.run(module.operation)
            except MLIRError as error:
                raise MLIRError(error.message, [_Readable.of(d) for d in error.error_diagnostics]) from None


class Pipeline(Protocol):
    """A registered pipeline as a function: see `run_pass` for arguments and errors."""

    __name__: str

    def __call__(self, module: Module, options: Given = "", print_ir: bool | str = False) -> None: ...


def _pipeline(name: str) -> Pipeline:
    def run(module: Module, options: Given = "", print_ir: bool | str = False) -> None:
        run_pass(module, name, options, print_ir)

    run.__name__ = run.__qualname__ = name.replace("-", "_")
    run.__doc__ = f"Run `{name}` over `module`, in place. See `run_pass` for arguments and errors."
    return run


# The ...-runtime-pipeline forms are aliases (see docs/pipelines.md).
ttir_to_ttnn_backend_pipeline = _pipeline("ttir-to-ttnn-backend-pipeline")
ttir_to_ttnn_runtime_pipeline = _pipeline("ttir-to-ttnn-runtime-pipeline")
ttir_to_ttnn_common_pipeline = _pipeline("ttir-to-ttnn-common-pipeline")
ttir_to_ttmetal_pipeline = _pipeline("ttir-to-ttmetal-pipeline")
ttnn_common_to_runtime_pipeline = _pipeline("ttnn-common-to-runtime-pipeline")
ttir_to_ttmetal_backend_pipeline = ttir_to_ttmetal_pipeline
stablehlo_pipeline = _pipeline("stablehlo-pipeline")
stablehlo_to_ttir_pipeline = _pipeline("stablehlo-to-ttir-pipeline")
ttir_to_emitc_pipeline = _pipeline("ttir-to-emitc-pipeline")
ttir_to_emitpy_pipeline = _pipeline("ttir-to-emitpy-pipeline")
ttnn_common_to_emitc_pipeline = _pipeline("ttnn-common-to-emitc-pipeline")
ttnn_common_to_emitpy_pipeline = _pipeline("ttnn-common-to-emitpy-pipeline")


def tt_populate_argument_types(module: Module, argument_types_string: str = "") -> None:
    """Marks arguments of functions, in place: "forward=input,parameter,constant"; see `run_pass` for errors."""
    run_pass(module, "tt-populate-argument-types", f"argument-types={argument_types_string}")


def _bytes(write: Callable[[Callable[[memoryview], object]], None]) -> bytes:
    chunks: list[bytes] = []
    write(lambda chunk: chunks.append(bytes(chunk)))
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _file(write: Callable[[Callable[[memoryview], object]], None], filepath: str | os.PathLike[str]) -> None:
    with whole_file(filepath) as file:
        write(file.write)


def ttnn_to_flatbuffer_bin(module: Module) -> bytes:
    """Returns the flatbuffer of a module of TTNN programs, as `ttrt` and the runtime read it.

    Raises:
        ttmlir.ir.MLIRError: an op or type that the format cannot carry; names it.
    """
    return _bytes(lambda take: _translate.ttnn_to_flatbuffer(module.operation, take))


Goldens = Mapping[str, Mapping[int, GoldenTensor]]
Stages = Sequence[tuple[str, str]]


def ttnn_to_flatbuffer_file(
    module: Module, filepath: str | os.PathLike[str], goldenMap: Goldens | None = None, moduleCache: Stages = ()
) -> None:
    """Writes the flatbuffer of `module` to `filepath`, whole or not at all.

    goldenMap and moduleCache are not written: goldens are computed from the module that a flatbuffer carries, and
    `MLIRModuleLogger` keeps what passes leave.
    """
    _file(lambda take: _translate.ttnn_to_flatbuffer(module.operation, take), filepath)


def ttmetal_to_flatbuffer_bin(module: Module) -> bytes:
    """Returns the flatbuffer of a module of TTMetal programs, with the sources of their kernels.

    Raises:
        ttmlir.ir.MLIRError: an op or type that the format cannot carry; names it.
    """
    return _bytes(lambda take: _translate.ttmetal_to_flatbuffer(module.operation, take))


def ttmetal_to_flatbuffer_file(
    module: Module, filepath: str | os.PathLike[str], goldenMap: Goldens | None = None, moduleCache: Stages = ()
) -> None:
    """Writes the flatbuffer of a module of TTMetal programs to `filepath`; further arguments as of TTNN's."""
    _file(lambda take: _translate.ttmetal_to_flatbuffer(module.operation, take), filepath)


def mlir_to_cpp(module: Module) -> str:
    """Returns the C++ program of a module of the emitc dialect, formatted.

    Raises:
        ttmlir.ir.MLIRError: an op that has no form in C++; names it.
    """
    return _translate.mlir_to_cpp(module.operation)


def mlir_to_python(module: Module, file: str = "") -> str:
    """Returns the Python program of a module of the emitpy dialect, formatted; of several files (see `python_files`)
    one.

    Raises:
        ttmlir.ir.MLIRError: an op that has no form in Python, or a file that is not there; names it.
    """
    return _translate.mlir_to_python(module.operation, file)


def python_files(module: Module) -> list[str]:
    """Returns the names of the files of an emitpy module that is split; none when it is one file."""
    top = module.operation.regions[0].blocks[0].operations
    return [StringAttr(op.attributes["id"]).value for op in top if op.operation.name == "emitpy.file"]


# The names that the ecosystem has for them.
translate_to_cpp = mlir_to_cpp
translate_to_python = mlir_to_python


def ttkernel_to_cpp(module: Module) -> str:
    """Returns the kernels of a TTMetal module as C++, each headed by its name.

    Raises:
        ttmlir.ir.MLIRError: an op that has no form in C++; names it.
    """
    return _translate.ttkernel_to_cpp(module.operation)


def ttkernel_to_cpp_file(module: Module, filepath: str | os.PathLike[str]) -> None:
    """Writes `ttkernel_to_cpp(module)` to `filepath`, whole or not at all."""
    with whole_file(filepath) as file:
        file.write(ttkernel_to_cpp(module).encode())


def write_tensor_files(module: Module, folder: str | os.PathLike[str]) -> None:
    """Writes the constants of an emitc or emitpy module into `folder`, which is made when there are any.

    Raises:
        ttmlir.ir.MLIRError: a folder that cannot be written to.
    """
    _translate.write_tensor_files(module.operation, os.fspath(folder))


__all__ = [
    "DataType",
    "GoldenTensor",
    "MLIRModuleLogger",
    "Pipeline",
    "lookup_dtype",
    "mlir_to_cpp",
    "mlir_to_python",
    "python_files",
    "run_pass",
    "stablehlo_pipeline",
    "stablehlo_to_ttir_pipeline",
    "translate_to_cpp",
    "translate_to_python",
    "tt_populate_argument_types",
    "ttir_to_emitc_pipeline",
    "ttir_to_emitpy_pipeline",
    "ttir_to_ttmetal_backend_pipeline",
    "ttir_to_ttmetal_pipeline",
    "ttir_to_ttnn_backend_pipeline",
    "ttir_to_ttnn_common_pipeline",
    "ttir_to_ttnn_runtime_pipeline",
    "ttkernel_to_cpp",
    "ttkernel_to_cpp_file",
    "ttmetal_to_flatbuffer_bin",
    "ttmetal_to_flatbuffer_file",
    "ttnn_common_to_emitc_pipeline",
    "ttnn_common_to_emitpy_pipeline",
    "ttnn_common_to_runtime_pipeline",
    "ttnn_to_flatbuffer_bin",
    "ttnn_to_flatbuffer_file",
]
