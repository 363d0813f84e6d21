# SPDX-License-Identifier: Apache-2.0
"""Functions that are made of others, compared with PyTorch's: every row, two types, special values among them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import ttnn
from composite_cases import CASES, WITHOUT
from ttnn.composites import COMPOSITES, GOLDENS

SHAPE = (33, 40)
# Arguments of parameters that are not tensors, by function; those of others are their defaults, or of ANY.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "concat_bw": {"dim": 0},
    "fill": {"fill_value": 2.5},
    "hardtanh_bw": {"min": -0.5, "max": 1.5},
    "heaviside": {"value": 0.5},
    "logiteps_bw": {"eps": 0.1},
    "polygamma": {"k": 2},
    "polygamma_bw": {"n": 1},
    "polyval": {"coeffs": [0.5, -1.0, 2.0]},
    "prelu": {"weight": 0.25},
    "prod_bw": {"dim": 1},
    "relu_max": {"upper_limit": 1.5},
    "relu_min": {"lower_limit": 0.5},
    "repeat_bw": {"shape": [2, 3]},
    "rpow": {"exponent": 2.5},
    "rpow_bw": {"exponent": 2.5},
    "pow_bw": {"exponent": 3.0},
    "softcap": {"beta": 1.5},
    "threshold": {"threshold": 0.25, "value": -2.0},
    "threshold_bw": {"min": 0.25, "max": -2.0},
}
ANY = {"alpha": 0.75, "value": 0.75, "scalar": 1.75, "min": -0.75, "max": 0.75}
# Where the function is defined, by its own name; gradients have that of their function.
DOMAINS = {
    "acos": (-0.95, 0.95), "acosh": (1.05, 9.0), "asin": (-0.95, 0.95), "atanh": (-0.95, 0.95), "digamma": (0.1, 9.0),
    "erfinv": (-0.95, 0.95), "lgamma": (0.1, 9.0), "log": (0.1, 9.0), "log10": (0.1, 9.0), "log1p": (-0.9, 9.0),
    "log2": (0.1, 9.0), "logit": (0.05, 0.95), "logiteps": (0.01, 0.99), "multigammaln": (1.6, 9.0),
    "polygamma": (0.5, 9.0), "pow": (0.1, 3.0), "rsqrt": (0.1, 9.0), "sqrt": (0.1, 9.0), "xlogy": (0.1, 9.0),
    "tan": (-1.2, 1.2), "prod": (0.5, 1.4), "lcm": (-50, 50), "gcd": (-500, 500),
}  # fmt: skip
INTEGERS = {"gcd", "lcm"}
# Values that every function of one tensor sees; gradients do not, whose values there differ between frameworks.
SPECIAL = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.5, -2.5, 3.0, -3.0, 6.0, 20.0, -20.0, 1e-6, -1e-6, 1e-30,
           88.0, -88.0, 1e4, -1e4, 1e10, -1e10, 3e38, -3e38, math.inf, -math.inf, math.nan]  # fmt: skip
# Of these only the domain is compared: where they have poles, or sin of a large number.
PLAIN = {"multigammaln", "polygamma", "lgamma", "digamma", "polyval", "xielu", "alt_complex_rotate90", "glu", "geglu",
         "reglu", "swiglu", "hardmish", "round"}  # fmt: skip
NAMES = sorted(name for name, golden in GOLDENS.items() if golden and name not in CASES)


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.Device]:
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def tensor_parameters(name: str) -> list[str]:
    parameters = inspect.signature(COMPOSITES[name]).parameters.values()
    into = ("output", "output_tensor", "input_grad", "other_grad", "input_a_grad", "input_b_grad")
    return [
        p.name
        for p in parameters
        if "Tensor" in str(p.annotation) and p.name not in into and p.name not in ARGUMENTS.get(name, {})
    ]


def inputs_of(name: str, dtype: torch.dtype, sizes: tuple[int, int] = SHAPE, special: bool = True) -> dict[str, Any]:
    rows, columns = sizes
    generator = torch.Generator().manual_seed(len(name))
    forward = name.removesuffix("_bw")
    low, high = DOMAINS.get(forward, (-3.0, 3.0))
    values: dict[str, Any] = {}
    parameters = tensor_parameters(name)
    for parameter in parameters:
        shape: tuple[int, ...] = sizes
        if name == "concat_bw" and parameter == "grad_tensor":
            shape = (2 * rows, columns)
        if name == "repeat_bw" and parameter == "grad_tensor":
            shape = (2 * rows, 3 * columns)
        if name == "prod_bw" and parameter == "grad_tensor":
            shape = (rows, 1)
        if name == "outer":
            shape = (sizes[len(values)],)
        own = (-2.0, 2.0) if parameter == "grad_tensor" else (low, high)
        data = torch.rand(shape, generator=generator) * (own[1] - own[0]) + own[0]
        if name in INTEGERS:
            values[parameter] = data.to(torch.int32)
            continue
        if special and len(parameters) == 1 and name not in PLAIN:
            data.view(-1)[: len(SPECIAL)] = torch.tensor(SPECIAL)
        values[parameter] = data.to(dtype)
    if name in ("isclose", "where_bw"):
        values[parameters[1]][::2] = values[parameters[0]][::2]
    if name == "where_bw":
        values["input_tensor_a"] = (values["input_tensor_a"] > 0).to(dtype)
    for parameter in inspect.signature(COMPOSITES[name]).parameters.values():
        if parameter.name in ARGUMENTS.get(name, {}):
            values[parameter.name] = ARGUMENTS[name][parameter.name]
        elif parameter.default is parameter.empty and parameter.name not in values:
            values[parameter.name] = ANY[parameter.name]
    if name in ("clamp_bw", "clip_bw"):
        values.update(min=-0.75, max=0.75)
    return values


def on_device(values: dict[str, Any], device: ttnn.Device) -> dict[str, Any]:
    return {
        key: ttnn.from_torch(value, layout=ttnn.TILE_LAYOUT, device=device)
        if isinstance(value, torch.Tensor)
        else value
        for key, value in values.items()
    }


def listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
def test_computes_what_pytorch_does(name: str, dtype: torch.dtype, device: ttnn.Device) -> None:
    values = inputs_of(name, dtype)
    exact = {
        key: value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value
        for key, value in values.items()
    }
    expected = listed(ttnn.get_golden_function(COMPOSITES[name])(**exact))
    found = listed(COMPOSITES[name](**on_device(values, device)))
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        got = ttnn.to_torch(ours)
        assert got.dtype == (torch.int32 if name in INTEGERS else dtype)
        step = 2.0**-7 if dtype == torch.bfloat16 else 2e-5
        expected = theirs.to(got.dtype)
        torch.testing.assert_close(got.double(), expected.double(), rtol=step, atol=step / 4, equal_nan=True)


# Halves of a dimension of 1 do not exist; of a block format there is no next value.
HALVES = {"glu", "geglu", "reglu", "swiglu", "alt_complex_rotate90"}
NO_BLOCKS = {"nextafter"} | INTEGERS
# Steps, and quotients of gradients by small numbers, whose operands are rounded to blocks on the way.
STEPS = {"floor_div", "fmod", "fmod_bw", "remainder_bw", "div_bw", "reciprocal_bw", "acosh_bw", "addcdiv"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["bfloat16", "bfloat8_b"])
def test_sizes_and_block_formats(name: str, dtype: str, device: ttnn.Device) -> None:
    """No elements, one, and a tile; results of a block format up to a sixteenth of the largest."""
    blocks = dtype == "bfloat8_b"
    if blocks and name in NO_BLOCKS:
        return
    for sizes in ((1, 2 if name in HALVES else 1), (0, 8), (3, 0), (32, 32)):
        values = on_device(inputs_of(name, torch.float32 if blocks else torch.bfloat16, sizes, False), device)
        if blocks:
            values = {k: ttnn.typecast(v, ttnn.bfloat8_b) if isinstance(v, ttnn.Tensor) else v
                      for k, v in values.items()}  # fmt: skip
        exact = {k: ttnn.to_torch(v) if isinstance(v, ttnn.Tensor) else v for k, v in values.items()}
        exact = {k: v.double() if isinstance(v, torch.Tensor) and v.is_floating_point() else v
                 for k, v in exact.items()}  # fmt: skip
        expected = listed(ttnn.get_golden_function(COMPOSITES[name])(**exact))
        found = listed(COMPOSITES[name](**values))
        assert len(found) == len(expected)
        for ours, theirs in zip(found, expected, strict=True):
            got = ttnn.to_torch(ours).double()
            assert got.shape == theirs.shape and (ours.dtype == getattr(ttnn, dtype) or name in INTEGERS)
            finite = theirs.double()[torch.isfinite(theirs.double()) & torch.isfinite(got)]
            if not blocks:
                expected_bf16 = theirs.to(torch.bfloat16).double()
                torch.testing.assert_close(got, expected_bf16, rtol=2**-7, atol=2**-9, equal_nan=True)
            elif len(finite) and name not in STEPS:
                error = (got - theirs.double()).abs()
                assert error[torch.isfinite(error)].max() <= finite.abs().max() * 2**-4


def test_all_rows_have_a_golden_or_need_none() -> None:
    assert sorted(name for name, golden in GOLDENS.items() if not golden) == sorted(WITHOUT)


WRONG = [
    (lambda x: ttnn.celu("x"), TypeError, r"ttnn.celu: input_tensor is 'x' of type str; expected a ttnn.Tensor"),
    (lambda x: ttnn.celu(x, alpha="a"), TypeError, r"ttnn.celu: alpha is 'a' of type str; expected float"),
    (lambda x: ttnn.celu(x, alpha=None), TypeError, r"ttnn.celu: alpha is None of type NoneType; expected float"),
    (lambda x: ttnn.celu(x, alpha=True), TypeError, r"ttnn.celu: alpha is True of type bool; expected float"),
    (lambda x: ttnn.celu(x, alfa=1), TypeError, r"ttnn.celu: got an unexpected keyword argument 'alfa'"),
    (lambda x: ttnn.celu(x, output_tensor="x"), TypeError, r"ttnn.celu: output_tensor is 'x'; expected a ttnn.Tensor"),
    (lambda x: ttnn.round(x, decimals=1.5), TypeError, r"ttnn.round: decimals is 1.5 of type float; expected int"),
    (lambda x: ttnn.glu(x, "a"), TypeError, r"ttnn.glu: dim is 'a' of type str; expected int"),
    (lambda x: ttnn.glu(x, 7), ValueError, r"ttnn.glu: dimension 7 of \[4, 6\] cannot be halved"),
    (lambda x: ttnn.concat_bw(x, x, x, dim=9), IndexError, r"ttnn.concat_bw: "),
    (lambda x: ttnn.repeat_bw(x, x, [1]), ValueError, r"ttnn.repeat_bw: shape has 1 numbers; expected 2"),
    (lambda x: ttnn.prod_bw(x, x, dim=5), ValueError, r"ttnn.prod_bw: dim is 5; expected -2 to 1"),
    (lambda x: ttnn.mul_bw(x, x, x, are_required_outputs=3), TypeError, r"ttnn.mul_bw: are_required_outputs is 3"),
]


@pytest.mark.parametrize("row", range(len(WRONG)))
def test_wrong_calls_name_function_and_parameter(row: int, device: ttnn.Device) -> None:
    call, kind, text = WRONG[row]
    x = ttnn.from_torch(torch.ones(4, 6), layout=ttnn.TILE_LAYOUT, device=device)
    with pytest.raises(kind, match=text):
        call(x)


def test_sizes_of_zero() -> None:
    empty = ttnn.from_torch(torch.ones(0, 6))
    assert tuple(ttnn.erfinv(empty).shape) == (0, 6)
    [gradient] = ttnn.prod_bw(ttnn.from_torch(torch.ones(1)), empty)
    assert tuple(gradient.shape) == (0, 6)
