# SPDX-License-Identifier: Apache-2.0
"""2^24 values of each class through each unit, in each format, bit for bit compared with the slow reference.

`pytest --slow -k 'many_values and matmul'` runs the rows of a unit; ROWS has all.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import pytest
import torch
import ttnn
from chip_ops import accumulated, binary, in_parts, packed, source, typecast, unary
from exact_values import FORMATS, INTEGERS, KINDS, Chip, same, values
from vector_unit import FUNCTIONS, NARROW_ONLY

PARTS, SIDE = 16, 1024  # of 2^20 values each
WIDTHS = {"bf16": False, "f32": True}
FIDELITIES = ("LoFi", "HiFi2", "HiFi3", "HiFi4")
TO_INTEGERS = ("int32", "uint32", "uint16")

# Device, class of values and seed to what the device computes of 2^20 values, and what the reference does.
Row = Callable[[Chip, str, int], tuple[np.ndarray, np.ndarray]]


def sums_and_the_like(name: str, given: str, out: str) -> Row:
    wide = "float32" in (given, out)

    def run(chip: Chip, kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
        a, a_bits = chip.put(values(seed, kind, (SIDE, SIDE), given), given)
        b_bits = values(seed + 1, kind, (SIDE, SIDE), given)
        b_bits[::3] = a_bits[::3] ^ np.uint32(1 << 31)  # that cancel
        b, b_bits = chip.put(b_bits, given)
        expected = in_parts(lambda x, y: packed(binary(name, x, y, (given, given), out), out, wide), a_bits, b_bits)
        return Chip.bits(getattr(ttnn, name)(a, b, dtype=getattr(ttnn, out))), expected

    return run


@functools.cache
def of_every_bfloat16(name: str) -> np.ndarray:
    every = np.arange(1 << 16, dtype=np.uint32) << np.uint32(16)
    return in_parts(lambda x: packed(unary(name, x, "bfloat16", "bfloat16")[0], "bfloat16", False), every)


def function(name: str, dtype: str) -> Row:
    def run(chip: Chip, kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
        x, bits = chip.put(values(seed, kind, (SIDE, SIDE), dtype), dtype)
        found = Chip.bits(getattr(ttnn, name)(x))
        if dtype == "bfloat16":
            return found, of_every_bfloat16(name)[bits >> np.uint32(16)]
        distinct, places = np.unique(bits, return_inverse=True) if kind == "edge" else (bits, ...)
        return found, in_parts(lambda part: unary(name, part, dtype, dtype)[0], distinct)[places]

    return run


def conversion(given: str, out: str) -> Row:
    def run(chip: Chip, kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
        x, bits = chip.put(values(seed, kind, (SIDE, SIDE), given), given)
        found = ttnn.typecast(x, getattr(ttnn, out))
        expected = in_parts(lambda part: typecast(part, given, out), bits)
        return Chip.integers(found) if out in TO_INTEGERS else Chip.bits(found), expected

    return run


def from_integers(out: str) -> Row:
    """The values of a class as bits of integers."""

    def run(chip: Chip, kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
        given = values(seed, kind, (SIDE, SIDE), "float32").view(np.int32)
        x = ttnn.from_torch(torch.from_numpy(given), layout=ttnn.TILE_LAYOUT, device=chip.device)
        expected = packed(given.astype(np.float32).view(np.uint32), out, True)
        return Chip.bits(ttnn.typecast(x, getattr(ttnn, out))), expected

    return run


def matmul(width: str, dtype: str) -> Row:
    """Products [1024, 32, 32] * [1024, 32, 1] in each fidelity: 2^20 products, each of another left value."""
    wide, out = WIDTHS[width], "float32" if WIDTHS[width] else "bfloat16"

    def run(chip: Chip, kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
        a, a_bits = chip.put(values(seed, kind, (SIDE, SIDE // 32, 32), dtype), dtype)
        b, b_bits = chip.put(values(seed + 1, kind, (SIDE, 32, 1), dtype), dtype)
        a_bits, b_bits = source(a_bits, dtype, wide), source(b_bits, dtype, wide)
        found, expected, dst = [], [], np.zeros((*a_bits.shape[:-1], 1), np.uint32)
        for phase, fidelity in enumerate(FIDELITIES):
            config = ttnn.WormholeComputeKernelConfig(
                math_fidelity=getattr(ttnn.MathFidelity, fidelity), fp32_dest_acc_en=wide
            )
            result = ttnn.matmul(a, b, dtype=getattr(ttnn, out), compute_kernel_config=config)
            found.append(Chip.bits(result))
            # Of a K of one tile, each fidelity adds a phase to the one before it.
            dst = in_parts(lambda x, y, z, p=phase: accumulated(x, y, [p], wide, z), a_bits, b_bits, dst)
            expected.append(packed(dst, out, wide))
        return np.stack(found), np.stack(expected)

    return run


TWO = ("bfloat16", "float32")
ROWS: dict[str, Row] = {
    **{
        f"{name}-{dtype}": sums_and_the_like(name, dtype, dtype)
        for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum")
        for dtype in TWO
    },
    **{f"pack-{given}-{out}": sums_and_the_like("add", given, out) for given in TWO for out in FORMATS if given != out},
    **{
        f"{name}-{dtype}": function(name, dtype)
        for name in sorted(FUNCTIONS)
        for dtype in TWO
        if dtype == "bfloat16" or name not in NARROW_ONLY
    },
    **{
        f"typecast-{given}-{out}": conversion(given, out)
        for given in FORMATS
        for out in (*FORMATS, *TO_INTEGERS)
        if given != out
    },
    **{f"typecast-int32-{out}": from_integers(out) for out in TWO},
    **{f"matmul-{width}-{dtype}": matmul(width, dtype) for width in WIDTHS for dtype in FORMATS},
}


def kinds(row: str) -> tuple[str, ...]:
    return (*KINDS, INTEGERS) if row.startswith("typecast") and row.endswith(TO_INTEGERS) else KINDS


@pytest.mark.slow
@pytest.mark.parametrize(("row", "kind"), [(row, kind) for row in ROWS for kind in kinds(row)])
def test_many_values(chip: Chip, row: str, kind: str, seed: int) -> None:
    for part in range(PARTS):
        same(*ROWS[row](chip, kind, seed + 2 * part))
