# SPDX-License-Identifier: Apache-2.0
"""MLIR attributes from Python values, by the kind that ODS names for them."""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

import ml_dtypes
import numpy as np
from golden.optional import dtype_name, has_torch, torch
from golden.sampling import numpy_dtype
from ttmlir import ir

from builder.base.builder_utils import element_type, held_as, tensor_type
from builder.base.errors import did_you_mean

from .op_infos import cases_of, kind_of

# Enums that programs pass as numbers, too.
NUMBERED = {
    "TTCore_ReduceTypeAttr",
    "TTCore_MeshShardTypeAttr",
    "TTCore_MeshShardDirectionAttr",
}

DATA_TYPES = {
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "int32": "si32",
    "int64": "si32",
    "uint32": "u32",
    "uint16": "u16",
    "uint8": "u8",
    "bool": "bool",
}

Converter = Callable[[Any, ir.Context], ir.Attribute]


def keyword_of(kind: str, value: Any) -> str:
    """Returns the keyword of an enum member, given as such, by keyword or number, or, for data types, as a dtype."""
    dtype = dtype_name(value)
    if dtype is not None:
        if dtype not in DATA_TYPES:
            raise ValueError(f"{value} is no data type of the device{did_you_mean(dtype, DATA_TYPES)}")
        return DATA_TYPES[dtype]
    numbered = cases_of(kind_of(kind).types[0]) if kind in NUMBERED else {}
    if isinstance(value, Enum):
        # Enums that mlir-tblgen generates print their keyword; ours have it as value.
        value = value.value if isinstance(value.value, str) else str(value).lower()
    if isinstance(value, str) and (value in numbered or not numbered):
        return value
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value in numbered.values():
        return next(name for name, number in numbered.items() if number == value)
    raise ValueError(f"expected one of {', '.join(numbered) or 'its keywords'}")


INTEGER_KIND = re.compile(r"(?:Dense)?([US]?)I(\d+)(?:Array|Elements)?Attr")
FLOAT_MAX = {"F32Attr": float(np.finfo(np.float32).max), "F64Attr": float(np.finfo(np.float64).max)}


def integer_limits(sign: str, bits: int) -> tuple[int, int]:
    """Returns the least and largest integer of a type: sign is "u", "s" or "" (read as signed)."""
    return (0, (1 << bits) - 1) if sign.lower() == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)


def limits_of(kind: str | None) -> tuple[int, int] | None:
    """Returns the limits of the integers that a kind of attribute holds; None when it holds none."""
    found = INTEGER_KIND.fullmatch(kind or "")
    return integer_limits(found[1], int(found[2])) if found else None


def integer(value: Any, low: int, high: int, which: str = "") -> int:
    """
    Raises:
        TypeError: no integer (True and False are none); ValueError: not from low to high.
    """
    which = which and f"{which} is {value!r}, "
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise TypeError(f"{which or f'{value!r} is given, '}expected an integer")
    if isinstance(value, torch.Tensor) and value.dtype == torch.bool:
        raise TypeError(f"{which or f'{value!r} is given, '}expected an integer")
    number = operator.index(value)
    if not low <= number <= high:
        raise ValueError(f"{which}expected an integer from {low} to {high}")
    return number


def number_32(value: Any, kind: str) -> float:
    """Returns a float that an attribute holds: infinity and NaN are, a number beyond its largest is not."""
    number = float(value)
    if math.isfinite(number) and abs(number) > FLOAT_MAX[kind]:
        raise ValueError(f"expected a number from {-FLOAT_MAX[kind]:.6g} to {FLOAT_MAX[kind]:.6g}")
    return number


def truth(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return bool(integer(value, 0, 1))
    raise TypeError(f"{value!r} is given, expected True or False")


def integers_of(value: Any, kind: str) -> list[int]:
    """Returns the elements of an array attribute; a single number is an array of one."""
    low, high = limits_of(kind) or (0, 0)
    items = list(value) if isinstance(value, (list, tuple, range, np.ndarray)) else [value]
    return [integer(item, low, high, f"element {i}") for i, item in enumerate(items)]


def shape_text(value: Any) -> str:
    return "x".join(map(str, integers_of(value, "I64ArrayAttr")))


def replica_groups(value: Any, context: ir.Context) -> ir.Attribute:
    """Returns groups of device ids as a 2D tensor of i64; short groups are filled up with -1."""
    rows = [list(row) for row in value] if len(value) else [[]]
    width = max(map(len, rows))
    return integers([row + [-1] * (width - len(row)) for row in rows], context)


def integers(value: Any, context: ir.Context) -> ir.Attribute:
    if isinstance(value, torch.Tensor):
        value = value.cpu().numpy()
    # Lists element by element: numpy would convert other values to integers.
    array = value if isinstance(value, np.ndarray) and value.dtype == np.int64 else np.asarray(value, dtype=object)
    low, high = integer_limits("", 64)
    for place, element in np.ndenumerate(array) if array.dtype == object else ():
        integer(element, low, high, f"element {list(place)}")
    i64 = ir.IntegerType.get_signless(64, context)
    array = np.ascontiguousarray(array.astype(np.int64))
    return ir.DenseElementsAttr.get(array.data, type=i64, shape=list(array.shape), context=context)


# Kinds that MLIR's Python package has no builder for.
CONVERTERS: Mapping[str, Converter] = {
    "ElementsAttr": lambda value, context: elements_attr(value, context),
    "I64ElementsAttr": integers,
    "StableHLO_ReplicaGroupsAttr": replica_groups,
    "StableHLO_ReplicaGroups": replica_groups,
    "TTNN_ShapeAttr": lambda value, context: ir.Attribute.parse(f"#ttnn.shape<{shape_text(value)}>", context),
    "TTNN_MeshShapeAttr": lambda value, context: ir.Attribute.parse(f"#ttnn<mesh_shape {shape_text(value)}>", context),
    "Builtin_StringAttr": lambda value, context: ir.StringAttr.get(value, context),
}


def convert(op: str, name: str, kind: str, value: Any, context: ir.Context) -> ir.Attribute:
    """Returns the attribute `name` of `op` for a Python value; an attribute is unchanged."""
    if isinstance(value, ir.Attribute):
        return value
    given = value
    try:
        if kind_of(kind).shape == "enum":
            return ir.Attribute.parse(kind_of(kind).text.format(keyword_of(kind, value)), context)
        if kind in CONVERTERS:
            return CONVERTERS[kind](value, context)
        if isinstance(value, torch.Tensor):
            value = value.tolist()
        if kind == "TT_Number" and isinstance(value, (bool, np.bool_)):
            value = int(value)  # an element of a tensor of truth values
        known = named_kind(kind, value)
        if known is None:
            if isinstance(value, str):  # a structured attribute, written as MLIR does
                return ir.Attribute.parse(value, context)
            raise TypeError("expected an MLIR attribute or its text")
        kind = known
        limits = limits_of(kind)
        if limits is not None:
            value = integers_of(value, kind) if "Array" in kind else integer(value, *limits)
        elif "Array" in kind:
            value = list(value) if isinstance(value, (list, tuple, range, np.ndarray)) else [value]
        elif kind in FLOAT_MAX:
            value = number_32(value, kind)
        elif kind == "BoolAttr":
            value = truth(value)
        return ir.AttrBuilder.get(kind)(value, context=context)
    except (TypeError, ValueError, ir.MLIRError, OverflowError, RuntimeError) as error:
        reason = str(error).partition("incompatible function arguments")
        what = reason[0] if not reason[1] else f"a {type(value).__name__} is not what it takes"
        # What is of the right kind and not possible is a wrong value.
        wrong = ValueError if isinstance(error, (ValueError, OverflowError)) and limits_apply(kind) else TypeError
        raise wrong(f"{op}: {name} = {given!r} does not make a {kind}: {what}") from error


def limits_apply(kind: str | None) -> bool:
    """Returns whether a kind holds numbers, or keywords by number, so that one can be wrong."""
    return limits_of(kind) is not None or kind in (*FLOAT_MAX, "BoolAttr", *NUMBER_CONVERTERS, *NUMBERED)


def check_held(op: str, argument: str, number: Any, element: ir.Type) -> None:
    """Checks that a tensor with these elements can have a number among them.

    Raises:
        ValueError: it cannot; names the op, the argument, the number and the range.
    """
    if isinstance(number, (bool, np.bool_)) or not isinstance(number, (int, float, np.integer, np.floating)):
        return
    found = re.fullmatch(r"([us]?)i(\d+)", str(element))
    if found:
        low, high = (0, 1) if found[2] == "1" else integer_limits(found[1], int(found[2]))
        if number != number or number in (math.inf, -math.inf) or number != int(number) or not low <= number <= high:
            raise ValueError(f"{op}: {argument} = {number!r} is no {element}: expected an integer from {low} to {high}")
    elif str(element) in ("f16", "bf16", "f32", "f64"):
        largest = float(ml_dtypes.finfo(numpy_dtype(held_as(element))).max)
        size: Any = abs(number)
        if (isinstance(number, int) or math.isfinite(number)) and size > largest:
            raise ValueError(f"{op}: {argument} = {number!r} is no {element}: expected {-largest:.6g} to {largest:.6g}")


# Of CONVERTERS, those whose numbers can be too large.
NUMBER_CONVERTERS = ("I64ElementsAttr", "StableHLO_ReplicaGroupsAttr", "StableHLO_ReplicaGroups", "TTNN_ShapeAttr",
                     "TTNN_MeshShapeAttr", "ElementsAttr")  # fmt: skip


def named_kind(kind: str, value: Any) -> str | None:
    """Returns a kind that Python can build, in place of one that ODS composed of several ("integer or array of
    them")."""
    if ir.AttrBuilder.contains(kind):
        return kind
    choices = {kind_of(choice).shape: choice for choice in kind_of(kind).choices}
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        return choices.get("int")
    if isinstance(value, (float, np.floating)):
        return choices.get("float", choices.get("int"))
    if isinstance(value, (list, tuple, torch.Size, np.ndarray)):
        return choices.get("ints")
    return None


# Constants with more elements than this are resources: neither hashed, copied nor printed by value.
INLINE_ELEMENTS = 64
_names = itertools.count()


def elements_attr(value: Any, context: ir.Context) -> ir.Attribute:
    """Returns a dense attribute of a tensor's elements, without looking at each of them in Python."""
    array = host_array(value)
    element = element_type(array.dtype, context)
    type_ = tensor_type(array.shape, element)
    if is_splat(array):
        first = array.reshape(-1)[0]
        number = first.item() if array.dtype.kind in "biufc" else float(first)  # the latter are ml_dtypes'
        return ir.DenseElementsAttr.get_splat(type_, scalar_attr(number, element))
    if array.dtype.kind == "b":  # single bits in the attribute: MLIR packs them
        return ir.DenseElementsAttr.get(array.data, context=context)
    data = (
        array.view(np.int16) if array.dtype == ml_dtypes.bfloat16 else array
    )  # a buffer has no type of its own for it
    if array.size <= INLINE_ELEMENTS:
        return ir.DenseElementsAttr.get(data.data, type=element, shape=list(array.shape), context=context)
    name = f"constant_{next(_names)}"
    return ir.DenseResourceElementsAttr.get_from_buffer(data.data, name, type_, alignment=16, context=context)


def host_array(value: Any) -> np.ndarray:
    """Returns the elements of a tensor, an array, a number or nested lists of numbers, in row-major order."""
    if not isinstance(value, (np.ndarray, np.generic)) and has_torch():
        tensor = torch.as_tensor(value).detach().cpu().contiguous()
        if tensor.dtype == torch.bfloat16:
            return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
        return tensor.numpy()
    array = np.asarray(value)
    if not isinstance(value, (np.ndarray, np.generic)) and array.dtype == np.float64:
        array = array.astype(np.float32)  # Python's numbers, as torch takes them
    return np.ascontiguousarray(array).reshape(array.shape)


def is_splat(array: np.ndarray) -> bool:
    """Tells whether all elements of a contiguous array have the same bits. The first few tell, nearly always."""
    flat = array.reshape(-1)
    if flat.dtype.kind not in "biu" and flat.itemsize <= 8:
        flat = flat.view(f"u{flat.itemsize}")  # zeros of both signs are equal, and NaN is not
    return bool(flat.size) and all(bool((part == flat[0]).all()) for part in (flat[:INLINE_ELEMENTS], flat))


def scalar_attr(value: Any, element: ir.Type) -> ir.Attribute:
    if isinstance(value, bool) or not isinstance(value, float):
        # MLIR's Python takes int64, and keeps the bits of unsigned ones beyond.
        return ir.IntegerAttr.get(element, int(value) - (1 << 64) * (int(value) >= 1 << 63))
    return ir.FloatAttr.get(element, value, loc=ir.Location.unknown(element.context))
