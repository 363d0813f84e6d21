# SPDX-License-Identifier: Apache-2.0
"""Compiles ONNX files to programs for Tenstorrent chips, and runs them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .errors import OnnxError

if TYPE_CHECKING:
    from .compiled import OnnxModel, compile, export, load
    from .program import OnnxProgram
    from .table import operators

__all__ = ["OnnxError", "OnnxModel", "OnnxProgram", "compile", "export", "load", "operators"]
MODULES = {"OnnxProgram": "program", "operators": "table"}


def __getattr__(name: str) -> Any:
    """Loads the parts that need the package onnx at their first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .model import require_onnx

    require_onnx()
    return getattr(importlib.import_module(f"{__name__}.{MODULES.get(name, 'compiled')}"), name)
