# SPDX-License-Identifier: Apache-2.0
"""Errors of the PyTorch front end."""

from __future__ import annotations

import _ttmlir_runtime as tt
from torch._dynamo.exc import ShortenTraceback


class OutOfRangeError(tt.Error):
    """An integer that the chip's 32 bits do not hold; the text names the argument, the value and the range."""


class UnsupportedError(RuntimeError):
    """A program of PyTorch that cannot be lowered; the text names the op, the operand and the line of Python."""

    node: object = None  # of the graph, where one op is to blame


class OptionError(ShortenTraceback):
    """An error of the user's options, which Dynamo passes on: others it wraps as the failure of a compiler."""

    def __init__(self, text: str) -> None:
        super().__init__(text, first_useful_frame=None)


class OptionValueError(OptionError, ValueError):
    """An option that is not known, or a value that it does not take."""


class OptionTypeError(OptionError, TypeError):
    """An option, or all of them, of another type."""
