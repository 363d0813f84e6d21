"""The code of docs/builder.md runs, in order, as one program."""

from __future__ import annotations

import re
from pathlib import Path


def test_the_page_runs():
    page = (Path(__file__).resolve().parents[3] / "docs" / "builder.md").read_text(encoding="utf-8")
    program = "\n".join(re.findall(r"^```python\n(.*?)^```", page, re.M | re.S))
    Path("page.py").write_text(program, encoding="utf-8")
    exec(compile(program, "page.py", "exec"), {"__name__": "page"})
