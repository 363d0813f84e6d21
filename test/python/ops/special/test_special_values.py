# SPDX-License-Identifier: Apache-2.0
"""Elementwise ops compute what their goldens say of special values, wherever they are computed."""

from __future__ import annotations

import pytest
import special_values


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("name", "dtype", "place"), special_values.cases())
def test_agrees_with_golden(name: str, dtype: str, place: str) -> None:
    special_values.prepared(name, dtype, place).check()


def test_families_are_there() -> None:
    """Finds ops that are known to be elementwise by their traits."""
    known = (
        "abs",
        "add",
        "atan2",
        "cbrt",
        "clamp_tensor",
        "eq",
        "exp2",
        "gelu_bw",
        "remainder",
        "sign",
        "trunc",
        "where",
    )
    assert {f"ttir.{name}" for name in known} <= set(special_values.ELEMENTWISE)
    assert not {"ttir.softmax", "ttir.cumsum", "ttir.reshape", "ttir.matmul"} & set(special_values.ELEMENTWISE)
