# SPDX-License-Identifier: Apache-2.0
"""target="ttmetal": kernels on the simulated cores give the bits of the simulated library, and the values of torch."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import build_module, compile_and_execute_ttir, compile_ttir_to_flatbuffer
from builder.base.builder_runtime import execute_fb
from builder.base.errors import TTBuilderCompileException, TTBuilderRuntimeException
from builder.execution.verdicts import Verdict, compare_shards
from builder.ttir.ttir_builder import TTIRBuilder
from op_cases import DTYPES, TABLE, called, clone, device, execute, operand_types
from op_rows import Case
from ttmlir import passes
from ttrt.__main__ import main as ttrt

ROOT = Path(__file__).resolve().parents[3]
ROWS = re.findall(
    r"^TT_TILE_OP\((\w+), (\w+), (\w+), (\w+), (\d)\)$",
    (ROOT / "include/ttmlir/Target/TTMetal/TileOps.def").read_text(),
    re.MULTILINE,
)
OPS = sorted([f"ttir.{row[0]}" for row in ROWS] + ["ttir.clamp_scalar", "ttir.typecast"])


def same_shapes(cases: Sequence[Case]) -> list[Case]:
    """Cases without broadcasts."""
    return [c for c in cases if len({operand for _, operand in c.items()}) == 1]


def binaries(module: Any) -> tuple[Any, Any]:
    """(TTMetal, TTNN) of a TTIR module."""
    metal, ttnn = clone(module), clone(module)
    passes.ttir_to_ttmetal_pipeline(metal)
    passes.ttir_to_ttnn_backend_pipeline(ttnn)
    load = partial(rt.binary.load_binary_from_bytes, allow_native=True)
    return load(passes.ttmetal_to_flatbuffer_bin(metal)), load(passes.ttnn_to_flatbuffer_bin(ttnn))


def check_same_bits(
    module: Any, builder: Any, names: Sequence[str], tolerances: Sequence[tuple[float | None, float | None]] = ()
) -> None:
    """The bits of the library, and within tolerance (atol, rtol; of the data type where None) the golden of torch."""
    metal, ttnn = binaries(module)
    problems = []
    for index, goldens in builder.golden_map[0].items():
        found, expected = (execute(binary, index, goldens.inputs, (1, 1)) for binary in (metal, ttnn))
        for a, b in zip(found, expected, strict=True):
            if a[0].shape != b[0].shape or a[0].dtype != b[0].dtype or not torch.equal(bits(a[0]), bits(b[0])):
                problems.append(f"{names[index]}: {a[0].flatten()[:4]} and {b[0].flatten()[:4]}")
        atol, rtol = tolerances[index] if tolerances else (None, None)
        verdict = Verdict(atol=atol, rtol=rtol, check_atol=True, check_rtol=True)
        for golden, shards in zip(goldens.outputs, found, strict=True):
            for _, _, comparison in compare_shards(golden, shards, verdict, True):
                if comparison.problem or not comparison.within:
                    problems.append(f"{names[index]} and its golden: {comparison}")
    assert not problems, "\n".join(problems)


def bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.view({1: torch.uint8, 2: torch.int16, 4: torch.int32}[tensor.element_size()])


def one_function(build: Callable[[Any, Any], Any], shape: tuple[int, ...], dtype: torch.dtype) -> Callable[[Any], None]:
    def module(builder: TTIRBuilder) -> None:
        @builder.func([shape], [dtype])
        def f(x: Any, builder: TTIRBuilder) -> Any:
            return build(builder, x)

    return module


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["f32", "bf16", "i32"])
def test_every_row(dtype: str) -> None:
    """All ops in one program file, and so one compilation of kernels."""
    names: list[str] = []
    tolerances: list[tuple[float | None, float | None]] = []

    def module(builder: TTIRBuilder) -> None:
        for name in OPS:
            result = TABLE[name]
            for index, each in enumerate(same_shapes(result.cases) if dtype in result.dtypes else ()):
                shapes, dtypes = operand_types(result, each, dtype)

                def function(*arguments: Any, name: str = name, each: Case = each) -> Any:
                    return called(arguments[-1], name, TABLE[name], each, list(arguments[:-1]), dtype)[0]

                function.__name__ = f"{name.partition('.')[2]}_{index}"
                names.append(function.__name__)
                tolerances.append(result.tolerance.get(dtype, (None, None)))
                builder.func(shapes, dtypes)(function)

    built, builder = build_module(module, "ttir")
    assert names
    check_same_bits(built, builder, names, tolerances)


SHAPES = [(), (1,), (5,), (1, 1), (31, 33), (64, 96), (3, 7, 40), (2, 3, 5, 7), (257, 300), (1024, 64)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_shapes(dtype: torch.dtype) -> None:
    """Rank 0 to 4, one tile and many, on one core and on all."""

    def module(builder: TTIRBuilder) -> None:
        for number, shape in enumerate(SHAPES):

            def f(x: Any, y: Any, builder: TTIRBuilder) -> Any:
                return builder.multiply(builder.tanh(builder.add(x, y)), builder.sigmoid(x))

            f.__name__ = f"shape{number}"
            builder.func([shape, shape], [dtype, dtype])(f)

    built, builder = build_module(module, "ttir")
    check_same_bits(built, builder, [str(shape) for shape in SHAPES])


def test_special_values() -> None:
    special = torch.tensor([[0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1e-45, 3.4e38, -1.0]])

    def module(builder: TTIRBuilder) -> None:
        @builder.func([(1, 8), (1, 8)], [torch.float32, torch.float32])
        def f(x: Any, y: Any, builder: TTIRBuilder) -> Any:
            values = builder.constant(special)
            return builder.maximum(builder.div(values, x), y), builder.rsqrt(values), builder.exp(values)

    built, builder = build_module(module, "ttir")
    check_same_bits(built, builder, ["special"])


def test_one_value_many_uses_and_results() -> None:
    """Arguments that are returned, values used twice, constants of one value and of several, integers."""

    def module(builder: TTIRBuilder) -> None:
        @builder.func([(4, 40), (4, 40)], [torch.float32, torch.int32])
        def f(x: Any, i: Any, builder: TTIRBuilder) -> Any:
            half = builder.constant(torch.full((4, 40), 0.5))
            ramp = builder.constant(torch.arange(160, dtype=torch.int32).reshape(4, 40))
            y = builder.multiply(x, x)
            return x, builder.add(y, half), builder.reshape(y, [2, 2, 40]), builder.add(i, ramp)

    built, builder = build_module(module, "ttir")
    check_same_bits(built, builder, ["f"])


def test_the_guide_way() -> None:
    module = one_function(lambda b, x: b.sigmoid(x), (32, 32), torch.float32)
    _, path, goldens, intermediates = compile_ttir_to_flatbuffer(module, target="ttmetal")
    assert Path(path) == Path("ttir-builder-artifacts/ttmetal/test_ttmetal.mlir.ttm")
    report = execute_fb(path, goldens, intermediates, check_atol=True)
    assert report.programs[0].outputs[0].passed
    binary = rt.binary.load_binary_from_path(path)
    assert binary.file_identifier == "TTM0"
    sources = binary.get_kernel_sources()
    assert any("sigmoid_tile" in source for source in sources.values())


def test_compile_and_execute() -> None:
    module = one_function(lambda b, x: b.gelu(b.neg(x)), (40, 50), torch.bfloat16)
    report = compile_and_execute_ttir(module, target="ttmetal", save_artifacts=True)
    assert report.programs[0].outputs[0].passed
    folder = Path("TTIRBuilder-builder-artifacts/test")
    names = {path.name for path in folder.iterdir()}
    assert {"test_ttir.mlir", "ttmetal_compiled.mlir", "test_ttmetal.mlir.ttm"} <= names
    assert "ttmetal.enqueue_program" in (folder / "ttmetal_compiled.mlir").read_text()


def test_runs_again_with_the_same_bits() -> None:
    module, builder = build_module(one_function(lambda b, x: b.exp(x), (100, 70), torch.float32), "ttir")
    metal, _ = binaries(module)
    inputs = builder.golden_map[0][0].inputs
    first, second = (execute(metal, 0, inputs, (1, 1))[0][0] for _ in range(2))
    assert torch.equal(bits(first), bits(second))


def test_constants_of_one_value() -> None:
    """zeros, ones and full, floats and integers, as operands and as results."""

    def module(builder: TTIRBuilder) -> None:
        @builder.func([(3, 33), (3, 33)], [torch.float32, torch.int32])
        def f(x: Any, i: Any, builder: TTIRBuilder) -> Any:
            ones, full = builder.ones([3, 33], torch.float32), builder.full([3, 33], -7)
            zeros = builder.zeros([3, 33], torch.float32)
            return builder.maximum(builder.add(x, ones), zeros), builder.add(i, full), ones, full

    built, builder = build_module(module, "ttir")
    check_same_bits(built, builder, ["f"])


def test_casts_and_integer_bounds() -> None:
    def module(builder: TTIRBuilder) -> None:
        @builder.func([(40, 40), (40, 40)], [torch.float32, torch.int32])
        def f(x: Any, i: Any, builder: TTIRBuilder) -> Any:
            big = builder.multiply(x, builder.constant(torch.full((40, 40), 1e4)))
            casts = [(big, torch.int32), (i, torch.float32), (i, torch.bfloat16), (big, torch.bfloat16)]
            return *(builder.typecast(v, output_type=t) for v, t in casts), builder.clamp_scalar(i, min=-3, max=20)

    built, builder = build_module(module, "ttir")
    check_same_bits(built, builder, ["f"])


DRAWN = {name: dtype for name, dtype in DTYPES.items() if dtype != torch.bool}


@pytest.mark.parametrize("dtype", DRAWN)
def test_drawn_values_are_those_of_the_library(dtype: str) -> None:
    """All types, also with bounds that are no integers and below 0."""
    signed = dtype in ("f32", "bf16", "i32")
    bounds = [(0.0, 1.0), (0.0, 200.0), (2.5, 97.25)] + ([(-1.0, 2.0), (-100.5, 0.0)] if signed else [])
    names = []

    def module(builder: TTIRBuilder) -> None:
        for size, seed in (((33, 65), 7), ((1,), 2**32 - 1), ((3, 1, 2, 5), 1), ((0, 4), 1)):
            for low, high in bounds:

                def function(
                    b: TTIRBuilder, size: Sequence[int] = size, low: float = low, high: float = high, seed: int = seed
                ) -> Any:
                    return b.rand(list(size), DRAWN[dtype], low=low, high=high, seed=seed)

                function.__name__ = f"drawn_{len(names)}"
                names.append(f"{size} from {low} to {high}")
                builder.func([], [])(function)

    built, _ = build_module(module, "ttir")
    metal, ttnn = binaries(built)
    for index, name in enumerate(names):
        found, expected = (execute(binary, index, [], (1, 1))[0][0] for binary in (metal, ttnn))
        assert torch.equal(bits(found), bits(expected)), f"{name}: {found.flatten()[:4]} and {expected.flatten()[:4]}"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_dropout_keeps_what_the_library_keeps(dtype: torch.dtype) -> None:
    """All probabilities, also elements that are NaN, Inf and zeros of both signs, and none."""
    cases = [
        (shape, prob, seed)
        for shape in ((33, 65), (1,), (2, 3, 1, 5), (0, 4))
        for prob, seed in ((0.0, 3), (2.0**-33, 3), (0.25, 0), (0.25, 2**32 - 1), (0.999, 5), (1.0, 3))
    ]

    def module(builder: TTIRBuilder) -> None:
        for number, (shape, prob, seed) in enumerate(cases):

            def function(x: Any, b: TTIRBuilder, prob: float = prob, seed: int = seed) -> Any:
                return b.dropout(x, prob=prob, scale=1.25, seed=seed)

            function.__name__ = f"dropout_{number}"
            builder.func([shape], [dtype])(function)

    built, builder = build_module(module, "ttir")
    metal, ttnn = binaries(built)
    special = torch.tensor([float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1e-40, 3e38])
    for index, goldens in builder.golden_map[0].items():
        (given,) = goldens.inputs
        flat = given.shard_at(0).view(-1)
        flat[: len(special)] = special[: len(flat)].to(dtype)
        found, expected = (execute(binary, index, [given], (1, 1))[0][0] for binary in (metal, ttnn))
        dropped = float((found == 0).double().mean()) if found.numel() else 0.0
        assert torch.equal(bits(found), bits(expected)), (
            f"{cases[index]}: {found.flatten()[:8]}, {expected.flatten()[:8]}"
        )
        if found.numel() > 1000:
            assert abs(dropped - cases[index][1]) < 0.05


@pytest.mark.parametrize(
    ("build", "shape", "message"),
    [
        (
            lambda b, x: b.dropout(x, prob=1.5),
            (32, 32),
            r"'ttir.dropout' is not lowered to D2M: its prob is 1.500000; expected 0 to 1",
        ),
        (lambda b, x: b.exp(x), (65536, 65536), "a buffer of 1610612736 bytes per channel does not fit in DRAM"),
    ],
)
def test_what_is_refused(build: Callable[[Any, Any], Any], shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(TTBuilderCompileException, match=message):
        compile_ttir_to_flatbuffer(one_function(build, shape, torch.float32), target="ttmetal")
    assert not list(Path().rglob("*.ttm"))


def test_missing_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = one_function(lambda b, x: b.exp(x), (32, 32), torch.float32)
    _, path, goldens, _ = compile_ttir_to_flatbuffer(module, target="ttmetal")
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setenv("TTMLIR_CACHE_DIR", str(tmp_path / "cache"))
    with pytest.raises(TTBuilderRuntimeException, match="no-such-compiler"):
        execute_fb(path, goldens)


def test_rows_are_sorted_and_tested() -> None:
    for count in "123":
        names = [row[0] for row in ROWS if row[4] == count]
        assert names == sorted(names)
    missing = [name for name in OPS if not same_shapes(TABLE[name].cases)]
    assert not missing


def test_tools_say_what_they_cannot_do(capsys: pytest.CaptureFixture[str]) -> None:
    module = one_function(lambda b, x: b.tan(x), (33, 65), torch.float32)
    _, path, *_ = compile_ttir_to_flatbuffer(module, target="ttmetal")
    assert ttrt(["run", path]) == 0
    assert ttrt(["check", path]) == 0
    for arguments, reason in (
        (["compare", path, path], "commands have no values to compare"),
        (["run", path, "--golden"], "kernels have no goldens"),
        (["perf", path, "--estimate"], "known when its kernels have run"),
    ):
        capsys.readouterr()
        assert ttrt(arguments) == 1
        assert reason in capsys.readouterr().err


@pytest.mark.parametrize("requested", ["enable_intermediate_verification", "dump_memory"])
def test_values_of_ops_are_not_there(requested: str) -> None:
    module = one_function(lambda b, x: b.tan(x), (33, 65), torch.float32)
    with pytest.raises(
        TTBuilderRuntimeException, match=f'^{requested}: the kernels of a TTMetal program .* target="ttnn"'
    ):
        compile_and_execute_ttir(module, target="ttmetal", **{requested: True})


def test_a_value_cannot_be_replaced_inside() -> None:
    def bypassed(builder: TTIRBuilder, x: Any) -> Any:
        y = builder.tan(x)
        builder.bypass(y)
        return builder.exp(y)

    with pytest.raises(TTBuilderRuntimeException, match=r"^bypass: the kernels of a TTMetal program"):
        compile_and_execute_ttir(one_function(bypassed, (33, 65), torch.float32), target="ttmetal")


def test_buffers_are_watched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The values of tiles and rows of several cores, after the commands that change them, and what ttrt prints."""

    def module(builder: Any) -> None:
        @builder.func([(40, 70)], [torch.float32])
        def main(x: Any, b: Any) -> Any:
            return b.exp(x)

    built, _ = build_module(module, "ttir")
    passes.ttir_to_ttmetal_pipeline(built, "override-device-shape=2,2")
    path = tmp_path / "exp.ttm"
    path.write_bytes(bytes(passes.ttmetal_to_flatbuffer_bin(built)))
    binary = rt.binary.load_binary_from_path(str(path), allow_native=True)
    commands = json.loads(binary.as_json())["programs"][0]["operations"]
    ids = [c["attributes"]["buffer"]["id"] for c in commands if c["name"] == "CreateBufferCommand"]
    changes: list[Any] = []
    x = torch.linspace(-2, 2, 40 * 70).reshape(40, 70)
    rt.metal.watch_buffers(set(ids), changes.append)
    try:
        rt.runtime.submit(device(), binary, 0, [rt.runtime.create_host_tensor(x)])
    finally:
        rt.metal.watch_buffers(set(), None)
    assert [each.buffer for each in changes] == ids, "rows of x, its tiles, tiles of the result, its rows"
    assert [each.command for each in changes] == ["EnqueueWriteBufferCommand"] + ["EnqueueProgramCommand"] * 3
    for change, expected in zip(changes, (x, x, x.exp(), x.exp()), strict=True):
        values = torch.frombuffer(bytearray(change.values), dtype=torch.float64).reshape(change.rows, change.columns)
        assert change.rows >= 40 and change.columns >= 70 and change.data_type == "f32"
        torch.testing.assert_close(values[:40, :70].float(), expected)
    assert changes[0].changed == 40 * 70
    rt.runtime.submit(device(), binary, 0, [rt.runtime.create_host_tensor(x)])
    assert len(changes) == 4, "nothing is watched any longer"

    assert ttrt(["run", str(path), "--allow-native", "--watch", f"{ids[0]},{ids[2]}"]) == 0
    text = capsys.readouterr().out
    assert "EnqueueWriteBufferCommand" in text and f"buffer {ids[0]}, " in text and f"buffer {ids[2]}, " in text
    assert "2800 of " in text and f"buffer {ids[1]}, " not in text
    assert ttrt(["run", str(path), "--allow-native", "--watch", "99"]) == 1
    assert f"program main creates no device buffer 99; there are {ids[0]}, " in capsys.readouterr().err
