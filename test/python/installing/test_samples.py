# SPDX-License-Identifier: Apache-2.0
"""What `sampled(n)` and `slow` leave out, by the conftest.py of all tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest

@pytest.mark.sampled(4)
@pytest.mark.parametrize("n", range(40))
def test_many(n): pass

@pytest.mark.sampled(4)
@pytest.mark.parametrize("n", range(4))
def test_few(n): pass

@pytest.mark.slow
def test_slow(): pass
"""
LONG = """
import pytest

@pytest.mark.long
def test_alone(): pass

@pytest.mark.long
@pytest.mark.parametrize("n", [0, 1, pytest.param(2, marks=pytest.mark.slow)])
def test_some(n): pass

@pytest.mark.long("pages")
def test_one_page(): pass

@pytest.mark.long("pages")
def test_another_page(): pass

@pytest.mark.parametrize("n", range(3))
def test_quick(n): pass
"""


@pytest.fixture
def collected(tmp_path: Path):  # what of a file is collected
    (tmp_path / "test_a.py").write_text(TESTS)
    (tmp_path / "test_b.py").write_text(LONG)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  sampled\n  slow\n  long\n")
    shutil.copy(Path(__file__).parents[1] / "conftest.py", tmp_path)

    def run(*arguments: str, file: str = "test_a.py") -> set[str]:
        which = [] if any(file in argument for argument in arguments) else [file]
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *which, *arguments]
        # Plugins of other packages take seconds to load.
        alone = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=alone)
        assert done.returncode == 0, done.stdout + done.stderr
        return {line.removeprefix(f"{file}::") for line in done.stdout.splitlines() if "::" in line}

    return run


FEW = {f"test_few[{n}]" for n in range(4)} | {"test_slow"}


@pytest.mark.long
def test_seeds_have_samples_that_make_the_whole(collected) -> None:
    whole = collected("--slow")
    assert len(whole) == 45
    samples = [collected("--seed", str(seed)) - FEW for seed in range(4)]
    assert [len(sample) for sample in samples] == [10] * 4
    assert set().union(*samples) | FEW == whole
    assert collected() == samples[0] | FEW, "the same each time"


def test_who_names_a_few_gets_them(collected) -> None:
    assert collected("test_a.py::test_many[1]", "test_a.py::test_many[2]") == {"test_many[1]", "test_many[2]"}
    assert collected("-k", "test_many and 39") == {"test_many[39]"}


@pytest.mark.long
def test_eight_turns_make_the_whole(collected) -> None:
    whole = collected(file="test_b.py")
    assert len(whole) == 9
    always = {f"test_quick[{n}]" for n in range(3)} | {"test_some[2]"}  # which is skipped
    turns = [collected("--turn", str(turn), file="test_b.py") for turn in range(7, 15)]
    assert all(always < turn or always == turn for turn in turns)
    long = [turn - always for turn in turns]
    assert sum(map(len, long)) == 5 and set().union(*long) | always == whole
    assert [turn & {"test_one_page", "test_another_page"} for turn in turns if "test_one_page" in turn] == [
        {"test_one_page", "test_another_page"}
    ]
    assert collected("--turn", "15", file="test_b.py") == turns[0]
    assert collected("--turn", "1", "--slow", file="test_b.py") == whole
    # On top of samples.
    sampled, parts = collected(), [collected("--turn", str(turn)) for turn in range(8)]
    assert sorted(len(part) for part in parts) == [2, 2, 2, 2, 3, 3, 4, 4] and set().union(*parts) == sampled
