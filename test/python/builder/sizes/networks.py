# SPDX-License-Identifier: Apache-2.0
"""Networks whose inputs have open sizes: a CNN over image sizes, and an encoder over lengths.

python networks.py      times of the open programs compared with those that are compiled for each size
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[4]
    folders = ("tools", "build/python_packages", "test/python/ops", "test/python/random_programs")
    sys.path[:0] = [str(root / folder) for folder in folders]

F32 = torch.float32
CHANNELS = 8


class Weights:
    """Constants of a network, the same in each build."""

    def __init__(self, builder: Any) -> None:
        self.builder, self.generator = builder, torch.Generator().manual_seed(1)

    def __call__(self, *shape: int) -> Any:
        values = torch.randn(shape, generator=self.generator)
        return self.builder.constant(values / max(1, values[0].numel()) ** 0.5)


def cnn(builder: Any) -> None:
    """A stem, two stages of which the second halves the image, pools, and a classifier."""

    @builder.func([(1, "height", "width", 3)], [F32])
    def main(image: Any, builder: Any) -> Any:
        weights = Weights(builder)

        def conv(x: Any, channels: int, kernel: int, stride: int = 1) -> Any:
            weight = weights(channels, builder.get_shape(x)[-1], kernel, kernel)
            pad = kernel // 2
            return builder.conv2d(
                x, weight, None, stride=[stride] * 2, padding=[pad] * 2, dilation=[1, 1], groups=1
            )  # fmt: skip

        def block(x: Any, channels: int, stride: int) -> Any:
            inner = conv(builder.relu(conv(x, channels, 3, stride)), channels, 3)
            short = x if stride == 1 else conv(x, channels, 1, stride)
            return builder.relu(builder.add(inner, short))

        x = builder.relu(conv(image, CHANNELS, 7, 2))
        x = builder.max_pool2d(
            x, kernel=[3, 3], stride=[2, 2], padding=[1, 1, 1, 1], dilation=[1, 1], ceil_mode=False
        )  # fmt: skip
        x = block(block(x, CHANNELS, 1), 2 * CHANNELS, 2)
        x = builder.reshape(builder.global_avg_pool2d(x), shape=[1, 2 * CHANNELS])
        return builder.softmax(builder.matmul(x, weights(2 * CHANNELS, 10)), dimension=1)


def encoder(builder: Any) -> None:
    """Two layers of a transformer over a sequence with a mask."""

    @builder.func([(1, "length", 32), (1, 1, 1, "length")], [F32, F32])
    def main(x: Any, mask: Any, builder: Any) -> Any:
        weights, heads, width = Weights(builder), 4, 32
        length = builder.size("length")

        def split(y: Any) -> Any:
            parts = builder.reshape(y, shape=[1, length, heads, width // heads])
            return builder.permute(parts, permutation=[0, 2, 1, 3])

        for _ in range(2):
            q, k, v = (split(builder.matmul(x, weights(width, width))) for _ in range(3))
            scores = builder.matmul(q, builder.transpose(k, dim0=-2, dim1=-1))
            scores = builder.softmax(builder.add(scores, mask), dimension=-1, numericStable=True)
            mixed = builder.permute(builder.matmul(scores, v), permutation=[0, 2, 1, 3])
            mixed = builder.matmul(builder.reshape(mixed, shape=[1, length, width]), weights(width, width))
            x = builder.layer_norm(builder.add(x, mixed), normalized_shape=[width], epsilon=1e-05)
            inner = builder.gelu(builder.matmul(x, weights(width, 4 * width)))
            inner = builder.matmul(inner, weights(4 * width, width))
            x = builder.layer_norm(builder.add(x, inner), normalized_shape=[width], epsilon=1e-05)
        return x


NETWORKS = {"cnn": cnn, "encoder": encoder}


def image_sizes(count: int = 20) -> list[dict[str, int]]:
    choice = random.Random(5)
    fixed = [(32, 32), (64, 48), (33, 47), (16, 200)]
    drawn = [(choice.randint(16, 160), choice.randint(16, 160)) for _ in range(count - len(fixed))]
    return [{"height": h, "width": w} for h, w in fixed + drawn]


def lengths(count: int = 50) -> list[dict[str, int]]:
    return [{"length": n} for n in (2, 3, 31, 32, 33, 64, 500, *range(5, 5 + 7 * (count - 7), 7))]


def sizes_for(name: str) -> list[dict[str, int]]:
    return image_sizes() if name == "cnn" else lengths()


@dataclass
class Opened:
    """An open program and its goldens."""

    binary: Any
    goldens: Any


def opened(name: str) -> Opened:
    from builder.base.builder_apis import compile_ttir_to_flatbuffer
    from builder.execution.device_tensors import load_binary

    _, data, goldens, _ = compile_ttir_to_flatbuffer(NETWORKS[name], artifact_dir=None)
    return Opened(load_binary(data), goldens)


def measure(name: str) -> None:
    from builder.execution.device_tensors import load_binary
    from op_cases import execute

    result = opened(name)
    print(name, result.binary.open_sizes)
    worst = 0.0
    for sizes in sizes_for(name):
        built = result.goldens.at(**sizes)
        fixed, inputs = load_binary(built.compile()), built.programs[0].inputs
        binaries = (fixed, result.binary)
        runs: tuple[list[float], list[float]] = ([], [])
        for _ in range(25):  # in turn, as other processes run on the machine, too
            for binary, each in zip(binaries, runs, strict=True):
                started = time.perf_counter()
                execute(binary, 0, inputs, (1, 1))
                each.append((time.perf_counter() - started) * 1e3)
        times = [min(each) for each in runs]
        worst = max(worst, times[1] / times[0])
        print(sizes, f"fixed {times[0]:.2f} ms, open {times[1]:.2f} ms")
    print(f"{name}: at most {worst:.2f} x the fixed program")


def main(names: Sequence[str]) -> None:
    for name in names or NETWORKS:
        measure(name)


if __name__ == "__main__":
    main(sys.argv[1:])
