# SPDX-License-Identifier: Apache-2.0
"""Ops of the table with open dimensions have the bits of the programs for each size, or are in docs/sizes-ops.md."""

from __future__ import annotations

import pytest
from open_ops import found_for, names, stated

STATED = stated()


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", names())
def test_dimensions_stay_open(name: str) -> None:
    closed = {found.dimension: found.reason for found in found_for(name) if found.reason}
    assert closed == STATED.get(name, {})


def test_the_document_names_ops() -> None:
    assert not STATED.keys() - set(names())
