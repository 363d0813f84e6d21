"""Arguments of the functions that run programs, checked before anything runs."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from numbers import Real
from pathlib import Path
from typing import Any

import _ttmlir_runtime as tt_runtime
import torch
from golden import GoldenMapTensor

from .errors import TTBuilderRuntimeException
from .goldens import ProgramGoldens, Programs

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


def check_number(name: str, value: Any, low: float, high: float = math.inf) -> None:
    """
    Raises:
        TypeError: it is none (True and False are none).
        ValueError: it is not from low to high, or NaN.
    """
    wanted = f"a number from {low:g} to {high:g}" if high < math.inf else f"a number of at least {low:g}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} is {described(value)}; expected {wanted}")
    if not low <= value <= high:
        raise ValueError(f"{name} is {value!r}; expected {wanted}")


def check_path(parameter: str, value: Any, suffix: str) -> None:
    """The path of a file that another function runs is refused, and so is what is no path.

    Raises:
        TypeError, TTBuilderRuntimeException
    """
    kind, function = RUNS[suffix]
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{function}: {parameter} is {described(value)}; expected the path of {kind} ({suffix})")
    check_suffix(parameter, value, suffix)


def check_suffix(parameter: str, path: str | os.PathLike[str], suffix: str) -> None:
    wanted, function = RUNS[suffix]
    kind, other = RUNS.get(Path(os.fspath(path)).suffix, RUNS[suffix])
    if other != function:
        raise TTBuilderRuntimeException(
            f"{function}: {parameter} is {os.fspath(path)}, {kind}; expected {wanted} ({suffix}), or call {other}"
        )


def check_device(function: str, device: Any) -> None:
    """
    Raises:
        TypeError
    """
    if device is not None and not isinstance(device, tt_runtime.runtime.Device):
        raise TypeError(f"{function}: device is {described(device)}; expected an open mesh device, or None for one")


def check_goldens(function: str, goldens: Any) -> None:
    """
    Raises:
        TypeError: they are not {program: {"input_0": value, ..., "output_0": value, ...}}.
    """
    # Those of a builder are right, and are computed when they are looked at.
    if goldens is None or isinstance(goldens, Programs):
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
