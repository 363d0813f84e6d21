# SPDX-License-Identifier: Apache-2.0
"""Queues: which edges go through memory, and the channel and address of each buffer."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from _ttmlir_runtime import runtime

from ..config import CompilerConfig
from ..enums import DRAMPlacementAlgorithm
from ..errors import PlacementError
from ..tenstorrent.chip import Chip, hops
from .blocks import DST_TILES, block
from .graph import Graph, Node, Op, Queue, divisors, round_up, tile_bytes, tiles
from .place import Placed, Placement

HEADER_BYTES = 32  # of a buffer: its read and write pointers


@dataclass(slots=True)
class Layout:
    """A queue in memory.

    chip: the chip of its channels. places: channel and address of each buffer, row by row of the grid.
    bytes: of each buffer.
    """

    queue: Queue
    chip: int
    on_host: bool
    grid: tuple[int, int]
    t: int
    mblock: tuple[int, int]
    ublock: tuple[int, int]
    bytes: int
    places: list[tuple[int, int]]


def edges_through_memory(graph: Graph, placement: Placement, requested: Sequence[tuple[str, str, int]]) -> None:
    """Puts queues where an op reads what an earlier epoch made, and within an epoch where it was requested, or where
    the order of streams does not fit.

    Raises:
        PlacementError: a queue was requested between ops of which one does not read the other.
    """
    by_name = {op.name: op for op in graph.ops}
    cuts = {*placement.cuts}
    for first, reader, number in requested:
        a, b = by_name.get(first), by_name.get(reader)
        if a is None or b is None:
            continue
        if not 0 <= number < len(b.operands) or b.operands[number].source is not a:
            raise PlacementError(
                f"insert_queues({first!r}, {reader!r}, {number}): operand {number} of {reader!r} is not {first!r}"
            )
        cuts.add((a, b, number))
    e2e: dict[Op, Queue] = {}
    for op in graph.ops:
        here = placement.of[op].epoch
        for number, operand in enumerate(op.operands):
            source = operand.source
            if not isinstance(source, Op):
                continue
            if placement.of[source].epoch != here:
                if source not in e2e:
                    e2e[source] = graph.queue(f"e2e_{source.name}_0", source.shape, source.df, "e2e", source)
                    # Backward epochs run when all forward ones have.
                    e2e[source].entries = max(1, graph.microbatch) if op.epoch_type != source.epoch_type else 1
                operand.source = e2e[source]
            elif (source, op, number) in cuts:
                operand.source = graph.queue(
                    f"queue_{source.name}_{op.name}", source.shape, source.df, "buffering", source
                )


class Channels:
    """The channels of one chip, or of the host, each with an allocator of the runtime."""

    def __init__(self, count: int, size: int, base: int, alignment: int, what: str) -> None:
        self.banks = [runtime.BankAllocator(round_up(base, alignment), size, alignment) for _ in range(count)]
        self.what = what

    def fits(self, channel: int, size: int) -> bool:
        return bool(self.banks[channel].free >= size)

    def take(self, channel: int, size: int, name: str) -> int:
        """Returns the address of `size` bytes.

        Raises:
            PlacementError: there are not so many.
        """
        if not 0 <= channel < len(self.banks):
            raise PlacementError(
                f"queue {name!r} is placed in {self.what} channel {channel}; expected 0 to {len(self.banks) - 1}"
            )
        address: int | None = self.banks[channel].allocate(size, name)
        if address is None:
            raise PlacementError(
                f"queue {name!r} needs {size} bytes of {self.what} channel {channel}; it has "
                f"{self.banks[channel].free} left"
            )
        return address


def picker(algorithm: DRAMPlacementAlgorithm, chip: Chip) -> Callable[[Channels, int, tuple[int, int]], int]:
    """Returns what chooses the channel of the next buffer, of so many bytes and for a core."""
    count = chip.memory.channels
    half = (count + 1) // 2
    flip = [c for low in range(half) for c in (low, low + half) if c < count]
    order = itertools.cycle(flip if algorithm is DRAMPlacementAlgorithm.ROUND_ROBIN_FLIP_FLOP else range(count))

    def emptiest(channels: Channels, _size: int, _core: tuple[int, int]) -> int:
        return min(range(count), key=lambda c: channels.banks[c].allocated)

    def closest(channels: Channels, size: int, core: tuple[int, int]) -> int:
        place = (chip.x[core[1]], chip.y[core[0]])
        free = [c for c in range(count) if channels.fits(c, size)]
        return min(free or [0], key=lambda c: (hops(chip.memory.places[c], place), c))

    def in_turn(channels: Channels, size: int, core: tuple[int, int]) -> int:
        channel = next(order)
        return channel if channels.fits(channel, size) else emptiest(channels, size, core)

    if algorithm is DRAMPlacementAlgorithm.GREATEST_CAPACITY:
        return emptiest
    return closest if algorithm is DRAMPlacementAlgorithm.CLOSEST else in_turn


def grid_of(queue: Queue, user: Placed | None, reader: tuple[Op, int] | None) -> tuple[int, int]:
    """Returns the rows and columns of a queue's buffers that its first reader's cores divide it into."""
    if user is None or reader is None or reader[0].operands[reader[1]].tms:
        return 1, 1
    op, number = reader
    r, c = user.model.grid
    if op.is_matmul:
        r, c = r if number == 0 else 1, c if number else 1
    out = tiles(queue.shape)
    return max(d for d in divisors(out.r) if r % d == 0), max(d for d in divisors(out.c) if c % d == 0)


def allocate(
    graph: Graph, placement: Placement, chip: Chip, chips: Sequence[int], config: CompilerConfig
) -> dict[Queue, Layout]:
    """Returns a place for each queue; no two overlap. Buffers have the blocks of the producer, or of the first reader.

    Raises:
        PlacementError: a channel or chip that there is not, or more memory than there is.
    """
    readers: dict[Node, list[tuple[Op, int]]] = graph.readers()
    memory, alignment = chip.memory, chip.dram_alignment
    pick = picker(config.dram_placement_algorithm, chip)
    device = {n: Channels(memory.channels, memory.channel_bytes, chip.dram_base, alignment, "DRAM") for n in chips}
    host = Channels(memory.host_channels, memory.host_bytes, 0, alignment, "host")
    found: dict[Queue, Layout] = {}
    for queue in graph.queues:
        first = None if queue.producer is not None and not queue.is_ram else next(iter(readers.get(queue, [])), None)
        user = placement.of.get(first[0]) if first else placement.of.get(queue.producer) if queue.producer else None
        out = tiles(queue.shape)
        if user is not None and first is None and user.op.tiles == out:
            grid, t, mblock, ublock = user.model.grid, user.model.t, user.model.mblock, user.model.ublock
        else:
            grid, t = grid_of(queue, user, first), out.z
            rows, columns = out.r // grid[0], out.c // grid[1]
            ublock = block(rows, columns, DST_TILES)
            mblock = (rows // ublock[0], columns // ublock[1])
        size = HEADER_BYTES + queue.entries * t * math.prod((*mblock, *ublock)) * tile_bytes(queue.df)
        overrides = config.op_overrides.get(queue.name, {})
        forced = config.place_queue_to_chip_dram.get(queue.name)
        where, channel = placement.epochs[user.epoch].chip if user is not None else chips[0], None
        if forced is not None:
            where, channel = checked_place(queue.name, forced)
        if overrides.get("dram_chip") is not None:
            where = overrides["dram_chip"]
        if overrides.get("dram_channel") is not None:
            channel = overrides["dram_channel"]
        if where not in chips:
            raise PlacementError(f"queue {queue.name!r} is placed on chip {where}; the device has {list(chips)}")
        on_host = channel is None and host_queue(queue, config)
        places = []
        for number in range(grid[0] * grid[1]):
            if on_host:
                at = next((c for c in range(memory.host_channels) if host.fits(c, size)), 0)
            else:
                at = channel if channel is not None else pick(device[where], size, core_of(user, number, grid))
            places.append((at, (host if on_host else device[where]).take(at, size, queue.name)))
        found[queue] = Layout(queue, where, on_host, grid, t, mblock, ublock, size, places)
    return found


def checked_place(name: str, value: Sequence[int]) -> tuple[int, int]:
    if not isinstance(value, tuple | list) or len(value) != 2 or not all(isinstance(x, int) for x in value):
        raise PlacementError(f"place_queue_to_chip_dram[{name!r}] is {value!r}; expected (chip, channel)")
    return value[0], value[1]


def host_queue(queue: Queue, config: CompilerConfig) -> bool:
    if queue.kind == "input":
        return config.input_queues_on_host
    return queue.kind in ("output", "intermediate") and config.output_queues_on_host


def core_of(user: Placed | None, number: int, grid: tuple[int, int]) -> tuple[int, int]:
    """Returns the core that a buffer is for."""
    if user is None:
        return 0, 0
    r, c = divmod(number, grid[1])
    rows, columns = user.size
    if user.turned:
        r, c = c, r
    return user.row + min(r, rows - 1), user.column + min(c, columns - 1)
