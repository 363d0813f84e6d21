# SPDX-License-Identifier: Apache-2.0
"""Goldens of programs that leave sizes open: those of the module that is built for some sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from golden import GoldenMapTensor

from .module_goldens import IntermediateGoldens, ProgramGoldens, Programs

Shapes = Mapping[str, Sequence[tuple[int | str, ...]]]


@dataclass(frozen=True)
class Built:
    """The module for some sizes. compile: returns the flatbuffer of this module alone."""

    sizes: Mapping[str, int]
    programs: Programs
    intermediates: IntermediateGoldens
    compile: Callable[[], bytes]


class OpenGoldens(Mapping[int, ProgramGoldens]):
    """Goldens of all public functions for the sizes that are requested; as a mapping, those of one value of each size.

    build: gives the module for some sizes, with the given inputs by function, or with random ones.
    shapes: of the inputs of each function, with names of sizes.
    chosen: the values of the mapping. listed: sizes of which the compiled program has the chosen values only.
    """

    def __init__(
        self,
        build: Callable[[Mapping[str, int], Mapping[str, Sequence[Any]]], Built],
        shapes: Shapes,
        chosen: Mapping[str, int],
        listed: Sequence[str] = (),
    ):
        self._build, self.shapes, self.chosen, self.listed = build, shapes, chosen, listed
        self._first: Built | None = None

    def has(self, sizes: Mapping[str, int]) -> bool:
        """Returns whether the compiled program has these values of the listed sizes."""
        return all(sizes[name] == self.chosen[name] for name in self.listed)

    def at(self, **sizes: int) -> Built:
        """Returns the goldens for these sizes; those that are not given have the value that the mapping is of."""
        return self._build({**self.chosen, **sizes}, {})

    def of(self, inputs: Mapping[str, Sequence[Any]]) -> Built:
        """Returns the goldens for inputs by function, of any sizes.

        Raises:
            ValueError: inputs whose shapes contradict those of the function, or one another; names both.
        """
        sizes: dict[str, int] = {}
        for function, values in inputs.items():
            self._read_sizes(function, values, sizes)
        return self._build({**self.chosen, **sizes}, inputs)

    def _read_sizes(self, function: str, values: Sequence[Any], sizes: dict[str, int]) -> None:
        shapes = self.shapes.get(function)
        if shapes is None:
            raise ValueError(
                f"inputs are given for {function!r}; open sizes have the functions {', '.join(self.shapes)}"
            )
        if len(shapes) != len(values):
            raise ValueError(f"{function!r} takes {len(shapes)} inputs, {len(values)} were given")
        for i, (shape, value) in enumerate(zip(shapes, values, strict=True)):
            given = tuple(GoldenMapTensor.of(value).shard_at(0).shape)
            what = f"input {i} of {function!r} has shape {list(given)}"
            expected = f"[{', '.join(map(str, shape))}]"
            if len(given) != len(shape):
                raise ValueError(f"{what}; expected {expected}")
            for dim, (name, size) in enumerate(zip(shape, given, strict=True)):
                known = sizes.setdefault(name, size) if isinstance(name, str) else name
                if known != size:
                    because = f", where {name} is {known}" if isinstance(name, str) else ""
                    raise ValueError(f"{what}; expected {known} in dimension {dim} of {expected}{because}")

    @property
    def first(self) -> Built:
        if self._first is None:
            self._first = self.at()
        return self._first

    def named(self, name: str) -> ProgramGoldens | None:
        return self.first.programs.named(name)

    def __getitem__(self, index: int) -> ProgramGoldens:
        return self.first.programs[index]

    def __iter__(self) -> Iterator[int]:
        return iter(self.first.programs)

    def __len__(self) -> int:
        return len(self.first.programs)
