# SPDX-License-Identifier: Apache-2.0
"""Common parts of the PyTorch front end's tests: a function run by PyTorch and by the chip, and what must agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_flatten
from ttmlir.torch import backend
from ttmlir.torch.metrics import tensors

# Largest error as a part of the output's range. What is computed for f64 is f32.
TOLERANCE = {torch.float64: 1e-4, torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 4e-2}


def error_of(found: torch.Tensor, expected: torch.Tensor) -> float:
    """The largest error, as a part of the expected values' range."""
    scale = max(float(expected.double().abs().max()), 1e-30)
    return float((found.double() - expected.double()).abs().max()) / scale


def assert_agree(got: Any, want: Any, what: str = "") -> None:
    """Same shapes, dtypes, strides of dense tensors and places of NaN; integers equal, floats within TOLERANCE."""
    have, expected = tensors(got), tensors(want)
    assert len(have) == len(expected), f"{what}: {len(have)} tensors, expected {len(expected)}"
    for i, (a, b) in enumerate(zip(have, expected, strict=True)):
        where = f"{what} output {i}"
        assert a.shape == b.shape and a.dtype is b.dtype, (
            f"{where}: {a.dtype}{list(a.shape)}, expected {b.dtype}{list(b.shape)}"
        )
        if not b.numel():
            continue
        if not b.dtype.is_floating_point:
            assert torch.equal(a, b), f"{where}: {int((a != b).sum())} of {b.numel()} differ"
            continue
        odd = ~torch.isfinite(b)
        torch.testing.assert_close(a[odd], b[odd], rtol=0, atol=0, equal_nan=True, msg=f"{where}: NaN and Inf differ")
        assert torch.isfinite(a[~odd]).all(), f"{where}: not finite where PyTorch is"
        if odd.all():
            continue
        error = error_of(a[~odd], b[~odd])
        assert error <= TOLERANCE[b.dtype], f"{where}: off by {error:.2e} of its range"


def on_chip(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """`function` compiled whole, for the sizes of each call."""
    torch._dynamo.reset()
    return torch.compile(function, backend=backend, fullgraph=True, **options)


def check(function: Callable[..., Any], *args: Any, seed: int = 0, **kwargs: Any) -> Any:
    """Runs a function both ways on copies of its arguments; the arguments must end up the same, too."""

    def copies() -> Any:
        leaves, spec = tree_flatten((args, kwargs))
        return torch.utils._pytree.tree_unflatten(
            [x.clone() if isinstance(x, torch.Tensor) else x for x in leaves], spec
        )

    (a, k), (a2, k2) = copies(), copies()
    torch.manual_seed(seed)
    want = function(*a, **k)
    torch.manual_seed(seed)
    got = on_chip(function)(*a2, **k2)
    assert_agree(got, want)
    assert_agree([a2, k2], [a, k], "argument")
    return got
