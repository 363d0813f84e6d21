# SPDX-License-Identifier: Apache-2.0
"""Each test begins without graphs of others: Dynamo gives up a function that it has compiled eight times."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def no_graphs_of_others() -> Iterator[None]:
    torch._dynamo.reset()
    yield
