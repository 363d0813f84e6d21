# SPDX-License-Identifier: Apache-2.0
"""Watches calls of public functions: hooks before and after them, and comparison with their golden functions.

Functions are replaced in their modules while something watches them, and cost nothing more otherwise. Operators of
tensors, such as `a + b`, and functions that others are made of are not watched.
"""

from __future__ import annotations

import functools
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from _ttmlir_runtime.runtime import Tensor

_Hook = Callable[..., None]
_before: list[_Hook] = []
_after: list[_Hook] = []
_own: dict[tuple[str, str], Callable[..., Any]] = {}  # what stands in a module when nothing watches
_log = logging.getLogger("ttnn")


def _settings() -> Any:
    return sys.modules["ttnn"].__dict__["CONFIG"]


def watch() -> None:
    """Begins or ends to watch calls, as hooks and settings require."""
    settings = _settings()
    needed = bool(_before or _after or settings.enable_comparison_mode or settings.enable_logging)
    if needed and not _own:
        for name in sys.modules["ttnn"].__dict__["query_registered_operations"](True):
            module, _, last = name.rpartition(".")
            function = getattr(sys.modules[module], last)
            _own[module, last] = function
            setattr(sys.modules[module], last, _watched(name, function))
    elif not needed:
        for (module, last), function in _own.items():
            setattr(sys.modules[module], last, function)
        _own.clear()


def _watched(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        settings = _settings()
        for hook in list(_before):
            _none(name, hook, hook(function, args, kwargs))
        if settings.enable_logging:
            _log.debug("started %s", name)
        golden = _golden(function, args, kwargs) if settings.enable_comparison_mode else None
        result = function(*args, **kwargs)
        if settings.enable_logging:
            _log.debug("finished %s", name)
        if golden is not None:
            _compare(name, golden, result, settings)
        for hook in list(_after):
            _none(name, hook, hook(function, args, kwargs, result))
        return result

    return called


def _none(name: str, hook: _Hook, value: Any) -> None:
    if value is not None:
        raise RuntimeError(f"{name}: hook {hook!r} returned {value!r}; expected None")


def _plain(value: Any) -> Any:
    """Returns tensors as torch tensors, in lists too."""
    if isinstance(value, Tensor):
        return sys.modules["ttnn"].__dict__["to_torch"](value)
    return type(value)(_plain(each) for each in value) if isinstance(value, list | tuple) else value


def _golden(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Returns what the golden function gives, before the call: it may write its operands. None without a golden."""
    try:
        golden = sys.modules["ttnn"].__dict__["get_golden_function"](function)
    except RuntimeError:
        return None
    return sys.modules["ttnn.goldens"].__dict__["call_golden"](function, golden, args, kwargs)


def _compare(name: str, golden: Any, result: Any, settings: Any) -> None:
    import torch

    pairs = zip(_listed(golden), _listed(_plain(result)), strict=False)
    for at, (expected, found) in enumerate(pairs):
        if not isinstance(expected, torch.Tensor) or not isinstance(found, torch.Tensor):
            continue
        pcc = _correlation(expected, found)
        if pcc >= settings.comparison_mode_pcc:
            continue
        text = f"{name}: result {at} has a correlation of {pcc:.6f} with its golden; expected "
        text += f"at least {settings.comparison_mode_pcc}"
        if settings.comparison_mode_should_raise_exception:
            raise RuntimeError(text)
        _log.error(text)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _correlation(expected: Any, found: Any) -> float:
    """Returns Pearson's correlation; 1 for equal constants, -1 for shapes or places of NaN and Inf that differ."""
    import torch

    a, b = expected.double().flatten(), found.double().flatten()
    finite = a.isfinite()
    if a.shape != b.shape or not torch.equal(finite, b.isfinite()):
        return -1.0
    if not torch.equal(a[~finite].nan_to_num(), b[~finite].nan_to_num()):
        return -1.0
    a, b = a[finite], b[finite]
    if len(a) < 2 or a.std() == 0 or b.std() == 0:
        return 1.0 if torch.allclose(a, b, rtol=1e-2, atol=1e-2) else -1.0
    return float(torch.corrcoef(torch.stack([a, b]))[0, 1])


@contextmanager
def _registered(hooks: list[_Hook], function: str, hook: _Hook) -> Iterator[None]:
    if not callable(hook):
        raise TypeError(f"ttnn.{function}: hook is {hook!r}; expected a function")
    hooks.append(hook)
    watch()
    try:
        yield
    finally:
        hooks.remove(hook)
        watch()


def register_pre_operation_hook(hook: _Hook) -> Any:
    """Calls `hook(operation, args, kwargs)` before each call of a public function, within a `with` block.

    Raises:
        TypeError: hook is no function.
        RuntimeError: it returned a value; raised by the call.
    """
    return _registered(_before, "register_pre_operation_hook", hook)


def register_post_operation_hook(hook: _Hook) -> Any:
    """Calls `hook(operation, args, kwargs, result)` after each call of a public function, within a `with` block.

    Raises:
        TypeError: hook is no function.
        RuntimeError: it returned a value; raised by the call.
    """
    return _registered(_after, "register_post_operation_hook", hook)
