# SPDX-License-Identifier: Apache-2.0
"""Train a small character transformer on Python's help texts, on the simulated chip and on the CPU, and let it write.

    .venv/bin/python examples/jax/train.py                   300 steps; loss.png has both loss curves

The program is plain JAX: the same functions run on both platforms. Then text is generated on the chip, in bf16 and with
weights in bfp8.
"""

from __future__ import annotations

import os

os.environ.setdefault("JAX_PLATFORMS", "tt,cpu")

import argparse
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn

CONTEXT, WIDTH, HEADS, LAYERS, BATCH = 64, 96, 4, 2, 16
FORMATS = ("bf16", "bfp_bf8")

Weights = dict[str, Any]


def text() -> tuple[np.ndarray[Any, Any], str]:
    """Numbers of the characters of `help(...)`'s topics, and the characters."""
    from pydoc_data.topics import topics

    whole = "\n".join(topics[name] for name in sorted(topics))
    letters = "".join(sorted({c for c in whole if c.isascii() and (c.isprintable() or c == "\n")}))
    number = {letter: i for i, letter in enumerate(letters)}
    return np.array([number[c] for c in whole if c in number], np.int32), letters


def start(letters: int, seed: int = 0) -> Weights:
    draw = np.random.default_rng(seed)
    normal = lambda *shape, scale: (draw.standard_normal(shape) * scale).astype(np.float32)  # noqa: E731
    layer = lambda: {  # noqa: E731
        "qkv": normal(WIDTH, 3 * WIDTH, scale=WIDTH**-0.5),
        "out": normal(WIDTH, WIDTH, scale=WIDTH**-0.5 / LAYERS),
        "up": normal(WIDTH, 4 * WIDTH, scale=WIDTH**-0.5),
        "down": normal(4 * WIDTH, WIDTH, scale=(4 * WIDTH) ** -0.5 / LAYERS),
        "norms": np.ones((2, WIDTH), np.float32),
    }
    return {
        "letters": normal(letters, WIDTH, scale=0.1),
        "places": normal(CONTEXT, WIDTH, scale=0.1),
        "layers": [layer() for _ in range(LAYERS)],
        "norm": np.ones(WIDTH, np.float32),
    }


def normalized(x: jax.Array, scale: jax.Array) -> jax.Array:
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale


def logits(weights: Weights, tokens: jax.Array) -> jax.Array:
    """[batch, sequence] -> [batch, sequence, letters]"""
    batch, length = tokens.shape
    x = weights["letters"][tokens] + weights["places"][:length]
    for layer in weights["layers"]:
        q, k, v = jnp.split(normalized(x, layer["norms"][0]) @ layer["qkv"], 3, axis=-1)
        heads = lambda a: a.reshape(batch, length, HEADS, WIDTH // HEADS)  # noqa: E731
        mixed = nn.dot_product_attention(heads(q), heads(k), heads(v), is_causal=True)
        x = x + mixed.reshape(batch, length, WIDTH) @ layer["out"]
        x = x + nn.gelu(normalized(x, layer["norms"][1]) @ layer["up"]) @ layer["down"]
    return normalized(x, weights["norm"]) @ weights["letters"].T


def loss(weights: Weights, tokens: jax.Array) -> jax.Array:
    told = nn.log_softmax(logits(weights, tokens[:, :-1]))
    return -jnp.mean(jnp.take_along_axis(told, tokens[:, 1:, None], axis=-1))


@jax.jit
def step(weights: Weights, moments: Any, count: jax.Array, tokens: jax.Array) -> Any:
    """One step of Adam."""
    value, gradients = jax.value_and_grad(loss)(weights, tokens)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], gradients)
    second = jax.tree.map(lambda m, g: 0.99 * m + 0.01 * g * g, moments[1], gradients)
    rate = 3e-3 * jnp.sqrt(1 - 0.99**count) / (1 - 0.9**count)
    weights = jax.tree.map(lambda w, m, v: w - rate * m / (jnp.sqrt(v) + 1e-8), weights, first, second)
    return weights, (first, second), value


def train(platform: str, tokens: np.ndarray[Any, Any], letters: int, steps: int, advance: Any) -> Any:
    """(weights, loss of each step, seconds of a step after the first)"""
    draw = np.random.default_rng(1)
    with jax.default_device(jax.devices(platform)[0]):
        weights = jax.tree.map(jnp.asarray, start(letters))
        moments = (jax.tree.map(jnp.zeros_like, weights),) * 2
        losses, began = [], 0.0
        for i in range(steps):
            places = draw.integers(0, len(tokens) - CONTEXT - 1, BATCH)
            batch = jnp.asarray(np.stack([tokens[p : p + CONTEXT + 1] for p in places]))
            weights, moments, value = step(weights, moments, jnp.float32(i + 1), batch)
            losses.append(float(value))
            began = began or time.perf_counter()
            advance()
    return weights, losses, (time.perf_counter() - began) / max(steps - 1, 1)


def writer(format: str) -> Any:
    """The next letter after `place` of a window, drawn at temperature 0.7, in a format of the chip."""

    @partial(jax.jit, compiler_options={"target-format": format})
    def following(weights: Weights, window: jax.Array, place: jax.Array, noise: jax.Array) -> jax.Array:
        told = logits(weights, window)[0]
        return jnp.argmax(told[place] / 0.7 + noise)

    return following


def write(weights: Weights, format: str, letters: str, count: int, advance: Any) -> tuple[str, float]:
    """(text, letters per second)"""
    draw, following = np.random.default_rng(2), writer(format)
    known = [letters.index(c) for c in "The "]
    began = 0.0
    for _ in range(count):
        window = known[-CONTEXT:]
        given = np.zeros((1, CONTEXT), np.int32)
        given[0, : len(window)] = window
        noise = draw.gumbel(size=len(letters)).astype(np.float32)
        known.append(int(following(weights, given, np.int32(len(window) - 1), noise)))
        began = began or time.perf_counter()
        advance()
    return "".join(letters[i] for i in known), (count - 1) / max(time.perf_counter() - began, 1e-9)


def plot(curves: dict[str, list[float]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    for (name, losses), style in zip(curves.items(), ("-", "--"), strict=True):
        axes.plot(losses, style, label=name, linewidth=1)
    axes.set(xlabel="step", ylabel="cross entropy of a letter", title="a character transformer in JAX")
    axes.legend()
    figure.savefig(path, dpi=120, bbox_inches="tight")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--steps", type=int, default=300, help="training steps (default 300)")
    parser.add_argument("--letters", type=int, default=200, help="letters to write in each format (default 200)")
    parser.add_argument("--output", type=Path, default=Path("loss.png"), help="the picture (default loss.png)")
    args = parser.parse_args(arguments)
    for name in ("steps", "letters"):
        if getattr(args, name) < 1:
            parser.error(f"--{name} is {getattr(args, name)}; expected 1 or more")
    from rich.progress import Progress

    tokens, letters = text()
    curves, trained, seconds = {}, {}, {}
    with Progress() as progress:
        for platform in ("tt", "cpu"):
            task = progress.add_task(f"training on {platform}", total=args.steps)
            trained[platform], curves[platform], seconds[platform] = train(
                platform, tokens, len(letters), args.steps, lambda task=task: progress.advance(task)
            )
        texts = {}
        for format in FORMATS:
            task = progress.add_task(f"writing in {format}", total=args.letters)
            texts[format] = write(
                trained["tt"], format, letters, args.letters, lambda task=task: progress.advance(task)
            )
    for platform, losses in curves.items():
        print(f"{platform:>4}: loss {losses[0]:.3f} -> {losses[-1]:.3f}, {1e3 * seconds[platform]:.1f} ms a step")
    apart = max(abs(a - b) for a, b in zip(curves["tt"], curves["cpu"], strict=True))
    print(f"largest difference of the curves: {apart:.1e}")
    for format, (written, rate) in texts.items():
        print(f"\n{format}, {rate:.0f} letters a second:\n{written}")
    plot(curves, args.output)
    print(f"\nwrote {args.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
