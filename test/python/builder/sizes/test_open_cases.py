# SPDX-License-Identifier: Apache-2.0
"""Ops whose semantics change with sizes: open programs have the bits of those for each size, or cannot stay open."""

from __future__ import annotations

import re
from typing import Any

import _ttmlir_runtime as tt
import pytest
import torch
from builder.base.builder_apis import TTBuilderCompileException, build_module
from golden import GoldenMapTensor
from op_cases import execute, lowered
from open_cases import CASES, OTHERS
from random_open import bits
from ttmlir.passes import ttnn_to_flatbuffer_bin
from ttmlir.sizes import OpenSizeError, Size, open_flatbuffer

load = tt.binary.load_binary_from_bytes


@pytest.mark.parametrize("name", CASES)
def test_open_programs_have_the_bits_of_fixed_ones(name: str) -> None:
    case = CASES[name]
    uses_both = case.shapes(2, 3) != case.shapes(2, 4)

    def built(n: int, m: int, options: str = "") -> Any:
        try:
            return lowered(build_module(case.module(n, m), "ttir")[0], (1, 1), options)
        except TTBuilderCompileException as error:
            raise OpenSizeError(str(error)) from error

    sizes = [Size("n"), Size("m")][: 1 + uses_both]
    try:
        data = open_flatbuffer(lambda point: built(point[0], (*point, 3)[1], "open-sizes=true"), sizes)
    except OpenSizeError as error:
        assert case.closed, str(error)
        assert re.search(case.closed, str(error))
        return
    assert not case.closed, "the sizes stay open by now"
    binary, runs = load(data), 0
    for i, n in enumerate(case.sizes):
        m = OTHERS[i % len(OTHERS)] if uses_both else 3
        if any(not least <= size <= most for size, (_, least, most) in zip((n, m), binary.open_sizes, strict=False)):
            continue
        inputs = [GoldenMapTensor({0: x}) for x in case.inputs(n, m)]
        expected = execute(load(ttnn_to_flatbuffer_bin(built(n, m))), 0, inputs, (1, 1))
        found = execute(binary, 0, inputs, (1, 1))
        for a, b in zip(expected, found, strict=True):
            assert (a[0].shape, a[0].dtype) == (b[0].shape, b[0].dtype), f"n {n}, m {m}"
            assert torch.equal(bits(a[0]), bits(b[0])), f"n {n}, m {m}"
        runs += 1
    assert runs >= 3, f"{binary.open_sizes}"
