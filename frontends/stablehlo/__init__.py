# SPDX-License-Identifier: Apache-2.0
"""Compiles StableHLO modules whose arguments have open dimensions to programs for all sizes: `OpenProgram`."""

from .dimensions import Dimensions, SizeError, read_dimensions
from .program import OpenProgram, stablehlo_to_open_flatbuffer

__all__ = ["Dimensions", "OpenProgram", "SizeError", "read_dimensions", "stablehlo_to_open_flatbuffer"]
