# SPDX-License-Identifier: Apache-2.0
"""Kinds of devices."""

from typing import Any, NoReturn

from ..enums import BackendDevice, BackendType, DeviceMode
from ..errors import PyBudaError

__all__ = ["BackendDevice", "BackendType", "DeviceMode", "detect_available_silicon_devices", "get_output"]


def detect_available_silicon_devices() -> list[BackendDevice]:
    """Returns the architectures of the chips that there are: those of `pybuda.detect_available_devices`."""
    from ..ttdevice import detect_available_devices  # imports names of this package

    return detect_available_devices()


def get_output(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises PyBudaError: queues of a device have no descriptors with addresses in Python.

    A program in C++ reads them from an image (docs/pybuda.md), one in Python from the queue that `run_inference` or
    `initialize_pipeline` returns.
    """
    raise PyBudaError(
        "pybuda._C.backend_api.get_output reads from a descriptor of DRAM, which Python does not have; "
        "use the queue that pybuda.run_inference or pybuda.initialize_pipeline returns"
    )
