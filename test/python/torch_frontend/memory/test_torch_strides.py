# SPDX-License-Identifier: Apache-2.0
"""Views by strides see memory as PyTorch lays it out: transposed, sliced, repeated, of arguments and of results."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from compiled import assert_agree, check, on_chip
from torch._subclasses.fake_tensor import FakeTensorMode
from ttmlir.torch import compile as compile_ahead
from ttmlir.torch import import_graph
from ttmlir.torch.report import record

X = torch.arange(24.0).reshape(4, 6)


def columns_first(x: torch.Tensor) -> torch.Tensor:
    """A convolution of images that have their channels last has a result that has, too."""
    images = x.reshape(1, 2, 3, 4).to(memory_format=torch.channels_last)
    return F.conv2d(images, torch.ones(2, 2, 1, 1)).as_strided((4, 2), (6, 1), 1)


def overlapping_windows(x: torch.Tensor) -> torch.Tensor:
    """As attention over a sliding window cuts queries and keys."""
    heads = (x + 1).reshape(4, 2, 3).transpose(0, 1)
    chunks = heads.reshape(2, 2, 2, 3)
    size, stride = list(chunks.shape), list(chunks.stride())
    size[1], stride[1] = size[1] * 2 - 1, stride[1] // 2
    return chunks.as_strided(size, stride) * 2


VIEWS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "a result": lambda x: (x + 1).as_strided((2, 2), (4, 1), 1),
    "no elements": lambda x: (x + 1).as_strided((0, 2), (4, 1), 1),
    "rank 0": lambda x: (x + 1).t().as_strided((), (), 7),
    "a transposed result": lambda x: (x + 1).t().as_strided((3, 3), (6, 1), 2),
    "a result of what is transposed": lambda x: (x.t() + 1).as_strided((2, 3), (1, 5), 0),
    "a transposed argument": lambda x: x.t().as_strided((3, 3), (6, 1), 2) + 1,
    "the offset of a slice": lambda x: (x + 1)[1:].as_strided((2, 2), (2, 1)) * 1,
    "an offset within a slice": lambda x: (x + 1)[:, 2:].as_strided((2, 2), (6, 1), 2) * 1,
    "and a slice": lambda x: (x + 1)[:, :2].as_strided((3, 3), (6, 1), 0) * 1,
    "and a slice of an argument": lambda x: x[:, :2].as_strided((3, 3), (6, 1), 0) + 1,
    "one of several": lambda x: (x + 1).split(2, 1)[1].as_strided((3, 3), (6, 1)) * 1,
    "repeated": lambda x: (x[:1] + 1).expand(4, 6).as_strided((2, 6), (0, 1), 0) * 1,
    "overlapping": lambda x: (x + 1).t().as_strided((4, 4), (3, 1), 0) * 1,
    "of a view": lambda x: (x + 1).t().as_strided((6, 4), (4, 1)).as_strided((3, 3), (5, 2), 1) * 1,
    "channels last": columns_first,
    "windows": overlapping_windows,
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_by_strides(name: str) -> None:
    for requires_grad in (False, True):
        with torch.set_grad_enabled(requires_grad), record() as reports:
            ours, theirs = (X.clone().requires_grad_(requires_grad) for _ in range(2))
            got, want = on_chip(VIEWS[name])(ours), VIEWS[name](theirs)
            assert torch.equal(got, want)
            if requires_grad:
                got.square().sum().backward()
                want.square().sum().backward()
                assert_agree(ours.grad, theirs.grad)
        assert not any(report.on_host for report in reports)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int32, torch.int64, torch.bool])
def test_types(dtype: torch.dtype) -> None:
    check(lambda x: x.t().as_strided((3, 3), (6, 1), 2) == x[:3, :3], X.to(dtype))


def test_a_view_of_another_type() -> None:
    check(lambda x: (x + 1).view(torch.float32).t().as_strided((3, 3), (6, 1)).view(torch.int32), X.to(torch.int32))


@pytest.mark.parametrize("argument", [X.t(), X[:, ::2], X[1:], X[:1].expand(4, 6)], ids=["t", "holes", "offset", "one"])
def test_arguments_that_are_not_row_major(argument: torch.Tensor) -> None:
    """Ignores values in holes between an argument's elements: PyTorch reads them."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return x.as_strided((2, 3), (2, 1)) + 1

    with torch.no_grad(), record() as reports:
        assert torch.equal(on_chip(function)(argument), function(argument))
    (report,) = reports
    holes = argument.stride() == (6, 2)
    assert dict(report.on_host) == ({"aten.as_strided.default": 1} if holes else {})


def test_memory_before_an_argument_is_read_by_pytorch() -> None:
    with torch.no_grad(), record() as reports:
        assert torch.equal(on_chip(lambda x: x.as_strided((8,), (1,), 0) + 1)(X[1:]), X.flatten()[:8] + 1)
    assert [dict(report.on_host) for report in reports] == [{"aten.as_strided.default": 1}]


def test_contents_of_a_view_are_replaced() -> None:
    def replaced(x: torch.Tensor) -> torch.Tensor:
        return torch.as_strided_scatter((x + 1).t(), x[:2, :2], (2, 2), (6, 1), 1)

    with torch.no_grad(), record() as reports:
        check(replaced, X)
        check(lambda x: torch.as_strided_scatter((x + 1)[:, :4], x[:1, :3], (1, 3), (1, 2), 1), X)  # between its rows
    assert not any(report.on_host for report in reports)


def test_operands_by_name() -> None:
    """As graphs may have them that no dispatcher has seen."""
    graph = torch.fx.Graph()
    with FakeTensorMode():
        x = graph.placeholder("x")
        x.meta["val"] = torch.empty(4, 6).t()
        view = graph.call_function(torch.ops.aten.as_strided.default, (), {"self": x, "stride": [6, 1], "size": [2, 2]})
        view.meta["val"] = x.meta["val"].as_strided((2, 2), (6, 1))
    graph.output((view,))
    assert "ttir.embedding" in str(import_graph(torch.fx.GraphModule({}, graph)).module)


def test_ahead_of_time() -> None:
    class Strided(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x + 1).t().as_strided((3, 3), (6, 1), 2) * 2

    assert torch.equal(compile_ahead(Strided(), (X,))(X), Strided()(X))


@pytest.mark.parametrize("apart", [False, True])
def test_writes_to_memory_around_an_argument(apart: bool) -> None:
    """PyTorch runs the graph: an argument's values do not tell them."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return x.as_strided((4,), (1,), 0).mul_(2) + 1

    memory, expected = torch.arange(12.0), torch.arange(12.0)
    first = 4 if apart else 0
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = torch.compile(function, backend="tt")(memory[first : first + 4])
    torch.testing.assert_close(result, function(expected[first : first + 4]))
    torch.testing.assert_close(memory, expected)
    assert apart == any("a write to memory around an argument" in str(w.message) for w in found)


def test_views_by_strides_of_arguments_that_begin_elsewhere() -> None:
    """Offsets count from the beginning of the memory, which Dynamo does not guard."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return x.as_strided((4,), (1,), 0) + 1

    compiled = torch.compile(function, backend="tt")
    for first, size in ((0, 4), (4, 12), (2, 12), (0, 12), (4, 8), (0, 4)):
        x = torch.arange(float(size))[first : first + 4]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.testing.assert_close(compiled(x), function(x), msg=lambda m, first=first: f"{first}: {m}")
