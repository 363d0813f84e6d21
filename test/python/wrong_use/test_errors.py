# SPDX-License-Identifier: Apache-2.0
"""Errors of compiling, loading and running programs, and their texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from builder.api.modules import run_pipeline
from builder.base.builder_apis import (
    build_module,
    compile_stablehlo_to_flatbuffer,
    load_mlir_file,
)
from builder.base.errors import TTBuilderCompileException
from builder.execution.device_tensors import convert_input_layouts, host_tensor
from op_cases import device
from ttmlir import ir
from ttmlir.dialects import ttcore, ttnn
from ttmlir.passes import run_pass, ttir_to_ttnn_backend_pipeline, ttnn_to_flatbuffer_bin


def module_of(
    build: Callable[..., Any], shapes: list[tuple[int, ...]], dtype: torch.dtype = torch.float32
) -> ir.Module:
    """The TTNN module of a function `main` that `build(builder, *operands)` makes."""

    def made(builder: Any) -> None:
        @builder.func(shapes, [dtype] * len(shapes))
        def main(*arguments: Any) -> Any:
            return build(arguments[-1], *arguments[:-1])

    module, _ = build_module(made, "ttir")
    ttir_to_ttnn_backend_pipeline(module)
    return module


def binary_of(module: ir.Module) -> Any:
    return rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(module))


@pytest.fixture(scope="module")
def add() -> Any:
    """main(x, y) = x + y on tensors of 4 x 8 f32."""
    return binary_of(module_of(lambda builder, x, y: builder.add(x, y), [(4, 8), (4, 8)]))


def submitted(binary: Any, *tensors: torch.Tensor) -> Any:
    return rt.runtime.submit(device(), binary, 0, [host_tensor(t) for t in tensors])


def in_l1(module: ir.Module) -> ir.Module:
    """The same module with all its tensors in L1 instead of DRAM."""
    text = module.operation.get_asm(enable_debug_info=True)
    return ir.Module.parse(re.sub(r"\bdram\b", "l1", text), module.context)


# ------------------------------------------------------------------ memory


def test_out_of_dram() -> None:
    binary = binary_of(module_of(lambda builder: builder.ones(shape=[65536, 65536], dtype=torch.float32), []))
    with pytest.raises(rt.OutOfMemoryError) as raised:
        rt.runtime.submit(device(), binary, 0, [])
    text = str(raised.value)
    assert 'program "main"' in text and "ttnn.ones" in text
    assert "out of DRAM on device" in text and "(wormhole_b0)" in text
    assert "needs 17,179,869,184 bytes in total" in text and "free per bank are" in text


def test_out_of_l1_names_op_and_residents() -> None:
    """8192 x 2048 f32 are 64 MB: one fits in the 64 cores' L1, two do not."""
    module = in_l1(module_of(lambda builder, x: builder.sigmoid(builder.exp(x)), [(8192, 2048)]))
    with pytest.raises(rt.OutOfMemoryError) as raised:
        submitted(binary_of(module), torch.zeros(8192, 2048))
    text = str(raised.value)
    assert "out of L1 on device" in text and "needs 67,108,864 bytes in total" in text
    assert re.search(r"op \d+ \(ttnn\.\w+\)", text)
    assert "resident: input 0 of program" in text


def test_memory_is_free_again_after_an_error() -> None:
    with rt.runtime.open_mesh_device() as own:
        kind = rt.runtime.MemoryBufferType.L1
        before = own.get_memory_view()[kind].total_bytes_free_per_bank
        module = in_l1(module_of(lambda builder, x: builder.sigmoid(builder.exp(x)), [(8192, 2048)]))
        with pytest.raises(rt.OutOfMemoryError):
            rt.runtime.submit(own, binary_of(module), 0, [host_tensor(torch.zeros(8192, 2048))])
        assert own.get_memory_view()[kind].total_bytes_free_per_bank == before


# ------------------------------------------------------------------ devices


def test_closed_device(add: Any) -> None:
    closed = rt.runtime.open_mesh_device()
    rt.runtime.close_mesh_device(closed)
    tensors = [host_tensor(torch.ones(4, 8))] * 2
    with pytest.raises(rt.DeviceError, match=r"submit: device \d+ .*closed"):
        rt.runtime.submit(closed, add, 0, tensors)
    with pytest.raises(rt.DeviceError, match=r"device \d+ .*closed"):
        rt.runtime.close_mesh_device(closed)
    with pytest.raises(rt.DeviceError, match=r"to_layout: device \d+ .*closed"):
        convert_input_layouts(closed, tensors, fbb=add, program_index=0)


def test_a_tensor_of_a_closed_device(add: Any) -> None:
    closed = rt.runtime.open_mesh_device()
    placed = convert_input_layouts(closed, [host_tensor(torch.ones(4, 8))] * 2, fbb=add, program_index=0)
    rt.runtime.close_mesh_device(closed)
    with pytest.raises(rt.Error, match=r"device \d+ .* is closed"):
        rt.runtime.submit(device(), add, 0, placed)


@pytest.mark.parametrize("shape", [(0, 1), (1, 2, 3), (2000, 2)])
def test_impossible_meshes(shape: tuple[int, ...]) -> None:
    options = rt.runtime.MeshDeviceOptions()
    options.mesh_shape = shape
    with pytest.raises(rt.DeviceError, match="mesh"):
        rt.runtime.open_mesh_device(options)


def test_a_program_for_another_architecture(add: Any) -> None:
    options = rt.runtime.MeshDeviceOptions()
    options.arch = "blackhole"
    with rt.runtime.open_mesh_device(options) as other, pytest.raises(rt.DeviceError) as raised:
        rt.runtime.submit(other, add, 0, [host_tensor(torch.ones(4, 8))] * 2)
    assert "was compiled for wormhole_b0, but device" in str(raised.value) and "is blackhole" in str(raised.value)


# ------------------------------------------------------------------ inputs


def test_wrong_number_of_inputs(add: Any) -> None:
    with pytest.raises(rt.Error, match=r'program "main".* takes 2 inputs and was given 1'):
        submitted(add, torch.ones(4, 8))
    with pytest.raises(rt.Error, match=r'program "main".* takes 2 inputs and was given 3'):
        submitted(add, *[torch.ones(4, 8)] * 3)


def test_wrong_shape_of_an_input(add: Any) -> None:
    with pytest.raises(rt.Error) as raised:
        submitted(add, torch.ones(4, 8), torch.ones(8, 4))
    text = str(raised.value)
    assert "input 1" in text and "has shape [8, 4]; expected [4, 8]" in text


def test_wrong_dtype_of_an_input(add: Any) -> None:
    with pytest.raises(rt.Error) as raised:
        submitted(add, torch.ones(4, 8), torch.ones(4, 8, dtype=torch.int32))
    text = str(raised.value)
    assert "input 1" in text and "si32" in text and "f32" in text


def test_no_such_program(add: Any) -> None:
    with pytest.raises(rt.Error, match="there is no program 1; it has 1"):
        rt.runtime.submit(device(), add, 1, [])


# ------------------------------------------------------------------ flatbuffers


@pytest.mark.parametrize("kept", [0, 1, 7, 8, 64, 500, -8, -1])
def test_truncated_flatbuffer(add: Any, kept: int) -> None:
    with pytest.raises(rt.BinaryError) as raised:
        rt.binary.load_binary_from_bytes(add.as_bytes()[:kept])
    assert str(raised.value).startswith("flatbuffer: ")


def test_not_a_flatbuffer() -> None:
    with pytest.raises(rt.BinaryError, match="flatbuffer: "):
        rt.binary.load_binary_from_bytes(b"\x7fELF" * 100)
    with pytest.raises(rt.BinaryError, match=r"nosuch\.ttnn"):
        rt.binary.load_binary_from_path("nosuch.ttnn")


def test_a_program_op_the_runtime_does_not_know(add: Any) -> None:
    data = add.as_bytes().replace(b"ttnn.add\0", b"ttnn.adx\0")
    with pytest.raises(rt.BinaryError, match=r'program "main": op \d+ .*ttnn\.adx'):
        rt.binary.load_binary_from_bytes(data)


# ------------------------------------------------------------------ MLIR


MALFORMED = {
    "unknown op": ('"ttir.sigmoit"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>', "ttir.sigmoit"),
    "missing operand": ('"ttir.add"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>', "ttir.add.* 2 operands"),
    "undeclared value": ('"ttir.exp"(%y) : (tensor<4x8xf32>) -> tensor<4x8xf32>', "undeclared SSA value"),
    "wrong type": ('"ttir.exp"(%x) : (tensor<4x9xf32>) -> tensor<4x9xf32>', "different type"),
    "wrong result": ('"ttir.exp"(%x) : (tensor<4x8xf32>) -> tensor<4x9xf32>', "ttir.exp"),
    "missing attribute": ('"ttir.softmax"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>', "ttir.softmax.*'dimension'"),
    "wrong attribute": (
        '"ttir.softmax"(%x) <{dimension = "one"}> : (tensor<4x8xf32>) -> tensor<4x8xf32>',
        "dimension",
    ),
    "unranked": ('"ttir.exp"(%x) : (tensor<4x8xf32>) -> tensor<*xf32>', "ttir.exp"),
    "unclosed": ('"ttir.exp"(%x : (tensor<4x8xf32>) -> tensor<4x8xf32>', "expected"),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_malformed_mlir(what: str) -> None:
    line, pattern = MALFORMED[what]
    text = (
        f"func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {{\n  %0 = {line}\n  return %x : tensor<4x8xf32>\n}}"
    )
    with pytest.raises(ir.MLIRError) as raised:
        ir.Module.parse(text, ir.Context())
    assert re.search(pattern, str(raised.value)), str(raised.value)
    with pytest.raises(Exception, match="(?s)" + pattern):
        load_mlir_file(text, target="ttir")


def test_a_pass_that_does_not_exist() -> None:
    module = ir.Module.parse("", ir.Context())
    with pytest.raises((ValueError, ir.MLIRError), match="nosuch-pass"):
        run_pass(module, "nosuch-pass")
    with pytest.raises((ValueError, ir.MLIRError), match="no-such-option"):
        ttir_to_ttnn_backend_pipeline(module, "no-such-option=1")


def test_an_op_that_cannot_be_lowered_is_named() -> None:
    text = """func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %0 = "ttir.exp"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("model.py":7:3)
      %1 = stablehlo.add %0, %0 : tensor<4x8xf32> loc("model.py":8:3)
      return %1 : tensor<4x8xf32>
    }"""
    module = ir.Module.parse(text, ir.Context())
    with pytest.raises(ir.MLIRError) as raised:
        ttir_to_ttnn_backend_pipeline(module)
    assert "stablehlo.add" in str(raised.value) and "model.py" in str(raised.value)


def test_a_module_that_is_not_ttnn_has_no_flatbuffer() -> None:
    text = """func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %0 = "ttir.exp"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    }"""
    with pytest.raises(ir.MLIRError, match=r"ttir\.exp|layout"):
        ttnn_to_flatbuffer_bin(ir.Module.parse(text, ir.Context()))


# ------------------------------------------------------------------ attributes and types made from Python


BAD_MESHES = [(2000,), (1, 2048), (0, 1), (-1, 1), (2**31, 2**32), (2**62, 4)]


@pytest.mark.parametrize("shape", BAD_MESHES, ids=str)
def test_meshes_that_no_attribute_holds(shape: tuple[int, ...]) -> None:
    with ir.Context() as context:
        system = ttcore.ir.SystemDescAttr.get_default(context=context)
        for make in (
            lambda: ttcore.ir.MeshAttr.get("mesh", list(shape), context=context),
            lambda: ttcore.ir.SystemDescAttr.get_default(mesh_shape=list(shape), context=context),
            lambda: ttcore.ir.DeviceAttr.from_system_desc(system, list(shape)),
        ):
            with pytest.raises(ValueError, match="is not that of 1 to 1024 chips"):
                make()


def test_a_layout_of_more_than_64_bits() -> None:
    with ir.Context() as context, pytest.raises(ValueError, match="exceeds 64 bits"):
        ttnn.ir.TTNNLayoutAttr.get([2**62, 2**62], 0, context=context)


def test_errors_of_passes_name_the_users_line() -> None:
    """Not how a pass keeps the number of an op."""

    def made(builder: Any) -> None:
        @builder.func([(2,)], [torch.int64])
        def main(x: Any, builder: Any) -> Any:
            return builder.add(x, builder.constant(torch.tensor([2**40, 1])))

    module, _ = build_module(made, "ttir")
    with pytest.raises(TTBuilderCompileException) as raised:
        lower_in_builder(module)
    text = str(raised.value)
    assert re.search(r"test_errors\.py:\d+: error: .*does not fit into", text), text
    assert "fused" not in text


def lower_in_builder(module: ir.Module) -> None:
    run_pipeline(module, ttir_to_ttnn_backend_pipeline, "", "lowering")


def test_stablehlo_options_that_are_not_there_are_refused() -> None:
    def made(builder: Any) -> None:
        @builder.func([(4, 8)], [torch.float32])
        def main(x: Any, builder: Any) -> Any:
            return builder.abs(x)

    with pytest.raises(TTBuilderCompileException, match="no option 'enable-something' in stablehlo-pipeline"):
        compile_stablehlo_to_flatbuffer(made, shlo_pipeline_options=["enable-something=true"])
