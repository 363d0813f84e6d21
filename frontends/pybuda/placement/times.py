# SPDX-License-Identifier: Apache-2.0
"""Time of a placed graph: epochs follow each other, and each is a pipeline as fast as its slowest op."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..config import CompilerConfig
from ..tenstorrent.chip import Chip
from .graph import Op, Queue, tile_bytes, tiles
from .place import Epoch, Placed


@dataclass(frozen=True, slots=True)
class OpTime:
    """Cycles of an op for one input: computing and moving in L1 (what the balancer knows), and what it reads and writes
    of memory. They overlap."""

    kernel: int
    reads: int
    writes: int
    dram: int

    @property
    def cycles(self) -> int:
        return max(self.kernel, self.dram)

    @property
    def limiter(self) -> str:
        if self.dram <= self.kernel:
            return ""
        return "dram read" if self.reads >= self.writes else "dram write"


@dataclass(frozen=True, slots=True)
class EpochTime:
    """Cycles of one input: of the slowest op, and of the longest way through the ops; and the work over all cores."""

    cycles: int
    latency: int
    utilization: float
    matmul_cores: int


class Clock:
    """The estimated time of runs.

    launch: cycles from one epoch to the next.
    """

    def __init__(self, chip: Chip, epochs: Sequence[Epoch], written: Mapping[Op, Sequence[Queue]],
                 config: CompilerConfig) -> None:  # fmt: skip
        self.chip, self.epochs = chip, list(epochs)
        c = chip.costs
        self.launch = round(c.launch * c.clock_ghz)
        if config.backend_opt_level == 0:
            # Nothing is kept: each core's programs come from memory at each epoch.
            self.launch += round(chip.l1_base * chip.cores * c.dram_byte * c.clock_ghz)
        self.loops_on_device = config.backend_opt_level >= 4
        self.ops: dict[Op, OpTime] = {}
        for epoch in self.epochs:
            read: set[Queue] = set()
            for placed in epoch.placed:
                self.ops[placed.op] = self._op(placed, written.get(placed.op, ()), read, config)
        self.of = [self._epoch(epoch) for epoch in self.epochs]

    def _op(self, placed: Placed, written: Sequence[Queue], read: set[Queue], config: CompilerConfig) -> OpTime:
        op, m = placed.op, placed.model
        reads = 0
        for number, operand in enumerate(op.operands):
            queue = operand.source
            if not isinstance(queue, Queue) or number in m.in_l1:
                continue
            if config.enable_forked_dram_inputs and queue in read:
                continue
            read.add(queue)
            again = m.stream[1 - number] if op.is_matmul and number < 2 else 1
            count = op.tiles.count if op.type == "embedding" and number else tiles(operand.shape).count
            reads += count * tile_bytes(queue.df) * again
        writes = sum(tiles(q.shape).count * tile_bytes(q.df) for q in written)
        ns = (reads + writes) * self.chip.costs.dram_byte
        return OpTime(m.cycles, reads, writes, math.ceil(ns * self.chip.costs.clock_ghz))

    def _epoch(self, epoch: Epoch) -> EpochTime:
        slowest = max(self.ops[x.op].cycles for x in epoch.placed)
        here = {x.op for x in epoch.placed}
        arrives: dict[Op, int] = {}
        for placed in epoch.placed:
            before = [arrives[x.source] for x in placed.op.operands if x.source in here and x.source in arrives]
            arrives[placed.op] = max(before, default=0) + self.ops[placed.op].cycles
        busy = sum(self.ops[x.op].kernel * x.model.cores for x in epoch.placed)
        matmul = sum(x.model.cores for x in epoch.placed if x.op.is_matmul)
        return EpochTime(slowest, max(arrives.values()), busy / (slowest * self.chip.cores), matmul)

    def temporal(self) -> dict[int, list[int]]:
        """Returns numbers of epochs that run together, by the number of their time."""
        found: dict[int, list[int]] = {}
        for epoch in self.epochs:
            found.setdefault(epoch.temporal, []).append(epoch.number)
        return found

    def cycles(self, types: Sequence[str] = ()) -> int:
        """Returns cycles of one input in the steady state: the slowest op of each epoch, one epoch after the other."""
        return sum(
            max(self.of[n].cycles for n in numbers)
            for numbers in self.temporal().values()
            if not types or self.epochs[numbers[0]].type in types
        )

    def run_ns(self, inputs: int = 1, types: Sequence[str] = ()) -> float:
        """Returns nanoseconds of a run over so many inputs, with filling the pipelines and launching the epochs."""
        groups = [n for n in self.temporal().values() if not types or self.epochs[n[0]].type in types]
        if not groups or inputs < 1:
            return 0.0
        # A program of one epoch stays on the device; others load each epoch again for each input.
        loops = self.loops_on_device and len(groups) == 1
        cycles = 0
        for numbers in groups:
            slowest, latency = max(self.of[n].cycles for n in numbers), sum(self.of[n].latency for n in numbers)
            one = latency + self.launch
            cycles += one + (inputs - 1) * slowest if loops else inputs * one
        return cycles / self.chip.costs.clock_ghz
