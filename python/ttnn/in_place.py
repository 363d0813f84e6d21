# SPDX-License-Identifier: Apache-2.0
"""Functions that write their result to their first tensor: `add_`, `gt_` and others."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import MemoryConfig

from .functions import FUNCTIONS

_BINARY = (
    "add", "sub", "subtract", "mul", "multiply", "div", "divide", "eq", "ne", "gt", "ge", "lt", "le", "logical_and",
    "logical_or", "logical_xor",
)  # fmt: skip
_UNARY = ("logical_not",)
# Functions whose operands the library calls input_tensor_a and input_tensor_b, as those of the function itself.
_OF_TENSORS = ("add", "sub", "subtract")
_OPTIONS = (
    "activations", "input_tensor_a_activations", "input_tensor_b_activations", "fast_and_approximate_mode",
    "sub_core_grids", "sub_device_id",
)  # fmt: skip


def _binary(name: str) -> Callable[..., Tensor]:
    function = FUNCTIONS[name]
    taken = inspect.signature(function).parameters
    options = [each for each in _OPTIONS if each in taken]
    first, second = ("input_tensor_a", "input_tensor_b") if name in _OF_TENSORS else ("input_a", "input_b")
    own = f"{name}_"
    named = ", ".join(f"{each}: {taken[each].annotation} = _{each}" for each in options)
    passed = ", ".join(f"{each}={each}" for each in options)
    source = (
        f"def {own}({first}: Tensor, {second}: Tensor | float, *, {named}) -> Tensor:\n"
        f"    return _function({first}, {second}, output_tensor={first}, {passed})\n"
    )
    namespace: dict[str, Any] = {"_function": function, **{f"_{each}": taken[each].default for each in options}}
    exec(compile("from __future__ import annotations\n" + source, f"<ttnn.{own}>", "exec"), namespace)
    wrapper: Callable[..., Tensor] = namespace[own]
    wrapper.__module__ = "ttnn"
    wrapper.__doc__ = f"`{name}`, whose result is written to `{first}`; returns it. Options as of `{name}`."
    return wrapper


def _unary(name: str) -> Callable[..., Tensor]:
    function = FUNCTIONS[name]

    def wrapper(input_tensor: Tensor, *, memory_config: MemoryConfig | None = None) -> Tensor:
        return function(input_tensor, memory_config=memory_config, output_tensor=input_tensor)

    wrapper.__name__ = wrapper.__qualname__ = f"{name}_"
    wrapper.__doc__ = f"`{name}`, whose result is written to `input_tensor`; returns it. Options as of `{name}`."
    return wrapper


IN_PLACE: dict[str, Callable[..., Tensor]] = {
    f"{name}_": make(name) for names, make in ((_BINARY, _binary), (_UNARY, _unary)) for name in names
}
