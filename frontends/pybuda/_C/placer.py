# SPDX-License-Identifier: Apache-2.0
"""Placement of queues."""

from ..enums import DRAMPlacementAlgorithm

__all__ = ["DRAMPlacementAlgorithm"]
