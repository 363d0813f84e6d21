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
    name = getattr(operation, "__name__", str(operation))
    expression = GOLDENS.get(name, "")
    if COMPOSITES.get(name) is not operation or not expression:
        raise RuntimeError(f"ttnn.get_golden_function: {name} has no golden function")
    signature = inspect.signature(operation)
    code = compile(expression, f"<golden of ttnn.{name}>", "eval")

    def golden(*args: Any, **kwargs: Any) -> Any:
        import torch

        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return eval(code, {"torch": torch, "gradient": gradient, **bound.arguments})

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
