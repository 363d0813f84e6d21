# SPDX-License-Identifier: Apache-2.0
"""Rules by family; importing this fills the table."""

from . import (
    convolution,
    creation,
    data_movement,
    elementwise,
    indexing,
    linear_algebra,
    matmul,
    normalization,
    pooling,
    random,
    reduction,
)

__all__ = ["convolution", "creation", "data_movement", "elementwise", "indexing", "linear_algebra", "matmul",
           "normalization", "pooling", "random", "reduction"]  # fmt: skip
