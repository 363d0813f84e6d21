# SPDX-License-Identifier: Apache-2.0
"""Train a small network on scikit-learn's handwritten digits on the simulated chip, and the same in PyTorch.

    .venv/bin/python examples/torch/train.py                 20 epochs; loss.png has both loss curves

Forward and backward run on the chip; the optimizer is PyTorch's. Both sides see the same batches and draw the same
numbers for dropout.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

HELD_BACK = 360


def network() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Dropout(0.25),
        nn.Flatten(),
        nn.Linear(32 * 4 * 4, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


def digits() -> tuple[Tensor, Tensor]:
    """1,797 images [n, 1, 8, 8] in 0..1, shuffled, and their labels [n]."""
    data = load_digits()
    order = torch.randperm(len(data.target), generator=torch.Generator().manual_seed(0))
    return torch.tensor(data.images, dtype=torch.float32).unsqueeze(1)[order] / 16, torch.tensor(data.target)[order]


def train(
    wrap: Callable[[nn.Module], Callable[[Tensor], Tensor]], epochs: int, images: Tensor, labels: Tensor
) -> tuple[list[float], float]:
    """(loss of each step, percent of the images held back that are told right)."""
    torch.manual_seed(0)
    model = network()
    run = wrap(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    losses = []
    for _ in range(epochs):
        for batch in torch.randperm(len(images) - HELD_BACK).split(64, 0)[:-1]:  # of one size
            loss = nn.functional.cross_entropy(run(images[batch]), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    with torch.no_grad():
        told = model.eval()(images[-HELD_BACK:]).argmax(1)
    return losses, 100.0 * (told == labels[-HELD_BACK:]).float().mean().item()


def plot(curves: dict[str, list[float]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    for (name, losses), style in zip(curves.items(), ("-", "--"), strict=True):
        axes.plot(losses, style, label=name, linewidth=1)
    axes.set(xlabel="step", ylabel="cross entropy", yscale="log", title="handwritten digits")
    axes.legend()
    figure.savefig(path, dpi=120, bbox_inches="tight")


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=20, help="default: 20")
    parser.add_argument("--output", type=Path, default=Path("loss.png"), metavar="FILE", help="default: loss.png")
    arguments = parser.parse_args(words)
    images, labels = digits()
    curves = {}
    for name, wrap in {
        "PyTorch": lambda model: model,
        "the simulated chip": lambda model: torch.compile(model, backend="tt", fullgraph=True),
    }.items():
        losses, right = train(wrap, arguments.epochs, images, labels)
        curves[name] = losses
        print(
            f"{name}: loss {losses[0]:.4f} -> {losses[-1]:.4f} in {len(losses)} steps, {right:.1f} % right", flush=True
        )
    plot(curves, arguments.output)
    print(f"loss curves: {arguments.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
