# SPDX-License-Identifier: Apache-2.0
"""Provides the TT dialects, passes and translations on MLIR's Python bindings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .options import CompileOptions, OptionError

__all__ = ["CompileOptions", "OptionError"]


def __getattr__(name: str) -> Any:
    """Returns what `ttmlir.options` exports; the package itself loads no library."""
    if name not in __all__:
        raise AttributeError(f"module 'ttmlir' has no attribute {name!r}")
    from . import options

    return getattr(options, name)
