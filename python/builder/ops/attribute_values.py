# SPDX-License-Identifier: Apache-2.0
"""Attributes of an operation as Python values and tensors."""

from __future__ import annotations

from typing import Any

from golden.attributes import unpack_mlir_attr
from golden.optional import torch
from ttmlir import ir, util

from builder.base.builder_utils import is_tensor, torch_dtype

SEGMENTS = ("operandSegmentSizes", "resultSegmentSizes")


def tensor_of(attribute: Any) -> torch.Tensor:
    """Returns the elements of a dense attribute or resource; a splat stays one element in memory."""
    type_ = ir.RankedTensorType(attribute.type)
    dtype, shape = torch_dtype(type_.element_type), tuple(type_.shape)
    data, splat = util.elements_data(attribute)
    count = 1 if splat else int(torch.Size(shape).numel())
    flat = torch.frombuffer(bytearray(data), dtype=dtype, count=count) if count else torch.empty(0, dtype=dtype)
    return flat[0].expand(shape) if splat else flat.reshape(shape)


def attribute_values(op: Any) -> dict[str, Any]:
    """Returns inherent and other attributes of an op by name; elements are tensors."""
    values = {}
    for named in op.attributes:
        name, attribute = (named, op.attributes[named]) if isinstance(named, str) else (named.name, named.attr)
        if name in SEGMENTS:
            continue
        values[name] = tensor_of(attribute) if is_elements(attribute) else unpack_mlir_attr(attribute)
    return values


def is_elements(attribute: Any) -> bool:
    kind = type(attribute).__name__
    return kind in (
        "DenseElementsAttr",
        "DenseIntElementsAttr",
        "DenseFPElementsAttr",
        "DenseResourceElementsAttr",
    ) or (kind == "Attribute" and str(attribute).startswith("dense") and is_tensor(attribute.type))
