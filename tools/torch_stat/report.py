# SPDX-License-Identifier: Apache-2.0
"""Statistics of traced graphs: how often each op appears, and the distribution of its sizes, as csv and plots."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ttmlir.files import write_whole

from .tracer import BACKWARD, FORWARD, RAW, Call, read_calls

SIDES = ("input", "output")


class MissingTraceError(RuntimeError):
    """There are no graphs to report on."""


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


def sizes(calls: Iterable[Call], side: str) -> dict[str, Counter[int]]:
    """Returns for each op how many calls have a total of so many bytes of inputs, or outputs."""
    found: dict[str, Counter[int]] = {}
    for call in calls:
        total = sum(t.nbytes for t in getattr(call, f"{side}s"))
        found.setdefault(call.op_type, Counter())[total] += 1
    return found


def plotter() -> Any:
    """Returns matplotlib's pyplot, without a screen; None where it is not installed."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def draw(pyplot: Any, path: Path, op: str, side: str, counts: Counter[int]) -> None:
    figure, axes = pyplot.subplots(figsize=(6, 3))
    steps = sorted(counts)
    axes.bar(range(len(steps)), [counts[n] for n in steps])
    axes.set_xticks(range(len(steps)), [f"{n:,}" for n in steps], rotation=90 if len(steps) > 4 else 0, fontsize=6)
    axes.set(title=op, xlabel=f"bytes of all {side}s of a call", ylabel="calls")
    figure.savefig(path, dpi=80, bbox_inches="tight")
    pyplot.close(figure)


def write_report(folder: Path, plots: bool = True) -> list[Path]:
    """Writes, from `<folder>/raw`: `{fw,bw}_node_count.csv` (op_type, count), and in the folders
    `{fw,bw}_total_{input,output}_size_dist` a csv (bytes, calls) and a plot for each op.

    Returns:
        The files; plots are not among them where matplotlib is not installed.
    Raises:
        MissingTraceError: nothing was traced.
        ValueError: a file under `raw` that no tracer wrote.
    """
    graphs = {kind: list(read_calls(folder, kind)) for kind in (FORWARD, BACKWARD)}
    if not any(graphs.values()):
        raise MissingTraceError(f"{folder / RAW}: no graphs; tools/stat_models.py writes them")
    pyplot = plotter() if plots else None
    written = []
    for kind, calls in graphs.items():
        counts = Counter(call.op_type for call in calls)
        path = folder / f"{kind}_node_count.csv"
        rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
        write_whole(path, csv_text(("op_type", "count"), rows))
        written.append(path)
        for side in SIDES:
            place = folder / f"{kind}_total_{side}_size_dist"
            place.mkdir(exist_ok=True)
            for op, by_size in sorted(sizes(calls, side).items()):
                write_whole(place / f"{op}.csv", csv_text(("bytes", "calls"), sorted(by_size.items())))
                written.append(place / f"{op}.csv")
                if pyplot is not None:
                    draw(pyplot, place / f"{op}.png", op, side, by_size)
                    written.append(place / f"{op}.png")
    return written
