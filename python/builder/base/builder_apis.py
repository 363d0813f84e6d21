# SPDX-License-Identifier: Apache-2.0
"""What programs import to build, compile, run, load and split modules. The functions are in `builder.api.modules`."""

from builder.api import modules
from builder.api.modules import *  # noqa: F403 - the names are those of __all__ there

__all__ = list(modules.__all__)
