# SPDX-License-Identifier: Apache-2.0
"""Functions of two sizes, n and m, whose ops depend on sizes in some way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

Body = Callable[..., Any]
F32, BF16, I32 = torch.float32, torch.bfloat16, torch.int32
# Around tiles, and multiples of them, which no sample point is.
SIZES = (2, 3, 4, 5, 7, 12, 15, 16, 17, 31, 32, 33, 36, 37, 63, 64, 65, 96, 127, 128, 200, 256)
OTHERS = (3, 2, 5, 33, 64, 7)


@dataclass(frozen=True)
class OpenCase:
    """body(builder, arguments, n, m). closed: what the error says where the sizes cannot stay open."""

    shapes: Callable[[int, int], Sequence[tuple[int, ...]]]
    body: Body
    dtypes: tuple[Any, ...] = ()
    sizes: Sequence[int] = SIZES
    closed: str = ""
    below: Callable[[int, int], int] = lambda n, m: 2  # of integers

    def module(self, n: int, m: int) -> Callable[[Any], None]:
        shapes = self.shapes(n, m)
        dtypes = self.dtypes or (F32,) * len(shapes)

        def build(builder: Any) -> None:
            def main(*arguments: Any) -> Any:
                return self.body(builder, arguments[:-1], n, m)

            builder.func(shapes, dtypes)(main)

        return build

    def inputs(self, n: int, m: int) -> list[torch.Tensor]:
        generator = torch.Generator().manual_seed(n * 1000 + m)
        shapes = self.shapes(n, m)
        return [
            torch.randint(0, self.below(n, m), s, generator=generator, dtype=I32)
            if dtype is I32
            else (torch.rand(s, generator=generator) * 4 - 2).to(dtype)
            for s, dtype in zip(shapes, self.dtypes or (F32,) * len(shapes), strict=True)
        ]


def sliced(b: Any, x: Any, begin: int, end: int, step: int = 1) -> Any:
    shape = b.get_shape(x)
    return b.slice_static(
        x, begins=[begin] + [0] * (len(shape) - 1), ends=[end, *shape[1:]], step=[step] + [1] * (len(shape) - 1)
    )


def padded(b: Any, x: Any, n: int, m: int) -> Any:
    """To a multiple of 8, and split by it."""
    more = -n % 8
    whole = b.pad(x, padding=[0, more, 0, 0], value=1.5)
    return b.reshape(whole, shape=[(n + more) // 8, 8, 5])


def one(body: Callable[..., Any]) -> OpenCase:
    """Builds an op of one matrix with n rows."""
    return OpenCase(lambda n, m: [(n, 5)], lambda b, a, n, m: body(b, a[0], n, m))


def of_image(body: Callable[..., Any], channels: int = 3, dtype: Any = F32) -> OpenCase:
    return OpenCase(
        lambda n, m: [(1, n + 6, m + 6, channels)], lambda b, a, n, m: body(b, a[0]), (dtype,), (2, 3, 4, 9, 26, 32, 57)
    )


def conv(b: Any, x: Any, kernel: tuple[int, int], stride: int, pad: int, dilation: int = 1) -> Any:
    weight = b.constant(torch.linspace(-1, 1, 4 * 3 * kernel[0] * kernel[1]).reshape(4, 3, *kernel))
    return b.conv2d(
        x, weight, None, stride=[stride] * 2, padding=[pad] * 2, dilation=[dilation] * 2, groups=1
    )  # fmt: skip


def pool(b: Any, x: Any, name: str, ceil: bool, **more: Any) -> Any:
    method = getattr(b, name)
    return method(x, kernel=[3, 2], stride=[2, 2], dilation=[1, 1], padding=[1, 1, 1, 1], ceil_mode=ceil, **more)


def mask(b: Any, n: int) -> Any:
    """1 where the column is before the row."""
    rows = b.arange(shape=[n, n], dtype=F32, start=0, end=n, step=1, arange_dimension=0)
    columns = b.arange(shape=[n, n], dtype=F32, start=0, end=n, step=1, arange_dimension=1)
    return b.lt(columns, rows)


ELIDED = "it is there for some sizes only|another op, ttnn.reshape, is there for other sizes"

CASES: dict[str, OpenCase] = {
    "broadcast of two": OpenCase(
        lambda n, m: [(n, 1), (1, m), (m,)], lambda b, a, n, m: b.add(b.add(a[0], a[1]), a[2])
    ),
    "broadcast op": OpenCase(lambda n, m: [(n, 1)], lambda b, a, n, m: b.broadcast(a[0], broadcast_dimensions=[1, n])),
    "slice of 10": one(lambda b, x, n, m: sliced(b, x, 0, min(n, 10))),
    "slice by size": one(lambda b, x, n, m: sliced(b, x, n // 2, n)),
    "strided slice": one(lambda b, x, n, m: b.concat([sliced(b, x, 0, n, 3), sliced(b, x, 1, n, 2)], dim=0)),
    "last rows": one(lambda b, x, n, m: sliced(b, x, n - 2, n)),
    "chunks": one(lambda b, x, n, m: b.concat([sliced(b, x, (n + 1) // 2, n), sliced(b, x, 0, (n + 1) // 2)], dim=0)),
    "at least 20": one(lambda b, x, n, m: b.pad(x, padding=[0, max(n, 20) - n, 0, 0], value=0.5)),
    # A size that is a multiple is padded by 0, which is another program.
    "pad to a multiple": replace(one(padded), closed=ELIDED),
    "repeat_interleave": one(lambda b, x, n, m: b.repeat_interleave(x, repeats=3, dim=0)),
    "repeat": one(lambda b, x, n, m: b.repeat(x, repeat_dimensions=[2, 3])),
    "topk of all but one": one(lambda b, x, n, m: b.topk(x, k=n - 1, dim=0, largest=True, sorted=True)),
    "topk of half": one(lambda b, x, n, m: b.topk(x, k=n // 2, dim=0, largest=False, sorted=True)),
    "sort": one(lambda b, x, n, m: b.sort(x, dim=0, descending=True, stable=True)),
    "argmax": one(lambda b, x, n, m: (b.argmax(x, dim_arg=[0], keep_dim=True), b.argmax(x, keep_dim=False))),
    "argmax of many": OpenCase(
        lambda n, m: [(2, n)],
        lambda b, a, n, m: b.argmax(a[0], dim_arg=[1], keep_dim=False),
        sizes=(255, 256, 257, 65535, 65536, 65537, 131071),
    ),
    "sort of many": OpenCase(
        lambda n, m: [(n,)], lambda b, a, n, m: b.sort(a[0], dim=0, descending=False), sizes=(65535, 65536, 65537)
    ),
    "cumulative": one(lambda b, x, n, m: (b.cumsum(x, dim=0), b.cumprod(x, dim=0))),
    "softmax": one(lambda b, x, n, m: b.softmax(x, dimension=0)),
    "reductions": one(
        lambda b, x, n, m: tuple(
            getattr(b, f)(x, dim_arg=d, keep_dim=False) for f in ("sum", "mean", "max") for d in ([0], [0, 1])
        )
    ),
    "variance": one(
        lambda b, x, n, m: b.mean(b.square(b.subtract(x, b.mean(x, dim_arg=[0], keep_dim=True))), dim_arg=[0])
    ),
    "norms": OpenCase(
        lambda n, m: [(3, n)],
        lambda b, a, n, m: (
            b.layer_norm(a[0], normalized_shape=[n], epsilon=1e-5),
            b.rms_norm(a[0], normalized_shape=[n], epsilon=1e-5),
        ),
    ),
    "group norm": OpenCase(
        lambda n, m: [(2, 1, m, 4 * n)], lambda b, a, n, m: b.group_norm(a[0], num_groups=4, epsilon=1e-5)
    ),
    "conv": of_image(lambda b, x: conv(b, x, (3, 3), 1, 1)),
    "conv with strides": of_image(lambda b, x: conv(b, x, (3, 5), 2, 1)),
    "dilated conv": of_image(lambda b, x: conv(b, x, (3, 2), 3, 0, 2)),
    "max pool": of_image(lambda b, x: pool(b, x, "max_pool2d", False)),
    "max pool, up": of_image(lambda b, x: pool(b, x, "max_pool2d", True)),
    "avg pool": of_image(lambda b, x: pool(b, x, "avg_pool2d", False, count_include_pad=False)),
    "avg pool, up": of_image(lambda b, x: pool(b, x, "avg_pool2d", True, count_include_pad=True)),
    "global pool": of_image(lambda b, x: b.global_avg_pool2d(x)),
    "upsample": of_image(lambda b, x: b.upsample2d(x, scale_factor=[2, 3], mode="nearest")),
    "upsample, bilinear": of_image(lambda b, x: b.upsample2d(x, scale_factor=2, mode="bilinear")),
    "upsample, bf16": of_image(lambda b, x: b.upsample2d(x, scale_factor=2, mode="nearest"), 32, BF16),
    "embedding": OpenCase(
        lambda n, m: [(m,), (n, 8)], lambda b, a, n, m: b.embedding(a[0], a[1]), (I32, F32), below=lambda n, m: n
    ),
    "gather": OpenCase(
        lambda n, m: [(n, 5), (m, 5)],
        lambda b, a, n, m: b.gather(a[0], sliced(b, a[1], 0, 2), dim=0),
        (F32, I32),
        below=lambda n, m: n,
    ),
    "scatter": OpenCase(
        lambda n, m: [(n, 5), (1, 5), (1, 5)],
        lambda b, a, n, m: b.scatter(a[0], a[1], a[2], dim=0, scatter_reduce_type="sum"),
        (F32, I32, F32),
        below=lambda n, m: n,
    ),
    "positions": one(
        lambda b, x, n, m: b.where(mask(b, n), b.matmul(x, b.transpose(x, dim0=0, dim1=1)), b.full([n, n], -1.0))
    ),
    "full of the size": one(lambda b, x, n, m: b.div(x, b.full([n, 5], float(n)))),
    "ones": one(lambda b, x, n, m: b.add(b.ones(shape=[n, 1], dtype=F32), x)),
    "a constant of the size": OpenCase(
        lambda n, m: [(n,)],
        lambda b, a, n, m: b.add(a[0], b.constant(torch.linspace(0, 1, n))),
        closed="ttnn.constant.*: the values of its constant depend on them",
    ),
    "negative zeros": one(
        lambda b, x, n, m: b.maximum(b.constant(torch.full((n, 5), -0.0)), b.minimum(x, b.zeros([n, 5], F32)))
    ),
    "a tenth": one(lambda b, x, n, m: b.multiply(x, b.constant(torch.full((n, 5), 0.1)))),
    "concat": OpenCase(lambda n, m: [(n, 5), (m, 5)], lambda b, a, n, m: b.concat([a[0], a[1], a[0]], dim=0)),
    "merge and split": OpenCase(
        lambda n, m: [(n, m, 4)],
        lambda b, a, n, m: (
            b.reshape(a[0], shape=[n * m * 4]),
            b.permute(b.reshape(a[0], shape=[n, m * 2, 2]), permutation=[1, 2, 0]),
            b.reshape(b.transpose(a[0], dim0=0, dim1=1), shape=[m, n * 4]),
        ),
    ),
    "attention": OpenCase(
        lambda n, m: [(1, 2, n, 8), (1, 2, m, 8), (1, 2, m, 8)],
        lambda b, a, n, m: b.scaled_dot_product_attention(*a, is_causal=False),
    ),
    "causal attention": OpenCase(
        lambda n, m: [(1, 2, n, 8)] * 3, lambda b, a, n, m: b.scaled_dot_product_attention(*a, is_causal=True)
    ),
    "products": OpenCase(lambda n, m: [(n, m), (m, n)], lambda b, a, n, m: b.matmul(a[0], a[1])),
    "products in bf16": OpenCase(lambda n, m: [(n, m), (m, n)], lambda b, a, n, m: b.matmul(a[0], a[1]), (BF16, BF16)),
    "products of a batch": OpenCase(lambda n, m: [(n, 7, m), (n, m, 3)], lambda b, a, n, m: b.matmul(a[0], a[1])),
    "linear": OpenCase(
        lambda n, m: [(n, 12), (m, 12), (m,)], lambda b, a, n, m: b.linear(a[0], a[1], a[2], transpose_b=True)
    ),
    "a size by steps": OpenCase(
        lambda n, m: [(n, 5)],
        lambda b, a, n, m: b.pad(a[0], padding=[0, n.bit_length(), 0, 0], value=0.5),
        closed=r"ttnn.pad at .*: attribute padding\[1\] is 6, 7, 9, 11 and 18 for n 37, 92, 335, 1046 and 131103",
    ),
    "rows by a square root": OpenCase(
        lambda n, m: [(n, 5)],
        lambda b, a, n, m: sliced(b, a[0], 0, int(n**0.5)),
        closed=r"ttnn.slice_static at .*: attribute ends\[0\] is 6, 9, 18, 32 and 362 for n 37, 92",
    ),
    "what is left of 7": replace(one(lambda b, x, n, m: b.pad(x, padding=[n % 7, 0, 0, 0], value=0.5)), closed=ELIDED),
}
