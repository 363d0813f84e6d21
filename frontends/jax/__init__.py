# SPDX-License-Identifier: Apache-2.0
"""JAX's functions as programs to look at: `compile`. To run JAX on the chips, use its platform `tt`."""

from ttmlir.stablehlo import SizeError

from .compiled import CompiledFunction, compile
from .exported import ExportedFunction

__all__ = ["CompiledFunction", "ExportedFunction", "SizeError", "compile"]
