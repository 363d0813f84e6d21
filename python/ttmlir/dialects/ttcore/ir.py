# SPDX-License-Identifier: Apache-2.0
"""Attributes, types and enums of the ttcore dialect."""

from ..._mlir_libs._ttmlir.ttcore_ir import *  # noqa: F403
from .._ttcore_enum_gen import *  # noqa: F403
from .._ttcore_enum_gen import AttentionMaskType
from ..call_forms import take_context_first

# As the ecosystem spells it.
AttentionMaskType.NoMask = AttentionMaskType.None_  # type: ignore[attr-defined]
take_context_first(globals())
