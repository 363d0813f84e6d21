# SPDX-License-Identifier: Apache-2.0
"""State of the process, and numbers of the chip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from . import run
from .config import _clear_global_compiler_config
from .device import Device, devices
from .errors import PyBudaError
from .ttdevice import TTDevice
from .verify.config import _clear_global_verify_config

# Rows and columns of a tile, in elements.
TILE_DIM = 32


def pybuda_reset() -> None:
    """Resets everything: no device, no placed module and no option is left."""
    run.reset()
    _clear_global_compiler_config()
    _clear_global_verify_config()


def get_devices() -> list[Device]:
    """Returns the devices of the pipeline, in order."""
    return devices()


def get_tenstorrent_device() -> TTDevice | None:
    """Returns the first Tenstorrent device, if there is one."""
    return next((device for device in devices() if isinstance(device, TTDevice)), None)


def set_device_pipeline(devs: Sequence[Device]) -> None:
    """Sets which devices the pipeline has, and in which order.

    Raises:
        PyBudaError: something that is no device.
    """
    if bad := [device for device in devs if not isinstance(device, Device)]:
        raise PyBudaError(f"set_device_pipeline gets {type(bad[0]).__name__}; expected devices")
    run.shutdown()
    devices()[:] = devs


def is_silicon(devtype: Any) -> bool:
    """Returns False: all chips are simulated."""
    return False


def align_up_tile(size: int) -> int:
    """Returns a size rounded up to whole tiles."""
    return round_up_div(size, TILE_DIM) * TILE_DIM


def round_up_div(number: int, divisor: int) -> int:
    return -(-number // divisor)


def is_tile_dim_aligned(tensor: torch.Tensor) -> bool:
    """Returns whether the last two dimensions are whole tiles."""
    return all(size % TILE_DIM == 0 for size in tensor.shape[-2:])
