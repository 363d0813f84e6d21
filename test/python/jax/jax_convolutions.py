# SPDX-License-Identifier: Apache-2.0
"""Rows of convolutions in all forms, of windows and of bits. See jax_functions.py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax_functions import Row, main, normal

C, E = "contraction", "exact"
NUMBERS = {
    0: ("NC", "OI", "NC"),
    1: ("NCW", "OIW", "NCW"),
    2: ("NCHW", "OIHW", "NCHW"),
    3: ("NCDHW", "OIDHW", "NCDHW"),
    4: ("NC0123", "OI0123", "NC0123"),
}
LAST = {1: ("NWC", "WIO", "NWC"), 2: ("NHWC", "HWIO", "NHWC"), 3: ("NDHWC", "DHWIO", "NDHWC")}
IMAGE, WINDOW = (5, 6, 4), (3, 2, 2)
BF16 = jnp.bfloat16


def draw(shape: Sequence[int], dtype: Any) -> Any:
    """Integers are of the whole range of their type."""
    if not np.issubdtype(dtype, np.integer):
        return normal(*shape).astype(dtype)
    limits = np.iinfo(dtype)
    return np.random.default_rng(len(shape)).integers(limits.min, limits.max, shape, dtype, endpoint=True)


def conv(name: str, x: Sequence[int], w: Sequence[int], dtype: Any = np.float32, to: Any = None, **how: Any) -> Row:
    rank = len(x) - 2
    options = {"window_strides": (1,) * rank, "padding": [(0, 0)] * rank, "dimension_numbers": NUMBERS[rank]} | how
    kind = E if np.issubdtype(dtype, np.integer) else C

    def function(a: Any, b: Any) -> Any:
        return lax.conv_general_dilated(a, b, preferred_element_type=to, **options)

    return Row(f"conv {rank}d {name} {np.dtype(dtype).name}", function, [draw(x, dtype), draw(w, dtype)], kind)


def forms(rank: int) -> Iterator[tuple[str, Sequence[int], Sequence[int], dict[str, Any]]]:
    """Name, shape of image and of kernel, and the rest."""
    x, w = (2, 4, *IMAGE[:rank]), (6, 4, *WINDOW[:rank])
    grouped = (6, 2, *WINDOW[:rank])
    twos, mixed, steps = (2,) * rank, (2, 3, 2)[:rank], (3, 2, 1)[:rank]

    def pad(low: int, high: int) -> list[tuple[int, int]]:
        return [(low, high)] * rank

    yield "strided", x, w, {"window_strides": twos, "padding": pad(1, 2)}
    yield "strided beyond the image", x, w, {"window_strides": (9,) * rank}
    yield "rhs dilated", x, w, {"rhs_dilation": mixed, "padding": pad(2, 1)}
    yield "lhs dilated", x, w, {"lhs_dilation": mixed}
    yield "lhs dilated, padded", x, w, {"lhs_dilation": mixed, "padding": pad(1, 2)}
    yield "lhs dilated, padded far", x, w, {"lhs_dilation": mixed, "padding": pad(7, 5)}
    yield "lhs dilated, padded at the end", x, w, {"lhs_dilation": mixed, "padding": pad(0, 9)}
    yield "lhs dilated, cut", x, w, {"lhs_dilation": twos, "padding": pad(-1, -2)}
    yield "lhs dilated, cut before and padded behind", x, w, {"lhs_dilation": twos, "padding": pad(-3, 4)}
    yield "lhs dilated, with strides", x, w, {"lhs_dilation": twos, "window_strides": steps, "padding": pad(1, 1)}
    yield "lhs dilated here, strides there", x, w, {
        "lhs_dilation": (2, 1, 1)[:rank], "window_strides": (1, 2, 1)[:rank], "padding": pad(1, 1),
    }  # fmt: skip
    yield "lhs and rhs dilated", x, w, {"lhs_dilation": twos, "rhs_dilation": mixed, "padding": pad(2, 3)}
    yield "all of it", x, w, {
        "lhs_dilation": twos, "rhs_dilation": mixed, "window_strides": steps, "padding": pad(2, -1),
    }  # fmt: skip
    yield "cut", x, w, {"padding": pad(-1, -1)}
    yield "cut to nothing", x, w, {"padding": pad(-7, 9)}
    yield "groups", x, grouped, {"feature_group_count": 2, "padding": pad(1, 0)}
    yield "groups, lhs dilated", x, grouped, {"feature_group_count": 2, "lhs_dilation": twos, "padding": pad(1, 1)}
    yield "as many groups as channels", x, (4, 1, *WINDOW[:rank]), {"feature_group_count": 4}
    yield "batch groups", x, w, {"batch_group_count": 2, "rhs_dilation": twos, "padding": pad(1, 1)}
    yield "batch groups, lhs dilated", x, w, {"batch_group_count": 2, "lhs_dilation": twos, "padding": pad(1, 1)}
    yield "of sizes 1", (1,) * (rank + 2), (1,) * (rank + 2), {"window_strides": twos, "lhs_dilation": (3,) * rank}
    yield "no batch", (0, *x[1:]), w, {}
    yield "no input channels", (2, 0, *x[2:]), (6, 0, *w[2:]), {}
    yield "no output channels", x, (0, *w[1:]), {}
    yield "no elements", (2, 4, 0, *x[3:]), (6, 4, 1, *w[3:]), {}
    yield "no elements, padded", (2, 4, 0, *x[3:]), (6, 4, 1, *w[3:]), {"padding": pad(2, 1)}
    yield "channels last", (2, *x[2:], 4), (*w[2:], 4, 6), {"lhs_dilation": twos, "dimension_numbers": LAST[rank]}


# Results of a type that holds them.
WIDER = {BF16: np.float32, np.int8: np.int32, np.uint8: np.uint32, np.int16: np.int32}
EVERY = [
    (np.float32, ""),
    (BF16, "strided|rhs dilated|lhs dilated, padded|groups|as many groups as channels|all of it"),
    (np.int8, "strided|lhs dilated, padded|groups, lhs dilated|batch groups|as many groups as channels|cut"),
    (np.int32, "strided|rhs dilated|lhs dilated, padded far|all of it|groups|no elements, padded|channels last"),
    (np.uint32, "strided|groups, lhs dilated"),
    (np.uint8, "strided|groups, lhs dilated"),
    (np.int16, "strided|groups, lhs dilated"),
]


def convolutions() -> Iterator[Row]:
    for rank in (1, 2, 3):
        for dtype, names in EVERY:
            for name, x, w, how in forms(rank):
                if not names or name in names.split("|"):
                    yield conv(name, x, w, dtype, WIDER.get(dtype), **how)
    yield conv("without places", (3, 4), (5, 4))
    yield conv("of four dimensions", (2, 3, 4, 5, 4, 3), (4, 3, 2, 3, 2, 2))
    yield conv(
        "of four dimensions, all of it", (2, 4, 4, 5, 4, 3), (4, 2, 2, 3, 2, 2), feature_group_count=2,
        window_strides=(2, 1, 2, 1), lhs_dilation=(1, 2, 1, 2), rhs_dilation=(2, 1, 1, 2),
        padding=[(1, 2), (-1, 1), (0, 1), (3, 2)],
    )  # fmt: skip
    yield conv("result of 8 bits", (2, 4, 5, 6), (6, 4, 3, 2), np.int8)
    # More channels than a block of registers has, and sums beyond 32 bits.
    yield conv("many channels", (2, 37, 9, 8), (75, 37, 3, 3), np.int32, padding=[(1, 1)] * 2)


def gradients() -> Iterator[Row]:
    for rank in (1, 2, 3):
        x, w = normal(2, 4, *(7, 6, 5)[:rank]), normal(6, 4, *(3, 3, 2)[:rank])

        def strided(x: Any, w: Any, rank: int = rank, dilation: int = 1) -> Any:
            options = {"rhs_dilation": (dilation,) * rank, "dimension_numbers": NUMBERS[rank]}
            return (lax.conv_general_dilated(x, w, (2,) * rank, "SAME", **options) ** 2).sum()

        def dilated(x: Any, w: Any, strided: Any = strided) -> Any:
            return strided(x, w, dilation=2)

        def transposed(x: Any, w: Any, rank: int = rank) -> Any:
            return (lax.conv_transpose(x, w, (2,) * rank, "SAME", dimension_numbers=NUMBERS[rank]) ** 2).sum()

        for function in (strided, dilated, transposed):
            yield Row(f"gradients {rank}d {function.__name__}", jax.grad(function, (0, 1)), [x, w], C)


def random_bits() -> Iterator[Row]:
    key = draw((4,), np.uint32)
    for algorithm in (
        lax.RandomAlgorithm.RNG_DEFAULT,
        lax.RandomAlgorithm.RNG_THREE_FRY,
        lax.RandomAlgorithm.RNG_PHILOX,
    ):
        for dtype in (jnp.uint32, jnp.uint16, jnp.uint8):
            for shape in ((7,), (3, 5), (4, 6, 2), (0,), ()):

                def function(key: Any, shape: Any = shape, dtype: Any = dtype, algorithm: Any = algorithm) -> Any:
                    return lax.rng_bit_generator(key, shape, dtype, algorithm)

                yield Row(f"{algorithm} {np.dtype(dtype).name} {shape}", function, [key], E)


def bitcast(start: str, end: str) -> Row:
    """Elements of 4 and 2 bits are made of the lower bits of bytes."""
    a, b = jnp.dtype(start), jnp.dtype(end)
    width, to = ({"int4": 4, "uint4": 4, "int2": 2, "uint2": 2}.get(t.name, 8 * t.itemsize) for t in (a, b))
    shape = (3, 2, to // width) if to > width else (3, 2)
    carrier = {8: np.uint8, 16: np.uint16, 32: np.uint32}[max(8, width)]
    bits = np.random.default_rng(width).integers(0, 2 ** min(width, 30), shape).astype(carrier)

    def function(x: Any) -> Any:
        y = lax.bitcast_convert_type(x.astype(a) if width < 8 else x, b)
        return y.astype(np.int32) if to < 8 else lax.bitcast_convert_type(y, jnp.dtype(f"uint{to}"))

    return Row(f"bitcast {start} {end}", function, [bits if width < 8 else bits.view(a)], E)


CASTS = """float32 uint8; int32 int16; float32 bfloat16; uint8 float32; int16 int32; bfloat16 uint8; float32 int4;
    uint8 uint4; int4 int8; uint4 uint32; int4 uint4; float16 int8; int8 float8_e4m3fn; float8_e5m2 int32;
    int4 bfloat16; uint4 float32; uint4 float8_e4m3fn; uint2 uint8; int32 int2; int4 int2"""


def windows() -> Iterator[Row]:
    whole = draw((2, 9, 8, 3), np.int32)
    small = np.random.default_rng(5).integers(-5, 6, (128, 128)).astype(np.int32)
    floats, line = normal(200, 180), normal(2000)
    least = np.iinfo(np.int32).min

    def row(name: str, x: Any, init: Any, op: Any, size: Any, steps: Any, padding: Any = "SAME", **how: Any) -> Row:
        exact = not np.issubdtype(x.dtype, np.floating) or op in (lax.max, lax.min)
        return Row(
            f"reduce_window {name}", lambda x: lax.reduce_window(x, init, op, size, steps, padding, **how), [x],
            E if exact else C,
        )  # fmt: skip

    yield row("add i32", whole, 0, lax.add, (1, 3, 2, 1), (1, 2, 1, 1))
    yield row("max i32", whole, least, lax.max, (1, 3, 2, 1), (1, 2, 1, 1), "VALID")
    yield row("add i32, large", small, 0, lax.add, (64, 64), (1, 1))
    yield row("max i32, large", draw((1000,), np.int32), least, lax.max, (100,), (1,), "VALID")
    yield row("min f32, large", floats, np.inf, lax.min, (50, 50), (7, 3))
    yield row("mul f32, large", 1 + normal(500) / 100, 1.0, lax.mul, (300,), (1,), [(299, 0)])
    yield row("and, large", floats > -3, True, lax.bitwise_and, (40, 41), (2, 3))
    yield row("or i32, large, dilated", small, 0, lax.bitwise_or, (40, 41), (2, 3), window_dilation=(1, 2))
    yield row(
        "xor i32, dilated base", draw((90,), np.int32), 0, lax.bitwise_xor, (20,), (2,), [(5, 3)], base_dilation=(3,),
        window_dilation=(2,),
    )  # fmt: skip
    yield row("add f32, a line", line, 0.0, lax.add, (200,), (3,))
    yield row("add f32, volumes", normal(2, 12, 13, 14, 4), 0.0, lax.add, (1, 5, 6, 7, 1), (1, 2, 1, 3, 1))
    for order, name in (((0, 1, 2, 3, 4), "NDHWC"), ((0, 4, 1, 2, 3), "NCDHW"), ((4, 1, 2, 3, 0), "CDHWN")):
        x = np.ascontiguousarray(normal(2, 6, 9, 8, 3).transpose(order))
        *sizes, dilation = ([each[i] for i in order] for each in ((1, 2, 3, 2, 1), (1, 2, 1, 2, 1), (1, 2, 2, 2, 1)))
        yield row(f"max f32, volumes, {name}", x, -np.inf, lax.max, *sizes)
        yield row(f"add f32, volumes, {name}", x, 0.0, lax.add, *sizes, "VALID")
        yield row(f"max f32, volumes, dilated, {name}", x, -np.inf, lax.max, *sizes, window_dilation=dilation)
    yield row("add i8 wraps", draw((64, 5), np.int8), np.int8(0), lax.add, (30, 2), (1, 1))
    yield row("of no elements", small[:0, :5], 0, lax.add, (3, 2), (1, 1), "VALID")
    yield row("of no elements, padded", small[:0, :5], 0, lax.add, (3, 2), (1, 1), [(2, 2), (0, 0)])
    yield Row("jnp.prod of two dimensions", lambda x: jnp.prod(x, (0, 2)), [normal(4, 5, 3)], C)
    yield Row("jnp.prod i32 of all", jnp.prod, [draw((4, 5, 3), np.int32)], E)


ROWS: list[Row] = [
    *convolutions(),
    *gradients(),
    *random_bits(),
    *(bitcast(*each.split()) for each in CASTS.split(";")),
    *windows(),
]

if __name__ == "__main__":
    main(ROWS)
