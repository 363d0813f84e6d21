# SPDX-License-Identifier: Apache-2.0
"""Enums of TTNN that say how ops run, made from the rows of the runtime.

Members have TTNN's names (ReduceType.Sum); the dialect's symbols in capitals are second names of them (ReduceType.SUM).
"""

from __future__ import annotations

import enum
from typing import Any

from _ttmlir_runtime import ttnn as _native

# By enum: the library's names of members that the dialect calls otherwise.
_NAMES = {
    "UnaryOpType": {
        "ISFINITE": "IS_FINITE", "ISINF": "IS_INF", "ISNAN": "IS_NAN", "ISNEGINF": "IS_NEG_INF",
        "ISPOSINF": "IS_POS_INF", "SOFTPLUS": "SOFT_PLUS",
    }
}  # fmt: skip
# By enum: the library's members in the order of their values, which count up from 0; `NAME=3` sets one. The dialect
# does not have all of them, and has others, whose values are their symbols.
_LIBRARY = {
    "Conv2dSliceType": "DRAM_HEIGHT DRAM_WIDTH L1_FULL",
    "MathFidelity": "LoFi HiFi2=2 HiFi3 HiFi4 Invalid=255",
    "MoEActivationFunction": "SILU SWIGLU GELU CLAMPED_SILU",
    "ReduceType": "Sum Mean Max Min Std Var Prod",
    "ShardDistributionStrategy": "ROUND_ROBIN_1D GRID_2D CONTIGUOUS_1D",
    "Topology": "Linear=1 Ring Mesh Torus",
    "UnaryOpType": """
        EXP RECIP GELU GELU_TANH RELU SQRT SIGMOID LOG LOG1P TANH LOG2 LOG10 SIN COS COSH SINH ABS ABS_INT32 SIGN
        SQUARE EQZ NEZ GTZ LTZ GEZ LEZ RELU_MAX RELU_MIN POWER POWER_ITERATIVE LEAKY_RELU ELU EXP2 HEAVISIDE EXPM1
        SIGNBIT ASIN ACOS ACOSH RSQRT RELU6 ATAN ASINH ATANH ERF ERFC ISINF ISPOSINF ISNEGINF ISNAN
        LOGICAL_NOT_UNARY ISFINITE ERFINV I0 I1 TAN RSUB RDIV SILU SOFTPLUS IDENTITY NEG ADD_UNARY_SFPU
        SUB_UNARY_SFPU MUL_UNARY_SFPU DIV_UNARY_SFPU UNARY_NE UNARY_EQ UNARY_GT UNARY_LT UNARY_GE UNARY_LE
        TILED_PROD TYPECAST BITCAST BITWISE_XOR BITWISE_NOT BITWISE_AND BITWISE_OR RIGHT_SHIFT FLOOR CEIL TRUNC FRAC
        ROUND LEFT_SHIFT REMAINDER FMOD DROPOUT FILL PRELU_SFPU ZERO_POINT ALT_COMPLEX_ROTATE90 MISH HARDMISH
        MAXIMUM MINIMUM TANHSHRINK THRESHOLD SOFTSHRINK HARDSHRINK HARDTANH HARDSIGMOID HARDSWISH WHERE_TSS MAC_TSS
        SOFTSIGN CELU CLAMP_TSS SELU RPOW CBRT LOGSIGMOID LOGIT XIELU LGAMMA DIGAMMA POLYGAMMA SOFTCAP
    """,
}


class _Enum(enum.Enum):
    """An enum of the dialect: a value is the library's number; `row` is (type, symbol, number) of the dialect.

    A member that the dialect does not have has no row.
    """

    row: tuple[str, str, int] | None

    def __new__(cls, value: Any, row: tuple[str, str, int] | None) -> _Enum:
        member = object.__new__(cls)
        member._value_, member.row = value, row
        return member

    def _attribute(self) -> tuple[str, str, int]:
        if self.row is None:
            raise ValueError(
                f"{type(self).__name__}.{self.name}: configs of ops do not have it; give it as one of `activations`"
                if type(self).__name__ == "UnaryOpType"
                else f"{type(self).__name__}.{self.name}: no op of the dialect has it"
            )
        return self.row

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


def numbered(names: str) -> dict[str, int]:
    """Returns members of an enum and their values, of text: they count up from 0; `NAME=3` sets one."""
    members: dict[str, int] = {}
    value = 0
    for each in names.split():
        member, _, own = each.partition("=")
        value = int(own or value)
        members[member] = value
        value += 1
    return members


def _made(row: tuple[str, str, list[tuple[str, str, int]]]) -> Any:
    kind, name, cases = row
    own = {public: (kind, symbol, number) for public, symbol, number in cases}
    library = numbered(_LIBRARY.get(name, ""))
    other = _NAMES.get(name, {})
    members: dict[str, tuple[Any, Any]] = {
        each: (value, own.get(other.get(each, each))) for each, value in library.items()
    }
    members |= {each: members[spelled] for spelled, each in other.items()}
    members |= {each: (case[1], case) for each, case in own.items() if each not in members}
    members |= {case[1].upper(): members[each] for each, case in own.items()}
    functional: Any = _Enum  # whose call makes a class, where that of an enum with members finds one
    result = functional(name, members, module=__name__)
    result.__doc__ = f"{kind.partition('.')[2].replace('_', ' ').capitalize()} of an op."
    return result


# By the dialect's name, those that the extension has classes of its own for left out.
ENUMS: dict[str, Any] = {row[0]: _made(row) for row in _native.enums() if not hasattr(_native, row[1])}
globals().update({result.__name__: result for result in ENUMS.values()})
