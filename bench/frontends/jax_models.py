# SPDX-License-Identifier: Apache-2.0
"""JAX's programs on its platform tt compared with the same on JAX's CPU: compiling, running, and a training step.

python -m bench --module bench.frontends.jax_models [--only 'jax encoder*']
"""

from __future__ import annotations

import functools
import itertools
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

# Before JAX is imported.
os.environ["JAX_PLATFORMS"] = "tt,cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn

from ..harness import Measure, Outcome, Result, Settings, alternate
from ..names import JAX_CPU

DTYPES = {"f32": jnp.float32, "bf16": jnp.bfloat16}
# Largest difference from JAX on the CPU in the same type, as a part of the result's range.
ERRORS = {"f32": 1e-4, "bf16": 3e-2}

random = np.random.default_rng(0)


def normal(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (random.standard_normal(shape) * scale).astype(np.float32)


def normalized(x: Any) -> Any:
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def heads(x: Any, count: int) -> Any:
    return x.reshape(*x.shape[:2], count, -1)


def encoder(x: Any, layers: Any) -> Any:
    for q, k, v, o, up, down in layers:
        mixed = nn.dot_product_attention(heads(x @ q, 12), heads(x @ k, 12), heads(x @ v, 12))
        x = normalized(x + mixed.reshape(x.shape) @ o)
        x = normalized(x + nn.gelu(x @ up) @ down)
    return x


def cnn(x: Any, kernels: Any) -> Any:
    for kernel in kernels:
        x = lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = lax.reduce_window(nn.relu(x), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return x.mean((1, 2))


def rotary(x: Any) -> Any:
    size = x.shape[-1]
    angle = jnp.arange(x.shape[1])[:, None] * 10000.0 ** (-jnp.arange(0, size, 2) / size)
    cos, sin = (f(angle)[None, :, None].astype(x.dtype) for f in (jnp.cos, jnp.sin))
    a, b = x[..., ::2], x[..., 1::2]
    return jnp.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(x.shape)


def llama_block(x: Any, weights: Any) -> Any:
    q, k, v, o, gate, up, down = weights

    def rms(value: Any) -> Any:
        return value * lax.rsqrt(jnp.mean(value**2, -1, keepdims=True) + 1e-6)

    h = rms(x)
    mixed = nn.dot_product_attention(rotary(heads(h @ q, 16)), rotary(heads(h @ k, 4)), heads(h @ v, 4), is_causal=True)
    x = x + mixed.reshape(x.shape) @ o
    h = rms(x)
    return x + (nn.silu(h @ gate) * (h @ up)) @ down


def mlp_loss(parameters: Any, x: Any, y: Any) -> Any:
    for w, b in parameters[:-1]:
        x = nn.relu(x @ w + b)
    w, b = parameters[-1]
    return jnp.mean((x @ w + b - y) ** 2)


def training_step(parameters: Any, x: Any, y: Any) -> Any:
    grads = jax.grad(mlp_loss)(parameters, x, y)
    return jax.tree.map(lambda p, g: p - 0.01 * g, parameters, grads)


def encoder_arguments() -> Any:
    wide = 768
    shapes = [(wide, wide)] * 4 + [(wide, 4 * wide), (4 * wide, wide)]
    return normal(1, 128, wide), [[normal(*s, scale=s[0] ** -0.5) for s in shapes] for _ in range(12)]


def cnn_arguments() -> Any:
    shapes = [(3, 3, 3, 64), (3, 3, 64, 128), (3, 3, 128, 256)]
    return normal(1, 64, 64, 3), [normal(*s, scale=(9 * s[2]) ** -0.5) for s in shapes]


def llama_arguments() -> Any:
    wide, inner, grouped = 1024, 2816, 256
    shapes = [(wide, wide), (wide, grouped), (wide, grouped), (wide, wide), (wide, inner), (wide, inner), (inner, wide)]
    return normal(1, 128, wide), [normal(*s, scale=s[0] ** -0.5) for s in shapes]


def training_arguments() -> Any:
    sizes = (256, 1024, 1024, 10)
    layers = [(normal(a, b, scale=a**-0.5), np.zeros(b, np.float32)) for a, b in itertools.pairwise(sizes)]
    return layers, normal(128, 256), normal(128, 10)


CASES: dict[str, tuple[Callable[..., Any], Callable[[], Any]]] = {
    "encoder of 12 layers": (encoder, encoder_arguments),
    "CNN": (cnn, cnn_arguments),
    "Llama block": (llama_block, llama_arguments),
    "training step of an MLP": (training_step, training_arguments),
}


def finished(run: Any, arguments: Any) -> Any:
    return jax.block_until_ready(run(*arguments))


def difference(found: Any, expected: Any) -> float:
    pairs = [
        (np.asarray(a).astype(np.float64), np.asarray(b).astype(np.float64))
        for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True)
    ]
    return max(float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-30)) for a, b in pairs)


def compile_time(function: Callable[..., Any], arguments: Any, repeats: int = 3) -> float:
    """Milliseconds from StableHLO to an executable, at best; JAX keeps none between the times."""
    times = []
    for number in range(repeats):
        # A function of its own for each time: JAX knows what it compiled.
        lowered = jax.jit(lambda *given, number=number: function(*given)).lower(*arguments)
        started = time.perf_counter()
        lowered.compile()
        times.append(time.perf_counter() - started)
    return 1e3 * min(times)


def benchmark(name: str, settings: Settings) -> Iterator[Outcome]:
    function, make = CASES[name]
    values = make()
    for dtype, kind in DTYPES.items():
        sides: dict[str, Callable[[], Any]] = {}
        compiling, results = {}, {}
        for platform in ("tt", "cpu"):
            device = jax.devices(platform)[0]
            arguments = jax.tree.map(lambda value: jax.device_put(jnp.asarray(value, kind), device), values)  # noqa: B023
            with settings.quiet():
                compiling[platform] = compile_time(function, arguments)
            run = jax.jit(function).lower(*arguments).compile()
            results[platform] = jax.block_until_ready(run(*arguments))
            sides[platform] = partial(finished, run, arguments)
        wrong = difference(results["tt"], results["cpu"])
        yield Measure(f"jax {name}, error", dtype, wrong, "of the range", f"<= {ERRORS[dtype]}")
        yield Result(f"jax {name}, compile", dtype, compiling["tt"], JAX_CPU, compiling["cpu"])
        with settings.quiet():
            ours, theirs = alternate(list(sides.values()), settings.seconds)
        yield Result(f"jax {name}, run", dtype, ours, JAX_CPU, theirs)


BENCHMARKS: dict[str, Callable[[Settings], Iterator[Outcome]]] = {
    f"jax {name}": functools.partial(benchmark, name) for name in CASES
}
