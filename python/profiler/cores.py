# SPDX-License-Identifier: Apache-2.0
"""The cores of a chip in programs of kernels: who computes, moves data or waits, and for what, on the chip's clock.

Times are cycles since the program of kernels began. Cores are (x, y).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Core = tuple[int, int]
Step = tuple[float, float, str, str]  # begin, end, what the kernel does, what it waits for
MOST_STEPS = 100_000  # in a page or a trace, of the programs of kernels that take longest
CORES = 3  # process number in the trace
ACTIVITIES = ("computes", "moves", "waits")
BUSY = 0.5  # a kernel that works for this share of the program bounds it


@dataclass(frozen=True)
class KernelRecord:
    """A kernel on a core. waits: cycles by what it waits for. zones: (name, begin, end)."""

    name: str
    core: Core
    computing: float
    moving: float
    waiting: float
    end: float
    waits: tuple[tuple[str, float], ...]
    steps: tuple[Step, ...]
    zones: tuple[tuple[str, float, float], ...]

    @property
    def busy(self) -> float:
        return self.computing + self.moving


@dataclass(frozen=True)
class CoresRecord:
    """A program of kernels; of a mesh, on the chip that takes longest.

    op: its place in the program. grid: columns and rows. links: (core, neighbor, bytes). dram_bytes: by bank.
    """

    op: int
    grid: tuple[int, int]
    kernels: tuple[KernelRecord, ...]
    links: tuple[tuple[Core, Core, int], ...]
    dram_bytes: tuple[int, ...]

    @property
    def cycles(self) -> float:
        return max((kernel.end for kernel in self.kernels), default=0.0)

    @property
    def steps(self) -> int:
        return sum(len(kernel.steps) + len(kernel.zones) for kernel in self.kernels)


def cores_record(op: int, activity: Any) -> CoresRecord:
    """Returns the runtime's CoreActivity as a record."""
    kernels = tuple(
        KernelRecord(
            each.name, each.core, each.computing, each.moving, each.waiting, each.end, tuple(each.waits.items()),
            tuple(each.steps), tuple((zone.name, zone.begin, zone.end) for zone in each.zones),
        )
        for each in activity.kernels
    )  # fmt: skip
    return CoresRecord(op, activity.grid, kernels, tuple(activity.links), tuple(activity.dram_bytes))


def cores_records(ops: Iterable[Any]) -> tuple[CoresRecord, ...]:
    """Returns the records of those ops of a run's report that are programs of kernels."""
    return tuple(cores_record(op.index, op.activity) for op in ops if op.activity is not None)


@dataclass(frozen=True)
class KernelSummary:
    """A kernel on all its cores; shares are of the cycles of the program, on the core where it works longest."""

    name: str
    cores: int
    core: Core
    computes: float
    moves: float
    waits: float
    waits_for: str


def summaries(record: CoresRecord) -> list[KernelSummary]:
    """Returns what each kernel does, in the order of the program."""
    total = record.cycles or 1.0
    result = []
    for name in dict.fromkeys(kernel.name for kernel in record.kernels):
        on = [kernel for kernel in record.kernels if kernel.name == name]
        busiest = max(on, key=lambda kernel: kernel.busy)
        longest = max(busiest.waits, key=lambda wait: wait[1], default=("", 0.0))
        result.append(
            KernelSummary(
                name, len(on), busiest.core, busiest.computing / total, busiest.moving / total,
                busiest.waiting / total, longest[0],
            )
        )  # fmt: skip
    return result


def bound_by(record: CoresRecord) -> str:
    """Returns in words what bounds a program of kernels: its busiest kernel, or the wait of all of them."""
    found = summaries(record)
    if not found or not record.cycles:
        return "nothing"
    busiest = max(found, key=lambda each: each.computes + each.moves)
    x, y = busiest.core
    place = f"{busiest.name} on core (y={y}, x={x})"
    if busiest.computes + busiest.moves >= BUSY:
        does, share = (
            ("computes", busiest.computes) if busiest.computes >= busiest.moves else ("moves data", busiest.moves)
        )
        return f"{place}, which {does} {share:.0%} of the time"
    share = busiest.computes + busiest.moves
    return f"waiting: the busiest kernel, {place}, works {share:.0%} of the time and waits for {busiest.waits_for}"


def longest(records: Iterable[CoresRecord], most: int = MOST_STEPS) -> set[int]:
    """Returns the identities of the records whose steps are shown: the longest ones, together `most` steps."""
    shown, left = set(), most
    for record in sorted(records, key=lambda record: -record.cycles):
        if record.steps <= left:
            left -= record.steps
            shown.add(id(record))
    return shown


def page_cores(record: CoresRecord, steps: bool) -> dict[str, Any]:
    """Returns a record for the page; what a kernel waits for is a number in `texts`."""
    texts: dict[str, int] = {}
    kernels = []
    for kernel in record.kernels:
        listed = [
            [round(begin), round(end), ACTIVITIES.index(does), texts.setdefault(awaited, len(texts))]
            for begin, end, does, awaited in (kernel.steps if steps else ())
        ]
        kernels.append({
            "name": kernel.name, "core": kernel.core, "computing": round(kernel.computing),
            "moving": round(kernel.moving), "waiting": round(kernel.waiting), "end": round(kernel.end),
            "waits": [[text, round(cycles)] for text, cycles in kernel.waits], "steps": listed,
            "zones": [[name, round(begin), round(end)] for name, begin, end in (kernel.zones if steps else ())],
        })  # fmt: skip
    return {
        "op": record.op, "grid": record.grid, "cycles": round(record.cycles), "kernels": kernels,
        "texts": list(texts), "links": record.links, "dram_bytes": record.dram_bytes, "bound": bound_by(record),
    }  # fmt: skip


def rows_of(record: CoresRecord) -> list[tuple[int, str]]:
    """Returns number and name of the trace's row of each kernel: those of a core follow each other."""
    on: dict[Core, int] = {}
    rows = []
    for kernel in record.kernels:
        x, y = kernel.core
        slot = on.get(kernel.core, 0)
        on[kernel.core] = slot + 1
        rows.append(((y * record.grid[0] + x) * 16 + 2 * slot, f"core y={y} x={x}, processor {slot}"))
    return rows


def core_events(record: CoresRecord, start: float, ns_per_cycle: float) -> list[dict[str, Any]]:
    """Returns the steps and zones of a program of kernels that begins at `start` ns, for the trace.

    Zones have a row of their own, because slices of a row must not overlap.
    """

    def slice_of(row: int, name: str, kind: str, begin: float, end: float, kernel: str) -> dict[str, Any]:
        return {"ph": "X", "pid": CORES, "tid": row, "name": name, "cat": kind, "args": {"kernel": kernel},
                "ts": round((start + begin * ns_per_cycle) / 1000, 3),
                "dur": round((end - begin) * ns_per_cycle / 1000, 3)}  # fmt: skip

    events = []
    for kernel, (row, _) in zip(record.kernels, rows_of(record), strict=True):
        for begin, end, does, awaited in kernel.steps:
            name = f"waits for {awaited}" if awaited else does
            events.append(slice_of(row, name, "core", begin, end, kernel.name))
        for name, begin, end in kernel.zones:
            events.append(slice_of(row + 1, name, "zone", begin, end, kernel.name))
    return events


def row_names(records: Sequence[CoresRecord]) -> list[dict[str, Any]]:
    """Returns the events that name the rows of the cores."""
    names: dict[int, str] = {}
    for record in records:
        for kernel, (row, name) in zip(record.kernels, rows_of(record), strict=True):
            names[row] = name
            if kernel.zones:
                names[row + 1] = f"{name}: zones"
    if not names:
        return []
    process = {"ph": "M", "pid": CORES, "name": "process_name", "args": {"name": "cores (estimated)"}}
    return [process] + [
        {"ph": "M", "pid": CORES, "tid": row, "name": "thread_name", "args": {"name": name}}
        for row, name in sorted(names.items())
    ]
