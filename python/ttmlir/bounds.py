# SPDX-License-Identifier: Apache-2.0
"""Bounds of open sizes as callers state them, and checks of sizes that a call has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

# The largest size that can be: the runtime has tensors of up to 2^44 elements.
LARGEST = 1 << 44


def is_size(value: Any) -> bool:
    """Returns whether a value is an integer; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


@dataclass(frozen=True)
class Bounds:
    """The range of a size: from least to most, unbounded where most is None."""

    least: int = 0
    most: int | None = None

    def check(self, name: str, value: Any) -> None:
        """
        Raises:
            TypeError: the value is no integer.
            ValueError: the value is not between the bounds, or larger than any size.
        """
        end = "more" if self.most is None else str(self.most)
        expected = f"{self.least}{' or ' if self.most is None else ' to '}{end}"
        if not is_size(value):
            raise TypeError(
                f"size {name!r} is {value!r} of type {type(value).__name__}; expected an integer, {expected}"
            )
        if value < self.least or (self.most is not None and value > self.most):
            raise ValueError(f"size {name!r} is {value}; expected {expected}")
        if value > LARGEST:
            raise ValueError(f"size {name!r} is {value}; a size is at most {LARGEST}")


def bounds_of(sizes: Mapping[str, Any] | None) -> dict[str, Bounds]:
    """Returns bounds by name, of {"batch": (2, 64)}, of (2, None) without an end, or of one number.

    Raises:
        TypeError, ValueError: names the size, and what was expected.
    """
    if sizes is not None and not isinstance(sizes, Mapping):
        raise TypeError(
            f"sizes is {sizes!r} of type {type(sizes).__name__}; expected a mapping, as {{'batch': (2, 64)}}"
        )
    return {name: bounds_from(name, given) for name, given in (sizes or {}).items()}


def bounds_from(name: Any, given: Any) -> Bounds:
    """Returns the bounds that are stated for a size.

    Raises:
        TypeError, ValueError: names the size, and what was expected.
    """
    expected = "a number, or (least, most) with 0 <= least <= most, most a number or None"
    what = f"sizes[{name!r}] is {given!r}; expected {expected}"
    if not isinstance(name, str) or not name:
        raise TypeError(f"sizes has the key {name!r}; expected the name of a size")
    pair = (given, given) if is_size(given) else given
    if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not is_size(pair[0]):
        raise TypeError(what)
    least, most = pair
    if most is not None and not is_size(most):
        raise TypeError(what)
    if least < 0 or (most is not None and most < least):
        raise ValueError(what)
    if (largest := least if most is None else most) > LARGEST:
        raise ValueError(f"sizes[{name!r}] is {given!r}, and a size is at most {LARGEST}; found {largest}")
    return Bounds(int(least), None if most is None else int(most))
