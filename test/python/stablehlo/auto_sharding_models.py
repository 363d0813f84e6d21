# SPDX-License-Identifier: Apache-2.0
"""Models as StableHLO without shardings: a transformer as text, others as JAX prints them."""

from __future__ import annotations

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
