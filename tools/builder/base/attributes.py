"""MLIR attributes from Python values, by the kind that ODS names for them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

import numpy as np
import torch
from ttmlir import ir

from .builder_utils import element_type, tensor_type
from .errors import did_you_mean

# Enums: kind -> text of the attribute for a keyword.
ENUMS = {
    "TTCore_ReduceTypeAttr": "#ttcore.reduce_type<{}>",
    "TTCore_MeshShardTypeAttr": "#ttcore.shard_type<{}>",
    "TTCore_MeshShardDirectionAttr": "#ttcore.shard_direction<{}>",
    "TTCore_AttentionMaskTypeAttr": "#ttcore.attention_mask_type<{}>",
    "TTCore_MoEActivationFunctionAttr": "#ttcore.moe_activation_function<{}>",
    "TTCore_DataTypeAttr": "#ttcore.supportedDataTypes<{}>",
    "TT_DType": "#ttcore.supportedDataTypes<{}>",
    "TTCore_TopologyAttr": "#ttcore.topology<{}>",
    "TTCore_MemorySpaceAttr": "#ttcore.memory_space<{}>",
    "TTNN_BufferTypeAttr": "#ttnn.buffer_type<{}>",
    "TTNN_LayoutAttr": "#ttnn.layout<{}>",
    "TTNN_TensorMemoryLayoutAttr": "#ttnn.tensor_memory_layout<{}>",
    "StableHLO_ComparisonDirectionAttr": "#stablehlo<comparison_direction {}>",
    "StableHLO_ComparisonTypeAttr": "#stablehlo<comparison_type {}>",
    "StableHLO_FftTypeAttr": "#stablehlo<fft_type {}>",
    "StableHLO_RngDistributionAttr": "#stablehlo<rng_distribution {}>",
    "StableHLO_RngAlgorithmAttr": "#stablehlo<rng_algorithm {}>",
    "StableHLO_TransposeAttr": "#stablehlo<transpose {}>",
}

# Values of the ttcore enums that programs pass as numbers: position in this order, from 0.
NUMBERED = {
    "TTCore_ReduceTypeAttr": ("sum", "mean", "max", "min", "std", "var", "prod", "invalid"),
    "TTCore_MeshShardTypeAttr": ("identity", "replicate", "maximal", "devices"),
    "TTCore_MeshShardDirectionAttr": ("full_to_shard", "shard_to_full"),
    "TTCore_AttentionMaskTypeAttr": ("none", "causal", "arbitrary"),
}

DATA_TYPES = {
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int32: "si32",
    torch.int64: "si32",
    torch.uint32: "u32",
    torch.uint16: "u16",
    torch.uint8: "u8",
    torch.bool: "bool",
}

# Kinds that ODS composes of others, such as an integer or an array: integers in them are of this kind.
COMPOSED_INTEGERS = {
    "ttir": "I32Attr",
    "ttnn": "I32Attr",
    "stablehlo": "I64Attr",
    "sdy": "I64Attr",
    "debug": "I64Attr",
}
COMPOSED_EXCEPTIONS = {
    "ttir.upsample2d": "SI32Attr",
    "ttnn.upsample": "SI32Attr",
    "stablehlo.reduce_precision": "I32Attr",
    "stablehlo.get_tuple_element": "I32Attr",
}

Converter = Callable[[Any, ir.Context], ir.Attribute]


def keyword_of(kind: str, value: Any) -> str:
    """The keyword of an enum member, given as such, by keyword or number, or, for data types, as a torch dtype."""
    if isinstance(value, torch.dtype):
        if value not in DATA_TYPES:
            raise ValueError(f"{value} is no data type of the device{did_you_mean(str(value), map(str, DATA_TYPES))}")
        return DATA_TYPES[value]
    if isinstance(value, str):
        return value
    if isinstance(value, Enum):
        # Enums that mlir-tblgen generates print their keyword; ours have it as value.
        return value.value if isinstance(value.value, str) else str(value).lower()
    numbered = NUMBERED.get(kind, ())
    if isinstance(value, int) and 0 <= value < len(numbered):
        return numbered[value]
    raise ValueError(f"{value!r} is no value of {kind}; expected one of {', '.join(numbered) or 'its keywords'}")


def shape_text(value: Any) -> str:
    return "x".join(str(int(n)) for n in value)


def replica_groups(value: Any, context: ir.Context) -> ir.Attribute:
    """Groups of device ids as a 2D tensor of i64; short groups are filled up with -1."""
    rows = [list(row) for row in value] if len(value) else [[]]
    width = max(map(len, rows))
    return integers([row + [-1] * (width - len(row)) for row in rows], context)


def integers(value: Any, context: ir.Context) -> ir.Attribute:
    array = np.asarray(value, dtype=np.int64)
    i64 = ir.IntegerType.get_signless(64, context)
    return ir.DenseElementsAttr.get(np.ascontiguousarray(array), type=i64, shape=list(array.shape), context=context)


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
    """The attribute `name` of `op` for a Python value; an attribute stays as it is."""
    if isinstance(value, ir.Attribute):
        return value
    given = value
    try:
        if kind in ENUMS:
            return ir.Attribute.parse(ENUMS[kind].format(keyword_of(kind, value)), context)
        if kind in CONVERTERS:
            return CONVERTERS[kind](value, context)
        kind = named_kind(op, kind, value)
        if kind is None:
            if isinstance(value, str):  # a structured attribute, written as MLIR does
                return ir.Attribute.parse(value, context)
            raise TypeError("expected an MLIR attribute or its text")
        if isinstance(value, torch.Tensor):
            value = value.tolist()
        if "Array" in kind:
            value = list(value) if isinstance(value, (list, tuple, range, np.ndarray)) else [value]
        elif kind in ("F32Attr", "F64Attr"):
            value = float(value)
        elif kind == "BoolAttr":
            value = bool(value)
        return ir.AttrBuilder.get(kind)(value, context=context)
    except (TypeError, ValueError, ir.MLIRError, OverflowError) as error:
        reason = str(error).partition("incompatible function arguments")
        what = reason[0] if not reason[1] else misfit(kind, value)
        raise TypeError(f"{op}: {name} = {given!r} does not make a {kind}: {what}") from error


def misfit(kind: str | None, value: Any) -> str:
    """Why a value, or which of a list, is none of an attribute of integers."""
    width = re.search(r"[IS]I?(\d+)", kind or "")
    for i, element in enumerate(value if isinstance(value, list) else [value]):
        which = f"element {i} is {element!r}" if isinstance(value, list) else f"{element!r} is given"
        if width and not isinstance(element, (int, np.integer)):
            return f"{which}, expected an integer"
        if width and not -(1 << int(width[1]) - 1) <= element < 1 << int(width[1]) - isinstance(value, list):
            return f"{which}, which {width[1]} bits do not hold"
    return f"a {type(value).__name__} is not what it takes"


def named_kind(op: str, kind: str, value: Any) -> str | None:
    """A kind that Python can build, in place of one that ODS composed of several ("integer or array of them")."""
    if ir.AttrBuilder.contains(kind):
        return kind
    integer = COMPOSED_EXCEPTIONS.get(op) or COMPOSED_INTEGERS[op.partition(".")[0]]
    if isinstance(value, bool):
        return "BoolAttr"
    if isinstance(value, (int, np.integer)):
        return integer
    if isinstance(value, float):
        return "F32Attr"
    if isinstance(value, (list, tuple, torch.Size, np.ndarray)):
        return "DenseI64ArrayAttr" if integer == "I64Attr" else "DenseI32ArrayAttr"
    return None


# Constants with more elements than this are resources: neither hashed, copied nor printed by value.
INLINE_ELEMENTS = 64
_names = itertools.count()


def elements_attr(value: Any, context: ir.Context) -> ir.Attribute:
    """A dense attribute of a tensor's elements, without looking at each of them in Python."""
    tensor = torch.as_tensor(value).detach().cpu().contiguous()
    element = element_type(tensor.dtype, context)
    type_ = tensor_type(tensor.shape, element)
    if is_splat(tensor):
        return ir.DenseElementsAttr.get_splat(type_, scalar_attr(tensor.flatten()[0].item(), element))
    if tensor.dtype == torch.bool:  # single bits in the attribute: MLIR packs them
        return ir.DenseElementsAttr.get(tensor.numpy(), context=context)
    data = raw(tensor)
    if tensor.numel() <= INLINE_ELEMENTS:
        return ir.DenseElementsAttr.get(data, type=element, shape=list(tensor.shape), context=context)
    name = f"constant_{next(_names)}"
    return ir.DenseResourceElementsAttr.get_from_buffer(data, name, type_, alignment=16, context=context)


def is_splat(tensor: torch.Tensor) -> bool:
    """Whether all elements of a contiguous tensor are equal. The first few tell, nearly always."""
    flat = tensor.flatten()
    return bool(flat.numel()) and all(bool((part == flat[0]).all()) for part in (flat[:INLINE_ELEMENTS], flat))


def raw(tensor: torch.Tensor) -> np.ndarray:
    """The tensor's storage as an array of a type that numpy knows."""
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy()
    return tensor.numpy()


def scalar_attr(value: Any, element: ir.Type) -> ir.Attribute:
    if isinstance(value, bool) or not isinstance(value, float):
        return ir.IntegerAttr.get(element, int(value))
    return ir.FloatAttr.get(element, value, loc=ir.Location.unknown(element.context))
