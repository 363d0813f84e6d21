# SPDX-License-Identifier: Apache-2.0
"""Comparison of a result with its reference, by distance and by correlation."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import torch
from golden.metrics import get_pcc

from ...tensor import to_torch

logger = logging.getLogger("pybuda")
# Part of the largest absolute value of a reference by which elements may differ.
RELATIVE_ATOL = 0.1


def calculate_pcc(a: Any, b: Any) -> float:
    """Returns the Pearson correlation of two tensors of one shape: 1 where they are equal, or both NaN."""
    return get_pcc(to_torch(a, "the reference").float(), to_torch(b, "the result").float())


def _tolerance(given: Any, config: Any, name: str, dtype: torch.dtype) -> float | None:
    """Returns the tolerance of a type: that of the call, else the configuration's."""
    for value in (given, getattr(config, name, None)):
        found = value.get(dtype) if isinstance(value, Mapping) else value
        if found is not None:
            return float(found)
    return None


def compare_tensor_to_golden(
    name: str,
    golden: Any,
    calculated: Any,
    is_buda: bool = False,
    rtol: Any = None,
    atol: Any = None,
    pcc: float | None = None,
    warning_only: bool = False,
    relative_atol: float | None = None,
    verify_cfg: Any = None,
) -> bool:
    """Returns whether a result is near its reference: all elements within `atol + rtol * |golden|`, or a Pearson
    correlation of `pcc` at least. What is wrong is logged.

    Args:
        golden, calculated: tensors of one shape, but for leading dimensions of size 1.
        is_buda: the result may be larger, padded at the ends of its dimensions.
        rtol, atol: numbers, or numbers by type. atol is by default `relative_atol` times the largest absolute value.
        warning_only: a difference is no failure.
        verify_cfg: has what is not given.
    """
    expected, found = to_torch(golden, "the reference").detach(), to_torch(calculated, "the result").detach()
    while found.dim() > expected.dim() and found.shape[0] == 1:
        found = found.squeeze(0)
    while expected.dim() > found.dim() and expected.shape[0] == 1:
        expected = expected.squeeze(0)
    if is_buda and found.dim() == expected.dim():
        found = found[tuple(slice(0, size) for size in expected.shape)]
    if found.shape != expected.shape:
        logger.error("%s: the result has shape %s; expected %s", name, list(found.shape), list(expected.shape))
        return False
    if expected.dtype is torch.bool:
        return bool((expected == found.bool()).all())
    found = found.to(expected.dtype)
    limit = pcc if pcc is not None else getattr(verify_cfg, "pcc", None)
    relative = relative_atol if relative_atol is not None else getattr(verify_cfg, "relative_atol", RELATIVE_ATOL)
    most = _tolerance(atol, verify_cfg, "atol", expected.dtype)
    if most is None:
        known = expected[~expected.isnan()].abs()
        most = float(known.max()) * relative if known.numel() else 0.0
    factor = _tolerance(rtol, verify_cfg, "rtol", expected.dtype) or 0.0
    is_near = torch.allclose(expected, found, rtol=factor, atol=most, equal_nan=True)
    callback = getattr(verify_cfg, "golden_compare_callback", None)
    is_near = is_near and (callback is None or bool(callback(expected, found)))
    if is_near:
        return True
    correlation = calculate_pcc(expected, found) if limit is not None and expected.numel() > 1 else None
    if correlation is not None and limit is not None and correlation >= limit:
        return True
    distance = (expected.double() - found.double()).abs().max() if expected.numel() else 0.0
    text = f"{name}: the largest difference is {float(distance):.3e}; expected {most:.3e} at most"
    if correlation is not None:
        text += f", or a correlation of {limit} at least: it is {correlation:.6f}"
    logger.log(logging.WARNING if warning_only else logging.ERROR, text)
    return warning_only
