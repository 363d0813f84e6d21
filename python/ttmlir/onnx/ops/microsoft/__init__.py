# SPDX-License-Identifier: Apache-2.0
"""Ops of onnxruntime's domain com.microsoft."""

from . import attention, functions, qlinear

__all__ = ["attention", "functions", "qlinear"]
