# SPDX-License-Identifier: Apache-2.0
"""The measurements for people: tables, means, reasons. And for programs: results.json and the files next to it."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from ttmlir.files import write_whole

from ..harness import Absent, Measure, Outcome, Profile, Result
from ..names import PEERS
from .machine import machine

RESULTS, MEASURES, MACHINE = "results.json", "results-measures.json", "machine.json"


def milliseconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if value < 1 else f"{value:.2f}" if value < 100 else f"{value:.0f}"


def short(outcome: Outcome) -> str:
    """A line while the benchmarks run."""
    head = f"{outcome.name}, {outcome.dtype}: " if outcome.dtype else f"{outcome.name}: "
    match outcome:
        case Result(ours_ms=ours, peer=None):
            return f"{head}{milliseconds(ours)} ms"
        case Result(ours_ms=ours, peer=peer, peer_ms=theirs, ratio=ratio):
            return f"{head}{milliseconds(ours)} ms, {peer} {milliseconds(theirs)} ms, {ratio:.2f}x"
        case Measure(value=value, unit=unit, expected=expected, note=note):
            return (
                f"{head}{value:,.4g} {unit}"
                + (f" (expected {expected})" if expected else "")
                + (f"; {note}" if note else "")
            )
        case Profile(text=text):
            return f"{head}{text}"
        case Absent(peer=peer, reason=reason):
            return f"{head}{peer}: {reason}"


def colour(ratio: float) -> str:
    return "green" if ratio >= 1 else "yellow" if ratio >= 0.9 else "red"


def ratio_text(result: Result) -> str:
    if result.ratio is None:
        return ""
    ratio = f"{result.ratio:.2f}x"
    return f"[{colour(result.ratio)}]{ratio:>7}[/]"


def rows_of(results: Iterable[Result]) -> dict[tuple[str, str], list[Result]]:
    rows: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        rows.setdefault((result.name, result.dtype), []).append(result)
    return rows


def same_peers(results: Sequence[Result]) -> Table:
    """A row for each benchmark and dtype, a column for each peer."""
    peers = [peer for peer in PEERS if any(r.peer == peer for r in results)]
    table = Table(title="milliseconds, and how many times as long the peer takes", title_justify="left")
    for column in ("benchmark", "dtype"):
        table.add_column(column)
    for column in ("ours", *peers):
        table.add_column(column, justify="right")
    for (name, dtype), row in rows_of(results).items():
        by_peer = {r.peer: f"{milliseconds(r.peer_ms)}  {ratio_text(r)}" for r in row if r.peer_ms is not None}
        table.add_row(name, dtype, milliseconds(row[0].ours_ms), *(by_peer.get(peer, "") for peer in peers))
    return table


def other_peers(results: Sequence[Result]) -> Table:
    """A row for each comparison with something that only one benchmark has."""
    table = Table(title="milliseconds compared with other ways", title_justify="left")
    for column in ("benchmark", "dtype", "beside"):
        table.add_column(column)
    for column in ("ours", "its", "ratio"):
        table.add_column(column, justify="right")
    for r in results:
        table.add_row(r.name, r.dtype, r.peer, milliseconds(r.ours_ms), milliseconds(r.peer_ms), ratio_text(r))
    return table


def numbers(measures: Sequence[Measure]) -> Table:
    table = Table(title="other measures", title_justify="left")
    for column in ("benchmark", "dtype"):
        table.add_column(column)
    table.add_column("value", justify="right")
    for column in ("unit", "expected", "made of"):
        table.add_column(column, overflow="fold")
    for m in measures:
        table.add_row(
            m.name, m.dtype, f"{m.value:,.0f}" if m.value >= 100 else f"{m.value:.3g}", m.unit, m.expected, m.note
        )
    return table


def means(results: Iterable[Result], models: Iterable[str]) -> list[str]:
    """The geometric mean of the ratios over the models, for each peer and dtype."""
    chosen = set(models)
    kept: dict[tuple[str, str], list[float]] = {}
    for r in results:
        if r.name in chosen and r.peer and r.ratio:
            for dtype in (r.dtype, "both"):
                kept.setdefault((r.peer, dtype), []).append(r.ratio)
    return [
        f"{peer}, {dtype}: {statistics.geometric_mean(ratios):.2f}x over {len(ratios)}"
        for (peer, dtype), ratios in kept.items()
    ]


def slower(results: Sequence[Result], profiles: Sequence[Profile]) -> list[str]:
    """Where a peer is faster: by how much, and what our time is spent on."""
    texts = {(p.name, p.dtype): p.text for p in profiles}
    lines = []
    for (name, dtype), row in rows_of(r for r in results if r.ratio is not None and r.ratio < 1).items():
        lost = ", ".join(f"{r.ratio:.2f}x {r.peer}" for r in row)
        where = texts.get((name, dtype))
        lines.append(f"{name}, {dtype}: {lost}" + (f"; {where}" if where else ""))
    return lines


def of_type(outcomes: Iterable[Outcome], kind: type) -> list:
    return [outcome for outcome in outcomes if isinstance(outcome, kind)]


def show(outcomes: Sequence[Outcome], models: Iterable[str], console: Console) -> None:
    results, measures = of_type(outcomes, Result), of_type(outcomes, Measure)
    usual = [r for r in results if r.peer is None or r.peer in PEERS]
    if usual:
        console.print(same_peers(usual))
    if others := [r for r in results if r not in usual]:
        console.print(other_peers(others))
    if measures:
        console.print(numbers(measures))
    sections = {
        "geometric mean over the models": means(results, models),
        "where a peer is faster, and where our time goes (host, by op)": slower(results, of_type(outcomes, Profile)),
        "not compared": [f"{a.name}, {a.dtype}: {a.peer} {a.reason}" for a in of_type(outcomes, Absent)],
    }
    for title, lines in sections.items():
        if lines:
            console.print(f"\n[bold]{title}[/]")
            for text in lines:
                console.print(f"  {text}", highlight=False, markup=False, soft_wrap=True)


def write_json(path: Path, data: object) -> None:
    """JSON that takes the place of an older file when all is written."""
    write_whole(path, json.dumps(data, indent=1) + "\n")


def replaced(path: Path, key: Sequence[str], new: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    """The file's lines, those with the key of a new one replaced, then the other new ones."""
    try:
        old = json.loads(path.read_text())
    except (OSError, ValueError):
        old = []
    known = {tuple(line.get(k) for k in key): line for line in old}
    return list((known | {tuple(line[k] for k in key): line for line in new}).values())


def save(folder: Path, outcomes: Sequence[Outcome], threads: int, add: bool) -> None:
    """results.json: Results; results-measures.json: the other numbers; machine.json. add: keep what is there."""
    results = [r.to_dict() for r in of_type(outcomes, Result)]
    measures = [vars(m) for m in of_type(outcomes, Measure)]
    if add:
        results = replaced(folder / RESULTS, ("name", "dtype", "peer"), results)
        measures = replaced(folder / MEASURES, ("name", "dtype"), measures)
    write_json(folder / MACHINE, machine(threads))
    write_json(folder / RESULTS, results)
    write_json(folder / MEASURES, measures)


def saved(folder: Path) -> tuple[list[Result], list[Measure]]:
    """Reads the results that `save` wrote."""
    fields = ("name", "dtype", "ours_ms", "peer", "peer_ms")
    results = [Result(*(line[f] for f in fields)) for line in json.loads((folder / RESULTS).read_text())]
    return results, [Measure(**line) for line in json.loads((folder / MEASURES).read_text())]
