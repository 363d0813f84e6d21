# SPDX-License-Identifier: Apache-2.0
"""Random tensors and choices: their bounds, means and variances, and what a seed gives again."""

from __future__ import annotations

import pytest
import torch
import ttnn


@pytest.mark.parametrize("dtype", [ttnn.float32, ttnn.bfloat16], ids=["f32", "bf16"])
def test_numbers_between_bounds(dtype: ttnn.DataType, device: ttnn.Device) -> None:
    for low, high in ((0.0, 1.0), (-3.0, 5.0)):
        found = ttnn.to_torch(ttnn.rand([100, 200], device, dtype=dtype, low=low, high=high, seed=7)).double()
        assert found.min() >= low and found.max() <= high
        assert abs(found.mean() - (low + high) / 2) < (high - low) * 0.01
        assert abs(found.var() * 12 - (high - low) ** 2) < (high - low) ** 2 * 0.03
        again = ttnn.to_torch(ttnn.rand([100, 200], device, dtype=dtype, low=low, high=high, seed=7)).double()
        assert torch.equal(found, again)
        other = ttnn.to_torch(ttnn.rand([100, 200], device, dtype=dtype, low=low, high=high, seed=8)).double()
        assert (found != other).double().mean() > 0.9
    assert tuple(ttnn.rand([0, 4], device, dtype=dtype).shape) == (0, 4)


@pytest.mark.parametrize("dtype", [ttnn.float32, ttnn.bfloat16], ids=["f32", "bf16"])
def test_dropout_keeps_a_part_and_scales_it(dtype: ttnn.DataType, device: ttnn.Device) -> None:
    x = ttnn.from_torch(torch.full((100, 200), 3.0), dtype, layout=ttnn.TILE_LAYOUT, device=device)
    for probability in (0.0, 0.25, 0.5):
        found = ttnn.to_torch(ttnn.dropout(x, probability, 2.0, seed=3)).double()
        assert ((found == 0) | (found == 6.0)).all()
        assert abs((found == 0).double().mean() - probability) < 0.02


def test_choices_follow_the_softmax_of_candidates(device: ttnn.Device) -> None:
    """32 users with the same four candidates each; those beyond k and p are never drawn."""
    scores = torch.tensor([2.0, 1.0, 0.0, -1.0]).repeat(32, 8)[:, :32].clone()
    scores[:, 4:] = -100.0
    values = ttnn.from_torch(scores.reshape(1, 1, 32, 32).bfloat16(), layout=ttnn.TILE_LAYOUT, device=device)
    numbers = (torch.arange(32) * 10).repeat(32, 1).reshape(1, 1, 32, 32).int()
    indices = ttnn.from_torch(numbers, device=device)

    def drawn(k: int, p: float, temperature: float = 1.0) -> torch.Tensor:
        k_, p_, t_ = (ttnn.from_torch(torch.full((32,), number), dtype, device=device) for number, dtype in (
            (k, ttnn.uint32), (p, ttnn.bfloat16), (temperature, ttnn.bfloat16)))  # fmt: skip
        found = [ttnn.to_torch(ttnn.sampling(values, indices, k_, p_, t_, seed=seed)).long().reshape(-1) for seed in
                 range(1, 65)]  # fmt: skip
        return torch.cat(found)

    assert (drawn(1, 1.0) == 0).all()
    assert (drawn(32, 0.0) == 0).all()
    two = drawn(2, 1.0)
    expected = torch.softmax(torch.tensor([2.0, 1.0]), 0)
    assert set(two.tolist()) == {0, 10}
    assert abs((two == 0).double().mean() - expected[0]) < 0.05
    four = drawn(4, 1.0)
    expected = torch.softmax(torch.tensor([2.0, 1.0, 0.0, -1.0]), 0)
    for at in range(4):
        assert abs((four == at * 10).double().mean() - expected[at]) < 0.05
