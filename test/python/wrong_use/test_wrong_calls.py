# SPDX-License-Identifier: Apache-2.0
"""Wrong calls of what Python programs can call end in an exception that says what is wrong: no crash, no hang."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import wrong_calls

HERE = Path(__file__).parent


def findings(seed: int | str, count: int, folder: Path) -> list[str]:
    log = folder / "calls.log"

    def run(first: int, count: int, log: str) -> int:
        command = [sys.executable, str(HERE / "wrong_calls.py"), str(seed), str(first), str(count), log]
        return subprocess.run(command, capture_output=True, cwd=folder).returncode

    return list(wrong_calls.wrong_calls(count, run, str(log)))


@pytest.mark.long
@pytest.mark.parametrize("count", [6000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_wrong_calls_raise(seed, count, tmp_path):
    found = findings(seed + count, count, tmp_path)
    assert not found, f"wrong_calls.py {seed + count} <number of the call> 1 log:\n" + "\n".join(found)


@pytest.mark.long
def test_every_odd_value_in_every_place_that_takes_anything(tmp_path):
    found = findings(wrong_calls.SWEEP, 1_000_000, tmp_path)
    assert not found, f"wrong_calls.py {wrong_calls.SWEEP} <number of the call> 1 log:\n" + "\n".join(found)


def test_a_crash_a_hang_and_a_poor_message_are_findings(tmp_path):
    """The test above sees what it looks for."""
    log, ends = str(tmp_path / "calls.log"), iter([(["call 0 a()", "call 1 b()", "wrong 1 SystemError: x"], -11),
                                                   (["call 2 c()"], 1), (["call 3 d()", "end {}"], 0)])  # fmt: skip

    def run(first: int, count: int, log: str) -> int:
        lines, code = next(ends)
        Path(log).write_text("\n".join(lines))
        return code

    assert list(wrong_calls.wrong_calls(4, run, log)) == [
        "call 1 b(): SystemError: x",
        "call 1 b(): signal 11",
        "call 2 c(): hang, or exit with 1",
    ]
