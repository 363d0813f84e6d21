# SPDX-License-Identifier: Apache-2.0
"""The ops of `pybuda.op`, from their signatures and tables."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator

from ..op.math import BINARY, UNARY
from ..tensor import OPS
from .datatypes import (
    OperatorDefinition,
    OperatorParamNumber,
    OperatorRepository,
    ShapeCalculationContext,
    TensorShape,
)
from .shapes import matmul_inputs, same_input_shapes

# Ops of one operand that keep its shape, in addition to those of the table.
KEEP_SHAPE = frozenset({"Clip", "Gelu", "Identity", "LeakyRelu", "LogSoftmax", "Pow", "Relu", "Softmax"})
NUMBERS = {"int": int, "float": float}
# Limits of numbers, where results would not be finite.
LIMITS = {("Pow", "exponent"): (0, 100)}


def definitions() -> Iterator[OperatorDefinition]:
    """Returns the ops whose operands are a fixed number of tensors, and whose other required parameters are numbers."""
    for kind, function in sorted(OPS.items()):
        parameters = [*inspect.signature(function).parameters.values()][1:]  # behind the name
        kinds = {x.name: str(x.annotation) for x in parameters}
        if any(x.kind is inspect.Parameter.VAR_POSITIONAL for x in parameters):
            continue
        operands = [x.name for x in parameters if kinds[x.name].startswith("torch.Tensor")]
        required = [x for x in parameters if x.name not in operands and x.default is inspect.Parameter.empty]
        if not operands or any(kinds[x.name].split(" |")[0] not in NUMBERS for x in required):
            continue
        yield OperatorDefinition(
            _snake(kind),
            f"pybuda.op.{kind}",
            sum("None" not in kinds[name] for name in operands),
            forward_params=[
                OperatorParamNumber(x.name, NUMBERS[kinds[x.name].split(" |")[0]], *LIMITS.get((kind, x.name), ()))
                for x in required
            ],
            operands=operands,
            calc_input_shapes=_shapes(kind),
        )


def _shapes(kind: str) -> Callable[[ShapeCalculationContext], list[TensorShape]] | None:
    if kind == "Matmul":
        return matmul_inputs
    return same_input_shapes if kind in KEEP_SHAPE or kind in UNARY or kind in BINARY else None


def _snake(kind: str) -> str:
    """Returns the name of an op in small letters: "LeakyRelu" is "leaky_relu"."""
    text = ""
    for index, letter in enumerate(kind):
        starts = letter.isupper() and index > 0 and (kind[index - 1].islower() or kind[index + 1 : index + 2].islower())
        text += ("_" if starts else "") + letter.lower()
    return text


pybuda_operator_repository = OperatorRepository(definitions())
