# SPDX-License-Identifier: Apache-2.0
"""Ops, enums and attributes of the ttnn dialect."""

from .. import integers  # noqa: F401
from .._ttnn_enum_gen import *  # noqa: F403
from .._ttnn_ops_gen import *  # noqa: F403
from .._ttnn_ops_gen import _Dialect  # noqa: F401
from ..call_forms import take_results_first
from . import ir  # noqa: F401

take_results_first(globals())
