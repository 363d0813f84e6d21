# SPDX-License-Identifier: Apache-2.0
"""The limit of packed weights that calls keep, TTRT_PACKED_MB."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "installing"))
import python_process

PROGRAM = """
import torch, ttnn
device = ttnn.open_device(device_id=0)
x, w = torch.arange(640.0).reshape(20, 32) % 7, torch.arange(2048.0).reshape(32, 64) % 5
a, b = (ttnn.from_torch(t.bfloat16(), layout=ttnn.TILE_LAYOUT, device=device) for t in (x, w))
try:
    for call in range(5):
        assert torch.equal(ttnn.to_torch(ttnn.matmul(a, b, dtype=ttnn.float32)), x @ w)
    print("equal")
except ttnn.Error as error:
    print(error)
"""
WRONG = "TTRT_PACKED_MB is '{}'; expected a number of MiB"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0", "equal"),
        ("1", "equal"),
        ("", "equal"),
        *((text, WRONG.format(text)) for text in ("many", "-1", "1.5", "18446744073709551616", "17592186044416")),
    ],
    ids=["none", "one", "unset", "text", "negative", "fraction", "beyond-64-bits", "beyond-memory"],
)
def test_limit(value: str, expected: str) -> None:
    run = python_process.run(["-c", PROGRAM], env={**os.environ, "TTRT_PACKED_MB": value}, check=True)
    assert run.stdout.strip() == expected
