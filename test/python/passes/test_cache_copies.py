# SPDX-License-Identifier: Apache-2.0
"""A cache that begins as the copy of a value leaves the value as it was, however the copy is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from builder.base.builder_apis import compile_and_execute_ttir

SHAPE = [2, 2, 7, 7]
# Of which each gives what it is given.
COPIES: dict[str, Callable[[Any, Any], Any]] = {
    "itself": lambda builder, x: x,
    "broadcast": lambda builder, x: builder.broadcast(x, broadcast_dimensions=[1] * 4),
    "repeat": lambda builder, x: builder.repeat(x, repeat_dimensions=[1] * 4),
    "reshape": lambda builder, x: builder.reshape(x, shape=SHAPE),
    "reshapes": lambda builder, x: builder.reshape(builder.reshape(x, shape=[4, 49]), shape=SHAPE),
    "permutes": lambda builder, x: builder.permute(
        builder.permute(x, permutation=[1, 0, 2, 3]), permutation=[1, 0, 2, 3]
    ),
    "typecast": lambda builder, x: builder.typecast(x, output_type=torch.float32),
    "slice": lambda builder, x: builder.slice_static(x, begins=[0] * 4, ends=SHAPE, step=[1] * 4),
    "pad": lambda builder, x: builder.pad(x, padding=[0] * 8, value=0.0),
}
SOURCES: dict[str, Callable[[Any, Any], Any]] = {
    "constant": lambda builder, y: builder.ones(shape=SHAPE, dtype=torch.float32),
    "result": lambda builder, y: builder.exp(y),
    "argument": lambda builder, y: y,
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("copy", COPIES)
def test_copies(copy: str, source: str) -> None:
    def module(builder: Any) -> None:
        @builder.func([(1, 2, 7, 7), SHAPE], [torch.float32] * 2)
        def main(x: Any, y: Any, builder: Any) -> Any:
            value = SOURCES[source](builder, y)
            before = COPIES[copy](builder, value)
            cache = COPIES[copy](builder, value)
            filled = builder.fill_cache(cache, x, batch_offset=1)
            after = COPIES[copy](builder, builder.relu(before))
            return filled, builder.relu(value), after, COPIES[copy](builder, cache)

    assert compile_and_execute_ttir(module).passed
