# SPDX-License-Identifier: Apache-2.0
"""Reports of compiled graphs: ops, those that PyTorch runs, transfers, times."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import Graph, Node

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
    options: of the pipeline that compiled it, as text: what the front end sets, and what the user does.
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
    options: str = ""
    error: str = ""
    unsuited: str = ""
    open: tuple[str, ...] = ()
    closed: str = ""

    @property
    def transfers(self) -> int:
        """Returns tensors that one run sends to the device or fetches, without weights, which stay there."""
        return sum(program.transfers for program in self.programs)

    def host_text(self) -> str:
        """Returns ops that PyTorch runs, how many of each, and the reasons that are known."""
        reasons = {name: f": {reason}" for name, reason in self.reasons.items()}
        return ", ".join(f"{name} ({n}{reasons.get(name, '')})" for name, n in sorted(self.on_host.items()))


def counted(graph: Graph) -> Counter[str]:
    """Returns ops of a graph by name, "aten.add.Tensor"."""
    return Counter(str(node.target) for node in graph.nodes if is_call(node))


def called(node: Node) -> str:
    """Returns the name of an op, and of the one that a higher-order op calls: "with_effects of
    aten._linalg_check_errors.default"."""
    inner = next((x for x in node.args if isinstance(x, torch._ops.OpOverload)), None)
    return str(node.target) if inner is None else f"{node.target} of {inner}"


def left_on_host(graph: Graph) -> tuple[Counter[str], dict[str, str]]:
    """Returns ops that have no rule, or that a rule or a pass refused, with the first reason of those that were
    refused."""
    left = [node for node in graph.nodes if is_call(node) and not is_supported(node)]
    # The first one's, therefore backwards.
    reasons = {called(node): node.meta[ON_HOST] for node in reversed(left) if node.meta.get(ON_HOST)}
    return Counter(map(called, left)), reasons


def traced() -> float:
    """Returns the seconds that Dynamo has taken for frames in this process, their backends included."""
    utils = sys.modules.get("torch._dynamo.utils")
    return sum(utils.compilation_time_metrics.get("_compile.compile_inner", ())) if utils is not None else 0.0


class Reports(list[Report]):
    """The graphs that were compiled in a block, and where the time of first calls went, in seconds.

    backend: in this backend, from Dynamo's graphs to programs.
    """

    def __init__(self) -> None:
        super().__init__()
        self.backend = 0.0
        self.compiled = 0.0  # of it, in programs
        self.began = traced()
        self.ended: float | None = None

    def in_programs(self) -> float:
        times = [program.times for report in self for program in report.programs]
        return sum(t.import_graph + t.passes + t.flatbuffer for t in times)

    @property
    def times(self) -> dict[str, float]:
        """Returns the seconds of each activity.

        dynamo: tracing of Python, and guards. capture: one pass over the graph, or AOTAutograd. import: aten ops to
        TTIR. passes, flatbuffer: to what the runtime loads. preparation: of the first runs, all but the ops: weights
        are brought into the forms that kernels read, and runs are planned. first run: its ops.
        """
        programs = [program.times for report in self for program in report.programs]
        traced_here = (traced() if self.ended is None else self.ended) - self.began
        return {
            "dynamo": max(traced_here - self.backend, 0.0),
            "capture": max(self.backend - self.compiled, 0.0),
            "import": sum(t.import_graph for t in programs),
            "passes": sum(t.passes for t in programs),
            "flatbuffer": sum(t.flatbuffer for t in programs),
            "preparation": sum(t.preparation for t in programs),
            "first run": sum(t.first_run for t in programs),
        }

    def text(self) -> str:
        """Returns a table of the times, of each program and in sum."""
        names = ["import", "passes", "flatbuffer", "preparation", "first run"]
        rows = [["", "dynamo", "capture", *names]]
        for report in self:
            for number, program in enumerate(report.programs):
                t = program.times
                spent = [t.import_graph, t.passes, t.flatbuffer, t.preparation, t.first_run]
                part = f" part {number}" if len(report.programs) > 1 else ""
                label = f"{report.kind}, {report.ops.total()} ops{part}"
                rows.append([label, "", "", *(f"{seconds:.3f}" for seconds in spent)])
        rows.append([f"sum, {sum(self.times.values()):.3f} s", *(f"{seconds:.3f}" for seconds in self.times.values())])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join([row[0].ljust(widths[0]), *(x.rjust(n) for x, n in zip(row[1:], widths[1:], strict=True))])
            for row in rows
        )


_listening: list[Reports] = []


@contextmanager
def timed() -> Iterator[None]:
    """Counts the time of the block as the backend's."""
    before = [(reports, reports.in_programs()) for reports in _listening]
    started = time.perf_counter()
    try:
        yield
    finally:
        for reports, compiled in before:
            reports.backend += time.perf_counter() - started
            reports.compiled += reports.in_programs() - compiled


def add(report: Report) -> None:
    for reports in _listening:
        reports.append(report)


@contextmanager
def record() -> Iterator[Reports]:
    """Yields a list that gets a `Report` for each graph that is compiled in the block; PyTorch compiles at the first
    call."""
    reports = Reports()
    _listening.append(reports)
    try:
        yield reports
    finally:
        reports.ended = traced()
        _listening[:] = [other for other in _listening if other is not reports]


def total(counts: Iterable[Counter[str]]) -> Counter[str]:
    """Returns the sum over several graphs."""
    return sum(counts, Counter[Any]())
