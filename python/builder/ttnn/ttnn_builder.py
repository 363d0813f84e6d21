# SPDX-License-Identifier: Apache-2.0
"""Builder of TTNN modules: TTIR's mechanism, with a layout in every tensor type."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from golden.optional import torch
from ttmlir import ir

from builder.base.builder import Builder
from builder.base.builder_utils import (
    Operand,
    Shape,
    TypeInfo,
    as_operand,
    element_type,
    held_as,
    is_tensor,
    retyped,
    tensor_type,
)
from builder.ops.attributes import DATA_TYPES, keyword_of
from builder.ops.methods import OpInfo, takes_common
from builder.ops.structure import infos

TILE = 32

# What the layout attribute calls the device's data types, by the element type of the tensor.
TILE_TYPES = {
    "i32": "si32",
    "i64": "si32",
    "si64": "si32",
    "ui32": "u32",
    "ui16": "u16",
    "ui8": "u8",
    "i1": "bf16",
    "f64": "f32",
}


class TTNNBuilder(Builder):
    dialects = ("ttnn", "debug")
    has_layouts = True

    def create_tensor_encoding(
        self,
        shape: Sequence[int],
        element_type: Any,
        layout: Any = "tile",
        buffer_type: Any = "dram",
        tensor_memory_layout: Any = "interleaved",
        grid_shape: Sequence[int] | None = None,
        core_range_set: Any = None,
    ) -> ir.Attribute:
        """Returns the layout attribute of a tensor.

        Args:
            layout: "tile" or "row_major"; buffer_type: "dram", "l1" or "system_memory"; tensor_memory_layout:
                "interleaved", "height_sharded", "width_sharded" or "block_sharded". Attributes and enums work, too.
            grid_shape: cores [rows, columns] that a sharded tensor lies on.
            core_range_set: their places, as MLIR text.
        """
        layout, buffer_type = keyword("layout", layout), keyword("buffer_type", buffer_type)
        memory_layout = (
            keyword("tensor_memory_layout", tensor_memory_layout) if buffer_type != "system_memory" else None
        )
        rows, columns = collapsed(shape, tiled=layout == "tile")
        grid = [operator.index(n) for n in grid_shape or (1, 1)]
        element = str(element_type_of(element_type, self.context))
        size = [rows, columns]
        if layout == "tile":
            size = [-(-n // TILE) for n in size]
            element = f"!ttcore.tile<{TILE}x{TILE}, {TILE_TYPES.get(element, element)}>"
        if memory_layout not in (None, "interleaved"):
            size = [-(-n // g) for n, g in zip(size, grid, strict=True)]
        text = (
            f"#ttnn.ttnn_layout<{collapse_map(shape, layout == 'tile')}, <{'x'.join(map(str, grid))}>, "
            f"memref<{'x'.join(map(str, size))}x{element}, #ttnn.buffer_type<{buffer_type}>>"
        )
        text += f", <{memory_layout}>" if memory_layout else ""
        text += f", core_ranges = {core_range_set}" if core_range_set is not None else ""
        return ir.Attribute.parse(text + ">", self.context)

    def create_ttnn_tensor(self, shape: Shape, element_type: torch.dtype | TypeInfo, **layout: Any) -> ir.Type:
        """Returns a tensor type with a layout; the keywords are those of `create_tensor_encoding`."""
        encoding = self.create_tensor_encoding(shape, element_type, **layout)
        return tensor_type(shape, element_type_of(element_type, self.context), encoding)

    def complete_attributes(
        self, info: OpInfo, operands: Any, attributes: dict[str, ir.Attribute], elements: Any
    ) -> None:
        """Sets the `dtype` of ops that say the data type of their result."""
        if info.attribute("dtype") is None or "dtype" in attributes:
            return
        requested = elements.get(0)
        if requested is None:
            first = next((v.type for v in flat(operands) if is_tensor(v.type)), None)
            requested = ir.RankedTensorType(first).element_type if first is not None else np.float32
        elif isinstance(requested, ir.Type) and is_tensor(requested):
            requested = ir.RankedTensorType(requested).element_type
        dtype = held_as(element_type_of(requested, self.context))
        if dtype in DATA_TYPES:
            attributes["dtype"] = ir.Attribute.parse(f"#ttcore.supportedDataTypes<{DATA_TYPES[dtype]}>", self.context)

    def complete_type(self, info: OpInfo, type_: ir.Type, encoding: Mapping[str, Any]) -> ir.Type | None:
        """Returns results lie in tiles in DRAM unless the call says otherwise."""
        tensor = ir.RankedTensorType(type_)
        if encoding or tensor.encoding is None or not matches(tensor):
            layout = self.create_tensor_encoding(tensor.shape, tensor.element_type, **encoding)
            return retyped(type_, encoding=layout)
        return None

    def _retype(self, value: ir.Value, requested: Any) -> None:
        """Replaces the element type. Another element type means another layout: `complete_type` creates it."""
        if isinstance(requested, ir.Type) and is_tensor(requested):
            value.set_type(requested)
        else:
            value.set_type(tensor_type(ir.RankedTensorType(value.type).shape, element_type_of(requested, self.context)))

    def _over_mesh(self, op: str, input: Operand, device: Operand, shard_dims: Sequence[int], config: str, whole: bool,
                   common: dict[str, Any]) -> Any:  # fmt: skip
        shape = list(self.get_shape(input))
        for axis, dim in enumerate(shard_dims):
            if dim >= 0:
                count = self.mesh_shape[axis]
                shape[dim] = shape[dim] * count if whole else shape[dim] // count
        name, attribute = config.partition(" ")[::2]
        attributes = {name: ir.Attribute.parse(attribute, self.context)}
        return self.create_op(infos("ttnn")[f"ttnn.{op}"], [input, device], attributes, {0: shape}, common=common)

    @takes_common
    def distribute_tensor(self, input: Operand, device: Operand, shard_dims: Sequence[int], **common: Any) -> Any:
        """Splits a host tensor over the mesh: dimension shard_dims[i] over mesh axis i, -1 for a copy on each."""
        self._local_shape(self.get_shape(input), shard_dims)
        places = ", ".join("<replicate>" if dim < 0 else f"<shard, {dim} : i64>" for dim in shard_dims)
        config = f"mapper_config #ttnn.mesh_mapper_config<placements = [{places}]>"
        return self._over_mesh("distribute_tensor", input, device, shard_dims, config, False, common)

    @takes_common
    def aggregate_tensor(self, input: Operand, device: Operand, shard_dims: Sequence[int], **common: Any) -> Any:
        """Joins the parts of all devices; the inverse of `distribute_tensor`."""
        dims = ", ".join(f"{dim} : i32" for dim in shard_dims)
        config = f"composer_config #ttnn.mesh_composer_config<dims = [{dims}]>"
        return self._over_mesh("aggregate_tensor", input, device, shard_dims, config, True, common)

    def device_operand(self) -> ir.Value:
        """Returns the device, requested once in each function."""
        function = self._functions[-1]
        if function.device is None:
            rows, columns = self.mesh_shape
            shape = ir.Attribute.parse(f"#ttnn<mesh_shape {rows}x{columns}>", self.context)
            function.device = as_operand(self.get_device(mesh_shape=shape))
        assert function.device is not None
        return function.device


def element_type_of(requested: Any, context: ir.Context) -> ir.Type:
    return element_type(requested, context)


def keyword(enum: str, value: Any) -> str:
    """Returns tile, #ttnn.layout<tile> and an enum's member all mean "tile"."""
    text = str(value) if isinstance(value, ir.Attribute) else keyword_of(f"ttnn.{enum}", value)
    return text.rpartition("<")[2].rstrip(">") if "<" in text else text.rpartition(".")[2].lower()


def flat(operands: Any) -> list[ir.Value]:
    return [v for o in operands for v in (flat(o) if isinstance(o, list) else [o]) if v is not None]


def aligned(shape: Sequence[int], tiled: bool) -> list[int]:
    """Returns sizes as they count in addresses: the rows of tiles are whole."""
    sizes = [int(n) for n in shape]
    if tiled and len(sizes) >= 2:
        sizes[-2] = -(-sizes[-2] // TILE) * TILE
    return sizes


def collapsed(shape: Sequence[int], tiled: bool) -> tuple[int, int]:
    """Returns rows and columns of the 2D array that holds a tensor: all dimensions but the last are rows."""
    sizes = aligned(shape, tiled)
    if len(sizes) < 2:
        return 1, sizes[0] if sizes else 1
    return math.prod(sizes[:-1]), sizes[-1]


def collapse_map(shape: Sequence[int], tiled: bool) -> str:
    """Returns (d0, d1, d2) -> (d0 * 64 + d1, d2)"""
    sizes = aligned(shape, tiled)
    names = [f"d{i}" for i in range(len(sizes))]
    if len(sizes) < 2:
        return f"({', '.join(names)}) -> (0, {names[0] if names else 0})"
    terms = []
    for i in range(len(sizes) - 1):
        stride = math.prod(sizes[i + 1 : -1])
        terms.append(names[i] if stride == 1 and i == len(sizes) - 2 else f"{names[i]} * {stride}")
    return f"({', '.join(names)}) -> ({' + '.join(terms)}, {names[-1]})"


def matches(tensor: ir.RankedTensorType) -> bool:
    """Returns whether the layout that inference left is one of this shape: its map takes as many dimensions."""
    text = str(tensor.encoding)
    return text.count("d", 0, text.index("->")) == len(tensor.shape) if "->" in text else True
