# SPDX-License-Identifier: Apache-2.0
"""The rows of Api.def: every op of the runtime has one, with the operands and attributes of its ODS definition."""

from __future__ import annotations

import pytest
from _ttmlir_runtime import runtime
from _ttmlir_runtime import ttnn as native
from builder.ops.methods import op_infos
from ttmlir.dialects import debug, ttnn

# Ops of programs that nobody calls.
NOT_CALLED = {
    "debug.host_call",
    "ttnn.capture_or_execute_trace",
    "ttnn.constant",
    "ttnn.generic",  # with kernels of the compiler; generic_op takes those of a user
    "ttcore.case",
    "ttcore.load_cached",
    "ttcore.while",
}
# An older name of typecast, on the host.
RUNTIME_ONLY = {"ttnn.to_dtype"}
# What is said of results, and what no function takes.
NOT_PARAMETERS = {"dtype", "output_dtype", "layout", "memory_config", "operandSegmentSizes", "semaphore"} | {
    "cross_device_semaphore"
}
DEVICES = {"device", "mesh_device"}

INFOS = {info.name: info for dialect in (ttnn, debug) for info in op_infos(dialect)}
ROWS = {row.op: row for function in native.functions() for row in function.rows}


def test_every_op_of_the_runtime_has_a_row() -> None:
    assert set(runtime.list_ops()) - NOT_CALLED == set(ROWS)


def test_every_row_is_of_an_op_of_the_dialect() -> None:
    assert set(ROWS) - set(INFOS) == RUNTIME_ONLY


@pytest.mark.parametrize("name", sorted(ROWS.keys() & INFOS.keys()))
def test_parameters_are_those_of_the_dialect(name: str) -> None:
    info, row = INFOS[name], ROWS[name]
    named = [(ods, role) for _, ods, role in row.parameters]
    tensors = [ods for ods, role in named if role in ("tensor", "tensors")]
    attributes = {ods for ods, role in named if role == "attribute"}
    assert tensors == [operand.name for operand in info.operands if operand.name not in DEVICES | NOT_PARAMETERS]
    assert attributes - {"output_dtype"} == {a.name for a in info.attributes} - NOT_PARAMETERS
    assert row.results == len(info.results)


@pytest.mark.parametrize("function", native.functions(), ids=lambda function: function.name)
def test_required_parameters_come_first(function: native.Function) -> None:
    omissible = [parameter.omissible for parameter in function.parameters if not parameter.keyword_only]
    assert omissible == sorted(omissible)
