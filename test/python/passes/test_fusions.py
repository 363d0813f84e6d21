# SPDX-License-Identifier: Apache-2.0
"""Groups of ops as builders and front ends write them: one op of the library each, that computes what PyTorch does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import build_module, compile_and_execute_ttir
from builder.execution.device_tensors import load_binary
from emit_cases import Subject, compare_all
from ttmlir import passes

F = torch.nn.functional
# Largest error compared with the largest value of the result.
ERROR = {torch.float32: 1e-5, torch.bfloat16: 2**-6}


def number(b: Any, value: float, dtype: torch.dtype) -> Any:
    return b.full([1], value, output_type=dtype)


def rms_norm(b: Any, x: Any, w: Any, dtype: torch.dtype) -> Any:
    mean = b.mean(b.multiply(x, x), dim_arg=[-1], keep_dim=True)
    return b.multiply(w, b.multiply(x, b.rsqrt(b.add(mean, number(b, 1e-5, dtype)))))


def rms_norm_of_two(b: Any, x: Any, dtype: torch.dtype) -> Any:
    mean = b.mean(b.multiply(x, x), dim_arg=[-2, -1], keep_dim=True)
    return b.multiply(x, b.rsqrt(b.add(mean, number(b, 1e-5, dtype))))


def layer_norm(b: Any, x: Any, w: Any, bias: Any, dtype: torch.dtype) -> Any:
    centred = b.subtract(x, b.mean(x, dim_arg=[-1], keep_dim=True))
    spread = b.mean(b.multiply(centred, centred), dim_arg=[-1], keep_dim=True)
    return b.add(b.multiply(b.div(centred, b.sqrt(b.add(spread, number(b, 1e-5, dtype)))), w), bias)


def mean_as_product(b: Any, x: Any, dtype: torch.dtype) -> Any:
    return b.multiply(b.sum(x, dim_arg=[-1], keep_dim=True), number(b, 1 / 33, dtype))


def mean_as_quotient(b: Any, x: Any, dtype: torch.dtype) -> Any:
    return b.div(b.sum(x, dim_arg=[0, 2], keep_dim=True), number(b, 99, dtype))


def softmax(b: Any, x: Any, dtype: torch.dtype) -> Any:
    e = b.exp(b.subtract(x, b.max(x, dim_arg=[-1], keep_dim=True)))
    return b.div(e, b.sum(e, dim_arg=[-1], keep_dim=True))


def attention(b: Any, q: Any, k: Any, v: Any, mask: Any, dtype: torch.dtype) -> Any:
    scores = b.multiply(b.matmul(q, b.permute(k, [0, 1, 3, 2])), number(b, 0.25, dtype))
    return b.matmul(softmax(b, b.add(scores, mask), dtype), v)


def shared_attention(b: Any, q: Any, k: Any, v: Any, dtype: torch.dtype) -> Any:
    def repeated(x: Any) -> Any:
        x = b.broadcast(b.reshape(x, [1, 2, 1, 7, 16]), [1, 1, 3, 1, 1])
        return b.reshape(x, [1, 6, 7, 16])

    q = b.multiply(q, number(b, 0.25, dtype))
    scores = b.matmul(q, b.transpose(repeated(k), -2, -1))
    return b.matmul(b.softmax(scores, -1), repeated(v))


def condition_attention(b: Any, q: Any, k: Any, v: Any, dtype: torch.dtype) -> Any:
    row, column = (b.arange([1, 1, 7, 7], torch.float32, 0, 7, 1, dim) for dim in (2, 3))
    hidden = b.full([1, 1, 1, 1], -float("inf"), output_type=dtype)
    scores = b.where(b.ge(row, column), b.matmul(q, b.transpose(k, 2, 3)), hidden)
    return b.matmul(b.softmax(scores, -1), v)


def rope(b: Any, x: Any, cos: Any, sin: Any, dtype: torch.dtype) -> Any:
    first = b.slice(x, [0, 0, 0, 0], [2, 3, 7, 8], [1, 1, 1, 1])
    second = b.slice(x, [0, 0, 0, 8], [2, 3, 7, 16], [1, 1, 1, 1])
    return b.add(b.multiply(x, cos), b.multiply(b.concat([b.neg(second), first], -1), sin))


def turned(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat([-second, first], -1) * sin


def mish(b: Any, x: Any, dtype: torch.dtype) -> Any:
    return b.multiply(x, b.tanh(b.log1p(b.exp(x))))


def gelu(b: Any, x: Any, dtype: torch.dtype) -> Any:
    whole = b.add(b.erf(b.div(x, number(b, 2**0.5, dtype))), number(b, 1, dtype))
    return b.multiply(b.multiply(x, whole), number(b, 0.5, dtype))


def gelu_by_erfc(b: Any, x: Any, dtype: torch.dtype) -> Any:
    tail = b.erfc(b.multiply(b.neg(x), number(b, 0.5**0.5, dtype)))
    return b.multiply(b.multiply(number(b, 0.5, dtype), x), tail)


def hardswish(b: Any, x: Any, dtype: torch.dtype) -> Any:
    clamped = b.clamp_scalar(b.add(x, number(b, 3, dtype)), 0.0, 6.0)
    return b.div(b.multiply(x, clamped), number(b, 6, dtype))


def last_row(b: Any, x: Any, w: Any, dtype: torch.dtype) -> Any:
    return b.slice(b.matmul(x, w), [6, 0], [7, 9], [1, 2])


def pointwise(b: Any, x: Any, w: Any, bias: Any, dtype: torch.dtype) -> Any:
    return b.conv3d(x, w, bias, [1, 1, 1], [0, 0, 0], 1)


def merged_rows(b: Any, x: Any, w: Any, bias: Any, dtype: torch.dtype) -> Any:
    product = b.matmul(b.reshape(x, [21, 33]), w)
    return b.reshape(b.add(product, bias), [3, 7, 9])


WIDE, NARROW = (torch.randn(8, 4, n, n, generator=torch.Generator().manual_seed(n)) / (2 * n) for n in (3, 1))
SHIFT = torch.linspace(-1, 1, 8)


def branches(b: Any, x: Any, dtype: torch.dtype) -> Any:
    def conv(weight: torch.Tensor, padding: int) -> Any:
        shift = b.constant(SHIFT.reshape(1, 1, 1, 8).to(dtype))
        return b.conv2d(x, b.constant(weight.to(dtype)), shift, 2, padding, 1, 1)

    return b.add(conv(NARROW, 0), conv(WIDE, 1))


def summed_branches(x: torch.Tensor) -> torch.Tensor:
    x = x.permute(0, 3, 1, 2)
    wide, narrow = (F.conv2d(x, w.to(x.dtype), None, 2, w.shape[-1] // 2) for w in (WIDE, NARROW))
    return (wide + narrow).permute(0, 2, 3, 1) + 2 * SHIFT.to(x.dtype)


HEADS = [(2, 3, 7, 16)] * 3
SHARED = [(1, 6, 7, 16), (1, 2, 7, 16), (1, 2, 7, 16)]
Case = tuple[Callable[..., Any], list[tuple[int, ...]], str, Callable[..., torch.Tensor]]
CASES: list[Case] = [
    (rms_norm, [(3, 7, 33), (33,)], "rms_norm", lambda x, w: F.rms_norm(x, [33], w, 1e-5)),
    (rms_norm_of_two, [(3, 7, 33)], "rms_norm", lambda x: F.rms_norm(x, [7, 33], eps=1e-5)),
    (layer_norm, [(3, 7, 33), (33,), (33,)], "layer_norm", lambda x, w, b: F.layer_norm(x, [33], w, b, 1e-5)),
    (softmax, [(3, 7, 33)], "softmax", lambda x: F.softmax(x, -1)),
    (mean_as_product, [(3, 7, 33)], "mean", lambda x: x.mean(-1, keepdim=True)),
    (mean_as_quotient, [(3, 7, 33)], "mean", lambda x: x.mean((0, 2), keepdim=True)),
    (attention, [*HEADS, (2, 1, 7, 7)], "scaled_dot_product_attention",
     lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m, scale=0.25)),
    (shared_attention, SHARED, "scaled_dot_product_attention",
     lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.25, enable_gqa=True)),
    (condition_attention, HEADS, "scaled_dot_product_attention",
     lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.0)),
    (rope, [(2, 3, 7, 16), (1, 1, 7, 16), (1, 1, 7, 16)], "rotary_embedding", turned),
    (mish, [(5, 33)], "mish", F.mish),
    (gelu, [(5, 33)], "gelu", F.gelu),
    (gelu_by_erfc, [(5, 33)], "gelu", F.gelu),
    (hardswish, [(5, 33)], "hardsigmoid", F.hardswish),
    (last_row, [(7, 33), (33, 9)], "matmul", lambda x, w: (x @ w)[6:7, ::2]),
    (pointwise, [(1, 2, 3, 4, 16), (8, 16, 1, 1, 1), (1, 1, 1, 1, 8)], "linear",
     lambda x, w, b: F.linear(x, w.flatten(1), b.flatten())),
    (merged_rows, [(3, 7, 33), (33, 9), (9,)], "linear", lambda x, w, b: x @ w + b),
    (branches, [(2, 9, 8, 4)], "conv2d", summed_branches),
]  # fmt: skip


def program(function: Callable[..., Any], shapes: list[tuple[int, ...]], dtype: torch.dtype) -> Callable[[Any], None]:
    def module(b: Any) -> None:
        b.func(shapes, [dtype] * len(shapes))(lambda *values: function(values[-1], *values[:-1], dtype))

    return module


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_one_op_that_agrees_with_torch(case: Case, dtype: torch.dtype) -> None:
    function, shapes, op, reference = case
    module, _ = build_module(program(function, shapes, dtype), "ttir")
    passes.ttir_to_ttnn_backend_pipeline(module)
    names = [o.name for o in module.body.operations[-1].operation.regions[0].blocks[0].operations]
    text = str(module)
    assert f"ttnn.{op}" in text, names
    assert text.count("ttnn.matmul") == (op == "matmul")
    assert "ttnn.exp" not in text and "ttnn.conv3d" not in text and text.count('ttnn.conv2d"') == (op == "conv2d")
    inputs = [
        torch.randn(shape, generator=torch.Generator().manual_seed(i)).to(dtype) for i, shape in enumerate(shapes)
    ]
    binary = load_binary(passes.ttnn_to_flatbuffer_bin(module))
    device = rt.runtime.open_mesh_device()
    try:
        program_index = next(i for i in range(binary.get_num_programs()) if not binary.is_program_private(i))
        (result,) = rt.runtime.submit(
            device, binary, program_index, [rt.runtime.create_host_tensor(value) for value in inputs]
        )
        found = torch.from_dlpack(rt.runtime.to_host(result, untilize=True)[0])
    finally:
        rt.runtime.close_mesh_device(device)
    want = reference(*(value.double() for value in inputs))
    assert found.shape == want.shape and found.dtype == dtype
    assert float((found.double() - want).abs().max()) <= ERROR[dtype] * max(1.0, float(want.abs().max()))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_fused_or_not_the_goldens_hold(case: Case) -> None:
    function, shapes, _, _ = case
    for options in (None, ["enable-fusing-pass=false"]):
        assert compile_and_execute_ttir(
            program(function, shapes, torch.float32),
            pipeline_options=options,
            enable_intermediate_verification=True,
            check_atol=True,
            check_rtol=True,
        ).passed


@pytest.mark.long
def test_emitted_code_has_the_same_bits() -> None:
    subjects = []
    for function, shapes, op, _ in CASES:
        for dtype in (torch.float32, torch.bfloat16):
            module, builder = build_module(program(function, shapes, dtype), "ttir")
            passes.ttir_to_ttnn_backend_pipeline(module)
            assert f"ttnn.{op}" in str(module)
            inputs = [goldens.inputs for goldens in builder.golden_map[0].values()]
            subjects.append(Subject(f"{function.__name__} {dtype}", module, inputs))
    problems = compare_all(subjects)
    assert not problems, "\n".join(problems)


def test_rows_that_see_nothing() -> None:
    """All scores hidden: no number, fused or not, as PyTorch's formula."""
    hidden = torch.full((1, 1, 7, 7), -float("inf"))

    def module(b: Any) -> None:
        @b.func([*[(1, 1, 7, 16)] * 3], [torch.float32] * 3)
        def f(q: Any, k: Any, v: Any, b: Any) -> Any:
            return attention(b, q, k, v, b.constant(hidden), torch.float32)

    for options in (None, ["enable-fusing-pass=false"]):
        assert compile_and_execute_ttir(module, pipeline_options=options).passed
