# SPDX-License-Identifier: Apache-2.0
"""Attention as onnxruntime's domain com.microsoft has it: merged projections, padding masks, caches of keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from ttmlir.dialects import stablehlo

from ...emitter import Emitter
from ...errors import NEEDS_VALUES, Refused
from ...registry import MICROSOFT, Node, op
from ...values import F32, I32, Value, is_integer
from ..products.attention import (
    BIASED,
    WEIGHTS,
    Mask,
    angles,
    attend,
    difference,
    join_heads,
    positions,
    rotate,
    size_of,
    split_heads,
)  # fmt: skip
from ..products.quantized import columnwise, integer_product

FILTER = -10000.0  # what is added to the scores of keys that padding masks leave out


def refuse_given(node: Node, names: Sequence[str], *operands: Value | None) -> None:
    """
    Raises:
        Refused: an operand is there whose meaning is not known here.
    """
    for name, operand in zip(names, operands, strict=True):
        if operand is not None:
            raise Refused(f"{node.op} with {name} has no form on the chip; expected it to be left out")


def filtered(g: Emitter, node: Node, kept: Value, dtype: np.dtype) -> Value:
    """Returns 0 where a key is kept, and the filter value elsewhere."""
    low = max(
        node.get("mask_filter_value", FILTER), float(np.finfo(np.float16).min) if dtype.itemsize == 2 else -3.4e38
    )
    return g.select(kept, g.full((), 0, dtype), g.full((), low, dtype))


def padding(g: Emitter, node: Node, given: Value, batch: int, rows: int, columns: int, dtype: np.dtype) -> Value:
    """Returns the term that a mask of any form adds to scores.

    [batch]: the numbers of keys. [2 batch]: these, and the first keys. [batch, columns], [batch, rows, columns]: not 0
    for keys that are seen. [batch, 1, n, n]: the same, of which the last rows of the first columns are taken.
    """
    if not is_integer(given.dtype):
        raise Refused(f"mask {given!r}; expected integers")
    place, shape = positions(g, columns, 3), given.shape
    given = g.cast(given, I32)
    nothing = g.full((), 0, I32)
    if given.rank == 1 and given.size in (batch, 2 * batch):
        ends = g.reshape(g.slice_dim(given, 0, 0, batch), (batch, 1, 1, 1))
        kept = g.compare("LT", place, ends)
        if given.size == 2 * batch and batch:
            begins = g.reshape(g.slice_dim(given, 0, batch, 2 * batch), (batch, 1, 1, 1))
            kept = g.binary(stablehlo.and_, kept, g.compare("GE", place, begins))
    elif shape == (batch, columns):
        kept = g.compare("GT", g.reshape(given, (batch, 1, 1, columns)), nothing)
    elif shape == (batch, rows, columns):
        kept = g.compare("GT", g.reshape(given, (batch, 1, rows, columns)), nothing)
    elif given.rank == 4 and shape[:2] == (batch, 1) and shape[2] == shape[3] >= columns:
        part = g.slice_dim(g.slice_dim(given, 2, columns - rows, columns), 3, 0, columns)
        kept = g.compare("GT", part, nothing)
    else:
        raise Refused(f"mask {given!r} of {batch} x {rows} queries and {columns} keys has none of the forms known here")
    return filtered(g, node, kept, dtype)


def masked(g: Emitter, node: Node, q: Value, columns: int, past: int, given: Value | None, added: Value | None) -> Mask:
    """Returns the mask of padding, of a bias, and of later positions. past: keys before those of the queries."""
    batch, _, rows, _ = q.shape
    mask = Mask()
    if given is not None:
        mask.add(g, padding(g, node, given, batch, rows, columns, F32))
    if added is not None:
        mask.add(g, g.cast(added, F32))
    if node.get("unidirectional", 0):
        if rows == columns and not past and mask.added is None:
            mask.causal = True
        else:
            back = difference(g, rows, columns, size_of(g, past) if past else None)
            seen = g.compare("GE", back, g.full((), 0, I32))
            if columns > rows + past:  # onnxruntime's last query sees all keys of another sequence
                last = g.sub(size_of(g, rows), g.full((), 1, I32))
                seen = g.binary(stablehlo.or_, seen, g.compare("EQ", positions(g, rows, 2), last))
            mask.allow(g, seen)
    return mask


def parts_of(g: Emitter, x: Value, sizes: Sequence[int]) -> list[Value]:
    """Returns pieces of the last dimension."""
    ends = np.cumsum(sizes)
    if x.shape[-1] != ends[-1]:
        raise Refused(f"{x!r} has {x.shape[-1]} elements in its last dimension; expected {' + '.join(map(str, sizes))}")
    return [g.slice_dim(x, x.rank - 1, int(end) - n, int(end)) for n, end in zip(sizes, ends, strict=True)]


def scale_of(node: Node) -> float | None:
    return node.get("scale", 0.0) or None


def merged(
    g: Emitter, node: Node, projected: Value, sizes: Sequence[int], given: Value | None, past: Value | None,
    added: Value | None = None,
) -> tuple[Value, Value]:  # fmt: skip
    """Returns the attention of queries, keys and values side by side, and the cache, [2, batch, heads, n, size]."""
    heads = node.need("num_heads")
    q, k, v = (split_heads(g, x, heads, "the projection") for x in parts_of(g, projected, sizes))
    before = 0
    if past is not None:
        before = past.shape[3] if past.rank == 5 else 0
        if past.shape != (2, *k.shape[:2], before, k.shape[3]) or k.shape != v.shape:
            raise Refused(f"past is {past!r}; expected [2, batch, heads, positions, size] for keys {k!r}")
        olds = [g.reshape(g.slice_dim(past, 0, i, i + 1), past.shape[1:]) for i in (0, 1)]
        k, v = g.concat([olds[0], k], 2), g.concat([olds[1], v], 2)
    mask = masked(g, node, q, k.shape[2], before, given, added)
    result, _ = attend(g, q, k, v, mask, scale_of(node), guarded=False)
    present = g.concat([g.expand_dims(k, 0), g.expand_dims(v, 0)], 0) if node.wants(1) and k.shape == v.shape else k
    return join_heads(g, result), present


@op("Attention", domain=MICROSOFT)
def attention(
    g: Emitter, node: Node, x: Value, weights: Value, bias: Value | None = None, mask: Value | None = None,
    past: Value | None = None, added: Value | None = None, past_length: Value | None = None,
) -> tuple[Value, Value]:  # fmt: skip
    refuse_given(node, ["past_sequence_length"], past_length)
    if node.get("do_rotary", 0) or node.get("past_present_share_buffer", 0):
        raise Refused("Attention with do_rotary or past_present_share_buffer has no form on the chip")
    result = g.matmul(x, weights)
    result = result if bias is None else g.add(result, bias)
    sizes = node.get("qkv_hidden_sizes") or [result.shape[-1] // 3] * 3
    return merged(g, node, result, sizes, mask, past, added)


@op("QAttention", domain=MICROSOFT)
def quantized_attention(
    g: Emitter, node: Node, x: Value, weights: Value, bias: Value, x_scale: Value, w_scale: Value,
    mask: Value | None = None, x_zero: Value | None = None, w_zero: Value | None = None, past: Value | None = None,
) -> tuple[Value, Value]:  # fmt: skip
    if node.get("do_rotary", 0) or node.get("past_present_share_buffer", 0):
        raise Refused("QAttention with do_rotary or past_present_share_buffer has no form on the chip")
    whole = g.cast(integer_product(g, x, weights, x_zero, w_zero), bias.dtype)
    result = g.add(g.mul(whole, g.mul(g.reshape(x_scale, ()), columnwise(g, w_scale))), bias)
    return merged(g, node, result, [result.shape[-1] // 3] * 3, mask, past)


def unpacked(g: Emitter, x: Value, count: int) -> list[Value]:
    """Returns [batch, positions, heads, count, size] as `count` tensors [batch, heads, positions, size]."""
    if x.rank != 5 or x.shape[3] != count:
        raise Refused(f"packed operand {x!r}; expected [batch, positions, heads, {count}, size]")
    batch, rows, heads, _, size = x.shape
    parts = [g.reshape(g.slice_dim(x, 3, i, i + 1), (batch, rows, heads, size)) for i in range(count)]
    return [g.transpose(part, [0, 2, 1, 3]) for part in parts]


@op("MultiHeadAttention", domain=MICROSOFT)
def multi_head_attention(
    g: Emitter, node: Node, query: Value, key: Value | None = None, value: Value | None = None,
    bias: Value | None = None, padded: Value | None = None, added: Value | None = None, past_k: Value | None = None,
    past_v: Value | None = None, past_length: Value | None = None, beams: Value | None = None,
) -> tuple[Value | None, ...]:  # fmt: skip
    refuse_given(node, ["past_sequence_length", "cache_indirection"], past_length, beams)
    if (past_k is None) != (past_v is None):
        raise Refused("expected both past_key and past_value, or none")
    heads = node.need("num_heads")

    def biases(*widths: int) -> list[Value | None]:
        return [None] * len(widths) if bias is None else list(parts_of(g, bias, widths))

    def with_bias(x: Value, own: Value | None) -> Value:
        if own is None:
            return x
        if x.rank != 4:
            return g.add(x, own)
        return g.add(x, g.reshape(own, (1, x.shape[1], 1, x.shape[3])))

    if query.rank == 5:
        whole = unpacked(g, query, 3)
        widths = [x.shape[1] * x.shape[3] for x in whole]
        parts = [with_bias(x, own) for x, own in zip(whole, biases(*widths), strict=True)]
    elif key is not None and key.rank == 5:
        others = unpacked(g, key, 2)
        own = biases(query.shape[2], *(x.shape[1] * x.shape[3] for x in others))
        parts = [split_heads(g, with_bias(query, own[0]), heads, "query")]
        parts += [with_bias(x, more) for x, more in zip(others, own[1:], strict=True)]
    elif key is not None and value is not None:
        widths = [x.shape[1] * x.shape[3] if x.rank == 4 else x.shape[-1] for x in (query, key, value)]
        given = [with_bias(x, own) for x, own in zip((query, key, value), biases(*widths), strict=True)]
        parts = [
            x if x.rank == 4 else split_heads(g, x, heads, name)
            for x, name in zip(given, ("query", "key", "value"), strict=True)
        ]
    else:
        raise Refused("expected key and value with the query, or one tensor of all")
    q, k, v = parts
    before = 0
    if past_k is not None and past_v is not None:
        before = past_k.shape[2]
        k, v = g.concat([past_k, k], 2), g.concat([past_v, v], 2)
    mask = masked(g, node, q, k.shape[2], before, padded, added)
    result, scores = attend(g, q, k, v, mask, scale_of(node), wants=BIASED if node.wants(3) else None, guarded=False)
    if scores is not None and mask.allowed is not None:
        scores = g.select(mask.allowed, scores, g.scalar(float(np.finfo(np.float32).min), scores))
    return join_heads(g, result), k, v, scores


#
# Caches
#


def written(g: Emitter, past: Value | None, new: Value, begin: Value | None, length: int) -> Value:
    """Returns a cache [batch, heads, length, size] with new rows from `begin` on, [batch] in i32; None for 0."""
    batch, heads, rows, size = new.shape
    if past is not None and past.shape[2] > length:
        raise Refused(f"cache {past!r} has more than {length} positions")
    base = None if past is None or not past.shape[2] else g.pad(past, [0] * 4, [0, 0, length - past.shape[2], 0])
    if begin is None:
        if rows == length:
            return new
        if base is None:
            return g.pad(new, [0] * 4, [0, 0, length - rows, 0])
        return g.concat([new, g.slice_dim(base, 2, rows, length)], 2)
    if base is None:
        base = g.full((batch, heads, length, size), 0, new.dtype)
    if rows == 1:
        is_new = g.compare("EQ", positions(g, length, 2), g.reshape(begin, (batch, 1, 1, 1)))
        return g.select(is_new, new, base)
    if batch == 1:
        return g.dynamic_update_slice(base, new, [0, 0, g.reshape(begin, ()), 0])
    # Position t of the cache is row t - begin of the new ones.
    row = g.sub(g.iota((1, length), 1), g.reshape(begin, (batch, 1)))
    last = g.reshape(g.number(rows - 1, I32), ()) if g.is_open else g.full((), rows - 1, I32)
    zero = g.full((), 0, I32)
    inside = g.binary(stablehlo.and_, g.compare("GE", row, zero), g.compare("LE", row, last))
    first = g.mul(g.iota((batch, 1), 0), g.add(last, g.full((), 1, I32)))
    place = g.add(g.minimum(g.maximum(row, zero), last), first)
    flat = g.reshape(g.transpose(new, [0, 2, 1, 3]), (batch * rows, heads, size))
    moved = g.transpose(g.gather(flat, place, 0), [0, 2, 1, 3])
    return g.select(g.reshape(inside, (batch, 1, length, 1)), moved, base)


UNKNOWN = (
    "k_scale", "v_scale", "q_norm_weight", "k_norm_weight", "query_seqlens",
)  # fmt: skip


@op("GroupQueryAttention", domain=MICROSOFT)
def group_query_attention(
    g: Emitter, node: Node, query: Value, key: Value | None, value: Value | None, past_k: Value | None,
    past_v: Value | None, lasts: Value, total: Value, cos: Value | None = None, sin: Value | None = None,
    places: Value | None = None, added: Value | None = None, sink: Value | None = None, *others: Value | None,
) -> tuple[Value | None, ...]:  # fmt: skip
    """Computes attention of groups of queries. lasts: the number of keys of each element of the batch, less one. total:
    the most keys of one."""
    refuse_given(node, UNKNOWN[: len(others)], *others)
    for name in ("sliding_window_cache", "kv_cache_bit_width"):
        if node.get(name, 0):
            raise Refused(f"{name} {node.get(name)} has no form on the chip; expected 0")
    heads, own = node.need("num_heads"), node.need("kv_num_heads")
    if total.known is None:
        raise Refused(
            f"total_sequence_length is computed from the inputs' elements; expected one that is {NEEDS_VALUES}"
        )
    length = int(total.known.flatten()[0])
    if key is None or value is None:
        size = query.shape[-1] // (heads + 2 * own)
        query, key, value = parts_of(g, query, [heads * size, own * size, own * size])
    q, k, v = (
        split_heads(g, x, n, name) for x, n, name in ((query, heads, "query"), (key, own, "key"), (value, own, "value"))
    )
    batch, _, rows, _ = q.shape
    is_first = rows == length
    lasts = g.reshape(g.cast(lasts, I32), (batch,))
    begin = None if is_first else g.sub(lasts, g.full((), rows - 1, I32) if not g.is_open else size_of_less(g, rows))
    start = None if begin is None else g.reshape(begin, (batch, 1, 1, 1))
    if node.get("do_rotary", 0):
        if cos is None or sin is None:
            raise Refused("do_rotary needs cos_cache and sin_cache")
        if places is None:
            row = g.iota((1, rows), 1)
            places = row if begin is None else g.add(row, g.reshape(begin, (batch, 1)))
        elif is_first:
            first = g.reshape(g.slice(g.cast(places, I32), [0, 0], [1, 1]), (1, 1))
            places = g.add(g.iota((1, rows), 1), first)
        turn = [angles(g, cache, places) for cache in (cos, sin)]
        width = 2 * cos.shape[-1]
        q, k = (rotate(g, x, turn[0], turn[1], bool(node.get("rotary_interleaved", 0)), width) for x in (q, k))
    capacity = max(length, past_k.shape[2] if past_k is not None else 0)
    present_k, present_v = (written(g, past, x, begin, capacity) for past, x in ((past_k, k), (past_v, v)))
    k, v = (g.slice_dim(x, 2, 0, length) for x in (present_k, present_v))
    mask = Mask()
    window = node.get("local_window_size", -1)
    if added is not None:
        mask.add(g, g.cast(added, F32))
    if node.get("causal", 1):
        if is_first and window < 0 and added is None:
            mask.causal = True
        else:
            back = difference(g, rows, length, start)
            mask.allow(g, g.compare("GE", back, g.full((), 0, I32)))
            if window > 0:
                mask.allow(g, g.compare("LT", back, g.full((), window, I32)))
    else:
        known = g.reshape(g.add(lasts, g.full((), 1, I32)), (batch, 1, 1, 1))
        mask.allow(g, g.compare("LT", positions(g, length, 3), known))
    if node.get("smooth_softmax", -1) == 1 and sink is None:
        sink = g.full((heads,), 0, F32)
    requested = {0: None, 1: BIASED, 2: WEIGHTS}
    form = node.get("qk_output", 0) if node.wants(3) else 0
    if form not in requested:
        raise Refused(f"qk_output {form}; expected 0, 1 or 2")
    result, scores = attend(
        g,
        q,
        k,
        v,
        mask,
        scale_of(node),
        node.get("softcap", 0.0) or 0.0,
        wants=requested[form],
        sink=sink,
        guarded=False,
    )
    if scores is not None and mask.allowed is not None:
        scores = g.select(mask.allowed, scores, g.scalar(0, scores))
    return join_heads(g, result), present_k, present_v, scores


def size_of_less(g: Emitter, rows: int) -> Value:
    return g.sub(size_of(g, rows), g.full((), 1, I32))


@op("RotaryEmbedding", domain=MICROSOFT)
def rotary_embedding(g: Emitter, node: Node, x: Value, places: Value, cos: Value, sin: Value) -> Value:
    if node.get("is_packed_batching", 0) or node.get("scale", 1.0) != 1.0:
        raise Refused("RotaryEmbedding with is_packed_batching or a scale has no form on the chip")
    width = node.get("rotary_embedding_dim", 0)
    flat = x.rank == 3
    if flat:
        heads = node.get("num_heads", 0) or x.shape[2] // max(1, 2 * cos.shape[-1])
        result = split_heads(g, x, heads, "input")
    else:
        result = x
    if result.rank != 4:
        raise Refused(f"input is {x!r}; expected 3 or 4 dimensions")
    rows = result.shape[2]
    if places.size == 1 and places.rank <= 1:
        places = g.add(g.iota((1, rows), 1), g.reshape(g.cast(places, I32), (1, 1)))
    elif places.shape != (result.shape[0], rows):
        raise Refused(f"position_ids are {places!r}; expected one element, or [{result.shape[0]}, {rows}]")
    turned = rotate(g, result, angles(g, cos, places), angles(g, sin, places), bool(node.get("interleaved", 0)), width)
    return join_heads(g, turned) if flat else turned
