"""Which values the arguments of a function may have, so that its ops compute with values they are defined for."""

from __future__ import annotations

from typing import Any

from golden import find_op
from golden.sampling import intersection, operand_domain
from ttmlir import ir

from .builder_utils import is_tensor
from .elements import attribute_values
from .structure import calls, operand_groups

Range = tuple[float, float]


def infer_arg_ranges(parsed_func: Any) -> dict[int, Range]:
    """Argument index -> closed interval allowed by all ops that use it, also behind ops that only move elements.

    Arguments that nothing constrains are left out.
    """
    function = parsed_func.operation
    allowed: dict[Any, Range | None] = {}
    _constrain(function, allowed)
    ranges = {}
    for i, argument in enumerate(function.regions[0].blocks[0].arguments):
        if allowed.get(argument) is not None:
            ranges[i] = allowed[argument]
    return ranges


def _constrain(function: Any, allowed: dict[Any, Range | None]) -> None:
    """From the last op to the first, so that what an op asks of its result reaches its operands."""
    for view in reversed(list(function.regions[0].blocks[0].operations)):
        op = view.operation
        callee = calls(op, function)
        if callee is not None:
            _constrain(callee, allowed)
            for value, argument in zip(op.operands, callee.regions[0].blocks[0].arguments, strict=True):
                allowed[value] = intersection(allowed.get(value), allowed.get(argument))
            continue
        row = find_op(op.name)
        if row is None:
            continue
        groups = operand_groups(op)
        shapes = [shape_of(g) for g in groups]
        attributes = attribute_values_of(op) if row.operand_domains else {}
        for i, group in enumerate(groups):
            domain = operand_domain(row, i, shapes, attributes)
            if row.moves and i not in row.operand_domains:
                domain = allowed.get(op.results[0]) if len(op.results) else None
            elif domain == type(row).domain and i not in row.operand_domains:
                domain = None  # the default: no constraint of the op
            for value in group if isinstance(group, list) else [group]:
                if value is not None:
                    allowed[value] = intersection(allowed.get(value), domain)


def attribute_values_of(op: Any) -> dict[str, Any]:
    return {k: v for k, v in attribute_values(op).items() if not hasattr(v, "shape")}


def shape_of(group: Any) -> tuple[int, ...] | None:
    value = group[0] if isinstance(group, list) and group else group
    return (
        tuple(ir.RankedTensorType(value.type).shape) if isinstance(value, ir.Value) and is_tensor(value.type) else None
    )
