# SPDX-License-Identifier: Apache-2.0
"""A mesh on which collectives are run on arrays, and a slow planner of reshards: the references of these tests."""

from __future__ import annotations

import itertools
import math
import random
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

# A part of an axis: (name, product of what is more significant, size).
Part = tuple[str, int, int]
Dims = tuple[tuple[Part, ...], ...]


@dataclass(frozen=True)
class Mesh:
    axes: dict[str, int]

    @property
    def devices(self) -> list[dict[str, int]]:
        """The coordinates of each device."""
        ranges = [range(size) for size in self.axes.values()]
        return [dict(zip(self.axes, place, strict=True)) for place in itertools.product(*ranges)]

    def index(self, device: dict[str, int], parts: tuple[Part, ...]) -> int:
        """The number of the device along the parts, the last one fastest."""
        number = 0
        for name, pre, size in parts:
            after = self.axes[name] // (pre * size)
            number = number * size + device[name] // after % size
        return number

    def local(self, whole: np.ndarray, device: dict[str, int], dims: Dims) -> np.ndarray:
        for dim, parts in enumerate(dims):
            count = math.prod(size for _, _, size in parts)
            whole = np.split(whole, count, axis=dim)[self.index(device, parts)]
        return whole

    def group(self, device: dict[str, int], parts: tuple[Part, ...]) -> list[int]:
        """The devices that differ from this one along the parts only, in the order of their numbers there."""

        def rest(other: dict[str, int]) -> tuple[tuple[str, int], ...]:
            digits = dict(other)
            for name, pre, size in parts:
                after = self.axes[name] // (pre * size)
                digits[name] -= other[name] // after % size * after
            return tuple(digits.items())

        found = [n for n, other in enumerate(self.devices) if rest(other) == rest(device)]
        return sorted(found, key=lambda n: self.index(self.devices[n], parts))

    # Collectives, on one array for each device.

    def slice(self, data: list[np.ndarray], lists: Dims) -> list[np.ndarray]:
        return [self.local(part, device, lists) for part, device in zip(data, self.devices, strict=True)]

    def gather(self, data: list[np.ndarray], lists: Dims) -> list[np.ndarray]:
        for dim, parts in enumerate(lists):
            data = [np.concatenate([data[n] for n in self.group(d, parts)], axis=dim) for d in self.devices]
        return data

    def all_to_all(self, data: list[np.ndarray], moves: list[tuple[tuple[Part, ...], int, int]]) -> list[np.ndarray]:
        for parts, source, target in moves:
            exchanged = []
            for device in self.devices:
                group = self.group(device, parts)
                mine = self.index(device, parts)
                pieces = [np.split(data[n], len(group), axis=target)[mine] for n in group]
                exchanged.append(np.concatenate(pieces, axis=source))
            data = exchanged
        return data

    def permute(self, data: list[np.ndarray], source: Dims, target: Dims) -> list[np.ndarray]:
        """Each device takes what some device has whose place among the shards is its own new one."""
        places = {tuple(self.index(d, parts) for parts in source): n for n, d in enumerate(self.devices)}
        return [data[places[tuple(self.index(d, parts) for parts in target)]] for d in self.devices]


# ----------------------------------------------------------------------------------------------------------------------
# The slow planner
# ----------------------------------------------------------------------------------------------------------------------


def atoms_of(mesh: Mesh, sides: list[Dims]) -> list[Part]:
    """Parts of prime size that each side uses as a whole or not at all."""
    atoms = []
    for name, size in mesh.axes.items():
        cuts = {1, size}
        for dims in sides:
            cuts |= {cut for parts in dims for n, p, s in parts if n == name for cut in (p, p * s)}
        pre = 1
        for cut in sorted(cuts)[1:]:
            while pre < cut:
                prime = next(p for p in range(2, cut + 1) if cut // pre % p == 0)
                atoms.append((name, pre, prime))
                pre *= prime
    return atoms


def split(dims: Dims, atoms: list[Part]) -> Dims:
    return tuple(
        tuple(a for n, p, s in parts for a in atoms if a[0] == n and p <= a[1] and a[1] * a[2] <= p * s)
        for parts in dims
    )


def shards(parts: tuple[Part, ...]) -> int:
    return math.prod(size for _, _, size in parts)


def all_states(atoms: list[Part], rank: int) -> Iterator[Dims]:
    for count in range(len(atoms) + 1):
        for order in itertools.permutations(atoms, count):
            for cuts in itertools.combinations_with_replacement(range(count + 1), rank - 1):
                edges = [0, *cuts, count]
                yield tuple(order[a:b] for a, b in itertools.pairwise(edges))


def fewest_exchanges(mesh: Mesh, shape: tuple[int, ...], source: Dims, target: Dims) -> int:
    """The fewest gathers, permutes and all-to-alls by which a tensor gets from one sharding to the other, if no device
    may hold more than before or after, by search over all states and steps."""
    atoms = atoms_of(mesh, [source, target])
    start, end = split(source, atoms), split(target, atoms)
    least = min(math.prod(map(shards, start)), math.prod(map(shards, end)))

    def allowed(state: Dims) -> bool:
        counts = [shards(parts) for parts in state]
        return math.prod(counts) >= least and all(size % count == 0 for size, count in zip(shape, counts, strict=True))

    same_counts: dict[tuple[int, ...], list[Dims]] = {}
    for state in all_states(atoms, len(shape)):
        same_counts.setdefault(tuple(shards(parts) for parts in state), []).append(state)

    def slices(state: Dims) -> Iterator[Dims]:
        used = {atom for parts in state for atom in parts}
        for atom in atoms:
            if atom not in used:
                for dim in range(len(state)):
                    yield (*state[:dim], (*state[dim], atom), *state[dim + 1 :])

    def gathers(state: Dims) -> Iterator[Dims]:
        yield from itertools.product(*([parts[:n] for n in range(len(parts) + 1)] for parts in state))

    def exchanges(state: Dims, free: frozenset[int]) -> Iterator[Dims]:
        for a, b in itertools.permutations(sorted(free), 2):
            for count in range(1, len(state[a]) + 1):
                moved = list(state)
                moved[b] = state[b] + state[a][-count:]
                moved[a] = state[a][:-count]
                after = tuple(moved)
                yield after
                yield from exchanges(after, free - {a, b})

    distance = {start: 0}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        cost = distance[state]
        if state == end:
            return cost
        steps = [(after, 0) for after in slices(state)]
        steps += [(after, 1) for after in gathers(state)]
        steps += [(after, 1) for after in exchanges(state, frozenset(range(len(state))))]
        steps += [(after, 1) for after in same_counts[tuple(shards(parts) for parts in state)]]
        for after, price in steps:
            if allowed(after) and cost + price < distance.get(after, 1 << 30):
                distance[after] = cost + price
                (queue.append if price else queue.appendleft)(after)
    raise AssertionError(f"no way from {source} to {target}")


# ----------------------------------------------------------------------------------------------------------------------
# Random shardings
# ----------------------------------------------------------------------------------------------------------------------


def random_cuts(rng: random.Random, mesh: Mesh) -> dict[str, int]:
    """Where each axis may be cut in two."""
    return {n: rng.choice([d for d in range(1, size + 1) if size % d == 0]) for n, size in mesh.axes.items()}


def random_dims(rng: random.Random, mesh: Mesh, rank: int, cuts: dict[str, int]) -> Dims:
    """Some parts of some axes, in any order over the dimensions."""
    parts: list[Part] = []
    for name, size in mesh.axes.items():
        cut = cuts[name]
        pieces = [(name, 1, cut), (name, cut, size // cut)] if rng.random() < 0.3 else [(name, 1, size)]
        parts += [piece for piece in pieces if piece[2] > 1 and rng.random() < 0.75]
    rng.shuffle(parts)
    dims: list[list[Part]] = [[] for _ in range(rank)]
    for part in parts:
        dim = rng.choice(dims)
        if dim and dim[-1][0] == part[0] and dim[-1][1] * dim[-1][2] == part[1]:
            dim[-1] = (part[0], dim[-1][1], dim[-1][2] * part[2])
        else:
            dim.append(part)
    return tuple(map(tuple, dims))


def sharding_text(mesh: Mesh, dims: Dims) -> str:
    def axis(name: str, pre: int, size: int) -> str:
        return f'"{name}"' if size == mesh.axes[name] else f'"{name}":({pre}){size}'

    return ", ".join("{" + ", ".join(axis(*part) for part in parts) + "}" for parts in dims)


def read_parts(mesh: Mesh, text: str) -> tuple[Part, ...]:
    found = re.findall(r'"(\w+)"(?::\((\d+)\)(\d+))?', text)
    return tuple((name, int(pre or 1), int(size or mesh.axes[name])) for name, pre, size in found)


def read_dims(mesh: Mesh, text: str) -> Dims:
    return tuple(read_parts(mesh, entry) for entry in re.findall(r"\{([^}]*)\}", text))
