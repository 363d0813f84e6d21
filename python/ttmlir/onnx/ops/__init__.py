# SPDX-License-Identifier: Apache-2.0
"""The table of ops, by family."""

from . import convolution, creation, elementwise, linear, movement, normalization, recurrent

__all__ = ["convolution", "creation", "elementwise", "linear", "movement", "normalization", "recurrent"]
