# SPDX-License-Identifier: Apache-2.0
"""The files of a run, which are those of a finished one at any time but for the benchmarks that have not run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..harness import Measure, Outcome, Result, Settings
from . import of_type, save, saved, write_json

UNFINISHED = "unfinished.json"


class Progress:
    """The findings of a run so far, and the work that is left.

    Raises:
        ValueError: there is no run to resume, or it was another one.
    """

    def __init__(self, folder: Path, settings: Settings, chosen: Sequence[str], add: bool, resume: bool) -> None:
        self.folder, self.threads, self.chosen = folder, settings.threads, list(chosen)
        self.path = folder / UNFINISHED
        self.run = {
            "benchmarks": self.chosen,
            "seconds": settings.seconds,
            "threads": settings.threads,
            "peers": list(settings.peers),
        }
        self.done: list[str] = []
        self.outcomes: list[Outcome] = []
        self.resumed, self.keeps = resume, add or resume
        if resume:
            self.done = self.read()
        self.write()

    def read(self) -> list[str]:
        """The benchmarks that the run which did not end has done."""
        try:
            known = json.loads(self.path.read_text())
        except FileNotFoundError:
            raise ValueError(f"no run in {self.folder} is unfinished") from None
        for what, ours in self.run.items():
            if known[what] != ours:
                raise ValueError(f"{self.path}: the unfinished run has {what} {known[what]}, this one has {ours}")
        return known["done"]

    def write(self) -> None:
        write_json(self.path, {**self.run, "done": self.done})

    def left(self) -> Iterator[str]:
        return (name for name in self.chosen if name not in self.done)

    def add(self, outcome: Outcome) -> None:
        """Writes an outcome at once. What an earlier run left is there until this one has found something."""
        self.outcomes.append(outcome)
        save(self.folder, [outcome], self.threads, add=self.keeps)
        self.keeps = True

    def finish(self, name: str) -> None:
        self.done.append(name)
        self.write()

    def end(self) -> None:
        self.path.unlink(missing_ok=True)

    def found(self) -> tuple[list[Result], list[Measure]]:
        """Results and measures of this run; of one that was resumed, with what the files held."""
        if self.resumed:
            return saved(self.folder)
        return of_type(self.outcomes, Result), of_type(self.outcomes, Measure)
