# SPDX-License-Identifier: Apache-2.0
"""Ops of onnxruntime's domain com.microsoft."""

from . import attention, functions, qlinear, recurrent

__all__ = ["attention", "functions", "qlinear", "recurrent"]
