# SPDX-License-Identifier: Apache-2.0
"""With cpu-fallback, ops of upstream dialects run as native code of the host: on one chip, on a mesh, and in emitted
programs; without it, and where the host cannot, they are named."""

from __future__ import annotations

import json
import re
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from emit_cases import Subject, compare_all, of_flatbuffer
from fallback_case import Case, X
from fallback_cases import CASES
from golden import GoldenMapTensor
from op_cases import execute, lowered
from ttmlir import ir
from ttmlir.passes import ttir_to_ttnn_backend_pipeline, ttnn_to_flatbuffer_bin

OPTION = "cpu-fallback=true"


def subject(name: str, case: Case, mesh: tuple[int, int] = (1, 1)) -> Subject:
    module = lowered(ir.Module.parse(case.text, ir.Context()), mesh, OPTION)
    return Subject(name, module, [[GoldenMapTensor({0: each}, mesh) for each in case.inputs]], mesh)


def check(case: Case, found: list[list[torch.Tensor]]) -> None:
    reference = case.reference(*case.inputs)
    reference = reference if isinstance(reference, tuple) else (reference,)
    assert len(found) == len(reference)
    for expected, shards in zip(reference, found, strict=True):
        for shard in shards:
            given = shard.bool() if expected.dtype is torch.bool else shard
            tolerance: dict[str, float] = {"rtol": 0, "atol": 0} if case.exact else {}
            torch.testing.assert_close(given, expected.contiguous(), **tolerance)


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_the_reference(name: str) -> None:
    result = subject(name, CASES[name])
    assert str(result.module).count('"debug.host_call"') == CASES[name].calls
    (found,) = of_flatbuffer(result)
    check(CASES[name], found)


@pytest.mark.parametrize("name", CASES)
def test_on_a_mesh(name: str) -> None:
    (found,) = of_flatbuffer(subject(name, CASES[name], (1, 2)))
    check(CASES[name], found)


@pytest.mark.long
def test_shards_of_a_mesh_are_computed_one_by_one() -> None:
    attributes = (
        "shard_dims = array<i64: -1, 0>, shard_shape = array<i64: 2, 1>, shard_type = #ttcore.shard_type<devices>"
    )
    split = f"<{{{attributes}, shard_direction = #ttcore.shard_direction<full_to_shard>}}>"
    join = f"<{{{attributes}, shard_direction = #ttcore.shard_direction<shard_to_full>}}>"
    text = f"""func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {{
      %0 = "ttir.mesh_shard"(%x) {split} : (tensor<4x6xf32>) -> tensor<2x6xf32>
      %1 = math.absf %0 : tensor<2x6xf32>
      %2 = arith.addf %1, %0 : tensor<2x6xf32>
      %3 = "ttir.mesh_shard"(%2) {join} : (tensor<2x6xf32>) -> tensor<4x6xf32>
      return %3 : tensor<4x6xf32>
    }}"""
    x = torch.linspace(-3, 3, 24).reshape(4, 6)
    result = subject("shards", Case(text, [x], lambda x: x.abs() + x), (1, 2))
    ((found,),) = of_flatbuffer(result)
    torch.testing.assert_close(found[0], x.abs() + x, rtol=0, atol=0)
    assert not compare_all([result])


@pytest.mark.long
@pytest.mark.parametrize("mesh", [(1, 1), (1, 2)], ids=str)
def test_emitted_programs_agree_bit_for_bit(mesh: tuple[int, int], request: pytest.FixtureRequest) -> None:
    """Every second program on one chip and the others on two; with --slow, all on both."""
    chosen = list(CASES.items()) if request.config.getoption("--slow") else list(CASES.items())[mesh[1] - 1 :: 2]
    problems = compare_all([subject(name, case, mesh) for name, case in chosen])
    assert not problems, "\n".join(problems)


def parsed(text: str, allow_unregistered: bool = False) -> ir.Module:
    context = ir.Context()
    context.allow_unregistered_dialects = allow_unregistered
    return ir.Module.parse(text, context)


def refusal(text: str, options: str = OPTION) -> str:
    module = parsed(text, allow_unregistered=True)
    with module.context, pytest.raises(ir.MLIRError) as error:
        ttir_to_ttnn_backend_pipeline(module, options)
    return "\n".join(each.message for each in error.value.error_diagnostics)


F = "tensor<3x4xf32>"
ATTRIBUTES = "<{cluster_axis = 0 : ui32, reduce_type = #ttcore.reduce_type<sum>}>"
REFUSED = {
    "memrefs": (
        f"%m = memref.alloc() : memref<3xf32>\n  return %x : {F}",
        r"'memref.alloc' is no op of the chip, and the host does not take it: .* arith, linalg, math, scf and tensor",
    ),
    "an op on memrefs": (
        f"""%m = memref.alloc() : memref<3xf32>
          %z = arith.constant 0.0 : f32
          linalg.fill ins(%z : f32) outs(%m : memref<3xf32>)
          return %x : {F}""",
        r"'linalg.fill' is no op of the chip, and the host does not take it: it works on memref<3xf32>",
    ),
    "dynamic sizes": (
        f"""%c = tensor.cast %x : {F} to tensor<?x4xf32>
          %n = math.absf %c : tensor<?x4xf32>
          %r = tensor.cast %n : tensor<?x4xf32> to {F}
          return %r : {F}""",
        r"'math.absf' .* it has a tensor<\?x4xf32>; expected tensors of static sizes",
    ),
    "unregistered ops": (
        f'%0 = "foo.bar"(%x) : ({F}) -> {F}\n  return %0 : {F}',
        r"'foo.bar' is no op of the chip, and the host does not take it: it is of no dialect that is known",
    ),
    "unregistered ops in a region": (
        f"""%r = linalg.map ins(%x : {F}) outs(%x : {F}) (%a: f32, %o: f32) {{
            %b = "foo.bar"(%a) : (f32) -> f32
            linalg.yield %b : f32
          }}
          return %r : {F}""",
        r"'linalg.map' is no op of the chip, and the host does not take it: it has effects on memory",
    ),
    "types that the host lacks": (
        f"""%h = arith.truncf %x : {F} to tensor<3x4xf16>
          %r = arith.extf %h : tensor<3x4xf16> to {F}
          return %r : {F}""",
        r"'arith.truncf' .* the host has no type for tensor<3x4xf16>",
    ),
    "ops without code for the host in a region": (
        f"""%c0 = arith.constant 0 : index
          %c3 = arith.constant 3 : index
          %r = scf.for %i = %c0 to %c3 step %c3 iter_args(%t = %x) -> ({F}) {{
            %n = "ttir.all_reduce"(%t) {ATTRIBUTES} : ({F}) -> {F}
            scf.yield %n : {F}
          }}
          return %r : {F}""",
        r"'scf.for' .* of 'ttir.all_reduce' in it, the host has no code for it",
    ),
    "a loop whose values are not those of before, changed": (
        f"""%c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c3 = arith.constant 3 : index
          %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = %x) -> ({F}) {{
            %n = "ttir.add"(%t, %x) : ({F}, {F}) -> {F}
            scf.yield %n : {F}
          }}
          return %r : {F}""",
        r"Yield operand #0 is not equivalent to the corresponding iter bbArg",
    ),
    "effects": (
        f"""%c0 = arith.constant 0 : index
          %c3 = arith.constant 3 : index
          scf.for %i = %c0 to %c3 step %c3 {{
            %m = memref.alloc() : memref<3xf32>
          }}
          return %x : {F}""",
        r"'scf.for' is no op of the chip, and the host does not take it: it has effects on memory",
    ),
    "no lowering": (
        f"""%n = arith.fptosi %x : {F} to tensor<3x4xi32>
          %r = math.ipowi %n, %n : tensor<3x4xi32>
          %f = arith.sitofp %r : tensor<3x4xi32> to {F}
          return %f : {F}""",
        r"'math.ipowi' of 'i32' is not lowered to LLVM: the host has no code for it",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_op_unsupported_on_the_host_is_named(name: str) -> None:
    body, message = REFUSED[name]
    assert re.search(message, refusal(f"func.func @main(%x: {F}) -> {F} {{\n  {body}\n}}"))


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name].calls])
def test_without_the_option_ops_are_named_with_it(name: str) -> None:
    found = refusal(CASES[name].text, "")
    assert re.search(r"'(arith|linalg|math|scf|tensor)\.\w+' is no op of the chip; with the option cpu-fallback", found)


def test_without_the_option_what_the_host_cannot_either_is_said() -> None:
    text = """func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %0 = math.absf %x : tensor<?xf32>
      return %0 : tensor<?xf32>
    }"""
    expected = "'math.absf' is no op of the chip, nor would the host take it with cpu-fallback: it has a tensor<?xf32>"
    assert expected in refusal(text, "")


def test_programs_of_the_chip_alone_are_the_same_with_it() -> None:
    text = f'func.func @main(%x: {F}) -> {F} {{\n %0 = "ttir.exp"(%x) : ({F}) -> {F}\n return %0 : {F}\n}}'
    module = parsed(text)
    assert str(lowered(module, (1, 1))) == str(lowered(module, (1, 1), OPTION))


def test_native_code_is_refused_unless_allowed() -> None:
    case = Case(CASES["arith: addf"].text.replace("3x4", "29x31"), [torch.ones(29, 31)] * 2, torch.add)
    result = subject("permission", case)
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(result.module))
    assert binary.has_native
    with pytest.raises(rt.OpError, match="allow_native"):
        execute(binary, 0, result.inputs[0], (1, 1))
    binary.allow_native()
    check(case, execute(binary, 0, result.inputs[0], (1, 1)))


@pytest.mark.long
@pytest.mark.parametrize("format", ["bf16", "bfp_bf8"])
def test_other_formats_of_the_chip(format: str) -> None:
    """The host keeps its types; what goes to it and comes from it is cast."""
    text = f"""func.func @main(%x: {F}) -> {F} {{
      %0 = "ttir.neg"(%x) : ({F}) -> {F}
      %1 = math.absf %0 : {F}
      %2 = "ttir.neg"(%1) : ({F}) -> {F}
      return %2 : {F}
    }}"""
    module = lowered(parsed(text), (1, 1), f"{OPTION} target-format={format}")
    result = Subject(format, module, [[GoldenMapTensor({0: X}, (1, 1))]])
    ((found,),) = of_flatbuffer(result)
    torch.testing.assert_close(found[0].float(), -X.abs(), rtol=2e-2, atol=2e-2)
    assert not compare_all([result])


def test_the_order_of_effects_stays() -> None:
    """A cache is written before, and after, the host reads what it held."""
    cache, part = "tensor<1x1x8x4xf32>", "tensor<1x1x2x4xf32>"
    text = f"""func.func @main(%c: {cache}, %p: {part}) -> ({cache}, {cache}) {{
      "ttir.fill_cache"(%c, %p) <{{batch_offset = 0 : i32}}> : ({cache}, {part}) -> ()
      %1 = math.absf %c : {cache}
      %2 = arith.negf %p : {part}
      "ttir.fill_cache"(%c, %2) <{{batch_offset = 0 : i32}}> : ({cache}, {part}) -> ()
      %3 = "ttir.neg"(%c) : ({cache}) -> {cache}
      return %1, %3 : {cache}, {cache}
    }}"""
    c, p = torch.full((1, 1, 8, 4), -3.0), torch.full((1, 1, 2, 4), -2.0)
    first, second = c.clone(), c.clone()
    first[:, :, :2], second[:, :, :2] = p, -p
    case = Case(text, [c, p], lambda *_: (first.abs(), -second))
    check(case, of_flatbuffer(subject("cache", case))[0])


def test_reports_have_the_ops_of_the_host() -> None:
    from builder.base.builder_apis import compile_ttir_module_to_flatbuffer, load_mlir_file
    from builder.base.builder_runtime import execute_fb

    text = f"""func.func @main(%x: {F}) -> {F} {{
      %0 = "ttir.exp"(%x) : ({F}) -> {F}
      %1 = math.absf %0 : {F}
      %2 = "ttir.neg"(%1) : ({F}) -> {F}
      return %2 : {F}
    }}"""
    module, builder = load_mlir_file(text, target="ttir")
    binary, goldens, intermediates = compile_ttir_module_to_flatbuffer(module, builder, pipeline_options=OPTION)
    report: Any = execute_fb(binary, goldens, intermediates, enable_intermediate_verification=True)
    (program,) = json.loads(report.to_json())["programs"]
    records = {each["op"]: each for each in program["records"] if each["kind"] == "intermediate"}
    assert list(records) == ["ttir.exp", "math.absf", "ttir.neg"]
    assert all(each["passed"] for each in records.values())
