# SPDX-License-Identifier: Apache-2.0
"""Ops that are tagged run as native code of the host: they compute what their goldens say, and only where allowed."""

from __future__ import annotations

import pytest
from _ttmlir_runtime import binary
from op_cases import HOST, TABLE, Compiled, built, compared, lowered, runs, tagged
from ttmlir import ir
from ttmlir.passes import ttnn_to_flatbuffer_bin

# What the host refuses of a row.
REFUSED = {
    ("ttir.pow", "i32"): "powers of integers are not computed on the host",
}


def flatbuffer(module: ir.Module, name: str, options: str = "") -> bytes:
    return ttnn_to_flatbuffer_bin(lowered(tagged(module, lambda op: op.name == name), (1, 1), options))


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
