# SPDX-License-Identifier: Apache-2.0
"""Attributes that ops of TTIR take and Python has no literal for."""

from __future__ import annotations

from collections.abc import Sequence

from ttmlir import ir
from ttmlir.dialects import integers


def i32_array(values: Sequence[int]) -> ir.Attribute:
    return integers.i32_array([int(v) for v in values])
