# SPDX-License-Identifier: Apache-2.0
"""Linear attention whose state forgets and is corrected (the gated delta rule): functions of ttnn.transformer.

A head keeps a state S of [keys, values]. Token t, with its decay a = exp(g), changes it to
S = a * S + k (beta * (v - k^T (a * S)))^T, and its result is q^T S. Tokens are taken in chunks, whose changes are
products of matrices.
"""

from __future__ import annotations

import math
from typing import Any

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import DataType, Layout

from ..library.modes import ChunkGdnWyInverse
from .attention import attention_function
from .frame import RESULT, ops
from .parts import numbers, part_of

_LEAF = 8  # rows of the smallest matrices that are inverted


def _float(tensor: Tensor) -> Tensor:
    return ops.typecast(ops.to_layout(tensor, Layout.TILE), DataType.FLOAT32)


def _inverse(matrix: Tensor) -> Tensor:
    """Returns the inverse of lower triangular matrices [n, size, size] with 1 on the diagonal."""
    count, size, _ = matrix.shape
    if size <= _LEAF:
        places = numbers(size, matrix, 2, 3), numbers(size, matrix, 1, 3)
        identity = ops.repeat(ops.typecast(ops.eq(*places), DataType.FLOAT32), [count, 1, 1])
        below = identity - matrix  # its power of `size` is 0
        result = identity + below
        for _ in range(max(0, math.ceil(math.log2(size)) - 1)):
            below = ops.matmul(below, below)
            result = result + ops.matmul(result, below)
        return result
    half = size // 2
    rows = part_of(matrix, 1, 0, half), part_of(matrix, 1, half, size)
    first, last = _inverse(part_of(rows[0], 2, 0, half)), _inverse(part_of(rows[1], 2, half, size))
    corner = ops.neg(ops.matmul(ops.matmul(last, part_of(rows[1], 2, 0, half)), first))
    zeros = ops.full([count, half, size - half], 0.0, **_like(matrix))
    upper, lower = ops.concat([first, zeros], dim=2), ops.concat([corner, last], dim=2)
    return ops.concat([upper, lower], dim=1)


def _like(tensor: Tensor) -> dict[str, Any]:
    return {"dtype": DataType.FLOAT32, "layout": Layout.TILE, "device": tensor.device()}


def _scan(parts: dict[str, Tensor], state: Tensor) -> tuple[Tensor, Tensor]:
    """Runs chunk after chunk; each of `parts` is [heads, chunks, ...]. Returns results and the last state."""
    results = []
    for chunk in range(parts["added"].shape[1]):
        now = {}
        for name, each in parts.items():
            taken = part_of(each, 1, chunk, chunk + 1)
            now[name] = ops.reshape(taken, [taken.shape[0], *list(taken.shape)[2:]])
        changed = now["added"] - ops.matmul(now["taken"], state)
        results.append(ops.matmul(now["query"], state) + ops.matmul(now["inner"], changed))
        state = state * now["decay"] + ops.matmul(now["key"], changed)
    shape = list(results[0].shape)
    stacked = [ops.reshape(each, [shape[0], 1, *shape[1:]]) for each in results]
    return stacked[0] if len(stacked) == 1 else ops.concat(stacked, dim=1), state


def _check(q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor) -> tuple[int, int, int, int, int, int]:
    """Returns batch, length, heads of keys, heads of values, and the sizes of a key and a value."""
    shapes = {name: list(each.shape) for name, each in {"q": q, "k": k, "v": v, "g": g, "beta": beta}.items()}
    if len(shapes["k"]) != 4 or len(shapes["v"]) != 4 or shapes["q"] != shapes["k"]:
        raise ValueError(
            f"q, k and v have shapes {shapes['q']}, {shapes['k']} and {shapes['v']}; expected four dimensions each, "
            "[batch, length, heads, size], and q and k the same"
        )
    batch, length, heads, size = shapes["k"]
    count, width = shapes["v"][2:]
    if shapes["v"][:2] != [batch, length] or not heads or count % heads:
        raise ValueError(f"v has shape {shapes['v']}; expected [{batch}, {length}, n * {heads}, size]")
    for name in ("g", "beta"):
        if shapes[name] != [batch, length, count]:
            raise ValueError(f"{name} has shape {shapes[name]}; expected {[batch, length, count]}")
    return batch, length, heads, count, size, width


def _by_head(x: Tensor, heads: int) -> Tensor:
    """Returns [batch * heads, length, size] of [batch, length, heads of x, size]."""
    batch, length, own, size = x.shape
    apart = ops.permute(_float(x), [0, 2, 1, 3])
    if own != heads:
        apart = ops.repeat_interleave(apart, heads // own, 1)
    return ops.reshape(apart, [batch * heads, length, size])


def _first_state(initial: Tensor | None, shape: list[int], like: Tensor) -> Tensor:
    if initial is None:
        return ops.full([shape[0] * shape[1], *shape[2:]], 0.0, **_like(like))
    if list(initial.shape) != shape:
        raise ValueError(f"initial_state has shape {list(initial.shape)}; expected {shape}")
    return ops.reshape(_float(initial), [shape[0] * shape[1], *shape[2:]])


@attention_function("chunk_gated_delta_rule")
def chunk_gated_delta_rule(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    g: Tensor,
    beta: Tensor,
    *,
    scale: float | None = None,
    initial_state: Tensor | None = None,
    output_final_state: bool = False,
    chunk_size: int = 64,
    use_qk_l2norm: bool = False,
    output_head_major: bool = False,
    program_config: Any = None,
    wy_inverse: Any = ChunkGdnWyInverse.AUTO,
    memory_config: Any = None,
    compute_kernel_config: Any = None,
    eye: Any = None,
    tril: Any = None,
    ones: Any = None,
    masks: Any = None,
) -> tuple[Tensor, Tensor | None]:
    """Computes the gated delta rule of a sequence, chunk by chunk.

    Args:
        q, k: [batch, length, heads, size], of length 1; or [batch, length, heads * size], of any length, with keys as
            long as values.
        v: [batch, length, heads of values, width], or [batch, length, heads of values * width] with q and k of three
            dimensions.
        g: logarithms of decays, [batch, length, heads of values].
        beta: how much of a correction is made, [batch, length, heads of values].
        scale: multiplied with queries; size ** -0.5 by default.
        initial_state: [batch, heads of values, size, width]; zeros by default.
        output_final_state: whether the last state is returned.
        chunk_size: 32 or 64 tokens.
        use_qk_l2norm: False.
        output_head_major: results are [batch * heads, length, width] in tiles.
        program_config, wy_inverse, compute_kernel_config, eye, tril, ones, masks: of the hardware; make no difference
            here.
    Returns:
        Results [batch, length, heads of values, width] in rows, and the last state or None, in float32.
    Raises:
        ValueError: shapes or numbers do not fit each other.
    """
    del program_config, wy_inverse, compute_kernel_config, eye, tril, ones, masks
    if chunk_size not in (32, 64):
        raise ValueError(f"chunk_size is {chunk_size}; expected 32 or 64")
    if use_qk_l2norm:
        raise ValueError("use_qk_l2norm is True; expected False: queries and keys have length 1")
    if len(q.shape) == 3:
        q, k, v = _apart(q, k, v, beta)
    batch, length, _, heads, size, width = _check(q, k, v, g, beta)
    scale = size**-0.5 if scale is None else scale
    state = _first_state(initial_state, [batch, heads, size, width], v)
    if not length or not batch:
        empty = ops.zeros([batch, length, heads, width], dtype=DataType.FLOAT32, device=v.device())
        return empty, ops.reshape(state, [batch, heads, size, width]) if output_final_state else None
    columns = [ops.reshape(_float(each), [batch, length, heads, 1]) for each in (g, beta)]
    padding = -length % chunk_size
    chunks = (length + padding) // chunk_size

    def cut(x: Tensor) -> Tensor:
        flat = _by_head(x, heads)
        if padding:
            zeros = ops.full([batch * heads, padding, flat.shape[2]], 0.0, **_like(flat))
            flat = ops.concat([flat, zeros], dim=1)
        return ops.reshape(flat, [batch * heads * chunks, chunk_size, flat.shape[2]])

    query, key, value = cut(q) * scale, cut(k), cut(v)
    decay, share = (cut(each) for each in columns)
    total = ops.cumsum(decay, 1)
    turned = ops.transpose(total, 1, 2)
    places = numbers(chunk_size, total, 2, 3), numbers(chunk_size, total, 1, 3)
    # exp(g of the tokens after j up to i) for j <= i; what lies above is left out before exp, where it would overflow.
    reached, before = ops.le(*places), ops.lt(*places)
    between = ops.where(reached, ops.exp(ops.minimum(total - turned, 0.0)), 0.0)
    shared = key * share
    products = ops.matmul(shared, key, transpose_b=True) * between
    identity = ops.typecast(ops.eq(*places), DataType.FLOAT32)
    inverse = _inverse(ops.where(before, products, 0.0) + identity)
    grown, last = ops.exp(total), part_of(total, 1, chunk_size - 1, chunk_size)

    def chunked(x: Tensor) -> Tensor:
        return ops.reshape(x, [batch * heads, chunks, *list(x.shape)[1:]])

    parts = {
        "added": chunked(ops.matmul(inverse, value * share)),
        "taken": chunked(ops.matmul(inverse, shared * grown)),
        "query": chunked(query * grown),
        "inner": chunked(ops.matmul(query, key, transpose_b=True) * between),
        "key": chunked(ops.transpose(key * ops.exp(last - total), 1, 2)),
        "decay": chunked(ops.exp(last)),
    }
    found, state = _scan(parts, state)
    result = part_of(ops.reshape(found, [batch * heads, chunks * chunk_size, width]), 1, 0, length)
    if not output_head_major:
        apart = ops.reshape(result, [batch, heads, length, width])
        result = ops.to_layout(ops.permute(apart, [0, 2, 1, 3]), Layout.ROW_MAJOR)
    if memory_config is not None:
        result = ops.to_memory_config(result, memory_config)
    return result, ops.reshape(state, [batch, heads, size, width]) if output_final_state else None


def _apart(q: Tensor, k: Tensor, v: Tensor, beta: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Returns heads apart, with queries and keys of length 1, of tensors [batch, length, heads * size]."""
    if len(k.shape) != 3 or len(v.shape) != 3 or not beta.shape[-1] or v.shape[2] % beta.shape[-1]:
        raise ValueError(
            f"q, k and v have shapes {list(q.shape)}, {list(k.shape)} and {list(v.shape)}; expected three dimensions "
            f"each, and {beta.shape[-1]} heads of values"
        )
    size = v.shape[2] // beta.shape[-1]
    found = []
    for name, each in (("q", q), ("k", k), ("v", v)):
        batch, length, whole = each.shape
        if not size or whole % size:
            raise ValueError(f"{name} has shape {list(each.shape)}; expected heads of {size} elements")
        heads = ops.reshape(_float(each), [batch, length, whole // size, size])
        if name != "v":
            heads = heads * ops.rsqrt(ops.sum(heads * heads, 3, True) + 1e-6)
        found.append(heads)
    return found[0], found[1], found[2]


@attention_function("fused_recurrent_gated_delta_rule")
def fused_recurrent_gated_delta_rule(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    g: Tensor,
    beta: Tensor,
    *,
    scale: float | None = None,
    initial_state: Tensor | None = None,
    initial_state_block_idx: Any = None,
    output_final_state: bool = False,
    output_per_token_state: bool = False,
    use_qk_l2norm: bool = False,
    memory_config: Any = None,
    compute_kernel_config: Any = None,
) -> tuple[Tensor, Tensor | None]:
    """Computes the gated delta rule of some tokens, one after the other.

    Args:
        q, k: [batch, length, heads, size], of length 1.
        v: [batch, length, heads of values, width].
        g: logarithms of decays, [batch, length, heads of values].
        beta: how much of a correction is made, [batch, length, heads of values].
        scale: multiplied with queries; size ** -0.5 by default.
        initial_state: [batch, heads of values, size, width]; zeros by default.
        output_final_state: whether the last state is returned.
        output_per_token_state: whether the state after each token is returned instead.
        use_qk_l2norm: False.
        initial_state_block_idx: not simulated; only None is taken.
        compute_kernel_config: of the hardware; makes no difference here.
    Returns:
        Results [batch, length, heads of values, width]; the last state, those after each token, [batch, length, heads
        of values, size, width], or None.
    Raises:
        ValueError: shapes or numbers do not fit each other.
    """
    del compute_kernel_config
    if initial_state_block_idx is not None:
        raise ValueError("initial_state_block_idx is given; expected None: states lie in the order of heads here")
    if use_qk_l2norm:
        raise ValueError("use_qk_l2norm is True; expected False: queries and keys have length 1")
    batch, length, _, heads, size, width = _check(q, k, v, g, beta)
    scale = size**-0.5 if scale is None else scale
    state = _first_state(initial_state, [batch, heads, size, width], v)
    columns = [ops.reshape(_float(each), [batch, length, heads, 1]) for each in (g, beta)]
    query, key, value, decay, share = (_by_head(each, heads) for each in (q, k, v, *columns))
    results, states = [], []
    for token in range(length):
        own = [part_of(each, 1, token, token + 1) for each in (query, key, value, decay, share)]
        state = state * ops.exp(own[3])
        change = (own[2] - ops.matmul(own[1], state)) * own[4]
        state = state + ops.matmul(own[1], change, transpose_a=True)
        results.append(ops.matmul(own[0] * scale, state))
        states.append(state)
    if results:
        joined = results[0] if len(results) == 1 else ops.concat(results, dim=1)
        result = ops.permute(ops.reshape(joined, [batch, heads, length, width]), [0, 2, 1, 3])
    else:
        result = ops.zeros([batch, 0, heads, width], dtype=DataType.FLOAT32, layout=Layout.TILE, device=v.device())
    if v.dtype != result.dtype:
        result = ops.typecast(result, v.dtype)
    if memory_config is not None:
        result = ops.to_memory_config(result, memory_config)
    if output_per_token_state:
        each = [ops.reshape(one, [batch, 1, heads, size, width]) for one in states]
        return result, each[0] if len(each) == 1 else ops.concat(each, dim=1) if each else None
    return result, ops.reshape(state, [batch, heads, size, width]) if output_final_state else None


@attention_function("gated_delta_attn_seq", common=RESULT)
def gated_delta_attn_seq(
    L_unit: Tensor,
    v_beta_sc: Tensor,
    k_bd_sc: Tensor,
    intra_attn: Tensor,
    q_decay: Tensor,
    k_decay_t: Tensor,
    dl_exp: Tensor,
    L_inv: Tensor,
    *,
    initial_state: Tensor | None = None,
    compute_kernel_config: Any = None,
) -> tuple[Tensor, Tensor]:
    """Runs the gated delta rule over chunks whose matrices are given.

    Args:
        L_unit: [heads, chunks, rows, rows], lower triangular with 1 on the diagonal.
        v_beta_sc, k_bd_sc: right sides for values and for keys, [heads, chunks, rows, width] and [..., size].
        intra_attn: attention within a chunk, [heads, chunks, rows, rows].
        q_decay: queries, [heads, chunks, rows, size].
        k_decay_t: keys, [heads, chunks, size, rows].
        dl_exp: decay of the state over a chunk, [heads, chunks, 1, 1].
        L_inv: inverses of blocks of the diagonal of L_unit, which is inverted here in any case.
        initial_state: [heads, size, width]; zeros by default.
        compute_kernel_config: of the hardware; makes no difference here.
    Returns:
        Results [heads, chunks, rows, width] and the last state [heads, size, width], in float32.
    Raises:
        ValueError: shapes do not fit each other.
    """
    del L_inv, compute_kernel_config
    named = {
        "L_unit": L_unit, "v_beta_sc": v_beta_sc, "k_bd_sc": k_bd_sc, "intra_attn": intra_attn, "q_decay": q_decay,
        "k_decay_t": k_decay_t, "dl_exp": dl_exp,
    }  # fmt: skip
    if any(len(each.shape) != 4 for each in named.values()) or 0 in L_unit.shape:
        raise ValueError(
            f"L_unit has shape {list(L_unit.shape)}; expected four dimensions of all tensors, none of size 0"
        )
    heads, chunks, rows, _ = L_unit.shape
    width, size = v_beta_sc.shape[3], k_bd_sc.shape[3]
    expected = {
        "L_unit": [rows, rows], "v_beta_sc": [rows, width], "k_bd_sc": [rows, size], "intra_attn": [rows, rows],
        "q_decay": [rows, size], "k_decay_t": [size, rows], "dl_exp": [1, 1],
    }  # fmt: skip
    for name, each in named.items():
        if list(each.shape) != [heads, chunks, *expected[name]]:
            raise ValueError(f"{name} has shape {list(each.shape)}; expected {[heads, chunks, *expected[name]]}")
    inverse = _inverse(ops.reshape(_float(L_unit), [heads * chunks, rows, rows]))

    def solved(right: Tensor) -> Tensor:
        flat = ops.reshape(_float(right), [heads * chunks, rows, right.shape[3]])
        return ops.reshape(ops.matmul(inverse, flat), list(right.shape))

    parts = {"added": solved(v_beta_sc), "taken": solved(k_bd_sc)}
    parts |= {"query": _float(q_decay), "inner": _float(intra_attn), "key": _float(k_decay_t), "decay": _float(dl_exp)}
    if initial_state is not None and list(initial_state.shape) != [heads, size, width]:
        raise ValueError(f"initial_state has shape {list(initial_state.shape)}; expected {[heads, size, width]}")
    state = ops.full([heads, size, width], 0.0, **_like(L_unit)) if initial_state is None else _float(initial_state)
    return _scan(parts, state)
