# SPDX-License-Identifier: Apache-2.0
"""Errors of the PyTorch front end."""

from __future__ import annotations

import _ttmlir_runtime as tt


class OutOfRangeError(tt.Error):
    """An integer that the chip's 32 bits do not hold; the text names the argument, the value and the range."""


class OverflowedError(OutOfRangeError):
    """A result of 64-bit integers that 32 bits may not hold; the text names the op."""


class ResultError(tt.Error):
    """A result of a program that differs from the graph's metadata; the text names the op and both shapes."""


class UnsupportedError(RuntimeError):
    """A program of PyTorch that cannot be lowered; the text names the op, the operand and the line of Python."""

    node: object = None  # of the graph, where one op is to blame
