# SPDX-License-Identifier: Apache-2.0
"""Functions of TTNN that are made of others, by family. COMPOSITES has them by name, GOLDENS what they compare with."""

from . import (
    backward,
    binary,
    caches,
    complexes,
    experimental,
    images,
    layouts,
    moreh,
    parts,
    random,
    sampling,
    series,
    shapes,
    statistics,
    training,
    unary,
)
from .frame import COMPOSITES, GOLDENS

# Functions that take what they take as it is: without common parameters and a golden.
PLAIN = {function.__name__: function for function in shapes.PLAIN}

__all__ = [
    "COMPOSITES",
    "GOLDENS",
    "PLAIN",
    "backward",
    "binary",
    "caches",
    "complexes",
    "experimental",
    "images",
    "layouts",
    "moreh",
    "parts",
    "random",
    "sampling",
    "series",
    "shapes",
    "statistics",
    "training",
    "unary",
]
