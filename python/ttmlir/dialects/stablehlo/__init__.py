# SPDX-License-Identifier: Apache-2.0
"""Ops and attributes of the stablehlo dialect."""

from ..._mlir_libs._ttmlir.stablehlo_ir import *  # noqa: F403
from .._stablehlo_ops_gen import *  # noqa: F403
from .._stablehlo_ops_gen import _Dialect  # noqa: F401
from . import ir  # noqa: F401
