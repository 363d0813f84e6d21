# SPDX-License-Identifier: Apache-2.0
"""Says how brightness and color follow from red, green and blue, as ITU-R BT.601, BT.709 and BT.2020 do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .modes import MODES

__all__ = ["YUVCoefficients", "yuv_bt601_coefficients", "yuv_bt709_coefficients"]

# By standard: the parts of red and of blue in brightness.
_PARTS = {"BT601": (0.299, 0.114), "BT709": (0.2126, 0.0722), "BT2020": (0.2627, 0.0593)}


class YUVCoefficients:
    """Has a row [red, green, blue, offset] for brightness (y) and for each of two colors (cb, cr)."""

    def __init__(
        self, y: Sequence[float] = (0.0,) * 4, cb: Sequence[float] = (0.0,) * 4, cr: Sequence[float] = (0.0,) * 4
    ) -> None:
        for name, row in (("y", y), ("cb", cb), ("cr", cr)):
            if len(row) != 4:
                raise ValueError(f"YUVCoefficients: {name} is {list(row)}; expected four numbers")
        self.y, self.cb, self.cr = list(y), list(cb), list(cr)

    def __repr__(self) -> str:
        return f"YUVCoefficients(y={self.y}, cb={self.cb}, cr={self.cr})"


def coefficients_of(color_space: Any, input_range: Any, output_range: Any) -> YUVCoefficients:
    """Returns the rows of a standard, for the range of the input and that of the bytes.

    Raises:
        TypeError: a parameter is of another type.
    """
    for name, value, kind in (
        ("color_space", color_space, "YUVColorSpace"), ("input_range", input_range, "RGBRange"),
        ("output_range", output_range, "YUVRange"),
    ):  # fmt: skip
        if not isinstance(value, MODES[kind]):
            raise TypeError(f"{name} is {value!r}; expected ttnn.{kind}")
    red, blue = _PARTS[color_space.name]
    weights = [red, 1 - red - blue, blue]
    limited = output_range.name == "Limited"
    bright, colored, black = (219.0, 224.0, 16.0) if limited else (255.0, 255.0, 0.0)
    half = input_range.name == "MinusOneToOne"
    scale = 0.5 if half else 1.0
    y = [bright * scale * each for each in weights]
    rows = []
    for at, part in ((2, blue), (0, red)):
        row = [-each / (2 * (1 - part)) for each in weights]
        row[at] = 0.5
        rows.append([colored * scale * each for each in row] + [128.0])
    return YUVCoefficients([*y, black + (bright / 2 if half else 0.0)], *rows)


def _standard(name: str) -> YUVCoefficients:
    return coefficients_of(
        MODES["YUVColorSpace"][name], MODES["RGBRange"].MinusOneToOne, MODES["YUVRange"].Limited
    )  # fmt: skip


def yuv_bt601_coefficients() -> YUVCoefficients:
    """Returns the rows of BT.601 for input from -1 to 1 and bytes from 16 to 235."""
    return _standard("BT601")


def yuv_bt709_coefficients() -> YUVCoefficients:
    """Returns the rows of BT.709 for input from -1 to 1 and bytes from 16 to 235."""
    return _standard("BT709")


# The same in the namespace of experimental functions.
EXPERIMENTAL = {f"experimental.{each.__name__}": each for each in (yuv_bt601_coefficients, yuv_bt709_coefficients)}
