# SPDX-License-Identifier: Apache-2.0
"""The build: scripts/progress.sh (jobs under one bar, in logs of CI and on a terminal) and cmake/SplitOps.cmake."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[3] / "scripts"
COUNT = 'for i in 1 2 3 4; do echo "[$i/4] compiling x"; sleep 0.4; done'


def script(folder: Path, body: str) -> list[str]:
    """The command that runs `body`, written over progress.sh, in `folder`."""
    file = folder / "job.sh"
    file.write_text(f"set -euo pipefail\ncd {folder}\nsource {SCRIPTS / 'progress.sh'}\n{body}\n")
    return ["bash", str(file)]


def run(folder: Path, body: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(script(folder, body), capture_output=True, text=True, timeout=300)


def alive(marker: str) -> bool:
    return subprocess.run(["pgrep", "-f", marker], capture_output=True).returncode == 0


def test_a_log_has_a_line_for_each_step_and_how_far_it_is(tmp_path):
    done = run(tmp_path, f"step compiling 0 500; run build bash -c '{COUNT}'; step testing 500 1000; run tests true")
    assert done.returncode == 0, done.stderr
    lines = [re.sub(r" +\d+s  ", " ", line) for line in done.stdout.splitlines()]
    assert lines[0] == "[  0%] compiling" and "[ 50%] testing" in lines
    assert any(re.fullmatch(r"\[ *\d+%\] compiling [1-4]/4", line) for line in lines)
    assert "\r" not in done.stdout and "\033" not in done.stdout
    assert (tmp_path / "build/log/build.log").read_text().count("compiling x") == 4


@pytest.mark.parametrize("front", [True, False], ids=["in front", "in the background"])
def test_a_job_that_fails_ends_the_rest_with_the_end_of_its_log(tmp_path, front):
    bad = "bash -c 'echo no network; exit 3'"
    others = f"start other 'other things' sleep 4711.{os.getpid()}"
    body = f"{others}; run python {bad}" if front else f"start python packages {bad}; {others}; wait_for other"
    done = run(tmp_path, f"step packages 0 1000; {body}; echo not reached")
    assert done.returncode == 1 and "not reached" not in done.stdout
    assert done.stderr == "error: python failed (exit code 3); the end of build/log/python.log:\nno network\n"
    assert not alive(f"sleep 4711.{os.getpid()}")


def test_an_interrupt_on_a_terminal_ends_every_job(tmp_path):
    marker = f"sleep 4712.{os.getpid()}"
    command = script(tmp_path, f"step compiling 0 1000; start far 'far away' {marker}; run build {marker}")
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(command[0], command)
    shown = b""
    while b"far away" not in shown:
        shown += os.read(terminal, 4096)
    os.write(terminal, b"\x03")
    while True:
        try:
            shown += os.read(terminal, 4096)
        except OSError:  # the terminal is closed with its last program
            break
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 130
    assert b"interrupted" in shown and b"\r\033[K" in shown
    assert not alive(marker)


def test_a_job_that_is_killed_is_an_error(tmp_path):
    done = run(tmp_path, "step compiling 0 1000; run build bash -c 'kill -9 $PPID; sleep 9'")
    assert (
        done.returncode == 1
        and "error: build failed (exit code killed); the end of build/log/build.log:" in done.stderr
    )


def test_a_line_of_a_log_is_waited_for(tmp_path):
    marker = f"4713.{os.getpid()}"
    job = f"bash -c 'echo ready; sleep {marker}; echo end'"
    done = run(tmp_path, f"start python packages {job}; wait_for_line python ready; cat build/log/python.log")
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "ready"
    assert not alive(f"sleep {marker}")
    done = run(tmp_path, "start python packages echo ready; wait_for_line python steady")
    assert done.returncode == 1 and done.stderr.startswith('error: python failed (exit code 0, without "steady")')


def divide(name: Path, parts: int) -> subprocess.CompletedProcess[str]:
    file = SCRIPTS.parent / "cmake/SplitOps.cmake"
    command = ["cmake", f"-DNAME={name}", f"-DPARTS={parts}", "-P", str(file)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_generated_ops_are_divided_and_what_is_as_before_is_not_written(tmp_path):
    name = tmp_path / "Ops"

    def generate(description: str, *bodies: str) -> None:
        (tmp_path / "Ops.all.h.inc").write_text(f"class A;\n  /// {description}\nclass B;\n")
        parts = [
            f'#ifdef GET_OP_DEFS_{i}\n"{body}; [x]\\n"\n#endif // GET_OP_DEFS_{i}\n' for i, body in enumerate(bodies)
        ]
        (tmp_path / "Ops.all.cpp.inc").write_text("\n".join(parts))

    def written() -> dict[str, int]:
        return {f.name: f.stat().st_mtime_ns for f in tmp_path.glob("Ops*.inc") if ".all." not in f.name}

    generate("one; description", "first", "second")
    assert divide(name, 2).returncode == 0
    assert (tmp_path / "Ops.h.inc").read_text() == "class A;\nclass B;\n"
    assert '"second; [x]\\n"' in (tmp_path / "Ops1.cpp.inc").read_text()
    before = written()
    assert sorted(before) == ["Ops.h.inc", "Ops0.cpp.inc", "Ops1.cpp.inc"]
    generate("another description", "first", "second, changed")
    assert divide(name, 2).returncode == 0
    assert [file for file, time in written().items() if time != before[file]] == ["Ops1.cpp.inc"]
    outcome = divide(name, 3)
    assert outcome.returncode != 0 and "has no part 2 of 3" in outcome.stderr
