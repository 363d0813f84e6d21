# SPDX-License-Identifier: Apache-2.0
"""An op of PyBuda is a function over PyTorch's tensors; from it come the op's signature and checks."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from ..capture.trace import Trace, among, current, marked
from ..errors import PyBudaError, ShapeError
from ..tensor import OPS, Parameter, Tensor

# Parameters that are dimensions of the first operand; of the result in ops that make one more.
DIMENSIONS = ("dim", "axis", "dim0", "dim1")
ONE_MORE = ("Unsqueeze",)


def op(function: Callable[..., torch.Tensor]) -> Callable[..., Tensor]:
    """Returns the op of a function: its parameters after the op's name, tensors of PyBuda for its operands."""
    kind = function.__name__
    inner = inspect.signature(function)
    # Operands are the parameters whose type is a tensor of PyTorch; None stands for one that is optional.
    kinds = {name: str(parameter.annotation) for name, parameter in inner.parameters.items()}
    tensors = {name: "None" in text for name, text in kinds.items() if text.startswith("torch.Tensor")}
    first = inspect.Parameter("name", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="str")
    signature = inner.replace(parameters=[first, *inner.parameters.values()], return_annotation="Tensor")

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Tensor:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"pybuda.op.{kind}: {error}; expected {kind}{signature}") from None
        name = bound.arguments.pop("name")
        if not isinstance(name, str):
            raise TypeError(f"pybuda.op.{kind}: name is {type(name).__name__}; expected text")
        trace = current(kind, name)
        name = trace.name_of(name, kind)
        what = f"pybuda.op.{kind} {name!r}"
        operand = functools.partial(read, trace, name, kind, itertools.count())
        found = {
            key: checked(what, key, buffered(trace, name, value), operand, tensors[key]) if key in tensors else value
            for key, value in bound.arguments.items()
        }
        values = [x for value in found.values() for x in (value if isinstance(value, tuple) else (value,))]
        operands = [x for x in values if isinstance(x, torch.Tensor)]
        shapes = ", ".join(str(list(x.shape)) for x in operands)
        check_dimensions(what, kind, found, operands[0].dim() if operands else 0)
        positional = found.pop("operands", ())
        try:
            with marked(name, kind):
                value = trace.output(name, kind, function(*positional, **found))
        except PyBudaError as error:
            raise type(error)(f"{what}: {error} (operands {shapes})") from None
        except (RuntimeError, IndexError, ValueError, TypeError) as error:
            raise ShapeError(f"{what}: {str(error).splitlines()[0]} (operands {shapes})") from error
        if function.__module__.endswith(".data_movement"):
            about = next(x.name for x in tensors_of(bound.arguments.values()))
            trace.roots[name] = trace.roots.get(about, about)
        return Tensor(value, name)

    call.__signature__ = signature  # type: ignore[attr-defined]
    OPS[kind] = call
    return call


def check_dimensions(what: str, kind: str, arguments: dict[str, Any], rank: int) -> None:
    """Refuses dimensions that the first operand does not have: not all functions of PyTorch do.

    Raises:
        ShapeError: names the parameter and the range.
    """
    count = max(rank + (kind in ONE_MORE), 1)
    for key in DIMENSIONS:
        value = arguments.get(key)
        if isinstance(value, int) and not -count <= value < count:
            raise ShapeError(f"{what}: {key} is {value}; expected {-count} to {count - 1}, by the operand's rank")


def tensors_of(arguments: Iterable[Any]) -> Iterator[Tensor]:
    for value in arguments:
        yield from (x for x in (value if isinstance(value, tuple) else (value,)) if isinstance(x, Tensor))


def buffered(trace: Trace, name: str, value: Any) -> Any:
    """Returns an argument after the nops that the configuration has between it and this op."""
    if isinstance(value, tuple):
        return tuple(buffered(trace, name, x) for x in value)
    if not isinstance(value, Tensor):
        return value
    source, found = trace.behind_nops(value.name, name, value.value())
    return value if found is value.value() else Tensor(found, source)


def read(trace: Trace, name: str, kind: str, numbers: Iterator[int], x: Tensor) -> torch.Tensor:
    """Returns an operand as the op reads it."""
    value = x.value()
    is_traced = torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE) is not None
    is_plain = type(value) is torch.Tensor and not torch._is_functional_tensor(value)
    if is_traced and is_plain and value.layout is torch.strided:
        # A tensor of the module's own, neither parameter nor input: a constant of the graph that is traced.
        value = torch.ops.aten.lift_fresh_copy(value)
    is_result = x.name in trace.ops or among(x.value(), trace.between)
    return trace.formats.operand(value, next(numbers), name, kind, is_result, isinstance(x, Parameter))


def checked(
    what: str, key: str, value: Any, operand: Callable[[Tensor], torch.Tensor], is_optional: bool = False
) -> Any:
    """Returns the function's argument for an operand.

    Raises:
        TypeError: the operand is no tensor of PyBuda.
    """
    if isinstance(value, tuple):
        return tuple(checked(what, key, x, operand) for x in value)
    if value is None and is_optional:
        return None
    if not isinstance(value, Tensor):
        raise TypeError(f"{what}: {key} is {type(value).__name__}; expected a pybuda.Tensor or pybuda.Parameter")
    return operand(value)
