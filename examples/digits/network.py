# SPDX-License-Identifier: Apache-2.0
"""A small convolutional network for scikit-learn's handwritten digits, trained in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

HELD_BACK = 360
EPOCHS = 60


@dataclass(frozen=True)
class Digits:
    """1,797 images of 8 x 8 pixels, [n, 1, 8, 8] in 0..1, and their labels [n]."""

    train_images: Tensor
    train_labels: Tensor
    test_images: Tensor
    test_labels: Tensor


def load(seed: int = 0) -> Digits:
    """The data set, shuffled by `seed`, with the last 360 images held back for the test."""
    data = load_digits()
    images = torch.tensor(data.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(data.target)
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(seed))
    images, labels = images[order], labels[order]
    return Digits(images[:-HELD_BACK], labels[:-HELD_BACK], images[-HELD_BACK:], labels[-HELD_BACK:])


class Network(nn.Module):
    """conv 3x3, relu, conv 3x3, relu, max-pool, linear, relu, linear, softmax."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.hidden = nn.Linear(32 * 4 * 4, 64)
        self.output = nn.Linear(64, 10)

    def logits(self, images: Tensor) -> Tensor:
        x = torch.relu(self.conv1(images))
        x = torch.max_pool2d(torch.relu(self.conv2(x)), 2)
        # Rows of channels, as the chip keeps them: the linear layer's weights are trained for that order.
        x = x.permute(0, 2, 3, 1).flatten(1)
        return self.output(torch.relu(self.hidden(x)))

    def forward(self, images: Tensor) -> Tensor:
        """Probabilities [n, 10] of images [n, 1, 8, 8]."""
        return torch.softmax(self.logits(images), dim=1)


def train(digits: Digits, progress: Callable[[int, float], None] | None = None, epochs: int = EPOCHS) -> Network:
    """Train by Adam on cross entropy; `progress` is told epoch and loss. The same seed gives the same network."""
    torch.manual_seed(0)
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, epochs=epochs, steps_per_epoch=23)
    for epoch in range(epochs):
        total = 0.0
        for batch in torch.randperm(len(digits.train_images)).split(64):
            loss = nn.functional.cross_entropy(network.logits(digits.train_images[batch]), digits.train_labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item() * len(batch)
        if progress:
            progress(epoch + 1, total / len(digits.train_images))
    return network.eval()


def accuracy(probabilities: Tensor, labels: Tensor) -> float:
    """Percent of rows [n, 10] whose largest entry is at the label."""
    return 100.0 * (probabilities.argmax(1) == labels).float().mean().item()
