# SPDX-License-Identifier: Apache-2.0
"""Reading IR: functions, calls, operand groups, and the numbers that identify ops."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from ttmlir import ir, util
from ttmlir.dialects.sdy import ir as sdy

from builder.base.builder_utils import is_tensor
from builder.base.locations import plain_location

from .op_infos import OpInfo, dialect_module, op_infos

NOT_NUMBERED = {"func.func", "builtin.module", "ttcore.device_module", "ttcore.cpu_module"}


def walk(op: Any) -> Iterator[Any]:
    """Yields all operations below `op` and itself, each before its contents."""
    yield op
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from walk(inner.operation)


def number_ops(root: Any) -> dict[Any, int]:
    """Returns operation -> its number: a count, from 0, of the ops with results, in walk order."""
    numbers: dict[Any, int] = {}
    for op in walk(root):
        if len(op.results) and op.name not in NOT_NUMBERED:
            numbers[op] = len(numbers)
    return numbers


def functions(root: Any) -> list[Any]:
    return [op for op in walk(root) if op.name == "func.func"]


def public_functions(root: Any) -> list[Any]:
    """Returns functions that are programs: with a body, and not private."""
    return [f for f in functions(root) if not is_private(f) and len(f.regions[0].blocks)]


def is_private(function: Any) -> bool:
    attributes = function.attributes
    return "sym_visibility" in attributes and ir.StringAttr(attributes["sym_visibility"]).value == "private"


def symbol(op: Any) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value


# Ops that run a function of the module and return its results.
CALLS = {"func.call": "callee", "ttcore.load_cached": "callee", "stablehlo.composite": "decomposition"}


def calls(op: Any, root: Any) -> Any | None:
    """Returns the function that a call calls: the one of its name in the nearest module around it; None for other ops.
    Of a trace, the function that it records."""
    if op.name == "ttnn.capture_or_execute_trace":
        capture = named(op, op.attributes["capture_callee"], root)
        return next(found for inner in walk(capture) if (found := calls(inner, root)) is not None)
    return named(op, op.attributes[CALLS[op.name]], root) if op.name in CALLS else None


def passed(op: Any) -> list[Any]:
    """Returns the operands that a call passes to its function: its tensors, without devices."""
    return [value for value in op.operands if is_tensor(value.type)]


def named(op: Any, name: Any, root: Any) -> Any:
    """Returns the function that an attribute of an op names."""
    callee = ir.FlatSymbolRefAttr(name).value
    scope = op.parent
    while scope is not None and scope.operation.name != "builtin.module":
        scope = scope.operation.parent
    for found in functions(scope.operation if scope is not None else root):
        if symbol(found) == callee:
            return found
    raise ValueError(f"{op.name}: the module has no function {callee!r}")


@functools.cache
def infos(dialect: str) -> dict[str, OpInfo]:
    module = dialect_module(dialect)
    return {info.name: info for info in op_infos(module)} if module else {}


def info_of(op: Any) -> OpInfo | None:
    return infos(op.name.partition(".")[0]).get(op.name)


def operand_groups(op: Any) -> list[Any]:
    """Returns the op's operands as ODS declares them: a value, a list for a variadic one, None for an absent optional
    one."""
    info, values = info_of(op), list(op.operands)
    if info is None or len(info.operands) == 0:
        return values
    groups, start = [], 0
    for spec, size in zip(info.operands, group_sizes(op, info, len(values)), strict=True):
        group = values[start : start + size]
        start += size
        groups.append(group if spec.variadic else group[0] if group else None)
    return groups


def group_sizes(op: Any, info: OpInfo, count: int) -> list[int]:
    if "operandSegmentSizes" in op.attributes:
        return list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    loose = [o for o in info.operands if o.optional or o.variadic]
    fixed = len(info.operands) - len(loose)
    share = (count - fixed) // len(loose) if loose else 0  # several loose groups without sizes are equally long
    return [share if o.optional or o.variadic else 1 for o in info.operands]


def axes_of(op: Any) -> dict[str, int]:
    """Returns the axes of an sdy.mesh and their sizes."""
    mesh: Any = sdy.MeshAttr(op.attributes["mesh"])
    return {axis.name: axis.size for axis in mesh.axes}


def location_text(op: Any) -> str:
    """Returns where an op is, without the number that a pipeline gave it."""
    return plain_location(util.without_source_number(op.location))
