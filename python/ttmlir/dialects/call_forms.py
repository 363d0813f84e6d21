# SPDX-License-Identifier: Apache-2.0
"""The forms in which programs of the ecosystem call classes of attributes and ops, in addition to those of MLIR's
bindings."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..ir import Attribute, Context, OpView, Type


def take_context_first(namespace: dict[str, Any]) -> None:
    """Makes `get` of every class of attributes or types in `namespace` take its context as the first argument, too."""
    for value in namespace.values():
        if isinstance(value, type) and issubclass(value, (Attribute, Type)) and "get" in vars(value):
            value.get = classmethod(_context_first(vars(value)["get"].__get__(None, value)))  # type: ignore[attr-defined]


def _context_first(get: Callable[..., Any]) -> Callable[..., Any]:
    def either(cls: type, *args: Any, **keywords: Any) -> Any:
        if args and isinstance(args[0], Context):
            args, keywords = args[1:], {**keywords, "context": args[0]}
        elif "ctx" in keywords:
            keywords["context"] = keywords.pop("ctx")
        return get(*args, **keywords)

    either.__name__, either.__doc__ = "get", get.__doc__
    return either


def take_results_first(namespace: dict[str, Any]) -> None:
    """Makes classes of ops in `namespace` whose results are inferred take types of results as first arguments, too."""
    for value in namespace.values():
        if isinstance(value, type) and issubclass(value, OpView) and "results" in _keywords(value):
            value.__init__ = _results_first(value.__init__)  # type: ignore[method-assign]


def _keywords(op: type) -> tuple[str, ...]:
    code = getattr(op.__init__, "__code__", None)
    return () if code is None else code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _results_first(init: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(init)
    def either(self: OpView, *args: Any, **keywords: Any) -> None:
        count = 0
        while count < len(args) and isinstance(args[count], Type):
            count += 1
        if count:
            if keywords.get("results") is not None:
                raise TypeError(f"{self.OPERATION_NAME}: types of results are given twice, first and as results=")
            args, keywords = args[count:], {**keywords, "results": list(args[:count])}
        init(self, *args, **keywords)

    return either
