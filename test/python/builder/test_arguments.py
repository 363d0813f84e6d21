# SPDX-License-Identifier: Apache-2.0
"""Arguments that are of another kind are named, with what was found and what was expected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from builder.base.builder_apis import (
    build_module,
    compile_ttir_to_flatbuffer,
    execute_cpp,
    execute_py,
    load_mlir_file,
)
from builder.base.builder_runtime import execute_fb
from builder.base.errors import TTBuilderCompileException, TTBuilderRuntimeException

RUN: dict[str, tuple[str, Callable[..., Any]]] = {
    "ttnn": ("execute_fb", execute_fb),
    "ttmetal": ("execute_fb", execute_fb),
    "emitc": ("execute_cpp", execute_cpp),
    "emitpy": ("execute_py", execute_py),
}
KIND = {
    "ttnn": "a flatbuffer (.ttnn)",
    "ttmetal": "a flatbuffer (.ttnn)",
    "emitc": "a C++ program (.cpp)",
    "emitpy": "a Python program (.py)",
}


def build(builder: Any) -> None:
    @builder.func([(4, 8)], [torch.float32])
    def model(x: Any, builder: Any) -> Any:
        return builder.exp(x)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root = str(tmp_path_factory.mktemp("programs"))
    return {target: compile_ttir_to_flatbuffer(build, target=target, output_root=root)[1] for target in RUN}


@pytest.mark.parametrize("target", RUN)
@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"pcc": "0.9"}, TypeError, "pcc is '0.9' of type str; expected a number from -1 to 1"),
        ({"pcc": None}, TypeError, "pcc is None of type NoneType; expected a number from -1 to 1"),
        ({"pcc": True}, TypeError, "pcc is True of type bool; expected a number from -1 to 1"),
        ({"pcc": 99}, ValueError, "pcc is 99; expected a number from -1 to 1"),
        ({"pcc": float("nan")}, ValueError, "pcc is nan; expected a number from -1 to 1"),
        ({"atol": "x"}, TypeError, "atol is 'x' of type str; expected a number of at least 0"),
        ({"rtol": -1.0}, ValueError, "rtol is -1.0; expected a number of at least 0"),
        ({"check_rtol": "no"}, TypeError, "check_rtol is 'no' of type str; expected True or False"),
        ({"device": 3}, TypeError, "{run}: device is 3 of type int; expected an open mesh device, or None for one"),
        ({"input_output_goldens": 3}, TypeError, "{run}: input_output_goldens is 3 of type int; expected a mapping"),
        (
            {"input_output_goldens": {0: 3}},
            TypeError,
            "{run}: input_output_goldens[0] is 3 of type int; expected a map",
        ),
        (
            {"input_output_goldens": {0: {"input_0": 3}}},
            TypeError,
            "{run}: input_output_goldens[0]['input_0'] is 3 of type int; expected a torch tensor, or tensors by device",
        ),
        (
            {"input_output_goldens": {0: {"inputs": torch.zeros(4, 8)}}},
            TypeError,
            "{run}: input_output_goldens[0] has the name 'inputs'; expected input_0, input_1, ..., output_0, ...",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_options(target: str, options: dict[str, Any], error: type, message: str, files: dict[str, str]) -> None:
    name, run = RUN[target]
    with pytest.raises(error) as raised:
        run(files[target], **options)
    assert message.replace("{run}", name) in str(raised.value)


@pytest.mark.long
@pytest.mark.parametrize("given", RUN)
@pytest.mark.parametrize("target", RUN)
def test_a_file_for_another_function(target: str, given: str, files: dict[str, str]) -> None:
    name, run = RUN[target]
    if run is RUN[given][1]:
        assert run(files[given]).passed
        return
    with pytest.raises(TTBuilderRuntimeException) as raised:
        run(files[given])
    text = str(raised.value)
    assert text.startswith(f"{name}: ") and files[given] in text
    assert f"expected {KIND[target]}, or call {RUN[given][0]}" in text


@pytest.mark.parametrize("target", RUN)
@pytest.mark.parametrize("value", [3, None, ["a.py"]], ids=str)
def test_no_path(target: str, value: Any) -> None:
    with pytest.raises(TypeError, match=rf" is .* of type {type(value).__name__}; expected "):
        RUN[target][1](value)


@pytest.mark.parametrize("target", RUN)
def test_numbers_of_numpy_are_numbers(target: str, files: dict[str, str]) -> None:
    import numpy

    assert RUN[target][1](Path(files[target]), pcc=numpy.float32(0.5), check_pcc=numpy.bool_(True)).passed


@pytest.mark.parametrize(
    "options, message",
    [
        (["optimization-level=3"], "option optimization-level is '3'; expected 0, 1 or 2"),
        (["enable-fusing-pass=maybe"], "option enable-fusing-pass is 'maybe'; expected true or false"),
        (["no-such-option=1"], "no option 'no-such-option' in ttir-to-ttnn-backend-pipeline"),
        ("max-legal-layouts=few", "option max-legal-layouts is 'few'; expected 1 or more"),
    ],
)
def test_options_that_are_refused_say_why(options: Any, message: str) -> None:
    with pytest.raises(TTBuilderCompileException) as raised:
        compile_ttir_to_flatbuffer(build, artifact_dir=None, pipeline_options=options)
    assert message in str(raised.value)


def test_options_in_one_string() -> None:
    compile_ttir_to_flatbuffer(build, artifact_dir=None, pipeline_options="optimization-level=0 enable-trace=false")


def test_neither_module_nor_op() -> None:
    with pytest.raises(TypeError, match="build_module: mod is 3 of type int; expected a function of a builder"):
        build_module(3, "ttir")
    with pytest.raises(ValueError, match=r"mlir_text is 'model\.mlir'; expected the text of a module, not the path"):
        load_mlir_file("model.mlir")
    with pytest.raises(TypeError, match="mlir_text is 3 of type int; expected the text of a module"):
        load_mlir_file(3)

    def misspelt(builder: Any) -> None:
        @builder.func([(4, 8)], [torch.float32])
        def model(x: Any, builder: Any) -> Any:
            return builder.sigmiod(x)

    with pytest.raises(AttributeError, match=r"TTIRBuilder has no op or method 'sigmiod'; did you mean 'sigmoid'\?"):
        build_module(misspelt, "ttir")


@pytest.mark.parametrize("shape", [(-1, 8), (1.5, 8), ("4", 8), ("", 8)], ids=str)
def test_shapes(shape: Any) -> None:
    def made(builder: Any) -> None:
        @builder.func([shape], [torch.float32])
        def model(x: Any, builder: Any) -> Any:
            return builder.exp(x)

    with pytest.raises(ValueError, match=r"input 0 has shape \(.*, 8\); expected integers of at least 0"):
        build_module(made, "ttir")
