"""ttrt read, query and ops, and the tool as a program."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from ttmlir import ir
from ttrt.read import SECTIONS


def test_read(ttrt, files):
    found = ttrt("read", files.two)
    assert found.code == 0, found.err
    for part in ("schema version", "wormhole_b0", "main", "other", "tensor<33x65xf32>", "constants", "ttnn.softmax"):
        assert part in found.out
    assert "module" not in found.out  # MLIR has to be asked for


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
    assert found.code == 2 and "invalid choice: 'nosuch'" in found.err


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
    assert found.code == 1 and "No such file or directory" in found.err


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
    assert ttrt("--version").out.startswith("ttrt (")
    for command in ("query", "read", "run", "perf", "ops"):
        found = ttrt(command, "--help")
        assert found.code == 0 and "exit codes: 0 done" in found.out
    assert ttrt().code == 2
    assert "invalid choice: 'rum'" in ttrt("rum").err


def test_as_a_program(files):
    """Plain text without colours where there is no terminal, and quiet when its reader goes away."""
    command = [sys.executable, "-m", "ttrt", "read", files.two]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "\x1b" not in found.stdout and "─" not in found.stdout
    shell = f"{' '.join(command)} --json --section operations | head -n 1"
    found = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=True)
    assert found.stderr == ""
    assert Path(files.two).exists()
