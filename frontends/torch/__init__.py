# SPDX-License-Identifier: Apache-2.0
"""Runs PyTorch models on simulated chips: `torch.compile(model, backend="tt")`, and `compile` for files."""

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ModuleNotFoundError("ttmlir.torch needs PyTorch: pip install 'ttmlir[torch]'", name="torch") from None

from .compilation import compile_graph
from .entry import backend
from .errors import UnsupportedError
from .exported import CompiledModel, compile, export
from .importer import import_graph
from .options import Options
from .sizes.convolutions import install as _install

_install()

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
