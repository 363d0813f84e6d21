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
def test_what_always_fails(golden, found, problem):
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
