# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of Wormhole on whole numbers: a slow reference for the tests of exact arithmetic.

Written from the published description of the units (tt-isa-documentation, WormholeB0/TensixTile/TensixCoprocessor), in
units of the last place that each of them keeps, of 31 digits at most. Formats have an 8-bit exponent. Arrays have any
shape, and are taken whole: callers that have many values give them in parts that fit in a cache.
"""

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint32]
Whole = NDArray[np.int32]

INF = np.uint32(0x7F800000)
SIGN = np.uint32(1 << 31)


def fields(bits: Bits) -> tuple[Whole, Whole, Whole]:
    """Sign (0 or -1), exponent field and mantissa field."""
    whole = bits.view(np.int32)
    return whole >> 31, whole >> 23 & 255, whole & 0x7FFFFF


def signed(sign: Whole, magnitude: Whole) -> Whole:
    return (magnitude ^ sign) - sign


def divided(value: Whole, places: Whole | int) -> Whole:
    """By 2^places, to the nearest, halves toward +Inf: of magnitudes, ties away from zero.

    NumPy's shift by more places than there are leaves 0 or -1, which both become 0.
    """
    return (value << 1 >> places) + 1 >> 1


def digits_of(magnitude: Whole) -> Whole:
    # Two digits that follow each other are never both 1, so that the conversion does not round up to a power of two.
    return ((magnitude & ~(magnitude >> 1)).astype(np.float32).view(np.int32) >> 23) - 126


# Packer


def pack_rounded(bits: Bits, digits: int) -> Bits:
    """To `digits` significant digits, ties away from zero; NaN becomes Inf, zeros and denormals +0."""
    low = 24 - digits
    magnitude = np.minimum(bits & ~SIGN, INF)
    # A denormal may round up to the smallest normal number; nothing is rounded further than to Inf.
    rounded = magnitude + np.uint32(1 << low - 1) & np.uint32(-(1 << low) & 0xFFFFFFFF)
    return (rounded | bits & SIGN) * (rounded >= np.uint32(1 << 23))


def pack_bf16(bits: Bits) -> Bits:
    return pack_rounded(bits, 8)


def pack_e8m6(bits: Bits) -> Bits:
    """Truncation to bf16 and rounding to a digit less. A NaN is Inf before the truncation."""
    magnitude = np.minimum(bits & ~SIGN, INF)
    return pack_rounded(magnitude & np.uint32(0xFFFF0000) | bits & SIGN, 7)


def block_values(bits: Bits, magnitude_bits: int) -> Bits:
    """Groups of 16 intermediate values through a block format and back to bf16 patterns."""
    sign, exponent, mantissa = (np.ascontiguousarray(part.reshape(-1, 16).T) for part in fields(bits))
    shared = exponent.max(axis=0)
    value = (mantissa | 1 << 23) * (exponent > 0)
    magnitude = np.minimum(divided(value, shared - exponent + 17), 127) >> 7 - magnitude_bits << 7 - magnitude_bits
    places = 8 - digits_of(magnitude)
    field = shared - places + 1 & 255
    pattern = field << 23 | (magnitude << places & 127) << 16 | sign << 31
    return np.ascontiguousarray(np.where(magnitude == 0, 0, pattern).T).view(np.uint32).reshape(-1)


# Matrix unit


def part(bits: Bits, phase: int, source: str) -> tuple[Whole, Whole, Whole]:
    """Sign, exponent and the digits that a phase multiplies.

    Of 11 digits, SrcA gives 10 to 6, then 5 to 1; SrcB 10 to 4, then 3 to 0, in place of the high ones.
    """
    sign, exponent, mantissa = fields(bits)
    digits = mantissa >> 13 | 1 << 10
    if source == "A":
        digits = digits >> 1 & 31 if phase in (1, 3) else digits >> 6
    else:
        digits = (digits & 15) << 3 if phase in (2, 3) else digits >> 4
    return sign, exponent, digits * (exponent > 0)


def product(a: Bits, b: Bits, phase: int) -> tuple[Whole, Whole, Whole]:
    (sign_a, exponent_a, part_a), (sign_b, exponent_b, part_b) = part(a, phase, "A"), part(b, phase, "B")
    exponent = exponent_a + exponent_b - (127 + (0, 5, 7, 12)[phase])
    return sign_a ^ sign_b, exponent * ((exponent_a > 0) & (exponent_b > 0)), part_a * part_b


def half_sums(a: Bits, b: Bits, phase: int) -> list[tuple[Whole, Whole]]:
    """Exponents and signed sums of two times 8 products [16, ...], each rounded to the largest exponent of the 8."""
    sign, exponent, magnitude = product(a, b, phase)
    terms = []
    for half in (slice(0, 8), slice(8, 16)):
        largest = exponent[half].max(axis=0)
        rounded = divided(magnitude[half], largest - exponent[half])
        total = signed(sign[half], rounded).sum(axis=0, dtype=np.int32) << 13
        terms.append((np.maximum(largest, 0), total * (largest > 0)))
    return terms


def accumulate(dst: Bits, terms: list[tuple[Whole, Whole]], wide: bool) -> Bits:
    """Destination values and terms in units of 2^-23 of a power of two, rounded to the largest of these powers."""
    dst_sign, dst_exponent, dst_mantissa = fields(dst)
    exponent = dst_exponent
    for power, _ in terms:
        exponent = np.maximum(exponent, power)

    def aligned(value: Whole, power: Whole) -> Whole:
        value = divided(value, exponent - power)
        return value if wide else divided(value, 13) << 13

    digits = (dst_mantissa | 1 << 23) * (dst_exponent > 0)
    total = signed(dst_sign, aligned(digits, dst_exponent))
    for power, value in terms:
        total = total + aligned(value, power)
    negative, magnitude = total >> 31, np.abs(total)
    lost = np.maximum(digits_of(magnitude) - (24 if wide else 8), 0)
    # What is left has 24 digits at most, which a float holds.
    result = (divided(magnitude, lost) << lost).astype(np.float32).view(np.int32)
    field = (result >> 23) + exponent - 150
    field += (total == -1) * np.int32(27)  # tt-metal #38306
    pattern = field << 23 | result & 0x7FFFFF
    np.copyto(pattern, INF.view(np.int32), where=field >= 255)
    return ((pattern | negative << 31) * ((exponent > 0) & (total != 0) & (field > 0))).view(np.uint32)


def dot_step(a: Bits, b: Bits, dst: Bits, phase: int, wide: bool) -> Bits:
    """dst [...] + 16 products of a [16, ...] (right operand of a matmul) and b [16, ...] (left operand)."""
    return accumulate(dst, half_sums(a, b, phase), wide)


def dot(a: Bits, b: Bits, phases: int, wide: bool) -> Bits:
    """Rows of a and b [n, k], k a multiple of 32."""
    a, b = (np.ascontiguousarray(x.T) for x in (a, b))
    dst = np.zeros(a.shape[1], np.uint32)
    for tile in range(0, len(a), 32):
        for phase in range(phases):
            for k in (tile, tile + 16):
                dst = dot_step(a[k : k + 16], b[k : k + 16], dst, phase, wide)
    return dst


def multiply(a: Bits, b: Bits, phases: int, wide: bool) -> Bits:
    dst = np.zeros(a.shape, np.uint32)
    for phase in range(phases):
        sign, exponent, magnitude = product(a, b, phase)
        value = signed(sign, magnitude << 13) * (exponent > 0)
        dst = accumulate(dst, [(np.maximum(exponent, 0), value)], wide)
    return dst


def add(a: Bits, b: Bits, wide: bool) -> Bits:
    return add_to(np.zeros(a.shape, np.uint32), a, b, wide)


def add_to(dst: Bits, a: Bits, b: Bits, wide: bool) -> Bits:
    """dst + (a + b): ELWADD that accumulates."""
    (sign_a, exponent_a, digits_a), (sign_b, exponent_b, digits_b) = source_digits(a), source_digits(b)
    largest = np.maximum(exponent_a, exponent_b)
    total = sum(
        signed(sign, divided(digits, largest - exponent))
        for sign, exponent, digits in ((sign_a, exponent_a, digits_a), (sign_b, exponent_b, digits_b))
    )
    return accumulate(dst, [(largest, total << 13)], wide)


def source_digits(bits: Bits) -> tuple[Whole, Whole, Whole]:
    """Sign, exponent, and the 11 digits of a source register."""
    sign, exponent, mantissa = fields(bits)
    return sign, exponent, (mantissa >> 13 | 1 << 10) * (exponent > 0)


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
