# SPDX-License-Identifier: Apache-2.0
"""Values of the graph that is being imported: tensors of the program, known arrays, sequences and optionals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from ttmlir import ir

Array: TypeAlias = "np.ndarray[Any, Any]"
DType: TypeAlias = "np.dtype[Any]"

BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64 = (
    np.dtype(name)
    for name in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
        "float64",
    )
)  # fmt: skip
BF16, I4, U4, I2, U2 = (np.dtype(getattr(ml_dtypes, n)) for n in ("bfloat16", "int4", "uint4", "int2", "uint2"))
# MLIR's element types, by NumPy's; signless integers are signed.
ELEMENT_TYPES: dict[DType, str] = {
    BOOL: "i1", I8: "i8", I16: "i16", I32: "i32", I64: "i64", U8: "ui8", U16: "ui16", U32: "ui32", U64: "ui64",
    F16: "f16", F32: "f32", F64: "f64", BF16: "bf16", I4: "i4", U4: "ui4", I2: "i2", U2: "ui2",
} | {
    np.dtype(getattr(ml_dtypes, name)): mlir
    for name, mlir in {
        "float8_e4m3fn": "f8E4M3FN", "float8_e4m3fnuz": "f8E4M3FNUZ", "float8_e5m2": "f8E5M2",
        "float8_e5m2fnuz": "f8E5M2FNUZ", "float8_e8m0fnu": "f8E8M0FNU", "float4_e2m1fn": "f4E2M1FN",
        "float6_e2m3fn": "f6E2M3FN", "float6_e3m2fn": "f6E3M2FN",
    }.items()
}  # fmt: skip


def is_float(dtype: DType) -> bool:
    """Returns whether a type is a floating-point type, narrow ones included."""
    return dtype.kind == "f" or (dtype.kind == "V" and "float" in dtype.name)


def is_integer(dtype: DType) -> bool:
    """Returns whether a type is an integer type; bool is none."""
    return dtype.kind in "iu" or dtype in (I4, U4, I2, U2)


def is_unsigned(dtype: DType) -> bool:
    return dtype.kind == "u" or dtype in (U4, U2)


class Value:
    """A tensor: a value of the program, a known array, or both.

    dtype: NumPy's (with ml_dtypes). known: the elements, where they are known when the graph is imported.
    varying: the elements depend on sizes that the program leaves open; `known` has those of one sample point.
    emit: makes the value of the program of a varying array.
    """

    __slots__ = ("dtype", "emit", "ir", "known", "name", "shape", "varying")

    def __init__(
        self, shape: tuple[int, ...], dtype: DType, ir_value: ir.Value | None = None, known: Array | None = None
    ) -> None:
        self.shape, self.dtype, self.ir, self.known = shape, dtype, ir_value, known
        self.name, self.varying = "", False
        self.emit: Callable[[], Value] | None = None

    @classmethod
    def of(cls, array: Any, name: str = "") -> Value:
        """Returns a known array."""
        array = np.asarray(array)
        value = cls(array.shape, array.dtype, None, array)
        value.name = name
        return value

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def __repr__(self) -> str:
        return f"{self.dtype.name}{list(self.shape)}"


@dataclass(frozen=True)
class Sequence:
    """A sequence of tensors whose length is known."""

    items: tuple[Value, ...]
    dtype: DType | None = None


@dataclass(frozen=True)
class Optional:
    """An optional value. value: None where there is none."""

    value: Any = None


Given: TypeAlias = "Value | Sequence | Optional | None"
