# SPDX-License-Identifier: Apache-2.0
"""Functions of windows, products, orders, attention and so on, compared with PyTorch's: every row, every data type."""

from __future__ import annotations

import pytest
import rows_reductions
import rows_windows
import ttnn
from value_rows import Rows, run_row

TABLE: dict[str, Rows] = {**rows_reductions.TABLE, **rows_windows.TABLE}
CASES = [(name, kind) for name, rows in sorted(TABLE.items()) for kind in rows.kinds.split()]


@pytest.mark.parametrize(("name", "kind"), CASES, ids=[f"{name}-{kind}" for name, kind in CASES])
def test_rows(name: str, kind: str, device: ttnn.Device) -> None:
    for at in range(len(TABLE[name].rows)):
        run_row(name, at, TABLE[name], kind, device)
