# SPDX-License-Identifier: Apache-2.0
"""The builder with names of sizes in shapes: one program for all sizes within bounds, and goldens of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from builder.api import open_modules
from builder.base.builder_apis import (
    OpenSizeError,
    TTBuilderCompileException,
    build_module,
    compile_and_execute_ttir,
    compile_stablehlo_to_flatbuffer,
    compile_ttir_to_flatbuffer,
    execute_fb,
)
from builder.execution.device_tensors import load_binary

F32 = torch.float32


def layer(builder: Any) -> None:
    @builder.func([("batch", 64), (64, 10)], [F32, F32])
    def model(x: Any, weight: Any, builder: Any) -> Any:
        return builder.softmax(builder.matmul(x, weight), dimension=1)


def joined(builder: Any) -> None:
    """Two sizes of inputs, and what follows of them."""

    @builder.func([("batch", "length", 8), ("batch", "more", 8)], [F32, F32])
    def model(x: Any, y: Any, builder: Any) -> Any:
        both = builder.concat([x, y], dim=1)
        batch, length, width = builder.get_shape(both)
        assert length == builder.size("length") + builder.size("more")
        return builder.reshape(both, shape=[batch * length, width]), builder.sum(both, dim_arg=[1], keep_dim=False)


def rows(builder: Any) -> None:
    @builder.func([("n", 2)], [F32])
    def model(x: Any, builder: Any) -> Any:
        return builder.relu(x)


def test_one_program_has_the_goldens_of_each_size() -> None:
    _, data, goldens, intermediates = compile_ttir_to_flatbuffer(layer, sizes={"batch": (0, 64)}, artifact_dir=None)
    assert [name for name, _, _ in load_binary(data).open_sizes] == ["batch"]
    for batch in (0, 1, 2, 3, 31, 64):
        report = execute_fb(
            data, goldens, intermediates, at={"batch": batch}, enable_intermediate_verification=True, check_atol=True
        )
        assert [record.shape for record in report.records] == [(batch, 10)] * 3


def test_inputs_give_the_sizes() -> None:
    _, data, goldens, _ = compile_ttir_to_flatbuffer(joined, artifact_dir=None)
    for batch, length, more in ((2, 5, 3), (4, 2, 70), (1, 9, 9), (3, 0, 4)):
        x, y = torch.rand(batch, length, 8), torch.rand(batch, more, 8)
        report = execute_fb(data, goldens, inputs=[x, y], check_atol=True)
        assert report.records[0].shape == (batch * (length + more), 8)
        expected = goldens.of({"model": [x, y]}).programs[0].outputs[0].shard_at(0)
        assert torch.equal(expected, torch.cat([x, y], 1).reshape(-1, 8))


def test_none_is_a_size_of_its_own() -> None:
    def module(builder: Any) -> None:
        @builder.func([(None, 8), (8, None)], [F32, F32])
        def main(x: Any, y: Any, builder: Any) -> Any:
            return builder.matmul(x, y)

    _, data, goldens, _ = compile_ttir_to_flatbuffer(module, artifact_dir=None)
    assert [name for name, _, _ in load_binary(data).open_sizes] == ["main_0_0", "main_1_1"]
    report = execute_fb(data, goldens, inputs=[torch.rand(3, 8), torch.rand(8, 5)], check_atol=True)
    assert report.records[-1].shape == (3, 5)


def test_a_module_has_numbers() -> None:
    module, _ = build_module(layer, "ttir", sizes={"batch": 8})
    assert "tensor<8x64xf32>" in str(module)
    _, data, _, _ = compile_ttir_to_flatbuffer(layer, sizes={"batch": 8}, artifact_dir=None)
    assert not load_binary(data).open_sizes


def test_compiling_and_executing_takes_sizes() -> None:
    assert compile_and_execute_ttir(layer, sizes={"batch": (2, 40)}, at={"batch": 33}).passed
    assert compile_and_execute_ttir(layer, inputs=[torch.rand(5, 64), torch.rand(64, 10)]).passed


def test_stablehlo_takes_names() -> None:
    def module(builder: Any) -> None:
        @builder.func([("batch", 8), ("batch", 8)], [F32, F32])
        def main(x: Any, y: Any, builder: Any) -> Any:
            return builder.multiply(builder.add(x, y), x)

    _, data, goldens, _ = compile_stablehlo_to_flatbuffer(module, artifact_dir=None)
    assert execute_fb(data, goldens, at={"batch": 11}, check_atol=True).passed


def test_a_run_without_goldens() -> None:
    _, path, _, _ = compile_ttir_to_flatbuffer(layer)
    assert execute_fb(path, inputs=[torch.rand(5, 64), torch.rand(64, 10)]).records == []


COMPILED: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "emitc": (
        {"target": "emitc"},
        OpenSizeError,
        "target 'emitc' needs numbers, and the input shapes leave batch open",
    ),
    "emitpy": ({"target": "emitpy"}, OpenSizeError, "target 'emitpy' needs numbers"),
    "ttmetal": ({"target": "ttmetal"}, OpenSizeError, "target 'ttmetal' needs numbers"),
    "name": (
        {"sizes": {"bacth": (2, 4)}},
        ValueError,
        "sizes has the size 'bacth', which no input names; did you mean",
    ),
    "order": ({"sizes": {"batch": (4, 2)}}, ValueError, r"sizes\['batch'\] is \(4, 2\); expected a number, or"),
    "kind": ({"sizes": {"batch": "many"}}, TypeError, r"sizes\['batch'\] is 'many'; expected a number, or"),
    "beyond sizes": (
        {"sizes": {"batch": (2, 1 << 63)}},
        ValueError,
        r"sizes\['batch'\] is .*, and a size is at most 17592186044416; found 9223372036854775808",
    ),
    "list": ({"sizes": [("batch", 4)]}, TypeError, "sizes is .* expected a mapping"),
    "layouts in L1": ({"pipeline_options": "optimization-level=2"}, OpenSizeError, "ttnn.matmul .*cannot stay open"),
}


@pytest.mark.parametrize("case", COMPILED)
def test_compiling_refuses_wrong_input(case: str) -> None:
    arguments, kind, text = COMPILED[case]
    with pytest.raises(kind, match=text):
        compile_ttir_to_flatbuffer(layer, artifact_dir=None, **arguments)


@pytest.mark.parametrize("bounds", [(5, 6), (0, 2), (0, 1), (1, 3), (5, 7)])
def test_bounds_of_few_values_have_programs_of_their_own(bounds: tuple[int, int]) -> None:
    _, data, goldens, intermediates = compile_ttir_to_flatbuffer(layer, sizes={"batch": bounds}, artifact_dir=None)
    assert bool(load_binary(data).open_sizes) == (bounds == (5, 7))
    for batch in range(bounds[0], bounds[1] + 1):
        report = execute_fb(data, goldens, intermediates, at={"batch": batch}, check_atol=True)
        assert report.records[-1].shape == (batch, 10)
        inputs = [torch.rand(batch, 64), torch.rand(64, 10)]
        assert execute_fb(data, goldens, inputs=inputs, check_atol=True).records[-1].shape == (batch, 10)
    with pytest.raises(ValueError, match=f"size 'batch' is {bounds[1] + 1}; expected {bounds[0]} to {bounds[1]}"):
        execute_fb(data, goldens, at={"batch": bounds[1] + 1})


def test_sizes_of_few_values_leave_others_open(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"batch": (5, 6), "length": (2, 80)}
    _, data, goldens, _ = compile_ttir_to_flatbuffer(joined, sizes=sizes, artifact_dir=None)
    assert [name for name, _, _ in load_binary(data).open_sizes] == ["length", "more"]
    compiled: list[Any] = []
    make = open_modules.open_flatbuffer
    monkeypatch.setattr(open_modules, "open_flatbuffer", lambda *args: compiled.append(args) or make(*args))
    for batch, length, more in ((6, 5, 7), (5, 5, 7), (5, 70, 9), (6, 30, 2), (5, 1, 4)):
        at = {"batch": batch, "length": length, "more": more}
        report = execute_fb(data, goldens, at=at, check_atol=True) if length > 1 else None
        inputs = [torch.rand(batch, length, 8), torch.rand(batch, more, 8)]
        if report is None:
            with pytest.raises(ValueError, match="size 'length' is 1; expected 2 to 80"):
                execute_fb(data, goldens, inputs=inputs)
            continue
        assert report.records[0].shape == (batch * (length + more), 8)
        assert execute_fb(data, goldens, inputs=inputs, check_atol=True).passed
    assert len(compiled) == 1  # the batch of the file has its program


def test_bounds_far_from_the_sample_points() -> None:
    _, data, goldens, _ = compile_ttir_to_flatbuffer(rows, sizes={"n": (200_000, 300_000)}, artifact_dir=None)
    assert load_binary(data).open_sizes == [("n", 200_000, 300_000)]
    assert execute_fb(data, goldens, at={"n": 250_001}, check_atol=True).passed


SHAPES: dict[str, tuple[Any, str]] = {
    "bool": ((True, 4), r"input 0 has shape \(True, 4\); expected integers of at least 0, names of sizes, or None"),
    "text": ("batch", "input 0 has the shape 'batch'; expected a list of integers"),
    "number": (4, "input 0 has the shape 4; expected a list of integers"),
    "no name": (("a b", 4), r"input 0 has shape \('a b', 4\); expected integers"),
}


@pytest.mark.parametrize("case", SHAPES)
def test_non_shapes_are_refused(case: str) -> None:
    shape, text = SHAPES[case]

    def module(builder: Any) -> None:
        @builder.func([shape], [F32])
        def main(x: Any, builder: Any) -> Any:
            return builder.relu(x)

    with pytest.raises((TypeError, ValueError, TTBuilderCompileException), match=text):
        compile_ttir_to_flatbuffer(module, artifact_dir=None)


def test_sizes_that_differ_in_the_function_are_an_error() -> None:
    def module(builder: Any) -> None:
        @builder.func([("a", 8), ("b", 8)], [F32, F32])
        def main(x: Any, y: Any, builder: Any) -> Any:
            return builder.add(x, y)

    with pytest.raises(TTBuilderCompileException, match=r"for a 37, b 92: (?s:.*)sizes 37 and 92 in dimension 0"):
        compile_ttir_to_flatbuffer(module, artifact_dir=None)


RUN: dict[str, tuple[Callable[[], dict[str, Any]], str]] = {
    "bounds": (lambda: {"at": {"batch": 65}}, "size 'batch' is 65; expected 2 to 64"),
    "text": (lambda: {"at": {"batch": "7"}}, "size 'batch' is '7' of type str; expected an integer, 2 to 64"),
    "fraction": (lambda: {"at": {"batch": 7.0}}, "size 'batch' is 7.0 of type float; expected an integer, 2 to 64"),
    "bool": (lambda: {"at": {"batch": True}}, "size 'batch' is True of type bool; expected an integer, 2 to 64"),
    "huge": (lambda: {"at": {"batch": 1 << 63}}, "size 'batch' is 9223372036854775808; expected 2 to 64"),
    "list": (lambda: {"at": [("batch", 4)]}, "expected a mapping|expected sizes by name"),
    "keys": (lambda: {"at": {4: 4}}, "at is {4: 4} of type dict; expected sizes by name"),
    "name": (lambda: {"at": {"bach": 4}}, "at has the size 'bach', which no input names; did you mean 'batch'?"),
    "both": (lambda: {"at": {"batch": 4}, "inputs": [torch.rand(4, 64)]}, "inputs and at are given"),
    "rank": (
        lambda: {"inputs": [torch.rand(5), torch.rand(64, 10)]},
        r"input 0 of 'model' has shape \[5\]; expected \[batch, 64\]",
    ),
    "size": (
        lambda: {"inputs": [torch.rand(5, 63), torch.rand(64, 10)]},
        r"input 0 of 'model' has shape \[5, 63\]; expected 64 in dimension 1 of \[batch, 64\]",
    ),
    "number": (lambda: {"inputs": [torch.rand(5, 64)]}, "'model' takes 2 inputs, 1 were given"),
    "function": (lambda: {"inputs": {"main": []}}, "inputs are given for 'main'; the binary has model"),
}


@pytest.mark.parametrize("case", RUN)
def test_run_refuses_wrong_inputs(case: str) -> None:
    arguments, text = RUN[case]
    _, data, goldens, intermediates = compile_ttir_to_flatbuffer(layer, sizes={"batch": (2, 64)}, artifact_dir=None)
    with pytest.raises((TypeError, ValueError), match=text):
        execute_fb(data, goldens, intermediates, **arguments())


def test_a_size_beyond_any() -> None:
    _, data, goldens, _ = compile_ttir_to_flatbuffer(layer, artifact_dir=None)
    with pytest.raises(ValueError, match="size 'batch' is 9223372036854775808; a size is at most 17592186044416"):
        execute_fb(data, goldens, at={"batch": 1 << 63})


def test_a_size_that_inputs_share_is_the_same() -> None:
    _, data, goldens, _ = compile_ttir_to_flatbuffer(joined, artifact_dir=None)
    with pytest.raises(ValueError, match=r"input 1 of 'model' has shape \[3, 5, 8\]; expected 2 .* where batch is 2"):
        execute_fb(data, goldens, inputs=[torch.rand(2, 5, 8), torch.rand(3, 5, 8)])
