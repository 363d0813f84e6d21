# SPDX-License-Identifier: Apache-2.0
"""StableHLO's sort: comparators that JAX and people write, through the pipelines, compared with numpy's lexsort."""

from __future__ import annotations

import _ttmlir_runtime as rt
import numpy as np
import pytest
import torch
from builder.base.builder_apis import build_module, load_mlir_file
from golden.tensor import GoldenMapTensor
from op_cases import execute, lowered
from ttmlir.ir import MLIRError
from ttmlir.passes import ttnn_to_flatbuffer_bin

# One zero and one NaN of all, as JAX has it.
CANONICAL = """
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %p1 = stablehlo.compare EQ, %a0, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %p2 = stablehlo.select %p1, %zero, %a0 : tensor<i1>, tensor<f32>
  %p3 = stablehlo.compare NE, %a0, %a0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %p4 = stablehlo.select %p3, %nan, %p2 : tensor<i1>, tensor<f32>
  %q1 = stablehlo.compare EQ, %b0, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %q2 = stablehlo.select %q1, %zero, %b0 : tensor<i1>, tensor<f32>
  %q3 = stablehlo.compare NE, %b0, %b0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %q4 = stablehlo.select %q3, %nan, %q2 : tensor<i1>, tensor<f32>
  %0 = stablehlo.compare LT, %p4, %q4, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
"""
PLAIN = "%0 = stablehlo.compare {0}, %a0, %b0 : (tensor<{1}>, tensor<{1}>) -> tensor<i1>"
TWO_KEYS = """
  %lt0 = stablehlo.compare {0}, %a0, %b0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %eq0 = stablehlo.compare EQ, %a0, %b0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %lt1 = stablehlo.compare {1}, %a1, %b1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %and = stablehlo.and {2} : tensor<i1>
  %0 = stablehlo.or {3} : tensor<i1>
"""


def sort_text(shape: tuple[int, ...], elements: list[str], dimension: int, comparator: str) -> str:
    types = ["tensor<" + "x".join([*map(str, shape), element]) + ">" for element in elements]
    arguments = ", ".join(f"%x{i}: {type_}" for i, type_ in enumerate(types))
    names = ", ".join(f"%x{i}" for i in range(len(types)))
    scalars = ", ".join(f"%a{i}: tensor<{e}>, %b{i}: tensor<{e}>" for i, e in enumerate(elements))
    results = ", ".join(f"%r#{i}" for i in range(len(types)))
    return f"""func.func @main({arguments}) -> ({", ".join(types)}) {{
      %r:{len(types)} = "stablehlo.sort"({names}) <{{dimension = {dimension} : i64, is_stable = true}}> ({{
      ^bb0({scalars}):
        {comparator}
        stablehlo.return %0 : tensor<i1>
      }}) : ({", ".join(types)}) -> ({", ".join(types)})
      return {results} : {", ".join(types)}
    }}"""


def run(text: str, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    module, _ = load_mlir_file(text, target="stablehlo")
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, (1, 1))))
    return [shards[0] for shards in execute(binary, 0, [GoldenMapTensor({0: x}) for x in inputs], (1, 1))]


def expected(inputs: list[torch.Tensor], keys: list[tuple[int, bool]], dimension: int) -> list[np.ndarray]:
    """numpy's lexsort is stable, ascending, with NaN behind all numbers; its last key counts first."""
    arrays = [x.numpy() for x in inputs]
    by = [(-arrays[i] if descending else arrays[i]) + 0 for i, descending in reversed(keys)]
    order = np.lexsort(by, axis=dimension) if by[0].ndim else np.zeros((), int)
    return [np.take_along_axis(array, order, dimension) for array in arrays]


def check(
    shape: tuple[int, ...], inputs: list[torch.Tensor], keys: list[tuple[int, bool]], dimension: int, text: str
) -> None:
    names = {torch.float32: "f32", torch.int32: "i32"}
    found = run(sort_text(shape, [names[x.dtype] for x in inputs], dimension, text), inputs)
    for one, reference in zip(found, expected(inputs, keys, dimension), strict=True):
        np.testing.assert_array_equal(one.numpy(), reference)


def small(shape: tuple[int, ...], seed: int) -> torch.Tensor:
    """Integers with many ties."""
    return torch.randint(-3, 4, shape, generator=torch.Generator().manual_seed(seed), dtype=torch.int32)


@pytest.mark.parametrize("dimension", [0, 1, -1])
@pytest.mark.parametrize("direction", ["LT", "GT"])
def test_values_follow_their_key(direction: str, dimension: int) -> None:
    shape = (5, 7)
    inputs = [small(shape, 0), torch.arange(35, dtype=torch.float32).reshape(shape), small(shape, 1)]
    check(shape, inputs, [(0, direction == "GT")], dimension, PLAIN.format(direction, "i32"))


@pytest.mark.parametrize("shape", [(1,), (1, 1), (40,), (2, 1, 6)])
def test_shapes(shape: tuple[int, ...]) -> None:
    inputs = [small(shape, 2), small(shape, 3)]
    check(shape, inputs, [(0, False)], -1, PLAIN.format("LT", "i32"))


def test_as_jax_orders_floats() -> None:
    """Zeros of either sign are equal, NaN of either sign is behind infinity."""
    x = torch.tensor([3.0, -0.0, float("nan"), 0.0, float("-inf"), -float("nan"), float("inf"), -1.0, 0.0, 3.0])
    index = torch.arange(10, dtype=torch.int32)
    found = run(sort_text((10,), ["f32", "i32"], 0, CANONICAL), [x, index])
    assert found[1].tolist() == [4, 7, 1, 3, 8, 0, 9, 6, 2, 5]
    np.testing.assert_array_equal(found[0].numpy(), x[found[1].long()].numpy())


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("first", ["LT", "GT"])
@pytest.mark.parametrize("second", ["LT", "GT"])
def test_two_keys(first: str, second: str, swapped: bool) -> None:
    both = ("%lt1, %eq0", "%and, %lt0") if swapped else ("%eq0, %lt1", "%lt0, %and")
    inputs = [small((60,), 4), small((60,), 5), torch.arange(60, dtype=torch.int32)]
    check((60,), inputs, [(0, first == "GT"), (1, second == "GT")], 0, TWO_KEYS.format(first, second, *both))


def test_builder() -> None:
    x, y = small((3, 8), 6), torch.arange(24, dtype=torch.int32).reshape(3, 8)

    def module(builder):
        @builder.func([(3, 8), (3, 8)], [torch.int32, torch.int32])
        def main(a, b, builder):
            return builder.sort(a, 1, is_stable=True, descending=True, value_inputs=[b])

    built, _ = build_module(module, "stablehlo")
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(built, (1, 1))))
    found = [shards[0].numpy() for shards in execute(binary, 0, [GoldenMapTensor({0: v}) for v in (x, y)], (1, 1))]
    for one, reference in zip(found, expected([x, y], [(0, True)], 1), strict=True):
        np.testing.assert_array_equal(one, reference)


def test_values_around_the_comparator_are_no_elements() -> None:
    text = sort_text((4,), ["i32"], 0, PLAIN.format("LT", "i32").replace("%a0, %b0", "%p, %q"))
    text = text.replace("@main(", "@main(%p: tensor<i32>, %q: tensor<i32>, ", 1)
    module, _ = load_mlir_file(text, target="stablehlo")
    with pytest.raises(MLIRError, match=r"stablehlo\.sort: not converted to TTIR: its comparator is not a < b"):
        lowered(module, (1, 1))


@pytest.mark.parametrize(
    "comparator",
    [
        PLAIN.format("LE", "i32"),
        PLAIN.format("LT", "i32").replace("%a0, %b0", "%b0, %a0"),
        PLAIN.format("LT", "i32").replace("%a0, %b0", "%a0, %a0"),
        "%n = stablehlo.negate %a0 : tensor<i32>\n" + PLAIN.format("LT", "i32").replace("%a0", "%n", 1),
        TWO_KEYS.format("LT", "LT", "%lt0, %lt1", "%lt0, %and"),
        CANONICAL.replace("stablehlo.constant dense<0.0>", "stablehlo.constant dense<1.0>"),
    ],
)
def test_other_comparators_are_refused(comparator: str) -> None:
    element = "f32" if "f32" in comparator else "i32"
    module, _ = load_mlir_file(sort_text((4,), [element] * 2, 0, comparator), target="stablehlo")
    with pytest.raises(MLIRError, match=r"stablehlo\.sort: not converted to TTIR: its comparator is not a < b"):
        lowered(module, (1, 1))
