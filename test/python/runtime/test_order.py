# SPDX-License-Identifier: Apache-2.0
"""Maxima and minima of zeros, infinities and NaN of both signs, wherever they are taken, do not depend on the order.

Expected values are Python's, of numbers with their signs as keys. The chip's own arithmetic has one order of all bits,
so that with `exact` only the order of operands is looked at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import build_module
from builder.execution.device_tensors import convert_input_layouts, create_tensor
from op_cases import HOST, clone, fetched, lowered, tagged
from ttmlir import passes

NUMBERS = [1.0, -1.0, 0.0, -0.0, math.inf, -math.inf, math.nan, 7.0, -3.0]
PAIRS = torch.tensor([[a, b] for a in NUMBERS for b in NUMBERS])
# Rows of every two numbers between which numbers do not matter, and of zeros alone.
ROWS = torch.cat([PAIRS.repeat(1, 35), torch.tensor([[-0.0] * 69 + [0.0], [0.0] * 69 + [-0.0], [-0.0] * 70])])

load = partial(rt.binary.load_binary_from_bytes, allow_native=True)


def first(numbers: Sequence[float], sign: int) -> float:
    """The largest of numbers times `sign`, which NaN is and +0 rather than -0."""
    if any(math.isnan(x) for x in numbers):
        return math.nan
    return max(numbers, key=lambda x: (sign * x, sign * math.copysign(1, x)))


def of_rows(rows: torch.Tensor, sign: int) -> torch.Tensor:
    return torch.tensor([first(row, sign) for row in rows.tolist()])


def clamped(x: torch.Tensor, low: float, high: float) -> torch.Tensor:
    return torch.tensor([first([first([v, low], 1), high], -1) for v in x.tolist()])


A, B = PAIRS[:, 0].contiguous(), PAIRS[:, 1].contiguous()
# The call of a function of the two, or of the rows, and its result.
CALLS: dict[str, tuple[Callable[..., Any], torch.Tensor]] = {
    "maximum": (lambda b, x, y, rows: b.maximum(x, y), of_rows(PAIRS, 1)),
    "minimum": (lambda b, x, y, rows: b.minimum(x, y), of_rows(PAIRS, -1)),
    "relu": (lambda b, x, y, rows: b.relu(x), clamped(A, 0.0, math.inf)),
    "relu6": (lambda b, x, y, rows: b.relu6(x), clamped(A, 0.0, 6.0)),
    "clamp_scalar": (lambda b, x, y, rows: b.clamp_scalar(x, min=-0.0, max=1.0), clamped(A, -0.0, 1.0)),
    "chain": (
        lambda b, x, y, rows: b.minimum(b.neg(b.maximum(y, x)), b.relu(b.neg(y))),
        of_rows(torch.stack([-of_rows(PAIRS, 1), clamped(-B, 0.0, math.inf)], 1), -1),
    ),
    "abs": (lambda b, x, y, rows: b.abs(x), A.abs()),
    "max": (lambda b, x, y, rows: b.max(rows, dim_arg=[1], keep_dim=False), of_rows(ROWS, 1)),
    "min": (lambda b, x, y, rows: b.min(rows, dim_arg=[1], keep_dim=False), of_rows(ROWS, -1)),
    "max of columns": (
        lambda b, x, y, rows: b.max(b.transpose(rows, dim0=0, dim1=1), dim_arg=[0], keep_dim=False),
        of_rows(ROWS, 1),
    ),
}
# Where each is computed; kernels of the target ttmetal reduce nothing.
PLACES = {
    "on_library": list(CALLS),
    "on_host": list(CALLS),
    "on_cores": ["maximum", "minimum", "relu", "clamp_scalar", "chain", "abs"],
}


def module_of(name: str, dtype: torch.dtype) -> Any:
    call, _ = CALLS[name]

    def module(builder: Any) -> None:
        @builder.func([(len(A),), (len(A),), tuple(ROWS.shape)], [dtype] * 3)
        def f(x: Any, y: Any, rows: Any, builder: Any) -> Any:
            return call(builder, x, y, rows)

    return build_module(module, "ttir")[0]


def run(binary: Any, dtype: torch.dtype, exact: bool = False, swapped: bool = False) -> torch.Tensor:
    a, b = (B, A) if swapped else (A, B)
    rows = ROWS.flip(1) if swapped else ROWS
    inputs = [create_tensor({0: x.to(dtype)}, (1, 1)) for x in (a, b, rows)]
    options = rt.runtime.MeshDeviceOptions(exact=exact)
    opened = rt.runtime.open_mesh_device(options)
    try:
        placed = convert_input_layouts(opened, inputs, fbb=binary, program_index=0)
        return fetched(rt.runtime.submit(opened, binary, 0, placed)[0])[0].float()
    finally:
        rt.runtime.close_mesh_device(opened)


def assert_same(found: torch.Tensor, expected: torch.Tensor) -> None:
    bad = ~((found == expected) & (found.signbit() == expected.signbit()) | found.isnan() & expected.isnan())
    assert not bad.any(), f"{int(bad.sum())} differ: {found[bad][:5]}, expected {expected[bad][:5]}"


def on_host(module: Any) -> bytes:
    return passes.ttnn_to_flatbuffer_bin(lowered(tagged(module, lambda op: op.name in HOST), (1, 1)))


def on_library(module: Any) -> bytes:
    return passes.ttnn_to_flatbuffer_bin(lowered(module, (1, 1)))


def on_cores(module: Any) -> bytes:
    result = clone(module)
    passes.ttir_to_ttmetal_pipeline(result)
    return passes.ttmetal_to_flatbuffer_bin(result)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("place", "name"), [(place, name) for place, names in PLACES.items() for name in names])
def test_extremes_are_those_of_ieee_754(place: str, name: str, dtype: torch.dtype) -> None:
    assert_same(run(load(globals()[place](module_of(name, dtype))), dtype), CALLS[name][1])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["maximum", "minimum", "max", "min"])
def test_the_chip_does_not_ask_for_the_order_of_operands(name: str, dtype: torch.dtype) -> None:
    binary = load(on_library(module_of(name, dtype)))
    one, other = (run(binary, dtype, exact=True, swapped=swapped) for swapped in (False, True))
    assert torch.equal(one.view(torch.int32), other.view(torch.int32))
