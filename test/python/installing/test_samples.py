# SPDX-License-Identifier: Apache-2.0
"""Tests that `sampled(n)` and `slow` leave out, by the conftest.py of all tests."""

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


@pytest.fixture
def collected(tmp_path: Path):  # what of a file is collected
    (tmp_path / "test_a.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  sampled\n  slow\n")
    shutil.copy(Path(__file__).parents[1] / "conftest.py", tmp_path)

    file = "test_a.py"

    def run(*arguments: str) -> set[str]:
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
