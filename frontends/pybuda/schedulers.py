# SPDX-License-Identifier: Apache-2.0
"""Learning rates that change: a subclass has `get_lr`."""

from __future__ import annotations

from typing import Any


class LearningRateScheduler:
    """The schedule of an optimizer of a TTDevice; `step` sets the rate that `get_lr` returns."""

    def __init__(self, optimizer: Any) -> None:
        self.optimizer = optimizer
        self.torch_scheduler: Any = None

    def get_lr(self) -> float:
        raise NotImplementedError(f"{type(self).__name__} has no get_lr")

    def step(self) -> None:
        self.optimizer.learning_rate = self.get_lr()

    def get_pytorch_scheduler(self, optimizer: Any) -> Any:
        """Returns the same schedule for an optimizer of PyTorch, for a CPUDevice."""
        raise NotImplementedError(f"{type(self).__name__} has no get_pytorch_scheduler")
