# SPDX-License-Identifier: Apache-2.0
"""The import path for building, compiling, running, loading and splitting modules (`builder.api.modules`)."""

from builder.api import modules
from builder.api.modules import *  # noqa: F403 - the names are those of __all__ there

__all__ = list(modules.__all__)
