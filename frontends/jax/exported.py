# SPDX-License-Identifier: Apache-2.0
"""Functions with symbolic shapes from `jax.export`, compiled and run for arrays of any sizes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ttmlir.arrays import fetch, fits, runtime, send
from ttmlir.chips import default_device
from ttmlir.emitted import check_suffix
from ttmlir.files import write_whole
from ttmlir.ir import MLIRError
from ttmlir.options import Given
from ttmlir.sizes import OpenSizeError, Size
from ttmlir.stablehlo import OpenProgram

import jax
from jax import export

PLATFORM = "tt"


class ExportedFunction:
    """A function that was exported with symbolic shapes; called as the function is, with arrays of any sizes.

    One program takes all sizes of 2 and more. Sizes of 1, and sizes that decide what is computed (`closed` says why),
    get programs of their own when they are first met.

    exported: what JAX made. program: what was compiled of it.
    """

    def __init__(self, exported: export.Exported, options: Given = None) -> None:
        if exported.nr_devices != 1:
            raise ValueError(f"the function was exported for {exported.nr_devices} devices; expected 1")
        if exported.ordered_effects:
            raise ValueError("the function has ordered effects, which only the platform tt runs")
        self.exported = exported
        self.program = OpenProgram(bytes(exported.mlir_module_serialized), options=options)
        self._types = [np.dtype(aval.dtype) for aval in exported.in_avals]
        self._leading = [np.int32(self._platform())] if len(exported.platforms) > 1 else []

    def _platform(self) -> int:
        """Returns the index of the platform among those that the function was exported for."""
        known = self.exported.platforms
        return known.index(PLATFORM) if PLATFORM in known else known.index("cpu") if "cpu" in known else 0

    @property
    def stablehlo(self) -> str:
        """Returns the program as text, as JAX made it."""
        return self.exported.mlir_module()

    @property
    def open_sizes(self) -> list[Size]:
        """Returns the sizes that one program leaves open, with their bounds; empty where there is none, see
        `closed`."""
        self._try_to_open()
        return list(self.program.declared)

    @property
    def closed(self) -> str:
        """Returns the reason why there is no program for all sizes, or ""."""
        self._try_to_open()
        return self.program.closed

    @property
    def flatbuffer(self) -> bytes:
        """Returns the program for all sizes, as `ttrt run` and the runtime load it.

        Raises:
            OpenSizeError: a size decides what is computed; names the op.
        """
        return self.program.flatbuffer

    def _try_to_open(self) -> None:
        with contextlib.suppress(OpenSizeError, MLIRError):  # `closed` has the reason
            _ = self.program.binary

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what the function returns, computed on the chip: NumPy arrays in the function's structure.

        Raises:
            TypeError: another structure of arguments than the function was exported for.
            ValueError: an argument of another rank or dtype.
            SizeError: sizes that the function was not exported for; names the dimension and its bound.
        """
        structure: Any
        given, structure = jax.tree.flatten((args, kwargs))
        if structure != self.exported.in_tree:
            raise TypeError(f"called with {structure}; the function was exported for {self.exported.in_tree}")
        arrays = [np.asarray(value) for value in given]
        for i, (array, aval, dtype) in enumerate(zip(arrays, self.exported.in_avals, self._types, strict=True)):
            if not has_shape(array.shape, aval.shape) or not fits(array, dtype):
                raise ValueError(f"argument {i} is {array.dtype}{list(array.shape)}, expected {aval.str_short()}")
        kept = [(arrays[i], self._types[i]) for i in self.exported.module_kept_var_idx]
        taken = [*((np.asarray(value), np.dtype(np.int32)) for value in self._leading), *kept]
        binary = self.program.at([array.shape for array, _ in taken])
        results = runtime.submit(default_device(), binary, 0, [send(array, dtype) for array, dtype in taken])
        values = [fetch(r, np.dtype(aval.dtype)) for r, aval in zip(results, self.exported.out_avals, strict=True)]
        return jax.tree.unflatten(self.exported.out_tree, values)

    def save(self, path: str | os.PathLike[str]) -> list[Path]:
        """Writes the flatbuffer for all sizes.

        Args:
            path: of a .ttnn file.
        Returns:
            The file that was written.
        Raises:
            ValueError: another suffix.
            OpenSizeError: a size decides what is computed.
        """
        target = Path(path)
        check_suffix(target, (".ttnn",))
        write_whole(target, self.flatbuffer)
        return [target]


def has_shape(given: Sequence[int], expected: Sequence[Any]) -> bool:
    """Returns whether a shape is one of those that a symbolic shape stands for, by rank and known sizes."""
    return len(given) == len(expected) and all(
        export.is_symbolic_dim(n) or n == size for size, n in zip(given, expected, strict=True)
    )


def is_symbolic(arguments: Any) -> bool:
    """Returns whether an argument has a symbolic shape."""
    return any(
        export.is_symbolic_dim(n) for leaf in jax.tree.leaves(arguments) for n in getattr(leaf, "shape", ()) or ()
    )
