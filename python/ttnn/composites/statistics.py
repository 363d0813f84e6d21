# SPDX-License-Identifier: Apache-2.0
"""Variances, losses, forms of softmax, and products with a sum."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import DataType

from ..library.modes import LossReductionMode
from .frame import RESULT, WRITTEN, composite, ops
from .parts import axis_of, numbers

_REDUCED = "memory_config compute_kernel_config sub_core_grids"
_MATMUL = "dtype memory_config compute_kernel_config program_config"


def axes_of(dim: int | Sequence[int] | None, rank: int) -> list[int]:
    """Returns the dimensions that are reduced, counted from the front; all where none is named."""
    if dim is None:
        return list(range(rank))
    return sorted({axis_of(each, rank) for each in ([dim] if isinstance(dim, int) else dim)})


def _spread(x: Tensor, axes: Sequence[int], correction: int) -> tuple[Tensor, Tensor]:
    """Returns what is left of x without its mean, and the variance, with dimensions kept."""
    count = math.prod(x.shape[each] for each in axes)
    if 0 in x.shape:
        rest = x + 0.0
        return rest, ops.sum(rest, list(axes), True) + math.nan
    rest = x - ops.mean(x, list(axes), True)
    total = ops.sum(rest * rest, list(axes), True)
    return rest, total / float(count - correction) if count > correction else total * math.inf


def _variance(name: str, finish: Callable[[Tensor], Tensor], doc: str) -> None:
    golden = f"torch.{name}(input_tensor, dim, correction=int(correction), keepdim=keepdim) * scalar"

    def compute(
        input_tensor: Tensor,
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        *,
        scalar: float = 1.0,
        correction: bool = True,
    ) -> Tensor:
        axes = axes_of(dim, len(input_tensor.shape))
        result = finish(_spread(input_tensor, axes, int(correction))[1])
        if scalar != 1.0:
            result = result * scalar
        kept = [size for each, size in enumerate(input_tensor.shape) if each not in axes]
        return result if keepdim else ops.reshape(result, kept)

    compute.__doc__ = doc
    composite(_REDUCED, golden=golden, name=name)(compute)

    def of_planes(input_tensor: Tensor) -> Tensor:
        rank = len(input_tensor.shape)
        if rank < 2:
            raise ValueError(f"input_tensor has shape {list(input_tensor.shape)}; expected at least two dimensions")
        return finish(_spread(input_tensor, [rank - 2, rank - 1], 0)[1])

    of_planes.__doc__ = doc.replace("over dimensions", "over the last two dimensions, which are kept")
    planes = f"torch.{name}(input_tensor, (-2, -1), correction=0, keepdim=True)"
    composite(RESULT, golden=planes, name=f"{name}_hw")(of_planes)


_variance("var", lambda v: v, "Computes the variance over dimensions.")
_variance("std", lambda v: ops.sqrt(v), "Computes the standard deviation over dimensions.")


def _normalized(name: str, golden: str, planes: bool) -> None:
    def compute(input_tensor: Tensor) -> Tensor:
        rank = len(input_tensor.shape)
        rest, variance = _spread(input_tensor, list(range(max(rank - 2, 0) if planes else 0, rank)), 0)
        return rest / ops.sqrt(variance)

    compute.__doc__ = f"Shifts and scales to mean 0 and deviation 1, {'each plane' if planes else 'all together'}."
    composite(RESULT, golden=golden, name=name)(compute)


for _name, _golden, _planes in (
    ("normalize_hw", "torch.nn.functional.layer_norm(input_tensor, input_tensor.shape[-2:], eps=0.0)", True),
    ("normalize_global", "torch.nn.functional.layer_norm(input_tensor, input_tensor.shape, eps=0.0)", False),
):
    _normalized(_name, _golden, _planes)


def _loss(name: str, golden: str, of: Callable[[Tensor], Tensor], doc: str) -> None:
    def compute(
        input_reference: Tensor, input_prediction: Tensor, *, reduction: Any = LossReductionMode.NONE
    ) -> Tensor:
        if not isinstance(reduction, LossReductionMode):
            raise TypeError(f"reduction is {reduction!r}; expected a ttnn.LossReductionMode")
        losses = of(input_reference - input_prediction)
        if reduction is LossReductionMode.NONE:
            return losses
        return ops.sum(losses) if reduction is LossReductionMode.SUM else ops.mean(losses)

    compute.__doc__ = doc
    reduced = "reduction=getattr(reduction, 'name', 'none').lower()"
    composite(WRITTEN, golden=f"torch.nn.functional.{golden}(input_prediction, input_reference, {reduced})", name=name)(
        compute
    )


_loss("l1_loss", "l1_loss", lambda d: ops.abs(d), "Computes |reference - prediction|, or the sum or mean of them.")
_loss("mse_loss", "mse_loss", lambda d: d * d, "Computes (reference - prediction)^2, or the sum or mean of them.")


# Softmax.


def _scores(input_tensor: Tensor, scale: float | None, mask: Tensor | None) -> Tensor:
    scores = input_tensor if scale is None else input_tensor * scale
    return ops.softmax(scores if mask is None else scores + mask, dim=-1)


_SCORES = "torch.softmax(input_tensor * (1.0 if scale is None else scale) + (0.0 if mask is None else mask), -1)"


@composite("memory_config compute_kernel_config numeric_stable", golden=_SCORES)
def scale_mask_softmax(
    input_tensor: Tensor, scale: float | None = None, mask: Tensor | None = None, *, is_causal_mask: bool = False
) -> Tensor:
    """Computes softmax of x * scale + mask over the last dimension. A causal mask is added like another."""
    del is_causal_mask
    return _scores(input_tensor, scale, mask)


def _in_place(name: str, causal: bool) -> None:
    def compute(
        input_tensor: Tensor, scale: float | None = None, mask: Tensor | None = None, *, is_causal_mask: bool = False
    ) -> Tensor:
        del is_causal_mask
        return _scores(input_tensor, scale, mask)

    compute.__doc__ = "Computes softmax of x * scale + mask over the last dimension, and writes it to the tensor."
    composite("program_config compute_kernel_config numeric_stable", golden=_SCORES, name=name, in_place=True)(compute)


for _name in ("scale_mask_softmax_in_place", "scale_causal_mask_hw_dims_softmax_in_place"):
    _in_place(_name, "causal" in _name)


@composite(
    "program_config compute_kernel_config numeric_stable", golden="torch.softmax(input_tensor, dim)", in_place=True
)
def softmax_in_place(input_tensor: Tensor, dim: int = -1) -> Tensor:
    """Computes softmax over a dimension, and writes it to the tensor."""
    return ops.softmax(input_tensor, dim=dim)


# Products.


@composite(
    _MATMUL + " optional_output_tensor",
    golden="torch.addmm(input_tensor, mat1_tensor, mat2_tensor, beta=beta, alpha=alpha)",
)
def addmm(
    input_tensor: Tensor,
    mat1_tensor: Tensor,
    mat2_tensor: Tensor,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    core_grid: Any = None,
    output_tile: Any = None,
) -> Tensor:
    """Computes beta * input + alpha * (mat1 @ mat2); the input is not read where beta is 0.

    `core_grid` and `output_tile` are those of matmul.
    """
    product = ops.matmul(mat1_tensor, mat2_tensor, core_grid=core_grid, output_tile=output_tile) * alpha
    return product if beta == 0 else input_tensor * beta + product


@composite(
    wide=False,
    golden="[product(input_tensor_a, each, None, transpose_a, transpose_b, activation) for each in input_tensors_b]",
)
def matmul_batched_weights(
    input_tensor_a: Tensor,
    input_tensors_b: Sequence[Tensor],
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    memory_config: Any = None,
    dtype: DataType | None = None,
    program_config: Any = None,
    activation: Any = None,
    compute_kernel_config: Any = None,
    core_grid: Any = None,
    output_tile: Any = None,
    optional_output_tensor: Tensor | None = None,
    global_cb: Any = None,
    sub_device_id: Any = None,
) -> list[Tensor]:
    """Computes the products of one tensor with each of several; the options are those of matmul.

    Raises:
        ValueError: optional_output_tensor is given for more than one product.
    """
    if optional_output_tensor is not None and len(input_tensors_b) != 1:
        raise ValueError(f"optional_output_tensor is given for {len(input_tensors_b)} products; expected one")
    options = {
        "transpose_a": transpose_a, "transpose_b": transpose_b, "memory_config": memory_config, "dtype": dtype,
        "program_config": program_config, "activation": activation, "compute_kernel_config": compute_kernel_config,
        "core_grid": core_grid, "output_tile": output_tile, "optional_output_tensor": optional_output_tensor,
        "global_cb": global_cb, "sub_device_id": sub_device_id,
    }  # fmt: skip
    return [ops.matmul(input_tensor_a, each, **options) for each in input_tensors_b]


@composite(
    "memory_config sub_core_grids sub_device_id",
    golden="torch.nn.functional.silu(torch.clamp(gate, max=limit)) * torch.clamp(up, -limit, limit)",
)
def clamped_silu_glu(gate: Tensor, up: Tensor, limit: float) -> Tensor:
    """Computes silu(min(gate, limit)) * clamp(up, -limit, limit)."""
    return ops.silu(ops.minimum(gate, limit)) * ops.clamp(up, -limit, limit)


@composite(
    "out memory_config compute_kernel_config",
    golden="torch.stack([sum((1 - alpha) * alpha ** (t - s) * input_tensor[..., s] for s in range(t + 1)) "
    "for t in range(input_tensor.shape[-1])], -1)",
)
def ema(input_tensor: Tensor, alpha: float, *, core_grid: Any = None) -> Tensor:
    """Computes y[t] = alpha * y[t - 1] + (1 - alpha) * x[t] along the last dimension, from y = 0."""
    del core_grid
    size = input_tensor.shape[-1]
    if not size:
        return input_tensor + 0.0
    away = numbers(size, input_tensor, 1, 2) - numbers(size, input_tensor, 0, 2)
    reached = ops.ge(away, 0.0)
    weights = ops.where(reached, ops.pow(alpha, ops.maximum(away, 0.0)) * (1.0 - alpha), 0.0)
    rows = ops.reshape(input_tensor, [math.prod(input_tensor.shape[:-1]), size])
    return ops.reshape(ops.matmul(rows, weights), list(input_tensor.shape))
