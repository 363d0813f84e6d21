# SPDX-License-Identifier: Apache-2.0
"""Products of matrices and attention."""

from __future__ import annotations

import math
from typing import Any

from ttmlir.dialects import ttir

import torch

from ..errors import UnsupportedError
from ..lowering import Lowering, Number, Value, rule
from ..types import is_float


def product(g: Lowering, a: Value, b: Value) -> Value:
    """Returns a @ b of equal ranks; integers as sums of products."""
    if not a.size or not b.size:
        return g.full((*a.shape[:-1], b.shape[-1]), 0, a.dtype)
    return g.value(ttir.matmul(a.ir, b.ir), a.dtype)


@rule("mm", "bmm", "matmul", grows=True)
def mm(g: Lowering, a: Value, b: Value) -> Value:
    if min(a.rank, b.rank) < 2 or a.rank != b.rank:
        return matmul_of_ranks(g, a, b)
    return g.finish(product(g, a, b), g.out())


def matmul_of_ranks(g: Lowering, a: Value, b: Value) -> Value:
    """Returns torch.matmul of any ranks: vectors are rows or columns, batches broadcast."""
    return g.finish(product_of_ranks(g, a, b), g.out())


def product_of_ranks(g: Lowering, a: Value, b: Value) -> Value:
    x = g.reshape(a, (1, *a.shape)) if a.rank == 1 else a
    y = g.reshape(b, (*b.shape, 1)) if b.rank == 1 else b
    rank = max(x.rank, y.rank)
    x, y = (g.reshape(v, (1,) * (rank - v.rank) + v.shape) for v in (x, y))
    batch = torch.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    x, y = g.expand(x, (*batch, *x.shape[-2:])), g.expand(y, (*batch, *y.shape[-2:]))
    return product(g, x, y)


@rule("_int_mm")
def int_mm(g: Lowering, a: Value, b: Value) -> Value:
    return product(g, g.cast(a, torch.int32), g.cast(b, torch.int32))


@rule("mv", "dot", "vdot", grows=True)
def mv(g: Lowering, a: Value, b: Value) -> Value:
    return matmul_of_ranks(g, a, b)


@rule("linear", grows=True)
def linear(g: Lowering, x: Value, weight: Value, bias: Value | None = None) -> Value:
    if weight.rank == 1:
        result = matmul_of_ranks(g, x, weight)
        return result if bias is None else g.add(result, bias)
    rows = g.reshape(x, (1, x.shape[0])) if x.rank == 1 else x
    result = ttir.linear(rows.ir, weight.ir, bias=None if bias is None else bias.ir, transpose_b=True)
    return g.finish(g.value(result, x.dtype), g.out())


def added(g: Lowering, addend: Value, result: Value, beta: Number, alpha: Number) -> Value:
    """Returns beta * addend + alpha * result."""
    if alpha != 1:
        result = g.mul(result, g.scalar(alpha, result))
    if beta == 0:
        return result
    if beta != 1:
        addend = g.mul(addend, g.scalar(beta, addend))
    return g.add(addend, result)


@rule("addmm", "baddbmm", "addmv", grows=True)
def addmm(g: Lowering, addend: Value, a: Value, b: Value, beta: Number = 1, alpha: Number = 1) -> Value:
    out = g.out()
    if alpha == 1 and beta == 1 and a.rank == b.rank == 2 and addend.rank == 1 and a.size and b.size:
        return g.finish(g.value(ttir.linear(a.ir, b.ir, bias=addend.ir), a.dtype), out)
    result = product(g, a, b) if a.rank == b.rank else matmul_of_ranks_into(g, a, b)
    return g.finish(added(g, addend, result, beta, alpha), out)


def matmul_of_ranks_into(g: Lowering, a: Value, b: Value) -> Value:
    y = g.reshape(b, (*b.shape, 1))
    return g.reshape(product(g, a, y), a.shape[:-1])


@rule("addbmm", grows=True)
def addbmm(g: Lowering, addend: Value, a: Value, b: Value, beta: Number = 1, alpha: Number = 1) -> Value:
    result = g.reduce(ttir.sum, product(g, a, b), [0], False)
    return added(g, addend, result, beta, alpha)


@rule("addr", grows=True)
def addr(g: Lowering, addend: Value, a: Value, b: Value, beta: Number = 1, alpha: Number = 1) -> Value:
    out = g.out()
    result = g.mul(g.reshape(a, (a.size, 1)), g.reshape(b, (1, b.size)))
    return g.finish(added(g, g.cast(addend, out.dtype), g.cast(result, out.dtype), beta, alpha), out)


@rule("scaled_dot_product_attention", "_scaled_dot_product_flash_attention_for_cpu",
      "_scaled_dot_product_attention_math_for_mps", "_scaled_dot_product_fused_attention_overrideable")  # fmt: skip
def attention(
    g: Lowering,
    query: Value,
    key: Value,
    value: Value,
    *positional: Any,
    attn_mask: Value | None = None,
    scale: float | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    enable_gqa: bool = False,
    **options: Any,
) -> Any:
    """Returns softmax(query keyT scale + mask) value, [batch, heads, length, width]; with the logarithms of the sums of
    weights if a backward pass needs them.
    """
    several = isinstance(g.fake, tuple | list)
    if several:  # the op of the CPU: dropout_p, is_causal
        dropout_p, is_causal = (
            [*positional, dropout_p, is_causal][: max(len(positional), 2)][:2] if positional else (dropout_p, is_causal)
        )
    elif positional:
        attn_mask = positional[0]
        dropout_p = positional[1] if len(positional) > 1 else dropout_p
        is_causal = positional[2] if len(positional) > 2 else is_causal
    if dropout_p:
        raise UnsupportedError(f"attention with dropout {dropout_p}")
    if not several or not g.wants(1):
        out = g.out(0) if several else g.out()
        result = fused_attention(g, query, key, value, attn_mask, scale, is_causal)
        result = g.reshape(result, tuple(out.shape))
        return (result, result) if several else result
    scores = attention_scores(g, query, key, attn_mask, scale, is_causal)
    largest = g.reduce(ttir.max, scores, [3], True)
    # A row whose keys are all masked has weights 0, and so its gradients.
    seen = g.compare(ttir.gt, largest, g.scalar(-math.inf, largest))
    largest = g.where(seen, largest, g.scalar(0.0, largest))
    weights = g.call(ttir.exp, g.sub(scores, largest))
    total = g.reduce(ttir.sum, weights, [3], True)
    total = g.where(seen, total, g.scalar(1.0, total))
    result = product(g, g.cast(g.div(weights, total), query.dtype), value)
    sums = g.reshape(g.add(g.call(ttir.log, total), largest), tuple(g.out(1).shape))
    return g.finish(result, g.out(0)), g.cast(sums, g.out(1).dtype)


def additive(g: Lowering, mask: Value, dtype: torch.dtype) -> Value:
    """Returns a mask that is added: -inf where a boolean one is false."""
    if mask.dtype is not torch.bool:
        return g.cast(mask, dtype)
    zero, never = (g.full((1,) * mask.rank, x, dtype) for x in (0.0, -math.inf))
    return g.where(mask, zero, never)


def fused_attention(
    g: Lowering, query: Value, key: Value, value: Value, mask: Value | None, scale: float | None, causal: bool
) -> Value:
    if query.rank != 4:
        lead = (1,) * (4 - query.rank)
        query, key, value = (g.reshape(x, (*lead, *x.shape)) for x in (query, key, value))
        mask = None if mask is None else g.reshape(mask, (*(1,) * (4 - mask.rank), *mask.shape))
    options: dict[str, Any] = {}
    seen = None
    rows, columns = query.shape[2], key.shape[2]
    if mask is not None:
        mask = additive(g, mask, query.dtype)
        mask = g.reshape(mask, (1,) * (4 - mask.rank) + mask.shape)
        greatest = g.reduce(ttir.max, mask, [3], True)
        seen = g.compare(ttir.ne, greatest, g.scalar(-math.inf, greatest))  # NaN is seen
        options["attention_mask"] = g.expand(mask, (query.shape[0], mask.shape[1], rows, columns)).ir
    if scale is not None:
        options["scale"] = float(scale)
    result = g.value(
        ttir.scaled_dot_product_attention(query.ir, key.ir, value.ir, is_causal=causal, **options), query.dtype
    )
    # A row whose keys are all masked, as of padding, is 0 for PyTorch and NaN for the op.
    return result if seen is None else g.where(seen, result, g.scalar(0.0, result))


def causal_mask(g: Lowering, rows: int, columns: int) -> Value:
    """Returns [1, 1, rows, columns]: query i sees the keys 0 to i."""
    return g.compare(ttir.le, g.iota((1, 1, 1, columns), 3), g.iota((1, 1, rows, 1), 2))


def attention_scores(
    g: Lowering, query: Value, key: Value, mask: Value | None, scale: float | None, causal: bool
) -> Value:
    """Returns scores in f32, with the mask."""
    scale = scale if scale is not None else 1 / math.sqrt(query.shape[-1])
    # Rounded to a narrow type, large scores would be off by more than what softmax tells apart.
    query, key = g.cast(query, torch.float32), g.cast(key, torch.float32)
    scores = product(g, query, g.permute(key, [0, 1, 3, 2]))
    scores = g.mul(scores, g.scalar(scale, scores))
    if causal:
        scores = g.where(causal_mask(g, *scores.shape[-2:]), scores, g.scalar(-math.inf, scores))
    if mask is not None:
        scores = g.add(scores, additive(g, mask, torch.float32))
    return scores


@rule("_scaled_dot_product_flash_attention_for_cpu_backward")
def attention_backward(
    g: Lowering, grad: Value, query: Value, key: Value, value: Value, out: Value, logsumexp: Value,
    dropout_p: float, is_causal: bool, attn_mask: Value | None = None, scale: float | None = None,
) -> tuple[Value, Value, Value]:  # fmt: skip
    """Returns gradients of query, key and value, from the weights computed again."""
    factor = scale if scale is not None else 1 / math.sqrt(query.shape[-1])
    scores = attention_scores(g, query, key, attn_mask, scale, is_causal)
    sums = g.reshape(g.cast(logsumexp, torch.float32), (*query.shape[:3], 1))
    weights = g.call(ttir.exp, g.sub(scores, sums))
    wide_grad, wide_value = g.cast(grad, torch.float32), g.cast(value, torch.float32)
    of_value = product(g, g.permute(weights, [0, 1, 3, 2]), wide_grad)
    of_weights = product(g, wide_grad, g.permute(wide_value, [0, 1, 3, 2]))
    inner = g.reduce(ttir.sum, g.mul(wide_grad, g.cast(out, torch.float32)), [3], True)
    of_scores = g.mul(g.mul(weights, g.sub(of_weights, inner)), g.scalar(factor, weights))
    of_query = product(g, of_scores, g.cast(key, torch.float32))
    of_key = product(g, g.permute(of_scores, [0, 1, 3, 2]), g.cast(query, torch.float32))
    return tuple(g.cast(x, like.dtype) for x, like in ((of_query, query), (of_key, key), (of_value, value)))


def is_matrix(x: Value) -> bool:
    return x.rank == 2 and is_float(x.dtype)
