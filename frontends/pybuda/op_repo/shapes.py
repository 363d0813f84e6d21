# SPDX-License-Identifier: Apache-2.0
"""Shapes of operands for the shape of a result."""

from __future__ import annotations

from ..errors import PyBudaError
from .datatypes import ShapeCalculationContext, TensorShape

INNER_SIZES = (1, 512)  # of a product, at least and at most


def same_input_shapes(context: ShapeCalculationContext) -> list[TensorShape]:
    """Returns the shape of the result for each operand of an elementwise op."""
    return [tuple(context.output_shape)] * context.input_num


def matmul_inputs(context: ShapeCalculationContext) -> list[TensorShape]:
    """Returns the operands of a matrix product, with an inner dimension of a random size.

    Raises:
        PyBudaError: the result has no rows and columns.
    """
    shape = tuple(context.output_shape)
    if len(shape) < 2:
        raise PyBudaError(f"the result of {context.operator.name} has shape {shape}; expected two dimensions or more")
    inner = context.rng_shape.randint(*INNER_SIZES)
    return [(*shape[:-1], inner), (*shape[:-2], inner, shape[-1])]


def linear_inputs(context: ShapeCalculationContext) -> list[TensorShape]:
    """Returns the operand of a linear layer, with a random number of features."""
    shape = tuple(context.output_shape)
    if not shape:
        raise PyBudaError(f"the result of {context.operator.name} is a scalar; expected a dimension of features")
    return [(*shape[:-1], context.rng_shape.randint(*INNER_SIZES))]
