# SPDX-License-Identifier: Apache-2.0
"""The agreement of targets on exact devices: ops of the op table whose results have the same bits on both."""

from __future__ import annotations

import pytest
from exact_table import DTYPES, Agreement, of_ops

# Ops with the same kernels, and some whose results are exact or only rounded on both targets.
SAME = ("ttir.abs", "ttir.asin", "ttir.broadcast", "ttir.dropout", "ttir.exp", "ttir.maximum")


@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_are_the_same(dtype: str) -> None:
    found = of_ops(SAME, dtype)
    assert set(found) == set(SAME)
    wrong = [
        f"{entry.name}: {each}"
        for several in found.values()
        for entry, each in several.items()
        if not isinstance(each, Agreement) or each.same != each.count
    ]
    assert not wrong, "\n".join(wrong)
