# SPDX-License-Identifier: Apache-2.0
"""IR utilities that MLIR's own bindings lack."""

from ._mlir_libs._ttmlir.util import *  # noqa: F403
from .ir import Module


def debug_print_module(module: Module) -> None:
    """Prints a module with its locations."""
    print(module.operation.get_asm(enable_debug_info=True))
