# SPDX-License-Identifier: Apache-2.0
"""Types that programs name, element types of torch and MLIR, and where in the user's program a call is."""

from __future__ import annotations

import functools
import math
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any, List, Optional, Tuple, Union  # noqa: UP035 - programs take these names from here

import numpy as np
from golden.optional import dtype_name, torch
from ttmlir import passes
from ttmlir.ir import BlockArgument, Context, Location, Module, OpResult, RankedTensorType, Type, Value
from ttmlir.options import braced
from ttmlir.options import split as split_options

from .locations import plain_location as plain_location

Operand = Union[BlockArgument, OpResult]  # noqa: UP007 - this is how it is documented
Shape = Union[List[int], Tuple[int, ...]]  # noqa: UP006, UP007


class DeferredDevice:
    """Stands for a device that is opened when a program runs on it, and closed after. A subclass can choose the device.

    request: the test that asks for it, for subclasses.
    """

    def __init__(self, request: Any = None) -> None:
        self.request = request

    def prepare(self) -> None:
        """Runs before `open`. Simulated chips need nothing."""

    def open(self) -> Any:
        """Returns an open mesh device, or None for one with the mesh that the program requests."""
        return None

    def close(self, device: Any) -> None:
        """Closes what `open` of a subclass returned; a device of the run's own is closed by the run."""


@dataclass(frozen=True)
class TypeInfo:
    """An element type with the parameters of its quantisation."""

    dtype: torch.dtype
    scale: Optional[float] = None  # noqa: UP045
    zero_point: Optional[int] = None  # noqa: UP045


# Names of dtypes, of torch and numpy alike: the element type that a builder derives from one, and the dtype in which
# goldens of an element type are computed.
ELEMENT_TYPES: dict[str, str] = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "ui8",
    "uint16": "ui16",
    "uint32": "ui32",
    "uint64": "ui64",
    "bool": "i1",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
}
DTYPES: dict[str, str] = {element: name for name, element in ELEMENT_TYPES.items()} | {
    "si8": "int8",
    "si16": "int16",
    "si32": "int32",
    "si64": "int64",
    "index": "int64",
}


def element_type(dtype: torch.dtype | np.dtype[Any] | type[np.generic] | TypeInfo | Type, context: Context) -> Type:
    """Returns the MLIR element type of a torch or numpy dtype; an MLIR type is returned unchanged."""
    if isinstance(dtype, Type):
        return dtype
    quantised = dtype if isinstance(dtype, TypeInfo) and dtype.scale is not None else None
    dtype = dtype.dtype if isinstance(dtype, TypeInfo) else dtype
    name = dtype_name(dtype)
    if quantised is not None:
        storage = {"qint8": "i8", "qint32": "i32", "quint8": "u8"}.get(name or "") or ELEMENT_TYPES.get(name or "", "")
        if not re.fullmatch(r"(u|i|ui)(8|16|32)", storage):
            raise TypeError(f"{dtype!r} stores no quantised numbers; expected a dtype of integers of 8, 16 or 32 bits")
        scale, zero_point = quantised.scale, quantised.zero_point or 0
        if isinstance(scale, bool) or not isinstance(scale, Real) or not 0 < float(scale) < math.inf:
            raise ValueError(f"scale is {scale!r}; expected a number above 0")
        if isinstance(zero_point, bool) or not isinstance(zero_point, Integral):
            raise TypeError(f"zero_point is {zero_point!r}; expected an integer")
        return Type.parse(f"!quant.uniform<{storage}:f32, {float(scale):.17e}:{int(zero_point)}>", context)
    if name not in ELEMENT_TYPES:
        raise TypeError(f"{dtype!r} is no element type; expected a dtype of torch or numpy: {', '.join(ELEMENT_TYPES)}")
    # Not kept: a cache of types would keep their contexts, and all that is in these.
    return Type.parse(ELEMENT_TYPES[name], context)


def torch_dtype(element: Type | str) -> torch.dtype:
    """Returns the torch dtype in which goldens of values with this element type are held."""
    return getattr(torch, held_as(element))


def held_as(element: Type | str) -> str:
    """Returns the name of the dtype, of torch and numpy, in which values with this element type are held.

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
    if text not in DTYPES:
        raise TypeError(f"no torch dtype holds elements of type {text}")
    return DTYPES[text]


def tensor_type(shape: Sequence[int], element: Type, encoding: Any = None) -> RankedTensorType:
    return RankedTensorType.get(list(shape), element, encoding, loc=Location.unknown(element.context))


def retyped(type_: Type, element: Type | None = None, encoding: Any = None, shape: Sequence[int] | None = None) -> Type:
    """Returns a tensor type with another element type, encoding or shape."""
    tensor = RankedTensorType(type_)
    return tensor_type(
        tensor.shape if shape is None else shape,
        tensor.element_type if element is None else element,
        tensor.encoding if encoding is None else encoding,
    )


def is_tensor(type_: Type) -> bool:
    return (
        RankedTensorType.isinstance(type_)
        if hasattr(RankedTensorType, "isinstance")
        else isinstance(type_, RankedTensorType)
    )


def as_operand(value: Any) -> Value | None:
    """Returns `value` as an SSA value: itself, or the only result of an op; None when it is neither."""
    if isinstance(value, Value):
        return value
    results = getattr(value, "results", None)
    return results[0] if results is not None and len(results) == 1 else None


PACKAGE = str(Path(os.path.abspath(__file__)).parents[1]) + os.sep


@functools.lru_cache(maxsize=1024)
def _is_ours(filename: str) -> bool:
    return os.path.abspath(filename).startswith(PACKAGE)


def caller() -> tuple[str, int]:
    """Returns file and line of the innermost frame outside this package: the user's call."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return os.path.abspath(frame.f_code.co_filename), frame.f_lineno


def process_multi_return_result(result: Any) -> list[Any]:
    """Returns the results of a function as a list."""
    if result is None:
        return []
    return list(result) if isinstance(result, (list, tuple)) else [result]


def mesh_shape_of(mesh_dict: Any) -> tuple[int, int]:
    """Returns (rows, columns) of a mesh given by the sizes of its axes; one axis makes a single row."""
    sizes = list((mesh_dict or {}).values())
    if (
        any(isinstance(n, bool) or not isinstance(n, Integral) or not 1 <= int(n) < 1 << 31 for n in sizes)
        or len(sizes) > 2
    ):
        raise ValueError(f"mesh {dict(mesh_dict)}: expected one or two axes with positive sizes")
    rows, columns = [1] * (2 - len(sizes)) + [int(n) for n in sizes]
    return rows, columns


def create_custom_ttir_pipeline_fn(
    pipeline: str, verify: bool = True, print_ir: bool | str = False
) -> Callable[[Module, str], None]:
    """Returns a function for `custom_pipeline=` that tells a module its device and runs passes over it.

    Args:
        pipeline: the passes, by name and with their options, as between the parentheses of "builtin.module(...)".
        verify: check the module after each pass.
        print_ir: print the module after each pass that changed it, to stderr, or with a string into that folder.
    """

    def run(module: Module, options: str) -> None:
        given = dict(split_options(options))
        types = given.pop("argument-types", None)
        if types:
            passes.tt_populate_argument_types(module, types)
        if strange := given.keys() - {"mesh-shape", "system-desc-path"}:
            raise ValueError(
                f"the passes {pipeline!r} take no options of a pipeline; there is {', '.join(sorted(strange))}"
            )
        device = " ".join(f"{name}={braced(value)}" for name, value in given.items())
        passes.run_pass(module, "ttcore-register-device", device, print_ir, verify)
        passes.run_pass(module, pipeline, "", print_ir, verify)

    return run


def get_artifact_dir(
    output_root: str | os.PathLike[str], builder_type: str, test_base: str, make_dir: bool = True
) -> str:
    """Returns <output_root>/<builder_type>-builder-artifacts/<test_base>, made when it is not there."""
    path = Path(output_root) / f"{builder_type}-builder-artifacts" / get_sanitized_filename(test_base)
    if make_dir:
        path.mkdir(parents=True, exist_ok=True)
    return str(path)


def get_target_path(output_path: str, builder_dir: str, filename: str, target: str) -> str:
    """Returns <output_path>/<builder_dir>/<target>/<filename>; its folder is made when it is not there."""
    path = Path(output_path) / builder_dir / target
    path.mkdir(parents=True, exist_ok=True)
    return str(path / filename)


def get_sanitized_filename(name: str, replacement: str = "_") -> str:
    """Returns `name` with what file systems do not take replaced."""
    for parameter, value in (("name", name), ("replacement", replacement)):
        if not isinstance(value, str):
            raise TypeError(f"get_sanitized_filename: {parameter} is {value!r}; expected a string")
    return re.sub(r'[<>:"/\\|?*\x00-\x1f]', replacement, name).strip(" .") or replacement
