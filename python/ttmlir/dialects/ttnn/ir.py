"""Attributes and types of the ttnn dialect."""

from ..._mlir_libs._ttmlir.ttnn_ir import *  # noqa: F403
