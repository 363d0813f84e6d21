# SPDX-License-Identifier: Apache-2.0
"""PyTorch's programs on simulated chips: `torch.compile(model, backend="tt")`, and `compile` for files."""

from .dynamo import backend, compile_graph
from .errors import UnsupportedError
from .exported import CompiledModel, compile, export
from .importer import import_graph
from .options import Options

__all__ = [
    "CompiledModel",
    "Options",
    "UnsupportedError",
    "backend",
    "compile",
    "compile_graph",
    "export",
    "import_graph",
]
