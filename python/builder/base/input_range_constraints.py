# SPDX-License-Identifier: Apache-2.0
"""Ranges of a function's arguments, so that its ops compute with values they are defined for.

golden/domains.py knows what each op accepts; here are functions of MLIR in the form in which it follows them.
"""

from __future__ import annotations

import functools
from typing import Any

from golden.domains import ANYTHING, Body, Domain, Use, Value, accepts, argument_domains
from ttmlir import ir
from ttmlir.op_facts import has_fact

from builder.ops.attribute_values import attribute_values
from builder.ops.structure import calls, operand_groups, passed

from .builder_utils import is_tensor


def infer_arg_ranges(parsed_func: Any) -> dict[int, Domain]:
    """Returns, by argument index, the closed interval allowed by all ops that use it, also behind ops that keep values.

    Arguments that nothing constrains are left out.
    """
    return argument_domains(body_of(parsed_func.operation))


def body_of(function: Any) -> Body:
    block = function.regions[0].blocks[0]
    ops = [view.operation for view in block.operations]
    returns = values_of(ops[-1].operands) if ops and ops[-1].name == "func.return" else []
    return Body(values_of(block.arguments), [use_of(op, function) for op in ops], returns)


def use_of(op: Any, function: Any) -> Use:
    callee = calls(op, function)
    moves = has_fact(op.name, "moves_values")
    if accepts(op.name) is ANYTHING and not moves:  # ops of dialects without a description, like func.return
        groups = [[value] for value in (op.operands if callee is None else passed(op))]
    else:
        groups = [g if isinstance(g, list) else [] if g is None else [g] for g in operand_groups(op)]
    return Use(
        op.name,
        [values_of(group) for group in groups],
        values_of(op.results),
        functools.partial(attribute_values_of, op),
        functools.partial(body_of, callee) if callee is not None else None,
        moves,
    )


def values_of(values: Any) -> list[Value]:
    return [value_of(value) for value in values]


def value_of(value: Any) -> Value:
    if not is_tensor(value.type):
        return Value(value, (), str(value.type))
    tensor = ir.RankedTensorType(value.type)
    return Value(value, tuple(tensor.shape), str(tensor.element_type))


def attribute_values_of(op: Any) -> dict[str, Any]:
    return {k: v for k, v in attribute_values(op).items() if not hasattr(v, "shape")}
