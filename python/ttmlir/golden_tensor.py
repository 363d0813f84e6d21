# SPDX-License-Identifier: Apache-2.0
"""Values that go with a program, by the names that programs of the ecosystem have for them."""

from __future__ import annotations

import ctypes
import enum
from collections.abc import Sequence
from dataclasses import dataclass, field


class DataType(enum.IntEnum):
    """Element types of golden tensors."""

    Float32 = 0
    Float16 = 1
    BFloat16 = 2
    UInt32 = 9
    UInt16 = 10
    UInt8 = 11
    Int32 = 12


def lookup_dtype(enumName: str) -> DataType:
    """Returns the element type of this name.

    Raises:
        ValueError: there is none; names those there are.
    """
    try:
        return DataType[enumName]
    except KeyError:
        names = ", ".join(DataType.__members__)
        raise ValueError(f"no data type is called {enumName!r}; expected one of {names}") from None


@dataclass
class GoldenTensor:
    """A copy of `dataSize` bytes of row-major values from address `ptr`. strides are in elements."""

    name: str
    shape: Sequence[int]
    strides: Sequence[int]
    dtype: DataType
    ptr: int = field(repr=False)
    dataSize: int = field(repr=False)
    data: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.dataSize < 0 or (self.ptr == 0 and self.dataSize):
            raise ValueError(f"{self.name}: {self.dataSize} bytes at address {self.ptr}; expected memory of that size")
        self.data = ctypes.string_at(self.ptr, self.dataSize) if self.dataSize else b""
