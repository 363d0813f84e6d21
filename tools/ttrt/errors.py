# SPDX-License-Identifier: Apache-2.0
"""Errors for wrong input."""

from __future__ import annotations

OURS = ("_ttmlir_runtime", "ttmlir", "ttnn")  # what the build makes
EXTRAS = {"torch": "torch", "shtab": "completion"}  # package -> extra of the wheel that brings it


class InputError(Exception):
    """A file, an argument's value or a result is wrong; the message is one line that says what and where."""


def known_errors() -> tuple[type[BaseException], ...]:
    """Returns errors that a user's input causes: their message is enough, and a stack trace says nothing more.

    What the compiler and the runtime raise is looked up only when something was raised, so that starting the tool does
    not load them.
    """
    import sys

    kinds: list[type[BaseException]] = [InputError, OSError, ModuleNotFoundError]
    if runtime := sys.modules.get("_ttmlir_runtime"):
        kinds.append(runtime.Error)
    if ir := sys.modules.get("ttmlir.ir"):
        kinds.append(ir.MLIRError)
    if onnx := sys.modules.get("ttmlir.onnx"):
        kinds.append(onnx.OnnxError)
    if sizes := sys.modules.get("ttmlir.sizes"):
        kinds.append(sizes.OpenSizeError)
    if builder := sys.modules.get("builder.base.errors"):
        kinds += [builder.TTBuilderGoldenException, builder.TTBuilderRuntimeException]
    if profiler := sys.modules.get("profiler.records"):
        kinds.append(profiler.ProfilerError)
    return tuple(kinds)


def one_line(error: BaseException) -> str:
    """Returns the message of an error on one line, an OSError with its file in front."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition(".")[0]
        extra = f"'ttmlir[{EXTRAS[package]}]'" if package in EXTRAS else package
        how = "build the project" if package in OURS else f"pip install {extra}"
        return f"this needs the Python package {package}, which is not installed: {how}"
    return "; ".join(line.strip() for line in str(error).splitlines() if line.strip()) or type(error).__name__
