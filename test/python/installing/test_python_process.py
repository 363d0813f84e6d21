# SPDX-License-Identifier: Apache-2.0
"""Processes that python_process.py forks are as those of `subprocess`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import python_process

PROGRAM = """
import atexit, json, os, sys
import {package}
import helper
atexit.register(print, "the end")
print(json.dumps([__name__, sys.argv, os.getcwd(), os.environ.get("GIVEN"), sys.path[:2], helper.__file__]))
print(sys.modules["__main__"].__dict__ is globals(), {package}.__name__, sys.stdin.read())
print("an error", file=sys.stderr)
{last}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "helper.py").write_text("")
    (tmp_path / "empty").mkdir()
    for package in ("torch", "jax"):
        (tmp_path / "empty" / f"{package}.py").write_text("")
    return tmp_path


@pytest.mark.parametrize("last", ["sys.exit(3)", "raise SystemExit", "os.abort()", ""])
@pytest.mark.parametrize("way", ["-c", "-m", "file"])
@pytest.mark.parametrize("package", ["torch", "jax"])
def test_a_process_is_as_any_other(folder: Path, package: str, way: str, last: str) -> None:
    text = PROGRAM.format(package=package, last=last)
    (folder / "program.py").write_text(text)
    arguments = {"-c": ["-c", text], "-m": ["-m", "program"], "file": [str(folder / "program.py")]}[way] + ["one", "2"]
    environment = os.environ | {"PYTHONPATH": str(folder / "other"), "GIVEN": "yes"}
    mine = python_process.run(arguments, package, env=environment, cwd=folder)
    command, nothing = [sys.executable, *arguments], subprocess.DEVNULL
    # Importing the library takes seconds and prints nothing: an empty module stands for it here.
    environment["PYTHONPATH"] += os.pathsep + str(folder / "empty")
    real = subprocess.run(command, env=environment, cwd=folder, stdin=nothing, capture_output=True, text=True)
    assert (mine.returncode, mine.stdout, mine.stderr.splitlines()[:1]) == (
        real.returncode, real.stdout, real.stderr.splitlines()[:1]
    )  # fmt: skip


def test_the_end_of_a_traceback_is_the_error() -> None:
    done = python_process.run(["-c", "import torch\nraise ValueError('what was wrong')"])
    assert done.returncode == 1 and done.stderr.splitlines()[-1] == "ValueError: what was wrong"


def test_nothing_stays_from_one_to_the_next() -> None:
    python_process.run(["-c", "import os, torch; os.environ['LEFT'] = '1'; torch.left = 1"])
    done = python_process.run(["-c", "import os, torch; print(os.environ.get('LEFT'), hasattr(torch, 'left'))"])
    assert done.stdout == "None False\n"


def test_the_platform_of_jax_is_that_of_the_environment() -> None:
    program = "import jax; print(jax.config.jax_platforms, jax.default_backend())"
    for name in ("cpu", "tt"):
        done = python_process.run(["-c", program], "jax", env=os.environ | {"JAX_PLATFORMS": name})
        assert done.stdout == f"{name} {name}\n", done.stderr


def test_variables_read_at_import_get_a_new_process() -> None:
    done = python_process.run(
        ["-c", "import jax; print(jax.config.jax_enable_x64)"], "jax", env=os.environ | {"JAX_ENABLE_X64": "1"}
    )
    assert done.stdout == "True\n"
