# SPDX-License-Identifier: Apache-2.0
"""Data formats: which of PyTorch's and of the chip's types they are, and rounding values to one."""

from __future__ import annotations

import torch
from ttmlir import ir
from ttmlir.dialects import ttir
from ttmlir.torch.lowering import Lowering, Value, rule

from .enums import Named
from .errors import FormatError


class DataFormat(Named):
    """Formats of tensors on the device. Names without `_b` have an exponent of 5 bits, those with it one of 8."""

    Float32 = 0
    Float16 = 1
    Bfp8 = 2
    Bfp4 = 3
    Bfp2 = 11
    Float16_b = 5
    Bfp8_b = 6
    Bfp4_b = 7
    Bfp2_b = 15
    Lf8 = 10
    UInt16 = 12
    Int8 = 14
    RawUInt8 = 0xF0
    RawUInt16 = 0xF1
    RawUInt32 = 0xF2
    Int32 = 8
    Invalid = 0xFF


class MathFidelity(Named):
    """Passes of the multipliers over an operand's mantissa."""

    LoFi = 0
    HiFi2 = 2
    HiFi3 = 3
    HiFi4 = 4
    Invalid = 0xFF


# The chip's name of each float format; the widest mantissa first.
FLOATS = {
    DataFormat.Float32: "f32",
    DataFormat.Float16: "f16",
    DataFormat.Float16_b: "bf16",
    DataFormat.Bfp8: "bfp_f8",
    DataFormat.Bfp8_b: "bfp_bf8",
    DataFormat.Bfp4: "bfp_f4",
    DataFormat.Bfp4_b: "bfp_bf4",
    DataFormat.Bfp2: "bfp_f2",
    DataFormat.Bfp2_b: "bfp_bf2",
}
# Formats of integers are those of the tensors that have them.
INTEGERS = {
    DataFormat.Int8: torch.int8,
    DataFormat.Int32: torch.int32,
    DataFormat.UInt16: torch.uint16,
    DataFormat.RawUInt8: torch.uint8,
    DataFormat.RawUInt16: torch.uint16,
    DataFormat.RawUInt32: torch.uint32,
}
OF_DTYPE = {
    torch.float64: DataFormat.Float32,
    torch.float32: DataFormat.Float32,
    torch.float16: DataFormat.Float16,
    torch.bfloat16: DataFormat.Float16_b,
    torch.int64: DataFormat.Int32,
    torch.bool: DataFormat.RawUInt8,
    torch.int16: DataFormat.Int32,
} | {dtype: name for name, dtype in INTEGERS.items()}
DTYPES = {
    DataFormat.Float32: torch.float32,
    DataFormat.Float16: torch.float16,
    DataFormat.Float16_b: torch.bfloat16,
}


def data_format_of(dtype: torch.dtype) -> DataFormat:
    """The format of a tensor of PyTorch.

    Raises:
        FormatError: the chip has none (complex, float8).
    """
    if dtype not in OF_DTYPE:
        raise FormatError(f"tensors of {dtype} have no data format; known: {', '.join(map(str, OF_DTYPE))}")
    return OF_DTYPE[dtype]


def check_float(data_format: object, what: str) -> DataFormat:
    """`data_format`, if values can be rounded to it.

    Raises:
        FormatError: it is none of the chip's float formats; `what` says where it was given.
    """
    if data_format not in FLOATS:
        known = ", ".join(member.name for member in FLOATS)
        raise FormatError(f"{what} is {data_format}; expected a float format of the chip: {known}")
    return data_format


@torch.library.custom_op("pybuda::round_to", mutates_args=())
def round_to(x: torch.Tensor, data_format: str) -> torch.Tensor:
    """The values of `x` as the chip's format holds them; the chip's, not PyTorch's, to compute."""
    raise FormatError(f"a value is rounded to {data_format} outside of a program")


@round_to.register_fake
def _(x: torch.Tensor, data_format: str) -> torch.Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


# The gradient passes as it is: rounding has a slope of 0 nearly everywhere.
round_to.register_autograd(lambda context, gradient: (gradient, None))


@rule("pybuda.round_to")
def _round_to(lowering: Lowering, x: Value, data_format: str) -> Value:
    is_block = data_format.startswith("bfp")
    element = ir.Type.parse(f"!ttcore.tile<32x32, {data_format}>" if is_block else data_format, lowering.context)
    whole = x if x.rank else lowering.reshape(x, (1,))
    # Folding the pair would leave the values as they are.
    kept = {"conservative_folding": True}
    rounded = ttir.typecast(whole.ir, results=[ir.RankedTensorType.get(list(whole.shape), element)], **kept)
    result = ttir.typecast(rounded, results=[whole.ir.type], **kept)
    return lowering.reshape(Value(result, whole.shape, x.dtype), x.shape)
