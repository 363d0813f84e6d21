# SPDX-License-Identifier: Apache-2.0
"""Descriptions of ops for programs that generate models: accepted operands, and shapes of operands for a result."""

from .datatypes import (
    OperatorDefinition,
    OperatorParam,
    OperatorParamNumber,
    OperatorRepository,
    ShapeCalculationContext,
    TensorShape,
)
from .pybuda_operators import pybuda_operator_repository
from .pytorch_operators import pytorch_operator_repository

__all__ = [
    "OperatorDefinition",
    "OperatorParam",
    "OperatorParamNumber",
    "OperatorRepository",
    "ShapeCalculationContext",
    "TensorShape",
    "pybuda_operator_repository",
    "pytorch_operator_repository",
]
