# SPDX-License-Identifier: Apache-2.0
"""The run API: functions over the pipeline of the devices that were made."""

from .api import *  # noqa: F403
from .api import __all__ as __all__
