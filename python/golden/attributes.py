# SPDX-License-Identifier: Apache-2.0
"""MLIR attributes as Python values, distinguished by their class names so that MLIR need not be installed."""

from __future__ import annotations

import re
from typing import Any

from .optional import torch

SCALARS = ("BoolAttr", "IntegerAttr", "FloatAttr", "StringAttr", "FlatSymbolRefAttr")
SEQUENCES = tuple(f"Dense{kind}ArrayAttr" for kind in ("Bool", "I8", "I16", "I32", "I64", "F32", "F64"))
FLOAT_VIEWS = {"bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64"}


def unpack_mlir_attr(attr: Any) -> Any:
    """Returns a Python value for `attr`: numbers, strings, lists, tensors for dense elements, keywords for enums.

    A structured attribute of a dialect stays what it is (its text is what goldens read). What is not an attribute is
    returned as it is.
    """
    kind = type(attr).__name__
    if kind in SCALARS:
        return attr.value
    if kind in SEQUENCES:
        return list(attr)
    if kind == "ArrayAttr":
        return [unpack_mlir_attr(item) for item in attr]
    if kind == "DictAttr":
        return {named.name: unpack_mlir_attr(named.attr) for named in attr}
    if kind == "UnitAttr":
        return True
    if kind in ("DenseIntElementsAttr", "DenseFPElementsAttr", "DenseElementsAttr"):
        return elements(attr)
    if not kind.endswith("Attr") and kind != "Attribute":
        return attr
    return keyword_or_self(attr)


def keyword_or_self(attr: Any) -> Any:
    """Returns the value of an attribute: #ttcore.reduce_type<sum> ->"sum", #ttnn.shape<2x3> -> [2, 3], "text" and 1 :
    i32 -> themselves."""
    text = str(attr)
    if found := re.fullmatch(r"#[\w.]*shape<([\dx]*)>", text):
        return [int(n) for n in found[1].split("x") if n]
    if found := re.fullmatch(r"#[\w.]+<\s*(?:[\w.]+\s+)?(\w+)\s*>", text):
        return found[1]
    return attr


def elements(attr: Any) -> Any:
    """Returns a tensor of the elements; a splat of many is expanded without copying it element by element."""
    shape, element = tuple(attr.type.shape), str(attr.type.element_type)
    if attr.is_splat:
        value = attr.get_splat_value().value
        dtype = getattr(torch, FLOAT_VIEWS.get(element) or ("bool" if element == "i1" else "int64"))
        return torch.full((), value, dtype=dtype).expand(shape)
    if element in ("bf16", "f16"):  # the buffer protocol has no such types; single values do
        return torch.tensor([float(value) for value in attr], dtype=getattr(torch, FLOAT_VIEWS[element])).reshape(shape)
    import numpy

    return torch.from_numpy(numpy.array(attr).copy()).reshape(shape)
