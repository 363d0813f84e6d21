# SPDX-License-Identifier: Apache-2.0
"""The table of target ttmetal: which cases of the op table run on cores, why others do not, and their values."""

from __future__ import annotations

import re

import pytest
from metal_table import DTYPES, GRIDS, OPS, entries, judged

PARTS = 16

# Names of entries, as regular expressions, and the reason that the pipeline gives.
REFUSED = {
}
# Of two equal scores, the golden's f32 finds log(sum) in the largest one: 1 in place of the 1/2 of both targets.
ROUNDED = {"sdpa_fw_2_bf16", "sdpa_fw_2_bfp8"}
FULL = "does not fit in L1"  # on few cores


def expected(name: str) -> str | None:
    """The reason for which an entry is refused, or None."""
    found = [reason for pattern, reason in REFUSED.items() if re.fullmatch(pattern, name)]
    return found[0] if found else None


@pytest.mark.long
@pytest.mark.sampled(32)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("part", range(PARTS))
def test_cases_run_or_are_refused(part: int, grid: str, dtype: str) -> None:
    """All accepted cases have their goldens; the others are refused for the reason of the lists."""
    several = [entry for op in OPS[part::PARTS] for entry in entries(op, dtype)]
    refused, failures = judged(several, grid)
    wrong = [f"{entry.name}: {problem}" for entry, problem in failures if entry.name not in ROUNDED]
    for entry in several:
        reason, should = refused.get(entry), expected(entry.name)
        if reason and FULL in reason and grid in ("1x1", "1x8"):
            continue
        if (reason is None) != (should is None) or (should and not re.search(should, str(reason))):
            wrong.append(f"{entry.name}: refused with '{reason}', expected '{should}'")
    assert not wrong, "\n".join(wrong)
