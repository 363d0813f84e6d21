# SPDX-License-Identifier: Apache-2.0
"""Constraints between sizes: PyTorch's guards of several symbols, and sizes that satisfy them.

A graph was captured for sizes that satisfy its guards, such as s0 > 2*s1. At others its shapes mean nothing, so that a
program must not be compared there.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import sympy  # type: ignore[import-untyped]
from ttmlir.sizes import GENERIC, Point, Size, meeting, points

from torch.fx.experimental.symbolic_shapes import SYMPY_INTERP
from torch.utils._sympy.functions import CeilToInt, CleanDiv, FloorDiv, FloorToInt, IntTrueDiv, Mod, PythonMod
from torch.utils._sympy.printers import PythonPrinter

# What a size without a bound is at most where sizes are looked for.
FAR = 1 << 20
# How far around a size others are looked at; how many values of each are in the rounds of a search, and in one round.
WINDOW, ROUNDS, MOST_LOOKS = 64, (4, 16, 1000), 2000
# How far from the end of an inequality sample points are, so that no other relation holds at all of them.
APART = (3, 29, 11, 61, 17)
INEQUALITIES = (sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge)
# Divisors of sizes that programs count in.
MOST_DIVISOR = 1024
# Further sample points where sizes depend on each other.
MORE = 4


def numeric(expressions: Sequence[Any], names: Sequence[sympy.Symbol]) -> Callable[..., list[Any]]:
    """Returns the function that computes the values of expressions from the values of symbols."""
    code = ", ".join(PythonPrinter().doprint(e) if isinstance(e, sympy.Basic) else repr(e) for e in expressions)
    return eval(f"lambda {', '.join(map(str, names))}: [{code}]", dict(SYMPY_INTERP))


def guards_of(environment: Any) -> list[Any]:
    """Returns the conditions of PyTorch's environment of shapes, unless its symbols are known to satisfy them."""
    if environment is None:
        return []
    asserted = [each.expr for several in environment.deferred_runtime_asserts.values() for each in several]
    found = [environment.replace(guard) for guard in (*(g.expr for g in environment.guards), *asserted)]
    return list(dict.fromkeys(found))


QUOTIENTS = (FloorDiv, CleanDiv, IntTrueDiv, Mod, PythonMod)
ROUNDED = (sympy.floor, sympy.ceiling, FloorToInt, CeilToInt)


def period(expression: Any) -> int:
    """Returns how an expression repeats, apart from what grows steadily: by which number its symbols can all be
    raised."""
    if not getattr(expression, "free_symbols", ()):
        return 1
    inner = math.lcm(*map(period, expression.args))
    if isinstance(expression, QUOTIENTS) and expression.args[1].is_Integer:
        return inner * abs(int(expression.args[1]))
    if isinstance(expression, ROUNDED):
        return inner * math.lcm(*(int(number.q) for number in expression.atoms(sympy.Rational)))
    return inner


def residues(guards: Sequence[Any]) -> dict[sympy.Symbol, tuple[int, int]]:
    """Returns for symbols what guards leave of them: multiples of a number, plus a remainder."""
    of_symbols: dict[sympy.Symbol, list[Any]] = {}
    for guard in map(cancelled, guards):
        quotients = guard.atoms(*QUOTIENTS)
        repeats = len(guard.free_symbols) == 1 and all(e.args[1].is_Integer for e in quotients)
        if repeats and any(isinstance(e, Mod | PythonMod) for e in quotients):
            of_symbols.setdefault(*guard.free_symbols, []).append(guard)
    found = {}
    for symbol, several in of_symbols.items():
        after = math.lcm(*map(period, several))
        if after > MOST_DIVISOR:
            continue
        holds = numeric([sympy.And(*several)], [symbol])
        allowed, again = ([n for n in range(after) if holds(n + far * after)[0]] for far in (4, 7))
        if allowed and allowed == again:
            factor = math.gcd(after, *(n - allowed[0] for n in allowed))
            found[symbol] = factor, allowed[0] % factor
    return {symbol: both for symbol, both in found.items() if both[0] > 1}


def cancelled(guard: Any) -> Any:
    """Returns the guard without factors of both operands: s0*s1 is a multiple of 8*s1."""
    if not isinstance(guard, sympy.Eq) or not isinstance(guard.lhs, Mod | PythonMod) or guard.rhs != 0:
        return guard
    number, divisor = guard.lhs.args
    if divisor.is_Integer:
        return guard
    number, divisor = sympy.fraction(sympy.cancel(number / divisor))
    return sympy.Eq(Mod(number, divisor), 0) if divisor.is_Integer and divisor > 0 else guard


def together(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int] | None:
    """Returns the factor and remainder of numbers that have both of these factors and remainders; None for none."""
    factor = math.lcm(one[0], other[0])
    for n in range(one[1], factor, one[0]):
        if n % other[0] == other[1]:
            return factor, n
    return None


def met(guards: Sequence[Any]) -> list[Any]:
    """Returns the guards with an equation in place of two inequalities that only meet: a <= b and b <= a."""
    found: list[Any] = []
    sides: dict[Any, int] = {}  # what is at most 0 -> place of its guard
    for guard in guards:
        if isinstance(guard, INEQUALITIES):
            side = sympy.expand(guard.lts - guard.gts + (1 if isinstance(guard, sympy.Lt | sympy.Gt) else 0))
            if (place := sides.get(sympy.expand(-side))) is not None:
                found[place] = sympy.Eq(side, 0)
                continue
            sides[side] = len(found)
        found.append(guard)
    return found


class Condition:
    """A condition on some sizes of a program.

    places: of these sizes among the program's.
    """

    def __init__(self, expression: Any, names: Sequence[sympy.Symbol]) -> None:
        self.expression = expression
        self.places = tuple(i for i, name in enumerate(names) if name in expression.free_symbols)
        difference = expression.lhs - expression.rhs if isinstance(expression, sympy.core.relational.Relational) else 0
        self.is_inequality = isinstance(expression, INEQUALITIES)
        self._function = numeric((expression, difference), [names[i] for i in self.places])

    def is_bound(self) -> bool:
        """Returns whether the condition is a bound of a size."""
        return self.is_inequality and not self.expression.has(Mod, PythonMod)

    def holds(self, point: Sequence[int | None]) -> bool:
        """Returns whether sizes go together. The end of an inequality of several is left out: slices are often all of a
        tensor there.
        """
        is_true, difference = self._values(point)
        return bool(is_true) and (difference != 0 or len(self.places) == 1 or not self.is_inequality)

    def _values(self, point: Sequence[int | None]) -> list[Any]:
        try:
            return self._function(*(point[i] for i in self.places))
        except ZeroDivisionError:
            return [False, 0]

    def end(self, place: int, point: Sequence[int | None], least: int, most: int) -> int | None:
        """Returns where the sides of a relation are equal, or change places, as one size changes; None if nowhere."""

        def difference(n: int) -> Any:
            return self._values([n if i == place else known for i, known in enumerate(point)])[1]

        found = meeting(difference, least, most)
        return found[1] if found else None


class Conditions:
    """The conditions on the sizes of a program.

    names: a symbol for each size. replaced: what symbols of the guards are in these.
    """

    def __init__(
        self, guards: Sequence[Any], names: Sequence[sympy.Symbol], replaced: Mapping[sympy.Symbol, Any] | None = None
    ) -> None:
        self.names = names
        found = met([guard.xreplace(dict(replaced or {})) for guard in guards])
        # Guards of other symbols are about strides, which a program does not have.
        self.conditions = [
            Condition(e, names) for e in dict.fromkeys(found) if e.free_symbols and e.free_symbols <= set(names)
        ]

    def admits(self, point: Sequence[int]) -> bool:
        return all(condition.holds(point) for condition in self.conditions)

    def depend(self) -> bool:
        """Returns whether the values that a size has depend on another size."""
        return any(len(condition.places) > 1 for condition in self.conditions)

    def tells_apart(self) -> bool:
        """Returns whether conditions keep any two sizes from having the same value: n0 is n1 + 1."""
        apart = set()
        for condition in self.conditions:
            if len(condition.places) == 2:
                one, other = (self.names[i] for i in condition.places)
                if condition.expression.subs(other, one) == sympy.false:
                    apart.add(condition.places)
        return apart.issuperset(itertools.combinations(range(len(self.names)), 2))

    def bounded(self, size: Size, place: int) -> Size:
        """Returns the size with the bounds that conditions on it alone leave."""
        least, most = size.least, FAR if size.most is None else size.most
        for condition in self.conditions:
            if condition.places != (place,) or not condition.is_bound():
                continue

            def holds(n: int, condition: Condition = condition) -> bool:
                return condition.holds([n] * len(self.names))

            ends = holds(least), holds(most)
            if ends == (False, True):
                least = bisect.bisect_left(range(most), True, least, key=holds)
            elif ends == (True, False):
                most = bisect.bisect_left(range(most), True, least, key=lambda n: not holds(n)) - 1
        return Size(size.name, least, size.most if most == FAR else most)

    def nearest(self, requested: Sequence[int], sizes: Sequence[Size], apart: int = 0) -> Point | None:
        """Returns a point that is admitted, with sizes near those of another one within their bounds; None if none was
        found.

        apart: how far from the end of a relation a size is that has to change.
        """
        if self.admits(requested):
            return tuple(requested)
        return next(
            (found for most in ROUNDS if (found := self._search(requested, sizes, apart, most)) is not None), None
        )

    def _search(self, requested: Sequence[int], sizes: Sequence[Size], apart: int, most: int) -> Point | None:
        looks = iter(range(MOST_LOOKS))
        point: list[int | None] = [None] * len(sizes)
        ready = [[c for c in self.conditions if c.places[-1] == place] for place in range(len(sizes))]
        related = {place for c in self.conditions for place in c.places}

        def search(place: int) -> bool:
            if place == len(sizes):
                return True
            values = self._candidates(place, point, requested[place], sizes[place], ready[place], apart)
            for n in itertools.islice(values, most if place in related else 1):
                if next(looks, None) is None:
                    break
                point[place] = n
                if all(condition.holds(point) for condition in ready[place]) and search(place + 1):
                    return True
            point[place] = None
            return False

        return tuple(n for n in point if n is not None) if search(0) else None

    def _candidates(
        self,
        place: int,
        point: Sequence[int | None],
        requested: int,
        size: Size,
        ready: Sequence[Condition],
        apart: int,
    ) -> Iterator[int]:
        """Yields values of one size, where those before it are chosen."""
        least, most = size.least, FAR if size.most is None else size.most
        ends = [end for c in ready if (end := c.end(place, point, least, most)) is not None]
        steps = sorted({0, apart, 2 * apart, 3 * apart, 1, 2})
        beyond = [
            end + sign * step for step in sorted(steps, key=lambda n: n < apart) for end in ends for sign in (1, -1)
        ]
        around = [requested + sign * step for step in range(1, WINDOW) for sign in (1, -1)]
        scaled = [requested * n for n in range(2, 9)] + [requested // n for n in range(2, 9)]
        for n in dict.fromkeys([requested, *beyond, *around, *scaled]):
            if least <= n <= most:
                yield n

    def points(self, sizes: Sequence[Size], generic: Sequence[int]) -> list[Point]:
        """Returns sample points as `ttmlir.sizes.points` does, all of them admitted.

        Where no points are found that are, they are those that would be taken without conditions.
        """
        usual = points(sizes, generic)
        if all(map(self.admits, usual)):
            return usual
        found: list[Point] = []
        for i in range(len(usual) + (MORE if self.depend() else 0)):
            before, shift = usual[i % len(usual)], i // len(usual)
            requested = [n + 7 * shift * (place + 1) for place, n in enumerate(before)]
            if i == len(usual) and tuple(generic) != GENERIC[-1]:  # bounds of the file are those of the points
                requested = [max(values) for values in zip(*usual, strict=True)]
            point = self.nearest(requested, sizes, APART[i % len(APART)] + shift)
            if point is not None and point not in found:
                found.append(point)
        return found if all(len(set(values)) >= 3 for values in zip(*found, strict=True)) and found else usual
