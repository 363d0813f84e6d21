# SPDX-License-Identifier: Apache-2.0
"""The vector unit of Wormhole and the functions of its library, on arrays of bit patterns, in whole numbers.

Written from the publications (tt-isa-documentation: SFPMAD; ttsim: fma.cpp; tt-llk: ckernel_sfpu_*.h); shares no code
with the runtime. Sums have 30 digits at most: they are taken in 32 bits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from chip_arithmetic import digits_of, fields, signed
from numpy.typing import NDArray

Bits = NDArray[np.uint32]
Whole = NDArray[np.int32]
SIGN, INF, NAN = 1 << 31, 0x7F800000, 0x7FC00000


def bits(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


def split(x: Bits) -> tuple[Whole, Whole, Whole]:
    """Sign (0 or -1), exponent field, and mantissa with its hidden digit; denormals are zero."""
    sign, exponent, mantissa = fields(x)
    return sign, exponent, (mantissa | 1 << 23) * (exponent > 0)


def divided(value: Whole, places: Whole) -> Whole:
    """By 2^places; what is lost makes the rest odd, but nothing stays nothing."""
    quotient = value >> places
    return quotient | ((quotient << places != value) & (quotient > 0))


def rounded_sum(
    sign: Whole, value: Whole, power: Whole, other: Whole, addend: Whole, exponent: Whole
) -> tuple[Whole, Whole]:
    """Sign and other bits of a sum of two numbers, each a sign, a magnitude in units of 2^-26 and an exponent field.

    Ties are to even, and there are no denormals.
    """
    top = np.maximum(power, exponent)
    value, addend = divided(value, top - power), divided(addend, top - exponent)
    total = signed(sign, value) + signed(other, addend)
    magnitude = np.abs(total)
    excess = digits_of(magnitude) - 27
    top += excess
    scaled = (magnitude >> np.maximum(excess, 0) | (magnitude & (excess > 0))) << np.maximum(-excess, 0)
    result = (top << 23) + (scaled >> 3 & 0x7FFFFF)
    result += (scaled & 7) + (result & 1) > 4
    result *= (total != 0) & (result >= 1 << 23)
    np.copyto(result, INF, where=top >= 255)
    return total >> 31, result


def mad(x: Bits | int, y: Bits | int, z: Bits | int) -> Bits:
    x, y, z = (np.asarray(v, np.uint32) for v in (x, y, z))
    (sx, ex, mx), (sy, ey, my), (sz, ez, mz) = split(x), split(y), split(z)
    sign, power = sx ^ sy, ex + ey - 127
    raw = mx.astype(np.int64) * my
    value = (raw >> 20).astype(np.int32) | (raw & 0xFFFFF > 0)
    special = (ex == 255) | (ey == 255) | (power >= 255)
    kept = (value > 0) & (power >= 0)
    power = np.minimum(power, 255) * kept
    negative, result = rounded_sum(sign, value * kept, power, sz, mz << 3, ez)
    result = ((result | negative << 31) * (result > 0)).view(np.uint32)
    some = special | (ez == 255)
    if some.any():
        operands = (np.broadcast_to(v, result.shape)[some] for v in (x, y, z, special))
        result[some] = unusual(*operands, result[some])
    return result


def unusual(x: Bits, y: Bits, z: Bits, unbounded: NDArray[np.bool_], result: Bits) -> Bits:
    """Where an operand is Inf or NaN, or the product beyond every number; `result` is without regard to that."""
    low, high = np.uint32(SIGN - 1), np.uint32(SIGN)
    (ax, ay, az), sign, other = (v & low for v in (x, y, z)), (x ^ y) & high, z & high
    undefined = (ax > INF) | (ay > INF) | ((ax == INF) & (ay < 1 << 23)) | ((ay == INF) & (ax < 1 << 23))
    undefined |= (az == INF) & unbounded & (other != sign)
    nan = np.where(undefined, sign, other) | np.uint32(INF + 1) | result & low
    return np.where(undefined | (az > INF), nan, np.where(az == INF, z, sign | np.uint32(INF)))


class V:
    """Lanes of f32 with the unit's operations: + - * are one SFPMAD each, the rest moves bits."""

    def __init__(self, lanes: Bits | int | float):
        self.b = np.asarray(bits(lanes) if isinstance(lanes, float) else lanes, np.uint32)

    def __add__(self, other: V | float) -> V:
        return V(mad(bits(1.0), self.b, of(other).b))

    def __sub__(self, other: V | float) -> V:
        return V(mad(bits(1.0), self.b, of(other).b ^ np.uint32(SIGN)))

    def __mul__(self, other: V | float) -> V:
        return V(mad(self.b, of(other).b, 0))

    def __neg__(self) -> V:
        return V(self.b ^ np.uint32(SIGN))

    def abs(self) -> V:
        return V(self.b & np.uint32(SIGN - 1))

    def signed(self, other: V) -> V:
        return V(self.abs().b | (other.b & np.uint32(SIGN)))

    def field(self) -> Whole:
        return fields(self.b)[1]

    def with_field(self, field: Whole) -> V:
        return V(self.b & np.uint32(0x807FFFFF) | (field & 255).view(np.uint32) << np.uint32(23))

    def negative(self) -> NDArray[np.bool_]:
        return self.b >= SIGN

    def less(self, other: V | float) -> NDArray[np.bool_]:
        return (self - other).negative()

    def order(self) -> Whole:
        """Integers in the order of sign and magnitude."""
        return self.b.view(np.int32) ^ (fields(self.b)[0] & 0x7FFFFFFF)

    def min(self, other: V | float) -> V:
        return V(np.where(self.order() <= of(other).order(), self.b, of(other).b).astype(np.uint32))

    def max(self, other: V | float) -> V:
        return V(np.where(self.order() >= of(other).order(), self.b, of(other).b).astype(np.uint32))


def of(value: V | float) -> V:
    return value if isinstance(value, V) else V(float(value))


def fma(x: V, y: V | float, z: V | float) -> V:
    return V(mad(x.b, of(y).b, of(z).b))


def choose(condition: NDArray[np.bool_], yes: V | float, no: V | float) -> V:
    return V(np.where(condition, of(yes).b, of(no).b).astype(np.uint32))


def horner(x: V, *coefficients: float) -> V:
    """Coefficients from the highest power down."""
    result = of(coefficients[0])
    for coefficient in coefficients[1:]:
        result = fma(result, x, coefficient)
    return result


def integer(x: V, largest: int) -> Whole:
    """To nearest, ties away from zero, magnitude at most `largest` < 2^16."""
    _, exponent, mantissa = split(x.b)
    places = np.minimum(exponent, 127 + 16) - 127  # before the point, and more is more than `largest`
    rounded = (mantissa >> np.minimum(22 - places, 24)) + 1 >> 1
    return np.minimum(rounded, largest)


def number(values: Whole) -> V:
    return V(values.astype(np.float32).view(np.uint32))


# ---------------------------------------------------------------------- functions


def exp_21f(x: V) -> V:
    t = fma(x, 1.4426950216293335, 127.0).max(0.0).min(255.0)
    _, exponent, mantissa = split(t.b)
    shift = exponent - 127
    z = mantissa << np.maximum(shift, 0) >> np.maximum(-shift, 0)
    whole, part = z >> 23, number(z & 0x7FFFFF)
    p = fma(fma(part, 4.791750143340323e-15, 7.839635491371155e-08), part, 1.0017248)
    return choose(whole >= 255, np.inf, p.with_field(whole))


def exp_f32(x: V) -> V:
    product = x * 1.442695
    j = integer(product, 32767) * np.where(product.negative(), np.int32(-1), np.int32(1))
    f = fma(number(j), -1.42860677e-6, fma(number(j), -0.693145752, x))
    p = horner(f, 1.37805939e-3, 8.37312452e-3, 4.16695364e-2, 1.66664720e-1, 4.99999851e-1, 1.0, 1.0)
    exponent = p.field() + j
    return choose(exponent >= 255, np.inf, choose(exponent < 1, 0.0, p.with_field(exponent)))


def exp_approximate(x: V) -> V:
    i = integer(fma(x.max(-88.5), 369.329925537109375, 32500.818359375), 65535)
    return V((i << 15).view(np.uint32))


def reciprocal(x: V, steps: int) -> V:
    n = V(x.b & np.uint32(0x7FFFFF) | np.uint32(bits(-1.0)))
    y = fma(fma(n, 0.3232325017452239990234375, 1.4545459747314453125), n, 2.121212482452392578125)
    scale = V((255 - x.field() << 23).view(np.uint32)) * 0.5
    for _ in range(steps):
        y = fma(y, fma(n, y, 1.0), y)
    return (y * scale).signed(x)


def root(x: V, inverse: bool, approximate: bool) -> V:
    seed = 0x5F0B3892 if approximate else 0x5F1110A0
    y = V(np.uint32(seed) - (x.b >> np.uint32(1)))
    if approximate:
        y = y * fma(-y, x * y, 1.89099014875)
        result = y if inverse else y * x
    else:
        c = -y * (x * y)
        y = y * fma(c, c + 2.2533049, 2.2825186)
        w = x * y
        h = fma(-y, w, 1.0)
        result = fma(h, y * 0.5, y) if inverse else fma(h, w * 0.5, w)
    result = choose(x.b == INF, 0.0 if inverse else np.inf, result)
    result = choose(x.negative(), V(NAN), result)
    return choose(x.field() == 0, np.inf if inverse else 0.0, result)


def erf(x: V, wide: bool) -> V:
    a = x.max(-10.0).min(10.0)
    u = a * a
    if wide:
        top = horner(u, -2.8632063387e-10, 2.7384647439e-8, 1.7678321456e-5, 6.1307044234e-4, 5.6230435148e-3,
                     6.2133435160e-2, 2.1477432549e-1, 1.1283791065)  # fmt: skip
        bottom = horner(u, -6.7350725691e-12, -3.5153888689e-9, 1.3156344494e-6, 1.3179056987e-4, 1.9545555115e-3,
                        1.9642570987e-2, 1.2961706519e-1, 5.2367275953e-1, 1.0)  # fmt: skip
    else:
        top = horner(u, 7.4481184425e-4, 4.5400281738e-2, 2.7609212279e-1, 1.1280932447)
        bottom = horner(u, 2.4813862145e-5, 8.2844606784e-3, 1.3675764810e-1, 5.7439188334e-1, 1.0)
    return (a * top * reciprocal(bottom, 2 if wide else 1)).max(-1.0).min(1.0)


def gelu(x: V, wide: bool) -> V:
    if wide:
        return x * fma(erf(x * float(np.float32(0.5**0.5)), True), 0.5, 0.5)
    u = x * x
    middle = x * fma(x, horner(u, 7.9821413868e-8, -3.8082057209e-6, 8.1812159812e-5, -1.0717806322e-3,
                               9.7720050615e-3, -6.6361041488e-2, 3.9894227818e-1), 0.5)  # fmt: skip
    cubic = horner(x, 7.5950479368e-4, 1.3809983619e-2, 9.5413386822e-2, 3.0369991064e-1)
    low = x * (exp_21f(u * -0.5) * cubic + 0.375 - 0.375)
    below = x.less(-5.54259443) | (x.b == bits(-5.54259443))
    result = choose(x.less(-3.125), choose(below, 0.0, low), middle)
    return choose(x.less(2.78125), result, x)


def tables(x: V, ends: list[float], slopes: list[float], intercepts: list[float]) -> V:
    a = x.abs()
    segment = sum((a.b >= bits(end)).astype(np.int32) for end in ends)
    slope, intercept = (np.array(v, np.float32).view(np.uint32)[segment] for v in (slopes, intercepts))
    return V(mad(slope, a.b, intercept))


def byte(entry: int) -> float:
    return 0.0 if entry == 0xFF else (-1) ** (entry >> 7) * 2.0 ** -(entry >> 4 & 7) * (1 + (entry & 15) / 16)


def lines(x: V, words: list[int]) -> V:
    return tables(x, [1.0, 2.0], [byte(w >> 8) for w in words], [byte(w & 255) for w in words]).signed(x)


def half(word: int) -> float:
    exponent = word >> 10 & 31
    return (-1) ** (word >> 15) * (0.0 if exponent == 31 else 2.0 ** (exponent - 15) * (1 + (word & 1023) / 1024))


def gelu_approximate(x: V) -> V:
    def entries(words: list[int]) -> list[float]:
        return [half(w >> place & 0xFFFF) for w in words for place in (0, 16)]

    table = tables(x, [0.5, 1.0, 1.5, 2.0, 3.0], entries([0x37DC3220, 0x38E038F0, 0x38003855]),
                   entries([0xB103A1EE, 0xB435B470, 0x7C00AFEE]))  # fmt: skip
    return fma(x, 0.5, table)


def sigmoid(x: V, wide: bool) -> V:
    return reciprocal((exp_f32(-x) if wide else exp_21f(-x)) + 1.0, 2 if wide else 1)


def tanh(x: V, wide: bool) -> V:
    if not wide:
        a = x.abs()
        p = horner(a, 5.876733921468257904052734375e-3, -6.6649019718170166015625e-2, 0.281917631626129150390625,
                   -0.4890659749507904, 3.0897438526153564453125e-2, 0.999004364013671875, 0.0)  # fmt: skip
        return p.min(1.0).signed(x)
    u = x * x
    small = x * horner(u, 1.54979276e-2, -5.21197654e-2, 0.1331066936, -0.3333235979, 0.999999940395355)
    return choose(x.abs().less(0.6), small, fma(sigmoid(x * 2.0, True), 2.0, -1.0))


def log(x: V, wide: bool) -> V:
    m, e = x.with_field(np.int32(127)), number(x.field() - 127)
    if wide:
        big = ~m.less(1.41421354)
        m, e = choose(big, m * 0.5, m), choose(big, e + 1.0, e)
        z = (m - 1.0) * reciprocal(m + 1.0, 2)
        series = horner(z * z, *(float(np.float32(1 / n)) for n in (11, 9, 7, 5, 3)), 1.0)
        result = fma(e, 0.69314718, z * 2.0 * series)
    else:
        result = fma(e, 0.69314718246, horner(m, 0.0422401130, -0.3706687391, 1.3681391478, -2.8002324104,
                                              3.7675004005, -2.0069785118))  # fmt: skip
    return choose(x.field() == 0, -np.inf, choose(x.negative(), V(NAN), result))


SHIFTER = 1.5 * 2.0**23


def reduced(x: V, j: V, parts: list[str]) -> V:
    for part in parts:
        x = fma(j, float.fromhex(part), x)
    return x


HALVES = ["-0x1.92p+0", "-0x1.fbp-12", "-0x1.51p-22", "-0x1.0b4612p-34"]
MULTIPLES = ["-0x1.92p+1", "-0x1.fbp-11", "-0x1.51p-21", "-0x1.0b4612p-33"]


def sine(a: V, odd: NDArray[np.bool_], wide: bool) -> V:
    u = a * a
    a = choose(odd, -a, a)
    texts = (["0x1.5dc908p-19", "-0x1.9f70fp-13", "0x1.110edap-7", "-0x1.55554cp-3"] if wide
             else ["-0x1.8b10a4p-13", "0x1.10c2a2p-7", "-0x1.5554a4p-3"])  # fmt: skip
    return fma(horner(u, *map(float.fromhex, texts)), a * u, a)


def sin(x: V, wide: bool) -> V:
    t = fma(x, 0.31830987334251404, SHIFTER)
    return sine(reduced(x, t - SHIFTER, MULTIPLES), t.b & np.uint32(1) == 1, wide)


def cos(x: V, wide: bool) -> V:
    t = fma(x, 0.31830987334251404, 0.5) + SHIFTER
    return sine(reduced(x, fma(t - SHIFTER, 2.0, -1.0), HALVES), t.b & np.uint32(1) == 1, wide)


def tan(x: V) -> V:
    t = fma(x, 0.6366197466850281, SHIFTER)
    a = reduced(x, t - SHIFTER, HALVES)
    u = a * a
    r = fma(a, horner(u, *map(float.fromhex, ["0x1.4f1f4ep-4", "0x1.02b98p-3", "0x1.55953p-2"])) * u, a)
    return choose(t.b & np.uint32(1) == 1, -reciprocal(r, 1), r)


def atan(x: V) -> V:
    t = x.abs()
    beyond = of(1.0).less(t)
    t = choose(beyond, reciprocal(t, 1), t)
    r = t * horner(t * t, -4.4326744973659515380859375e-2, 0.1555790007114410400390625, -0.325808584690093994140625,
                   0.999787867069244384765625)  # fmt: skip
    return choose(beyond, of(1.5707963705062866) - r, r).signed(x)


def absolute(x: V) -> V:
    return choose(x.abs().b > INF, x, x.abs())


# Each takes lanes and whether the destination has 32 bits; `rounds`: to bf16 before a store in 16 bits.
Function = Callable[[V, bool], V]
FUNCTIONS: dict[str, tuple[Function, bool]] = {
    "abs": (lambda x, wide: absolute(x), False),
    "atan": (lambda x, wide: atan(x), False),
    "cos": (cos, True),
    "erf": (erf, True),
    "exp": (lambda x, wide: exp_f32(x) if wide else exp_21f(x), True),
    "gelu": (gelu, True),
    "log": (log, False),
    "reciprocal": (lambda x, wide: reciprocal(x, 2 if wide else 1), True),
    "rsqrt": (lambda x, wide: root(x, True, False), True),
    "sigmoid": (sigmoid, True),
    "silu": (lambda x, wide: x * sigmoid(x, wide), True),
    "sin": (sin, True),
    "sqrt": (lambda x, wide: root(x, False, False), True),
    "tan": (lambda x, wide: tan(x), True),
    "tanh": (tanh, True),
}
NARROW_ONLY = {"atan", "tan"}
APPROXIMATE: dict[str, Callable[[V], V]] = {
    "exp": exp_approximate,
    "gelu": gelu_approximate,
    "rsqrt": lambda x: root(x, True, True),
    "sigmoid": lambda x: lines(x, [0x3EFF, 0x3347, 0xFF10]) + 0.5,
    "sqrt": lambda x: root(x, False, True),
    "tanh": lambda x: lines(x, [0x1AFF, 0x3814, 0xFF00]),
}


def stored(x: V, wide: bool) -> Bits:
    """Returns the value that a store leaves in the destination."""
    kept = x.b if wide else x.b & np.uint32(0xFFFF0000)
    return np.where(x.field() == 0, x.b & np.uint32(SIGN), kept).astype(np.uint32)
