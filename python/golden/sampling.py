# SPDX-License-Identifier: Apache-2.0
"""Test inputs: random values from an op's domain, the same ones for the same seed.

Values are numpy's, so that they are there without torch; `random_tensor` hands them on to torch, which is loaded then.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from .domains import DEFAULT_DOMAIN, DEFAULT_INTEGER_DOMAIN, Domain

if TYPE_CHECKING:
    import torch


def generator(seed: int, *names: Any) -> np.random.Generator:
    """Returns a generator that depends on the seed and on what it is for, not on what was drawn before."""
    text = "/".join(map(str, (seed, *names)))
    return np.random.default_rng(zlib.crc32(text.encode()))


def numpy_dtype(name: str) -> np.dtype:
    """Returns the numpy dtype of a name like "float32", with "bfloat16"."""
    return np.dtype(getattr(ml_dtypes, name, name))


def random_array(
    shape: Sequence[int], dtype: str, domain: Domain | None = None, source: np.random.Generator | None = None
) -> np.ndarray:
    """Returns uniform over the closed interval `domain`, both ends of which can be drawn when the dtype is an
    integer."""
    shape, kind, source = tuple(shape), numpy_dtype(dtype), source or np.random.default_rng()
    if kind.kind == "c":
        parts = [random_array(shape, "float32", domain, source) for _ in range(2)]
        return np.asarray((parts[0] + 1j * parts[1]).astype(kind))
    if kind.kind in "biu":
        low, high = domain or DEFAULT_INTEGER_DOMAIN
        least, most = (0, 1) if kind.kind == "b" else (int(np.iinfo(kind).min), int(np.iinfo(kind).max))
        low = math.ceil(min(max(low, least), most))
        high = max(low, math.floor(min(max(high, least), most)))
        return np.asarray(source.integers(low, high, shape, kind, endpoint=True))
    low, high = domain or DEFAULT_DOMAIN
    wide = np.float64 if kind == np.float64 else np.float32
    drawn = source.random(shape, dtype=wide) * wide(high - low) + wide(low)
    return np.asarray(np.clip(drawn, wide(low), wide(high)).astype(kind))


def random_tensor(
    shape: Sequence[int], dtype: torch.dtype, domain: Domain | None = None, source: np.random.Generator | None = None
) -> torch.Tensor:
    """Returns `random_array` as a torch tensor."""
    import torch

    name = str(dtype).removeprefix("torch.")
    drawn = random_array(shape, name, domain, source)
    if dtype == torch.bfloat16:
        return torch.from_numpy(drawn.view(np.int16)).view(dtype)
    return torch.from_numpy(drawn)
