# SPDX-License-Identifier: Apache-2.0
"""The chip's arithmetic, bit for bit, compared with a reference on real numbers (chip_arithmetic.py, which shares no
code)."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from _ttmlir_runtime import Error, arithmetic

sys.path.insert(0, str(Path(__file__).parent))
import chip_arithmetic as reference

TF32 = 0xFFFFE000
EDGES = (0, 1, 0x7FFFFF, 0x7F8000, 0x7FC000, 0x800000, 0x3F800000, 0x3F808000, 0x3F818000, 0x3F807FFF, 0x3FFFFFFF,
         0x3FFFE000, 0x7F7F8000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00001)  # fmt: skip
KINDS = ("any", "near", "low", "high", "edge")
FIDELITIES = {"LoFi": 1, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4}


def values(seed: int, kind: str, shape: int | tuple[int, ...], mask: int = 0xFFFFFFFF) -> np.ndarray:
    """Bit patterns: of every class, of alike exponents, small, large, or those at which rules change."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    bits = rng.integers(0, 1 << 32, shape, dtype=np.uint64).astype(np.uint32)
    if kind == "edge":
        bits = rng.choice(np.array(EDGES, np.uint32), shape) | (bits & np.uint32(0x80000000))
    elif kind != "any":
        low, high = {"near": (110, 142), "low": (0, 90), "high": (180, 256)}[kind]
        bits = (bits & np.uint32(0x807FFFFF)) | (rng.integers(low, high, shape).astype(np.uint32) << np.uint32(23))
    return bits & np.uint32(mask)


def same(found: np.ndarray, expected: np.ndarray) -> None:
    assert found.dtype == np.float32 and found.shape == expected.shape
    np.testing.assert_array_equal(found.view(np.uint32), expected)


def floats(bits: np.ndarray) -> np.ndarray:
    return bits.view(np.float32)


def test_packing_every_bfloat16_and_what_lies_between() -> None:
    high = np.arange(1 << 16, dtype=np.uint32) << np.uint32(16)
    for low in (0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF):
        bits = high | np.uint32(low)
        same(arithmetic.pack_bfloat16(floats(bits)), reference.pack_bf16(bits))


@pytest.mark.parametrize("bits", [8, 4, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_packing_blocks(kind: str, bits: int, seed: int) -> None:
    given = values(seed, kind, (64, 32, 16))
    expected = reference.block_values(reference.pack_e8m6(given.reshape(-1)), bits - 1)
    same(arithmetic.pack_block(floats(given), bits), expected.reshape(given.shape))


@pytest.mark.parametrize("wide", [False, True], ids=["bf16", "f32"])
@pytest.mark.parametrize("kind", KINDS)
def test_sums(kind: str, wide: bool, seed: int) -> None:
    a, b = values(seed, kind, 1 << 15), values(seed + 1, kind, 1 << 15)
    b[::3] = a[::3] ^ np.uint32(0x80000000)  # that cancel
    same(arithmetic.add(floats(a), floats(b), wide), reference.add(a & TF32, b & TF32, wide))


@pytest.mark.parametrize("fidelity", FIDELITIES)
@pytest.mark.parametrize("wide", [False, True], ids=["bf16", "f32"])
@pytest.mark.parametrize("kind", KINDS)
def test_products(kind: str, wide: bool, fidelity: str, seed: int) -> None:
    a, b = values(seed, kind, 1 << 14), values(seed + 1, kind, 1 << 14)
    expected = reference.multiply(a & TF32, b & TF32, FIDELITIES[fidelity], wide)
    same(arithmetic.multiply(floats(a), floats(b), fidelity, wide), expected)


@pytest.mark.parametrize("fidelity", FIDELITIES)
@pytest.mark.parametrize("wide", [False, True], ids=["bf16", "f32"])
@pytest.mark.parametrize("kind", KINDS)
def test_sums_of_products(kind: str, wide: bool, fidelity: str, seed: int) -> None:
    a, b = values(seed, kind, (128, 96)), values(seed + 1, kind, (128, 96))
    expected = reference.dot(b & TF32, a & TF32, FIDELITIES[fidelity], wide)  # the left operand is in SrcB
    same(arithmetic.dot(floats(a), floats(b), fidelity, wide), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_multiply_add(kind: str, seed: int) -> None:
    x, y, z = (values(seed + i, kind, 2000) for i in range(3))
    if kind == "near":  # that cancel but for the rounding of the product
        z[::2] = (-(floats(x[::2].copy()) * floats(y[::2].copy()))).view(np.uint32)
    expected = [reference.multiply_add(int(a), int(b), int(c)) for a, b, c in zip(x, y, z, strict=True)]
    same(arithmetic.multiply_add(floats(x), floats(y), floats(z)), np.array(expected, np.uint32))


def test_a_product_that_was_measured() -> None:
    """On hardware: tt-metal's issue 12923."""
    a, b = np.float32([1.3125]), np.float32([7.96875])
    assert arithmetic.multiply(a, b, "HiFi2") == np.float32(10.4375)
    assert arithmetic.multiply(a, b, "HiFi4") == np.float32(10.5)


def test_shapes() -> None:
    one = np.float32(1)
    assert arithmetic.add(np.array(one), np.array(one)).shape == ()
    assert arithmetic.pack_bfloat16(np.zeros((0, 3), np.float32)).shape == (0, 3)
    assert arithmetic.dot(np.ones((2, 3, 32), np.float32), np.ones((2, 3, 32), np.float32)).tolist() == [[32] * 3] * 2


def test_wrong_use() -> None:
    x = np.ones(32, np.float32)
    with pytest.raises(Error, match=r"arithmetic\.add: operands have different shapes"):
        arithmetic.add(x, np.ones(31, np.float32))
    with pytest.raises(Error, match=r'arithmetic\.dot: fidelity is "high"; expected LoFi, HiFi2, HiFi3 or HiFi4'):
        arithmetic.dot(x, x, "high")
    for shape in ((), (0,), (31,)):
        with pytest.raises(Error, match=r"arithmetic\.dot: the last dimension is not a multiple of 32"):
            arithmetic.dot(np.ones(shape, np.float32), np.ones(shape, np.float32))
    with pytest.raises(Error, match=r"arithmetic\.pack_block: bits is 6; expected 8, 4 or 2"):
        arithmetic.pack_block(x, 6)
    with pytest.raises(Error, match=r"arithmetic\.pack_block: the last dimension is not a multiple of 16"):
        arithmetic.pack_block(x[:15], 8)
    with pytest.raises(TypeError):
        arithmetic.add(np.ones(2, np.float64), np.ones(2, np.float64))
