# SPDX-License-Identifier: Apache-2.0
"""Tensors that kernels of TTNN programs read and write where they are: in DRAM, larger than L1, on meshes."""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import build_module, compile_and_execute_ttir
from builder.execution.verdicts import Verdict, compare_shards
from emit_cases import Subject, assert_same, compare_cpp, compare_python, made, of_flatbuffer
from op_cases import clone, execute
from ttmlir import ir, passes
from ttmlir.ir import MLIRError

Build = Callable[..., Any]
METAL, MODE = "ttir-to-ttmetal-pipeline", "ttnn-mode=true"
SUBGRAPHS, SPILLED = "enable-create-d2m-subgraphs=true", "force-spill-to-dram-if-legal=true"
F32, BF16, I32 = torch.float32, torch.bfloat16, torch.int32


def lowered(module: Any, options: str = "", pipeline: str = METAL) -> Any:
    copy = clone(module)
    passes.run_pass(copy, pipeline, f"{MODE} {options}".strip() if pipeline == METAL else options)
    return copy


def run(module: Any, inputs: Any, mesh: tuple[int, int] = (1, 1)) -> list[Any]:
    """Returns shards by output."""
    binary = rt.binary.load_binary_from_bytes(passes.ttnn_to_flatbuffer_bin(module), allow_native=True)
    return execute(binary, 0, inputs, mesh)


def of_ttmetal(module: Any, inputs: Any, mesh: tuple[int, int] = (1, 1), options: str = "") -> list[Any]:
    metal = clone(module)
    passes.run_pass(metal, METAL, options)
    binary = rt.binary.load_binary_from_bytes(passes.ttmetal_to_flatbuffer_bin(metal), allow_native=True)
    return execute(binary, 0, inputs, mesh)


def chain(b: Any, x: Any, y: Any) -> Any:
    return b.multiply(b.tanh(b.add(x, y)), b.sigmoid(x))


def integers(b: Any, x: Any, y: Any) -> Any:
    return b.bitwise_xor(b.add(x, y), b.multiply(x, y))


def sums(b: Any, x: Any) -> Any:
    return b.sum(b.exp(x), dim_arg=[1], keep_dim=True), b.max(x, dim_arg=[0], keep_dim=False)


def products(b: Any, x: Any, w: Any) -> Any:
    y = b.matmul(b.exp(x), w)
    return b.softmax(y, dimension=1), y


def permuted(b: Any, x: Any) -> Any:
    return b.permute(b.neg(x), [1, 0])


def rows_at(b: Any, table: Any, index: Any) -> Any:
    return b.embedding(index, b.neg(table))


PROGRAMS: list[tuple[Build, list[tuple[int, ...]], torch.dtype]] = [
    (chain, [(64, 128), (64, 128)], F32),
    (chain, [(33, 65), (33, 1)], BF16),
    (chain, [(1, 1), (1, 1)], F32),
    (chain, [(2, 3, 40, 70), (2, 3, 40, 70)], BF16),
    # 11 x 13 tiles: parts of cores have padding that the tensor does not.
    (chain, [(352, 416), (352, 1)], F32),
    (integers, [(340, 400), (400,)], I32),
    (sums, [(340, 400)], F32),
    (sums, [(50, 70)], BF16),
    (products, [(340, 96), (96, 400)], F32),
    (products, [(31, 65), (65, 7)], BF16),
    (permuted, [(340, 400)], F32),
    (permuted, [(40, 70)], I32),
]


@pytest.mark.parametrize("options", ["", SPILLED, "test-assume-l1-capacity=300000"])
@pytest.mark.parametrize(("build", "shapes", "dtype"), PROGRAMS)
def test_bits_of_ttmetal(build: Build, shapes: Any, dtype: torch.dtype, options: str) -> None:
    """Wherever tensors lie, results have the bits of target ttmetal, whose blocks are the same ones here."""
    module, golden = made(build, shapes, [dtype] * len(shapes))
    program = lowered(module, options)
    found = run(program, golden.inputs)
    assert_same("ttnn-mode", found, of_ttmetal(module, golden.inputs))
    for expected, shards in zip(golden.outputs, found, strict=True):
        for _, _, comparison in compare_shards(expected, shards, Verdict(check_atol=True, check_rtol=True), True):
            assert comparison.within, str(comparison)


@pytest.mark.parametrize("options", ["", SPILLED])
@pytest.mark.parametrize("dtype", [F32, BF16, I32])
def test_embeddings(dtype: torch.dtype, options: str) -> None:
    module, golden = made(rows_at, [(300, 33), (3, 70)], [dtype, I32])
    index = golden.inputs[1].golden_map_tensor_as_torch_tensors()[0]
    index.copy_(torch.arange(index.numel()).reshape(index.shape) * 7 % 300)
    assert_same("ttnn-mode", run(lowered(module, options), golden.inputs), of_ttmetal(module, golden.inputs))


def test_arguments_and_results_stay_in_dram() -> None:
    """Nothing copies them: the kernels have the tensors themselves."""
    module, _ = made(chain, [(352, 416), (352, 416)], [F32] * 2)
    text = str(lowered(module))
    assert "to_memory_config" not in text and "to_layout" not in text
    assert re.search(r'"ttnn.generic"\(%arg0, %arg1, %\d+\)', text), text


def test_values_between_kernels_leave_l1() -> None:
    """Where L1 has no room, words in DRAM hold what kernels have for one another."""
    module, golden = made(products, [(340, 96), (96, 400)], [F32] * 2)
    roomy, tight = lowered(module), lowered(module, SPILLED)
    words = "xui32, #dram"
    assert words not in str(roomy) and words in str(tight)
    assert_same("ttnn-mode", run(tight, golden.inputs), run(roomy, golden.inputs))


@pytest.mark.parametrize("dtype", [F32, pytest.param(BF16, marks=pytest.mark.slow)])
def test_larger_than_l1(dtype: torch.dtype) -> None:
    """Operands, a value in between, and results are each larger than the L1 of all cores, 85 MiB."""
    rows, columns = (4100, 6000) if dtype == F32 else (8200, 6000)

    def build(b: Any, x: Any, y: Any) -> Any:
        z = b.add(b.abs(x), y)
        return b.max(z, dim_arg=[1], keep_dim=False), b.relu(z)

    module, _ = made(build, [(rows, columns), (1, columns)], [dtype] * 2)
    x = torch.arange(rows * columns, dtype=F32).remainder_(1009).sub_(500).reshape(rows, columns).to(dtype)
    y = torch.arange(columns, dtype=F32).reshape(1, columns).remainder_(64).sub_(70).to(dtype)
    binary = rt.binary.load_binary_from_bytes(passes.ttnn_to_flatbuffer_bin(lowered(module)), allow_native=True)
    with rt.runtime.open_mesh_device(rt.runtime.MeshDeviceOptions()) as device:
        outputs = rt.runtime.submit(device, binary, 0, [rt.runtime.create_host_tensor(each) for each in (x, y)])
        largest, found = (torch.from_dlpack(rt.runtime.to_host(each)[0]) for each in outputs)
    expected = x.abs() + y
    assert torch.equal(largest, expected.amax(1)) and torch.equal(found, expected.relu())


def test_groups_larger_than_l1() -> None:
    """Chains of elementwise ops in a program of the library, too."""
    module, _ = made(lambda b, x: b.exp(b.tanh(x)), [(8192, 8192)], [F32])
    text = str(lowered(module, SUBGRAPHS, "ttir-to-ttnn-backend-pipeline"))
    assert text.count('"ttnn.generic"(%arg0, ') == 1 and "#l1" not in text


EMITTED = [
    (chain, [(352, 416), (352, 416)], BF16, ""),
    (products, [(340, 96), (96, 400)], F32, SPILLED),
    (sums, [(340, 400)], F32, SPILLED),
    (permuted, [(40, 70)], I32, SPILLED),
]


def subject(build: Build, shapes: Any, dtype: torch.dtype, options: str) -> Subject:
    module, golden = made(build, shapes, [dtype] * len(shapes))
    return Subject(build.__name__, lowered(module, options), [golden.inputs])


@pytest.mark.parametrize(("build", "shapes", "dtype", "options"), EMITTED)
def test_emitted_python(build: Build, shapes: Any, dtype: torch.dtype, options: str) -> None:
    given = subject(build, shapes, dtype, options)
    compare_python(given, of_flatbuffer(given))


def test_emitted_cpp() -> None:
    """Also of a mesh."""
    module, golden = sharded((1, 2), (68, 132), chain)
    on_mesh = Subject("sharded", lowered(module, "mesh-shape=1,2"), [golden.inputs], (1, 2))
    compare_cpp([*(subject(*each) for each in EMITTED), on_mesh])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("available-l1-addr-range=200000,400000", "available-l1-addr-range has no effect with ttnn-mode: the executor"),
        ("default-input-memspace=dram", "default-input-memspace has no effect with ttnn-mode: arguments lie where"),
        ("test-assume-l1-capacity=104000", "does not fit in L1"),
    ],
)
def test_refused(options: str, message: str) -> None:
    module, _ = made(chain, [(64, 128), (64, 128)], [F32] * 2)
    with pytest.raises(MLIRError, match=message):
        lowered(module, options)


# On meshes.


def sharded(mesh: tuple[int, int], shape: tuple[int, int], body: Build) -> tuple[Any, Any]:
    """Returns (module, goldens): rows and columns of the first argument are divided, the second one is on all chips."""
    rows, columns = mesh
    part = (shape[0] // rows, shape[1] // columns)

    def module(builder: Any) -> None:
        @builder.func([shape, part], [F32] * 2)
        def f(x: Any, y: Any, builder: Any) -> Any:
            own = builder.mesh_shard(x, "devices", "full_to_shard", mesh, (0, 1))
            same = builder.mesh_shard(y, "replicate", "full_to_shard", (1,), (-1,))
            return builder.mesh_shard(body(builder, own, same), "devices", "shard_to_full", mesh, (0, 1))

    built, builder = build_module(module, "ttir", mesh_dict=OrderedDict([("x", rows), ("y", columns)]))
    return built, builder.golden_map[0][0]


@pytest.mark.parametrize("options", ["", SPILLED])
@pytest.mark.parametrize("shape", [(64, 128), (68, 132)])
@pytest.mark.parametrize("mesh", [(1, 2), (2, 4)])
def test_meshes(mesh: tuple[int, int], shape: tuple[int, int], options: str) -> None:
    module, golden = sharded(mesh, shape, chain)
    sizes = f"mesh-shape={mesh[0]},{mesh[1]}"
    program = lowered(module, f"{sizes} {options}".strip())
    text = str(program)
    assert text.count("ttnn.distribute_tensor") == 2 and text.count("ttnn.aggregate_tensor") == 1
    found = run(program, golden.inputs, mesh)
    assert_same("ttnn-mode", found, of_ttmetal(module, golden.inputs, mesh, sizes))
    for expected, shards in zip(golden.outputs, found, strict=True):
        for _, _, comparison in compare_shards(expected, shards, Verdict(check_atol=True, check_rtol=True), True):
            assert comparison.within, str(comparison)


def test_block_formats_on_a_mesh() -> None:
    """They have no rows, which the host would divide."""
    module, golden = sharded((1, 2), (64, 128), chain)
    options = "mesh-shape=1,2 global-data-format-target=bfp_bf8"
    found = run(lowered(module, options), golden.inputs, (1, 2))
    assert_same("ttnn-mode", found, of_ttmetal(module, golden.inputs, (1, 2), options))


def test_a_mesh_of_one_chip() -> None:
    """The part of its chip is the whole, also as a result."""

    def module(builder: Any) -> None:
        @builder.func([(45, 66)], [F32])
        def f(x: Any, builder: Any) -> Any:
            part = builder.mesh_shard(x, "devices", "full_to_shard", (1, 1), (-1, 1))
            return part, builder.exp(part)

    built, builder = build_module(module, "ttir")
    golden = builder.golden_map[0][0]
    found = run(lowered(built, "mesh-shape=1,1"), golden.inputs)
    assert_same("ttnn-mode", found, of_ttmetal(built, golden.inputs, (1, 1), "mesh-shape=1,1"))


def test_values_between_chips_and_the_host() -> None:
    """Joined values are computed on again, divided in another way, and computed with an argument that is whole."""

    def module(builder: Any) -> None:
        @builder.func([(64, 96), (64, 96)], [F32] * 2)
        def f(x: Any, y: Any, builder: Any) -> Any:
            part = builder.mesh_shard(builder.exp(x), "devices", "full_to_shard", (1, 2), (-1, 1))
            whole = builder.mesh_shard(builder.sin(part), "devices", "shard_to_full", (1, 2), (-1, 1))
            rows = builder.mesh_shard(builder.add(whole, y), "devices", "full_to_shard", (2, 1), (-1, 0))
            return whole, builder.mesh_shard(builder.neg(rows), "devices", "shard_to_full", (2, 1), (-1, 0))

    built, builder = build_module(module, "ttir", mesh_dict=OrderedDict([("x", 1), ("y", 2)]))
    golden = builder.golden_map[0][0]
    found = run(lowered(built, "mesh-shape=1,2"), golden.inputs, (1, 2))
    assert_same("ttnn-mode", found, of_ttmetal(built, golden.inputs, (1, 2), "mesh-shape=1,2"))
    assert found[0][0].shape == found[1][0].shape == (64, 96)


def test_emitted_python_on_a_mesh() -> None:
    module, golden = sharded((1, 2), (68, 132), chain)
    given = Subject("sharded", lowered(module, "mesh-shape=1,2"), [golden.inputs], (1, 2))
    compare_python(given, of_flatbuffer(given))


def test_builder_on_a_mesh() -> None:
    def module(builder: Any) -> None:
        @builder.func([(64, 128)], [BF16])
        def f(x: Any, builder: Any) -> Any:
            part = builder.mesh_shard(x, "devices", "full_to_shard", (1, 2), (-1, 1))
            return builder.mesh_shard(builder.gelu(part), "devices", "shard_to_full", (1, 2), (-1, 1))

    compile_and_execute_ttir(module, target="ttnn-mode", mesh_dict=OrderedDict([("x", 1), ("y", 2)]))


@pytest.mark.parametrize(
    "body",
    [
        lambda b, x, y: b.all_reduce(x, reduce_type="sum", cluster_axis=1),
        lambda b, x, y: b.concat([b.mesh_partition(each, 1, cluster_axis=1) for each in (x, y)], dim=1),
    ],
)
def test_exchanges_between_chips_are_refused(body: Build) -> None:
    module, _ = sharded((1, 2), (64, 128), body)
    with pytest.raises(MLIRError, match="kernels that exchange data between chips, or take the place of a chip"):
        lowered(module, "mesh-shape=1,2")


@pytest.mark.parametrize(
    ("kind", "shape", "columns", "message"),
    [
        ("maximal", "1", 128, "'ttir.mesh_shard' op is not lowered to TTNN: shard_type maximal"),
        ("devices", "1, 4", 32, "'ttir.mesh_shard' op is not lowered to TTNN: shard_shape splits dimension 1 into 4"),
    ],
)
def test_mesh_shards_that_are_refused(kind: str, shape: str, columns: int, message: str) -> None:
    text = f"""
func.func @main(%x: tensor<64x128xf32>) -> tensor<64x{columns}xf32> {{
  %0 = "ttir.mesh_shard"(%x) <{{shard_type = #ttcore.shard_type<{kind}>,
    shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: {shape}>,
    shard_dims = array<i64: {-1 if kind == "maximal" else "-1, 1"}>}}>
    : (tensor<64x128xf32>) -> tensor<64x{columns}xf32>
  return %0 : tensor<64x{columns}xf32>
}}"""
    with pytest.raises(MLIRError, match=re.escape(message)):
        lowered(ir.Module.parse(text, ir.Context()), "mesh-shape=1,2")


# Times.


def report_of(module: Any, inputs: Any, metal: bool = False) -> Any:
    to_binary = passes.ttmetal_to_flatbuffer_bin if metal else passes.ttnn_to_flatbuffer_bin
    binary = rt.binary.load_binary_from_bytes(to_binary(module), allow_native=True)
    rt.runtime.set_perf_recording(True)
    try:
        with rt.runtime.open_mesh_device(rt.runtime.MeshDeviceOptions()) as device:
            tensors = [
                rt.runtime.create_host_tensor(each.golden_map_tensor_as_torch_tensors()[0].numpy()) for each in inputs
            ]
            rt.runtime.submit(device, binary, 0, tensors)
            return rt.runtime.last_run(device)
    finally:
        rt.runtime.set_perf_recording(False)


def test_reports_have_the_cycles_of_kernels() -> None:
    """The kernel of the chain takes as long, and does the same, as on target ttmetal."""
    module, golden = made(chain, [(64, 128), (64, 128)], [F32] * 2)
    report = report_of(lowered(module), golden.inputs)
    kernels = [op for op in report.ops if op.name == "ttnn.generic"]
    assert len(kernels) == 1 and kernels[0].activity is not None
    slowest = max(kernel.end for kernel in kernels[0].activity.kernels)
    assert kernels[0].cycles == math.ceil(slowest + kernels[0].launch_ns("wormhole_b0"))  # of 1 GHz
    assert report.device_ns == pytest.approx(sum(op.device_ns for op in report.ops))
    metal = clone(module)
    passes.run_pass(metal, METAL, "default-input-memspace=dram default-output-memspace=dram")
    others = [op for op in report_of(metal, golden.inputs, metal=True).ops if op.activity is not None]
    assert kernels[0].sfpu_tiles in [op.sfpu_tiles for op in others]
    assert all(op.activity is None for op in report.ops if op.name != "ttnn.generic")


def test_slower_kernels_take_longer() -> None:
    """One core has more to do than eight."""
    module, golden = made(chain, [(256, 256), (256, 256)], [F32] * 2)
    one, more = (
        report_of(lowered(module, f"override-device-shape={shape}"), golden.inputs) for shape in ("1,1", "2,4")
    )
    assert one.device_ns > 4 * more.device_ns
    assert one.cycles > more.cycles


def test_times_of_groups() -> None:
    module, golden = made(lambda b, x: b.cumsum(b.exp(b.sin(x)), dim=0), [(64, 128)], [F32])
    report = report_of(lowered(module, SUBGRAPHS, "ttir-to-ttnn-backend-pipeline"), golden.inputs)
    [generic] = [op for op in report.ops if op.name == "ttnn.generic"]
    assert report.device_ns >= generic.device_ns > 0
    assert generic.activity is not None and generic.bound in ("dispatch", "compute", "dram", "l1")
