# SPDX-License-Identifier: Apache-2.0
"""Kernels inside of TTNN programs: chains of elementwise ops and whole programs agree with goldens and the library."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import build_module, compile_and_execute_ttir, compile_ttir_to_flatbuffer
from builder.base.errors import TTBuilderCompileException
from builder.execution.verdicts import Verdict, compare_shards
from emit_cases import made
from op_cases import clone, execute
from ttmlir import passes
from ttmlir.ir import MLIRError
from ttmlir.options import OptionError

Build = Callable[..., Any]
Shapes = Sequence[tuple[int, ...]]
TTNN, METAL = "ttir-to-ttnn-backend-pipeline", "ttir-to-ttmetal-pipeline"
SUBGRAPHS = "enable-create-d2m-subgraphs=true"


def run(module: Any, inputs: Any, options: str, pipeline: str = TTNN) -> tuple[list[Any], Any]:
    """Returns (shards by output, the lowered module)."""
    lowered = clone(module)
    passes.run_pass(lowered, pipeline, options)
    binary = rt.binary.load_binary_from_bytes(passes.ttnn_to_flatbuffer_bin(lowered), allow_native=True)
    return execute(binary, 0, inputs, (1, 1)), lowered


def generics(lowered: Any) -> int:
    return str(lowered).count('"ttnn.generic"')


def groups(module: Any, options: str) -> int:
    """Returns the number of functions that the pass makes."""
    lowered = clone(module)
    passes.run_pass(lowered, "ttir-to-ttnn-common-pipeline", options)
    passes.run_pass(lowered, "ttnn-create-d2m-subgraphs", "")
    return str(lowered).count("func private @d2m_subgraph_")


def check(build: Build, shapes: Shapes, dtype: torch.dtype, options: str = "", count: int = 1) -> None:
    """Kernels agree with the golden, and with the program without kernels. count: groups."""
    module, golden = made(build, shapes, [dtype] * len(shapes))
    assert groups(module, options) == count
    found, lowered = run(module, golden.inputs, f"{SUBGRAPHS} {options}".strip())
    assert generics(lowered) >= count
    plain, without = run(module, golden.inputs, options)
    assert generics(without) == 0
    for expected, shards, others in zip(golden.outputs, found, plain, strict=True):
        for _, _, comparison in compare_shards(expected, shards, Verdict(check_atol=True, check_rtol=True), True):
            assert comparison.within, str(comparison)
        largest = float(others[0].double().abs().max())
        step = {torch.float32: 1e-5, torch.bfloat16: 2**-6}.get(dtype, 0)
        assert torch.allclose(shards[0].double(), others[0].double(), rtol=step, atol=step * largest)


def chain(b: Any, x: Any, y: Any) -> Any:
    return b.multiply(b.tanh(b.add(x, y)), b.sigmoid(x))


def integers(b: Any, x: Any, y: Any) -> Any:
    return b.bitwise_xor(b.add(x, y), b.multiply(x, y))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    "shapes",
    [
        [(64, 128), (64, 128)],
        [(50, 100), (50, 100)],
        [(64, 128), (1, 128)],
        [(33, 65), (33, 1)],
        [(2, 3, 40, 70), (2, 3, 40, 70)],
        [(2, 64, 96), (64, 96)],
        [(3, 5, 33), (1, 33)],
        [(7,), (7,)],
        [(1, 1), (1, 1)],
        [(512, 1024), (512, 1)],
    ],
    ids=str,
)
def test_chains(shapes: Shapes, dtype: torch.dtype) -> None:
    check(chain, shapes, dtype)


def rows() -> list[tuple[str, int]]:
    """Returns (op, operands) of the tile operations."""
    table = Path(__file__).resolve().parents[3] / "include" / "ttmlir" / "Target" / "TTMetal" / "TileOps.def"
    found = re.findall(r"^TT_TILE_OP\((\w+), \w+, \w+, \w+, (\d)\)", table.read_text(), re.M)
    return [(name, int(operands)) for name, operands in found]


INTEGERS = re.compile("bitwise|shift")


@pytest.mark.sampled(25)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32])
@pytest.mark.parametrize(("name", "operands"), rows())
def test_every_tile_operation(name: str, operands: int, dtype: torch.dtype) -> None:
    """A chain with the op has the values of the library's, with the same places of NaN and infinity."""
    integral = dtype == torch.int32
    if INTEGERS.search(name) and not integral:
        dtype, integral = torch.int32, True

    def build(b: Any, *arguments: Any) -> Any:
        value = getattr(b, name)(*arguments)
        return b.add(value, arguments[0]) if integral else b.abs(value)

    module, golden = made(build, [(40, 70)] * operands, [dtype] * operands)
    found, lowered = run(module, golden.inputs, SUBGRAPHS)
    assert generics(lowered)
    plain, _ = run(module, golden.inputs, "")
    value, expected = found[0][0].double(), plain[0][0].double()
    finite = torch.isfinite(expected)
    assert torch.equal(value[~finite].nan_to_num(nan=7.0), expected[~finite].nan_to_num(nan=7.0))
    step = {torch.float32: 2e-5, torch.bfloat16: 2**-6}.get(dtype, 0)
    assert torch.allclose(value[finite], expected[finite], rtol=step, atol=step)


@pytest.mark.parametrize("shapes", [[(64, 96), (64, 96)], [(3, 33, 65), (33, 65)]], ids=str)
def test_chains_of_integers(shapes: Shapes) -> None:
    check(integers, shapes, torch.int32)


def test_block_formats() -> None:
    """Values of bfp8, also where rows end within a block."""

    def build(b: Any, x: Any, y: Any) -> Any:
        return b.sigmoid(b.add(x, y))

    for shapes in ([(64, 128), (64, 128)], [(40, 50), (40, 50)]):
        check(build, shapes, torch.bfloat16, "target-format=bfp_bf8")


def test_several_groups() -> None:
    """Before and after a product; a value that an op outside of groups reads, too, is in the group of its producers."""

    def build(b: Any, x: Any, w: Any) -> Any:
        y = b.cos(b.atan(b.relu(b.matmul(b.tanh(b.exp(x)), w))))  # relu is the product's own activation
        return b.add(b.sum(y, dim_arg=[1], keep_dim=True), b.multiply(b.sigmoid(y), b.abs(y)))

    check(build, [(64, 96), (96, 64)], torch.float32, count=3)


@pytest.mark.parametrize("level", [1, 2])
def test_with_the_optimizer(level: int) -> None:
    """Tensors that the optimizer has placed in L1 leave it for the cores of the kernels."""

    def build(b: Any, x: Any, w: Any) -> Any:
        return b.matmul(b.gelu(b.add(b.matmul(x, w), x)), w)

    check(build, [(256, 256), (256, 256)], torch.bfloat16, f"optimization-level={level}")


def test_on_a_mesh() -> None:
    """Chips run the kernels on their parts, also together with a tensor that is equal on all."""

    def module(builder: Any) -> None:
        @builder.func([(66, 130), (66, 65)], [torch.float32] * 2)
        def f(x: Any, y: Any, builder: Any) -> Any:
            part = builder.mesh_shard(x, "devices", "full_to_shard", (1, 2), (-1, 1))
            same = builder.mesh_shard(y, "replicate", "full_to_shard", (1,), (-1,))
            found = chain(builder, part, same)
            found = builder.exp(builder.sin(builder.matmul(found, builder.permute(found, [1, 0]))))
            return builder.mesh_shard(found, "devices", "shard_to_full", (1, 2), (-1, 1))

    built, builder = build_module(module, "ttir", mesh_dict=OrderedDict([("x", 1), ("y", 2)]))
    results = []
    for options in ("mesh-shape=1,2", f"mesh-shape=1,2 {SUBGRAPHS}"):
        lowered = clone(built)
        passes.run_pass(lowered, TTNN, options)
        assert bool(generics(lowered)) == (SUBGRAPHS in options)
        binary = rt.binary.load_binary_from_bytes(passes.ttnn_to_flatbuffer_bin(lowered), allow_native=True)
        results.append(execute(binary, 0, builder.golden_map[0][0].inputs, (1, 2))[0][0])
    plain, kernels = results
    assert plain.shape == kernels.shape == (66, 132)
    assert not torch.equal(plain[:, :66], plain[:, 66:])
    assert torch.allclose(kernels, plain, rtol=1e-5, atol=1e-5)


def test_without_fusion_each_op_has_a_program() -> None:
    module, golden = made(chain, [(64, 128), (64, 128)], [torch.float32] * 2)
    fused, one = run(module, golden.inputs, SUBGRAPHS)
    single, four = run(module, golden.inputs, f"{SUBGRAPHS} enable-d2m-elementwise-fusion=false")
    assert (generics(one), generics(four)) == (1, 4)
    assert torch.equal(fused[0][0], single[0][0])


@pytest.mark.parametrize(
    ("build", "shapes", "why"),
    [
        (lambda b, x: b.exp(x), [(32, 32)], "one op"),
        (lambda b, x: b.exp(b.exp(x)), [(0, 32)], "no elements"),
        (lambda b, x: b.exp(b.cumsum(x, dim=0)), [(32, 32)], "no tile operation before"),
    ],
)
def test_no_group(build: Build, shapes: Shapes, why: str) -> None:
    module, _ = made(build, shapes, [torch.float32] * len(shapes))
    lowered = clone(module)
    passes.run_pass(lowered, TTNN, SUBGRAPHS)
    assert generics(lowered) == 0, why
    assert "d2m_subgraph" not in str(lowered)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_programs_of_kernels_on_tensors(dtype: torch.dtype) -> None:
    """ttnn-mode has the bits of target ttmetal: the kernels are the same."""

    def build(b: Any, x: Any, w: Any, bias: Any) -> Any:
        y = b.gelu(b.add(b.matmul(x, w), bias))
        return b.multiply(b.permute(y, [1, 0]), b.transpose(b.sum(y, dim_arg=[1], keep_dim=True), 0, 1))

    module, golden = made(build, [(96, 320), (320, 200), (200,)], [dtype] * 3)
    found, lowered = run(module, golden.inputs, "ttnn-mode=true", METAL)
    assert generics(lowered) > 2
    metal = clone(module)
    passes.run_pass(metal, METAL, "")
    binary = rt.binary.load_binary_from_bytes(passes.ttmetal_to_flatbuffer_bin(metal), allow_native=True)
    for shards, others in zip(found, execute(binary, 0, golden.inputs, (1, 1)), strict=True):
        assert torch.equal(shards[0], others[0])


def rows_at(b: Any, table: Any, index: Any) -> Any:
    return b.embedding(index, table)


def elements_at(b: Any, x: Any, index: Any) -> Any:
    return b.abs(b.gather(b.neg(x), index, dim=1))


def rows_of_rows(b: Any, table: Any, index: Any) -> Any:
    return b.embedding(index, b.embedding(index, table))


def assert_bits_of_ttmetal(module: Any, inputs: Any) -> None:
    """Checks that programs with ttnn-mode have kernels, and the results of target ttmetal."""
    found, lowered = run(module, inputs, "ttnn-mode=true", METAL)
    assert generics(lowered)
    metal = clone(module)
    passes.run_pass(metal, METAL, "")
    binary = rt.binary.load_binary_from_bytes(passes.ttmetal_to_flatbuffer_bin(metal), allow_native=True)
    for shards, others in zip(found, execute(binary, 0, inputs, (1, 1)), strict=True):
        assert torch.equal(shards[0], others[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32])
@pytest.mark.parametrize(
    ("build", "shape", "indices", "size"),
    [
        (rows_at, (40, 64), (8,), 40),
        (rows_at, (300, 33), (3, 70), 300),
        (rows_at, (1, 1), (1,), 1),
        (rows_of_rows, (50, 100), (50,), 50),
        (elements_at, (40, 70), (40, 33), 70),
        (elements_at, (33, 1), (33, 65), 1),
    ],
)
def test_reading_at_indices(build: Build, shape: Any, indices: Any, size: int, dtype: torch.dtype) -> None:
    """Kernels read indices through a circular buffer; the bits are those of target ttmetal. size: of the dimension."""
    module, golden = made(build, [shape, indices], [dtype, torch.int32])
    index = golden.inputs[1].golden_map_tensor_as_torch_tensors()[0]
    index.copy_(torch.arange(index.numel()).reshape(index.shape) * 7 % size)
    assert_bits_of_ttmetal(module, golden.inputs)


@pytest.mark.parametrize("shape", [(32, 64), (33, 65)])
def test_programs_share_kernels_that_one_of_them_works_in(shape: Any) -> None:
    """Nothing reads the indices of the sort: only its last program has their buffer to itself."""
    module, golden = made(lambda b, x: b.sort(x, dim=1)[0], [shape], [torch.float32])
    assert_bits_of_ttmetal(module, golden.inputs)


def test_constants_and_ranks_of_programs_of_kernels() -> None:
    def build(b: Any, x: Any) -> Any:
        return b.softmax(b.add(x, b.constant(torch.arange(70.0))), dimension=2)

    module, golden = made(build, [(3, 40, 70)], [torch.float32])
    found, _ = run(module, golden.inputs, "ttnn-mode=true", METAL)
    for expected, shards in zip(golden.outputs, found, strict=True):
        for _, _, comparison in compare_shards(expected, shards, Verdict(check_atol=True), True):
            assert comparison.within, str(comparison)


def test_kernels_run_only_where_they_are_allowed() -> None:
    module, golden = made(lambda b, x: b.exp(b.sin(x)), [(40, 40)], [torch.float32])
    lowered = clone(module)
    passes.run_pass(lowered, TTNN, SUBGRAPHS)
    binary = rt.binary.load_binary_from_bytes(passes.ttnn_to_flatbuffer_bin(lowered))
    assert binary.has_native
    with pytest.raises(RuntimeError, match=r"ttnn\.generic: its kernels are C\+\+ code"):
        execute(binary, 0, golden.inputs, (1, 1))
    binary.allow_native()
    execute(binary, 0, golden.inputs, (1, 1))


def test_time() -> None:
    """Programs of kernels take time, as long as their tensors are large."""

    def time(size: int) -> float:
        module, _ = made(chain, [(size, size), (size, size)], [torch.float32] * 2)
        lowered = clone(module)
        passes.run_pass(lowered, TTNN, SUBGRAPHS)
        binary = rt.binary.load_binary_from_bytes(passes.ttnn_to_flatbuffer_bin(lowered))
        ops = {op.name: op.device_ns for op in rt.runtime.estimate(binary, 0, "wormhole_b0").ops}
        return ops["ttnn.generic"]

    small, large = time(64), time(1024)
    assert 1000 < small < large


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_target_ttnn_mode(dtype: torch.dtype, tmp_path: Path) -> None:
    """The builder compiles a TTNN flatbuffer of kernels, and compares it with its goldens."""

    def module(builder: Any) -> None:
        @builder.func([(64, 96), (96, 40)], [dtype] * 2)
        def f(x: Any, w: Any, builder: Any) -> Any:
            return builder.relu(builder.matmul(builder.exp(x), w))

    compile_and_execute_ttir(module, target="ttnn-mode")
    _, path, *_ = compile_ttir_to_flatbuffer(module, target="ttnn-mode", output_root=str(tmp_path))
    assert Path(path).name == "test_ttnn.mlir.ttnn"
    assert rt.binary.load_binary_from_path(path).has_native


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("ttnn-mode=true override-device-shape=9,9", "override-device-shape=9,9 is no grid of the device"),
        ("ttnn-mode=perhaps", "ttnn-mode"),
    ],
)
def test_bad_options(options: str, message: str) -> None:
    module, _ = made(lambda b, x: b.exp(x), [(32, 32)], [torch.float32])
    with pytest.raises((MLIRError, OptionError, ValueError), match=message):
        passes.ttir_to_ttmetal_pipeline(clone(module), options)


@pytest.mark.parametrize(("target", "value"), [("ttmetal", "true"), ("ttnn-mode", "false")])
def test_targets_say_their_mode(target: Any, value: str) -> None:
    def module(builder: Any) -> None:
        @builder.func([(32, 32)], [torch.float32])
        def f(x: Any, builder: Any) -> Any:
            return builder.exp(x)

    message = f"option ttnn-mode is '{value}' for target '{target}'; expected no such option"
    with pytest.raises(TTBuilderCompileException, match=message):
        compile_ttir_to_flatbuffer(module, target=target, pipeline_options=[f"ttnn-mode={value}"])
