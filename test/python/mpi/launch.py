# SPDX-License-Identifier: Apache-2.0
"""Starting programs as several ranks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
BIN = HERE.parents[2] / "build" / "bin"
AVAILABLE = shutil.which("mpirun") is not None
# Ranks of a test are more than the processors of many machines, and tests may run as root in a container.
OPTIONS = ["--allow-run-as-root", "--oversubscribe"]


@dataclass
class Ended:
    code: int
    out: str
    err: str
    seconds: float


def command(groups: Sequence[tuple[int, Sequence[str]]], options: Sequence[str] = ()) -> list[str]:
    """mpirun with so many processes of each command."""
    words = ["mpirun", *OPTIONS, *options]
    for i, (count, program) in enumerate(groups):
        words += [*([":"] if i else []), "-n", str(count), *program]
    return words


def environment(**more: str) -> dict[str, str]:
    """Returns the environment of a test without variables of another launcher; more: variables of the ranks."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMIX_", "PMI_", "TTRT_"))}
    return kept | {"OMP_NUM_THREADS": "1"} | more


def launched(groups: Sequence[tuple[int, Sequence[str]]], timeout: float = 1200, **more: str) -> Ended:
    began = time.monotonic()
    done = subprocess.run(
        command(groups), env=environment(**more), capture_output=True, text=True, timeout=timeout, check=False
    )
    return Ended(done.returncode, done.stdout, done.stderr, time.monotonic() - began)


def script(name: str, *arguments: str) -> list[str]:
    return [sys.executable, str(HERE / name), *arguments]
