# SPDX-License-Identifier: Apache-2.0
"""Options of passes and pipelines that take one of several values: an error lists these values."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

OPT = Path(__file__).resolve().parents[3] / "build" / "bin" / "ttmlir-opt"


def options_with_choices() -> list[tuple[str, str, list[str]]]:
    """Returns (pass or pipeline, option, values) for every such option that `ttmlir-opt --help` lists."""
    text = subprocess.run([OPT, "--help"], capture_output=True, text=True, check=True).stdout
    found: list[tuple[str, str, list[str]]] = []
    owner = ""
    values: list[str] | None = None
    for line in text.splitlines():
        if owned := re.match(r"      --([a-z0-9-]+) ", line):
            owner, values = owned[1], None
        elif option := re.match(r"        --([a-z0-9-]+)=<", line):
            values = []
            if owner:
                found.append((owner, option[1], values))
        elif (value := re.match(r"    =(\S+) ", line)) and values is not None:
            values.append(value[1])
        elif not line.startswith("       "):
            owner, values = "", None
    return [each for each in found if each[2]]


# Passes of MLIR keep the texts of LLVM.
OWN = re.compile(r"(ttcore|ttir|ttnn|ttmetal|ttkernel|d2m|sdy|stablehlo|convert-(d2m|tt)|capture|cpu)")
CASES = [case for case in options_with_choices() if OWN.match(case[0])]


def test_there_are_such_options() -> None:
    assert len({option for _, option, _ in CASES}) > 10


@pytest.mark.parametrize(("owner", "option", "values"), CASES, ids=[f"{owner}-{option}" for owner, option, _ in CASES])
def test_an_error_lists_the_values(owner: str, option: str, values: list[str]) -> None:
    result = subprocess.run(
        [OPT, f"--{owner}={option}=no-such-value"], input="module {}", capture_output=True, text=True, check=False
    )
    expected = ", ".join(values[:-1]) + f" or {values[-1]}"
    assert result.returncode != 0
    assert f"for the --{option} option: 'no-such-value' is not possible; expected {expected}" in result.stderr
