# SPDX-License-Identifier: Apache-2.0
"""Kinds of devices."""

from ..enums import BackendDevice, BackendType, DeviceMode

__all__ = ["BackendDevice", "BackendType", "DeviceMode"]
