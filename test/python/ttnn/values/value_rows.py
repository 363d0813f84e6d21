# SPDX-License-Identifier: Apache-2.0
"""Rows of calls with PyTorch's function as reference, and how a row runs in one data type."""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, cast

import torch
import torch.nn.functional as F
import ttnn
from composite_cases import Shape

Tensor = torch.Tensor
INF = float("inf")
KINDS = {"f32": ttnn.float32, "bf16": ttnn.bfloat16, "bfp8": ttnn.bfloat8_b, "i32": ttnn.int32,
         "u32": ttnn.uint32, "u16": ttnn.uint16, "u8": ttnn.uint8}  # fmt: skip
FLOATS = "f32 bf16 bfp8"
WIDE = "f32 bf16"
NUMBERS = "f32 bf16 bfp8 i32"
ALL = "f32 bf16 bfp8 i32 u32 u16 u8"
BITS = {ttnn.int32: 32, ttnn.uint32: 32, ttnn.uint16: 16, ttnn.uint8: 8}
# Relative steps of results that were rounded once; sums of f32 have some more.
STEPS = {ttnn.float32: 4e-6, ttnn.bfloat16: 2.0**-7, ttnn.bfloat8_b: 2.0**-6}


@dataclass(frozen=True)
class Rows:
    """Calls of one function.

    golden: PyTorch's function of the same arguments, whose floats are of 64 bits and integers of 64.
    kinds: the data types that tensors of floats are given in; others keep theirs.
    rows: arguments by name. A Shape stands for random numbers, a list of tensors for a list.
    loose: how many times the steps of STEPS results may differ.
    call: what to run instead of the function alone, as where it changes its operands.
    """

    golden: Callable[..., Any]
    kinds: str
    rows: list[dict[str, Any]]
    loose: float = 1.0
    call: Callable[..., Any] | None = None


def filled(value: Any, kind: str, generator: torch.Generator) -> Any:
    """Returns PyTorch's tensors for a row's arguments, in f32 or in integers of 32 bits where the kind has them."""
    if isinstance(value, list) and value and isinstance(value[0], Shape | torch.Tensor):
        return [filled(each, kind, generator) for each in value]
    if isinstance(value, Shape):
        value = torch.rand(value, generator=generator) * 4 - 2
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return value
    if KINDS[kind] in BITS:
        value = (value.nan_to_num(0, 1e8, -1e8).clamp(-1e8, 1e8) * 9).round()
        return value.int() if kind == "i32" else value.abs().clamp(0, 2.0**31).long()
    return value.float()


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(mapped(each, change) for each in value)
    return change(value) if isinstance(value, torch.Tensor | ttnn.Tensor) else value


def placed(value: Tensor, kind: str, device: ttnn.Device) -> ttnn.Tensor:
    dtype = KINDS[kind] if value.is_floating_point() or (KINDS[kind] in BITS and value.dtype != torch.int32) else None
    if dtype in BITS and dtype != ttnn.int32:
        value = value & 2 ** BITS[dtype] - 1
    tiled = dtype is not None
    return ttnn.from_torch(value, dtype, layout=ttnn.TILE_LAYOUT if tiled else ttnn.ROW_MAJOR_LAYOUT, device=device)


def exact(value: ttnn.Tensor) -> Tensor:
    found = ttnn.to_torch(value)
    return found.double() if found.is_floating_point() else found.to(torch.int64)


def listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def function_of(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = reduce(getattr, name.split("."), cast(Any, ttnn))
    return found


def run_row(name: str, at: int, rows: Rows, kind: str, device: ttnn.Device) -> None:
    """Compares one call with PyTorch's result: shape, places of NaN and infinities, every value."""
    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()) % 1000 + at)
    given = {key: filled(value, kind, generator) for key, value in rows.rows[at].items()}
    ours = {key: mapped(value, lambda t: placed(t, kind, device)) for key, value in given.items()}
    theirs = listed(rows.golden(**{key: mapped(value, exact) for key, value in ours.items()}))
    function = rows.call or function_of(name)
    needed = inspect.signature(function).parameters
    more = {key: value for key, value in (("device", device), ("dtype", KINDS[kind]))
            if key in needed and needed[key].default is needed[key].empty and key not in ours}  # fmt: skip
    found = listed(function(**ours, **more))
    assert len(found) == len(theirs)
    for place, (result, expected) in enumerate(zip(found, theirs, strict=True)):
        if expected is not None:
            compare(result, expected, rows.loose, f"ttnn.{name}, row {at}, {kind}, result {place}")


def compare(result: ttnn.Tensor, expected: Tensor, loose: float, what: str) -> None:
    """Compares values of a result with PyTorch's, as its data type holds them."""
    found = exact(result)
    assert found.shape == expected.shape, f"{what}: shape {list(found.shape)}; expected {list(expected.shape)}"
    if result.dtype in BITS:
        whole = expected.long()
        mask = 2 ** BITS[result.dtype] - 1
        assert torch.equal(found & mask, whole & mask), f"{what}: {found}; expected {whole}"
        return
    expected, step = expected.float().double(), STEPS[result.dtype] * loose
    if result.dtype == ttnn.bfloat8_b:
        compare_blocks(found, expected, step, what)
        return
    kind = {ttnn.float32: torch.float32, ttnn.bfloat16: torch.bfloat16}[result.dtype]
    largest = expected[expected.isfinite()].abs().max().item() if expected.isfinite().any() else 0.0
    torch.testing.assert_close(
        found,
        expected.to(kind).double(),
        rtol=step,
        atol=step / 8 * largest,
        equal_nan=True,
        msg=lambda m: f"{what}: {m}",
    )


def compare_blocks(found: Tensor, expected: Tensor, step: float, what: str) -> None:
    """Compares values that share an exponent with 15 others of their row: near Inf and NaN only zeros fit."""
    rows = expected.reshape(-1, expected.shape[-1]) if expected.dim() and expected.numel() else expected.reshape(-1, 1)
    found = found.reshape(rows.shape)
    wide = F.pad(rows.abs(), (0, -rows.shape[1] % 16)).unflatten(1, (-1, 16))
    largest = wide.nan_to_num(INF, INF).amax(-1, keepdim=True).expand(-1, -1, 16).flatten(1)[:, : rows.shape[1]]
    finite, special = largest.isfinite(), ~rows.isfinite()
    assert torch.equal(found[special].nan_to_num(7, INF, -INF), rows[special].nan_to_num(7, INF, -INF)), (
        f"{what}: {found}; expected {rows}"
    )
    assert found[~special].isfinite().all(), f"{what}: {found}; expected {rows}"
    error = (found - rows).abs()
    assert (error[finite] <= (largest * step + 1e-30)[finite]).all(), f"{what}: {found}; expected {rows}"
