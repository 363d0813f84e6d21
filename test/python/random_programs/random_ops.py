# SPDX-License-Identifier: Apache-2.0
"""Ops of one chip that random modules are made of, each beside its reference; see random_modules.py."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from random_values import FLOATS, MOST_ELEMENTS, NAMES, Draw, Generator, Refused, Value, is_float
from torch import Tensor

# ---------------------------------------------------------------------- elementwise

# method -> (torch, least and most of the operand)
UNARY: dict[str, tuple[Callable[[Tensor], Tensor], float, float]] = {
    "abs": (torch.abs, -64, 64),
    "neg": (torch.neg, -64, 64),
    "relu": (torch.relu, -64, 64),
    "sigmoid": (torch.sigmoid, -64, 64),
    "tanh": (torch.tanh, -64, 64),
    "sin": (torch.sin, -8, 8),
    "cos": (torch.cos, -8, 8),
    "exp": (torch.exp, -64, 3),
    "gelu": (torch.nn.functional.gelu, -8, 8),
    "silu": (torch.nn.functional.silu, -64, 64),
    "sqrt": (torch.sqrt, 0.125, 64),
    "rsqrt": (torch.rsqrt, 0.25, 64),
    "log": (torch.log, 0.25, 64),
    "reciprocal": (torch.reciprocal, 0.25, 64),
    "square": (torch.square, -8, 8),
}
EXACT_UNARY = ("abs", "neg", "relu")
BINARY: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "add": torch.add,
    "subtract": torch.sub,
    "multiply": torch.mul,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
}
COMPARISONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "eq": torch.eq,
    "ne": torch.ne,
    "gt": torch.gt,
    "le": torch.le,
}


def unary(g: Generator) -> None:
    name = g.choice.choice(list(UNARY))
    function, least, most = UNARY[name]
    x = g.pick(lambda v: is_float(v) and v.least >= least and v.most <= most)
    g.emit(f"builder.{name}({x.name})", lambda: g.each(function, x), x.exact and name in EXACT_UNARY)


def partner(g: Generator, *values: Value) -> Value:
    """Another operand beside these: of a shape that broadcasts with theirs."""

    def fits(v: Value) -> bool:
        if v.dtype != values[0].dtype:
            return False
        try:
            return math.prod(torch.broadcast_shapes(v.shape, *(x.shape for x in values))) <= MOST_ELEMENTS
        except RuntimeError:
            return False

    return g.pick(fits)


def binary(g: Generator) -> None:
    x = g.pick()
    y = partner(g, x)
    if g.choice.random() < 0.5:
        x, y = y, x
    name = g.choice.choice(list(BINARY))
    exact = x.exact and y.exact and (not is_float(x) or name in ("maximum", "minimum"))
    g.emit(f"builder.{name}({x.name}, {y.name})", lambda: g.each(BINARY[name], x, y), exact)


def divide(g: Generator) -> None:
    y = g.pick(lambda v: is_float(v) and (v.least > 0.25 or v.most < -0.25))
    x = partner(g, y)
    g.emit(f"builder.div({x.name}, {y.name})", lambda: g.each(torch.div, x, y), False)


def compared(g: Generator) -> None:
    x = g.pick(lambda v: v.exact)
    y = partner(g, x)
    if not y.exact:
        raise Refused
    name = g.choice.choice(list(COMPARISONS))
    g.emit(f"builder.{name}({x.name}, {y.name})", lambda: g.each(COMPARISONS[name], x, y), True)


def where(g: Generator) -> None:
    x = g.pick()
    y = partner(g, x)
    condition = partner(g, x, y)
    if not condition.exact:
        raise Refused
    g.emit(
        f"builder.where({condition.name}, {x.name}, {y.name})",
        lambda: g.each(lambda c, a, b: torch.where(c != 0, a, b), condition, x, y, dtype=x.dtype),
        x.exact and y.exact,
    )


def clamp(g: Generator) -> None:
    x = g.pick(is_float)
    text = f"builder.clamp_scalar({x.name}, min=-0.5, max=1.25)"
    g.emit(text, lambda: g.each(lambda v: v.clamp(-0.5, 1.25), x), x.exact)


def typecast(g: Generator) -> None:
    x = g.pick(lambda v: is_float(v) or v.most - v.least < 256)
    to = g.choice.choice([d for d in FLOATS if d != x.dtype])
    text = f"builder.typecast({x.name}, output_type={NAMES[to]})"
    g.emit(text, lambda: [g.narrow(s, to) for s in x.shards], x.exact)


# ---------------------------------------------------------------------- reductions, normalisation


def written_attention(g: Generator) -> None:
    """Of products and a softmax, as front ends write it: what fusions make one op."""
    x = g.pick(lambda v: is_float(v) and v.rank in (3, 4) and max(abs(v.least), abs(v.most)) <= 4)
    key = g.choice.choice([v for v in g.values if v.shape == x.shape and v.dtype == x.dtype])
    scale = x.shape[-1] ** -0.5
    one = f"builder.full([1], {scale}, output_type={NAMES[x.dtype]})"
    scores = f"builder.multiply(builder.matmul({x.name}, {key.name}, transpose_b=True), {one})"
    if g.choice.random() < 0.5:
        chances = f"builder.softmax({scores}, dimension=-1, numericStable=True)"
    else:
        powers = "(lambda s: builder.exp(builder.subtract(s, builder.max(s, dim_arg=[-1]))))"
        chances = f"(lambda e: builder.div(e, builder.sum(e, dim_arg=[-1])))({powers}({scores}))"
    g.emit(
        f"builder.matmul({chances}, {x.name})",
        lambda: g.each(lambda q, k: (q @ k.transpose(-2, -1) * scale).softmax(-1) @ q, x, key),
        False,
    )


def written_norm(g: Generator) -> None:
    x = g.pick(lambda v: is_float(v) and v.rank > 0)
    if min(float(s.float().square().mean(-1).min()) for s in x.shards) < 0.0625:
        raise Refused
    epsilon = f"builder.full([1], 1e-05, output_type={NAMES[x.dtype]})"
    mean = f"builder.mean(builder.multiply({x.name}, {x.name}), dim_arg=[-1], keep_dim=True)"
    g.emit(
        f"builder.multiply({x.name}, builder.rsqrt(builder.add({mean}, {epsilon})))",
        lambda: g.each(lambda v: v * torch.rsqrt(v.square().mean(-1, keepdim=True) + 1e-5), x),
        False,
    )


def rope(g: Generator) -> None:
    x = g.pick(lambda v: is_float(v) and v.rank == 4 and v.shape[-1] % 2 == 0)
    table = g.new_input((1, 1, *x.shape[-2:]), x.dtype)
    if table.shape != (1, 1, *x.shape[-2:]):
        raise Refused
    half, begins, step = x.shape[-1] // 2, [0] * 3, [1] * 4
    first = f"builder.slice_static({x.name}, begins={[*begins, 0]}, ends={[*x.shape[:3], half]}, step={step})"
    second = f"builder.slice_static({x.name}, begins={[*begins, half]}, ends={[*x.shape]}, step={step})"
    turned = f"builder.multiply(builder.concat([builder.neg({second}), {first}], dim=3), {table.name})"
    g.emit(
        f"builder.add(builder.multiply({x.name}, {table.name}), {turned})",
        lambda: g.each(lambda v, t: v * t + torch.cat([-v[..., half:], v[..., :half]], -1) * t, x, table),
        False,
    )


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


def cumsum(g: Generator) -> None:
    x = g.pick(is_float)
    dim = g.dim(x)
    g.emit(f"builder.cumsum({x.name}, dim={dim})", lambda: g.each(lambda v: v.cumsum(dim), x), False)


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


def bits(g: Generator) -> None:
    x = g.pick(lambda v: v.dtype is torch.int32)
    y = partner(g, x)
    name = g.choice.choice(["bitwise_and", "bitwise_or", "bitwise_xor"])
    g.emit(f"builder.{name}({x.name}, {y.name})", lambda: g.each(getattr(torch, name), x, y), x.exact and y.exact)


def broadcast(g: Generator) -> None:
    x = g.pick(lambda v: 1 in v.shape)
    times = [g.choice.choice([1, 2, 5]) if n == 1 else 1 for n in x.shape]
    text = f"builder.broadcast({x.name}, broadcast_dimensions={times})"
    g.emit(text, lambda: [s.repeat(times) for s in x.shards], x.exact)


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
    g.emit(f"builder.reverse({x.name}, dimensions={dims})", lambda: [s.flip(dims) for s in x.shards], x.exact)


def embedding(g: Generator) -> None:
    table = g.pick(lambda v: is_float(v) and v.rank == 2)
    rows = table.shape[0]
    # Beside the sign: any integer is made a row.
    indices = g.pick(lambda v: v.dtype is torch.int32 and v.exact and v.least >= 0 and v.most < rows and 0 < v.rank < 3)
    text = f"builder.embedding({indices.name}, {table.name})"
    g.emit(text, lambda: g.each(lambda i, t: t[i.long()], indices, table, dtype=table.dtype), table.exact)


# ---------------------------------------------------------------------- products and windows


def product_bound(x: Value, y: Value) -> bool:
    return max(abs(x.least), abs(x.most)) * max(abs(y.least), abs(y.most)) <= 16


def matmul(g: Generator) -> None:
    x = g.pick(lambda v: is_float(v) and v.rank > 0)

    def contracts(v: Value) -> bool:
        inner = v.shape[-2] if v.rank > 1 else v.shape[-1] if v.rank else 0
        if v.dtype != x.dtype or inner != x.shape[-1]:
            return False
        try:
            torch.broadcast_shapes(x.shape[:-2], v.shape[:-2])
        except RuntimeError:
            return False
        return product_bound(x, v)

    fitting = [v for v in g.values if contracts(v)]
    y = g.choice.choice(fitting) if fitting else g.new_input((x.shape[-1], g.choice.choice([1, 5, 8, 32])), x.dtype)
    if y.shape[-2 if y.rank > 1 else -1] != x.shape[-1]:
        raise Refused
    g.emit(f"builder.matmul({x.name}, {y.name})", lambda: g.each(torch.matmul, x, y), False)


def window(g: Generator) -> tuple[Value, list[int], list[int]]:
    """(image, kernel, stride) that fit."""
    x = g.pick(lambda v: is_float(v) and v.rank == 4)
    kernel = [g.choice.randint(1, min(3, n)) for n in x.shape[1:3]]
    return x, kernel, [g.choice.choice([1, 2]) for _ in kernel]


def pool(g: Generator) -> None:
    x, kernel, stride = window(g)
    name = g.choice.choice(["max_pool2d", "avg_pool2d"])
    function = torch.nn.functional.max_pool2d if name == "max_pool2d" else torch.nn.functional.avg_pool2d
    more = ", count_include_pad=True" if name == "avg_pool2d" else ""
    g.emit(
        f"builder.{name}({x.name}, kernel={kernel}, stride={stride}, dilation=[1, 1], padding=[0, 0], "
        f"ceil_mode=False{more})",
        lambda: g.each(lambda v: function(v.permute(0, 3, 1, 2), kernel, stride).permute(0, 2, 3, 1).contiguous(), x),
        x.exact and name == "max_pool2d",
    )


def conv2d(g: Generator) -> None:
    x, kernel, stride = window(g)
    if max(abs(x.least), abs(x.most)) > 8:
        raise Refused
    channels = g.choice.choice([1, 4, 7])
    weights = g.new_input((channels, x.shape[-1], *kernel), x.dtype)
    if weights.shape != (channels, x.shape[-1], *kernel):
        raise Refused
    pads = [g.choice.choice([0, 1]) for _ in kernel]

    def function(v: Tensor, w: Tensor) -> Tensor:
        image = torch.nn.functional.conv2d(v.permute(0, 3, 1, 2), w, stride=stride, padding=pads)
        return image.permute(0, 2, 3, 1).contiguous()

    g.emit(
        f"builder.conv2d({x.name}, {weights.name}, None, stride={stride}, padding={pads}, dilation=[1, 1], groups=1)",
        lambda: g.each(function, x, weights),
        False,
    )


def created(g: Generator) -> None:
    shape = list(g.random_shape())
    name, value = g.choice.choice([("zeros", 0.0), ("ones", 1.0)])
    text = f"builder.{name}(shape={shape}, dtype={NAMES[g.dtype]})"
    g.emit(text, lambda: [torch.full(shape, value, dtype=g.dtype)], True)


OPS: list[Draw] = [
    *[unary] * 5,
    *[binary] * 6,
    divide,
    compared,
    where,
    clamp,
    typecast,
    *[reduction] * 3,
    argmax,
    argmax_of_several,
    cumsum,
    softmax,
    layer_norm,
    rms_norm,
    *[reshape, transpose, permute, concat, piece, pad, repeat, broadcast, unsqueeze, squeeze, reverse],
    *[reshape] * 2,
    repeat_interleave,
    grouped,
    bits,
    written_attention,
    written_norm,
    rope,
    embedding,
    *[matmul] * 3,
    *[pool] * 2,
    conv2d,
    created,
]
