# SPDX-License-Identifier: Apache-2.0
"""Names under which tables of op facts are looked up; needs no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

Row = TypeVar("Row")

# Ops whose row is that of another name.
RENAMES = {
    "ttnn.divide": "div",
    "ttnn.pow_tensor": "pow",
    "ttnn.embedding_bw": "embedding_backward",
    "ttnn.upsample": "upsample2d",
    "stablehlo.and": "bitwise_and",
    "stablehlo.or": "bitwise_or",
    "stablehlo.xor": "bitwise_xor",
    "stablehlo.not": "bitwise_not",
    "stablehlo.cosine": "cos",
    "stablehlo.sine": "sin",
    "stablehlo.exponential": "exp",
    "stablehlo.exponential_minus_one": "expm1",
    "stablehlo.log_plus_one": "log1p",
    "stablehlo.logistic": "sigmoid",
    "stablehlo.negate": "neg",
    "stablehlo.power": "pow",
    "stablehlo.divide": "div",
    "stablehlo.convert": "typecast",
    "stablehlo.is_finite": "isfinite",
    "stablehlo.popcnt": "population_count",
    "stablehlo.round_nearest_afz": "round",
    "stablehlo.round_nearest_even": "round_even",
    "stablehlo.select": "where",
    "stablehlo.shift_left": "logical_left_shift",
    "stablehlo.shift_right_logical": "logical_right_shift",
    "stablehlo.transpose": "permute",
    "stablehlo.dynamic_broadcast_in_dim": "broadcast_in_dim",
    "stablehlo.dynamic_reshape": "reshape",
    "arith.addf": "add",
    "arith.addi": "add",
    "arith.andi": "bitwise_and",
    "arith.constant": "constant",
    "arith.divf": "div",
    "arith.extf": "typecast",
    "arith.extsi": "typecast",
    "arith.fptosi": "typecast",
    "arith.maximumf": "maximum",
    "arith.maxsi": "maximum",
    "arith.minimumf": "minimum",
    "arith.minsi": "minimum",
    "arith.mulf": "multiply",
    "arith.muli": "multiply",
    "arith.negf": "neg",
    "arith.ori": "bitwise_or",
    "arith.select": "where",
    "arith.sitofp": "typecast",
    "arith.subf": "subtract",
    "arith.subi": "subtract",
    "arith.truncf": "typecast",
    "arith.xori": "bitwise_xor",
    "math.absf": "abs",
    "math.absi": "abs",
    "math.ctpop": "population_count",
    "math.powf": "pow",
    "math.roundeven": "round_even",
}
# Dialects whose names are their own: `linalg.matmul` adds to what its third operand holds.
OWN_NAMES = frozenset({"affine", "arith", "linalg", "memref", "scf", "tensor"})


def op_name(op: Any) -> str:
    """Returns a name like "ttir.add" from an op class, an operation, or the name itself."""
    if isinstance(op, str):
        return op
    return getattr(op, "OPERATION_NAME", None) or str(getattr(op, "name", op))


def row_of(table: Mapping[str, Row], name: str) -> Row | None:
    """Returns the row of an op: under its full name ("ttnn.conv2d"), the name that it shares (RENAMES), or without
    dialect."""
    if name in table:
        return table[name]
    if name in RENAMES:
        return table.get(RENAMES[name])
    dialect, _, bare = name.partition(".")
    return None if dialect in OWN_NAMES else table.get(bare)
