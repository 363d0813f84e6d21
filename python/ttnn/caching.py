# SPDX-License-Identifier: Apache-2.0
"""Values that are computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from _ttmlir_runtime import ttnn as _native
from _ttmlir_runtime.runtime import Device, Tensor

from .arguments import check_device, check_function, check_tensors, returned_tensors

# By function: what its arguments were, the device, and what it returned.
_kept: WeakKeyDictionary[Callable[..., Any], tuple[list[Any], Device | None, Any]] = WeakKeyDictionary()


def load_cached(function: Callable[..., Any], tensors: Sequence[Tensor] = (), device: Device | None = None) -> Any:
    """Returns what `function(*tensors)` returns, computed when it is first requested and kept.

    Args:
        function: of tensors, which depends on nothing else; it gets `device` as well when one is given.
        tensors: its arguments. It is called again when one of them is another tensor than before, or was written.
        device: the last argument of `function`, if it takes one.
    Returns:
        The tensor, or tuple or list of them, that the function made. They are taken for constants: what ops bring them
        into (for example the form in which a matrix product reads its weights) is kept, too.
    Raises:
        TypeError: an argument, or what the function returned, is something else; names it.
    """
    check_function("load_cached", "function", function)
    check_tensors("load_cached", "tensors", tensors)
    check_device("load_cached", device)
    key = [_native.contents(tensor) for tensor in tensors]
    found = _kept.get(function)
    known = all(tracked for _, _, tracked in key)
    if found is not None and known and found[0] == key and found[1] is device and _alive(found[2]):
        return found[2]
    result = function(*tensors) if device is None else function(*tensors, device)
    created = returned_tensors("load_cached", _name(function), result)
    for tensor in created:
        tensor.set_constant()
    # Results that are gone, with their device or by themselves, are no use: a function that lives on would keep both.
    for other in [other for other, (_, _, kept) in _kept.items() if not _alive(kept)]:
        del _kept[other]
    _kept[function] = (key, device, result)
    return result


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", repr(function))


def _tensors(result: Any) -> Sequence[Tensor]:
    return [result] if isinstance(result, Tensor) else list(result)


def _alive(result: Any) -> bool:
    return all(tensor.is_allocated() for tensor in _tensors(result))
