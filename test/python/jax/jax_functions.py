# SPDX-License-Identifier: Apache-2.0
"""JAX functions with arguments: rows that tests run on the platform `tt` and on the CPU.

Run as a program it needs JAX_PLATFORMS=tt,cpu and prints one line of JSON for each row: name, verdict, reason.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn, random


class Row(NamedTuple):
    """kind: "elementwise" (4 ulp or 1e-5), "contraction" (1e-4 of the range) or "exact"."""

    name: str
    function: Callable[..., Any]
    arguments: Sequence[Any]
    kind: str = "elementwise"


def normal(*shape: int, dtype: Any = np.float32, seed: int = 0) -> Any:
    return np.random.default_rng(seed + len(shape)).standard_normal(shape).astype(dtype)


def uniform(*shape: int, low: float = 0.1, high: float = 0.9) -> Any:
    return np.random.default_rng(7).uniform(low, high, shape).astype(np.float32)


def integers(*shape: int, low: int = -9, high: int = 9, dtype: Any = np.int32, seed: int = 1) -> Any:
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


X, Y, P, I, J = normal(4, 6), normal(4, 6, seed=3), uniform(4, 6), integers(4, 6), integers(4, 6, low=1, seed=2)  # noqa: E741
U = integers(4, 6, low=0, high=200, dtype=np.uint32)
ODD = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 3.5], np.float32)
IMAGE, KERNEL = normal(2, 8, 8, 3), normal(3, 3, 3, 4)
A, B = normal(5, 7), normal(7, 9)
KEY = np.array([0, 42], np.uint32)


def unary(module: Any, names: str, argument: Any, kind: str = "elementwise") -> list[Row]:
    return [Row(f"{module.__name__}.{name}", getattr(module, name), [argument], kind) for name in names.split()]


def binary(module: Any, names: str, left: Any, right: Any, kind: str = "elementwise") -> list[Row]:
    return [Row(f"{module.__name__}.{name}", getattr(module, name), [left, right], kind) for name in names.split()]


def keyed(name: str, function: Callable[[Any], Any], kind: str = "exact") -> Row:
    return Row(f"jax.random.{name}", lambda key: function(random.wrap_key_data(key)), [KEY], kind)


def mlp(parameters: Any, x: Any) -> Any:
    for w, b in parameters[:-1]:
        x = nn.relu(x @ w + b)
    w, b = parameters[-1]
    return x @ w + b


MLP = [
    (normal(6, 16) / 4, normal(16)),
    (normal(16, 16, seed=5) / 4, normal(16)),
    (normal(16, 3, seed=6) / 4, normal(3)),
]


def conv(x: Any, kernel: Any, stride: int = 1, padding: str = "SAME") -> Any:
    return lax.conv_general_dilated(x, kernel, (stride, stride), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))


def max_pool(x: Any) -> Any:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def unrolled(x: Any) -> Any:
    return lax.scan(lambda c, v: (jnp.tanh(c + v), c), jnp.zeros(6), x)[0]


def loss(parameters: Any, x: Any, y: Any) -> Any:
    return jnp.mean((mlp(parameters, x) - y) ** 2)


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    return jnp.einsum("bhqk,bkhd->bqhd", nn.softmax(jnp.where(mask, scores, -1e9)), v)


def lstm(x: Any, w: Any, u: Any) -> Any:
    def step(state: Any, now: Any) -> Any:
        h, c = state
        i, f, g, o = jnp.split(now @ w + h @ u, 4, axis=-1)
        c = nn.sigmoid(f) * c + nn.sigmoid(i) * jnp.tanh(g)
        h = nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros((x.shape[1], u.shape[0]))
    return lax.scan(step, (zero, zero), x)


QKV = [normal(2, 5, 3, 4, seed=seed) for seed in (1, 2, 3)]
C, E = "contraction", "exact"
ROWS: list[Row] = [
    *unary(jnp, "abs sin cos tan tanh sinh cosh exp exp2 expm1 floor ceil sign negative square arctan arcsinh rint", X),
    *unary(jnp, "log log2 log10 log1p sqrt arcsin arccos arctanh cbrt reciprocal", P),
    *unary(jnp, "isnan isinf isfinite signbit", ODD, E),
    *unary(jnp, "abs sign floor", ODD),
    *unary(jnp, "abs negative sign invert bitwise_count", I, E),
    *binary(jnp, "add subtract multiply divide maximum minimum arctan2 hypot logaddexp copysign mod", X, Y),
    *binary(jnp, "power", P, X),
    *binary(jnp, "add subtract multiply maximum minimum bitwise_and bitwise_or bitwise_xor", I, J, E),
    *binary(jnp, "floor_divide mod remainder equal less greater_equal not_equal left_shift", I, J, E),
    *binary(lax, "shift_right_logical shift_right_arithmetic", I, J, E),
    *binary(lax, "add mul max bitwise_and", U, U, E),
    *binary(jnp, "equal less greater", ODD, ODD[::-1].copy(), E),
    *unary(nn, "relu gelu silu sigmoid softplus elu selu leaky_relu log_sigmoid hard_tanh soft_sign celu", X),
    *unary(nn, "softmax log_softmax logsumexp standardize", X),
    *unary(jnp, "sum mean prod var std", X, C),
    *unary(jnp, "max min argmax argmin all any", X, E),
    *unary(jnp, "cumsum cumprod", X, C),
    *unary(jnp, "sort argsort ravel flip transpose", X, E),
    *unary(jnp, "cumsum sum max sort", I, E),
    *unary(lax, "erf erf_inv rsqrt lgamma digamma", P),
    *unary(jax.scipy.special, "erfc expit logit gammaln i0 ndtr ndtri", P),
    *binary(jnp, "matmul dot", A, B, C),
    Row("jnp.sum axis", lambda x: jnp.sum(x, axis=1, keepdims=True), [X], C),
    Row("jnp.where", jnp.where, [X > 0, X, Y]),
    Row("jnp.clip", lambda x: jnp.clip(x, -0.5, 0.5), [X]),
    Row("jnp.concatenate", lambda x, y: jnp.concatenate([x, y], 1), [X, Y], E),
    Row("jnp.stack", lambda x, y: jnp.stack([x, y]), [X, Y], E),
    Row("jnp.pad", lambda x: jnp.pad(x, ((1, 2), (0, 3))), [X], E),
    Row("jnp.pad reflect", lambda x: jnp.pad(x, 2, mode="reflect"), [X], E),
    Row("jnp.tile", lambda x: jnp.tile(x, (2, 3)), [X], E),
    Row("jnp.repeat", lambda x: jnp.repeat(x, 3, axis=1), [X], E),
    Row("jnp.roll", lambda x: jnp.roll(x, 2, axis=1), [X], E),
    Row("jnp.take", lambda x, i: jnp.take(x, i, axis=1), [X, np.array([5, 0, 2])], E),
    Row("jnp.take_along_axis", lambda x: jnp.take_along_axis(x, jnp.argsort(x, 1), 1), [X], E),
    Row("jnp.x[i]", lambda x, i: x[i], [X, np.array([3, 1])], E),
    Row("jnp.x[:, ::2]", lambda x: x[:, ::2], [X], E),
    Row("jnp.x.at.set", lambda x: x.at[1, 2].set(7.0), [X], E),
    Row("jnp.x.at.add", lambda x, i: x.at[i].add(1.0), [X, np.array([0, 0, 3])], C),
    Row("jnp.x.at.max", lambda x, i: x.at[i].max(0.0), [X, np.array([0, 2])], E),
    Row("jnp.arange", lambda: jnp.arange(3, 20, 4), [], E),
    Row("jnp.linspace", lambda: jnp.linspace(0, 1, 7), []),
    Row("jnp.eye", lambda: jnp.eye(4, 5, 1), [], E),
    Row("jnp.tril", jnp.tril, [X], E),
    Row("jnp.diag", jnp.diag, [normal(5)], E),
    Row("jnp.outer", jnp.outer, [normal(4), normal(3)], C),
    Row("jnp.einsum", lambda a, b: jnp.einsum("ij,jk->ki", a, b), [A, B], C),
    Row("jnp.einsum batch", lambda q, k, v: jnp.einsum("bqhd,bkhd->bhqk", q, k), QKV, C),
    Row("jnp.kron", jnp.kron, [normal(2, 3), normal(3, 2)], C),
    Row("jnp.median", jnp.median, [X], C),
    Row("jnp.unique size", lambda x: jnp.unique(x, size=8), [I], E),
    Row("jnp.searchsorted", jnp.searchsorted, [np.sort(normal(9)), normal(5)], E),
    Row("jnp.histogram", lambda x: jnp.histogram(x, bins=5)[0], [X], C),
    Row("jnp.interp", jnp.interp, [P, np.linspace(0, 1, 5, dtype=np.float32), normal(5)], C),
    Row("jnp.convolve", jnp.convolve, [normal(9), normal(4)], C),
    Row("jnp.polyval", jnp.polyval, [normal(4), X], C),
    Row("jnp.astype i32", lambda x: x.astype(jnp.int32), [X * 5], E),
    Row("jnp.astype bf16", lambda x: x.astype(jnp.bfloat16), [X], E),
    Row("jnp.astype i8", lambda x: x.astype(jnp.int8), [I], E),
    Row("jnp i8 add wraps", jnp.add, [np.int8([100, -100, 5]), np.int8([100, -100, 6])], E),
    Row("jnp u8 mul wraps", jnp.multiply, [np.uint8([200, 3]), np.uint8([2, 4])], E),
    Row("lax.top_k", lambda x: lax.top_k(x, 3), [X], E),
    Row("lax.dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i, 1), (2, 3)), [X, np.int32(1)], E),
    Row("lax.dynamic_update_slice", lambda x, y: lax.dynamic_update_slice(x, y, (1, 2)), [X, Y[:2, :3]], E),
    Row("lax.reduce_window max", max_pool, [IMAGE], E),
    Row("lax.conv same", conv, [IMAGE, KERNEL], C),
    Row("lax.conv stride", lambda x, k: conv(x, k, 2, "VALID"), [IMAGE, KERNEL], C),
    Row("lax.conv_transpose", lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME"), [IMAGE, KERNEL], C),
    Row("lax.scan", lambda x: lax.scan(lambda c, v: (c + v, c * v), jnp.zeros(6), x), [X], C),
    Row("lax.while_loop", lambda n: lax.while_loop(lambda c: c < n, lambda c: c * 2 + 1, 1), [np.int32(50)], E),
    Row("lax.fori_loop", lambda x: lax.fori_loop(0, 5, lambda i, c: c * 0.5 + i, x), [X]),
    Row("lax.cond", lambda x: lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x), [X]),
    Row("lax.switch", lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], x), [np.int32(1), X]),
    Row("lax.map", lambda x: lax.map(jnp.sum, x), [X], C),
    Row("lax.associative_scan", lambda x: lax.associative_scan(jnp.add, x), [X], C),
    Row("nn.one_hot", lambda i: nn.one_hot(i, 6), [np.array([1, 5, 0])], E),
    Row("nn.glu", nn.glu, [X]),
    Row("nn.dot_product_attention", nn.dot_product_attention, QKV, C),
    keyed("split", lambda key: random.key_data(random.split(key, 3))),
    keyed("bits", lambda key: random.bits(key, (5,))),
    keyed("uniform", lambda key: random.uniform(key, (4, 3))),
    keyed("normal", lambda key: random.normal(key, (4, 3)), "elementwise"),
    keyed("randint", lambda key: random.randint(key, (7,), 0, 100)),
    keyed("bernoulli", lambda key: random.bernoulli(key, 0.3, (9,))),
    keyed("permutation", lambda key: random.permutation(key, 9)),
    keyed("categorical", lambda key: random.categorical(key, jnp.zeros((4, 5)))),
    keyed("gumbel", lambda key: random.gumbel(key, (5,)), C),
    keyed("truncated_normal", lambda key: random.truncated_normal(key, -1.0, 1.0, (5,)), C),
    keyed("gamma", lambda key: random.gamma(key, 2.0, (3,)), C),
    Row("linalg.norm", jnp.linalg.norm, [X], C),
    Row("linalg.cholesky", jnp.linalg.cholesky, [A @ A.T + 5 * np.eye(5, dtype=np.float32)], C),
    Row("linalg.solve", jnp.linalg.solve, [A[:, :5] + 5 * np.eye(5, dtype=np.float32), normal(5)], C),
    Row("linalg.inv", jnp.linalg.inv, [A[:, :5] + 5 * np.eye(5, dtype=np.float32)], C),
    Row("linalg.qr", lambda a: jnp.abs(jnp.linalg.qr(a)[1]), [A[:, :5]], C),
    Row("linalg.eigh", lambda a: jnp.linalg.eigh(a)[0], [A @ A.T], C),
    Row("linalg.svd", lambda a: jnp.linalg.svd(a)[1], [A], C),
    Row("linalg.det", jnp.linalg.det, [A[:, :5]], C),
    Row("fft.fft", jnp.fft.fft, [normal(8)], C),
    Row("fft.rfft", jnp.fft.rfft, [normal(8)], C),
    Row("complex mul", lambda x, y: (x + 1j * y) * (y - 1j * x), [X, Y], C),
    Row("grad sin", jax.grad(lambda x: jnp.sum(jnp.sin(x) ** 2)), [X], C),
    Row("grad mlp", jax.grad(loss), [MLP, X, Y[:, :3]], C),
    Row("grad conv", jax.grad(lambda k, x: jnp.sum(conv(x, k) ** 2)), [KERNEL, IMAGE], C),
    Row("grad max pool", jax.grad(lambda x: jnp.sum(max_pool(x) ** 2)), [IMAGE], C),
    Row("grad take", jax.grad(lambda x, i: jnp.sum(x[i] ** 2)), [X, np.array([0, 0, 2])], C),
    Row("grad softmax", jax.grad(lambda x: jnp.sum(nn.softmax(x) * jnp.arange(6.0))), [X], C),
    Row("grad scan", jax.grad(lambda x: jnp.sum(unrolled(x))), [X], C),
    Row("hessian", jax.hessian(lambda x: jnp.sum(x**3)), [normal(4)], C),
    Row("jvp", lambda x, t: jax.jvp(jnp.tanh, (x,), (t,)), [X, Y]),
    Row("vmap matmul", jax.vmap(jnp.matmul), [normal(3, 4, 5), normal(3, 5, 2)], C),
    Row("vmap take", jax.vmap(lambda x, i: x[i]), [X, np.array([0, 5, 2, 1])], E),
    Row("vmap cond", jax.vmap(lambda x: lax.cond(x > 0, jnp.sin, jnp.cos, x)), [normal(9)]),
    Row("mlp", mlp, [MLP, X], C),
    Row("attention", attention, QKV, C),
    Row("lstm", lstm, [normal(5, 2, 3), normal(3, 16), normal(4, 16)], C),
    Row("layer norm", lambda x: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5), [X], C),
    Row("checkpoint", jax.grad(lambda x: jnp.sum(jax.checkpoint(lambda v: jnp.sin(jnp.sin(v)))(x))), [X], C),
]


def rotary(x: Any) -> Any:
    """Rotates [batch, sequence, heads, size]."""
    size = x.shape[-1]
    angle = jnp.arange(x.shape[1])[:, None] * 10000.0 ** (-jnp.arange(0, size, 2) / size)
    cos, sin = jnp.cos(angle)[None, :, None], jnp.sin(angle)[None, :, None]
    a, b = x[..., ::2], x[..., 1::2]
    return jnp.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(x.shape)


def llama_block(x: Any, weights: Any) -> Any:
    q, k, v, o, gate, down, up, scale = weights

    def rms(value: Any) -> Any:
        return value * lax.rsqrt(jnp.mean(value**2, -1, keepdims=True) + 1e-6) * scale

    def heads(value: Any) -> Any:
        return value.reshape(*x.shape[:2], 2, -1)

    h = rms(x)
    mixed = nn.dot_product_attention(rotary(heads(h @ q)), rotary(heads(h @ k)), heads(h @ v), is_causal=True)
    x = x + mixed.reshape(x.shape) @ o
    h = rms(x)
    return x + (nn.silu(h @ gate) * (h @ up)) @ down


def cached_attention(cache: Any, key: Any, position: Any, query: Any) -> Any:
    """One token of attention over a cache that it is added to."""
    cache = lax.dynamic_update_slice(cache, key, (0, position, 0))
    scores = jnp.einsum("bd,bsd->bs", query, cache)
    scores = jnp.where(jnp.arange(cache.shape[1]) <= position, scores, -1e9)
    return jnp.einsum("bs,bsd->bd", nn.softmax(scores), cache), cache


def state_space(x: Any, decay: Any, b: Any, c: Any) -> Any:
    """A diagonal linear recurrence, as an associative scan (Mamba)."""
    step = lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1])  # noqa: E731
    return lax.associative_scan(step, (jnp.broadcast_to(decay, x.shape), b * x))[1] * c


def training_step(parameters: Any, x: Any, y: Any) -> Any:
    gradients = jax.grad(loss)(parameters, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients)


def grouped(x: Any) -> Any:
    g = x.reshape(x.shape[0], 3, -1)
    return ((g - g.mean(-1, keepdims=True)) * lax.rsqrt(g.var(-1, keepdims=True) + 1e-5)).reshape(x.shape)


def convolved(x: Any, k: Any, strides: Any = (1, 1), padding: str = "SAME", groups: int = 1) -> Any:
    numbers = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, k, strides, padding, dimension_numbers=numbers, feature_group_count=groups)


def average_pool(x: Any) -> Any:
    return lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


SPD = normal(5, 5) @ normal(5, 5).T + 5 * np.eye(5, dtype=np.float32)
WIDE = np.abs(normal(3, 4)) + 0.1
LLAMA = [normal(2, 6, 16), [*(normal(16, 16, seed=i) / 4 for i in range(4)), normal(16, 32) / 4, normal(32, 16) / 4,
                            normal(16, 32, seed=9) / 4, normal(16)]]  # fmt: skip
DEPTHWISE = normal(3, 3, 1, 6)

ROWS += [
    *unary(jax.scipy.special, "i0e i1 i1e entr expi exp1 factorial spence gamma log_ndtr", WIDE, C),
    *binary(jax.scipy.special, "gammainc gammaincc betaln xlogy poch", WIDE, WIDE + 0.5, C),
    Row("special.zeta", jax.scipy.special.zeta, [WIDE + 1.5, WIDE + 0.5], C),
    Row("special.polygamma", lambda x: jax.scipy.special.polygamma(2, x), [WIDE], C),
    Row("special.betainc", jax.scipy.special.betainc, [WIDE, WIDE + 0.5, uniform(3, 4)], C),
    Row("special.logsumexp", lambda x: jax.scipy.special.logsumexp(x, axis=-1), [X]),
    Row("stats.norm.logpdf", jax.scipy.stats.norm.logpdf, [X]),
    *unary(jnp, "ptp nansum nanmax count_nonzero average cumprod", X, C),
    Row("lax.cummax", lambda x: lax.cummax(x, axis=1), [X]),
    Row("lax.cummin", lambda x: lax.cummin(x, axis=0, reverse=True), [X]),
    Row("lax.cumlogsumexp", lambda x: lax.cumlogsumexp(x, axis=1), [X], C),
    Row("jnp.percentile", lambda x: jnp.percentile(x, 30), [normal(11)]),
    Row("jnp.bincount", lambda x: jnp.bincount(x, length=6), [integers(10, low=0, high=6)]),
    Row("jnp.digitize", jnp.digitize, [normal(5), np.sort(normal(4))]),
    Row("jnp.lexsort", lambda a, b: jnp.lexsort((a, b)), [integers(9), integers(9, seed=4)]),
    Row("jnp.nextafter", jnp.nextafter, [X, Y], "exact"),
    Row("lax.reduce_precision", lambda x: lax.reduce_precision(x, 5, 10), [X], "exact"),
    Row("lax.clz", lax.clz, [integers(9, low=-5, high=10**6)]),
    Row("lax.population_count", lax.population_count, [integers(9, low=-5, high=10**6)]),
    Row("lax.bitcast u16", lambda x: lax.bitcast_convert_type(x, jnp.uint16), [X]),
    Row("jnp.gather fill", lambda x, i: x.at[i].get(mode="fill", fill_value=-1.0), [X, np.array([0, 7])]),
    Row("jnp.x.at.multiply", lambda x, i: x.at[i].multiply(2.0), [X, np.array([0, 3])]),
    Row("segment_sum", lambda x, i: jax.ops.segment_sum(x, i, 3), [normal(6), np.array([0, 1, 1, 2, 2, 0])], C),
    Row("linalg.slogdet", jnp.linalg.slogdet, [SPD], C),
    Row("linalg.solve_triangular", lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True),
        [np.tril(SPD), normal(5, 2)], C),
    Row("linalg.lu", jax.scipy.linalg.lu, [SPD], C),
    Row("linalg.cho_solve", lambda a, b: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(a), b),
        [SPD, normal(5)], C),
    Row("linalg.expm", jax.scipy.linalg.expm, [SPD / 10], C),
    Row("linalg.matrix_power", lambda a: jnp.linalg.matrix_power(a, 3), [SPD / 5], C),
    Row("fft.ifft2", jnp.fft.ifft2, [normal(4, 6)], C),
    Row("fft.irfft", lambda x: jnp.fft.irfft(jnp.fft.rfft(x)), [normal(9)], C),
    Row("complex exp", lambda x: jnp.exp(1j * x), [X], C),
    Row("random.rbg", lambda: random.uniform(random.key(1, impl="rbg"), (5,)), [], "exact"),
    Row("random.poisson", lambda: random.poisson(random.key(3), 3.0, (5,)), [], "exact"),
    Row("conv groups", lambda x, k: convolved(x, k, groups=3), [IMAGE, DEPTHWISE], C),
    Row("grad conv input, strides", jax.grad(lambda x, k: jnp.sum(convolved(x, k, (2, 2)) ** 2), (0, 1)),
        [IMAGE, KERNEL], C),
    Row("grad conv valid", jax.grad(lambda x, k: jnp.sum(convolved(x, k, (2, 2), "VALID") ** 2), (0, 1)),
        [IMAGE, KERNEL], C),
    Row("grad conv groups", jax.grad(lambda x, k: jnp.sum(convolved(x, k, groups=3) ** 2), (0, 1)),
        [IMAGE, DEPTHWISE], C),
    Row("average pool", average_pool, [IMAGE], C),
    Row("grad average pool", jax.grad(lambda x: jnp.sum(average_pool(x) ** 2)), [IMAGE], C),
    Row("image.resize", lambda x: jax.image.resize(x, (2, 16, 16, 3), "bilinear"), [IMAGE], C),
    Row("grad cholesky", jax.grad(lambda a: jnp.sum(jnp.linalg.cholesky(a))), [SPD], C),
    Row("grad solve", jax.grad(lambda a, b: jnp.sum(jnp.linalg.solve(a, b))), [SPD, normal(5)], C),
    Row("grad sort", jax.grad(lambda x: jnp.sum(jnp.sort(x) * jnp.arange(6.0))), [X], C),
    Row("grad lstm", jax.grad(lambda x, w, u: jnp.sum(lstm(x, w, u)[1]), (1, 2)),
        [normal(5, 2, 3), normal(3, 16), normal(4, 16)], C),
    Row("jacfwd", jax.jacfwd(lambda x: jnp.sin(x) * x), [normal(4)]),
    Row("jacrev", jax.jacrev(lambda x: jnp.sin(x) * x), [normal(4)]),
    Row("vmap while", jax.vmap(lambda x: lax.while_loop(lambda a: a < 10, lambda a: a * 2, x)),
        [np.array([1.0, 3.0, 0.5], np.float32)]),
    Row("scan reverse", lambda x: lax.scan(lambda c, v: (c + v, c), jnp.zeros(6), x, reverse=True), [X], C),
    Row("training step", training_step, [MLP, X, Y[:, :3]], C),
    Row("llama block", llama_block, LLAMA, C),
    Row("grad llama block", jax.grad(lambda x, w: jnp.sum(llama_block(x, w)), 1), LLAMA, C),
    Row("attention with a cache", cached_attention, [normal(2, 8, 4), normal(2, 1, 4), np.int32(3), normal(2, 4)], C),
    Row("state space scan", state_space, [normal(7, 4), np.abs(normal(4)) * 0.3, normal(4), normal(4)], C),
    Row("group norm", grouped, [IMAGE], C),
]  # fmt: skip


def difference(expected: Any, found: Any, kind: str) -> str | None:
    """Returns what is wrong with a result, or nothing."""
    if expected.shape != found.shape or expected.dtype != found.dtype:
        return f"is {found.dtype}{list(found.shape)}, expected {expected.dtype}{list(expected.shape)}"
    if not jnp.issubdtype(expected.dtype, jnp.inexact) or kind == "exact":
        same = (expected == found) | ((expected != expected) & (found != found))
        return None if same.all() else f"{(~same).sum()} of {same.size} elements differ"
    wide = np.complex128 if np.iscomplexobj(expected) else np.float64
    e, f = expected.astype(wide), found.astype(wide)
    for test in (np.isnan, np.isposinf, np.isneginf) if wide is np.float64 else (np.isnan,):
        if (test(e) != test(f)).any():
            return f"{test.__name__} differs"
    finite = np.isfinite(e)
    if not finite.any():
        return None
    e, f = e[finite], f[finite]
    error = np.abs(e - f)
    if kind == "contraction":
        limit: Any = 1e-4 * max(float(np.abs(e).max()), 1e-30)
    else:
        eps = float(jnp.finfo(expected.dtype).eps)
        limit = np.maximum(np.abs(e) * max(1e-5, 4 * eps), 4 * float(jnp.finfo(expected.dtype).tiny))
    worst = error - limit
    return None if (worst <= 0).all() else f"off by {error.flat[worst.argmax()]:.3g} of {e.flat[worst.argmax()]:.6g}"


def run(row: Row) -> str | None:
    """Returns what is wrong with a row on the platform `tt`, or nothing."""
    results = []
    for platform in ("cpu", "tt"):
        device = jax.devices(platform)[0]
        with jax.default_device(device):
            arguments = jax.tree.map(lambda value: jax.device_put(value, device), list(row.arguments))  # noqa: B023
            leaves, shape = jax.tree.flatten(jax.jit(row.function)(*arguments))
            assert all(leaf.devices() == {device} for leaf in leaves), f"results are not on {device}"
            results.append(([np.asarray(leaf) for leaf in leaves], shape))
    (expected, shape), (found, other) = results
    if shape != other:
        return f"is {other}, expected {shape}"
    return next((wrong for e, f in zip(expected, found, strict=True) if (wrong := difference(e, f, row.kind))), None)


def main(rows: Sequence[Row]) -> None:
    """Arguments: names of rows, or --places and numbers of rows; without any, all run."""
    expected = sys.argv[1:]
    if expected[:1] == ["--places"]:
        rows = [rows[int(place)] for place in expected[1:]]
    elif expected:
        rows = [row for row in rows if row.name in expected]
    for row in rows:
        try:
            wrong = run(row)
            verdict, reason = ("ok", "") if wrong is None else ("differs", wrong)
        except Exception as error:
            verdict, reason = "fails", str(error)
        print(json.dumps([row.name, verdict, reason]), flush=True)


if __name__ == "__main__":
    main(ROWS)
