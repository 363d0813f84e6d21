# SPDX-License-Identifier: Apache-2.0
"""Bytes of ONNX files: models without the values of their weights, and weights as views of mapped files."""

from __future__ import annotations

import math
import mmap
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from .errors import OnnxError
from .values import Array

if TYPE_CHECKING:
    import onnx

# Numbers of fields in onnx.proto.
GRAPH, INITIALIZER, RAW_DATA = 7, 5, 9
# Values of more bytes are not parsed with the model.
LARGEST_PARSED = 1024
# A sparse tensor may take as many bytes with its zeros, or as many times those of its values.
LARGEST_DENSE, MOST_ZEROS = 1 << 26, 256

Place = tuple[int, int]


class NotWalkable(Exception):
    """Raised for bytes that only the parser of protobuf can judge."""


def varint(data: memoryview, at: int, end: int) -> tuple[int, int]:
    """Returns a number and where it ends."""
    value = shift = 0
    while at < end and shift < 64:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise NotWalkable


def to_varint(value: int) -> bytes:
    result = bytearray()
    while value > 0x7F:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*result, value])


def fields(data: memoryview, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Yields number, begin, begin of the contents, and end of each field with a length; number 0 for other fields."""
    while at < end:
        begin = at
        key, at = varint(data, at, end)
        kind, inner = key & 7, at
        if kind == 0:
            _, at = varint(data, at, end)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        elif kind == 2:
            size, inner = varint(data, at, end)
            at = inner + size
        else:
            raise NotWalkable
        if at > end:
            raise NotWalkable
        yield key >> 3 if kind == 2 else 0, begin, inner, at


def without_values(data: memoryview) -> tuple[bytes, list[Place | None]]:
    """Returns a model without large values of its initializers, and where these are in the data.

    Raises:
        NotWalkable: the bytes are not those of a model.
    """
    places: list[Place | None] = []

    def rebuilt(at: int, end: int, path: tuple[int, ...]) -> bytes:
        """Returns a message without what `path` leads to: fields of fields."""
        parts: list[bytes | memoryview] = []
        cut: Place | None = None
        for number, begin, inner, after in fields(data, at, end):
            if number != path[0]:
                parts.append(data[begin:after])
            elif len(path) > 1:
                body = rebuilt(inner, after, path[1:])
                parts += [to_varint(number << 3 | 2), to_varint(len(body)), body]
            elif after - inner > LARGEST_PARSED:
                cut = inner, after
            else:
                parts.append(data[begin:after])
                cut = None
        if len(path) == 1:
            places.append(cut)
        return b"".join(parts)

    return rebuilt(0, len(data), (GRAPH, INITIALIZER, RAW_DATA)), places


def mapped(path: Path, what: str) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Returns the bytes of a regular file, which are read when they are looked at.

    Raises:
        OnnxError: it is not a regular file.
        OSError: it cannot be read.
    """
    with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OnnxError(f"{what} is no regular file")
        if not found.st_size:
            return np.empty(0, np.uint8)
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)


def read_part(path: Path, begin: int, end: int) -> Array:
    """Returns bytes of a file."""
    with open(path, "rb") as file:
        return np.fromfile(file, np.uint8, end - begin, offset=begin)


class Folder:
    """The folder of a model's external data. path: of the model's file; None where it has none."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._files: dict[Path, Array] = {}

    def external(self, tensor: onnx.TensorProto) -> Array:
        """Returns the values of a tensor in another file.

        Raises:
            OnnxError: the place is outside of the folder or of the file, or cannot be read.
        """
        entries = {entry.key: entry.value for entry in tensor.external_data}
        location = entries.get("location", "")
        what = f"external data {location!r} of tensor {tensor.name!r}"
        if self.path is None:
            raise OnnxError(f"{what}: the model was given without its folder; give the path of its file")
        parts = Path(location).parts
        if not location or "\0" in location or os.path.isabs(location) or ".." in parts or "\\" in location:
            raise OnnxError(f"{what}: expected a path below the folder of the model")
        file = self.path.parent / location
        target = Path(os.path.realpath(file))
        # A model that is a link to a file next to its data, as caches of hubs have them, is taken, too.
        folders = {Path(os.path.realpath(self.path.parent)), Path(os.path.realpath(self.path)).parent}
        if not any(target.is_relative_to(folder) for folder in folders):
            raise OnnxError(f"{what}: leads to {target}, which is outside of the folder of the model")
        if target not in self._files:
            try:
                self._files[target] = mapped(target, what)
            except OSError as error:
                raise OnnxError(f"{what}: {error.strerror or error}") from None
        data = self._files[target]
        try:
            offset = int(entries.get("offset", 0))
            length = int(entries["length"]) if "length" in entries else None
        except ValueError:
            raise OnnxError(f"{what}: offset and length are no numbers") from None
        if length is None:
            length = bytes_of(tensor)
        if offset < 0 or length < 0 or offset + length > data.size:
            raise OnnxError(f"{what}: bytes {offset} to {offset + length} of a file of {data.size}")
        return array_of(tensor, data[offset : offset + length])


def bytes_of(tensor: onnx.TensorProto) -> int:
    """Returns how many bytes the values of a tensor take.

    Raises:
        OnnxError: a type without a size, or a size that is negative.
    """
    from onnx import TensorProto, helper

    if any(n < 0 for n in tensor.dims):
        raise OnnxError(f"tensor {tensor.name!r} has the shape {list(tensor.dims)}")
    count = math.prod(tensor.dims)
    if tensor.data_type in narrow_types():
        return -(-count * (2 if "2" in TensorProto.DataType.Name(tensor.data_type)[-2:] else 4) // 8)
    try:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.data_type))
    except (KeyError, TypeError, ValueError):
        raise OnnxError(f"tensor {tensor.name!r} has elements of the unknown type {tensor.data_type}") from None
    if tensor.data_type == TensorProto.STRING:
        raise OnnxError(f"tensor {tensor.name!r} is of strings, which have no raw data")
    return count * dtype.itemsize


def narrow_types() -> set[int]:
    """Returns types of which a byte has several elements."""
    from onnx import TensorProto

    names = ("INT4", "UINT4", "INT2", "UINT2", "FLOAT4E2M1")
    return {getattr(TensorProto, name) for name in names if hasattr(TensorProto, name)}


def array_of(tensor: onnx.TensorProto, raw: Array | None = None) -> Array:
    """Returns the values of a tensor, or of `raw`, bytes stored elsewhere, without a copy if they are aligned.

    Raises:
        OnnxError: a type without values here, or another number of values than the shape has.
    """
    from onnx import TensorProto, helper, numpy_helper

    if raw is None and tensor.HasField("raw_data") and tensor.data_type not in narrow_types():
        raw = np.frombuffer(tensor.raw_data, np.uint8)
    if raw is None:
        try:
            return np.asarray(numpy_helper.to_array(tensor))
        except Exception as error:  # the package has no common type
            raise OnnxError(f"tensor {tensor.name!r}: {one_line(error)}") from None
    expected = bytes_of(tensor)
    if raw.size != expected:
        shape = list(tensor.dims)
        raise OnnxError(f"tensor {tensor.name!r}{shape} has {raw.size} bytes of values; expected {expected}")
    if tensor.data_type in narrow_types():
        unpacked = TensorProto(dims=tensor.dims, data_type=tensor.data_type, raw_data=raw.tobytes())
        return np.asarray(numpy_helper.to_array(unpacked))
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.data_type))
    if dtype == np.bool_:
        return (raw != 0).reshape(tuple(tensor.dims))
    if raw.size and raw.ctypes.data % dtype.alignment:
        raw = raw.copy()
    values: Array = raw.view(dtype).reshape(tuple(tensor.dims))
    return values


def dense_of(sparse: onnx.SparseTensorProto) -> Array:
    """Returns a sparse tensor with its zeros.

    Raises:
        OnnxError: places outside of the shape, or too few values for its size.
    """
    name = sparse.values.name
    values, indices, shape = array_of(sparse.values), array_of(sparse.indices), tuple(sparse.dims)
    size, most = math.prod(shape) * values.dtype.itemsize, max(LARGEST_DENSE, MOST_ZEROS * values.nbytes)
    if any(n < 0 for n in shape) or size > most:
        raise OnnxError(f"sparse tensor {name!r} of {values.size} values has the shape {list(shape)}")
    dense = np.zeros(shape, values.dtype if values.dtype != ml_dtypes.int4 else np.int8)
    limits = (dense.size,) if indices.ndim == 1 else shape
    places = indices.reshape(-1, len(limits)) if indices.size else indices.reshape(0, len(limits))
    if places.shape != (values.size, len(limits)) or ((places < 0) | (places >= np.array(limits))).any():
        raise OnnxError(f"sparse tensor {name!r}{list(shape)}: its indices {list(indices.shape)} do not lie within it")
    if indices.ndim == 1:
        dense.reshape(-1)[indices] = values.reshape(-1)
    else:
        dense[tuple(places.T)] = values.reshape(-1)
    return dense.astype(values.dtype, copy=False)


def one_line(error: BaseException) -> str:
    """Returns the first line of an error's message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def tensors_of(graph: Any) -> Iterator[Any]:
    """Yields the tensors that attributes of nodes have, those of inner graphs and their initializers included."""
    from onnx import AttributeProto

    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == AttributeProto.TENSOR:
                yield attribute.t
            elif attribute.type == AttributeProto.TENSORS:
                yield from attribute.tensors
            inner = [attribute.g] if attribute.type == AttributeProto.GRAPH else list(attribute.graphs)
            for each in inner:
                yield from each.initializer
                yield from tensors_of(each)
