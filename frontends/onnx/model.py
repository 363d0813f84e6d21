# SPDX-License-Identifier: Apache-2.0
"""ONNX files, read and checked: inputs, weights, functions."""

from __future__ import annotations

import contextlib
import importlib.util
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import OnnxError
from .files import (
    Folder,
    NotWalkable,
    Place,
    array_of,
    dense_of,
    mapped,
    narrow_types,
    one_line,
    read_part,
    tensors_of,
    without_values,
)
from .order import ordered
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
# Fields of a tensor that have values, other than raw_data.
TYPED = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data")
# Suffixes of TensorFlow's files, and tf2onnx's option for them.
OTHERS = {".tflite": "tflite", ".pb": "graphdef", ".keras": "keras", ".h5": "keras"}


# The oldest opset of the default domain whose ops the table has; older models are brought to it.
OLDEST = 7
# A domain of which the onnx package has no ops.
UNCHECKED = "ttmlir.unchecked"


@dataclass(frozen=True)
class Declared:
    """An input or output of a model.

    shape: sizes, names, and None for what has neither; None where the rank is not known. is_sequence: a list of
    tensors, whose shapes are not known.
    """

    name: str
    shape: tuple[int | str | None, ...] | None
    dtype: DType
    is_sequence: bool = False

    def __str__(self) -> str:
        sizes = "..." if self.shape is None else ", ".join("?" if n is None else str(n) for n in self.shape)
        text = f"{self.dtype.name}[{sizes}]"
        return f"list of {text}" if self.is_sequence else text


@dataclass
class Model:
    """A model, checked.

    outputs: names. weights: arrays by name; external ones are mapped. functions: the model's own, by domain, name and
    overload. optional: inputs that have values in the file, which a call may replace. results: outputs with what the
    file says of them. read: what imports have read of nodes and inner graphs.
    """

    path: Path
    proto: onnx.ModelProto
    inputs: list[Declared]
    outputs: list[str]
    weights: Mapping[str, Array]
    opsets: dict[str, int]
    functions: dict[tuple[str, str, str], Any] = field(default_factory=dict)
    optional: list[Declared] = field(default_factory=list)
    results: list[Declared] = field(default_factory=list)
    read: dict[int, Any] = field(default_factory=dict, repr=False, compare=False)


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

    if not path.exists() or path.is_dir():
        raise FileNotFoundError(f"{path}: no such file")
    data = mapped(path, str(path))
    places: list[Place | None] = []
    try:
        with contextlib.suppress(NotWalkable):
            skeleton, places = without_values(memoryview(data))
            proto = onnx.ModelProto.FromString(skeleton)
        if not places or len(places) != len(proto.graph.initializer):
            proto = onnx.ModelProto.FromString(data.tobytes())
            places = [None] * len(proto.graph.initializer)
    except Exception as error:  # protobuf's have no common type
        raise OnnxError(f"{path}: no valid ONNX model: {one_line(error)}") from None
    # Read, not mapped: another program may write the file while this one uses the model.
    raws = [None if place is None else read_part(path, *place) for place in places]
    return checked(proto, path, Folder(path), raws)


def model_of(proto: onnx.ModelProto, path: Path = Path("model")) -> Model:
    """Returns a model from one that the onnx package has loaded.

    Raises:
        OnnxError: it is not valid.
    """
    import onnx

    if not isinstance(proto, onnx.ModelProto):
        raise OnnxError(f"{path}: is {type(proto).__name__}; expected the path of a file or an onnx.ModelProto")
    return checked(proto, path, Folder(None), [None] * len(proto.graph.initializer))


def checked(proto: onnx.ModelProto, path: Path, folder: Folder, raws: Sequence[Array | None]) -> Model:
    """Returns the model that a file describes.

    raws: values of initializers that are not in `proto`.

    Raises:
        OnnxError: it is not valid; names the file and what is wrong.
    """
    import onnx

    try:
        require_texts(proto)
        weights = weights_of(proto, folder, raws)
        proto = ordered(with_own_values(proto, folder))
        proto, weights = modern(proto, weights)
        onnx.checker.check_model(without_weights(proto))
        return described(proto, path, weights)
    except OnnxError as error:
        raise OnnxError(f"{path}: {error}") from None
    except Exception as error:  # protobuf's and onnx's have no common type
        raise OnnxError(f"{path}: no valid ONNX model: {one_line(error)}") from None


def require_texts(proto: onnx.ModelProto) -> None:
    """
    Raises:
        OnnxError: a name is not UTF-8, which the parser of protobuf gives as bytes.
    """

    def check(graph: Any, what: str) -> None:
        values = [*getattr(graph, "initializer", ()), *graph.input, *graph.output]
        names = [*(getattr(x, "name", x) for x in values), graph.name]
        for node in graph.node:
            names += [node.name, node.op_type, node.domain, *node.input, *node.output]
            for attribute in node.attribute:
                names += [attribute.name, attribute.ref_attr_name]
                for inner in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                    check(inner, what)
        wrong = next((name for name in names if not isinstance(name, str)), None)
        if wrong is not None:
            raise OnnxError(f"{what} has the name {wrong!r}, which is no UTF-8")

    check(proto.graph, "the graph")
    for function in proto.functions:
        check(function, f"function {function.name!r}")


def weights_of(proto: onnx.ModelProto, folder: Folder, raws: Sequence[Array | None]) -> dict[str, Array]:
    from onnx import TensorProto

    weights: dict[str, Array] = {}
    for tensor, raw in zip(proto.graph.initializer, raws, strict=True):
        kept = [name for name in TYPED if len(getattr(tensor, name))]
        if raw is not None and (kept or tensor.HasField("raw_data")):
            raise OnnxError(f"tensor {tensor.name!r} has values in raw_data and in {(kept or ['raw_data'])[0]}")
        if tensor.data_location == TensorProto.EXTERNAL:
            weights[tensor.name] = folder.external(tensor)
        else:
            weights[tensor.name] = array_of(tensor, raw)
    for sparse in proto.graph.sparse_initializer:
        weights[sparse.values.name] = dense_of(sparse)
    return weights


def with_own_values(proto: onnx.ModelProto, folder: Folder) -> onnx.ModelProto:
    """Returns the model with values of inner graphs and attributes inside that are in other files."""
    from onnx import TensorProto

    def outside(model: onnx.ModelProto) -> list[Any]:
        every = [t for graph in (model.graph, *model.functions) for t in tensors_of(graph)]
        return [tensor for tensor in every if tensor.data_location == TensorProto.EXTERNAL]

    if not outside(proto):
        return proto
    result = type(proto)()
    result.CopyFrom(proto)
    for tensor in outside(result):
        array = folder.external(tensor)
        if tensor.data_type in narrow_types():
            raise OnnxError(f"external data of tensor {tensor.name!r}: its type has several elements in a byte")
        del tensor.external_data[:]
        tensor.data_location = TensorProto.DEFAULT
        tensor.raw_data = array.tobytes()
    return result


def without_weights(proto: onnx.ModelProto) -> onnx.ModelProto:
    """Returns the model for the checker: its initializers, which were looked at, are empty."""

    def copied(to: Any, message: Any, but: str) -> None:
        for kind, value in message.ListFields():
            if kind.name == but:
                continue
            if hasattr(value, "extend"):
                getattr(to, kind.name).extend(value)
            elif hasattr(value, "CopyFrom"):
                getattr(to, kind.name).CopyFrom(value)
            else:
                setattr(to, kind.name, value)

    kept = type(proto)()
    copied(kept, proto, "graph")
    kept.graph.SetInParent()
    copied(kept.graph, proto.graph, "initializer")
    for tensor in proto.graph.initializer:
        kept.graph.initializer.add(name=tensor.name, data_type=tensor.data_type, dims=[0])
    for value in (*kept.graph.input, *kept.graph.output):
        if value.type.HasField("tensor_type"):  # of any rank, which the checker does not know
            value.type.tensor_type.shape.SetInParent()
    hide_known(kept)
    return kept


def hide_known(proto: onnx.ModelProto) -> None:
    """Moves ops that have a rule, but no definition in the onnx package or a deprecated one, to a domain that the
    checker does not look at: what onnxruntime writes into the default domain, and GroupNormalization of opset 18."""
    import onnx.defs

    version = {domain_of(opset.domain): opset.version for opset in proto.opset_import}.get("", OLDEST)

    def is_defined(name: str) -> bool:
        try:
            return not onnx.defs.get_schema(name, version, "").deprecated
        except onnx.defs.SchemaError:
            return False

    names = {node.op_type for node in proto.graph.node if not domain_of(node.domain)}
    hidden = {name for name in names if not is_defined(name)}
    if hidden:
        from . import ops  # noqa: F401  fills OPS
        from .registry import OPS

        hidden = {name for name in hidden if ("", name) in OPS}
    for node in proto.graph.node:
        if node.op_type in hidden and not domain_of(node.domain):
            node.domain = UNCHECKED
    if hidden:
        proto.opset_import.add(domain=UNCHECKED, version=1)


def modern(proto: onnx.ModelProto, weights: dict[str, Array]) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """Returns a model of an opset before `OLDEST` as one of that, and its weights; others unchanged.

    Raises:
        OnnxError: the onnx package cannot convert it.
    """
    import onnx
    from onnx import numpy_helper, version_converter

    opsets = {domain_of(opset.domain): opset.version for opset in proto.opset_import}
    version = opsets.get("", OLDEST)
    if not 1 <= version < OLDEST:
        return proto, weights
    whole = type(proto)()
    whole.CopyFrom(proto)
    for tensor in whole.graph.initializer:
        tensor.CopyFrom(numpy_helper.from_array(weights[tensor.name], tensor.name))
    onnx.checker.check_model(whole)
    slope_channels(whole)
    try:
        result = version_converter.convert_version(whole, OLDEST)
    except Exception as error:  # the package has no common type
        reason = one_line(error).rpartition(" failed: ")[2]
        raise OnnxError(
            f"opset {version} of ai.onnx is older than {OLDEST}, and the model does not convert: {reason}"
        ) from None
    return result, weights | {t.name: array_of(t) for t in result.graph.initializer}


def slope_channels(proto: onnx.ModelProto) -> None:
    """Gives slopes of PRelu, which opset 6 has for channels, a shape that broadcasts; the package converts none."""
    import onnx

    nodes = [node for node in proto.graph.node if node.op_type == "PRelu"]
    if not nodes:
        return
    graph = onnx.shape_inference.infer_shapes(proto).graph
    ranks = {x.name: len(x.type.tensor_type.shape.dim) for x in (*graph.input, *graph.value_info)}
    slopes = {tensor.name: tensor for tensor in proto.graph.initializer}
    for node in nodes:
        slope, rank = slopes.get(node.input[1]), ranks.get(node.input[0], 0)
        if slope is not None and len(slope.dims) == 1 and slope.dims[0] > 1 and rank > 2:
            result = proto.graph.initializer.add()
            result.CopyFrom(slope)
            result.name = f"{slope.name}_of_{node.output[0]}"
            result.dims.extend([1] * (rank - 2))
            node.input[1] = result.name
            if proto.ir_version < 4:  # where all initializers are inputs
                proto.graph.input.append(onnx.helper.make_tensor_value_info(result.name, result.data_type, result.dims))


def described(proto: onnx.ModelProto, path: Path, weights: dict[str, Array]) -> Model:
    graph = proto.graph
    inputs = [declared(value, "input") for value in graph.input]
    results = [declared(value, "output") for value in graph.output]
    functions = {(domain_of(f.domain), f.name, f.overload): f for f in proto.functions}
    opsets = {domain_of(opset.domain): opset.version for opset in proto.opset_import}
    from onnx.defs import onnx_opset_version

    if opsets.get("", 0) > onnx_opset_version():
        newest = onnx_opset_version()
        raise OnnxError(f"opset {opsets['']} of ai.onnx is newer than {newest}, the newest that the package onnx knows")
    return Model(
        path, proto, [x for x in inputs if x.name not in weights], [x.name for x in results], weights, opsets,
        functions, [x for x in inputs if x.name in weights], results,
    )  # fmt: skip


def declared(value: onnx.ValueInfoProto, what: str) -> Declared:
    """
    Raises:
        OnnxError: it is neither a tensor nor a sequence of tensors, or has a type that no program has.
    """
    from onnx import TensorProto, helper

    proto = value.type
    is_sequence = proto.WhichOneof("value") == "sequence_type"
    kind = proto.sequence_type.elem_type if is_sequence else proto
    if kind.WhichOneof("value") != "tensor_type":
        if what == "output":  # what it is says the program
            return Declared(value.name, None, np.dtype(object))
        found = str(proto.WhichOneof("value")).removesuffix("_type")
        raise OnnxError(f"{what} {value.name} is no tensor but {found}")
    tensor = kind.tensor_type
    if what == "input" and tensor.elem_type in (TensorProto.STRING, TensorProto.UNDEFINED):
        name = TensorProto.DataType.Name(tensor.elem_type).lower()
        raise OnnxError(f"{what} {value.name} has elements of type {name}; expected numbers")
    try:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    except (KeyError, TypeError, ValueError):
        raise OnnxError(f"{what} {value.name} has elements of the unknown type {tensor.elem_type}") from None
    if is_sequence or not tensor.HasField("shape"):
        return Declared(value.name, None, dtype, is_sequence)
    shape: list[int | str | None] = []
    for dim in tensor.shape.dim:
        size = dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else None
        # Paddle writes "?" for each dimension of any size.
        name = dim.dim_param.strip("?")
        shape.append(name or None if size is None else size)
    return Declared(value.name, tuple(shape), dtype)
