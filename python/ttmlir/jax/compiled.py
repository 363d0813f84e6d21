# SPDX-License-Identifier: Apache-2.0
"""A function of JAX, lowered step by step and run on a chip of this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import _ttmlir_runtime as tt
import jax
import ml_dtypes
import numpy as np

from .. import ir, passes
from ..chips import default_device, lower
from ..emitted import LANGUAGES, check_suffix, write_program, write_texts
from ..files import write_whole

runtime = tt.runtime
PLATFORM = "tt"
# What the runtime takes from the host.
DATA_TYPES = {
    np.dtype(name): getattr(runtime.DataType, value)
    for name, value in {
        np.float32: "Float32",
        np.float64: "Float64",
        np.float16: "Float16",
        ml_dtypes.bfloat16: "BFloat16",
        np.int64: "Int64",
        np.int32: "Int32",
        np.int16: "Int16",
        np.int8: "Int8",
        np.uint8: "UInt8",
        np.uint16: "UInt16",
        np.uint32: "UInt32",
        np.bool_: "Bool",
    }.items()
}


def held_type(dtype: np.dtype) -> np.dtype:
    """The type of NumPy that a program takes and gives instead, for those that the runtime does not know."""
    if dtype in DATA_TYPES:
        return dtype
    if np.issubdtype(dtype, np.complexfloating):
        return np.dtype(np.float32)  # twice as many: real and imaginary part
    if dtype in (ml_dtypes.int2, ml_dtypes.int4):
        return np.dtype(np.int32)
    return np.dtype(np.uint8 if dtype in (ml_dtypes.uint2, ml_dtypes.uint4) else np.float32)


class CompiledFunction:
    """A function that was compiled for the shapes and dtypes of some arguments; called as the function is.

    stablehlo, ttir, ttnn: the program as text, as JAX made it and after each of our pipelines.
    flatbuffer: what `ttrt run` and the runtime load.
    """

    def __init__(self, lowered: Any, options: str) -> None:
        self.options = options
        self._lowered = lowered
        self.stablehlo: str = lowered.compiler_ir(dialect="stablehlo").operation.get_asm(enable_debug_info=True)
        module = self._ttir_module()
        self.ttir = str(module)
        lower(module, options)
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
        """What the function returns, computed on the chip: NumPy arrays in the function's structure.

        Raises:
            TypeError: another structure of arguments than the function was compiled for.
            ValueError: an argument of another shape or dtype.
        """
        structure: Any
        given, structure = jax.tree.flatten((args, kwargs))
        expected, wanted = jax.tree.flatten(self._lowered.args_info)
        if structure != wanted:
            raise TypeError(f"called with {structure}; the function was compiled for {wanted}")
        arrays = [np.asarray(value) for value in given]
        inputs = [self._send(i, array, info) for i, (array, info) in enumerate(zip(arrays, expected, strict=True))]
        results = runtime.submit(default_device(), self.binary, 0, inputs)
        infos, out = jax.tree.flatten(self._lowered.out_info)
        return jax.tree.unflatten(out, [self._fetch(r, info) for r, info in zip(results, infos, strict=True)])

    def _send(self, index: int, array: np.ndarray, info: Any) -> Any:
        dtype = np.dtype(info.dtype)
        if array.shape != info.shape or (array.dtype != dtype and not np.can_cast(array.dtype, dtype, "same_kind")):
            raise ValueError(
                f"argument {index} is {array.dtype}{list(array.shape)}, expected {dtype}{list(info.shape)}"
            )
        rows = array.astype(dtype, copy=False)
        if np.iscomplexobj(rows):
            rows = np.stack([rows.real, rows.imag], -1)
        # Scalars, too: `ascontiguousarray` would make them vectors.
        rows = rows.astype(held_type(dtype), order="C", copy=False)
        strides = [step // rows.itemsize for step in rows.strides]
        # The runtime copies the values.
        return runtime.create_owned_host_tensor(
            rows.ctypes.data, list(rows.shape), strides, rows.itemsize, DATA_TYPES[rows.dtype]
        )

    def _fetch(self, result: Any, info: Any) -> np.ndarray:
        (host,) = runtime.to_host(result, untilize=True)
        dtype = np.dtype(info.dtype)
        pair = (2,) if np.issubdtype(dtype, np.complexfloating) else ()
        values = np.empty((*info.shape, *pair), held_type(dtype))
        runtime.memcpy(values.ctypes.data, host, DATA_TYPES[values.dtype])
        return (values[..., 0] + 1j * values[..., 1] if pair else values).astype(dtype, copy=False)

    def report(self) -> str:
        """What the ops would take on the chip, as a table; nothing is run."""
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
                beside it), .cpp or .py (a program that calls the library).
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
    function: Callable[..., Any], args: Sequence[Any] = (), options: str = "", **kwargs: Any
) -> CompiledFunction:
    """A function compiled for these example arguments: arrays, shapes (`jax.ShapeDtypeStruct`) or trees of them.

    Args:
        options: of `ttir-to-ttnn-backend-pipeline`, as text.
        kwargs: keyword arguments of the function.
    Raises:
        ttmlir.ir.MLIRError: an op that has no form on the chip; has the diagnostics.
    """
    traced = jax.jit(function, keep_unused=True).trace(*args, **kwargs)
    return CompiledFunction(traced.lower(lowering_platforms=(PLATFORM,)), options)
