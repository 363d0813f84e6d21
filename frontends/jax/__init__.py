# SPDX-License-Identifier: Apache-2.0
"""Compiles JAX functions to programs to inspect and save. To run JAX on the chips, use the platform `tt`."""

from ttmlir.stablehlo import SizeError

from .compiled import CompiledFunction, compile
from .exported import ExportedFunction

__all__ = ["CompiledFunction", "ExportedFunction", "SizeError", "compile"]
