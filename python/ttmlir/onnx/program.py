# SPDX-License-Identifier: Apache-2.0
"""ONNX models compiled: programs for given sizes, or for all that a model leaves open."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import _ttmlir_runtime as tt
import numpy as np

from .. import ir, passes
from ..arrays import fetch, held_type, runtime, send
from ..chips import default_device, lower
from .importer import import_model
from .model import Model, read_model
from .values import Array


class OnnxProgram:
    """A model compiled for the shapes of some inputs; called with arrays in the order of the model's inputs."""

    def __init__(self, model: Model, shapes: Mapping[str, Sequence[int]], options: str = "", known: Any = None) -> None:
        self.model = model
        self.inputs = [x for x in model.inputs if x.name not in (known or {})]
        with ir.Context():
            imported = import_model(model, shapes, known)
            self.source = str(imported.module)
            passes.stablehlo_to_ttir_pipeline(imported.module)
            self.ttir = str(imported.module)
            lower(imported.module, options)
            self.ttnn = str(imported.module)
            self.flatbuffer: bytes = passes.ttnn_to_flatbuffer_bin(imported.module)
        self.binary = tt.binary.load_binary_from_bytes(self.flatbuffer, allow_native=True)
        self.shapes = {x.name: tuple(shapes[x.name]) for x in model.inputs}
        self.types = [value.dtype for _, value in imported.outputs]
        self.weights = [place(array) for _, array in imported.parameters]

    def __call__(self, *arrays: Any) -> list[Array]:
        given = []
        for declared, value in zip(self.inputs, arrays, strict=True):
            array = np.asarray(value)
            if array.shape != self.shapes[declared.name] or array.dtype != declared.dtype:
                raise ValueError(f"input {declared.name} is {array.dtype}{list(array.shape)}, expected "
                                 f"{declared.dtype}{list(self.shapes[declared.name])}")  # fmt: skip
            given.append(send(array, array.dtype))
        results = runtime.submit(default_device(), self.binary, 0, [*given, *(tensor for tensor, _ in self.weights)])
        return [fetch(result, dtype) for result, dtype in zip(results, self.types, strict=True)]


SHARED = {np.dtype(name) for name in ("float32", "float16", "int32", "uint8", "uint16", "uint32")}


def place(array: Array) -> tuple[Any, Array]:
    """A weight as a tensor of the runtime, and the memory that it borrows."""
    if (array.dtype in SHARED or array.dtype.name == "bfloat16") and array.size:
        from ..arrays import DATA_TYPES

        rows = np.ascontiguousarray(array)
        tensor = runtime.create_borrowed_host_tensor(
            rows.ctypes.data, list(rows.shape), [s // rows.itemsize for s in rows.strides], rows.itemsize,
            DATA_TYPES[rows.dtype],
        )  # fmt: skip
        tensor.set_parameter()
        return tensor, rows
    tensor = send(array.astype(held_type(array.dtype)), held_type(array.dtype))
    tensor.set_parameter()
    return tensor, array


def compile(path: str | os.PathLike[str], inputs: Sequence[Any] | None = None,
            sizes: Mapping[str, int] | None = None, options: str = "") -> OnnxProgram:  # fmt: skip
    """A model compiled, to be called with arrays in the order of the model's inputs.

    Args:
        inputs: examples, whose shapes the program has; None for the shapes that the file states.
        sizes: of named dimensions.
    """
    model = read_model(path)
    shapes = {}
    for i, declared in enumerate(model.inputs):
        if inputs is not None:
            shapes[declared.name] = np.shape(inputs[i])
        else:
            shapes[declared.name] = tuple((sizes or {}).get(n, 0) if isinstance(n, str) else n or 0
                                          for n in declared.shape or ())  # fmt: skip
    return OnnxProgram(model, shapes, options)
