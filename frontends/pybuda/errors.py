# SPDX-License-Identifier: Apache-2.0
"""Errors of PyBuda programs."""


class PyBudaError(RuntimeError):
    """A wrong use of the API, or a run that failed; says of which device, module or op."""


class ShapeError(PyBudaError, ValueError):
    """Operands or inputs that do not fit together."""


class FormatError(PyBudaError, ValueError):
    """A data format that does not exist on the chip, or not at this place."""


class OptionError(PyBudaError, TypeError, ValueError):
    """An option or override with another type, or with a value that it does not have; names it, and the accepted
    values.
    """


class PlacementError(PyBudaError):
    """Ops or queues that cannot be placed as the configuration asks."""


class VerificationError(PyBudaError, AssertionError):
    """A result that differs from its reference; says which, and how far."""
