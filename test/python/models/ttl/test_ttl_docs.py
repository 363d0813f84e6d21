# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/ttl.md, in one file: kernels are compiled from a file."""

from __future__ import annotations

import re
from pathlib import Path

import python_process
import ttl

ROOT = Path(__file__).resolve().parents[4]
PAGE = (ROOT / "docs" / "ttl.md").read_text(encoding="utf-8")


def test_programs_of_the_page(tmp_path: Path) -> None:
    file = tmp_path / "page.py"
    file.write_text("\n".join(re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)))
    done = python_process.run([str(file)])
    assert done.returncode == 0, done.stderr


def test_the_page_names_what_is_public() -> None:
    for name in set(ttl.__all__) - {"TILE_SHAPE", "DataflowBuffer", "Operation", "TTLError", "DefinitionError",
                                    "KernelError", "ShapeError", "Pipe", "PipeNet"}:  # fmt: skip
        assert re.search(rf"\b{name}\b", PAGE), name
