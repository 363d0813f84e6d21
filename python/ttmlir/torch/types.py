# SPDX-License-Identifier: Apache-2.0
"""Element types of PyTorch in the IR.

Integers keep their width in TTIR, where signless ones are signed; what the chip computes them in is decided by
`ttir-element-type-normalization` (docs/pipelines.md#integers).
"""

from __future__ import annotations

import functools

import torch

from .. import ir
from .errors import UnsupportedError

# dtype -> text of the MLIR type. f64 has no place on the chip and is refused where it would lose precision in silence:
# numbers that PyTorch keeps as 0-d f64 tensors become f32 constants.
ELEMENT_TYPES = {
    torch.float32: "f32",
    torch.float64: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i16",
    torch.int8: "i8",
    torch.uint8: "ui8",
    torch.uint16: "ui16",
    torch.uint32: "ui32",
    torch.bool: "i1",
}


def element_type(dtype: torch.dtype, context: ir.Context) -> ir.Type:
    """The MLIR type of elements of `dtype`.

    Raises:
        UnsupportedError: the chip has no such type (complex, quantised, float8, 64-bit unsigned).
    """
    text = ELEMENT_TYPES.get(dtype)
    if text is None:
        known = ", ".join(str(known).removeprefix("torch.") for known in ELEMENT_TYPES)
        raise UnsupportedError(f"tensors of {dtype} have no type on the chip; known: {known}")
    return _parsed(text, context)


@functools.lru_cache(maxsize=64)
def _parsed(text: str, context: ir.Context) -> ir.Type:
    return ir.Type.parse(text, context)


def is_float(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point


def is_integer(dtype: torch.dtype) -> bool:
    """Integers, without booleans."""
    return not dtype.is_floating_point and not dtype.is_complex and dtype is not torch.bool
