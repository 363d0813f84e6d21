# SPDX-License-Identifier: Apache-2.0
"""StableHLO's reductions and windows, whose computation is a region: through the pipelines to the chip, compared with
their goldens, with PyTorch and with the specification in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import load_mlir_file
from golden import compare
from op_cases import execute, lowered
from test_expansions import region, run, type_of
from ttmlir.passes import ttnn_to_flatbuffer_bin

WINDOW = "window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>"

CASES = {
    "sum": """func.func @main(%x: tensor<33x65xf32>) -> tensor<33xf32> {
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1]
        : (tensor<33x65xf32>, tensor<f32>) -> tensor<33xf32>
      return %0 : tensor<33xf32>
    }""",
    "max": """func.func @main(%x: tensor<3x5x7xf32>) -> tensor<5xf32> {
      %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [0, 2]
        : (tensor<3x5x7xf32>, tensor<f32>) -> tensor<5xf32>
      return %0 : tensor<5xf32>
    }""",
    "max window": f"""func.func @main(%x: tensor<1x8x8x5xf32>) -> tensor<1x4x4x5xf32> {{
      %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %0 = "stablehlo.reduce_window"(%x, %z) <{{{WINDOW}}}> ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %1 = stablehlo.maximum %a, %b : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }}) : (tensor<1x8x8x5xf32>, tensor<f32>) -> tensor<1x4x4x5xf32>
      return %0 : tensor<1x4x4x5xf32>
    }}""",
}


@pytest.mark.parametrize("what", CASES)
def test_reduction(what: str) -> None:
    module, builder = load_mlir_file(CASES[what], target="stablehlo")
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, (1, 1))))
    goldens = builder.golden_map[0][0]
    ((found,),) = execute(binary, 0, goldens.inputs, (1, 1))
    comparison = compare(goldens.outputs[0].shard_at(0), found)
    assert comparison.within, comparison


@pytest.mark.parametrize("count", [1, 2, 3, 8, 13])
def test_reduction_of_pairs(count: int) -> None:
    """A Welford-like pair: of sums and of products, and a region that is not commutative."""
    x = torch.randn(2, count, generator=torch.Generator().manual_seed(count))
    y = torch.rand(2, count, generator=torch.Generator().manual_seed(count + 100)) + 0.5
    of = type_of(x)
    first, second = run(f"""%zero = stablehlo.constant dense<0.0> : tensor<f32>
      %one = stablehlo.constant dense<1.0> : tensor<f32>
      %r0, %r1 = stablehlo.reduce(%x init: %zero), (%y init: %one) across dimensions = [1]
          : ({of}, {of}, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>)
       reducer(%a: tensor<f32>, %c: tensor<f32>) (%b: tensor<f32>, %d: tensor<f32>) {{
        %s = stablehlo.multiply %a, %d : tensor<f32>
        %t = stablehlo.add %s, %c : tensor<f32>
        %p = stablehlo.multiply %b, %d : tensor<f32>
        stablehlo.return %t, %p : tensor<f32>, tensor<f32>
      }}""", {"x": x, "y": y}, ["tensor<2xf32>", "tensor<2xf32>"])  # fmt: skip
    a, b = torch.zeros(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64)
    for i in range(count):  # h = h y + x, a linear recurrence, which is associative in pairs
        a, b = a * y[:, i].double() + x[:, i].double(), b * y[:, i].double()
    torch.testing.assert_close(first.double(), a, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(second.double(), b, rtol=1e-5, atol=1e-6)


WINDOWS = {
    "cumulative sum": ("add", 0.0, (3, 7), [1, 7], [1, 1], [[0, 0], [6, 0]], [1, 1], [1, 1]),
    "cumulative sum from the end": ("add", 0.0, (3, 7), [1, 7], [1, 1], [[0, 0], [0, 6]], [1, 1], [1, 1]),
    "cumulative maximum": ("maximum", -math.inf, (5,), [5], [1], [[4, 0]], [1], [1]),
    "cumulative product": ("multiply", 1.0, (6, 2), [6, 1], [1, 1], [[5, 0], [0, 0]], [1, 1], [1, 1]),
    "minimum of rank 1": ("minimum", math.inf, (9,), [3], [2], [[1, 1]], [1], [1]),
    "sum of rank 3": ("add", 0.0, (2, 5, 6), [2, 3, 2], [1, 2, 1], [[0, 0], [1, 0], [0, 0]], [1, 1, 1], [1, 1, 1]),
    "dilated": ("maximum", -math.inf, (2, 11), [1, 3], [1, 2], [[0, 0], [1, 2]], [1, 1], [1, 2]),
    "dilated base": ("add", 0.0, (2, 4), [1, 3], [1, 1], [[0, 0], [0, 0]], [1, 2], [1, 1]),
    "one element": ("add", 0.0, (1,), [1], [1], [[0, 0]], [1], [1]),
    "start that counts": ("add", 2.5, (4,), [2], [1], [[0, 0]], [1], [1]),
}
BINARY = {"add": lambda a, b: a + b, "maximum": max, "multiply": lambda a, b: a * b, "minimum": min}


def windowed(
    x: torch.Tensor,
    function: Callable[[float, float], float],
    init: float,
    window: list[int],
    strides: list[int],
    padding: list[list[int]],
    bases: list[int],
    dilations: list[int],
) -> torch.Tensor:
    """As the specification has it: element by element."""
    sizes = [low + (size - 1) * base + 1 + high
             for size, base, (low, high) in zip(x.shape, bases, padding, strict=True)]  # fmt: skip
    counts = [(size - (w - 1) * d - 1) // s + 1
              for size, w, d, s in zip(sizes, window, dilations, strides, strict=True)]  # fmt: skip
    result = torch.empty(counts)
    for place in torch.cartesian_prod(*map(torch.arange, counts)).reshape(-1, len(counts)).tolist():
        value = init
        for offset in torch.cartesian_prod(*map(torch.arange, window)).reshape(-1, len(window)).tolist():
            at = [p * s + o * d - low for p, s, o, d, (low, _) in
                  zip(place, strides, offset, dilations, padding, strict=True)]  # fmt: skip
            real = all(a >= 0 and a % b == 0 and a // b < n for a, b, n in zip(at, bases, x.shape, strict=True))
            value = function(value, float(x[tuple(a // b for a, b in zip(at, bases, strict=True))]) if real else init)
        result[tuple(place)] = value
    return result


@pytest.mark.parametrize("name", WINDOWS)
def test_reduce_window(name: str) -> None:
    op, init, shape, window, strides, padding, bases, dilations = WINDOWS[name]
    x = torch.randn(shape, generator=torch.Generator().manual_seed(3))
    if name == "start that counts":  # once in each window, and not for each element
        expected = x[:-1] + x[1:] + init
    else:
        expected = windowed(x, BINARY[op], init, window, strides, padding, bases, dilations)
    number = {math.inf: "0x7F800000", -math.inf: "0xFF800000"}.get(init, str(init))
    body = f"""%i = stablehlo.constant dense<{number}> : tensor<f32>
      %r0 = "stablehlo.reduce_window"(%x, %i) <{{window_dimensions = array<i64: {str(window)[1:-1]}>,
        window_strides = array<i64: {str(strides)[1:-1]}>, padding = dense<{padding}> : tensor<{len(shape)}x2xi64>,
        base_dilations = array<i64: {str(bases)[1:-1]}>, window_dilations = array<i64: {str(dilations)[1:-1]}>}}>
        {region(f"%c = stablehlo.{op} %a, %b : tensor<f32>")} : ({type_of(x)}, tensor<f32>) -> {type_of(expected)}"""
    (found,) = run(body, {"x": x}, [type_of(expected)])
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("shape", "window", "stride", "padding"), [
    ((1, 2, 6, 6), 2, 2, 0), ((2, 1, 7, 5), 3, 2, 1), ((1, 1, 4, 4), 3, 1, 1), ((1, 1, 3, 3), 1, 1, 0)])  # fmt: skip
def test_select_and_scatter(shape: tuple[int, ...], window: int, stride: int, padding: int) -> None:
    """The gradient of a max pool; of equal elements the first is selected, and padding never."""
    x = torch.randint(-9, -1, shape, generator=torch.Generator().manual_seed(5)).float()
    pool = torch.nn.functional.max_pool2d(x, window, stride, padding)
    source = torch.randn(pool.shape, generator=torch.Generator().manual_seed(6))
    leaf = x.clone().requires_grad_()
    torch.nn.functional.max_pool2d(leaf, window, stride, padding).backward(source)
    body = f"""%zero = stablehlo.constant dense<0.0> : tensor<f32>
      %r0 = "stablehlo.select_and_scatter"(%x, %s, %zero) <{{window_dimensions = array<i64: 1, 1, {window}, {window}>,
        window_strides = array<i64: 1, 1, {stride}, {stride}>,
        padding = dense<[[0, 0], [0, 0], [{padding}, {padding}], [{padding}, {padding}]]> : tensor<4x2xi64>}}> (
        {region("%c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>", result="i1")[1:-1]},
        {region("%c = stablehlo.add %a, %b : tensor<f32>")[1:-1]})
        : ({type_of(x)}, {type_of(source)}, tensor<f32>) -> {type_of(x)}"""
    (found,) = run(body, {"x": x, "s": source}, [type_of(x)])
    torch.testing.assert_close(found, leaf.grad, rtol=1e-6, atol=1e-6)
