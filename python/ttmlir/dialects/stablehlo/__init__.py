# SPDX-License-Identifier: Apache-2.0
"""Ops and attributes of the stablehlo dialect."""

from ... import apart as _apart
from ..._mlir_libs._ttmlir import stablehlo_ir as _extension
from ..._mlir_libs._ttmlir.stablehlo_ir import *  # noqa: F403
from ...ir import Context as _Context
from ...ir import Module as _Module
from .._stablehlo_ops_gen import *  # noqa: F403
from .._stablehlo_ops_gen import _Dialect  # noqa: F401
from . import ir  # noqa: F401


def deserialize_portable_artifact(context: _Context, artifact: bytes, *, trusted: bool = False) -> _Module:
    """Returns the StableHLO module of a portable artifact of any version from the minimum to the current one.

    Args:
        context: of the module.
        artifact: as `jax.export` or `serialize_portable_artifact` made it.
        trusted: read by this process at once. Else another process reads it first, for which damaged bytes are only an
            error, and which takes about as long again.
    Raises:
        MLIRError: the bytes are no portable artifact, one of another version, or damaged.
    """
    if trusted or not _extension.is_portable_artifact(artifact):
        return _extension.deserialize_portable_artifact(context, artifact)
    return _apart.read(context, artifact, "the portable artifact")
