# SPDX-License-Identifier: Apache-2.0
"""Block expressions as trees: what `blk.store(...)` computes, tile by tile.

A node has a shape in tiles. `tile` of a child is a function of the coordinates of the node's own tile.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..errors import ShapeError

Shape = tuple[int, ...]
Place = tuple[str, ...]  # the coordinates of a tile, as C++ expressions


def bits(value: float) -> str:
    """Returns the bits of a number in f32, as C++ text."""
    return f"{struct.unpack('<I', struct.pack('<f', value))[0]}u"


def number_text(value: float) -> str:
    """Returns a number in f32 as C++ text."""
    if math.isnan(value):
        return '__builtin_nanf("")'
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}__builtin_inff()"
    return f"{struct.unpack('<f', struct.pack('<f', value))[0]!r}f"


@dataclass(eq=False)
class Node:
    """Is a block expression; two nodes are equal only if they are the same."""

    shape: Shape

    def children(self) -> tuple[Node, ...]:
        """Returns the operands."""
        return ()


@dataclass(eq=False)
class Leaf(Node):
    """Is a block at the front of a circular buffer. `owner` is what the program knows it by."""

    port: int
    owner: object = None


@dataclass(eq=False)
class Fill(Node):
    """Has one number in every element."""

    value: float


@dataclass(eq=False)
class Unary(Node):
    """Applies a function of one register in place; `arguments` follow the register's number."""

    function: str
    child: Node
    arguments: tuple[str, ...] = ()
    init: str = ""

    def children(self) -> tuple[Node, ...]:
        return (self.child,)


@dataclass(eq=False)
class Several(Node):
    """Applies a function of two or three registers, to the register of the first."""

    function: str
    operands: tuple[Node, ...]

    def children(self) -> tuple[Node, ...]:
        return self.operands


@dataclass(eq=False)
class Matmul(Node):
    """Multiplies matrices of tiles; dimensions before the last two are batches."""

    left: Node
    right: Node

    def children(self) -> tuple[Node, ...]:
        return (self.left, self.right)


@dataclass(eq=False)
class Reduce(Node):
    """Joins the elements of dimensions, which have size 1 afterwards. `kind` is SUM or MAX."""

    kind: str
    child: Node
    dims: frozenset[int]

    def children(self) -> tuple[Node, ...]:
        return (self.child,)


@dataclass(eq=False)
class Broadcast(Node):
    """Repeats tiles along dimensions; within tiles, the first row or column along the last two."""

    child: Node
    dims: frozenset[int]

    def children(self) -> tuple[Node, ...]:
        return (self.child,)

    def along(self) -> str:
        """Returns the kernel API's name of what is spread within a tile; empty where tiles stay as they are."""
        row, column = len(self.shape) - 2 in self.dims, len(self.shape) - 1 in self.dims
        return "SCALAR" if row and column else "ROW" if row else "COL" if column else ""


@dataclass(eq=False)
class Transpose(Node):
    """Exchanges rows and columns, of tiles and in tiles."""

    child: Node

    def children(self) -> tuple[Node, ...]:
        return (self.child,)


@dataclass(eq=False)
class Reshape(Node):
    """Has the tiles of another block in the same order."""

    child: Node

    def children(self) -> tuple[Node, ...]:
        return (self.child,)


@dataclass
class Uses:
    """Counts the users of each node of a tree, for nodes that several operands share."""

    count: dict[int, int] = field(default_factory=dict)

    @staticmethod
    def of(root: Node) -> Uses:
        """Counts the edges to each node; a node's own operands count once."""
        result = Uses()
        seen: set[int] = set()

        def visit(node: Node) -> None:
            result.count[id(node)] = result.count.get(id(node), 0) + 1
            if id(node) in seen:
                return
            seen.add(id(node))
            for child in node.children():
                visit(child)

        visit(root)
        return result


def walk(root: Node) -> Iterator[Node]:
    """Yields each node of a tree once."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        stack += node.children()


def same_shape(name: str, *nodes: Node) -> Shape:
    """Returns the shape of operands. Raises ShapeError unless all have one."""
    shapes = [node.shape for node in nodes]
    if any(shape != shapes[0] for shape in shapes):
        raise ShapeError(
            f"{name}: blocks have shapes {', '.join(map(str, shapes))} in tiles; expected one shape "
            "(ttl.block.broadcast expands a block)"
        )
    return shapes[0]


def _dims(name: str, node: Node, dims: object, rank: int) -> frozenset[int]:
    if isinstance(dims, int) and not isinstance(dims, bool):
        dims = (dims,)
    if not isinstance(dims, list | tuple) or not dims or any(type(each) is not int for each in dims):
        raise ShapeError(f"{name}: dims is {dims!r}; expected a list of at least one dimension")
    for each in dims:
        if not -rank <= each < rank:
            raise ShapeError(
                f"{name}: dimension {each} of a block of shape {node.shape}; expected {-rank} to {rank - 1}"
            )
    return frozenset(each % rank for each in dims)


def _target(name: str, shape: object, rank: int) -> Shape:
    if not isinstance(shape, list | tuple) or any(type(each) is not int or each < 1 for each in shape):
        raise ShapeError(f"{name}: shape is {shape!r}; expected a tuple of sizes in tiles that the compiler knows")
    if len(shape) != rank:
        raise ShapeError(f"{name}: shape {tuple(shape)} has {len(shape)} dimensions; expected {rank}")
    return tuple(shape)


def matmul(left: Node, right: Node) -> Node:
    """Returns a product. Raises ShapeError for shapes that do not fit."""
    name = "a @ b"
    a, b = left.shape, right.shape
    if len(a) < 2 or len(b) < 2 or a[-1] != b[-2]:
        raise ShapeError(f"{name}: blocks of shapes {a} and {b} in tiles; expected (..., m, k) and (..., k, n)")
    batch_a, batch_b = a[:-2], b[:-2]
    rank = max(len(batch_a), len(batch_b))
    batch = []
    for x, y in zip((1,) * (rank - len(batch_a)) + batch_a, (1,) * (rank - len(batch_b)) + batch_b, strict=True):
        if x != y and 1 not in (x, y):
            raise ShapeError(f"{name}: batches {batch_a} and {batch_b} do not broadcast")
        batch.append(max(x, y))
    return Matmul((*batch, a[-2], b[-1]), left, right)


def broadcast(block: Node, dims: object, shape: object) -> Node:
    """Returns a block that is repeated along dimensions of size 1."""
    name = "ttl.block.broadcast"
    rank = len(block.shape)
    if rank < 2:
        raise ShapeError(f"{name}: a block of shape {block.shape}; expected at least 2 dimensions")
    along, target = _dims(name, block, dims, rank), _target(name, shape, rank)
    for at, (size, expected) in enumerate(zip(block.shape, target, strict=True)):
        if at in along and size != 1:
            raise ShapeError(f"{name}: dimension {at} of a block of shape {block.shape} has size {size}; expected 1")
        if at not in along and size != expected:
            raise ShapeError(f"{name}: dimension {at} has size {size}, and shape {target} has {expected} there")
    return Broadcast(target, block, along)


def reduce(kind: str, block: Node, dims: object, shape: object) -> Node:
    """Returns sums or maxima along dimensions."""
    name = f"ttl.math.reduce_{kind.lower()}"
    rank = len(block.shape)
    if rank < 2:
        raise ShapeError(f"{name}: a block of shape {block.shape}; expected at least 2 dimensions")
    along = _dims(name, block, dims, rank)
    result = tuple(1 if at in along else size for at, size in enumerate(block.shape))
    if shape is not None and _target(name, shape, rank) != result:
        raise ShapeError(f"{name}: shape is {tuple(shape)!r}; expected {result}")  # type: ignore[arg-type]
    return Reduce(result, kind, block, along)


def transpose(block: Node) -> Node:
    """Returns a block with rows and columns exchanged."""
    if len(block.shape) != 2:
        raise ShapeError(f"ttl.block.transpose: a block of shape {block.shape}; expected 2 dimensions")
    return Transpose((block.shape[1], block.shape[0]), block)


def squeeze(block: Node, dims: object) -> Node:
    """Returns a block without dimensions of size 1."""
    name = "ttl.block.squeeze"
    along = _dims(name, block, dims, len(block.shape))
    for at in along:
        if block.shape[at] != 1:
            raise ShapeError(f"{name}: dimension {at} of a block of shape {block.shape}; expected size 1")
    return Reshape(tuple(size for at, size in enumerate(block.shape) if at not in along), block)


def unsqueeze(block: Node, dims: object) -> Node:
    """Returns a block with further dimensions of size 1, at positions of the result."""
    given = dims if isinstance(dims, list | tuple) else (dims,)
    rank = len(block.shape) + len(given)
    along = _dims("ttl.block.unsqueeze", block, dims, rank)
    left = list(block.shape)
    return Reshape(tuple(1 if at in along else left.pop(0) for at in range(len(block.shape) + len(along))), block)


def fill(value: object, shape: object) -> Node:
    """Returns a block with one number in every element."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ShapeError(f"ttl.block.fill: value is {value!r}; expected a number that the compiler knows")
    if not isinstance(shape, list | tuple) or len(shape) < 2:
        raise ShapeError(f"ttl.block.fill: shape is {shape!r}; expected at least 2 sizes in tiles")
    return Fill(_target("ttl.block.fill", shape, len(shape)), float(value))


def unary(function: str, block: Node, *arguments: str, init: str = "") -> Node:
    """Returns a function of each element."""
    return Unary(block.shape, function, block, arguments, init)


def several(name: str, function: str, *blocks: Node) -> Node:
    """Returns a function of the elements at the same place of several blocks."""
    return Several(same_shape(name, *blocks), function, blocks)
