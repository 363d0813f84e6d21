# SPDX-License-Identifier: Apache-2.0
"""target="ttmetal": ops that choose elements by positions, compared with torch: ties, NaN, infinities, integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import build_module, compile_ttir_to_flatbuffer
from builder.base.errors import TTBuilderCompileException
from op_cases import device
from test_ttmetal import binaries

NAN, INF = float("nan"), float("inf")
VALUES = torch.tensor([[1.0, NAN, 2.0, INF], [INF, -INF, INF, 0.0], [-0.0, 0.0, -1.0, 0.0], [3.0, 3.0, 3.0, -INF]])
INTEGERS = torch.tensor([[7, -(2**31), 7, 0], [-1, -1, 2**31 - 1, 5], [3, 2, 1, 0]], dtype=torch.int32)
Build = Callable[..., Any]


def results(build: Build, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Results of one function on the cores."""

    def module(builder: Any) -> None:
        def f(*arguments: Any) -> Any:
            return build(arguments[-1], *arguments[:-1])

        builder.func([tuple(x.shape) for x in inputs], [x.dtype for x in inputs])(f)

    built, _ = build_module(module, "ttir")
    metal, _ = binaries(built)
    outputs = rt.runtime.submit(device(), metal, 0, [rt.runtime.create_host_tensor(x) for x in inputs])
    return [torch.from_dlpack(rt.runtime.to_host(output)[0]) for output in outputs]


def same(found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found, expected.to(found.dtype), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("values", [VALUES, INTEGERS], ids=["floats", "integers"])
def test_sort_is_stable_with_nan_as_the_greatest(values: torch.Tensor, descending: bool) -> None:
    found = results(lambda b, x: b.sort(x, dim=1, descending=descending, stable=True), [values])
    for result, expected in zip(found, torch.sort(values, dim=1, descending=descending, stable=True), strict=True):
        same(result, expected)


@pytest.mark.parametrize("values", [VALUES, INTEGERS], ids=["floats", "integers"])
def test_argmax_is_the_first_of_the_greatest(values: torch.Tensor) -> None:
    # torch has any of the greatest; these are the first.
    expected = torch.sort(values, dim=1, descending=True, stable=True).indices[:, 0]
    (found,) = results(lambda b, x: b.argmax(x, dim_arg=[1], keep_dim=False), [values])
    same(found, expected)


@pytest.mark.parametrize("values", [VALUES, INTEGERS], ids=["floats", "integers"])
def test_gathered_values_are_not_mixed_with_their_neighbours(values: torch.Tensor) -> None:
    index = torch.tensor([[3, 0, 1], [1, 1, 2], [0, 2, 3], [2, 3, 3]], dtype=torch.int32)[: len(values)]
    (found,) = results(lambda b, x, i: b.gather(x, i, dim=1), [values, index])
    same(found, torch.gather(values, 1, index.long()))


def test_embedding_of_a_table_with_nan() -> None:
    index = torch.tensor([[2, 0], [3, 3]], dtype=torch.int32)
    (found,) = results(lambda b, i, w: b.embedding(i, w), [index, VALUES])
    same(found, torch.nn.functional.embedding(index, VALUES))


def test_the_gradient_of_rows_without_indices_is_zero() -> None:
    index = torch.tensor([0, 3, 0], dtype=torch.int32)
    (found,) = results(lambda b, i, w, g: b.embedding_backward(i, w, g), [index, torch.zeros(4, 4), VALUES[:3].clone()])
    expected = torch.zeros(4, 4).index_add(0, index, VALUES[:3])
    same(found, expected)


def test_the_last_of_several_sources_stays() -> None:
    index = torch.tensor([[1, 1, 0]], dtype=torch.int32)
    inputs = [torch.tensor([[5.0, 6.0, NAN, 7.0]]), index, torch.tensor([[1.0, INF, NAN]])]
    (found,) = results(lambda b, x, i, s: b.scatter(x, i, s, dim=1, scatter_reduce_type="invalid"), inputs)
    same(found, torch.tensor([[NAN, INF, NAN, 7.0]]))


def test_other_modes_are_refused() -> None:
    def module(builder: Any) -> None:
        @builder.func([(1, 4, 4, 8)], [torch.float32])
        def f(x: Any, builder: Any) -> Any:
            return builder.upsample2d(x, scale_factor=2, mode="bilinear")

    with pytest.raises(TTBuilderCompileException, match=r"'ttir.upsample2d' is not lowered to D2M: its mode is not"):
        compile_ttir_to_flatbuffer(module, target="ttmetal")


def test_shifts_fill_in_the_sign() -> None:
    shifts = torch.tensor([[0, 31, 1, 2], [1, 31, 5, 32], [4, 0, 40, 1]], dtype=torch.int32)
    (found,) = results(lambda b, x, n: b.right_shift(x, n), [INTEGERS, shifts])
    same(found, INTEGERS >> shifts.clamp(max=31))


def test_the_nearest_pixel_is_repeated() -> None:
    x = torch.arange(2 * 3 * 5 * 7, dtype=torch.float32).reshape(2, 3, 5, 7)
    (found,) = results(lambda b, x: b.upsample2d(x, scale_factor=[2, 3], mode="nearest"), [x])
    same(found, x.repeat_interleave(2, dim=1).repeat_interleave(3, dim=2))
