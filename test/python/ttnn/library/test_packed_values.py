# SPDX-License-Identifier: Apache-2.0
"""Bytes of bfloat16 and of block formats, packed on the host: those of the library, by digests of 2^20 values a kind.

packed_values.py records the digests from the package, and compares byte by byte.
"""

from __future__ import annotations

from pathlib import Path

import packed_values
import pytest

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
