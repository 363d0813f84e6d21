# SPDX-License-Identifier: Apache-2.0
"""Quantized tensors: conversions, and products of 8-bit integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from ttmlir import ir
from ttmlir.dialects import stablehlo

from onnx import helper

from ...emitter import Emitter
from ...errors import Refused
from ...registry import MICROSOFT, Node, op
from ...values import F32, I8, I32, U8, DType, Value, is_float, is_integer

# Types that hold no infinity and no NaN; conversions to them keep to their largest numbers by themselves.
FINITE = ("float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn")


def type_named(number: int) -> DType:
    """Returns NumPy's type for an element type of ONNX."""
    try:
        return np.dtype(helper.tensor_dtype_to_np_dtype(number))
    except (KeyError, TypeError, ValueError):
        raise Refused(f"element type {number} is unknown") from None


def is_zero(x: Value | None) -> bool:
    """Returns whether a zero point is left out or known to be 0."""
    return x is None or (x.known is not None and not x.varying and not x.known.astype(np.float32).any())


def spread(g: Emitter, parameter: Value, x: Value, axis: int, block: int) -> Value:
    """Returns scales or zero points so that they broadcast to `x`.

    block: the number of elements that share one, where the parameter has the rank of `x`; 0 for none.

    Raises:
        Refused: the shape is none of a tensor's, an axis' or of blocks.
    """
    if parameter.size == 1:
        return g.reshape(parameter, ())
    if not -x.rank <= axis < x.rank and x.rank > 1:
        raise Refused(f"axis {axis}; expected one of {x!r}")
    axis = axis % x.rank if x.rank > 1 else 0
    if parameter.rank == 1 and (x.rank > 1 or not block) and x.rank:
        if parameter.size != x.shape[axis]:
            raise Refused(f"scale or zero point {parameter!r} along axis {axis} of {x!r}; expected {x.shape[axis]}")
        return g.reshape(parameter, [n if d == axis else 1 for d, n in enumerate(x.shape)])
    blocks = -(-x.shape[axis] // block) if block > 0 and parameter.rank == x.rank else -1
    if parameter.shape != tuple(blocks if d == axis else n for d, n in enumerate(x.shape)):
        raise Refused(
            f"scale or zero point {parameter!r} of {x!r} with block_size {block} and axis {axis}; expected one "
            "element, one for each index of the axis, or one for each block"
        )
    if block == 1:
        return parameter
    result = g.expand_dims(parameter, axis + 1)
    shape = [*parameter.shape[: axis + 1], block, *parameter.shape[axis + 1 :]]
    result = g.reshape(g.broadcast(result, shape), [blocks * block if d == axis else n for d, n in enumerate(x.shape)])
    return g.slice_dim(result, axis, 0, x.shape[axis])


def dequantized(g: Emitter, x: Value, scale: Value, zero: Value | None, dtype: DType) -> Value:
    """Returns (x - zero) * scale, computed in f32."""
    if not is_zero(zero):
        assert zero is not None
        wide = I32 if x.dtype == I32 else F32
        x = g.sub(g.cast(x, wide), g.cast(zero, wide))
    return g.cast(g.mul(g.cast(x, F32), g.cast(scale, F32)), dtype)


def saturated(g: Emitter, x: Value, dtype: DType) -> Value:
    """Returns f32 numbers in a narrow type, those beyond its range as the nearest one of the range."""
    if is_integer(dtype):
        info: Any = ml_dtypes.iinfo(dtype)
        low, high = float(info.min), float(info.max)
    elif dtype.name in FINITE:
        return g.cast(x, dtype)
    else:
        high = float(ml_dtypes.finfo(dtype).max)
        low = -high
    return g.cast(g.minimum(g.maximum(x, g.scalar(low, x)), g.scalar(high, x)), dtype)


def quantized(g: Emitter, x: Value, zero: Value | None, dtype: DType, saturate: bool = True) -> Value:
    """Returns numbers that are divided by their scale already in a narrow type."""
    x = g.cast(x, F32)
    offset = None if zero is None or is_zero(zero) else g.cast(zero, F32)
    if not is_integer(dtype):
        x = x if offset is None else g.add(x, offset)
        return saturated(g, x, dtype) if saturate else g.cast(x, dtype)
    info: Any = ml_dtypes.iinfo(dtype)
    # A large number has no place for the fractions of numbers below 2^22: their halves are rounded to even. Less the
    # offset it is exact, too.
    large = rest = g.full((), 1.5 * 2**23, F32)
    if offset is not None:
        rest = g.sub(large, offset)
    if offset is None or (zero is not None and zero.known is not None and zero.size == 1 and not zero.varying):
        at = 0 if offset is None or zero is None or zero.known is None else int(zero.known.reshape(-1)[0])
        low, high = (ir.FloatAttr.get_f32(float(n - at)) for n in (info.min, info.max))
        x = g.ttir("clamp_scalar", x, dtype=F32, min=low, max=high)
    else:
        least, most = (g.sub(g.full((), float(n), F32), offset) for n in (info.min, info.max))
        x = g.minimum(g.maximum(x, least), most)
    return g.cast(g.sub(g.add(x, large), rest), dtype)


@op("QuantizeLinear")
@op("QuantizeLinear", domain=MICROSOFT)
def quantize_linear(g: Emitter, node: Node, x: Value, scale: Value, zero: Value | None = None) -> Value:
    named = node.get("output_dtype", 0)
    dtype = type_named(named) if named else U8 if zero is None else zero.dtype
    if zero is not None and zero.dtype != dtype:
        raise Refused(f"y_zero_point is of type {zero.dtype.name} and output_dtype {dtype.name}; expected one type")
    if not is_integer(dtype) and not (is_float(dtype) and dtype.itemsize == 1):
        raise Refused(f"elements of type {dtype.name} are not quantized; expected integers or floats of 8 bits or less")
    if zero is not None and zero.shape != scale.shape and (zero.size, scale.size) != (1, 1):
        raise Refused(f"y_scale {scale!r} and y_zero_point {zero!r} have different shapes")
    axis, block = node.get("axis", 1), node.get("block_size", 0)
    wide = type_named(node.get("precision")) if node.get("precision", 0) else scale.dtype
    if not is_float(wide) or wide.itemsize == 1:
        wide = F32
    quotient = g.div(g.cast(x, wide), g.cast(spread(g, scale, x, axis, block), wide))
    zero = None if is_zero(zero) or zero is None else spread(g, zero, x, axis, block)
    return quantized(g, quotient, zero, dtype, bool(node.get("saturate", 1)))


def is_weight(inputs: Sequence[Any]) -> bool:
    """Returns whether integers of 8 bits may be weights of a product, which the compiler multiplies directly."""
    x = inputs[0] if inputs else None
    return isinstance(x, Value) and x.rank > 1 and x.dtype in (I8, U8)


@op("DequantizeLinear", keep=is_weight)
@op("DequantizeLinear", domain=MICROSOFT, keep=is_weight)
def dequantize_linear(g: Emitter, node: Node, x: Value, scale: Value, zero: Value | None = None) -> Value:
    dtype = type_named(node.get("output_dtype")) if node.get("output_dtype", 0) else scale.dtype
    if not is_float(dtype) or dtype.itemsize == 1:
        raise Refused(f"the result would be of type {dtype.name}; expected output_dtype, a float of 16 or 32 bits")
    if zero is not None and zero.dtype != x.dtype:
        raise Refused(f"x is of type {x.dtype.name} and x_zero_point of {zero.dtype.name}; expected one type")
    if zero is not None and zero.shape != scale.shape and (zero.size, scale.size) != (1, 1):
        raise Refused(f"x_scale {scale!r} and x_zero_point {zero!r} have different shapes")
    axis, block = node.get("axis", 1), node.get("block_size", 0)
    zero = None if is_zero(zero) or zero is None else spread(g, zero, x, axis, block)
    return dequantized(g, x, spread(g, scale, x, axis, block), zero, dtype)


def dynamic_scale(g: Emitter, x: Value) -> tuple[Value, Value]:
    """Returns scale and zero point (u8), [] each, by which the range of `x` and 0 become 0 to 255."""
    nothing = g.scalar(0, x)
    every = range(x.rank)
    low = g.minimum(g.reduce("minimum", x, every), nothing)
    high = g.maximum(g.reduce("maximum", x, every), nothing)
    scale = g.div(g.sub(high, low), g.scalar(255, x))
    scale = g.select(g.compare("EQ", high, low), g.scalar(1, x), scale)
    zero = g.unary(stablehlo.round_nearest_even, g.div(g.sub(nothing, low), scale))
    return scale, saturated(g, zero, U8)


@op("DynamicQuantizeLinear")
def dynamic_quantize_linear(g: Emitter, node: Node, x: Value) -> tuple[Value, Value, Value]:
    scale, zero = dynamic_scale(g, x)
    return quantized(g, g.div(x, scale), zero, U8), scale, zero


#
# Products of integers
#


def require_bytes(*operands: Value) -> None:
    for x in operands:
        if x.dtype not in (I8, U8):
            raise Refused(f"operand {x!r}; expected integers of 8 bits")


def rowwise(g: Emitter, parameter: Value, x: Value) -> Value:
    """Returns a parameter of a matrix' rows, [m] or [..., m, 1], so that it broadcasts to [..., m, k]."""
    if parameter.size == 1 and parameter.rank <= 1:
        return g.reshape(parameter, ())
    return g.expand_dims(parameter, 1) if parameter.rank == 1 and x.rank > 1 else parameter


def columnwise(g: Emitter, parameter: Value) -> Value:
    """Returns a parameter of a matrix' columns, [n] or [..., 1, n], so that it broadcasts to [..., k, n]."""
    return g.reshape(parameter, ()) if parameter.size == 1 and parameter.rank <= 1 else parameter


def shifted(g: Emitter, x: Value, zero: Value | None) -> Value:
    """Returns x - zero in i32; of bytes that are computed, by floats, of which vectors hold more."""
    if is_zero(zero):
        return g.cast(x, I32)
    assert zero is not None
    dtype = F32 if x.known is None and x.dtype in (I8, U8) else I32
    result = g.cast(g.sub(g.cast(x, dtype), g.cast(zero, dtype)), I32)
    if result.shape != x.shape:
        raise Refused(f"zero point {zero!r} of {x!r}; expected a shape that broadcasts to it")
    return result


def integer_product(g: Emitter, a: Value, b: Value, a_zero: Value | None, b_zero: Value | None) -> Value:
    """Returns (a - a_zero) @ (b - b_zero) in i32."""
    require_bytes(a, b)
    a_zero = None if a_zero is None else rowwise(g, a_zero, a)
    b_zero = None if b_zero is None else columnwise(g, b_zero)
    return g.matmul(shifted(g, a, a_zero), shifted(g, b, b_zero))


@op("MatMulInteger")
def matmul_integer(
    g: Emitter, node: Node, a: Value, b: Value, a_zero: Value | None = None, b_zero: Value | None = None
) -> Value:
    return integer_product(g, a, b, a_zero, b_zero)


@op("QLinearMatMul")
def qlinear_matmul(
    g: Emitter, node: Node, a: Value, a_scale: Value, a_zero: Value, b: Value, b_scale: Value, b_zero: Value,
    y_scale: Value, y_zero: Value,
) -> Value:  # fmt: skip
    scales = [g.cast(x, F32) for x in (rowwise(g, a_scale, a), columnwise(g, b_scale), columnwise(g, y_scale))]
    if is_float(a.dtype) or is_float(b.dtype):
        left = dequantized(g, a, scales[0], rowwise(g, a_zero, a), F32)
        right = dequantized(g, b, scales[1], columnwise(g, b_zero), F32)
        result = g.div(g.matmul(left, right), scales[2])
    else:
        whole = g.cast(integer_product(g, a, b, a_zero, b_zero), F32)
        result = g.mul(whole, g.div(g.mul(scales[0], scales[1]), scales[2]))
    return quantized(g, result, columnwise(g, y_zero), y_zero.dtype)


def windows(
    node: Node, sizes: tuple[int, ...], kernel: tuple[int, ...]
) -> tuple[list[int], list[int], list[tuple[int, int]]]:
    """Returns strides, dilations, and the padding of each spatial dimension."""
    rank = len(sizes)
    strides, dilations = (list(node.get(name, [1] * rank)) for name in ("strides", "dilations"))
    pads = list(node.get("pads", [0] * 2 * rank))
    auto = node.get("auto_pad", "NOTSET")
    if len(strides) != rank or len(dilations) != rank or len(pads) != 2 * rank or min(*strides, *dilations) < 1:
        raise Refused(f"strides {strides}, dilations {dilations} and pads {pads} of {rank} spatial dimensions")
    if auto in ("NOTSET", ""):
        return strides, dilations, [(pads[d], pads[d + rank]) for d in range(rank)]
    if auto not in ("VALID", "SAME_UPPER", "SAME_LOWER"):
        raise Refused(f"auto_pad {auto}; expected NOTSET, VALID, SAME_UPPER or SAME_LOWER")
    found = []
    for n, k, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True):
        steps = -(-n // stride) - 1
        total = max(0, steps * stride + (k - 1) * dilation + 1 - n) if auto != "VALID" else 0
        found.append((total // 2, total - total // 2) if auto == "SAME_UPPER" else (total - total // 2, total // 2))
    return strides, dilations, found


def integer_convolution(
    g: Emitter, node: Node, x: Value, w: Value, x_zero: Value | None, w_zero: Value | None, last: bool = False
) -> Value:
    """Returns the convolution of (x - x_zero) with (w - w_zero) in i32; padding is 0 after the subtraction.

    last: of images, and to images, whose last dimension are channels.
    """
    require_bytes(x, w)
    groups, rank = node.get("group", 1), x.rank - 2
    if rank < 1 or w.rank != x.rank:
        raise Refused(f"convolution of {x!r} with {w!r}; expected equal ranks of at least 3")
    channels, sizes = (x.shape[-1], x.shape[1:-1]) if last else (x.shape[1], x.shape[2:])
    if groups < 1 or channels != w.shape[1] * groups or w.shape[0] % groups:
        raise Refused(f"convolution of {x!r} with {w!r} in {groups} groups: the channels do not agree")
    if tuple(node.get("kernel_shape", w.shape[2:])) != w.shape[2:]:
        raise Refused(f"kernel_shape {node.get('kernel_shape')} of weights {w!r}")
    if x_zero is not None and x_zero.size != 1:
        raise Refused(f"zero point {x_zero!r} of the input; expected one element")
    strides, dilations, pads = windows(node, sizes, w.shape[2:])
    x = shifted(g, x, None if x_zero is None else g.reshape(x_zero, ()))
    w = shifted(g, w, None if w_zero is None else by_channel(g, w_zero, w, 0))
    return convolution(g, x, w, strides, dilations, pads, groups, last)


def by_channel(g: Emitter, parameter: Value, x: Value, channel: int) -> Value:
    """Returns a parameter of one element, or of one for each channel, so that it broadcasts to `x`."""
    if parameter.size == 1:
        return g.reshape(parameter, ())
    if parameter.rank != 1 or parameter.size != x.shape[channel]:
        raise Refused(f"scale or zero point {parameter!r}; expected one element or {x.shape[channel]}")
    return g.reshape(parameter, [n if d == channel else 1 for d, n in enumerate(x.shape)])


def convolution(
    g: Emitter, x: Value, w: Value, strides: list[int], dilations: list[int], pads: list[tuple[int, int]], groups: int,
    last: bool,
) -> Value:  # fmt: skip
    rank = x.rank - 2
    shape = [x.shape[0], w.shape[0]]
    sizes = x.shape[1:-1] if last else x.shape[2:]
    for n, k, stride, dilation, (low, high) in zip(sizes, w.shape[2:], strides, dilations, pads, strict=True):
        reach = n + low + high - (k - 1) * dilation - 1
        if reach < 0:
            raise Refused(f"windows of {(k - 1) * dilation + 1} elements do not fit into {n + low + high}")
        shape.append(reach // stride + 1)
    if last:
        shape = [shape[0], *shape[2:], shape[1]]
    places = ", ".join(map(str, range(rank)))
    images = f"b, {places}, f" if last else f"b, f, {places}"
    numbers = g.attribute(f"#stablehlo.conv<[{images}]x[o, i, {places}]->[{images}]>")
    i64 = ir.IntegerType.get_signless(64, g.context)
    rows = ", ".join(f"[{low}, {high}]" for low, high in pads)
    padding = g.attribute(f"dense<[{rows}]> : tensor<{rank}x2xi64>")
    result = stablehlo.convolution(
        g.ir(x), g.ir(w), numbers, ir.IntegerAttr.get(i64, groups), ir.IntegerAttr.get(i64, 1),
        window_strides=g.ints(strides), padding=padding, rhs_dilation=g.ints(dilations),
        results=[g.type(shape, x.dtype)],
    )  # fmt: skip
    return Value(tuple(shape), x.dtype, result)


@op("ConvInteger")
def conv_integer(
    g: Emitter, node: Node, x: Value, w: Value, x_zero: Value | None = None, w_zero: Value | None = None
) -> Value:
    return integer_convolution(g, node, x, w, x_zero, w_zero)


@op("QLinearConv")
@op("QLinearConv", domain=MICROSOFT)
def qlinear_conv(
    g: Emitter, node: Node, x: Value, x_scale: Value, x_zero: Value, w: Value, w_scale: Value, w_zero: Value,
    y_scale: Value, y_zero: Value, b: Value | None = None,
) -> Value:  # fmt: skip
    is_last = bool(node.get("channels_last", 0))
    # Bytes are packed for kernels instead of values computed from them.
    if not is_last:
        x = g.transpose(x, [0, *range(2, x.rank), 1])
    result = integer_convolution(g, node, x, w, x_zero, w_zero, last=True)
    channel = result.rank - 1
    if b is not None:
        result = g.add(result, by_channel(g, b, result, channel))
    factor = g.mul(g.reshape(x_scale, ()), by_channel(g, w_scale, result, channel))
    result = g.mul(g.cast(result, F32), g.div(factor, g.reshape(y_scale, ())))
    result = quantized(g, result, g.reshape(y_zero, ()), y_zero.dtype)
    return result if is_last else g.transpose(result, [0, channel, *range(1, channel)])


#
# Products of floats and weights of few bits
#


def unpacked(g: Emitter, packed: Value, bits: int) -> Value:
    """Returns the numbers of `bits` bits in each byte, low ones first: [..., n] u8 -> [..., n * 8 / bits] i32."""
    if bits == 8:
        return g.cast(packed, I32)
    each = 8 // bits
    wide = g.expand_dims(g.cast(packed, I32), packed.rank)
    places = Value.of(np.arange(0, 8, bits, dtype=np.int32).reshape((1,) * packed.rank + (each,)))
    moved = g.binary(stablehlo.shift_right_logical, wide, places)
    parts = g.binary(stablehlo.and_, moved, g.scalar(2**bits - 1, moved))
    return g.reshape(parts, (*packed.shape[:-1], packed.shape[-1] * each))


def weights_of_blocks(
    g: Emitter, packed: Value, scales: Value, zeros: Value | None, rows: int, columns: int, bits: int, block: int,
    order: Value | None = None,
) -> Value:  # fmt: skip
    """Returns packed weights, [rows, columns] in the type of the scales.

    packed: rows * blocks * bytes of a block. scales: of each block. zeros: of each block, packed alike, or numbers of
    the scales' type. order: the block of each column, where blocks are not consecutive.
    """
    blocks = -(-columns // block)
    if bits not in (2, 4, 8) or block * bits % 8:
        raise Refused(f"weights of {bits} bits in blocks of {block}; expected 2, 4 or 8 bits and whole bytes")
    if packed.size != rows * blocks * block * bits // 8 or scales.size != rows * blocks:
        raise Refused(
            f"weights {packed!r} and scales {scales!r}; expected {rows * blocks} blocks of {block * bits // 8} bytes"
        )
    weights = unpacked(g, g.reshape(packed, (rows, blocks, block * bits // 8)), bits)
    scales = g.reshape(scales, (rows, blocks))
    if zeros is None:
        offsets = g.full((1, 1), 2 ** (bits - 1), F32)
    elif is_float(zeros.dtype):
        offsets = g.cast(g.reshape(zeros, (rows, blocks)), F32)
    else:
        each = -(-blocks * bits // 8)
        if zeros.size != rows * each:
            raise Refused(f"zero points {zeros!r}; expected {rows} rows of {each} bytes")
        offsets = g.slice_dim(unpacked(g, g.reshape(zeros, (rows, each)), bits), 1, 0, blocks)
        offsets = g.cast(offsets, F32)
    whole = g.cast(weights, F32)
    if order is None:
        factors, offsets = g.expand_dims(g.cast(scales, F32), 2), g.expand_dims(offsets, 2)
        result = g.reshape(g.mul(g.sub(whole, offsets), factors), (rows, blocks * block))
        result = g.slice_dim(result, 1, 0, columns)
    else:
        whole = g.slice_dim(g.reshape(whole, (rows, blocks * block)), 1, 0, columns)
        place = g.slice_dim(g.cast(order, I32), 0, 0, columns)
        factors = g.gather(g.cast(scales, F32), place, 1)
        offsets = offsets if zeros is None else g.gather(offsets, place, 1)
        result = g.mul(g.sub(whole, offsets), factors)
    return g.cast(result, scales.dtype)


@op("MatMulNBits", domain=MICROSOFT)
def matmul_n_bits(
    g: Emitter, node: Node, a: Value, b: Value, scales: Value, zeros: Value | None = None,
    order: Value | None = None, bias: Value | None = None,
) -> Value:  # fmt: skip
    columns, rows = node.need("K"), node.need("N")
    weights = weights_of_blocks(g, b, scales, zeros, rows, columns, node.get("bits", 4), node.need("block_size"), order)
    if not a.rank or a.shape[-1] != columns:
        raise Refused(f"operand {a!r}; expected {columns} elements in its last dimension")
    result = g.dot(a, g.cast(weights, a.dtype), ((a.rank - 1,), (1,)))
    return result if bias is None else g.add(result, g.cast(bias, a.dtype))


@op("MatMulIntegerToFloat", domain=MICROSOFT)
def matmul_integer_to_float(
    g: Emitter, node: Node, a: Value, b: Value, a_scale: Value, b_scale: Value, a_zero: Value | None = None,
    b_zero: Value | None = None, bias: Value | None = None,
) -> Value:  # fmt: skip
    result = g.cast(integer_product(g, a, b, a_zero, b_zero), a_scale.dtype)
    result = g.mul(result, g.mul(rowwise(g, a_scale, a), columnwise(g, b_scale)))
    return result if bias is None else g.add(result, bias)


@op("DynamicQuantizeMatMul", domain=MICROSOFT)
def dynamic_quantize_matmul(
    g: Emitter, node: Node, a: Value, b: Value, b_scale: Value, b_zero: Value | None = None, bias: Value | None = None
) -> Value:
    scale, zero = dynamic_scale(g, a)
    result = integer_product(g, quantized(g, g.div(a, scale), zero, U8), b, zero, b_zero)
    result = g.mul(g.cast(result, F32), g.mul(scale, columnwise(g, b_scale)))
    return result if bias is None else g.add(result, bias)


__all__ = ["dequantized", "is_zero", "quantized", "saturated", "spread", "type_named", "unpacked"]
