# SPDX-License-Identifier: Apache-2.0
"""`ttmlir.CompileOptions`: options of every pipeline, as the pipelines describe them, and by every entrance."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ttmlir import CompileOptions, OptionError, ir, passes
from ttmlir.options import DEFAULT_PIPELINE, Option, framework_options, options_of, pipelines, split
from ttmlir.passmanager import PassManager

ROOT = Path(__file__).resolve().parents[3]
ALL = [(pipeline, option) for pipeline in sorted(pipelines()) for option in options_of(pipeline).values()]
# A value that each kind of option refuses; any text is a text.
WRONG = {"boolean": "perhaps", "integer": "1.5", "number": "1.5", "choice": "perhaps"}
MODULE = """
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.abs %x : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
"""


CONTEXT = ir.Context()  # making one takes longer than to parse a pipeline


def expanded(pipeline: str, options: object = "") -> str:
    """Returns the passes of a pipeline with some options, as MLIR's own parser of options reads them."""
    with CONTEXT:
        return str(PassManager.parse(f"builtin.module({pipeline}{{{options}}})"))


def samples(option: Option) -> list[str]:
    """Returns values that an option takes."""
    values = {"boolean": ["true", "false"], "integer": ["1"], "number": ["0.5"], "text": ["a", "b c"]}
    found = [value for value, _ in option.choices] or values.get(option.kind, [])
    return [*found, ",".join(found[:1] * 2)] if option.is_list else found


def test_pipelines_are_described() -> None:
    assert DEFAULT_PIPELINE in pipelines() and len(pipelines()) >= 18 and len(ALL) >= 200
    assert all(option.help and option.expected for _, option in ALL)


@pytest.mark.parametrize("pipeline", sorted(pipelines()))
def test_every_option_is_read_as_it_is_written(pipeline: str) -> None:
    for option in options_of(pipeline).values():
        for value in samples(option):
            options = CompileOptions({option.name: value}, pipeline=pipeline)
            assert options[option.name] == value
            assert CompileOptions(str(options), pipeline=pipeline) == options
            keywords = {option.name.replace("-", "_"): options.value(option.name)}
            assert str(CompileOptions(pipeline=pipeline, **keywords)) == str(options)
            # The pipeline's own parser takes the text, too. Two parts do not fit everywhere.
            assert "," in value or expanded(pipeline, options)
        if option.kind != "text":
            wrong = WRONG[option.kind]
            with pytest.raises(OptionError, match=re.escape(f"option {option.name} is '{wrong}'; expected ")):
                CompileOptions({option.name: wrong}, pipeline=pipeline)
            if option.name in ("target-format", "global-data-format-target"):  # refused by the pass that reads it
                continue
            with pytest.raises(ValueError):
                expanded(pipeline, f"{option.name}={wrong}")


@pytest.mark.parametrize("pipeline", sorted(pipelines()))
def test_defaults_are_those_of_the_pipeline(pipeline: str) -> None:
    for option in options_of(pipeline).values():
        if option.default and not option.is_list:
            given = CompileOptions({option.name: option.default}, pipeline=pipeline)
            assert expanded(pipeline, given) == expanded(pipeline), option.name
        assert CompileOptions(pipeline=pipeline).value(option.name) == option.read(option.default)


def test_ways_to_give_options() -> None:
    text = "target-format=bf16 mesh-shape=1,2 enable-trace=true tensor-l1-usage-cap=0.5"
    forms: list[Any] = [
        text,
        f"--{text}".replace("enable-trace=true", "enable-trace"),
        text.split(),
        {"target-format": "bf16", "mesh_shape": (1, 2), "enable-trace": True, "tensor-l1-usage-cap": 0.5},
        CompileOptions(text),
    ]
    assert {str(CompileOptions(form)) for form in forms} == {text}
    options = CompileOptions(target_format="bf16", mesh_shape=[1, 2], enable_trace=1, tensor_l1_usage_cap=0.5)
    assert options == CompileOptions(text) and hash(options) == hash(CompileOptions(text))
    assert options.value("mesh-shape") == (1, 2) and options.value("enable_trace") is True
    assert options.value("optimization-level") == 0 and options.value("tensor-l1-usage-cap") == 0.5
    assert str(CompileOptions(None)) == "" and not CompileOptions(target_format=None)
    assert CompileOptions("enable-trace=1 enable-trace=0") == CompileOptions(enable_trace=False)
    assert str(options.with_("target-format=f32", enable_trace=None)) == text.replace("bf16", "f32")
    assert dict(split("a={b c} d='e f' g=h{i j}k l")) == {"a": "b c", "d": "e f", "g": "h{i j}k", "l": ""}
    metal = options.of("ttir-to-ttmetal-pipeline")
    assert str(metal) == "mesh-shape=1,2" and metal.pipeline == "ttir-to-ttmetal-pipeline"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("enable-fusing=true", "no option 'enable-fusing' in ttir-to-ttnn-backend-pipeline; did you mean "
                               "'enable-fusing-pass'?"),
        ("optimization-level=3", "option optimization-level is '3'; expected 0, 1 or 2"),
        ("max-legal-layouts=few", "option max-legal-layouts is 'few'; expected 1 or more"),
        ("tensor-l1-usage-cap=nan", "option tensor-l1-usage-cap is 'nan'; expected a number above 0, and 1 at most"),
        ("mesh-shape=1,two", "option mesh-shape is '1,two'; expected an integer for each of its parts"),
        ("target-bit-width=-8", "option target-bit-width is '-8'; expected an integer of 0 or more"),
        ("experimental-weight-dtype=bf16", "is 'bf16'; expected none, bfp_bf8 or bfp_bf4"),
        ("row-major-enabled=true", "option row-major-enabled is 'true'; expected false: tensors of the device are "
                                   "tiles where an op computes"),
        ("split-files=true", "no option 'split-files' in ttir-to-ttnn-backend-pipeline; it is an option of "
                             "ttir-to-emitpy-pipeline, ttnn-common-to-emitpy-pipeline"),
        ("a={b", "options 'a={b': expected '}' at the end of 'a={b'"),
        ({"enable-trace": object}, "option enable-trace is <class 'object'> of type type; expected text, a number or a "
                                   "list"),
    ],
)  # fmt: skip
def test_errors_say_what_was_expected(given: Any, message: str) -> None:
    with pytest.raises(OptionError, match=re.escape(message)):
        CompileOptions(given)


def test_other_errors() -> None:
    with pytest.raises(TypeError, match="options is 5; expected options of ttir-to-ttnn-backend-pipeline as text"):
        CompileOptions(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the name of an option is 5; expected text"):
        CompileOptions({5: 1})  # type: ignore[dict-item]
    message = "there is no pipeline 'ttir-to-ttnn'; did you mean|there is no pipeline 'ttir-to-ttnn'"
    with pytest.raises(OptionError, match=message):
        CompileOptions(pipeline="ttir-to-ttnn")
    with pytest.raises(OptionError, match="did you mean 'target-format'"):
        CompileOptions().value("target-formats")


def of_passes(options: Any) -> None:
    with ir.Context():
        module = ir.Module.parse(MODULE)
        passes.stablehlo_to_ttir_pipeline(module)
        passes.ttir_to_ttnn_backend_pipeline(module, options)


def test_options_in_the_name_of_a_pipeline() -> None:
    with ir.Context():
        module = ir.Module.parse("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }")
        passes.run_pass(module, f"{DEFAULT_PIPELINE}{{target-format=bf16 argument-types={{main=input}}}}")
        assert "bf16" in str(module)
        with pytest.raises(OptionError, match="option target-format is 'f99'"):
            passes.run_pass(module, f"{DEFAULT_PIPELINE}{{target-format=f99}}")


def of_builder(options: Any) -> None:
    import torch
    from builder.base import builder_apis

    def made(builder: Any) -> None:
        @builder.func([(4, 8)], [torch.float32])
        def main(x: Any, builder: Any) -> Any:
            return builder.abs(x)

    builder_apis.compile_ttir_to_flatbuffer(made, artifact_dir=None, pipeline_options=options)


def of_stablehlo(options: Any) -> None:
    from ttmlir.stablehlo import OpenProgram

    assert OpenProgram(MODULE, options=options).flatbuffer


def of_torch(options: Any) -> None:
    import torch

    torch.compile(lambda x: x + 1, backend="tt", options={"pipeline": options})(torch.rand(2))


def of_onnx(options: Any) -> None:
    import numpy as np
    import onnx
    from onnx import helper
    from ttmlir.onnx import compile

    kind = helper.make_tensor_value_info
    x, y = (kind(name, onnx.TensorProto.FLOAT, [2, 3]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Abs", ["x"], ["y"])], "abs", [x], [y])
    compile(helper.make_model(graph), options=options)(np.ones((2, 3), np.float32))


def of_jax(options: Any) -> None:
    import jax.numpy as jnp
    from ttmlir.jax import compile

    compile(lambda x: x + 1, [jnp.ones(2)], options)


ENTRANCES: list[Callable[[Any], None]] = [of_passes, of_builder, of_stablehlo, of_torch, of_onnx, of_jax]


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_every_entrance_takes_options(entrance: Callable[[Any], None]) -> None:
    """Text, a mapping and an object are the same to each, and so is the error."""
    for name in {"of_onnx": ("onnx",), "of_jax": ("jax",)}.get(entrance.__name__, ()):
        pytest.importorskip(name)
    for options in ("target-format=bf16", {"target-format": "bf16"}, CompileOptions(target_format="bf16")):
        entrance(options)
    with pytest.raises(Exception, match="option target-format is 'f99'; expected f32, f16, bf16, "):
        entrance("target-format=f99")
    with pytest.raises(Exception, match=r"no option 'target-formats' in .*; did you mean 'target-format'?"):
        entrance({"target-formats": "bf16"})


def test_options_of_front_ends() -> None:
    import torch
    from ttmlir.torch.options import Options
    from ttmlir.torch.report import record

    assert Options(target_format="bf16").compile_options() == framework_options().with_(target_format="bf16")
    permuted = "enable-permute-matmul-fusion"
    assert Options(pipeline=f"{permuted}=false").compile_options() == CompileOptions({permuted: False})
    with record() as reports:
        torch.compile(lambda x: x + 2, backend="tt", options={"target_format": "bf16"})(torch.rand(2))
    assert [report.options for report in reports] == [f"{permuted}=true target-format=bf16"]
    for page in ("torch.md", "jax.md"):
        assert f"`{framework_options()}`" in (ROOT / "docs" / page).read_text(encoding="utf-8"), page


def test_the_package_loads_no_library() -> None:
    program = "import sys, ttmlir; assert not any('_mlir_libs' in m for m in sys.modules); ttmlir.CompileOptions"
    subprocess.run([sys.executable, "-c", program], check=True)
    with pytest.raises(AttributeError, match="module 'ttmlir' has no attribute 'Options'"):
        import ttmlir

        _ = ttmlir.Options


def test_help() -> None:
    text = CompileOptions.help()
    assert all(f"  {name}  (" in text for name in options_of(DEFAULT_PIPELINE))
    assert "optimization-level  (0, 1 or 2; default: 0)" in text and "bfp_bf8: 8 bits and a shared exponent" in text
    assert CompileOptions.help("ttir-to-emitpy-pipeline").startswith("ttir-to-emitpy-pipeline: ")


def test_the_page_is_what_the_pipelines_say() -> None:
    """`python -m ttmlir.options` prints the tables of docs/options.md."""
    page = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    printed = subprocess.run([sys.executable, "-m", "ttmlir.options"], capture_output=True, text=True, check=True)
    assert page.endswith(printed.stdout), "write them anew: python -m ttmlir.options"
