# SPDX-License-Identifier: Apache-2.0
"""Shardy's dialect of programs on several meshes, which is not read: programs can import it, and not use it."""

from typing import Any


def __getattr__(name: str) -> Any:
    raise AttributeError(f"ttmlir.dialects.mpmd has no {name!r}: programs on several meshes (mpmd) are not read")
