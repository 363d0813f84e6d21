# SPDX-License-Identifier: Apache-2.0
"""Aliases at the front end: outputs that are inputs, views of inputs that are written, outputs that occur twice,
nothing to compute; graph breaks; the line of Python in errors."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
from compiled import assert_agree, check, on_chip
from torch import nn


def in_place(x: torch.Tensor) -> torch.Tensor:
    x.add_(1).mul_(2)
    x[0].zero_()
    x.t()[1] += x.sum()
    return x


def views_written(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    row, column = x[1], x[:, 2]
    row.fill_(7)
    column.neg_()
    return row, column


FUNCTIONS: dict[str, Callable[[torch.Tensor], object]] = {
    "an input": lambda x: x,
    "inputs and a result": lambda x: (x, x + 1, x),
    "a result twice": lambda x: [x.sin()] * 2,
    "a view of an input": lambda x: (x.t(), x[1:], x.view(-1)),
    "views of a result": lambda x: (y := x * 2, y[0], y.t()),
    "written in place": in_place,
    "views of an input, written": views_written,
    "a transposed result": lambda x: (x @ x.t()).t(),
    "an expanded result": lambda x: x[:1].expand(3, x.shape[1]),
    "a clone": lambda x: (x.clone(), x.contiguous()),
    "a constant": lambda x: (torch.ones(2), 3, None, x.shape),
}
SHAPES = [(3, 4), (4, 3), (3, 3)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_aliases(name: str) -> None:
    for shape in SHAPES:
        check(FUNCTIONS[name], torch.rand(shape))


@pytest.mark.parametrize("name", ["an input", "a view of an input", "written in place", "views of an input, written"])
def test_results_that_share_memory_share_it(name: str) -> None:
    x = torch.rand(3, 4)
    result = on_chip(FUNCTIONS[name])(x)
    for tensor in result if isinstance(result, tuple) else [result]:
        assert tensor.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


def test_results_do_not_share_memory_with_later_ones() -> None:
    compiled = on_chip(lambda x: x * 2)
    first = compiled(torch.ones(4))
    kept = first.clone()
    compiled(torch.full((4,), 5.0))
    assert torch.equal(first, kept)


def test_copies_share_no_memory_with_inputs_and_weights() -> None:
    class Copies(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(8, 8)
            self.register_buffer("square", torch.rand(4, 4))

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            weight = self.linear.weight.clone()
            return x.clone(), x.clone().view(-1)[2:], weight, self.square.clone().view(16), self.square.t().contiguous()

    model, x = Copies(), torch.rand(2, 8)
    compiled = on_chip(model)
    for _ in range(2):
        with torch.no_grad():
            kept = [x.clone(), *(v.clone() for v in model.state_dict().values())]
            for result in compiled(x):
                result.fill_(99)
            assert_agree([x, *model.state_dict().values()], kept)
            assert_agree(compiled(x), model(x))


def test_nothing_is_returned() -> None:
    def function(x: torch.Tensor) -> None:
        x.add_(1)

    check(function, torch.rand(3))
    assert on_chip(lambda x: None)(torch.rand(2)) is None


@pytest.mark.parametrize("shape", [(), (0,), (0, 4), (3, 0), (1,), (1, 1)], ids=str)
@pytest.mark.parametrize("grad", [False, True], ids=["forward", "backward"])
def test_rank_0_and_nothing_and_one(shape: tuple[int, ...], grad: bool) -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = (x * 2).exp()
        return y.sum(), y.reshape(-1), torch.cat([y.flatten(), y.flatten()]), y.unsqueeze(0), (y > 1).any()

    x = torch.rand(shape)
    check(function, x)
    if grad:
        grads = []
        for run in (function, on_chip(function)):
            given = x.clone().requires_grad_()
            outputs = run(given)
            (outputs[0] + 3 * outputs[2].sum()).backward()
            grads.append(given.grad)
        assert_agree(grads[1], grads[0])


def test_the_same_tensor_twice_and_views_of_one() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return x + y

    for view in (lambda x: x, lambda x: x[:], lambda x: x.flip(0)):
        for run in (function, on_chip(function)):
            x = torch.arange(4.0)
            result = run(x, view(x))
            expected = torch.arange(1.0, 5) + (torch.arange(1.0, 5) if view(x).data_ptr() == x.data_ptr() else
                                               torch.arange(4.0).flip(0))  # fmt: skip
            assert_agree(result, expected)


def test_graph_breaks_are_counted() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        torch._dynamo.graph_break()
        return y + 1

    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    x = torch.rand(3)
    assert_agree(torch.compile(function, backend="tt")(x), function(x))
    assert sum(torch._dynamo.utils.counters["graph_break"].values()) == 1
    assert torch._dynamo.explain(function)(x).graph_break_count == 1
    with pytest.raises(Exception, match="graph_break"):
        on_chip(function)(x)


def test_sizes_that_depend_on_values_break_the_graph() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x[x > 0.5].sum() + x.nonzero().shape[0]

    torch._dynamo.reset()
    x = torch.rand(8)
    assert_agree(torch.compile(function, backend="tt")(x), function(x))


class Refused(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        return nn.functional.conv2d(y, torch.ones(1, 1, 2, 2, dtype=torch.int64))  # the line


def line_of(text: str) -> int:
    with open(__file__, encoding="utf-8") as file:
        return next(i for i, line in enumerate(file, 1) if line.rstrip().endswith(text))


def test_warnings_and_errors_have_the_line_of_python() -> None:
    x = torch.arange(16).reshape(1, 1, 4, 4)
    where = (
        rf"test_torch_aliases\.py:{line_of('# the line')}: aten\.convolution\.default\(.*a convolution of torch\.int64"
    )
    with pytest.warns(UserWarning, match=r"PyTorch runs what the chip has no op for: aten\.convolution.*" + where):
        check(Refused(), x)
    import ttmlir.torch as tt

    with pytest.raises(tt.UnsupportedError) as raised:
        tt.compile(Refused(), (x,))
    assert re.search(where, str(raised.value))
