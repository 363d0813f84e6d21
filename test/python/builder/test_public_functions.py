# SPDX-License-Identifier: Apache-2.0
"""Every public function of builder_apis and builder_runtime names the argument that is wrong, and uses all it takes."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_type_hints

import _ttmlir_runtime as tt_runtime
import pytest
import torch
from builder.base import builder_apis, builder_runtime
from builder.base.builder_apis import build_module, compile_module_to_flatbuffer, compile_ttir_to_flatbuffer
from builder.base.errors import TTBuilderCompileException
from builder.execution.argument_checks import fits
from builder.execution.device_tensors import host_tensor
from builder.ttir.ttir_builder import TTIRBuilder

ROOT = Path(__file__).resolve().parents[3]


def model(builder: Any) -> None:
    @builder.func([(4, 8)], [torch.float32])
    def f(x: Any, b: Any) -> Any:
        return b.exp(x)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A right value for every parameter that has no default, by name."""
    module, builder = build_module(model, "ttir")
    binary, _, _ = compile_module_to_flatbuffer(module, builder)
    root = str(tmp_path_factory.mktemp("programs"))
    paths = {t: compile_ttir_to_flatbuffer(model, target=t, output_root=root)[1] for t in ("emitc", "emitpy")}
    tensor = torch.zeros(4, 8)
    device = tt_runtime.runtime.open_mesh_device()
    return {
        "mod": model, "fn": model, "inputs_shapes": [(4, 8)], "builder_type": "ttir", "mlir_text": str(module),
        "module": module,
        "builder": builder, "execute_fb.compiled_bin": binary, "execute_py.compiled_bin": paths["emitpy"],
        "cpp_path": paths["emitc"], "golden_tensor": tensor, "output_tensor": tensor, "torch_tensor": tensor,
        "tensor_name": "t", "torch_tensor_name": "t", "folder_path": root, "pcc": 0.99, "atol": None, "rtol": None,
        "check_pcc": True, "check_atol": False, "check_rtol": False, "goldens": {}, "name": "n", "json_string": "{}",
        "bin": binary, "index": 0, "tensor_shards": {0: tensor}, "mesh_shape": (1, 1), "callback": None,
        "runtime_dtype_to_torch_dtype.dtype": tt_runtime.runtime.DataType.Float32,
        "runtime_str_dtype_to_torch_dtype.dtype": "Float32", "torch_dtype_to_runtime_dtype.dtype": torch.float32,
        "inputs": [host_tensor(tensor)], "device": device, "text": "loc",
        "memory_view": next(iter(device.get_memory_view().values())),
        "callback_runtime_config": builder_runtime.CallbackRuntimeConfig(),
    }  # fmt: skip


FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(module, name)
    for module in (builder_apis, builder_runtime)
    for name in module.__all__
    if inspect.isfunction(getattr(module, name))
}
PARAMETERS = [(name, p) for name, function in FUNCTIONS.items() for p in inspect.signature(function).parameters]
# Values that are wrong wherever they are not what the annotation says.
WRONG: dict[str, Any] = {
    "none": None,
    "integer": 3,
    "float": 2.5,
    "string": "x",
    "object": object(),
    "list": [object()],
}
# Parameters without a default that fits the others'.
TOGETHER = {"convert_input_layouts": {"fbb": "bin", "program_index": "index"}}
# What the body checks by itself, where an annotation says Any: which wrong values it takes.
TAKES: dict[str, set[str]] = {
    "device": {"none"},
    "input_output_goldens": {"none"},
    "execute_fb.compiled_bin": {"string"},
    "callback": {"none"},
}


def test_all_of_the_guides_functions_are_there() -> None:
    assert {"build_module", "execute_fb", "execute_cpp", "execute_py", "load_mlir_file", "split_mlir_file"} <= set(
        builder_apis.__all__
    )
    assert set(builder_apis.__all__) <= set(vars(builder_apis)) and len(PARAMETERS) > 100


def test_annotations_of_builders_can_be_evaluated() -> None:
    methods = inspect.getmembers(TTIRBuilder, inspect.isfunction)
    hints = {name: get_type_hints(method) for name, method in methods if not name.startswith("_")}
    _, golden = get_args(hints["set_operand_goldens"]["operands"])
    assert torch.Tensor in get_args(golden)


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS, ids=[f"{n}.{p}" for n, p in PARAMETERS])
def test_a_wrong_argument_is_named(name: str, parameter: str, good: dict[str, Any]) -> None:
    function = FUNCTIONS[name]
    value_of = lambda p: good.get(f"{name}.{p}", good.get(p))  # noqa: E731
    required = [p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    call = {p: value_of(p) for p in required} | {p: value_of(g) for p, g in TOGETHER.get(name, {}).items()}
    hint = get_type_hints(function).get(parameter, Any)
    takes = TAKES.get(f"{name}.{parameter}", TAKES.get(parameter, set()))
    refused = 0
    for kind, wrong in WRONG.items():
        if (hint is not Any and fits(wrong, hint)) or kind in takes:
            continue
        refused += 1
        with pytest.raises((TypeError, ValueError)) as raised:
            function(**call | {parameter: wrong})
        text = str(raised.value)
        assert parameter in text and (repr(wrong)[:40] in text or type(wrong).__name__ in text), text
        assert "expected" in text, text
    assert refused >= 2


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_wrong_keyword_is_named(name: str, good: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=f"{FUNCTIONS[name].__name__}.*'nosuch'"):
        FUNCTIONS[name](nosuch=1)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: builder_apis.build_module(model, "tir"), ValueError, "no builder for 'tir'; did you mean 'ttir'"),
        (lambda: builder_apis.load_mlir_file("x.mlir"), ValueError, "not the path of one"),
        (lambda: builder_apis.compile_ttir_to_flatbuffer(model, shlo_pipeline_options=["a=1"]), ValueError,
         r"shlo_pipeline_options is \['a=1'\]: for StableHLO modules, and this one is of ttir"),
        (lambda: builder_apis.compile_ttnn_to_flatbuffer(model, shlo_to_ttir_pipeline_options="a"), ValueError,
         "shlo_to_ttir_pipeline_options is 'a': for StableHLO"),
        (lambda: builder_apis.compile_and_execute_shlo(model, shlo_pipeline_options=["no-such=1"]),
         (TTBuilderCompileException, ValueError), "no-such"),
        (lambda: builder_apis.compile_and_execute_shlo(model, shlo_to_ttir_pipeline_options=["no-such=1"]),
         TTBuilderCompileException, "no-such"),
        (lambda: builder_apis.compile_and_execute_ttir(model, target="emitpy", dump_memory=True), ValueError,
         "dump_memory: a program of the target 'emitpy' is compared by its outputs"),
        (lambda: builder_apis.compile_and_execute_ttir(model, target="emitc", enable_intermediate_verification=True),
         ValueError, "enable_intermediate_verification: a program of the target 'emitc'"),
        (lambda: builder_apis.compile_and_execute_ttir(model, target="emitpy", breakpoint_callback=print), ValueError,
         "breakpoint_callback: a program"),
        (lambda: builder_apis.compile_and_execute_ttir(model, skip_exec=True, pcc=3), ValueError, "pcc is 3"),
        (lambda: builder_apis.compile_and_execute_ttir(model, print_ir=True, custom_pipeline=lambda m, o: None),
         ValueError, "print_ir is True, but the pipeline <lambda> takes no print_ir"),
        (lambda: build_module(lambda b: b.func([(2,)], [torch.float32], ttnn_inputs=True)(lambda x, b: x), "ttir"),
         ValueError, "ttnn_inputs is True, but arguments have layouts"),
    ],
)  # fmt: skip
def test_arguments_that_have_no_effect_are_refused(call: Callable[[], Any], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_print_ir_prints(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    compile_ttir_to_flatbuffer(model, artifact_dir=None, print_ir=True)
    assert "IR Dump After" in capfd.readouterr().err
    compile_ttir_to_flatbuffer(model, artifact_dir=None, print_ir=str(tmp_path / "dump"))
    assert any(p.suffix == ".mlir" for p in (tmp_path / "dump").rglob("*"))
    assert "IR Dump After" not in capfd.readouterr().err


# Parameters that existing programs pass and that say nothing to this implementation; their documentation says so.
WITHOUT_EFFECT = {
    "load_mlir_file": {
        "deallocate_goldens",
        "test_base",
        "output_root",
    },  # goldens are freed anyway, nothing is written
    "ModuleBuilder.__init__": {"deallocate_goldens", "deallocated_goldens_dir"},  # the same
    "Builder.from_module": {"deallocate_goldens", "deallocated_goldens_dir"},
    # A flatbuffer carries its module, of which goldens are computed.
    "ttnn_to_flatbuffer_file": {"goldenMap", "moduleCache"},
    "ttmetal_to_flatbuffer_file": {"goldenMap", "moduleCache"},
    "memory": {"binary", "program_context"},  # what every callback is given
}
# Methods that are called with what another of the same name needs.
INTERFACES = {"complete_type", "complete_attributes", "create_tensor_encoding", "before", "breakpoint", "print", "dump",
              "__exit__", "__torch_dispatch__"}  # fmt: skip


def parameters_without_use(path: Path) -> list[tuple[str, str]]:
    found = []

    def look(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                look(child, f"{child.name}.")
            elif isinstance(child, ast.FunctionDef):
                names = [a.arg for a in (*child.args.posonlyargs, *child.args.args, *child.args.kwonlyargs)]
                used = {n.id for n in ast.walk(ast.Module(child.body, [])) if isinstance(n, ast.Name)}
                body = [s for s in child.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
                unused = [n for n in names if n not in used and n not in ("self", "cls") and not n.startswith("_")]
                found.extend((f"{prefix}{child.name}", n) for n in unused if body and child.name not in INTERFACES)
                look(child, prefix)
            else:
                look(child, prefix)

    look(ast.parse(path.read_text()), "")
    return found


def test_every_parameter_is_used() -> None:
    """Fails for a parameter that its function never reads."""
    parts = [f"frontends/{name}" for name in ("torch", "onnx", "jax", "stablehlo")]  # PyBuda takes what its names take
    folders = [ROOT / folder for folder in ("python/builder", "python/profiler", "python/ttmlir", *parts)]
    # Rules of the PyTorch front end take what PyTorch's ops take, those of ONNX the graph, the node and its inputs.
    rules = [ROOT / "frontends" / frontend / "ops" for frontend in ("torch", "onnx")]
    files = [
        path
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
        if not any(each in path.parents for each in rules)
    ]
    assert len(files) > 30
    unused = {(name, parameter) for path in files for name, parameter in parameters_without_use(path)}
    stated = {(name, parameter) for name, parameters in WITHOUT_EFFECT.items() for parameter in parameters}
    assert unused == stated


def test_the_scan_finds_what_is_not_used(tmp_path: Path) -> None:
    source = tmp_path / "some.py"
    source.write_text(textwrap.dedent('''
        class A:
            def f(self, used, unused):
                """used"""
                return used
    '''))  # fmt: skip
    assert parameters_without_use(source) == [("A.f", "unused")]
