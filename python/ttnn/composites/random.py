# SPDX-License-Identifier: Apache-2.0
"""Random tensors. The numbers are not those of the hardware; one seed gives the same ones again."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import DataType, Layout, MemoryConfig

from ..constants import DRAM_MEMORY_CONFIG
from .frame import composite, ops

_seeds: list[Iterator[int]] = [itertools.count(1)]
_TINY = 2.0**-126


def _seed(given: int | None) -> int:
    """Returns a seed that is given and not 0, or the next of those that follow from manual_seed."""
    return given or next(_seeds[0])


def _even(like: Tensor, seed: int, low: float = 0.0, high: float = 1.0) -> Tensor:
    return ops.rand(
        like.shape, like.device(), dtype=DataType.FLOAT32, layout=like.layout, low=low, high=high, seed=seed
    )


@composite(wide=False)
def manual_seed(
    seeds: int | Any = 0, *, device: Device | None = None, user_ids: Any = None, sub_core_grids: Any = None
) -> None:
    """Sets what random tensors without a seed begin with.

    Raises:
        TypeError: seeds is a tensor, or user_ids is given: generators of single cores are not simulated.
    """
    del device, sub_core_grids
    if not isinstance(seeds, int) or user_ids is not None:
        raise TypeError("seeds of single cores and users are not simulated; expected one number")
    _seeds[0] = itertools.count(seeds * 2654435761 % 2**31 + 1)


@composite(wide=False)
def randn(
    shape: Sequence[int],
    device: Device,
    *,
    dtype: DataType = DataType.BFLOAT16,
    layout: Layout = Layout.TILE,
    memory_config: MemoryConfig | None = DRAM_MEMORY_CONFIG,
    compute_kernel_config: Any = None,
    seed: int | None = None,
) -> Tensor:
    """Makes a tensor of normal numbers, of mean 0 and deviation 1 (Box and Muller's transform)."""
    del compute_kernel_config
    first = _seed(seed)
    options = {"dtype": DataType.FLOAT32, "layout": layout}
    radius = ops.rand(shape, device, low=_TINY, high=1.0, seed=first, **options)
    angle = ops.rand(shape, device, low=0.0, high=2.0 * math.pi, seed=first + 0x5BD1E995, **options)
    return ops.typecast(ops.sqrt(ops.log(radius) * -2.0) * ops.cos(angle), dtype, memory_config=memory_config)


@composite("memory_config compute_kernel_config", in_place=True)
def uniform(input: Tensor, from_: float = 0.0, to: float = 1.0, seed: int = 0) -> Tensor:
    """Writes numbers from `from_` to `to` to the tensor; another seed of 0 gives other numbers."""
    if not from_ <= to:
        raise ValueError(f"from_ is {from_} and to {to}; expected from_ to be at most to")
    return _even(input, _seed(seed), from_, to)


@composite("output dtype memory_config compute_kernel_config")
def bernoulli(input: Tensor, seed: int = 0) -> Tensor:
    """Makes a tensor of 1 with the probability that each element says, and 0 elsewhere."""
    return ops.where(_even(input, _seed(seed)) < input, 1.0, input * 0.0)
