# SPDX-License-Identifier: Apache-2.0
"""Functions of the elements of two or three tensors, which broadcast."""

from __future__ import annotations

import math

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import DataType

from ..library.modes import GeluVariant
from .frame import ACTIVATED, BINARY, COMPOSITES, GOLDENS, RESULT, UNARY, WRITTEN, composite, full_as, ops

LN2, INF = math.log(2.0), math.inf
_BITS = {DataType.FLOAT32: DataType.INT32, DataType.BFLOAT16: DataType.UINT16}
# Steps of Euclid's algorithm that the largest numbers of 32 bits take (Lame's theorem).
_EUCLID = 46


PLACED = f"{ACTIVATED} sub_core_grids sub_device_id"
INTEGERS = f"dtype memory_config output_tensor {ACTIVATED}"


@composite(WRITTEN, golden="torch.add(input_tensor_a, input_tensor_b, alpha=alpha)")
def addalpha(input_tensor_a: Tensor, input_tensor_b: Tensor, alpha: float) -> Tensor:
    """Computes a + alpha * b."""
    return input_tensor_a + input_tensor_b * alpha


@composite(WRITTEN, golden="torch.sub(input_tensor_a, input_tensor_b, alpha=alpha)")
def subalpha(input_tensor_a: Tensor, input_tensor_b: Tensor, alpha: float) -> Tensor:
    """Computes a - alpha * b."""
    return input_tensor_a - input_tensor_b * alpha


@composite(WRITTEN, golden="torch.addcmul(input_a, input_b, input_c, value=value)")
def addcmul(input_a: Tensor, input_b: Tensor, input_c: Tensor, *, value: float = 1.0) -> Tensor:
    """Computes a + value * b * c."""
    return input_a + input_b * input_c * value


@composite(WRITTEN, golden="torch.addcdiv(input_a, input_b, input_c, value=value)")
def addcdiv(input_a: Tensor, input_b: Tensor, input_c: Tensor, *, value: float = 1.0) -> Tensor:
    """Computes a + value * b / c."""
    return input_a + (input_b * value) / input_c


@composite(UNARY, golden="input_tensor_a * input_tensor_b + input_tensor_c")
def mac(input_tensor_a: Tensor, input_tensor_b: Tensor | float, input_tensor_c: Tensor | float) -> Tensor:
    """Computes a * b + c."""
    return input_tensor_a * input_tensor_b + input_tensor_c


@composite(WRITTEN, golden="torch.lerp(input, end, weight)")
def lerp(input: Tensor, end: Tensor, weight: Tensor | float) -> Tensor:
    """Computes input + weight * (end - input); exact at weights of 0 and 1."""
    way = end - input
    if isinstance(weight, int | float):
        return input + way * weight if abs(weight) < 0.5 else end - way * (1.0 - weight)
    return ops.where(ops.lt(ops.abs(weight), 0.5), input + way * weight, end - way * (1.0 - weight))


@composite("memory_config sub_core_grids sub_device_id", golden="torch.fmod(input_tensor_a, input_tensor_b)")
def fmod(input_tensor_a: Tensor, input_tensor_b: Tensor | float) -> Tensor:
    """Computes the remainder of a division that is rounded toward zero; of the sign of a."""
    magnitude = ops.abs(input_tensor_b) if isinstance(input_tensor_b, Tensor) else abs(input_tensor_b)
    rest = ops.remainder(ops.abs(input_tensor_a), magnitude)
    return ops.where(input_tensor_a < 0, ops.neg(rest), rest)


@composite(RESULT, golden="torch.floor_divide(input_tensor_a, input_tensor_b)")
def floor_div(input_tensor_a: Tensor, input_tensor_b: Tensor | float) -> Tensor:
    """Computes the quotient, rounded down."""
    quotient = ops.floor(input_tensor_a / input_tensor_b)
    # A quotient that rounded up to a whole number is one too large; (a - rest) / b is whole.
    rest = ops.remainder(input_tensor_a, input_tensor_b)
    exact = (input_tensor_a - rest) / input_tensor_b
    nearest = ops.floor(exact + 0.5)
    return ops.where(ops.eq(ops.abs(quotient), INF), quotient, ops.where(ops.ne(exact, exact), quotient, nearest))


@composite(
    RESULT,
    golden="torch.where(torch.as_tensor(input_tensor_b) == 0, torch.zeros_like(input_tensor_a), "
    "input_tensor_a / input_tensor_b)",
)
def div_no_nan(input_tensor_a: Tensor, input_tensor_b: Tensor | float) -> Tensor:
    """Computes a / b, and 0 where b is 0."""
    if isinstance(input_tensor_b, int | float):
        return input_tensor_a / input_tensor_b if input_tensor_b else input_tensor_a * 0.0
    return ops.where(ops.eq(input_tensor_b, 0.0), 0.0, input_tensor_a / input_tensor_b)


@composite(RESULT, golden="torch.hypot(input_tensor_a, input_tensor_b)")
def hypot(input_tensor_a: Tensor, input_tensor_b: Tensor) -> Tensor:
    """Computes sqrt(a^2 + b^2), also where the squares are not finite."""
    a, b = ops.abs(input_tensor_a), ops.abs(input_tensor_b)
    large, small = ops.maximum(a, b), ops.minimum(a, b)
    ratio = small / ops.where(ops.eq(large, 0.0), 1.0, large)
    result = large * ops.sqrt(1.0 + ratio * ratio)
    return ops.where(ops.logical_or(ops.eq(a, INF), ops.eq(b, INF)), INF, result)


@composite(BINARY, golden="torch.ldexp(input_tensor_a, torch.as_tensor(input_tensor_b))")
def ldexp(input_tensor_a: Tensor, input_tensor_b: Tensor | float) -> Tensor:
    """Computes a * 2^b."""
    power = ops.pow(2.0, input_tensor_b) if isinstance(input_tensor_b, Tensor) else 2.0**input_tensor_b
    return input_tensor_a * power


def _logaddexp(a: Tensor, b: Tensor | float, scale: float) -> Tensor:
    large = ops.maximum(a, b)
    distance = ops.where(ops.eq(a, b), 0.0, ops.neg(ops.abs(a - b)))
    return large + ops.log1p(ops.exp(distance * scale)) / scale


@composite(BINARY, golden="torch.logaddexp(input_tensor_a, torch.as_tensor(input_tensor_b))")
def logaddexp(input_tensor_a: Tensor, input_tensor_b: Tensor | float) -> Tensor:
    """Computes log(exp(a) + exp(b))."""
    return _logaddexp(input_tensor_a, input_tensor_b, 1.0)


@composite(BINARY, golden="torch.logaddexp2(input_tensor_a, torch.as_tensor(input_tensor_b))")
def logaddexp2(input_tensor_a: Tensor, input_tensor_b: Tensor | float) -> Tensor:
    """Computes log2(2^a + 2^b)."""
    return _logaddexp(input_tensor_a, input_tensor_b, LN2)


@composite(BINARY, golden="torch.square(input_tensor_a - input_tensor_b)")
def squared_difference(input_tensor_a: Tensor, input_tensor_b: Tensor | float) -> Tensor:
    """Computes (a - b)^2."""
    difference = input_tensor_a - input_tensor_b
    return difference * difference


@composite(BINARY, golden="torch.xlogy(input_tensor_a, torch.as_tensor(input_tensor_b))")
def xlogy(input_tensor_a: Tensor, input_tensor_b: Tensor | float) -> Tensor:
    """Computes a * log(b); 0 where a is 0 and b is a number."""
    b = input_tensor_b if isinstance(input_tensor_b, Tensor) else full_as(input_tensor_a, input_tensor_b)
    product = input_tensor_a * ops.log(b)
    zero = ops.logical_and(ops.eq(input_tensor_a, 0.0), ops.eq(b, b))
    return ops.where(zero, 0.0, product)


@composite(BINARY, golden="torch.nn.functional.gelu(input_tensor_a + input_tensor_b)")
def bias_gelu(
    input_tensor_a: Tensor, input_tensor_b: Tensor | float, *, fast_and_approximate_mode: bool = False
) -> Tensor:
    """Computes gelu(a + b). Both modes are the exact one here."""
    del fast_and_approximate_mode
    return ops.gelu(input_tensor_a + input_tensor_b)


@composite(
    RESULT,
    golden="torch.isclose(input_tensor_a, input_tensor_b, rtol, atol, equal_nan).to(input_tensor_a.dtype)",
)
def isclose(
    input_tensor_a: Tensor,
    input_tensor_b: Tensor,
    *,
    rtol: float = 9.999999747378752e-06,
    atol: float = 9.99999993922529e-09,
    equal_nan: bool = False,
) -> Tensor:
    """Computes 1 where |a - b| <= atol + rtol * |b|, and 0 elsewhere."""
    a, b = input_tensor_a, input_tensor_b
    near = ops.le(ops.abs(a - b), ops.abs(b) * rtol + atol)
    near = ops.logical_and(near, ops.isfinite(b))
    near = ops.logical_or(near, ops.eq(a, b))
    if equal_nan:
        near = ops.logical_or(near, ops.logical_and(ops.ne(a, a), ops.ne(b, b)))
    return near


@composite(RESULT, golden="torch.nextafter(input_tensor_a, input_tensor_b)", wide=False)
def nextafter(input_tensor_a: Tensor, input_tensor_b: Tensor) -> Tensor:
    """Computes the number next to a on the way to b, in the type of a (float32 or bfloat16)."""
    a, b = input_tensor_a, input_tensor_b
    if a.dtype not in _BITS or b.dtype != a.dtype:
        raise TypeError(f"ttnn.nextafter: the data types are {a.dtype} and {b.dtype}; expected float32 or bfloat16")
    bits = ops.typecast(ops.bitcast(a, _BITS[a.dtype]), DataType.INT32)
    away = ops.eq(ops.typecast(a > 0, DataType.INT32), ops.typecast(b > a, DataType.INT32))
    one = ops.where(away, 1, full_as(bits, -1))
    moved = bits + one
    smallest = ops.where(b > a, 1, full_as(bits, 0x8001 if a.dtype == DataType.BFLOAT16 else -(2**31) + 1))
    moved = ops.where(ops.eq(a, 0.0), smallest, moved)
    found = ops.bitcast(ops.typecast(moved, _BITS[a.dtype]), a.dtype)
    found = ops.where(ops.eq(a, b), b, found)
    return ops.where(ops.logical_or(ops.ne(a, a), ops.ne(b, b)), math.nan, found)


@composite(INTEGERS, golden="torch.gcd(input_tensor_a, input_tensor_b)", wide=False)
def gcd(input_tensor_a: Tensor, input_tensor_b: Tensor) -> Tensor:
    """Computes the greatest common divisor of integers."""
    return gcd_of(input_tensor_a, input_tensor_b)


def gcd_of(a: Tensor, b: Tensor) -> Tensor:
    """Computes Euclid's algorithm, as many steps as the largest numbers take."""
    a, b = ops.abs(a), ops.abs(b)
    for _ in range(_EUCLID):
        done = ops.eq(b, 0)
        a, b = ops.where(done, a, b), ops.where(done, 0, ops.remainder(a, ops.where(done, 1, b)))
    return a


@composite(INTEGERS, golden="torch.lcm(input_tensor_a, input_tensor_b)", wide=False)
def lcm(input_tensor_a: Tensor, input_tensor_b: Tensor) -> Tensor:
    """Computes the least common multiple of integers; what exceeds 32 bits wraps."""
    divisor = gcd_of(input_tensor_a, input_tensor_b)
    safe = ops.where(ops.eq(divisor, 0), 1, divisor)
    # An exact division: the remainder is zero.
    return ops.abs(ops.divide(input_tensor_a, safe, dtype=input_tensor_a.dtype) * input_tensor_b)


@composite(RESULT, golden="input_tensor_a.unsqueeze(-1) * input_tensor_b.unsqueeze(-2)", wide=False)
def outer(input_tensor_a: Tensor, input_tensor_b: Tensor) -> Tensor:
    """Computes the product of each element of one vector with each of another.

    Vectors are the last dimensions, [..., n] and [..., m] become [..., n, m]; those before it are broadcast.
    """
    for parameter, tensor in (("a", input_tensor_a), ("b", input_tensor_b)):
        if not tensor.shape:
            raise ValueError(f"ttnn.outer: input_tensor_{parameter} has shape []; expected at least one dimension")
    rows, columns = list(input_tensor_a.shape), list(input_tensor_b.shape)
    column = ops.reshape(input_tensor_a, [*rows, 1])
    return ops.multiply(column, ops.reshape(input_tensor_b, [*columns[:-1], 1, columns[-1]]))


@composite(
    RESULT,
    golden="torch.nn.functional.prelu(input_tensor_a, torch.as_tensor(weight, dtype=input_tensor_a.dtype).reshape(-1))",
)
def prelu(input_tensor_a: Tensor, weight: Tensor | float) -> Tensor:
    """Computes x above zero, weight * x elsewhere; a vector has a number for each channel, the second dimension."""
    slope = weight
    if isinstance(weight, Tensor) and math.prod(weight.shape) > 1 and len(weight.shape) == 1:
        rank = len(input_tensor_a.shape)
        slope = ops.reshape(weight, [1, weight.shape[0], *[1] * (rank - 2)])
    elif isinstance(weight, Tensor):
        slope = ops.reshape(weight, [1] * len(input_tensor_a.shape)) if math.prod(weight.shape) == 1 else weight
    return ops.where(input_tensor_a > 0, input_tensor_a, input_tensor_a * slope)


@composite(RESULT, golden="sum(c * input_tensor_a**(len(coeffs) - 1 - i) for i, c in enumerate(coeffs))")
def polyval(input_tensor_a: Tensor, coeffs: list[float]) -> Tensor:
    """Computes a polynomial; the coefficient of the highest power is first."""
    if not coeffs:
        raise ValueError("ttnn.polyval: coeffs is empty; expected at least one number")
    total = input_tensor_a * 0.0 + coeffs[0]
    for coefficient in coeffs[1:]:
        total = total * input_tensor_a + coefficient
    return total


# Gated units: the halves of a dimension, one of which gates the other.


def _halves(name: str, tensor: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    rank = len(tensor.shape)
    if not -rank <= dim < rank or tensor.shape[dim] % 2:
        raise ValueError(f"ttnn.{name}: dimension {dim} of {list(tensor.shape)} cannot be halved")
    size, before = tensor.shape[dim] // 2, (slice(None),) * (dim % rank)
    return tensor[(*before, slice(0, size))], tensor[(*before, slice(size, 2 * size))]


@composite(RESULT, golden="torch.nn.functional.glu(input_tensor, dim)")
def glu(input_tensor: Tensor, dim: int = -1) -> Tensor:
    """Computes the first half of a dimension times the sigmoid of the second."""
    value, gate = _halves("glu", input_tensor, dim)
    return value * ops.sigmoid(gate)


@composite(
    RESULT,
    golden="input_tensor.chunk(2, dim)[0] * torch.nn.functional.gelu(input_tensor.chunk(2, dim)[1], "
    "approximate=gelu_kind(variant))",
)
def geglu(input_tensor: Tensor, dim: int = -1, *, variant: GeluVariant = GeluVariant.Accurate) -> Tensor:
    """Computes the first half of a dimension times gelu of the second; `variant` is that of gelu."""
    value, gate = _halves("geglu", input_tensor, dim)
    return value * ops.gelu(gate, variant=variant)


@composite(RESULT, golden="input_tensor.chunk(2, dim)[0] * torch.relu(input_tensor.chunk(2, dim)[1])")
def reglu(input_tensor: Tensor, dim: int = -1) -> Tensor:
    """Computes the first half of a dimension times relu of the second."""
    value, gate = _halves("reglu", input_tensor, dim)
    return value * ops.relu(gate)


@composite(RESULT, golden="input_tensor.chunk(2, dim)[0] * torch.nn.functional.silu(input_tensor.chunk(2, dim)[1])")
def swiglu(input_tensor: Tensor, dim: int = -1) -> Tensor:
    """Computes the first half of a dimension times silu of the second."""
    value, gate = _halves("swiglu", input_tensor, dim)
    return value * ops.silu(gate)


@composite(WRITTEN, golden="input_tensor + torch.sin(alpha * input_tensor) ** 2 / (beta + 1e-9)")
def snake_beta(input_tensor: Tensor, alpha: Tensor, beta: Tensor) -> Tensor:
    """Computes x + sin(alpha * x)^2 / beta."""
    wave = ops.sin(alpha * input_tensor)
    return input_tensor + wave * wave / (beta + 1e-9)


# Functions that write their result to their first tensor.


def _in_place(name: str) -> None:
    function = COMPOSITES[name]

    def compute(input_a: Tensor, input_b: Tensor | float) -> Tensor:
        return function(input_a, input_b)

    compute.__doc__ = f"`{name}`, whose result is written to `input_a`; returns it."
    golden = GOLDENS[name].replace("input_tensor_a", "input_a").replace("input_tensor_b", "input_b")
    composite(PLACED, golden=golden, name=f"{name}_", in_place=True)(compute)


for _name in ("bias_gelu", "ldexp", "logaddexp", "logaddexp2", "squared_difference"):
    _in_place(_name)


@composite(PLACED, golden="input_b - input_a", in_place=True)
def rsub_(input_a: Tensor, input_b: Tensor | float, *, fast_and_approximate_mode: bool = True) -> Tensor:
    """Computes b - a, and writes it to a."""
    del fast_and_approximate_mode
    return input_b - input_a


@composite(
    f"memory_config output_tensor {PLACED}",
    golden="torch.bitwise_right_shift(input_tensor_a, input_tensor_b)",
)
def bitwise_right_shift(input_tensor_a: Tensor, input_tensor_b: Tensor | int | float) -> Tensor:
    """Shifts to the right; bits of the sign come in."""
    if input_tensor_a.dtype != DataType.INT32:
        return ops.logical_right_shift(input_tensor_a, input_tensor_b)
    negative = ops.lt(input_tensor_a, 0)
    bits = ops.where(negative, ops.bitwise_not(input_tensor_a), input_tensor_a)
    shifted = ops.logical_right_shift(bits, input_tensor_b)
    return ops.where(negative, ops.bitwise_not(shifted), shifted)
