# SPDX-License-Identifier: Apache-2.0
"""The placer: ops in the order of their schedule where the compiler places those of the program; others, and those
whose cores are taken, into the first free cores, until an epoch is full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..config import CompilerConfig
from ..enums import FORWARD
from .chip import Chip
from .graph import MOVES, Graph, Op, PlacementError
from .models import Model, Models


@dataclass(slots=True)
class Placed:
    """Where an op is: its epoch, and the first core. turned: rows and columns of its grid are swapped."""

    op: Op
    model: Model
    row: int
    column: int
    turned: bool = False
    epoch: int = 0

    @property
    def size(self) -> tuple[int, int]:
        """Returns rows and columns of cores that it takes."""
        r, c = self.model.grid
        return (c, r) if self.turned else (r, c)


@dataclass(slots=True)
class Epoch:
    """Ops that run at one time on one chip. temporal: chips run epochs of the same number together."""

    number: int
    temporal: int
    chip: int
    type: str
    placed: list[Placed] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.type}_0_{self.number}_temporal_epoch_{self.temporal}"


@dataclass
class Placement:
    """Epochs in order, the place of each op, and edges that have to go through memory within an epoch."""

    epochs: list[Epoch]
    of: dict[Op, Placed]
    cuts: list[tuple[Op, Op, int]]


class Floor:
    """Free cores of a chip, as bits of its rows."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        self.free = [(1 << columns) - 1] * rows
        self.left = rows * columns

    def find(self, size: tuple[int, int]) -> tuple[int, int] | None:
        """Returns the first free rectangle, row by row."""
        r, c = size
        if r * c > self.left or r > self.rows or c > self.columns:
            return None
        for row in range(self.rows - r + 1):
            bits = self.free[row]
            for below in range(row + 1, row + r):
                bits &= self.free[below]
            run = bits
            for shift in range(1, c):
                run &= bits >> shift
            if run:
                return row, (run & -run).bit_length() - 1
        return None

    def is_free(self, start: tuple[int, int], size: tuple[int, int]) -> bool:
        mask = ((1 << size[1]) - 1) << start[1]
        inside = start[0] + size[0] <= self.rows and start[1] + size[1] <= self.columns
        return inside and all(self.free[row] & mask == mask for row in range(start[0], start[0] + size[0]))

    def take(self, start: tuple[int, int], size: tuple[int, int]) -> None:
        mask = ((1 << size[1]) - 1) << start[1]
        for row in range(start[0], start[0] + size[0]):
            self.free[row] &= ~mask
        self.left -= size[0] * size[1]


def streams_into(producer: Model, op: Op, number: int, model: Model) -> bool:
    """Returns whether an op can take what another one streams in the order in which it comes."""
    direction = producer.direction
    if not direction:
        return True
    tms = [text for text in op.operands[number].tms if not text.startswith("broadcast")]
    for text in tms:
        if text != "transpose":
            return False
        direction = {"r": "c", "c": "r"}.get(direction, direction)
    dim = op.attributes.get("dim")
    if dim:
        return direction not in dim
    if op.type in MOVES:
        return direction == "z"
    if op.is_matmul:
        return direction == "z" or (number, direction) in ((0, "r"), (1, "c"))
    return direction == "z" or model.direction in ("", direction)


class Placer:
    """Places a graph on chips.

    chips: their numbers, in the order in which they are filled.
    """

    def __init__(self, graph: Graph, chip: Chip, chips: Sequence[int], config: CompilerConfig) -> None:
        self.graph, self.chip, self.chips, self.config = graph, chip, list(chips), config
        self.models = Models(chip, config, graph.microbatch)
        self.cuts: list[tuple[Op, Op, int]] = []
        self.requested_cuts = {(s, d, n) for s, d, n in config.insert_queues}

    @property
    def policy(self) -> str:
        """Returns the policy that the configuration chooses: `default` and `CNN` stand for others."""
        policy = self.config.balancer_policy
        if policy == "default":
            kinds = (x.type for op in self.graph.ops for x in op.parts or [op])
            return "Ribbon" if "conv2d" in kinds else "NLP"
        return "Ribbon" if policy == "CNN" else policy

    def run(self) -> Placement:
        ops = self.graph.ops
        epoch_breaks = self._breaks(ops, self.config.op_names_to_epoch_break)
        chip_breaks = self._breaks(ops, self.config.op_names_to_chip_break)
        if chip_breaks and len(self.chips) < 2:
            names = ", ".join(op.name for op in ops if op in chip_breaks)
            raise PlacementError(
                f"set_chip_break({names}): the device has one chip; expected several (num_chips, chip_ids)"
            )
        epochs: list[Epoch] = []
        start = temporal = at = 0
        while start < len(ops):
            first = ops[start]
            if epochs:
                last = epochs[-1]
                if first in epoch_breaks or first.epoch_type != last.type:
                    temporal, at = temporal + 1, 0
                else:
                    temporal, at = (temporal, at + 1) if at + 1 < len(self.chips) else (temporal + 1, 0)
            if first.chip is not None and self.chips[at] != first.chip:
                requested = self.chips.index(first.chip)
                temporal, at = (temporal + (requested < at), requested)
            stop = start + 1
            while stop < len(ops) and not (
                ops[stop].epoch_type != first.epoch_type or ops[stop] in epoch_breaks or ops[stop] in chip_breaks
                or (ops[stop].chip is not None and ops[stop].chip != self.chips[at])
            ):  # fmt: skip
                stop += 1
            placed, cuts = self._fill(ops[start:stop])
            epoch = Epoch(len(epochs), temporal, self.chips[at], first.epoch_type, placed)
            for x in placed:
                x.epoch = epoch.number
            epochs.append(epoch)
            self.cuts += cuts
            start += len(placed)
        return Placement(epochs, {x.op: x for epoch in epochs for x in epoch.placed}, self.cuts)

    @staticmethod
    def _breaks(ops: Sequence[Op], groups: Sequence[Sequence[str]]) -> set[Op]:
        """For each group of names the op that is scheduled first: an op of the module begins with its first part."""

        def found(group: Sequence[str]) -> Op | None:
            return next((x for x in ops if x.name in group or (x.source in group and x.epoch_type == FORWARD)), None)

        return {op for group in groups if (op := found(group)) is not None}

    def _fill(self, ops: Sequence[Op]) -> tuple[list[Placed], list[tuple[Op, Op, int]]]:
        """The ops that the next epoch takes. It ends with the program's."""
        epoch: int | None = None
        floor = Floor(self.chip.rows, self.chip.columns)
        here: dict[Op, Placed] = {}
        cuts: list[tuple[Op, Op, int]] = []
        for op in ops:
            if op.place is not None and epoch is not None and op.place.epoch > epoch:
                break
            found = self._put(op, floor, here, cuts)
            if found is None:
                break
            if op.place is not None:
                epoch = max(epoch or 0, op.place.epoch)
            here[op] = found
            if not floor.left:
                break
        if not here:
            self._refuse(ops[0])
        return list(here.values()), cuts

    def _put(self, op: Op, floor: Floor, here: dict[Op, Placed], cuts: list[tuple[Op, Op, int]]) -> Placed | None:
        preferred = self.models.of(op)
        if not self.config.use_interactive_placer:
            preferred = preferred[:1]
        kind = self.config.graph_solver_self_cut_type
        producers = [(i, here[x.source]) for i, x in enumerate(op.operands) if x.source in here]
        streamed = [(i, p) for i, p in producers if p.model.direction]
        bad: list[tuple[int, Placed]] = []
        chosen = None
        for model in preferred:
            start, turned = self._start(op, model, floor)
            if start is None:
                continue
            bad = [
                (i, p) for i, p in streamed if not self._is_cut(p.op, op, i) and not streams_into(p.model, op, i, model)
            ]
            chosen = chosen or (model, start, turned, bad)
            if not bad:
                chosen = model, start, turned, bad
                break
            if kind in ("FastCut", "None"):
                break
        if chosen is None:
            return None
        model, start, turned, bad = chosen
        if bad and kind == "ProducerUserDataEdgesFirst":
            bad = [pair for pair in bad if not self._remade(pair[1], op, pair[0], model)]
        if bad and kind == "None":
            source = bad[0][1]
            raise PlacementError(
                f"op {op.name!r} cannot take what {source.op.name!r} streams by {source.model.direction!r} in that "
                "order, and graph_solver_self_cut_type is 'None'; expected another type, or a queue between them "
                "(insert_queues)"
            )
        cuts += [(p.op, op, i) for i, p in bad]
        placed = Placed(op, model, *start, turned)
        floor.take(start, placed.size)
        return placed

    def _is_cut(self, source: Op, op: Op, number: int) -> bool:
        return (source.name, op.name, number) in self.requested_cuts

    def _remade(self, producer: Placed, op: Op, number: int, model: Model) -> bool:
        """Gives a producer another model on its cores, whose order fits."""
        for other in self.models.of(producer.op):
            if other.grid == producer.model.grid and streams_into(other, op, number, model):
                producer.model = other
                return True
        return False

    def _start(self, op: Op, model: Model, floor: Floor) -> tuple[tuple[int, int] | None, bool]:
        """The first core of an op, and whether its grid is turned."""
        overrides = self.config.op_overrides.get(op.name, {}).get("placement")
        start, turned = (overrides[0], overrides[2]) if overrides else (None, False)
        size = model.grid[::-1] if turned else model.grid
        if start is not None:
            return (tuple(start) if floor.is_free(start, size) else None), turned
        place = op.place
        if place is not None and not overrides and place.grid == model.grid and floor.is_free(place.core, place.size):
            return place.core, place.turned
        found = floor.find(size)
        if found is None and self.config.enable_auto_transposing_placement and not overrides and size[0] != size[1]:
            found = floor.find(size[::-1])
            return found, found is not None
        return found, turned

    def _refuse(self, op: Op) -> None:
        overrides = self.config.op_overrides.get(op.name, {}).get("placement")
        grids = sorted({m.grid for m in self.models.of(op)})
        text = ", ".join(f"{r}x{c}" for r, c in grids[:6])
        where = f" at {tuple(overrides[0])}" if overrides and overrides[0] is not None else ""
        raise PlacementError(
            f"No valid grids for op {op.name!r}{where}: none of {text}"
            f"{' (turned)' if overrides and overrides[2] else ''} "
            f"fits the {self.chip.rows}x{self.chip.columns} cores of the device"
        )
