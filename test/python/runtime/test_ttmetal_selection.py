# SPDX-License-Identifier: Apache-2.0
"""target="ttmetal": choices by position and running sums, compared with torch: ties, NaN, infinities, integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import build_module, compile_ttir_to_flatbuffer, load_mlir_file
from builder.base.errors import TTBuilderCompileException
from op_cases import device
from test_ttmetal import binaries
from ttmlir import ir, passes

NAN, INF = float("nan"), float("inf")
VALUES = torch.tensor([[1.0, NAN, 2.0, INF], [INF, -INF, INF, 0.0], [-0.0, 0.0, -1.0, 0.0], [3.0, 3.0, 3.0, -INF]])
INTEGERS = torch.tensor([[7, -(2**31), 7, 0], [-1, -1, 2**31 - 1, 5], [3, 2, 1, 0]], dtype=torch.int32)
Build = Callable[..., Any]


def submitted(metal: Any, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    outputs = rt.runtime.submit(device(), metal, 0, [rt.runtime.create_host_tensor(x) for x in inputs])
    return [torch.from_dlpack(rt.runtime.to_host(output)[0]) for output in outputs]


def results(build: Build, inputs: Sequence[torch.Tensor], library: bool = False) -> list[torch.Tensor]:
    """Results of one function on the cores; with library, on target ttnn."""

    def module(builder: Any) -> None:
        def f(*arguments: Any) -> Any:
            return build(arguments[-1], *arguments[:-1])

        builder.func([tuple(x.shape) for x in inputs], [x.dtype for x in inputs])(f)

    built, _ = build_module(module, "ttir")
    metal, ttnn = binaries(built)
    return submitted(ttnn if library else metal, inputs)


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


@pytest.mark.parametrize("kind", ["sum", "invalid"])
@pytest.mark.parametrize("shape", [(4, 0), (0, 4)], ids=str)
def test_no_indices_leave_the_input(shape: tuple[int, int], kind: str) -> None:
    inputs = [VALUES, torch.zeros(shape, dtype=torch.int32), torch.zeros(shape)]
    (found,) = results(lambda b, x, i, s: b.scatter(x, i, s, dim=shape.index(0), scatter_reduce_type=kind), inputs)
    same(found, VALUES)


@pytest.mark.parametrize("dim", [-1, -2])
def test_negative_dimensions_count_from_the_end(dim: int) -> None:
    torch.manual_seed(0)
    x, source, index = torch.rand(4, 6), torch.rand(4, 6), torch.randint(0, 4, (4, 6), dtype=torch.int32)
    size = x.shape[dim]
    taken, scale = torch.arange(size)[1:-1:2], torch.rand(size)
    found = results(
        lambda b, x, i, s, w: (
            b.gather(x, i, dim=dim),
            b.scatter(x, i, s, dim=dim, scatter_reduce_type="sum"),
            b.index(x, dim=dim, begin=1, end=-1, step=2),
            b.index(x, dim=dim, begin=-2, end=size, step=1),
            b.batch_norm_inference(x, w, w, w, w, epsilon=0.5, dimension=dim),
        ),
        [x, index, source, scale],
    )
    same(found[0], x.gather(dim, index.long()))
    torch.testing.assert_close(found[1], x.scatter_add(dim, index.long(), source))
    same(found[2], x.index_select(dim, taken))
    same(found[3], x.narrow(dim, size - 2, 2))
    w = scale if dim == -1 else scale[:, None]
    torch.testing.assert_close(found[4], (x - w) / (w + 0.5).sqrt() * w + w)


# An infinity or NaN inside each row.
ROWS = torch.tensor(
    [
        [1.0, 2.0, -3.0, INF, 5.0, 1.0, 2.0],
        [1.0, -INF, 2.0, INF, 0.0, 1.0, 1.0],
        [2.0, 3.0, 0.5, 1.0, NAN, 4.0, 5.0],
    ]
)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dim", [-1, -2])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_infinities_and_nan_do_not_reach_elements_before_them(name: str, dim: int, reverse: bool) -> None:
    x = ROWS if dim == -1 else ROWS.T.contiguous()

    def build(b: Any, x: Any) -> Any:
        if not reverse:
            return getattr(b, name)(x, dim=dim)
        return b.reverse(getattr(b, name)(b.reverse(x, dimensions=[dim + 2]), dim=dim), dimensions=[dim + 2])

    (found,) = results(build, [x])
    same(found, getattr(x.flip(dim), name)(dim).flip(dim) if reverse else getattr(x, name)(dim))


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running_integers_wrap(name: str) -> None:
    torch.manual_seed(0)
    x = torch.randint(-(2**31), 2**31 - 1, (3, 40), dtype=torch.int64).to(torch.int32)
    (found,) = results(lambda b, x: getattr(b, name)(x, dim=1), [x])
    same(found, getattr(x, name)(1, dtype=torch.int32))


def test_running_sums_of_bf16_are_rounded_once() -> None:
    torch.manual_seed(0)
    x = torch.rand(3, 600).bfloat16()
    (found,) = results(lambda b, x: b.cumsum(x, dim=1), [x])
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found.double(), x.double().cumsum(1), rtol=2**-8, atol=0)


WINDOW = """
func.func @main(%x: tensor<3x7xTYPE>) -> tensor<3x7xTYPE> {
  %zero = stablehlo.constant dense<0> : tensor<TYPE>
  %sums = "stablehlo.reduce_window"(%x, %zero) <{
    window_dimensions = array<i64: 1, 7>, padding = dense<[[0, 0], PADDING]> : tensor<2x2xi64>
  }> ({
  ^bb0(%a: tensor<TYPE>, %b: tensor<TYPE>):
    %sum = stablehlo.add %a, %b : tensor<TYPE>
    stablehlo.return %sum : tensor<TYPE>
  }) : (tensor<3x7xTYPE>, tensor<TYPE>) -> tensor<3x7xTYPE>
  return %sums : tensor<3x7xTYPE>
}
"""


@pytest.mark.parametrize("padding", ["[6, 0]", "[0, 6]"])
@pytest.mark.parametrize("element", ["f32", "i32"])
def test_windows_that_reach_to_an_edge(element: str, padding: str) -> None:
    """Running sums of StableHLO, from the beginning or the end."""
    x = ROWS if element == "f32" else torch.arange(-8, 13, dtype=torch.int32).reshape(3, 7)
    text = WINDOW.replace("TYPE", element).replace("PADDING", padding)
    if element == "f32":
        text = text.replace("dense<0>", "dense<0.0>")
    module, _ = load_mlir_file(text, target="stablehlo")
    passes.stablehlo_to_ttir_pipeline(module)
    (found,) = submitted(binaries(module)[0], [x])
    same(found, x.cumsum(1) if padding == "[6, 0]" else x.flip(1).cumsum(1).flip(1))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.uint16, torch.bool], ids=str)
def test_positions_that_the_type_of_the_elements_lacks(dtype: torch.dtype) -> None:
    """Rows of 300 elements, which have positions above 255."""
    x = torch.randint(0, 2 if dtype == torch.bool else 200, (3, 300), generator=torch.Generator().manual_seed(0)).int()
    x[1], x[1, 290] = 0, 1
    begins, ends = (torch.tensor(at, dtype=torch.int32) for at in ([1, 270], [3, 300]))
    index = torch.tensor([[299], [0], [256]], dtype=torch.int32)
    values, order, most, where, part, scattered = results(
        lambda b, x, begins, ends, i, s: (
            *b.sort(x, dim=1, descending=True, stable=True),
            *b.topk(x, k=2, dim=1),
            b.slice_dynamic(x, begins, ends, output_shape=[2, 30]),
            b.scatter(x, i, s, dim=1, scatter_reduce_type="invalid"),
        ),
        [x.to(dtype), begins, ends, index, torch.ones(3, 1, dtype=dtype)],
    )
    sorted_values, positions = x.sort(dim=1, descending=True, stable=True)
    same(values.int(), sorted_values)
    same(order, positions)
    same(most.int(), sorted_values[:, :2])
    same(where, positions[:, :2])
    same(part.int(), x[1:, 270:])
    same(scattered.int(), x.scatter(1, index.long(), 1))
    (first,) = results(lambda b, x: b.argmax(x, dim_arg=[1], keep_dim=False), [x.to(dtype)])
    same(first, positions[:, 0])


def test_draws_of_other_runs_are_refused() -> None:
    def module(builder: Any) -> None:
        @builder.func([(2, 5), (2, 5), (2,), (2,), (2,)], [torch.float32] + [torch.int32] * 2 + [torch.float32] * 2)
        def f(values: Any, indices: Any, k: Any, p: Any, temp: Any, builder: Any) -> Any:
            return builder.sampling(values, indices, k, p, temp)

    with pytest.raises(TTBuilderCompileException, match=r"'ttir.sampling' is not lowered to D2M: its seed is 0, which"):
        compile_ttir_to_flatbuffer(module, target="ttmetal")


# The value of a user, and k: one of them is no order, or no count, of candidates.
@pytest.mark.parametrize(("value", "k", "index"), [(NAN, 2, 4), (1.0, 0, -1), (1.0, 5, 4)], ids=["nan", "none", "many"])
def test_candidates_that_cannot_be_drawn_are_an_error(value: float, k: int, index: int) -> None:
    inputs = [
        torch.tensor([[0.0, 1.0, 2.0, 3.0], [0.0, value, 0.0, 0.0]]),
        torch.arange(8, dtype=torch.int32).reshape(2, 4),
        torch.tensor([4, k], dtype=torch.int32),
        torch.ones(2),
        torch.ones(2),
    ]
    what = r"ttir.sampling: 'k' - 1 \(4 where 'input_values' or 'temp' has NaN\)"
    with pytest.raises(rt.Error, match=f"{what} is {index}; expected a position from 0 to 3"):
        results(lambda b, *each: b.sampling(*each, seed=3), inputs)


def test_draws_are_as_likely_as_the_candidates() -> None:
    """Draws for 2,000 users with the same four candidates; the third reaches p, so that the fourth is never drawn."""
    users, chances = 2000, torch.tensor([0.5, 0.3, 0.15, 0.05])
    inputs = [
        chances.log().repeat(users, 1),
        torch.tensor([70, 80, 90, 100], dtype=torch.int32).repeat(users, 1),
        torch.full((users,), 4, dtype=torch.int32),
        torch.full((users,), 0.9),
        torch.ones(users),
    ]
    (drawn,) = results(lambda b, *each: b.sampling(*each, seed=3), inputs)
    shares = torch.tensor([float((drawn == number).float().mean()) for number in (70, 80, 90, 100)])
    expected = torch.tensor([0.5, 0.3, 0.15, 0.0]) / 0.95
    torch.testing.assert_close(shares, expected, rtol=0, atol=0.04)


def test_shifts_fill_in_the_sign() -> None:
    shifts = torch.tensor([[0, 31, 1, 2], [1, 31, 5, 32], [4, 0, 40, 1]], dtype=torch.int32)
    (found,) = results(lambda b, x, n: b.right_shift(x, n), [INTEGERS, shifts])
    same(found, INTEGERS >> shifts.clamp(max=31))


def test_pixels_are_repeated_or_interpolated() -> None:
    x = torch.arange(2 * 3 * 5 * 7, dtype=torch.float32).reshape(2, 3, 5, 7)
    nearest, between = results(
        lambda b, x: [b.upsample2d(x, scale_factor=[2, 3], mode=mode) for mode in ("nearest", "bilinear")], [x]
    )
    same(nearest, x.repeat_interleave(2, dim=1).repeat_interleave(3, dim=2))
    channels_first = torch.nn.functional.interpolate(x.permute(0, 3, 1, 2), scale_factor=(2.0, 3.0), mode="bilinear")
    torch.testing.assert_close(between, channels_first.permute(0, 2, 3, 1), rtol=1e-5, atol=1e-5)


def test_interpolation_keeps_large_pixels() -> None:
    """A difference of two of them would overflow, or be that of infinities."""
    x = torch.tensor([[3e38, -3e38, 1.0], [3e38, 3e38, 2.0], [4.0, 5.0, float("inf")]]).reshape(1, 3, 3, 1)
    expected = torch.nn.functional.interpolate(x.permute(0, 3, 1, 2), scale_factor=2.0, mode="bilinear")
    for library in (False, True):
        (found,) = results(lambda b, x: b.upsample2d(x, scale_factor=[2, 2], mode="bilinear"), [x], library)
        torch.testing.assert_close(found, expected.permute(0, 2, 3, 1), rtol=1e-6, atol=0, equal_nan=True)


@pytest.mark.parametrize("index", [4, -1, 2**31 - 1], ids=["behind", "before", "far"])
def test_an_index_outside_is_an_error(index: int) -> None:
    """The op and the index are named, as on target ttnn."""
    table, indices = torch.arange(8.0).reshape(4, 2), torch.tensor([[1, index]], dtype=torch.int32)
    row, ones = torch.arange(4.0).reshape(1, 4), torch.ones(1, 2)
    calls: dict[str, tuple[Build, list[torch.Tensor]]] = {
        "embedding": (lambda b, i, w: b.embedding(i, w), [indices, table]),
        "embedding_backward": (
            lambda b, i, w, g: b.embedding_backward(i, w, g),
            [indices, table, torch.ones(1, 2, 2)],
        ),
        "gather": (lambda b, x, i: b.gather(x, i, dim=1), [row, indices]),
        "scatter": (lambda b, x, i, s: b.scatter(x, i, s, dim=1, scatter_reduce_type="sum"), [row, indices, ones]),
    }
    for op, (build, inputs) in calls.items():
        with pytest.raises(rt.Error, match=f"ttir.{op}: an index is {index}; expected a position from 0 to 3"):
            results(build, inputs)


def test_reductions_of_no_elements() -> None:
    found = results(
        lambda b, x: (
            b.sum(x, dim_arg=[0], keep_dim=False),
            b.prod(x, dim_arg=[0], keep_dim=False),
            b.max(x, dim_arg=[0], keep_dim=False),
            b.min(x, dim_arg=[0], keep_dim=False),
            b.mean(x, dim_arg=[0], keep_dim=False),
            b.matmul(b.transpose(x, dim0=0, dim1=1), x),
            b.concat([x, b.exp(x)], dim=0),
        ),
        [torch.zeros(0, 3)],
    )
    for value, expected in zip(found, (0.0, 1.0, -INF, INF, NAN), strict=False):
        same(value, torch.full((3,), expected))
    same(found[5], torch.zeros(3, 3))
    assert found[6].shape == (0, 3)


@pytest.mark.parametrize("shape", [(11 * 32, 7), (5, 13 * 32), (3, 11 * 32, 33)], ids=["rows", "columns", "batch"])
def test_a_prime_number_of_tiles_has_padded_parts(shape: tuple[int, ...]) -> None:
    """11 tiles are 6 parts of 2. Rows, columns and matrices are read from the part that has them."""
    torch.manual_seed(0)
    x, row = torch.rand(shape), torch.rand(shape[-1])
    found = results(
        lambda b, x, row: (
            b.add(x, row),
            b.sum(x, dim_arg=[-1], keep_dim=True),
            b.sum(x, dim_arg=[-2], keep_dim=True),
            b.matmul(x, b.transpose(x, dim0=-1, dim1=-2)),
            b.transpose(x, dim0=-1, dim1=-2),
        ),
        [x, row],
    )
    expected = (
        x + row,
        x.sum(-1, keepdim=True),
        x.sum(-2, keepdim=True),
        x @ x.transpose(-1, -2),
        x.transpose(-1, -2),
    )
    for value, other in zip(found, expected, strict=True):
        torch.testing.assert_close(value, other, rtol=1e-4, atol=1e-3)


BLOCKS = """
func.func @blocks(%x: tensor<40x70xf32>) -> (tensor<40x70xf32>, tensor<40x70xf32>, tensor<70x40xf32>) {
  %b = "ttir.typecast"(%x) : (tensor<40x70xf32>) -> tensor<40x70x!ttcore.tile<32x32, FORMAT>>
  %f = "ttir.typecast"(%b) : (tensor<40x70x!ttcore.tile<32x32, FORMAT>>) -> tensor<40x70xf32>
  %e = "ttir.neg"(%b) : (tensor<40x70x!ttcore.tile<32x32, FORMAT>>) -> tensor<40x70x!ttcore.tile<32x32, FORMAT>>
  %g = "ttir.typecast"(%e) : (tensor<40x70x!ttcore.tile<32x32, FORMAT>>) -> tensor<40x70xf32>
  %t = "ttir.permute"(%b) <{permutation = array<i64: 1, 0>}>
      : (tensor<40x70x!ttcore.tile<32x32, FORMAT>>) -> tensor<70x40x!ttcore.tile<32x32, FORMAT>>
  %h = "ttir.typecast"(%t) : (tensor<70x40x!ttcore.tile<32x32, FORMAT>>) -> tensor<70x40xf32>
  return %f, %g, %h : tensor<40x70xf32>, tensor<40x70xf32>, tensor<70x40xf32>
}
"""


@pytest.mark.parametrize(("name", "bits"), [("bfp_bf8", 7), ("bfp_bf4", 3)])
def test_blocks_share_exponents(name: str, bits: int) -> None:
    """16 numbers of a row have the exponent of the largest; what is less than half of the last bit is 0."""
    torch.manual_seed(0)
    x = torch.randn(40, 70) * torch.logspace(-3, 3, 70)
    with ir.Context():
        metal, _ = binaries(ir.Module.parse(BLOCKS.replace("FORMAT", name)))
    blocks, negative, transposed = submitted(metal, [x])
    groups = torch.nn.functional.pad(x, (0, 10)).reshape(40, 5, 16)
    step = torch.exp2(torch.floor(torch.log2(groups.abs().amax(-1, keepdim=True))) - (bits - 1))
    steps = step.expand(40, 5, 16).reshape(40, 80)[:, :70]
    assert bool(((blocks - x).abs() <= steps).all())
    assert bool((torch.remainder(blocks, steps) == 0).all())
    same(negative, -blocks)
    assert transposed.shape == (70, 40)
    assert float((transposed - blocks.T).abs().max()) <= float(x.abs().max()) * 2.0**-bits


def test_a_cache_that_is_an_argument_is_written() -> None:
    """The caller's tensor has the new position, a tensor that shares its values does not, and the result is it too."""
    cache, token = torch.zeros(2, 3, 5, 4), torch.ones(1, 3, 2, 4)
    position = torch.tensor([3], dtype=torch.int32)

    def module(builder: Any) -> None:
        @builder.func([(2, 3, 5, 4), (1, 3, 2, 4), (1,)], [torch.float32, torch.float32, torch.int32])
        def f(cache: Any, token: Any, position: Any, builder: Any) -> Any:
            return builder.update_cache(cache, token, position, batch_offset=0)

    built, _ = build_module(module, "ttir")
    metal, _ = binaries(built)
    given = [rt.runtime.create_host_tensor(x) for x in (cache, token, position)]
    (output,) = rt.runtime.submit(device(), metal, 0, given)
    expected = cache.clone()
    expected[:, :, 3] = 1
    same(torch.from_dlpack(rt.runtime.to_host(output)[0]), expected)
    same(torch.from_dlpack(rt.runtime.to_host(given[0])[0]), expected)


BOOLEANS = """
func.func @main(%a: tensor<40x70x{type}>, %b: tensor<40x70x{type}>, %p: tensor<40x70xi1>)
    -> (tensor<40x70x{type}>, tensor<40x70xi1>, tensor<40x70xi1>, tensor<40x70x{type}>, tensor<40xi1>, tensor<70xi1>,
        tensor<70x40xi1>, tensor<40x71xi1>, tensor<40x70xi1>) {{
  %0 = "ttir.gt"(%a, %b) : (tensor<40x70x{type}>, tensor<40x70x{type}>) -> tensor<40x70xi1>
  %1 = "ttir.where"(%0, %a, %b) : (tensor<40x70xi1>, tensor<40x70x{type}>, tensor<40x70x{type}>) -> tensor<40x70x{type}>
  %2 = "ttir.logical_and"(%0, %p) : (tensor<40x70xi1>, tensor<40x70xi1>) -> tensor<40x70xi1>
  %3 = "ttir.typecast"(%a) : (tensor<40x70x{type}>) -> tensor<40x70xi1>
  %4 = "ttir.typecast"(%2) : (tensor<40x70xi1>) -> tensor<40x70x{type}>
  %5 = "ttir.reduce_and"(%0) <{{dim_arg = [1 : i32], keep_dim = false}}> : (tensor<40x70xi1>) -> tensor<40xi1>
  %6 = "ttir.reduce_or"(%2) <{{dim_arg = [0 : i32], keep_dim = false}}> : (tensor<40x70xi1>) -> tensor<70xi1>
  %7 = "ttir.permute"(%p) <{{permutation = array<i64: 1, 0>}}> : (tensor<40x70xi1>) -> tensor<70x40xi1>
  %8 = "ttir.pad"(%p) <{{padding = array<i32: 0, 0, 0, 1>, value = 1.0 : f32}}> : (tensor<40x70xi1>) -> tensor<40x71xi1>
  %9 = "ttir.bitwise_not"(%0) : (tensor<40x70xi1>) -> tensor<40x70xi1>
  %c = "ttir.constant"() <{{value = dense<[[true], [false]]> : tensor<2x1xi1>}}> : () -> tensor<2x1xi1>
  %d = "ttir.repeat"(%c) <{{repeat_dimensions = array<i64: 20, 70>}}> : (tensor<2x1xi1>) -> tensor<40x70xi1>
  %10 = "ttir.logical_xor"(%9, %d) : (tensor<40x70xi1>, tensor<40x70xi1>) -> tensor<40x70xi1>
  return %1, %2, %3, %4, %5, %6, %7, %8, %10 : tensor<40x70x{type}>, tensor<40x70xi1>, tensor<40x70xi1>,
    tensor<40x70x{type}>, tensor<40xi1>, tensor<70xi1>, tensor<70x40xi1>, tensor<40x71xi1>, tensor<40x70xi1>
}}
"""


@pytest.mark.parametrize("options", ["", "override-device-shape=1,1", "enable-elementwise-fusion=false"])
@pytest.mark.parametrize("name", ["f32", "bf16", "si32"])
def test_booleans_between_ops_and_of_programs(name: str, options: str) -> None:
    dtype = {"f32": torch.float32, "bf16": torch.bfloat16, "si32": torch.int32}[name]
    a, b = (torch.randint(-2, 3, (40, 70), generator=torch.Generator().manual_seed(seed)).to(dtype) for seed in (1, 2))
    if dtype.is_floating_point:
        a = a * 0.25  # true below 1 as well
    a[7] = 3  # a row that is greater than all of b
    p = torch.rand((40, 70), generator=torch.Generator().manual_seed(3)) < 0.3
    module = ir.Module.parse(BOOLEANS.format(type=name), ir.Context())
    passes.ttir_to_ttmetal_pipeline(module, options)
    metal = rt.binary.load_binary_from_bytes(passes.ttmetal_to_flatbuffer_bin(module), allow_native=True)
    greater = a > b
    even = (torch.arange(40) % 2 == 0)[:, None]
    expected = [
        torch.where(greater, a, b),
        greater & p,
        a.bool(),
        (greater & p).to(dtype),
        greater.all(1),
        (greater & p).any(0),
        p.T,
        torch.nn.functional.pad(p, (0, 1), value=True),
        ~greater ^ even,
    ]
    for found, each in zip(submitted(metal, [a, b, p]), expected, strict=True):
        assert found.dtype == each.dtype
        same(found, each)
