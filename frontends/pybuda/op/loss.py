# SPDX-License-Identifier: Apache-2.0
"""Losses, for `place_loss_module`."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from ..module import PyBudaModule
from ..tensor import Tensor
from .registry import op


@op
def _L1(operandA: torch.Tensor, operandB: torch.Tensor) -> torch.Tensor:
    """Returns the mean distance."""
    return F.l1_loss(operandA, operandB)


@op
def _MSE(operandA: torch.Tensor, operandB: torch.Tensor) -> torch.Tensor:
    """Returns the mean of squared distances."""
    return F.mse_loss(operandA, operandB)


@op
def _CrossEntropy(operandA: torch.Tensor, operandB: torch.Tensor) -> torch.Tensor:
    """Returns the cross entropy of logits along the last dimension with classes, or with probabilities."""
    logits = operandA.reshape(-1, operandA.shape[-1])
    if operandB.dtype.is_floating_point:
        return -(operandB.reshape(logits.shape) * torch.log_softmax(logits, -1)).sum(-1).mean()
    return F.cross_entropy(logits, operandB.reshape(-1).long())


class Loss(PyBudaModule):
    """A module of a prediction and a target, whose result is one number."""

    def loss(self, name: str, prediction: Tensor, target: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, prediction: Tensor, target: Tensor) -> Tensor:
        return self.loss(self.get_name(), prediction, target)


class L1Loss(Loss):
    """The mean distance between prediction and target."""

    loss = staticmethod(_L1)


class MSELoss(Loss):
    """The mean of the squared distances between prediction and target."""

    loss = staticmethod(_MSE)


class CrossEntropyLoss(Loss):
    """The cross entropy of logits with targets: classes (integers) or probabilities."""

    loss = staticmethod(_CrossEntropy)
