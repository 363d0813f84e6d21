# SPDX-License-Identifier: Apache-2.0
"""A function of JAX, lowered step by step and run on a chip of this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import _ttmlir_runtime as tt
import numpy as np
from ttmlir import ir, passes
from ttmlir.arrays import fetch, fits, runtime, send
from ttmlir.chips import default_device, lower
from ttmlir.emitted import LANGUAGES, check_suffix, write_program, write_texts
from ttmlir.files import write_whole
from ttmlir.options import CompileOptions, Given

import jax
from jax import export

from .exported import PLATFORM, ExportedFunction, is_symbolic


class CompiledFunction:
    """A function that was compiled for the shapes and dtypes of some arguments; called as the function is.

    stablehlo, ttir, ttnn: the program as text, as JAX made it and after each of our pipelines.
    flatbuffer: what `ttrt run` and the runtime load.
    """

    def __init__(self, lowered: Any, options: Given) -> None:
        self.options = CompileOptions(options)
        self._lowered = lowered
        self.stablehlo: str = lowered.compiler_ir(dialect="stablehlo").operation.get_asm(enable_debug_info=True)
        module = self._ttir_module()
        self.ttir = str(module)
        lower(module, self.options)
        self.ttnn = str(module)
        self.flatbuffer: bytes = passes.ttnn_to_flatbuffer_bin(module)
        # Machine code that it has was compiled here.
        self.binary = tt.binary.load_binary_from_bytes(self.flatbuffer, allow_native=True)

    def _ttir_module(self) -> ir.Module:
        with ir.Context():
            module = ir.Module.parse(self.stablehlo)
            passes.stablehlo_to_ttir_pipeline(module)
        return module

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what the function returns, computed on the chip: NumPy arrays in the function's structure.

        Raises:
            TypeError: another structure of arguments than the function was compiled for.
            ValueError: an argument of another shape or dtype.
        """
        structure: Any
        given, structure = jax.tree.flatten((args, kwargs))
        expected, compiled_for = jax.tree.flatten(self._lowered.args_info)
        if structure != compiled_for:
            raise TypeError(f"called with {structure}; the function was compiled for {compiled_for}")
        arrays = [np.asarray(value) for value in given]
        inputs = [self._send(i, array, info) for i, (array, info) in enumerate(zip(arrays, expected, strict=True))]
        results = runtime.submit(default_device(), self.binary, 0, inputs)
        infos, out = jax.tree.flatten(self._lowered.out_info)
        values = [fetch(result, np.dtype(info.dtype)) for result, info in zip(results, infos, strict=True)]
        return jax.tree.unflatten(out, values)

    def _send(self, index: int, array: np.ndarray, info: Any) -> Any:
        dtype = np.dtype(info.dtype)
        if array.shape != info.shape or not fits(array, dtype):
            raise ValueError(
                f"argument {index} is {array.dtype}{list(array.shape)}, expected {dtype}{list(info.shape)}"
            )
        return send(array, dtype)

    def report(self) -> str:
        """Returns the estimated time of the ops on the chip, as a table, without running anything."""
        run = runtime.estimate(self.binary, 0)
        lines = [f"{'op':40} {'cycles':>10} {'µs':>10} {'DRAM bytes':>12}"]
        lines += [f"{op.name:40} {op.cycles:10} {op.device_ns / 1000:10.2f} {op.dram_bytes:12}" for op in run.ops]
        lines.append(f"{'all':40} {run.cycles:10} {run.device_ns / 1000:10.2f}")
        lines.append(
            f"memory: {run.dram_peak_bytes_per_bank} bytes of each DRAM bank, {run.l1_peak_bytes_per_bank} of each L1"
        )
        return "\n".join(lines)

    def save(self, path: str | os.PathLike[str]) -> list[Path]:
        """Writes the program; the suffix of `path` says as what.

        Args:
            path: .ttnn (flatbuffer), .mlir (TTIR, with TTNN in a `.ttnn.mlir` and StableHLO in a `.stablehlo.mlir`
                next to it), .cpp or .py (a program that calls the library).
        Returns:
            The files that were written.
        Raises:
            ValueError: another suffix.
        """
        target = Path(path)
        check_suffix(target, (".ttnn", ".mlir", *LANGUAGES))
        if target.suffix in LANGUAGES:
            return write_program(self._ttir_module(), target, self.options)
        if target.suffix == ".mlir":
            source = target.with_suffix(".stablehlo.mlir")
            write_whole(source, self.stablehlo)
            return [*write_texts(target, self.ttir, self.ttnn), source]
        write_whole(target, self.flatbuffer)
        return [target]


def compile(
    function: Callable[..., Any] | export.Exported, args: Sequence[Any] = (), options: Given = None, **kwargs: Any
) -> CompiledFunction | ExportedFunction:
    """Returns a function compiled for these example arguments: arrays, shapes (`jax.ShapeDtypeStruct`) or trees of
    them.

    Args:
        function: of JAX, or one that `jax.export` exported, which has its shapes.
        options: of `ttir-to-ttnn-backend-pipeline`: a `ttmlir.CompileOptions`, or what that takes.
        kwargs: keyword arguments of the function.
    Returns:
        A function to call; for symbolic shapes, and what was exported, one that takes arrays of any sizes.
    Raises:
        ttmlir.ir.MLIRError: an op that has no form on the chip; has the diagnostics.
    """
    if isinstance(function, export.Exported):
        if args or kwargs:
            raise TypeError("an exported function has its shapes; expected no example arguments")
        return ExportedFunction(function, options)
    if is_symbolic((args, kwargs)):
        exported = export.export(
            jax.jit(function), platforms=[PLATFORM], disabled_checks=[export.DisabledSafetyCheck.platform()]
        )
        return ExportedFunction(exported(*args, **kwargs), options)
    traced = jax.jit(function, keep_unused=True).trace(*args, **kwargs)
    return CompiledFunction(traced.lower(lowering_platforms=(PLATFORM,)), options)
