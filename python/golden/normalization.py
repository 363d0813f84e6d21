# SPDX-License-Identifier: Apache-2.0
"""Goldens of normalisations, softmax, dropout and the optimiser step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from .creation import random_bits, shifted
from .op import Op, TensorSpec
from .tensor import GoldenMapTensor, shardwise


def along(x: Tensor, parameter: Any, dimension: int) -> Any:
    """Returns a per-channel parameter, shaped to broadcast along `dimension`; None stays None."""
    shape = [-1 if d == dimension % x.dim() else 1 for d in range(x.dim())]
    return None if parameter is None else parameter.reshape(shape)


def scaled(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


def batch_norm(
    x: Tensor, scale: Tensor | None, offset: Tensor | None, mean: Tensor, variance: Tensor, epsilon: float = 1e-5,
    dimension: int = 1,
) -> Tensor:  # fmt: skip
    mean, variance, scale, offset = (along(x, p, dimension) for p in (mean, variance, scale, offset))
    return scaled((x - mean) / torch.sqrt(variance + epsilon), scale, offset)


def batch_statistics(x: Tensor, dimension: int) -> tuple[Tensor, Tensor]:
    """Returns mean and biased variance of each channel."""
    dims = [d for d in range(x.dim()) if d != dimension % x.dim()]
    return x.mean(dim=dims), x.var(dim=dims, unbiased=False)


def batch_norm_training(
    x: Tensor,
    scale: Tensor,
    offset: Tensor,
    running_mean: Tensor,
    running_variance: Tensor,
    epsilon: float = 1e-5,
    dimension: int = 1,
    momentum: float = 0.1,
) -> list[Tensor]:
    """Returns normalised with the batch's statistics; the running statistics move towards them by `momentum`."""
    mean, variance = batch_statistics(x, dimension)
    updated = [
        (1 - momentum) * old + momentum * new for old, new in ((running_mean, mean), (running_variance, variance))
    ]
    return [batch_norm(x, scale, offset, mean, variance, epsilon, dimension), *updated]


def device_batch_norm(
    x: Tensor, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    epsilon: float = 1e-5,
) -> Tensor:  # fmt: skip
    return batch_norm(x, weight, bias, running_mean, running_var, epsilon, 1)


def device_batch_norm_training(
    x: Tensor, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    epsilon: float = 1e-5,
) -> Tensor:  # fmt: skip
    return batch_norm(x, weight, bias, *batch_statistics(x, 1), epsilon, 1)


def normalised_dims(x: Tensor, normalized_shape: Sequence[int] | None) -> list[int]:
    return list(range(x.dim() - (len(normalized_shape) if normalized_shape else 1), x.dim()))


def layer_norm(
    x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None,
    normalized_shape: Sequence[int] | None = None, epsilon: float = 1e-5,
) -> Tensor:  # fmt: skip
    dims = normalised_dims(x, normalized_shape)
    mean, variance = x.mean(dim=dims, keepdim=True), x.var(dim=dims, unbiased=False, keepdim=True)
    return scaled((x - mean) * torch.rsqrt(variance + epsilon), weight, bias)


def rms_norm(
    x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None,
    normalized_shape: Sequence[int] | None = None, epsilon: float = 1e-5,
) -> Tensor:  # fmt: skip
    dims = normalised_dims(x, normalized_shape)
    return scaled(x * torch.rsqrt(x.square().mean(dim=dims, keepdim=True) + epsilon), weight, bias)


def fused_rms_norm(
    x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, residual_input: Tensor | None = None,
    epsilon: float = 1e-5, activation: Any = None,
) -> Tensor:  # fmt: skip
    from .activation import activated

    return activated(
        rms_norm(x if residual_input is None else x + residual_input, weight, bias, None, epsilon), activation
    )


def group_norm(
    x: Tensor, input_mask: Tensor | None = None, weight: Tensor | None = None, bias: Tensor | None = None,
    num_groups: int = 1, epsilon: float = 1e-12, channel_dim: int = 3,
) -> Tensor:  # fmt: skip
    """Returns statistics over the elements of one sample and one group of channels; `input_mask` only arranges
    cores."""
    moved = x.movedim(channel_dim, 1)
    grouped = moved.reshape(x.shape[0], num_groups, -1)
    mean, variance = grouped.mean(dim=-1, keepdim=True), grouped.var(dim=-1, unbiased=False, keepdim=True)
    y = ((grouped - mean) * torch.rsqrt(variance + epsilon)).reshape(moved.shape).movedim(1, channel_dim)
    return scaled(y, along(x, weight, channel_dim), along(x, bias, channel_dim))


def softmax(x: Tensor, dimension: int, numericStable: bool = False) -> Tensor:
    return torch.softmax(x, dim=dimension)


def dropout(x: Tensor, prob: float = 0.0, scale: float = 1.0, seed: int = 0) -> Tensor:
    """Returns zero where 32 random bits of the element, as the device draws them, are below prob; else x * scale."""
    return torch.where(shifted(random_bits(x.shape, seed), 32) >= int(prob * 2.0**32), x * scale, 0.0)


def adamw(
    param: Tensor,
    grad: Tensor,
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
    max_exp_avg_sq: Tensor | None = None,
    *,
    lr: float,
    beta1: float,
    beta2: float,
    beta1_pow: float,
    beta2_pow: float,
    epsilon: float,
    weight_decay: float,
) -> list[Tensor]:
    """Computes a step as Loshchilov and Hutter, "Decoupled weight decay regularization", algorithm 2 (the green
    parts)."""
    exp_avg = beta1 * exp_avg + (1 - beta1) * grad
    exp_avg_sq = beta2 * exp_avg_sq + (1 - beta2) * grad.square()
    corrected = exp_avg_sq
    results = [exp_avg, exp_avg_sq]
    if max_exp_avg_sq is not None:
        corrected = torch.maximum(max_exp_avg_sq, exp_avg_sq)
        results.append(corrected)
    step = (exp_avg / (1 - beta1_pow)) / (torch.sqrt(corrected / (1 - beta2_pow)) + epsilon)
    return [param * (1 - lr * weight_decay) - lr * step, *results]


def statistics_before_gather(second_moment_only: bool) -> Callable[..., Tensor]:
    """Computes the per-row sums that are gathered before the norm: sum x^2, then sum x, each in column 0 of a tile 32
    wide."""

    def golden(x: Tensor, residual: Tensor | None = None, recip: Tensor | None = None, *, out: TensorSpec) -> Tensor:
        x = x if residual is None else x + residual
        sums = [x.square().sum(dim=-1, keepdim=True)]
        if not second_moment_only:
            sums.append(x.sum(dim=-1, keepdim=True))
        result = torch.zeros(out.shape)
        for i, part in enumerate(sums):
            result[..., 32 * i : 32 * i + 1] = part
        return result

    return golden


def layer_norm_after_gather(
    x: Tensor, stats: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, epsilon: float = 1e-12
) -> Tensor:
    """Returns `stats` [..., 64 * devices]: of each device the sum of squares, then the sum, in columns 0 and 32. Sums
    that were rounded may leave less than no variance."""
    devices = stats.shape[-1] // 64
    count = x.shape[-1] * devices
    squares, mean = (
        torch.stack([stats[..., 64 * d + at : 64 * d + at + 1] for d in range(devices)]).sum(dim=0) / count
        for at in (0, 32)
    )
    variance = (squares - mean.square()).clamp(min=0)
    return scaled((x - mean) * torch.rsqrt(variance + epsilon), weight, bias)


def distributed(norm: Callable[..., Tensor]) -> Callable[..., GoldenMapTensor]:
    """Returns a norm over the last dimension, which is split over the devices of a mesh axis."""

    def golden(
        x: GoldenMapTensor, *rest: GoldenMapTensor | None, cluster_axis: int, epsilon: float = 1e-5
    ) -> GoldenMapTensor:
        *parameters, residual = rest[: 2 if norm is rms_norm else 3]
        if residual is not None:
            x = shardwise(torch.add, x, residual)
        shards: dict[int, Tensor] = {}
        for group in x.group_by_axis(cluster_axis):
            whole = norm(torch.cat(list(group.values()), dim=-1), epsilon=epsilon)
            shards |= dict(zip(group, whole.chunk(len(group), dim=-1), strict=True))
        y = GoldenMapTensor(shards, x.mesh_shape)
        return shardwise(lambda v, *p: scaled(v, *p, *[None] * (2 - len(p))), y, *parameters)

    return golden


NORMALIZATION = {
    "softmax": Op(softmax, aten="_softmax"),
    "dropout": Op(dropout, aten="native_dropout"),
    "layer_norm": Op(layer_norm, aten="native_layer_norm"),
    "rms_norm": Op(rms_norm),
    "group_norm": Op(group_norm, aten="native_group_norm"),
    "dit_rms_norm_unary_fused": Op(fused_rms_norm),
    "batch_norm_inference": Op(batch_norm, aten="native_batch_norm"),
    "batch_norm_training": Op(batch_norm_training),
    "ttnn.batch_norm_inference": Op(device_batch_norm),
    "ttnn.batch_norm_training": Op(device_batch_norm_training),
    "adamw": Op(adamw),
    "ttnn.adamw": Op(adamw, updates=(0, 2, 3, 4)),
    "distributed_rms_norm": Op(distributed(rms_norm), mesh=True),
    "distributed_layer_norm": Op(distributed(layer_norm), mesh=True),
    "rms_norm_pre_all_gather": Op(statistics_before_gather(True)),
    "layer_norm_pre_all_gather": Op(statistics_before_gather(False)),
    "layer_norm_post_all_gather": Op(layer_norm_after_gather),
}
