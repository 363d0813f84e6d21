# SPDX-License-Identifier: Apache-2.0
"""Queries of the IR for walks over blocks: their ends, last uses of values, control flow and shardings."""

from __future__ import annotations

from typing import Any

from golden import GoldenMapTensor
from ttmlir import ir
from ttmlir.dialects.sdy import ir as sdy

from builder.base.builder_utils import is_tensor
from builder.ops.structure import axes_of, walk

# Ops that run regions or functions as often as their values say.
CONTROL = ("stablehlo.case", "stablehlo.if", "stablehlo.while", "ttcore.case", "ttcore.while")


def chosen(predicate: GoldenMapTensor) -> bool:
    return bool(predicate.shard_at(0).reshape(()).item())


def branch(index: GoldenMapTensor, count: int) -> int:
    """Returns a number that no branch has stands for the last."""
    number = int(index.shard_at(0).reshape(()).item())
    return number if 0 <= number < count else count - 1


def terminator(function: Any) -> Any:
    return list(function.regions[0].blocks[0].operations)[-1].operation


def last_uses(block: Any) -> list[list[Any]]:
    """Returns for each op of a block the values that no later op needs; a result that nothing uses is its own op's."""
    operations = [view.operation for view in block.operations]
    dying: list[list[Any]] = [[] for _ in operations]
    seen = set()
    for place in reversed(range(len(operations))):
        op = operations[place]
        for value in (*(v for inner in walk(op) for v in inner.operands), *op.results):
            if value not in seen:
                seen.add(value)
                dying[place].append(value)
    if operations:
        dying[0] += [argument for argument in block.arguments if argument not in seen]
    return dying


def mesh_axes(root: Any) -> dict[str, int]:
    """Returns axes of the module's first mesh."""
    mesh = next((op for op in walk(root) if op.name == "sdy.mesh"), None)
    return axes_of(mesh) if mesh is not None else {}


def shardings(op: Any, name: str) -> list[list[list[str]]]:
    """Returns, of each dimension of each value, the names of the manual axes that split it."""
    manual = {ir.StringAttr(axis).value for axis in sdy.ManualAxesAttr(op.attributes["manual_axes"]).manual_axes}
    per_value: Any = sdy.TensorShardingPerValueAttr(op.attributes[name])
    return [
        [[axis.name for axis in dimension.axes if axis.name in manual] for dimension in sharding.dimension_shardings]
        for sharding in per_value.shardings
    ]


def is_terminator(op: Any) -> bool:
    return op.name in ("func.return", "stablehlo.return", "sdy.return", "ttcore.yield")


def is_device(group: Any) -> bool:
    """Returns whether an operand group is a device, of which goldens know nothing."""
    return isinstance(group, ir.Value) and not is_tensor(group.type)
