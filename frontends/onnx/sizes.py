# SPDX-License-Identifier: Apache-2.0
"""Sizes of a model's inputs: names, bounds, and checks of the inputs of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from .errors import OnnxError
from .model import Declared, Model

Shape: TypeAlias = tuple[int, ...]
Bounds: TypeAlias = "tuple[int, int | None]"


class Sizes:
    """Sizes that the inputs of a model have in common, by name.

    shapes: of each input, sizes and names; None where the rank is not known. bounds: of each name, least and most, None
    for no bound.

    Args:
        sizes: by name, one size or bounds.
    Raises:
        OnnxError: a name that no dimension has, or bounds without a size between them.
    """

    def __init__(
        self, model: Model, inputs: Sequence[Declared], sizes: Mapping[str, int | Bounds] | None = None
    ) -> None:
        self.inputs = list(inputs)
        self.shapes: dict[str, tuple[int | str, ...] | None] = {}
        self.bounds: dict[str, Bounds] = {}
        given, unknown = dict(sizes or {}), set(sizes or {})
        taken = {n for x in inputs for n in x.shape or () if isinstance(n, str)}
        for each in inputs:
            if each.shape is None:
                self.shapes[each.name] = None
                continue
            shape: list[int | str] = []
            for d, n in enumerate(each.shape):
                name = unnamed(each.name, d, taken) if n is None else n
                if isinstance(name, int):
                    shape.append(name)
                    continue
                unknown.discard(name)
                size = given.get(name, (0, None))
                shape.append(name if isinstance(size, tuple | list) else whole(model, name, size))
                if isinstance(size, tuple | list):
                    if len(size) != 2:
                        raise OnnxError(f"{model.path}: size {name} has the bounds {size!r}; expected least and most")
                    least, most = size
                    self.bounds[name] = whole(model, name, least), None if most is None else whole(model, name, most)
            self.shapes[each.name] = tuple(shape)
        if unknown:
            known = ", ".join(dict.fromkeys(n for x in self.shapes.values() for n in x or () if isinstance(n, str)))
            raise OnnxError(
                f"{model.path}: sizes has {min(unknown)!r}, which no dimension is called; known: {known or 'none'}"
            )
        for name, (least, most) in self.bounds.items():
            if most is not None and most < least:
                raise OnnxError(f"{model.path}: size {name} goes from {least} to {most}; expected the larger one last")

    @property
    def are_known(self) -> bool:
        """Returns whether all shapes are."""
        return not self.bounds and all(shape is not None for shape in self.shapes.values())

    def fixed(self, shapes: Mapping[str, Shape]) -> None:
        """Takes shapes of examples for the only ones."""
        self.shapes |= shapes
        self.bounds = {}

    def at(self, sizes: Mapping[str, int]) -> dict[str, Shape]:
        """Returns the shapes of inputs for these sizes."""
        return {
            name: tuple(n if isinstance(n, int) else sizes[n] for n in shape)
            for name, shape in self.shapes.items()
            if shape is not None
        }

    def check(self, given: Mapping[str, Shape]) -> dict[str, int]:
        """Returns the sizes that shapes of inputs bring.

        Raises:
            ValueError: a size that the model does not take; names input, dimension, size and bound.
        """
        found: dict[str, tuple[int, str]] = {}
        for name, have in given.items():
            expected = self.shapes[name]
            if expected is None:
                continue
            if len(have) != len(expected):
                shape = ", ".join(map(str, expected))
                raise ValueError(f"input {name} has the shape {list(have)}; expected [{shape}]")
            for d, (n, size) in enumerate(zip(expected, have, strict=True)):
                place = f"input {name}: dimension {d}"
                if isinstance(n, int):
                    if n != size:
                        raise ValueError(f"{place} is {size}; expected {n}")
                    continue
                first, where = found.setdefault(n, (size, place))
                if first != size:
                    raise ValueError(f"{place} ({n}) is {size}; expected {first}, as {where} is")
                least, most = self.bounds[n]
                if size < least or (most is not None and size > most):
                    bound = f"at least {least}" if most is None else f"{least} to {most}"
                    raise ValueError(f"{place} ({n}) is {size}; expected {bound}")
        return {name: n for name, (n, _) in found.items()}


def unnamed(name: str, dim: int, taken: set[str]) -> str:
    """Returns a name for a dimension that has none."""
    result = f"{name}_{dim}"
    while result in taken:
        result += "_"
    return result


def whole(model: Model, name: str, size: object) -> int:
    """
    Raises:
        OnnxError: it is no size.
    """
    if isinstance(size, bool) or not hasattr(size, "__index__") or size.__index__() < 0:
        raise OnnxError(f"{model.path}: size {name} is {size!r}; expected a number from 0, or bounds (least, most)")
    return int(size.__index__())
