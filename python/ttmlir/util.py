"""Questions about IR that MLIR's own bindings leave open."""

from ._mlir_libs._ttmlir.util import *  # noqa: F403
