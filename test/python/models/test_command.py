# SPDX-License-Identifier: Apache-2.0
"""examples/models/zoo.py as a program."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import python_process

sys.path.append(str(Path(__file__).resolve().parents[3] / "examples" / "models"))

from zoo import ZOO

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "models"


def zoo(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = f"""import runpy, sys
sys.path[:0] = {[str(FOLDER), *sys.path]!r}
sys.argv = {["zoo.py", *arguments]!r}
runpy.run_path({str(FOLDER / "zoo.py")!r}, run_name="__main__")"""
    return python_process.run(["-c", program])


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "dtype", "batch", "least"),
    [("resnet-50", "bf16", 2, 0.999), ("bert-base", "bfp8", 2, 0.99), ("llama-block-decode", "f32", 1, 0.999999)],
)
def test_a_small_network(name, dtype, batch, least):
    found = zoo(name, "--small", "--dtype", dtype, "--batch", str(batch), "--runs", "2", "--save", "kept.ttnn")
    assert (found.returncode, found.stderr) == (0, "")
    steps = [line.partition(" … ")[0] for line in found.stdout.splitlines() if " … " in line]
    assert steps[0] == "loading PyTorch and the compiler" and "compiling" in steps and steps[-1] == "2 more runs"
    assert f"{name} (small, batch {batch}, {dtype}) on a simulated wormhole_b0" in found.stdout
    for row in ("compile", "first run", "median of 2 runs", "chip, estimated"):
        assert re.search(rf"│ {row} +│ +[\d.,]+ ms │", found.stdout)
    correlations = re.findall(r"largest error ([\d.e-]+), PCC ([\d.]+) compared with PyTorch in float32", found.stdout)
    assert correlations and all(float(pcc) >= least for _, pcc in correlations)
    assert Path("kept.ttnn").stat().st_size > 0


@pytest.mark.long
def test_the_list():
    found = zoo("--list")
    assert found.returncode == 0 and [line.split()[0] for line in found.stdout.splitlines()] == list(ZOO)


@pytest.mark.parametrize(
    ("code", "arguments", "message"),
    [
        (1, ["bert"], "zoo.py: no network 'bert'; did you mean bert-base?"),
        (1, ["xyz"], f"zoo.py: no network 'xyz'; there are {', '.join(ZOO)}"),
        (1, ["llama-block-decode", "--small", "--batch", "2"], "zoo.py: batch 2: this network runs with batch 1 only"),
        (2, [], "zoo.py: say which network; --list shows them (see zoo.py --help)"),
        (2, ["bert-base", "--dtype", "bp16"], "zoo.py: argument --dtype: 'bp16' is none of f32, bf16, bfp8; did you "
                                              "mean bf16? (see zoo.py --help)"),
        (2, ["bert-base", "--runs", "0"], "zoo.py: argument --runs: '0' is no positive number (see zoo.py --help)"),
        (1, ["bert-base", "--small", "--save", "no/such.ttnn"], "zoo.py: no/such.ttnn: no folder no"),
    ],
)  # fmt: skip
def test_mistakes(code, arguments, message):
    found = zoo(*arguments)
    assert (found.returncode, found.stderr) == (code, f"{message}\n")


def test_something_is_seen_before_torch_is_loaded():
    program = f"""import builtins, sys
sys.path[:0] = {[str(FOLDER), *sys.path]!r}
load = builtins.__import__
def loud(name, *rest):
    if name == "torch":
        raise SystemExit("torch")
    return load(name, *rest)
builtins.__import__ = loud
import command
command.main(["resnet-50"])"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=1200)
    assert found.stdout.startswith("loading PyTorch and the compiler … ") and found.stderr == "torch\n"
