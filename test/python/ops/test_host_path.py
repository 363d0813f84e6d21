# SPDX-License-Identifier: Apache-2.0
"""Ops that are tagged run as native code of the host: they compute what their goldens say, and only where allowed."""

from __future__ import annotations

import pytest
from _ttmlir_runtime import binary
from op_cases import TABLE, Compiled, built, clone, compared, lowered, runs
from ttmlir import ir
from ttmlir.passes import ttnn_to_flatbuffer_bin

# What lib/Conversion/TTIRToLinalg has rules for, and a row of the op table.
_NAMES = """
abs acos add arange asin asinh atan atan2 bitwise_and bitwise_not bitwise_or bitwise_xor broadcast cbrt ceil
clamp_scalar clamp_tensor concat constant cos div dot_general eq erf erfc exp exp2 expm1 floor frac full ge gelu
gt hardsigmoid index isfinite le leaky_relu log log1p log2 logical_and logical_left_shift logical_not logical_or
logical_right_shift logical_xor lt matmul max maximum mean min minimum mish multiply ne neg ones pad permute pow
prod rearrange reciprocal reduce_and reduce_or relu relu6 remainder repeat repeat_interleave reshape reverse rsqrt selu
sigmoid sign silu sin slice_static softsign sqrt square squeeze subtract sum tan tanh transpose trunc typecast
unsqueeze where zeros
"""
HOST = frozenset(f"ttir.{name}" for name in _NAMES.split())
# What the host refuses of a row.
REFUSED = {
    ("ttir.pow", "i32"): "powers of integers are not computed on the host",
    ("ttir.matmul", "f32"): "an operand has one dimension",
    ("ttir.matmul", "bf16"): "an operand has one dimension",
}


def tagged(module: ir.Module, name: str) -> ir.Module:
    """The module with every op of a name marked for the host."""
    made = clone(module)

    def mark(op: ir.Operation) -> ir.WalkResult:
        if op.name == name:
            op.attributes["ttir.should_hoist"] = ir.UnitAttr.get(op.context)
        return ir.WalkResult.ADVANCE

    made.operation.walk(mark)
    return made


def flatbuffer(module: ir.Module, name: str, options: str = "") -> bytes:
    return ttnn_to_flatbuffer_bin(lowered(tagged(module, name), (1, 1), options))


@pytest.mark.parametrize(("name", "dtype"), [run for run in runs(TABLE) if run[0] in HOST and run not in REFUSED])
def test_agrees_with_golden(name: str, dtype: str) -> None:
    module, builder = built(name, dtype)
    program = binary.load_binary_from_bytes(flatbuffer(module, name), allow_native=True)
    assert program.has_native
    row = Compiled(TABLE[name], dtype, program, dict(builder.golden_map[0].items()))
    for outcome in compared(row):
        where = f"{name} {dtype} case {outcome.case} ({TABLE[name].cases[outcome.case]}), output {outcome.output}"
        assert not outcome.comparison.problem, f"{where}: {outcome.comparison.problem}"
        assert outcome.comparison.within, f"{where}: error {outcome.comparison.max_abs:.3g}"
