# SPDX-License-Identifier: Apache-2.0
"""Functions of one op compared with PyTorch: four kinds of types, special values, sizes 0, 1 and odd ones.

test_ttnn_composites.py has the functions that are made of others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
import ttnn
from ttnn.composites import COMPOSITES
from ttnn.goldens import _BINARY, _UNARY

Tensor = torch.Tensor
SHAPES = [(5, 33), (1,), (0, 4), (2, 1, 17), (3, 0)]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, math.inf, -math.inf, math.nan, 1e-30, 1e20, -1e20]
# Functions of integers alone.
BITS = {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "bitwise_left_shift", "logical_left_shift",
        "logical_right_shift"}  # fmt: skip
# PyTorch's functions, of tensors of f64 or of int32.
UNARY: dict[str, Callable[[Tensor], Tensor]] = {
    **{name: getattr(torch, name) for name in _UNARY.split() if hasattr(ttnn, name)},
    "bitwise_not": torch.bitwise_not,
    "cbrt": lambda x: x.sign() * x.abs().pow(1 / 3),
    "gelu": F.gelu,
    "hardsigmoid": F.hardsigmoid,
    "mish": F.mish,
    "relu6": F.relu6,
    "silu": F.silu,
}
BINARY: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    **{name: getattr(torch, name) for name in _BINARY.split()},
    "atan2": torch.atan2,
    "bitwise_left_shift": torch.bitwise_left_shift,
    "logical_left_shift": torch.bitwise_left_shift,
    "logical_right_shift": lambda x, y: ((x.long() & 0xFFFFFFFF) >> y.long()).int(),
}
# What integers become floats for, and what is not defined on them in PyTorch.
OF_FLOATS = {"erfc", "erf", "erfinv", "gelu", "silu", "mish", "hardsigmoid", "relu6", "cbrt", "frac", "isfinite",
             "isinf", "isnan", "atan2"}  # fmt: skip
# Where -0 is less than 0, as IEEE 754-2019 says, and an expression above that does not keep -0.
POSITIVE_ZEROS = {"relu", "relu6", "maximum", "minimum", "cbrt"}
KINDS = {"f32": torch.float32, "bf16": torch.bfloat16}


def numbers(name: str, shape: tuple[int, ...], seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(len(name) * 10 + seed)
    return torch.randn(shape, generator=generator) * 2


def put(value: Tensor, device: ttnn.Device, dtype: Any = None) -> ttnn.Tensor:
    return ttnn.from_torch(value, dtype, layout=ttnn.TILE_LAYOUT, device=device)


def close(found: Tensor, expected: Tensor, kind: torch.dtype) -> None:
    step = 2.0**-7 if kind == torch.bfloat16 else 3e-6
    expected = expected.to(kind)
    assert found.shape == expected.shape
    torch.testing.assert_close(found.double(), expected.double(), rtol=step, atol=step / 8, equal_nan=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted({*UNARY, *BINARY} - BITS))
def test_floats(name: str, kind: str, device: ttnn.Device) -> None:
    """Sizes and special values; of two tensors, every pair of these."""
    dtype, special = KINDS[kind], torch.tensor(SPECIAL)
    count = 1 if name in UNARY else 2
    function: Callable[..., Tensor] = UNARY[name] if count == 1 else BINARY[name]
    cases = [[numbers(name, shape, i) for i in range(count)] for shape in SHAPES]
    cases.append([special[:, None].expand(-1, len(SPECIAL)), special.expand(len(SPECIAL), -1)][:count])
    for values in cases:
        given = [value.contiguous().to(dtype) for value in values]
        found = ttnn.to_torch(getattr(ttnn, name)(*(put(value, device) for value in given)))
        assert found.dtype == dtype
        expected = function(*(value.double() for value in given)).double()
        close(found, expected, dtype)
        zero = (expected == 0) & (found == 0)
        assert name in POSITIVE_ZEROS or torch.equal(found.signbit()[zero], expected.signbit()[zero]), name


@pytest.mark.parametrize("name", sorted({*UNARY, *BINARY} - BITS))
def test_block_formats(name: str, device: ttnn.Device) -> None:
    """Results of values that the format holds, up to a unit of their block."""
    count = 1 if name in UNARY else 2
    function: Callable[..., Tensor] = UNARY[name] if count == 1 else BINARY[name]
    for shape in SHAPES:
        given = [put(numbers(name, shape, i).abs() * 0.1 + 1.1, device, ttnn.bfloat8_b) for i in range(count)]
        if name in ("acos", "asin", "atanh", "erfinv"):
            given = [put(numbers(name, shape, 0).clamp(-1, 1) * 0.5, device, ttnn.bfloat8_b)]
        result = getattr(ttnn, name)(*given)
        assert result.dtype == ttnn.bfloat8_b
        found = ttnn.to_torch(result).double()
        expected = function(*(ttnn.to_torch(each).double() for each in given)).double()
        assert found.shape == expected.shape
        columns = expected.reshape(-1, shape[-1]) if expected.numel() else expected.reshape(0, 1)
        blocks = F.pad(columns.abs(), (0, -columns.shape[1] % 16)).unflatten(1, (-1, 16)).amax(-1, keepdim=True)
        unit = blocks.expand(-1, -1, 16).flatten(1)[:, : columns.shape[1]] * 2.0**-6
        assert ((found.reshape(columns.shape) - columns).abs() <= unit).all(), name


@pytest.mark.parametrize("name", sorted({*UNARY, *BINARY} - OF_FLOATS - {*COMPOSITES}))
def test_integers(name: str, device: ttnn.Device) -> None:
    """Computes int32, also beyond 2^24. Results of functions of floats are truncated; a quotient is a float."""
    count = 1 if name in UNARY else 2
    function: Callable[..., Tensor] = UNARY[name] if count == 1 else BINARY[name]
    special = torch.tensor([0, 1, -1, 7, -7, 100, 16777217, -16777217, 2**31 - 1, -(2**31)], dtype=torch.int32)
    cases = [[(numbers(name, shape, i) * 50).int() for i in range(count)] for shape in SHAPES]
    cases.append([special[:, None].expand(-1, 10), special.expand(10, -1)][:count])
    for values in cases:
        values = [value.contiguous() for value in values]
        if "shift" in name:
            values[1] = values[1] & 31
        if name in ("remainder", "pow", "div"):
            values[1] = (values[1] & 7) + 1
        if name == "pow":
            values[0] = values[0] % 10
        result = getattr(ttnn, name)(*(put(value, device) for value in values))
        expected = function(*values)
        found = ttnn.to_torch(result)
        if name == "div":
            close(found, expected, torch.float32)
        elif expected.is_floating_point():
            exact = function(*(value.float().double() for value in values))
            held = exact.abs() < 2.0**31
            error = found.double()[held] - exact[held]
            assert (error.abs() < 1 + exact[held].abs() * 2**-20).all(), name
        else:
            assert torch.equal(found.to(torch.int64), expected.to(torch.int64)), name


@pytest.mark.parametrize("name", sorted(({*UNARY, *BINARY} - BITS) & {*COMPOSITES}))
def test_integers_of_composed_functions(name: str, device: ttnn.Device) -> None:
    """Either their floats, cut, or an error that names the type."""
    values = torch.tensor([[1, 2, 3]], dtype=torch.int32)
    try:
        found = ttnn.to_torch(getattr(ttnn, name)(put(values, device)))
    except ValueError as error:
        assert f"ttnn.{name}: " in str(error) and "data type INT32" in str(error)
        return
    exact = UNARY[name](values.double()).double()
    held = exact.abs() < 2.0**31
    assert ((found.double() - exact)[held].abs() < 1).all()
