# SPDX-License-Identifier: Apache-2.0
"""The table of ops, by family."""

from . import (
    activations,
    casts,
    control,
    convolution,
    creation,
    elementwise,
    indexing,
    linear,
    movement,
    normalization,
    quantized,
    random,
    recurrent,
    reductions,
    sequences,
    slicing,
)

__all__ = [
    "activations",
    "casts",
    "control",
    "convolution",
    "creation",
    "elementwise",
    "indexing",
    "linear",
    "movement",
    "normalization",
    "quantized",
    "random",
    "recurrent",
    "reductions",
    "sequences",
    "slicing",
]
