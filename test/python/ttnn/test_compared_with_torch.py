# SPDX-License-Identifier: Apache-2.0
"""Functions of ttnn compared with torch: a reference that shares no code with the library, its executor or the
goldens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
import ttnn

Shapes = tuple[tuple[int, ...], ...]
# name: (shapes of the operands, ttnn's call, torch's).
ROWS: dict[str, tuple[Shapes, Callable[..., Any], Callable[..., Any]]] = {
    "add": (((33, 65), (1, 65)), ttnn.add, torch.add),
    "multiply": (((2, 3, 5), (2, 3, 5)), ttnn.multiply, torch.mul),
    "exp": (((33, 65),), ttnn.exp, torch.exp),
    "gelu": (((33, 65),), ttnn.gelu, F.gelu),
    "silu": (((33, 65),), ttnn.silu, F.silu),
    "tanh": (((33, 65),), ttnn.tanh, torch.tanh),
    "sum": (((4, 33, 65),), lambda x: ttnn.sum(x, dim=1), lambda x: x.sum(1)),
    "mean": (((4, 33, 65),), lambda x: ttnn.mean(x, dim=-1, keepdim=True), lambda x: x.mean(-1, keepdim=True)),
    "max": (((4, 33, 65),), lambda x: ttnn.max(x, dim=0), lambda x: x.amax(0)),
    "softmax": (((5, 130),), lambda x: ttnn.softmax(x, dim=-1), lambda x: x.softmax(-1)),
    "matmul": (((3, 33, 70), (3, 70, 40)), ttnn.matmul, torch.matmul),
    "linear": (
        ((33, 70), (40, 70), (40,)),
        lambda x, w, b: ttnn.linear(x, w, bias=b, transpose_b=True),
        lambda x, w, b: F.linear(x, w, b),
    ),
    "permute": (((2, 3, 5, 7),), lambda x: ttnn.permute(x, [3, 0, 2, 1]), lambda x: x.permute(3, 0, 2, 1)),
    "concat": (((2, 3), (2, 5)), lambda x, y: ttnn.concat([x, y], dim=1), lambda x, y: torch.cat([x, y], 1)),
    "reshape": (((6, 10),), lambda x: ttnn.reshape(x, [4, 15]), lambda x: x.reshape(4, 15)),
    "where": (((8, 9), (8, 9), (8, 9)), ttnn.where, lambda c, x, y: torch.where(c != 0, x, y)),
    "cumsum": (((7, 40),), lambda x: ttnn.cumsum(x, dim=1), lambda x: x.cumsum(1)),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
@pytest.mark.parametrize("name", sorted(ROWS))
def test_values_of_torch(name: str, dtype: torch.dtype, device: ttnn.Device) -> None:
    shapes, ours, theirs = ROWS[name]
    generator = torch.Generator().manual_seed(7)
    values = [(torch.rand(shape, generator=generator) * 4 - 2).to(dtype) for shape in shapes]
    found = ttnn.to_torch(ours(*(ttnn.from_torch(v, layout=ttnn.TILE_LAYOUT, device=device) for v in values)))
    expected = theirs(*(v.double() for v in values)).to(dtype)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    # One rounding of the result; sums of 70 products in f32.
    tolerance = 2**-7 if dtype == torch.bfloat16 else 2e-6
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance * 10)
