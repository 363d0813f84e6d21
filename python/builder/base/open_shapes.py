# SPDX-License-Identifier: Apache-2.0
"""Sizes that input shapes name instead of giving a number, and their values in one build of a module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ttmlir.bounds import LARGEST, Bounds
from ttmlir.sizes import GENERIC

from .errors import did_you_mean

OpenShape = tuple[int | str, ...]


@dataclass
class OpenShapes:
    """Gives the sizes that shapes name their numbers in one build.

    bounds: of sizes, by name; others take any number.
    values: of sizes, by name; the others get numbers that have nothing in common.
    shapes: of the inputs of each function, with the names.
    """

    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    values: dict[str, int] = field(default_factory=dict)
    shapes: dict[str, list[OpenShape]] = field(default_factory=dict)

    def resolved(self, function: str, shapes: Sequence[Sequence[Any]]) -> list[tuple[int, ...]]:
        """Returns the shapes in numbers. None is a separate size, named by function, input and dimension: main_0_1."""
        named: list[OpenShape] = [
            tuple(f"{function}_{i}_{d}" if size is None else size for d, size in enumerate(shape))
            for i, shape in enumerate(shapes)
        ]
        if any(isinstance(size, str) for shape in named for size in shape):
            self.shapes[function] = named
        return [tuple(self.value(size) if isinstance(size, str) else size for size in shape) for shape in named]

    def value(self, name: str) -> int:
        """Returns the value of a size in this build."""
        if name not in self.values:
            bounds = self.bounds.get(name, Bounds())
            most = LARGEST if bounds.most is None else bounds.most
            generic = GENERIC[0][len(self.values) % 4]
            self.values[name] = min(max(generic, bounds.least), most)
        return self.values[name]

    @property
    def names(self) -> list[str]:
        """Returns those that shapes have, in the order of the inputs."""
        return list(
            dict.fromkeys(s for shapes in self.shapes.values() for shape in shapes for s in shape if isinstance(s, str))
        )

    def check_names(self, given: Mapping[str, Any], parameter: str) -> None:
        """
        Raises:
            ValueError: a name that no shape has.
        """
        for name in given:
            if name not in self.names:
                hint = did_you_mean(name, self.names) if self.names else "; the shapes of the inputs are numbers"
                raise ValueError(f"{parameter} has the size {name!r}, which no input names{hint}")
