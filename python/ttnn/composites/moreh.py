# SPDX-License-Identifier: Apache-2.0
"""The functions `moreh_*` that create, multiply and reduce tensors, and softmax, with their gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import DataType, Layout, MemoryConfig

from ..library.steps import flipped
from .frame import MOREH, composite, ops
from .parts import axis_of
from .shapes import expand
from .statistics import axes_of

BOTH = [True, True]


def sum_to(gradient: Tensor, shape: Sequence[int]) -> Tensor:
    """Returns a gradient summed over the dimensions in which a tensor of a shape was broadcast."""
    own = [1] * (len(gradient.shape) - len(shape)) + list(shape)
    axes = [each for each, (size, kept) in enumerate(zip(gradient.shape, own, strict=True)) if size != kept]
    return ops.reshape(ops.sum(gradient, axes, True) if axes else gradient + 0.0, list(shape))


def selected(required: Sequence[bool], *gradients: Callable[[], Tensor]) -> list[Tensor | None]:
    """Computes those gradients that are required.

    Raises:
        ValueError: required has another number of flags.
    """
    if len(required) != len(gradients):
        raise ValueError(f"are_required_outputs has {len(required)} flags; expected {len(gradients)}")
    return [compute() if needed else None for compute, needed in zip(gradients, required, strict=True)]


# Creation.


@composite("output", wide=False, golden="torch.arange(start, end, step)")
def moreh_arange(
    start: float,
    end: float,
    step: float = 1,
    device: Device | None = None,
    *,
    untilize_out: bool = False,
    dtype: DataType = DataType.BFLOAT16,
    memory_config: MemoryConfig | None = None,
    output: Tensor | None = None,
) -> Tensor:
    """Makes start, start + step, ... before end, in tiles."""
    if not step or (end - start) / step < 0:
        raise ValueError(f"start is {start}, end {end} and step {step}; step leads from start to end")
    count = math.ceil((end - start) / step)
    layout = Layout.ROW_MAJOR if untilize_out else Layout.TILE
    counted = ops.arange(0, count, 1, dtype=DataType.FLOAT32, device=device, layout=Layout.ROW_MAJOR)
    result = ops.to_layout(counted, layout) * float(step) + float(start)
    return ops.typecast(result, dtype, memory_config=memory_config)


@composite(wide=False, golden="torch.full(tuple(shape), fill_value)")
def moreh_full(
    shape: Sequence[int],
    fill_value: float,
    device: Device,
    *,
    dtype: DataType = DataType.BFLOAT16,
    layout: Layout = Layout.TILE,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """Makes a tensor of one number."""
    return ops.full(shape, fill_value, dtype=dtype, layout=layout, device=device, memory_config=memory_config)


@composite(wide=False, golden="torch.full_like(input, fill_value)")
def moreh_full_like(
    input: Tensor,
    fill_value: float,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """Makes a tensor of one number, in what is not given like another."""
    return ops.full(
        input.shape,
        fill_value,
        dtype=dtype or input.dtype,
        layout=input.layout if layout is None else layout,
        device=input.device(),
        memory_config=memory_config,
    )


# Products.


@composite(MOREH, golden="torch.abs(input) ** p")
def moreh_abs_pow(input: Tensor, p: float) -> Tensor:
    """Computes |x| ** p."""
    return ops.pow(ops.abs(input), p)


@composite(MOREH, golden="torch.bmm(input, mat2)")
def moreh_bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Computes the products of matrices [batch, n, m] and [batch, m, k]."""
    return ops.matmul(input, mat2)


def _matmul_grads(g: Tensor, a: Tensor, b: Tensor) -> tuple[Callable[[], Tensor], Callable[[], Tensor]]:
    return (
        lambda: sum_to(ops.matmul(g, b, transpose_b=True), a.shape),
        lambda: sum_to(ops.matmul(a, g, transpose_a=True), b.shape),
    )


@composite(
    "input_grad mat2_grad input_grad_memory_config mat2_grad_memory_config compute_kernel_config",
    golden="gradient(torch.bmm, output_grad, input, mat2)",
)
def moreh_bmm_backward(
    output_grad: Tensor, input: Tensor, mat2: Tensor, *, are_required_outputs: Sequence[bool] = BOTH
) -> list[Tensor | None]:
    """Computes the gradients of `moreh_bmm`."""
    return selected(are_required_outputs, *_matmul_grads(output_grad, input, mat2))


@composite(MOREH, golden="torch.dot(input_tensor_a.reshape(-1), input_tensor_b.reshape(-1)).reshape(1, 1, 1, 1)")
def moreh_dot(input_tensor_a: Tensor, input_tensor_b: Tensor, *, dtype: DataType | None = None) -> Tensor:
    """Computes the sum of products of two tensors [1, 1, 1, n]: [1, 1, 1, 1]."""
    result = ops.reshape(ops.sum(input_tensor_a * input_tensor_b), [1, 1, 1, 1])
    return result if dtype is None else ops.typecast(result, dtype)


@composite(
    "input_grad other_grad memory_config",
    golden="gradient(lambda a, b: torch.dot(a.reshape(-1), b.reshape(-1)), output_grad, input, other)",
)
def moreh_dot_backward(output_grad: Tensor, input: Tensor, other: Tensor) -> list[Tensor | None]:
    """Computes the gradients of `moreh_dot`."""
    g = ops.reshape(output_grad, [1] * len(input.shape))
    return [g * other, g * input]


@composite(
    MOREH,
    golden="torch.matmul(input.mT if transpose_input else input, other.mT if transpose_other else other) "
    "+ (0 if bias is None else bias)",
)
def moreh_matmul(
    input: Tensor,
    other: Tensor,
    *,
    transpose_input: bool = False,
    transpose_other: bool = False,
    bias: Tensor | None = None,
) -> Tensor:
    """Computes the product of two tensors, with the bias added."""
    product = ops.matmul(input, other, transpose_a=transpose_input, transpose_b=transpose_other)
    return product if bias is None else product + bias


@composite(
    "input_a_grad input_b_grad memory_config compute_kernel_config",
    golden="gradient(torch.matmul, output_grad, input_a, input_b)",
)
def moreh_matmul_backward(
    output_grad: Tensor, input_a: Tensor, input_b: Tensor, *, are_required_outputs: Sequence[bool] = BOTH
) -> list[Tensor | None]:
    """Computes the gradients of `moreh_matmul` of tensors with two dimensions or more."""
    return selected(are_required_outputs, *_matmul_grads(output_grad, input_a, input_b))


@composite(MOREH, golden="torch.nn.functional.linear(input, weight, None if bias is None else bias.reshape(-1))")
def moreh_linear(input: Tensor, weight: Tensor, *, bias: Tensor | None = None) -> Tensor:
    """Computes input @ weight^T + bias of a weight [out, in] and a bias [1, out] or [1, 1]."""
    product = ops.matmul(input, weight, transpose_b=True)
    return product if bias is None else product + bias


def _bias_gradient(g: Tensor, bias: Any) -> Tensor:
    return sum_to(g if math.prod(bias.shape) > 1 else ops.reshape(ops.sum(g), [1, 1]), bias.shape)


@composite(
    "input_grad weight_grad bias_grad input_grad_memory_config weight_grad_memory_config bias_grad_memory_config "
    "compute_kernel_config",
    golden="gradient(lambda a, w, b: a @ w.mT + (0 if b is None else b), output_grad, input, weight, bias)",
)
def moreh_linear_backward(
    output_grad: Tensor,
    input: Tensor,
    weight: Tensor,
    *,
    are_required_outputs: Sequence[bool] = (True, True, True),
    bias: Tensor | None = None,
) -> list[Tensor | None]:
    """Computes the gradients of `moreh_linear`; that of the bias is None without one."""
    g = ops.reshape(output_grad, [-1, output_grad.shape[-1]])
    x = ops.reshape(input, [-1, input.shape[-1]])
    needs = list(are_required_outputs)
    if len(needs) == 3 and bias is None:
        needs[2] = False
    return selected(
        needs,
        lambda: ops.matmul(output_grad, weight),
        lambda: ops.matmul(g, x, transpose_a=True),
        lambda: _bias_gradient(g, bias),
    )


# Reductions.


@composite("output memory_config", golden="torch.cumsum(input, dim)")
def moreh_cumsum(input: Tensor, dim: int) -> Tensor:
    """Computes sums of the elements up to each along a dimension."""
    return ops.cumsum(input, dim)


@composite(
    "input_grad memory_config",
    golden="gradient(lambda x: torch.cumsum(x, dim), output_grad, torch.zeros_like(output_grad))[0]",
)
def moreh_cumsum_backward(output_grad: Tensor, dim: int) -> Tensor:
    """Computes the gradient of `moreh_cumsum`: sums of the elements from each on."""
    axis = axis_of(dim, len(output_grad.shape))
    return flipped(ops.cumsum(flipped(output_grad, axis), axis), axis)


def _opened(gradient: Tensor, axes: Sequence[int], keepdim: bool, rank: int) -> Tensor:
    """Returns the gradient of a reduction with the dimensions that it took away, of size 1."""
    if keepdim:
        return gradient
    sizes = iter(list(gradient.shape))
    return ops.reshape(gradient, [1 if each in axes else next(sizes) for each in range(rank)])


@composite(
    MOREH,
    golden="(torch.sum(input, axes(dim, input.dim()), keepdim=keepdim) / divisor) if divisor else "
    "torch.mean(input, axes(dim, input.dim()), keepdim=keepdim)",
)
def moreh_mean(
    input: Tensor, *, dim: int | Sequence[int] | None = None, keepdim: bool = False, divisor: int | None = None
) -> Tensor:
    """Computes the mean over dimensions, or over all; with a divisor the sum divided by it."""
    axes = axes_of(dim, len(input.shape))
    if divisor is None:
        return ops.mean(input, axes, keepdim)
    return ops.sum(input, axes, keepdim) / float(divisor)


@composite(
    "input_grad memory_config compute_kernel_config",
    golden="gradient(lambda x: torch.mean(x, axes(dim, x.dim()), keepdim=keepdim), output_grad, "
    "torch.zeros(tuple(input_grad_shape), dtype=output_grad.dtype))[0]",
)
def moreh_mean_backward(
    output_grad: Tensor,
    *,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    input_grad_shape: Sequence[int] | None = None,
    input_grad: Tensor | None = None,
) -> Tensor:
    """Computes the gradient of `moreh_mean`; its shape is that of `input_grad` or `input_grad_shape`."""
    shape = _shape_of(input_grad, input_grad_shape)
    axes = axes_of(dim, len(shape))
    count = math.prod(shape[each] for each in axes)
    return expand(_opened(output_grad, axes, keepdim, len(shape)) / float(max(count, 1)), shape)


def _shape_of(tensor: Tensor | None, shape: Sequence[int] | None) -> list[int]:
    if tensor is None and shape is None:
        raise ValueError("the shape of the gradient is not given; expected input_grad, or the shape or the input")
    return list(shape if tensor is None else tensor.shape)  # type: ignore[arg-type]


@composite(
    "input_grad memory_config compute_kernel_config",
    golden="gradient(lambda x: torch.sum(x, axes(dim, x.dim()), keepdim=keepdim), output_grad, input)[0]",
)
def moreh_sum_backward(
    output_grad: Tensor,
    *,
    input: Tensor | None = None,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    input_grad: Tensor | None = None,
) -> Tensor:
    """Computes the gradient of `moreh_sum`; its shape is that of `input_grad` or `input`."""
    shape = _shape_of(input_grad, None if input is None else list(input.shape))
    return expand(_opened(output_grad, axes_of(dim, len(shape)), keepdim, len(shape)) + 0.0, shape)


def norm_of(x: Tensor, p: float, axes: Sequence[int], keepdim: bool) -> Tensor:
    """Computes the p-norm over dimensions: their count for 0, the largest and smallest for the infinities."""
    magnitude = ops.abs(x)
    if math.isinf(p):
        return (ops.max if p > 0 else ops.min)(magnitude, list(axes), keepdim)
    if p == 0:
        return ops.sum(ops.ne(magnitude, 0.0), list(axes), keepdim)
    if p == 1:
        return ops.sum(magnitude, list(axes), keepdim)
    powers = ops.sum(magnitude * magnitude if p == 2 else ops.pow(magnitude, p), list(axes), keepdim)
    return ops.sqrt(powers) if p == 2 else ops.pow(powers, 1.0 / p)


@composite(MOREH, golden="torch.linalg.vector_norm(input, p, dim, keepdim)")
def moreh_norm(input: Tensor, p: float, *, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor:
    """Computes the p-norm over dimensions, or over all."""
    return norm_of(input, p, axes_of(dim, len(input.shape)), keepdim)


@composite(
    "input_grad memory_config compute_kernel_config",
    golden="gradient(lambda x: torch.linalg.vector_norm(x, p, dim, keepdim), output_grad, input)[0]",
)
def moreh_norm_backward(
    input: Tensor,
    output: Tensor,
    output_grad: Tensor,
    p: float,
    *,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
) -> Tensor:
    """Computes the gradient of `moreh_norm`; `output` is its result. 0 where the norm is 0."""
    axes = axes_of(dim, len(input.shape))
    norm, g = (_opened(each, axes, keepdim, len(input.shape)) for each in (output, output_grad))
    sign, magnitude = ops.sign(input), ops.abs(input)
    if p == 0:
        return g * input * 0.0
    if math.isinf(p):
        ties = ops.eq(magnitude, norm)
        return g * sign * ties / ops.sum(ties, axes, True)
    if p == 1:
        return g * sign
    # |x| ** (p - 1) / norm ** (p - 1); a power of 0 is infinite where p is less than 1.
    ratio = magnitude / norm
    slope = ratio if p == 2 else ops.pow(ratio, p - 1.0)
    return ops.where(ops.logical_or(ops.eq(norm, 0.0), ops.eq(magnitude, 0.0)), 0.0, g * sign * slope)


# Softmax.


def _log_softmax(x: Tensor, dim: int) -> Tensor:
    shifted = x - ops.max(x, dim, True)
    return shifted - ops.log(ops.sum(ops.exp(shifted), dim, True))


_SOFTMAX: dict[str, tuple[Callable[[Tensor, int], Tensor], Callable[[Tensor, Tensor, int], Tensor], str, str]] = {
    "softmax": (
        lambda x, dim: ops.softmax(x, dim=dim),
        lambda y, g, dim: y * (g - ops.sum(y * g, dim, True)),
        "torch.softmax(input_tensor, dim)",
        "torch.ops.aten._softmax_backward_data(output_grad_tensor, output_tensor, dim, output_tensor.dtype)",
    ),
    "softmin": (
        lambda x, dim: ops.softmax(ops.neg(x), dim=dim),
        lambda y, g, dim: y * (ops.sum(y * g, dim, True) - g),
        "torch.nn.functional.softmin(input_tensor, dim)",
        "-torch.ops.aten._softmax_backward_data(output_grad_tensor, output_tensor, dim, output_tensor.dtype)",
    ),
    "logsoftmax": (
        _log_softmax,
        lambda y, g, dim: g - ops.exp(y) * ops.sum(g, dim, True),
        "torch.log_softmax(input_tensor, dim)",
        "torch.ops.aten._log_softmax_backward_data(output_grad_tensor, output_tensor, dim, output_tensor.dtype)",
    ),
}


def _softmax_pair(name: str) -> None:
    forward, backward, golden, golden_backward = _SOFTMAX[name]

    def compute(input_tensor: Tensor, dim: int, *, op: Any = None, strategy: Any = None) -> Tensor:
        del op, strategy
        return forward(input_tensor, axis_of(dim, len(input_tensor.shape)))

    def gradient(
        output_tensor: Tensor, output_grad_tensor: Tensor, dim: int, *, op: Any = None, strategy: Any = None
    ) -> Tensor:
        del op, strategy
        return backward(output_tensor, output_grad_tensor, axis_of(dim, len(output_tensor.shape)))

    compute.__doc__ = f"Computes {name} over a dimension. `op` and `strategy` are of the hardware."
    gradient.__doc__ = f"Computes the gradient of {name}, whose result is `output_tensor`."
    options = "memory_config compute_kernel_config"
    composite(f"output_tensor {options}", golden=golden, name=f"moreh_{name}")(compute)
    composite(f"input_grad_tensor {options}", golden=golden_backward, name=f"moreh_{name}_backward")(gradient)


for _name in _SOFTMAX:
    _softmax_pair(_name)
