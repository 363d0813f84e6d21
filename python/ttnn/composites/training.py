# SPDX-License-Identifier: Apache-2.0
"""The functions `moreh_*` for training: losses, elements by index, optimizers, normalization."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from typing import Any

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import DataType, Layout, MemoryConfig

from .frame import composite, ops
from .moreh import norm_of, selected, sum_to
from .parts import axis_of, numbers, part_of

# Negative log likelihood.


def _chosen(target: Tensor, classes: int, ignore_index: int) -> Tensor:
    """Returns 1 for the class [batch, classes, ...] that a target [batch, ...] names, and 0 elsewhere."""
    shape = list(target.shape)
    ids = ops.to_layout(ops.typecast(target, DataType.FLOAT32), Layout.TILE)
    ids = ops.reshape(ids, [shape[0], 1, *shape[1:]])
    hit = ops.eq(ids, numbers(classes, ids, 1, len(shape) + 1))
    return ops.where(ops.eq(ids, float(ignore_index)), 0.0, hit)


def _weighted(chosen: Tensor, weight: Tensor | None) -> Tensor:
    if weight is None:
        return chosen
    return chosen * ops.reshape(weight, [1, chosen.shape[1]] + [1] * (len(chosen.shape) - 2))


@composite(
    "output_tensor memory_config compute_kernel_config",
    golden="torch.nn.functional.nll_loss(input_tensor, target_tensor.long(), weight_tensor, "
    "ignore_index=ignore_index, reduction=reduction)",
)
def moreh_nll_loss(
    input_tensor: Tensor,
    target_tensor: Tensor,
    reduction: str,
    *,
    weight_tensor: Tensor | None = None,
    divisor_tensor: Tensor | None = None,
    ignore_index: int = -100,
) -> Tensor:
    """Computes the negative log likelihood of targets [batch, ...] under logarithms [batch, classes, ...].

    Raises:
        ValueError: reduction is not "mean", "sum" or "none".
    """
    del divisor_tensor
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f'reduction is {reduction!r}; expected "mean", "sum" or "none"')
    weights = _weighted(_chosen(target_tensor, input_tensor.shape[1], ignore_index), weight_tensor)
    losses = ops.where(ops.eq(weights, 0.0), 0.0, ops.neg(input_tensor) * weights)
    if reduction == "none":
        return ops.sum(losses, 1, False)
    total = ops.sum(losses)
    return total if reduction == "sum" else total / ops.sum(weights)


_LIKE = "torch.zeros_like(input_grad_tensor)"


def _nll_gradient(target: Tensor, g: Tensor, weight: Any, like: Any, ignore_index: int, mean: bool) -> Tensor:
    if like is None and weight is None:
        raise ValueError("the number of classes is not given; expected weight_tensor or input_grad_tensor")
    classes = math.prod(weight.shape) if like is None else like.shape[1]
    weights = _weighted(_chosen(target, classes, ignore_index), weight)
    return ops.neg(weights) * g / ops.sum(weights) if mean else ops.neg(weights) * g


@composite(
    "input_grad_tensor memory_config compute_kernel_config",
    golden="gradient(lambda x: torch.nn.functional.nll_loss(x, target_tensor.long(), weight_tensor, "
    f"ignore_index=ignore_index, reduction='mean' if reduction_mean else 'sum'), output_grad_tensor, {_LIKE})[0]",
)
def moreh_nll_loss_backward(
    target_tensor: Tensor,
    output_grad_tensor: Tensor,
    reduction_mean: bool,
    *,
    weight_tensor: Tensor | None = None,
    input_grad_tensor: Tensor | None = None,
    divisor_tensor: Tensor | None = None,
    ignore_index: int = -100,
) -> Tensor:
    """Computes the gradient of `moreh_nll_loss` with reduction "mean" or "sum"."""
    del divisor_tensor
    g = ops.reshape(output_grad_tensor, [1] * (len(target_tensor.shape) + 1))
    return _nll_gradient(target_tensor, g, weight_tensor, input_grad_tensor, ignore_index, reduction_mean)


@composite(
    "input_grad_tensor memory_config compute_kernel_config",
    golden="gradient(lambda x: torch.nn.functional.nll_loss(x, target_tensor.long(), weight_tensor, "
    f"ignore_index=ignore_index, reduction='none'), output_grad_tensor, {_LIKE})[0]",
)
def moreh_nll_loss_unreduced_backward(
    target_tensor: Tensor,
    output_grad_tensor: Tensor,
    *,
    weight_tensor: Tensor | None = None,
    input_grad_tensor: Tensor | None = None,
    ignore_index: int = -100,
) -> Tensor:
    """Computes the gradient of `moreh_nll_loss` without reduction."""
    shape = list(target_tensor.shape)
    g = ops.reshape(output_grad_tensor, [shape[0], 1, *shape[1:]])
    return _nll_gradient(target_tensor, g, weight_tensor, input_grad_tensor, ignore_index, False)


# Elements by index, and the opposite of unfold.


@composite(
    "output memory_config",
    golden="input[tuple(index_tensors[index_dims.index(d)].long() if d in index_dims else slice(None) "
    "for d in range(input.dim()))]",
    wide=False,
)
def moreh_getitem(input: Tensor, index_tensors: Sequence[Tensor], index_dims: Sequence[int]) -> Tensor:
    """Returns input[..., i, j, ...] of index tensors [n] for dimensions that follow each other; those become one.

    Raises:
        ValueError: dimensions do not follow each other, or there is another number of index tensors.
    """
    dims, rank = list(index_dims), len(input.shape)
    if len(dims) != len(index_tensors) or not dims or dims != list(range(dims[0], dims[0] + len(dims))):
        raise ValueError(f"index_dims is {dims} of {len(index_tensors)} index tensors; expected dimensions in a row")
    first = axis_of(dims[0], rank)
    axis_of(dims[-1], rank)
    sizes, shape = [input.shape[each] for each in dims], list(input.shape)
    flat: Any = None
    for index, size in zip(index_tensors, sizes, strict=True):
        place = ops.to_layout(ops.typecast(index, DataType.INT32), Layout.TILE)
        place = ops.where(ops.lt(place, 0), place + size, place)
        flat = place if flat is None else flat * size + place
    rest = shape[:first], shape[first + len(dims) :]
    folded = ops.reshape(input, [*rest[0], math.prod(sizes), *rest[1]])
    count = math.prod(flat.shape)
    times = [*rest[0], 1, *rest[1]]
    lined = ops.reshape(flat, [count if each == first else 1 for each in range(len(times))])
    return ops.gather(folded, first, ops.typecast(ops.repeat(lined, times), DataType.UINT32))


@composite(
    "output memory_config",
    golden="torch.nn.functional.fold(input, tuple(output_size), tuple(kernel_size), tuple(dilation), tuple(padding), "
    "tuple(stride))",
)
def moreh_fold(
    input: Tensor,
    output: Tensor | None = None,
    output_size: Sequence[int] = (),
    kernel_size: Sequence[int] = (),
    dilation: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0),
    stride: Sequence[int] = (1, 1),
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """Adds up patches [batch, channels * kernel, places] to images [batch, channels, *output_size].

    Raises:
        ValueError: a parameter has not two numbers, or the patches are not as many as the places.
    """
    del memory_config, output  # of every function that has them
    for name, value in (("output_size", output_size), ("kernel_size", kernel_size), ("dilation", dilation),
                        ("padding", padding), ("stride", stride)):  # fmt: skip
        if len(value) != 2:
            raise ValueError(f"{name} is {list(value)}; expected two numbers")
    axes = range(2)
    counts = [(output_size[i] + 2 * padding[i] - dilation[i] * (kernel_size[i] - 1) - 1) // stride[i] + 1 for i in axes]
    area = math.prod(kernel_size)
    if len(input.shape) != 3 or input.shape[1] % area or input.shape[2] != math.prod(counts):
        raise ValueError(f"input has shape {list(input.shape)}; expected [batch, n * {area}, {math.prod(counts)}]")
    batch, channels = input.shape[0], input.shape[1] // area
    patches = ops.reshape(input, [batch, channels, area, *counts])
    padded = [output_size[i] + 2 * padding[i] for i in axes]
    total: Any = None
    for at in range(area):
        offsets = [at // kernel_size[1] * dilation[0], at % kernel_size[1] * dilation[1]]
        part = ops.reshape(part_of(patches, 2, at, at + 1), [batch, channels, counts[0], 1, counts[1], 1])
        # Zeros between the places of a stride, and around.
        part = ops.pad(part, [0, 0] * 3 + [0, stride[0] - 1] + [0, 0] + [0, stride[1] - 1], 0.0)
        wide = [counts[i] * stride[i] for i in axes]
        part = ops.reshape(part, [batch, channels, *wide])
        kept = [min(wide[i], padded[i] - offsets[i]) for i in axes]
        part = part_of(part_of(part, 2, 0, kept[0]), 3, 0, kept[1])
        around = [n for i in axes for n in (offsets[i], padded[i] - offsets[i] - kept[i])]
        part = ops.pad(part, [0, 0, 0, 0, *around], 0.0)
        total = part if total is None else total + part
    total = part_of(total, 2, padding[0], padding[0] + output_size[0])
    return part_of(total, 3, padding[1], padding[1] + output_size[1])


# Norms of gradients, optimizers.


@composite("total_norm memory_config compute_kernel_config", golden="clip_grad_norm(inputs, max_norm, norm_type)")
def moreh_clip_grad_norm(
    inputs: Sequence[Tensor], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    """Returns the norm of all gradients together, and scales them in place so that it is at most `max_norm`.

    Raises:
        ValueError: inputs is empty, or error_if_nonfinite is True and the norm is infinite or NaN.
    """
    if not inputs:
        raise ValueError("inputs is empty; expected at least one tensor")
    norms = [ops.reshape(norm_of(each, norm_type, range(len(each.shape)), False), [1]) for each in inputs]
    total = norm_of(norms[0] if len(norms) == 1 else ops.concat(norms, dim=0), norm_type, [0], True)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise ValueError(f"the norm of order {norm_type} is {total.item()}; expected a finite one")
    factor = ops.minimum(max_norm / (total + 1e-6), 1.0)
    for each in inputs:
        scaled = each * ops.reshape(factor, [1] * len(each.shape))
        ops.typecast(scaled, each.dtype, output_tensor=each)
    return ops.reshape(total, [])


# Defaults of lr, beta1, beta2, eps and weight_decay, without and with decoupled weight decay.
_ADAM_OPTIONS = ("lr", "beta1", "beta2", "eps", "weight_decay", "step", "amsgrad")
_ADAM = {False: (1e-3, 0.9, 0.999, 1e-8, 0.0), True: (1e-3, 0.9, 0.999, 1e-8, 1e-2)}


def _adam(name: str, decoupled: bool) -> None:
    def compute(
        param_in: Tensor,
        grad: Tensor,
        exp_avg_in: Tensor,
        exp_avg_sq_in: Tensor,
        *,
        lr: float | None = _ADAM[decoupled][0],
        beta1: float | None = _ADAM[decoupled][1],
        beta2: float | None = _ADAM[decoupled][2],
        eps: float | None = _ADAM[decoupled][3],
        weight_decay: float | None = _ADAM[decoupled][4],
        step: int | None = 0,
        amsgrad: bool | None = False,
        max_exp_avg_sq_in: Tensor | None = None,
    ) -> list[Tensor | None]:
        if not step or step < 1:
            raise ValueError(f"step is {step}; expected the number of the step, from 1 on")
        if amsgrad and max_exp_avg_sq_in is None:
            raise ValueError("amsgrad is True without max_exp_avg_sq_in; expected the largest squares so far")
        lr, beta1, beta2, eps, weight_decay = (
            usual if each is None else each
            for each, usual in zip((lr, beta1, beta2, eps, weight_decay), _ADAM[decoupled], strict=True)
        )
        param, gradient = param_in, grad
        if decoupled:
            param = param * (1.0 - lr * weight_decay)
        elif weight_decay:
            gradient = gradient + param * weight_decay
        mean = exp_avg_in * beta1 + gradient * (1.0 - beta1)
        square = exp_avg_sq_in * beta2 + gradient * gradient * (1.0 - beta2)
        largest = ops.maximum(max_exp_avg_sq_in, square) if amsgrad else None
        root = ops.sqrt(largest if amsgrad else square) / math.sqrt(1.0 - beta2**step) + eps
        return [param - mean / root * (lr / (1.0 - beta1**step)), mean, square, largest]

    decay = "of the parameters" if decoupled else "added to the gradient"
    compute.__doc__ = f"""Makes a step of {name}, whose weight decay is {decay}.

    Returns:
        The parameters, the means, the means of squares, and the largest of these or None.
    Raises:
        ValueError: step is less than 1, or amsgrad is without the largest squares.
    """
    if decoupled:  # those of the library are given by place here, and by name in moreh_adam
        own = inspect.signature(compute)
        plain = inspect.Parameter.POSITIONAL_OR_KEYWORD
        options = [p.replace(kind=plain) if p.name in _ADAM_OPTIONS else p for p in own.parameters.values()]
        compute.__signature__ = own.replace(parameters=options)  # type: ignore[attr-defined]
    composite(
        "param_out exp_avg_out exp_avg_sq_out max_exp_avg_sq_out memory_config compute_kernel_config",
        golden=f"optimizer_step('{name}', param_in, grad, [exp_avg_in, exp_avg_sq_in, max_exp_avg_sq_in], step, "
        "lr=lr, betas=(beta1, beta2), eps=eps, weight_decay=weight_decay, amsgrad=amsgrad)",
        name=f"moreh_{name.lower()}",
    )(compute)


for _name, _decoupled in (("Adam", False), ("AdamW", True)):
    _adam(_name, _decoupled)


@composite(
    "param_out momentum_buffer_out param_out_memory_config momentum_buffer_out_memory_config compute_kernel_config",
    golden="optimizer_step('SGD', param_in, grad, [momentum_buffer_in], 0, lr=lr, momentum=momentum, "
    "dampening=dampening, weight_decay=weight_decay, nesterov=nesterov)",
)
def moreh_sgd(
    param_in: Tensor,
    grad: Tensor,
    momentum_buffer_in: Tensor | None = None,
    param_out: Tensor | None = None,
    momentum_buffer_out: Tensor | None = None,
    lr: float = 0.001,
    momentum: float = 0.0,
    dampening: float = 0.0,
    weight_decay: float = 0.0,
    nesterov: bool = False,
    *,
    momentum_initialized: bool,
) -> list[Tensor | None]:
    """Makes a step of stochastic gradient descent: the parameters, and the momentum or None."""
    del param_out, momentum_buffer_out
    gradient = grad + param_in * weight_decay if weight_decay else grad
    buffer = None
    if momentum:
        buffer = gradient
        if momentum_initialized:
            if momentum_buffer_in is None:
                raise ValueError("momentum_initialized is True without momentum_buffer_in; expected the momentum")
            buffer = momentum_buffer_in * momentum + gradient * (1.0 - dampening)
        gradient = gradient + buffer * momentum if nesterov else buffer
    return [param_in - gradient * lr, buffer if buffer is not grad else grad + 0.0]


# Normalization.


def _moments(x: Tensor, axes: Sequence[int], eps: float) -> tuple[Tensor, Tensor]:
    mean = ops.mean(x, list(axes), True)
    rest = x - mean
    return mean, ops.rsqrt(ops.mean(rest * rest, list(axes), True) + eps)


def _normalized_gradient(g: Tensor, x_hat: Tensor, rstd: Tensor, axes: Sequence[int]) -> Tensor:
    """Returns the gradient of x in its normalized form, of the gradient g of that form."""
    return (g - ops.mean(g, list(axes), True) - x_hat * ops.mean(g * x_hat, list(axes), True)) * rstd


def _affine(x: Tensor, gamma: Tensor | None, beta: Tensor | None) -> Tensor:
    scaled = x if gamma is None else x * gamma
    return scaled if beta is None else scaled + beta


def _normalized_axes(shape: Sequence[int], normalized_dims: int) -> list[int]:
    rank = len(shape)
    if not 1 <= normalized_dims <= rank:
        raise ValueError(f"normalized_dims is {normalized_dims}; expected 1 to {rank}")
    return list(range(rank - normalized_dims, rank))


@composite(
    "output mean rstd memory_config compute_kernel_config",
    golden="layer_norm(input, normalized_dims, eps, gamma, beta)",
)
def moreh_layer_norm(
    input: Tensor, normalized_dims: int, eps: float = 1e-5, gamma: Tensor | None = None, beta: Tensor | None = None
) -> list[Tensor | None]:
    """Computes layer normalization over the last dimensions: the result, the means, the inverse deviations."""
    axes = _normalized_axes(input.shape, normalized_dims)
    mean, rstd = _moments(input, axes, eps)
    kept = list(input.shape)[: axes[0]]
    return [_affine((input - mean) * rstd, gamma, beta), ops.reshape(mean, kept), ops.reshape(rstd, kept)]


@composite(
    "input_grad gamma_grad beta_grad memory_config compute_kernel_config",
    golden="layer_norm_gradients(output_grad, input, normalized_dims, gamma)",
)
def moreh_layer_norm_backward(
    output_grad: Tensor, input: Tensor, mean: Tensor, rstd: Tensor, normalized_dims: int, *, gamma: Tensor | None = None
) -> list[Tensor | None]:
    """Computes the gradients of `moreh_layer_norm` in the input, gamma and beta; the last two None without gamma."""
    axes = _normalized_axes(input.shape, normalized_dims)
    opened = list(input.shape)[: axes[0]] + [1] * normalized_dims
    mean, rstd = ops.reshape(mean, opened), ops.reshape(rstd, opened)
    x_hat = (input - mean) * rstd
    g = output_grad if gamma is None else output_grad * gamma
    result = _normalized_gradient(g, x_hat, rstd, axes)
    if gamma is None:
        return [result, None, None]
    return [result, sum_to(output_grad * x_hat, gamma.shape), sum_to(output_grad, gamma.shape)]


def _grouped(x: Tensor, num_groups: int) -> Tensor:
    shape = list(x.shape)
    if len(shape) != 4 or num_groups < 1 or shape[1] % num_groups:
        raise ValueError(f"num_groups is {num_groups}; expected a divisor of the channels of {shape}")
    return ops.reshape(x, [shape[0], num_groups, shape[1] // num_groups * shape[2] * shape[3]])


def _channels(x: Tensor) -> Tensor:
    return ops.reshape(x, [1, math.prod(x.shape), 1, 1])


@composite(
    "output mean rstd memory_config mean_memory_config rstd_memory_config compute_kernel_config",
    golden="required(are_required_outputs, group_norm(input, num_groups, eps, gamma, beta))",
)
def moreh_group_norm(
    input: Tensor,
    num_groups: int,
    eps: float = 1e-5,
    gamma: Tensor | None = None,
    beta: Tensor | None = None,
    *,
    are_required_outputs: Sequence[bool] = (True, False, False),
) -> list[Tensor | None]:
    """Computes group normalization of [batch, channels, height, width] with gamma and beta [1, 1, 1, channels].

    Returns:
        The result, the means and the inverse deviations [1, 1, batch, num_groups]; None for what is not required.
    """
    groups = _grouped(input, num_groups)
    mean, rstd = _moments(groups, [2], eps)
    small = [1, 1, input.shape[0], num_groups]
    return selected(
        are_required_outputs,
        lambda: _affine(
            ops.reshape((groups - mean) * rstd, list(input.shape)),
            None if gamma is None else _channels(gamma),
            None if beta is None else _channels(beta),
        ),
        lambda: ops.reshape(mean, small),
        lambda: ops.reshape(rstd, small),
    )


@composite(
    "input_grad gamma_grad beta_grad input_grad_memory_config gamma_grad_memory_config beta_grad_memory_config "
    "compute_kernel_config",
    golden="required(are_required_outputs, group_norm_gradients(output_grad, input, num_groups, gamma))",
)
def moreh_group_norm_backward(
    output_grad: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    num_groups: int,
    *,
    are_required_outputs: Sequence[bool] = (True, False, False),
    gamma: Tensor | None = None,
) -> list[Tensor | None]:
    """Computes the gradients of `moreh_group_norm` in the input, gamma and beta [1, 1, 1, channels]."""
    shape = list(input.shape)
    opened = [shape[0], num_groups, 1]
    deviation = ops.reshape(rstd, opened)
    x_hat = (_grouped(input, num_groups) - ops.reshape(mean, opened)) * deviation
    g = output_grad if gamma is None else output_grad * _channels(gamma)
    by_channel = [1, 1, 1, shape[1]]
    return selected(
        are_required_outputs,
        lambda: ops.reshape(_normalized_gradient(_grouped(g, num_groups), x_hat, deviation, [2]), shape),
        lambda: ops.reshape(ops.sum(output_grad * ops.reshape(x_hat, shape), [0, 2, 3], False), by_channel),
        lambda: ops.reshape(ops.sum(output_grad, [0, 2, 3], False), by_channel),
    )
