# SPDX-License-Identifier: Apache-2.0
"""Arguments of the functions that run programs, checked before anything runs."""

from __future__ import annotations

import functools
import inspect
import math
import os
import re
import types
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import _ttmlir_runtime as tt_runtime
import numpy as np
from golden import GoldenMapTensor
from golden.optional import torch

from builder.base.builder_utils import DeferredDevice
from builder.base.errors import TTBuilderRuntimeException, did_you_mean
from builder.goldens.module_goldens import ProgramGoldens, Programs
from builder.goldens.open_goldens import OpenGoldens

# What runs the files that compiling writes, by their suffix.
RUNS: dict[str, tuple[str, str]] = {
    ".ttnn": ("a flatbuffer", "execute_fb"),
    ".ttm": ("a flatbuffer", "execute_fb"),
    ".py": ("a Python program", "execute_py"),
    ".cpp": ("a C++ program", "execute_cpp"),
}


def described(value: Any) -> str:
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} of type {type(value).__name__}"


# What is expected of parameters that have a meaning beyond their type, by name.
EXPECTED = {
    "mod": "a function of a builder",
    "fn": "a function of a builder",
    "mlir_text": "the text of a module",
    "module": "an MLIR module",
    "builder": "a builder",
    "pcc": "a number from -1 to 1",
    "atol": "a number of at least 0",
    "rtol": "a number of at least 0",
    "input_output_goldens": "a mapping of program indices",
}


def fits(value: Any, hint: Any) -> bool:
    """Returns whether a value matches an annotation, as far as that can be determined without reading mappings."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if origin is Literal:  # which of them, the function says
        return isinstance(value, tuple({type(part) for part in parts}))
    if hint is None or hint is type(None):
        return value is None
    if hint in (bool, int, float):
        kinds: dict[type, Any] = {bool: (bool, np.bool_), int: Integral, float: Real}
        kind = kinds[hint]
        return isinstance(value, kind) and (hint is bool or not isinstance(value, bool))
    if origin is not None and issubclass(origin, Sequence):
        return (
            isinstance(value, Sequence)
            and not isinstance(value, (str, bytes))
            and all(fits(item, parts[0]) for item in (value if parts and isinstance(value, (list, tuple)) else ()))
        )
    kind = origin or hint
    return callable(value) if kind is Callable else not isinstance(kind, type) or isinstance(value, kind)


def text_of(hint: Any) -> str:
    """Returns an annotation in words."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(text_of(part) for part in parts))
    if origin is Literal:
        return f"one of {', '.join(map(repr, parts))}"
    names = {bool: "True or False", int: "an integer", float: "a number", str: "a string", type(None): "None"}
    if hint in names:
        return names[hint]
    kind = origin or hint
    if kind in (Callable, os.PathLike) or (isinstance(kind, type) and issubclass(kind, (Mapping, Sequence))):
        if kind is Callable or kind is os.PathLike:
            return "a function" if kind is Callable else "a path"
        return "a mapping" if issubclass(kind, Mapping) else "a list" + (" of strings" if parts == (str,) else "")
    return f"a {getattr(kind, '__name__', kind)}"


def checked_arguments(function: Callable[..., Any]) -> Callable[..., Any]:
    """Raises TypeError for arguments that do not match the annotations; it names function, parameter, value and what
    was expected.
    """
    signature = inspect.signature(function)
    hints: dict[str, Any] = {}

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not hints:
            hints.update(get_type_hints(function))
        name = call.__qualname__.removesuffix(".__init__") if call.__name__ == "__init__" else call.__name__
        wrong = next((keyword for keyword in kwargs if keyword not in signature.parameters), None)
        if wrong is not None:
            raise TypeError(f"{name} takes no {wrong!r}{did_you_mean(wrong, signature.parameters)}")
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None
        for parameter, value in given.items():
            if not fits(value, hints.get(parameter, Any)):
                expected = EXPECTED.get(parameter) or text_of(hints[parameter])
                raise TypeError(f"{name}: {parameter} is {described(value)}; expected {expected}")
        return function(*args, **kwargs)

    return call


def check_number(name: str, value: Any, low: float, high: float = math.inf) -> None:
    """
    Raises:
        TypeError: it is none (True and False are none).
        ValueError: it is not from low to high, or NaN.
    """
    expected = f"a number from {low:g} to {high:g}" if high < math.inf else f"a number of at least {low:g}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} is {described(value)}; expected {expected}")
    if not low <= float(value) <= high:
        raise ValueError(f"{name} is {value!r}; expected {expected}")


def check_path(parameter: str, value: Any, suffix: str) -> None:
    """Refuses the path of a file that another function runs, and values that are not paths.

    Raises:
        TypeError, TTBuilderRuntimeException
    """
    kind, function = RUNS[suffix]
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{function}: {parameter} is {described(value)}; expected the path of {kind} ({suffix})")
    check_suffix(parameter, value, suffix)


def check_suffix(parameter: str, path: str | os.PathLike[str], suffix: str) -> None:
    expected, function = RUNS[suffix]
    kind, other = RUNS.get(Path(os.fspath(path)).suffix, RUNS[suffix])
    if other != function:
        raise TTBuilderRuntimeException(
            f"{function}: {parameter} is {os.fspath(path)}, {kind}; expected {expected} ({suffix}), or call {other}"
        )


def check_device(function: str, device: Any) -> None:
    """
    Raises:
        TypeError
    """
    if device is not None and not isinstance(device, (tt_runtime.runtime.Device, DeferredDevice)):
        raise TypeError(f"{function}: device is {described(device)}; expected an open mesh device, or None for one")


def check_goldens(function: str, goldens: Any) -> None:
    """
    Raises:
        TypeError: they are not {program: {"input_0": value, ..., "output_0": value, ...}}.
    """
    # Those of a builder are right, and are computed when they are looked at.
    if goldens is None or isinstance(goldens, (Programs, OpenGoldens)):
        return
    if not isinstance(goldens, Mapping):
        raise TypeError(
            f"{function}: input_output_goldens is {described(goldens)}; expected a mapping of program indices, "
            '{0: {"input_0": tensor, ..., "output_0": tensor, ...}}'
        )
    for program, values in goldens.items():
        if isinstance(values, ProgramGoldens):
            continue
        if not isinstance(values, Mapping):
            raise TypeError(
                f"{function}: input_output_goldens[{program!r}] is {described(values)}; expected a mapping of names, "
                '{"input_0": tensor, ..., "output_0": tensor, ...}'
            )
        for name, value in values.items():
            if not re.fullmatch(r"(input|output)_\d+", str(name)):
                raise TypeError(
                    f"{function}: input_output_goldens[{program!r}] has the name {name!r}; expected input_0, input_1, "
                    "..., output_0, ..."
                )
            if not isinstance(value, (torch.Tensor, GoldenMapTensor, Mapping)):
                raise TypeError(
                    f"{function}: input_output_goldens[{program!r}][{name!r}] is {described(value)}; expected a torch "
                    "tensor, or tensors by device"
                )
