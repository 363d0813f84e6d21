# SPDX-License-Identifier: Apache-2.0
"""Errors of the importer."""

from __future__ import annotations

# Errors say it of nodes that need the elements of a value, which a call may bring.
NEEDS_VALUES = "known"


class OnnxError(RuntimeError):
    """A model that cannot be compiled; the text names the file, the node or input, and what was expected."""


class UnsupportedOpError(OnnxError):
    """An op that has no form on the chip, whatever its sizes."""


class Refused(Exception):
    """Raised by rules for a node that has no form here; the importer adds file, node and place."""


class NoForm(Refused):
    """Raised for an op that has no form here, whatever its sizes."""


class Expand(Exception):
    """Raised by rules for a form of an op that the function body of its definition covers."""


def needs_values(error: OnnxError) -> bool:
    """Returns whether a node may have a form when elements of inputs are known."""
    return NEEDS_VALUES in str(error)
