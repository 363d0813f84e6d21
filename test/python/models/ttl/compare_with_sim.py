# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of TT-Lang here and with tt-lang-sim: `compare_with_sim.py PYTHON`, an interpreter that has it.

Compares the results of both in f32 (within the order of sums) and in bf16, and prints one table of times: seconds of
the second run of each program, of this run of the script. Not part of CI: it needs tt-lang-sim 1.1.6 and PyTorch in an
environment of their own (Python 3.12, `pip install tt-lang-sim==1.1.6`).
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[4]
EXAMPLES = ROOT / "examples" / "ttl"
# Runs the programs and keeps results and times; in either environment.
RUN = """
import pickle, sys
if sys.argv[1] == "sim":
    from ttl.sim import ttl, ttnn
    sys.modules["ttl"], sys.modules["ttnn"] = ttl, ttnn
    if not hasattr(ttnn, "close_mesh_device"):
        ttnn.close_mesh_device = ttnn.close_device
import torch, ttnn
sys.path.insert(0, sys.argv[2])
import programs
kept = {}
for kind in ("float32", "bfloat16"):
    for name in programs.PROGRAMS:
        found, _, seconds = programs.run(name, getattr(ttnn, kind), getattr(torch, kind), int(sys.argv[4]))
        report = getattr(programs.PROGRAMS[name][1], "report", None)
        values = [list(row) for row in found.double().numpy()]
        kept[kind, name] = (values, seconds, report.cycles if report else 0)
pickle.dump(kept, open(sys.argv[3], "wb"))
"""


def kept(python: str, kind: str, size: int, folder: str, environment: dict[str, str]) -> dict:
    file = f"{folder}/{kind}.pt"
    subprocess.run([python, "-c", RUN, kind, str(EXAMPLES), file, str(size)], check=True, env=environment)
    with open(file, "rb") as kept_values:
        loaded = pickle.load(kept_values)
    return {key: (torch.tensor(values), *more) for key, (values, *more) in loaded.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares programs of TT-Lang here and with tt-lang-sim.")
    parser.add_argument("python", help="an interpreter with tt-lang-sim")
    parser.add_argument("--size", type=int, default=256, help="rows and columns, a multiple of 128")
    arguments = parser.parse_args()
    theirs_only = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as folder:
        ours = kept(sys.executable, "ours", arguments.size, folder, dict(os.environ))
        theirs = kept(arguments.python, "sim", arguments.size, folder, theirs_only)
    print(f"| program, {arguments.size}x{arguments.size} | f32: largest difference | bf16 | cycles (bf16) | here, ms |"
          " tt-lang-sim, ms | ratio |")  # fmt: skip
    print("| --- | --: | --: | --: | --: | --: | --: |")
    wrong = []
    for kind, name in ours:
        if kind == "bfloat16":
            continue
        found, _, _ = ours[kind, name]
        expected, _, _ = theirs[kind, name]
        near, seconds, cycles = ours["bfloat16", name]
        rounded, other, _ = theirs["bfloat16", name]
        exact, close = float((found - expected).abs().max()), float((near - rounded).abs().max())
        print(f"| {name} | {exact:.1e} | {close:.1e} | {cycles} | {seconds * 1e3:.1f} | {other * 1e3:.1f} | "
              f"{other / seconds:.1f} |")  # fmt: skip
        scale = float(expected.abs().max())
        if found.shape != expected.shape or not exact <= 4e-6 * scale or not close <= 2e-2 * scale:
            wrong.append(name)
    for name in wrong:
        print(f"{name}: results differ", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
