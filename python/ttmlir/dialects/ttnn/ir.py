# SPDX-License-Identifier: Apache-2.0
"""Attributes, types and enums of the ttnn dialect."""

from ..._mlir_libs._ttmlir.ttnn_ir import *  # noqa: F403
from .._ttnn_enum_gen import *  # noqa: F403
from ..call_forms import take_context_first

take_context_first(globals())
