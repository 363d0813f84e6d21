# SPDX-License-Identifier: Apache-2.0
"""Integers of attributes: those that the attribute's type cannot hold are errors. MLIR's own functions cut them off."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir import ArrayAttr, Attribute, Context, DenseI32ArrayAttr, IntegerAttr, IntegerType, register_attribute_builder

LEAST, MOST = -(1 << 31), (1 << 31) - 1


def held(value: int) -> int:
    """Returns a number that an attribute of 32 bits holds.

    Raises:
        ValueError: it is too large or too small.
    """
    if not LEAST <= value <= MOST:
        raise ValueError(f"{value} does not fit into an attribute of 32 bits; expected {LEAST} to {MOST}")
    return value


@register_attribute_builder("I32Attr", replace=True)
def i32_attribute(value: int, context: Context | None = None) -> Attribute:
    return IntegerAttr.get(IntegerType.get_signless(32, context=context), held(value))


@register_attribute_builder("I32ArrayAttr", replace=True)
def i32_attributes(values: Sequence[int], context: Context | None = None) -> Attribute:
    return ArrayAttr.get([i32_attribute(value, context) for value in values], context=context)


@register_attribute_builder("DenseI32ArrayAttr", replace=True)
def i32_array(values: Sequence[int], context: Context | None = None) -> Attribute:
    return DenseI32ArrayAttr.get([held(value) for value in values], context=context)
