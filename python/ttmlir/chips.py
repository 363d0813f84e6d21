# SPDX-License-Identifier: Apache-2.0
"""Common code of front ends that compile and run in this process: the chip, and the pipeline with its warnings."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from _ttmlir_runtime import runtime

from .options import Given
from .passes import ttir_to_ttnn_backend_pipeline

# Called with each module before its passes run; what they return is called behind them.
watchers: list[Callable[[Any], Callable[[], None]]] = []
_device: Any = None
_said_64_bit = False


def default_device() -> Any:
    """Returns the simulated chip that programs run on when no device is given: one, opened when it is first needed."""
    global _device
    if _device is None or not _device.is_open:
        _device = runtime.open_mesh_device(runtime.MeshDeviceOptions())
    return _device


def lower(module: Any, options: Given, is_said: bool = False) -> None:
    """Runs the pipeline. That 64-bit integers are 32 bits wide is said once: most models have some.

    is_said: the front end's documentation says it, and inputs are checked.
    """
    global _said_64_bit
    ended = [watch(module) for watch in watchers]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        ttir_to_ttnn_backend_pipeline(module, options)
    for end in ended:
        end()
    for warning in found:
        if "64-bit integers" not in str(warning.message):
            warnings.warn(warning.message, stacklevel=2)
        elif not _said_64_bit and not is_said:
            _said_64_bit = True
            warnings.warn(
                "64-bit integers are held in 32 bits on the chip: inputs that do not fit are refused, and results of "
                "arithmetic wrap around (this is said once)",
                stacklevel=2,
            )
