# SPDX-License-Identifier: Apache-2.0
"""ONNX files, read and checked: inputs, weights, functions."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import OnnxError
from .values import Array, DType

if TYPE_CHECKING:
    import onnx

INSTALL = "pip install 'ttmlir[onnx]'"
TO_ONNX = "python -m tf2onnx.convert --{kind} {path} --output model.onnx"
TENSORFLOW = (
    "is TensorFlow's; export it as StableHLO, "
    "jax.jit(jax.experimental.jax2tf.call_tf(function)).lower(*inputs).as_text(), "
    "for ttmlir-opt --stablehlo-to-ttir-pipeline, or as ONNX: {to_onnx}"
)
# Suffixes of TensorFlow's files, and tf2onnx's option for them.
OTHERS = {".tflite": "tflite", ".pb": "graphdef", ".keras": "keras", ".h5": "keras"}


@dataclass(frozen=True)
class Declared:
    """An input of a model. shape: sizes, names, and None for what has neither; None where the rank is not known."""

    name: str
    shape: tuple[int | str | None, ...] | None
    dtype: DType


@dataclass
class Model:
    """A model, checked.

    weights: arrays by name; external ones are mapped. functions: the model's own, by domain, name and overload.
    """

    path: Path
    proto: onnx.ModelProto
    inputs: list[Declared]
    outputs: list[str]
    weights: Mapping[str, Array]
    opsets: dict[str, int]
    functions: dict[tuple[str, str, str], Any] = field(default_factory=dict)


def domain_of(name: str) -> str:
    return "" if name == "ai.onnx" else name


def require_onnx() -> None:
    """
    Raises:
        OnnxError: the package onnx is not installed; says how to install it.
    """
    if importlib.util.find_spec("onnx") is None:
        raise OnnxError(f"ONNX models need the package onnx: {INSTALL}")


def read_model(path: str | os.PathLike[str]) -> Model:
    """Reads a model.

    Raises:
        OnnxError: the package onnx is missing, or the file is not valid, or TensorFlow's.
        FileNotFoundError: there is none.
    """
    path = Path(path)
    if path.suffix in OTHERS or (path / "saved_model.pb").is_file():
        kind = OTHERS.get(path.suffix, "saved-model")
        raise OnnxError(f"{path}: {TENSORFLOW.format(to_onnx=TO_ONNX.format(kind=kind, path=path))}")
    require_onnx()
    import onnx

    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    try:
        proto = onnx.load(os.fspath(path))
        onnx.checker.check_model(proto)
    except Exception as error:  # protobuf's and onnx's have no common type
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise OnnxError(f"{path}: no valid ONNX model: {reason}") from None
    return model_of(proto, path)


def model_of(proto: onnx.ModelProto, path: Path = Path("model")) -> Model:
    """A model from what the onnx package has read."""
    import onnx
    from onnx import numpy_helper

    graph = proto.graph
    weights = {tensor.name: np.asarray(numpy_helper.to_array(tensor)) for tensor in graph.initializer}
    for sparse in graph.sparse_initializer:
        weights[sparse.values.name] = dense_of(sparse)
    inputs = []
    for value in graph.input:
        if value.name in weights:  # opsets up to 12 list weights among the inputs
            continue
        kind = value.type.WhichOneof("value")
        if kind != "tensor_type":
            raise OnnxError(f"{path}: input {value.name} is no tensor but {str(kind).removesuffix('_type')}")
        tensor = value.type.tensor_type
        shape: list[int | str | None] = []
        for dim in tensor.shape.dim:
            shape.append(dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None)
        dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type))
        inputs.append(Declared(value.name, tuple(shape) if tensor.HasField("shape") else None, dtype))
    functions = {(domain_of(f.domain), f.name, f.overload): f for f in proto.functions}
    opsets = {domain_of(opset.domain): opset.version for opset in proto.opset_import}
    return Model(path, proto, inputs, [value.name for value in graph.output], weights, opsets, functions)


def dense_of(sparse: Any) -> Array:
    """A sparse tensor with its zeros."""
    from onnx import numpy_helper

    values, indices = numpy_helper.to_array(sparse.values), numpy_helper.to_array(sparse.indices)
    dense = np.zeros(tuple(sparse.dims), values.dtype)
    if indices.ndim == 1:
        dense.reshape(-1)[indices] = values
    else:
        dense[tuple(indices.T)] = values
    return dense
