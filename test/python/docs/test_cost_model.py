# SPDX-License-Identifier: Apache-2.0
"""docs/cost-model.md has the figures that the model gives, and those are within a quarter of the published ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import cost_model, network_times

PAGE = Path(__file__).resolve().parents[3] / "docs/cost-model.md"
# The blocks of small products do not fill the cores; the page says so.
TOO_SHORT = {("matmul by default", 1024)}


def test_the_page_shows_what_is_estimated(tmp_path: Path) -> None:
    found = [(row, *cost_model.estimate(row)) for row in cost_model.ROWS]
    assert cost_model.markdown(found) in PAGE.read_text(encoding="utf-8")
    cost_model.plot(found, tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").read_text(encoding="utf-8").count("<use ") >= len(found)


@pytest.mark.parametrize("row", cost_model.ROWS, ids=lambda row: f"{row.work} {row.dtype} {row.sizes[0]}")
def test_estimates_are_near_published_times(row: cost_model.Row) -> None:
    ratio = cost_model.estimate(row)[0] / row.published
    low = 0.65 if (row.work, row.sizes[0]) in TOO_SHORT else 0.75
    assert low < ratio < 1.25


def test_a_network_is_estimated_as_the_page_says() -> None:
    network = network_times.NETWORKS["resnet-50-b16-bf16"]
    found = network_times.times(network)
    assert network_times.row(network, found) in PAGE.read_text(encoding="utf-8")
    assert found[0] > 4 * network.published and 0.75 < found[2] / network.published < 1.25
