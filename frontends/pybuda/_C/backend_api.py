# SPDX-License-Identifier: Apache-2.0
"""Kinds of devices."""

from ..enums import BackendDevice, BackendType, DeviceMode

__all__ = ["BackendDevice", "BackendType", "DeviceMode", "detect_available_silicon_devices"]


def detect_available_silicon_devices() -> list[BackendDevice]:
    """Returns the architectures of the chips that there are: those of `pybuda.detect_available_devices`."""
    from ..ttdevice import detect_available_devices  # imports names of this package

    return detect_available_devices()
