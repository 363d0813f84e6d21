# SPDX-License-Identifier: Apache-2.0
"""Bytes of bfloat16 and of block formats, packed on the host: those of the library, by digests of 2^20 values a kind.

packed_values.py records the digests from the package, and compares byte by byte.
"""

from __future__ import annotations

from pathlib import Path

import packed_values
import pytest
import torch
import ttnn

DIGESTS = {
    (kind, dtype): digest
    for kind, dtype, digest in (
        line.split("\t") for line in Path(__file__).with_name("packed_values.txt").read_text().splitlines()
    )
}


def test_all_kinds_are_recorded() -> None:
    assert list(DIGESTS) == [(kind, dtype) for kind in packed_values.KINDS for dtype in packed_values.FORMATS]
    assert len(set(DIGESTS.values())) == len(DIGESTS)


@pytest.mark.parametrize("dtype", packed_values.FORMATS)
@pytest.mark.parametrize("kind", packed_values.KINDS)
def test_bytes_are_the_library_s(kind: str, dtype: str, tmp_path: Path) -> None:
    assert packed_values.digest(packed_values.packed(kind, dtype, tmp_path)) == DIGESTS[kind, dtype]


def test_nan_has_one_form_on_the_host(device: ttnn.Device) -> None:
    """The library's conversions on the host drop sign and digits; a typecast on the device keeps both."""
    bits = torch.tensor([0x7FC00001, 0x7F800001, -0x3FFFFF, 0x7FFFFFFF, 0x7FC10000], dtype=torch.int32)
    values = bits.view(torch.float32)

    def digits(tensor: ttnn.Tensor) -> list[int]:
        return [each & 0xFFFF for each in ttnn.to_torch(tensor).view(torch.int16).tolist()]

    host = ttnn.from_torch(values)
    given = [ttnn.from_torch(values, ttnn.bfloat16), ttnn.from_torch(values.double(), ttnn.bfloat16),
             ttnn.to_dtype(host, ttnn.bfloat16), ttnn.from_torch(values[None].T[:, 0], ttnn.bfloat16)]  # fmt: skip
    assert [digits(each) for each in given] == [[0x7FC0] * 5] * 4
    placed = ttnn.typecast(ttnn.to_device(host, device), ttnn.bfloat16)
    assert [each >> 15 for each in digits(placed)] == [0, 0, 1, 0, 0] and digits(placed)[3:] == [0x7FFF, 0x7FC1]
