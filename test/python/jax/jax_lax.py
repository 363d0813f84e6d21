# SPDX-License-Identifier: Apache-2.0
"""More rows: operators of jax.lax, jax.random, jax.nn and small types. See jax_functions.py."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn, random
from jax_functions import IMAGE, KERNEL, A, B, I, J, P, Row, U, X, Y, binary, keyed, main, normal, unary

C, E = "contraction", "exact"
V = normal(8)
MANY = normal(3, 300)
INDICES = np.array([[0], [2]], np.int32)
SCATTER = lax.ScatterDimensionNumbers((1,), (0,), (0,))
UPDATES = normal(2, 6, seed=4)
ROUNDS = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, 2.0**23 + 1, -np.inf, np.nan, -0.0], np.float32)


def ragged(mode: str) -> Row:
    sizes = np.array([2, 0, 3], np.int32)
    if mode == "product":
        return Row("lax.ragged_dot", lax.ragged_dot, [normal(6, 4), normal(3, 4, 5), sizes], C)
    numbers = lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), [0], [])
    return Row(
        "lax.ragged_dot_general",
        lambda a, b, n: lax.ragged_dot_general(a, b, n, numbers),
        [normal(6, 4), normal(6, 5, seed=2), sizes],
        C,
    )


def scattered(function: Any, kind: str = E) -> Row:
    return Row(f"lax.{function.__name__}", lambda x, i, u: function(x, i, u, SCATTER), [X, INDICES, UPDATES], kind)


# Of two rows and three columns in X: inside, over each edge, and far outside.
STARTS = np.array([[0, 0], [2, 3], [3, 1], [1, 4], [-1, 2], [2, -2], [3, 5], [9, 0]], np.int32)
WINDOWS = normal(8, 2, 3, seed=6)


def outside(function: Any, mode: lax.GatherScatterMode, kind: str = E) -> Row:
    """A window that lies partly outside is left out as a whole, or moved inside."""
    numbers = lax.ScatterDimensionNumbers((1, 2), (), (0, 1))
    name = f"lax.{function.__name__} of windows, {mode.name.lower()}"
    return Row(name, lambda x, i, u: function(x, i, u, numbers, mode=mode), [X, STARTS, WINDOWS], kind)


ROWS: list[Row] = [
    *unary(lax, "asinh logistic neg bessel_i0e is_finite", X),
    *unary(lax, "acosh", P + 1.5),
    *unary(lax, "atanh", P),
    *unary(lax, "bitwise_not", I, E),
    *binary(lax, "atan2 div sub", X, Y),
    *binary(lax, "pow", P, X),
    *binary(lax, "eq ne ge gt le lt", I, J, E),
    *binary(lax, "eq ne ge gt le lt", X, Y, E),
    *binary(lax, "shift_left mulhi", I, J, E),
    *binary(lax, "mulhi", U * 9876543, U * 7654321, E),
    *binary(lax, "igamma igammac", P + 0.5, P * 3, C),
    *binary(lax, "igamma_grad_a random_gamma_grad", P + 0.5, P * 3, C),
    Row("lax.round away", lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), [ROUNDS], E),
    Row("lax.round even", lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), [ROUNDS], E),
    Row("lax.broadcast", lambda x: lax.broadcast(x, (2, 3)), [X], E),
    Row("lax.broadcast_in_dim", lambda x: lax.broadcast_in_dim(x, (3, 4, 2, 6), (1, 3)), [X], E),
    Row("lax.broadcast_to_rank", lambda x: lax.broadcast_to_rank(x, 4), [X], E),
    Row("lax.broadcasted_iota", lambda: lax.broadcasted_iota(jnp.int32, (3, 5), 1), [], E),
    Row("lax.iota", lambda: lax.iota(jnp.float32, 7), [], E),
    Row("lax.collapse", lambda x: lax.collapse(x, 1, 3), [IMAGE], E),
    Row("lax.composite", lambda x: lax.composite(lambda v: jnp.sin(v) * 2, "my.op")(x), [X]),
    Row("lax.convert_element_type", lambda x: lax.convert_element_type(x, jnp.int16), [X * 30], E),
    Row("lax.custom_linear_solve", lambda a, b: lax.custom_linear_solve(
        lambda v: a @ v, b, lambda _, v: jnp.linalg.solve(a, v), symmetric=True),
        [A @ A.T + 5 * np.eye(5, dtype=np.float32), normal(5)], C),
    Row("lax.dot_general", lambda a, b: lax.dot_general(a, b, (((2,), (1,)), ((0,), (2,)))),
        [normal(3, 4, 5), normal(2, 5, 3)], C),
    Row("lax.dot_general bf16 to f32", lambda a, b: lax.dot_general(
        a.astype(jnp.bfloat16), b.astype(jnp.bfloat16), (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32),
        [A, B], C),
    Row("lax.dynamic_index_in_dim", lambda x, i: lax.dynamic_index_in_dim(x, i, 1), [X, np.int32(4)], E),
    Row("lax.dynamic_slice_in_dim", lambda x, i: lax.dynamic_slice_in_dim(x, i, 3, 1), [X, np.int32(5)], E),
    Row("lax.dynamic_update_index_in_dim", lambda x, y: lax.dynamic_update_index_in_dim(x, y, 2, 0), [X, Y[0]], E),
    Row("lax.dynamic_update_slice_in_dim", lambda x, y: lax.dynamic_update_slice_in_dim(x, y, 1, 0), [X, Y[:2]], E),
    Row("lax.expand_dims", lambda x: lax.expand_dims(x, (0, 2)), [X], E),
    Row("lax.full", lambda: (lax.full((2, 3), 7), lax.full_like(X, 2)), [], E),
    Row("lax.index_in_dim", lambda x: lax.index_in_dim(x, -2, 1), [X], E),
    Row("lax.index_take", lambda x, i: lax.index_take(x, [i, i], (0, 1)), [X, np.array([1, 3])], E),
    Row("lax.optimization_barrier", lambda x, y: lax.optimization_barrier((x, y)), [X, Y], E),
    Row("lax.reduce mul", lambda x: lax.reduce(x, jnp.float32(1), lax.mul, (0,)), [X], C),
    Row("lax.reduce of two", lambda x, i: lax.reduce(
        (x, i), (jnp.float32(-9), jnp.int32(-1)),
        lambda a, b: (jnp.maximum(a[0], b[0]), jnp.where(a[0] >= b[0], a[1], b[1])), (1,)), [X, I], E),
    *[Row(f"lax.{name}", lambda x, name=name: getattr(lax, name)(x, axes=(1,)), [I], E)
      for name in ("reduce_max", "reduce_min", "reduce_prod", "reduce_sum", "reduce_xor", "reduce_and", "reduce_or")],
    *[Row(f"lax.{name} bool", lambda x, name=name: getattr(lax, name)(x, axes=(0, 1)), [I > 0], E)
      for name in ("reduce_and", "reduce_or", "reduce_xor")],
    Row("lax.rev", lambda x: lax.rev(x, (0, 1)), [X], E),
    Row("lax.rng_bit_generator", lambda k: lax.rng_bit_generator(k, (3, 5)), [np.uint32([1, 2, 3, 4])], E),
    *[Row(f"lax.rng_bit_generator {name}", lambda k, name=name: lax.rng_bit_generator(
        k, (2, 7), jnp.uint16 if name == "RNG_THREE_FRY" else jnp.uint32, getattr(lax.RandomAlgorithm, name)),
        [np.uint32([1, 2, 3, 4])], E) for name in ("RNG_THREE_FRY", "RNG_PHILOX", "RNG_DEFAULT")],
    scattered(lax.scatter),
    scattered(lax.scatter_add, C),
    scattered(lax.scatter_sub, C),
    scattered(lax.scatter_mul, C),
    scattered(lax.scatter_max),
    scattered(lax.scatter_min),
    outside(lax.scatter, lax.GatherScatterMode.FILL_OR_DROP),
    outside(lax.scatter_add, lax.GatherScatterMode.FILL_OR_DROP, C),
    outside(lax.scatter_max, lax.GatherScatterMode.FILL_OR_DROP),
    outside(lax.scatter_min, lax.GatherScatterMode.CLIP),
    Row(
        "lax.scatter of one window",
        lambda x, i, u: lax.scatter(x, i, u, lax.ScatterDimensionNumbers((0, 1), (), (0, 1))),
        [X, np.array([3, 4], np.int32), WINDOWS[0]],
        E,
    ),
    Row("lax.scatter_apply", lambda x, i: lax.scatter_apply(
        x, i, jnp.sin, lax.ScatterDimensionNumbers((1,), (0,), (0,)), update_shape=(2, 6)), [X, INDICES]),
    Row("lax.select_n", lambda i, x, y: lax.select_n(i, x, y, x + y), [abs(I) % 3, X, Y]),
    Row("lax.slice", lambda x: lax.slice(x, (1, 0), (4, 5), (2, 3)), [X], E),
    Row("lax.slice_in_dim", lambda x: lax.slice_in_dim(x, 1, -1, 2, 1), [X], E),
    Row("lax.sort_key_val", lambda x, i: lax.sort_key_val(x, i), [X, I], E),
    Row("lax.sort stable", lambda i, x: lax.sort((i // 4, x), num_keys=1, is_stable=True), [I, X], E),
    Row("lax.sort special", lambda x: lax.sort(x), [np.float32([np.nan, 1, -np.inf, -0.0, 0.0, np.inf, -np.nan])], E),
    Row("lax.stop_gradient", jax.grad(lambda x: jnp.sum(lax.stop_gradient(x) * x)), [X]),
    Row("lax.unstack", lambda x: jnp.unstack(x, axis=1), [X], E),
    Row("lax.conv_general_dilated_patches", lambda x: lax.conv_general_dilated_patches(
        x, (3, 3), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), [IMAGE]),
    Row("lax.conv_general_dilated_local", lambda x, k: lax.conv_general_dilated_local(x, k, (1, 1), "VALID", (2, 2)),
        [normal(1, 2, 4, 4), normal(3, 8, 3, 3)], C),
    Row("lax.conv_with_general_padding", lambda x, k: lax.conv_with_general_padding(
        x, k, (1, 1), [(1, 1), (0, 0)], None, None), [normal(1, 2, 5, 5), normal(3, 2, 2, 2)], C),
    Row("lax.conv batch groups", lambda x, k: lax.conv_general_dilated(x, k, (1,), "SAME", batch_group_count=2),
        [normal(4, 3, 9), normal(6, 3, 3)], C),
    Row("lax.platform_dependent", lambda x: lax.platform_dependent(x, default=jnp.sin), [X]),
    ragged("product"),
    ragged("general"),
    Row("lax.approx_max_k", lambda x: lax.approx_max_k(x, 5), [MANY], E),
    Row("lax.approx_min_k", lambda x: lax.approx_min_k(x, 4), [MANY], E),
    Row("lax.approx_max_k first dimension", lambda x: lax.approx_max_k(x, 3, reduction_dimension=0), [MANY.T], E),
    Row("lax.approx_max_k bf16", lambda x: lax.approx_max_k(x.astype(jnp.bfloat16), 1), [V], E),
    Row("grad approx_max_k", jax.grad(lambda x: jnp.sum(lax.approx_max_k(x, 3)[0] ** 2)), [MANY]),
    Row("lax.top_k of none", lambda x: (lax.top_k(x, 0), lax.top_k(x[:, :0], 0)), [X], E),
    Row("lax.top_k axis", lambda x: lax.top_k(x, 2, axis=0) if "axis" in lax.top_k.__doc__ else lax.top_k(x.T, 2),
        [X], E),
    Row("lax.cumprod reverse", lambda x: lax.cumprod(x, 1, reverse=True), [P], C),
    Row("lax.cummin", lax.cummin, [X], E),
    Row("lax.cummin uint32", lambda u: lax.cummin(u, 1), [U * 9876543], E),
    Row("lax.pad of an integer", lambda u: lax.pad(u, np.uint32(2**32 - 3), ((1, 0, 0), (0, 2, 0))), [U], E),
    Row("int4 wraps", lambda i, j: (i.astype(jnp.int4) + j.astype(jnp.int4)).astype(jnp.int32), [I, J], E),
    Row("uint4 wraps", lambda i, j: (i.astype(jnp.uint4) * j.astype(jnp.uint4)).astype(jnp.int32), [I, J], E),
    Row("int4 argument and result", lambda i: i, [I.astype(jnp.int4)], E),
    Row("int2", lambda i: (i.astype(jnp.int2) + i.astype(jnp.int2)).astype(jnp.int32), [I], E),
    Row("int4 weights", lambda w, x: (w.astype(jnp.float32) * 0.1) @ x, [normal(6, 8).astype(jnp.int4), V], C),
    *[keyed(f"{name} {arguments or ''}", lambda k, name=name, arguments=arguments: getattr(
        random, name)(k, *arguments, shape=(5,)), C) for name, arguments in [
            ("chisquare", (3.0,)), ("double_sided_maxwell", (0.0, 1.0)), ("generalized_normal", (2.0,)),
            ("geometric", (0.3,)), ("loggamma", (1.5,)), ("logistic", ()), ("lognormal", ()), ("maxwell", ()),
            ("pareto", (2.0,)), ("rayleigh", (1.0,)), ("triangular", (0.0, 0.3, 1.0)), ("wald", (1.0,)),
            ("weibull_min", (1.0, 2.0)), ("f", (3.0, 5.0)), ("binomial", (10.0, 0.4))]],
    keyed("ball", lambda k: random.ball(k, 3, shape=(4,)), C),
    keyed("multinomial", lambda k: random.multinomial(k, 10, jnp.array([0.2, 0.3, 0.5])), C),
    keyed("clone", lambda k: random.bits(random.clone(k), (3,))),
    keyed("bits64", lambda k: random.bits(k, (3,), jnp.uint8)),
    keyed("normal bf16", lambda k: random.normal(k, (8,), jnp.bfloat16), C),
    keyed("complex normal", lambda k: random.normal(k, (8,), jnp.complex64), C),
    keyed("multivariate_normal svd", lambda k: jnp.abs(random.multivariate_normal(
        k, jnp.zeros(3), jnp.diag(jnp.array([1.0, 2.0, 3.0])), method="cholesky")), C),
    keyed("unsafe_rbg", lambda k: random.bits(random.key(3, impl="unsafe_rbg"), (4,))),
    *unary(nn, "hard_silu identity log1mexp logmeanexp", P),
    *[keyed(f"initializers.{name}", lambda k, name=name: getattr(nn.initializers, name)()(k, (6, 8)), C) for name in (
        "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "lecun_normal", "lecun_uniform", "normal",
        "uniform", "orthogonal")],
    keyed("initializers.truncated_normal", lambda k: nn.initializers.truncated_normal()(k, (6, 8)), C),
    keyed("initializers.delta_orthogonal", lambda k: nn.initializers.delta_orthogonal()(k, (3, 3, 4, 4)), C),
    Row("segment_min", lambda x, i: jax.ops.segment_min(x, i, num_segments=3), [X, np.array([0, 2, 2, 1])], E),
    Row("segment_prod", lambda x, i: jax.ops.segment_prod(x, i, num_segments=3), [X, np.array([0, 2, 2, 1])], C),
    Row("image.scale_and_translate", lambda x: jax.image.scale_and_translate(
        x, (2, 6, 6, 3), (1, 2), jnp.array([0.7, 0.8]), jnp.array([0.1, 0.3]), "linear"), [IMAGE], C),
    *[Row(f"image.resize {method}", lambda x, method=method: jax.image.resize(x, (2, 5, 11, 3), method), [IMAGE], C)
      for method in ("lanczos3", "lanczos5", "cubic", "bilinear")],
    Row("conv kernel gradient with stride", jax.grad(lambda k, x: jnp.sum(lax.conv_general_dilated(
        x, k, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")) ** 2)), [KERNEL, IMAGE], C),
]  # fmt: skip


if __name__ == "__main__":
    main(ROWS)
