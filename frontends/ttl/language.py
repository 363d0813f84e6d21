# SPDX-License-Identifier: Apache-2.0
"""Names of the language that only kernels use: the compiler knows them, and a call from Python is an error."""

from __future__ import annotations

from typing import Any

from .errors import DefinitionError


def copy(src: Any, dst: Any) -> Any:
    """Copies between a block, and a part of a tensor or a pipe; the result has `wait()`. Is for kernels."""
    raise DefinitionError("ttl.copy: is for kernels of data movement (@ttl.datamovement)")


def signpost(name: str) -> Any:
    """Names a part of a kernel, a zone in the timeline of its core: `with ttl.signpost("read a"):`. Is for kernels."""
    raise DefinitionError("ttl.signpost: is for kernels")


class GroupTransfer:
    """Collects transfers: `add(ttl.copy(...))`, then `wait_all()`. Is for kernels."""

    def __init__(self) -> None:
        raise DefinitionError("ttl.GroupTransfer: is for kernels of data movement (@ttl.datamovement)")
