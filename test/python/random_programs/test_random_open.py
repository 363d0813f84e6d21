# SPDX-License-Identifier: Apache-2.0
"""Random modules with open sizes: each open program has the bits of the programs that are compiled for its sizes."""

from __future__ import annotations

import pytest
from random_open import check, drawn

BATCH, QUICK, ALL = 20, 40, 300
MOST_CLOSED = 4  # of a batch: ops that differ with the size


def batch_is_the_same(first: int) -> None:
    closed = {seed: reason for seed in range(first, first + BATCH) if (reason := check(drawn(seed)))}
    assert len(closed) <= MOST_CLOSED, "\n".join(f"seed {seed}: {reason}" for seed, reason in closed.items())


@pytest.mark.parametrize("batch", range(QUICK // BATCH))
def test_open_programs_are_the_fixed_ones(batch: int, seed: int) -> None:
    batch_is_the_same(seed + BATCH * batch)


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(QUICK // BATCH, ALL // BATCH))
def test_many_open_programs_are_the_fixed_ones(batch: int, seed: int) -> None:
    batch_is_the_same(seed + BATCH * batch)
