# SPDX-License-Identifier: Apache-2.0
"""Quantized tensors of StableHLO on the chip, compared with the specification's formulas in numpy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import _ttmlir_runtime as rt
import numpy as np
import pytest
import python_process
import torch
from builder.base.builder_apis import load_mlir_file
from golden.tensor import GoldenMapTensor
from op_cases import execute, lowered
from ttmlir.dialects import stablehlo  # noqa: F401
from ttmlir.ir import Context, MLIRError, Module
from ttmlir.passes import ttnn_to_flatbuffer_bin


@dataclass(frozen=True)
class Quantized:
    """A quantized element type: one scale, or one for each index of `axis`."""

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int | None = None
    low: int = -128
    high: int = 127
    storage: str = "i8"

    @property
    def type(self) -> str:
        pairs = [f"{scale}:{zero}" for scale, zero in zip(self.scales, self.zero_points, strict=True)]
        where = "" if self.axis is None else f":{self.axis}"
        values = pairs[0] if self.axis is None else "{" + ",".join(pairs) + "}"
        return f"!quant.uniform<{self.storage}<{self.low}:{self.high}>:f32{where}, {values}>"

    def of(self, values: tuple[float, ...], rank: int) -> np.ndarray:
        shape = [1] * rank
        if self.axis is not None:
            shape[self.axis] = len(values)
        return np.array(values, np.float32).reshape(shape)

    def quantize(self, x: np.ndarray) -> np.ndarray:
        y = x.astype(np.float32) / self.of(self.scales, x.ndim) + self.of(self.zero_points, x.ndim)
        return np.rint(np.clip(y, self.low, self.high)).astype(np.int64)

    def dequantize(self, q: np.ndarray) -> np.ndarray:
        zeros, scales = self.of(self.zero_points, q.ndim), self.of(self.scales, q.ndim)
        return ((q.astype(np.float32) - zeros) * scales).astype(np.float32)


Q8 = Quantized((0.5,), (3,))
FINE = Quantized((0.0625,), (-7,))
NARROW = Quantized((0.25,), (0,), low=-8, high=7)
UNSIGNED = Quantized((0.25,), (128,), low=0, high=255, storage="u8")
WIDE = Quantized((0.001,), (100,), low=-32768, high=32767, storage="i16")
AXIS = Quantized((0.5, 0.25, 1.5), (0, 2, -1), axis=1)
COLUMNS = Quantized((0.5, 0.25, 1.5, 2.0), (0, 2, -1, 0), axis=1)
TORCH = {"i8": torch.int8, "u8": torch.uint8, "i16": torch.int16}
EDGES = np.array([[0.0, -0.0, 0.25], [0.75, -0.25, 1.25], [1e9, -1e9, np.inf], [-np.inf, 63.9, 0.3]], np.float32)


def run(text: str, *inputs: torch.Tensor) -> list[np.ndarray]:
    with Context() as context:
        module = Module.parse(text, context)
        binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, (1, 1))))
    return [shards[0].numpy() for shards in execute(binary, 0, [GoldenMapTensor({0: x}) for x in inputs], (1, 1))]


def stored(q: np.ndarray, kind: Quantized) -> torch.Tensor:
    return torch.from_numpy(q).to(TORCH[kind.storage])


def values(shape: tuple[int, ...], seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 3, shape).astype(np.float32)


@pytest.mark.parametrize("kind", [Q8, FINE, NARROW, UNSIGNED, WIDE, AXIS], ids=lambda kind: kind.type)
@pytest.mark.parametrize("x", [EDGES, values((4, 3))], ids=["edges", "normal"])
def test_quantize(kind: Quantized, x: np.ndarray) -> None:
    q = f"tensor<4x3x{kind.type}>"
    text = f"""func.func @main(%x: tensor<4x3xf32>) -> ({q}, tensor<4x3xf32>) {{
      %q = stablehlo.uniform_quantize %x : (tensor<4x3xf32>) -> {q}
      %f = stablehlo.uniform_dequantize %q : ({q}) -> tensor<4x3xf32>
      return %q, %f : {q}, tensor<4x3xf32> }}"""
    got, back = run(text, torch.from_numpy(x))
    np.testing.assert_array_equal(got, kind.quantize(x))
    np.testing.assert_array_equal(back, kind.dequantize(kind.quantize(x)))


@pytest.mark.parametrize("to", [FINE, AXIS, WIDE], ids=lambda kind: kind.type)
def test_requantize(to: Quantized) -> None:
    a, b = f"tensor<4x3x{Q8.type}>", f"tensor<4x3x{to.type}>"
    q = Q8.quantize(values((4, 3)))
    (got,) = run(
        f"""func.func @main(%q: {a}) -> {b} {{
          %r = stablehlo.uniform_quantize %q : ({a}) -> {b}
          return %r : {b} }}""",
        stored(q, Q8),
    )
    np.testing.assert_array_equal(got, to.quantize(Q8.dequantize(q)))


ELEMENTWISE = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "abs": np.abs,
    "negate": np.negative,
    "floor": np.floor,
    "sign": np.sign,
}


@pytest.mark.parametrize("op", ELEMENTWISE)
def test_elementwise(op: str) -> None:
    function = ELEMENTWISE[op]
    unary = isinstance(function, np.ufunc) and function.nin == 1
    first, second, result = Q8, Q8 if unary else FINE, NARROW
    x, y = first.quantize(values((5, 2))), second.quantize(values((5, 2), 2))
    a, b, r = (f"tensor<5x2x{kind.type}>" for kind in (first, second, result))
    operands, types = ("%x", a) if unary else ("%x, %y", f"{a}, {b}")
    (got,) = run(
        f"""func.func @main(%x: {a}, %y: {b}) -> {r} {{
          %r = "stablehlo.{op}"({operands}) : ({types}) -> {r}
          return %r : {r} }}""",
        stored(x, first),
        stored(y, second),
    )
    arguments = [first.dequantize(x)] + ([] if unary else [second.dequantize(y)])
    np.testing.assert_array_equal(got, result.quantize(function(*arguments)))


def test_product_of_floats_and_columns() -> None:
    """Activations in floats, weights with a scale for each column."""
    w = COLUMNS.quantize(values((3, 4)))
    x = values((2, 3), 3)
    q = f"tensor<3x4x{COLUMNS.type}>"
    (got,) = run(
        f"""func.func @main(%x: tensor<2x3xf32>, %w: {q}) -> tensor<2x4xf32> {{
          %r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, {q}) -> tensor<2x4xf32>
          return %r : tensor<2x4xf32> }}""",
        torch.from_numpy(x),
        stored(w, COLUMNS),
    )
    np.testing.assert_allclose(got, x @ COLUMNS.dequantize(w), rtol=1e-5, atol=1e-5)


def test_convolution_pads_with_zero_and_not_with_the_zero_point() -> None:
    x, w = Q8.quantize(values((1, 3, 3, 1))), Q8.quantize(values((3, 3, 1, 1), 4))
    a, b, r = f"tensor<1x3x3x1x{Q8.type}>", f"tensor<3x3x1x1x{Q8.type}>", f"tensor<1x3x3x1x{WIDE.type}>"
    (got,) = run(
        f"""func.func @main(%x: {a}, %w: {b}) -> {r} {{
          %r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
            window = {{pad = [[1, 1], [1, 1]]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
            : ({a}, {b}) -> {r}
          return %r : {r} }}""",
        stored(x, Q8),
        stored(w, Q8),
    )
    image = torch.from_numpy(Q8.dequantize(x)).permute(0, 3, 1, 2)
    kernel = torch.from_numpy(Q8.dequantize(w)).permute(3, 2, 0, 1)
    expected = torch.nn.functional.conv2d(image.double(), kernel.double(), padding=1).permute(0, 2, 3, 1)
    np.testing.assert_array_equal(got, WIDE.quantize(expected.float().numpy()))


def test_data_movement_keeps_integers() -> None:
    q = AXIS.quantize(values((4, 3)))
    turned = Quantized(AXIS.scales, AXIS.zero_points, axis=0)
    a, t, r = f"tensor<4x3x{AXIS.type}>", f"tensor<3x4x{turned.type}>", f"tensor<3x2x2x{turned.type}>"
    (got,) = run(
        f"""func.func @main(%x: {a}) -> {r} {{
          %t = stablehlo.transpose %x, dims = [1, 0] : ({a}) -> {t}
          %r = stablehlo.reshape %t : ({t}) -> {r}
          return %r : {r} }}""",
        stored(q, AXIS),
    )
    np.testing.assert_array_equal(got, q.T.reshape(3, 2, 2))


def test_constants_loops_and_calls_carry_integers() -> None:
    q = f"tensor<3x{Q8.type}>"
    (got,) = run(
        f"""func.func @main(%n: tensor<i32>) -> {q} {{
          %c = stablehlo.constant() {{value = dense<[3, 5, -1]> : tensor<3xi8>}} : () -> {q}
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %one = stablehlo.constant dense<1> : tensor<i32>
          %r:2 = stablehlo.while(%i = %zero, %v = %c) : tensor<i32>, {q}
          cond {{
            %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %p : tensor<i1>
          }} do {{
            %j = stablehlo.add %i, %one : tensor<i32>
            %w = func.call @twice(%v) : ({q}) -> {q}
            stablehlo.return %j, %w : tensor<i32>, {q}
          }}
          return %r#1 : {q} }}
        func.func private @twice(%x: {q}) -> {q} {{
          %r = stablehlo.add %x, %x : {q}
          return %r : {q} }}""",
        torch.tensor(3, dtype=torch.int32),
    )
    np.testing.assert_array_equal(got, [3, 3 + 2 * 8, 3 - 4 * 8])


PROGRAM = f"""func.func @main(%x: tensor<4x3xf32>, %w: tensor<3x4x{COLUMNS.type}>) -> tensor<4x4x{FINE.type}> {{
  %c = stablehlo.constant() {{value = dense<5> : tensor<4x4xi8>}} : () -> tensor<4x4x{Q8.type}>
  %q = stablehlo.uniform_quantize %x : (tensor<4x3xf32>) -> tensor<4x3x{Q8.type}>
  %p = stablehlo.dot_general %q, %w, contracting_dims = [1] x [0]
    : (tensor<4x3x{Q8.type}>, tensor<3x4x{COLUMNS.type}>) -> tensor<4x4x{Q8.type}>
  %m = stablehlo.maximum %p, %c : tensor<4x4x{Q8.type}>
  %t = stablehlo.transpose %m, dims = [1, 0] : (tensor<4x4x{Q8.type}>) -> tensor<4x4x{Q8.type}>
  %f = stablehlo.uniform_dequantize %t : (tensor<4x4x{Q8.type}>) -> tensor<4x4xf32>
  %r = stablehlo.uniform_quantize %f : (tensor<4x4xf32>) -> tensor<4x4x{FINE.type}>
  return %r : tensor<4x4x{FINE.type}> }}"""


@pytest.mark.long
def test_goldens_compute_with_dequantized_integers(tmp_path: Path) -> None:
    source, result = tmp_path / "quantized.mlir", tmp_path / "made.mlir"
    source.write_text(PROGRAM)
    module, _ = load_mlir_file(PROGRAM, target="stablehlo")
    result.write_text(str(lowered(module, (1, 1))))
    done = python_process.run(["-m", "ttrt", "compare", source, result])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("op", "combine"), [("add", np.sum), ("maximum", np.max), ("minimum", np.min)])
@pytest.mark.parametrize("kind", [Q8, FINE, NARROW], ids=["q8", "fine", "narrow"])
def test_reductions(kind: Quantized, op: str, combine: Callable[..., np.ndarray]) -> None:
    """Reduces the represented numbers: only the result is rounded and saturated."""
    text = f"""func.func @main(%x: tensor<5x7x{kind.type}>, %i: tensor<{kind.type}>) -> tensor<5x{kind.type}> {{
      %r = stablehlo.reduce(%x init: %i) applies stablehlo.{op} across dimensions = [1]
        : (tensor<5x7x{kind.type}>, tensor<{kind.type}>) -> tensor<5x{kind.type}>
      return %r : tensor<5x{kind.type}> }}"""
    rng = np.random.default_rng(0)
    x = rng.integers(kind.low, kind.high + 1, (5, 7)).astype(np.int8)
    x[0], x[1] = kind.low, kind.high  # beyond the width
    init = np.array(kind.zero_points[0], np.int8)  # stands for 0
    (found,) = run(text, torch.from_numpy(x), torch.from_numpy(init))
    values = np.concatenate([kind.dequantize(x), np.zeros((5, 1), np.float32)], axis=1)
    np.testing.assert_array_equal(found, kind.quantize(combine(values, axis=1)))


def test_windows_and_sorts() -> None:
    q = Q8.type
    text = f"""func.func @main(%x: tensor<8x{q}>, %i: tensor<{q}>) -> (tensor<4x{q}>, tensor<8x{q}>) {{
      %w = "stablehlo.reduce_window"(%x, %i) ({{
      ^bb0(%a: tensor<{q}>, %b: tensor<{q}>):
        %m = stablehlo.maximum %a, %b : tensor<{q}>
        stablehlo.return %m : tensor<{q}>
      }}) {{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}}
        : (tensor<8x{q}>, tensor<{q}>) -> tensor<4x{q}>
      %s = "stablehlo.sort"(%x) ({{
      ^bb0(%a: tensor<{q}>, %b: tensor<{q}>):
        %c = stablehlo.compare LT, %a, %b : (tensor<{q}>, tensor<{q}>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      }}) {{dimension = 0 : i64, is_stable = true}} : (tensor<8x{q}>) -> tensor<8x{q}>
      return %w, %s : tensor<4x{q}>, tensor<8x{q}> }}"""
    x = np.array([5, -128, 127, 3, 3, -7, 0, 100], np.int8)
    largest, ordered = run(text, torch.from_numpy(x), torch.tensor(-128, dtype=torch.int8))
    np.testing.assert_array_equal(largest, x.reshape(4, 2).max(axis=1))
    np.testing.assert_array_equal(ordered, np.sort(x))


def test_a_region_that_does_more_than_compute_is_refused_by_name() -> None:
    q = Q8.type
    text = f"""func.func @main(%x: tensor<4x{q}>, %i: tensor<{q}>) -> tensor<{q}> {{
      %r = "stablehlo.reduce"(%x, %i) ({{
      ^bb0(%a: tensor<{q}>, %b: tensor<{q}>):
        %c = "stablehlo.constant"() <{{value = dense<3> : tensor<i8>}}> : () -> tensor<{q}>
        %s = stablehlo.add %a, %c : tensor<{q}>
        stablehlo.return %s : tensor<{q}>
      }}) {{dimensions = array<i64: 0>}} : (tensor<4x{q}>, tensor<{q}>) -> tensor<{q}>
      return %r : tensor<{q}> }}"""
    with pytest.raises(MLIRError, match=r"'stablehlo\.constant' op has quantized elements in the region of another op"):
        run(text, torch.zeros(4, dtype=torch.int8), torch.tensor(0, dtype=torch.int8))
