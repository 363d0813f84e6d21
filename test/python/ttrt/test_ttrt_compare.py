# SPDX-License-Identifier: Apache-2.0
"""ttrt compare: where the numbers of two modules part, and after which pass."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from builder.base.builder_apis import build_module
from op_cases import TABLE, built
from op_rows import FLOATS
from ttmlir import ir
from ttmlir.passes import run_pass, ttir_to_ttnn_backend_pipeline, ttnn_to_flatbuffer_file
from ttrt.compare import Result, over_steps
from ttrt.divergence import Judge, programs_matched
from ttrt.errors import InputError
from ttrt.stages import Step, clone, expanded, flattened, pass_step
from ttrt.subject import Subject
from ttrt.values import Values

sys.path.append(str(Path(__file__).resolve().parents[3] / "examples" / "models"))

from zoo import ZOO

PIPELINE = "ttir-to-ttnn-backend-pipeline"
NETWORK = """
module {
  func.func @main(%x: tensor<33x64xf32>, %w: tensor<64x48xf32>, %b: tensor<1x48xf32>) -> tensor<33x48xf32> {
    %0 = "ttir.matmul"(%x, %w) : (tensor<33x64xf32>, tensor<64x48xf32>) -> tensor<33x48xf32>
    %1 = "ttir.add"(%0, %b) : (tensor<33x48xf32>, tensor<1x48xf32>) -> tensor<33x48xf32>
    %2 = "ttir.gelu"(%1) : (tensor<33x48xf32>) -> tensor<33x48xf32>
    %3 = "ttir.softmax"(%2) <{dimension = 1 : si32}> : (tensor<33x48xf32>) -> tensor<33x48xf32>
    return %3 : tensor<33x48xf32>
  }
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str, str], str]:
    def write(name: str, text: str) -> str:
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


@pytest.fixture
def network(file) -> str:
    return file("network.mlir", NETWORK)


def parsed(text: str) -> ir.Module:
    return ir.Module.parse(text, ir.Context())


def report(outcome: Any) -> dict[str, Any]:
    return json.loads(outcome.out)


# ---------------------------------------------------------------------- two modules


def test_a_module_equals_itself(ttrt, network):
    outcome = ttrt("compare", network, network)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[2].split() == [network, "goldens", "4", "4", "1.000000", "0", "agrees"]


def test_an_edited_op_is_where_the_numbers_part(ttrt, network, file):
    edited = file("edited.mlir", NETWORK.replace("ttir.add", "ttir.subtract"))
    outcome = ttrt("compare", network, edited)
    assert (outcome.code, outcome.err) == (1, "")
    line = next(line for line in outcome.out.splitlines() if line.startswith("results differ"))
    place = f"{network}:5:10"
    assert line.startswith(f"results differ in {edited}, first at ttir.add at {place}, now ttir.subtract: PCC 0.")
    assert "largest error" in line
    assert "4 values differ" in outcome.out  # the three behind it, and the output


def test_on_the_device(ttrt, network, file):
    edited = file("edited.mlir", NETWORK.replace("ttir.gelu", "ttir.relu"))
    found = report(ttrt("compare", network, edited, "--via", "device", "--json", "-"))
    assert found["by"] == found["results"][0]["by"] == "device"
    # The device may compute it as a part of another op.
    assert re.match(rf"ttnn\.\w+ at {network}:6:10(, now ttnn\.\w+)?: PCC 0\.", found["first"])
    assert ttrt("compare", network, network, "--via", "device").code == 0


def test_ops_of_other_files_are_known_by_their_order(ttrt, network, file):
    """An op more does not shift the ones behind it."""
    twice = NETWORK.replace("    %2 =", '    %4 = "ttir.neg"(%1) : (tensor<33x48xf32>) -> tensor<33x48xf32>\n    %2 =')
    found = report(ttrt("compare", network, file("more.mlir", twice), "--json", "-"))
    (result,) = found["results"]
    assert found["equal"] and result["matched_by"] == "order" and result["unmatched"] == 0
    assert [v["name"] for v in result["values"]] == ["ttir.matmul", "ttir.add", "ttir.gelu", "ttir.softmax", "output_0"]


def test_ops_of_other_files_are_known_by_their_locations(ttrt, file):
    names = iter(["product", "sum", "activation", "result"])
    lines = [f'{line} loc("{next(names)}")' if ' = "ttir.' in line else line for line in NETWORK.splitlines()]
    a = file("a.mlir", "\n".join(lines))
    swapped = "\n".join(lines).replace("%0, %b", "%b, %0").replace(
        "(tensor<33x48xf32>, tensor<1x48xf32>)", "(tensor<1x48xf32>, tensor<33x48xf32>)")  # fmt: skip
    (result,) = report(ttrt("compare", a, file("b.mlir", swapped), "--json", "-"))["results"]
    assert result["matched_by"] == "location" and result["values"][1]["location"] == "sum"
    assert not result["parts"]


def test_a_lowered_module_and_a_flatbuffer_are_known_by_numbers(ttrt, network, files, file, tmp_path):
    assert ttrt("compare", network, "--passes", PIPELINE, "--save-stages", str(tmp_path / "stages")).code == 0
    last = sorted((tmp_path / "stages").iterdir())[-1]
    assert last.name.endswith("-ttnn-deallocate.mlir")
    numbered = file("numbered.mlir", NETWORK)
    found = report(ttrt("compare", str(tmp_path / "stages" / "01-ttir-number-ops.mlir"), str(last), "--json", "-"))
    assert found["equal"] and found["results"][0]["matched_by"] == "number" and found["results"][0]["by"] == "device"
    assert ttrt("compare", numbered, str(last)).code == 0
    assert ttrt("compare", files.two, files.two).code == 0


def test_given_inputs(ttrt, file):
    relu = """func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = "ttir.relu"(%a) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    a, b = file("a.mlir", relu), file("b.mlir", relu.replace("relu", "abs"))
    values = Path(a).with_suffix(".npz")
    numpy.savez(values, arg0=numpy.array([0.0, 1.0, 2.0, 3.0], dtype=numpy.float32))
    assert ttrt("compare", a, b).code == 1
    assert ttrt("compare", a, b, "--inputs", str(values)).code == 0


def test_tolerances_can_be_given(ttrt, network, file):
    edited = file("edited.mlir", NETWORK.replace("gelu", "silu"))
    assert ttrt("compare", network, edited).code == 1
    assert ttrt("compare", network, edited, "--pcc", "0.5", "--atol", "1").code == 0


# ---------------------------------------------------------------------- passes


def test_every_pass_of_a_pipeline(ttrt, network):
    outcome = ttrt("compare", network, "--pipeline", PIPELINE + "{target-format=bf16}")
    assert (outcome.code, outcome.err) == (0, "")
    found = report(ttrt("compare", network, "--pipeline", PIPELINE + "{target-format=bf16}", "--json", "-"))
    assert found["equal"] and found["parts_after"] is None
    verdicts = {r["name"].partition("{")[0]: r for r in found["results"]}
    assert verdicts["ttnn-layout"]["by"] == "goldens" and verdicts["convert-ttir-to-ttnn"]["by"] == "device"
    assert not verdicts["ttir-inline-functions"]["changed"]
    assert all(v["tolerance"][1] == 0.05 for v in verdicts["ttnn-deallocate"]["values"])  # of bf16


def test_passes_one_by_one_make_what_the_pipeline_makes(network):
    module = parsed(NETWORK)
    whole = clone(module)
    ttir_to_ttnn_backend_pipeline(whole)
    for text in expanded(PIPELINE, module.context):
        run_pass(module, text)
    assert str(module) == str(whole)


def test_lists_of_passes():
    assert list(flattened("a{x=1,2},func.func(b,c{y={1,2}}),d(e(f,g))")) == [
        "a{x=1,2}", "func.func(b)", "func.func(c{y={1,2}})", "d(e(f))", "d(e(g))"]  # fmt: skip


def over(module: Any, steps: list[Step], **how: Any) -> list[Result]:
    subject = Subject.of(module, "module")
    inputs = subject.inputs(0, None)
    return list(over_steps(subject, steps, subject.evaluated(inputs, "auto", 0), inputs, Judge(), **how))


def replace_op(name: str, other: str, which: int = 0) -> Step:
    """A pass with a mistake in it."""

    def apply(module: ir.Module) -> None:
        found = []
        module.operation.walk(lambda op: found.append(op) or ir.WalkResult.ADVANCE)
        op = [op for op in found if op.name == name][which]
        with module.context, op.location, ir.InsertionPoint(op):
            new = ir.Operation.create(other, [r.type for r in op.results], list(op.operands))
        for old, result in zip(op.results, new.results, strict=True):
            old.replace_all_uses_with(result)
        op.erase()

    return Step("mistaken", apply)


def test_a_mistaken_pass_is_named_with_the_op():
    module = parsed(NETWORK)
    passes = [pass_step(text) for text in expanded(PIPELINE, module.context)]
    at = next(i for i, step in enumerate(passes) if step.name.startswith("ttnn-layout"))
    results = over(module, [*passes[:at], replace_op("ttir.gelu", "ttir.tanh"), *passes[at:]])
    assert next(r.name for r in results if r.parts(False)) == "mistaken"
    first = next(r for r in results if r.name == "mistaken").comparing.parted[0]
    assert (first.name, first.other) == ("ttir.gelu", "ttir.tanh")
    assert "largest error" in first.describe()


def test_a_mistake_in_ttnn_is_found_on_the_device():
    module = parsed(NETWORK)
    passes = [pass_step(text) for text in expanded(PIPELINE, module.context)]
    results = over(module, [*passes, replace_op("ttnn.softmax", "ttnn.sigmoid")])
    assert results[-1].parts(False) and results[-1].by == "device"
    assert results[-1].comparing.parted[0].describe().startswith("ttir.softmax at ")
    assert not any(r.parts(True) for r in results[:-1])


def test_a_mistake_that_no_output_shows_is_told_and_counts_when_strict():
    module = parsed("""func.func @f(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %0 = "ttir.abs"(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %1 = "ttir.abs"(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
      return %1 : tensor<8x8xf32>
    }""")
    (result,) = over(module, [replace_op("ttir.abs", "ttir.neg")])
    assert not result.parts(False) and result.parts(True)
    assert result.verdict(False) == "outputs agree, 1 values inside do not"


def test_a_stage_that_nothing_computes_is_passed_over():
    def hide(module: ir.Module) -> None:
        op = next(iter(module.body.operations[0].regions[0].blocks[0].operations)).operation
        op.attributes["dimension"] = ir.Attribute.parse("7 : si32", module.context)

    module = parsed("""func.func @f(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %0 = "ttir.softmax"(%a) <{dimension = 1 : si32}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }""")
    (result,) = over(module, [Step("hide", hide)])
    assert result.comparing is None and result.reason.startswith("the golden of ttir.softmax at ")


OPS = """ttir.conv2d ttir.layer_norm ttir.topk ttir.all_gather ttir.embedding ttir.where
stablehlo.concatenate stablehlo.dot_general"""


@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n in OPS.split() for d in TABLE[n].dtypes if d in FLOATS])
def test_pipelines_keep_the_numbers_of_ops(name, dtype):
    result = TABLE[name]
    module, _ = built(name, dtype)
    subject = Subject.of(module, name, result.mesh)
    inputs = subject.inputs(0, None)
    pipeline = f"{PIPELINE}{{mesh-shape={result.mesh[0]},{result.mesh[1]}}}"
    pipeline = f"stablehlo-to-ttir-pipeline,{pipeline}" if name.startswith("stablehlo.") else pipeline
    steps = [pass_step(text) for text in expanded(pipeline, subject.context)]
    start = subject.evaluated(inputs, "auto", 0)
    results = list(over_steps(subject, steps, start, inputs, Judge()))
    assert [(r.name, r.verdict(True)) for r in results if r.parts(True) or r.reason] == []
    assert next(r for r in reversed(results) if r.changed).comparing.ops


@pytest.mark.parametrize("name", ZOO)
def test_the_pipeline_keeps_the_numbers_of_a_model(name):
    model = ZOO[name]
    network, inputs = model.make(True)
    module, _ = build_module(model.on_chip(network, inputs, torch.float32), "ttir")
    results = over(module, [pass_step(text) for text in expanded(PIPELINE, module.context)])
    assert [(r.name, r.verdict(True)) for r in results if r.parts(True) or r.reason] == []
    assert len(results[-1].comparing.ops) > 20


# ---------------------------------------------------------------------- what cannot be compared


def test_wrong_input_is_named(ttrt, network, file, tmp_path):
    bad = file("bad.mlir", 'func.func @f(%a: tensor<4xf32>) { "ttir.nothing"(%a) }')
    empty = file("empty.mlir", "module {}")
    other = file("other.mlir", NETWORK.replace("@main", "@one") + NETWORK.replace("@main", "@two"))
    for arguments, message in {
        (network,): "compare takes two files, or one and --passes or --exact",
        (network, network, "--passes", "cse"): "compare takes two files, or one and --passes or --exact",
        (network, "none.mlir"): "none.mlir: No such file or directory",
        (network, bad): f"{bad}: not a valid module: ",
        (network, empty): f"{empty}: has no public function, and so nothing to compute",
        (network, "--passes", "no-such-pass"): "'no-such-pass' is no list of passes: ",
        (network, "--passes", "cse{"): "'cse{' is no list of passes: ",
        (network, "--inputs", "none.npz", "--passes", "cse"): "none.npz: No such file or directory",
        (network, other): f"{other}: has the programs @one, @two; known inputs are of @main",
    }.items():
        outcome = ttrt("compare", *arguments)
        assert outcome.code == 1, arguments
        assert outcome.err.startswith(f"ttrt compare: {message}"), outcome.err


def test_a_pass_that_fails_is_named(ttrt, file):
    recursive = file("recursive.mlir", """func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = "ttir.abs"(%a) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func private @g(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = call @g(%a) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }""")  # fmt: skip
    outcome = ttrt("compare", recursive, "--passes", "cse,ttir-inline-functions")
    assert outcome.code == 1
    assert outcome.err == (
        f"ttrt compare: ttir-inline-functions{{max-ops=1048576}} failed: {recursive}:6:12: "
        "recursive call cannot be inlined: g calls g\n"
    )


def test_programs_are_matched_by_name_or_order():
    one, other = Values("goldens", (), {"a": ()}), Values("goldens", (), {"a": (), "b": ()})
    assert programs_matched(one, other) == {"a": "a"}
    assert programs_matched(one, Values("goldens", (), {"z": ()})) == {"a": "z"}
    with pytest.raises(InputError, match="no program @b in the second module; it has a"):
        programs_matched(other, one)


@pytest.mark.parametrize("name", ZOO)
def test_goldens_of_a_compiled_model(name, ttrt):
    """Fused activations, folded weights, programs of constants: every op that is left has a golden, and agrees."""
    model = ZOO[name]
    network, inputs = model.make(True)
    module, _ = build_module(model.on_chip(network, inputs, torch.float32), "ttir")
    ttir_to_ttnn_backend_pipeline(module)
    ttnn_to_flatbuffer_file(module, "model.ttnn")
    found = report(ttrt("run", "model.ttnn", "--golden", "--ops", "--json", "-"))
    assert found["passed"] and len(found["programs"][0]["ops_checked"]) > 10
