# SPDX-License-Identifier: Apache-2.0
"""Comparison of results with their references."""

from .compare import calculate_pcc, compare_tensor_to_golden

__all__ = ["calculate_pcc", "compare_tensor_to_golden"]
