# SPDX-License-Identifier: Apache-2.0
"""Runs README.md, CONTRIBUTING.md and docs/*.md: every fenced block with a language, every indented command.

What cannot run here has `<!-- not run: REASON -->` on the line before it; drawings are `text`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import pytest
import python_process
import ttnn
from onnx import helper, numpy_helper
from ttmlir import ir, passes

ROOT = Path(__file__).resolve().parents[3]
PAGES = ("README.md", "CONTRIBUTING.md", *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")))
# Pages whose programs (or commands) have a test next to what they are about.
ELSEWHERE = {
    ("docs/builder.md", "python"): "builder/test_docs.py",
    ("docs/emitted-code.md", "python"): "builder/test_emitted_docs.py",
    ("docs/first-pass.md", "tablegen"): "docs/test_first_pass.py",
    ("docs/first-pass.md", "cpp"): "docs/test_first_pass.py",
    ("docs/first-pass.md", "cmake"): "docs/test_first_pass.py",
    ("docs/first-pass.md", "mlir"): "docs/test_first_pass.py",
    ("docs/profiler.md", "python"): "profiler/test_profiler_docs.py",
    ("docs/pybuda.md", "cpp"): "pybuda/images/test_pybuda_embedded.py",
    ("docs/ttl.md", "python"): "models/ttl/test_ttl_docs.py",
    ("docs/ttnn.md", "python"): "ttnn/test_ttnn_docs.py",
    ("docs/ttrt.md", "sh"): "ttrt/test_ttrt_docs.py",
}
# Files that the reader of a page writes.
WRITTEN = {
    "docs/first-pass.md: lib/Dialect/TTIR/Transforms/EraseRedundantRelu.cpp",
    "docs/first-pass.md: test/ttmlir/Transforms/TTIR/erase-redundant-relu.mlir",
}
LANGUAGES = ("python", "cpp", "mlir", "tablegen", "cmake", "sh", "text")
FOLDERS = "test|tools|docs|scripts|examples|bench|lib|include|runtime|python"
NET = """func.func @main(%x: tensor<32x64xf32>, %y: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %0 = "ttir.add"(%x, %y) : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %1 = "ttir.exp"(%0) : (tensor<32x64xf32>) -> tensor<32x64xf32>
  return %1 : tensor<32x64xf32>
}
"""
# The file that the programs of docs/runtime.md load.
MODEL = """func.func @main(%x: tensor<1x784xf32>) -> tensor<1x784xf32> {
  %0 = "ttir.relu"(%x) : (tensor<1x784xf32>) -> tensor<1x784xf32>
  return %0 : tensor<1x784xf32>
}
"""


# Tests may run as root in a container with one processor.
MPIRUN = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


TOOLS = {"ttrt": "ttrt", "tt-smi": "tt_smi", "ttmlir-import-onnx": "ttmlir.onnx", "python": ""}


@dataclass(frozen=True)
class Block:
    """language: "sh" of indented commands, "" of a fenced block without one. reason: why it is not run, or ""."""

    page: str
    line: int
    language: str
    text: str
    reason: str


def blocks(page: str) -> list[Block]:
    """The code of a page. Lines that are indented below a list are the list's."""
    found: list[Block] = []
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    at, in_list = 0, False
    while at < len(lines):
        line = lines[at]
        marks = [re.fullmatch(r"<!-- not run: (.+) -->", mark) for mark in lines[max(0, at - 2) : at] if mark]
        reason = next((mark[1] for mark in marks if mark), "")
        if line.startswith("```"):
            end = lines.index("```", at + 1)
            found.append(Block(page, at + 1, line[3:].strip(), "\n".join(lines[at + 1 : end]) + "\n", reason))
            at = end
        elif line.startswith("    ") and not in_list:
            end = next((i for i in range(at, len(lines)) if lines[i] and not lines[i].startswith("    ")), len(lines))
            text = "\n".join(each[4:] for each in lines[at:end]).strip() + "\n"
            found.append(Block(page, at + 1, "text" if re.search("[│▼]", text) else "sh", text, reason))
            at = end - 1
        elif line and not line.startswith(" "):
            in_list = line.startswith(("* ", "- ", "1. "))
        at += 1
    return found


def run_blocks(page: str, language: str) -> list[Block]:
    return [block for block in blocks(page) if block.language == language and not block.reason]


def pages_with(language: str) -> list[str]:
    return [page for page in PAGES if (page, language) not in ELSEWHERE and run_blocks(page, language)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder like a built checkout, with the files that pages speak of."""
    for name in (".venv", "build", "test", "examples", "tools", "scripts"):
        Path(name).symlink_to(ROOT / name)
    for name in ("net.mlir", "model.mlir"):
        Path(name).write_text(NET)
    with ir.Context():
        module = ir.Module.parse(MODEL)
    passes.ttir_to_ttnn_backend_pipeline(module)
    passes.ttnn_to_flatbuffer_file(module, "model.ttnn")
    write_onnx("net.onnx")
    return tmp_path


def write_onnx(path: str) -> None:
    """The model of docs/onnx.md."""
    weight = numpy_helper.from_array(np.ones((16, 32), np.float32), "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Softmax", ["a"], ["y"], axis=1)]
    values = [helper.make_tensor_value_info(name, 1, ["batch", size]) for name, size in (("x", 16), ("y", 32))]
    graph = helper.make_graph(nodes, "net", values[:1], values[1:], [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def environment() -> dict[str, str]:
    # Chips of their own: pages show how tt-smi resets those that it finds.
    return os.environ | MPIRUN | {"TTRT_PUBLISH": str(Path.cwd() / "chips")}


def succeeds(command: list[str], what: str, path: str = "") -> str:
    variables = environment() | ({"PATH": path} if path else {})
    return output_of(subprocess.run(command, capture_output=True, text=True, env=variables), what)


def output_of(found: subprocess.CompletedProcess[str], what: str) -> str:
    assert found.returncode == 0, f"{what}\n{found.stdout}{found.stderr}"
    return found.stdout


def run_python(program: str, page: str) -> str:
    Path("page.py").write_text(program)
    start = f"import runpy, sys; sys.path[:0] = {sys.path!r}; runpy.run_path('page.py', run_name='__main__')"
    if "import jax" in program:  # JAX finds its platforms when it is imported
        return succeeds([sys.executable, "-c", start], page)
    return output_of(python_process.run(["-c", start], env=environment()), page)


def run_commands(folder: Path, block: Block) -> None:
    """Line by line; one that ends in a pipe goes on in the next."""
    for tool, package in TOOLS.items():
        wrapper = folder / tool
        program = f"import sys\nsys.path[:0] = {sys.path!r}\nfrom {package}.__main__ import main\nsys.exit(main())\n"
        wrapper.write_text(f"#!{sys.executable}\n{program}" if package else
                           f'#!/bin/sh\nPYTHONPATH={":".join(sys.path)} exec {sys.executable} "$@"\n')  # fmt: skip
        wrapper.chmod(0o755)
    path = f"{folder}:{ROOT / 'build' / 'bin'}:{os.environ['PATH']}"
    for line in re.sub(r"\|\n +", "| ", block.text).splitlines():
        if line.strip():
            succeeds(["bash", "-o", "pipefail", "-c", line], f"{block.page}:{block.line}: {line}", path)


@pytest.mark.parametrize("page", PAGES)
def test_every_block_is_run_or_says_why_not(page):
    wrong = [f"{page}:{block.line}: {block.language}" for block in blocks(page)
             if block.language and block.language not in LANGUAGES]  # fmt: skip
    assert wrong == [], f"known: {', '.join(LANGUAGES)}"


@pytest.mark.parametrize(("page", "test"), [(page, test) for (page, _), test in ELSEWHERE.items()])
def test_the_test_elsewhere_reads_the_page(page, test):
    assert Path(page).name in (ROOT / "test" / "python" / test).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", pages_with("python"))
def test_programs(folder, page):
    """The blocks of a page are one program; it prints the modules that the page shows."""
    printed = run_python("\n".join(block.text for block in run_blocks(page, "python")), page)
    for block in run_blocks(page, "mlir"):
        assert block.text in printed, f"{page}:{block.line}"


@pytest.mark.long
@pytest.mark.parametrize("page", pages_with("cpp"))
def test_cpp(folder, page):
    """Each block is a program: what stands before the first statement, and the body of main."""
    for block in run_blocks(page, "cpp"):
        head = re.findall(r"^(?:#|namespace ).*$", block.text, re.M)
        body = [line for line in block.text.splitlines() if line not in head]
        Path("program.cpp").write_text("\n".join([*head, "int main() {", *body, "}", ""]))
        compiler = os.environ.get("CXX", "c++")
        what = f"{page}:{block.line}"
        succeeds([compiler, "program.cpp", *ttnn.config.compile_flags(), "-o", "program"], what)
        succeeds(["./program"], what)


@pytest.mark.parametrize("page", pages_with("mlir"))
def test_modules_parse(page):
    for block in run_blocks(page, "mlir"):
        Path("shown.mlir").write_text(block.text)
        succeeds([str(ROOT / "build" / "bin" / "ttmlir-opt"), "shown.mlir"], f"{page}:{block.line}")


@pytest.mark.parametrize("page", pages_with("sh"))
def test_commands(folder, page):
    for block in run_blocks(page, "sh"):
        run_commands(folder, block)


@pytest.mark.long
def test_the_module_of_the_readme_runs_by_its_commands(folder):
    """As the page says: "with that module in model.mlir"."""
    (module,) = run_blocks("README.md", "mlir")
    Path("model.mlir").write_text(module.text)
    for block in run_blocks("README.md", "sh"):
        if block.text.startswith("ttmlir-opt"):
            run_commands(folder, block)


def anchors(page: Path) -> set[str]:
    """Returns the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(
        r"^#+ (.+)$", re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M), re.M
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_anchors_that_pages_name_are_there():
    missing = []
    for page in PAGES:
        for link, anchor in re.findall(r"\]\(([^)#: ]*)#([^)]+)\)", (ROOT / page).read_text(encoding="utf-8")):
            target = (ROOT / page).parent / link if link else ROOT / page
            if target.suffix == ".md" and target.exists() and anchor not in anchors(target):
                missing.append(f"{page}: {link}#{anchor}")
    assert missing == []


def test_the_index_links_every_page():
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert pages - set(re.findall(r"\]\(([\w-]+\.md)", text)) == set()


def test_files_that_pages_name_are_there():
    """Links, and paths in back quotes and commands, of the README and of CONTRIBUTING.md."""
    missing = []
    for page in PAGES:
        text, folder = (ROOT / page).read_text(encoding="utf-8"), (ROOT / page).parent
        for link in re.findall(r"\]\(([^)#: ]+)(?:#[^)]*)?\)", text):
            if not (folder / link).exists():
                missing.append(f"{page}: {link}")
        for path in re.findall(rf"`((?:{FOLDERS})/[\w./-]+)`", text):
            if not (ROOT / path).exists() and not (ROOT / "runtime" / path).exists():  # docs/runtime.md is about that
                missing.append(f"{page}: {path}")
    assert set(missing) == WRITTEN
