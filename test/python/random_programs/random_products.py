# SPDX-License-Identifier: Apache-2.0
"""Products, windows and attention that random modules are made of, each compared with its reference; see
random_modules.py."""

from __future__ import annotations

import math

import torch
from random_values import NAMES, Draw, Generator, Refused, Value, is_float
from torch import Tensor
from torch.nn import functional

# ---------------------------------------------------------------------- attention and norms as front ends write them


def written_attention(g: Generator) -> None:
    """Builds attention from products and a softmax, as front ends write it, which fusions make one op."""
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


def linear(g: Generator) -> None:
    x = g.pick(lambda v: is_float(v) and v.rank > 1 and max(abs(v.least), abs(v.most)) <= 8)
    size, turned = g.choice.choice([1, 5, 8, 32]), g.choice.random() < 0.5
    weight = g.new_input((size, x.shape[-1]) if turned else (x.shape[-1], size), x.dtype)
    bias = g.new_input((size,), x.dtype)
    g.emit(
        f"builder.linear({x.name}, {weight.name}, {bias.name}, transpose_b={turned})",
        lambda: g.each(lambda v, w, b: v @ (w.T if turned else w) + b, x, weight, bias),
        False,
    )


def dot_general(g: Generator) -> None:
    """Draws operands that share all dimensions but one, some of which are not contracted."""
    x = g.pick(lambda v: is_float(v) and 1 < v.rank < 4 and max(abs(v.least), abs(v.most)) <= 4)
    y = g.pick(lambda v: v.dtype == x.dtype and v.shape == x.shape and product_bound(x, v))
    shared = g.choice.sample(range(x.rank), x.rank - 1)
    kept = shared[: g.choice.randint(0, len(shared) - 1)]
    summed = shared[len(kept) :]
    free = next(d for d in range(x.rank) if d not in shared)
    letters = "abcd"[: x.rank]
    given = "".join("z" if d == free else n for d, n in enumerate(letters))
    equation = f"{letters},{given}->{''.join(letters[d] for d in kept)}{letters[free]}z"
    g.emit(
        f"builder.dot_general({x.name}, {y.name}, batch_dims_lhs={kept}, contract_dims_lhs={summed}, "
        f"batch_dims_rhs={kept}, contract_dims_rhs={summed})",
        lambda: g.each(lambda a, b: torch.einsum(equation, a, b), x, y),
        False,
    )


def window(g: Generator, *ranks: int) -> tuple[Value, list[int], list[int]]:
    """(image or volume, kernel, stride) that fit."""
    x = g.pick(lambda v: is_float(v) and v.rank in ranks)
    kernel = [g.choice.randint(1, min(3, n)) for n in x.shape[1:-1]]
    return x, kernel, [g.choice.choice([1, 2]) for _ in kernel]


def pool(g: Generator) -> None:
    x, kernel, stride = window(g, 4, 5)
    kind, rank = g.choice.choice(["max", "avg"]), len(kernel)
    function = getattr(functional, f"{kind}_pool{rank}d")
    more = ", count_include_pad=True" if kind == "avg" else ""
    g.emit(
        f"builder.{kind}_pool{rank}d({x.name}, kernel={kernel}, stride={stride}, dilation=1, padding=0, "
        f"ceil_mode=False{more})",
        lambda: g.each(lambda v: function(v.movedim(-1, 1), kernel, stride).movedim(1, -1).contiguous(), x),
        x.exact and kind == "max",
    )


def conv2d(g: Generator) -> None:
    x, kernel, stride = window(g, 4)
    if max(abs(x.least), abs(x.most)) > 8:
        raise Refused
    channels = g.choice.choice([1, 4, 7])
    weights = g.new_input((channels, x.shape[-1], *kernel), x.dtype)
    if weights.shape != (channels, x.shape[-1], *kernel):
        raise Refused
    pads = [g.choice.choice([0, 1]) for _ in kernel]

    def function(v: Tensor, w: Tensor) -> Tensor:
        image = functional.conv2d(v.permute(0, 3, 1, 2), w, stride=stride, padding=pads)
        return image.permute(0, 2, 3, 1).contiguous()

    g.emit(
        f"builder.conv2d({x.name}, {weights.name}, None, stride={stride}, padding={pads}, dilation=[1, 1], groups=1)",
        lambda: g.each(function, x, weights),
        False,
    )


def conv_transpose2d(g: Generator) -> None:
    x, kernel, stride = window(g, 4)
    if max(abs(x.least), abs(x.most)) > 8:
        raise Refused
    channels = g.choice.choice([1, 4, 7])
    weights = g.new_input((x.shape[-1], channels, *kernel), x.dtype)
    pads = [g.choice.choice([0, min(1, k - 1)]) for k in kernel]

    def function(v: Tensor, w: Tensor) -> Tensor:
        image = functional.conv_transpose2d(v.permute(0, 3, 1, 2), w, stride=stride, padding=pads)
        return image.permute(0, 2, 3, 1).contiguous()

    g.emit(
        f"builder.conv_transpose2d({x.name}, {weights.name}, None, stride={stride}, padding={pads}, "
        f"output_padding=[0, 0], dilation=[1, 1], groups=1)",
        lambda: g.each(function, x, weights),
        False,
    )


def conv1d(g: Generator) -> None:
    x = g.pick(lambda v: is_float(v) and v.rank == 3 and max(abs(v.least), abs(v.most)) <= 8)
    kernel, channels = g.choice.randint(1, min(3, x.shape[1])), g.choice.choice([1, 4, 7])
    stride, pad = g.choice.choice([1, 2]), g.choice.choice([0, 1])
    weights = g.new_input((channels, x.shape[-1], kernel), x.dtype)

    def function(v: Tensor, w: Tensor) -> Tensor:
        return functional.conv1d(v.transpose(1, 2), w, stride=stride, padding=pad).transpose(1, 2).contiguous()

    g.emit(
        f"builder.conv1d({x.name}, {weights.name}, None, stride={stride}, padding={pad}, dilation=1, groups=1)",
        lambda: g.each(function, x, weights),
        False,
    )


def conv3d(g: Generator) -> None:
    x = g.pick(lambda v: is_float(v) and v.rank == 5 and max(abs(v.least), abs(v.most)) <= 8)
    kernel, channels = [g.choice.randint(1, min(3, n)) for n in x.shape[1:4]], g.choice.choice([1, 4])
    gaps = [g.choice.randint(1, (n - 1) // (k - 1)) if k > 1 else 1 for n, k in zip(x.shape[1:4], kernel, strict=True)]
    weights = g.new_input((channels, x.shape[-1], *kernel), x.dtype)

    def function(v: Tensor, w: Tensor) -> Tensor:
        volume = functional.conv3d(v.permute(0, 4, 1, 2, 3), w, dilation=gaps)
        return volume.permute(0, 2, 3, 4, 1).contiguous()

    g.emit(
        f"builder.conv3d({x.name}, {weights.name}, None, stride=[1, 1, 1], padding=[0, 0, 0], dilation={gaps}, "
        f"groups=1)",
        lambda: g.each(function, x, weights),
        False,
    )


def conv_transpose3d(g: Generator) -> None:
    x = g.pick(lambda v: is_float(v) and v.rank == 5 and max(abs(v.least), abs(v.most)) <= 8)
    kernel, channels = [g.choice.randint(1, 3) for _ in range(3)], g.choice.choice([1, 4])
    stride = [g.choice.choice([1, 2]) for _ in range(3)]
    weights = g.new_input((x.shape[-1], channels, *kernel), x.dtype)

    def function(v: Tensor, w: Tensor) -> Tensor:
        volume = functional.conv_transpose3d(v.permute(0, 4, 1, 2, 3), w, stride=stride)
        return volume.permute(0, 2, 3, 4, 1).contiguous()

    g.emit(
        f"builder.conv_transpose3d({x.name}, {weights.name}, None, stride={stride}, padding=0, output_padding=0, "
        f"dilation=1, groups=1)",
        lambda: g.each(function, x, weights),
        False,
    )


def global_pool(g: Generator) -> None:
    x = g.pick(lambda v: is_float(v) and v.rank == 4)
    text = f"builder.global_avg_pool2d({x.name})"
    g.emit(text, lambda: g.each(lambda v: v.mean((1, 2), keepdim=True), x), False)


def upsample(g: Generator) -> None:
    x = g.pick(lambda v: is_float(v) and v.rank == 4)
    scale = [g.choice.choice([1, 2, 3]) for _ in range(2)]
    text = f'builder.upsample2d({x.name}, scale_factor={scale}, mode="nearest")'
    larger = lambda v: v.repeat_interleave(scale[0], 1).repeat_interleave(scale[1], 2)  # noqa: E731
    g.emit(text, lambda: g.each(larger, x), x.exact)


def attention(g: Generator) -> None:
    query = g.pick(lambda v: is_float(v) and v.rank == 4 and max(abs(v.least), abs(v.most)) <= 4)
    key = g.pick(lambda v: v.shape == query.shape and v.dtype == query.dtype and product_bound(query, v))
    causal = g.choice.random() < 0.5

    def function(q: Tensor, k: Tensor) -> Tensor:
        scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
        if causal:
            later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(later, -math.inf)
        return scores.softmax(-1) @ k

    g.emit(
        f"builder.scaled_dot_product_attention({query.name}, {key.name}, {key.name}, is_causal={causal})",
        lambda: g.each(function, query, key),
        False,
    )


def heads(g: Generator) -> None:
    x = g.pick(lambda v: is_float(v) and v.rank == 4)
    text = f"builder.concatenate_heads({x.name})"
    g.emit(text, lambda: [s.permute(0, 2, 1, 3).flatten(2).contiguous() for s in x.shards], x.exact)


PRODUCTS: list[Draw] = [
    written_attention,
    written_norm,
    rope,
    *[matmul] * 3,
    linear,
    dot_general,
    *[pool] * 2,
    conv2d,
    conv_transpose2d,
    conv1d,
    conv3d,
    conv_transpose3d,
    global_pool,
    upsample,
    attention,
    heads,
]
