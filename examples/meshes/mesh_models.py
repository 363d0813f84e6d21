# SPDX-License-Identifier: Apache-2.0
"""Models written in JAX without a word of meshes: their text, where their inputs are split, and what JAX computes.

Run as a program it estimates them at their real sizes on meshes of growing size; nothing runs:

    python examples/meshes/mesh_models.py FOLDER [--only NAME] [--meshes 1x1,1x2,2x4,8x4]
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Shape = tuple[int, ...]
# Axes of an input's first dimensions, as in "x": "y" or "xy"; "" is whole. What is missing stays open.
Axes = tuple[str, ...]
MESHES = ((1, 1), (1, 2), (2, 4), (8, 4))


@dataclass(frozen=True)
class Argument:
    """axes: along which it is split where the user says so. below: of int32 values; near: the mean of others."""

    shape: Shape
    axes: Axes | None = None
    below: int = 0
    near: float = 0.0


@dataclass(frozen=True)
class JaxModel:
    """inputs: how many of the arguments are; others are weights."""

    function: Callable[..., Any]
    arguments: tuple[Argument, ...]
    inputs: int = 1

    def values(self, seed: int = 0) -> list[np.ndarray]:
        """Weights such that activations stay near 1, as those of trained models do."""
        random = np.random.default_rng(seed)

        def value(argument: Argument) -> np.ndarray:
            if argument.below:
                return random.integers(0, argument.below, argument.shape).astype(np.int32)
            fan_in = np.prod(argument.shape[:-1]) if len(argument.shape) > 1 and argument.near == 0 else 100
            # A stack of experts is one matrix for each.
            fan_in = argument.shape[1] if len(argument.shape) == 3 else fan_in
            return (argument.near + random.standard_normal(argument.shape) / fan_in**0.5).astype(np.float32)

        return [value(argument) for argument in self.arguments]

    def lowered(self) -> Any:
        import jax

        types = [jax.ShapeDtypeStruct(a.shape, "int32" if a.below else "float32") for a in self.arguments]
        return jax.jit(self.function, keep_unused=True).lower(*types)

    def text(
        self,
        mesh: tuple[int, int] | None = None,
        annotate: bool = False,
        parameters: bool = False,
        everywhere: bool = False,
    ) -> str:
        """Returns JAX's text, with the mesh and, if requested, the shardings of inputs, and the numbers of weights.

        everywhere: arguments of which the user says nothing have an open sharding, so that chips have them in shards,
        too.
        """
        text = re.sub(r"^module @\w+ attributes \{[^}]*\}", "module", self.lowered().as_text())
        if mesh:
            text = text.replace("module {", f'module {{\n  sdy.mesh @mesh = <["x"={mesh[0]}, "y"={mesh[1]}]>', 1)
        for index, argument in enumerate(self.arguments):
            notes = []
            if annotate and (argument.axes is not None or everywhere):
                axes = argument.axes or ()
                axes += ("",) * (len(argument.shape) - len(axes))
                dims = ", ".join("{" + ", ".join([f'"{axis}"' for axis in each] + ["?"]) + "}" for each in axes)
                notes.append(f"sdy.sharding = #sdy.sharding<@mesh, [{dims}]>")
            if parameters and index >= self.inputs:
                notes.append("ttcore.argument_type = #ttcore.argument_type<parameter>")
            if notes:
                noted = rf"\1 {{{', '.join(notes)}}}"
                text, count = re.subn(rf"(@main\(.*?%arg{index}: tensor<[^>]*>)", noted, text, count=1)
                assert count == 1, text.splitlines()[:4]
        return text

    def expected(self, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        import jax

        with jax.default_device(jax.devices("cpu")[0]), jax.default_matmul_precision("highest"):
            return [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(self.function)(*values))]


# ----------------------------------------------------------------------------------------------------------------------
# Transformers
# ----------------------------------------------------------------------------------------------------------------------


def llama(*, batch: int, sequence: int, hidden: int, heads: int, kv_heads: int, ffn: int, vocabulary: int) -> JaxModel:
    """An embedding, a block with rotary positions, keys shared by heads and a causal mask, and logits."""
    depth = hidden // heads

    def function(tokens: Any, table: Any, q: Any, k: Any, v: Any, o: Any, *rest: Any) -> Any:
        import jax
        import jax.numpy as jnp

        first, second, last, gate, up, down, head = rest

        def norm(x: Any, weight: Any) -> Any:
            return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * weight

        def rotated(x: Any) -> Any:
            angle = jnp.arange(sequence)[:, None] * 10000.0 ** (-jnp.arange(0, depth, 2) / depth)
            cos, sin = jnp.cos(angle)[:, None], jnp.sin(angle)[:, None]
            a, b = x[..., : depth // 2], x[..., depth // 2 :]
            return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], -1)

        x = table[tokens]
        y = norm(x, first)
        queries = rotated((y @ q).reshape(batch, sequence, heads, depth))
        keys = rotated((y @ k).reshape(batch, sequence, kv_heads, depth))
        values = (y @ v).reshape(batch, sequence, kv_heads, depth)
        keys, values = (jnp.repeat(part, heads // kv_heads, axis=2) for part in (keys, values))
        scores = jnp.einsum("bshd,bthd->bhst", queries, keys) / depth**0.5
        scores = jnp.where(jnp.tril(jnp.ones((sequence, sequence), bool)), scores, -1e9)
        mixed = jnp.einsum("bhst,bthd->bshd", jax.nn.softmax(scores), values).reshape(x.shape)
        x = x + mixed @ o
        y = norm(x, second)
        x = x + (jax.nn.silu(y @ gate) * (y @ up)) @ down
        return norm(x, last) @ head

    narrow = kv_heads * depth
    columns, rows = ("", "y"), ("y", "")
    return JaxModel(
        function,
        (
            Argument((batch, sequence), ("x",), below=vocabulary),
            Argument((vocabulary, hidden)),
            Argument((hidden, hidden), columns),
            Argument((hidden, narrow), columns),
            Argument((hidden, narrow), columns),
            Argument((hidden, hidden), rows),
            *[Argument((hidden,), near=1.0)] * 3,
            Argument((hidden, ffn), columns),
            Argument((hidden, ffn), columns),
            Argument((ffn, hidden), rows),
            Argument((hidden, vocabulary), columns),
        ),
    )


def bert(*, layers: int, batch: int, sequence: int, hidden: int, heads: int, ffn: int, vocabulary: int) -> JaxModel:
    def function(tokens: Any, words: Any, positions: Any, *weights: Any) -> Any:
        import jax
        import jax.numpy as jnp

        def norm(x: Any, scale: Any, shift: Any) -> Any:
            x = x - x.mean(-1, keepdims=True)
            return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-12) * scale + shift

        x = words[tokens] + positions
        for layer in range(layers):
            q, k, v, o, up, bias, down, *norms = weights[11 * layer : 11 * layer + 11]
            a, b, c = ((x @ m).reshape(batch, sequence, heads, hidden // heads) for m in (q, k, v))
            scores = jax.nn.softmax(jnp.einsum("bshd,bthd->bhst", a, b) / (hidden // heads) ** 0.5)
            x = norm(x + jnp.einsum("bhst,bthd->bshd", scores, c).reshape(x.shape) @ o, *norms[:2])
            x = norm(x + jax.nn.gelu(x @ up + bias, approximate=False) @ down, *norms[2:])
        return x

    layer = (
        *[Argument((hidden, hidden))] * 4,
        Argument((hidden, ffn)),
        Argument((ffn,)),
        Argument((ffn, hidden)),
        *(Argument((hidden,), near=near) for near in (1.0, 0.0, 1.0, 0.0)),
    )
    return JaxModel(
        function,
        (
            Argument((batch, sequence), ("xy",), below=vocabulary),
            Argument((vocabulary, hidden)),
            Argument((sequence, hidden)),
            *layer * layers,
        ),
    )


# ----------------------------------------------------------------------------------------------------------------------
# Others
# ----------------------------------------------------------------------------------------------------------------------


def resnet50(*, batch: int, side: int) -> JaxModel:
    """16 bottleneck blocks; batch normalisations as they are when images are classified: a scale and a shift."""
    stages = ((3, 64), (4, 128), (6, 256), (3, 512))
    kernels: list[Shape] = [(7, 7, 3, 64)]
    width = 64
    for count, inner in stages:
        for block in range(count):
            kernels += [(1, 1, width, inner), (3, 3, inner, inner), (1, 1, inner, 4 * inner)]
            kernels += [(1, 1, width, 4 * inner)] if block == 0 else []
            width = 4 * inner

    def function(x: Any, head: Any, *weights: Any) -> Any:
        import jax
        import jax.numpy as jnp

        left = iter(weights)

        def convolved(x: Any, stride: int = 1) -> Any:
            kernel, scale, shift = (next(left) for _ in range(3))
            numbers = ("NHWC", "HWIO", "NHWC")
            pad = [(kernel.shape[0] // 2,) * 2] * 2
            x = jax.lax.conv_general_dilated(x, kernel, (stride, stride), pad, dimension_numbers=numbers)
            return x * scale + shift

        x = jnp.maximum(convolved(x, 2), 0)
        x = jax.lax.reduce_window(
            x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0))
        )
        for stage, (count, _) in enumerate(stages):
            for block in range(count):
                stride = 2 if stage and not block else 1
                y = jnp.maximum(convolved(x), 0)
                y = jnp.maximum(convolved(y, stride), 0)
                y = convolved(y)
                x = jnp.maximum(y + (x if block else convolved(x, stride)), 0)
        return x.mean((1, 2)) @ head

    weights = [
        each
        for kernel in kernels
        # The sums of 16 blocks stay near 1.
        for each in (Argument(kernel), Argument(kernel[-1:], near=0.7), Argument(kernel[-1:]))
    ]
    return JaxModel(function, (Argument((batch, side, side, 3), ("xy",)), Argument((2048, 1000)), *weights))


def experts(*, tokens: int, hidden: int, ffn: int, count: int) -> JaxModel:
    """Each token is computed by the two experts that its router likes most."""

    def function(x: Any, router: Any, up: Any, down: Any) -> Any:
        import jax
        import jax.numpy as jnp

        scores, chosen = jax.lax.top_k(x @ router, 2)
        share = (jax.nn.one_hot(chosen, count) * jax.nn.softmax(scores)[..., None]).sum(1)
        inner = jax.nn.relu(jnp.einsum("th,ehf->etf", x, up))
        return jnp.einsum("te,eth->th", share, jnp.einsum("etf,efh->eth", inner, down))

    return JaxModel(
        function,
        (
            Argument((tokens, hidden), ("x",)),
            Argument((hidden, count)),
            Argument((count, hidden, ffn), ("y",)),
            Argument((count, ffn, hidden), ("y",)),
        ),
    )


def training(*, batch: int, sizes: Sequence[int], steps: int) -> JaxModel:
    """Steps of gradient descent with momentum of an MLP; gradients are sums over the batch."""

    def function(x: Any, target: Any, *weights: Any) -> Any:
        import jax
        import jax.numpy as jnp

        def loss(weights: Sequence[Any]) -> Any:
            y = x
            for index in range(0, len(weights), 2):
                y = y @ weights[index] + weights[index + 1]
                y = jnp.tanh(y) if index + 2 < len(weights) else y
            return ((y - target) ** 2).mean()

        losses, moments = [], [jnp.zeros_like(w) for w in weights]
        for _ in range(steps):
            value, gradients = jax.value_and_grad(loss)(list(weights))
            moments = [0.9 * m + g for m, g in zip(moments, gradients, strict=True)]
            weights = tuple(w - 0.05 * m for w, m in zip(weights, moments, strict=True))
            losses.append(value)
        return jnp.stack(losses), weights

    layers = [each for a, b in itertools.pairwise(sizes) for each in (Argument((a, b)), Argument((b,)))]
    return JaxModel(
        function, (Argument((batch, sizes[0]), ("xy",), near=0.1), Argument((batch, sizes[-1]), ("xy",)), *layers), 2
    )


# Small enough to run on the host.
SMALL = {
    "llama": llama(batch=8, sequence=32, hidden=128, heads=8, kv_heads=4, ffn=256, vocabulary=96),
    "bert": bert(layers=2, batch=32, sequence=16, hidden=64, heads=4, ffn=256, vocabulary=96),
    "resnet50": resnet50(batch=32, side=32),
    "experts": experts(tokens=64, hidden=64, ffn=128, count=8),
    "training": training(batch=64, sizes=(32, 64, 64, 8), steps=4),
}
# As they are used.
LARGE = {
    "llama": llama(batch=8, sequence=512, hidden=4096, heads=32, kv_heads=8, ffn=14336, vocabulary=32000),
    "bert": bert(layers=12, batch=64, sequence=384, hidden=768, heads=12, ffn=3072, vocabulary=30522),
    "resnet50": resnet50(batch=128, side=224),
    "experts": experts(tokens=8192, hidden=2048, ffn=7168, count=8),
    "training": training(batch=16384, sizes=(1024, 4096, 4096, 1024), steps=1),
}


def main(arguments: Sequence[str] | None = None) -> int:
    import argparse
    from pathlib import Path

    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "tools"), str(root / "build" / "python_packages")]
    from builder.sharding.__main__ import main as sharding

    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("folder", type=Path)
    top.add_argument("--only", choices=LARGE, action="append")
    top.add_argument("--meshes", default=",".join(f"{rows}x{columns}" for rows, columns in MESHES))
    args = top.parse_args(arguments)
    args.folder.mkdir(parents=True, exist_ok=True)
    for name in args.only or LARGE:
        path = args.folder / f"{name}.mlir"
        path.write_text(LARGE[name].text(parameters=True))
        print(name, flush=True)
        if status := sharding([str(path), "--meshes", args.meshes, "--plot", str(path.with_suffix(".svg"))]):
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
