# SPDX-License-Identifier: Apache-2.0
"""Packed weights that calls keep: their limit, TTRT_PACKED_MB, and the same bytes in two data types."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "installing"))
import python_process

PROGRAM = """
import torch, ttnn
try:
    device = ttnn.open_device(device_id=0)
except ttnn.Error as error:
    raise SystemExit(print(error))
x, w = torch.arange(640.0).reshape(20, 32) % 7, torch.arange(2048.0).reshape(32, 64) % 5
a, b = (ttnn.from_torch(t.bfloat16(), layout=ttnn.TILE_LAYOUT, device=device) for t in (x, w))
print("opened")
try:
    for call in range(5):
        assert torch.equal(ttnn.to_torch(ttnn.matmul(a, b, dtype=ttnn.float32)), x @ w)
    print("equal")
except ttnn.Error as error:
    print(error)
"""
WRONG = "the environment variable TTRT_PACKED_MB is '{}'; expected a whole number of MiB from 0 to 17592186044415"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0", "opened\nequal"),
        ("1", "opened\nequal"),
        ("", "opened\nequal"),
        *((text, WRONG.format(text)) for text in ("many", "-1", "1.5", "18446744073709551616", "17592186044416")),
    ],
    ids=["none", "one", "unset", "text", "negative", "fraction", "beyond-64-bits", "beyond-memory"],
)
def test_limit(value: str, expected: str) -> None:
    run = python_process.run(["-c", PROGRAM], env={**os.environ, "TTRT_PACKED_MB": value}, check=True)
    assert run.stdout.strip() == expected


TYPES = """
import torch, ttnn
device = ttnn.open_device(device_id=0)
x = torch.ones(20, 96)
a = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)
for one, other in ((torch.float32, torch.int32), (torch.int32, torch.float32), (torch.float16, torch.bfloat16)):
    weight = torch.full((96, 64), 3.0).to(one)
    kept = ttnn.from_torch(weight, layout=ttnn.TILE_LAYOUT, device=device)
    seen = weight.view(other)
    same = ttnn.from_torch(seen, layout=ttnn.TILE_LAYOUT, device=device)
    if kept.dtype != same.dtype and one != torch.float16:
        same = ttnn.bitcast(kept, same.dtype)
    for call in range(4):
        assert torch.equal(ttnn.to_torch(ttnn.matmul(a, kept, dtype=ttnn.float32)), x @ weight.float()), (one, call)
    for call in range(4):
        found = ttnn.to_torch(ttnn.matmul(a, same, dtype=ttnn.float32))
        assert torch.allclose(found, x @ seen.float(), rtol=1e-5), (one, other, call, found[0, 0])
print("equal")
"""


def test_the_same_bytes_in_two_types() -> None:
    run = python_process.run(["-c", TYPES], env=dict(os.environ), check=True)
    assert run.stdout.strip() == "equal"
