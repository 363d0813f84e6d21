# SPDX-License-Identifier: Apache-2.0
"""Attributes of the sdy dialect."""

from ..._mlir_libs._sdy import *  # noqa: F403
