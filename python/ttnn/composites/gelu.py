# SPDX-License-Identifier: Apache-2.0
"""Gradients of gelu, by its formulas."""

from __future__ import annotations

from _ttmlir_runtime.runtime import Tensor

from ..functions import FUNCTIONS
from ..library.modes import GeluVariant
from .frame import composite

_BIAS_GELU = "torch.nn.functional.gelu(input_tensor_a + input_tensor_b, approximate=gelu_kind(variant, approximate))"
_GELU = "torch.nn.functional.gelu(x, approximate=gelu_kind(variant, approximate))"


def _gradient(grad_tensor: Tensor, x: Tensor, variant: GeluVariant, approximate: str | None) -> Tensor:
    if not isinstance(variant, GeluVariant):
        raise TypeError(f"variant is {variant!r} of type {type(variant).__name__}; expected GeluVariant")
    if approximate not in (None, "none", "tanh"):
        raise ValueError(f"approximate is {approximate!r}; expected 'none' or 'tanh'")
    kind = approximate or ("tanh" if variant is GeluVariant.Tanh else "none")
    result: Tensor = FUNCTIONS["experimental.gelu_bw"](grad_tensor, x, approximate=kind)
    return result


@composite("memory_config input_grad", golden=f"gradient(lambda x: {_GELU}, grad_tensor, input_tensor)")
def gelu_bw(
    grad_tensor: Tensor,
    input_tensor: Tensor,
    *,
    variant: GeluVariant = GeluVariant.Accurate,
    approximate: str | None = None,
) -> list[Tensor]:
    """Computes the gradient of `gelu`.

    Args:
        variant: Tanh is the approximation by tanh; the others are computed alike.
        approximate: "none" or "tanh", instead of variant.
    """
    return [_gradient(grad_tensor, input_tensor, variant, approximate)]


@composite(
    "memory_config",
    golden=f"gradient(lambda input_tensor_a, input_tensor_b: {_BIAS_GELU}, grad_tensor, input_tensor_a, "
    "input_tensor_b)",
)
def bias_gelu_bw(
    grad_tensor: Tensor,
    input_tensor_a: Tensor,
    input_tensor_b: Tensor | float,
    *,
    variant: GeluVariant = GeluVariant.Accurate,
    approximate: str | None = None,
) -> list[Tensor]:
    """Computes the gradients of gelu(a + b): of the two tensors, or of one where the bias is a number.

    Args:
        variant: Tanh is the approximation by tanh; the others are computed alike.
        approximate: "none" or "tanh", instead of variant.
    """
    found = _gradient(grad_tensor, input_tensor_a + input_tensor_b, variant, approximate)
    return [found, found] if isinstance(input_tensor_b, Tensor) else [found]
