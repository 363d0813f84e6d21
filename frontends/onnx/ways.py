# SPDX-License-Identifier: Apache-2.0
"""Ways in which a program leaves sizes open: which are equal, which are fixed, and which are sums of others."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .program import Open


@dataclass(frozen=True)
class Way:
    """One way to leave sizes open.

    groups: names of sizes that are equal at each call. fixed: names and values. sums: names of sizes that are the sum
    of others and a number, as the length of a cache is after a step.
    """

    groups: tuple[tuple[str, ...], ...]
    fixed: tuple[tuple[str, int], ...] = ()
    sums: tuple[tuple[str, tuple[str, ...], int], ...] = ()

    def names(self, point: Sequence[int]) -> dict[str, int]:
        """Returns all sizes for values of the open ones."""
        found = dict(self.fixed)
        for names, n in zip(self.groups, point, strict=True):
            found |= dict.fromkeys(names, n)
        return found | self.summed(found)

    def summed(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Returns the sizes that are sums of these."""
        return {name: sum(sizes[term] for term in terms) + more for name, terms, more in self.sums}


def with_sums(sizes: Mapping[str, int], seen: Sequence[Mapping[str, int]]) -> list[Way]:
    """Returns the way in which the sizes that differ between calls are open, some as sums; none without sums."""
    fixed = {name: n for name, n in sizes.items() if all(each[name] == n for each in seen)}
    open_names = [name for name in sizes if name not in fixed]
    sums: list[tuple[str, tuple[str, ...], int]] = []
    for name in sorted(open_names, key=lambda name: -sizes[name]):
        free = [term for term in open_names if term != name and term not in {known for known, *_ in sums}]
        terms = [*((term,) for term in free), *itertools.combinations(free, 2)]
        for those in terms:
            rest = {each[name] - sum(each[term] for term in those) for each in seen}
            if len(rest) == 1 and (len(those) == 1 or rest == {0}) and min(rest) >= 0:
                sums.append((name, those, rest.pop()))
                break
    known = {name for name, *_ in sums}
    # A sum of sums is a sum of their terms.
    if not sums or any(term in known for _, those, _ in sums for term in those):
        return []
    groups = tuple((name,) for name in open_names if name not in known)
    return [Way(groups, tuple(fixed.items()), tuple(sums))]


def accepts(way: Way, program: Open, sizes: Mapping[str, int]) -> bool:
    """Returns whether sizes that are one are equal, and all are within the program's bounds."""
    if any(sizes[name] != n for name, n in (*way.fixed, *way.summed(sizes).items())):
        return False
    for names, size, step in zip(way.groups, program.declared, program.steps, strict=True):
        n, rest = divmod(sizes[names[0]], step)
        if rest or any(sizes[name] != n * step for name in names) or n < size.least:
            return False
        if size.most is not None and n > size.most:
            return False
    return True
