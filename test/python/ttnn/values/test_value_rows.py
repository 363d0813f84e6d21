# SPDX-License-Identifier: Apache-2.0
"""Functions of windows, products, orders, attention and so on, compared with PyTorch's: every row, every data type."""

from __future__ import annotations

import pytest
import rows_attention
import rows_more
import rows_places
import rows_products
import rows_reductions
import rows_types
import rows_updates
import rows_windows
import ttnn
from value_rows import Rows, run_row

TABLES = (
    rows_attention,
    rows_more,
    rows_places,
    rows_products,
    rows_reductions,
    rows_types,
    rows_updates,
    rows_windows,
)
CASES = [
    pytest.param(name, kind, rows, id=f"{module.__name__.removeprefix('rows_')}-{name}-{kind}")
    for module in TABLES
    for name, rows in sorted(module.TABLE.items())
    for kind in rows.kinds.split()
]


@pytest.mark.parametrize(("name", "kind", "rows"), CASES)
def test_rows(name: str, kind: str, rows: Rows, device: ttnn.Device) -> None:
    for at in range(len(rows.rows)):
        run_row(name, at, rows, kind, device)
