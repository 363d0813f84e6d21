# SPDX-License-Identifier: Apache-2.0
"""StableHLO modules with open dimensions: names and bounds, one program, and errors that name them."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any

import _ttmlir_runtime as tt
import numpy as np
import pytest
import torch
from golden.tensor import GoldenMapTensor
from op_cases import execute
from ttmlir import ir
from ttmlir.dialects import stablehlo
from ttmlir.sizes import OpenSizeError
from ttmlir.stablehlo import OpenProgram, SizeError, stablehlo_to_open_flatbuffer

PRODUCT = """
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<?x?xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = stablehlo.tanh %0 : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}"""
BOUNDED = """
func.func @forward(%a: tensor<?x4xf32, #stablehlo.bounds<32, ?>>) -> tensor<?x4xf32, #stablehlo.bounds<32, ?>> {
  %0 = stablehlo.exponential %a : tensor<?x4xf32, #stablehlo.bounds<32, ?>>
  return %0 : tensor<?x4xf32, #stablehlo.bounds<32, ?>>
}"""
PADDED = """
func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = stablehlo.add %0, %b : tensor<?xf32>
  %2 = stablehlo.pad %a, %zero, low = [1], high = [0], interior = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %3 = stablehlo.multiply %2, %c : tensor<?xf32>
  return %1, %3 : tensor<?xf32>, tensor<?xf32>
}"""


def run(program: OpenProgram, *arrays: np.ndarray) -> list[np.ndarray]:
    binary = program.at([array.shape for array in arrays])
    inputs = [GoldenMapTensor({0: torch.from_numpy(array)}) for array in arrays]
    return [np.asarray(shards[0]) for shards in execute(binary, 0, inputs, (1, 1))]


def sources(text: str) -> dict[str, str | bytes]:
    with ir.Context():
        module = ir.Module.parse(text)
        written = BytesIO()
        module.operation.write_bytecode(written)
        return {
            "text": text,
            "bytecode": written.getvalue(),
            "artifact": stablehlo.serialize_portable_artifact(module, "1.10.0"),
        }


@pytest.mark.parametrize("kind", ["text", "bytecode", "artifact"])
def test_names_by_an_argument(kind: str) -> None:
    program = OpenProgram(sources(PRODUCT)[kind], ["batch, length", "length, 8"])
    assert program.dimensions.names == ["batch", "length"]
    random = np.random.default_rng(0)
    for batch, length in [(0, 3), (1, 1), (2, 17), (64, 2), (17, 64)]:
        a, b = (random.standard_normal(shape).astype(np.float32) for shape in ((batch, length), (length, 8)))
        np.testing.assert_allclose(run(program, a, b)[0], np.tanh(a @ b), rtol=1e-4, atol=1e-5)
    assert [name for name, *_ in program.binary.open_sizes] == ["batch", "length"]


def test_dimensions_that_are_tied() -> None:
    program = OpenProgram(PADDED, ["n", "2*n", "n + 1"])
    for n in (1, 2, 17, 64):
        a, b, c = (np.arange(size, dtype=np.float32) for size in (n, 2 * n, n + 1))
        first, second = run(program, a, b, c)
        np.testing.assert_array_equal(first, np.concatenate([a, a]) + b)
        np.testing.assert_array_equal(second, np.pad(a, (1, 0)) * c)
    with pytest.raises(SizeError, match=r"argument 1 has 5 in dimension 0; expected 4, which is 2\*n for n = 2"):
        program.check([(2,), (5,), (3,)])
    assert [name for name, *_ in program.binary.open_sizes] == ["n"]


def test_a_size_that_no_argument_has_alone() -> None:
    program = OpenProgram(PADDED, ["n - 1", "2*n - 2", "n"])
    assert program.check([(4,), (8,), (5,)]) == {"n": 5}
    text = "func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {return %a : tensor<?xf32>}"
    program = OpenProgram(text, ["4*n"])
    assert program.check([(12,)]) == {"n": 3}
    with pytest.raises(
        SizeError, match=r"argument 0 has 13 in dimension 0; expected 4\*n for an integer n, such as 12"
    ):
        program.check([(13,)])


def test_bounded_dimensions() -> None:
    program = OpenProgram(BOUNDED)
    assert program.dimensions.names == ["arg0_0"]
    for n in (1, 2, 32):
        a = np.linspace(0, 1, n * 4, dtype=np.float32).reshape(n, 4)
        np.testing.assert_allclose(run(program, a)[0], np.exp(a), rtol=1e-5)
    assert list(program.binary.open_sizes) == [("arg0_0", 2, 32)]
    with pytest.raises(SizeError, match="argument 0 has 33 in dimension 0; expected at most 32"):
        program.at([(33, 4)])


def test_bounds_by_an_argument() -> None:
    program = OpenProgram(BOUNDED, ["rows, 4"], {"rows": (5, 20)})
    assert list(program.binary.open_sizes) == [("rows", 5, 20)]
    for n in (4, 21):
        with pytest.raises(SizeError, match=f"size rows is {n}; expected from 5 to 20"):
            program.at([(n, 4)])
    assert OpenProgram(BOUNDED, ["rows, 4"], {"rows": (1, None)}).check([(1, 4)]) == {"rows": 1}


def test_one_flatbuffer() -> None:
    result = tt.binary.load_binary_from_bytes(stablehlo_to_open_flatbuffer(PRODUCT, ["b, l", "l, 8"], {"b": (2, 64)}))
    assert [(name, least) for name, least, _ in result.open_sizes] == [("b", 2), ("l", 2)]
    assert result.open_sizes[0][2] == 64


@pytest.mark.parametrize(
    ("shapes", "sizes", "message"),
    [
        (["batch, length"], None, "shapes has 1 texts; expected one for each of 2 arguments"),
        (["batch", "length, 8"], None, r"shapes: 'batch' has 1 dimensions; expected \[\?, \?\] of argument 0"),
        (["b, l", "l, 9"], None, "dimension 1 of argument 1 is 8 in the module, not '9'"),
        (["b, l", "l, n"], None, "dimension 1 of argument 1 is 8 in the module, not 'n'"),
        (["b, l", "l +, 8"], None, r"dimension 'l \+' is no expression of sizes"),
        (["b, l", "__import__('os'), 8"], None, "is no expression of sizes"),
        (["b*l, b*l", "b*l, 8"], None, r"no dimension determines b and l of 'b\*l', dimension 0 of argument 0"),
        (["0*b, l", "l, 8"], None, r"no dimension determines b of '0\*b', dimension 0 of argument 0; expected"),
        (["b+b, l", "l, 8"], None, r"no dimension determines b of 'b\+b', dimension 0 of argument 0; .*, as 2\*n \+ 1"),
        (["3, l", "l, 8"], None, "dimension 0 of argument 0 is open in the module; expected a size, not '3'"),
        ([None, "l, 8"], None, r"shapes is \[None, 'l, 8'\]; expected a list with a text for each argument"),
        ("b, l", None, "shapes is 'b, l'; expected a list with a text for each argument"),
        (["b, l", "l, 8"], {"n": (2, 3)}, "sizes has 'n', which no dimension is called; the module has b, l"),
        *((["b, l", "l, 8"], {"b": given}, rf"sizes\['b'\] is {re.escape(repr(given))}; expected a number, or \(least")
          for given in ((3, 2), (-4, 9), None, (None, 5), "2,5", (2.5, 9), True, (1, 2, 3))),
        (["b, l", "l, 8"], {"b": (2, 1 << 63)}, "and a size is at most 17592186044416; found 9223372036854775808"),
        (["b, l", "l, 8"], {5: (2, 3)}, "sizes has the key 5; expected the name of a size"),
        (["b, l", "l, 8"], [("b", 2)], "expected a mapping, as {'batch'"),
    ],
)  # fmt: skip
def test_refuses_names_and_bounds(shapes: Any, sizes: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        OpenProgram(PRODUCT, shapes, sizes)


def test_a_number_is_the_size() -> None:
    program = OpenProgram(PRODUCT, ["b, l", "l, 8"], {"b": 5})
    a, b = np.ones((5, 3), np.float32), np.ones((3, 8), np.float32)
    np.testing.assert_allclose(run(program, a, b)[0], np.tanh(a @ b), rtol=1e-5)
    with pytest.raises(SizeError, match="size b is 6; expected from 5 to 5"):
        program.check([(6, 3), (3, 8)])


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([(2, 3)], "the program takes 2 arguments and was given 1"),
        ([(2, 3), (3, 9)], r"argument 1 has shape \[3, 9\]; expected \[length, 8\]"),
        ([(2, 3, 4), (3, 8)], r"argument 0 has shape \[2, 3, 4\]; expected \[batch, length\]"),
        ([(2, 3), (4, 8)], "argument 1 has 4 in dimension 0; expected 3, which is length"),
        ([(2, -3), (4, 8)], "argument 0 has -3 in dimension 1; expected 0 to 17592186044416"),
        ([(2, 1 << 63), (4, 8)], "argument 0 has 9223372036854775808 in dimension 1; expected 0 to 17592186044416"),
        ([("2", 3), (3, 8)], "argument 0 has '2' in dimension 0; expected an integer"),
        ([(2.0, 3), (3, 8)], "argument 0 has 2.0 in dimension 0; expected an integer"),
        ([(True, 3), (3, 8)], "argument 0 has True in dimension 0; expected an integer"),
        ([(2, 3), None], r"argument 1 has None as shape; expected \[length, 8\]"),
        (None, "shapes is None of type NoneType; expected a shape of each argument"),
        (3.0, "shapes is 3.0 of type float; expected a shape of each argument"),
    ],
)
def test_refuses_shapes(shapes: Any, message: str) -> None:
    program = OpenProgram(PRODUCT, ["batch, length", "length, 8"])
    for method in (program.at, program.check, program.texts):
        with pytest.raises((SizeError, TypeError), match=message):
            method(shapes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((5,), "source is of type int; expected the text or bytes of a module"),
        ((PRODUCT, None, None, 5), "options is 5; expected options of ttir-to-ttnn-backend-pipeline as text"),
    ],
)
def test_refuses_other_arguments(arguments: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        OpenProgram(*arguments)


def test_without_names_each_dimension_is_a_size() -> None:
    program = OpenProgram(PRODUCT)
    assert program.dimensions.names == ["arg0_0", "arg0_1", "arg1_0"]
    with pytest.raises(OpenSizeError, match="arg0_0, arg0_1, arg1_0 are sizes of their own; name those that are equal"):
        _ = program.flatbuffer
    a, b = np.ones((3, 5), np.float32), np.ones((5, 8), np.float32)
    np.testing.assert_allclose(run(program, a, b)[0], np.tanh(a @ b), rtol=1e-5)


@pytest.mark.parametrize(
    ("operator", "message"),
    [("add", "of 5 and 5"), ("divide", "of 5 and {1}")],
)
def test_assertions_of_a_module(operator: str, message: str) -> None:
    """A quotient of 0 does not hold, and is no error of Python's."""
    condition = f"""
    %size = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %none = stablehlo.constant dense<0> : tensor<i32>
    %six = stablehlo.constant dense<6> : tensor<i32>
    %other = stablehlo.{operator} %size, %none : tensor<i32>
    %holds = stablehlo.compare GE, %other, %six : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%holds, %size, %other) {{has_side_effect = true,
        error_message = "of {{0}} and {{1}}"}} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()"""
    text = f"func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {{{condition}\n return %a : tensor<?xf32>}}"
    with pytest.raises(SizeError, match=message):
        OpenProgram(text).check([(5,)])
    if operator == "add":
        assert OpenProgram(text).check([(6,)]) == {"arg0_0": 6}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("module {}", "no function @main with a body, nor a single public one"),
        ("func.func @main(%a: i32) {return}", "argument 0 is i32; expected a ranked tensor"),
    ],
)
def test_refuses_modules(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OpenProgram(text)
