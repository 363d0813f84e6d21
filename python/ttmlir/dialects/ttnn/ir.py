# SPDX-License-Identifier: Apache-2.0
"""Attributes and types of the ttnn dialect."""

from ..._mlir_libs._ttmlir.ttnn_ir import *  # noqa: F403
