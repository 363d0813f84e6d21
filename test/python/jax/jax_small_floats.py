# SPDX-License-Identifier: Apache-2.0
"""More rows: floats of 4 and 8 bits, bit by bit. See jax_functions.py."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax_functions import A, B, I, Row, X, main, normal

C, E = "contraction", "exact"
NAMES = (
    "float8_e4m3fn float8_e5m2 float8_e4m3b11fnuz float8_e4m3fnuz float8_e5m2fnuz float8_e3m4 float8_e4m3 "
    "float8_e8m0fnu float4_e2m1fn"
)
TYPES = {name: getattr(jnp, name) for name in NAMES.split()}
SIGNED = {name: dtype for name, dtype in TYPES.items() if name != "float8_e8m0fnu"}
# Without a NaN, a division by zero has no result; the least of powers of two is not normal in f32.
IEEE = {name: dtype for name, dtype in SIGNED.items() if name != "float4_e2m1fn"}


def bits(dtype: Any) -> Any:
    return jnp.uint4 if dtype == jnp.float4_e2m1fn else jnp.uint8


def every(dtype: Any) -> Any:
    """All values of a type."""
    return np.arange(16 if dtype == jnp.float4_e2m1fn else 256, dtype=np.uint8).view(dtype)


def plain(dtype: Any) -> Any:
    """All values but NaN, of which a program knows one."""
    values = every(dtype)
    return values[~np.isnan(values.astype(np.float32))]


def pairs(dtype: Any) -> list[Any]:
    left, right = np.meshgrid(every(dtype), every(dtype)[:: 1 if dtype == jnp.float4_e2m1fn else 7])
    return [left, right]


def every_half(signs: bool = True) -> Any:
    """f32 of all exponents and the mantissas that rounding tells apart: ties, and one bit next to them."""
    upper = np.arange(0, 65536 if signs else 32640, 3, dtype=np.uint32) << 16
    values = np.concatenate([upper, upper + 1, upper + 0x8000, upper - 1]).view(np.float32)
    specials = np.float32([0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1e-45, 240, 248, 448, 464, 465, 57344, 61440])
    return np.concatenate([values, specials])


WIDE = every_half()
# What becomes of numbers below f32's normal ones is the CPU's matter, except in the type that has one.
NORMAL = WIDE[~((WIDE != 0) & (np.abs(WIDE) < np.finfo(np.float32).tiny))]


def scanned(dtype: Any) -> Any:
    def step(carry: Any, x: Any) -> Any:
        return carry + x, carry

    return lambda x: lax.scan(step, dtype(0), x.astype(dtype))


def train(x: Any, w: Any) -> Any:
    def loss(w: Any) -> Any:
        y = lax.dot_general(
            x.astype(jnp.float8_e4m3fn),
            w.astype(jnp.float8_e4m3fn),
            (((1,), (0,)), ((), ())),
            preferred_element_type=jnp.float32,
        )
        return jnp.mean(y**2)

    return jax.value_and_grad(loss)(w)


def scaled_product(a: Any, b: Any) -> Any:
    """As programs for chips with 8-bit floats have it: a scale for each row and column."""
    rows, columns = jnp.abs(a).max(1, keepdims=True) / 448, jnp.abs(b).max(0, keepdims=True) / 448
    quantized = (a / rows).astype(jnp.float8_e4m3fn), (b / columns).astype(jnp.float8_e4m3fn)
    return jnp.matmul(*quantized, preferred_element_type=jnp.float32) * rows * columns


def each(what: str, function: Any, arguments: Any, types: dict[str, Any] = TYPES) -> list[Row]:
    return [
        Row(f"{name} {what}", lambda *given, dtype=dtype: function(dtype, *given), arguments(dtype), E)
        for name, dtype in types.items()
    ]


ROWS: list[Row] = [
    *each("cast", lambda t, x: x.astype(t).astype(jnp.float32), lambda _: [NORMAL]),
    *each("result", lambda t, x: x.astype(t), lambda _: [NORMAL]),
    *each("cast of bf16", lambda t, x: x.astype(jnp.bfloat16).astype(t), lambda _: [NORMAL]),
    *each("cast of int32", lambda t, i: i.astype(t), lambda _: [np.arange(-700, 700, dtype=np.int32)]),
    *each("argument", lambda _, x: x.astype(jnp.float32), lambda t: [every(t)]),
    *each("argument and result", lambda t, x: x, lambda t: [every(t)]),
    *each("to bits", lambda t, x: lax.bitcast_convert_type(x, bits(t)), lambda t: [plain(t)]),
    *each("bits of a cast", lambda t, x: lax.bitcast_convert_type(x.astype(t), bits(t)), lambda _: [NORMAL]),
    *each("of bits", lambda t, i: lax.bitcast_convert_type(i.astype(bits(t)), t),
          lambda t: [np.arange(16 if bits(t) == jnp.uint4 else 256, dtype=np.int32)]),
    *each("sum, difference, product", lambda t, a, b: (a + b, a - b, a * b), pairs, SIGNED),
    *each("division", lambda t, a, b: a / b, pairs, IEEE),
    *each("order", lambda t, a, b: (a < b, a == b, jnp.maximum(a, b), jnp.where(a > b, a, b)), pairs, SIGNED),
    *each("negated, absolute", lambda t, a: (-a, jnp.abs(a)), lambda t: [every(t)], SIGNED),
    *each("functions", lambda t, a: (jnp.floor(a), jnp.sign(a), jnp.isnan(a), jnp.square(a)), lambda t: [every(t)],
          IEEE),
    *each("loop", lambda t, x: scanned(t)(x), lambda _: [normal(9)], SIGNED),
    *each("moved", lambda t, x: jnp.concatenate([x[::-1], x[3:7]]).reshape(2, -1).T, lambda t: [every(t)[:12]]),
    *each("largest", lambda t, x: (x.max(), x.min(), jnp.sort(x)), lambda t: [normal(64).astype(t)], SIGNED),
    *each("updated", lambda t, x: x.at[jnp.array([1, 3])].set(t(2)), lambda t: [normal(6).astype(t)]),
    *each("constant", lambda t: jnp.full((3,), 1.5, t) + jnp.array([1.0, 2.0, 0.5], t), lambda _: [], SIGNED),
    *each("condition", lambda t, x: lax.cond(x[0] > t(0), lambda v: v * t(2), lambda v: v - t(1), x),
          lambda t: [normal(6).astype(t)], SIGNED),
    Row("float8 between types", lambda x: x.astype(jnp.float8_e4m3fn).astype(jnp.float8_e5m2).astype(jnp.float16),
        [NORMAL], E),
    Row("float8 split of words", lambda x: lax.bitcast_convert_type(x, jnp.float8_e5m2), [normal(3, 4)], E),
    Row("float8 joined", lambda x: lax.bitcast_convert_type(x, jnp.float32), [every(jnp.float8_e4m3fn).reshape(64, 4)],
        E),
    Row("float8 matmul", lambda a, b: jnp.matmul(a.astype(jnp.float8_e5m2), b.astype(jnp.float8_e5m2)), [A, B], C),
    Row("float8 product of two types", lambda a, b: lax.dot_general(
        a.astype(jnp.float8_e4m3fn), b.astype(jnp.float8_e5m2), (((1,), (0,)), ((), ())),
        preferred_element_type=jnp.float32), [A, B], C),
    Row("float8 product in bf16", lambda a, b: lax.dot_general(
        a.astype(jnp.float8_e4m3fn), b.astype(jnp.float8_e4m3fn), (((1,), (0,)), ((), ())),
        preferred_element_type=jnp.bfloat16), [A, B]),
    Row("float8 product with scales", scaled_product, [normal(16, 32), normal(32, 8)], C),
    Row("float8 arguments of a product", lambda a, b: jnp.matmul(a, b, preferred_element_type=jnp.float32),
        [A.astype(jnp.float8_e4m3fn), B.astype(jnp.float8_e4m3fn)], C),
    Row("float8 training step", train, [normal(8, 5), normal(5, 3)], C),
    Row("float8 sum in f32", lambda x: jnp.sum(x, dtype=jnp.float32), [X.astype(jnp.float8_e4m3fn)], C),
    Row("float8 vmap of a cast", jax.vmap(lambda x: x.astype(jnp.float8_e3m4)), [X], E),
    Row("float8 gradient through a cast", jax.grad(lambda x: jnp.sum(x.astype(jnp.float8_e4m3fn).astype(jnp.float32))),
        [X], E),
    Row("float8 of integers and back", lambda i: i.astype(jnp.float8_e4m3fn).astype(jnp.int32), [I * 40], E),
]  # fmt: skip


if __name__ == "__main__":
    main(ROWS)
