# SPDX-License-Identifier: Apache-2.0
"""Functions of TTNN that are made of others, by family. COMPOSITES has them by name, GOLDENS what they compare with."""

from . import backward, binary, shapes, unary
from .frame import COMPOSITES, GOLDENS
from .shapes import (
    clone,
    expand,
    full_like,
    moreh_sum,
    ones_like,
    rdiv,
    rsub,
    split,
    square,
    squeeze,
    unsqueeze,
    unsqueeze_to_4D,
    zeros_like,
)

__all__ = [
    "COMPOSITES",
    "GOLDENS",
    "backward",
    "binary",
    "clone",
    "expand",
    "full_like",
    "moreh_sum",
    "ones_like",
    "rdiv",
    "rsub",
    "shapes",
    "split",
    "square",
    "squeeze",
    "unary",
    "unsqueeze",
    "unsqueeze_to_4D",
    "zeros_like",
]
