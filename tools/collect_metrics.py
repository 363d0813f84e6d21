#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of models that run compiled, from the metrics that were measured.

    tools/collect_metrics.py                                 of metrics/, which pytest's plugin wrote
    tools/collect_metrics.py --run "Mnist (Eval)" ResNet18   measures models of the table of nineteen first

Reads `metrics/**/*.json` and writes `metrics/README.md` (the table, and the conversion status of each model's ops),
`metrics/metrics.csv`, and where matplotlib is installed `metrics/run_time.png`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
import torch_zoo
from torch_stat.report import csv_text, plotter
from ttmlir.files import write_whole
from ttmlir.torch.metrics import SUFFIX, Metrics, measure

YES, NO, NONE = "✅", "✘", "N/A"
# Column -> what it says.
COLUMNS = {
    "Model": "name of the model",
    "Run Success": "whether the model runs compiled",
    "Torch Ops Before (Unique Ops)": "aten ops in the graphs of the model, and in brackets how many kinds",
    "Torch Ops Remain (Unique Ops)": "those that PyTorch still runs",
    "To/From Device Ops": "tensors that a run sends to the device or fetches from it",
    "Original Run Time (ms)": "of the model in PyTorch, median",
    "Compiled Run Time (ms)": "of the compiled model, median, without compiling",
    "Accuracy (%)": "least agreement over the outputs: correlation of floats, share of equal integers",
}


def count(ops: dict[str, int]) -> str:
    return f"{sum(ops.values())} ({len(ops)})"


def number(value: float | None, digits: int = 2) -> str:
    return NONE if value is None else f"{value:.{digits}f}".rstrip("0").rstrip(".") if digits else f"{value:.0f}"


def row(metrics: Metrics) -> list[str]:
    done = metrics.success
    return [
        metrics.model,
        YES if done else NO,
        count(metrics.ops),
        count(metrics.on_host) if done else NONE,
        number(metrics.transfers, 0) if done else NONE,
        number(metrics.original_ms),
        number(metrics.compiled_ms),
        number(metrics.accuracy),
    ]


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a table of Markdown with columns of one width."""
    cells = [header, *rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(header))]
    lines = ["| " + " | ".join(f"{c:{w}}" for c, w in zip(line, widths, strict=True)) + " |" for line in cells]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)


def conversion(metrics: Metrics) -> str:
    """Returns each op of a model: whether it runs on the chip, and how often it appears."""
    rows = []
    for op, times in metrics.ops.items():
        left = metrics.on_host.get(op, 0)
        status = (
            YES if not left and metrics.success else NO if left == times or not metrics.success else f"{NO} ({left})"
        )
        rows.append([op, status, str(times)])
    error = f"\n{metrics.error.partition(chr(10))[0]}\n" if metrics.error else ""
    return f"### {metrics.model}\n{error}\n{table(('aten ops', 'status', 'count'), rows)}\n"


def page(found: Sequence[Metrics]) -> str:
    explained = "\n".join(f"* **{name}**: {text}" for name, text in COLUMNS.items())
    return (
        "# Models\n\nWritten by tools/collect_metrics.py.\n\n"
        f"{table(tuple(COLUMNS), [row(m) for m in found])}\n\n{explained}\n\n"
        "## Op conversion status per model\n\n" + "\n".join(conversion(m) for m in found)
    )


def load(folder: Path) -> list[Metrics]:
    """Returns all metrics of a folder; models of the table first, in its order.

    Raises:
        ValueError: a file that does not hold metrics, or none is there.
    """
    found = [Metrics.load(path) for path in sorted(folder.rglob(f"*{SUFFIX}"))]
    if not found:
        raise ValueError(f"{folder}: no metrics; tests that record models write them, or --run")
    known = list(torch_zoo.MODELS)
    return sorted(found, key=lambda m: (known.index(m.model) if m.model in known else len(known), m.model))


def draw(found: Sequence[Metrics], path: Path) -> bool:
    pyplot = plotter()
    timed = [m for m in found if m.original_ms and m.compiled_ms]
    if pyplot is None or not timed:
        return False
    figure, axes = pyplot.subplots(figsize=(8, 1 + 0.35 * len(timed)))
    places = range(len(timed))
    axes.barh([p - 0.2 for p in places], [m.original_ms for m in timed], 0.4, label="PyTorch")
    axes.barh([p + 0.2 for p in places], [m.compiled_ms for m in timed], 0.4, label="compiled")
    axes.set_yticks(places, [m.model for m in timed], fontsize=7)
    axes.set(xlabel="ms a run", xscale="log")
    axes.invert_yaxis()
    axes.legend()
    figure.savefig(path, dpi=100, bbox_inches="tight")
    pyplot.close(figure)
    return True


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metrics", type=Path, default=Path("metrics"), metavar="DIR", help="default: metrics")
    parser.add_argument("--run", nargs="*", metavar="NAME", help="measure these models first; without a name, all")
    parser.add_argument("--small", action="store_true", help="with the small settings of tests")
    arguments = parser.parse_args(words)
    try:
        chosen = torch_zoo.names(arguments.run) if arguments.run is not None else []
    except KeyError as error:
        parser.error(str(error.args[0]))
    for name in chosen:
        model, inputs = torch_zoo.make(name, small=arguments.small)
        with torch.set_grad_enabled(model.training):
            metrics = measure(name, model, inputs)
        metrics.save(arguments.metrics)
        print(" | ".join(row(metrics)), flush=True)
        torch._dynamo.reset()  # programs and weights of a model that is done
    try:
        found = load(arguments.metrics)
    except ValueError as error:
        print(f"collect_metrics: {error}", file=sys.stderr)
        return 1
    write_whole(arguments.metrics / "README.md", page(found))
    write_whole(arguments.metrics / "metrics.csv", csv_text(tuple(COLUMNS), [row(m) for m in found]))
    drawn = draw(found, arguments.metrics / "run_time.png")
    if not drawn:
        print("collect_metrics: no plot: matplotlib is not installed, or no model ran", file=sys.stderr)
    print(f"{len(found)} models, {sum(not m.success for m in found)} of them fail: {arguments.metrics / 'README.md'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
