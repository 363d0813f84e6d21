# SPDX-License-Identifier: Apache-2.0
"""Functions of each element of one tensor."""

from __future__ import annotations

import math

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import DataType

from ..library.steps import INTEGERS
from .frame import UNARY, composite, full_as, ops
from .series import lgamma_of, polynomial

LN2, INF = math.log(2.0), math.inf


def signed(magnitude: Tensor, x: Tensor) -> Tensor:
    """Returns `magnitude` with the sign of `x`; NaN and zeros of both signs stay."""
    return ops.where(x < 0, ops.neg(magnitude), ops.where(x == 0, x, magnitude))


@composite(UNARY, golden="torch.acosh(input_tensor)")
def acosh(input_tensor: Tensor) -> Tensor:
    """Computes the inverse hyperbolic cosine; NaN below 1."""
    t = input_tensor - 1.0
    near = ops.log1p(t + ops.sqrt(t * (t + 2.0)))
    result = ops.where(input_tensor > 1e10, ops.log(input_tensor) + LN2, near)
    return ops.where(input_tensor < 1.0, math.nan, result)


@composite(UNARY, golden="torch.cosh(input_tensor)")
def cosh(input_tensor: Tensor) -> Tensor:
    """Computes the hyperbolic cosine."""
    half = ops.exp(ops.abs(input_tensor) - LN2)
    return half + 0.25 / half


@composite(UNARY, golden="torch.sinh(input_tensor)")
def sinh(input_tensor: Tensor) -> Tensor:
    """Computes the hyperbolic sine."""
    magnitude = ops.abs(input_tensor)
    t = ops.expm1(magnitude)
    return signed(ops.where(magnitude > 16.0, ops.exp(magnitude - LN2), (t + t / (t + 1.0)) * 0.5), input_tensor)


@composite(UNARY, golden="torch.deg2rad(input_tensor)")
def deg2rad(input_tensor: Tensor) -> Tensor:
    """Converts degrees to radians."""
    return input_tensor * (math.pi / 180)


@composite(UNARY, golden="torch.rad2deg(input_tensor)")
def rad2deg(input_tensor: Tensor) -> Tensor:
    """Converts radians to degrees."""
    return input_tensor * (180 / math.pi)


@composite(UNARY, golden="torch.exp2(input_tensor)")
def exp2(input_tensor: Tensor) -> Tensor:
    """Computes 2 to the power of each element. Integers beyond their type become its largest."""
    if input_tensor.dtype in INTEGERS:
        wide = ops.pow(2.0, ops.typecast(input_tensor, DataType.FLOAT32))
        return ops.typecast(wide, input_tensor.dtype)
    return ops.pow(2.0, input_tensor)


@composite(UNARY, golden="torch.pow(exponent, input_tensor)")
def rpow(input_tensor: Tensor, exponent: float) -> Tensor:
    """Computes `exponent`, which is the base, to the power of each element."""
    return ops.pow(exponent, input_tensor)


@composite(UNARY, golden="torch.log10(input_tensor)")
def log10(input_tensor: Tensor, *, fast_and_approximate_mode: bool = False) -> Tensor:
    """Computes the logarithm to base 10. Both modes are the exact one here."""
    del fast_and_approximate_mode
    return ops.log2(input_tensor) * math.log10(2.0)


@composite(UNARY, golden="torch.nn.functional.logsigmoid(input_tensor)")
def log_sigmoid(input_tensor: Tensor) -> Tensor:
    """Computes log(sigmoid(x))."""
    return ops.minimum(input_tensor, 0.0) - ops.log1p(ops.exp(ops.neg(ops.abs(input_tensor))))


@composite(UNARY, golden="torch.logit(input_tensor, eps)")
def logit(input_tensor: Tensor, *, eps: float | None = None) -> Tensor:
    """Computes log(x / (1 - x)) of x, which is clamped to [eps, 1 - eps] where eps is given."""
    x = input_tensor if eps is None else ops.clamp(input_tensor, eps, 1.0 - eps)
    return ops.log(x / (1.0 - x))


@composite(UNARY, golden="torch.erfinv(input_tensor)")
def erfinv(input_tensor: Tensor) -> Tensor:
    """Computes the inverse of erf; infinite at -1 and 1, NaN outside.

    M. Giles, "Approximating the erfinv function" (2010): two polynomials in w = -log(1 - x^2), single precision.
    """
    x = input_tensor
    w = ops.neg(ops.log((1.0 - x) * (1.0 + x)))
    near = polynomial(w - 2.5, (
        2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503,
        -0.00417768164, 0.246640727, 1.50140941,
    ))  # fmt: skip
    far = polynomial(ops.sqrt(w) - 3.0, (
        -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
        0.00943887047, 1.00167406, 2.83297682,
    ))  # fmt: skip
    inside = ops.where(w < 5.0, near, far) * x
    edge = ops.where(x > 0, INF, -INF)
    return ops.where(ops.abs(x) == 1.0, edge, inside)


@composite(UNARY, golden="torch.lgamma(input_tensor)")
def lgamma(input_tensor: Tensor) -> Tensor:
    """Computes the logarithm of the absolute value of the gamma function."""
    return lgamma_of(input_tensor)


@composite("memory_config", golden="torch.special.multigammaln(input_tensor, 4)")
def multigammaln(input_tensor: Tensor) -> Tensor:
    """Computes the logarithm of the multivariate gamma function of four dimensions; of elements above 1.5."""
    terms = [lgamma_of(input_tensor - 0.5 * j) for j in range(4)]
    return terms[0] + terms[1] + terms[2] + terms[3] + 3.0 * math.log(math.pi)


# Where an element stands.


def _indicator(name: str, golden: str, doc: str, test: object) -> None:
    def compute(input_tensor: Tensor) -> Tensor:
        return test(input_tensor)  # type: ignore[operator]

    compute.__doc__ = doc
    composite(UNARY, golden=golden, wide=False, name=name)(compute)


for _name, _sign, _relation in (
    ("eqz", "==", ops.eq), ("nez", "!=", ops.ne), ("gtz", ">", ops.gt), ("gez", ">=", ops.ge), ("ltz", "<", ops.lt),
    ("lez", "<=", ops.le),
):  # fmt: skip
    _indicator(
        _name, f"(input_tensor {_sign} 0).to(input_tensor.dtype)", f"Computes 1 where x {_sign} 0, and 0 elsewhere.",
        lambda x, relation=_relation: relation(x, 0),
    )  # fmt: skip
_indicator("isnan", "torch.isnan(input_tensor).to(input_tensor.dtype)", "Computes 1 where x is NaN, and 0 elsewhere.",
           lambda x: ops.ne(x, x))  # fmt: skip
_indicator("isinf", "torch.isinf(input_tensor).to(input_tensor.dtype)",
           "Computes 1 where x is an infinity, and 0 elsewhere.", lambda x: ops.eq(ops.abs(x), INF))  # fmt: skip
_indicator("isposinf", "torch.isposinf(input_tensor).to(input_tensor.dtype)",
           "Computes 1 where x is +infinity, and 0 elsewhere.", lambda x: ops.eq(x, INF))  # fmt: skip
_indicator("isneginf", "torch.isneginf(input_tensor).to(input_tensor.dtype)",
           "Computes 1 where x is -infinity, and 0 elsewhere.", lambda x: ops.eq(x, -INF))  # fmt: skip


@composite(UNARY, golden="torch.signbit(input_tensor).to(input_tensor.dtype)")
def signbit(input_tensor: Tensor) -> Tensor:
    """Computes 1 where the sign is negative, that of -0 and NaN included, and 0 elsewhere."""
    if input_tensor.dtype != DataType.FLOAT32:
        return ops.lt(input_tensor, 0)
    return ops.typecast(ops.lt(ops.bitcast(input_tensor, DataType.INT32), 0), DataType.FLOAT32)


@composite(UNARY, golden="torch.heaviside(input_tensor, torch.tensor(value, dtype=input_tensor.dtype))")
def heaviside(input_tensor: Tensor, value: float) -> Tensor:
    """Computes 1 above zero, `value` at it, and 0 elsewhere."""
    step = ops.where(input_tensor > 0, 1.0, full_as(input_tensor, 0.0))
    return ops.where(input_tensor == 0, value, step)


# Rounding.


@composite(UNARY, golden="torch.trunc(input_tensor)")
def trunc(input_tensor: Tensor) -> Tensor:
    """Rounds toward zero."""
    return signed(ops.floor(ops.abs(input_tensor)), input_tensor)


@composite(UNARY, golden="torch.frac(input_tensor)")
def frac(input_tensor: Tensor) -> Tensor:
    """Computes what is left of x without its integer part; of the sign of x."""
    return input_tensor - signed(ops.floor(ops.abs(input_tensor)), input_tensor)


@composite(UNARY, golden="torch.round(input_tensor, decimals=decimals)")
def round(input_tensor: Tensor, *, decimals: int = 0) -> Tensor:
    """Rounds to `decimals` digits behind the point, ties to even."""
    x = input_tensor * 10.0**decimals if decimals else input_tensor
    magnitude = ops.abs(x)
    below = ops.floor(magnitude)
    rest = magnitude - below
    odd = below - 2.0 * ops.floor(below * 0.5)
    up = ops.logical_or(rest > 0.5, ops.logical_and(ops.eq(rest, 0.5), ops.eq(odd, 1.0)))
    rounded = signed(ops.where(up, below + 1.0, below), x)
    return rounded / 10.0**decimals if decimals else rounded


# Activations.


@composite(UNARY, golden="torch.celu(input_tensor, alpha)")
def celu(input_tensor: Tensor, *, alpha: float = 1.0) -> Tensor:
    """Computes x above zero, alpha * (exp(x / alpha) - 1) elsewhere."""
    return ops.where(input_tensor > 0, input_tensor, ops.expm1(input_tensor / alpha) * alpha)


@composite(UNARY, golden="torch.nn.functional.elu(input_tensor, alpha)")
def elu(input_tensor: Tensor, *, alpha: float = 1.0) -> Tensor:
    """Computes x above zero, alpha * (exp(x) - 1) elsewhere."""
    return ops.where(input_tensor > 0, input_tensor, ops.expm1(input_tensor) * alpha)


@composite(
    UNARY, golden="scale * (torch.clamp(input_tensor, min=0) + alpha * torch.expm1(torch.clamp(input_tensor, max=0)))"
)
def selu(input_tensor: Tensor, *, scale: float = 1.0506999492645264, alpha: float = 1.673259973526001) -> Tensor:
    """Computes `scale` times elu."""
    return ops.where(input_tensor > 0, input_tensor, ops.expm1(input_tensor) * alpha) * scale


@composite(UNARY, golden="torch.nn.functional.silu(input_tensor)")
def swish(input_tensor: Tensor) -> Tensor:
    """Computes x * sigmoid(x)."""
    return ops.silu(input_tensor)


@composite(UNARY, golden="torch.nn.functional.hardswish(input_tensor)")
def hardswish(input_tensor: Tensor) -> Tensor:
    """Computes x * min(max(x + 3, 0), 6) / 6."""
    return input_tensor * (ops.clamp(input_tensor + 3.0, 0.0, 6.0) / 6.0)


@composite(UNARY, golden="input_tensor * torch.clamp(input_tensor + 2, 0, 2) / 2")
def hardmish(input_tensor: Tensor) -> Tensor:
    """Computes x * min(max(x + 2, 0), 2) / 2."""
    return input_tensor * (ops.clamp(input_tensor + 2.0, 0.0, 2.0) * 0.5)


@composite(UNARY, golden="torch.nn.functional.hardtanh(input_tensor, min_val, max_val)")
def hardtanh(input_tensor: Tensor, *, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Clamps to [min_val, max_val]."""
    return ops.clamp(input_tensor, min_val, max_val)


@composite(UNARY, golden="torch.nn.functional.hardshrink(input_tensor, lambd)")
def hardshrink(input_tensor: Tensor, *, lambd: float = 0.5) -> Tensor:
    """Computes 0 in [-lambd, lambd], and x elsewhere."""
    return ops.where(ops.le(ops.abs(input_tensor), lambd), 0.0, input_tensor)


@composite(UNARY, golden="torch.nn.functional.softshrink(input_tensor, lambd)")
def softshrink(input_tensor: Tensor, *, lambd: float = 0.5) -> Tensor:
    """Moves x toward zero by `lambd`; 0 in [-lambd, lambd]."""
    rest = ops.where(input_tensor > 0, input_tensor - lambd, input_tensor + lambd)
    return ops.where(ops.le(ops.abs(input_tensor), lambd), 0.0, rest)


@composite(UNARY, golden="torch.nn.functional.softsign(input_tensor)")
def softsign(input_tensor: Tensor) -> Tensor:
    """Computes x / (1 + |x|)."""
    return input_tensor / (ops.abs(input_tensor) + 1.0)


@composite(UNARY, golden="torch.nn.functional.tanhshrink(input_tensor)")
def tanhshrink(input_tensor: Tensor) -> Tensor:
    """Computes x - tanh(x)."""
    return input_tensor - ops.tanh(input_tensor)


@composite(UNARY, golden="torch.nn.functional.softplus(input_tensor, beta, threshold)")
def softplus(input_tensor: Tensor, *, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Computes log(1 + exp(beta * x)) / beta; x where beta * x is above `threshold`."""
    scaled = input_tensor * beta
    curve = ops.maximum(scaled, 0.0) + ops.log1p(ops.exp(ops.neg(ops.abs(scaled))))
    return ops.where(scaled > threshold, input_tensor, curve / beta)


@composite(UNARY, golden="beta * torch.tanh(input_tensor / beta)")
def softcap(input_tensor: Tensor, beta: float) -> Tensor:
    """Computes beta * tanh(x / beta)."""
    return ops.tanh(input_tensor / beta) * beta


@composite(UNARY, golden="torch.threshold(input_tensor, threshold, value)")
def threshold(input_tensor: Tensor, threshold: float, value: float) -> Tensor:
    """Computes x above `threshold`, and `value` elsewhere."""
    return ops.where(ops.le(input_tensor, threshold), value, input_tensor)


@composite(UNARY, golden="torch.clamp(input_tensor, 0, upper_limit)")
def relu_max(input_tensor: Tensor, upper_limit: float) -> Tensor:
    """Clamps to [0, upper_limit]."""
    return ops.maximum(ops.minimum(input_tensor, upper_limit), 0.0)


@composite(UNARY, golden="torch.clamp(input_tensor, min=max(lower_limit, 0))")
def relu_min(input_tensor: Tensor, lower_limit: float) -> Tensor:
    """Computes the greatest of x, `lower_limit` and 0."""
    return ops.maximum(ops.maximum(input_tensor, lower_limit), 0.0)


@composite(UNARY, golden="torch.sigmoid(input_tensor)")
def sigmoid_accurate(input_tensor: Tensor, fast_and_approximate_mode: bool = False) -> Tensor:
    """Computes the logistic function. Both modes are the exact one here."""
    del fast_and_approximate_mode
    return ops.sigmoid(input_tensor)


@composite(
    UNARY,
    golden="torch.where(input_tensor > 0, alpha_p * input_tensor**2 + 0.5 * input_tensor, "
    "(torch.expm1(torch.clamp(input_tensor, max=-1e-6)) - input_tensor) * alpha_n + 0.5 * input_tensor)",
)
def xielu(input_tensor: Tensor, *, alpha_p: float = 0.800000011920929, alpha_n: float = 0.800000011920929) -> Tensor:
    """Computes the expanded integral of elu: quadratic above zero, exponential below (arXiv 2411.13010)."""
    x = input_tensor
    below = (ops.expm1(ops.minimum(x, -1e-6)) - x) * alpha_n
    return ops.where(x > 0, x * x * alpha_p, below) + x * 0.5


# Copies and constants.


@composite(UNARY, golden="input_tensor.clone()", wide=False)
def identity(input_tensor: Tensor) -> Tensor:
    """Copies a tensor."""
    return ops.assign(input_tensor)


@composite(UNARY, golden="torch.full_like(input_tensor, fill_value)", wide=False)
def fill(input_tensor: Tensor, fill_value: float) -> Tensor:
    """Makes a tensor of one number, of the shape and type of another."""
    return ops.full(
        input_tensor.shape, fill_value, dtype=input_tensor.dtype, layout=input_tensor.layout,
        device=input_tensor.device(),
    )  # fmt: skip


@composite(
    UNARY, golden="torch.stack([-input_tensor[..., 1::2], input_tensor[..., ::2]], -1).reshape(input_tensor.shape)"
)
def alt_complex_rotate90(input_tensor: Tensor) -> Tensor:
    """Multiplies complex numbers, which lie as (real, imaginary) in the last dimension, by i."""
    shape = list(input_tensor.shape)
    if not shape or shape[-1] % 2:
        raise ValueError(f"ttnn.alt_complex_rotate90: the last dimension of {shape} is odd; expected pairs")
    pairs = ops.reshape(input_tensor, [*shape[:-1], shape[-1] // 2, 2])
    real, imaginary = pairs[..., 0:1], pairs[..., 1:2]
    return ops.reshape(ops.concat([ops.neg(imaginary), real], dim=len(shape)), shape)
