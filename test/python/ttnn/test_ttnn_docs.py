# SPDX-License-Identifier: Apache-2.0
"""docs/ttnn.md and the example run as they are written; stubs say what the package has."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import python_process
import ttnn

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_runs() -> None:
    page = (ROOT / "docs" / "ttnn.md").read_text(encoding="utf-8")
    program = "\n".join(re.findall(r"^```python\n(.*?)^```", page, re.M | re.S))
    exec(compile(program, "page.py", "exec"), {"__name__": "page"})


@pytest.mark.long
@pytest.mark.parametrize("weights", ["bfloat16", "bfloat8_b"])
def test_the_example_runs(weights: str) -> None:
    program = [ROOT / "examples" / "ttnn" / "transformer_block.py", "--rows", "40", "--width", "64"]
    ran = python_process.run([*program, "--weights", weights])
    assert ran.returncode == 0, ran.stderr
    assert "correlation with PyTorch in float32: 0.999" in ran.stdout
    assert "shape=Shape([2, 40, 64]), dtype=DataType::BFLOAT16, layout=Layout::TILE" in ran.stdout


def names_of(stub: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def test_stubs() -> None:
    folder = Path(ttnn.__file__).parent
    assert (folder / "py.typed").exists()
    assert set(ttnn.__all__) <= names_of(folder / "__init__.pyi")
    for name in ("transformer", "experimental", "debug"):
        assert set(getattr(ttnn, name).__all__) <= names_of(folder / f"{name}.pyi")
