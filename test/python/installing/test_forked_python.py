# SPDX-License-Identifier: Apache-2.0
"""The program of forked_python.py that stands for Python does what Python does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import forked_python
import pytest

PROGRAM = """
import os, sys
print(sys.argv, os.getcwd(), os.environ.get("GIVEN"), sys.stdin.read(), "ä")
print(__name__, sys.executable, file=sys.stderr)
{last}
"""
LOADED = "import sys; print('wave' in sys.modules)"


@pytest.fixture(scope="module")
def python() -> Iterator[Path]:
    with forked_python.forked_python("wave") as program:
        yield program


@pytest.mark.parametrize(
    "last", ["sys.exit(3)", "raise SystemExit", "os.abort()", "os.kill(os.getpid(), 9)", "raise ValueError(1)", ""]
)
@pytest.mark.parametrize("way", ["-c", "-m", "file"])
def test_a_program_runs_as_with_python(python: Path, way: str, last: str, tmp_path: Path) -> None:
    text = PROGRAM.format(last=last)
    (tmp_path / "program.py").write_text(text)
    arguments = {"-c": ["-c", text], "-m": ["-m", "program"], "file": ["program.py"]}[way] + ["one", "2"]
    environment = os.environ | {"GIVEN": "yes", "PYTHONIOENCODING": "latin-1"}
    mine, real = (
        subprocess.run([program, *arguments], input=b"typed", capture_output=True, env=environment, cwd=tmp_path)
        for program in (python, sys.executable)
    )
    assert (mine.returncode, mine.stdout, mine.stderr.splitlines()[:1]) == (
        real.returncode, real.stdout, real.stderr.splitlines()[:1]
    )  # fmt: skip
    assert mine.stdout.endswith(b"typed \xe4\n")


def said(python: Path, *arguments: str, **environment: str) -> str:
    return subprocess.run(
        [python, *arguments], capture_output=True, text=True, env=os.environ | environment, check=True, input=LOADED
    ).stdout


def test_forks_have_the_packages() -> None:
    with forked_python.forked_python("wave") as python:
        assert said(python, "-c", LOADED) == "True\n"
        # Read at import, other options of Python, and a program from standard input: a new Python.
        assert said(python, "-c", LOADED, OMP_NUM_THREADS="3") == "False\n"
        assert said(python, "-I", "-c", LOADED) == said(python, "-") == said(python) == "False\n"
        assert "Python 3." in said(python, "--version")
    assert not python.exists()


def test_nothing_stays_from_one_to_the_next(python: Path) -> None:
    said(python, "-c", "import os, wave; os.environ['LEFT'] = '1'; wave.left = 1")
    assert said(python, "-c", "import os, wave; print('LEFT' in os.environ, hasattr(wave, 'left'))") == "False False\n"


def test_several_run_at_once(python: Path) -> None:
    running = [
        subprocess.Popen([python, "-c", "print(input())"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    outputs = [process.communicate(f"{number}\n")[0] for number, process in reversed(list(enumerate(running)))]
    assert outputs == ["3\n", "2\n", "1\n", "0\n"]


WAITS = "import os, sys, time; print(os.getpid(), flush=True); time.sleep(600)"


def ends(pid: int) -> bool:
    for _ in range(600):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_signals_reach_the_program(python: Path, number: int) -> None:
    process = subprocess.Popen([python, "-c", WAITS], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    assert pid != process.pid
    process.send_signal(number)
    assert process.wait(60) == -number and ends(pid)
    process.stdout.close()


def test_other_commands_are_found_next_to_it(python: Path) -> None:
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    found = subprocess.run(["sh", "-c", f'python -c "{LOADED}"; pytest --version'], capture_output=True, text=True,
                           env=os.environ | {"PATH": path}, check=True)  # fmt: skip
    assert found.stdout.startswith("True\npytest ")


def test_a_script_has_it_as_its_python(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import subprocess, sys\n"
        "done = subprocess.run([sys.executable, '-c', 'import sys; print(\"torch\" in sys.modules)'], text=True,\n"
        "                      stdout=subprocess.PIPE)\n"
        "print(sys.argv[1:], __name__, done.stdout.strip(), 'torch' in sys.modules)\n"
        "sys.exit(7)\n"
    )
    command = [sys.executable, forked_python.__file__, script, "one", "--two"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (7, "['one', '--two'] __main__ True False\n"), done.stderr


def test_packages_that_are_missing_are_named(capfd: pytest.CaptureFixture[str]) -> None:
    with (
        pytest.raises(SystemExit, match="cannot import no_such_package"),
        forked_python.forked_python("no_such_package"),
    ):
        pass
    assert "No module named 'no_such_package'" in capfd.readouterr().err
