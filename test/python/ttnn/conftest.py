# SPDX-License-Identifier: Apache-2.0
"""A device that stays open for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import ttnn


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.Device]:
    with ttnn.manage_device(0) as device:
        yield device
