# SPDX-License-Identifier: Apache-2.0
"""NumPy arrays as tensors of the runtime, and back."""

from __future__ import annotations

from typing import Any

import _ttmlir_runtime as tt
import ml_dtypes
import numpy as np

runtime = tt.runtime
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
    """Returns the type of NumPy that a program takes and gives instead, for those that the runtime does not know."""
    if dtype in DATA_TYPES:
        return dtype
    if np.issubdtype(dtype, np.complexfloating):
        return np.dtype(np.float32)  # twice as many: real and imaginary part
    if dtype in (ml_dtypes.int2, ml_dtypes.int4):
        return np.dtype(np.int32)
    if dtype == np.uint64:
        return np.dtype(np.uint32)
    return np.dtype(np.uint8 if dtype in (ml_dtypes.uint2, ml_dtypes.uint4) else np.float32)


def fits(array: np.ndarray, dtype: np.dtype) -> bool:
    """Returns whether values of an array are taken for an argument of another type."""
    return array.dtype == dtype or np.can_cast(array.dtype, dtype, "same_kind")


def require_held(array: np.ndarray) -> None:
    """
    Raises:
        ValueError: a value that the chip does not hold: it has 64-bit numbers in 32 bits.
    """
    if array.dtype == np.float64:
        finite = array[np.isfinite(array)]
        beyond = finite[np.abs(finite) > np.finfo(np.float32).max]
        if beyond.size:
            raise ValueError(f"value {beyond[0]} of float64 does not fit into the float32 in which the chip holds it")
    elif array.dtype == np.uint64 and array.size and array.max() >= 2**32:
        raise ValueError(f"value {array.max()} of uint64 does not fit into the 32 bits in which the chip holds it")


def send(array: np.ndarray, dtype: np.dtype) -> Any:
    """Returns the values of an array, copied, as a tensor of the runtime for an argument of `dtype`.

    Raises:
        ValueError: see `require_held`.
    """
    rows = array.astype(dtype, copy=False)
    require_held(rows)
    if np.iscomplexobj(rows):
        rows = np.stack([rows.real, rows.imag], -1)
    # Scalars, too: `ascontiguousarray` would make them vectors.
    rows = rows.astype(held_type(dtype), order="C", copy=False)
    strides = [step // rows.itemsize for step in rows.strides]
    return runtime.create_owned_host_tensor(
        rows.ctypes.data, list(rows.shape), strides, rows.itemsize, DATA_TYPES[rows.dtype]
    )


def fetch(result: Any, dtype: np.dtype) -> np.ndarray:
    """Returns the values of a result of `dtype`."""
    (host,) = runtime.to_host(result, untilize=True)
    is_pair = np.issubdtype(dtype, np.complexfloating)
    values = np.empty(tuple(host.shape), held_type(dtype))
    runtime.memcpy(values.ctypes.data, host, DATA_TYPES[values.dtype])
    return (values[..., 0] + 1j * values[..., 1] if is_pair else values).astype(dtype, copy=False)
