# SPDX-License-Identifier: Apache-2.0
"""Products and heads whose results are in block formats: the values of a result in float32, rounded once."""

from __future__ import annotations

import pytest
import torch
import ttnn

TYPES = {"bfloat8_b": ttnn.bfloat8_b, "bfloat4_b": ttnn.bfloat4_b}
TILE = ttnn.TILE_LAYOUT


def placed(values: torch.Tensor, device: ttnn.Device, dtype: ttnn.DataType = ttnn.bfloat16) -> ttnn.Tensor:
    return ttnn.from_torch(values, dtype=dtype, layout=TILE, device=device)


def rounded(values: torch.Tensor, kind: str) -> torch.Tensor:
    """Returns the values of a block format, by way of the host."""
    return ttnn.to_torch(ttnn.from_torch(values, dtype=TYPES[kind], layout=TILE)).float()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("activation", [None, "relu", "gelu"], ids=str)
@pytest.mark.parametrize("bias", [False, True], ids=["plain", "bias"])
@pytest.mark.parametrize("shape", [(1, 40, 17), (3, 64, 64), (37, 70, 1), (50, 100, 40), (130, 300, 96)], ids=str)
def test_products_are_rounded_once(
    shape: tuple[int, int, int], bias: bool, activation: str | None, kind: str, device: ttnn.Device
) -> None:
    rows, inner, columns = shape
    torch.manual_seed(5)
    a, b = torch.randn(rows, inner).bfloat16(), torch.randn(inner, columns).bfloat16()
    c = torch.randn(1, columns).bfloat16()
    a[0, 0] = float("nan") if rows > 100 else float("inf") if rows > 40 else 1.0
    x, w = placed(a, device), placed(b, device)
    v = placed(c, device) if bias else None
    found = ttnn.to_torch(ttnn.linear(x, w, bias=v, activation=activation, dtype=TYPES[kind])).float()
    wide = ttnn.to_torch(ttnn.linear(x, w, bias=v, activation=activation, dtype=ttnn.float32))
    torch.testing.assert_close(found, rounded(wide, kind), rtol=0, atol=0, equal_nan=True)
    expected = a.double() @ b.double() + (c.double() if bias else 0)
    expected = getattr(torch.nn.functional, activation)(expected) if activation else expected
    torch.testing.assert_close(wide[1:].double(), expected[1:], rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("transposed", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("size", [16, 24, 32], ids=str)
@pytest.mark.parametrize("kind", TYPES)
def test_heads_keep_values_whose_groups_they_keep(kind: str, size: int, transposed: bool, device: ttnn.Device) -> None:
    heads, rows = 3, 40
    torch.manual_seed(6)
    values = torch.randn(2, rows, 3 * heads * size) * torch.logspace(-2, 2, 3 * heads * size)
    kept = rounded(values, kind)
    parts = ttnn.transformer.split_query_key_value_and_split_heads(
        placed(values, device, TYPES[kind]), num_heads=heads, transpose_key=transposed
    )
    for at, part in enumerate(parts):
        expected = kept[..., at * heads * size : (at + 1) * heads * size].unflatten(-1, (heads, size)).transpose(1, 2)
        expected = expected.transpose(2, 3) if transposed and at == 1 else expected
        assert torch.equal(ttnn.to_torch(part).float(), rounded(expected.contiguous(), kind))
    joined = ttnn.transformer.concatenate_heads(parts[0])
    before = ttnn.to_torch(parts[0]).float().transpose(1, 2).flatten(2)
    assert torch.equal(ttnn.to_torch(joined).float(), rounded(before.contiguous(), kind))
