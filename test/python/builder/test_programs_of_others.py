# SPDX-License-Identifier: Apache-2.0
"""Forms of calls that programs of the ecosystem use."""

from __future__ import annotations

from pathlib import Path

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import (
    build_module,
    compile_and_execute_ttir,
    compile_module_to_flatbuffer,
    compile_ttir_to_flatbuffer,
    execute_fb,
    experimental_build_stablehlo_module,
    load_mlir_file,
)
from builder.base.builder_utils import create_custom_ttir_pipeline_fn


def of(function, *shapes, types=None):
    def module(b):
        b.func(list(shapes), types or [torch.float32] * len(shapes))(function)

    return module


def test_more_types_than_shapes():
    module, _ = build_module(of(lambda x, b: b.exp(x), (4, 8), types=[torch.float32, torch.int32]), "ttir")
    assert "(%arg0: tensor<4x8xf32>)" in str(module)
    with pytest.raises(ValueError, match="2 input shapes but 1 input types"):
        build_module(of(lambda x, y, b: b.add(x, y), (4,), (4,), types=[torch.float32]), "ttir")


@pytest.mark.parametrize("marks", [None, [], ["mine"]])
def test_unit_attributes_come_last(marks):
    program = of(lambda x, y, b: b.add(b.concat([x, y], 0, marks), b.concat([y, x], 0, unit_attrs=marks)), (2, 8), (3, 8))
    module, _ = build_module(program, "ttir")
    assert str(module).count("{mine}") == (2 if marks else 0)
    assert compile_and_execute_ttir(program)


def test_what_is_no_unit_attribute():
    for last in (3, "mine", [3]):
        with pytest.raises(TypeError, match=r"takes at most 2 arguments \(ins, dim\), 3 were given"):
            build_module(of(lambda x, b, last=last: b.concat([x, x], 0, last), (2, 8)), "ttir")


@pytest.mark.parametrize("options", ["optimization-level=1", "composite-resolution=force-promote"])
def test_options_that_change_nothing(options):
    program = of(lambda x, b: b.exp(x), (4, 8))
    plain, given = (
        Path(compile_ttir_to_flatbuffer(program, pipeline_options=o)[1]).read_bytes() for o in (None, [options])
    )
    assert plain == given


def test_passes_as_a_pipeline(capfd):
    program = of(lambda x, b: b.exp(b.neg(b.neg(x))), (4, 8))
    chosen = create_custom_ttir_pipeline_fn("canonicalize,ttir-to-ttnn-backend-pipeline", print_ir=True)
    builder, path, goldens, _ = compile_ttir_to_flatbuffer(program, custom_pipeline=chosen)
    assert "IR Dump After" in capfd.readouterr().err
    execute_fb(path, goldens)
    module = build_module(program, "ttir")[0]
    create_custom_ttir_pipeline_fn("func.func(canonicalize)", verify=False)(module, "mesh-shape=1,2 argument-types=<lambda>=input")
    assert "meshShape = 1x2" in str(module) and "argument_type<input>" in str(module)
    with pytest.raises(ValueError, match="'canonicalize' take no options of a pipeline; there is enable-fusing-pass"):
        create_custom_ttir_pipeline_fn("canonicalize")(module, "enable-fusing-pass=false")
    with pytest.raises(ValueError, match="no-such-pass"):
        create_custom_ttir_pipeline_fn("no-such-pass")(module, "")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_gelu_by_tanh(dtype):
    """A mark of front ends, beside PyTorch's own."""
    x = torch.cat([torch.linspace(-6, 6, 1000), torch.tensor([0.0, -0.0, 1e30, -1e30, torch.inf, torch.nan])]).to(dtype)
    name = {torch.float32: "f32", torch.bfloat16: "bf16"}[dtype]
    type_ = f"tensor<{len(x)}x{name}>"
    text = """
      func.func @f(%x: TYPE) -> TYPE {
        %0 = "ttir.gelu"(%x) {approximate = "tanh"} : (TYPE) -> TYPE
        return %0 : TYPE
      }""".replace("TYPE", type_)
    module, builder = load_mlir_file(text, {"f": [x]})
    binary, _, _ = compile_module_to_flatbuffer(module, builder)
    device = rt.runtime.open_mesh_device()
    (result,) = rt.runtime.submit(device, binary, 0, [rt.runtime.create_host_tensor(x)])
    found = torch.from_dlpack(rt.runtime.to_host(result, untilize=True)[0])
    rt.runtime.close_mesh_device(device)
    want = torch.nn.functional.gelu(x.double(), approximate="tanh")
    bound = {torch.float32: 1e-6, torch.bfloat16: 2**-8}[dtype] * want.abs() + 1e-6
    assert torch.equal(found.isnan(), want.isnan()) and torch.equal(found.isinf(), want.isinf())
    finite = want.isfinite()
    assert ((found.double() - want).abs() <= bound)[finite].all()


def test_a_function_of_stablehlo(tmp_path):
    def double(x, y, builder):
        return builder.add(x, y)

    module, builder = experimental_build_stablehlo_module(double, [(4, 8), (4, 8)], save_artifacts=True)
    assert "stablehlo.add" in str(module) and "tensor<4x8xf32>" in str(module)
    assert Path("double/stablehlo_module.mlir").read_text() == f"{module}\n" and type(builder).__name__ == "StableHLOBuilder"
    module, _ = experimental_build_stablehlo_module(double, [(2,), (2,)], [torch.int32, torch.int32], base="other")
    assert "tensor<2xi32>" in str(module) and not Path("other").exists()
