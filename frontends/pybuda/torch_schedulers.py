# SPDX-License-Identifier: Apache-2.0
"""Learning rates of PyTorch's optimizers that change: a subclass has `get_lr`."""

from __future__ import annotations

import torch


class TorchLearningRateScheduler:
    """`step` sets the rates that `get_lr` returns in the groups of the optimizer. The constructor changes nothing."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.optimizer = optimizer

    def get_lr(self) -> list[float]:
        raise NotImplementedError(f"{type(self).__name__} has no get_lr")

    def step(self) -> None:
        for group, rate in zip(self.optimizer.param_groups, self.get_lr(), strict=True):
            group["lr"] = rate
