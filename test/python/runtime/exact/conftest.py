# SPDX-License-Identifier: Apache-2.0
"""A device with the chip's arithmetic."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import ttnn

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from exact_values import Chip  # noqa: E402


@pytest.fixture(scope="session")
def chip() -> Iterator[Chip]:
    # Also of calls that the library refuses, such as products with broadcast batches.
    device = ttnn.open_device(device_id=0, exact=True, strict=False)
    yield Chip(device)
    ttnn.close_device(device)
