"""Test inputs: random values from an op's domain, the same ones for the same seed."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from .op import DEFAULT_DOMAIN, DEFAULT_INTEGER_DOMAIN, Domain, Op


def generator(seed: int, *names: Any) -> torch.Generator:
    """A generator that depends on the seed and on what it is for, not on what was drawn before."""
    text = "/".join(map(str, (seed, *names)))
    return torch.Generator().manual_seed(zlib.crc32(text.encode()))  # of a seed, 32 bits are used


def random_tensor(
    shape: Sequence[int], dtype: torch.dtype, domain: Domain | None = None, source: torch.Generator | None = None
) -> Tensor:
    """Uniform over the closed interval `domain`, both ends of which can be drawn when the dtype is an integer."""
    shape = tuple(shape)
    if dtype == torch.bool:
        return torch.randint(0, 2, shape, generator=source).to(torch.bool)
    if dtype.is_complex:
        parts = [random_tensor(shape, torch.float32, domain, source) for _ in range(2)]
        return torch.complex(*parts).to(dtype)
    if dtype.is_floating_point:
        low, high = domain or DEFAULT_DOMAIN
        return torch.empty(shape).uniform_(float(low), float(high), generator=source).to(dtype)
    low, high = DEFAULT_INTEGER_DOMAIN if domain is None or domain == DEFAULT_DOMAIN else domain
    info = torch.iinfo(dtype)
    low, high = max(math.ceil(low), info.min), min(math.floor(high), info.max)
    return torch.randint(low, max(high, low) + 1, shape, generator=source).to(dtype)


def operand_domain(op: Op, index: int, shapes: Sequence[Any], attributes: Mapping[str, Any]) -> Domain:
    """The interval from which operand `index` of an op is drawn."""
    if index in op.operand_domains:
        return op.operand_domains[index](shapes, attributes)
    return op.domain


def intersection(a: Domain | None, b: Domain | None) -> Domain | None:
    """The values allowed by both; the narrower one when they exclude each other. None allows everything."""
    if a is None or b is None:
        return a if b is None else b
    low, high = max(a[0], b[0]), min(a[1], b[1])
    if low <= high:
        return (low, high)
    return min(a, b, key=lambda d: d[1] - d[0])
