# SPDX-License-Identifier: Apache-2.0
"""Checks of the arguments of functions that call functions of tensors, and of what these return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from _ttmlir_runtime.runtime import Device, Tensor


def described(value: Any) -> str:
    return f"{value!r} of type {type(value).__name__}"


def check_function(caller: str, name: str, value: Any) -> None:
    if not callable(value):
        raise TypeError(f"{caller}: {name} is {described(value)}; expected a function of tensors")


def check_tensors(caller: str, name: str, tensors: Any) -> list[Tensor]:
    if isinstance(tensors, (str, Tensor)) or not isinstance(tensors, Sequence):
        raise TypeError(f"{caller}: {name} is {described(tensors)}; expected a list of tensors")
    for index, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{caller}: {name}[{index}] is {described(tensor)}; expected a tensor")
    return list(tensors)


def check_device(caller: str, device: Any) -> None:
    if device is not None and not isinstance(device, Device):
        raise TypeError(f"{caller}: device is {described(device)}; expected an open device")


def returned_tensors(caller: str, name: str, result: Any) -> list[Tensor]:
    """Returns the tensors of what a function returned: one, or a tuple or list of them."""
    created = list(result) if isinstance(result, (tuple, list)) else [result]
    for tensor in created:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{caller}: {name} returned {described(tensor)}; expected tensors")
    return created
