# SPDX-License-Identifier: Apache-2.0
"""Attributes of the sdy dialect."""

from typing import TYPE_CHECKING

try:
    from ..._mlir_libs._sdy import *  # noqa: F403
except ModuleNotFoundError:  # a build without optional parts
    if not TYPE_CHECKING:  # which would take every name

        def __getattr__(name: str) -> object:
            if name.startswith("_"):
                raise AttributeError(name)
            raise ImportError(
                f"sdy.{name} needs Shardy, which this build is without; `make build` makes one with it "
                "(CMake: TTMLIR_BUILD_OPTIONAL)"
            )
