# SPDX-License-Identifier: Apache-2.0
"""Pipes between nodes, and nets of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .errors import DefinitionError, ShapeError

Rectangle = tuple[tuple[int, int], tuple[int, int]]  # first and last node, (x, y)


def _coordinate(name: str, value: Any) -> tuple[int, ...]:
    values = (value,) if type(value) is int else value
    if not isinstance(values, tuple) or not values or any(type(each) is not int or each < 0 for each in values):
        raise ShapeError(f"{name} is {value!r}; expected coordinates of a node: a number from 0 on, or a tuple of them")
    return values


class Pipe:
    """Leads from a node to another one, or to a rectangle of nodes: `ttl.Pipe(src=(0, 0), dst=(slice(1, 4), 0))`."""

    def __init__(self, src: Any, dst: Any) -> None:
        self.src, self.dst = src, dst
        self.source = _coordinate("ttl.Pipe: src", src)
        self.collective = isinstance(dst, tuple) and any(isinstance(each, slice) for each in dst)
        if not self.collective:
            point = _coordinate("ttl.Pipe: dst", dst)
            self.ranges = tuple((each, each + 1) for each in point)
        else:
            self.ranges = tuple(self._range(each) for each in dst)
        if len(self.ranges) != len(self.source):
            raise ShapeError(f"ttl.Pipe: src {src!r} and dst {dst!r}; expected as many coordinates in both")

    @staticmethod
    def _range(value: Any) -> tuple[int, int]:
        if not isinstance(value, slice):
            (point,) = _coordinate("ttl.Pipe: dst", value)
            return (point, point + 1)
        if type(value.start) is not int or type(value.stop) is not int or value.step not in (None, 1):
            raise ShapeError(f"ttl.Pipe: dst has {value!r}; expected a slice with start and stop, and no step")
        if not 0 <= value.start < value.stop:
            raise ShapeError(f"ttl.Pipe: dst has {value!r}, which has no nodes; expected 0 <= start < stop")
        return (value.start, value.stop)

    def placed(self, grid: tuple[int, int]) -> tuple[tuple[int, int], Rectangle]:
        """Returns source and rectangle as (x, y). Raises ShapeError for nodes outside of a grid."""
        if len(self.source) > 2 or (len(self.source) == 1 and self.collective and grid[1] != 1):
            raise ShapeError(
                f"ttl.Pipe: src {self.src!r} and dst {self.dst!r} have {len(self.source)} dimensions; "
                "expected 2, as the grid"
            )
        if len(self.source) == 1:
            (at,), (first, last) = self.source, (self.ranges[0][0], self.ranges[0][1] - 1)
            source, corners = divmod(at, grid[1]), (divmod(first, grid[1]), divmod(last, grid[1]))
        else:
            source = (self.source[0], self.source[1])
            (x0, x1), (y0, y1) = self.ranges
            corners = ((x0, y0), (x1 - 1, y1 - 1))
        for x, y in (source, *corners):
            if x >= grid[0] or y >= grid[1]:
                raise ShapeError(
                    f"ttl.Pipe: src {self.src!r} and dst {self.dst!r} are not inside of the grid of "
                    f"{grid[0]}x{grid[1]} nodes"
                )
        return source, corners

    def __repr__(self) -> str:
        return f"Pipe(src={self.src!r}, dst={self.dst!r})"


class PipeNet:
    """Groups pipes; `if_src` and `if_dst` of kernels run a function for each pipe that begins or ends at the node."""

    def __init__(self, pipes: Sequence[Pipe]) -> None:
        self.pipes = list(pipes)
        self.name = "pipe net"
        for each in self.pipes:
            if not isinstance(each, Pipe):
                raise DefinitionError(f"ttl.PipeNet: {each!r}; expected a ttl.Pipe")
        if not self.pipes:
            raise ShapeError("ttl.PipeNet: has no pipes; expected at least one")
        if len({each.collective for each in self.pipes}) > 1:
            raise ShapeError("ttl.PipeNet: has pipes to one node and pipes to ranges; expected two nets")
        if len({len(each.source) for each in self.pipes}) > 1:
            raise ShapeError("ttl.PipeNet: coordinates of its pipes have different numbers of dimensions; expected one")

    def _refuse(self, name: str) -> Any:
        raise DefinitionError(f"PipeNet.{name}: is for kernels of data movement (@ttl.datamovement)")

    def if_src(self, cond_fun: Any) -> None:
        """Raises DefinitionError: is for kernels."""
        self._refuse("if_src")

    def if_dst(self, cond_fun: Any) -> None:
        """Raises DefinitionError: is for kernels."""
        self._refuse("if_dst")

    def is_src(self) -> bool:
        """Raises DefinitionError: is for kernels."""
        return bool(self._refuse("is_src"))

    def is_dst(self) -> bool:
        """Raises DefinitionError: is for kernels."""
        return bool(self._refuse("is_dst"))

    def is_active(self) -> bool:
        """Raises DefinitionError: is for kernels."""
        return bool(self._refuse("is_active"))


class Net:
    """Holds a pipe net on a grid: where its pipes are, and the semaphores that they share.

    Pipes that begin or end at the same node have different slots; a slot has semaphores of its own. Where no node both
    sends and receives, the sender writes the data to the receivers (a multicast for a rectangle) when all are ready.
    In other nets, as rings, receivers read from the sender, which waits for them before it gives its block away:
    every node can begin with its own transfer.
    """

    def __init__(self, net: PipeNet, grid: tuple[int, int], first_semaphore: int) -> None:
        self.net, self.grid = net, grid
        self.sources: list[tuple[int, int]] = []
        self.rectangles: list[Rectangle] = []
        for pipe in net.pipes:
            source, rectangle = pipe.placed(grid)
            self.sources.append(source)
            self.rectangles.append(rectangle)
        self.nodes = [self._nodes(rectangle) for rectangle in self.rectangles]
        receivers = set().union(*self.nodes)
        self.pushes = not receivers & set(self.sources)
        self.slots: list[int] = []
        for at, (source, nodes) in enumerate(zip(self.sources, self.nodes, strict=True)):
            own = nodes | {source}
            taken = {self.slots[i] for i in range(at) if own & (self.nodes[i] | {self.sources[i]})}
            self.slots.append(next(slot for slot in range(at + 1) if slot not in taken))
        self.first = first_semaphore
        self.semaphores = (3 if self.pushes else 2) * (max(self.slots) + 1)

    @staticmethod
    def _nodes(rectangle: Rectangle) -> set[tuple[int, int]]:
        (x0, y0), (x1, y1) = rectangle
        return {(x, y) for x in range(x0, x1 + 1) for y in range(y0, y1 + 1)}

    @property
    def active(self) -> set[tuple[int, int]]:
        """Returns the nodes at which a pipe begins or ends."""
        return set().union(set(self.sources), *self.nodes)
