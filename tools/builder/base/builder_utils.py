"""Types that programs name, element types of torch and MLIR, and where in the user's program a call is."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any, List, Optional, Tuple, Union  # noqa: UP035 - programs take these names from here

import torch
from ttmlir.ir import BlockArgument, Context, Location, OpResult, RankedTensorType, Type, Value

from .locations import plain_location as plain_location

Operand = Union[BlockArgument, OpResult]  # noqa: UP007 - this is how it is documented
Shape = Union[List[int], Tuple[int, ...]]  # noqa: UP006, UP007


@dataclass(frozen=True)
class TypeInfo:
    """An element type with the parameters of its quantisation."""

    dtype: torch.dtype
    scale: Optional[float] = None  # noqa: UP045
    zero_point: Optional[int] = None  # noqa: UP045


# The element type a builder makes for a torch dtype, and the dtypes in which goldens of an element type are computed.
ELEMENT_TYPES: dict[torch.dtype, str] = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.uint8: "ui8",
    torch.uint16: "ui16",
    torch.uint32: "ui32",
    torch.uint64: "ui64",
    torch.bool: "i1",
    torch.complex64: "complex<f32>",
    torch.complex128: "complex<f64>",
}
TORCH_DTYPES: dict[str, torch.dtype] = {name: dtype for dtype, name in ELEMENT_TYPES.items()} | {
    "si8": torch.int8,
    "si16": torch.int16,
    "si32": torch.int32,
    "si64": torch.int64,
    "index": torch.int64,
}


def element_type(dtype: torch.dtype | TypeInfo | Type, context: Context) -> Type:
    """The MLIR element type of a torch dtype; an MLIR type is returned as it is."""
    if isinstance(dtype, Type):
        return dtype
    quantised = dtype if isinstance(dtype, TypeInfo) and dtype.scale is not None else None
    dtype = dtype.dtype if isinstance(dtype, TypeInfo) else dtype
    if quantised is not None:
        storage = {torch.qint8: "i8", torch.qint32: "i32", torch.quint8: "u8"}.get(dtype) or ELEMENT_TYPES.get(dtype)
        return Type.parse(f"!quant.uniform<{storage}:f32, {quantised.scale}:{quantised.zero_point or 0}>", context)
    if dtype not in ELEMENT_TYPES:
        raise TypeError(f"{dtype!r} is no element type; expected one of {', '.join(map(str, ELEMENT_TYPES))}")
    # Not kept: a cache of types would keep their contexts, and all that is in these.
    return Type.parse(ELEMENT_TYPES[dtype], context)


def torch_dtype(element: Type | str) -> torch.dtype:
    """The torch dtype in which goldens of values with this element type are held.

    A tile or quantised type is held as what it stores.
    """
    text = str(element)
    if text.startswith("!quant"):
        text = {"u": "ui"}.get(text[text.index("<") + 1], "") + re.findall(r"[iu](\d+)", text)[0]
        text = text if text.startswith("u") else f"i{text}"
    elif text.startswith("!ttcore.tile"):
        text = text.rpartition(",")[2].strip(" >")
        text = {"u32": "ui32", "u16": "ui16", "u8": "ui8", "si32": "i32"}.get(text, text)
        text = "bf16" if text.startswith("bfp") else text
    if text not in TORCH_DTYPES:
        raise TypeError(f"no torch dtype holds elements of type {text}")
    return TORCH_DTYPES[text]


def tensor_type(shape: Sequence[int], element: Type, encoding: Any = None) -> RankedTensorType:
    return RankedTensorType.get(list(shape), element, encoding, loc=Location.unknown(element.context))


def retyped(type_: Type, element: Type | None = None, encoding: Any = None, shape: Sequence[int] | None = None) -> Type:
    """A tensor type with another element type, encoding or shape."""
    tensor = RankedTensorType(type_)
    return tensor_type(
        tensor.shape if shape is None else shape,
        tensor.element_type if element is None else element,
        tensor.encoding if encoding is None else encoding,
    )


def is_tensor(type_: Type) -> bool:
    return RankedTensorType.isinstance(type_) if hasattr(RankedTensorType, "isinstance") else isinstance(
        type_, RankedTensorType
    )


def as_operand(value: Any) -> Value | None:
    """`value` as an SSA value: itself, or the only result of an op; None when it is neither."""
    if isinstance(value, Value):
        return value
    results = getattr(value, "results", None)
    return results[0] if results is not None and len(results) == 1 else None


PACKAGE = str(Path(__file__).resolve().parents[1]) + os.sep


@functools.lru_cache(maxsize=1024)
def _is_ours(filename: str) -> bool:
    return os.path.abspath(filename).startswith(PACKAGE)


def caller() -> tuple[str, int]:
    """File and line of the innermost frame outside this package: the user's call."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return os.path.abspath(frame.f_code.co_filename), frame.f_lineno


def process_multi_return_result(result: Any) -> list[Any]:
    """What a function returned, as a list."""
    if result is None:
        return []
    return list(result) if isinstance(result, (list, tuple)) else [result]


def mesh_shape_of(mesh_dict: Any) -> tuple[int, int]:
    """(rows, columns) of a mesh given by the sizes of its axes; one axis makes a single row."""
    sizes = list((mesh_dict or {}).values())
    if any(isinstance(n, bool) or not isinstance(n, Integral) or not 1 <= n < 1 << 31 for n in sizes) or len(sizes) > 2:
        raise ValueError(f"mesh {dict(mesh_dict)}: expected one or two axes with positive sizes")
    rows, columns = [1] * (2 - len(sizes)) + [int(n) for n in sizes]
    return rows, columns


def get_artifact_dir(output_root: str, builder_type: str, test_base: str, make_dir: bool = True) -> str:
    """<output_root>/<builder_type>-builder-artifacts/<test_base>, made when it is not there."""
    path = Path(output_root) / f"{builder_type}-builder-artifacts" / get_sanitized_filename(test_base)
    if make_dir:
        path.mkdir(parents=True, exist_ok=True)
    return str(path)


def get_target_path(output_path: str, builder_dir: str, filename: str, target: str) -> str:
    """<output_path>/<builder_dir>/<target>/<filename>; its folder is made when it is not there."""
    path = Path(output_path) / builder_dir / target
    path.mkdir(parents=True, exist_ok=True)
    return str(path / filename)


def get_sanitized_filename(name: str, replacement: str = "_") -> str:
    """`name` with what file systems do not take replaced."""
    for parameter, value in (("name", name), ("replacement", replacement)):
        if not isinstance(value, str):
            raise TypeError(f"get_sanitized_filename: {parameter} is {value!r}; expected a string")
    return re.sub(r'[<>:"/\\|?*\x00-\x1f]', replacement, name).strip(" .") or replacement
