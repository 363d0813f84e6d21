# SPDX-License-Identifier: Apache-2.0
"""Ops and attributes of the sdy dialect."""

from typing import TYPE_CHECKING

from .._sdy_ops_gen import *  # noqa: F403
from .._sdy_ops_gen import _Dialect  # noqa: F401
from . import ir
from .ir import *  # noqa: F403

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:  # says what a build without the attributes is without
        return getattr(ir, name)
