# SPDX-License-Identifier: Apache-2.0
"""Loops and branches of functions of tensors, as emitted programs have them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from _ttmlir_runtime import ttnn as _native
from _ttmlir_runtime.runtime import Device, Tensor

from .arguments import check_device, check_function, check_tensors, described, returned_tensors

Function = Callable[..., Any]


def while_loop(
    cond: Function,
    body: Function,
    tensors: Sequence[Tensor],
    constants: Sequence[Tensor] = (),
    device: Device | None = None,
) -> Any:
    """Runs `body` on its own results while `cond` returns a number that is not 0.

    Args:
        cond: a function of all tensors, which returns a tensor of one element.
        body: a function of all tensors, which returns what takes the place of `tensors`.
        tensors: what the loop starts with, and carries from turn to turn.
        constants: further arguments of both functions, which stay as they are.
        device: the last argument of both functions, if they take one.
    Returns:
        What is carried at last: a tensor, or a tuple of them.
    Raises:
        TypeError, ValueError: an argument, or what a function returned, is something else; names it.
    """
    values = check_tensors("while_loop", "tensors", tensors)
    others = check_tensors("while_loop", "constants", constants)
    if not values:
        raise ValueError("while_loop: tensors is empty; expected what the loop carries")
    check_device("while_loop", device)
    for name, function in (("cond", cond), ("body", body)):
        check_function("while_loop", name, function)
    given, rest = [*values, *others], (*others, *(() if device is None else (device,)))
    while _selected("while_loop", cond(*values, *rest), "the condition of a loop"):
        _, result = _container("while_loop", "body", body(*values, *rest))
        if len(result) != len(values):
            raise ValueError(f"while_loop: body returned {len(result)} tensors; expected {len(values)}, as are carried")
        values = result
    owned = _native.owned(values, given)
    return owned[0] if len(owned) == 1 else tuple(owned)


def switch_case(
    index: Tensor, branches: Sequence[Function], tensors: Sequence[Tensor] = (), device: Device | None = None
) -> Any:
    """Returns what the branch number `index` returns for the tensors; a number that none has stands for the last.

    Args:
        index: a tensor of one element.
        branches: functions of the tensors, one or more.
        tensors: their arguments.
        device: the last argument of the functions, if they take one.
    Raises:
        TypeError, ValueError: an argument, or what a function returned, is something else; names it.
    """
    given = check_tensors("switch_case", "tensors", tensors)
    check_device("switch_case", device)
    if isinstance(branches, str) or not isinstance(branches, Sequence) or not branches:
        raise TypeError(f"switch_case: branches is {branches!r}; expected a list of functions")
    for at, branch in enumerate(branches):
        check_function("switch_case", f"branches[{at}]", branch)
    number = _selected("switch_case", index, "the number of the branch")
    chosen = int(number) if 0 <= number < len(branches) else -1
    result = branches[chosen](*given, *(() if device is None else (device,)))
    form, created = _container("switch_case", "the branch", result)
    owned = _native.owned(created, given)
    return owned[0] if form is Tensor else form(owned)


def _selected(function: str, value: Any, what: str) -> float:
    if not isinstance(value, Tensor):
        raise TypeError(f"{function}: {what} is {described(value)}; expected a tensor")
    return float(_native.selector(value, what))


def _container(function: str, name: str, result: Any) -> tuple[Any, list[Tensor]]:
    """Returns the container of the tensors that a function returned, and these."""
    created = returned_tensors(function, name, result)
    return (type(result) if isinstance(result, (tuple, list)) else Tensor), created
