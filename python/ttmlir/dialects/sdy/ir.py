"""Attributes of the sdy dialect."""

from ..._mlir_libs._sdy import *  # noqa: F403
