# SPDX-License-Identifier: Apache-2.0
"""Ops as a Wormhole chip computes them, on bit patterns of f32: a slow reference for the tests of exact arithmetic.

Built on the units of runtime/chip_arithmetic.py and vector_unit.py; formats are named as in ttnn.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from vector_unit import FUNCTIONS, NARROW_ONLY, Bits, V, mad, reciprocal, root, stored

sys.path.insert(0, str(Path(__file__).parents[1]))
import chip_arithmetic as chip

BLOCKS = {"bfloat8_b": 7, "bfloat4_b": 3, "bfloat2_b": 1}
TF32, HIGH = np.uint32(0xFFFFE000), np.uint32(0xFFFF0000)
ONE, SIGN = 0x3F800000, np.uint32(1 << 31)


LANES = 1 << 12  # of which all that a function makes fits in a core's cache


def in_parts(function: Callable[..., np.ndarray], *operands: Bits) -> np.ndarray:
    """A function of operands [n, ...] whose results [n, ...] do not depend on each other, some of the n at a time."""
    rows = max(1, LANES * len(operands[0]) // operands[0].size)
    return np.concatenate([function(*(x[i : i + rows] for x in operands)) for i in range(0, len(operands[0]), rows)])


def source(x: Bits, dtype: str, wide: bool) -> Bits:
    """Returns the value that the unpacker leaves in a source register."""
    if dtype != "float32":
        return x
    return x & TF32 if wide else np.where(x & np.uint32(chip.INF), x & HIGH, x & SIGN)


def packed(x: Bits, dtype: str, wide: bool, precise: bool = False) -> Bits:
    """Destination values [..., columns] in memory, as the unpacker reads them."""
    if dtype == "float32":
        return x
    if dtype == "bfloat16":
        return chip.pack_bf16(x)
    once = x & HIGH if wide else chip.pack_bf16(x)
    kept = once if precise else chip.pack_e8m6(x)
    columns = x.shape[-1]
    rows = np.pad(kept.reshape(-1, columns), ((0, 0), (0, -columns % 16)))
    values = chip.block_values(rows.reshape(-1), BLOCKS[dtype]).reshape(rows.shape)
    return values[:, :columns].reshape(x.shape)


# ---------------------------------------------------------------------- products


def add_in_l1(old: Bits, new: Bits, wide: bool) -> Bits:
    old, new = (np.where(x & np.uint32(chip.INF), x, x & SIGN) for x in (old, new))
    with np.errstate(all="ignore"):
        exact = old.view(np.float32).astype(np.float64) + new.view(np.float32).astype(np.float64)
        total = exact.astype(np.float32).view(np.uint32)
    assert not np.isnan(exact).any(), "finite partial sums only"
    if not wide:
        part, power = np.frexp(exact)
        kept = np.ldexp(np.round(part * 256) / 256, power)  # ties to even
        with np.errstate(over="ignore"):
            total = kept.astype(np.float32).view(np.uint32)
    return np.where(total & np.uint32(chip.INF), total, total & SIGN)


def accumulated(a: Bits, b: Bits, phases: Sequence[int], wide: bool, dst: Bits) -> Bits:
    """dst [..., m, n] + a [..., m, k] * b [..., k, n]; a is in SrcB. phases: which of the four."""
    k_first = [np.moveaxis(a, -1, 0)[..., None], np.moveaxis(b, -2, 0)[..., None, :]]
    pad = -a.shape[-1] % 32
    left, right = (np.pad(x, ((0, pad), *[(0, 0)] * (x.ndim - 1))) for x in k_first)
    for tile in range(0, len(left), 32):
        for phase in phases:
            for k in (tile, tile + 16):
                dst = chip.dot_step(right[k : k + 16], left[k : k + 16], dst, phase, wide)
    return dst


@dataclass(frozen=True)
class Cut:
    """How a product is cut along K: tiles of a block (0: all), who adds partial sums, and their format in L1."""

    tiles: int = 0
    in_l1: bool = False
    partials: str = "bfloat16"

    @staticmethod
    def of(plan: dict[str, Any]) -> Cut:
        """Reads the plan of a program (`runtime.observe_calls`)."""
        formats = {"Float32": "float32", "Float16_b": "bfloat16", "Bfp8_b": "bfloat8_b", "Bfp4_b": "bfloat4_b",
                   "Bfp2_b": "bfloat2_b"}  # fmt: skip
        blocks = plan["blocks"]
        return Cut(blocks["in0_block_w"], bool(plan["compute"]["packer_l1_acc"]), formats[blocks["partials"]])


WHOLE = Cut()


def product(a: Bits, b: Bits, phases: int, wide: bool, cut: Cut = WHOLE, biased: bool = False) -> Bits:
    """Destination of a matmul [..., m, k] * [..., k, n]."""
    zero = np.zeros((*a.shape[:-1], b.shape[-1]), np.uint32)
    ends = [*range(0, a.shape[-1], 32 * cut.tiles), a.shape[-1]] if cut.tiles else [0, a.shape[-1]]
    blocks = [(a[..., i:j], b[..., i:j, :]) for i, j in itertools.pairwise(ends)]
    if len(blocks) < 2:
        return accumulated(a, b, range(phases), wide, zero)

    def spilled(x: Bits) -> Bits:
        return x if wide else packed(x, cut.partials if cut.partials in BLOCKS else "bfloat16", wide)

    if not cut.in_l1:
        dst = zero
        for i, (left, right) in enumerate(blocks):
            dst = accumulated(left, right, range(phases), wide, spilled(dst) if i else dst)
        return dst
    kept = spilled(accumulated(*blocks[0], range(phases), wide, zero))
    for left, right in blocks[1 : None if biased else -1]:
        kept = add_in_l1(kept, spilled(accumulated(left, right, range(phases), wide, zero)), wide)
    return kept if biased else accumulated(*blocks[-1], range(phases), wide, kept)


def with_bias(dst: Bits, bias: Bits, dtype: str, wide: bool) -> Bits:
    """A bias of one row, added to partial sums of the product's kernel."""
    partial = dst & TF32 if wide else chip.pack_bf16(dst)
    row = np.broadcast_to(source(bias, dtype, wide), dst.shape)
    return chip.add(partial.reshape(-1), row.reshape(-1), wide).reshape(dst.shape)


# ---------------------------------------------------------------------- elementwise


def binary(name: str, a: Bits, b: Bits, types: tuple[str, str], out: str, phases: int = 4) -> Bits:
    """Destination of add, subtract, multiply, divide, maximum or minimum on equal shapes."""
    vector = types == ("float32", "float32")
    wide = vector or out == "float32"
    flat = [x.reshape(-1) for x in (a, b)]
    if name == "divide":
        return quotient(
            *(V(v if wide else source(v, t, False)) for v, t in zip(flat, types, strict=True)), wide
        ).reshape(a.shape)
    if name in ("maximum", "minimum"):
        x, y = map(V, flat)
        return stored(x.max(y) if name == "maximum" else x.min(y), wide).reshape(a.shape)
    if vector:
        x, y = flat
        if name == "multiply":
            return mad(x, y, 0).reshape(a.shape)
        return mad(ONE, x, y ^ SIGN if name == "subtract" else y).reshape(a.shape)
    x, y = (source(v, t, wide) for v, t in zip(flat, types, strict=True))
    if name == "multiply":
        return chip.multiply(x, y, phases, wide).reshape(a.shape)
    return chip.add(x, y ^ SIGN if name == "subtract" else y, wide).reshape(a.shape)


def quotient(x: V, y: V, wide: bool) -> Bits:
    """By the vector unit, with two steps of Newton's in either width."""
    low = np.uint32(SIGN - np.uint32(1))
    result = (x * reciprocal(y, 2)).b
    result = np.where((x - y).b & low == 0, np.uint32(ONE), result)
    zero = np.where(x.b & low == 0, np.uint32(0x7FC00000), np.uint32(chip.INF) | x.b & SIGN)
    result = np.where(y.b & low == 0, zero, result).astype(np.uint32)
    if not wide:
        result = result + np.uint32(0x7FFF) + (result >> np.uint32(16) & np.uint32(1))  # ties to even
    return stored(V(result), wide)


def rounded(x: V, wide: bool, rounds: bool) -> Bits:
    return stored(V(chip.pack_bf16(x.b)) if rounds and not wide else x, wide)


def unary(name: str, x: Bits, dtype: str, out: str) -> tuple[Bits, bool]:
    """Destination of a function, and whether it has 32 bits."""
    wide = "float32" in (dtype, out)
    assert not (wide and name in NARROW_ONLY)
    function, rounds = FUNCTIONS[name]
    return rounded(function(V(x), wide), wide, rounds), wide


# ---------------------------------------------------------------------- rows of tiles


def transposed(dst: Bits, dtype: str, wide: bool) -> Bits:
    if wide:
        dst = dst & TF32 if dtype == "float32" else np.where(dst & np.uint32(chip.INF), dst & HIGH, dst & SIGN)
    return chip.add(dst, np.zeros_like(dst), wide)


def sums(x: Bits, scale: int, dtype: str, wide: bool, phases: int = 4, along_row: bool = True) -> Bits:
    """Sums of rows [n, k] of values as unpacked; each product is with `scale`."""
    x = np.pad(np.ascontiguousarray(x.T), ((0, -x.shape[1] % 32), (0, 0)))
    scales = np.full((16, 1), scale, np.uint32)
    dst = np.zeros(x.shape[1], np.uint32)
    for tile in range(0, len(x), 32):
        for face in (tile, tile + 16):
            for phase in range(phases):
                dst = chip.dot_step(x[face : face + 16], scales, dst, phase, wide)
        if along_row:
            dst = transposed(dst, dtype, wide)
    return dst


def tile_sum(x: Bits, scale: int, dtype: str, wide: bool, phases: int = 4) -> Bits:
    """The sum [1] of a tile [rows, columns], both at most 32: down columns in each face, and then along the sums."""
    x = np.pad(x, [(0, 32 - size) for size in x.shape])
    scales, dst, total = np.full((16, 1), scale, np.uint32), np.zeros(16, np.uint32), np.zeros(1, np.uint32)
    for top, left in itertools.product((0, 16), repeat=2):
        for phase in range(phases):
            dst = chip.dot_step(x[top : top + 16, left : left + 16], scales, dst, phase, wide)
    row = dst & (TF32 if dtype == "float32" else HIGH)
    for phase in range(phases):
        total = chip.dot_step(row[:, None], scales, total, phase, wide)
    return total


def added(x: Bits) -> Bits:
    """Sums of rows [n, k], value by value, in a destination of 32 bits."""
    dst = np.zeros(len(x), np.uint32)
    for column in x.T:
        dst = chip.add_to(dst, column, np.zeros_like(dst), True)
    return dst


def largest(x: Bits, dtype: str, wide: bool, along_row: bool = True) -> Bits:
    x = np.where(x & np.uint32(chip.INF), x, np.uint32(0))
    order = V(x).order().argmax(axis=1)
    best = x[np.arange(len(x)), order]
    return transposed(best, dtype, wide) if along_row else best


def step(x: Bits, wide: bool) -> Bits:
    """Through a circular buffer."""
    return x & TF32 if wide else chip.pack_bf16(x)


def over_rows(function: str, x: Bits, per_row: Bits | int, wide: bool, phases: int = 4) -> Bits:
    """An op of the matrix unit with a value for each row."""
    other = np.broadcast_to(np.asarray(per_row, np.uint32).reshape(-1, 1), x.shape).reshape(-1)
    flat = x.reshape(-1)
    if function == "multiply":
        return chip.multiply(flat, other, phases, wide).reshape(x.shape)
    return chip.add(flat, other ^ SIGN if function == "subtract" else other, wide).reshape(x.shape)


def softmax(x: Bits, dtype: str, wide: bool, stable: bool, phases: int = 4) -> Bits:
    """Exponentials are kept as f32 of f32 operands alone; differences with the maximum stay in the destination."""
    x, kept = source(x, dtype, wide), wide and dtype == "float32"
    if stable:
        x = over_rows("subtract", x, step(largest(x, dtype, wide), kept), wide)
    x = step(rounded(FUNCTIONS["exp"][0](V(x), wide), wide, True), kept)
    total = sums(x, ONE, "float32" if kept else "bfloat16", wide, phases)
    share = rounded(reciprocal(V(total), 2 if wide else 1), wide, True)
    return over_rows("multiply", x, step(share, wide), wide, phases)


def bf16(value: float) -> int:
    pattern = int(np.float32(value).view(np.uint32))
    return (pattern + 0x7FFF + (pattern >> 16 & 1)) & 0xFFFF0000


def norm(
    x: Bits, dtype: str, wide: bool, epsilon: float, parameters: Sequence[Bits | None], centred: bool
) -> Bits:  # fmt: skip
    x, share = source(x, dtype, wide), bf16(1 / x.shape[1])
    middle = "float32" if wide else "bfloat16"
    if centred:
        x = step(over_rows("subtract", x, step(sums(x, share, dtype, wide), wide), wide), wide)
    squares = step(chip.multiply(x.reshape(-1), x.reshape(-1), 4, wide), wide).reshape(x.shape)
    variance = step(sums(squares, share, middle, wide), wide)
    shifted = step(chip.add(variance, np.full_like(variance, bf16(epsilon)), wide), wide)
    scale = step(rounded(root(V(shifted), True, False), wide, True), wide)
    x = over_rows("multiply", x, scale, wide)
    for parameter, name in zip(parameters, ("multiply", "add"), strict=False):
        if parameter is not None:
            row = np.broadcast_to(source(parameter, dtype, wide), x.shape)
            flat = step(x, wide).reshape(-1), row.reshape(-1)
            x = (chip.multiply(*flat, 4, wide) if name == "multiply" else chip.add(*flat, wide)).reshape(x.shape)
    return x


# ---------------------------------------------------------------------- convolutions


def windows(
    x: Bits, kernel: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int], outside: int = 0
) -> Bits:
    """Contents of windows [positions, kernel places * channels] of images [n, h, w, c]; `outside` is around them."""
    x = np.pad(x, ((0, 0), (padding[0],) * 2, (padding[1],) * 2, (0, 0)), constant_values=outside)
    n, h, w, _ = x.shape
    rows = []
    for image in range(n):
        for y in range(0, h - kernel[0] + 1, stride[0]):
            for z in range(0, w - kernel[1] + 1, stride[1]):
                rows.append(x[image, y : y + kernel[0], z : z + kernel[1]].reshape(-1))
    return np.stack(rows)


def in_blocks(rows: Bits, kernel: tuple[int, int], blocks: dict[str, int]) -> Bits:
    """Windows [positions, kernel places * channels] in the order of a plan's blocks of K, with zeros as padding.

    A block has `channels` channels of each place in a row of the window, and then zeros up to its `in0_block_w` tiles.
    """
    count, height, width, channels = len(rows), *kernel, blocks["channels"]
    x = rows.reshape(count, height, width, -1)
    x = np.pad(x, [(0, 0)] * 3 + [(0, -x.shape[3] % channels)])
    parts = x.reshape(count, height, width, -1, channels).transpose(0, 1, 3, 2, 4).reshape(count, -1, width * channels)
    assert parts.shape[1] == blocks["num_blocks"]
    filled = np.pad(parts, [(0, 0), (0, 0), (0, 32 * blocks["in0_block_w"] - width * channels)])
    return np.ascontiguousarray(filled.reshape(count, -1))


# ---------------------------------------------------------------------- conversions


def typecast(x: Bits, dtype: str, out: str) -> np.ndarray:
    if out == "bfloat16":
        wide = x.astype(np.uint64)
        even = ((wide + 0x7FFF + (wide >> 16 & 1)) & 0xFFFF0000).astype(np.uint32)
        return chip.pack_bf16(even)
    if out in BLOCKS or out == "float32":
        return packed(x, out, "float32" in (dtype, out), precise=True)
    with np.errstate(invalid="ignore"):  # signalling NaN
        value = x.view(np.float32).astype(np.float64)
    negative, magnitude = x >= SIGN, np.where(np.isfinite(value), np.abs(value), np.inf)
    if out == "int32":
        fits = magnitude < 2**31
        whole = np.trunc(np.where(fits, magnitude, 0)) * np.where(negative, -1, 1)
        return np.where(fits, whole, -(2**31)).astype(np.int64)
    most = {"uint32": 2**32 - 1, "uint16": 65535}[out]
    whole = np.floor(np.minimum(magnitude, 2.0**40) + (0.5 if out == "uint16" else 0))
    return np.where(negative, 0, np.minimum(whole, most)).astype(np.int64)
