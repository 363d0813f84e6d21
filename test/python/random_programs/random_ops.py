# SPDX-License-Identifier: Apache-2.0
"""Ops of one chip that random modules are made of, each compared with its reference; see random_modules.py."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from random_elementwise import ELEMENTWISE
from random_indexing import INDEXING
from random_products import PRODUCTS
from random_values import NAMES, Draw, Generator, Refused, Value, is_float
from torch import Tensor

# ---------------------------------------------------------------------- reductions, normalisation


def several_dims(g: Generator, x: Value) -> list[int]:
    if x.rank == 0:
        raise Refused
    return sorted(g.choice.sample(range(x.rank), g.choice.randint(1, x.rank)))


REDUCTIONS: dict[str, Callable[..., Tensor]] = {
    "sum": lambda x, dim, keepdim: x.sum(dim, keepdim),
    "mean": lambda x, dim, keepdim: x.mean(dim, keepdim),
    "max": lambda x, dim, keepdim: x.amax(dim, keepdim),
    "min": lambda x, dim, keepdim: x.amin(dim, keepdim),
}


def reduction(g: Generator) -> None:
    x = g.pick(is_float)
    name, dims, keep = g.choice.choice(list(REDUCTIONS)), several_dims(g, x), g.choice.random() < 0.5
    text = f"builder.{name}({x.name}, dim_arg={dims}, keep_dim={keep})"
    g.emit(text, lambda: g.each(lambda v: REDUCTIONS[name](v, dims, keep), x), x.exact and name in ("max", "min"))


def argmax_of_several(g: Generator) -> None:
    x = g.pick(lambda v: v.exact and v.dtype is torch.float32 and v.rank > 1)
    dims = sorted(g.choice.sample(range(x.rank), g.choice.randint(2, x.rank)))
    kept = [d for d in range(x.rank) if d not in dims]
    rows = [s.permute(*kept, *dims).flatten(len(kept)) for s in x.shards]
    for row in rows:  # of several that are largest, any may be named
        if row.shape[-1] > 1 and bool((row.sort(-1).values.diff(dim=-1) == 0).any()):
            raise Refused
    text = f"builder.argmax({x.name}, dim_arg={dims}, keep_dim=False)"
    g.emit(text, lambda: [row.argmax(-1).to(torch.int32) for row in rows], True)


def argmax(g: Generator) -> None:
    x = g.pick(lambda v: v.exact and v.dtype is torch.float32 and v.rank > 0)
    dim = g.choice.randrange(x.rank)
    for shard in x.shards:  # of several that are largest, any may be named
        if shard.shape[dim] > 1 and bool((shard.sort(dim).values.diff(dim=dim) == 0).any()):
            raise Refused
    text = f"builder.argmax({x.name}, dim_arg=[{dim}], keep_dim=True)"
    g.emit(text, lambda: g.each(lambda v: v.argmax(dim, keepdim=True), x, dtype=torch.int32), True)


def cumulative(g: Generator) -> None:
    name = g.choice.choice(["cumsum", "cumprod"])
    x = g.pick(lambda v: is_float(v) and (name == "cumsum" or max(abs(v.least), abs(v.most)) <= 2))
    dim = g.dim(x)
    g.emit(f"builder.{name}({x.name}, dim={dim})", lambda: g.each(lambda v: getattr(v, name)(dim), x), False)


def product(g: Generator) -> None:
    x = g.pick(lambda v: is_float(v) and v.rank > 0 and max(abs(v.least), abs(v.most)) <= 2)
    dim, keep = g.choice.randrange(x.rank), g.choice.random() < 0.5
    text = f"builder.prod({x.name}, dim_arg=[{dim}], keep_dim={keep})"
    g.emit(text, lambda: g.each(lambda v: v.prod(dim, keepdim=keep), x), False)


def all_or_any(g: Generator) -> None:
    x = g.pick_exact(is_float)
    dims, keep = several_dims(g, x), g.choice.random() < 0.5
    name, function = g.choice.choice([("reduce_and", torch.all), ("reduce_or", torch.any)])
    text = f"builder.{name}({x.name}, dim_arg={dims}, keep_dim={keep})"
    g.emit(text, lambda: g.each(lambda v: function(v != 0, dims, keep), x), True)


def softmax(g: Generator) -> None:
    x = g.pick(is_float)
    dim = g.dim(x)
    stable = g.choice.random() < 0.5 or x.most > 8
    text = f"builder.softmax({x.name}, dimension={dim}, numericStable={stable})"
    g.emit(text, lambda: g.each(lambda v: v.softmax(dim), x), False)


def layer_norm(g: Generator) -> None:
    x = g.pick(lambda v: is_float(v) and v.rank > 0)
    # Of rows that are nearly constant, rounding is all that is left.
    if min(float(s.float().std(-1, correction=0).min()) for s in x.shards) < 0.25:
        raise Refused
    size = x.shape[-1]
    g.emit(
        f"builder.layer_norm({x.name}, normalized_shape=[{size}], epsilon=1e-05)",
        lambda: g.each(lambda v: torch.nn.functional.layer_norm(v, [size], eps=1e-5), x),
        False,
    )


def rms_norm(g: Generator) -> None:
    x = g.pick(lambda v: is_float(v) and v.rank > 0)
    if min(float(s.float().square().mean(-1).min()) for s in x.shards) < 0.0625:
        raise Refused
    g.emit(
        f"builder.rms_norm({x.name}, normalized_shape=[{x.shape[-1]}], epsilon=1e-05)",
        lambda: g.each(lambda v: v * torch.rsqrt(v.square().mean(-1, keepdim=True) + 1e-5), x),
        False,
    )


def group_norm(g: Generator) -> None:
    x = g.pick(lambda v: is_float(v) and v.rank == 4 and v.shape[1] == 1)
    groups = g.choice.choice(g.divisors(x.shape[-1]))
    parts = lambda v: v.unflatten(-1, (groups, -1))  # noqa: E731
    if min(float(parts(s.float()).std((1, 2, 4), correction=0).min()) for s in x.shards) < 0.25:
        raise Refused

    def function(v: Tensor) -> Tensor:
        split = parts(v)
        mean = split.mean((1, 2, 4), keepdim=True)
        variance = (split - mean).square().mean((1, 2, 4), keepdim=True)
        return ((split - mean) * torch.rsqrt(variance + 1e-5)).flatten(-2)

    text = f"builder.group_norm({x.name}, num_groups={groups}, epsilon=1e-05)"
    g.emit(text, lambda: g.each(function, x), False)


def batch_norm(g: Generator) -> None:
    x = g.pick(lambda v: is_float(v) and v.rank == 4)
    dim = g.choice.choice([1, 3])
    size = x.shape[dim]
    scale, offset, mean = (g.new_input((size,), x.dtype) for _ in range(3))
    variance = g.given((torch.rand(size, generator=g.torch) + 0.5).to(x.dtype))
    broad = lambda v: v.reshape([size if d == dim else 1 for d in range(4)])  # noqa: E731
    g.emit(
        f"builder.batch_norm_inference({x.name}, {scale.name}, {offset.name}, {mean.name}, {variance.name}, "
        f"epsilon=1e-05, dimension={dim})",
        lambda: g.each(
            lambda v, s, o, m, q: (v - broad(m)) * torch.rsqrt(broad(q) + 1e-5) * broad(s) + broad(o),
            *(x, scale, offset, mean, variance),
        ),
        False,
    )


# ---------------------------------------------------------------------- data movement


def reshape(g: Generator) -> None:
    x = g.pick()
    rest, shape = math.prod(x.shape), []
    for _ in range(g.choice.randint(0 if rest == 1 else 1, 4)):
        shape.append(g.choice.choice(g.divisors(rest)))
        rest //= shape[-1]
    if shape:
        shape[-1] *= rest
    g.emit(f"builder.reshape({x.name}, shape={shape})", lambda: [s.reshape(shape) for s in x.shards], x.exact)


def transpose(g: Generator) -> None:
    x = g.pick(lambda v: v.rank > 1)
    a, b = g.dim(x), g.dim(x)
    text = f"builder.transpose({x.name}, dim0={a}, dim1={b})"
    g.emit(text, lambda: [s.transpose(a, b).contiguous() for s in x.shards], x.exact)


def permute(g: Generator) -> None:
    x = g.pick(lambda v: v.rank > 1)
    order = g.choice.sample(range(x.rank), x.rank)
    text = f"builder.permute({x.name}, permutation={order})"
    g.emit(text, lambda: [s.permute(order).contiguous() for s in x.shards], x.exact)


def concat(g: Generator) -> None:
    x = g.pick(lambda v: v.rank > 0)
    dim = g.choice.randrange(x.rank)
    rest = lambda v: v.shape[:dim] + v.shape[dim + 1 :]  # noqa: E731
    others = [v for v in g.values if v.dtype == x.dtype and v.rank == x.rank and rest(v) == rest(x)]
    parts = [x, *(g.choice.choice(others) for _ in range(g.choice.randint(0, 2)))]
    text = f"builder.concat([{', '.join(v.name for v in parts)}], dim={dim})"
    g.emit(text, lambda: g.each(lambda *v: torch.cat(v, dim), *parts), all(v.exact for v in parts))


def piece(g: Generator) -> None:
    x = g.pick(lambda v: v.rank > 0)
    begins = [g.choice.randrange(n) for n in x.shape]
    ends = [g.choice.randint(b + 1, n) for b, n in zip(begins, x.shape, strict=True)]
    steps = [g.choice.choice([1, 1, 2, 3]) for _ in x.shape]
    cut = tuple(slice(*at) for at in zip(begins, ends, steps, strict=True))
    text = f"builder.slice_static({x.name}, begins={begins}, ends={ends}, step={steps})"
    g.emit(text, lambda: [s[cut].contiguous() for s in x.shards], x.exact)


def pad(g: Generator) -> None:
    x = g.pick(lambda v: is_float(v) and v.rank > 0)
    padding = [g.choice.choice([0, 0, 1, 3, -1]) for _ in range(2 * x.rank)]
    if any(n + min(padding[2 * d], 0) + min(padding[2 * d + 1], 0) < 1 for d, n in enumerate(x.shape)):
        raise Refused
    last_first = [n for d in reversed(range(x.rank)) for n in padding[2 * d : 2 * d + 2]]
    text = f"builder.pad({x.name}, padding={padding}, value=1.5)"
    g.emit(text, lambda: g.each(lambda v: torch.nn.functional.pad(v, last_first, value=1.5), x), x.exact)


def repeat(g: Generator) -> None:
    x = g.pick(lambda v: v.rank > 0)
    times = [g.choice.choice([1, 1, 2, 3]) for _ in x.shape]
    text = f"builder.repeat({x.name}, repeat_dimensions={times})"
    g.emit(text, lambda: [s.repeat(times) for s in x.shards], x.exact)


def repeat_interleave(g: Generator) -> None:
    x = g.pick(lambda v: v.rank > 0)
    dim, times = g.dim(x), g.choice.choice([1, 2, 3])
    text = f"builder.repeat_interleave({x.name}, repeats={times}, dim={dim})"
    g.emit(text, lambda: [s.repeat_interleave(times, dim) for s in x.shards], x.exact)


def grouped(g: Generator) -> None:
    """repeat_interleave, written out."""
    x = g.pick(lambda v: 0 < v.rank < 4)
    dim, times = g.choice.randrange(x.rank), g.choice.choice([2, 3])
    inner = [*x.shape[: dim + 1], 1, *x.shape[dim + 1 :]]
    copies = [times if d == dim + 1 else 1 for d in range(len(inner))]
    shape = [n * times if d == dim else n for d, n in enumerate(x.shape)]
    text = f"builder.broadcast(builder.reshape({x.name}, shape={inner}), broadcast_dimensions={copies})"
    text = f"builder.reshape({text}, shape={shape})"
    g.emit(text, lambda: [s.repeat_interleave(times, dim) for s in x.shards], x.exact)


def broadcast(g: Generator) -> None:
    x = g.pick(lambda v: 1 in v.shape)
    times = [g.choice.choice([1, 2, 5]) if n == 1 else 1 for n in x.shape]
    text = f"builder.broadcast({x.name}, broadcast_dimensions={times})"
    g.emit(text, lambda: [s.repeat(times) for s in x.shards], x.exact)


def rearrange(g: Generator) -> None:
    x = g.pick(lambda v: 1 < v.rank < 5)
    names = "abcd"[: x.rank]
    order = g.choice.sample(range(x.rank), x.rank)
    joined = g.choice.randrange(x.rank - 1)
    moved = [names[d] for d in order]
    pattern = " ".join([*moved[:joined], f"({moved[joined]} {moved[joined + 1]})", *moved[joined + 2 :]])
    text = f'builder.rearrange({x.name}, pattern="{" ".join(names)} -> {pattern}")'
    g.emit(text, lambda: [s.permute(order).flatten(joined, joined + 1).contiguous() for s in x.shards], x.exact)


def unsqueeze(g: Generator) -> None:
    x = g.pick(lambda v: v.rank < 4)
    dim = g.choice.randint(-x.rank - 1, x.rank)
    g.emit(f"builder.unsqueeze({x.name}, dim={dim})", lambda: [s.unsqueeze(dim) for s in x.shards], x.exact)


def squeeze(g: Generator) -> None:
    x = g.pick(lambda v: 1 in v.shape)
    dim = g.choice.choice([d for d, n in enumerate(x.shape) if n == 1])
    g.emit(f"builder.squeeze({x.name}, dim={dim})", lambda: [s.squeeze(dim) for s in x.shards], x.exact)


def reverse(g: Generator) -> None:
    x = g.pick(lambda v: v.rank > 0)
    dims = several_dims(g, x)
    g.emit(f"builder.reverse({x.name}, dimensions={dims})", lambda: g.each(lambda v: v.flip(dims), x), x.exact)


# ---------------------------------------------------------------------- creation


def created(g: Generator) -> None:
    shape = list(g.random_shape())
    (name, value), dtype = g.choice.choice([("zeros", 0.0), ("ones", 1.0)]), g.random_dtype()
    text = f"builder.{name}(shape={shape}, dtype={NAMES[dtype]})"
    g.emit(text, lambda: [torch.full(shape, value, dtype=dtype)], True)


def counted(g: Generator) -> None:
    shape = list(g.random_shape())
    if not shape:
        raise Refused
    dim, dtype = g.choice.randrange(len(shape)), g.choice.choice([g.dtype, torch.int32])
    start, step = g.choice.randint(-8, 8), g.choice.choice([1, 2])
    size = shape[dim]

    def numbers() -> list[Tensor]:
        row = start + step * torch.arange(size, dtype=torch.int64)
        return [row.reshape([-1 if d == dim else 1 for d in range(len(shape))]).expand(shape).contiguous().to(dtype)]

    g.emit(
        f"builder.arange(shape={shape}, dtype={NAMES[dtype]}, start={start}, end={start + step * size}, step={step}, "
        f"arange_dimension={dim})",
        numbers,
        True,
    )


def constant(g: Generator) -> None:
    """One that is folded with what is computed of it."""
    shape, dtype = [g.choice.choice([1, 2, 4]) for _ in range(g.choice.randint(0, 2))], g.random_dtype()
    values = g.random_tensor(shape, dtype)
    text = f"builder.constant(torch.tensor({values.tolist()}, dtype={NAMES[dtype]}))"
    g.emit(text, lambda: [values], True)


def dimension_size(g: Generator) -> None:
    x = g.pick(lambda v: v.rank > 0)
    dim = g.choice.randrange(x.rank)
    text = f"builder.get_dimension_size({x.name}, dimension={dim})"
    g.emit(text, lambda: [torch.tensor([x.shape[dim]], dtype=torch.int32)], True)


OPS: list[Draw] = [
    *ELEMENTWISE,
    *PRODUCTS,
    *INDEXING,
    *[reduction] * 3,
    product,
    all_or_any,
    argmax,
    argmax_of_several,
    *[cumulative] * 2,
    softmax,
    layer_norm,
    rms_norm,
    group_norm,
    batch_norm,
    *[reshape, transpose, permute, concat, piece, pad, repeat, broadcast, unsqueeze, squeeze, reverse, rearrange],
    *[reshape] * 2,
    repeat_interleave,
    grouped,
    created,
    counted,
    constant,
    dimension_size,
]
