# SPDX-License-Identifier: Apache-2.0
"""Nested tensors with jagged layout: their values and offsets are arguments of the graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
import torch
from compiled import assert_agree
from torch import nn
from torch.nn import functional
from ttmlir.torch.report import record

LINEAR = nn.Linear(8, 8)
FUNCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "product": lambda x: x * 2 + 1,
    "linear": LINEAR,
    "gelu": lambda x: functional.gelu(LINEAR(x)),
    "layer norm": lambda x: functional.layer_norm(x, (8,)),
    "values": lambda x: x.values() * 2,
}


def nested(*lengths: int) -> torch.Tensor:
    return torch.nested.nested_tensor([torch.rand(n, 8) for n in lengths], layout=torch.jagged)


def plain(x: torch.Tensor) -> torch.Tensor:
    return x.values() if x.is_nested else x


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nested_tensors(name: str) -> None:
    function = FUNCTIONS[name]
    compiled = torch.compile(function, backend="tt")
    programs = list[int]()
    with warnings.catch_warnings(), record() as reports:
        warnings.simplefilter("ignore")
        for lengths in ((3, 5, 2), (4, 1), (5, 2), (6, 1), (2, 5)):
            x = nested(*lengths)
            with torch.no_grad():
                assert_agree(plain(compiled(x)), plain(function(x)))
            programs.append(len(reports))
        assert programs[-1] == programs[-2], "the same number of values is the same program"
        x = nested(3, 4).requires_grad_()
        gradients = []
        for run in (compiled, function):
            x.grad = None
            plain(run(x)).pow(3).sum().backward()  # squares of a layer norm have a constant sum
            gradients.append(x.grad.values().clone())
        assert_agree(gradients[0], gradients[1])
    assert not any(r.on_host for r in reports)
