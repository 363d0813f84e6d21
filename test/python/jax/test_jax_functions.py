# SPDX-License-Identifier: Apache-2.0
"""JAX functions on the platform `tt` agree with JAX on the CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

jax = pytest.importorskip("jax", reason="jax is not installed: pip install 'ttmlir[jax]'")
from jax_functions import ROWS  # noqa: E402

# What the chip or a lowering lacks, and what the error says. Such a row may run one day; it may not be wrong.
REFUSED = {
    "linalg.eigh": "primitive 'eigh' not found for platform tt",
    "linalg.svd": "primitive 'eigh' not found for platform tt",
}


@pytest.fixture(scope="module")
def verdicts() -> dict[str, list[tuple[str, str]]]:
    """Of all rows, in one process: names may stand for several."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "jax_functions.py")],
        env=os.environ | {"JAX_PLATFORMS": "tt,cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, list[tuple[str, str]]] = {}
    for line in done.stdout.splitlines():
        name, verdict, reason = json.loads(line)
        found.setdefault(name, []).append((verdict, reason))
    return found


@pytest.mark.parametrize("name", sorted({row.name for row in ROWS}))
def test_agrees_with_the_cpu(verdicts, name):
    for verdict, reason in verdicts[name]:
        if verdict == "fails" and name in REFUSED:
            assert REFUSED[name] in reason
        else:
            assert verdict == "ok", reason


def test_every_row_has_run(verdicts):
    assert sum(map(len, verdicts.values())) == len(ROWS)
    assert verdicts.keys() >= REFUSED.keys()
