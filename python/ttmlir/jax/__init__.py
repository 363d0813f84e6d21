# SPDX-License-Identifier: Apache-2.0
"""JAX's functions as programs to look at: `compile`. To run JAX on the chips, use its platform `tt`."""

from .compiled import CompiledFunction, compile

__all__ = ["CompiledFunction", "compile"]
