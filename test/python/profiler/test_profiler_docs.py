# SPDX-License-Identifier: Apache-2.0
"""The code of docs/profiler.md runs, in order, as one program."""

from __future__ import annotations

import re
import warnings
from pathlib import Path


def test_the_page_runs():
    page = (Path(__file__).resolve().parents[3] / "docs" / "profiler.md").read_text(encoding="utf-8")
    program = "\n".join(re.findall(r"^```python\n(.*?)^```", page, re.M | re.S))
    Path("page.py").write_text(program, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "trace: the report is not served")  # the page's port may be taken here
        exec(compile(program, "page.py", "exec"), {"__name__": "page"})
    assert Path("profile/report.html").exists()
