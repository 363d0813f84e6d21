# SPDX-License-Identifier: Apache-2.0
"""Makes public functions of functions that compute: common parameters, widening, checks, results that are placed.

    @composite(UNARY, golden="torch.celu(input_tensor, alpha)")
    def celu(input_tensor: Tensor, *, alpha: float = 1.0) -> Tensor:
        ...

gives `ttnn.celu(input_tensor, *, alpha=1.0, memory_config=None, output_tensor=None, sub_core_grids=None)`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import DataType, MemoryConfig

from ..functions import FUNCTIONS

ops = SimpleNamespace(**{name: function for name, function in FUNCTIONS.items() if "." not in name})

# Parameters that many functions have, and their annotations. Those of cores and of sub-devices change no values here.
COMMON = {
    "dtype": "DataType | None",
    "memory_config": "MemoryConfig | None",
    "output_tensor": "Tensor | None",
    "output": "Tensor | None",
    "input_grad": "Tensor | None",
    "other_grad": "Tensor | None",
    "input_a_grad": "Tensor | None",
    "input_b_grad": "Tensor | None",
    "compute_kernel_config": "DeviceComputeKernelConfig | None",
    "sub_core_grids": "CoreRangeSet | None",
    "sub_device_id": "Any | None",
}
RESULT = "memory_config"
WRITTEN = "memory_config output_tensor"
UNARY = "memory_config output_tensor sub_core_grids"
BINARY = "dtype memory_config output_tensor sub_core_grids sub_device_id"
MOREH = "output memory_config compute_kernel_config"

# Which of COMMON take a tensor that the result is written to.
_INTO = ("output_tensor", "output", "input_grad", "other_grad", "input_a_grad", "input_b_grad")
_NARROW = (DataType.BFLOAT16, DataType.FLOAT16, DataType.BFLOAT8_B, DataType.BFLOAT4_B, DataType.BFLOAT2_B)

# By public name: the function, and the expression of PyTorch that it is compared with, over the parameters' names and
# `torch`; "" where PyTorch has none.
COMPOSITES: dict[str, Callable[..., Any]] = {}
GOLDENS: dict[str, str] = {}


def composite(
    common: str = "", *, golden: str = "", wide: bool = True, name: str = "", also: str = ""
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Returns a decorator that makes a public function of one that computes.

    Args:
        common: names of COMMON that the function takes by keyword, in addition to its own parameters.
        golden: PyTorch's expression for the result.
        wide: narrow floats are computed with in float32, and the result is rounded to the first tensor's type.
        name: the public name, where it is not the function's.
        also: other public names of the same function.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        public = name or function.__name__
        result = _make(public, function, common.split(), wide)
        for each in (public, *also.split()):
            COMPOSITES[each] = result
            GOLDENS[each] = golden
        return result

    return decorate


def _make(name: str, function: Callable[..., Any], common: Sequence[str], wide: bool) -> Callable[..., Any]:
    own = inspect.signature(function)
    extra = [
        inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=COMMON[each])
        for each in common
    ]
    signature = own.replace(parameters=[*own.parameters.values(), *extra])
    tensors = {key: str(p.annotation) for key, p in own.parameters.items() if "Tensor" in str(p.annotation)}
    plain = {key: str(p.annotation) for key, p in own.parameters.items() if key not in tensors}
    into = [each for each in common if each in _INTO]

    def created(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"ttnn.{name}: {error}") from None
        bound.apply_defaults()
        values = bound.arguments
        options = {each: values.pop(each) for each in common}
        _check(name, tensors, values)
        for each, kind in plain.items():
            _check_plain(name, each, kind, values[each])
        for each in into:
            if options[each] is not None and not isinstance(options[each], Tensor):
                raise TypeError(f"ttnn.{name}: {each} is {options[each]!r}; expected a ttnn.Tensor")
        first = next((t for each in tensors for t in _listed(values[each]) if isinstance(t, Tensor)), None)
        if wide:
            for each in tensors:
                values[each] = _widened(values[each])
        try:
            result = function(**values)
        except (TypeError, ValueError, IndexError) as error:
            # Said by a function that this one is made of, or by Python.
            raise error if str(error).startswith(f"ttnn.{name}:") else type(error)(f"ttnn.{name}: {error}") from None
        return _placed(result, first, options, [options[each] for each in into], wide)

    created.__name__ = created.__qualname__ = name
    created.__module__ = "ttnn"
    created.__doc__ = function.__doc__
    created.__signature__ = signature  # type: ignore[attr-defined]
    return created


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]


def _check(name: str, tensors: Mapping[str, str], values: Mapping[str, Any]) -> None:
    for parameter, annotation in tensors.items():
        value = values[parameter]
        numbers = "float" in annotation
        for each in _listed(value):
            if isinstance(each, Tensor) or (each is None and "None" in annotation):
                continue
            if numbers and isinstance(each, int | float):
                continue
            expected = "a ttnn.Tensor" + (" or a number" if numbers else "")
            raise TypeError(f"ttnn.{name}: {parameter} is {each!r} of type {type(each).__name__}; expected {expected}")


def _check_plain(name: str, parameter: str, kind: str, value: Any) -> None:
    """Checks a parameter that is no tensor by its annotation: numbers, flags, text, and lists of them."""
    kinds = kind.split(" | ")
    if value is None and "None" in kinds:
        return
    if kinds[0].startswith(("list", "Sequence")):
        fits = isinstance(value, Sequence) and not isinstance(value, str)
    elif isinstance(value, bool) or kinds[0] in ("bool", "str"):
        fits = type(value).__name__ == kinds[0]
    else:
        fits = isinstance(value, int) or (kinds[0] == "float" and isinstance(value, float))
    if not fits:
        raise TypeError(f"ttnn.{name}: {parameter} is {value!r} of type {type(value).__name__}; expected {kind}")


def _widened(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_widened(each) for each in value]
    if isinstance(value, Tensor) and value.dtype in _NARROW:
        return ops.typecast(value, DataType.FLOAT32)
    return value


def _placed(result: Any, first: Tensor | None, options: Mapping[str, Any], into: Sequence[Any], wide: bool) -> Any:
    """Places a result, or each of several; `into` has the tensors that results are written to, or None for one."""
    if isinstance(result, list | tuple):
        targets = [*into, *[None] * len(result)]
        return [
            None if each is None else _placed(each, first, options, [target], wide)
            for each, target in zip(result, targets, strict=False)
        ]
    target = into[0] if into else None
    dtype = options.get("dtype")
    if dtype is None:
        narrowed = wide and first is not None and first.dtype in _NARROW and result.dtype == DataType.FLOAT32
        dtype = first.dtype if narrowed and first is not None else result.dtype
    memory: MemoryConfig | None = options.get("memory_config")
    if target is not None:
        return ops.typecast(result, target.dtype, output_tensor=target)
    if result.dtype != dtype:
        return ops.typecast(result, dtype, memory_config=memory)
    return result if memory is None else ops.to_memory_config(result, memory)


def full_as(tensor: Tensor, value: float) -> Tensor:
    """Makes a tensor of one number, of the shape, type, layout and device of another."""
    return ops.full(tensor.shape, value, dtype=tensor.dtype, layout=tensor.layout, device=tensor.device())
