# SPDX-License-Identifier: Apache-2.0
"""Ops of the CHLO dialect."""

from .._chlo_ops_gen import *  # noqa: F403
from .._chlo_ops_gen import _Dialect  # noqa: F401
from . import ir  # noqa: F401
