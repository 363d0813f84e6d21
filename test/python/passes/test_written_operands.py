# SPDX-License-Identifier: Apache-2.0
"""An op that a fusion reads past has read its operand before the operand is written to in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from builder.base.builder_apis import compile_and_execute_ttir

CACHE = [2, 2, 8, 8]
# What is made of a cache (of CACHE), in two steps; between them the cache is written to.
STEPS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any, Any], Any]]] = {
    "transpose, matmul": (
        lambda builder, x: builder.transpose(x, dim0=2, dim1=3),
        lambda builder, x, y: builder.matmul(x, y),
    ),
    "permute, matmul": (
        lambda builder, x: builder.permute(x, permutation=[0, 1, 3, 2]),
        lambda builder, x, y: builder.matmul(y, x),
    ),
    "permute, attention": (
        lambda builder, x: builder.permute(x, permutation=[0, 1, 3, 2]),
        lambda builder, x, y: builder.matmul(builder.softmax(builder.matmul(y, x), dimension=3), y),
    ),
    "scale, attention": (
        lambda builder, x: builder.multiply(x, builder.full(output_shape=[1], fill_value=0.5)),
        lambda builder, x, y: builder.matmul(builder.softmax(builder.matmul(y, x, transpose_b=True), dimension=3), y),
    ),
    "matmul, add": (
        lambda builder, x: builder.matmul(x, x),
        lambda builder, x, y: builder.add(x, builder.reshape(builder.sum(y, dim_arg=[0, 1, 2]), shape=[1, 1, 1, 8])),
    ),
    "pad, conv2d": (
        lambda builder, x: builder.pad(x, padding=[0, 0, 1, 1, 1, 1, 0, 0], value=0.0),
        lambda builder, x, y: builder.conv2d(
            x, builder.reshape(y, shape=[4, 8, 2, 4]), None, stride=[1, 1], padding=[0, 0, 0, 0],
            dilation=[1, 1], groups=1,
        ),
    ),
    "add, relu": (
        lambda builder, x: builder.add(x, x),
        lambda builder, x, y: builder.relu(x),
    ),
    "exp, divide": (
        lambda builder, x: builder.exp(x),
        lambda builder, x, y: builder.div(x, builder.sum(x, dim_arg=[3], keep_dim=True)),
    ),
    "broadcast, multiply": (
        lambda builder, x: builder.broadcast(
            builder.slice_static(x, begins=[0] * 4, ends=[1, 2, 8, 8], step=[1] * 4), broadcast_dimensions=[2, 1, 1, 1]
        ),
        lambda builder, x, y: builder.multiply(x, y),
    ),
    "typecast, typecast": (
        lambda builder, x: builder.typecast(x, output_type=torch.float32),
        lambda builder, x, y: builder.typecast(x, output_type=torch.bfloat16),
    ),
}  # fmt: skip


@pytest.mark.parametrize("source", ["argument", "result"])
@pytest.mark.parametrize("steps", STEPS)
def test_written_between(steps: str, source: str) -> None:
    first, second = STEPS[steps]
    dtype = torch.bfloat16 if steps.startswith("typecast") else torch.float32

    def module(builder: Any) -> None:
        @builder.func([CACHE, (1, 2, 8, 8), CACHE], [dtype, dtype, torch.float32])
        def main(cache: Any, x: Any, y: Any, builder: Any) -> Any:
            cache = builder.relu(cache) if source == "result" else cache
            between = first(builder, cache)
            filled = builder.fill_cache(cache, x, batch_offset=1)
            return second(builder, between, y), filled

    assert compile_and_execute_ttir(module).passed
