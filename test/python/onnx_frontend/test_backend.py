# SPDX-License-Identifier: Apache-2.0
"""The backend tests of the package onnx, and the page's table of them."""

from __future__ import annotations

import functools
from collections import Counter
from pathlib import Path

import pytest
from onnx_zoo import backend

PAGE = Path(__file__).resolve().parents[3] / "docs" / "onnx.md"


@functools.cache
def cases() -> list[backend.Case]:
    """The package computes all at once, in 9 s."""
    return list(backend.cases())


@pytest.mark.long
def test_all_cases() -> None:
    results = [backend.run(case) for case in cases()]
    assert [f"{r.case.name}: {r.reason}" for r in results if r.kind == backend.WRONG] == []
    without = [
        r
        for r in results
        if r.kind != backend.REFUSED or backend.lacking(r) not in ("strings", "optionals", "training")
    ]
    kinds = Counter(r.kind for r in without)
    assert kinds[backend.AGREES] / len(without) > 0.98, kinds
    assert all(r.reason for r in results if r.kind == backend.REFUSED)
    listed = PAGE.read_text(encoding="utf-8").partition(backend.BEGIN)[2].partition(backend.END)[0]
    assert listed == backend.table(results), "run: python -m onnx_zoo.backend docs/onnx.md"


def test_a_difference_is_seen() -> None:
    (case,) = [c for c in cases() if c.name == "test_relu"]
    (given, (expected,)) = case.sets[0]
    assert backend.run(case).kind == backend.AGREES
    changed = backend.Case("node", case.name, case.model, [(given, [expected + 1])], case.rtol, case.atol)
    assert backend.run(changed).kind == backend.WRONG
    other = backend.Case("node", case.name, case.model, [(given, [expected.astype("float64")])], case.rtol, case.atol)
    assert backend.run(other).reason.startswith("float32")


@pytest.mark.parametrize("name", ["test_cast_FLOAT_to_INT4", "test_castlike_FLOAT16_to_UINT2"])
def test_what_the_type_does_not_hold_is_left_open(name: str) -> None:
    (case,) = [c for c in cases() if c.name == name]
    (given, (expected,)) = case.sets[0]
    numbers = given[0].astype("float64")
    least, most = (-8, 7) if "INT4" in name else (0, 3)
    outside = numbers[(numbers < least) | (numbers > most)].flat[0]
    for number, kind in ((1, backend.WRONG), (outside, backend.AGREES)):
        changed = expected.copy()
        (where,) = (numbers.ravel() == number).nonzero()
        changed.ravel()[where[0]] = 0 if number == 1 else 1
        assert backend.run(backend.Case("node", name, case.model, [(given, [changed])], 0, 0)).kind == kind
