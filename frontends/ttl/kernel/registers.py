# SPDX-License-Identifier: Apache-2.0
"""Writes the C++ that evaluates block expressions, tile by tile, in the destination registers.

Operands of two registers are evaluated in Sethi and Ullman's order: first the one that needs more. What does not fit,
and operands of products, reductions, broadcasts and transposes that are expressions, pass through an intermediate
circular buffer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from .tree import (
    Broadcast,
    Fill,
    Leaf,
    Matmul,
    Node,
    Place,
    Reduce,
    Reshape,
    Several,
    Shape,
    Transpose,
    Unary,
    Uses,
    number_text,
    walk,
)

# Functions of two registers that the matrix unit has for tiles of circular buffers.
_MATRIX_UNIT = {"add_binary_tile": ("add_tiles", "ELWADD"), "sub_binary_tile": ("sub_tiles", "ELWSUB"),
                "mul_binary_tile": ("mul_tiles", "ELWMUL")}  # fmt: skip
_INTEGERS = ("Int32", "UInt32", "UInt16", "UInt8")


class _Full(Exception):
    """Says that a tree needs more registers than there are."""


def flat(shape: Shape, place: Place) -> str:
    """Returns the number of a tile of a block, as a C++ expression."""
    terms = []
    stride = 1
    for size, at in zip(reversed(shape), reversed(place), strict=True):
        if size > 1 and at != "0":
            terms.append(at if stride == 1 else f"({at}) * {stride}")
        stride *= size
    return " + ".join(reversed(terms)) or "0"


def unflat(shape: Shape, number: str) -> Place:
    """Returns the coordinates of a tile by its number."""
    place = []
    stride = math.prod(shape)
    for size in shape:
        outer, stride = stride, stride // size
        text = "0" if size == 1 else f"({number})"
        if size > 1 and stride > 1:
            text += f" / {stride}"
        if size > 1 and outer != math.prod(shape):
            text = f"({text}) % {size}"
        place.append(text)
    return tuple(place)


@dataclass
class Intermediates:
    """Gives out the circular buffers between the steps of a compute kernel. `first` is the number of the first one."""

    first: int
    dtype: str  # of registers
    made: list[tuple[int, str]] = field(default_factory=list)  # tiles and element type of each
    free: set[int] = field(default_factory=set)

    def take(self, tiles: int, dtype: str) -> int:
        """Returns the port of a buffer that nothing else uses."""
        for port in sorted(self.free):
            if self.made[port - self.first] == (tiles, dtype):
                self.free.discard(port)
                return port
        return self.make(tiles, dtype)

    def make(self, tiles: int, dtype: str) -> int:
        """Returns the port of a new buffer."""
        self.made.append((tiles, dtype))
        return self.first + len(self.made) - 1

    def give(self, port: int) -> None:
        """Takes a buffer back."""
        self.free.add(port)


class Evaluator:
    """Writes the C++ of block expressions of one compute kernel."""

    def __init__(
        self,
        registers: int,
        dtypes: Callable[[int], str],
        intermediates: Intermediates,
        emit: Callable[[str], None],
        scaler: Callable[[], int],
    ) -> None:
        """Keeps what expressions need.

        Args:
            registers: tiles that the destination registers hold.
            dtypes: the element type of a port.
            intermediates: further circular buffers.
            emit: takes C++ text.
            scaler: returns the port of a tile of ones.
        """
        self.registers, self.dtypes, self.intermediates = registers, dtypes, intermediates
        self.emit, self.scaler = emit, scaler
        self._held: list[int] = []
        self._lines: list[str] = []
        self._free: set[int] = set()
        self._dirty: set[int] = set()
        self._kept: dict[tuple[int, Place], tuple[int, int]] = {}
        self._uses = Uses()

    def store(self, root: Node, port: int) -> None:
        """Evaluates an expression into the pages that are reserved at the back of a circular buffer."""
        root = self._with_operands_in_buffers(root, {})
        while True:
            try:
                text = self._blocks_of_products(root, port) or self._tiles(root, port)
                break
            except _Full:
                root = self._with_one_spilled(root)
        self.emit(text)
        for each in self._held:
            self.emit(f"cb_pop_front({each}, {self._pages(each)});")
            self.intermediates.give(each)
        self._held = []

    def hold(self, root: Node) -> Leaf:
        """Evaluates an expression into an intermediate buffer, which the caller pops."""
        tiles = math.prod(root.shape)
        port = self.intermediates.take(tiles, self.dtype_of(root))
        self.emit(f"cb_reserve_back({port}, {tiles});")
        outer, self._held = self._held, []
        self.store(root, port)
        self._held = outer
        self.emit(f"cb_push_back({port}, {tiles}); cb_wait_front({port}, {tiles});")
        return Leaf(root.shape, port)

    def dtype_of(self, root: Node) -> str:
        """Returns the element type of an intermediate value: that of registers, or of integers."""
        kinds = {self.dtypes(node.port) for node in walk(root) if isinstance(node, Leaf)}
        if len(kinds) == 1 and (only := next(iter(kinds))) in _INTEGERS:
            return only
        return self.intermediates.dtype

    def _pages(self, port: int) -> int:
        return self.intermediates.made[port - self.intermediates.first][0]

    # Trees.

    def _held_leaf(self, root: Node) -> Leaf:
        leaf = self.hold(root)
        self._held.append(leaf.port)
        return leaf

    def _with_operands_in_buffers(self, node: Node, done: dict[int, Node]) -> Node:
        """Returns the tree with what the matrix unit reads in circular buffers."""
        if id(node) in done:
            return done[id(node)]
        children = tuple(self._with_operands_in_buffers(child, done) for child in node.children())
        if isinstance(node, Matmul | Reduce | Transpose) or (isinstance(node, Broadcast) and node.along()):
            children = tuple(child if in_buffer(child) else self._held_leaf(child) for child in children)
        result = rebuilt(node, children)
        done[id(node)] = result
        return result

    def _with_one_spilled(self, root: Node) -> Node:
        """Returns the tree with its largest part that fits into the registers in a buffer."""
        uses = Uses.of(root)
        parts = [node for node in walk(root) if node is not root and not isinstance(node, Leaf | Fill)]
        if not parts:
            raise AssertionError("an expression of one step does not fit into the registers")

        def rank(node: Node) -> tuple[bool, int, int]:
            needed = self._needed(node)
            return (needed < self.registers, needed, uses.count[id(node)])

        for part in sorted(parts, key=rank, reverse=True):
            try:
                leaf = self._held_leaf(part)
            except _Full:
                continue
            return replaced(root, part, leaf)
        raise AssertionError("no part of an expression fits into the registers")

    def _needed(self, node: Node) -> int:
        """Returns the registers that a tree needs, without those of shared parts."""
        if isinstance(node, Several) and not in_buffer(node):
            needed = sorted((self._needed(child) for child in node.children()), reverse=True)
            return max(each + at for at, each in enumerate(needed))
        if isinstance(node, Unary | Reshape | Broadcast) and not in_buffer(node):
            return max([1, *(self._needed(child) for child in node.children())])
        return 1

    # Tiles in registers.

    def _tiles(self, root: Node, port: int) -> str:
        names = tuple(f"i{at}" for at in range(len(root.shape)))
        place = tuple("0" if size == 1 else name for size, name in zip(root.shape, names, strict=True))
        self._lines, self._free, self._dirty, self._kept = [], set(range(1, self.registers)), set(), {}
        self._uses = Uses.of(root)
        self._value(root, place, 0)
        loops = "".join(
            f"for (uint32_t {name} = 0; {name} < {size}; ++{name}) "
            for size, name in zip(root.shape, names, strict=True)
            if size > 1
        )
        return (
            f"{loops}{{ tile_regs_acquire(); {' '.join(self._lines)} tile_regs_commit(); tile_regs_wait(); "
            f"pack_tile(0, {port}); tile_regs_release(); }}"
        )

    def _take(self) -> int:
        if not self._free:
            raise _Full
        register = min(self._free)
        self._free.discard(register)
        return register

    def _line(self, text: str, register: int) -> None:
        self._lines.append(text)
        self._dirty.add(register)

    def _value(self, node: Node, place: Place, register: int) -> None:
        """Writes what computes a tile into a register."""
        if in_buffer(node):
            port, tile = tile_of(node, place)
            self._line(f"copy_tile_to_dst_init_short({port}); copy_tile({port}, {tile}, {register});", register)
            return
        shared = self._uses.count.get(id(node), 1) > 1 and not isinstance(node, Fill)
        key = (id(node), place)
        if shared and key in self._kept:
            kept, left = self._kept[key]
            self._line(f"copy_dest_values_init(); copy_dest_values({kept}, {register});", register)
            self._kept[key] = (kept, left - 1)
            if left == 1:
                self._free.add(kept)
                del self._kept[key]
            return
        _WRITERS[type(node)](self, node, place, register)
        if shared:
            kept = self._take()
            self._line(f"copy_dest_values_init(); copy_dest_values({register}, {kept});", kept)
            self._kept[key] = (kept, self._uses.count[id(node)] - 1)

    def _fill(self, node: Fill, place: Place, register: int) -> None:
        self._line(f"fill_tile_init(); fill_tile({register}, {number_text(node.value)});", register)

    def _unary(self, node: Unary, place: Place, register: int) -> None:
        self._value(node.child, place, register)
        arguments = ", ".join([str(register), *node.arguments])
        self._line(f"{node.init or node.function}_init(); {node.function}({arguments});", register)

    def _reshape(self, node: Reshape, place: Place, register: int) -> None:
        self._value(node.child, unflat(node.child.shape, flat(node.shape, place)), register)

    def _broadcast(self, node: Broadcast, place: Place, register: int) -> None:
        inner = child_place(node, place)
        if not node.along():
            self._value(node.child, inner, register)
            return
        port, tile = tile_of(node.child, inner)
        kind = f"BroadcastType::{node.along()}"
        self._line(
            f"unary_bcast_init<{kind}>({port}, {port}); unary_bcast<{kind}>({port}, {tile}, {register});", register
        )

    def _transpose(self, node: Transpose, place: Place, register: int) -> None:
        port, tile = tile_of(node.child, (place[1], place[0]))
        self._line(f"transpose_wh_init_short({port}); transpose_wh_tile({port}, {tile}, {register});", register)

    def _matmul(self, node: Matmul, place: Place, register: int, adds: bool = False) -> None:
        if register in self._dirty and not adds:
            self._line(f"fill_tile_init(); fill_tile({register}, 0.0f);", register)

        def batch(child: Node) -> Place:
            own = child.shape[:-2]
            outer = place[len(place) - 2 - len(own) : len(place) - 2]
            return tuple("0" if size == 1 else at for size, at in zip(own, outer, strict=True))

        steps = node.left.shape[-1]
        step = "0" if steps == 1 else "k"
        row = "0" if node.left.shape[-2] == 1 else place[-2]
        column = "0" if node.right.shape[-1] == 1 else place[-1]
        left, left_tile = tile_of(node.left, (*batch(node.left), row, step))
        right, right_tile = tile_of(node.right, (*batch(node.right), step, column))
        loop = "" if steps == 1 else f"for (uint32_t k = 0; k < {steps}; ++k) "
        self._line(
            f"mm_init_short({left}, {right}); {loop}matmul_tiles({left}, {right}, {left_tile}, {right_tile}, "
            f"{register});",
            register,
        )

    def _reduce(self, node: Reduce, place: Place, register: int) -> None:
        rank = len(node.shape)
        rows, columns = rank - 2 in node.dims, rank - 1 in node.dims
        within = "REDUCE_SCALAR" if rows and columns else "REDUCE_COL" if rows else "REDUCE_ROW" if columns else ""
        names = {at: f"r{at}" for at in sorted(node.dims) if node.child.shape[at] > 1}
        loops = "".join(f"for (uint32_t {n} = 0; {n} < {node.child.shape[at]}; ++{n}) " for at, n in names.items())
        inner = tuple(names.get(at, "0") if at in node.dims else place[at] for at in range(rank))
        port, tile = tile_of(node.child, inner)
        if not within or register in self._dirty:
            start = "0.0f" if node.kind == "SUM" else "-__builtin_inff()"
            self._line(f"fill_tile_init(); fill_tile({register}, {start});", register)
        if within:
            scaler = self.scaler()
            self._line(
                f"reduce_init<{node.kind}, {within}>({port}, {scaler}, {port}); {loops}"
                f"reduce_tile<{node.kind}, {within}>({port}, {scaler}, {tile}, 0, {register});",
                register,
            )
        elif node.kind == "SUM":
            reuse = "EltwiseBinaryType::ELWADD, EltwiseBinaryReuseDestType::DEST_TO_SRCA"
            self._line(
                f"binary_dest_reuse_tiles_init<{reuse}>({port}); {loops}"
                f"binary_dest_reuse_tiles<{reuse}>({port}, {tile}, {register});",
                register,
            )
        else:
            other = self._take()
            self._line(
                f"copy_tile_to_dst_init_short({port}); binary_max_tile_init(); {loops}{{ "
                f"copy_tile({port}, {tile}, {other}); binary_max_tile({register}, {other}, {register}); }}",
                register,
            )
            self._dirty.add(other)
            self._free.add(other)

    def _several(self, node: Several, place: Place, register: int) -> None:
        if len(node.operands) == 2 and self._on_matrix_unit(node, place, register):
            return
        order = sorted(range(len(node.operands)), key=lambda at: -self._needed(node.operands[at]))
        held = {order[0]: register}
        self._value(node.operands[order[0]], place, register)
        for at in order[1:]:
            held[at] = self._take()
            self._value(node.operands[at], place, held[at])
        operands = ", ".join(str(held[at]) for at in range(len(node.operands)))
        self._line(f"{node.function}_init(); {node.function}({operands}, {register});", register)
        self._free |= {held[at] for at in order[1:]}

    def _on_matrix_unit(self, node: Several, place: Place, register: int) -> bool:
        """Writes an operator whose operands, or all but one, are in circular buffers, and a product that is added."""
        left, right = node.operands
        if node.function == "add_binary_tile":
            for product, other in ((right, left), (left, right)):
                if isinstance(product, Matmul) and self._uses.count[id(product)] == 1:
                    self._value(other, place, register)
                    self._matmul(product, place, register, adds=True)
                    return True
        if node.function not in _MATRIX_UNIT:
            return False
        function, kind = _MATRIX_UNIT[node.function]
        if in_buffer(left) and in_buffer(right):
            (a, a_tile), (b, b_tile) = tile_of(left, place), tile_of(right, place)
            self._line(f"{function}_init({a}, {b}); {function}({a}, {b}, {a_tile}, {b_tile}, {register});", register)
            return True
        if in_buffer(left) == in_buffer(right):
            return False
        inside, other, side = (right, left, "A") if in_buffer(right) else (left, right, "B")
        self._value(other, place, register)
        port, tile = tile_of(inside, place)
        reuse = f"EltwiseBinaryType::{kind}, EltwiseBinaryReuseDestType::DEST_TO_SRC{side}"
        self._line(
            f"binary_dest_reuse_tiles_init<{reuse}>({port}); binary_dest_reuse_tiles<{reuse}>({port}, {tile}, "
            f"{register});",
            register,
        )
        return True

    # Products of blocks.

    def _blocks_of_products(self, root: Node, port: int) -> str:
        """Returns what computes a product of two matrices of tiles, several registers at a time; empty for others.

        The product may have a block added to it, and functions of one register applied to it.
        """
        functions: list[Unary] = []
        core, added = root, None
        while isinstance(core, Unary):
            functions.append(core)
            core = core.child
        if isinstance(core, Several) and core.function == "add_binary_tile":
            left, right = core.operands
            core, added = (right, left) if isinstance(right, Matmul) else (left, right)
            if not isinstance(added, Leaf):
                return ""
        if not isinstance(core, Matmul) or not isinstance(core.left, Leaf) or not isinstance(core.right, Leaf):
            return ""
        if len(core.left.shape) != 2 or len(core.right.shape) != 2:
            return ""
        (rows, steps), columns = core.left.shape, core.right.shape[1]
        across = max(size for size in range(1, min(columns, self.registers) + 1) if columns % size == 0)
        down = max(size for size in range(1, self.registers // across + 1) if rows % size == 0)
        a, b = core.left.port, core.right.port
        lines = [f"mm_block_init_short({a}, {b}, 0, {across}, {down}, {steps});"]
        registers = [(r, c, r * across + c) for r in range(down) for c in range(across)]
        for r, c, register in registers if added is not None else ():
            assert isinstance(added, Leaf)
            lines.append(f"copy_tile({added.port}, (i + {r}) * {columns} + j + {c}, {register});")
        lines.append(
            f"ckernel::experimental::matmul_block({a}, {b}, i * {steps}, j, 0, false, {across}, {down}, {steps}, "
            f"{columns});"
        )
        for function in reversed(functions):
            lines.append(f"{function.init or function.function}_init();")
            lines += [f"{function.function}({', '.join([str(n), *function.arguments])});" for _, _, n in registers]
        packs = " ".join(f"pack_tile<true>({n}, {port}, (i + {r}) * {columns} + j + {c});" for r, c, n in registers)
        return (
            f"for (uint32_t i = 0; i < {rows}; i += {down}) for (uint32_t j = 0; j < {columns}; j += {across}) {{ "
            f"tile_regs_acquire(); {' '.join(lines)} tile_regs_commit(); tile_regs_wait(); {packs} "
            "tile_regs_release(); }"
        )


_WRITERS: dict[type, Callable[..., None]] = {
    Fill: Evaluator._fill,
    Unary: Evaluator._unary,
    Reshape: Evaluator._reshape,
    Broadcast: Evaluator._broadcast,
    Transpose: Evaluator._transpose,
    Matmul: Evaluator._matmul,
    Reduce: Evaluator._reduce,
    Several: Evaluator._several,
}


def in_buffer(node: Node) -> bool:
    """Tells whether the tiles of an expression are those of a circular buffer, perhaps in another order."""
    if isinstance(node, Reshape) or (isinstance(node, Broadcast) and not node.along()):
        return in_buffer(node.child)
    return isinstance(node, Leaf)


def child_place(node: Broadcast, place: Place) -> Place:
    """Returns the coordinates of the tile that a broadcast repeats."""
    return tuple("0" if at in node.dims or size == 1 else each
                 for at, (size, each) in enumerate(zip(node.child.shape, place, strict=True)))  # fmt: skip


def tile_of(node: Node, place: Place) -> tuple[int, str]:
    """Returns the port and the number of the tile that an expression in a circular buffer has at a place."""
    if isinstance(node, Reshape):
        return tile_of(node.child, unflat(node.child.shape, flat(node.shape, place)))
    if isinstance(node, Broadcast):
        return tile_of(node.child, child_place(node, place))
    assert isinstance(node, Leaf)
    return node.port, flat(node.shape, place)


def rebuilt(node: Node, children: tuple[Node, ...]) -> Node:
    """Returns a node with other operands; the same one where they are the same."""
    if all(a is b for a, b in zip(node.children(), children, strict=True)):
        return node
    if isinstance(node, Unary):
        return Unary(node.shape, node.function, children[0], node.arguments, node.init)
    if isinstance(node, Several):
        return Several(node.shape, node.function, children)
    if isinstance(node, Matmul):
        return Matmul(node.shape, *children)
    if isinstance(node, Reduce):
        return Reduce(node.shape, node.kind, children[0], node.dims)
    if isinstance(node, Broadcast):
        return Broadcast(node.shape, children[0], node.dims)
    assert isinstance(node, Transpose | Reshape)
    return type(node)(node.shape, children[0])


def replaced(root: Node, old: Node, new: Node, done: dict[int, Node] | None = None) -> Node:
    """Returns a tree with one node in the place of another."""
    done = {} if done is None else done
    if root is old:
        return new
    if id(root) not in done:
        done[id(root)] = rebuilt(root, tuple(replaced(child, old, new, done) for child in root.children()))
    return done[id(root)]
