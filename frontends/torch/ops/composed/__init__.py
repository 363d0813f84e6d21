# SPDX-License-Identifier: Apache-2.0
"""Ops of aten, and of libraries, as functions of others: importing this fills the table."""

from . import (
    bags,
    distances,
    experts,
    indexing,
    linear_algebra,
    lists,
    pooling,
    quantization,
    scans,
    special,
    transformers,
)
from .registry import composed_ops

__all__ = ["bags", "composed_ops", "distances", "experts", "indexing", "linear_algebra", "lists", "pooling",
           "quantization", "scans", "special", "transformers"]  # fmt: skip
