# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of Wormhole on real numbers: a slow reference for the tests of exact arithmetic.

Written from the published description of the units (tt-isa-documentation, WormholeB0/TensixTile/TensixCoprocessor) as
values and units in the last place, in float64, where every intermediate value is exact. Bit patterns are taken apart
at the entry and made at the exit only. Formats have an 8-bit exponent.
"""

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint32]
Real = NDArray[np.float64]

INF = np.uint32(0x7F800000)


def fields(bits: Bits) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Sign, exponent field and mantissa field."""
    wide = bits.astype(np.int64)
    return wide >= 1 << 31, wide // (1 << 23) % 256, wide % (1 << 23)


def pattern(negative: NDArray[np.bool_], exponent: NDArray[np.int64], significand: Real, digits: int) -> Bits:
    """(significand / 2^(digits-1)) * 2^(exponent-127), significand in [2^(digits-1), 2^digits)."""
    mantissa = (significand - 2.0 ** (digits - 1)) * 2.0 ** (24 - digits)
    return (negative * (1 << 31) + exponent * (1 << 23) + mantissa.astype(np.int64)).astype(np.uint32)


def nearest_away(x: Real) -> Real:
    return np.floor(x + 0.5)  # of magnitudes


def significand(bits: Bits) -> Real:
    """1.m as a number; 0 for zeros and denormals."""
    _, exponent, mantissa = fields(bits)
    return np.where(exponent == 0, 0.0, 1.0 + mantissa / 2.0**23)


# Packer


def special(bits: Bits) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Where the result is Inf of the sign (Inf and NaN)."""
    negative, exponent, _ = fields(bits)
    return negative, exponent == 255


def pack_rounded(bits: Bits, digits: int) -> Bits:
    """To `digits` significant digits, ties away from zero; NaN becomes Inf, zeros and denormals +0."""
    negative, infinite = special(bits)
    _, exponent, mantissa = fields(bits)
    # A denormal may round up to the smallest normal number.
    step = 2.0 ** (24 - digits)
    rounded = nearest_away((exponent * 2.0**23 + mantissa) / step) * step
    small = rounded < 2.0**23
    rounded = np.where(infinite | (rounded >= 255 * 2.0**23), 255 * 2.0**23, rounded)
    value = rounded.astype(np.int64) + negative * (1 << 31)
    return np.where(small, 0, value).astype(np.uint32)


def pack_bf16(bits: Bits) -> Bits:
    return pack_rounded(bits, 8)


def pack_e8m6(bits: Bits) -> Bits:
    """Truncation to bf16 and rounding to a digit less. A NaN is Inf before the truncation."""
    _, infinite = special(bits)
    kept = np.where(infinite, bits, bits // 65536 * 65536).astype(np.uint32)
    return pack_rounded(kept, 7)


def block_values(bits: Bits, magnitude_bits: int) -> Bits:
    """Groups of 16 intermediate values through a block format and back to bf16 patterns."""
    negative, exponent, mantissa = (part.reshape(-1, 16) for part in fields(bits))
    shared = exponent.max(axis=1, keepdims=True)
    value = np.where(exponent == 0, 0.0, 1.0 + mantissa / 2.0**23)
    scaled = np.ldexp(value, np.where(exponent == 0, 0, exponent - shared).astype(np.int32))
    magnitude = np.minimum(nearest_away(scaled * 64), 127)
    magnitude = np.floor(magnitude / 2 ** (7 - magnitude_bits)) * 2 ** (7 - magnitude_bits)
    part, power = np.frexp(magnitude / 64)  # part in [0.5, 1)
    field = (shared + power - 1) % 256
    return np.where(magnitude == 0, 0, pattern(negative, field, part * 256, 8)).astype(np.uint32).reshape(-1)


# Matrix unit


def operand_parts(bits: Bits) -> Real:
    """The 11 digits of a source register as an integer."""
    return np.floor(significand(bits) * 1024)


def product(a: Bits, b: Bits, phase: int) -> tuple[NDArray[np.bool_], NDArray[np.int64], Real]:
    sign_a, exponent_a, _ = fields(a)
    sign_b, exponent_b, _ = fields(b)
    digits_a, digits_b = operand_parts(a), operand_parts(b)
    # SrcA: digits 10..6, then 5..1. SrcB: digits 10..4, then 3..0, in place of the high ones.
    high_a, high_b = np.floor(digits_a / 64), np.floor(digits_b / 16)
    part_a = np.floor((digits_a - 64 * high_a) / 2) if phase in (1, 3) else high_a
    part_b = (digits_b - 16 * high_b) * 8 if phase in (2, 3) else high_b
    zero = (exponent_a == 0) | (exponent_b == 0)
    exponent = np.where(zero, 0, exponent_a + exponent_b - 127 - (0, 5, 7, 12)[phase])
    return np.where(zero, False, sign_a != sign_b), exponent, np.where(zero, 0.0, part_a * part_b)


def signed(negative: NDArray[np.bool_], magnitude: Real) -> Real:
    return np.where(negative, -magnitude, magnitude)


def half_sum(a: Bits, b: Bits, phase: int) -> tuple[NDArray[np.int64], Real]:
    """Exponent and signed sum of 8 products [n, 8], each rounded to the largest exponent."""
    negative, exponent, magnitude = product(a, b, phase)
    largest = exponent.max(axis=1)
    distance = np.minimum(largest[:, None] - exponent, 30)
    total = signed(negative, nearest_away(np.ldexp(magnitude, -distance.astype(np.int32)))).sum(axis=1)
    return np.where(largest <= 0, 0, largest), np.where(largest <= 0, 0.0, total * 8192)


def half_up(x: Real) -> Real:
    """Magnitudes of signed values are rounded to the nearest, halves toward +Inf."""
    return np.floor(x + 0.5)


def accumulate(dst: Bits, terms: list[tuple[NDArray[np.int64], Real]], wide: bool) -> Bits:
    dst_negative, dst_exponent, _ = fields(dst)
    exponent = np.maximum.reduce([dst_exponent] + [power for power, _ in terms])
    unit = 1.0 if wide else 8192.0

    def aligned(value: Real, power: NDArray[np.int64], rounding) -> Real:
        distance = np.minimum(exponent - power, 60).astype(np.int32)
        value = np.where(distance < 31, rounding(np.ldexp(value, -distance)), 0.0)
        return rounding(value / unit) * unit

    magnitude = aligned(significand(dst) * 2.0**23, dst_exponent, nearest_away)
    total = signed(dst_negative, magnitude) + sum(aligned(value, power, half_up) for power, value in terms)
    negative, magnitude = total < 0, np.abs(total)
    digits = 24 if wide else 8
    part, power = np.frexp(magnitude)
    rounded = nearest_away(part * 2.0**digits)
    carry = rounded == 2.0**digits
    rounded = np.where(carry, 2.0 ** (digits - 1), rounded)
    field = exponent + power - 24 + carry
    defect = negative & (magnitude == 1)  # tt-metal #38306
    field = np.where(defect, field + 27, field)
    overflow = field >= 255
    result = pattern(negative, np.clip(field, 0, 255), np.where(overflow, 2.0 ** (digits - 1), rounded), digits)
    return np.where((exponent <= 0) | (total == 0) | (field <= 0), 0, result).astype(np.uint32)


def dot_step(a: Bits, b: Bits, dst: Bits, phase: int, wide: bool) -> Bits:
    """dst [n] + 16 products of a [n, 16] (right operand of a matmul) and b [n, 16] (left operand)."""
    return accumulate(dst, [half_sum(a[:, :8], b[:, :8], phase), half_sum(a[:, 8:], b[:, 8:], phase)], wide)


def dot(a: Bits, b: Bits, phases: int, wide: bool) -> Bits:
    """Rows of a and b [n, k], k a multiple of 32."""
    dst = np.zeros(len(a), np.uint32)
    for tile in range(0, a.shape[1], 32):
        for phase in range(phases):
            for k in (tile, tile + 16):
                dst = dot_step(a[:, k : k + 16], b[:, k : k + 16], dst, phase, wide)
    return dst


def multiply(a: Bits, b: Bits, phases: int, wide: bool) -> Bits:
    dst = np.zeros(len(a), np.uint32)
    for phase in range(phases):
        negative, exponent, magnitude = product(a, b, phase)
        value = np.where(exponent <= 0, 0.0, signed(negative, magnitude * 8192))
        dst = accumulate(dst, [(np.maximum(exponent, 0), value)], wide)
    return dst


def add(a: Bits, b: Bits, wide: bool) -> Bits:
    return add_to(np.zeros(len(a), np.uint32), a, b, wide)


def add_to(dst: Bits, a: Bits, b: Bits, wide: bool) -> Bits:
    """dst + (a + b): ELWADD that accumulates."""
    (sign_a, exponent_a, _), (sign_b, exponent_b, _) = fields(a), fields(b)
    largest = np.maximum(exponent_a, exponent_b)
    digits = []
    for sign, exponent, bits in ((sign_a, exponent_a, a), (sign_b, exponent_b, b)):
        distance = largest - exponent
        aligned = nearest_away(np.ldexp(operand_parts(bits), -distance.astype(np.int32)))
        digits.append(signed(sign, np.where(distance >= 12, 0.0, aligned)))
    return accumulate(dst, [(largest, (digits[0] + digits[1]) * 8192)], wide)


# Vector unit


def multiply_add(x: int, y: int, z: int) -> int:
    """x * y + z of one lane, on integers without limit."""

    def parts(bits: int) -> tuple[int, int, int]:
        exponent = bits // 2**23 % 256
        return bits // 2**31, exponent, (2**23 + bits % 2**23) * (exponent > 0)

    def lost(value: int, places: int, width: int) -> int:
        """Division by 2^places; a remainder makes what is left odd, but never makes something of nothing."""
        if places >= width:
            return 0
        quotient, remainder = divmod(value, 2**places)
        return quotient | (remainder > 0) if quotient else 0

    (sx, ex, mx), (sy, ey, my), (sz, ez, mz) = parts(x), parts(y), parts(z)
    nan_of = [e == 255 and m != 2**23 for e, m in ((ex, mx), (ey, my), (ez, mz))]
    inf_of = [e == 255 and m == 2**23 for e, m in ((ex, mx), (ey, my), (ez, mz))]
    sign = (sx + sy) % 2
    whole, remainder = divmod(mx * my * 8, 2**23)
    value, power, addend = whole | (remainder > 0), ex + ey - 127, mz * 8
    unbounded = ex == 255 or ey == 255 or power >= 255
    nan: int | None = None
    if unbounded or ez == 255:
        undefined = (inf_of[0] and ey == 0) or (inf_of[1] and ex == 0)
        if nan_of[0] or nan_of[1] or undefined or (inf_of[2] and unbounded and sz != sign):
            nan = sign * 2**31 + 0x7F800001
        elif nan_of[2]:
            nan = sz * 2**31 + 0x7F800001
        elif inf_of[2]:
            return z
        else:
            return sign * 2**31 + 0x7F800000
        power = min(power, 255)
    if value == 0 or power < 0:
        if nan is None:
            return z if mz else 0
        value, power = 0, 0
    top = max(power, ez)
    value, addend = lost(value, top - power, 64), lost(addend, top - ez, 32)
    total = (-1) ** sign * value + (-1) ** sz * addend
    negative = sign if value >= addend else sz
    total = abs(total)
    nothing = 0 if nan is None else nan
    if total == 0:
        return nothing
    excess = total.bit_length() - 27
    top += excess
    if top >= 255:
        return negative * 2**31 + 0x7F800000 if nan is None else nan
    if top < 0:
        return nothing
    total = total * 2**-excess if excess <= 0 else total // 2**excess | total % 2
    result, rest = divmod(total, 8)
    result = top * 2**23 + result % 2**23
    result += rest > 4 or (rest == 4 and result % 2 == 1)
    if result < 2**23:
        return nothing
    return (negative * 2**31 if nan is None else nan) | result
