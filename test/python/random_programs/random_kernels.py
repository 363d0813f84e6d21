# SPDX-License-Identifier: Apache-2.0
"""Cases of reductions, norms, attention, loops over elements and data movement on many shapes; see random_shapes.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from shape_cases import Case, Draw
from torch import Tensor
from torch.nn import functional

MOST_ELEMENTS = 1 << 17
# Errors of a rounding of the result and of some in between, compared with the value or 1.
TOLERANCE = {torch.float32: 2e-5, torch.bfloat16: 2**-6, torch.float16: 2**-9}
NAMES = {dtype: str(dtype) for dtype in TOLERANCE}


def shape(draw: Draw, rank: int, most: int = MOST_ELEMENTS) -> tuple[int, ...]:
    sizes: tuple[int, ...] = ()
    for _ in range(rank):
        sizes += (draw.size(most // math.prod(sizes)),)
    return tuple(draw.choice.sample(sizes, rank))


def case(
    draw: Draw,
    text: str,
    operands: list[Tensor],
    build: Callable[[Any, list[Any]], Any],
    expected: Tensor,
    tolerance: float = 0.0,
) -> Case:
    return Case(text, operands, [draw.chance(8) for _ in operands], build, expected, tolerance)


def elementwise(draw: Draw, dtype: torch.dtype) -> Case:
    """Draws operands that broadcast, one of which is a view of other strides."""
    whole = shape(draw, draw.choice.choice([1, 2, 3, 4]))
    parts = [tuple(1 if draw.chance(3) else n for n in whole) for _ in range(3)]
    parts[0] = parts[0][draw.choice.randrange(len(whole)) :]
    x, y, z = (draw.values(part, dtype) for part in parts)
    first, second = (draw.choice.choice(["add", "multiply", "subtract"]) for _ in range(2))
    functions = {"add": torch.add, "multiply": torch.mul, "subtract": torch.sub}
    expected = functions[second](functions[first](x.double(), y.double()).to(dtype).double(), z.double())
    turned = z.dim() > 1 and draw.chance(2)

    def build(builder: Any, given: list[Any]) -> Any:
        last = builder.transpose(given[2], -2, -1) if turned else given[2]
        return getattr(builder, second)(getattr(builder, first)(given[0], given[1]), last)

    operands = [x, y, z.transpose(-2, -1).contiguous() if turned else z]
    return case(draw, f"{second} of {first}", operands, build, expected, TOLERANCE[dtype])


def unary(draw: Draw, dtype: torch.dtype) -> Case:
    x = draw.values(shape(draw, draw.choice.choice([0, 1, 2, 3, 4])), dtype)
    name, function = draw.choice.choice(
        [("relu", torch.relu), ("exp", torch.exp), ("tanh", torch.tanh), ("sigmoid", torch.sigmoid), ("abs", torch.abs)]
    )
    build = lambda builder, given: getattr(builder, name)(given[0])  # noqa: E731
    return case(draw, name, [x], build, function(x.double()), TOLERANCE[dtype])


def reduction(draw: Draw, dtype: torch.dtype) -> Case:
    x = draw.values(shape(draw, draw.choice.choice([1, 2, 3, 4, 5])), dtype)
    dims = sorted(draw.choice.sample(range(x.dim()), draw.choice.randint(1, x.dim())))
    keep, name = draw.chance(2), draw.choice.choice(["sum", "mean", "max", "min"])
    functions = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax, "min": torch.amin}
    expected = functions[name](x.double(), dims, keepdim=keep)
    build = lambda builder, given: getattr(builder, name)(given[0], dim_arg=dims, keep_dim=keep)  # noqa: E731
    tolerance = 0.0 if name in ("max", "min") else TOLERANCE[dtype]
    return case(draw, f"{name} over {dims}, keep_dim={keep}", [x], build, expected, tolerance)


def argmax(draw: Draw, dtype: torch.dtype) -> Case:
    dims = shape(draw, draw.choice.choice([1, 2, 3, 4]), 4096)
    x = torch.randperm(math.prod(dims), generator=draw.torch).reshape(dims).to(dtype)
    dim = draw.choice.randrange(len(dims))
    expected = x.double().argmax(dim).double()
    build = lambda builder, given: builder.argmax(given[0], dim_arg=[dim], keep_dim=False)  # noqa: E731
    if dtype is torch.bfloat16:  # equal values: where the largest is does not say which one is meant
        x = x.clamp(max=256)
        expected = x.double().argmax(dim).double()
        alone = (x == x.amax(dim, keepdim=True)).sum(dim) == 1
        if not bool(alone.all()):
            return reduction(draw, dtype)
    return case(draw, f"argmax over {dim}", [x], build, expected)


def softmax(draw: Draw, dtype: torch.dtype) -> Case:
    x = draw.values(shape(draw, draw.choice.choice([1, 2, 3, 4])), dtype)
    dim, stable = draw.choice.randrange(-x.dim(), x.dim()), draw.chance(2)
    build = lambda builder, given: builder.softmax(given[0], dimension=dim, numeric_stable=stable)  # noqa: E731
    return case(draw, f"softmax over {dim}, stable={stable}", [x], build, x.double().softmax(dim), TOLERANCE[dtype])


def norm(draw: Draw, dtype: torch.dtype) -> Case:
    x = draw.values(shape(draw, draw.choice.choice([2, 3, 4])), dtype)
    last = list(x.shape[-1:])
    name = draw.choice.choice(["layer_norm", "rms_norm"])
    operands = [x]
    if draw.chance(2):
        operands.append(draw.values((last[0],), dtype))
        if draw.chance(2):
            operands.append(draw.values((last[0],), dtype))
    weight, bias = ([v.double() for v in operands[1:]] + [None, None])[:2]
    if name == "layer_norm":
        expected = functional.layer_norm(x.double(), last, weight, bias, 1e-2)
    else:
        expected = functional.rms_norm(x.double(), last, weight, 1e-2)
        expected = expected if bias is None else expected + bias

    def build(builder: Any, given: list[Any]) -> Any:
        return getattr(builder, name)(given[0], last, *given[1:], epsilon=1e-2)

    return case(draw, f"{name} of {len(operands)} operands", operands, build, expected, 4 * TOLERANCE[dtype])


def batch_norm(draw: Draw, dtype: torch.dtype) -> Case:
    x = draw.values(shape(draw, 4), dtype)
    channels = (x.shape[1],)
    scale, offset, mean = (draw.values(channels, dtype) for _ in range(3))
    variance = draw.values(channels, dtype).abs()
    expected = functional.batch_norm(x.double(), *(v.double() for v in (mean, variance, scale, offset)), eps=1e-2)
    build = lambda builder, given: builder.batch_norm_inference(*given, epsilon=1e-2, dimension=1)  # noqa: E731
    return case(draw, "batch_norm_inference", [x, scale, offset, mean, variance], build, expected, 4 * TOLERANCE[dtype])


def attention(draw: Draw, dtype: torch.dtype) -> Case:
    batch, key_heads, rows, columns, size = draw.size(3), draw.size(3), draw.size(), draw.size(), draw.size()
    heads = key_heads * draw.choice.choice([1, 1, 2])
    causal = rows == columns and draw.chance(2)
    query = draw.values((batch, heads, rows, size), dtype)
    key, value = (draw.values((batch, key_heads, columns, size), dtype) for _ in range(2))
    operands = [query, key, value]
    if not causal and draw.chance(2):
        operands.append(draw.values((draw.choice.choice([1, batch]), 1, rows, columns), dtype))
    q, k, v, *mask = (x.double() for x in operands)
    expected = functional.scaled_dot_product_attention(
        q, k, v, *mask, is_causal=causal, scale=0.125, enable_gqa=heads != key_heads
    )

    def build(builder: Any, given: list[Any]) -> Any:
        return builder.scaled_dot_product_attention(*given, is_causal=causal, scale=0.125)

    text = f"attention, causal={causal}, {len(mask)} mask"
    return case(draw, text, operands, build, expected, 4 * TOLERANCE[dtype])


def written_attention(draw: Draw, dtype: torch.dtype) -> Case:
    """Builds attention from products and a softmax, as front ends write it."""
    batch, heads, rows, columns, size = draw.size(3), draw.size(3), draw.size(), draw.size(), draw.size()
    query = draw.values((batch, heads, rows, size), dtype)
    key, value = (draw.values((batch, heads, columns, size), dtype) for _ in range(2))
    chances = ((query.double() @ key.double().mT) * 0.125).softmax(-1)

    def build(builder: Any, given: list[Any]) -> Any:
        scores = builder.matmul(given[0], given[1], transpose_b=True)
        scores = builder.multiply(scores, builder.constant(torch.tensor([0.125], dtype=dtype)))
        return builder.matmul(builder.softmax(scores, dimension=-1, numeric_stable=True), given[2])

    # Scores and chances are rounded on their way where they stay ops.
    largest = float(((query.double() @ key.double().mT).abs().max()) * 0.125)
    tolerance = 4 * TOLERANCE[dtype] * max(1.0, largest)
    return case(draw, "written attention", [query, key, value], build, chances @ value.double(), tolerance)


def movement(draw: Draw, dtype: torch.dtype) -> Case:
    x = draw.values(shape(draw, draw.choice.choice([2, 3, 4])), dtype)
    dim = draw.choice.randrange(x.dim())
    kind = draw.choice.choice(["permute", "concat", "pad", "slice", "repeat", "interleave", "reshape"])
    operands, exact = [x], x.double()
    build: Callable[[Any, list[Any]], Any]
    if kind == "permute":
        order = draw.choice.sample(range(x.dim()), x.dim())
        expected = exact.permute(order)
        build = lambda builder, given: builder.permute(given[0], order)  # noqa: E731
    elif kind == "concat":
        other = list(x.shape)
        other[dim] = draw.size()
        operands.append(draw.values(tuple(other), dtype))
        expected = torch.cat([exact, operands[1].double()], dim)
        build = lambda builder, given: builder.concat(given, dim=dim)  # noqa: E731
    elif kind == "pad":
        pads = [draw.choice.randrange(3) for _ in range(2 * x.dim())]
        backwards = [p for d in reversed(range(x.dim())) for p in pads[2 * d : 2 * d + 2]]
        expected = functional.pad(exact, backwards, value=1.5)
        build = lambda builder, given: builder.pad(given[0], pads, value=1.5)  # noqa: E731
    elif kind == "slice":
        begins = [draw.choice.randrange(n) for n in x.shape]
        ends = [draw.choice.randint(b + 1, n) for b, n in zip(begins, x.shape, strict=True)]
        steps = [draw.choice.randint(1, 3) for _ in begins]
        expected = exact[tuple(slice(*part) for part in zip(begins, ends, steps, strict=True))]
        build = lambda builder, given: builder.slice_static(given[0], begins, ends, steps)  # noqa: E731
    elif kind == "repeat":
        counts = [draw.choice.choice([1, 1, 2, 3]) for _ in x.shape]
        expected = exact.repeat(counts)
        build = lambda builder, given: builder.repeat(given[0], counts)  # noqa: E731
    elif kind == "interleave":
        count = draw.choice.randint(1, 3)
        expected = exact.repeat_interleave(count, dim)
        build = lambda builder, given: builder.repeat_interleave(given[0], count, dim)  # noqa: E731
    else:
        target = [x.numel() // x.shape[dim], x.shape[dim]]
        expected = exact.reshape(target)
        build = lambda builder, given: builder.reshape(given[0], target)  # noqa: E731
    return case(draw, f"{kind} along {dim}", operands, build, expected)


def lookup(draw: Draw, dtype: torch.dtype) -> Case:
    rows, size = draw.size(), draw.size()
    table, places = draw.values((rows, size), dtype), shape(draw, draw.choice.choice([1, 2]), 2000)
    index = torch.randint(0, rows, places, generator=draw.torch, dtype=torch.int32)
    build = lambda builder, given: builder.embedding(*given)  # noqa: E731
    return case(draw, "embedding", [index, table], build, functional.embedding(index.long(), table.double()))


def order(draw: Draw, dtype: torch.dtype) -> Case:
    x = draw.values(shape(draw, draw.choice.choice([1, 2, 3]), 1 << 13), dtype)
    dim, descending = draw.choice.randrange(x.dim()), draw.chance(2)
    if draw.chance(2):
        expected = x.double().sort(dim, descending).values
        return case(
            draw,
            f"sort along {dim}",
            [x],
            lambda builder, given: builder.sort(given[0], dim=dim, descending=descending)[0],
            expected,
        )
    expected = x.double().cumsum(dim)
    tolerance = TOLERANCE[dtype] * x.shape[dim] if dtype is not torch.float32 else TOLERANCE[dtype]
    build = lambda builder, given: builder.cumsum(given[0], dim)  # noqa: E731
    return case(draw, f"cumsum along {dim}", [x], build, expected, tolerance)


def pool(draw: Draw, dtype: torch.dtype) -> Case:
    batch, channels = draw.size(3), draw.size()
    image = [draw.size(), draw.size(33)]
    x = draw.values((batch, *image, channels), dtype)
    kernel = [min(draw.choice.choice([1, 2, 3, n]), n) for n in image]
    stride = [draw.choice.randint(1, 3) for _ in kernel]
    pads = [draw.choice.randint(0, min(1, k // 2)) for k in kernel]
    name = draw.choice.choice(["max_pool2d", "avg_pool2d"])
    moved = x.double().movedim(-1, 1)
    expected = getattr(functional, name)(moved, kernel, stride, pads).movedim(1, -1)
    attributes = {"kernel": kernel, "stride": stride, "padding": pads, "dilation": [1, 1], "ceil_mode": False}
    build = lambda builder, given: getattr(builder, name)(given[0], **attributes)  # noqa: E731
    return case(draw, f"{name} {attributes}", [x], build, expected, 0.0 if name == "max_pool2d" else TOLERANCE[dtype])


KINDS = (
    elementwise,
    unary,
    reduction,
    reduction,
    argmax,
    softmax,
    norm,
    batch_norm,
    attention,
    attention,
    written_attention,
    movement,
    movement,
    lookup,
    order,
    pool,
)


def kernel(draw: Draw, dtype: torch.dtype) -> Case:
    return draw.choice.choice(KINDS)(draw, dtype)
