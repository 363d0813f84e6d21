# SPDX-License-Identifier: Apache-2.0
"""Random numbers are PyTorch's, in the order of the graph: also where PyTorch runs parts of it, and where nobody reads
them."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from ttmlir.torch.report import Report, record

# Ops that draw, of chances [4, 6].
DRAWS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "rand": lambda p: torch.rand(3),
    "rand of a size": lambda p: torch.rand_like(p),
    "randn": lambda p: torch.randn(20),
    "randint": lambda p: torch.randint(0, 9, (4,)),
    "randperm": lambda p: torch.randperm(9),
    "one sample": lambda p: torch.multinomial(p, 1),
    "samples": lambda p: torch.multinomial(p, 3),
    "samples with replacement": lambda p: torch.multinomial(p, 9, replacement=True),
    "samples in bf16": lambda p: torch.multinomial(p.bfloat16(), 2),
    "samples of columns": lambda p: torch.multinomial(p.t().contiguous().t(), 1),
    "poisson": lambda p: torch.poisson(p * 30),
    "bernoulli": lambda p: torch.bernoulli(p),
    "normal of means": lambda p: torch.normal(p, 2.0),
    "normal of deviations": lambda p: torch.normal(1.0, p),
    "normal of both": lambda p: torch.normal(p, p),
    "binomial": lambda p: torch.binomial(torch.full((4, 6), 9.0), p),
    "gamma": lambda p: torch._standard_gamma(p + 1),
    "dirichlet": lambda p: torch._sample_dirichlet(p + 1),
    "exponential": lambda p: torch.empty(4).exponential_(2.0),
    "geometric": lambda p: torch.empty(4).geometric_(0.3),
    "cauchy": lambda p: torch.empty(4).cauchy_(),
    "log-normal": lambda p: torch.empty(5).log_normal_(),
    "uniform": lambda p: torch.empty(5).uniform_(1, 2),
    "dropout": lambda p: functional.dropout(p + 1, 0.3),
    "dropout without a mode": lambda p: torch.native_dropout(p + 1, 0.3, None)[0],
    "alpha dropout": lambda p: functional.alpha_dropout(p, 0.3, True),
    "channel dropout": lambda p: functional.dropout1d(p[None], 0.5, True),
    "rrelu": lambda p: functional.rrelu(p - 0.5, training=True),
    "gumbel": lambda p: functional.gumbel_softmax(p),
    "attention": lambda p: functional.scaled_dot_product_attention(p[None], p[None], p[None], dropout_p=0.3),
}
# Ops that PyTorch runs, and that draw nothing.
HOST: list[Callable[[torch.Tensor], torch.Tensor]] = [
    lambda p: torch.fft.fft(p).abs()[:4, :6],
    lambda p: torch.linalg.matrix_exp(p @ p.mT / 4) @ p / 8,
]


def same_stream(function: Callable[..., Any], *arguments: torch.Tensor) -> list[Report]:
    compiled = torch.compile(function, backend="tt")
    with warnings.catch_warnings(), record() as reports:
        warnings.simplefilter("ignore")
        for seed in range(3):
            torch.manual_seed(seed)
            want = [*function(*arguments), torch.rand(2)]
            torch.manual_seed(seed)
            have = [*compiled(*arguments), torch.rand(2)]
            for number, (x, y) in enumerate(zip(have, want, strict=True)):
                torch.testing.assert_close(x, y, rtol=1e-4, atol=1e-5, msg=lambda m, n=number: f"{n}: {m}")
    return reports


@pytest.mark.parametrize("name", DRAWS)
def test_a_draw_before_another(name: str) -> None:
    chances = torch.rand(4, 6, generator=torch.Generator().manual_seed(5)) * 0.9 + 0.05
    draw = DRAWS[name]
    same_stream(lambda p: (draw(p), torch.rand(3), draw(p * 0.5), torch.randn(3)), chances)


@pytest.mark.parametrize("seed", range(6))
def test_draws_in_random_order_among_ops_of_pytorch(seed: int) -> None:
    chance = random.Random(seed)
    names = chance.choices(list(DRAWS), k=5)
    places = sorted(chance.choices(range(5), k=2))
    hosts = chance.choices(HOST, k=2)

    def function(p: torch.Tensor) -> list[torch.Tensor]:
        found, value = [], p
        for number, name in enumerate(names):
            for place, host in zip(places, hosts, strict=True):
                if place == number:
                    value = value * 0.5 + torch.sigmoid(host(value)) * 0.4
            found.append(DRAWS[name](value))
        return [*found, value]

    same_stream(function, torch.rand(4, 6, generator=torch.Generator().manual_seed(seed)) * 0.9 + 0.05)


def test_unused_random_numbers_are_drawn() -> None:
    def function(p: torch.Tensor) -> list[torch.Tensor]:
        torch.rand(5)
        torch.multinomial(p, 1)
        return [torch.rand(3), functional.dropout(p)]

    same_stream(function, torch.rand(4, 6))


def test_samples_are_the_chips() -> None:
    (report,) = same_stream(lambda p: (torch.multinomial(p, 1), torch.multinomial(p, 3)), torch.rand(4, 6))
    assert not report.on_host


def test_products_of_a_dropout_stay_when_the_mask_is_ordered() -> None:
    def function(p: torch.Tensor) -> list[torch.Tensor]:
        return [functional.dropout(p, 0.3) * 2, torch.poisson(p * 30), functional.dropout(p + 1, 0.6)]

    (report,) = same_stream(function, torch.rand(4, 6))
    assert set(report.on_host) == {"aten.poisson.default"}


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_dropouts_of_nothing_or_of_all_draw_nothing(chance: float) -> None:
    def function(p: torch.Tensor) -> list[torch.Tensor]:
        return [functional.dropout(p, chance), torch.poisson(p * 30), functional.dropout(p + 1, chance), torch.rand(3)]

    same_stream(function, torch.rand(4, 6))
    same_stream(lambda p: (functional.dropout(p, chance), torch.rand(3)), torch.rand(4, 6, requires_grad=True))


def test_training() -> None:
    """Dropouts of layers around an op of PyTorch: gradients have the masks of eager mode."""

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(6, 8), nn.Linear(8, 6)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = functional.dropout(self.first(x), 0.4)
            x = x + torch.fft.fft(x).abs() * 0.1
            return functional.dropout(self.second(x), 0.4).sum()

    model, x = Model(), torch.rand(4, 6)
    gradients = []
    for run in (model, torch.compile(model, backend="tt")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.manual_seed(3)
            model.zero_grad()
            run(x).backward()
        gradients.append([p.grad.clone() for p in model.parameters()])
    for have, want in zip(gradients[1], gradients[0], strict=True):
        torch.testing.assert_close(have, want, rtol=1e-3, atol=1e-4)
