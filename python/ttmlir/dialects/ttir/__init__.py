# SPDX-License-Identifier: Apache-2.0
"""Ops and attributes of the ttir dialect."""

from .. import integers  # noqa: F401
from .._ttir_ops_gen import *  # noqa: F403
from .._ttir_ops_gen import _Dialect  # noqa: F401
from ..call_forms import take_results_first
from . import ir  # noqa: F401

take_results_first(globals())
