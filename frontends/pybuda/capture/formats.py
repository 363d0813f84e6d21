# SPDX-License-Identifier: Apache-2.0
"""Data formats: which of PyTorch's and of the chip's types they are, and rounding values to one."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch.fx import Graph
from ttmlir import ir
from ttmlir.dialects import ttcore, ttir
from ttmlir.torch.lowering import RULES, Lowering, Value, rule

from ..enums import Named
from ..errors import FormatError, OptionError


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


# The chip's name of each float format.
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
    DataFormat.Lf8: "lf8",
}
# What programs cannot have as the type of their tensors: they compute in f32, and each value is rounded.
ROUNDED_ONLY = frozenset({DataFormat.Lf8})
# Formats of integers are those of the tensors that have them.
INTEGERS = {
    DataFormat.Int8: torch.int8,
    DataFormat.Int32: torch.int32,
    DataFormat.UInt16: torch.uint16,
    DataFormat.RawUInt8: torch.uint8,
    DataFormat.RawUInt16: torch.uint16,
    DataFormat.RawUInt32: torch.uint32,
}
# What the packer clamps integers to: Int8 and Int32 are a sign and a magnitude.
LIMITS: dict[DataFormat, tuple[int, int | None]] = {
    DataFormat.Int8: (-127, 127),
    DataFormat.Int32: (-(2**31) + 1, 2**31 - 1),
    DataFormat.UInt16: (0, 2**16 - 1),
    DataFormat.RawUInt8: (0, 2**8 - 1),
    DataFormat.RawUInt16: (0, 2**16 - 1),
    DataFormat.RawUInt32: (0, None),
}
NARROW = (torch.int8, torch.uint8, torch.int16, torch.uint16, torch.bool)
OF_DTYPE = {
    torch.float64: DataFormat.Float32,
    torch.float32: DataFormat.Float32,
    torch.float16: DataFormat.Float16,
    torch.bfloat16: DataFormat.Float16_b,
    torch.int64: DataFormat.Int32,
    torch.bool: DataFormat.RawUInt8,
    torch.int16: DataFormat.Int32,
} | {dtype: name for name, dtype in INTEGERS.items()}


def data_format_of(dtype: torch.dtype) -> DataFormat:
    """Returns the format of a tensor of PyTorch.

    Raises:
        FormatError: the chip has none (complex, float8).
    """
    if dtype not in OF_DTYPE:
        raise FormatError(f"tensors of {dtype} have no data format; known: {', '.join(map(str, OF_DTYPE))}")
    return OF_DTYPE[dtype]


def _check(data_format: object, what: str, known: Iterable[DataFormat], kind: str) -> DataFormat:
    if not isinstance(data_format, DataFormat) or data_format not in known:
        said = data_format if isinstance(data_format, DataFormat) else f"{data_format!r}, which is no DataFormat"
        raise FormatError(f"{what} is {said}; expected {kind} of the chip: {', '.join(x.name for x in known)}")
    return data_format


def check_float(data_format: object, what: str) -> DataFormat:
    """Returns `data_format`, if values can be rounded to it.

    Raises:
        FormatError: it is none of the chip's float formats; `what` says where it was given.
    """
    return _check(data_format, what, FLOATS, "a float format")


def check_format(data_format: object, what: str) -> DataFormat:
    """Returns `data_format`, if tensors on the chip can have it.

    Raises:
        FormatError: it is none of the chip's formats; `what` says where it was given.
    """
    return _check(data_format, what, (*FLOATS, *INTEGERS), "a format")


def widened(x: torch.Tensor) -> torch.Tensor:
    """Returns integers as the chip computes them: in 32 bits."""
    return x.to(torch.int32) if x.dtype in NARROW else x


def as_integers(x: torch.Tensor, data_format: DataFormat, what: str) -> torch.Tensor:
    """Returns integers in an integer format; values beyond its range are clamped.

    Raises:
        FormatError: floats; the packer does not convert them.
    """
    if x.dtype.is_floating_point:
        raise FormatError(f"{what} has floats, and is to be {data_format.name}, which only integers can have")
    low, high = LIMITS[data_format]
    return widened(x).clamp(low, high).to(INTEGERS[data_format])


def check_fidelity(value: object, what: str) -> None:
    """
    Raises:
        OptionError: no fidelity of the chip; `what` says where it was given.
    """
    if not isinstance(value, MathFidelity) or value is MathFidelity.Invalid:
        raise OptionError(f"{what} is {value!r}; expected one of MathFidelity: LoFi, HiFi2, HiFi3, HiFi4")


@torch.library.custom_op("pybuda::round_to", mutates_args=())
def round_to(x: torch.Tensor, data_format: str, read: bool = False) -> torch.Tensor:
    """Returns the values of `x` as the chip's format holds them; the chip's, not PyTorch's, to compute.

    read: as one op reads them (`input_df`); else as they are stored.
    """
    raise FormatError(f"a value is rounded to {data_format} outside of a program")


@round_to.register_fake
def _(x: torch.Tensor, data_format: str, read: bool = False) -> torch.Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


# The gradient passes unchanged: rounding has a slope of 0 nearly everywhere.
round_to.register_autograd(lambda context, gradient: (gradient, None, None))


@rule("pybuda.round_to")
def _round_to(lowering: Lowering, x: Value, data_format: str, read: bool = False) -> Value:
    if data_format == "lf8":
        return _truncated_to_lf8(lowering, x)
    is_block = data_format.startswith("bfp")
    element = ir.Type.parse(f"!ttcore.tile<32x32, {data_format}>" if is_block else data_format, lowering.context)
    whole = x if x.rank else lowering.reshape(x, (1,))
    # Folding the pair would leave the values as they are.
    kept = {"conservative_folding": True}
    rounded = ttir.typecast(whole.ir, results=[ir.RankedTensorType.get(list(whole.shape), element)], **kept)
    result = ttir.typecast(rounded, results=[whole.ir.type], **kept)
    return lowering.reshape(Value(result, whole.shape, x.dtype), x.shape)


def _bits(number: float) -> int:
    """Returns the bits of an f32."""
    return struct.unpack("<i", struct.pack("<f", number))[0]


def _truncated_to_lf8(lowering: Lowering, x: Value) -> Value:
    """Rounds to Lf8: 5 bits of exponent, 2 of mantissa, no Inf, NaN or denormals: 2^-14 to 1.75 * 2^16.

    The packer takes the upper byte of what it would write as Float16: it truncates, and gives the largest number for
    Inf, NaN and what is beyond. Source: tt-isa-documentation, WormholeB0, TensixCoprocessor/Packers/FormatConversion.
    The type of MLIR with these fields, f8E5M2, rounds to nearest and has Inf and NaN. So it is done on the bits of f32,
    where what is larger has a larger pattern, Inf and NaN the largest.
    """
    words, wide = torch.int32, lowering.cast(x, torch.float32)
    bits = Value(ttir.bitcast_convert(wide.ir, results=[lowering.type(x.shape, words)]), x.shape, words)

    def number(value: int) -> Value:
        return lowering.scalar(value, bits)

    sign = lowering.elementwise(ttir.bitwise_and, bits, number(-(2**31)))
    magnitude = lowering.elementwise(ttir.bitwise_and, bits, number(2**31 - 1))
    magnitude = lowering.elementwise(ttir.minimum, magnitude, number(_bits(1.75 * 2.0**16)))
    magnitude = lowering.elementwise(ttir.bitwise_and, magnitude, number(-(2**21)))
    small = lowering.compare(ttir.lt, magnitude, number(_bits(2.0**-14)))
    magnitude = lowering.where(small, lowering.full(x.shape, 0, words), magnitude)
    packed = lowering.elementwise(ttir.bitwise_or, sign, magnitude)
    return lowering.cast(Value(ttir.bitcast_convert(packed.ir, results=[wide.ir.type]), x.shape, wide.dtype), x.dtype)


@torch.library.custom_op("pybuda::copy", mutates_args=())
def copied(x: torch.Tensor) -> torch.Tensor:
    """Returns a copy, which the chip holds in a separate buffer."""
    return x.clone(memory_format=torch.contiguous_format)


@copied.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


copied.register_autograd(lambda context, gradient: gradient)


@rule("pybuda.copy")
def _copy(lowering: Lowering, x: Value) -> Value:
    barrier = ttcore.OptimizationBarrierOp([x.ir.type], [x.ir])
    barrier.operation.attributes["ttcore.copy"] = ir.UnitAttr.get(lowering.context)
    return Value(barrier.results[0], x.shape, x.dtype)


@torch.library.custom_op("pybuda::product_by_parts", mutates_args=())
def product_by_parts(x: torch.Tensor, y: torch.Tensor, inner: int, data_format: str) -> torch.Tensor:
    """Returns the product of matrices, added up over parts of `inner` columns of `x`; between parts the sum is in
    memory, in the format. The chip's to compute."""
    raise FormatError("a product of parts is computed outside of a program")


@product_by_parts.register_fake
def _(x: torch.Tensor, y: torch.Tensor, inner: int, data_format: str) -> torch.Tensor:
    return x.new_empty((*x.shape[:-1], y.shape[-1]))


@rule("pybuda.product_by_parts")
def _product_by_parts(lowering: Lowering, x: Value, y: Value, inner: int, data_format: str) -> Value:
    total: Any = None
    size = x.shape[-1]
    for begin in range(0, size, inner):
        end = min(begin + inner, size)
        columns, rows = lowering.slice(x, x.rank - 1, begin, end), lowering.slice(y, y.rank - 2, begin, end)
        part = RULES["mm"](lowering, columns, rows)
        total = part if total is None else lowering.add(total, part)
        if end < size:
            total = _round_to(lowering, total, data_format)
    return total


# Functions of PyTorch that are products of matrices, with the number of their first factor.
PRODUCTS = {"mm": 0, "bmm": 0, "addmm": 1, "baddbmm": 1}


def split_products(graph: Graph, parts: Mapping[str, tuple[int, DataFormat]]) -> None:
    """Sums products, by the names of their nodes, over parts of this many elements of the inner dimension."""
    for node in [node for node in graph.nodes if node.name in parts]:
        first = PRODUCTS[node.target.overloadpacket.__name__]
        inner, data_format = parts[node.name]
        with graph.inserting_before(node):
            factors = node.args[first : first + 2]
            new = graph.call_function(torch.ops.pybuda.product_by_parts.default, (*factors, inner, FLOATS[data_format]))
            new.meta = dict(node.meta)
            if first:
                product = new
                new = graph.call_function(torch.ops.aten.add.Tensor, (product, node.args[0]))
                new.meta = dict(node.meta)
        node.replace_all_uses_with(new)
        graph.erase_node(node)
