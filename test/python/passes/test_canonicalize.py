# SPDX-License-Identifier: Apache-2.0
"""Canonicalizing changes no bit of any result: random functions before and after, in TTIR and in TTNN."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from emit_cases import Subject, assert_same, of_flatbuffer
from golden import GoldenMapTensor
from op_cases import clone, lowered
from random_folds import Function
from random_modules import drawn
from ttmlir import ir
from ttmlir.passmanager import PassManager

SAMPLE = 60  # functions of ops that fold
MANY, BATCH = 4000, 100  # with --slow
MODULES = 20  # of ops of all kinds
PLAIN = "enable-optimization-passes=false"  # so that nothing but canonicalization folds


def canonicalized(module: Any) -> Any:
    result = clone(module)
    with result.context:
        PassManager.parse("builtin.module(canonicalize)").run(result.operation)
    return result


def size(module: Any) -> int:
    return sum(1 for function in module.body.operations for block in function.regions[0].blocks for _ in block)


def check(name: str, text: str, module: Any, inputs: list[torch.Tensor]) -> int:
    """The results of TTIR as it is, canonicalized, and of TTNN canonicalized; by how many ops TTIR got smaller."""
    given = [[GoldenMapTensor({0: x}, (1, 1)) for x in inputs]]
    try:
        before = lowered(module, (1, 1), PLAIN)
        expected = of_flatbuffer(Subject(name, before, given))[0]
        smaller = canonicalized(module)
        for where, after in (
            ("TTIR", lowered(smaller, (1, 1), PLAIN)),
            ("TTNN", canonicalized(before)),
            ("both", canonicalized(lowered(smaller, (1, 1)))),
        ):
            found = of_flatbuffer(Subject(name, after, given))[0]
            if where != "both":  # fusions may round less
                assert_same(f"{name}, {where} canonicalized", expected, found)
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}\n\n{text}") from error
    return size(module) - size(smaller)


def check_function(seed: int) -> int:
    function = Function(seed)
    with ir.Context(), ir.Location.unknown():
        return check(f"seed {seed}", function.text, ir.Module.parse(function.text), function.inputs())


@pytest.mark.long
def test_keeps_every_bit(seed: int) -> None:
    erased = sum(check_function(number) for number in range(seed, seed + SAMPLE))
    assert erased > SAMPLE, f"{erased} ops of {SAMPLE} functions folded: the generator draws nothing that does"


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, MANY, BATCH))
def test_keeps_every_bit_of_many(start: int, seed: int) -> None:
    for number in range(seed + start, seed + start + BATCH):
        check_function(number)


@pytest.mark.long
def test_keeps_every_bit_of_modules(seed: int) -> None:
    for number in range(seed, seed + MODULES):
        module = drawn(number)
        check(f"seed {number}", module.program, module.built()[0], module.inputs)
