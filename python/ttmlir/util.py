# SPDX-License-Identifier: Apache-2.0
"""IR utilities that MLIR's own bindings lack."""

from ._mlir_libs._ttmlir.util import *  # noqa: F403
