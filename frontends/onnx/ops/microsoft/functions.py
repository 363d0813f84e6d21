# SPDX-License-Identifier: Apache-2.0
"""Ops of com.microsoft that onnxruntime's optimizers and exporters write: activations, biases, small functions."""

from __future__ import annotations

import math

from ttmlir.dialects import stablehlo

from ...emitter import Emitter
from ...errors import Refused
from ...registry import MICROSOFT, Node, calling, op, refuse
from ...values import F32, I32, Value
from ..activations import gelu_tanh
from ..convolution import activated
from ..data_movement import known_ints
from ..elementwise import in_f32
from ..products.attention import difference
from ..products.factorization import inverse
from ..products.linear import fused_matmul, gemm


def gelu(g: Emitter, x: Value) -> Value:
    return g.ttir("gelu", x, dtype=x.dtype)


def quick_gelu(g: Emitter, x: Value, alpha: float) -> Value:
    """Returns x * sigmoid(alpha * x)"""
    return in_f32(g, lambda y: g.mul(y, g.unary(stablehlo.logistic, g.mul(y, g.scalar(alpha, y)))), x)


@op("Gelu", "BiasGelu", domain=MICROSOFT)
def bias_gelu(g: Emitter, node: Node, x: Value, bias: Value | None = None) -> Value:
    return gelu(g, x if bias is None else g.add(x, bias))


@op("FastGelu", domain=MICROSOFT)
def fast_gelu(g: Emitter, node: Node, x: Value, bias: Value | None = None) -> Value:
    x = x if bias is None else g.add(x, bias)
    return in_f32(g, lambda y: gelu_tanh(g, y), x)


@op("QuickGelu", domain=MICROSOFT)
def quick(g: Emitter, node: Node, x: Value) -> Value:
    return quick_gelu(g, x, node.get("alpha", 1.702))


@op("ScaledSiLU", domain=MICROSOFT)
def scaled_silu(g: Emitter, node: Node, x: Value, scale: Value | None = None) -> Value:
    factor = g.full((), node.get("alpha", 1.0), F32) if scale is None else g.cast(g.reshape(scale, ()), F32)
    y = g.cast(g.mul(g.cast(x, F32), factor), x.dtype)
    return g.mul(y, g.unary(stablehlo.logistic, y))


@op("SwiGLU", domain=MICROSOFT)
def swiglu(g: Emitter, node: Node, gate: Value, up: Value | None = None) -> Value:
    if up is None:
        half, rest = divmod(gate.shape[-1] if gate.rank else 1, 2)
        if rest:
            raise Refused(f"gate {gate!r}; expected an even number of elements in its last dimension")
        last = gate.rank - 1
        gate, up = g.slice_dim(gate, last, 0, half), g.slice_dim(gate, last, half, 2 * half)
    dtype = gate.dtype
    left, right = g.cast(gate, F32), g.cast(up, F32)
    limit = node.get("limit", 0.0)
    if limit > 0:
        most = g.full((), limit, F32)
        left, right = g.minimum(left, most), g.maximum(g.minimum(right, most), g.full((), -limit, F32))
    left = quick_gelu(g, left, node.get("activation_alpha", 1.0))
    left = g.cast(g.cast(left, dtype), F32) if node.get("round_activation", 0) else left
    beta = node.get("activation_beta", 0.0)
    return g.cast(g.mul(left, g.add(right, g.full((), beta, F32)) if beta else right), dtype)


@op("BiasAdd", domain=MICROSOFT)
def bias_add(g: Emitter, node: Node, x: Value, bias: Value, skip: Value) -> Value:
    return g.add(g.add(x, bias), skip)


@op("BiasSplitGelu", domain=MICROSOFT)
def bias_split_gelu(g: Emitter, node: Node, x: Value, bias: Value) -> Value:
    result = g.add(x, bias)
    half = result.shape[-1] // 2
    left, right = (g.slice_dim(result, result.rank - 1, i * half, (i + 1) * half) for i in (0, 1))
    return g.mul(left, gelu(g, right))


@op("GatedAdd", domain=MICROSOFT)
def gated_add(g: Emitter, node: Node, x: Value, y: Value, gate: Value, weight: Value | None = None) -> Value:
    if weight is not None:
        gate = g.unary(stablehlo.logistic, g.matmul(gate, weight))
    return g.add(x, g.mul(y, gate))


@op("BiasSoftmax", domain=MICROSOFT)
def bias_softmax(g: Emitter, node: Node, x: Value, bias: Value) -> Value:
    """Returns the softmax of the dimensions from the axis on, as one."""
    axis = node.get("axis", 1) % max(x.rank, 1)
    rows, columns = math.prod(x.shape[:axis]), math.prod(x.shape[axis:])
    result = g.reshape(g.add(x, bias), (rows, columns))
    return g.reshape(g.ttir("softmax", result, dtype=x.dtype, dimension=1, numeric_stable=True), x.shape)


def numbers_of(node: Node) -> list[float]:
    given = [node.get(f"activation_{name}") for name in ("alpha", "beta", "gamma")]
    return [float(x) for x in given if x is not None]


@op("FusedGemm", domain=MICROSOFT)
def fused_gemm(g: Emitter, node: Node, a: Value, b: Value, c: Value | None = None) -> Value:
    return activated(g, gemm(g, node, a, b, c), node.get("activation") or None, numbers_of(node))


@op("FusedMatMulActivation", domain=MICROSOFT)
def fused_matmul_activation(g: Emitter, node: Node, a: Value, b: Value) -> Value:
    return activated(g, fused_matmul(g, node, a, b), node.need("activation"), numbers_of(node))


@op("GemmFastGelu", domain=MICROSOFT)
def gemm_fast_gelu(g: Emitter, node: Node, a: Value, b: Value, bias: Value | None = None) -> Value:
    return fast_gelu(g, node, g.matmul(a, b), bias)


@op("GemmaRotaryEmbedding", domain=MICROSOFT)
def gemma_rotary_embedding(
    g: Emitter, node: Node, angle: Value, q: Value, q_turned: Value, k: Value, k_turned: Value
) -> tuple[Value, Value]:
    sin, cos = (
        g.expand_dims(g.cast(g.unary(function, angle), q.dtype), 1) for function in (stablehlo.sine, stablehlo.cosine)
    )
    first, second = (g.add(g.mul(x, cos), g.mul(y, sin)) for x, y in ((q, q_turned), (k, k_turned)))
    return first, second


@op("RelativePositionBias", domain=MICROSOFT)
def relative_position_bias(g: Emitter, node: Node, table: Value, rows: Value, columns: Value) -> Value:
    """Returns a number of the table for each head and the bucket of each distance, [1, heads, rows, columns].

    The table has the shape [buckets, heads], and its numbers lie as those of [heads, buckets].
    """
    (n,), (m,) = known_ints(rows, "query_length"), known_ints(columns, "key_length")
    if table.rank != 2:
        raise Refused(f"bias_table {table!r}; expected [buckets, heads]")
    buckets, heads = table.shape
    both = bool(node.get("is_bidirectional", 0))
    back = g.reshape(difference(g, n, m, None), (n, m))  # query less key
    buckets = buckets // 2 if both else buckets
    zero = g.full((), 0, I32)
    base = g.select(g.compare("LT", back, zero), g.full((), buckets if both else 0, I32), zero)
    back = g.unary(stablehlo.abs, back) if both else g.maximum(back, zero)
    exact = buckets // 2
    far = g.div(g.cast(g.maximum(back, g.full((), 1, I32)), F32), g.full((), exact, F32))
    span = math.log(node.need("max_distance") / exact)
    steps = g.mul(g.unary(stablehlo.log, far), g.full((), (buckets - exact) / span, F32))
    large = g.add(g.cast(steps, I32), g.full((), exact, I32))
    large = g.minimum(large, g.full((), buckets - 1, I32))
    bucket = g.add(base, g.select(g.compare("LT", back, g.full((), exact, I32)), back, large))
    return g.reshape(g.gather(g.reshape(table, (heads, table.shape[0])), bucket, 1), (1, heads, n, m))


@op("GatedRelativePositionBias", domain=MICROSOFT)
def gated_relative_position_bias(
    g: Emitter, node: Node, query: Value, query_bias: Value, distance: Value, weight: Value, bias: Value, scale: Value,
    offsets: Value | None = None,
) -> Value:  # fmt: skip
    if offsets is not None or query.rank != 3:
        raise Refused(f"query {query!r} with token_offset; expected [batch, positions, width] without it")
    heads = node.need("num_heads")
    batch, rows, width = query.shape
    x = g.reshape(g.add(query, query_bias), (batch, rows, heads, width // heads))
    x = g.add(g.matmul(g.transpose(x, [0, 2, 1, 3]), weight), bias)
    x = g.reduce("add", g.reshape(x, (batch, heads, rows, 2, bias.size // 2)), [4])
    x = g.unary(stablehlo.logistic, x)
    first, second = (g.slice_dim(x, 3, i, i + 1) for i in (0, 1))
    gate = g.mul(first, g.sub(g.mul(second, scale), g.scalar(1, second)))
    return g.mul(g.add(gate, g.scalar(2, gate)), distance)


@op("ExpandDims", domain=MICROSOFT, moves=True)
def expand_dims(g: Emitter, node: Node, x: Value, axis: Value) -> Value:
    (place,) = known_ints(axis, "axis")
    if not -x.rank - 1 <= place <= x.rank:
        raise Refused(f"axis {place}; expected one from {-x.rank - 1} to {x.rank}")
    return g.expand_dims(x, place)


# Rules of the default domain that these have, by the version of the op that they are.
SAME = {"Trilu": 14, "Range": 11, "GatherND": 13, "Pad": 13}


@op(*SAME, domain=MICROSOFT)
def same(g: Emitter, node: Node, *operands: Value | None) -> Value:
    return calling(g, node, node.op, *operands, version=SAME[node.op], **node.attributes)


@op("NhwcMaxPool", domain=MICROSOFT)
def nhwc_max_pool(g: Emitter, node: Node, x: Value) -> Value:
    first = g.transpose(x, [0, x.rank - 1, *range(1, x.rank - 1)])
    result = calling(g, node, "MaxPool", first, **node.attributes)
    return g.transpose(result, [0, *range(2, x.rank), 1])


@op("CDist", domain=MICROSOFT)
def cdist(g: Emitter, node: Node, a: Value, b: Value) -> Value:
    """Returns distances of rows, [m, n] and [k, n] -> [m, k]; by differences, as products lose digits of close rows."""
    metric = node.get("metric", "sqeuclidean")
    if metric not in ("sqeuclidean", "euclidean"):
        raise Refused(f"metric {metric!r}; expected sqeuclidean or euclidean")
    if a.rank != 2 or b.rank != 2 or a.shape[1] != b.shape[1]:
        raise Refused(f"operands {a!r} and {b!r}; expected matrices of as many columns")
    apart = g.sub(g.expand_dims(a, 1), g.expand_dims(b, 0))
    result = g.reduce("add", g.mul(apart, apart), [2])
    return result if metric == "sqeuclidean" else g.unary(stablehlo.sqrt, result)


@op("Inverse", domain=MICROSOFT)
def inverse_of(g: Emitter, node: Node, x: Value) -> Value:
    return inverse(g, x)


refuse("it searches or samples token by token, which has no form on the chip", "BeamSearch", "GreedySearch",
       "Sampling", "WhisperBeamSearch", "NGramRepeatBlock", "BifurcationDetector", domain=MICROSOFT)  # fmt: skip
refuse("it works on strings, which have no form on the chip", "Tokenizer", "MurmurHash3", "WordConvEmbedding",
       domain=MICROSOFT)  # fmt: skip
refuse("it drops elements at random, which training does", "BiasDropout", "BitmaskDropout", "BitmaskBiasDropout",
       domain=MICROSOFT)  # fmt: skip
refuse("its tensors have layouts or pages of another device", "PagedAttention", "PackedAttention",
       "PackedMultiHeadAttention", "SparseAttention", "LongformerAttention", "DecoderMaskedMultiHeadAttention",
       "DecoderMaskedSelfAttention", "DecoderAttention", "QOrderedMatMul", "QOrderedAttention", "QOrderedGelu",
       "QOrderedLayerNormalization", "QOrderedLongformerAttention", "QuantizeWithOrder", "DequantizeWithOrder",
       "QuantizeBFP", "DequantizeBFP", "MatMulFpQ4", "MatMulPacked", "RemovePadding", "RestorePadding", "GatherPacked",
       domain=MICROSOFT)  # fmt: skip
refuse("its weights have the layout of the processor that onnxruntime saved the model on; save it at the level "
       "ORT_ENABLE_EXTENDED or below", "Conv", "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool",
       "Upsample", "ReorderInput", "ReorderOutput", domain="com.microsoft.nchwc")  # fmt: skip
refuse("it calls another program", "EPContext", "Snpe", domain=MICROSOFT)
refuse("the number of its outputs' elements depends on the inputs' elements", "Unique", domain=MICROSOFT)
