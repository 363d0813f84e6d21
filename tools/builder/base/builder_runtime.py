# SPDX-License-Identifier: Apache-2.0
"""What programs import to run flatbuffers beside goldens. The functions are in `builder.execution.flatbuffers`."""

from builder.execution import flatbuffers
from builder.execution.flatbuffers import *  # noqa: F403 - the names are those of __all__ there

__all__ = list(flatbuffers.__all__)
