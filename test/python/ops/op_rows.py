# SPDX-License-Identifier: Apache-2.0
"""Rows of the op tables: calls of an op, shapes, dtypes and attributes, and families of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Shape = tuple[int, ...]
# The shape of an operand; a list of shapes for a variadic one; a number for a constant; None for one that is left out.
Operand = Shape | list[Shape] | float | None

FLOATS = ("f32", "bf16")
INTEGERS = ("i32",)
NUMBERS = (*FLOATS, *INTEGERS)


@dataclass(frozen=True)
class Case:
    """One call: operands in the order of the builder method (or by name), attributes by name."""

    operands: Sequence[Operand] | Mapping[str, Operand]
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def items(self) -> list[tuple[str | int, Operand]]:
        if isinstance(self.operands, Mapping):
            return list(self.operands.items())
        return list(enumerate(self.operands))


@dataclass(frozen=True)
class Row:
    """How one op is tested.

    cases: calls that must agree with the golden.
    wrong: calls that must be refused, each with a regular expression for the error after the op's name.
    dtypes: of the operands, one run each.
    fixed: dtypes of operands that keep theirs in every run (indices), by position or name.
    result: dtype required of the result, where it is not what inference says.
    mesh: devices (rows, columns); on more than one the first operand is split along `split`, the results joined along
        `join`, by tensor dimension for each mesh axis (-1: not split).
    splits: the same of further operands, by position or name.
    tolerance: (atol, rtol) by dtype where the dtype's own do not hold; `because` says why.
    """

    cases: Sequence[Case]
    wrong: Sequence[tuple[Case, str]] = ()
    dtypes: tuple[str, ...] = FLOATS
    fixed: Mapping[str | int, str] = field(default_factory=dict)
    result: str | None = None
    mesh: tuple[int, int] = (1, 1)
    split: tuple[int, int] = (-1, -1)
    join: tuple[int, int] = (-1, -1)
    splits: Mapping[str | int, tuple[int, int]] = field(default_factory=dict)
    tolerance: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    because: str = ""

    @property
    def is_unary(self) -> bool:
        """One tensor of floats in, one out."""
        return "f32" in self.dtypes and self.result is None and all(len(c.operands) == 1 for c in self.cases)


def case(*operands: Operand, **attributes: Any) -> Case:
    return Case(operands, attributes)


def named(attributes: Mapping[str, Any] | None = None, **operands: Operand) -> Case:
    return Case(operands, attributes or {})


def row(*cases: Case, **options: Any) -> Row:
    return Row(cases, **options)


# Tile-multiple, odd, of size 1, of ranks 0, 1 and 4.
SHAPES: tuple[Shape, ...] = ((64, 128), (33, 65), (1, 1), (), (7,), (2, 3, 5, 33))
PAIRS: tuple[tuple[Shape, Shape], ...] = (
    ((64, 128), (64, 128)),
    ((33, 65), (33, 65)),
    ((33, 1), (1, 65)),
    ((2, 3, 32, 33), (33,)),
    ((), (5, 7)),
    ((1,), (7,)),
)
TRIPLES: tuple[tuple[Shape, Shape, Shape], ...] = (
    ((64, 128), (64, 128), (64, 128)),
    ((33, 65), (33, 65), (33, 65)),
    ((33, 1), (1, 65), (33, 65)),
    ((2, 3, 1, 7), (7,), ()),
)
NO_BROADCAST = "operand shapes 4x8 and 4x7 do not broadcast: sizes 8 and 7 in dimension 1"


# Operands that an op does not have.
TOO_MANY = (Case([(4, 4)] * 4), r"takes at most [123] arguments \(in0\b.*\), 4 were given")


def unary(dtypes: tuple[str, ...] = FLOATS, **attributes: Any) -> Row:
    return Row([case(s, **attributes) for s in SHAPES], [TOO_MANY], dtypes)


def binary(dtypes: tuple[str, ...] = FLOATS, **attributes: Any) -> Row:
    wrong = [(case((4, 8), (4, 7), **attributes), NO_BROADCAST)]
    return Row([case(*s, **attributes) for s in PAIRS], wrong, dtypes)


def ternary(dtypes: tuple[str, ...] = FLOATS) -> Row:
    return Row([case(*s) for s in TRIPLES], [(case((4, 8), (4, 7), (4, 8)), NO_BROADCAST)], dtypes)


def rows(names: str, make: Row) -> dict[str, Row]:
    """The same row for several ops."""
    return dict.fromkeys(names.split(), make)
