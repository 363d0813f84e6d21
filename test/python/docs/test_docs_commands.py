"""Programs and commands of the README, CONTRIBUTING.md and docs/pipelines.md run as they are written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
# Commands of the tools; what sets up, builds and tests is left to those who do so.
TOOLS = ("ttmlir-opt", "ttmlir-translate", "ttrt")
PAGES = ("README.md", "docs/pipelines.md")
FOLDERS = "test|tools|docs|scripts|examples|bench|lib|include|runtime|python"
NET = """func.func @main(%x: tensor<32x64xf32>, %y: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %0 = "ttir.add"(%x, %y) : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %1 = "ttir.exp"(%0) : (tensor<32x64xf32>) -> tensor<32x64xf32>
  return %1 : tensor<32x64xf32>
}
"""


def commands(page: str) -> list[str]:
    """Indented lines that begin with a tool; one that ends in a pipe goes on in the next."""
    text = re.sub(r"\|\n +", "| ", (ROOT / page).read_text(encoding="utf-8"))
    return [line.strip() for line in re.findall(r"^    (.*)$", text, re.M) if line.split()[:1] and
            line.split()[0] in TOOLS]  # fmt: skip


def shell(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    wrapper = folder / "ttrt"
    wrapper.write_text(f"#!{sys.executable}\nimport sys\nsys.path[:0] = {sys.path!r}\nfrom ttrt.__main__ import main\n"
                       "sys.exit(main())\n")  # fmt: skip
    wrapper.chmod(0o755)
    path = f"{folder}:{ROOT / 'build' / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True,
                          env=os.environ | {"PATH": path})  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_commands(tmp_path, page):
    for name in ("net.mlir", "model.mlir"):
        Path(name).write_text(NET)
    found = commands(page)
    assert len(found) >= 2
    for line in found:
        outcome = shell(tmp_path, line)
        assert outcome.returncode == 0, f"{line}\n{outcome.stderr}"


def test_the_program_of_the_readme(tmp_path):
    """It prints the module that the page shows, and its second part runs after it."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    first, *others = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    assert others
    Path("readme.py").write_text(first + "".join(others))
    program = f"import runpy, sys; sys.path[:0] = {sys.path!r}; runpy.run_path('readme.py', run_name='__main__')"
    outcome = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stderr
    module = re.search(r"^```mlir\n(.*?)^```", page, re.M | re.S)[1]
    assert outcome.stdout.startswith(module) and "golden check, PCC 0.99" in outcome.stdout
    Path("model.mlir").write_text(module)
    for line in commands("README.md"):
        assert shell(tmp_path, line).returncode == 0, line


def test_files_that_pages_name_are_there():
    """Links, and paths in back quotes and commands, of the README and of CONTRIBUTING.md."""
    missing = []
    for page in ("README.md", "CONTRIBUTING.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))):
        text, folder = (ROOT / page).read_text(encoding="utf-8"), (ROOT / page).parent
        for link in re.findall(r"\]\(([^)#: ]+)(?:#[^)]*)?\)", text):
            if not (folder / link).exists():
                missing.append(f"{page}: {link}")
        for path in re.findall(rf"`((?:{FOLDERS})/[\w./-]+)`", text):
            if not (ROOT / path).exists() and not (ROOT / "runtime" / path).exists():  # docs/runtime.md is about that
                missing.append(f"{page}: {path}")
    assert missing == []
