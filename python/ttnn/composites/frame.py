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
from typing import Any

from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import DataType, Layout, MemoryConfig

from ..functions import ops
from ..library.activations import ACTIVATIONS, check_activations, with_activations
from ..library.modes import GeluVariant
from ..library.prepared import demands

# Which of COMMON take a tensor that a result is written to, and which say where one lies: in the order of results.
_INTO = (
    "output_tensor", "optional_output_tensor", "output", "out", "input_grad", "other_grad", "input_a_grad",
    "input_b_grad", "mat2_grad", "weight_grad", "bias_grad", "gamma_grad", "beta_grad", "input_grad_tensor",
    "total_norm", "param_out", "exp_avg_out", "exp_avg_sq_out", "max_exp_avg_sq_out", "momentum_buffer_out", "mean",
    "rstd",
)  # fmt: skip
_MEMORIES = (
    "memory_config", "input_grad_memory_config", "mat2_grad_memory_config", "weight_grad_memory_config",
    "bias_grad_memory_config", "gamma_grad_memory_config", "beta_grad_memory_config", "mean_memory_config",
    "rstd_memory_config", "param_out_memory_config", "momentum_buffer_out_memory_config",
)  # fmt: skip
# Parameters that many functions have, and their annotations. Those of cores and of sub-devices change no values here.
COMMON = {
    "dtype": "DataType | None",
    "compute_kernel_config": "DeviceComputeKernelConfig | None",
    "sub_core_grids": "CoreRangeSet | None",
    "sub_device_id": "Any | None",
    "program_config": "Any | None",
    "numeric_stable": "bool | None",
    **dict.fromkeys(ACTIVATIONS, "Sequence[Any]"),
    **dict.fromkeys(_INTO, "Tensor | None"),
    **dict.fromkeys(_MEMORIES, "MemoryConfig | None"),
}
RESULT = "memory_config"
WRITTEN = "memory_config output_tensor"
UNARY = "memory_config output_tensor sub_core_grids"
ACTIVATED = " ".join(ACTIVATIONS)
BINARY = f"dtype memory_config output_tensor {ACTIVATED} sub_core_grids sub_device_id"
MOREH = "output memory_config compute_kernel_config"

_NARROW = (DataType.BFLOAT16, DataType.FLOAT16, DataType.BFLOAT8_B, DataType.BFLOAT4_B, DataType.BFLOAT2_B)
# Classes of parameters that are no tensors, by annotation.
_CLASSES: dict[str, Any] = {
    "int": int, "float": (int, float), "bool": bool, "str": str, "DataType": DataType, "Layout": Layout,
    "MemoryConfig": MemoryConfig, "Device": Device, "Sequence": Sequence, "Any": object, "GeluVariant": GeluVariant,
}  # fmt: skip

# Other names of parameters, by function: those of the library's forms with a number or a single tensor.
_SECOND = {"input_tensor_a": "input_tensor", "input_tensor_b": "other_tensor", "scalar": "other_tensor"}
# One of several parameters is the first of them that is not given.
NAMES: dict[str, dict[str, str]] = {
    "add_bw": _SECOND,
    "assign_bw": {"input_tensor": "input_tensor_a"},
    "bias_gelu_bw": {"input_tensor": "input_tensor_a", "bias": "input_tensor_b"},
    "bitwise_right_shift": {"input_b": "input_tensor_b"},
    "div_bw": _SECOND,
    "div_no_nan": {"value": "input_tensor_b"},
    "floor_div": {"value": "input_tensor_b"},
    "fmod": {"scalar": "input_tensor_b"},
    "fmod_bw": {"scalar": "input_tensor_b"},
    "lerp_bw": {"scalar": "input_tensor_c"},
    "mac": {"value": "input_tensor_b input_tensor_c", "value1": "input_tensor_b", "value2": "input_tensor_c"},
    "mul_bw": _SECOND,
    "remainder_bw": {"scalar": "input_tensor_b"},
    "sub_bw": _SECOND,
}

# By public name: the function, and the expression of PyTorch that it is compared with, over the parameters' names and
# `torch`; "" where PyTorch has none.
COMPOSITES: dict[str, Callable[..., Any]] = {}
GOLDENS: dict[str, str] = {}


def composite(
    common: str = "",
    *,
    golden: str = "",
    wide: bool = True,
    name: str = "",
    also: str = "",
    in_place: bool = False,
    required: str = "",
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Returns a decorator that makes a public function of one that computes.

    Args:
        common: names of COMMON that the function takes, by keyword unless it has them among its own parameters.
        golden: PyTorch's expression for the result.
        wide: narrow floats are computed with in float32, and the result is rounded to the first tensor's type.
        name: the public name, where it is not the function's.
        also: other public names of the same function.
        in_place: the result is written to the first tensor.
        required: parameters that are shown as required, because the first form of a call gives them.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        public = name or function.__name__
        result = _make(public, function, common.split(), wide, in_place)
        if required:
            demands(*required.split())(result)
        for each in (public, *also.split()):
            COMPOSITES[each] = result
            GOLDENS[each] = golden
        return result

    return decorate


def _make(
    name: str, function: Callable[..., Any], common: Sequence[str], wide: bool, in_place: bool
) -> Callable[..., Any]:
    own = inspect.signature(function)
    extra = [
        inspect.Parameter(
            each, inspect.Parameter.KEYWORD_ONLY, default=() if each in ACTIVATIONS else None, annotation=COMMON[each]
        )
        for each in common
        if each not in own.parameters
    ]
    signature = own.replace(parameters=[*own.parameters.values(), *extra])
    tensors = {key: str(p.annotation) for key, p in own.parameters.items() if "Tensor" in str(p.annotation)}
    plain = {key: str(p.annotation) for key, p in own.parameters.items() if key not in tensors}
    into = [each for each in common if each in _INTO]
    memories = [each for each in common if each in _MEMORIES]
    operands = [None, *list(tensors)[:2], None]
    activated = {each: at for each, at in zip(ACTIVATIONS, operands, strict=False) if each in common}

    names = NAMES.get(name, {})

    def created(*args: Any, **kwargs: Any) -> Any:
        for each in names.keys() & kwargs.keys():
            taken = {*list(own.parameters)[: len(args)], *kwargs}
            standing = names[each].split()
            if taken.issuperset(standing):
                raise TypeError(f"ttnn.{name}: {each} and {' and '.join(standing)} are given; expected one less")
            kwargs[next(parameter for parameter in standing if parameter not in taken)] = kwargs.pop(each)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"ttnn.{name}: {error}") from None
        bound.apply_defaults()
        values = bound.arguments
        options = {each: values[each] if each in own.parameters else values.pop(each) for each in common}
        _check(name, tensors, values)
        for each, kind in plain.items():
            _check_plain(name, each, kind, values[each])
        for each in into:
            if options[each] is not None and not isinstance(options[each], Tensor):
                raise TypeError(f"ttnn.{name}: {each} is {options[each]!r}; expected a ttnn.Tensor")
        for each, parameter in activated.items():
            check_activations(name, each, options[each])
            if parameter is not None and options[each]:
                values[parameter] = with_activations(name, values[parameter], options[each])
        given = [t for each in tensors for t in _listed(values[each]) if isinstance(t, Tensor)]
        first = next((t for t in given if t.dtype in (*_NARROW, DataType.FLOAT32)), None)
        if wide:
            for each in tensors:
                values[each] = _widened(values[each])
        try:
            result = function(**values)
        except (TypeError, ValueError, IndexError) as error:
            # Said by a function that this one is made of, or by Python.
            raise error if str(error).startswith(f"ttnn.{name}:") else type(error)(f"ttnn.{name}: {error}") from None
        if options.get("activations"):
            result = with_activations(name, result, options["activations"])
        places = [options[each] for each in memories] if memories else [None]
        targets = given[:1] if in_place else [options[each] for each in into]
        return _placed(result, first, options.get("dtype"), places, targets, wide)

    path, _, last = name.rpartition(".")
    created.__name__ = created.__qualname__ = last
    created.__module__ = f"ttnn.{path}" if path else "ttnn"
    created.__doc__ = function.__doc__
    also = [inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY, default=None, annotation="Any") for each in names]
    created.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), *also]
    )
    return created


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]


def _check(name: str, tensors: Mapping[str, str], values: Mapping[str, Any]) -> None:
    for parameter, annotation in tensors.items():
        value = values[parameter]
        numbers = "float" in annotation
        if annotation.startswith("Sequence") and not isinstance(value, list | tuple):
            raise TypeError(f"ttnn.{name}: {parameter} is of type {type(value).__name__}; expected a list of tensors")
        for each in _listed(value):
            if isinstance(each, Tensor) or (each is None and "None" in annotation):
                continue
            if numbers and isinstance(each, int | float):
                continue
            expected = "a ttnn.Tensor" + (" or a number" if numbers else "")
            raise TypeError(f"ttnn.{name}: {parameter} is {each!r} of type {type(each).__name__}; expected {expected}")


def _check_plain(name: str, parameter: str, kind: str, value: Any) -> None:
    """Checks a parameter that is no tensor by its annotation: numbers, flags, text, types, and lists of them."""
    if not any(_fits(each, value) for each in kind.split(" | ")):
        raise TypeError(f"ttnn.{name}: {parameter} is {value!r} of type {type(value).__name__}; expected {kind}")


def _fits(kind: str, value: Any) -> bool:
    if kind == "None":
        return value is None
    if isinstance(value, bool | str):
        return kind in (type(value).__name__, "Any")
    return isinstance(value, _CLASSES["Sequence" if kind.startswith(("list", "Sequence")) else kind])


def _widened(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_widened(each) for each in value]
    if isinstance(value, Tensor) and value.dtype in _NARROW:
        return ops.typecast(value, DataType.FLOAT32)
    return value


def _placed(
    result: Any, first: Tensor | None, dtype: Any, memories: Sequence[Any], into: Sequence[Any], wide: bool
) -> Any:
    """Places a result, or each of several; `into` has the tensors that results are written to, or None for one."""
    if isinstance(result, list | tuple):
        places = memories if len(memories) > 1 else list(memories) * len(result)
        rest = [None] * len(result)
        placed = [
            None if each is None else _placed(each, first, dtype, [memory], [target], wide)
            for each, memory, target in zip(result, [*places, *rest], [*into, *rest], strict=False)
        ]
        return tuple(placed) if isinstance(result, tuple) else placed
    if not isinstance(result, Tensor):
        return result
    if dtype is None:
        narrowed = wide and first is not None and first.dtype in _NARROW and result.dtype == DataType.FLOAT32
        dtype = first.dtype if narrowed and first is not None else result.dtype
    target, memory = into[0] if into else None, memories[0]
    if target is not None:
        return ops.typecast(result, target.dtype, output_tensor=target)
    if result.dtype != dtype:
        return ops.typecast(result, dtype, memory_config=memory)
    return result if memory is None else ops.to_memory_config(result, memory)


def full_as(tensor: Tensor, value: float) -> Tensor:
    """Makes a tensor of one number, of the shape, type, layout and device of another."""
    return ops.full(tensor.shape, value, dtype=tensor.dtype, layout=tensor.layout, device=tensor.device())
