# SPDX-License-Identifier: Apache-2.0
"""Attributes that ops of TTIR take and Python has no literal for."""

from __future__ import annotations

from collections.abc import Sequence

from ... import ir


def i32_array(values: Sequence[int]) -> ir.Attribute:
    return ir.DenseI32ArrayAttr.get([int(v) for v in values])
