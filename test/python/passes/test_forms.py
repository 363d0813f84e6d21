# SPDX-License-Identifier: Apache-2.0
"""Passes that bring TTIR into another form change no bit of any result: random functions before and after each."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from emit_cases import Subject, assert_same, of_flatbuffer
from golden import GoldenMapTensor
from op_cases import clone, lowered
from random_folds import Function
from random_modules import drawn
from ttmlir import ir
from ttmlir.passmanager import PassManager

FORMS = (
    "ttir-decompose-complex-permute",
    "ttir-decompose-complex-reshape",
    "ttir-explicate-tms",
    "ttir-flatten-sliding-window",
    "ttir-fold-constant-reshape-broadcast",
    "ttir-fold-full-to-scalar",
    "ttir-move-reshape-to-constant",
    "ttir-predicate-type-alignment",
    "ttir-reduction-force-keep-dim",
)
FUNCTIONS, MODULES = 20, 40
MANY, BATCH = 1000, 50  # with --slow
PLAIN = "enable-optimization-passes=false"  # so that nothing but these passes changes the program
# One where several values and windows meet that random functions seldom have.
WRITTEN = """
func.func @main(%a: tensor<2x8x8x4xf32>, %b: tensor<4xf32>, %w: tensor<8x4x3x3xf32>) -> (tensor<8xf32>, tensor<2x4x6x6xf32>, tensor<2x4x4x4xf32>) {
  %c = "ttir.constant"() <{value = dense<[[1.0, -2.0], [3.0, 0.5]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
  %f = "ttir.full"() <{fill_value = 0.25 : f32, shape = array<i32: 2, 8, 8, 4>}> : () -> tensor<2x8x8x4xf32>
  %r = "ttir.reshape"(%b) <{shape = [2 : i32, 2 : i32]}> : (tensor<4xf32>) -> tensor<2x2xf32>
  %s = "ttir.subtract"(%c, %r) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %t = "ttir.reshape"(%s) <{shape = [4 : i32]}> : (tensor<2x2xf32>) -> tensor<4xf32>
  %0 = "ttir.add"(%a, %t) : (tensor<2x8x8x4xf32>, tensor<4xf32>) -> tensor<2x8x8x4xf32>
  %1 = "ttir.lt"(%0, %f) : (tensor<2x8x8x4xf32>, tensor<2x8x8x4xf32>) -> tensor<2x8x8x4xi1>
  %2 = "ttir.ge"(%a, %f) : (tensor<2x8x8x4xf32>, tensor<2x8x8x4xf32>) -> tensor<2x8x8x4xi1>
  %3 = "ttir.logical_xor"(%1, %2) : (tensor<2x8x8x4xi1>, tensor<2x8x8x4xi1>) -> tensor<2x8x8x4xi1>
  %4 = "ttir.where"(%3, %0, %t) : (tensor<2x8x8x4xi1>, tensor<2x8x8x4xf32>, tensor<4xf32>) -> tensor<2x8x8x4xf32>
  %5 = "ttir.conv2d"(%4, %w) <{dilation = 1 : i32, groups = 1 : i32, padding = 0 : i32, stride = 1 : i32}> : (tensor<2x8x8x4xf32>, tensor<8x4x3x3xf32>) -> tensor<2x6x6x8xf32>
  %6 = "ttir.max"(%5) <{dim_arg = [0 : i32, 1 : i32, 2 : i32], keep_dim = false}> : (tensor<2x6x6x8xf32>) -> tensor<8xf32>
  %7 = "ttir.reshape"(%5) <{shape = [2 : i32, 36 : i32, 4 : i32, 2 : i32]}> : (tensor<2x6x6x8xf32>) -> tensor<2x36x4x2xf32>
  %8 = "ttir.sum"(%7) <{dim_arg = [3 : i32], keep_dim = false}> : (tensor<2x36x4x2xf32>) -> tensor<2x36x4xf32>
  %9 = "ttir.reshape"(%8) <{shape = [2 : i32, 6 : i32, 6 : i32, 4 : i32]}> : (tensor<2x36x4xf32>) -> tensor<2x6x6x4xf32>
  %10 = "ttir.permute"(%9) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x6x6x4xf32>) -> tensor<2x4x6x6xf32>
  %11 = "ttir.max_pool2d"(%4) <{ceil_mode = false, dilation = 1 : i32, kernel = 2 : i32, padding = 0 : i32, stride = 2 : i32}> : (tensor<2x8x8x4xf32>) -> tensor<2x4x4x4xf32>
  return %6, %10, %11 : tensor<8xf32>, tensor<2x4x6x6xf32>, tensor<2x4x4x4xf32>
}
"""  # noqa: E501


def transformed(module: Any, *passes: str) -> Any:
    result = clone(module)
    with result.context:
        PassManager.parse(f"builtin.module({','.join(passes)})").run(result.operation)
    return result


def check(name: str, module: Any, inputs: list[torch.Tensor]) -> set[str]:
    """The results of the module as it is, after each pass and after all; the passes that changed it."""
    given = [[GoldenMapTensor({0: x}, (1, 1)) for x in inputs]]
    changed: set[str] = set()
    try:
        expected = of_flatbuffer(Subject(name, lowered(module, (1, 1), PLAIN), given))[0]
        for passes in (*((form,) for form in FORMS), FORMS):
            after = transformed(module, *passes)
            if str(after) == str(module):
                continue
            changed.update(passes)
            found = of_flatbuffer(Subject(name, lowered(after, (1, 1), PLAIN), given))[0]
            assert_same(f"{name}, {', '.join(passes)}", expected, found)
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}\n\n{module}") from error
    return changed


def check_function(number: int) -> None:
    function = Function(number)
    with ir.Context(), ir.Location.unknown():
        check(f"seed {number}", ir.Module.parse(function.text), function.inputs())


def check_module(number: int) -> None:
    module = drawn(number)
    check(f"seed {number}", module.built()[0], module.inputs)


def test_a_program_that_all_change(seed: int) -> None:
    random = torch.Generator().manual_seed(seed)
    with ir.Context(), ir.Location.unknown():
        shapes = ((2, 8, 8, 4), (4,), (8, 4, 3, 3))
        inputs = [torch.randn(shape, generator=random) for shape in shapes]
        module = ir.Module.parse(WRITTEN)
        alone = {form for form in FORMS if str(transformed(module, form)) != str(module)}
        check("written", module, inputs)
    assert alone == set(FORMS) - {"ttir-fold-constant-reshape-broadcast"}, "each is seen at work"


@pytest.mark.long
def test_functions(seed: int) -> None:
    for number in range(seed, seed + FUNCTIONS):
        check_function(number)


@pytest.mark.long
def test_modules(seed: int) -> None:
    for number in range(seed, seed + MODULES):
        check_module(number)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, MANY, BATCH))
def test_many(start: int, seed: int) -> None:
    for number in range(seed + start, seed + start + BATCH):
        check_function(number)
        check_module(number)
