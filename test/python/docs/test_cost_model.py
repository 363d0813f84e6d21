# SPDX-License-Identifier: Apache-2.0
"""docs/cost-model.md has the figures that the model gives, and those are within a quarter of the published ones."""

from __future__ import annotations

from pathlib import Path

import _ttmlir_runtime as rt
import pytest

from bench import cost_model, network_times

PAGE = Path(__file__).resolve().parents[3] / "docs/cost-model.md"


@pytest.fixture(scope="module")
def found() -> list[tuple[cost_model.Row, float, str]]:
    return [(row, *cost_model.estimate(row)) for row in cost_model.ROWS]


def test_the_page_shows_what_is_estimated(found: list[tuple[cost_model.Row, float, str]], tmp_path: Path) -> None:
    assert cost_model.markdown(found) in PAGE.read_text(encoding="utf-8")
    cost_model.plot(found, tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").read_text(encoding="utf-8").count("<use ") >= len(found)


def test_estimates_are_near_published_times(found: list[tuple[cost_model.Row, float, str]]) -> None:
    assert [row for row, time, _ in found if not 0.75 < time / row.published < 1.25] == []
    for kind in {row.kind for row in cost_model.ROWS}:
        assert not all(row.fitted for row in cost_model.ROWS if row.kind == kind), "some are there to judge by"


def test_uncertainties_are_those_of_the_rows(found: list[tuple[cost_model.Row, float, str]]) -> None:
    measured = cost_model.uncertainties(found)
    stated = rt.runtime.estimate_uncertainties()
    assert stated.pop("other") == pytest.approx(2 * max(stated.values()))
    assert measured.keys() == stated.keys() - {"attention"}, "which has rows in CostTest.cpp"
    assert {kind: stated[kind] for kind in measured} == pytest.approx(measured, abs=0.005)
    for kind, share in stated.items():
        assert f"| {kind} | {share:.0%} |" in PAGE.read_text(encoding="utf-8")


def test_the_page_has_every_network() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for network in network_times.NETWORKS.values():
        # Without the estimates.
        fixed = network_times.row(network, [network_times.Time()] * 3).partition(" ms |")[0]
        assert text.count(f"\n{fixed} ms |") == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "gain"),
    [
        ("resnet-50-b16", 3),
        ("resnet-50-b16-bf16", 3),
        pytest.param("llama-8b-b32", 1.5, marks=pytest.mark.slow),
    ],
)
def test_a_network_is_estimated_as_the_page_says(name: str, gain: float) -> None:
    """gain: of the optimizer, at least."""
    network = network_times.NETWORKS[name]
    found = network_times.times(network)
    assert network_times.row(network, found) in PAGE.read_text(encoding="utf-8")
    assert found[0].total > gain * found[2].total and 0 < found[2].deviation < found[2].total
    if "bfp8" in network_times.row(network, found):
        assert 0.75 < found[2].total / network.published < 1.25
