# SPDX-License-Identifier: Apache-2.0
"""Queues: which edges go through memory, and where in which channel each buffer of a queue lies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..config import CompilerConfig
from ..enums import DRAMPlacementAlgorithm
from .chip import Chip, hops
from .graph import Graph, Node, Op, PlacementError, Queue, divisors, round_up, tile_bytes, tiles
from .models import DST_TILES, block
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
    """Free memory of the channels of one chip, or of the host: each is filled from below."""

    def __init__(self, count: int, size: int, base: int, alignment: int, what: str) -> None:
        self.next, self.size, self.alignment, self.what = [base] * count, size, alignment, what

    def take(self, channel: int, size: int, name: str) -> int:
        """Returns the address of `size` bytes.

        Raises:
            PlacementError: there are not so many.
        """
        if not 0 <= channel < len(self.next):
            raise PlacementError(
                f"queue {name!r} is placed in {self.what} channel {channel}; expected 0 to {len(self.next) - 1}"
            )
        address = self.next[channel]
        if address + size > self.size:
            raise PlacementError(
                f"queue {name!r} needs {size} bytes of {self.what} channel {channel}; it has {self.size - address} left"
            )
        self.next[channel] = address + round_up(size, self.alignment)
        return address


class Picker:
    """Chooses the channel of the next buffer, by the algorithm of the configuration."""

    def __init__(self, algorithm: DRAMPlacementAlgorithm, chip: Chip) -> None:
        self.chip, self.turn = chip, 0
        count = chip.memory.channels
        half = (count + 1) // 2
        flip = [c for low in range(half) for c in (low, low + half) if c < count]
        self.order = flip if algorithm is DRAMPlacementAlgorithm.ROUND_ROBIN_FLIP_FLOP else [*range(count)]
        self.pick: Callable[[Channels, int, tuple[int, int]], int] = {
            DRAMPlacementAlgorithm.GREATEST_CAPACITY: self._emptiest,
            DRAMPlacementAlgorithm.CLOSEST: self._closest,
        }.get(algorithm, self._in_turn)

    def _in_turn(self, channels: Channels, size: int, core: tuple[int, int]) -> int:
        self.turn += 1
        channel = self.order[(self.turn - 1) % len(self.order)]
        if channels.next[channel] + size <= channels.size:
            return channel
        return self._emptiest(channels, size, core)

    @staticmethod
    def _emptiest(channels: Channels, size: int, core: tuple[int, int]) -> int:
        return min(range(len(channels.next)), key=lambda c: (channels.next[c], c))

    def _closest(self, channels: Channels, size: int, core: tuple[int, int]) -> int:
        place = (self.chip.x[core[1]], self.chip.y[core[0]])
        free = [c for c, used in enumerate(channels.next) if used + size <= channels.size]
        places = self.chip.memory.places
        return min(free or [0], key=lambda c: (hops(places[c], place), c))


def blocks_of(queue: Queue, user: Placed | None, reader: tuple[Op, int] | None) -> tuple[tuple[int, int], int]:
    """Returns the grid of a queue's buffers and in how many pieces a tensor comes: its producer's, else its first
    reader's."""
    out = tiles(queue.shape)
    if user is None:
        return (1, 1), out.z
    r, c = user.model.grid
    if reader is not None:
        op, number = reader
        if op.is_matmul:
            r, c = (r if number == 0 else 1, c if number else 1)
        if op.operands[number].tms:
            r, c = 1, 1
        r, c = (max(d for d in divisors(n) if g % d == 0) for n, g in ((out.r, r), (out.c, c)))
        return (r, c), out.z
    return (r, c), user.model.t


def allocate(
    graph: Graph, placement: Placement, chip: Chip, chips: Sequence[int], config: CompilerConfig
) -> dict[Queue, Layout]:
    """Returns a place for each queue; no two overlap.

    Raises:
        PlacementError: a channel or chip that there is not, or more memory than there is.
    """
    readers: dict[Node, list[tuple[Op, int]]] = graph.readers()
    memory = chip.memory
    picker = Picker(config.dram_placement_algorithm, chip)
    device = {
        n: Channels(
            memory.channels,
            memory.channel_bytes,
            round_up(chip.dram_base, chip.dram_alignment),
            chip.dram_alignment,
            "DRAM",
        )
        for n in chips
    }
    host = Channels(memory.host_channels, memory.host_bytes, 0, chip.dram_alignment, "host")
    found: dict[Queue, Layout] = {}
    for queue in graph.queues:
        first = None if queue.producer is not None and not queue.is_ram else next(iter(readers.get(queue, [])), None)
        user = placement.of.get(first[0]) if first else placement.of.get(queue.producer) if queue.producer else None
        grid, t = blocks_of(queue, user, first)
        z = tiles(queue.shape)
        stream = user.model.stream if user is not None and first is None else (1, 1)
        rows, columns = z.r // stream[0] // grid[0], z.c // stream[1] // grid[1]
        ublock = user.model.ublock if user is not None and first is None else block(rows, columns, DST_TILES)
        mblock = (rows // ublock[0], columns // ublock[1])
        size = HEADER_BYTES + queue.entries * t * rows * columns * tile_bytes(queue.df)
        overrides = config.op_overrides.get(queue.name, {})
        forced = config.place_queue_to_chip_dram.get(queue.name)
        on_host = host_queue(queue, config) and forced is None and overrides.get("dram_channel") is None
        where = placement.epochs[user.epoch].chip if user is not None else chips[0]
        channel = None
        if forced is not None:
            where, channel = checked_place(queue.name, forced)
        if overrides.get("dram_chip") is not None:
            where = overrides["dram_chip"]
        if overrides.get("dram_channel") is not None:
            channel = overrides["dram_channel"]
        if where not in chips:
            raise PlacementError(f"queue {queue.name!r} is placed on chip {where}; the device has {list(chips)}")
        places = []
        for number in range(grid[0] * grid[1]):
            if on_host:
                at = next((c for c in range(memory.host_channels) if host.next[c] + size <= host.size), 0)
                places.append((at, host.take(at, size, queue.name)))
                continue
            core = core_of(user, number, grid)
            at = channel if channel is not None else picker.pick(device[where], size, core)
            places.append((at, device[where].take(at, size, queue.name)))
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
