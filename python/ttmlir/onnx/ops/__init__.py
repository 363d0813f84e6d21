# SPDX-License-Identifier: Apache-2.0
"""The table of ops, by family."""

from . import (
    activations,
    casts,
    convolution,
    creation,
    elementwise,
    linear,
    movement,
    normalization,
    recurrent,
)

__all__ = [
    "activations",
    "casts",
    "convolution",
    "creation",
    "elementwise",
    "linear",
    "movement",
    "normalization",
    "recurrent",
]
