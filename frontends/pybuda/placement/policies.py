# SPDX-License-Identifier: Apache-2.0
"""The balancer: which of an op's models it gets, by the policy of the configuration."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .chip import Chip
from .graph import Graph, Op
from .models import Model, Models, work_ns

SEED_OF_RANDOM = 0
WINDOW = 64  # ops that are looked at to begin an epoch


@dataclass(frozen=True, slots=True)
class Plan:
    """How an epoch is balanced: no op takes longer than `cycles` where it can help it; ops have `rows` rows of cores
    (0: any)."""

    cycles: int = 0
    rows: int = 0


# Policies that order the models of an op in one way: the smallest key first.
ORDERS: dict[str, Callable[[Model], Any]] = {
    "MinimizeGrid": lambda m: (m.cores, m.t, m.grid),
    "MaximizeTMinimizeGrid": lambda m: (-m.t, m.cores, m.grid),
}


class Balancer:
    """Plans for epochs, and for each of them the models of ops in the order of preference."""

    def __init__(self, graph: Graph, models: Models, chip: Chip) -> None:
        self.models, self.chip = models, chip
        policy = models.config.balancer_policy
        if policy == "default":
            policy = "Ribbon" if any(x.type == "conv2d" for op in graph.ops for x in op.parts or [op]) else "NLP"
        if policy == "CNN":
            warnings.warn("balancer_policy 'CNN' is deprecated; it is 'Ribbon'", DeprecationWarning, stacklevel=2)
            policy = "Ribbon"
        self.policy = policy
        self.launch = round(chip.costs.launch * chip.costs.clock_ghz)
        self._orders: dict[Any, list[Model]] = {}
        self._random = random.Random(SEED_OF_RANDOM)
        self._work: dict[Op, int] = {}

    def work(self, op: Op) -> int:
        """Returns cycles of an op on one core."""
        if op not in self._work:
            self._work[op] = max(1, round(work_ns(op, self.chip) * self.chip.costs.clock_ghz))
        return self._work[op]

    def plans(self, window: Sequence[Op]) -> list[Plan]:
        """Returns what is tried for an epoch that begins with these ops."""
        if self.policy in ORDERS or self.policy == "Random":
            return [Plan()]
        # Ops that move elements have no work but their cycles.
        heaviest = max(max(self.work(op), min(m.cycles for m in self.models.of(op))) for op in window)
        targets, cores = [], 1
        while cores <= self.chip.cores:
            targets.append(-(-heaviest // cores))
            cores *= 2
        if self.policy == "NLP":
            return [Plan(cycles) for cycles in targets]
        rows = sorted({m.grid[0] for op in window for m in self.models.of(op)})
        return [Plan(cycles, r) for r in rows[-5:] for cycles in targets]

    def preferred(self, op: Op, plan: Plan) -> list[Model]:
        """Returns the models of an op, the best first."""
        models = self.models.of(op)
        if self.policy == "Random":
            return self._random.sample(models, len(models))
        key = self.models.signature(op), plan
        if key not in self._orders:
            order = ORDERS.get(self.policy) or self._by_plan(models, plan)
            self._orders[key] = sorted(models, key=order)
        return self._orders[key]

    @staticmethod
    def _by_plan(models: Sequence[Model], plan: Plan) -> Callable[[Model], Any]:
        """Few cores that are fast enough, else the fastest; of a ribbon first those with its rows."""
        below = [m.grid[0] for m in models if m.grid[0] <= plan.rows]
        rows = max(below) if below else 0

        def order(m: Model) -> Any:
            off = abs(m.grid[0] - rows) if plan.rows else 0
            slow = m.cycles > plan.cycles
            return (off, slow, m.cycles if slow else m.cores, m.cores, m.cycles, m.grid)

        return order

    def score(self, placed: Sequence[tuple[Op, Model]]) -> float:
        """Returns work that an epoch does in a cycle, its launch included."""
        slowest = max(model.cycles for _, model in placed)
        return sum(self.work(op) for op, _ in placed) / (slowest + self.launch)
