# SPDX-License-Identifier: Apache-2.0
"""Ops of PyBuda: `pybuda.op.<Op>(name, operands, attributes)` in a module's forward."""

from typing import Any

from ..tensor import OPS
from . import data_movement, math, modules, nn, quantization, window
from .modules import MaxPool2dModule

globals().update(OPS)
__all__ = [
    *OPS, "MaxPool2dModule", "data_movement", "loss", "math", "modules", "nn", "quantization", "window",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    # Losses are modules, and modules use ops.
    if name == "loss":
        import importlib

        return importlib.import_module(".loss", __name__)
    if name in OPS:
        return OPS[name]
    raise AttributeError(f"pybuda.op has no {name!r}; known: {', '.join(sorted(OPS))}")
