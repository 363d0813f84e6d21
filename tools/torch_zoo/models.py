# SPDX-License-Identifier: Apache-2.0
"""Models of the table, made."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from .table import MNIST, MODELS, Row

Inputs: TypeAlias = dict[str, Tensor]  # the model's keyword arguments
SETTLING = 8  # images


class MnistModel(nn.Module):
    """Two convolutions, pooling and two linear layers, with dropout, as PyTorch's examples have it for MNIST."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 32, 3), nn.Conv2d(32, 64, 3)
        self.dropout1, self.dropout2 = nn.Dropout(0.25), nn.Dropout(0.5)
        self.fc1, self.fc2 = nn.Linear(9216, 128), nn.Linear(128, 10)

    def forward(self, pixel_values: Tensor) -> Tensor:
        """Returns logarithms of probabilities [n, 10] of images [n, 1, 28, 28]."""
        x = torch.relu(self.conv2(torch.relu(self.conv1(pixel_values))))
        x = self.dropout1(nn.functional.max_pool2d(x, 2)).flatten(1)
        x = self.dropout2(torch.relu(self.fc1(x)))
        return nn.functional.log_softmax(self.fc2(x), dim=1)


def names(chosen: Sequence[str] = ()) -> list[str]:
    """Returns names of the table; of `chosen` where given, by name or by the name on the hub.

    Raises:
        KeyError: one that is not in the table; names those that are.
    """
    by_card = {row.card: name for name, row in MODELS.items()}
    found = []
    for name in chosen or MODELS:
        name = name if name in MODELS else by_card.get(name, name)
        if name not in MODELS:
            raise KeyError(f"no model {name!r}; there are {', '.join(MODELS)}")
        found.append(name)
    return found


def network(row: Row, small: bool) -> nn.Module:
    if row.architecture == MNIST:
        return MnistModel()
    kind = getattr(importlib.import_module("transformers"), row.architecture)
    settings = dict(row.settings)
    if row.layers is not None:
        settings[row.layers[0]] = row.layers[2]
    if small:
        settings |= row.small
    return kind(kind.config_class(**settings))


def inputs_of(row: Row, model: nn.Module, small: bool) -> Inputs:
    if row.tokens is not None:
        config: Any = model.config
        shape = (2, 16) if small else row.tokens
        return {"input_ids": torch.randint(3, config.vocab_size, shape)}
    shape_of_image = row.small_image if small else row.image
    assert shape_of_image is not None  # a row has tokens or an image
    return {"pixel_values": torch.rand(shape_of_image)}


def settle(model: nn.Module, inputs: Inputs) -> None:
    """Gives batch norms the statistics of images like these, and shifts that let most values pass relu.

    With those of a new model values vanish with depth, and f32 differs from f64 by more than any tolerance; with those
    of one or two images they are hardly more than their own rounding errors.
    """
    norms = [m for m in model.modules() if isinstance(m, nn.BatchNorm2d)]
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = None  # the mean of what was seen
        nn.init.uniform_(norm.weight, 0.5, 1.5)
        nn.init.normal_(norm.bias, mean=1.0, std=0.1)
    if norms:
        with torch.no_grad():
            model.train()(**{name: torch.rand(SETTLING, *value.shape[1:]) for name, value in inputs.items()})
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum  # with None, training breaks graphs: PyTorch reads how many images were seen


def make(name: str, small: bool = False, dtype: torch.dtype = torch.float32, seed: int = 0) -> tuple[nn.Module, Inputs]:
    """Returns a model of the table and inputs for it; the same seed gives the same.

    Args:
        name: of the table, or as the hub has it.
        small: with the settings for tests.
        dtype: of weights and images.
    Raises:
        KeyError: a name that is not in the table.
    """
    (known,) = names([name])
    row = MODELS[known]
    torch.manual_seed(seed)
    model = network(row, small)
    inputs = inputs_of(row, model, small)
    settle(model, inputs)
    model.train(row.train).to(dtype)
    return model, {k: v.to(dtype) if v.is_floating_point() else v for k, v in inputs.items()}
