# SPDX-License-Identifier: Apache-2.0
"""ttrt read, query and ops, and the tool as a program."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
from ttmlir import ir
from ttrt.__main__ import COMMANDS
from ttrt.read import SECTIONS

ROOT = Path(__file__).resolve().parents[3]


def test_read(ttrt, files):
    found = ttrt("read", files.two)
    assert found.code == 0, found.err
    for part in ("schema version", "wormhole_b0", "main", "other", "tensor<33x65xf32>", "constants", "ttnn.softmax"):
        assert part in found.out
    assert "module" not in found.out  # MLIR has to be requested


@pytest.mark.parametrize("section", SECTIONS)
def test_read_a_section(ttrt, files, section):
    shown = ttrt("read", files.two, "--section", section)
    assert shown.code == 0 and shown.out.strip()
    told = ttrt("read", files.two, "--section", section, "--json")
    assert told.code == 0 and json.loads(told.out) is not None


def test_read_all_as_json(ttrt, files):
    found = json.loads(ttrt("read", files.two, "--json").out)
    assert list(found) == list(SECTIONS)
    main = found["programs"][0]
    assert main["name"] == "main" and main["inputs"] == 2 and main["op_counts"]["ttnn.softmax"] == 1
    assert found["inputs"]["main"][0]["shape"] == [33, 65]
    assert found["constants"] == {"count": 1, "bytes": 4 * 65 * 17}
    assert {op["name"] for op in found["operations"]["other"]} >= {"ttnn.exp"}


def test_mlir_of_a_file_is_a_module(ttrt, files):
    found = ttrt("read", files.two, "--section", "mlir")
    assert ir.Module.parse(found.out, ir.Context()).operation.verify()


def test_read_unknown_section(ttrt, files):
    found = ttrt("read", files.two, "--section", "nosuch")
    assert found.code == 2 and "argument --section: 'nosuch' is none of all, version, " in found.err


@pytest.mark.parametrize(
    ("arguments", "chips", "arch"),
    [
        ([], 1, "wormhole_b0"),
        (["--mesh", "2x4"], 8, "wormhole_b0"),
        (["--mesh", "p300"], 2, "blackhole"),
        (["--arch", "blackhole"], 1, "blackhole"),
        (["--mesh", "galaxy"], 32, "wormhole_b0"),
    ],
)
def test_query(ttrt, arguments, chips, arch):
    found = json.loads(ttrt("query", *arguments, "--json").out)
    assert len(found["chips"]) == chips and {chip["arch"] for chip in found["chips"]} == {arch}
    shown = ttrt("query", *arguments)
    assert shown.code == 0 and shown.out.startswith(f"{chips} x {arch}") and "DRAM in all" in shown.out


def test_query_saves_what_the_compiler_reads(ttrt, tmp_path):
    assert ttrt("query", "--mesh", "n300", "--save", "desc.ttsys").code == 0
    text = (tmp_path / "desc.ttsys").read_text()
    attribute = ir.Attribute.parse(text.strip(), ir.Context())
    assert len(attribute.chip_descs) == 2


def test_query_saves_nothing_where_it_cannot(ttrt):
    found = ttrt("query", "--save", "nosuch/desc.ttsys")
    assert found.code == 1 and "there is no folder nosuch" in found.err


def test_too_many_chips(ttrt):
    found = ttrt("query", "--mesh", "1000x1000")
    assert found.code == 1 and found.err.startswith("ttrt query: a mesh of 1000x1000")


def test_ops(ttrt):
    found = {row["name"]: row for row in json.loads(ttrt("ops", "--json").out)}
    assert all(set(row) == {"name", "inference", "lowering", "kernel"} for row in found.values())
    assert found["ttir.div"] == {"name": "ttir.div", "inference": True, "lowering": "ttnn.divide", "kernel": False}
    assert found["ttir.sigmoid"]["lowering"] == "ttnn.sigmoid"
    assert found["ttnn.matmul"]["kernel"]
    shown = ttrt("ops", "--dialect", "ttnn")
    assert shown.code == 0 and "ttnn.matmul" in shown.out and "ttir." not in shown.out


def test_version_and_help(ttrt):
    version = re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.M)[1]
    assert ttrt("--version").out.startswith(f"ttrt {version}")
    for command in COMMANDS:
        found = ttrt(command, "--help")
        assert found.code == 0 and "exit codes: 0 done" in found.out and f"examples:\n  ttrt {command} " in found.out
    found = ttrt()
    assert found.code == 2 and found.err.startswith("usage: ttrt ") and found.out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rnu"], "ttrt: no command 'rnu'; did you mean run? (see ttrt --help)"),
        (["nothing"], f"ttrt: no command 'nothing'; there are {', '.join(COMMANDS)} (see ttrt --help)"),
        (["run", "x.ttnn", "--golen"], "ttrt run: unrecognized arguments: --golen; did you mean --golden? (see "
                                       "ttrt run --help)"),
        (["run", "x.ttnn", "--sed=3"], "ttrt run: unrecognized arguments: --sed=3; did you mean --seed? (see "
                                       "ttrt run --help)"),
        (["perf", "x.ttnn", "--sort", "hots"], "ttrt perf: argument --sort: 'hots' is none of program, host, device; "
                                               "did you mean host? (see ttrt perf --help)"),
        (["read"], "ttrt read: the following arguments are required: FILE.ttnn (see ttrt read --help)"),
        (["--print-completion", "bsh"], "ttrt: argument --print-completion: 'bsh' is none of bash, zsh, fish, tcsh; "
                                        "did you mean bash? (see ttrt --help)"),
    ],
)  # fmt: skip
def test_typo_gets_a_suggestion(ttrt, arguments, message):
    found = ttrt(*arguments)
    assert (found.code, found.err, found.out) == (2, f"{message}\n", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "tcsh"])
def test_completion(ttrt, shell):
    found = ttrt("--print-completion", shell)
    assert found.code == 0 and all(command in found.out for command in COMMANDS) and "golden-diff-topk" in found.out


def test_bash_completes(ttrt, tmp_path):
    """Commands, options of a command, and files."""
    script = tmp_path / "completion.bash"
    script.write_text(ttrt("--print-completion", "bash").out)
    (tmp_path / "model.ttnn").write_text("")

    def completed(*words: str) -> list[str]:
        line = f"source {script}; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _shtab_ttrt"
        found = subprocess.run(["bash", "-c", f'{line}; echo "${{COMPREPLY[@]}}"'], capture_output=True, text=True)
        return found.stdout.split()

    assert completed("ttrt", "r") == ["read", "run"]
    assert completed("ttrt", "run", "--gold") == ["--golden", "--golden-diff-topk"]
    assert completed("ttrt", "run", "mod") == ["model.ttnn"]


def test_completion_without_its_package(ttrt, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    found = ttrt("--print-completion", "bash")
    assert found.code == 2 and "needs the package shtab: pip install 'ttmlir[completion]'" in found.err


# What each command does in a process of its own without torch, whose import takes seconds.
WITHOUT_TORCH = {
    "help": ["--help"],
    "query": ["query", "--save", "x.ttsys"],
    "read": ["read", "TWO", "--json"],
    "run": [
        "run",
        "TWO",
        "--memory",
        "--non-zero",
        "--check-memory-leak",
        "--print-tensors",
        "--save-outputs",
        "o.npz",
    ],
    "run with inputs": ["run", "ONE", "--inputs", "in.npz"],
    "run on a mesh": ["run", "MESH", "--init", "normal"],
    "perf": ["perf", "TWO"],
    "perf with a trace": ["perf", "TWO", "--trace", "traced"],
    "estimate": ["perf", "TWO", "--estimate"],
    "check": ["check", "TWO"],
    "ops": ["ops"],
}


@pytest.mark.parametrize("what", WITHOUT_TORCH)
def test_torch_is_not_loaded(files, what):
    numpy.savez("in.npz", arg0=numpy.ones((2, 3)), arg1=numpy.ones((2, 3)))
    paths = {"ONE": files.one, "TWO": files.two, "MESH": files.mesh}
    arguments = [paths.get(a, a) for a in WITHOUT_TORCH[what]]
    program = f"""import atexit, sys
sys.path[:0] = {sys.path!r}
from ttrt.__main__ import main
atexit.register(lambda: print("torch" in sys.modules, file=sys.stderr))
sys.exit(main({arguments!r}))"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (0, "False\n")


def test_as_a_program(files):
    """Plain text without colours where there is no terminal, and quiet when its reader goes away."""
    command = [sys.executable, "-m", "ttrt", "read", files.two]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "\x1b" not in found.stdout and "─" not in found.stdout
    shell = f"{' '.join(command)} --json --section operations | head -n 1"
    found = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=True)
    assert found.stderr == ""
    assert Path(files.two).exists()


@pytest.mark.parametrize(
    "arguments",
    [["run", "ONE", "--golden"], ["run", "ONE", "--identity"], ["run", "ONE", "--save-outputs", "o.pt"],
     ["run", "ONE", "--save-artifacts"], ["run", "ONE", "--inputs", "in.pt"], ["compare", "ONE", "ONE"]],
)  # fmt: skip
def test_without_torch(files, arguments):
    """Refuses commands that need PyTorch, with the reason."""
    Path("in.pt").write_bytes(b"")
    program = f"""import sys
sys.path[:0] = {sys.path!r}
sys.modules["torch"] = None
from ttrt.__main__ import main
sys.exit(main({[files.one if a == "ONE" else a for a in arguments]!r}))"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.returncode == 1 and found.stderr.count("\n") == 1, found.stderr
    assert found.stderr.startswith(f"ttrt {arguments[0]}: ") and "pip install 'ttmlir[torch]'" in found.stderr


def test_without_the_runtime():
    program = f"""import sys
sys.path[:0] = {sys.path!r}
sys.modules["_ttmlir_runtime"] = None
from ttrt.__main__ import main
sys.exit(main(["query"]))"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    message = "ttrt query: this needs the Python package _ttmlir_runtime, which is not installed: build the project\n"
    assert (found.returncode, found.stderr) == (1, message)
