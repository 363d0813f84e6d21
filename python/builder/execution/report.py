# SPDX-License-Identifier: Apache-2.0
"""Results of an execution: each compared value with its figures, as objects, a table, or JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from golden import Comparison


@dataclass(frozen=True)
class Record:
    """One value compared with its golden.

    kind: "output" or "intermediate"; name: output_0, or the op's number (see builder.goldens.module_goldens); op,
    location: what computes the value in the source, as far as it is known; device: which device's shard; seconds: wall
    time of the op
    on the simulator, 0 when it was not measured.
    """

    kind: str
    name: str
    op: str
    location: str
    device: int
    shape: tuple[int, ...]
    dtype: str
    comparison: Comparison
    passed: bool
    bypassed: bool = False
    seconds: float = 0.0

    def describe(self) -> str:
        c = self.comparison
        result = f"{self.op} at {self.location}" if self.op else self.location
        what = result if self.kind == "intermediate" else f"{self.name} ({result})"
        where = f", device {self.device}" if self.device else ""
        if c.problem:
            return f"{what}{where}: {c.problem}"
        at = f" at {list(c.worst)}" if c.worst else ""
        note = f"; {c.note}" if c.note else ""
        return (
            f"{what}{where}: PCC {c.pcc:.6f}, largest error {c.max_abs:.4g}{at}, largest relative error {c.max_rel:.4g}"
            f"{note}"
        )


@dataclass
class ProgramReport:
    """A program's run. seconds: wall time from submit to the last output on the host."""

    name: str
    index: int
    seconds: float = 0.0
    records: list[Record] = field(default_factory=list)

    @property
    def outputs(self) -> list[Record]:
        return [r for r in self.records if r.kind == "output"]

    @property
    def intermediates(self) -> list[Record]:
        return [r for r in self.records if r.kind == "intermediate"]

    @property
    def passed(self) -> bool:
        return all(r.passed or r.bypassed for r in self.records)


@dataclass
class GoldenReport:
    """Reports of all programs that ran; pcc is the threshold that decided."""

    programs: list[ProgramReport] = field(default_factory=list)
    pcc: float = 0.99
    path: Path | None = None  # of the compiled module, where it was saved

    @property
    def passed(self) -> bool:
        return all(p.passed for p in self.programs)

    @property
    def records(self) -> list[Record]:
        return [r for p in self.programs for r in p.records]

    @property
    def failures(self) -> list[Record]:
        return [r for r in self.records if not (r.passed or r.bypassed)]

    def __iter__(self) -> Iterator[ProgramReport]:
        return iter(self.programs)

    def __fspath__(self) -> str:
        if self.path is None:
            raise TypeError("the report has no file: save_artifacts=True writes the compiled module, which it is of")
        return str(self.path)

    def __bool__(self) -> bool:
        return True  # a report is there, whatever it says; see `passed`

    def to_dict(self) -> dict[str, Any]:
        return {
            "passed": self.passed,
            "pcc": self.pcc,
            "programs": [
                {
                    "name": p.name,
                    "index": p.index,
                    "seconds": p.seconds,
                    "passed": p.passed,
                    "records": [asdict(r) | {"comparison": r.comparison.to_dict()} for r in p.records],
                }
                for p in self.programs
            ],
        }

    def to_json(self, indent: int | None = 1) -> str:
        return json.dumps(self.to_dict(), indent=indent)

    def table(self) -> Any:
        """Returns a rich table with one row for each value; on several devices, that of the worst."""
        from rich.table import Table

        table = Table(title=f"golden check, PCC {self.pcc:g}")
        columns: tuple[tuple[str, Literal["left", "right"]], ...] = (
            ("program", "left"), ("value", "left"), ("op", "left"), ("location", "left"), ("shape", "left"),
            ("PCC", "right"), ("max |error|", "right"), ("max relative", "right"), ("ms", "right"), ("", "left"),
        )  # fmt: skip
        for name, justify in columns:
            table.add_column(name, justify=justify, overflow="fold")
        notes: list[str] = []
        for program in self.programs:
            for r, devices in worst_of_devices(program.records):
                c = r.comparison
                verdict = "bypassed" if r.bypassed else "ok" if r.passed else c.problem or "differs"
                if c.note and not c.problem and c.pcc < self.pcc:
                    notes.append(f"* {r.name}: {c.note}")
                    verdict += " *"
                seconds = program.seconds if r.kind == "output" and len(program.outputs) == 1 else r.seconds
                shape = "x".join(map(str, r.shape)) + f" {r.dtype}" + (f" on {devices} devices" if devices > 1 else "")
                table.add_row(program.name, r.name, r.op, short(r.location), shape, f"{c.pcc:.6f}", f"{c.max_abs:.3g}",
                              f"{c.max_rel:.3g}", f"{1e3 * seconds:.2f}" if seconds else "", verdict,
                              style=None if r.passed or r.bypassed else "red")  # fmt: skip
        if notes:
            table.caption, table.caption_justify = "\n".join(notes), "left"
        return table

    def __str__(self) -> str:
        from rich.console import Console

        text = io.StringIO()
        console = Console(file=text, width=160)
        console.print(self.table())
        return text.getvalue()


def worst_of_devices(records: list[Record]) -> list[tuple[Record, int]]:
    """Returns one record for each value, that of the device that differs most, and the number of devices."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.kind, record.name), []).append(record)
    worst = lambda r: (r.passed, r.comparison.pcc, -r.comparison.max_abs)  # noqa: E731
    return [(min(group, key=worst), len(group)) for group in groups.values()]


def short(location: str) -> str:
    """Returns a location without the folders of its file."""
    return location.rpartition("/")[2] if "://" not in location else location
