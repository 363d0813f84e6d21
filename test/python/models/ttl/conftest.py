# SPDX-License-Identifier: Apache-2.0
"""A device, and tensors on it, for programs of TT-Lang."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import ttnn


@pytest.fixture(scope="session")
def device() -> Iterator[Any]:
    device = ttnn.open_device(device_id=0)
    yield device
    ttnn.close_device(device)


@pytest.fixture(scope="session")
def tiled(device: Any) -> Callable[..., ttnn.Tensor]:
    """Returns a function that puts values on the device as tiles."""

    def put(values: torch.Tensor, dtype: Any = ttnn.float32, **more: Any) -> ttnn.Tensor:
        return ttnn.from_torch(values, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device, **more)

    return put
