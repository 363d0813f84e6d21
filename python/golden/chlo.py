# SPDX-License-Identifier: Apache-2.0
"""Goldens of CHLO ops without a counterpart of the same meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from . import elementwise
from .names import RENAMES
from .op import Op, TensorSpec
from .reduction import at_places, topk
from .stablehlo import STABLEHLO, compare, numbers


def placed(x: Tensor, shape: Sequence[int], dimensions: Sequence[int] | None) -> Tensor:
    """Returns a value in the shape: the last dimensions, or those that are named where the rank is smaller."""
    rank = len(shape)
    if dimensions is None or x.dim() in (0, rank):
        dimensions = range(rank - x.dim(), rank)
    sizes = [1] * rank
    for size, dimension in zip(x.shape, dimensions, strict=True):
        sizes[dimension] = size
    return x.reshape(sizes).expand(*shape)


def broadcasting(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def golden(
        a: Tensor, b: Tensor, broadcast_dimensions: Sequence[int] | None = None, *, out: TensorSpec, **how: Any
    ) -> Tensor:
        return function(*(placed(x, out.shape, broadcast_dimensions) for x in (a, b)), **how)

    return golden


def broadcast_select(pred: Tensor, on_true: Tensor, on_false: Tensor, out: TensorSpec) -> Tensor:
    condition, chosen, other = (placed(x, out.shape, None) for x in (pred.bool(), on_true, on_false))
    return torch.where(condition, chosen, other)


def mulhi(a: Tensor, b: Tensor) -> Tensor:
    """Returns the upper half of the bits of each product, in Python's integers."""
    width = torch.iinfo(a.dtype).bits
    values = [(x * y) >> width for x, y in zip(a.flatten().tolist(), b.flatten().tolist(), strict=True)]
    return torch.tensor(values, dtype=a.dtype).reshape(a.shape)


def polygamma(n: Tensor, x: Tensor) -> Tensor:
    """Returns (-1)^(n + 1) n! zeta(n + 1, x), and digamma of order 0."""
    order = n.double()
    factorial = torch.exp(torch.lgamma(order + 1))
    sign = torch.where(order % 2 == 0, -1.0, 1.0)
    value = sign * factorial * torch.special.zeta(order + 1, x.double())
    return torch.where(order == 0, torch.digamma(x.double()), value)


def arc_kernel(z: Tensor) -> Tensor:
    """Computes as W. Kahan, "Branch cuts for complex elementary functions" (1987)."""
    u, v = torch.sqrt(1 - z), torch.sqrt(1 + z)
    return torch.complex((u * v).real, torch.asinh((u.conj() * v).imag).abs())


def constant_like(x: Tensor, value: float) -> Tensor:
    return torch.full_like(x, value)


def ragged_dot(x: Tensor, w: Tensor, sizes: Tensor, ragged_dot_dimension_numbers: Any, out: TensorSpec) -> Tensor:
    names = ("batching_dimensions", "contracting_dimensions")
    (lhs_batch, lhs_sum), (rhs_batch, rhs_sum) = (
        [numbers(ragged_dot_dimension_numbers, f"{side}_{name}") for name in names] for side in ("lhs", "rhs")
    )
    (ragged,) = numbers(ragged_dot_dimension_numbers, "lhs_ragged_dimensions")
    group_dims = numbers(ragged_dot_dimension_numbers, "rhs_group_dimensions")

    def product(a: Tensor, b: Tensor, rhs_batch: list[int], rhs_sum: list[int]) -> Tensor:
        letters = iter("abcdefghijklmnopqrstuvwxyz")
        left, right = [next(letters) for _ in a.shape], [next(letters) for _ in b.shape]
        for i, j in zip(lhs_batch + lhs_sum, rhs_batch + rhs_sum, strict=True):
            right[j] = left[i]
        to = [left[i] for i in lhs_batch]
        to += [c for i, c in enumerate(left) if i not in lhs_batch + lhs_sum]
        to += [c for i, c in enumerate(right) if i not in rhs_batch + rhs_sum]
        return torch.einsum(f"{''.join(left)},{''.join(right)}->{''.join(to)}", a, b)

    if ragged in lhs_batch:
        return product(x, w, rhs_batch, rhs_sum)
    # Which group each element of the ragged dimension is of, for each batch.
    ends = sizes.long().cumsum(-1)
    position = torch.arange(x.shape[ragged])
    results = []
    for group in range(sizes.shape[-1]):
        end = ends[..., group, None]
        inside = (position >= end - sizes[..., group, None].long()) & (position < end)
        shape = [1] * x.dim()
        for i, dimension in enumerate(lhs_batch if sizes.dim() > 1 else []):
            shape[dimension] = sizes.shape[i]
        shape[ragged] = x.shape[ragged]
        if sizes.dim() > 1:  # the mask is [batches..., ragged]
            order = sorted(range(inside.dim()), key=lambda d: [*lhs_batch, ragged][d])
            inside = inside.permute(order)
        part = torch.where(inside.reshape(shape), x, 0)
        if not group_dims:
            results.append(product(part, w, rhs_batch, rhs_sum))
            continue
        (at,) = group_dims
        less = [[d - (d > at) for d in dims] for dims in (rhs_batch, rhs_sum)]
        results.append(product(part, w.select(at, group), *less))
    return torch.stack(results) if not group_dims else torch.stack(results).sum(0)


def scan(
    inputs: list[Tensor],
    inits: list[Tensor],
    regions: Sequence[Any],
    out: TensorSpec | list[TensorSpec],
    dimension: int,
    scan_dim_size: int | None = None,
    is_reverse: bool = False,
    is_associative: bool | None = None,
) -> list[Tensor]:
    specs = out if isinstance(out, list) else [out]
    count = inputs[0].shape[dimension] if inputs else scan_dim_size or 0
    outputs = [torch.zeros(spec.shape, dtype=spec.dtype) for spec in specs[: len(specs) - len(inits)]]
    carries = list(inits)
    for i in reversed(range(count)) if is_reverse else range(count):
        given = regions[0](*(x.select(dimension, i) for x in inputs), *carries)
        for output, value in zip(outputs, given, strict=False):
            output.select(dimension, i).copy_(value)
        carries = list(given[len(outputs) :])
    return outputs + carries


def _of(name: str) -> Callable[..., Tensor]:
    """Returns the golden of the StableHLO op that broadcasts."""
    full = f"stablehlo.{name}"
    row = STABLEHLO.get(full) or elementwise.ELEMENTWISE[RENAMES.get(full, name)]
    return row.golden


CHLO = {
    "chlo.acosh": Op(torch.acosh),
    "chlo.atanh": Op(torch.atanh),
    "chlo.bessel_i1e": Op(torch.special.i1e),
    "chlo.conj": Op(torch.conj_physical),
    "chlo.cosh": Op(torch.cosh),
    "chlo.digamma": Op(torch.digamma),
    "chlo.erf_inv": Op(torch.erfinv),
    "chlo.is_inf": Op(torch.isinf),
    "chlo.is_neg_inf": Op(torch.isneginf),
    "chlo.is_pos_inf": Op(torch.isposinf),
    "chlo.lgamma": Op(torch.lgamma),
    "chlo.sinh": Op(torch.sinh),
    "chlo.top_k": Op(lambda x, k: topk(x, k), points_to={1: at_places}),
    "chlo._asin_acos_kernel": Op(arc_kernel),
    "chlo.constant_like": Op(constant_like),
    "chlo.mulhi": Op(mulhi),
    "chlo.next_after": Op(torch.nextafter),
    "chlo.polygamma": Op(polygamma),
    "chlo.ragged_dot": Op(ragged_dot),
    "chlo.scan": Op(scan),
    "chlo.zeta": Op(torch.special.zeta),
    "chlo.broadcast_compare": Op(broadcasting(compare)),
    "chlo.broadcast_complex": Op(broadcasting(torch.complex)),
    "chlo.broadcast_next_after": Op(broadcasting(torch.nextafter)),
    "chlo.broadcast_polygamma": Op(broadcasting(polygamma)),
    "chlo.broadcast_select": Op(broadcast_select),
    "chlo.broadcast_zeta": Op(broadcasting(torch.special.zeta)),
}
CHLO |= {
    f"chlo.broadcast_{name}": Op(broadcasting(_of(name)))
    for name in ("add", "and", "atan2", "divide", "maximum", "minimum", "multiply", "or", "power", "remainder",
                 "shift_left", "shift_right_arithmetic", "shift_right_logical", "subtract", "xor")
}  # fmt: skip
