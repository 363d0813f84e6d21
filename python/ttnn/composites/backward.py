# SPDX-License-Identifier: Apache-2.0
"""Gradients: `NAME_bw(grad_tensor, inputs...)` gives a list of one tensor for each input of the function NAME."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from _ttmlir_runtime.runtime import Tensor

from .frame import composite, full_as, ops
from .series import digamma_of, i1_of, polygamma_of

LN2, LN10 = math.log(2.0), math.log(10.0)
BOTH = [True, True]
Derivative = Callable[[Tensor], "Tensor | float"]


def _gradient(forward: str) -> str:
    return f"gradient(lambda x: {forward}, grad_tensor, input_tensor)"


def _bell(x: Tensor) -> Tensor:
    """Computes the derivative of erf."""
    return ops.exp(ops.neg(x * x)) * (2.0 / math.sqrt(math.pi))


def _inside(x: Tensor, low: float, high: float) -> Tensor:
    return ops.logical_and(x > low, x < high)


def _within(x: Tensor, low: float, high: float) -> Tensor:
    return ops.logical_and(ops.ge(x, low), ops.le(x, high))


# Functions of one tensor without parameters: the derivative, and PyTorch's function. Those of _WRITTEN take a tensor
# that the result is written to.
_WRITTEN = {"exp", "neg", "rsqrt", "silu", "sqrt", "tanh"}
UNARY_GRADIENTS: dict[str, tuple[Derivative, str]] = {
    "abs": (lambda x: ops.sign(x), "torch.abs(x)"),
    "acos": (lambda x: ops.neg(ops.rsqrt(1.0 - x * x)), "torch.acos(x)"),
    "acosh": (lambda x: ops.where(x < 1.0, math.nan, ops.rsqrt(x * x - 1.0)), "torch.acosh(x)"),
    "asin": (lambda x: ops.rsqrt(1.0 - x * x), "torch.asin(x)"),
    "asinh": (lambda x: ops.rsqrt(x * x + 1.0), "torch.asinh(x)"),
    "atan": (lambda x: ops.reciprocal(x * x + 1.0), "torch.atan(x)"),
    "atanh": (lambda x: ops.reciprocal(1.0 - x * x), "torch.atanh(x)"),
    "ceil": (lambda x: 0.0, "torch.ceil(x)"),
    "cos": (lambda x: ops.neg(ops.sin(x)), "torch.cos(x)"),
    "cosh": (lambda x: (ops.exp(x) - ops.exp(ops.neg(x))) * 0.5, "torch.cosh(x)"),
    "deg2rad": (lambda x: math.pi / 180, "torch.deg2rad(x)"),
    "digamma": (lambda x: polygamma_of(x, 1), "torch.digamma(x)"),
    "erf": (_bell, "torch.erf(x)"),
    "erfc": (lambda x: ops.neg(_bell(x)), "torch.erfc(x)"),
    "exp": (lambda x: ops.exp(x), "torch.exp(x)"),
    "exp2": (lambda x: ops.pow(2.0, x) * LN2, "torch.exp2(x)"),
    "expm1": (lambda x: ops.exp(x), "torch.expm1(x)"),
    "floor": (lambda x: 0.0, "torch.floor(x)"),
    "frac": (lambda x: 1.0, "torch.frac(x)"),
    "hardsigmoid": (lambda x: ops.where(_inside(x, -3.0, 3.0), 1.0 / 6.0, x * 0.0),
                    "torch.nn.functional.hardsigmoid(x)"),
    "hardswish": (lambda x: ops.where(ops.le(x, -3.0), 0.0, ops.where(ops.ge(x, 3.0), 1.0, x / 3.0 + 0.5)),
                  "torch.nn.functional.hardswish(x)"),
    "i0": (i1_of, "torch.special.i0(x)"),
    "lgamma": (digamma_of, "torch.lgamma(x)"),
    "log": (lambda x: ops.reciprocal(x), "torch.log(x)"),
    "log10": (lambda x: ops.reciprocal(x * LN10), "torch.log10(x)"),
    "log1p": (lambda x: ops.reciprocal(x + 1.0), "torch.log1p(x)"),
    "log2": (lambda x: ops.reciprocal(x * LN2), "torch.log2(x)"),
    "log_sigmoid": (lambda x: ops.sigmoid(ops.neg(x)), "torch.nn.functional.logsigmoid(x)"),
    "logit": (lambda x: ops.where(_within(x, 0.0, 1.0), ops.reciprocal(x * (1.0 - x)), math.nan), "torch.logit(x)"),
    "multigammaln": (lambda x: digamma_of(x) + digamma_of(x - 0.5) + digamma_of(x - 1.0) + digamma_of(x - 1.5),
                     "torch.special.multigammaln(x, 4)"),
    "neg": (lambda x: -1.0, "torch.neg(x)"),
    "rad2deg": (lambda x: 180 / math.pi, "torch.rad2deg(x)"),
    "reciprocal": (lambda x: ops.neg(ops.reciprocal(x * x)), "torch.reciprocal(x)"),
    "relu": (lambda x: ops.where(x > 0, 1.0, x * 0.0), "torch.relu(x)"),
    "relu6": (lambda x: ops.where(_inside(x, 0.0, 6.0), 1.0, x * 0.0), "torch.nn.functional.relu6(x)"),
    "round": (lambda x: 0.0, "torch.round(x)"),
    "rsqrt": (lambda x: ops.rsqrt(x) / x * -0.5, "torch.rsqrt(x)"),
    "selu": (lambda x: ops.where(x > 0, 1.0507009873554805, ops.exp(x) * 1.7580993408473766), "torch.selu(x)"),
    "sigmoid": (lambda x: ops.sigmoid(x) * ops.sigmoid(ops.neg(x)), "torch.sigmoid(x)"),
    "sign": (lambda x: 0.0, "torch.sign(x)"),
    "silu": (lambda x: ops.sigmoid(x) * (1.0 + x * ops.sigmoid(ops.neg(x))), "torch.nn.functional.silu(x)"),
    "sin": (lambda x: ops.cos(x), "torch.sin(x)"),
    "sinh": (lambda x: (ops.exp(x) + ops.exp(ops.neg(x))) * 0.5, "torch.sinh(x)"),
    "softsign": (lambda x: ops.reciprocal((ops.abs(x) + 1.0) * (ops.abs(x) + 1.0)), "torch.nn.functional.softsign(x)"),
    "sqrt": (lambda x: ops.rsqrt(x) * 0.5, "torch.sqrt(x)"),
    "square": (lambda x: x * 2.0, "torch.square(x)"),
    "tan": (lambda x: ops.tan(x) * ops.tan(x) + 1.0, "torch.tan(x)"),
    "tanh": (lambda x: 1.0 - ops.tanh(x) * ops.tanh(x), "torch.tanh(x)"),
    "tanhshrink": (lambda x: ops.tanh(x) * ops.tanh(x), "torch.nn.functional.tanhshrink(x)"),
    "trunc": (lambda x: 0.0, "torch.trunc(x)"),
}  # fmt: skip


def _unary(name: str, derivative: Derivative, forward: str) -> None:
    def compute(grad_tensor: Tensor, input_tensor: Tensor) -> list[Tensor]:
        return [grad_tensor * derivative(input_tensor)]

    compute.__doc__ = f"Computes the gradient of `{name}`."
    common = "memory_config input_grad" if name in _WRITTEN else "memory_config"
    composite(common, golden=_gradient(forward), name=f"{name}_bw")(compute)


for _name, (_derivative, _forward) in UNARY_GRADIENTS.items():
    _unary(_name, _derivative, _forward)


# Functions of one tensor with parameters.


@composite("memory_config", golden=_gradient("torch.erfinv(x)"))
def erfinv_bw(grad_tensor: Tensor, input_tensor: Tensor) -> list[Tensor]:
    """Computes the gradient of `erfinv`."""
    from .unary import erfinv

    y = erfinv(input_tensor)
    return [grad_tensor * (ops.exp(y * y) * (math.sqrt(math.pi) / 2.0))]


@composite("memory_config", golden=_gradient("torch.celu(x, alpha)"))
def celu_bw(grad_tensor: Tensor, input_tensor: Tensor, *, alpha: float = 1.0) -> list[Tensor]:
    """Computes the gradient of `celu`."""
    return [ops.where(input_tensor > 0, grad_tensor, grad_tensor * ops.exp(input_tensor / alpha))]


@composite("memory_config", golden=_gradient("torch.nn.functional.elu(x, alpha)"))
def elu_bw(grad_tensor: Tensor, input_tensor: Tensor, *, alpha: float = 1.0) -> list[Tensor]:
    """Computes the gradient of `elu`."""
    return [ops.where(input_tensor > 0, grad_tensor, grad_tensor * ops.exp(input_tensor) * alpha)]


@composite("memory_config", golden=_gradient("torch.nn.functional.leaky_relu(x, negative_slope)"))
def leaky_relu_bw(
    grad_tensor: Tensor, input_tensor: Tensor, *, negative_slope: float = 0.009999999776482582
) -> list[Tensor]:
    """Computes the gradient of `leaky_relu`."""
    return [ops.where(input_tensor > 0, grad_tensor, grad_tensor * negative_slope)]


@composite("memory_config", golden=_gradient("torch.nn.functional.hardshrink(x, lambd)"))
def hardshrink_bw(grad_tensor: Tensor, input_tensor: Tensor, *, lambd: float = 0.5) -> list[Tensor]:
    """Computes the gradient of `hardshrink`."""
    return [ops.where(_within(input_tensor, -lambd, lambd), 0.0, grad_tensor)]


@composite("memory_config", golden=_gradient("torch.nn.functional.softshrink(x, lambd)"))
def softshrink_bw(grad_tensor: Tensor, input_tensor: Tensor, *, lambd: float = 0.5) -> list[Tensor]:
    """Computes the gradient of `softshrink`."""
    return [ops.where(_within(input_tensor, -lambd, lambd), 0.0, grad_tensor)]


@composite("memory_config", golden=_gradient("torch.nn.functional.hardtanh(x, min, max)"))
def hardtanh_bw(grad_tensor: Tensor, input_tensor: Tensor, *, min: float = -1.0, max: float = 1.0) -> list[Tensor]:
    """Computes the gradient of `hardtanh`."""
    return [ops.where(_inside(input_tensor, min, max), grad_tensor, 0.0)]


@composite("memory_config", golden=_gradient("torch.nn.functional.softplus(x, beta, threshold)"))
def softplus_bw(
    grad_tensor: Tensor, input_tensor: Tensor, *, beta: float = 1.0, threshold: float = 20.0
) -> list[Tensor]:
    """Computes the gradient of `softplus`."""
    scaled = input_tensor * beta
    return [ops.where(scaled > threshold, grad_tensor, grad_tensor * ops.sigmoid(scaled))]


@composite("memory_config", golden=_gradient("torch.threshold(x, min, max)"))
def threshold_bw(grad_tensor: Tensor, input_tensor: Tensor, min: float, max: float) -> list[Tensor]:
    """Computes the gradient of `threshold`, whose threshold is `min` and whose value is `max`."""
    del max
    return [ops.where(input_tensor > min, grad_tensor, 0.0)]


@composite("memory_config", golden=_gradient("torch.logit(x, eps)"))
def logiteps_bw(grad_tensor: Tensor, input_tensor: Tensor, *, eps: float = 0.0) -> list[Tensor]:
    """Computes the gradient of `logit` with a bound."""
    slope = grad_tensor / (input_tensor * (1.0 - input_tensor))
    return [ops.where(_within(input_tensor, eps, 1.0 - eps), slope, 0.0)]


@composite("memory_config", golden=_gradient("torch.polygamma(n, x)"))
def polygamma_bw(grad_tensor: Tensor, input_tensor: Tensor, n: int) -> list[Tensor]:
    """Computes the gradient of `polygamma` of order `n`."""
    return [grad_tensor * polygamma_of(input_tensor, n + 1)]


@composite("memory_config input_grad", golden=_gradient("torch.pow(x, exponent)"))
def pow_bw(grad_tensor: Tensor, input_tensor: Tensor, exponent: float) -> list[Tensor]:
    """Computes the gradient of `pow` with a number as exponent."""
    if exponent == 0:
        return [grad_tensor * 0.0]
    return [grad_tensor * (ops.pow(input_tensor, exponent - 1.0) * exponent)]


@composite("memory_config", golden=_gradient("torch.pow(exponent, x)"))
def rpow_bw(grad_tensor: Tensor, input_tensor: Tensor, exponent: float) -> list[Tensor]:
    """Computes the gradient of `rpow`, whose base is `exponent`."""
    if exponent == 0:
        return [grad_tensor * 0.0]
    slope = math.log(exponent) if exponent > 0 else math.nan
    return [grad_tensor * (ops.pow(exponent, input_tensor) * slope)]


@composite("memory_config", golden=_gradient("scalar / x"))
def rdiv_bw(
    grad_tensor: Tensor, input_tensor: Tensor, scalar: float, *, rounding_mode: str | None = None
) -> list[Tensor]:
    """Computes the gradient of `rdiv`; 0 where the quotient is rounded."""
    if rounding_mode is not None:
        return [grad_tensor * 0.0]
    return [ops.neg(grad_tensor) * (scalar / (input_tensor * input_tensor))]


def _bounded(name: str) -> None:
    golden = _gradient("torch.clamp(x, min, max)")

    def compute(
        grad_tensor: Tensor, input_tensor: Tensor, min: Tensor | float | None = None, max: Tensor | float | None = None
    ) -> list[Tensor]:
        if min is None and max is None:
            raise ValueError(f"ttnn.{name}: neither min nor max is given; expected at least one")
        result = grad_tensor
        if min is not None:
            result = ops.where(ops.ge(input_tensor, min), result, 0.0)
        if max is not None:
            result = ops.where(ops.le(input_tensor, max), result, 0.0)
        return [result]

    compute.__doc__ = f"Computes the gradient of `{name.removesuffix('_bw')}` in its first input."
    composite("memory_config", golden=golden, name=name)(compute)


_bounded("clamp_bw")
_bounded("clip_bw")


@composite("memory_config", golden=_gradient("torch.prod(x) if dim is None else torch.prod(x, dim, keepdim=True)"))
def prod_bw(grad_tensor: Tensor, input_tensor: Tensor, *, dim: int | None = None) -> list[Tensor]:
    """Computes the gradient of `prod`; also where one element of a row is zero."""
    shape, rank = list(input_tensor.shape), len(input_tensor.shape)
    if dim is not None and not -rank <= dim < rank:
        raise ValueError(f"ttnn.prod_bw: dim is {dim}; expected {-rank} to {rank - 1}")
    if 0 in shape:
        return [input_tensor + 0.0]
    if dim is None:
        x, axis = ops.reshape(input_tensor, [1, math.prod(shape)]), 1
        gradient = ops.reshape(grad_tensor, [1, 1])
    else:
        x, axis = input_tensor, dim % rank
        gradient = ops.reshape(grad_tensor, [*shape[:axis], 1, *shape[axis + 1 :]])
    # The product of the elements before one, times that of those behind it.
    size, before = x.shape[axis], (slice(None),) * axis
    ones = x[(*before, slice(0, 1))] * 0.0 + 1.0
    upward = ops.cumprod(ops.concat([ones, x], dim=axis), axis)[(*before, slice(0, size))]
    parts = [x[(*before, slice(i, i + 1))] for i in range(size - 1, 0, -1)]
    downward = ops.cumprod(ops.concat([ones, *parts], dim=axis), axis)
    turned = [downward[(*before, slice(i, i + 1))] for i in range(size - 1, -1, -1)]
    behind = turned[0] if size == 1 else ops.concat(turned, dim=axis)
    return [ops.reshape(gradient * (upward * behind), shape)]


@composite("memory_config", golden=_gradient("x.repeat(tuple(shape))"))
def repeat_bw(grad_tensor: Tensor, input_tensor: Tensor, shape: Sequence[int]) -> list[Tensor]:
    """Computes the gradient of `repeat`, whose repetitions are `shape`."""
    sizes = list(input_tensor.shape)
    if len(shape) != len(sizes):
        raise ValueError(f"ttnn.repeat_bw: shape has {len(shape)} numbers; expected {len(sizes)}, one a dimension")
    apart = [number for times, size in zip(shape, sizes, strict=True) for number in (times, size)]
    folded = ops.reshape(grad_tensor, apart)
    for axis in range(len(sizes) - 1, -1, -1):
        folded = ops.sum(folded, 2 * axis, False)
    return [ops.reshape(folded, sizes)]


@composite("memory_config input_grad", golden="[torch.full_like(input_tensor, grad_tensor.sum())]")
def fill_bw(grad_tensor: Tensor, input_tensor: Tensor) -> list[Tensor]:
    """Computes the gradient of `fill` in the number, in every element: the sum of the gradients."""
    total = ops.reshape(ops.sum(grad_tensor), [1] * len(input_tensor.shape))
    return [full_as(input_tensor, 0.0) + total]


@composite("memory_config", golden="[torch.zeros_like(input_tensor)]")
def fill_zero_bw(grad_tensor: Tensor, input_tensor: Tensor) -> list[Tensor]:
    """Computes the gradient of a function that fills with zeros."""
    del grad_tensor
    return [full_as(input_tensor, 0.0)]


# Functions of two tensors. A gradient is summed over the dimensions in which its input was broadcast.


def _like(gradient: Tensor, tensor: Tensor) -> Tensor:
    shape, own = list(gradient.shape), list(tensor.shape)
    if shape == own:
        return gradient
    own = [1] * (len(shape) - len(own)) + own
    for axis, (size, kept) in enumerate(zip(shape, own, strict=True)):
        if size != kept:
            gradient = ops.sum(gradient, axis, True)
    return ops.reshape(gradient, list(tensor.shape))


def _gradients(
    required: Sequence[bool], pairs: Sequence[tuple[Tensor | float, Callable[[], Tensor]]]
) -> list[Tensor | None]:
    """Computes the gradients that are required, of the inputs that are tensors."""
    tensors = [(value, compute) for value, compute in pairs if isinstance(value, Tensor)]
    requested = [*required, *[True] * len(tensors)]
    return [
        _like(compute(), value) if needed else None
        for (value, compute), needed in zip(tensors, requested, strict=False)
    ]


def _binary_golden(forward: str, a: str = "input_tensor", b: str = "other_tensor") -> str:
    return f"gradient(lambda a, b: {forward}, grad_tensor, {a}, {b})"


_PAIR = "memory_config input_grad other_grad"
_AB = "memory_config input_a_grad input_b_grad"
_FREE = inspect.Parameter.POSITIONAL_OR_KEYWORD
_NAMED = inspect.Parameter.KEYWORD_ONLY
_ALPHA = inspect.Parameter("alpha", _FREE, default=1.0, annotation="float")
_ROUNDING = inspect.Parameter("rounding_mode", _NAMED, default=None, annotation="str | None")
_REQUIRED = inspect.Parameter("are_required_outputs", _NAMED, default=BOTH, annotation="list[bool]")


@dataclass(frozen=True)
class Pair:
    """The gradients of a function of two tensors.

    forward: PyTorch's function of a and b.
    first, second: both gradients of the result's gradient, the tensors, and the option's value.
    common: parameters of the frame.
    inputs: parameters for the tensors, with their annotations.
    option: a parameter of the function's own.
    required: whether are_required_outputs is a parameter.
    """

    forward: str
    first: Callable[..., Tensor]
    second: Callable[..., Tensor]
    common: str = _PAIR
    inputs: tuple[tuple[str, str], ...] = (("input_tensor", "Tensor"), ("other_tensor", "Tensor | float"))
    option: inspect.Parameter | None = None
    required: bool = True


_TENSORS = (("input_tensor_a", "Tensor"), ("input_tensor_b", "Tensor"))
_WITH_NUMBER = (("input_tensor_a", "Tensor"), ("input_tensor_b", "Tensor | float"))


def _unrounded(mode: str | None, gradient: Callable[[], Tensor], g: Tensor) -> Tensor:
    """Returns a quotient's gradient, which is 0 where the quotient is rounded."""
    return gradient() if mode is None else g * 0.0


PAIRS = {
    "add": Pair("a + alpha * b", lambda g, a, b, o: g, lambda g, a, b, o: g * o, option=_ALPHA),
    "sub": Pair("a - alpha * b", lambda g, a, b, o: g, lambda g, a, b, o: g * -o, option=_ALPHA),
    "rsub": Pair("b - a", lambda g, a, b, o: ops.neg(g), lambda g, a, b, o: g, inputs=_TENSORS),
    "mul": Pair("a * b", lambda g, a, b, o: g * b, lambda g, a, b, o: g * a),
    "div": Pair(
        "torch.div(a, b, rounding_mode=rounding_mode)",
        lambda g, a, b, o: _unrounded(o, lambda: g / b, g),
        lambda g, a, b, o: _unrounded(o, lambda: ops.neg(g) * a / (b * b), g),
        option=_ROUNDING,
    ),
    "addalpha": Pair(
        "torch.add(a, b, alpha=alpha)", lambda g, a, b, o: g, lambda g, a, b, o: g * o, _AB, _TENSORS, _ALPHA
    ),
    "subalpha": Pair(
        "torch.sub(a, b, alpha=alpha)", lambda g, a, b, o: g, lambda g, a, b, o: g * -o, _PAIR, _TENSORS, _ALPHA
    ),
}


def _pair(name: str, row: Pair) -> None:
    (first, _), (second, _) = row.inputs

    def compute(**values: Any) -> list[Tensor | None]:
        g, a, b = values["grad_tensor"], values[first], values[second]
        option = values[row.option.name] if row.option else None
        pairs = [(a, lambda: row.first(g, a, b, option)), (b, lambda: row.second(g, a, b, option))]
        return _gradients(values.get("are_required_outputs", BOTH), pairs)

    tensors = [
        inspect.Parameter(each, _FREE, annotation=hint) for each, hint in (("grad_tensor", "Tensor"), *row.inputs)
    ]
    own = [each for each in (row.option, _REQUIRED if row.required else None) if each is not None]
    compute.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [*tensors, *own], return_annotation="list[Tensor | None]"
    )
    compute.__doc__ = f"Computes the gradients of `{name}`."
    composite(row.common, golden=_binary_golden(row.forward, first, second), name=f"{name}_bw")(compute)


for _name, _row in PAIRS.items():
    _pair(_name, _row)


@composite("memory_config", golden="gradient(lambda a: torch.where(a == a, a / scalar, a), grad_tensor, input_tensor)")
def div_no_nan_bw(grad_tensor: Tensor, input_tensor: Tensor, scalar: float) -> list[Tensor]:
    """Computes the gradient of `div_no_nan`; 0 for a divisor of 0."""
    del input_tensor
    return [grad_tensor / scalar if scalar else grad_tensor * 0.0]


@composite(
    _AB, golden="[grad_tensor] if input_tensor_b is None else [grad_tensor, grad_tensor]", required="input_tensor_b"
)
def assign_bw(
    grad_tensor: Tensor,
    input_tensor_a: Tensor,
    input_tensor_b: Tensor | None = None,
    *,
    are_required_outputs: list[bool] = BOTH,
) -> list[Tensor | None]:
    """Computes the gradients of `assign`."""
    g = grad_tensor
    inputs = [each for each in (input_tensor_a, input_tensor_b) if each is not None]
    return _gradients(are_required_outputs, [(each, lambda: g + 0.0) for each in inputs])


@composite(_AB, golden=_binary_golden("torch.cat([a, b], dim)", "input_tensor_a", "input_tensor_b"))
def concat_bw(
    grad_tensor: Tensor,
    input_tensor_a: Tensor,
    input_tensor_b: Tensor,
    dim: int = 0,
    *,
    are_required_outputs: list[bool] = BOTH,
) -> list[Tensor | None]:
    """Computes the gradients of `concat` of two tensors."""
    before = (slice(None),) * (dim % len(grad_tensor.shape))
    first, size = input_tensor_a.shape[dim], grad_tensor.shape[dim]
    return _gradients(
        are_required_outputs,
        [
            (input_tensor_a, lambda: grad_tensor[(*before, slice(0, first))]),
            (input_tensor_b, lambda: grad_tensor[(*before, slice(first, size))]),
        ],
    )


# Both gradients of functions of two tensors without options, and PyTorch's function.
_Both = Callable[[Tensor, Tensor, Tensor, None], Tensor]


def _quotient_toward_zero(a: Tensor, b: Tensor) -> Tensor:
    quotient = a / b
    whole = ops.floor(ops.abs(quotient))
    return ops.where(quotient < 0, ops.neg(whole), whole)


def _half_of_ties(g: Tensor, a: Tensor, b: Tensor, first: Tensor) -> Tensor:
    return ops.where(ops.eq(a, b), g * 0.5, ops.where(first, g, 0.0))


def _share(a: Tensor, b: Tensor, scale: float) -> Tensor:
    return ops.sigmoid((a - b) * scale)


BINARY_GRADIENTS: dict[str, tuple[_Both, _Both, str]] = {
    "atan2": (lambda g, a, b, o: g * b / (a * a + b * b), lambda g, a, b, o: ops.neg(g) * a / (a * a + b * b),
              "torch.atan2(a, b)"),
    "fmod": (lambda g, a, b, o: g, lambda g, a, b, o: ops.neg(g) * _quotient_toward_zero(a, b), "torch.fmod(a, b)"),
    "hypot": (lambda g, a, b, o: g * a / ops.sqrt(a * a + b * b), lambda g, a, b, o: g * b / ops.sqrt(a * a + b * b),
              "torch.hypot(a, b)"),
    "ldexp": (lambda g, a, b, o: g * ops.pow(2.0, b), lambda g, a, b, o: g * a * ops.pow(2.0, b) * LN2,
              "a * torch.exp2(b)"),
    "logaddexp": (lambda g, a, b, o: g * _share(a, b, 1.0), lambda g, a, b, o: g * _share(b, a, 1.0),
                  "torch.logaddexp(a, b)"),
    "logaddexp2": (lambda g, a, b, o: g * _share(a, b, LN2), lambda g, a, b, o: g * _share(b, a, LN2),
                   "torch.logaddexp2(a, b)"),
    "max": (lambda g, a, b, o: _half_of_ties(g, a, b, a > b), lambda g, a, b, o: _half_of_ties(g, a, b, b > a),
            "torch.max(a, b)"),
    "min": (lambda g, a, b, o: _half_of_ties(g, a, b, a < b), lambda g, a, b, o: _half_of_ties(g, a, b, b < a),
            "torch.min(a, b)"),
    "remainder": (lambda g, a, b, o: g, lambda g, a, b, o: ops.neg(g) * ops.floor(a / b), "torch.remainder(a, b)"),
    "squared_difference": (lambda g, a, b, o: g * (a - b) * 2.0, lambda g, a, b, o: g * (b - a) * 2.0,
                           "torch.square(a - b)"),
    "xlogy": (lambda g, a, b, o: ops.where(ops.logical_and(ops.eq(a, 0.0), ops.le(b, 0.0)), 0.0, g * ops.log(b)),
              lambda g, a, b, o: g * a / b, "torch.xlogy(a, b)"),
}  # fmt: skip
for _name, (_first, _second, _forward) in BINARY_GRADIENTS.items():
    _inputs = _WITH_NUMBER if _name in ("fmod", "remainder") else _TENSORS
    _pair(_name, Pair(_forward, _first, _second, "memory_config", _inputs, required=False))


# Functions of three tensors.

_THREE = "grad_tensor, input_tensor_a, input_tensor_b, input_tensor_c"


@composite("memory_config", golden=f"gradient(lambda a, b, c: torch.addcmul(a, b, c, value=alpha), {_THREE})")
def addcmul_bw(
    grad_tensor: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, input_tensor_c: Tensor, alpha: float
) -> list[Tensor | None]:
    """Computes the gradients of `addcmul`."""
    g, b, c = grad_tensor, input_tensor_b, input_tensor_c
    return _gradients([], [(input_tensor_a, lambda: g + 0.0), (b, lambda: g * c * alpha), (c, lambda: g * b * alpha)])


@composite("memory_config", golden=f"gradient(lambda a, b, c: torch.addcdiv(a, b, c, value=alpha), {_THREE})")
def addcdiv_bw(
    grad_tensor: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, input_tensor_c: Tensor, alpha: float
) -> list[Tensor | None]:
    """Computes the gradients of `addcdiv`."""
    g, b, c = grad_tensor, input_tensor_b, input_tensor_c
    return _gradients(
        [], [(input_tensor_a, lambda: g + 0.0), (b, lambda: g * alpha / c), (c, lambda: g * b * -alpha / (c * c))]
    )


@composite("memory_config", golden=f"gradient(lambda a, b, c: torch.lerp(a, b, c), {_THREE})")
def lerp_bw(
    grad_tensor: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, input_tensor_c: Tensor | float
) -> list[Tensor | None]:
    """Computes the gradients of `lerp`; two of them where the weight is a number."""
    g, weight = grad_tensor, input_tensor_c
    pairs: list[tuple[Tensor | float, Callable[[], Tensor]]] = [
        (input_tensor_a, lambda: g * (1.0 - weight)),
        (input_tensor_b, lambda: g * weight),
        (weight, lambda: g * (input_tensor_b - input_tensor_a)),
    ]
    return _gradients([], pairs)


@composite(
    _AB,
    golden="gradient(lambda b, c: torch.where(input_tensor_a != 0, b, c), grad_tensor, input_tensor_b, input_tensor_c)",
)
def where_bw(
    grad_tensor: Tensor,
    input_tensor_a: Tensor,
    input_tensor_b: Tensor,
    input_tensor_c: Tensor,
    *,
    are_required_outputs: list[bool] = BOTH,
) -> list[Tensor | None]:
    """Computes the gradients of `where` in its two values; `input_tensor_a` is the condition."""
    g, condition = grad_tensor, input_tensor_a
    return _gradients(
        are_required_outputs,
        [
            (input_tensor_b, lambda: ops.where(condition, g, 0.0)),
            (input_tensor_c, lambda: ops.where(condition, 0.0, g)),
        ],
    )
