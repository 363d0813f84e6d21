# SPDX-License-Identifier: Apache-2.0
"""Kernels of TTNN programs in emitted Python and C++: the bits of the flatbuffer, which agrees with the goldens."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from builder.api.artifacts import emitted
from builder.base.builder_apis import compile_ttir_to_flatbuffer, execute_py
from builder.base.errors import TTBuilderCompileException
from builder.execution.emitted_programs import cpp_programs, python_programs
from builder.execution.verdicts import Verdict, compare_shards
from emit_cases import Subject, assert_same, check_text, compare_cpp, compare_python, made, of_flatbuffer, of_programs
from op_cases import clone
from ttmlir import passes

TARGETS = {"emitpy": python_programs, "emitc": cpp_programs}
TTNN = ("ttir-to-ttnn-backend-pipeline", "enable-create-d2m-subgraphs=true")
MODE = ("ttir-to-ttmetal-pipeline", "ttnn-mode=true")


def chain(b: Any, x: Any, y: Any) -> Any:
    return b.multiply(b.tanh(b.add(x, y)), b.sigmoid(x))


def integers(b: Any, x: Any, y: Any) -> Any:
    return b.bitwise_xor(b.add(x, y), b.multiply(x, y))


def chosen(b: Any, x: Any, y: Any) -> Any:
    return b.where(b.lt(x, y), b.abs(x), b.neg(y))


def compared(b: Any, x: Any, y: Any) -> Any:
    return b.logical_and(b.lt(x, y), b.ne(x, b.abs(y)))


def reductions(b: Any, x: Any) -> Any:
    return b.sum(x, dim_arg=[1], keep_dim=True), b.max(x, dim_arg=[0], keep_dim=False)


def product(b: Any, x: Any, w: Any, bias: Any) -> Any:
    return b.gelu(b.add(b.matmul(x, w), bias))


def integer_product(b: Any, x: Any, w: Any) -> Any:
    return b.matmul(x, w)


def permuted(b: Any, x: Any) -> Any:
    return b.permute(b.exp(x), [2, 0, 1])


def constants(b: Any, x: Any) -> Any:
    return b.softmax(b.add(x, b.constant(torch.arange(70.0))), dimension=2)


def groups(b: Any, x: Any, w: Any) -> Any:
    y = b.cos(b.atan(b.relu(b.matmul(b.tanh(b.exp(x)), w))))
    return b.add(b.sum(y, dim_arg=[1], keep_dim=True), b.multiply(b.sigmoid(y), b.abs(y)))


F32, BF16, I32 = torch.float32, torch.bfloat16, torch.int32
CASES = [
    (TTNN, chain, [(64, 128), (64, 128)], F32),
    (TTNN, chain, [(2, 3, 40, 70), (2, 3, 40, 70)], BF16),
    (TTNN, chain, [(1, 1), (1, 1)], BF16),
    (TTNN, integers, [(3, 33, 65), (33, 65)], I32),
    (TTNN, groups, [(64, 96), (96, 64)], F32),
    (MODE, chain, [(33, 65), (33, 1)], BF16),
    (MODE, integers, [(50, 100), (50, 100)], I32),
    (MODE, chosen, [(40, 70), (40, 70)], F32),
    (MODE, compared, [(40, 70), (40, 70)], F32),
    (MODE, reductions, [(50, 70)], F32),
    (MODE, reductions, [(50, 70)], BF16),
    (MODE, product, [(96, 320), (320, 200), (200,)], F32),
    (MODE, product, [(31, 65), (65, 7), (7,)], BF16),
    (MODE, integer_product, [(33, 40), (40, 35)], I32),
    (MODE, permuted, [(3, 40, 70)], F32),
    (MODE, permuted, [(2, 33, 5)], BF16),
    (MODE, constants, [(3, 40, 70)], F32),
]


def subject(build: Any, shapes: Any, dtype: torch.dtype, how: tuple[str, str]) -> tuple[Subject, Any]:
    """Returns (a module with kernels, its goldens)."""
    built, golden = made(build, shapes, [dtype] * len(shapes))
    lowered = clone(built)
    passes.run_pass(lowered, *how)
    assert '"ttnn.generic"' in str(lowered)
    return Subject(build.__name__, lowered, [golden.inputs]), golden


@pytest.mark.parametrize(("how", "build", "shapes", "dtype"), CASES)
def test_bits_in_python(how: tuple[str, str], build: Any, shapes: Any, dtype: torch.dtype, tmp_path: Path) -> None:
    given, golden = subject(build, shapes, dtype, how)
    [expected] = of_flatbuffer(given)
    for reference, shards in zip(golden.outputs, expected, strict=True):
        for _, _, comparison in compare_shards(reference, shards, Verdict(check_atol=True), True):
            assert comparison.within, str(comparison)
    path = emitted(given.module, "emitpy").write(tmp_path)
    check_text(Path(path).read_text())
    [found] = of_programs(given, python_programs(path))
    assert_same("emitpy", expected, found)


def special_values() -> Subject:
    """NaN, infinities and zeros of both signs."""
    given, golden = subject(chosen, [(40, 70), (40, 70)], F32, MODE)
    special = torch.tensor([0.0, -0.0, float("nan"), float("inf"), float("-inf"), 1e-40, 1.0])
    for number, value in enumerate(golden.inputs):
        tensor = value.golden_map_tensor_as_torch_tensors()[0]
        tensor.copy_(special[torch.arange(tensor.numel()).reshape(tensor.shape) // (1 + 6 * number) % 7])
    return given


def test_special_values_in_python() -> None:
    given = special_values()
    expected = of_flatbuffer(given)
    assert expected[0][0][0].isnan().any()
    compare_python(given, expected)


def test_bits_in_cpp() -> None:
    """Also of special values."""
    compare_cpp([*(subject(build, shapes, dtype, how)[0] for how, build, shapes, dtype in CASES), special_values()])


def test_equal_programs_are_one_function(tmp_path: Path) -> None:
    def twice(b: Any, x: Any) -> Any:
        return b.exp(b.sin(b.cumsum(b.exp(b.sin(x)), dim=0)))

    given, _ = subject(twice, [(64, 64)], F32, TTNN)
    text = emitted(given.module, "emitpy").data
    assert isinstance(text, str)
    assert len(re.findall(r"^def \w*kernels\w*\(", text, re.M)) == 1
    assert len(re.findall(r"^    \w*kernels\w*\(", text, re.M)) == 2
    assert text.count('#include "dataflow_api.h"') == 2  # a reader and a writer


def test_files_of_constants(tmp_path: Path) -> None:
    """Kernels that are run once are next to what calls them."""

    def module(builder: Any) -> None:
        @builder.func([(64, 64), (64, 64)], [F32] * 2)
        def model(x: Any, w: Any, builder: Any) -> Any:
            return builder.matmul(builder.exp(builder.sin(x)), builder.exp(builder.sin(w)))

    _, path, goldens, _ = compile_ttir_to_flatbuffer(
        module, target="emitpy", output_root=str(tmp_path), argument_types_string="model=input,parameter",
        pipeline_options=["enable-create-d2m-subgraphs=true", "split-files=true"],
    )  # fmt: skip
    assert "generic_op" in Path(path).read_text()
    assert "generic_op" in Path(path).with_name("consteval.py").read_text()
    assert execute_py(path, goldens).passed
    subprocess.run([sys.executable, path], check=True, capture_output=True)


@pytest.mark.parametrize("target", TARGETS)
def test_builder(target: Any, tmp_path: Path) -> None:
    """Programs of kernels alone, by the builder."""

    def module(builder: Any) -> None:
        @builder.func([(64, 96), (96, 40)], [F32] * 2)
        def model(x: Any, w: Any, builder: Any) -> Any:
            return builder.relu(builder.matmul(builder.exp(x), w))

    _, path, goldens, _ = compile_ttir_to_flatbuffer(
        module, target=target, output_root=str(tmp_path), custom_pipeline="ttir-to-ttmetal-pipeline",
        pipeline_options=["ttnn-mode=true"],
    )  # fmt: skip
    assert "generic_op" in Path(path).read_text()
    [program] = TARGETS[target](path)
    assert len(goldens) == 1 and program.name == "model"


CORES = "<[#ttnn.core_range<(0,0), (0,0)>]>"
CORES_OF = f""",
                       core_ranges = {CORES}"""
KERNEL = f"""#ttnn.source_read_kernel<source = "%s", core_ranges = {CORES}, ct_args = [%s], common_rt_args = [%s],
                               rt_args = []>"""


def text(
    source: str = "void kernel_main() {}", argument: str = "", compiled: str = "", cbs: str = "", semaphores: str = ""
) -> str:
    return f"""
#l1 = #ttnn.buffer_type<l1>
#s = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
                       memref<1x1x!ttcore.tile<32x32, f32>, #l1>, <block_sharded>{CORES_OF}>
func.func @main(%x: tensor<32x32xf32, #s>) -> tensor<32x32xf32, #s> {{
  "ttnn.generic"(%x) <{{operandSegmentSizes = array<i32: 1, 0>, program = #ttnn.program<
    kernels = [{KERNEL % (source, compiled, argument)}], cbs = [{cbs}], semaphores = [{semaphores}]>}}>
    : (tensor<32x32xf32, #s>) -> ()
  return %x : tensor<32x32xf32, #s>
}}"""


def buffer(operand: int, dtype: str = "f32", page: int = 4096) -> str:
    formats = f"formats = [<buffer_index = 0, dtype = {dtype}, page_size = {page}>]"
    return f"<total_size = 4096, core_ranges = {CORES}, {formats}, buffer = <{operand}>>"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("program", "message"),
    [
        (text(argument="#ttnn.kernel_arg_address_of_tensor<1>"), "kernel argument is operand 1; expected one below 1"),
        (
            text(argument="#ttnn.kernel_arg_global_semaphore<0>"),
            "global_semaphore<0>, which a program",
        ),
        (text(compiled="#ttnn.kernel_arg_tensor_accessor_args<0>"), "sharded or on the host; expected an interleaved"),
        (text(cbs=buffer(3)), "the tensor of a circular buffer is operand 3; expected one below 1"),
        (text(cbs=buffer(0)).replace("<block_sharded>", "<interleaved>").replace(CORES_OF, ""), "sharded in L1"),
    ],
    ids=["operand", "argument", "accessor", "tensor", "interleaved"],
)
def test_errors(program: str, message: str, target: str) -> None:
    from ttmlir import ir

    module = ir.Module.parse(program, ir.Context())
    with pytest.raises(TTBuilderCompileException, match=re.escape(message)):
        emitted(module, target)


def test_sources_with_quotes(tmp_path: Path) -> None:
    """A source stays as it is in Python, and in C++ except for the end of a text, NUL and the CR of CR LF."""
    from ttmlir import ir

    source = r"void kernel_main() { /* \22\22\22 \5Cn \22 */ }\0A// \22"
    module = ir.Module.parse(text(source), ir.Context())
    python = emitted(module, "emitpy").data
    assert isinstance(python, str)
    names: dict[str, Any] = {}
    exec(re.search(r'^(kernels_reader = """.*?(?<!\\)""")$', python, re.M | re.S)[1], names)  # type: ignore[index]
    assert names["kernels_reader"] == 'void kernel_main() { /* """ \\n " */ }\n// "'
    assert 'R"kernel(void kernel_main() { /* """ \\n " */ }\n// ")kernel";' in emitted(module, "emitc").data
    module = ir.Module.parse(text(r"// )kernel\22"), ir.Context())
    with pytest.raises(TTBuilderCompileException, match=r"source contains \)kernel\", which ends a text in C\+\+"):
        emitted(module, "emitc")
    module = ir.Module.parse(text(r"// \005\0D\0A\00"), ir.Context())
    python = emitted(module, "emitpy").data
    exec(re.search(r'^(kernels_reader = """.*?""")$', python, re.M | re.S)[1], names)  # type: ignore[index]
    assert names["kernels_reader"] == "// \x005\r\n\0"
    with pytest.raises(TTBuilderCompileException, match=r"source contains a NUL, which ends a text in C\+\+"):
        emitted(module, "emitc")
