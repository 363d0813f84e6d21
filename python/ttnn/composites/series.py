# SPDX-License-Identifier: Apache-2.0
"""Series and polynomials for special functions, in float32."""

from __future__ import annotations

import math
from collections.abc import Sequence

from _ttmlir_runtime.runtime import Tensor

from .frame import UNARY, composite, ops

# Lanczos' approximation of the gamma function with g = 7 and nine terms (Godfrey 2001).
_LANCZOS = (
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
)  # fmt: skip
# Abramowitz and Stegun 9.8.1 to 9.8.4: I0 and I1 below 3.75, and times sqrt(x) exp(-x) above, highest power first.
_I0_NEAR = (0.0045813, 0.0360768, 0.2659732, 1.2067492, 3.0899424, 3.5156229, 1.0)
_I0_FAR = (
    0.00392377, -0.01647633, 0.02635537, -0.02057706, 0.00916281, -0.00157565, 0.00225319, 0.01328592, 0.39894228,
)  # fmt: skip
_I1_NEAR = (0.00032411, 0.00301532, 0.02658733, 0.15084934, 0.51498869, 0.87890594, 0.5)
_I1_FAR = (
    -0.00420059, 0.01787654, -0.02895312, 0.02282967, -0.01031555, 0.00163801, -0.00362018, -0.03988024, 0.39894228,
)  # fmt: skip
# Bernoulli's numbers B2, B4, ...
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66)
# Arguments are moved beyond this before an asymptotic series is summed.
_SHIFT = 8


def polynomial(x: Tensor, coefficients: Sequence[float]) -> Tensor:
    """Computes a polynomial; the coefficient of the highest power is first."""
    total = x * coefficients[0] + coefficients[1]
    for coefficient in coefficients[2:]:
        total = total * x + coefficient
    return total


def lgamma_of(x: Tensor) -> Tensor:
    """Computes log |gamma(x)|; infinite at zero and the negative integers."""
    reflected = x < 0.5
    z = ops.where(reflected, 1.0 - x, x) - 1.0
    total = _LANCZOS[1] / (z + 1.0) + _LANCZOS[0]
    for k in range(2, len(_LANCZOS)):
        total = total + _LANCZOS[k] / (z + float(k))
    t = z + 7.5
    upper = (z + 0.5) * (ops.log(t) - 1.0) + (0.5 * math.log(2 * math.pi) - 7.0) + ops.log(total)
    # sin(pi x) of the distance to the nearest integer, which is exact.
    whole = ops.floor(x + 0.5)
    lower = math.log(math.pi) - ops.log(ops.abs(ops.sin((x - whole) * math.pi))) - upper
    finite = ops.where(reflected, lower, upper)
    return ops.where(ops.eq(ops.abs(x), math.inf), math.inf, finite)


def digamma_of(x: Tensor) -> Tensor:
    """Computes the derivative of log gamma(x); NaN at negative integers, -infinity at zero."""
    reflected = x < 0.5
    z = ops.where(reflected, 1.0 - x, x)
    total = ops.neg(ops.reciprocal(z))
    for k in range(1, _SHIFT):
        total = total - ops.reciprocal(z + float(k))
    y = z + float(_SHIFT)
    inverse = ops.reciprocal(y * y)
    series = polynomial(inverse, (-1 / 132, 1 / 240, -1 / 252, 1 / 120, -1 / 12)) * inverse
    upper = total + ops.log(y) - 0.5 * ops.reciprocal(y) + series
    distance = x - ops.floor(x + 0.5)
    lower = upper - math.pi / ops.tan(distance * math.pi)
    result = ops.where(reflected, lower, upper)
    poles = ops.logical_and(ops.eq(distance, 0.0), x < 0)
    result = ops.where(poles, math.nan, result)
    return ops.where(ops.eq(x, 0.0), ops.neg(ops.reciprocal(x)), result)


def polygamma_of(x: Tensor, n: int) -> Tensor:
    """Computes the derivative of order `n` of digamma, for x above zero and n from 1."""
    if n < 0:
        raise ValueError(f"ttnn.polygamma: the order is {n}; expected 0 or more")
    if n == 0:
        return digamma_of(x)
    total = ops.pow(x, float(-(n + 1)))
    for k in range(1, _SHIFT):
        total = total + ops.pow(x + float(k), float(-(n + 1)))
    y = x + float(_SHIFT)
    tail = ops.pow(y, float(-n)) * (1.0 / n) + 0.5 * ops.pow(y, float(-(n + 1)))
    factor = n + 1.0  # (n + 1)(n + 2) ... (n + 2k - 1) / (2k)!
    for k, number in enumerate(_BERNOULLI, 1):
        tail = tail + ops.pow(y, float(-(n + 2 * k))) * (number * factor / math.factorial(2 * k))
        factor *= (n + 2.0 * k) * (n + 2.0 * k + 1.0)
    return (total + tail) * ((-1.0) ** (n + 1) * math.factorial(n))


def _bessel(x: Tensor, near: Sequence[float], far: Sequence[float]) -> tuple[Tensor, Tensor]:
    """Computes the two forms of a modified Bessel function of |x|."""
    magnitude = ops.abs(x)
    ratio = ops.minimum(magnitude, 3.75) / 3.75
    large = ops.maximum(magnitude, 3.75)
    # exp in two halves, so that what is finite stays finite.
    half = ops.exp(large * 0.5)
    return polynomial(ratio * ratio, near), polynomial(3.75 / large, far) * half / ops.sqrt(large) * half


@composite(UNARY, golden="torch.i0(input_tensor)")
def i0(input_tensor: Tensor) -> Tensor:
    """Computes the modified Bessel function of the first kind of order 0."""
    near, far = _bessel(input_tensor, _I0_NEAR, _I0_FAR)
    return ops.where(ops.le(ops.abs(input_tensor), 3.75), near, far)


def i1_of(x: Tensor) -> Tensor:
    """Computes the modified Bessel function of the first kind of order 1."""
    near, far = _bessel(x, _I1_NEAR, _I1_FAR)
    return ops.where(ops.le(ops.abs(x), 3.75), near * x, ops.where(x < 0, ops.neg(far), far))


@composite(UNARY, golden="torch.special.i1(input_tensor)")
def i1(input_tensor: Tensor) -> Tensor:
    """Computes the modified Bessel function of the first kind of order 1."""
    return i1_of(input_tensor)


@composite(UNARY, golden="torch.digamma(input_tensor)")
def digamma(input_tensor: Tensor) -> Tensor:
    """Computes the derivative of the logarithm of the gamma function."""
    return digamma_of(input_tensor)


@composite("memory_config", golden="torch.polygamma(k, input_tensor)")
def polygamma(input_tensor: Tensor, k: int) -> Tensor:
    """Computes the derivative of order `k` of digamma; of elements above zero where k is not 0."""
    return polygamma_of(input_tensor, k)
