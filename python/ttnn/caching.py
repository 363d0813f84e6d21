# SPDX-License-Identifier: Apache-2.0
"""Values that are computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from _ttmlir_runtime import ttnn as _native
from _ttmlir_runtime.runtime import Device, Tensor

# By function: what its arguments were, the device, and what it returned.
_kept: WeakKeyDictionary[Callable[..., Any], tuple[list[Any], Device | None, Any]] = WeakKeyDictionary()


def load_cached(function: Callable[..., Any], tensors: Sequence[Tensor] = (), device: Device | None = None) -> Any:
    """What `function(*tensors)` returns, computed when it is first asked for and kept.

    Args:
        function: of tensors, which depends on nothing else; it gets `device` as well when one is given.
        tensors: its arguments. It is called again when one of them is another tensor than before, or was written.
        device: the last argument of `function`, if it takes one.
    Returns:
        The tensor, or tuple or list of them, that the function made. They are taken for constants: what ops bring them
        into (the form that a matrix product likes its weights in, say) is kept, too.
    Raises:
        TypeError: an argument, or what the function returned, is something else; names it.
    """
    _check(function, tensors, device)
    key = [_native.contents(tensor) for tensor in tensors]
    found = _kept.get(function)
    known = all(tracked for _, _, tracked in key)
    if found is not None and known and found[0] == key and found[1] is device and _alive(found[2]):
        return found[2]
    result = function(*tensors) if device is None else function(*tensors, device)
    made = list(result) if isinstance(result, (tuple, list)) else [result]
    for tensor in made:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"load_cached: {_name(function)} returned {_described(tensor)}; expected tensors")
    for tensor in made:
        tensor.set_constant()
    # Results that are gone, with their device or by themselves, are no use: a function that lives on would keep both.
    for other in [other for other, (_, _, kept) in _kept.items() if not _alive(kept)]:
        del _kept[other]
    _kept[function] = (key, device, result)
    return result


def _described(value: Any) -> str:
    return f"{value!r} of type {type(value).__name__}"


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", repr(function))


def _check(function: Any, tensors: Any, device: Any) -> None:
    if not callable(function):
        raise TypeError(f"load_cached: function is {_described(function)}; expected a function of tensors")
    if isinstance(tensors, (str, Tensor)) or not isinstance(tensors, Sequence):
        raise TypeError(f"load_cached: tensors is {_described(tensors)}; expected a list of tensors")
    for index, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"load_cached: tensors[{index}] is {_described(tensor)}; expected a tensor")
    if device is not None and not isinstance(device, Device):
        raise TypeError(f"load_cached: device is {_described(device)}; expected an open device")


def _tensors(result: Any) -> Sequence[Tensor]:
    return [result] if isinstance(result, Tensor) else list(result)


def _alive(result: Any) -> bool:
    return all(tensor.is_allocated() for tensor in _tensors(result))
