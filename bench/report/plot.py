# SPDX-License-Identifier: Apache-2.0
"""The ratios as a picture: a dot for each peer on a line for each benchmark, right of 1 where we are faster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..harness import Result
from ..names import EAGER, INDUCTOR, JAX_CPU, ONEDNN, OPENVINO

# Colours that stay apart for the colour-blind, and shapes that stay apart without colour.
STYLES = {
    EAGER: ("#0072b2", "o"),
    INDUCTOR: ("#e69f00", "s"),
    OPENVINO: ("#009e73", "D"),
    ONEDNN: ("#cc79a7", "^"),
    JAX_CPU: ("#56b4e9", "v"),
}
DTYPES = ("f32", "bf16")


def plot(results: Sequence[Result], path: Path) -> str:
    """Draws to `path`; says where it is, or why there is no picture."""
    try:
        import matplotlib
    except ImportError:
        return "no plot: matplotlib is not installed (scripts/setup.sh --bench)"
    shown = [r for r in results if r.peer in STYLES and r.ratio is not None]
    if not shown:
        return "no plot: nothing was compared"
    matplotlib.use("svg")
    from matplotlib import pyplot

    names = list(dict.fromkeys(r.name for r in shown))[::-1]
    ratios = [r.ratio for r in shown if r.ratio is not None]
    low, high = min(0.5, min(ratios) / 1.15), max(2.0, max(ratios) * 1.25)
    figure, axes = pyplot.subplots(
        1, len(DTYPES), sharey=True, figsize=(12, 1.9 + 0.34 * len(names)), layout="constrained", squeeze=False
    )
    for axis, dtype in zip(axes[0], DTYPES, strict=True):
        draw(axis, [r for r in shown if r.dtype == dtype], names)
        axis.set_title(dtype, fontsize=11, fontweight="bold")
        axis.set_xlabel(
            "they are faster  \N{LEFTWARDS ARROW}  same  \N{RIGHTWARDS ARROW}  we are faster", color="#666666"
        )
        axis.set_xscale("log")
        axis.set_xlim(low, high)
        ticks = [t for t in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if low <= t <= high]
        axis.set_xticks(ticks, [f"{t:g}x" for t in ticks])
        axis.set_xticks([], minor=True)
    axes[0][0].set_yticks(range(len(names)), names)
    axes[0][0].set_ylim(-0.7, len(names) - 0.3)
    handles = {h.get_label(): h for axis in axes[0] for h in axis.get_legend_handles_labels()[0]}
    figure.suptitle("How many times as long others take for the same work", fontsize=13, x=0.01, ha="left")
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=len(handles), frameon=False)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return f"plot: {path}"


def draw(axis: Any, results: Sequence[Result], names: Sequence[str]) -> None:
    axis.axvspan(1e-3, 1, color="#b00020", alpha=0.05, lw=0)
    axis.axvline(1, color="#444444", lw=1)
    for y, name in enumerate(names):
        row = [r.ratio for r in results if r.name == name and r.ratio is not None]
        if row:
            axis.plot([min(*row, 1), max(*row, 1)], [y, y], color="#cccccc", lw=1.5, zorder=1)
    for peer, (colour, marker) in STYLES.items():
        points = [(r.ratio, names.index(r.name)) for r in results if r.peer == peer]
        if points:
            xs, ys = zip(*points, strict=True)
            axis.scatter(xs, ys, s=42, color=colour, marker=marker, label=peer, zorder=2, edgecolor="white", lw=0.5)
    axis.grid(axis="y", color="#eeeeee", zorder=0)
    axis.tick_params(length=0)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
