# SPDX-License-Identifier: Apache-2.0
"""Names that PyBuda's compiled parts have in its own distribution."""

from ..formats import DataFormat, MathFidelity

__all__ = ["DataFormat", "MathFidelity"]
