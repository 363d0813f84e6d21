# SPDX-License-Identifier: Apache-2.0
"""Functions of TTNN that are made of others, by family. COMPOSITES has them by name, GOLDENS what they compare with."""

from . import (
    attention,
    backward,
    binary,
    caches,
    collectives,
    complexes,
    delta,
    experimental,
    fused,
    gelu,
    images,
    layouts,
    meshes,
    moreh,
    parts,
    random,
    rings,
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
    "attention",
    "backward",
    "binary",
    "caches",
    "collectives",
    "complexes",
    "delta",
    "experimental",
    "fused",
    "gelu",
    "images",
    "layouts",
    "meshes",
    "moreh",
    "parts",
    "random",
    "rings",
    "sampling",
    "series",
    "shapes",
    "statistics",
    "training",
    "unary",
]
