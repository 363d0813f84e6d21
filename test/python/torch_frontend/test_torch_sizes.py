# SPDX-License-Identifier: Apache-2.0
"""Graphs whose sizes change: one program for all sizes of 2 and more, with the numbers of PyTorch at each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from compiled import assert_agree, on_chip
from torch.nn import functional
from ttmlir.torch.report import Report, record

SIZES = (17, 3, 0, 64, 1, 2, 65)
WEIGHT = torch.linspace(-1, 1, 64).reshape(8, 8)
IMAGES = torch.linspace(-1, 1, 5 * 3 * 3 * 3).reshape(5, 3, 3, 3)


def rows(n: int) -> tuple[torch.Tensor, ...]:
    return (torch.rand(n, 8),)


def attention(x: torch.Tensor) -> torch.Tensor:
    q, k, v = ((x @ (WEIGHT + i)).view(x.shape[0], 2, 4).transpose(0, 1) for i in range(3))
    return functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(0, 1).reshape(x.shape)


def shifted(x: torch.Tensor) -> torch.Tensor:
    """Half of the rows, turned, and as many zeros."""
    half = x.shape[0] // 2
    return torch.cat([x[:half].flip(0), torch.zeros_like(x[half:])])


def of_positions(x: torch.Tensor) -> torch.Tensor:
    places = torch.arange(x.shape[0])
    mask = places[:, None] >= places[None]
    return torch.where(mask, x @ x.T, -1.0).softmax(-1) @ x + places[:, None] / (x.shape[0] + 1)


def written(x: torch.Tensor) -> torch.Tensor:
    x[: x.shape[0] // 2].mul_(2)
    x.add_(x.shape[0])
    return x.sum(0)


def views(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return x * 2, x.t(), x[1:], x.shape[0] + x.sum()


def with_numbers(x: torch.Tensor) -> tuple[Any, ...]:
    return x + x.shape[0], x.shape[0] * 2, x.numel(), x.mean() / max(x.shape[0], 1)


# What a function does, the function, and what it is called with at a size.
CASES: dict[str, tuple[Callable[..., Any], Callable[[int], tuple[Any, ...]]]] = {
    "elementwise": (lambda x: (x * 2 + 1).sin(), rows),
    "product": (lambda x: (x @ WEIGHT).relu() @ WEIGHT, rows),
    "product of both": (lambda x: x @ x.T, rows),
    "softmax": (lambda x: torch.softmax(x @ x.T, -1) * x.shape[0], rows),
    "layer norm": (lambda x: functional.layer_norm(x, (8,), WEIGHT[0], WEIGHT[1]), rows),
    "sums": (lambda x: (x.sum(0), x.sum(1), x.sum(), x.var(1)), rows),
    "reshape": (lambda x: (x.reshape(-1), x.view(x.shape[0], 2, 4).transpose(1, 2).reshape(-1, 2) + 1), rows),
    "attention": (attention, rows),
    "halves": (shifted, rows),
    "positions": (of_positions, rows),
    "cat": (lambda x, y: torch.cat([x, y, x]), lambda n: (torch.rand(n, 8), torch.rand(5, 8))),
    "two sizes": (lambda x, y: x @ y.T, lambda n: (torch.rand(n, 8), torch.rand(n + 2, 8))),
    "embedding": (lambda places: functional.embedding(places, WEIGHT), lambda n: (torch.arange(n) % 8,)),
    "gather": (lambda x: x[torch.arange(x.shape[0] - 1, -1, -1)] * 2, rows),
    "cumsum of integers": (lambda x: (x > 0.5).long().cumsum(0), rows),
    "padding": (lambda x: functional.pad(x, (1, 2, 3, 4), value=7.0), rows),
    "expand": (lambda x: x[:, None].expand(-1, 3, 8).reshape(-1, 8) * 2, rows),
    "triangle": (lambda x: torch.tril(x @ x.T) + torch.ones(x.shape[0], x.shape[0]).triu(1), rows),
    "an argument written": (written, rows),
    "views of an argument": (views, rows),
    "numbers": (with_numbers, rows),
    "convolution": (
        lambda x: functional.conv2d(x, IMAGES, padding=1).relu().mean((2, 3)), lambda n: (torch.rand(n, 3, 6, 6),)
    ),
    "images": (
        lambda x: functional.max_pool2d(functional.conv2d(x, IMAGES), 2), lambda n: (torch.rand(1, 3, n + 5, n + 5),)
    ),
}  # fmt: skip


# Whose sizes the chip's layouts or constants depend on: they may have a program for each size.
MAY_CLOSE = {"attention", "reshape", "halves", "triangle", "convolution", "images"}


def strides(value: Any) -> list[int]:
    """Strides that say where elements are."""
    if not isinstance(value, torch.Tensor) or not value.numel():
        return []
    return [step for n, step in zip(value.shape, value.stride(), strict=True) if n > 1]


def open_and_closed(reports: list[Report]) -> tuple[int, list[str]]:
    """How many programs leave sizes open, and why others do not."""
    return sum(bool(r.open) for r in reports), [r.closed for r in reports if not r.open]


@pytest.mark.parametrize("name", CASES)
def test_one_program_for_all_sizes(name: str) -> None:
    function, arguments = CASES[name]
    compiled = on_chip(function, dynamic=True)
    with torch.no_grad(), record() as reports:
        for n in SIZES:
            ours, theirs = arguments(n), ()
            theirs = tuple(x.clone() for x in ours)
            try:
                want = function(*theirs)
            except (RuntimeError, IndexError):  # PyTorch has no result for this size
                continue
            got = compiled(*ours)
            assert_agree(got, want, f"{name} of {n}")
            assert_agree(ours, theirs, f"arguments of {name} of {n}")
            for a, b in zip(torch.utils._pytree.tree_leaves(got), torch.utils._pytree.tree_leaves(want), strict=True):
                assert type(a) is type(b) and (isinstance(a, torch.Tensor) or a == b), f"{name} of {n}: {a}, {b}"
                assert strides(a) == strides(b), f"{name} of {n}"
    opened, closed = open_and_closed(reports)
    if name not in MAY_CLOSE:
        assert opened >= 1 and all("0 or 1" in reason or not reason for reason in closed), (opened, closed)
    assert not any(r.unsuited or r.on_host for r in reports), [(r.unsuited, r.on_host) for r in reports]
