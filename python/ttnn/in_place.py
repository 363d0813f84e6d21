# SPDX-License-Identifier: Apache-2.0
"""Functions that write their result to their first tensor: `add_`, `gt_` and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from _ttmlir_runtime.runtime import Tensor

from .functions import FUNCTIONS

_BINARY = (
    "add", "sub", "subtract", "mul", "multiply", "div", "divide", "eq", "ne", "gt", "ge", "lt", "le", "logical_and",
    "logical_or", "logical_xor",
)  # fmt: skip
_UNARY = ("logical_not",)


def _binary(name: str) -> Callable[..., Tensor]:
    function = FUNCTIONS[name]

    def wrapper(input_tensor_a: Tensor, input_tensor_b: Tensor | float, **options: Any) -> Tensor:
        return function(input_tensor_a, input_tensor_b, output_tensor=input_tensor_a, **options)

    wrapper.__name__ = wrapper.__qualname__ = f"{name}_"
    wrapper.__doc__ = f"`{name}`, whose result is written to `input_tensor_a`; returns it. Options as of `{name}`."
    return wrapper


def _unary(name: str) -> Callable[..., Tensor]:
    function = FUNCTIONS[name]

    def wrapper(input_tensor: Tensor, **options: Any) -> Tensor:
        return function(input_tensor, output_tensor=input_tensor, **options)

    wrapper.__name__ = wrapper.__qualname__ = f"{name}_"
    wrapper.__doc__ = f"`{name}`, whose result is written to `input_tensor`; returns it. Options as of `{name}`."
    return wrapper


IN_PLACE: dict[str, Callable[..., Tensor]] = {
    f"{name}_": make(name) for names, make in ((_BINARY, _binary), (_UNARY, _unary)) for name in names
}
