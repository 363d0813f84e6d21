# SPDX-License-Identifier: Apache-2.0
"""Integers that attributes of ops cannot hold."""

from __future__ import annotations

import pytest
from ttmlir import ir
from ttmlir.dialects import integers, ttir


def test_numbers_of_more_than_32_bits_are_refused() -> None:
    with ir.Context() as context, ir.Location.unknown():
        module = ir.Module.create()
        tensor = ir.RankedTensorType.get([4], ir.F32Type.get())
        with ir.InsertionPoint(module.body):
            value = ttir.empty(tensor)
            for number in (1 << 31, 57761642020, -(1 << 31) - 1):
                with pytest.raises(ValueError, match=f"{number} does not fit into an attribute of 32 bits"):
                    ttir.reshape(value, [number], results=[tensor])
                with pytest.raises(ValueError, match=f"{number} does not fit"):
                    integers.i32_array([1, number], context)
            ttir.reshape(value, [4], results=[tensor])
        assert str(integers.i32_attribute(-(1 << 31), context)) == "-2147483648 : i32"
