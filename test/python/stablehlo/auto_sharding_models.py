# SPDX-License-Identifier: Apache-2.0
"""Models as StableHLO without shardings: a transformer as text, others as JAX prints them, and random graphs."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch


@dataclass(frozen=True)
class Model:
    """shapes: of the arguments, all f32."""

    text: str
    shapes: tuple[tuple[int, ...], ...]


def inputs_of(model: Model) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(11)
    return [torch.rand(shape, generator=generator) - 0.5 for shape in model.shapes]


def integers_of(model: Model) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(13)
    return [torch.randint(-6, 7, shape, generator=generator).float() for shape in model.shapes]


def tensor(*shape: int) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}f32>"


@dataclass
class Writer:
    """Collects arguments and ops of a function."""

    shapes: list[tuple[int, ...]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def argument(self, *shape: int) -> str:
        self.shapes.append(shape)
        return f"%a{len(self.shapes) - 1}"

    def op(self, text: str) -> str:
        name = f"%{len(self.lines)}"
        self.lines.append(f"  {name} = stablehlo.{text}")
        return name

    def constant(self, value: float) -> str:
        return self.op(f"constant dense<{value:e}> : {tensor()}")

    def model(self, result: str, *shape: int) -> Model:
        arguments = ", ".join(f"%a{i}: {tensor(*s)}" for i, s in enumerate(self.shapes))
        body = "\n".join(self.lines)
        text = (
            f"module {{\nfunc.func @main({arguments}) -> {tensor(*shape)} {{\n{body}\n"
            f"  return {result} : {tensor(*shape)}\n}}\n}}"
        )
        return Model(text, tuple(self.shapes))


def transformer(*, layers: int, batch: int, sequence: int, hidden: int, heads: int, kv_heads: int, ffn: int) -> Model:
    """Blocks of a norm, attention with shared keys, a norm and a gated feed-forward layer."""
    w, depth = Writer(), hidden // heads
    flat, full = (batch, sequence), (batch, sequence, hidden)
    scores = (batch, heads, sequence, sequence)
    x = w.argument(*full)
    zero, lowest, epsilon = w.constant(0), w.constant(-1e30), w.constant(1e-3)

    def spread(value: str, dims: str, shape: tuple[int, ...], target: tuple[int, ...]) -> str:
        return w.op(f"broadcast_in_dim {value}, dims = [{dims}] : ({tensor(*shape)}) -> {tensor(*target)}")

    def binary(name: str, a: str, b: str, shape: tuple[int, ...]) -> str:
        return w.op(f"{name} {a}, {b} : {tensor(*shape)}")

    def reduced(name: str, value: str, init: str, shape: tuple[int, ...]) -> str:
        return w.op(
            f"reduce({value} init: {init}) applies stablehlo.{name} across dimensions = [{len(shape) - 1}] : "
            f"({tensor(*shape)}, {tensor()}) -> {tensor(*shape[:-1])}"
        )

    def norm(value: str) -> str:
        weight = w.argument(hidden)
        mean = reduced("add", binary("multiply", value, value, full), zero, full)
        mean = binary("add", mean, spread(epsilon, "", (), flat), flat)
        scale = spread(w.op(f"rsqrt {mean} : {tensor(*flat)}"), "0, 1", flat, full)
        return binary("multiply", binary("multiply", value, scale, full), spread(weight, "2", (hidden,), full), full)

    def linear(value: str, inner: int, outer: int) -> str:
        weight = w.argument(inner, outer)
        types = f"({tensor(*flat, inner)}, {tensor(inner, outer)}) -> {tensor(*flat, outer)}"
        return w.op(f"dot_general {value}, {weight}, contracting_dims = [2] x [0] : {types}")

    def headed(value: str, count: int) -> str:
        apart, turned = (*flat, count, depth), (batch, count, sequence, depth)
        value = w.op(f"reshape {value} : ({tensor(*flat, count * depth)}) -> {tensor(*apart)}")
        return w.op(f"transpose {value}, dims = [0, 2, 1, 3] : ({tensor(*apart)}) -> {tensor(*turned)}")

    def shared(value: str) -> str:
        apart = (batch, kv_heads, heads // kv_heads, sequence, depth)
        value = spread(value, "0, 1, 3, 4", (batch, kv_heads, sequence, depth), apart)
        return w.op(f"reshape {value} : ({tensor(*apart)}) -> {tensor(batch, heads, sequence, depth)}")

    def batched(a: str, b: str, contracted: str, types: str) -> str:
        return w.op(f"dot_general {a}, {b}, batching_dims = [0, 1] x [0, 1], contracting_dims = {contracted} : {types}")

    for _ in range(layers):
        y, headed_type = norm(x), tensor(batch, heads, sequence, depth)
        query = headed(linear(y, hidden, hidden), heads)
        key, value = (shared(headed(linear(y, hidden, kv_heads * depth), kv_heads)) for _ in range(2))
        score = batched(query, key, "[3] x [3]", f"({headed_type}, {headed_type}) -> {tensor(*scores)}")
        most = spread(reduced("maximum", score, lowest, scores), "0, 1, 2", scores[:-1], scores)
        score = w.op(f"exponential {binary('subtract', score, most, scores)} : {tensor(*scores)}")
        total = spread(reduced("add", score, zero, scores), "0, 1, 2", scores[:-1], scores)
        score = binary("divide", score, total, scores)
        mixed = batched(score, value, "[3] x [2]", f"({tensor(*scores)}, {headed_type}) -> {headed_type}")
        apart = tensor(*flat, heads, depth)
        mixed = w.op(f"transpose {mixed}, dims = [0, 2, 1, 3] : ({headed_type}) -> {apart}")
        mixed = w.op(f"reshape {mixed} : ({apart}) -> {tensor(*full)}")
        x = binary("add", x, linear(mixed, hidden, hidden), full)
        y, wide = norm(x), (*flat, ffn)
        gate, up = linear(y, hidden, ffn), linear(y, hidden, ffn)
        gate = binary("multiply", gate, w.op(f"logistic {gate} : {tensor(*wide)}"), wide)
        x = binary("add", x, linear(binary("multiply", gate, up, wide), ffn, hidden), full)
    return w.model(x, *full)


# ----------------------------------------------------------------------------------------------------------------------
# Random graphs of square matrices and their rows
# ----------------------------------------------------------------------------------------------------------------------


def random_graph(rng: random.Random, ops: int, side: int) -> Model:
    """Of integers below 7, whose products have sums that f32 has exactly: the order of a sum changes nothing."""
    w, n = Writer(), side
    square, row, cube = tensor(n, n), tensor(n), tensor(4, n // 4, n)
    values = [w.argument(n, n) for _ in range(rng.randint(1, 3))]
    zero, lowest, seven = w.constant(0), w.constant(-1e6), w.constant(7)
    sevens = w.op(f"broadcast_in_dim {seven}, dims = [] : ({tensor()}) -> {square}")

    def small(value: str) -> str:
        return w.op(f"remainder {value}, {sevens} : {square}")

    def pick() -> str:
        return rng.choice(values[-4:])

    def dot() -> str:
        a, b = rng.randint(0, 1), rng.randint(0, 1)
        value = w.op(
            f"dot_general {pick()}, {pick()}, contracting_dims = [{a}] x [{b}] : ({square}, {square}) -> {square}"
        )
        return small(value)

    def batched() -> str:
        a, b = (w.op(f"reshape {pick()} : ({square}) -> {cube}") for _ in range(2))
        value = w.op(
            f"dot_general {a}, {b}, batching_dims = [0] x [0], contracting_dims = [1] x [1] : "
            f"({cube}, {cube}) -> {tensor(4, n, n)}"
        )
        value = w.op(
            f"reduce({value} init: {zero}) applies stablehlo.add across dimensions = [0] : "
            f"({tensor(4, n, n)}, {tensor()}) -> {square}"
        )
        return small(value)

    def centred() -> str:
        value, dim = pick(), rng.randint(0, 1)
        name, init = rng.choice([("add", zero), ("maximum", lowest)])
        part = w.op(
            f"reduce({value} init: {init}) applies stablehlo.{name} across dimensions = [{1 - dim}] : "
            f"({square}, {tensor()}) -> {row}"
        )
        part = w.op(f"broadcast_in_dim {part}, dims = [{dim}] : ({row}) -> {square}")
        return small(w.op(f"subtract {value}, {part} : {square}"))

    def shifted() -> str:
        value = pick()
        parts = [w.op(f"slice {value} [{a}:{b}, 0:{n}] : ({square}) -> {tensor(n // 2, n)}")
                 for a, b in ((n // 2, n), (0, n // 2))]  # fmt: skip
        half = tensor(n // 2, n)
        return w.op(f"concatenate {', '.join(parts)}, dim = 0 : ({half}, {half}) -> {square}")

    def windowed() -> str:
        """The greatest of each element and its neighbours."""
        size, body = rng.choice(["3, 3", "1, 5", "3, 1"]), f"^bb0(%p: {tensor()}, %q: {tensor()}):"
        pads = ", ".join(f"[{(int(n) - 1) // 2}, {(int(n) - 1) // 2}]" for n in size.split(", "))
        window = f"window_dimensions = array<i64: {size}>, padding = dense<[{pads}]> : tensor<2x2xi64>"
        maximum = f"%m = stablehlo.maximum %p, %q : {tensor()} stablehlo.return %m : {tensor()}"
        w.lines.append(
            f'  %{len(w.lines)} = "stablehlo.reduce_window"({pick()}, {lowest}) <{{{window}}}> '
            f"({{ {body} {maximum} }}) : ({square}, {tensor()}) -> {square}"
        )
        return f"%{len(w.lines) - 1}"

    def moved() -> str:
        low = rng.choice([-2, -1, 1, 3])
        return w.op(
            f"pad {pick()}, {seven}, low = [{low}, 0], high = [{-low}, 0], interior = [0, 0] : "
            f"({square}, {tensor()}) -> {square}"
        )

    families: list[Callable[[], str]] = [
        lambda: small(w.op(f"{rng.choice(['add', 'subtract', 'multiply'])} {pick()}, {pick()} : {square}")),
        lambda: w.op(f"{rng.choice(['maximum', 'minimum'])} {pick()}, {pick()} : {square}"),
        lambda: w.op(f"{rng.choice(['negate', 'abs', 'sign'])} {pick()} : {square}"),
        lambda: w.op(f"transpose {pick()}, dims = [1, 0] : ({square}) -> {square}"),
        dot,
        dot,
        batched,
        centred,
        shifted,
        windowed,
        moved,
    ]
    start = len(w.lines)
    total = values[0]
    for value in values[1:]:
        total = w.op(f"add {total}, {value} : {square}")
    values.append(total)
    while len(w.lines) < start + ops:
        before = len(w.lines)
        family = rng.choice(families)
        kept = list(w.lines)
        value = family()
        if len(w.lines) - start > ops and before > start:  # too many: end with one op
            w.lines[:] = kept
            value = w.op(f"negate {values[-1]} : {square}")
        values.append(value)
    # No argument is dead.
    return w.model(w.op(f"add {total}, {values[-1]} : {square}"), n, n)


# ----------------------------------------------------------------------------------------------------------------------
# What JAX prints
# ----------------------------------------------------------------------------------------------------------------------


def printed(function: Callable[..., Any], *shapes: tuple[int, ...]) -> Model:
    import jax

    text = jax.jit(function).lower(*(jax.ShapeDtypeStruct(shape, "float32") for shape in shapes)).as_text()
    start = text.index("{", text.index("attributes"))
    return Model("module " + text[text.index("{", start + 1 if "attributes" in text[:start] else start) :], shapes)


def bert(x: Any, *weights: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def norm(value: Any, scale: Any, shift: Any) -> Any:
        value = value - value.mean(-1, keepdims=True)
        return value * jax.lax.rsqrt((value * value).mean(-1, keepdims=True) + 1e-5) * scale + shift

    wq, wk, wv, wo, up, up_bias, down, scale, shift = weights
    batch, sequence, hidden = x.shape
    q, k, v = ((x @ m).reshape(batch, sequence, 4, hidden // 4) for m in (wq, wk, wv))
    scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4.0, axis=-1)
    x = norm(x + jnp.einsum("bhqk,bkhd->bqhd", scores, v).reshape(x.shape) @ wo, scale, shift)
    return norm(x + jnp.tanh(x @ up + up_bias) @ down, scale, shift)


def resnet(x: Any, stem: Any, first: Any, second: Any, head: Any) -> Any:
    import jax
    import jax.numpy as jnp

    convolve = partial(
        jax.lax.conv_general_dilated, window_strides=(1, 1), padding="SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    x = jnp.maximum(convolve(x, stem), 0)
    x = jnp.maximum(x + convolve(jnp.maximum(convolve(x, first), 0), second), 0)
    return x.mean((1, 2)) @ head


def experts(x: Any, router: Any, up: Any, down: Any) -> Any:
    import jax
    import jax.numpy as jnp

    weight = jax.nn.softmax(x @ router, axis=-1)
    hidden = jnp.maximum(jnp.einsum("th,ehf->etf", x, up), 0)
    return jnp.einsum("te,eth->th", weight, jnp.einsum("etf,efh->eth", hidden, down))


def mlp_gradients(x: Any, target: Any, first: Any, second: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def loss(weights: Any) -> Any:
        return ((jnp.tanh(x @ weights[0]) @ weights[1] - target) ** 2).mean()

    gradients = jax.grad(loss)((first, second))
    return first - 0.1 * gradients[0], second - 0.1 * gradients[1]


MODELS = {
    "llama": transformer(layers=2, batch=4, sequence=32, hidden=64, heads=8, kv_heads=4, ffn=128),
    "bert": printed(bert, (8, 32, 64), *[(64, 64)] * 4, (64, 256), (256,), (256, 64), (64,), (64,)),
    "resnet": printed(resnet, (32, 8, 8, 3), (3, 3, 3, 16), (3, 3, 16, 16), (3, 3, 16, 16), (16, 8)),
    "experts": printed(experts, (64, 32), (32, 8), (8, 32, 64), (8, 64, 32)),
    "mlp_gradients": printed(mlp_gradients, (64, 32), (64, 16), (32, 64), (64, 16)),
}
