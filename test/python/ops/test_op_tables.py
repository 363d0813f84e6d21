# SPDX-License-Identifier: Apache-2.0
"""Every op, from one table: its golden on the chip, round trips, wrong inputs, and that nothing of it is missing."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import _ttmlir_runtime as rt
import pytest
import torch
from golden import GoldenMapTensor, compare, find_op
from op_cases import TABLE, WITHOUT_ROW, build_cases, built, execute, lowered, outcomes, runs
from op_gaps import GAPS, NO_GOLDEN, NO_INFERENCE, NO_KERNEL, NO_LOWERING
from op_table import ELEMENTWISE, TTIR
from ttmlir import ir
from ttmlir.passes import ttnn_to_flatbuffer_bin

RUNS = runs(TABLE)


@pytest.mark.parametrize(("name", "dtype"), [run for run in RUNS if run[0] not in GAPS])
def test_agrees_with_golden(name: str, dtype: str) -> None:
    """Builder, compiler, flatbuffer and simulated chip together compute what the golden says."""
    result = TABLE[name]
    for outcome in outcomes(name, dtype):
        comparison = outcome.comparison
        where = f"{name} {dtype} case {outcome.case} ({result.cases[outcome.case]}), output {outcome.output}"
        print(f"{where}: PCC {comparison.pcc:.6f}, largest error {comparison.max_abs:.3g}")
        assert not comparison.problem, f"{where}: {comparison.problem}"
        assert comparison.within, (
            f"{where}: error {comparison.max_abs:.3g} at {comparison.worst}, {comparison.max_rel:.3g} relative, "
            f"PCC {comparison.pcc:.6f}"
        )


# Zeros of both signs, ends of the range, infinities and NaN.
SPECIAL = torch.tensor([0.0, -0.0, 1.0, -1.0, 1e-30, 3e38, -3e38, torch.inf, -torch.inf, torch.nan])
UNARY = [name for name, result in sorted(TTIR.items()) if name.removeprefix("ttir.") in ELEMENTWISE and result.is_unary]


# PyTorch's own, the golden, is Inf at 3e38 and NaN at Inf, where the value is the input.
WRONG_GOLDEN = {"ttir.gelu"}


@pytest.mark.parametrize("name", [name for name in UNARY if name not in {*GAPS, *WRONG_GOLDEN}])
def test_special_values(name: str) -> None:
    """NaN and infinities come out where the golden says, and so do all values."""
    result = TABLE[name]
    case = dataclasses.replace(result.cases[0], operands=[tuple(SPECIAL.shape)])
    module, builder = build_cases(name, result, [case], "f32")
    builder.goldens.set_inputs("case0", [GoldenMapTensor({0: SPECIAL})])
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, result.mesh)))
    golden = builder.golden_map[0][0].outputs[0].shard_at(0)
    ((found,),) = execute(binary, 0, [GoldenMapTensor({0: SPECIAL})], result.mesh)
    comparison = compare(golden, found)
    assert comparison.within, f"{comparison.problem}\ninput  {SPECIAL}\ngolden {golden}\nchip   {found}"


# Ops of which a small change of what they are given changes little in what they give, compared with the largest of it.
BFP8 = """add avg_pool2d broadcast concat conv2d gelu leaky_relu linear matmul max_pool2d maximum minimum multiply neg
    permute relu reshape sigmoid silu slice_static softmax subtract tanh transpose"""


@pytest.mark.parametrize("name", [f"ttir.{name}" for name in BFP8.split()])
def test_agrees_with_golden_in_bfp8(name: str) -> None:
    """With tensors in bfp8 on the chip: 7 bits and an exponent that 16 values share, so that errors are relative to
    the largest value nearby, here to the largest of all."""
    for outcome in outcomes(name, "bf16", "target-format=bfp_bf8"):
        golden, found = outcome.golden.float(), outcome.found.float()
        assert outcome.found.dtype == outcome.golden.dtype
        assert not outcome.comparison.problem
        largest = float(golden.abs().max())
        assert float((golden - found).abs().max()) <= 2**-4 * largest, f"{name} case {outcome.case}"
        if golden.numel() > 32:
            assert outcome.comparison.pcc > 0.99, f"{name} case {outcome.case}: PCC {outcome.comparison.pcc:.6f}"


@pytest.mark.parametrize("name", sorted(GAPS.keys() & TABLE.keys()))
def test_a_gap_is_an_error_that_names_it(name: str) -> None:
    """Refuses ops of op_gaps.py by name; an op that runs by now leaves that list."""
    with pytest.raises(Exception, match=re.escape(GAPS[name])):
        list(outcomes(name, TABLE[name].dtypes[0]))


def reparsed(module: ir.Module, form: str) -> ir.Module:
    """The module after it was written and read, as text, generic text or bytecode, into a context of its own."""
    if form == "bytecode":
        with Path("module.mlirbc").open("wb") as file:  # read from memory, large constants might not be aligned
            module.operation.write_bytecode(file)
        return ir.Module.parseFile("module.mlirbc", ir.Context())
    text = module.operation.get_asm(enable_debug_info=True, print_generic_op_form=form == "generic")
    return ir.Module.parse(text, ir.Context())


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "dtype"), [(name, TABLE[name].dtypes[0]) for name in sorted(TABLE)])
def test_round_trips(name: str, dtype: str) -> None:
    """Reads printed and written modules back unchanged, before and after lowering."""
    module, _ = built(name, dtype)
    is_lowered = GAPS.get(name, "ttnn.").startswith("ttnn.")
    for stage in [module, lowered(module, TABLE[name].mesh)] if is_lowered else [module]:
        text = stage.operation.get_asm(enable_debug_info=True)
        for form in ("text", "generic", "bytecode"):
            again = reparsed(stage, form)
            assert again.operation.verify()
            assert again.operation.get_asm(enable_debug_info=True) == text, form


def find(module: ir.Module, name: str) -> ir.Operation:
    found = []

    def look(op: ir.Operation) -> ir.WalkResult:
        if op.name == name:
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.operation.walk(look)
    assert found, f"no {name} in the module"
    return found[0]


# Ops whose result has more dimensions by right, or that have none.
NO_SHAPE = {
    "ttir.empty",
    "ttir.arange",
    "ttir.fill_cache",
    "ttir.update_cache",
    "ttir.paged_fill_cache",
    "ttir.paged_update_cache",
    "stablehlo.broadcast_in_dim",
    "stablehlo.iota",
}


@pytest.mark.parametrize("name", sorted(TABLE.keys() - NO_SHAPE))
def test_a_wrong_result_shape_is_an_error(name: str) -> None:
    """The verifier compares a declared result with the inferred one."""
    module, _ = build_cases(name, TABLE[name], list(TABLE[name].cases[:1]), TABLE[name].dtypes[0])
    op = find(module, name)
    with module.context, ir.Location.unknown():
        shape = list(ir.RankedTensorType(op.results[0].type).shape)
        element = ir.RankedTensorType(op.results[0].type).element_type
        wrong = ir.RankedTensorType.get([*shape, 3], element)
        types = [wrong, *(r.type for r in list(op.results)[1:])]
        regions = len(op.regions)
        with pytest.raises((ir.MLIRError, ValueError)) as raised:
            changed = ir.Operation.create(
                name,
                results=types,
                operands=list(op.operands),
                attributes={name: op.attributes[name] for name in op.attributes},
                regions=regions,
                ip=ir.InsertionPoint(op),
            )
            changed.verify()
    assert name in str(raised.value), str(raised.value)


WRONG = [(name, index) for name in sorted(TABLE) for index in range(len(TABLE[name].wrong))]


def what_was_wrong(error: BaseException, name: str) -> str:
    """An error's text behind what every error of the op says: the place, and the op's name."""
    diagnostics = getattr(error, "diagnostics", None)
    text = "; ".join(d.message for d in diagnostics) if diagnostics else str(error)
    prefix = re.match(rf"('{re.escape(name)}' op |{re.escape(name)}: )", text)
    assert prefix is not None, f"does not begin with the op: {text}"
    return text[prefix.end() :]


@pytest.mark.parametrize(("name", "index"), WRONG)
def test_a_wrong_input_is_an_error(name: str, index: int) -> None:
    """Refuses invalid input at construction, by a message that names the op and the error."""
    case, pattern = TABLE[name].wrong[index]
    with pytest.raises(Exception) as raised:
        build_cases(name, TABLE[name], [case], TABLE[name].dtypes[0])
    text = what_was_wrong(raised.value, name)
    assert re.search(pattern, text, re.S), text


def test_every_row_says_what_is_wrong() -> None:
    """Each row has a wrong case, and each of these a pattern of words: a number is found in many a message."""
    missing = sorted(name for name, result in TABLE.items() if not result.wrong)
    loose = sorted(
        f"{name} case {index}: {TABLE[name].wrong[index][1]!r}"
        for name, index in WRONG
        if not re.search("[a-z]{3}.*[^a-zA-Z].*[a-z]{2}", TABLE[name].wrong[index][1])
    )
    assert not missing, f"rows without a wrong case: {', '.join(missing)}"
    assert not loose, "patterns that say too little:\n" + "\n".join(loose)


def test_every_op_is_complete() -> None:
    """Every registered op has a row here, a golden, inference, a lowering or a kernel; or a reason why it cannot."""
    from ttrt.ops import registry

    missing = []
    for op in registry():
        dialect = op.name.partition(".")[0]
        columns = {
            "row in test/python/op_table*.py": (dialect == "ttnn" or op.name in TABLE, WITHOUT_ROW),
            "golden": (find_op(op.name) is not None, NO_GOLDEN),
            "inference": (dialect != "ttir" or op.inference, NO_INFERENCE),
            "lowering": (dialect == "ttnn" or op.lowering is not None, NO_LOWERING),
            "kernel": (dialect != "ttnn" or op.kernel, NO_KERNEL),
        }
        missing += [
            f"{op.name}: no {column}" for column, (there, why) in columns.items() if not there and op.name not in why
        ]
    assert not missing, "\n".join(["", *missing])


def test_reasons_are_of_ops_that_lack_something() -> None:
    """No entry of the lists above outlives what it is about."""
    from ttrt.ops import registry

    ops = {op.name: op for op in registry()}
    stated = {*TABLE, *WITHOUT_ROW, *NO_GOLDEN, *NO_KERNEL, *NO_LOWERING, *NO_INFERENCE}
    assert not stated - ops.keys(), "in a table but not in a dialect"
    assert not TABLE.keys() & WITHOUT_ROW.keys(), "both a row and a reason for none"
    there = {
        "golden": [name for name in NO_GOLDEN if find_op(name) is not None],
        "kernel": [name for name in NO_KERNEL if ops[name].kernel],
        "lowering": [name for name in NO_LOWERING if ops[name].lowering],
        "inference": [name for name in NO_INFERENCE if ops[name].inference],
    }
    assert not any(there.values()), f"there by now: {there}"
