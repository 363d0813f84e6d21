# SPDX-License-Identifier: Apache-2.0
"""Names that PyBuda's compiled parts have in its own distribution. Data formats are also attributes: `_C.Float16_b`."""

from ..capture.formats import DataFormat, MathFidelity

globals().update(DataFormat.__members__)
__all__ = ["DataFormat", "MathFidelity", *DataFormat.__members__]
