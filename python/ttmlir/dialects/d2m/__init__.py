# SPDX-License-Identifier: Apache-2.0
"""Ops and enums of the d2m dialect."""

from .._d2m_enum_gen import *  # noqa: F403
from .._d2m_ops_gen import *  # noqa: F403
from .._d2m_ops_gen import _Dialect  # noqa: F401
from . import ir  # noqa: F401
