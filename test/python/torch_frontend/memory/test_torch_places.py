# SPDX-License-Identifier: Apache-2.0
"""Narrow formats leave alone what says where something is: indices, coordinates, angles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from compiled import error_of
from torch import nn
from torch.nn import functional

# Largest error as a part of the output's range: some roundings of values, and no other place.
FORMATS = {"bf16": 0.02, "bfp_bf8": 0.05}
SIZE = 3000


def frequencies() -> torch.Tensor:
    return 1 / 10000 ** (torch.arange(0, 64, 2) / 64)


def resized(mode: str, **options: Any) -> Callable[..., torch.Tensor]:
    return lambda x: functional.interpolate(x, mode=mode, **options)


def by_matrix(x: torch.Tensor, theta: torch.Tensor) -> torch.Tensor:
    grid = functional.affine_grid(theta, [1, 2, 300, 300], align_corners=False)
    return functional.grid_sample(x, grid, align_corners=False)


CASES: dict[str, tuple[Callable[..., torch.Tensor], Callable[[], tuple[torch.Tensor, ...]]]] = {
    "bilinear": (resized("bilinear", size=(517, 517)), lambda: (torch.rand(1, 2, 300, 300),)),
    "bilinear, corners": (resized("bilinear", scale_factor=1.7, align_corners=True),
                          lambda: (torch.rand(1, 2, 300, 300),)),
    "bicubic": (resized("bicubic", size=(417, 417)), lambda: (torch.rand(1, 2, 300, 300),)),
    "nearest": (resized("nearest", size=(417, 417)), lambda: (torch.rand(1, 2, 300, 300),)),
    "index": (lambda x: x[(torch.arange(1000.0) * 3 + 1).long()], lambda: (torch.rand(SIZE + 1),)),
    "index of an argument": (lambda x, i: x[(i * 3 + 1).long()], lambda: (torch.rand(SIZE + 1), torch.arange(1000.0))),
    "remainder": (lambda x, p: x[(p.float() % 7).long()], lambda: (torch.rand(SIZE), torch.arange(SIZE))),
    "prefix sum": (lambda x, m: x[m.cumsum(0).long() - 1], lambda: (torch.rand(SIZE), torch.ones(SIZE))),
    "embedding": (lambda i, w: functional.embedding((i * 2).int(), w),
                  lambda: (torch.arange(1000.0), torch.rand(2000, 8))),
    "scatter": (lambda x, i, s: x.scatter(0, (i + 1000).long(), s),
                lambda: (torch.rand(SIZE), torch.arange(1000.0), torch.rand(1000))),
    "grid": (lambda x, g: functional.grid_sample(x, g, align_corners=False),
             lambda: (torch.rand(1, 2, 300, 300), torch.rand(1, 40, 40, 2) * 2 - 1)),
    "grid by a matrix": (by_matrix,
                         lambda: (torch.rand(1, 2, 300, 300), torch.tensor([[[0.9, 0.1, 0.05], [-0.1, 0.8, 0]]]))),
    "angles": (lambda x, p: x * torch.cos(p[:, None].float() * frequencies()),
               lambda: (torch.rand(SIZE, 32), torch.arange(SIZE))),
    "time": (lambda t, f: torch.sin(t[:, None] * f), lambda: (torch.arange(999.0), frequencies())),
    "comparison": (lambda x, p: torch.where(p.float() > 1000.5, x, -x), lambda: (torch.rand(SIZE), torch.arange(SIZE))),
    "distances": (lambda x, p: torch.softmax(x - 0.01 * (p[:, None] - p[None]).abs(), -1),
                  lambda: (torch.rand(600, 600), torch.arange(600))),
}  # fmt: skip


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("name", CASES)
def test_places_are_not_narrowed(name: str, target: str) -> None:
    torch.manual_seed(0)
    function, make = CASES[name]
    arguments = make()
    found = torch.compile(function, backend="tt", fullgraph=True, options={"target_format": target})(*arguments)
    assert error_of(found, function(*arguments)) < FORMATS[target]


class Rotary(nn.Module):
    """Turns by angles that are products of positions and a buffer, and projects by a weight."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("frequencies", frequencies()[None, :, None])
        self.projection = nn.Linear(32, 32)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        angles = (self.frequencies @ positions[None, None, :].float()).transpose(1, 2)[0]
        return self.projection(x) * torch.cos(angles)


@pytest.mark.parametrize("options", [{"target_format": "bf16"}, {"weight_format": "bfp_bf8"},
                                     {"target_format": "bfp_bf8", "weight_format": "bfp_bf8"}], ids=str)  # fmt: skip
def test_weights_that_are_angles_are_not_narrowed(options: dict[str, str]) -> None:
    torch.manual_seed(0)
    model, arguments = Rotary(), (torch.rand(SIZE, 32), torch.arange(SIZE))
    with torch.no_grad():
        found = torch.compile(model, backend="tt", fullgraph=True, options=options)(*arguments)
        assert error_of(found, model(*arguments)) < 0.05
        assert error_of(found, model(*arguments)) > 1e-5  # the weights are
