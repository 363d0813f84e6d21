# SPDX-License-Identifier: Apache-2.0
"""docs/first-pass.md: the pass that the page adds, built apart from the checkout with libraries of the build folder.

The blocks of the page are applied to copies of the files that they change. The commands of the build compile these,
and link them in front of the libraries into a ttmlir-opt of its own, which runs the lit test of the page.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build"
PAGE = ROOT / "docs" / "first-pass.md"
LLVM = Path("/usr/lib/llvm-22/bin")
TD = "ttmlir/Dialect/TTIR/Transforms/Passes"
TRANSFORMS = ROOT / "lib/Dialect/TTIR/Transforms"
PIPELINES = ROOT / "lib/Dialect/TTNN/Pipelines/TTNNPipelines.cpp"


def blocks() -> dict[str, list[str]]:
    """Returns the fenced blocks of the page by language."""
    found: dict[str, list[str]] = {}
    for language, text in re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S):
        found.setdefault(language, []).append(text)
    return found


def run(command: str | list[str], folder: Path, **environment: str) -> None:
    """Runs a command, whose output is the message of a failure."""
    words = ["bash", "-o", "pipefail", "-c", command] if isinstance(command, str) else command
    environment = os.environ | environment
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


def compile_command(file: str) -> tuple[list[str], str]:
    """Returns the command of the build that compiles a file whose name has `file` in it, and its folder."""
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    each = next(c for c in commands if file in c["file"])
    return shlex.split(each["command"]), each["directory"]


def compiled(source: Path, like: str, headers: Path) -> Path:
    """Compiles a file with the flags of one that is `like` it; `headers` come first."""
    words, folder = compile_command(like)
    at = next(i for i, word in enumerate(words) if word.endswith("clang++-22"))
    target = headers.parent / f"{source.stem}.o"
    flags = [*words[at + 1 : words.index("-o")], "-o", str(target), "-c", str(source)]
    run([words[at], f"-I{headers}", f"-I{source.parent}", *flags], Path(folder))
    return target


@pytest.mark.long
def test_the_pass_of_the_page(tmp_path: Path) -> None:
    shown = blocks()
    (declaration,), (listed,), (test,) = shown["tablegen"], shown["cmake"], shown["mlir"]
    code, before, added = shown["cpp"]
    name = listed.strip()

    # The declaration, and what mlir-tblgen makes of it.
    text = (ROOT / "include" / f"{TD}.td").read_text(encoding="utf-8")
    body, guard, end = text.rpartition("#endif")
    headers = tmp_path / "include"
    (headers / TD).parent.mkdir(parents=True)
    (headers / f"{TD}.td").write_text(f"{body}{declaration}\n{guard}{end}")
    table = [
        LLVM / "mlir-tblgen",
        "-gen-pass-decls",
        "-name",
        "TTIR",
        f"-I{ROOT / 'include'}",
        "-I/usr/lib/llvm-22/include",
    ]
    run([*map(str, table), str(headers / f"{TD}.td"), "-o", str(headers / f"{TD}.h.inc")], tmp_path)

    # The list of files stays in order.
    files = re.findall(r"^  (\w+\.cpp)$", (TRANSFORMS / "CMakeLists.txt").read_text(encoding="utf-8"), re.M)
    assert files == sorted(files) and name not in files

    # The pass, the pipeline with it, and the registration of all passes.
    source, pipeline = tmp_path / name, tmp_path / PIPELINES.name
    source.write_text(code)
    text = PIPELINES.read_text(encoding="utf-8")
    assert text.count(before) == 1
    pipeline.write_text(text.replace(before, added + before))
    run(["clang-format-22", "--dry-run", "--Werror", f"--style=file:{ROOT / '.clang-format'}", str(source)], tmp_path)
    objects = [
        compiled(source, "TTIRTransforms.dir/Unity/unity_in__0", headers),
        compiled(pipeline, "Pipelines/TTNNPipelines.cpp", headers),
        compiled(ROOT / "lib/InitAll/InitAll.cpp", "lib/InitAll/InitAll.cpp", headers),
    ]
    link = subprocess.run(
        ["ninja", "-t", "commands", "-s", "bin/ttmlir-opt"], cwd=BUILD, capture_output=True, text=True, check=True
    ).stdout.strip()
    (tmp_path / "bin").mkdir()
    tool = tmp_path / "bin" / "ttmlir-opt"
    assert link.count(" -o bin/ttmlir-opt ") == 1
    link = link.replace(" -o bin/ttmlir-opt ", f" {shlex.join(map(str, objects))} -o {tool} ")
    run(f"{link.replace('$ORIGIN/../lib', str(BUILD / 'lib'))} -Wl,-rpath,{BUILD / 'lib'}", BUILD)

    # The page's lit test.
    module = tmp_path / "test.mlir"
    module.write_text(test)
    lines = re.findall(r"^// RUN: (.*)$", test, re.M)
    assert len(lines) == 2
    path = os.pathsep.join([str(tool.parent), str(LLVM), os.environ["PATH"]])
    for line in lines:
        run(line.replace("%s", str(module)), tmp_path, PATH=path)
