# SPDX-License-Identifier: Apache-2.0
"""The key of the C++ of an operation's kernels: their code and everything to which it refers."""

from __future__ import annotations

from types import CodeType, FunctionType, ModuleType
from typing import Any

import ttnn

from .buffers import DataflowBuffer
from .building import Building, KernelFunction
from .kernel.scope import outside
from .pipes import PipeNet


class _Found:
    """Describes values as hashable ones, and collects the tensors among them."""

    def __init__(self) -> None:
        self.tensors: list[ttnn.Tensor] = []
        self._functions: set[int] = set()

    def tensor(self, tensor: ttnn.Tensor) -> Any:
        for at, each in enumerate(self.tensors):
            if each is tensor:
                return ("tensor", at)
        self.tensors.append(tensor)
        place = (
            tuple(tensor.shape),
            tuple(tensor.padded_shape),
            tensor.dtype,
            tensor.layout,
            str(tensor.memory_config()),
        )
        return ("tensor", len(self.tensors) - 1, *place)

    def value(self, value: Any) -> Any:
        if value is None or isinstance(value, int | float | str | bytes):
            return (type(value).__name__, value)
        if isinstance(value, tuple | list):
            return (type(value).__name__, *(self.value(each) for each in value))
        if isinstance(value, slice):
            return ("slice", self.value((value.start, value.stop, value.step)))
        if isinstance(value, DataflowBuffer):
            return ("buffer", value.index)
        if isinstance(value, PipeNet):
            return ("net", *(repr(each) for each in value.pipes))
        if isinstance(value, ttnn.Tensor):
            return self.tensor(value)
        if isinstance(value, KernelFunction):
            return self.function(value.function)
        if isinstance(value, FunctionType):
            return self.function(value)
        if isinstance(value, ModuleType):
            return ("module", value.__name__)
        try:
            hash(value)
        except TypeError:
            return (type(value).__name__, repr(value))
        return (type(value).__name__, value)

    def function(self, function: FunctionType) -> Any:
        if id(function) in self._functions:
            return ("function", function.__qualname__)
        self._functions.add(id(function))
        names = sorted(_names(function.__code__))
        around = [(name, self.value(outside(function, name))) for name in names]
        return ("function", function.__code__, *around)


def _names(code: CodeType) -> set[str]:
    """Returns the names that a function and those in it take from outside."""
    found = {*code.co_freevars, *code.co_names}
    for each in code.co_consts:
        if isinstance(each, CodeType):
            found |= _names(each)
    return found


def signature(kernels: list[KernelFunction], state: Building) -> tuple[Any, list[ttnn.Tensor]]:
    """Returns a value that is equal for kernels of equal C++, and the tensors that they refer to."""
    found = _Found()
    buffers = tuple((each.shape, each.block_count, each.dtype, each.layout) for each in state.buffers)
    parts = tuple(found.function(each.function) for each in kernels)
    return (state.grid, buffers, parts), found.tensors
