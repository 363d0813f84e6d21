# SPDX-License-Identifier: Apache-2.0
"""The code of docs/builder.md runs, in order, as one program; that of the README prints what the README shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_runs():
    page = (ROOT / "docs" / "builder.md").read_text(encoding="utf-8")
    program = "\n".join(re.findall(r"^```python\n(.*?)^```", page, re.M | re.S))
    Path("page.py").write_text(program, encoding="utf-8")
    exec(compile(program, "page.py", "exec"), {"__name__": "page"})


def cells(text: str) -> list[list[str]]:
    """Rows of a table, without the times; an error within a bit of bfloat16 is 0, since sums differ by matrix units."""
    lines = [line for line in text.splitlines() if re.match("[│┃]", line)]
    rows = [[cell.strip() for cell in re.split(r"[│┃]", line)[1:-1]] for line in lines]
    times = rows[0].index("ms")
    errors = [rows[0].index(name) for name in ("max |error|", "max relative")]
    for row in rows[1:]:
        for i in errors:
            row[i] = "0" if float(row[i]) <= 2**-7 else row[i]
    return [row[:times] + row[times + 1 :] for row in rows]


def test_the_readme_shows_what_its_program_prints(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", page, re.M | re.S)
    (_, program), (language, module), (_, table), (_, emitted) = blocks[:4]
    Path("readme.py").write_text(program, encoding="utf-8")
    names = {"__name__": "readme"}
    exec(compile(program, "readme.py", "exec"), names)
    printed = capsys.readouterr().out
    assert language == "mlir" and module.strip() in printed
    assert cells(table) == cells(printed) and len(cells(table)) == 4
    exec(compile(emitted, "emitted.py", "exec"), names)
