# SPDX-License-Identifier: Apache-2.0
"""The graph that is placed: ops, queues, and what moves elements on the way between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..capture.formats import DataFormat
from ..enums import FORWARD
from ..errors import PlacementError
from ..tenstorrent.chip import TILE

BITS = {
    DataFormat.Float32: 32, DataFormat.Float16: 16, DataFormat.Float16_b: 16, DataFormat.Int32: 32,
    DataFormat.Int8: 8, DataFormat.UInt16: 16, DataFormat.RawUInt8: 8, DataFormat.RawUInt16: 16,
    DataFormat.RawUInt32: 32, DataFormat.Bfp8: 8, DataFormat.Bfp8_b: 8, DataFormat.Bfp4: 4, DataFormat.Bfp4_b: 4,
    DataFormat.Bfp2: 2, DataFormat.Bfp2_b: 2, DataFormat.Lf8: 8,
}  # fmt: skip


def round_up(size: int, alignment: int) -> int:
    """Returns the least multiple of the alignment that is not less."""
    return -(-size // alignment) * alignment


def tile_bytes(data_format: DataFormat) -> int:
    """Returns bytes of a tile; block formats have an exponent for 16 values."""
    values = TILE * TILE
    exponents = values // 16 if data_format.name.startswith("Bfp") else 0
    return values * BITS[data_format] // 8 + exponents


@dataclass(frozen=True, slots=True)
class Tiles:
    """A tensor in tiles: matrices of rows and columns."""

    z: int
    r: int
    c: int

    @property
    def count(self) -> int:
        return self.z * self.r * self.c


def tiles(shape: Sequence[int]) -> Tiles:
    rows, columns = (1, 1, *shape)[-2:]
    return Tiles(max(1, math.prod(shape[:-2])), max(1, -(-rows // TILE)), max(1, -(-columns // TILE)))


@dataclass(slots=True, eq=False)
class Node:
    name: str
    shape: tuple[int, ...]
    df: DataFormat


@dataclass(slots=True, eq=False)
class Queue(Node):
    """Memory that ops read, or write.

    kind: input, parameter, constant, output, intermediate, gradient, state (of an optimizer), e2e (between epochs),
        buffering (within one).
    producer: the op that writes it; None: the host. entries: how many tensors it holds.
    """

    kind: str
    producer: Op | None = None
    entries: int = 1

    @property
    def is_ram(self) -> bool:
        """Returns whether it keeps its values from run to run."""
        return self.kind in ("parameter", "constant", "gradient", "state")


@dataclass(slots=True, eq=False)
class Operand:
    """An operand of an op, and how elements move on the way: text as the netlist has it.

    shape: as the op gets it. df: the format in which it gets it, where that is not the source's.
    """

    source: Node
    shape: tuple[int, ...]
    tms: tuple[str, ...] = ()
    df: DataFormat | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where the compiler places an op of the program (ttnn-place-epochs).

    epoch: its number in the program. core, size: the first row and column, and numbers of rows and columns of cores.
    turned: rows and columns of its grid are exchanged. cycles: on these cores; l1: bytes on each.
    """

    epoch: int
    core: tuple[int, int]
    size: tuple[int, int]
    turned: bool
    cycles: int
    l1: int

    @property
    def grid(self) -> tuple[int, int]:
        """Returns rows and columns of the op's grid."""
        return self.size[::-1] if self.turned else self.size


@dataclass(slots=True, eq=False)
class Op(Node):
    """An op of the core set.

    epoch_type: fwd, bwd or opt. source: the op of the module that it is a part of, or "".
    inner: tiles of the inner dimension of a product, else 0.
    rows: ops of programs that compute it, as number of the program and index there. work: nanoseconds of theirs on one
        core. place: where the compiler places them.
    parts: of a fused op the ops that it is made of. chip: which one it has to be on.
    node: the node of PyTorch's graph that it computes. is_product: that is a product of matrices.
    location: the name of the program's op, which ttnn-place-epochs knows it by.
    spill_df: the format that a rule gives to sums that are in memory between parts of the inner dimension.
    """

    type: str
    operands: list[Operand]
    epoch_type: str = FORWARD
    source: str = ""
    inner: int = 0
    attributes: dict[str, Any] = field(default_factory=dict)
    fidelity: str = "HiFi3"
    acc_df: DataFormat = DataFormat.Float16_b
    intermed_df: DataFormat = DataFormat.Float16_b
    parts: list[Op] = field(default_factory=list)
    chip: int | None = None
    node: str = ""
    location: str = ""
    is_product: bool = False
    spill_df: DataFormat | None = None
    rows: tuple[tuple[int, int], ...] = ()
    work: float | None = None
    place: Place | None = None

    @property
    def tiles(self) -> Tiles:
        return tiles(self.shape)

    @property
    def placed(self) -> Place:
        """Returns the op's place.

        Raises:
            PlacementError: the compiler has not placed it.
        """
        if self.place is None:
            raise PlacementError(f"op {self.name!r} has no cores: the compiler has not placed it")
        return self.place

    @property
    def is_matmul(self) -> bool:
        return (self.parts[0] if self.parts else self).type in MATMULS


MATMULS = frozenset({"matmul", "conv2d"})
# Ops that join elements of several operands.
JOINS = frozenset({"splice", "embedding", "gather", "where"})


@dataclass
class Graph:
    """Ops in the order of their schedule, and queues.

    aliases: names of ops of the module that are no ops here, with why.
    same: queues of results that nothing computes, and the queues whose memory they are. fused: how many ops are fused.
    """

    name: str
    ops: list[Op] = field(default_factory=list)
    queues: list[Queue] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)
    microbatch: int = 1
    same: dict[Queue, Node] = field(default_factory=dict)
    fused: int = 0
    _names: set[str] = field(default_factory=set)

    def unique(self, name: str) -> str:
        """Returns a name that no node has: `name`, or with a number behind it."""
        found, number = name, 0
        while found in self._names:
            number += 1
            found = f"{name}.{number}"
        self._names.add(found)
        return found

    def queue(self, name: str, shape: Sequence[int], df: DataFormat, kind: str, producer: Op | None = None) -> Queue:
        entries = 2 if kind in ("input", "output", "intermediate") else 1
        found = Queue(self.unique(name), tuple(shape), df, kind, producer, entries)
        self.queues.append(found)
        return found

    def keep(self, node: Node) -> None:
        """Adds a queue that something reads; others of its name are there already, or are never read."""
        if isinstance(node, Queue) and node not in self.queues:
            node.name = self.unique(node.name)
            self.queues.append(node)

    def rename(self, queue: Queue, name: str) -> None:
        queue.name = self.unique(name)

    def op(self, name: str) -> Op | None:
        return next((x for x in self.ops if x.name == name), None)

    def readers(self) -> dict[Node, list[tuple[Op, int]]]:
        """Returns for each node the ops that read it, with the number of the operand."""
        found: dict[Node, list[tuple[Op, int]]] = {}
        for op in self.ops:
            for number, operand in enumerate(op.operands):
                found.setdefault(operand.source, []).append((op, number))
        return found

    def written(self) -> dict[Op, list[Queue]]:
        """Returns for each op the queues that it writes."""
        found: dict[Op, list[Queue]] = {}
        for queue in self.queues:
            if queue.producer is not None:
                found.setdefault(queue.producer, []).append(queue)
        return found


def divisors(n: int) -> list[int]:
    """Returns the divisors from 1 to n."""
    low = [d for d in range(1, math.isqrt(n) + 1) if n % d == 0]
    return low + [n // d for d in reversed(low) if d * d != n]
