# SPDX-License-Identifier: Apache-2.0
"""Ops of com.microsoft on 8-bit tensors with scales: computed in f32 and quantized again."""

from __future__ import annotations

from collections.abc import Callable

from ttmlir.dialects import stablehlo

from ...emitter import Emitter
from ...errors import Refused
from ...registry import MICROSOFT, Node, calling, op
from ...values import BOOL, F32, I32, U8, Value, is_float
from ..data_movement import dimension
from ..products.quantized import by_channel, dequantized, integer_product, is_zero, quantized, shifted, unpacked


def number(g: Emitter, x: Value) -> Value:
    """Returns a scale or zero point of a whole tensor as a scalar.

    Raises:
        Refused: it has several elements.
    """
    if x.size != 1:
        raise Refused(f"scale or zero point {x!r}; expected one element")
    return g.reshape(x, ())


def real(g: Emitter, x: Value, scale: Value, zero: Value | None) -> Value:
    """Returns the real values of a tensor's integers, in f32."""
    return dequantized(g, x, number(g, scale), None if zero is None else number(g, zero), F32)


def requantized(g: Emitter, x: Value, scale: Value, zero: Value | None, like: Value) -> Value:
    """Returns f32 numbers as integers of the type of the zero point, or of `like`."""
    dtype = like.dtype if zero is None else zero.dtype
    quotient = g.div(x, g.cast(number(g, scale), F32))
    return quantized(g, quotient, None if zero is None else number(g, zero), dtype)


BINARY: dict[str, Callable[[Emitter, Value, Value], Value]] = {
    "QLinearAdd": lambda g, a, b: g.add(a, b),
    "QLinearMul": lambda g, a, b: g.mul(a, b),
}


@op(*BINARY, domain=MICROSOFT)
def binary(
    g: Emitter, node: Node, a: Value, a_scale: Value, a_zero: Value | None, b: Value, b_scale: Value,
    b_zero: Value | None, y_scale: Value, y_zero: Value | None = None,
) -> Value:  # fmt: skip
    result = BINARY[node.op](g, real(g, a, a_scale, a_zero), real(g, b, b_scale, b_zero))
    return requantized(g, result, y_scale, y_zero, a)


def softmax(g: Emitter, node: Node, x: Value) -> Value:
    return calling(g, node, "Softmax", x, version=node.get("opset", 13), axis=node.get("axis", -1))


def reduce_mean(g: Emitter, node: Node, x: Value) -> Value:
    axes = node.get("axes")
    more = {} if axes is None else {"axes": axes}
    return calling(g, node, "ReduceMean", x, version=13, keepdims=node.get("keepdims", 1), **more)


def pooled(name: str) -> Callable[[Emitter, Node, Value], Value]:
    def rule(g: Emitter, node: Node, x: Value) -> Value:
        attributes = {k: v for k, v in node.attributes.items() if k != "channels_last"}
        if not node.get("channels_last", 0):
            return calling(g, node, name, x, **attributes)
        result = calling(g, node, name, g.transpose(x, [0, x.rank - 1, *range(1, x.rank - 1)]), **attributes)
        return g.transpose(result, [0, *range(2, x.rank), 1])

    return rule


UNARY: dict[str, Callable[[Emitter, Node, Value], Value]] = {
    "QLinearSigmoid": lambda g, node, x: g.unary(stablehlo.logistic, x),
    "QLinearLeakyRelu": lambda g, node, x: calling(g, node, "LeakyRelu", x, alpha=node.get("alpha", 0.01)),
    "QLinearSoftmax": softmax,
    "QLinearReduceMean": reduce_mean,
    "QLinearAveragePool": pooled("AveragePool"),
    "QLinearGlobalAveragePool": pooled("GlobalAveragePool"),
}


@op(*UNARY, domain=MICROSOFT)
def unary(
    g: Emitter, node: Node, x: Value, x_scale: Value, x_zero: Value | None, y_scale: Value,
    y_zero: Value | None = None,
) -> Value:  # fmt: skip
    result = UNARY[node.op](g, node, real(g, x, x_scale, x_zero))
    return requantized(g, result, y_scale, y_zero, x)


@op("QLinearConcat", domain=MICROSOFT)
def concat(g: Emitter, node: Node, y_scale: Value, y_zero: Value, *operands: Value) -> Value:
    if not operands or len(operands) % 3:
        raise Refused(f"{len(operands)} operands; expected tensors, each with its scale and zero point")
    parts = [real(g, *operands[i : i + 3]) for i in range(0, len(operands), 3)]
    return requantized(g, g.concat(parts, dimension(node.need("axis"), parts[0].rank)), y_scale, y_zero, y_zero)


@op("QLinearWhere", domain=MICROSOFT)
def where(
    g: Emitter, node: Node, condition: Value, x: Value, x_scale: Value, x_zero: Value, y: Value, y_scale: Value,
    y_zero: Value, z_scale: Value, z_zero: Value,
) -> Value:  # fmt: skip
    result = g.select(g.cast(condition, BOOL), real(g, x, x_scale, x_zero), real(g, y, y_scale, y_zero))
    return requantized(g, result, z_scale, z_zero, x)


@op("QGemm", domain=MICROSOFT)
def gemm(
    g: Emitter, node: Node, a: Value, a_scale: Value, a_zero: Value, b: Value, b_scale: Value, b_zero: Value,
    c: Value | None = None, y_scale: Value | None = None, y_zero: Value | None = None,
) -> Value:  # fmt: skip
    if a.rank != 2 or b.rank != 2:
        raise Refused(f"operands {a!r} and {b!r}; expected matrices")
    a = g.transpose(a, [1, 0]) if node.get("transA", 0) else a
    b = g.transpose(b, [1, 0]) if node.get("transB", 0) else b
    result = integer_product(g, a, b, a_zero, b_zero)
    result = result if c is None else g.add(result, c)
    factor = g.mul(number(g, a_scale), by_channel(g, b_scale, result, 1))
    result = g.mul(g.cast(result, F32), g.mul(factor, g.full((), node.get("alpha", 1.0), F32)))
    return result if y_scale is None else requantized(g, result, y_scale, y_zero, a)


@op("MulInteger", domain=MICROSOFT)
def mul_integer(g: Emitter, node: Node, a: Value, a_zero: Value | None, b: Value, b_zero: Value | None = None) -> Value:
    return g.mul(shifted(g, a, a_zero), shifted(g, b, b_zero))


@op("GatherBlockQuantized", domain=MICROSOFT)
def gather_block_quantized(
    g: Emitter, node: Node, data: Value, indices: Value, scales: Value, zeros: Value | None = None
) -> Value:
    """Returns rows of a table of few bits, as floats; zeros for indices that are not inside."""
    rank, block = data.rank, node.get("block_size", 128)
    axis, along = (dimension(node.get(name, d), rank) for name, d in (("gather_axis", 0), ("quantize_axis", 1)))
    bits = node.get("bits", 4)
    if data.dtype == U8:
        if bits not in (2, 4, 8) or (bits < 8 and axis == rank - 1):
            raise Refused(f"bits {bits} along axis {axis}; expected 2, 4 or 8, and another axis than the last one")
        data = unpacked(g, data, bits)
        zeros = zeros if zeros is None else unpacked(g, zeros, bits)
        if zeros is not None and zeros.shape[-1] != scales.shape[-1]:
            zeros = g.slice_dim(zeros, rank - 1, 0, scales.shape[-1])
        middle = 2 ** (bits - 1)
    else:
        middle = 0
    block = block or data.shape[along]
    if scales.rank != rank or scales.shape[along] != -(-data.shape[along] // block):
        raise Refused(f"scales {scales!r} of {data!r} in blocks of {block} along axis {along}")
    size = data.shape[axis]
    places = g.wrapped(g.cast(indices, I32), size)
    inside = g.binary(
        stablehlo.and_, g.compare("GE", places, g.full((), 0, I32)), g.compare("LT", places, g.full((), size, I32))
    )
    places = g.minimum(g.maximum(places, g.full((), 0, I32)), g.full((), size - 1, I32))

    def taken(x: Value) -> Value:
        """Returns the elements at the places, each block's parameter as often as it has elements."""
        x = g.cast(x, F32)
        if along == axis:
            x = g.gather(x, g.binary(stablehlo.divide, places, g.full((), block, I32)), axis)
            return x
        if x.shape[axis] == 1 and size != 1:
            x = g.broadcast(x, [size if d == axis else n for d, n in enumerate(x.shape)])
        x = g.gather(x, places, axis)
        at = along if along < axis else along + indices.rank - 1
        count = data.shape[along]
        if x.shape[at] == 1:
            return x
        result = g.expand_dims(x, at + 1)
        result = g.broadcast(result, [*x.shape[: at + 1], block, *x.shape[at + 1 :]])
        result = g.reshape(result, [*x.shape[:at], x.shape[at] * block, *x.shape[at + 1 :]])
        return g.slice_dim(result, at, 0, count)

    result = g.gather(g.cast(data, F32) if is_float(data.dtype) else g.cast(data, I32), places, axis)
    result = g.cast(result, F32)
    if zeros is not None and not is_zero(zeros):
        result = g.sub(result, taken(zeros))
    elif zeros is None and middle:
        result = g.sub(result, g.full((), middle, F32))
    result = g.mul(result, taken(scales))
    kept = g.reshape(inside, [*(1,) * axis, *indices.shape, *(1,) * (rank - 1 - axis)])
    return g.cast(g.select(kept, result, g.full((), 0, F32)), scales.dtype)
