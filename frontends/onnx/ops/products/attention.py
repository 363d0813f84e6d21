# SPDX-License-Identifier: Apache-2.0
"""Attention and rotary embeddings of the default domain; what both domains share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ttmlir.dialects import stablehlo

from ...emitter import Emitter
from ...errors import Refused
from ...registry import Node, op
from ...values import BOOL, F32, I32, DType, Value, is_float
from .quantized import type_named

# The scores that a rule requests: raw, after softcap, with the bias, or the weights.
RAW, CAPPED, BIASED, WEIGHTS = range(4)


@dataclass
class Mask:
    """The addend of scores [batch, heads, rows, columns], and the keys that a query sees at all.

    added: a float tensor, or None. allowed: a bool tensor, or None for all. Both broadcast to the scores.
    causal: in addition, query i sees the keys 0 to i.
    """

    added: Value | None = None
    allowed: Value | None = None
    causal: bool = False

    def allow(self, g: Emitter, more: Value) -> None:
        """Restricts the keys to those that `more` allows, too."""
        both = self.allowed
        self.allowed = more if both is None else g.binary(stablehlo.and_, both, more)

    def add(self, g: Emitter, more: Value) -> None:
        self.added = more if self.added is None else g.add(self.added, g.cast(more, self.added.dtype))

    def bias(self, g: Emitter, dtype: DType) -> Value | None:
        """Returns the term that is added to scores, -inf where a key is hidden."""
        added = None if self.added is None else g.cast(self.added, dtype)
        if self.allowed is None:
            return added
        added = g.full((1, 1, 1, 1), 0, dtype) if added is None else added
        return g.select(self.allowed, added, g.full((), -math.inf, dtype))


def positions(g: Emitter, size: int, dim: int) -> Value:
    """Returns 0, 1, ... along one of four dimensions, i32."""
    return g.iota([size if d == dim else 1 for d in range(4)], dim)


def difference(g: Emitter, rows: int, columns: int, offset: Value | None) -> Value:
    """Returns the number of positions from a key back to the query, [., 1, rows, columns] in i32.

    offset: of the first query, [] or [batch, 1, 1, 1]; None for 0.
    """
    row = positions(g, rows, 2)
    return g.sub(row if offset is None else g.add(row, offset), positions(g, columns, 3))


def repeated(g: Emitter, x: Value, heads: int) -> Value:
    """Returns keys or values with each head as often as queries share it."""
    batch, own, rows, size = x.shape
    if own == heads:
        return x
    result = g.broadcast(g.reshape(x, (batch, own, 1, rows, size)), (batch, own, heads // own, rows, size))
    return g.reshape(result, (batch, heads, rows, size))


def require_parts(q: Value, k: Value, v: Value) -> None:
    """
    Raises:
        Refused: queries, keys and values, [batch, heads, positions, size], do not fit to each other.
    """
    fits = q.rank == k.rank == v.rank == 4 and q.dtype == k.dtype == v.dtype and is_float(q.dtype)
    fits = fits and q.shape[0] == k.shape[0] == v.shape[0] and k.shape[1:3] == v.shape[1:3] and q.shape[3] == k.shape[3]
    if not fits or not k.shape[1] or q.shape[1] % k.shape[1]:
        raise Refused(
            f"query {q!r}, key {k!r} and value {v!r}; expected floats [batch, heads, positions, size], as many keys as "
            "values, and a number of their heads that divides that of the query"
        )


def attend(
    g: Emitter, q: Value, k: Value, v: Value, mask: Mask, scale: float | None = None, softcap: float = 0.0,
    precision: DType = F32, wants: int | None = None, sink: Value | None = None, guarded: bool = True,
) -> tuple[Value, Value | None]:  # fmt: skip
    """Returns softmax(q kT scale + mask) v, [batch, heads, rows, size], and the scores in one of their forms.

    Args:
        precision: type of the softmax. wants: RAW, CAPPED, BIASED or WEIGHTS. sink: [heads], the logarithm of what is
            added to the sum of weights. guarded: rows that see no key are 0.
    Raises:
        Refused: the operands do not fit to each other.
    """
    require_parts(q, k, v)
    scale = 1 / math.sqrt(max(q.shape[3], 1)) if scale is None else scale
    rows, columns = q.shape[2], k.shape[2]
    empty = not q.size or not k.size or not v.size
    if wants is None and not softcap and precision == F32 and sink is None and not empty:
        return fused(g, q, k, v, mask, scale, guarded), None
    if mask.causal:
        mask.allow(g, g.compare("GE", difference(g, rows, columns, None), g.full((), 0, I32)))
    # Rounded to a narrow type, large scores would be off by more than what softmax tells apart.
    wide = [g.cast(x, F32) for x in (q, repeated(g, k, q.shape[1]), repeated(g, v, q.shape[1]))]
    root = math.sqrt(abs(scale))
    left = g.mul(wide[0], g.full((), math.copysign(root, scale), F32))
    batch = ((0, 1), (0, 1))
    scores = g.dot(left, g.mul(wide[1], g.full((), root, F32)), ((3,), (3,)), batch)
    forms = {RAW: scores}
    if softcap:
        limit = g.full((), softcap, F32)
        scores = g.mul(g.unary(stablehlo.tanh, g.div(scores, limit)), limit)
    forms[CAPPED] = scores
    bias = mask.bias(g, F32)
    if bias is not None:
        require_mask(bias, (*q.shape[:3], columns))
    scores = forms[BIASED] = scores if bias is None else g.add(scores, bias)
    weights = softmax(g, scores, precision, sink)
    if bias is not None and guarded:
        most = g.reduce("maximum", bias, [3], keep=True) if bias.shape[3] else bias
        weights = g.select(g.compare("GT", most, g.full((), -math.inf, F32)), weights, g.full((), 0, F32))
    forms[WEIGHTS] = weights
    weights = g.cast(g.cast(weights, q.dtype), F32)
    result = g.cast(g.dot(weights, wide[2], ((3,), (2,)), batch), q.dtype)
    return result, None if wants is None else g.cast(forms[wants], q.dtype)


def softmax(g: Emitter, scores: Value, precision: DType, sink: Value | None) -> Value:
    """Returns the weights in f32, computed in `precision`."""
    if not scores.size:
        return scores
    if sink is not None:
        column = g.broadcast(g.reshape(g.cast(sink, F32), (1, sink.size, 1, 1)), (*scores.shape[:3], 1))
        scores = g.concat([scores, column], 3)
    result = g.ttir("softmax", g.cast(scores, precision), dtype=precision, dimension=3, numeric_stable=True)
    result = g.cast(result, F32)
    return result if sink is None else g.slice_dim(result, 3, 0, result.shape[3] - 1)


def require_mask(bias: Value, shape: tuple[int, ...]) -> None:
    """
    Raises:
        Refused: the bias does not broadcast to the scores.
    """
    if any(n not in (1, m) for n, m in zip(bias.shape, shape, strict=True)):
        raise Refused(f"mask {bias!r}; expected a shape that broadcasts to {list(shape)}")


def fused(g: Emitter, q: Value, k: Value, v: Value, mask: Mask, scale: float, guarded: bool) -> Value:
    shape = (q.shape[0], q.shape[1], q.shape[2], k.shape[2])
    options: dict[str, Any] = {"is_causal": mask.causal, "scale": float(scale)}
    seen = None
    if mask.causal and mask.allowed is None and mask.added is None:
        bias = None
    else:
        if mask.causal:
            mask.allow(g, g.compare("GE", difference(g, shape[2], shape[3], None), g.full((), 0, I32)))
            options["is_causal"] = False
        bias = mask.bias(g, q.dtype)
    if bias is not None:
        bias = g.reshape(bias, (*(1,) * (4 - bias.rank), *bias.shape))
        require_mask(bias, shape)
        options["attention_mask"] = g.ir(bias)
        if guarded:
            most = g.reduce("maximum", bias, [3], keep=True)
            seen = g.compare("GT", most, g.full((), -math.inf, q.dtype))
    result = g.ttir("scaled_dot_product_attention", q, k, v, shape=(*shape[:3], v.shape[3]), dtype=q.dtype, **options)
    return result if seen is None else g.select(seen, result, g.full((), 0, q.dtype))


def split_heads(g: Emitter, x: Value, heads: int, what: str) -> Value:
    """Returns [batch, positions, heads * size] as [batch, heads, positions, size]."""
    if x.rank != 3 or heads < 1 or x.shape[2] % heads:
        raise Refused(f"{what} is {x!r}; expected [batch, positions, heads * size] with {heads} heads")
    batch, rows, width = x.shape
    return g.transpose(g.reshape(x, (batch, rows, heads, width // heads)), [0, 2, 1, 3])


def join_heads(g: Emitter, x: Value) -> Value:
    """Returns [batch, heads, positions, size] as [batch, positions, heads * size]."""
    batch, heads, rows, size = x.shape
    return g.reshape(g.transpose(x, [0, 2, 1, 3]), (batch, rows, heads * size))


def mask_of(g: Emitter, given: Value | None, columns: int, repeats: bool) -> Mask:
    """Returns the mask that `attn_mask` describes; keys after its last one are hidden.

    repeats: a mask of one key is for all of them.
    """
    if given is None:
        return Mask()
    if not given.rank:
        raise Refused(f"attn_mask is {given!r}; expected a tensor of 1 to 4 dimensions")
    lacking = columns - given.shape[-1]
    if lacking > 0 and not (repeats and given.shape[-1] == 1):
        low, high = [0] * given.rank, [0] * given.rank
        high[-1] = lacking
        given = g.pad(given, low, high, False if given.dtype == BOOL else -math.inf)
    given = g.reshape(given, (*(1,) * (4 - given.rank), *given.shape))
    return Mask(allowed=given) if given.dtype == BOOL else Mask(added=given)


def restrict(g: Emitter, mask: Mask, rows: int, columns: int, offset: Value | None, bounds: Sequence[int],
             causal: bool) -> None:  # fmt: skip
    """Restricts what queries see to windows around their positions. bounds: left and right, -1 for none."""
    if causal and offset is None and rows == columns and max(bounds) < 0:
        mask.causal = True
        return
    if not causal and max(bounds) < 0:
        return
    back = difference(g, rows, columns, offset)
    if causal:
        mask.allow(g, g.compare("GE", back, g.full((), 0, I32)))
    if bounds[0] >= 0:
        mask.allow(g, g.compare("LE", back, g.full((), bounds[0], I32)))
    if bounds[1] >= 0:
        mask.allow(g, g.compare("GE", back, g.full((), -bounds[1], I32)))


@op("Attention")
def attention(
    g: Emitter, node: Node, q: Value, k: Value, v: Value, given: Value | None = None, past_k: Value | None = None,
    past_v: Value | None = None, valid: Value | None = None,
) -> tuple[Value | None, ...]:  # fmt: skip
    flat = q.rank == 3
    if flat:
        heads, own = node.need("q_num_heads"), node.need("kv_num_heads")
        q, k, v = (split_heads(g, x, n, name) for x, n, name in ((q, heads, "Q"), (k, own, "K"), (v, own, "V")))
    if (past_k is None) != (past_v is None) or (past_k is not None and valid is not None):
        raise Refused("expected past_key and past_value, or nonpad_kv_seqlen, or none of them")
    require_parts(q, k, v)
    if past_k is not None and past_v is not None:
        k, v = g.concat([past_k, k], 2), g.concat([past_v, v], 2)
    rows, columns = q.shape[2], k.shape[2]
    mask = mask_of(g, given, columns, repeats=node.version < 24)
    offset: Value | None = None
    if valid is not None:
        count = g.reshape(g.cast(valid, I32), (valid.size, 1, 1, 1))
        offset = g.sub(count, size_of(g, rows))
        mask.allow(g, g.compare("LT", positions(g, columns, 3), count))
    elif past_k is not None and past_k.shape[2]:
        offset = size_of(g, past_k.shape[2])
    bounds = [node.get(f"{side}_window_size", -1) for side in ("left", "right")]
    if min(bounds) < -1:
        raise Refused(f"windows {bounds}; expected -1 or more")
    restrict(g, mask, rows, columns, offset, bounds, bool(node.get("is_causal", 0)))
    precision = type_named(node.get("softmax_precision")) if node.get("softmax_precision", 0) else F32
    mode = node.get("qk_matmul_output_mode", 0)
    if mode not in (RAW, CAPPED, BIASED, WEIGHTS):
        raise Refused(f"qk_matmul_output_mode {mode}; expected 0, 1, 2 or 3")
    result, scores = attend(
        g, q, k, v, mask, node.get("scale"), node.get("softcap", 0.0), precision, mode if node.wants(3) else None
    )
    return join_heads(g, result) if flat else result, k, v, scores


def size_of(g: Emitter, size: int) -> Value:
    """Returns a size as a number of the program, [], i32."""
    return g.reshape(g.number(size, I32), ()) if g.is_open else g.full((), size, I32)


#
# Rotary embeddings
#


def rotate(g: Emitter, x: Value, cos: Value, sin: Value, interleaved: bool, width: int = 0) -> Value:
    """Returns [batch, heads, positions, size] rotated by angles, [batch or 1, 1, positions, width / 2].

    width: the first elements that are rotated; 0 for all.
    """
    size = x.shape[3]
    width = width or size
    if width % 2 or width > size or cos.shape[3] != width // 2 or sin.shape != cos.shape:
        raise Refused(f"cos {cos!r} and sin {sin!r} for {width} of {size} elements; expected {width // 2} columns")
    turned = g.slice_dim(x, 3, 0, width)
    if interleaved:
        parts = g.reshape(turned, (*turned.shape[:3], width // 2, 2))
        real, imaginary = (g.reshape(g.slice_dim(parts, 4, i, i + 1), parts.shape[:4]) for i in (0, 1))
    else:
        real, imaginary = g.slice_dim(turned, 3, 0, width // 2), g.slice_dim(turned, 3, width // 2, width)
    cos, sin = g.cast(cos, x.dtype), g.cast(sin, x.dtype)
    result = [
        g.sub(g.mul(cos, real), g.mul(sin, imaginary)),
        g.add(g.mul(sin, real), g.mul(cos, imaginary)),
    ]
    if interleaved:
        turned = g.reshape(g.concat([g.expand_dims(part, 4) for part in result], 4), turned.shape)
    else:
        turned = g.concat(result, 3)
    return turned if width == size else g.concat([turned, g.slice_dim(x, 3, width, size)], 3)


def angles(g: Emitter, cache: Value, places: Value | None) -> Value:
    """Returns the rows of a cache [n, width] at `places` [batch, positions], as [batch, 1, positions, width]."""
    if places is not None:
        if cache.rank != 2:
            raise Refused(f"cache {cache!r}; expected two dimensions, as there are positions")
        cache = g.gather(cache, g.cast(places, I32), 0)
    if cache.rank != 3:
        raise Refused(f"cache {cache!r}; expected [batch, positions, width]")
    return g.expand_dims(cache, 1)


@op("RotaryEmbedding")
def rotary_embedding(g: Emitter, node: Node, x: Value, cos: Value, sin: Value, places: Value | None = None) -> Value:
    flat = x.rank == 3
    result = split_heads(g, x, node.need("num_heads"), "X") if flat else x
    if result.rank != 4:
        raise Refused(f"X is {x!r}; expected 3 or 4 dimensions")
    turned = rotate(
        g, result, angles(g, cos, places), angles(g, sin, places), bool(node.get("interleaved", 0)),
        node.get("rotary_embedding_dim", 0),
    )  # fmt: skip
    return join_heads(g, turned) if flat else turned
