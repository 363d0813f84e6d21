# SPDX-License-Identifier: Apache-2.0
"""Every op row: flatbuffer, emitted Python and emitted C++ give the same bits."""

from __future__ import annotations

import pytest
from emit_cases import Subject, compare_all
from op_cases import TABLE, built, lowered, runs
from op_gaps import GAPS

RUNS = [run for run in runs(TABLE) if run[0] not in GAPS]
BATCH = 24  # rows whose C++ is compiled in one go
SAMPLED = RUNS[::24]


def subject(name: str, dtype: str) -> Subject:
    result = TABLE[name]
    module, builder = built(name, dtype)
    inputs = [goldens.inputs for goldens in builder.golden_map[0].values()]
    return Subject(f"{name} {dtype}", lowered(module, result.mesh), inputs, result.mesh)


def check(rows: list[tuple[str, str]]) -> None:
    problems = compare_all([subject(*row) for row in rows])
    assert not problems, "\n".join(problems)


@pytest.mark.long
def test_sampled_rows() -> None:
    check(SAMPLED)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, len(RUNS), BATCH))
def test_all_rows(start: int) -> None:
    check(RUNS[start : start + BATCH])
