# SPDX-License-Identifier: Apache-2.0
"""Golden functions: what a function of this package computes, by PyTorch."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .composites import COMPOSITES, GOLDENS


def get_golden_function(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function of PyTorch tensors that computes what `operation` does, with the same parameters.

    Args:
        operation: a function of this package that is made of others, as `ttnn.celu`.

    Raises:
        RuntimeError: there is none.
    """
    if attached := getattr(operation, "golden_function", None):
        found: Callable[..., Any] = attached
        return found
    name = getattr(operation, "__name__", str(operation))
    name = f"{getattr(operation, '__module__', '')}.{name}".removeprefix("ttnn.")
    expression = GOLDENS.get(name, "")
    if COMPOSITES.get(name) is not operation or not expression:
        raise RuntimeError(f"ttnn.get_golden_function: {name} has no golden function")
    signature = inspect.signature(operation)
    code = compile(expression, f"<golden of ttnn.{name}>", "eval")

    def golden(*args: Any, **kwargs: Any) -> Any:
        import torch

        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return eval(code, {"torch": torch, **HELPERS, **bound.arguments})

    golden.__name__ = golden.__qualname__ = name
    return golden


def gradient(forward: Callable[..., Any], grad_tensor: Any, *inputs: Any) -> list[Any]:
    """Returns PyTorch's gradients of `forward` in those inputs that are tensors of floats."""
    import torch

    leaves = [each.detach().clone().requires_grad_() if isinstance(each, torch.Tensor) else each for each in inputs]
    tensors = [each for each in leaves if isinstance(each, torch.Tensor)]
    result = forward(*leaves)
    if not result.requires_grad:  # a function that is constant everywhere
        return [torch.zeros_like(each) for each in tensors]
    found = torch.autograd.grad(result, tensors, grad_tensor.reshape(result.shape), allow_unused=True)
    return [torch.zeros_like(t) if g is None else g for t, g in zip(tensors, found, strict=True)]


def axes(dim: Any, rank: int) -> list[int]:
    """Returns the dimensions of a reduction; all where none is named."""
    return list(range(rank)) if dim is None else [dim] if isinstance(dim, int) else list(dim)


def optimizer_step(name: str, parameter: Any, grad: Any, states: list[Any], step: int, **options: Any) -> list[Any]:
    """Returns the parameter and the states after a step of one of PyTorch's optimizers; None for absent states."""
    import torch

    leaf = parameter.detach().clone().requires_grad_()
    leaf.grad = grad.clone()
    optimizer = getattr(torch.optim, name)([leaf], **options)
    keys = ["momentum_buffer"] if name == "SGD" else ["exp_avg", "exp_avg_sq", "max_exp_avg_sq"]
    state = optimizer.state[leaf]
    state.update({key: value.clone() for key, value in zip(keys, states, strict=True) if value is not None})
    if name != "SGD":
        state["step"] = torch.tensor(float(step - 1))
    optimizer.step()
    return [leaf.detach(), *(optimizer.state[leaf].get(key) for key in keys)]


def clip_grad_norm(inputs: list[Any], max_norm: float, norm_type: float) -> Any:
    """Returns the norm that PyTorch clips gradients by."""
    import torch

    leaves = [each.detach().clone() for each in inputs]
    for leaf, each in zip(leaves, inputs, strict=True):
        leaf.grad = each.clone()
    return torch.nn.utils.clip_grad_norm_(leaves, max_norm, norm_type)


def layer_norm(x: Any, dims: int, eps: float, gamma: Any, beta: Any) -> list[Any]:
    """Returns PyTorch's layer normalization, and its means and inverse deviations."""
    import torch

    result, mean, rstd = torch.native_layer_norm(x, list(x.shape[-dims:]), gamma, beta, eps)
    return [result, mean.reshape(x.shape[:-dims]), rstd.reshape(x.shape[:-dims])]


def layer_norm_gradients(grad: Any, x: Any, dims: int, gamma: Any) -> list[Any]:
    """Returns PyTorch's gradients of layer normalization; None of the weights without them."""
    import torch

    inputs = [x] if gamma is None else [x, gamma, torch.zeros_like(gamma)]

    def forward(x: Any, weight: Any = None, bias: Any = None) -> Any:
        return torch.nn.functional.layer_norm(x, x.shape[-dims:], weight, bias)

    return [*gradient(forward, grad, *inputs), None, None][:3]


def group_norm(x: Any, groups: int, eps: float, gamma: Any, beta: Any) -> list[Any]:
    """Returns PyTorch's group normalization, and its means and inverse deviations."""
    import torch

    batch, channels = x.shape[:2]
    weights = [None if each is None else each.reshape(-1) for each in (gamma, beta)]
    area = x.shape[2] * x.shape[3]
    result, mean, rstd = torch.native_group_norm(x, weights[0], weights[1], batch, channels, area, groups, eps)
    return [result, mean.reshape(1, 1, batch, groups), rstd.reshape(1, 1, batch, groups)]


def group_norm_gradients(grad: Any, x: Any, groups: int, gamma: Any) -> list[Any]:
    """Returns PyTorch's gradients of group normalization in the input, the weight and the bias."""
    import torch

    weight = torch.ones_like(x[:1, :, :1, :1]) if gamma is None else gamma

    def forward(x: Any, weight: Any, bias: Any) -> Any:
        return torch.nn.functional.group_norm(x, groups, weight.reshape(-1), bias.reshape(-1))

    shape = [1, 1, 1, x.shape[1]]
    return gradient(forward, grad, x, weight.reshape(shape), torch.zeros_like(weight).reshape(shape))


def indexed_fill(places: Any, a: Any, b: Any, dim: int) -> Any:
    """Returns PyTorch's copy of rows to places."""
    return a.index_copy(dim, places.long().flatten(), b)


def required(flags: list[bool], results: list[Any]) -> list[Any]:
    """Returns results, and None for those that are not required."""
    return [each if flag else None for flag, each in zip(flags, results, strict=True)]


# Functions that the expressions of GOLDENS call in addition to those of torch.
HELPERS = {
    each.__name__: each
    for each in (
        axes, clip_grad_norm, gradient, group_norm, group_norm_gradients, indexed_fill, layer_norm,
        layer_norm_gradients, optimizer_step, required,
    )
}  # fmt: skip
