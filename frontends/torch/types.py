# SPDX-License-Identifier: Apache-2.0
"""Element types of PyTorch in the IR.

Integers keep their width in TTIR, where signless ones are signed; what the chip computes them in is decided by
`ttir-element-type-normalization` (docs/pipelines.md#integers).
"""

from __future__ import annotations

from collections.abc import Callable

from ttmlir import ir

import torch

from .errors import UnsupportedError


def _signless(width: int) -> Callable[[ir.Context], ir.Type]:
    return lambda context: ir.IntegerType.get_signless(width, context)


def _unsigned(width: int) -> Callable[[ir.Context], ir.Type]:
    return lambda context: ir.IntegerType.get_unsigned(width, context)


# dtype -> the MLIR type in a context. f64 has no place on the chip and is refused where it would lose precision in
# silence: numbers that PyTorch keeps as 0-d f64 tensors become f32 constants.
ELEMENT_TYPES: dict[torch.dtype, Callable[[ir.Context], ir.Type]] = {
    torch.float32: ir.F32Type.get,
    torch.float64: ir.F32Type.get,
    torch.float16: ir.F16Type.get,
    torch.bfloat16: ir.BF16Type.get,
    torch.int64: _signless(64),
    torch.int32: _signless(32),
    torch.int16: _signless(16),
    torch.int8: _signless(8),
    torch.uint8: _unsigned(8),
    torch.uint16: _unsigned(16),
    torch.uint32: _unsigned(32),
    torch.bool: _signless(1),
}

# Integers that hold fewer values than 32 bits.
NARROW = (torch.uint8, torch.int8, torch.uint16, torch.int16)


def element_type(dtype: torch.dtype, context: ir.Context) -> ir.Type:
    """Returns the MLIR type of elements of `dtype`.

    Raises:
        UnsupportedError: the chip has no such type (complex, quantised, float8, 64-bit unsigned).
    """
    result = ELEMENT_TYPES.get(dtype)
    if result is None:
        known = ", ".join(str(known).removeprefix("torch.") for known in ELEMENT_TYPES)
        raise UnsupportedError(f"tensors of {dtype} have no type on the chip; known: {known}")
    return result(context)


def is_float(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point


def is_integer(dtype: torch.dtype) -> bool:
    """Returns integers, without booleans."""
    return not dtype.is_floating_point and not dtype.is_complex and dtype is not torch.bool
