# SPDX-License-Identifier: Apache-2.0
"""Random modules that hypothesis chooses: of one that fails it looks for the fewest calls that do."""

from __future__ import annotations

import pytest
from test_random_modules import ALL_MESHES, check

hypothesis = pytest.importorskip("hypothesis", reason="hypothesis is not installed: pip install --group dev .")
strategies = pytest.importorskip("hypothesis.strategies")

EXAMPLES = 8  # 2,000 with --slow


@pytest.mark.long
def test_any_module(seed: int, request: pytest.FixtureRequest) -> None:
    examples = 2000 if request.config.getoption("--slow") else EXAMPLES

    @hypothesis.seed(seed)
    @hypothesis.settings(max_examples=examples, deadline=None, database=None)
    @hypothesis.given(strategies.integers(0, 2**32), strategies.sampled_from(ALL_MESHES), strategies.integers(5, 50))
    def agrees(number: int, mesh: tuple[int, int], ops: int) -> None:
        check(number, mesh, ops)

    agrees()
