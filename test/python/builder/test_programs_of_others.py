# SPDX-License-Identifier: Apache-2.0
"""Forms of calls that programs of the ecosystem use."""

from __future__ import annotations

import json
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
from builder.base.builder_runtime import CallbackRuntimeConfig, post_op_get_callback_fn
from builder.base.builder_utils import create_custom_ttir_pipeline_fn, get_artifact_dir


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
    program = of(
        lambda x, y, b: b.add(b.concat([x, y], 0, marks), b.concat([y, x], 0, unit_attrs=marks)), (2, 8), (3, 8)
    )
    module, _ = build_module(program, "ttir")
    assert str(module).count("{mine}") == (2 if marks else 0)
    assert compile_and_execute_ttir(program)


def test_non_unit_attribute():
    for last in (3, "mine", [3]):
        with pytest.raises(TypeError, match=r"takes at most 2 arguments \(ins, dim\), 3 were given"):
            build_module(of(lambda x, b, last=last: b.concat([x, x], 0, last), (2, 8)), "ttir")


def test_a_data_type_by_place():
    """Before values of the op, behind all of them, and with a location and unit attributes behind it."""
    calls = [
        lambda x, b: b.add(x, b.full([4, 8], torch.float32, 2.5)),
        lambda x, b: b.add(x, b.full([4, 8], 2.5, torch.float32)),
        lambda x, b: b.add(x, b.full([4, 8], torch.float32, 2.5, "here", ["mine"])),
    ]
    for call in calls:
        module, _ = build_module(of(call, (4, 8)), "ttir")
        assert "fill_value = 2.500000e+00 : f32" in str(module)
    text = module.operation.get_asm(enable_debug_info=True)
    assert '"here"' in text and "mine" in text
    halves, _ = build_module(of(lambda x, y, b: b.matmul(x, y, False, True, torch.bfloat16), (4, 8), (2, 8)), "ttir")
    assert "-> tensor<4x2xbf16>" in str(halves) and "transpose_b = true" in str(halves)


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
    _, path, goldens, _ = compile_ttir_to_flatbuffer(program, custom_pipeline=chosen)
    assert "IR Dump After" in capfd.readouterr().err
    execute_fb(path, goldens)
    module = build_module(program, "ttir")[0]
    create_custom_ttir_pipeline_fn("func.func(canonicalize)", verify=False)(
        module, "mesh-shape=1,2 argument-types=<lambda>=input"
    )
    assert "meshShape = 1x2" in str(module) and "argument_type<input>" in str(module)
    with pytest.raises(ValueError, match="'canonicalize' take no options of a pipeline; there is enable-fusing-pass"):
        create_custom_ttir_pipeline_fn("canonicalize")(module, "enable-fusing-pass=false")
    with pytest.raises(ValueError, match="no-such-pass"):
        create_custom_ttir_pipeline_fn("no-such-pass")(module, "")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_gelu_by_tanh(dtype):
    """A mark of front ends, in addition to PyTorch's own."""
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
    assert (
        Path("double/stablehlo_module.mlir").read_text() == f"{module}\n"
        and type(builder).__name__ == "StableHLOBuilder"
    )
    module, _ = experimental_build_stablehlo_module(double, [(2,), (2,)], [torch.int32, torch.int32], base="other")
    assert "tensor<2xi32>" in str(module) and not Path("other").exists()


def test_saved_artifacts_are_where_programs_read_them():
    """The lowered module in the folder of the builder's name; the report stands for its path."""
    program = of(lambda x, b: b.exp(x), (4, 8))
    report = compile_and_execute_ttir(program, save_artifacts=True, test_base="case")
    path = Path(get_artifact_dir(".", "TTIRBuilder", "case", make_dir=False)) / "ttnn_compiled.mlir"
    assert Path(report) == path and "ttnn.exp" in Path(report).read_text()
    compile_ttir_to_flatbuffer(program, save_artifacts=True, artifact_dir="mine")
    assert "ttnn.exp" in Path("mine/ttnn_compiled.mlir").read_text()
    with pytest.raises(TypeError, match="save_artifacts=True writes the compiled module"):
        open(compile_and_execute_ttir(program))  # noqa: SIM115 (opens nothing)


def test_goldens_while_a_function_is_built():
    """Compares the golden of an operand while its function is built with the golden afterwards."""
    seen = {}

    def module(b):
        @b.func([(4, 8), (4, 8)], [torch.float32] * 2)
        def f(x, y, b):
            total = b.add(x, y)
            seen["x"], seen["total"] = b._get_golden_tensor(x), b._get_golden_tensor(total)
            b.set_operand_goldens({total: torch.ones(4, 8)})
            seen["given"] = b._get_golden_tensor(total)
            return b.exp(total)

    _, builder = build_module(module, "ttir")
    inputs = builder.golden_map[0][0]
    assert torch.equal(seen["x"].shard_at(0), inputs["input_0"].shard_at(0))
    assert torch.equal(seen["total"].shard_at(0), inputs["input_0"].shard_at(0) + inputs["input_1"].shard_at(0))
    assert torch.equal(seen["given"].shard_at(0), torch.ones(4, 8))
    assert torch.equal(inputs["output_0"].shard_at(0), torch.ones(4, 8).exp())


def hooked(config, module):
    """Runs a program with hooks of the config."""
    _, path, goldens, _ = compile_ttir_to_flatbuffer(module)
    binary = rt.binary.load_binary_from_path(path)
    kept = rt.runtime.DebugHooks.get(post_op=post_op_get_callback_fn(config))
    try:
        inputs = [rt.runtime.create_host_tensor(goldens[0][f"input_{i}"].shard_at(0)) for i in range(2)]
        (result,) = rt.runtime.submit(config.device, binary, 0, inputs)
        return torch.from_dlpack(rt.runtime.to_host(result, untilize=True)[0])
    finally:
        rt.runtime.unregister_hooks()
        del kept


def sum_and_exp(b):
    @b.func([(4, 8), (4, 8)], [torch.float32] * 2)
    def f(x, y, b):
        return b.exp(b.add(x, y, loc="sum"), loc="power")


def test_callbacks_of_programs_own(tmp_path):
    _, _, _, intermediates = compile_ttir_to_flatbuffer(sum_and_exp)
    device = rt.runtime.open_mesh_device()
    try:
        config = CallbackRuntimeConfig(
            device, goldens=intermediates, verify_intermediates=True, save_memory=True, save_artifacts=True,
            artifact_dir=tmp_path,
        )  # fmt: skip
        hooked(config, sum_and_exp)
        assert len(config.golden_report) == 2
        assert all(found[0]["passed"] and found[0]["pcc"] > 0.99 for found in config.golden_report.values())
        assert {entry["op"] for entry in config.memory_report.values()} >= {"ttnn.add", "ttnn.exp"}
        assert config.memory_report[0]["dram"]["total_bytes_allocated_per_bank"] > 0
        for name in ("golden_report", "memory_report"):
            written = json.loads((tmp_path / f"{name}.json").read_text())
            assert written == json.loads(json.dumps(getattr(config, name)))
        # Values by location, one of them wrong, which is given to the ops after it.
        config = CallbackRuntimeConfig(
            device, goldens={"sum": torch.zeros(4, 8)}, bypass_ops=["sum"], verify_intermediates=True
        )
        assert torch.equal(hooked(config, sum_and_exp), torch.ones(4, 8))
        assert list(config.golden_report) == ["sum"] and not config.golden_report["sum"][0]["passed"]
        config.start_new_program(tmp_path)
        assert config.golden_report == {}
    finally:
        rt.runtime.close_mesh_device(device)


def test_non_config_is_refused():
    with pytest.raises(ValueError, match="save_memory needs a device; expected an open mesh device, found None"):
        CallbackRuntimeConfig(save_memory=True)
    for wrong, message in (
        ({"device": {"0": 1}}, "CallbackRuntimeConfig: device is .*; expected a Device or None"),
        ({"goldens": ["a"]}, "CallbackRuntimeConfig: goldens is .*; expected a mapping or None"),
        ({"bypass_ops": "12"}, "CallbackRuntimeConfig: bypass_ops is '12'"),
        ({"bypas_ops": []}, "CallbackRuntimeConfig takes no 'bypas_ops'; did you mean 'bypass_ops'"),
    ):
        with pytest.raises(TypeError, match=message):
            CallbackRuntimeConfig(**wrong)
    assert CallbackRuntimeConfig(bypass_ops=[12]).bypass_ops == {"12"}


@pytest.mark.parametrize("scale", [1e-5, 1, 1 / 3])
def test_scales_of_quantised_numbers(scale):
    x = torch.tensor([[-3.0, 0.0, 0.2, 1.0]]) * scale

    def module(b):
        @b.func([(1, 4)], [torch.float32])
        def f(x, b):
            return b.dequantize(b.quantize(x, scale, 3, torch.int32), scale, 3, torch.float32)

    binary = rt.binary.load_binary_from_path(compile_ttir_to_flatbuffer(module)[1])
    device = rt.runtime.open_mesh_device()
    try:
        (result,) = rt.runtime.submit(device, binary, 0, [rt.runtime.create_host_tensor(x)])
        found = torch.from_dlpack(rt.runtime.to_host(result, untilize=True)[0])
    finally:
        rt.runtime.close_mesh_device(device)
    assert torch.allclose(found, torch.tensor([[-3.0, 0.0, 0.0, 1.0]]) * scale, rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x, b: b.quantize(x, 0, 3, torch.int8), ValueError, "scale is 0; expected a number above 0"),
        (lambda x, b: b.quantize(x, "1", 3, torch.int8), ValueError, "scale is '1'; expected a number above 0"),
        (lambda x, b: b.quantize(x, 0.5, 0.5, torch.int8), TypeError, "zero_point is 0.5; expected an integer"),
        (lambda x, b: b.quantize(x, 0.5, 3, torch.float32), TypeError, "stores no quantised numbers"),
        (lambda x, b: b.quantize(x, 0.5, 3, "int8"), TypeError, "stores no quantised numbers"),
        (lambda x, b: b.dequantize(x, 0.5, 3, torch.float32), ValueError, "in0 is a tensor<4x8xf32>; expected quant"),
    ],
)
def test_non_quantization_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        build_module(of(call, (4, 8)), "ttir")


def test_bypassed_ops_are_named():
    def module(b):
        @b.func([(4, 8), (4, 8)], [torch.float32] * 2)
        def f(x, y, b):
            total = b.add(x, y)
            b.bypass(total)
            return b.exp(total)

    builder, path, goldens, intermediates = compile_ttir_to_flatbuffer(module)
    assert builder._bypass_ops == ["0"]
    execute_fb(path, goldens, intermediates, bypass_ops=builder._bypass_ops)


@pytest.mark.parametrize("dtype", [torch.qint32, torch.qint8, torch.int8])
def test_quantised_numbers(dtype):
    """As the ecosystem's builder takes them, through another scale and a permute, and back."""

    def module(b):
        @b.func([(4, 8)], [torch.float32])
        def f(x, b):
            q = b.quantize(x, 0.1, 3, dtype)
            q = b.requantize(b.permute(q, [1, 0]), 0.25, -1, dtype)
            return b.dequantize(q, 0.25, -1, torch.float32)

    report = compile_and_execute_ttir(module, check_atol=True, check_rtol=True)
    assert report.passed
    text = str(build_module(module, "ttir")[0])
    storage = "i32" if dtype is torch.qint32 else "i8"
    assert f"!quant.uniform<{storage}:f32, 1.000000e-01:3>" in text

    def wrong(b):
        @b.func([(4, 8)], [torch.float32])
        def f(x, b):
            return b.dequantize(b.quantize(x, 0.1, 3, dtype), 0.5, 3, torch.float32)

    with pytest.raises(ValueError, match=r"scale and zero_point are 0\.5 and 3; in0 is of 0\.1 and 3"):
        build_module(wrong, "ttir")
