# SPDX-License-Identifier: Apache-2.0
"""Printing: tables for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from ttmlir.files import whole_file

# Wide enough that no line of a pipe or a log is broken.
PIPE_WIDTH = 10_000


def console() -> Console:
    """Returns coloured and as wide as the terminal; plain and unbroken where there is none."""
    terminal = sys.stdout.isatty()
    return Console(file=sys.stdout, highlight=False, width=None if terminal else PIPE_WIDTH, markup=False)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Prints rows under column names; a name that ends in '>' makes a column of numbers, aligned right."""
    view = Table(
        box=box.SIMPLE_HEAD if sys.stdout.isatty() else None,
        pad_edge=False,
        header_style="bold",
    )
    for column in columns:
        view.add_column(column.rstrip(">"), justify="right" if column.endswith(">") else "left", overflow="fold")
    for cells in rows:
        view.add_row(*("" if cell is None else str(cell) for cell in cells))
    out = console()
    with out.capture() as captured:
        if title:  # not as a part of the table, at whose width it would be broken
            out.print(title, style="bold")
        out.print(view)
    # Rich fills rows with spaces to the table's width.
    sys.stdout.write("\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n")


def pairs(title: str, rows: Iterable[tuple[str, Any]]) -> None:
    """Prints names and values under a title."""
    rows = [(name, str(value)) for name, value in rows]
    width = max((len(name) for name, _ in rows), default=0)
    print(title)
    for name, value in rows:
        print(f"  {name:<{width}}  {value}")


def print_json(data: Any) -> None:
    json.dump(data, sys.stdout, indent=2)
    print()


def write_json(path: str, data: Any) -> None:
    """Writes to a file, or to standard output when it is "-"."""
    if path == "-":
        print_json(data)
        return
    with whole_file(path) as file:
        file.write(json.dumps(data, indent=2).encode() + b"\n")


def grouped(number: float) -> str:
    """Returns 1234567 as 1,234,567."""
    return f"{number:,.0f}"


def duration(ns: float) -> str:
    """Returns nanoseconds in a unit that leaves one to four digits before the point."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3f} {unit}"
    return f"{ns:.0f} ns"


def size(count: float) -> str:
    """Returns bytes in a unit that leaves one to four digits before the point."""
    for unit, one in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= one:
            return f"{count / one:,.1f} {unit}"
    return f"{count:.0f} B"


def fitted(text: str, width: int) -> str:
    """Cuts to `width` characters."""
    return text if len(text) <= width else text[: width - 1] + "…"


def shape_text(shape: Sequence[int], dtype: str) -> str:
    """Returns a type as MLIR writes tensors: tensor<2x3xf32>."""
    return f"tensor<{'x'.join([*map(str, shape), dtype])}>"
