# SPDX-License-Identifier: Apache-2.0
"""Options of emitting: programs in several files, of lists, of parts, and for meshes give the flatbuffer's bits."""

from __future__ import annotations

import subprocess
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
import torch
from builder.api.artifacts import emitted
from builder.base.builder_apis import build_module, compile_ttir_to_flatbuffer
from builder.base.builder_runtime import execute_cpp, execute_fb, execute_py
from builder.base.errors import TTBuilderCompileException, TTBuilderRuntimeException
from builder.execution.emitted_programs import EmittedProgram, cpp_programs, python_programs
from emit_cases import Subject, assert_same, of_flatbuffer, of_programs
from op_cases import lowered
from ttmlir.passmanager import PassManager

OPTIONS = [
    ("split-files=true",),
    ("tuplify-input-if-empty=true",),
    ("try-recover-structure=true",),
    ("split-files=true", "tuplify-input-if-empty=true", "try-recover-structure=true"),
]
WEIGHTS = torch.sin(7.0 * torch.arange(64 * 64)).reshape(64, 64)
PAIR = OrderedDict([("x", 1), ("y", 2)])
SQUARE = OrderedDict([("x", 2), ("y", 2)])


def layers(builder: Any) -> None:
    """Two layers whose parts have names, a head with two results, and a program without arguments."""

    @builder.func([(32, 64)], [torch.float32])
    def model(x: Any, builder: Any) -> Any:
        for layer in ("encoder/layer_0", "encoder/layer_1"):
            weights = builder.constant(WEIGHTS, loc=f"{layer}/attention/weights")
            scores = builder.matmul(x, weights, loc=f"{layer}/attention/scores")
            mixed = builder.softmax(scores, dimension=-1, loc=f"{layer}/attention/mixed")
            x = builder.add(mixed, x, loc=f"{layer}/residual")
        values, indices = builder.topk(x, k=5, dim=1, loc="head/best")
        return builder.exp(values, loc="head/exp"), indices

    @builder.func([], [])
    def table(builder: Any) -> Any:
        return builder.constant(WEIGHTS)


def presharded(builder: Any) -> None:
    @builder.func([(32, 128), (32, 128)], [torch.float32, torch.float32])
    def model(x: Any, y: Any, builder: Any) -> Any:
        builder.preshard_arg(x, shard_dims=(-1, 1))
        mine = builder.mesh_shard(x, "identity", "full_to_shard", (1, 2), (-1, 1))
        other = builder.mesh_shard(y, "devices", "full_to_shard", (1, 2), (-1, 1))
        return builder.mesh_shard(builder.add(builder.exp(mine), other), "devices", "shard_to_full", (1, 2), (-1, 1))


def rejoined(builder: Any) -> None:
    """Joins the shards of chips, and continues on the chips."""

    @builder.func([(8,)], [torch.bfloat16])
    def model(x: Any, builder: Any) -> Any:
        copied = builder.mesh_shard(x, "replicate", "full_to_shard", (1,), (-1,))
        whole = builder.mesh_shard(copied, "devices", "shard_to_full", (2,), (0, -1))
        return builder.mesh_partition(whole, dim=-1, cluster_axis=1)


def subject(build: Any, mesh: OrderedDict[str, int] | None = None) -> Subject:
    module, builder = build_module(build, "ttir", mesh_dict=mesh or OrderedDict([("x", 1), ("y", 1)]))
    shape = tuple((mesh or {"x": 1, "y": 1}).values())
    inputs = [goldens.inputs for goldens in builder.golden_map[0].values()]
    return Subject(build.__name__, lowered(module, shape), inputs, shape)


def programs_of(made: Subject, target: str, options: tuple[str, ...], folder: Path) -> list[EmittedProgram]:
    known = [o for o in options if target == "emitpy" or not o.startswith("split-files")]
    path = emitted(made.module, target, known).write(folder)
    return (python_programs if target == "emitpy" else cpp_programs)(path)


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
@pytest.mark.parametrize("target", ["emitpy", "emitc"])
def test_bits(target: str, options: tuple[str, ...], tmp_path: Path) -> None:
    made = subject(layers)
    programs = programs_of(made, target, options, tmp_path)
    for expected, found in zip(of_flatbuffer(made), of_programs(made, programs), strict=True):
        assert_same(f"{target} {options}", expected, found)


def weighted(builder: Any) -> None:
    @builder.func([(32, 64), (32, 32), (64, 32)], [torch.float32] * 3)
    def model(x: Any, y: Any, weight: Any, builder: Any) -> Any:
        return builder.add(builder.matmul(x, builder.exp(weight)), y), builder.exp(x)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", ["emitpy", "emitc"])
@pytest.mark.parametrize(
    "passes",
    [
        "ttnn-tuplify-tensors",
        "ttnn-tuplify-tensors,ttnn-split-forward-func-args-by-type",
        "ttnn-tuplify-tensors,ttnn-split-forward-func-args-by-type,ttnn-prepare-module-for-export,ttnn-file-split",
    ],
)
def test_bits_of_signatures(passes: str, target: str, tmp_path: Path) -> None:
    """Tuples, tuples of weights, devices as arguments, and files."""
    module, builder = build_module(weighted, "ttir")
    made = Subject(
        "weighted",
        lowered(module, (1, 1), "argument-types=model=input,input,parameter"),
        [goldens.inputs for goldens in builder.golden_map[0].values()],
    )
    expected = of_flatbuffer(made)
    with made.module.context:
        PassManager.parse(f"builtin.module({passes})").run(made.module.operation)
    assert "tuple<" in str(made.module)
    programs = programs_of(made, target, (), tmp_path)
    for reference, found in zip(expected, of_programs(made, programs), strict=True):
        assert_same(f"{target} {passes}", reference, found)
    if target == "emitpy":
        script = tmp_path / "test_ttnn.mlir.py"
        assert ("weights: list[ttnn.Tensor]" in script.read_text()) == ("split-forward" in passes)
        subprocess.run([sys.executable, script], check=True, capture_output=True)


@pytest.mark.parametrize("build, mesh", [(presharded, PAIR), (rejoined, SQUARE)])
@pytest.mark.parametrize("target", ["emitpy", "emitc"])
def test_bits_on_a_mesh(target: str, build: Any, mesh: OrderedDict[str, int], tmp_path: Path) -> None:
    made = subject(build, mesh)
    programs = programs_of(made, target, (), tmp_path)
    assert [program.mesh for program in programs] == [tuple(mesh.values())]
    for expected, found in zip(of_flatbuffer(made), of_programs(made, programs), strict=True):
        assert_same(target, expected, found)


@pytest.mark.long
@pytest.mark.parametrize("target, run", [("emitpy", execute_py), ("emitc", execute_cpp)])
def test_inputs_of_its_own_are_distributed(target: str, run: Any) -> None:
    _, path, _, _ = compile_ttir_to_flatbuffer(presharded, target=target, mesh_dict=PAIR)
    # Without goldens the program tells the mesh.
    assert run(path).passed
    if target == "emitpy":
        subprocess.run([sys.executable, path], check=True, capture_output=True)


@pytest.mark.long
@pytest.mark.parametrize("build, mesh", [(weighted, None), (layers, None), (presharded, PAIR)])
def test_a_trace_gives_the_bits(build: Any, mesh: Any, tmp_path: Path) -> None:
    """Compares recorded runs with plain ones, in flatbuffers, in emitted programs, and op by op for goldens."""
    module, builder = build_module(build, "ttir", mesh_dict=mesh or OrderedDict([("x", 1), ("y", 1)]))
    shape = tuple((mesh or {"x": 1, "y": 1}).values())
    inputs = [goldens.inputs for goldens in builder.golden_map[0].values()]
    plain, traced = (
        Subject(build.__name__, lowered(module, shape, options), inputs, shape) for options in ("", "enable-trace=true")
    )
    assert str(traced.module).count("ttnn.capture_or_execute_trace") >= 1
    expected = of_flatbuffer(plain)
    for target in ("flatbuffer", "emitpy", "emitc"):
        programs = None if target == "flatbuffer" else programs_of(traced, target, (), tmp_path / target)
        results = of_flatbuffer(traced) if programs is None else of_programs(traced, programs)
        for reference, found in zip(expected, results, strict=True):
            assert_same(f"{target} of a trace", reference, found)
    options = {"mesh_dict": mesh} if mesh else {}
    _, path, goldens, _ = compile_ttir_to_flatbuffer(
        build, pipeline_options=["enable-trace=true"], output_root=str(tmp_path), **options
    )
    for _ in range(2):  # recorded, and run
        assert execute_fb(path, goldens).passed


def test_files_of_a_split_program(tmp_path: Path) -> None:
    _, path, goldens, _ = compile_ttir_to_flatbuffer(
        layers, target="emitpy", pipeline_options=["split-files=true"], output_root=str(tmp_path)
    )
    constants_file = Path(path).parent / "consteval.py"
    assert "load_tensor" in constants_file.read_text() and "load_tensor" not in Path(path).read_text()
    assert execute_py(path, goldens).passed
    # The script finds it as well; an edit is seen, and a mistake in it has its place.
    subprocess.run([sys.executable, path], check=True, capture_output=True)
    text = constants_file.read_text()
    constants_file.write_text(text.replace("ttnn.load_tensor(", "ttnn.load_tensors(", 1))
    with pytest.raises(TTBuilderRuntimeException, match=r"load_tensors(.|\n)*consteval\.py:\d+: in model_constants"):
        execute_py(path, goldens)
    constants_file.write_text(text)
    assert execute_py(path, goldens).passed


def test_parts_are_functions(tmp_path: Path) -> None:
    _, path, _, _ = compile_ttir_to_flatbuffer(
        layers, target="emitpy", pipeline_options=["try-recover-structure=true"], output_root=str(tmp_path)
    )
    text = Path(path).read_text()
    for name in ("encoder", "encoder_layer_0", "encoder_layer_0_attention", "encoder_layer_1", "head"):
        assert f"def {name}(" in text
    # Weights are read once, in the program, and not by its parts.
    assert text.count("load_cached(") == 2


def test_options_are_for_targets_that_are_emitted() -> None:
    with pytest.raises(
        TTBuilderCompileException, match=r"no option 'split-files' in .*; it is an option of ttir-to-emitpy-pipeline"
    ):
        compile_ttir_to_flatbuffer(layers, pipeline_options=["split-files=true"])
    with pytest.raises(TTBuilderCompileException, match="split-files"):
        compile_ttir_to_flatbuffer(layers, target="emitc", pipeline_options=["split-files=true"])


@pytest.mark.parametrize("dtype", ["bfp_bf8", "bfp_bf4"])
def test_caches_in_a_block_format(dtype: str) -> None:
    """A cache that is stored in blocks gives what rounding to blocks gives."""

    def build(builder: Any) -> None:
        @builder.func([(1, 2, 64, 32), (1, 2, 64, 32)], [torch.bfloat16, torch.bfloat16])
        def model(cache: Any, new: Any, builder: Any) -> Any:
            filled = builder.fill_cache(cache, new)
            return builder.add(filled if filled is not None else cache, new)

    _, path, goldens, _ = compile_ttir_to_flatbuffer(build, pipeline_options=[f"experimental-kv-cache-dtype={dtype}"])
    report = execute_fb(path, goldens, pcc=0.9)
    assert report.passed
    exact = compile_ttir_to_flatbuffer(build)
    assert execute_fb(exact[1], exact[2], pcc=0.9999).passed
