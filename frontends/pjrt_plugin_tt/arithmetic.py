# SPDX-License-Identifier: Apache-2.0
"""Arithmetic that JAX writes with 64-bit integers, by words of 32 bits."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array
from jax._src.interpreters import mlir
from jax._src.lax import lax

from .rules import rule


def _mulhi(x: Array, y: Array) -> Array:
    """Returns the upper half of the product of integers."""
    if x.dtype.itemsize != 4:
        return lax._mulhi_impl(x, y)
    a, b = x.astype(jnp.uint32), y.astype(jnp.uint32)
    low, high = a & 0xFFFF, a >> 16
    other_low, other_high = b & 0xFFFF, b >> 16
    left, right = high * other_low, low * other_high
    middle = ((low * other_low) >> 16) + (left & 0xFFFF) + (right & 0xFFFF)
    upper = high * other_high + (left >> 16) + (right >> 16) + (middle >> 16)
    if x.dtype == jnp.int32:  # a negative number stands for itself plus 2^32
        upper = upper - jnp.where(x < 0, b, 0) - jnp.where(y < 0, a, 0)
    return upper.astype(x.dtype)


def register(platform: str) -> None:
    mlir.register_lowering(lax.mulhi_p, rule(_mulhi, multiple_results=False), platform=platform)
