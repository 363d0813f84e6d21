# SPDX-License-Identifier: Apache-2.0
"""Blocks of dataflow buffers, and copies between blocks, tensors and pipes."""

from __future__ import annotations

import math
from typing import Any

import ttnn

from ..buffers import DataflowBuffer
from ..errors import BlockError, DefinitionError, ShapeError
from ..pipes import Net
from .core import described
from .expressions import Expressions, is_constant
from .values import Block, Number, PipeEnd, TensorSlice, Transfer


def cores_of(ranges: Any) -> list[tuple[int, int]]:
    """Returns the cores (x, y) of ranges, row by row."""
    return [
        (x, y)
        for each in ranges.ranges()
        for y in range(each.start.y, each.end.y + 1)
        for x in range(each.start.x, each.end.x + 1)
    ]


class Movement(Expressions):
    """Compiles what kernels do with blocks."""

    # Blocks.

    def acquire(self, buffer: DataflowBuffer, reserved: bool) -> Block:
        """Waits for a block of a buffer, or reserves one; gives back the one that the kernel had before."""
        before = self.handles.get((buffer.index, reserved))
        if before is not None and before.open:
            self.release(before)
        if self.kernel.computes and not buffer.tiled:
            self.fail(
                ShapeError, f"{buffer.name} has elements in row-major order; compute kernels have blocks of tiles"
            )
        depth = sum(frame.kind == "loop" for frame in self.frames)
        block = Block(buffer, reserved, self.line, depth)
        self.handles[buffer.index, reserved] = block
        self.frames[-1].blocks.append(block)
        function = "cb_reserve_back" if reserved else "cb_wait_front"
        self.emit(f"{function}({buffer.index}, {buffer.pages});")
        return block

    def release(self, block: Block) -> None:
        """Gives a block back: a push of a reserved one, a pop of another."""
        what = "push" if block.reserved else "pop"
        self.check_open(block, what)
        if any(not each.waited for each in block.pending):
            self.fail(
                BlockError,
                f"{what} of {block} (line {block.line}) before its copy is done; wait for the transfer first",
            )
        if block.reserved and not block.written:
            self.fail(
                BlockError,
                f"push of {block} (reserved in line {block.line}), to which nothing was written; expected "
                + ("store" if self.kernel.computes else "a copy to it"),
            )
        if not block.reserved and not block.read:
            self.fail(
                BlockError,
                f"pop of {block} (waited for in line {block.line}), which nothing has read; expected "
                + ("a block expression with it" if self.kernel.computes else "a copy from it"),
            )
        self.before_change(block)
        for net in block.nets:
            self.emit(f"{self.net_table(net)}_drain({self.net_table(net)}_sent);")
        block.open = False
        self.emit(
            f"{'cb_push_back' if block.reserved else 'cb_pop_front'}({block.buffer.index}, {block.buffer.pages});"
        )

    def before_change(self, owner: object) -> None:
        """Keeps what names still need of a block that is given back."""
        raise NotImplementedError

    def store(self, block: Block, value: Any) -> None:
        """Evaluates a block expression into a block."""
        what = f"{block}.store"
        if not self.kernel.computes:
            self.fail(BlockError, f"{what}: kernel {self.kernel.__name__} moves data; store is for @ttl.compute()")
        self.check_open(block, what)
        if not block.reserved:
            self.fail(BlockError, f"{what}: the block was waited for; expected one of {block.buffer.name}.reserve()")
        if block.stored:
            self.fail(BlockError, f"{what}: the block was stored already; push it and reserve another one")
        depth = sum(frame.kind == "loop" for frame in self.frames)
        if depth > block.depth and self.frames[-1].kind == "loop":
            self.fail(
                BlockError,
                f"{what}: a loop stores the block, which was reserved in front of it (line {block.line}); "
                "reserve one in each round",
            )
        node = self.operand(value, what)
        if isinstance(node, int | float) or not hasattr(node, "children"):
            self.fail(ShapeError, f"{what}: {described(node)}; expected a block or a block expression")
        if math.prod(node.shape) != math.prod(block.shape):
            self.fail(
                ShapeError,
                f"{what}: shape {node.shape} has {math.prod(node.shape)} tiles, and the block "
                f"{block.shape} "
                f"{math.prod(block.shape)}",
            )
        self.evaluator.store(node, block.buffer.index)
        block.stored = block.written = True

    # Copies.

    def copy(self, source: Any, target: Any) -> Transfer:
        """Compiles ttl.copy."""
        if self.kernel.computes:
            self.fail(
                BlockError, f"ttl.copy: kernel {self.kernel.__name__} computes; copies are for @ttl.datamovement()"
            )
        if isinstance(source, TensorSlice) and isinstance(target, Block):
            self._check_written(target)
            self._pages(source, target, True)
            return self._transfer("noc_async_read_barrier();", target)
        if isinstance(source, Block) and isinstance(target, TensorSlice):
            self._check_read(source)
            self._pages(target, source, False)
            return self._transfer("noc_async_write_barrier();", source)
        if isinstance(source, Block) and isinstance(target, PipeEnd):
            self._check_read(source)
            return self._send(source, target)
        if isinstance(source, PipeEnd) and isinstance(target, Block):
            self._check_written(target)
            return self._receive(source, target)
        self.fail(
            DefinitionError,
            f"ttl.copy: from {described(source)} to {described(target)}; expected a block, and a "
            "part of a "
            "tensor (a[row, column]) or a pipe of if_src or if_dst",
        )

    def _transfer(self, barrier: str, block: Block) -> Transfer:
        result = Transfer(barrier, [block])
        block.pending.append(result)
        return result

    def wait(self, transfer: Transfer) -> None:
        """Compiles the wait for a transfer."""
        transfer.waited = True
        if transfer.barrier:
            self.emit(transfer.barrier)

    def _check_written(self, block: Block) -> None:
        self.check_open(block, "ttl.copy")
        if not block.reserved:
            self.fail(
                BlockError,
                f"ttl.copy: to {block}, which was waited for; expected a block of {block.buffer.name}.reserve()",
            )
        if any(not each.waited for each in block.pending):
            self.fail(BlockError, f"ttl.copy: to {block}, whose copy before is not waited for")
        block.written = True

    def _check_read(self, block: Block) -> None:
        self.check_open(block, "ttl.copy")
        if block.reserved and not block.written:
            self.fail(BlockError, f"ttl.copy: from {block}, which was reserved and has no values yet")
        if block.reserved and any(not each.waited and "read" in each.barrier for each in block.pending):
            self.fail(BlockError, f"ttl.copy: from {block} before the copy to it is done; wait for the transfer first")
        block.read = True

    def _address(self, block: Block) -> str:
        return f"{'get_write_ptr' if block.reserved else 'get_read_ptr'}({block.buffer.index})"

    def _pages(self, part: TensorSlice, block: Block, reads: bool) -> None:
        """Writes the loops that copy a part of a tensor page by page."""
        tensor, buffer = part.tensor, block.buffer
        if (tensor.layout == ttnn.TILE_LAYOUT) != buffer.tiled or tensor.dtype != buffer.dtype:
            self.fail(
                ShapeError,
                f"ttl.copy: {part.name} has elements of {tensor.dtype.name} in layout "
                f"{tensor.layout.name}, and "
                f"{buffer.name} of {buffer.dtype.name} in layout {buffer.layout.name}",
            )
        sizes: list[str] = []
        unit = "tiles" if buffer.tiled else "elements"
        for begin, end in part.ranges:
            if is_constant(begin) and is_constant(end):
                sizes.append(str(end - begin))
            elif isinstance(end, Number) and isinstance(begin, Number) and end.code == f"({begin.code} + INT64_C(1))":
                sizes.append("1")
            else:
                sizes.append(f"({self.code(end, part.name)} - {self.code(begin, part.name)})")
        expected = math.prod(block.shape)
        if all(each.isdecimal() for each in sizes):
            if math.prod(map(int, sizes)) != expected:
                self.fail(
                    ShapeError,
                    f"ttl.copy: {part.name} has {math.prod(map(int, sizes))} {unit} there "
                    f"({' x '.join(sizes)}), and a block of {buffer.name} has {expected} {block.shape}",
                )
        else:
            self.emit(f'ttl::count("{part.name} and {buffer.name}", {" * ".join(sizes)}, {expected});')
        self.calls += 1
        number = self.calls
        loops, place = [], []
        moved = len(part.ranges) if buffer.tiled else len(part.ranges) - 1
        for at, (begin, end) in enumerate(part.ranges[:moved]):
            name = f"c{number}_{at}"
            if sizes[at] == "1":
                place.append(self.code(begin, part.name))
                continue
            loops.append(
                f"for (int64_t {name} = {self.code(begin, part.name)}; {name} < {self.code(end, part.name)}; ++{name})"
            )
            place.append(name)
        access = self.accessor(tensor, part.name)
        cursor = f"a{number}"
        if buffer.tiled:
            step, extra = f"{buffer.page_bytes}", ""
            page = f"{access}({', '.join(place)})"
        else:
            element = int(ttnn.Tile().get_tile_size(tensor.dtype)) // 1024
            begin, _ = part.ranges[-1]
            step = f"uint32_t({sizes[-1]} * {element})"
            extra = f"{self.code(begin, part.name)} * {element}"
            page = f"{access}({', '.join([*place, extra])})"
        call = f"noc_async_read({page}, {cursor}, {step})" if reads else f"noc_async_write({cursor}, {page}, {step})"
        self.emit(
            f"{{ uint32_t {cursor} = {self._address(block)}; {' '.join(loops)} {{ {call}; {cursor} += {step}; }} }}"
        )

    def accessor(self, tensor: ttnn.Tensor, name: str) -> str:
        """Returns the name of the C++ function that gives the NoC address of a page of a tensor by its place."""
        number = self.around.tensor(tensor, name)
        function = f"tensor{number}"
        if number not in self.used_tensors:
            self.used_tensors.append(number)
        if function in self.tables:
            return function
        argument = f"get_common_arg_val<uint32_t>({number})"
        tiled = tensor.layout == ttnn.TILE_LAYOUT
        sizes = list(tensor.padded_shape) if tiled else [*tensor.shape]
        tile = int(ttnn.Tile().get_tile_size(tensor.dtype))
        if tiled:
            sizes = [*sizes[:-2], sizes[-2] // 32, sizes[-1] // 32]
            names = [f"p{at}" for at in range(len(sizes))]
            row, page_bytes, offset = names[:-1], tile, "0"
        else:
            names = [*(f"p{at}" for at in range(len(sizes) - 1)), "offset"]
            row, page_bytes, offset = names[:-1], sizes[-1] * (tile // 1024), "uint32_t(offset)"
        rows = "0"
        for each, size in zip(row, sizes[:-1], strict=True):
            rows = each if rows == "0" else f"({rows}) * {size} + {each}"
        parameters = ", ".join(f"int64_t {each}" for each in names)
        memory = tensor.memory_config()
        spec = None if memory is None else memory.shard_spec
        if spec is None:
            dram = "true" if memory is None or memory.buffer_type == ttnn.BufferType.DRAM else "false"
            page = f"({rows}) * {sizes[-1]} + {names[-1]}" if tiled else rows
            body = (
                f"return InterleavedAddrGen<{dram}>{{{argument}, {page_bytes}}}.get_noc_addr("
                f"uint32_t({page}), {offset});"
            )
            self.tables[function] = f"inline uint64_t {function}({parameters}) {{ {body} }}"
            return function
        cores = cores_of(spec.grid)
        height, width = spec.shape
        if tiled:
            height, width, columns, unit = -(-height // 32), -(-width // 32), sizes[-1], page_bytes
            column = names[-1]
        else:
            unit = tile // 1024
            columns, column = sizes[-1], f"(offset / {unit})"
        across = -(-columns // width)
        table = ", ".join(f"{{{x}, {y}}}" for x, y in cores)
        self.tables[function] = (
            f"inline uint64_t {function}({parameters}) {{ static constexpr uint8_t cores[][2] = {{{table}}}; "
            f"const int64_t row = {rows}, column = {column}, shard = row / {height} * {across} + column / {width}; "
            f"return get_noc_addr(cores[shard][0], cores[shard][1], {argument} + uint32_t((row % {height} * {width} + "
            f"column % {width}) * {unit})); }}"
        )
        return function

    # Pipes.

    def net_table(self, net: Net) -> str:
        """Returns the prefix of the C++ names of a pipe net, which this writes in front of the kernel."""
        number = list(self.around.nets.values()).index(net)
        name = f"net{number}"
        if name in self.tables:
            return name
        count = len(net.sources)
        columns = {
            "source": [x * net.grid[1] + y for x, y in net.sources],
            "source_x": [x for x, _ in net.sources],
            "source_y": [y for _, y in net.sources],
            "x0": [first[0] for first, _ in net.rectangles],
            "y0": [first[1] for first, _ in net.rectangles],
            "x1": [last[0] for _, last in net.rectangles],
            "y1": [last[1] for _, last in net.rectangles],
            "count": [len(nodes) for nodes in net.nodes],
            "slot": net.slots,
        }
        text = [f"constexpr uint32_t {name}_pipes = {count};"]
        for column, values in columns.items():
            text.append(f"constexpr uint32_t {name}_{column}[] = {{{', '.join(map(str, values))}}};")
        slots = max(net.slots) + 1
        kinds = ("valid", "ready", "where") if net.pushes else ("valid", "taken")
        for at, kind in enumerate(kinds):
            text.append(
                f"inline uint32_t {name}_{kind}(uint32_t p) "
                f"{{ return get_semaphore({net.first + at * slots} + {name}_slot[p]); }}"
            )
        text.append(
            f"inline bool {name}_sends(uint32_t p) {{ return get_absolute_logical_x() == {name}_source_x[p] && "
            f"get_absolute_logical_y() == {name}_source_y[p]; }}\n"
            f"inline bool {name}_receives(uint32_t p) {{ const uint32_t x = get_absolute_logical_x(), "
            f"y = get_absolute_logical_y(); return x >= {name}_x0[p] && x <= {name}_x1[p] && y >= {name}_y0[p] && "
            f"y <= {name}_y1[p]; }}\n"
            f"inline bool {name}_any(bool sends, bool receives) {{ for (uint32_t p = 0; p < {count}; ++p) "
            f"if ((sends && {name}_sends(p)) || (receives && {name}_receives(p))) return true; return false; }}"
        )
        if net.pushes:
            text.append(_PUSH.replace("NET", name))
        else:
            text.append(_PULL.replace("NET", name))
        self.tables[name] = "\n".join(text)
        self.declared[f"{name}_sent"] = f"[[maybe_unused]] uint32_t {name}_sent[{name}_pipes] = {{}};"
        return name

    def pipe_coordinates(self, end: PipeEnd) -> Any:
        """Returns the other end of a pipe, as Python has it: a number, a tuple, or a tuple with slices."""
        name = self.net_table(end.net)
        pipe = end.net.net.pipes[0]

        def at(column: str) -> Number:
            return Number(f"int64_t({name}_{column}[{end.index}])")

        if not end.sends:
            return at("source") if len(pipe.source) == 1 else (at("source_x"), at("source_y"))
        if not pipe.collective:
            linear = f"({at('x0').code} * {end.net.grid[1]} + {at('y0').code})"
            return Number(linear) if len(pipe.source) == 1 else (at("x0"), at("y0"))
        pairs = [("x0", "x1"), ("y0", "y1")][: len(pipe.source)]
        return tuple(slice(at(first), Number(f"({at(last).code} + 1)")) for first, last in pairs)

    def _own_pipe(self, end: PipeEnd, sends: bool) -> str:
        if end.sends != sends:
            self.fail(
                DefinitionError,
                "ttl.copy: a pipe of if_src is the target of a copy, and one of if_dst the source; "
                "found a pipe of "
                + ("if_src" if end.sends else "if_dst")
                + " as the "
                + ("target" if sends else "source"),
            )
        user = self.around.net_users.setdefault((id(end.net), sends), self.kernel.__name__)
        if user != self.kernel.__name__:
            self.unsupported(
                f"{'sending' if sends else 'receiving'} by pipe net {end.net.net.name}, which kernel {user} does as "
                "well,",
                "one kernel that sends by a net and one that receives",
            )
        return self.net_table(end.net)

    def _send(self, block: Block, end: PipeEnd) -> Transfer:
        name = self._own_pipe(end, True)
        size = block.buffer.pages * block.buffer.page_bytes
        self.emit(f"{name}_send({name}_sent, {end.index}, {self._address(block)}, {size});")
        if not end.net.pushes and end.net not in block.nets:
            block.nets.append(end.net)
        return self._transfer("noc_async_write_barrier();" if end.net.pushes else "", block)

    def _receive(self, end: PipeEnd, block: Block) -> Transfer:
        name = self._own_pipe(end, False)
        size = block.buffer.pages * block.buffer.page_bytes
        self.emit(f"{name}_receive({end.index}, {self._address(block)}, {size});")
        return self._transfer("noc_async_read_barrier();", block)


# The sender writes to the receivers, all of which have to be ready; the first of them says where. They check that the
# place is theirs, as a multicast writes to one address. Addresses of L1 are sent as distances from semaphore 0.
_PUSH = """\
inline void NET_drain(uint32_t *) {}
inline void NET_send(uint32_t *sent, uint32_t p, uint32_t from, uint32_t bytes, uint32_t line = __builtin_LINE()) {
  const uint32_t count = NET_count[p];
  sent[p] += count;
  noc_semaphore_wait_min(NET_ready(p), sent[p], line);
  noc_semaphore_wait_min(NET_where(p), 1, line);
  const uint32_t where = *reinterpret_cast<volatile tt_l1_ptr uint32_t *>(NET_where(p)), to = where + get_semaphore(0);
  noc_semaphore_set(NET_where(p), 0, line);
  if (count == 1) {
    noc_async_write(from, get_noc_addr(NET_x0[p], NET_y0[p], to), bytes, 0, line);
    noc_async_write_barrier();
    noc_semaphore_inc(get_noc_addr(NET_x0[p], NET_y0[p], NET_valid(p)), where, 0, line);
    return;
  }
  const auto all = [&](uint32_t address) {
    return get_noc_multicast_addr(NET_x0[p], NET_y0[p], NET_x1[p], NET_y1[p], address);
  };
  noc_async_write_multicast(from, all(to), bytes, count, false, 0, line);
  noc_async_write_barrier();
  noc_semaphore_set(NET_valid(p), where, line);
  noc_semaphore_set_multicast(NET_valid(p), all(NET_valid(p)), count, false, 0, line);
}
inline void NET_receive(uint32_t p, uint32_t to, uint32_t, uint32_t line = __builtin_LINE()) {
  const uint64_t source = get_noc_addr(NET_source_x[p], NET_source_y[p], 0);
  const uint32_t where = to - get_semaphore(0);
  if (get_absolute_logical_x() == NET_x0[p] && get_absolute_logical_y() == NET_y0[p])
    noc_semaphore_inc(source | NET_where(p), where, 0, line);
  noc_semaphore_inc(source | NET_ready(p), 1, 0, line);
  noc_semaphore_wait_min(NET_valid(p), 1, line);
  if (*reinterpret_cast<volatile tt_l1_ptr uint32_t *>(NET_valid(p)) != where)
    tt::metal::failAssert("the receivers of a multicast have blocks at different places of their buffers", line);
  noc_semaphore_set(NET_valid(p), 0, line);
}"""
# The sender says where the data is, and waits for the receivers before it gives its block away or sends again.
_PULL = """\
inline void NET_drain(uint32_t *sent, uint32_t line = __builtin_LINE()) {
  for (uint32_t p = 0; p < NET_pipes; ++p)
    if (sent[p])
      noc_semaphore_wait_min(NET_taken(p), sent[p], line);
}
inline void NET_send(uint32_t *sent, uint32_t p, uint32_t from, uint32_t, uint32_t line = __builtin_LINE()) {
  if (sent[p])
    noc_semaphore_wait_min(NET_taken(p), sent[p], line);
  sent[p] += NET_count[p];
  const uint32_t where = from - get_semaphore(0);
  for (uint32_t y = NET_y0[p]; y <= NET_y1[p]; ++y)
    for (uint32_t x = NET_x0[p]; x <= NET_x1[p]; ++x)
      noc_semaphore_inc(get_noc_addr(x, y, NET_valid(p)), where, 0, line);
}
inline void NET_receive(uint32_t p, uint32_t to, uint32_t bytes, uint32_t line = __builtin_LINE()) {
  noc_semaphore_wait_min(NET_valid(p), 1, line);
  const uint32_t from = *reinterpret_cast<volatile tt_l1_ptr uint32_t *>(NET_valid(p)) + get_semaphore(0);
  noc_semaphore_set(NET_valid(p), 0, line);
  const uint64_t source = get_noc_addr(NET_source_x[p], NET_source_y[p], from);
  if (NET_source_x[p] != get_absolute_logical_x() || NET_source_y[p] != get_absolute_logical_y() || from != to)
    noc_async_read(source, to, bytes, 0, line);
  noc_async_read_barrier();
  noc_semaphore_inc(get_noc_addr(NET_source_x[p], NET_source_y[p], NET_taken(p)), 1, 0, line);
}"""
