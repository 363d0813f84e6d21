# SPDX-License-Identifier: Apache-2.0
"""target="ttmetal": kernels that exchange data between cores give the values of torch, and those of target="ttnn"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import build_module
from builder.execution.verdicts import Verdict, compare_shards
from op_cases import TABLE, called, clone, device, execute, operand_types
from test_ttmetal import binaries
from ttmlir import ir, passes

DTYPES = [torch.float32, torch.bfloat16]
TOLERANCE = {torch.float32: 2e-4, torch.bfloat16: 3e-2, torch.int32: 0.0}
Build = Callable[..., Any]


def check(cases: Sequence[tuple[str, Sequence[tuple[int, ...]], Build]], dtype: torch.dtype) -> None:
    """One program with a function per case, on both targets: (name, shapes of operands, calls of the builder)."""

    def module(builder: Any) -> None:
        for number, (_, shapes, build) in enumerate(cases):

            def f(*arguments: Any, build: Build = build) -> Any:
                return build(arguments[-1], *arguments[:-1])

            f.__name__ = f"case{number}"
            builder.func(list(shapes), [dtype] * len(shapes))(f)

    built, builder = build_module(module, "ttir")
    metal, ttnn = binaries(built)
    verdict = Verdict(atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype], check_atol=True, check_rtol=True)
    problems = []
    for index, goldens in builder.golden_map[0].items():
        found, other = (execute(binary, index, goldens.inputs, (1, 1)) for binary in (metal, ttnn))
        for golden, shards, expected in zip(goldens.outputs, found, other, strict=True):
            for _, _, comparison in compare_shards(golden, shards, verdict, True):
                if comparison.problem or not comparison.within:
                    problems.append(f"{cases[index][0]} and its golden: {comparison}")
            tolerance = TOLERANCE[dtype]
            if not torch.allclose(shards[0], expected[0], atol=tolerance, rtol=tolerance):
                problems.append(f"{cases[index][0]} and ttnn: {shards[0].flatten()[:4]}, {expected[0].flatten()[:4]}")
    assert not problems, "\n".join(problems)


PRODUCTS = [
    ((32, 32), (32, 32), False, False),
    ((256, 512), (512, 256), False, False),
    ((33, 50), (50, 70), False, False),
    ((1, 7), (7, 1), False, False),
    ((512, 4096), (4096, 512), False, False),  # blocks of K
    ((64, 96), (128, 96), False, True),
    ((50, 33), (50, 70), True, False),
    ((4, 64, 32), (4, 32, 64), False, False),
    ((3, 2, 40, 50), (3, 2, 50, 33), False, False),
    ((3, 40, 50), (50, 33), False, False),
    ((3, 2, 40, 50), (2, 50, 33), False, False),
    ((1, 2, 40, 50), (3, 1, 33, 50), False, True),
]


@pytest.mark.parametrize("dtype", DTYPES)
def test_products(dtype: torch.dtype) -> None:
    """One tile and many, odd shapes, batches that are broadcast, transposed operands, one core and all."""

    def product(a: bool, b: bool) -> Build:
        return lambda builder, x, y: builder.matmul(x, y, transpose_a=a, transpose_b=b)

    check([(f"{a} x {b} {ta} {tb}", (a, b), product(ta, tb)) for a, b, ta, tb in PRODUCTS], dtype)


def test_a_product_that_fills_the_memories_of_cores() -> None:
    """Operands and result of 30 MB: sums of blocks of K are kept for some rows at a time."""
    shapes = [(3072, 2048), (2048, 3072)]
    check([("large", shapes, lambda b, x, y: b.matmul(x, y))], torch.bfloat16)


def test_linear_has_a_bias() -> None:
    cases = [((5, 40), (40, 33), (33,)), ((2, 3, 64), (64, 96), (1, 96))]
    check([(str(shapes), shapes, lambda b, x, w, bias: b.linear(x, w, bias=bias)) for shapes in cases], torch.float32)


MOVES: list[tuple[str, Sequence[tuple[int, ...]], Build]] = [
    ("permute", [(33, 50)], lambda b, x: b.permute(x, permutation=[1, 0])),
    ("permute heads", [(2, 3, 4, 50)], lambda b, x: b.permute(x, permutation=[0, 2, 1, 3])),
    ("permute all", [(2, 3, 4, 5, 6)], lambda b, x: b.permute(x, permutation=[4, 3, 2, 1, 0])),
    ("transpose", [(3, 40, 7)], lambda b, x: b.transpose(x, dim0=-1, dim1=0)),
    ("reshape", [(6, 50)], lambda b, x: b.reshape(x, [300])),
    ("split", [(4, 64, 96)], lambda b, x: b.reshape(x, [4, 64, 3, 32])),
    ("to a scalar", [(1,)], lambda b, x: b.reshape(x, [])),
    ("slice", [(40, 50)], lambda b, x: b.slice_static(x, begins=[3, 5], ends=[33, 49], step=[1, 1])),
    ("slice by steps", [(40, 50)], lambda b, x: b.slice_static(x, begins=[0, 1], ends=[40, 50], step=[3, 2])),
    ("slice backward", [(40, 50)], lambda b, x: b.slice_static(x, begins=[39, -1], ends=[2, 0], step=[-3, -1])),
    ("concat rows", [(3, 40), (5, 40)], lambda b, x, y: b.concat([x, y], dim=0)),
    ("concat columns", [(3, 40), (3, 7)], lambda b, x, y: b.concat([x, y, x], dim=-1)),
    ("pad", [(2, 3, 40)], lambda b, x: b.pad(x, padding=[1, 0, 0, 1, 2, 2], value=-1.0)),
    ("broadcast rows", [(1, 50)], lambda b, x: b.broadcast(x, broadcast_dimensions=[40, 1])),
    ("broadcast columns", [(40, 1)], lambda b, x: b.broadcast(x, broadcast_dimensions=[1, 50])),
    ("repeat", [(3, 20)], lambda b, x: b.repeat(x, repeat_dimensions=[2, 3])),
    ("implicit broadcast", [(3, 1, 20), (5, 1)], lambda b, x, y: b.maximum(x, y)),
    ("two at once", [(8, 64, 32)], lambda b, x: b.permute(b.reshape(x, [8, 32, 64]), permutation=[1, 0, 2])),
]


@pytest.mark.parametrize("dtype", [*DTYPES, torch.int32])
def test_data_movement(dtype: torch.dtype) -> None:
    check(MOVES, dtype)


DIMENSIONS: list[tuple[tuple[int, ...], list[int], bool]] = [
    ((64, 96), [1], True),
    ((64, 96), [0], False),
    ((33, 50), [0, 1], False),
    ((3, 40, 50), [1], True),
    ((3, 40, 50), [-1], False),
    ((3, 4, 40, 50), [0, 2], True),
    ((3, 4, 40, 50), [0, 1, 2, 3], False),
    ((100,), [0], False),
    ((2, 3, 40), [0], True),
    ((256, 2048), [1], True),
]


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod"])
def test_reductions(name: str) -> None:
    """Over rows, columns, both, dimensions before them, and all; what pads tiles does not count."""

    def reduction(dims: list[int], keep: bool) -> Build:
        return lambda builder, x: getattr(builder, name)(x, dim_arg=dims, keep_dim=keep)

    cases = [(f"{shape} {dims}", [shape], reduction(dims, keep)) for shape, dims, keep in DIMENSIONS]
    # TTNN has products over one dimension only.
    one = [case for case, (_, dims, _) in zip(cases, DIMENSIONS, strict=True) if len(dims) == 1][:-1]
    check(one if name == "prod" else cases, torch.float32)


@pytest.mark.parametrize("name", ["sum", "max", "min"])
def test_reductions_of_integers(name: str) -> None:
    check(
        [
            (f"{dims}", [(33, 50)], lambda b, x, dims=dims: getattr(b, name)(x, dim_arg=dims, keep_dim=True))
            for dims in ([0], [1], [0, 1])
        ],
        torch.int32,
    )


def test_results_of_elementwise_ops_are_reduced_and_multiplied_without_their_padding() -> None:
    """exp(0) is 1: what lies behind the 33 rows and 50 columns is not zero."""
    cases: list[tuple[str, Sequence[tuple[int, ...]], Build]] = [
        ("sum", [(33, 50)], lambda b, x: b.sum(b.exp(x), dim_arg=[0, 1], keep_dim=True)),
        ("matmul", [(33, 50), (50, 40)], lambda b, x, y: b.matmul(b.exp(x), b.exp(y))),
    ]
    check(cases, torch.float32)


# Ops that cores have in all cases of the op table, in addition to the rows of TileOps.def.
WHOLE = [
    "adamw",
    "arange",
    "argmax",
    "avg_pool2d",
    "batch_norm_inference",
    "batch_norm_training",
    "broadcast",
    "clamp_tensor",
    "concat",
    "concatenate_heads",
    "conv2d",
    "cumprod",
    "cumsum",
    "dot_general",
    "embedding",
    "embedding_backward",
    "exp2",
    "frac",
    "gather",
    "gelu_bw",
    "get_dimension_size",
    "global_avg_pool2d",
    "group_norm",
    "index",
    "index_select",
    "layer_norm",
    "leaky_relu",
    "linear",
    "matmul",
    "max",
    "max_pool2d",
    "mean",
    "min",
    "permute",
    "prod",
    "rearrange",
    "reduce_and",
    "reduce_or",
    "repeat",
    "repeat_interleave",
    "reshape",
    "reverse",
    "rms_norm",
    "scatter",
    "selu",
    "slice_static",
    "softmax",
    "softsign",
    "sort",
    "split_query_key_value_and_split_heads",
    "square",
    "squeeze",
    "sum",
    "topk",
    "transpose",
    "trunc",
    "unsqueeze",
]


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_cases_of_the_op_table(part: int) -> None:
    """All cases of these ops in f32 have their goldens."""
    names: list[tuple[str, int]] = []

    def module(builder: Any) -> None:
        for name in WHOLE[part::4]:
            row = TABLE[f"ttir.{name}"]
            for number, case in enumerate(row.cases):
                shapes, dtypes = operand_types(row, case, "f32")

                def f(*arguments: Any, row: Any = row, case: Any = case, name: str = name) -> Any:
                    return called(arguments[-1], f"ttir.{name}", row, case, list(arguments[:-1]), "f32")[0]

                f.__name__ = f"{name}_{number}"
                names.append((name, number))
                builder.func(shapes, dtypes)(f)

    built, builder = build_module(module, "ttir")
    metal = clone(built)
    passes.ttir_to_ttmetal_pipeline(metal)
    binary = rt.binary.load_binary_from_bytes(passes.ttmetal_to_flatbuffer_bin(metal), allow_native=True)
    problems = []
    for index, goldens in builder.golden_map[0].items():
        name, number = names[index]
        atol, rtol = TABLE[f"ttir.{name}"].tolerance.get("f32", (None, None))
        verdict = Verdict(atol=atol, rtol=rtol, check_atol=True, check_rtol=True)
        for golden, shards in zip(goldens.outputs, execute(binary, index, goldens.inputs, (1, 1)), strict=True):
            for _, _, comparison in compare_shards(golden, shards, verdict, True):
                if comparison.problem or not comparison.within:
                    problems.append(f"{name}, case {number}: {comparison}")
    assert not problems, "\n".join(problems)


def test_attention() -> None:
    """A mask, causal attention, and groups of queries; a padded length."""
    q, kv = (2, 4, 33, 32), (2, 2, 40, 32)
    cases: list[tuple[str, Sequence[tuple[int, ...]], Build]] = [
        ("mask", [q, kv, kv, (2, 1, 33, 40)], lambda b, *x: b.scaled_dot_product_attention(*x, is_causal=False)),
        ("causal", [q, q, q], lambda b, *x: b.scaled_dot_product_attention(*x, is_causal=True)),
    ]
    check(cases, torch.float32)


LAYER = """
func.func @layer(%x: tensor<1x64x128xf32>, %w: tensor<128x384xf32>, %w1: tensor<128x256xf32>, %w2: tensor<256x128xf32>,
                 %g: tensor<128xf32>) -> tensor<1x64x128xf32> {
  %n = "ttir.rms_norm"(%x, %g) <{normalized_shape = array<i64: 128>, epsilon = 1.0e-5 : f32,
                                 operandSegmentSizes = array<i32: 1, 1, 0>}>
      : (tensor<1x64x128xf32>, tensor<128xf32>) -> tensor<1x64x128xf32>
  %0 = "ttir.matmul"(%n, %w) : (tensor<1x64x128xf32>, tensor<128x384xf32>) -> tensor<1x64x384xf32>
  %1 = "ttir.reshape"(%0) <{shape = [64 : i32, 12 : i32, 32 : i32]}>
      : (tensor<1x64x384xf32>) -> tensor<64x12x32xf32>
  %2 = "ttir.permute"(%1) <{permutation = array<i64: 1, 0, 2>}> : (tensor<64x12x32xf32>) -> tensor<12x64x32xf32>
  %3 = "ttir.reshape"(%2) <{shape = [3 : i32, 4 : i32, 64 : i32, 32 : i32]}>
      : (tensor<12x64x32xf32>) -> tensor<3x4x64x32xf32>
  %q = "ttir.index"(%3) <{dim = 0 : i32, begin = 0 : i32, end = 1 : i32, step = 1 : i32}>
      : (tensor<3x4x64x32xf32>) -> tensor<1x4x64x32xf32>
  %k = "ttir.index"(%3) <{dim = 0 : i32, begin = 1 : i32, end = 2 : i32, step = 1 : i32}>
      : (tensor<3x4x64x32xf32>) -> tensor<1x4x64x32xf32>
  %v = "ttir.index"(%3) <{dim = 0 : i32, begin = 2 : i32, end = 3 : i32, step = 1 : i32}>
      : (tensor<3x4x64x32xf32>) -> tensor<1x4x64x32xf32>
  %a = "ttir.scaled_dot_product_attention"(%q, %k, %v) <{is_causal = true,
                                                         operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}>
      : (tensor<1x4x64x32xf32>, tensor<1x4x64x32xf32>, tensor<1x4x64x32xf32>) -> tensor<1x4x64x32xf32>
  %4 = "ttir.concatenate_heads"(%a) : (tensor<1x4x64x32xf32>) -> tensor<1x64x128xf32>
  %r = "ttir.add"(%x, %4) : (tensor<1x64x128xf32>, tensor<1x64x128xf32>) -> tensor<1x64x128xf32>
  %5 = "ttir.matmul"(%r, %w1) : (tensor<1x64x128xf32>, tensor<128x256xf32>) -> tensor<1x64x256xf32>
  %6 = "ttir.gelu"(%5) : (tensor<1x64x256xf32>) -> tensor<1x64x256xf32>
  %7 = "ttir.matmul"(%6, %w2) : (tensor<1x64x256xf32>, tensor<256x128xf32>) -> tensor<1x64x128xf32>
  %y = "ttir.add"(%r, %7) : (tensor<1x64x128xf32>, tensor<1x64x128xf32>) -> tensor<1x64x128xf32>
  return %y : tensor<1x64x128xf32>
}
"""


def test_a_layer_of_a_transformer() -> None:
    """The same program on both targets: a norm, attention and a network of two products."""
    torch.manual_seed(0)
    shapes = [(1, 64, 128), (128, 384), (128, 256), (256, 128), (128,)]
    inputs = [torch.randn(shape) / (1 if len(shape) != 2 else shape[0] ** 0.5) for shape in shapes]
    results = []
    with ir.Context():
        for binary in binaries(ir.Module.parse(LAYER)):
            given = [rt.runtime.create_host_tensor(value) for value in inputs]
            (output,) = rt.runtime.submit(device(), binary, 0, given)
            results.append(torch.from_dlpack(rt.runtime.to_host(output)[0]))
    torch.testing.assert_close(results[0], results[1], atol=2e-5, rtol=2e-5)
