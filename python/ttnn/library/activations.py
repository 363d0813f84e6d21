# SPDX-License-Identifier: Apache-2.0
"""Unary functions that other functions apply to their operands and results: `ttnn.add(a, b, activations=["relu"])`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from _ttmlir_runtime.runtime import Tensor

from ..configs import CONFIGS
from ..enums import ENUMS

_OPS = ENUMS["ttnn.unary_op_type"]
_WITH_PARAM = CONFIGS["ttnn.unary_with_param"]

# The parameters that take them: of the result, of the first operand, of the second.
ACTIVATIONS = ("activations", "input_tensor_a_activations", "input_tensor_b_activations")
# By UnaryOpType: the function of ttnn, where it is not the name in small letters. A star stands for the tensor, a
# number for a second operand; parameters follow the tensor.
_FUNCTIONS = {
    "ADD_UNARY_SFPU": "add",
    "CLAMP_TSS": "clamp",
    "DIV_UNARY_SFPU": "divide",
    "LEFT_SHIFT": "bitwise_left_shift",
    "LOGICAL_NOT_UNARY": "logical_not",
    "LOGSIGMOID": "log_sigmoid",
    "MAC_TSS": "mac",
    "MUL_UNARY_SFPU": "multiply",
    "POWER": "pow",
    "POWER_ITERATIVE": "pow",
    "PRELU_SFPU": "leaky_relu",
    "RECIP": "reciprocal",
    "RIGHT_SHIFT": "bitwise_right_shift",
    "SUB_UNARY_SFPU": "subtract",
    "UNARY_EQ": "eq",
    "UNARY_GE": "ge",
    "UNARY_GT": "gt",
    "UNARY_LE": "le",
    "UNARY_LT": "lt",
    "UNARY_NE": "ne",
    "WHERE_TSS": "where",
}
# Functions whose parameters are switches for the hardware, such as GELU's for a faster approximation.
_SWITCHED = {"erf", "erfc", "exp", "gelu", "rsqrt", "sigmoid"}


def check_activations(function: str, name: str, value: Any) -> None:
    """Raises TypeError for what is no list of activations, ValueError for one that has no function; names it."""
    if not isinstance(value, list | tuple):
        raise TypeError(
            f"ttnn.{function}: {name} is {value!r} of type {type(value).__name__}; expected a list of activations"
        )
    for each in value:
        _resolved(function, each)


def with_activations(function: str, tensor: Tensor, activations: Sequence[Any]) -> Tensor:
    """Returns the tensor after each of the activations: UnaryWithParam, UnaryOpType or the name of one."""
    for each in activations:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"ttnn.{function}: {tensor!r} has activations; expected a ttnn.Tensor")
        called, parameters = _resolved(function, each)
        tensor = called(tensor, *parameters)
    return tensor


def _resolved(function: str, activation: Any) -> tuple[Any, Sequence[float]]:
    package = vars(sys.modules["ttnn"])
    if isinstance(activation, str) and activation.upper() in _OPS.__members__:
        activation = _OPS[activation.upper()]
    if isinstance(activation, _OPS):
        activation = _WITH_PARAM(op_type=activation)
    if not isinstance(activation, _WITH_PARAM):
        raise TypeError(
            f"ttnn.{function}: activation {activation!r}; expected a UnaryWithParam, a UnaryOpType or its name"
        )
    name = activation.op_type.name
    if name == "GELU_TANH":
        return partial(package["gelu"], variant=package["GeluVariant"].Tanh), ()
    public = _FUNCTIONS.get(name, name.lower())
    called = package[public] if public in package["__all__"] else None
    if called is None:
        raise ValueError(f"ttnn.{function}: activation {name} has no function here")
    return called, () if public in _SWITCHED else tuple(getattr(activation, "params", None) or ())
