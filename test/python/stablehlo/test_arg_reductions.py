# SPDX-License-Identifier: Apache-2.0
"""Reductions to the greatest or smallest value and its position, as JAX and PyTorch/XLA write them, compared with
numpy."""

from __future__ import annotations

import _ttmlir_runtime as rt
import numpy as np
import pytest
import torch
from builder.base.builder_apis import load_mlir_file
from golden.tensor import GoldenMapTensor
from op_cases import execute, lowered
from ttmlir.passes import ttnn_to_flatbuffer_bin

COMPARE = "stablehlo.compare {0}, {1}, {2} : (tensor<{3}>, tensor<{3}>) -> tensor<i1>"


def compare(direction: str, a: str, b: str, element: str) -> str:
    return COMPARE.format(direction, a, b, element)


def jax_body(before: str, e: str, p: str) -> str:
    """NaN is before all numbers; of equal values the first is."""
    return f"""
    %0 = {compare(before, "%a", "%b", e)}
    %1 = {compare("NE", "%a", "%a", e)}
    %2 = stablehlo.or %0, %1 : tensor<i1>
    %3 = {compare("EQ", "%a", "%b", e)}
    %4 = {compare("LT", "%i", "%j", p)}
    %5 = stablehlo.and %3, %4 : tensor<i1>
    %6 = stablehlo.or %2, %5 : tensor<i1>
    %v = stablehlo.select %2, %a, %b : tensor<i1>, tensor<{e}>
    %w = stablehlo.select %6, %i, %j : tensor<i1>, tensor<{p}>"""


def torch_body(before: str, e: str, p: str) -> str:
    which = "maximum" if before == "GT" else "minimum"
    return f"""
    %0 = {compare("GE" if before == "GT" else "LE", "%a", "%b", e)}
    %v = stablehlo.{which} %a, %b : tensor<{e}>
    %1 = {compare("EQ", "%a", "%b", e)}
    %2 = stablehlo.minimum %i, %j : tensor<{p}>
    %3 = stablehlo.select %0, %i, %j : tensor<i1>, tensor<{p}>
    %w = stablehlo.select %1, %2, %3 : tensor<i1>, tensor<{p}>"""


BODIES = {"jax": jax_body, "torch": torch_body}
INITS = {
    ("f32", "GT"): "0xFF800000",
    ("f32", "LT"): "0x7F800000",
    ("i32", "GT"): "-2147483648",
    ("i32", "LT"): "2147483647",
}


def reduction(
    shape: tuple[int, ...], dim: int, body: str, before: str, e: str, p: str = "i32", spread: bool = False,
    init: str | None = None,
) -> str:  # fmt: skip
    size = "x".join(map(str, shape))
    left = "x".join([str(n) for d, n in enumerate(shape) if d != dim] + [""])
    iota = (
        f"""%n = stablehlo.iota dim = 0 : tensor<{shape[dim]}x{p}>
      %p = stablehlo.broadcast_in_dim %n, dims = [{dim}] : (tensor<{shape[dim]}x{p}>) -> tensor<{size}x{p}>"""
        if spread
        else f"%p = stablehlo.iota dim = {dim} : tensor<{size}x{p}>"
    )
    return f"""func.func @main(%x: tensor<{size}x{e}>) -> (tensor<{left}{e}>, tensor<{left}{p}>) {{
      {iota}
      %first = stablehlo.constant dense<{init or INITS[e, before]}> : tensor<{e}>
      %zero = stablehlo.constant dense<0> : tensor<{p}>
      %r:2 = "stablehlo.reduce"(%x, %p, %first, %zero) <{{dimensions = array<i64: {dim}>}}> ({{
      ^bb0(%a: tensor<{e}>, %i: tensor<{p}>, %b: tensor<{e}>, %j: tensor<{p}>):
        {body}
        stablehlo.return %v, %w : tensor<{e}>, tensor<{p}>
      }}) : (tensor<{size}x{e}>, tensor<{size}x{p}>, tensor<{e}>, tensor<{p}>) -> (tensor<{left}{e}>, tensor<{left}{p}>)
      return %r#0, %r#1 : tensor<{left}{e}>, tensor<{left}{p}>
    }}"""


def run(text: str, x: torch.Tensor) -> list[np.ndarray]:
    module, _ = load_mlir_file(text, target="stablehlo")
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, (1, 1))))
    return [shards[0].numpy() for shards in execute(binary, 0, [GoldenMapTensor({0: x})], (1, 1))]


@pytest.mark.parametrize("before", ["GT", "LT"])
@pytest.mark.parametrize("element", ["f32", "i32"])
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize(
    ("shape", "dim"), [((7,), 0), ((4, 9), 1), ((4, 9), 0), ((2, 1, 5), 1), ((2, 3, 4), 2), ((1,), 0)]
)
def test_agrees_with_numpy(shape: tuple[int, ...], dim: int, body: str, element: str, before: str) -> None:
    """Returns the first position among values with many ties."""
    result = np.random.default_rng(0).integers(-2, 3, shape, dtype=np.int32)
    if element == "i32":
        result.flat[0] = -(2**31)  # its negative is itself
    x = result.astype(np.float32) if element == "f32" else result
    spread = len(shape) == 2
    text = reduction(shape, dim, BODIES[body](before, element, "i32"), before, element, spread=spread)
    value, position = run(text, torch.from_numpy(x))
    choose, extreme = (np.argmax, np.max) if before == "GT" else (np.argmin, np.min)
    np.testing.assert_array_equal(position, choose(x, axis=dim))
    np.testing.assert_array_equal(value, extreme(x, axis=dim))


@pytest.mark.parametrize("before", ["GT", "LT"])
def test_nan_is_found_first(before: str) -> None:
    x = torch.tensor([[1.0, float("nan"), float("inf"), float("nan")], [float("-inf"), 2.0, 2.0, 0.0]])
    _, position = run(reduction((2, 4), 1, jax_body(before, "f32", "i32"), before, "f32"), x)
    assert position.tolist() == ([1, 1] if before == "GT" else [1, 0])


def test_only_what_is_used_is_computed() -> None:
    text = reduction((4, 9), 1, jax_body("GT", "f32", "i32"), "GT", "f32")
    text = text.replace("return %r#0, %r#1 : tensor<4xf32>, tensor<4xi32>", "return %r#1 : tensor<4xi32>")
    text = text.replace("-> (tensor<4xf32>, tensor<4xi32>) {", "-> tensor<4xi32> {", 1)
    module, _ = load_mlir_file(text, target="stablehlo")
    assert "ttnn.max" not in str(lowered(module, (1, 1)))


def test_nothing_to_reduce_is_where_it_begins() -> None:
    module, _ = load_mlir_file(reduction((0,), 0, jax_body("GT", "f32", "i32"), "GT", "f32"), target="stablehlo")
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, (1, 1))))
    value, position = (shards[0] for shards in execute(binary, 0, [GoldenMapTensor({0: torch.zeros(0)})], (1, 1)))
    assert (float(value), int(position)) == (-np.inf, 0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("%v = stablehlo.select %2, %a, %b", "%v = stablehlo.select %2, %b, %a"),
        ("stablehlo.compare LT, %i, %j", "stablehlo.compare GT, %i, %j"),
        ("%w = stablehlo.select %6, %i, %j", "%w = stablehlo.select %2, %i, %j"),
        ("dense<0xFF800000>", "dense<0.0>"),
        ("stablehlo.iota dim = 1", "stablehlo.iota dim = 0"),
        ("%2 = stablehlo.or %0, %1", "%2 = stablehlo.and %0, %1"),
    ],
)
def test_other_pairs_are_computed(old: str, new: str) -> None:
    text = reduction((4, 9), 1, jax_body("GT", "f32", "i32"), "GT", "f32")
    assert old in text
    module, _ = load_mlir_file(text.replace(old, new), target="stablehlo")
    result = str(lowered(module, (1, 1)))
    assert "ttnn.argmax" not in result
    assert "ttnn.where" in result


@pytest.mark.parametrize("op", ["xor", "add", "maximum"])
def test_a_region_is_known_by_what_it_computes(op: str) -> None:
    """An element is not both greater than another one and NaN, so that these ops of predicates are the same."""
    text = reduction((4, 9), 1, jax_body("GT", "f32", "i32"), "GT", "f32")
    text = text.replace("%2 = stablehlo.or %0, %1", f"%2 = stablehlo.{op} %0, %1")
    module, _ = load_mlir_file(text, target="stablehlo")
    assert "ttnn.argmax" in str(lowered(module, (1, 1)))
