# SPDX-License-Identifier: Apache-2.0
"""Enums of TTNN that say how ops run, made from the rows of the runtime.

Members have TTNN's names (ReduceType.Sum); the dialect's symbols in capitals are second names of them (ReduceType.SUM).
"""

from __future__ import annotations

import enum
from typing import Any

from _ttmlir_runtime import ttnn as _native


class _Enum(enum.Enum):
    """An enum of the dialect: values are (type, symbol, number)."""

    def _attribute(self) -> tuple[str, str, int]:
        return self.value

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


def _made(row: tuple[str, str, list[tuple[str, str, int]]]) -> Any:
    kind, name, cases = row
    members = {public: (kind, symbol, value) for public, symbol, value in cases}
    members |= {symbol.upper(): (kind, symbol, value) for public, symbol, value in cases}
    functional: Any = _Enum  # whose call makes a class, where that of an enum with members finds one
    result = functional(name, members, module=__name__)
    result.__doc__ = f"{kind.partition('.')[2].replace('_', ' ').capitalize()} of an op."
    return result


# By the dialect's name, those that the extension has classes of its own for left out.
ENUMS: dict[str, Any] = {row[0]: _made(row) for row in _native.enums() if not hasattr(_native, row[1])}
globals().update({result.__name__: result for result in ENUMS.values()})
