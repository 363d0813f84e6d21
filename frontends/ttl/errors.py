# SPDX-License-Identifier: Apache-2.0
"""Errors of TT-Lang programs. Each message begins with the file and line of the program that caused it."""

from __future__ import annotations


class TTLError(Exception):
    """Is the base of all errors of TT-Lang programs."""


class UnsupportedError(TTLError, NotImplementedError):
    """Says that a kernel has a construct that cannot be compiled, and what can."""


class DefinitionError(TTLError, TypeError):
    """Says that an operation, a kernel or a call is not formed as the language requires."""


class ShapeError(TTLError, ValueError):
    """Says that shapes, sizes or coordinates do not fit."""


class BlockError(TTLError, RuntimeError):
    """Says that a block is used in a way that its state does not allow."""


class KernelError(TTLError, RuntimeError):
    """Says what a kernel did wrong on a simulated core, or what each kernel waits for in a deadlock."""
