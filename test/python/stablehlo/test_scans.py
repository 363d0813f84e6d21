# SPDX-License-Identifier: Apache-2.0
"""chlo.scan and chlo.ragged_dot on the chip, compared with loops in numpy."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from test_expansions import run


def values(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("shape", "dimension"), [((5, 3), 0), ((3, 5), 1), ((1, 3), 0), ((2, 4, 3), 1), ((6,), 0)])
def test_scan(shape: tuple[int, ...], dimension: int, reverse: bool) -> None:
    kept = [size for d, size in enumerate(shape) if d != dimension]
    slice_type = "tensor<" + "".join(f"{size}x" for size in kept) + "f32>"
    whole = "tensor<" + "".join(f"{size}x" for size in shape) + "f32>"
    x, start = values(*shape), values(*kept, seed=1)
    how = f"{{is_reverse = {str(reverse).lower()}}}"
    outputs, last = run(
        f"""%r0, %r1 = chlo.scan(%x) inits (%i) dimension = {dimension} attributes {how} {{
        ^bb0(%a: {slice_type}, %c: {slice_type}):
          %half = stablehlo.constant dense<0.5> : {slice_type}
          %h = stablehlo.multiply %c, %half : {slice_type}
          %n = stablehlo.add %a, %h : {slice_type}
          %o = stablehlo.subtract %n, %c : {slice_type}
          stablehlo.return %o, %n : {slice_type}, {slice_type}
        }} : ({whole}, {slice_type}) -> ({whole}, {slice_type})""",
        {"x": x, "i": start},
        [whole, slice_type],
    )
    carry, expected = start.numpy(), np.zeros(shape, np.float32)
    order = range(shape[dimension])
    for i in reversed(order) if reverse else order:
        place = (slice(None),) * dimension + (i,)
        after = x.numpy()[place] + carry * np.float32(0.5)
        expected[place] = after - carry
        carry = after
    np.testing.assert_allclose(outputs, expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(last, carry, rtol=1e-6, atol=1e-6)


def test_scan_without_inputs_and_iterations() -> None:
    counted, last, empty, kept = run(
        """%r0, %r1 = chlo.scan() inits (%i) dimension = 0 attributes {scan_dim_size = 4 : i64} {
        ^bb0(%c: tensor<f32>):
          %n = stablehlo.add %c, %c : tensor<f32>
          stablehlo.return %c, %n : tensor<f32>, tensor<f32>
        } : (tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
        %r2, %r3 = chlo.scan() inits (%i) dimension = 0 attributes {scan_dim_size = 0 : i64} {
        ^bb0(%c: tensor<f32>):
          stablehlo.return %c, %c : tensor<f32>, tensor<f32>
        } : (tensor<f32>) -> (tensor<0xf32>, tensor<f32>)""",
        {"i": torch.tensor(3.0)},
        ["tensor<4xf32>", "tensor<f32>", "tensor<0xf32>", "tensor<f32>"],
    )
    assert counted.tolist() == [3, 6, 12, 24] and last.item() == 48
    assert empty.shape == (0,) and kept.item() == 3


def spans(sizes: list[int]) -> list[slice]:
    ends = np.cumsum(sizes)
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]


# The last leaves rows without a group.
GROUPS = [[2, 3, 1], [0, 6, 0], [6, 0, 0], [1, 2, 0]]


@pytest.mark.parametrize("sizes", GROUPS, ids=str)
def test_ragged_rows(sizes: list[int]) -> None:
    x, w = values(6, 4), values(3, 4, 2, seed=1)
    (found,) = run(
        """%r0 = "chlo.ragged_dot"(%x, %w, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<
          lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0],
          rhs_group_dimensions = [0]>}> : (tensor<6x4xf32>, tensor<3x4x2xf32>, tensor<3xi32>) -> tensor<6x2xf32>""",
        {"x": x, "w": w, "g": torch.tensor(sizes, dtype=torch.int32)},
        ["tensor<6x2xf32>"],
    )
    expected = np.zeros((6, 2), np.float32)
    for group, span in enumerate(spans(sizes)):
        expected[span] = x.numpy()[span] @ w.numpy()[group]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("sizes", GROUPS, ids=str)
def test_ragged_sums_of_batches(sizes: list[int]) -> None:
    """Groups of the summed dimension, of sizes that each batch has for itself."""
    x, w = values(2, 5, 6), values(2, 6, 3, seed=1)
    both = [sizes, sizes[::-1]]
    (found,) = run(
        """%r0 = "chlo.ragged_dot"(%x, %w, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<
          lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2],
          rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [2]>}>
          : (tensor<2x5x6xf32>, tensor<2x6x3xf32>, tensor<2x3xi32>) -> tensor<3x2x5x3xf32>""",
        {"x": x, "w": w, "g": torch.tensor(both, dtype=torch.int32)},
        ["tensor<3x2x5x3xf32>"],
    )
    expected = np.zeros((3, 2, 5, 3), np.float32)
    for batch, of in enumerate(both):
        for group, span in enumerate(spans(of)):
            expected[group, batch] = x.numpy()[batch][:, span] @ w.numpy()[batch][span]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_ragged_batches_are_batches() -> None:
    x, w = values(4, 2, 3), values(4, 3, 5, seed=1)
    (found,) = run(
        """%r0 = "chlo.ragged_dot"(%x, %w, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<
          lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2],
          rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}>
          : (tensor<4x2x3xf32>, tensor<4x3x5xf32>, tensor<2xi32>) -> tensor<4x2x5xf32>""",
        {"x": x, "w": w, "g": torch.tensor([1, 3], dtype=torch.int32)},
        ["tensor<4x2x5xf32>"],
    )
    np.testing.assert_allclose(found, x.numpy() @ w.numpy(), rtol=1e-5, atol=1e-5)
