# SPDX-License-Identifier: Apache-2.0
"""What became of the graphs that were compiled: ops, those that PyTorch runs, transfers, times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from torch.fx import Graph

from .importer import ON_HOST, is_call, is_supported
from .program import Program

FORWARD, BACKWARD = "forward", "backward"


@dataclass
class Report:
    """One graph, compiled for one set of sizes, or for sizes that it leaves open.

    kind: "forward", or "backward" of training.
    ops: aten ops of the graph, and how many of each. on_host: those that PyTorch runs between the programs.
    reasons: why, of those ops that the chip has and that a rule or a pass refused.
    programs: what the rest became, in order.
    error: why it could not be compiled, or "".
    unsuited: why AOTAutograd captured it, which takes longer than the one pass that was tried first; or "".
    open: the sizes that its program leaves open, with their bounds: "2 <= s0 <= 64".
    closed: why a graph whose sizes change has a program for one set of them; or "".
    """

    kind: str
    ops: Counter[str]
    on_host: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, str] = field(default_factory=dict)
    programs: list[Program] = field(default_factory=list)
    error: str = ""
    unsuited: str = ""
    open: tuple[str, ...] = ()
    closed: str = ""

    @property
    def transfers(self) -> int:
        """Tensors that one run sends to the device or fetches, without weights, which stay there."""
        return sum(program.transfers for program in self.programs)

    def host_text(self) -> str:
        """Ops that PyTorch runs, how many of each, and the reasons that are known."""
        reasons = {name: f": {reason}" for name, reason in self.reasons.items()}
        return ", ".join(f"{name} ({n}{reasons.get(name, '')})" for name, n in sorted(self.on_host.items()))


def counted(graph: Graph) -> Counter[str]:
    """Ops of a graph by name, "aten.add.Tensor"."""
    return Counter(str(node.target) for node in graph.nodes if is_call(node))


def left_on_host(graph: Graph) -> tuple[Counter[str], dict[str, str]]:
    """Ops that have no rule, or that a rule or a pass refused, with the first reason of those that were refused."""
    left = [node for node in graph.nodes if is_call(node) and not is_supported(node)]
    # The first one's, therefore backwards.
    reasons = {str(node.target): node.meta[ON_HOST] for node in reversed(left) if node.meta.get(ON_HOST)}
    return Counter(str(node.target) for node in left), reasons


_listening: list[list[Report]] = []


def add(report: Report) -> None:
    for reports in _listening:
        reports.append(report)


@contextmanager
def record() -> Iterator[list[Report]]:
    """A list that gets a `Report` for each graph that is compiled in the block; PyTorch compiles at the first call."""
    reports: list[Report] = []
    _listening.append(reports)
    try:
        yield reports
    finally:
        _listening[:] = [other for other in _listening if other is not reports]


def total(counts: Iterable[Counter[str]]) -> Counter[str]:
    """The sum over several graphs."""
    return sum(counts, Counter[Any]())
