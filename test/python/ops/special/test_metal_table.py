# SPDX-License-Identifier: Apache-2.0
"""The table of target ttmetal: every case of the op table runs on cores, with the values of its golden."""

from __future__ import annotations

import pytest
from metal_table import DTYPES, GRIDS, OPS, TIES, entries, judged

PARTS = 16
FULL = "does not fit in L1"  # on few cores


@pytest.mark.long
@pytest.mark.sampled(32)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("part", range(PARTS))
def test_cases_run(part: int, grid: str, dtype: str) -> None:
    """No case is refused, but for its size on few cores."""
    several = [entry for op in OPS[part::PARTS] for entry in entries(op, dtype)]
    refused, failures = judged(several, grid)
    wrong = [f"{entry.name}: {problem}" for entry, problem in failures if entry.name not in TIES]
    wrong += [
        f"{entry.name}: {reason}"
        for entry, reason in refused.items()
        if FULL not in reason or grid not in ("1x1", "1x8")
    ]
    assert not wrong, "\n".join(wrong)
