# SPDX-License-Identifier: Apache-2.0
"""Rules by family; importing this fills the table."""

from . import convolution, creation, elementwise, indexing, matmul, movement, normalization, random, reduction, volumes

__all__ = ["convolution", "creation", "elementwise", "indexing", "matmul", "movement", "normalization", "random",
           "reduction", "volumes"]  # fmt: skip
