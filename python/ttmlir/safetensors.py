# SPDX-License-Identifier: Apache-2.0
"""Tensors in a file of the safetensors format: eight bytes with the size of a header in JSON, the header, the values.

Source: https://github.com/huggingface/safetensors#format. Read by mapping the file: values are not copied.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np

from .files import whole_file

# Name in the header -> numpy's type.
DTYPES = {
    "F64": np.dtype("float64"), "F32": np.dtype("float32"), "F16": np.dtype("float16"),
    "BF16": np.dtype(ml_dtypes.bfloat16), "I64": np.dtype("int64"), "I32": np.dtype("int32"), "I16": np.dtype("int16"),
    "I8": np.dtype("int8"), "U32": np.dtype("uint32"), "U16": np.dtype("uint16"), "U8": np.dtype("uint8"),
    "BOOL": np.dtype("bool"),
}  # fmt: skip
NAMES = {dtype: name for name, dtype in DTYPES.items()}
LARGEST_HEADER = 100 << 20  # bytes, as the format's own library has it


def write(path: str | os.PathLike[str], tensors: Mapping[str, np.ndarray]) -> None:
    """Writes tensors by name, whole or not at all.

    Raises:
        ValueError: a dtype that the format lacks; names the tensor.
    """
    header: dict[str, Any] = {}
    end = 0
    for name, array in tensors.items():
        if array.dtype not in NAMES:
            raise ValueError(f"{os.fspath(path)}: {name} has elements of type {array.dtype}, which the format lacks")
        begin, end = end, end + array.nbytes
        header[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 64)
    with whole_file(path) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in tensors.values():
            file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def read(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """Returns the tensors of a file by name, as views of the mapped file that cannot be written.

    Raises:
        OSError: the file cannot be opened.
        ValueError: it is not of the format; names the file, the tensor and what was expected.
    """
    where = os.fspath(path)
    size = os.path.getsize(path)
    if size < 8:
        raise ValueError(f"{where}: has {size} bytes; a safetensors file begins with 8 for the size of its header")
    data = np.memmap(path, np.uint8, "r")
    length = int.from_bytes(data[:8].tobytes(), "little")
    if length > min(size - 8, LARGEST_HEADER):
        raise ValueError(f"{where}: no safetensors file: a header of {length} bytes in a file of {size}")
    try:
        header = json.loads(data[8 : 8 + length].tobytes())
        entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
    except (ValueError, AttributeError, RecursionError):
        raise ValueError(f"{where}: no safetensors file: its header is no JSON object") from None
    return {name: _tensor(f"{where}: {name}", entry, data[8 + length :]) for name, entry in entries.items()}


def _tensor(where: str, entry: Any, values: np.ndarray) -> np.ndarray:
    try:
        dtype, shape, (begin, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{where}: expected dtype, shape and data_offsets") from None
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ValueError(f"{where}: dtype {dtype!r} is not known; known: {', '.join(DTYPES)}")
    numbers = [begin, end, *shape] if isinstance(shape, list) else [None]
    if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in numbers):
        raise ValueError(f"{where}: shape {shape!r} at {[begin, end]!r}; expected lists of sizes")
    needed = math.prod(shape) * DTYPES[dtype].itemsize
    if end - begin != needed or end > values.size:
        raise ValueError(
            f"{where}: bytes {begin} to {end} of {values.size} for {dtype}{shape}, which takes {needed} bytes"
        )
    part = values[begin:end]
    # Values need not be aligned in the file; those that are not are copied.
    if (part.ctypes.data % DTYPES[dtype].itemsize) if part.size else False:
        part = part.copy()
    return part.view(DTYPES[dtype]).reshape(shape)
