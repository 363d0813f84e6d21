# SPDX-License-Identifier: Apache-2.0
"""State of the process."""

from . import run
from .config import _clear_global_compiler_config


def pybuda_reset() -> None:
    """Resets everything: no device, no placed module and no option is left."""
    run.reset()
    _clear_global_compiler_config()
