# SPDX-License-Identifier: Apache-2.0
"""Our kernels compared with the library they call, in C++: bench/cpp/kernels.cpp, of which each line becomes a
result."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from .harness import Absent, Outcome, Result, Settings
from .names import ONEDNN

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path("bin") / "ttrt-bench-kernels"
# Kernels of the program, by the name it takes.
NAMES = (
    "matmul 1024x1024x1024",
    "matmul 1024x1024x1024, weight",
    "matmul 128x768x3072, weight",
    "matmul 1x4096x4096, weight",
    "conv 3x3 64->64 56x56",
)


def program() -> Path | None:
    """Returns the program that `make bench` builds, or that of the build folder in TTMLIR_BUILD."""
    path = Path(os.environ.get("TTMLIR_BUILD", ROOT / "build")) / PROGRAM
    return path if path.exists() else None


def kernels(settings: Settings) -> Iterator[Outcome]:
    if ONEDNN not in settings.peers:
        return
    path = program()
    if path is None:
        yield Absent("kernels", "", ONEDNN, f"needs {PROGRAM}: cmake --build build --target {PROGRAM.name}")
        return
    for name in NAMES:
        with settings.quiet():
            done = subprocess.run([path, str(settings.seconds), name], capture_output=True, text=True, check=False)
        if done.returncode:
            yield Absent(
                f"kernel {name}", "", ONEDNN, f"{PROGRAM.name} ended with {done.returncode}: {done.stderr.strip()}"
            )
            continue
        for line in map(json.loads, done.stdout.splitlines()):
            yield Result(f"kernel {line['name']}", line["dtype"], line["ours_ms"], ONEDNN, line["peer_ms"])


BENCHMARKS: dict[str, Callable[[Settings], Iterator[Outcome]]] = {"kernels and oneDNN": kernels}
