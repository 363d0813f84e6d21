# SPDX-License-Identifier: Apache-2.0
"""Attributes and types of the ttcore dialect."""

from ..._mlir_libs._ttmlir.ttcore_ir import *  # noqa: F403
