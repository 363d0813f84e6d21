# SPDX-License-Identifier: Apache-2.0
"""Enums of TTNN that say how ops run, made from the rows of the runtime.

Members have TTNN's names (ReduceType.Sum); the dialect's symbols in capitals are second names of them (ReduceType.SUM).
"""

from __future__ import annotations

import enum
from typing import Any

from _ttmlir_runtime import ttnn as _native

# By enum: the library's names of members that the dialect calls otherwise, and members that only the library has.
_NAMES = {
    "UnaryOpType": {
        "ISFINITE": "IS_FINITE", "ISINF": "IS_INF", "ISNAN": "IS_NAN", "ISNEGINF": "IS_NEG_INF",
        "ISPOSINF": "IS_POS_INF", "SOFTPLUS": "SOFT_PLUS",
    }
}  # fmt: skip
_ONLY_LIBRARY = {
    "UnaryOpType": """
        ACOSH ALT_COMPLEX_ROTATE90 ASINH ATANH BITCAST CBRT CELU CLAMP_TSS COSH DIGAMMA FRAC GELU_TANH HARDMISH
        HARDSHRINK HARDSWISH HARDTANH LGAMMA LOG1P LOGIT LOGSIGMOID MAC_TSS MAXIMUM MINIMUM MISH POLYGAMMA
        POWER_ITERATIVE RPOW SELU SINH SOFTCAP SOFTSHRINK SOFTSIGN TANHSHRINK THRESHOLD TRUNC UNARY_EQ UNARY_GE
        UNARY_LE WHERE_TSS XIELU
    """
}


class _Enum(enum.Enum):
    """An enum of the dialect: values are (type, symbol, number), with a negative number where no op has the case."""

    def _attribute(self) -> tuple[str, str, int]:
        if self.value[2] < 0:
            raise ValueError(
                f"{type(self).__name__}.{self.name}: configs of ops do not have it; give it as one of `activations`"
            )
        return self.value

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


def _made(row: tuple[str, str, list[tuple[str, str, int]]]) -> Any:
    kind, name, cases = row
    members = {public: (kind, symbol, value) for public, symbol, value in cases}
    members |= {symbol.upper(): (kind, symbol, value) for public, symbol, value in cases}
    members |= {other: members[own] for other, own in _NAMES.get(name, {}).items()}
    only = enumerate(_ONLY_LIBRARY.get(name, "").split())
    members |= {each: (kind, each.lower(), -1 - number) for number, each in only}
    functional: Any = _Enum  # whose call makes a class, where that of an enum with members finds one
    result = functional(name, members, module=__name__)
    result.__doc__ = f"{kind.partition('.')[2].replace('_', ' ').capitalize()} of an op."
    return result


# By the dialect's name, those that the extension has classes of its own for left out.
ENUMS: dict[str, Any] = {row[0]: _made(row) for row in _native.enums() if not hasattr(_native, row[1])}
globals().update({result.__name__: result for result in ENUMS.values()})
