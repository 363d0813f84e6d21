# SPDX-License-Identifier: Apache-2.0
"""Values that are packed in block formats and as bfloat16, and digests of their bytes as ttnn 0.81.1 packs them.

    python test/python/ttnn/library/packed_values.py PYTHON [--record]

PYTHON is an interpreter of version 3.10 or 3.12, with which the package is installed into a temporary folder. The
program compares the bytes of 2^20 values of each kind. With --record, it prints the lines of packed_values.txt: kind,
format and digest, by which the test compares without the package.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import exchange_files
import numpy as np
import torch
import ttnn

ROWS = 1024  # and as many columns: 2^20 values, 2^16 blocks of 16
FORMATS = ["bfloat16", "bfloat8_b", "bfloat4_b"]
Bits = np.ndarray


def _ties(r: np.random.Generator, bits: Bits) -> Bits:
    """Returns values of few exponents whose dropped digits are half a unit, or one digit more or less."""
    exponents = (r.integers(120, 134, bits.shape) << 23).astype(np.uint32)
    places = r.integers(0, 24, bits.shape).astype(np.uint32)
    half = (np.uint32(1) << places) - r.integers(0, 3, bits.shape).astype(np.uint32) * (places > 0)
    digits = (bits & ~((np.uint32(2) << places) - np.uint32(1)) | half) & np.uint32(0x7FFFFF)
    return bits & np.uint32(1 << 31) | exponents | digits


def _some(r: np.random.Generator, bits: Bits, special: list[int]) -> Bits:
    """Returns normal numbers with a special value among every eight or so."""
    chosen = np.array(special, np.uint32)[r.integers(0, len(special), bits.shape)]
    return np.where(r.integers(0, 8, bits.shape) == 0, chosen, _normal(r, bits))


def _normal(r: np.random.Generator, bits: Bits) -> Bits:
    return r.standard_normal(bits.shape).astype(np.float32).view(np.uint32)


_SPECIAL = [0, 1 << 31, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F7FFFFF, 0x3FFFFFFF, 0x3FE00001, 0x40800000]
_LARGE = [0x7F7FFFFF, 0xFF7FFFFF, 0x7F000000, 0x7F600000, 0x7F800000, 0xFF800000]
_NAN = [0x7FC00000, 0xFFC00000, 0x7F800001, 0x7FA00000, 0xFF801000, 0x7FFFFFFF, 0x7F900000]
KINDS: dict[str, Callable[[np.random.Generator, Bits], Bits]] = {
    "normal": _normal,
    "any bits": lambda r, bits: bits,
    "finite": lambda r, bits: np.where(bits & 0x7F800000 == 0x7F800000, bits & np.uint32(0xBFFFFFFF), bits),
    "few exponents": lambda r, bits: bits & 0x807FFFFF | r.integers(110, 135, bits.shape).astype(np.uint32) << 23,
    "ties": _ties,
    "small": lambda r, bits: bits & np.uint32(0x81FFFFFF),
    "zeros and denormals": lambda r, bits: _some(r, bits, _SPECIAL),
    "large and infinite": lambda r, bits: _some(r, bits, _LARGE),
    "nan": lambda r, bits: _some(r, bits, _NAN),
}  # fmt: skip


def values(kind: str) -> torch.Tensor:
    """Returns the values of a kind, f32."""
    generator = np.random.default_rng(list(KINDS).index(kind))
    bits = generator.integers(0, 1 << 32, (ROWS, ROWS), dtype=np.uint64).astype(np.uint32)
    return torch.from_numpy(KINDS[kind](generator, bits).astype(np.uint32).view(np.int32)).view(torch.float32)


def body(data: bytes) -> bytes:
    """Returns what follows the header of a file."""
    return data[8 + int.from_bytes(data[:8], "little") :]


def packed(kind: str, dtype: str, folder: Path) -> bytes:
    """Returns the bytes of the values in a format, as a file has them."""
    tensor = ttnn.from_torch(values(kind), getattr(ttnn, dtype), layout=ttnn.TILE_LAYOUT)
    ttnn.dump_tensor(folder / "ours.tensorbin", tensor)
    return body((folder / "ours.tensorbin").read_bytes())


def digest(data: bytes) -> str:
    """Returns the digest of bytes, as packed_values.txt has it."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


# Runs with the library.
LIBRARY = """
import sys
from pathlib import Path
import ttnn

folder, formats = Path(sys.argv[1]), sys.argv[2].split()
for path in sorted(folder.glob("*.f32.tensorbin")):
    given = ttnn.load_tensor(str(path))
    for dtype in formats:
        name = path.name.removesuffix(".f32.tensorbin")
        ttnn.dump_tensor(str(folder / f"{name}.{dtype}.tensorbin"), ttnn.to_dtype(given, getattr(ttnn, dtype)))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python")
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind in KINDS:
            ttnn.dump_tensor(folder / f"{kind}.f32.tensorbin", ttnn.from_torch(values(kind), layout=ttnn.TILE_LAYOUT))
        exchange_files.run_library(given.python, folder, LIBRARY, str(folder), " ".join(FORMATS))
        unequal = 0
        for kind in KINDS:
            for dtype in FORMATS:
                theirs = body((folder / f"{kind}.{dtype}.tensorbin").read_bytes())
                if given.record:
                    print(kind, dtype, digest(theirs), sep="\t")
                    continue
                a, b = (np.frombuffer(data, np.uint8) for data in (packed(kind, dtype, folder), theirs))
                count = int((a != b).sum()) if a.shape == b.shape else -1
                unequal += count != 0
                print(f"{kind}, {dtype}: {count} of {len(b)} bytes differ")
        sys.exit(1 if unequal else 0)


if __name__ == "__main__":
    main()
