# SPDX-License-Identifier: Apache-2.0
"""Calls of ttnn with the results that the library has, or a difference that docs/differences.md names."""

from __future__ import annotations

import re
from pathlib import Path

import library_calls
import pytest
import ttnn

SECTION = "## Calls of ttnn with another result"
PAGE = Path(__file__).parents[4] / "docs" / "differences.md"


def named_differences() -> set[str]:
    """Returns the rows that the page names: the first column of the table of its section, in backticks."""
    section = PAGE.read_text().partition(f"\n{SECTION}\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_results(tmp_path: Path) -> None:
    """Results of calls, and values: types, numbers, shapes, texts, and addresses on a device that nothing else uses."""
    with ttnn.manage_device(0) as device:
        names = library_calls.things(device, str(tmp_path))
        found = {row: library_calls.value_of(row.text, names) for row in library_calls.expressions()}
    with ttnn.manage_device(0) as device:
        names = library_calls.operands(device)
        found |= {row: library_calls.outcome(row.text, names) for row in library_calls.calls()}
    differing = {row.name: (row.text, result) for row, result in found.items() if result != row.result}
    unnamed = {name: differing[name] for name in sorted(differing.keys() - named_differences())}
    assert not unnamed, "these differ from the library, and docs/differences.md does not name them"
    assert sorted(named_differences() - differing.keys()) == [], "docs/differences.md names rows that are equal"


def test_a_strict_device_refuses_what_the_library_refuses() -> None:
    with ttnn.manage_device(0, strict=True) as device:
        names = library_calls.operands(device)
        found = {call: library_calls.outcome(call.text, names) for call in library_calls.calls()}
    assert {call.name for call, result in found.items() if result != call.result} == {"mul_i_f", "eq_u8"}


def test_rows_have_their_own_names() -> None:
    names = [row.name for row in library_calls.calls() + library_calls.expressions()]
    assert len(names) == len(set(names)) == 197 + 164


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", "[64, 96] pad [64, 96] BFLOAT16 TILE INTERLEAVED DRAM"),
        ("ttnn.add(x, w)", "refused"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_outcomes(text: str, expected: str, device: ttnn.Device) -> None:
    assert library_calls.outcome(text, library_calls.operands(device)).partition(":")[0] == expected
