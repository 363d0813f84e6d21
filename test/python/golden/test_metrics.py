# SPDX-License-Identifier: Apache-2.0
"""Comparison of results: everything counts, and nothing hides behind the correlation."""

from __future__ import annotations

import math

import pytest
import torch
from golden import compare, get_atol_rtol, get_atol_rtol_pcc, get_pcc

X = torch.linspace(-2, 2, 100).reshape(10, 10)


@pytest.mark.parametrize(
    ("golden", "found", "pcc", "within"),
    [
        (X, X.clone(), 1.0, True),
        (X, X * 2, 1.0, False),  # a factor is invisible to PCC
        (X, -X, -1.0, False),
        (torch.ones(4), torch.ones(4), 1.0, True),  # constants: PCC is undefined
        (torch.ones(4), torch.tensor([1.0, 1.0, 1.0, 9.0]), 0.0, False),
        (torch.zeros(4), torch.ones(4), 0.0, False),
        (torch.tensor([]), torch.tensor([]), 1.0, True),
        (torch.tensor([1, 2, 3]), torch.tensor([1, 2, 4]), 0.98, False),  # integers are exact
        (torch.tensor(2.0), torch.tensor(2.0), 1.0, True),
    ],
)
def test_pcc_and_tolerance(golden, found, pcc, within):
    result = compare(golden, found)
    assert result.pcc == pytest.approx(pcc, abs=0.01) and result.within is within and not result.problem


@pytest.mark.parametrize(
    ("golden", "found", "problem"),
    [
        (torch.ones(2, 3), torch.ones(3, 2), "shape [3, 2], expected [2, 3]"),
        (torch.tensor([1.0, math.nan]), torch.tensor([math.nan, 1.0]), "NaN at other places: 1 expected, 1 found"),
        (torch.tensor([1.0, math.inf]), torch.tensor([1.0, -math.inf]), "+Inf at other places: 1 expected, 0 found"),
    ],
)
def test_permanent_failures(golden, found, problem):
    result = compare(golden, found)
    assert problem in result.problem and not result.within


def test_nan_and_inf_at_the_same_places_are_left_out():
    a = torch.tensor([1.0, 2.0, 3.0, math.nan, math.inf])
    result = compare(a, a.clone())
    assert result.pcc == 1.0 and result.within and not result.problem


def test_the_largest_errors_are_named():
    found = X.clone()
    found[3, 4] += 0.5
    result = compare(X, found)
    assert result.worst == (3, 4) and result.max_abs == pytest.approx(0.5)
    assert get_atol_rtol(X, found)[0] == pytest.approx(0.5)
    assert get_atol_rtol_pcc(X, found)[2] == get_pcc(X, found)


def test_tolerance_follows_the_dtype():
    assert not compare(X, X + 0.01).within
    assert compare(X.bfloat16(), (X + 0.01).bfloat16()).within


def of_dtype(dtype: torch.dtype) -> torch.Tensor:
    """All but 1: half a unit in the last place of 1."""
    noise = torch.randn(1000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return (1 + 0.3 * torch.finfo(dtype).eps * noise).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        (lambda x: x, True),
        (lambda x: x.flip(0), True),  # rounding errors of its own: PCC is about 0
        (torch.ones_like, True),
        (lambda x: x + 0.2, False),
        (lambda x: x * 0.8, False),
        (lambda x: -x, False),
        (torch.zeros_like, False),
        (lambda x: torch.where(torch.arange(1000) == 7, 2 * x, x), False),
    ],
)
def test_rounding_errors_do_not_correlate(dtype, wrong, near):
    golden = of_dtype(dtype)
    result = compare(golden, wrong(golden).to(dtype))
    assert result.note.startswith("the golden varies by rounding only (") and result.near is near
    assert result.agrees(0.99) is near


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_spread_of_its_own_is_for_pcc(dtype):
    noise = torch.randn(1000, generator=torch.Generator().manual_seed(0))
    for golden in (1 + 20 * torch.finfo(dtype).eps * noise, 1e-6 * noise):
        golden = golden.to(dtype)
        assert not compare(golden, golden).note
        assert not compare(golden, golden.mean().expand(1000)).agrees(0.99)


def test_tolerance_of_inputs_of_a_constant():
    golden = torch.full((8,), 3.0)
    assert not compare(golden, golden * 1.02).near
    assert compare(golden, golden * 1.02, precision=torch.bfloat16).near
    assert compare(golden, golden * 1.02, near=(0.1, 0.0)).near
    assert not compare(golden, golden * 1.2, precision=torch.bfloat16).near
    # A rounding error that is known: its own size is allowed, and nothing of another.
    noise = 1e-3 * torch.randn(1000, generator=torch.Generator().manual_seed(0))
    assert compare(noise, noise.flip(0), noise=1e-3).near
    assert not compare(noise, noise.flip(0) + 0.1, noise=1e-3).near
    assert not compare(noise, noise.flip(0)).agrees(0.99)
