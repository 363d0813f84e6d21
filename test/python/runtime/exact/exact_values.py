# SPDX-License-Identifier: Apache-2.0
"""Values of every class by their bits, and a device that takes and gives them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import ttnn
from _ttmlir_runtime import runtime

# Where rules change: zeros, denormals, ties, the ends of exponents, Inf and NaN.
EDGES = (0, 1, 0x7FFFFF, 0x7F8000, 0x800000, 0x3F800000, 0x3F808000, 0x3F818000, 0x3F807FFF, 0x3FFFFFFF, 0x3FFFE000,
         0x7F7F8000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00001)  # fmt: skip
KINDS = ("normal", "near", "any", "low", "high", "edge")
FORMATS = ("float32", "bfloat16", "bfloat8_b", "bfloat4_b", "bfloat2_b")
INTEGERS = "integers"  # and halves, up to 2^34


def values(seed: int, kind: str, shape: Any, dtype: str) -> np.ndarray:
    """Bit patterns of f32 that a 32- or 16-bit format holds: drawn from N(0, 1), of alike exponents, of every class,
    small, large, those at which rules change, or integers and halves."""
    rng = np.random.default_rng([seed, (*KINDS, INTEGERS).index(kind)])
    bits = rng.integers(0, 1 << 32, shape, dtype=np.uint32)
    if kind == "normal":
        bits = rng.standard_normal(shape, np.float32).view(np.uint32)
    elif kind == INTEGERS:
        spread = np.ldexp(rng.standard_normal(shape, np.float32), rng.integers(1, 35, shape, np.int32))
        bits = (np.round(spread) / np.float32(2)).view(np.uint32)
    elif kind == "edge":
        bits = rng.choice(np.array(EDGES, np.uint32), shape) | (bits & np.uint32(0x80000000))
    elif kind != "any":
        low, high = {"near": (110, 142), "low": (0, 90), "high": (180, 256)}[kind]
        bits = (bits & np.uint32(0x807FFFFF)) | (rng.integers(low, high, shape, np.uint32) << np.uint32(23))
    return bits if dtype == "float32" else bits & np.uint32(0xFFFF0000)


class Chip:
    """The device, and what tests give it and take from it."""

    def __init__(self, device: Any):
        self.device = device

    def put(self, bits: np.ndarray, dtype: str) -> tuple[Any, np.ndarray]:
        """A tensor on the device, and its bits there: the host packs block formats in its own way."""
        if dtype == "bfloat16":
            host = torch.from_numpy((bits >> np.uint32(16)).astype(np.uint16).view(np.int16)).view(torch.bfloat16)
        else:
            host = torch.from_numpy(bits.view(np.float32).copy())
        tensor = ttnn.from_torch(host, dtype=getattr(ttnn, dtype), layout=ttnn.TILE_LAYOUT, device=self.device)
        return tensor, self.bits(tensor) if dtype.endswith("_b") else bits

    @staticmethod
    def planned(call: Callable[[], Any], operation: str = "") -> tuple[Any, dict[str, Any]]:
        """Returns the result of a call, and of its programs (test_library_plans.py) the first one of an operation."""
        plans: list[dict[str, Any]] = []
        number = runtime.observe_calls(lambda device, text, perf, begun: plans.extend(json.loads(text)["plan"]))
        try:
            found = call()
        finally:
            runtime.end_observing_calls(number)
        return found, next(plan for plan in plans if plan["operation"].startswith(operation))

    @staticmethod
    def bits(tensor: Any) -> np.ndarray:
        host = ttnn.to_torch(tensor)
        if host.dtype == torch.bfloat16:
            return host.view(torch.int16).numpy().view(np.uint16).astype(np.uint32) << np.uint32(16)
        return host.contiguous().view(torch.int32).numpy().view(np.uint32)

    @staticmethod
    def integers(tensor: Any) -> np.ndarray:
        return ttnn.to_torch(tensor, torch.int64).numpy()


def same(found: np.ndarray, expected: np.ndarray) -> None:
    assert found.shape == expected.shape
    differing = np.argwhere(found != expected)
    assert len(differing) == 0, (
        f"{len(differing)} of {found.size} differ, first at {differing[0].tolist()}: "
        f"{found[tuple(differing[0])]:#x}, expected {expected[tuple(differing[0])]:#x}"
    )
