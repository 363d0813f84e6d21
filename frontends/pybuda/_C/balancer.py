# SPDX-License-Identifier: Apache-2.0
"""Overrides of ops."""

from ..options.overrides import OpOverride

__all__ = ["OpOverride"]
