# SPDX-License-Identifier: Apache-2.0
"""State of the process."""

from . import run
from .config import _clear_global_compiler_config


def pybuda_reset() -> None:
    """Nothing is left of what was done before: no device, no placed module, no option."""
    run.reset()
    _clear_global_compiler_config()
