# SPDX-License-Identifier: Apache-2.0
"""Ops that are products of matrices, or convolutions of integers."""

from . import attention, factorization, linear, quantized

__all__ = ["attention", "factorization", "linear", "quantized"]
