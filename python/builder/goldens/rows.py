# SPDX-License-Identifier: Apache-2.0
"""Rows of the golden table for a walk over the IR: by op, with dtypes to compute in, and regions as functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import golden as golden_table
from golden import GoldenMapTensor, Op, TensorSpec, rounding_error
from golden.optional import torch
from ttmlir import ir

from builder.base.builder_utils import is_tensor
from builder.ops.attribute_values import attribute_values

# Dtypes in which torch does no arithmetic; goldens are computed in the wider one and rounded to the declared one. Of
# the unsigned ones it cannot even select elements.
UNSIGNED = {"uint16": "int64", "uint32": "int64", "uint64": "int64"}
FLOAT = "f32"  # what quantized elements stand for
WIDENED = {"bfloat16": "float32", "float16": "float32"} | UNSIGNED


def find_op(op: str) -> Op | None:
    """Returns the row of an op. The table itself needs PyTorch, so that it is read when the first golden is
    computed."""
    return golden_table.find_op(op)


def golden_name(op: Any) -> str:
    """Returns the name of an op's row: for a custom call, its target."""
    if op.name == "stablehlo.custom_call" and "call_target_name" in op.attributes:
        return ir.StringAttr(op.attributes["call_target_name"]).value
    return op.name


def quantized(type_: ir.Type) -> Any:
    """Returns the `golden.quantization.Uniform` of a quantized tensor, what its integers stand for; None for other
    types."""
    if not is_tensor(type_):
        return None
    from golden.quantization import Uniform  # needs PyTorch, as every golden

    return Uniform.of(str(ir.RankedTensorType(type_).element_type))


def listed(results: Any, mesh_shape: tuple[int, int]) -> list[GoldenMapTensor]:
    items = list(results) if isinstance(results, (list, tuple)) else [results]
    # A value without operands, the same on all devices, does not know of the mesh yet.
    return [GoldenMapTensor(GoldenMapTensor.of(r, mesh_shape).shard_map, mesh_shape) for r in items]


def wide(golden: GoldenMapTensor) -> GoldenMapTensor:
    return golden.map(lambda t: t.to(torch.float64)) if golden.dtype.is_floating_point else golden


def rounding_errors(
    source: str, goldens: Sequence[GoldenMapTensor], wider: Sequence[GoldenMapTensor]
) -> dict[tuple[str, int, int], float]:
    return {
        (source, i, device): rounding_error(golden.shard_at(device), other.shard_at(device))
        for i, (golden, other) in enumerate(zip(goldens, wider, strict=True))
        for device in golden.shard_map
        if golden.dtype.is_floating_point
    }


class Region:
    """A region of an op as a function on tensors. kind: name of its only op when that takes the arguments in order.

    dtype: in which values of tensors of an element type are held.
    """

    def __init__(self, region: Any, values: Mapping[Any, Any], dtype: Callable[[ir.Type], torch.dtype]):
        self._block, self._values, self._dtype = region.blocks[0], values, dtype
        operations = [view.operation for view in self._block.operations]
        only = operations[0] if len(operations) == 2 else None
        plain = only is not None and list(only.operands) == list(self._block.arguments)
        self.kind = only.name.partition(".")[2] if plain and only is not None else None

    def __call__(self, *tensors: Any) -> list[Any]:
        values = dict(self._values)
        values.update(zip(self._block.arguments, tensors, strict=True))
        for view in self._block.operations:
            op = view.operation
            if len(op.results) == 0:
                return [values[v] for v in op.operands]
            # Elements are scalars in the IR; whole tensors go through at once.
            row = find_op(op.name)
            if row is None:
                raise ValueError(f"{op.name} in a region has no golden")
            type_ = ir.RankedTensorType(op.results[0].type)
            spec = TensorSpec(tuple(type_.shape), self._dtype(type_.element_type))
            result = row(*(values[v] for v in op.operands), **attribute_values(op), out=spec)
            values[op.results[0]] = result.to(spec.dtype)
        return []
