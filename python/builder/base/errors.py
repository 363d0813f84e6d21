# SPDX-License-Identifier: Apache-2.0
"""Errors of the builder."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from ttmlir import util

from .builder_utils import plain_location


class TTBuilderCompileException(Exception):
    """An op could not be built, or a module could not be compiled.

    diagnostics: the compiler's diagnostics, each with its notes, as `severity`, `location` and `message`.
    """

    def __init__(self, message: str, diagnostics: Iterable[Any] = ()):
        self.diagnostics = list(diagnostics)
        lines = [message, *(f"  {line}" for d in self.diagnostics for line in describe(d))]
        super().__init__("\n".join(dict.fromkeys(lines)))


class TTBuilderRuntimeException(Exception):
    """The device, or the tensors given to it, refused a run."""


class TTBuilderGoldenException(Exception):
    """A result differs from its golden.

    records: the report's entries (see builder.execution.report.Record) of the values that differ; report: all of it.
    """

    report: Any = None

    def __init__(self, message: str, records: Iterable[Any] = ()):
        self.records = list(records)
        super().__init__(message)


def describe(diagnostic: Any) -> list[str]:
    """Returns a diagnostic and its notes, one line each: `model.py:31: error: ...`."""
    severity = str(diagnostic.severity).rpartition(".")[2].lower()
    where = plain_location(util.without_source_number(diagnostic.location))
    lines = [f"{where}: {severity}: {diagnostic.message}"]
    return lines + [line for note in diagnostic.notes for line in describe(note)]


def diagnostics_of(error: BaseException) -> list[Any]:
    return list(getattr(error, "error_diagnostics", ()))


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """Returns "; did you mean 'dim'?" if a known name is similar, else a list of known names."""
    known = sorted(known)
    near = difflib.get_close_matches(wrong, known, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; known: {', '.join(known)}" if len(known) <= 20 else ""
