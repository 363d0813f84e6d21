# SPDX-License-Identifier: Apache-2.0
"""Golden functions of functions of one op, and functions that fall back to them on the host."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import ttnn
from ttnn.goldens import _BINARY, _PLAIN, _UNARY

BITS = {"bitwise_and", "bitwise_or", "bitwise_xor"}
# By function: its arguments. Those of the functions of one or two tensors are made.
ARGUMENTS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "argmax": ([torch.rand(3, 40)], {"dim": -1, "keepdim": True}),
    "concat": ([[torch.rand(3, 4), torch.rand(3, 5)]], {"dim": 1}),
    "embedding": ([torch.tensor([[3, 1]], dtype=torch.int32), torch.rand(6, 32)], {}),
    "gelu": ([torch.randn(3, 40)], {}),
    "layer_norm": ([torch.rand(3, 40)], {"weight": torch.rand(40), "bias": torch.rand(1, 40), "epsilon": 1e-5}),
    "leaky_relu": ([torch.randn(3, 40)], {"negative_slope": 0.3}),
    "linear": (
        [torch.rand(3, 40), torch.rand(5, 40)],
        {"bias": torch.rand(5), "transpose_b": True, "activation": "relu"},
    ),
    "matmul": ([torch.rand(40, 3), torch.rand(40, 5)], {"transpose_a": True}),
    "max": ([torch.rand(3, 40)], {"dim": 1, "keepdim": True}),
    "mean": ([torch.rand(3, 40)], {"dim": 0}),
    "min": ([torch.rand(3, 40)], {"dim": -1}),
    "permute": ([torch.rand(2, 3, 4), (2, 0, 1)], {}),
    "repeat_interleave": ([torch.rand(2, 3), 2], {"dim": 1}),
    "reshape": ([torch.rand(2, 6), (3, -1)], {}),
    "rms_norm": ([torch.rand(3, 40)], {"weight": torch.rand(1, 40), "epsilon": 1e-5}),
    "silu": ([torch.randn(3, 40)], {}),
    "softmax": ([torch.rand(3, 40)], {"dim": 0}),
    "sum": ([torch.rand(3, 40)], {}),
    "transpose": ([torch.rand(2, 3, 4), 0, 2], {}),
    "where": ([torch.tensor([[1.0, 0.0]]), torch.rand(1, 2), torch.rand(1, 2)], {}),
}


def arguments(name: str) -> tuple[list[Any], dict[str, Any]]:
    if name in ARGUMENTS:
        return ARGUMENTS[name]
    generator = torch.Generator().manual_seed(3)
    values = [torch.rand(5, 7, generator=generator) * 0.8 + 0.1 for _ in range(1 + (name in _BINARY.split()))]
    if name == "acosh":
        values = [value + 1 for value in values]
    return [(value * 100).int() if name in BITS else value for value in values], {}


@pytest.mark.parametrize("name", sorted(_PLAIN))
def test_goldens_compute_what_functions_do(name: str, device: ttnn.Device) -> None:
    assert name in ARGUMENTS or name in f"{_UNARY} {_BINARY}".split()
    positional, named = arguments(name)

    def on_device(value: Any) -> Any:
        if isinstance(value, list):
            return [on_device(each) for each in value]
        return ttnn.from_torch(value, layout=ttnn.TILE_LAYOUT, device=device) if hasattr(value, "dim") else value

    given = [on_device(value) for value in positional]
    if name == "embedding":
        given = [ttnn.from_torch(value, device=device) for value in positional]
    options = {key: on_device(value) for key, value in named.items()}
    found = ttnn.to_torch(getattr(ttnn, name)(*given, **options)).double()
    expected = ttnn.get_golden_function(getattr(ttnn, name))(*positional, **named).double()
    torch.testing.assert_close(found.reshape(expected.shape), expected, rtol=1e-5, atol=1e-5)
    back = ttnn.to_torch(ttnn.get_fallback_function(getattr(ttnn, name))(*given, **options)).double()
    torch.testing.assert_close(back.reshape(expected.shape), expected, rtol=1e-5, atol=1e-5)


def test_a_fallback_keeps_layout_and_device(device: ttnn.Device) -> None:
    x = ttnn.from_torch(torch.rand(2, 6), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    y = ttnn.get_fallback_function(ttnn.reshape)(x, (3, 4))
    assert (y.shape, y.dtype, y.layout, y.device()) == ((3, 4), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    with pytest.raises(RuntimeError, match=r"ttnn\.get_golden_function: topk has no golden function"):
        ttnn.get_fallback_function(ttnn.topk)
