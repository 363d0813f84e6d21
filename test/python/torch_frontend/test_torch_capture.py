# SPDX-License-Identifier: Apache-2.0
"""Graphs that are captured in one pass or by AOTAutograd; both give PyTorch's numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from compiled import assert_agree, check, on_chip
from torch import nn
from torch.utils.checkpoint import checkpoint
from ttmlir.torch import Options
from ttmlir.torch.dynamo import through_autograd
from ttmlir.torch.report import record

X = torch.linspace(-2, 2, 12).reshape(3, 4)
TABLE = torch.linspace(-1, 1, 16).reshape(4, 4)


def fresh_memory(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    y += 2
    y.mul_(x).masked_fill_(x > 0, 3)
    z = torch.ones(3, 4) * 2
    z.fill_(5)
    return y - z.copy_(x)


def views_of_fresh_memory(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    y[1] = 7
    y.t()[0].add_(1)
    y.view(-1)[::5].mul_(y.sum())
    return y


def a_result_of_a_view_written(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    y = x * 2
    row = y[0]
    y.add_(1)
    return row.sum(), y.sum()


def autocast_within(x: torch.Tensor) -> torch.Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        y = x @ TABLE
        with torch.autocast("cpu", enabled=False):
            y = y.float() @ TABLE
        y = y @ TABLE
    return y @ y.t()


def autocast_and_a_write(x: torch.Tensor) -> torch.Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        x.add_(1)
        y = x @ TABLE
    return y.float() @ TABLE


def autocast_and_a_view(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    with torch.autocast("cpu", torch.bfloat16):
        return x @ TABLE, x.t()


def parts(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    first, second = x.split(2, 1)
    values, places = torch.max(x, 1)
    return first * second, values, places, x.t().clone(), x.expand(2, 3, 4) + 1


def nested(x: torch.Tensor) -> dict[str, Any]:
    y = x * 2
    return {"list": [y + 1, (y.amax(), None)], "number": 3, "shape": x.shape, "again": (x, y)}


def views_of_an_argument_written(x: torch.Tensor) -> torch.Tensor:
    x[1].fill_(7)
    x.t()[2].neg_()
    x.view(-1)[::3] = x.sum()
    return x * 2


def written_by_its_own_view(x: torch.Tensor) -> torch.Tensor:
    x[:2].copy_(x[1:] * 2)
    return x.sum()


def states_entered(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        y = x + 1
        with torch.enable_grad():
            y = y * 2
    return y


def inference_within(x: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        return x * 2


def other_memory(x: torch.Tensor) -> torch.Tensor:
    x.data = x * 2
    return x + 1


def other_memory_and_shape(x: torch.Tensor) -> torch.Tensor:
    x.data = (x * 2).t()
    return x + 1


def written_aside(x: torch.Tensor) -> torch.Tensor:
    x.data.mul_(3)
    y = x.detach()
    y.t_().add_(1)
    return x * y.t()


# What a function does, the function, and what AOTAutograd is needed for ("": nothing).
CASES: dict[str, tuple[Callable[[torch.Tensor], Any], str]] = {
    "elementwise": (lambda x: (x + 1).sin() * 3, ""),
    "several results, views of them": (parts, ""),
    "nested results": (nested, ""),
    "linear, and a bias of rank 0": (lambda x: nn.functional.linear(x, TABLE, TABLE[0, 0]), ""),
    "linear of nothing": (lambda x: nn.functional.linear(x[:, :0], torch.zeros(5, 0), torch.ones(5)), ""),
    "linear of a vector": (lambda x: nn.functional.linear(x, TABLE[0]) + nn.functional.linear(x[0], TABLE).sum(), ""),
    "normalisation": (lambda x: nn.functional.layer_norm(x, (4,), TABLE[0], TABLE[1]), ""),
    "numbers as tensors": (lambda x: x * torch.tensor(2.5) + torch.tensor([1.0, 2.0, 3.0, 4.0]), ""),
    "writes to memory of its own": (fresh_memory, ""),
    "writes through views": (views_of_fresh_memory, ""),
    "a write that a view shows": (a_result_of_a_view_written, ""),
    "autocast": (autocast_within, ""),
    "random numbers": (lambda x: torch.rand(3, 4) + nn.functional.dropout(x, 0.5) + torch.randn_like(x), ""),
    "random numbers, written": (lambda x: torch.empty(3, 4).normal_() + (x + 1).uniform_(0, 2).bernoulli_(0.5), ""),
    "nothing computed": (lambda x: (x + 1).detach().contiguous(), ""),
    "an argument copied": (lambda x: (x.clone(), x.view(-1).clone()), ""),
    "an argument written": (lambda x: x.add_(1) * 2, ""),
    "an argument written under autocast": (autocast_and_a_write, ""),
    "an argument written through views": (views_of_an_argument_written, ""),
    "an argument written from a view of it": (written_by_its_own_view, ""),
    "an argument written, by what PyTorch runs": (lambda x: x.copy_(torch.linalg.matrix_exp(TABLE).sum() + x) + 1, ""),
    "an argument written aside": (written_aside, ""),
    "statistics written": (
        lambda x: torch.native_batch_norm(x, None, None, TABLE[0].clone(), TABLE[1].abs(), True, 0.1, 1e-5)[0],
        "",
    ),
    "gradients switched on and off": (states_entered, ""),
    "a view of an argument": (lambda x: (x + 1, x.t()), ""),
    "a view of an argument, under autocast": (autocast_and_a_view, ""),
    "an argument written and given back": (lambda x: (x.add_(1), x[1], x * 2), ""),
    "a view of an argument in another type": (lambda x: (x + 1, x.view(torch.int32)), "shares memory"),
    "a result and its view": (lambda x: (y := x + 1, y.t()), "shares memory"),
    "what gives nothing": (lambda x: torch.linalg.inv(x[:, :3] + 3 * torch.eye(3)), "NoneType"),
    "an argument that gets other memory": (other_memory, "no value"),
    "an argument that gets other memory and shape": (other_memory_and_shape, "another shape"),
    "complex numbers": (lambda x: torch.complex(x, x).conj().abs(), "complex64"),
    "a gradient inside": (lambda x: torch.func.grad(lambda y: y.square().sum())(x), "no value"),
    "a map inside": (lambda x: torch.func.vmap(lambda y: y * y.sum())(x), "no value"),
    "inference mode inside": (inference_within, "no value"),
    "a graph inside": (lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)), "a graph of its own"),
    "a checkpoint": (lambda x: checkpoint(torch.sin, x, use_reentrant=False), "a graph of its own"),
}


@pytest.mark.filterwarnings("ignore:PyTorch runs what")
@pytest.mark.parametrize("name", CASES)
def test_numbers_and_way(name: str) -> None:
    function, reason = CASES[name]
    with torch.no_grad(), record() as reports:
        check(function, X.clone())
    (report,) = reports
    assert reason in report.unsuited and bool(reason) == bool(report.unsuited), report.unsuited
    assert torch.is_grad_enabled() and not torch.is_autocast_enabled("cpu")


VIEWS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "detach": lambda x: x.detach(),
    "contiguous": lambda x: x.contiguous(),
    "to": lambda x: x.to(torch.float32),
    "expand": lambda x: x.expand(2, 3, 4),
    "unfold": lambda x: x.unfold(0, 2, 1),
    "diagonal": lambda x: x.diagonal(),
    "as_strided": lambda x: x.as_strided((2, 2), (4, 1), 1),
    "split": lambda x: x.split(2, 1)[1],
    "view_as": lambda x: x.view(-1).view_as(x),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_of_arguments_are_views(name: str) -> None:
    x = X.clone()
    with torch.no_grad():
        got = on_chip(lambda x: (x + 1, VIEWS[name](x)))(x)[1]
    assert_agree(got, VIEWS[name](x))
    x.fill_(5)
    assert bool((got == 5).all())


def compiled_both_ways(function: Callable[..., Any], *args: torch.Tensor) -> list[Any]:
    results = []
    for backend in ("tt", through_autograd(Options(), "requested")):
        torch._dynamo.reset()
        torch.manual_seed(3)
        results.append(torch.compile(function, backend=backend, fullgraph=True)(*args))
    return results


class Block(nn.Module):
    """A layer of a transformer, with dropout and batch statistics in training."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)
        self.norm, self.out, self.dropout = nn.LayerNorm(16), nn.Linear(16, 16), nn.Dropout(0.3)
        self.register_buffer("scale", torch.linspace(1, 2, 16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, _ = self.attention(x, x, x, need_weights=False)
        return self.dropout(nn.functional.gelu(self.out(self.norm(x + y)))) * self.scale


@pytest.mark.long
@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
def test_both_ways_give_the_same_numbers(train: bool) -> None:
    torch.manual_seed(0)
    model, x = Block().train(train), torch.rand(2, 5, 16)
    with torch.no_grad():
        one, two = compiled_both_ways(model, x)
    assert torch.equal(one, two)


@pytest.mark.long
@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_gradients_decide(mode: Callable[[], Any]) -> None:
    """Weights that require them need AOTAutograd where they can be requested, and a frozen model does not."""
    model, x = Block().eval(), torch.rand(2, 5, 16)
    want = model(x).detach()
    with mode(), record() as reports:
        assert_agree(on_chip(model)(x), want)
    assert [r.unsuited for r in reports] == (["gradients"] if mode is torch.enable_grad else [""])
    model.requires_grad_(False)
    with mode(), record() as reports:
        assert_agree(on_chip(model)(x), want)
    assert [r.unsuited for r in reports] == [""]


def test_gradients_that_a_graph_switches_on() -> None:
    """The value whose gradient is requested decides: here that of the second result, or of none."""

    def function(x: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        with torch.enable_grad():
            y = x * weight
        return y + 1, y

    weight = torch.rand(4, requires_grad=True)
    with torch.no_grad(), record() as reports:
        assert_agree(on_chip(lambda *args: function(*args)[0])(X, weight), function(X, weight)[0])
        results = on_chip(function)(X, weight)
        assert_agree(results, function(X, weight))
    assert [r.unsuited for r in reports] == ["", "gradients"]
    results[1].sum().backward()
    assert_agree(weight.grad, X.sum(0))


def test_parameters_and_gradients_on_without_requests() -> None:
    """As of a model whose `forward` says `torch.no_grad()`; what PyTorch runs (the exponential) keeps no graph."""
    weight = torch.rand(4, 4, requires_grad=True)

    def function(x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            return x @ weight + torch.linalg.matrix_exp(weight).sum()

    with pytest.warns(UserWarning, match="PyTorch runs"), record() as reports:
        got = on_chip(function)(X)
    assert_agree(got, function(X))
    assert not got.requires_grad and [r.unsuited for r in reports] == [""]


def test_parameters_that_are_written() -> None:
    """A step of an optimizer; with gradients on, what is written could be a part of one."""
    weight = nn.Parameter(TABLE.clone())

    def step(gradient: torch.Tensor) -> None:
        with torch.no_grad():
            weight.sub_(gradient, alpha=0.1)

    want, version = TABLE - 0.1 * X[0], weight._version
    for grad, reason in ((False, ""), (True, "gradients of what is written")):
        with torch.set_grad_enabled(grad), record() as reports:
            on_chip(step)(X[0])
        assert_agree(weight.detach(), want)
        assert reason in reports[0].unsuited and bool(reason) == bool(reports[0].unsuited)
        assert weight._version > version and weight.requires_grad and weight.is_leaf
        with torch.no_grad():
            weight.copy_(TABLE)


def test_buffers_that_are_written_and_sizes_that_change() -> None:
    model, plain = nn.BatchNorm1d(4), nn.BatchNorm1d(4)
    compiled = on_chip(model)
    with torch.no_grad(), record() as reports:
        for scale in (1, 3):
            assert_agree(compiled(X * scale), plain(X * scale))
    assert_agree(list(model.buffers()), list(plain.buffers()))
    assert int(model.num_batches_tracked) == 2 and [r.unsuited for r in reports] == [""]
    compiled = on_chip(lambda x: x @ TABLE)
    with torch.no_grad(), record() as reports:
        for rows in (2, 3, 5):
            assert_agree(compiled(torch.ones(rows, 4)), torch.ones(rows, 4) @ TABLE)
    assert not any(r.unsuited for r in reports)


def test_an_argument_that_is_written_and_another_on_its_memory() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return x + y

    for view, reason in ((lambda x: x[:], "shares memory with another"), (lambda x: x.clone(), "")):
        x = X.clone()
        with torch.no_grad(), record() as reports:
            got = on_chip(function)(x, view(x))
        assert_agree([got, x], [2 * X + 2 if reason else 2 * X + 1, X + 1])
        assert reason in reports[0].unsuited and bool(reason) == bool(reports[0].unsuited)


def test_a_weight_with_two_names() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.head = nn.Embedding(6, 4), nn.Linear(4, 6, bias=False)
            self.head.weight = self.words.weight

        def forward(self, places: torch.Tensor) -> torch.Tensor:
            return self.head(self.words(places))

    model, places = Tied(), torch.arange(6)
    compiled = on_chip(model)
    with torch.no_grad(), record() as reports:
        assert_agree(compiled(places), model(places))
        model.words.weight.mul_(2)
        assert_agree(compiled(places), model(places))
    assert [r.unsuited for r in reports] == [""] and len(reports[0].programs[0].parameters) == 1


def test_arguments_that_get_the_values_of_others() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        kept = x.clone()
        x.copy_(y)
        y.copy_(kept)
        return x - y

    check(function, X, X + 3)


@pytest.mark.parametrize("last", [False, True], ids=["contiguous", "channels_last"])
def test_strides_are_those_of_pytorch(last: bool) -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = nn.functional.conv2d(x, torch.ones(5, 3, 2, 2))
        z = torch.zeros_like(y)
        z[:, 1:3] = 1
        return y.relu(), z, y.transpose(1, 2) + 0, x.permute(0, 2, 3, 1) * 2, x[..., :1].expand(2, 3, 4, 6).clone()

    x = torch.rand(2, 3, 4, 6)
    x = x.to(memory_format=torch.channels_last) if last else x
    with torch.no_grad(), record() as reports:
        got, want = on_chip(function)(x), function(x)
    assert_agree(got, want)
    assert [y.stride() for y in got] == [y.stride() for y in want] and reports[0].unsuited == ""


def test_an_op_of_the_user_that_writes() -> None:
    @torch.library.custom_op("test_torch_capture::double", mutates_args=["x"])
    def double(x: torch.Tensor) -> None:
        x.mul_(2)

    def function(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        double(y)
        return y - 1

    with torch.no_grad(), pytest.warns(UserWarning, match="PyTorch runs"), record() as reports:
        assert_agree(on_chip(function)(X), 2 * X + 1)
    assert reports[0].unsuited


def test_autocast_is_left_as_it_was() -> None:
    """Also where a capture ends within the block that switches it on, and around the compiled function."""
    with torch.no_grad():
        on_chip(autocast_and_a_view)(X.clone())
        assert not torch.is_autocast_enabled("cpu")
        with torch.autocast("cpu", torch.bfloat16):
            got = on_chip(lambda x: x @ TABLE + torch.linalg.matrix_exp(TABLE).sum())(X)
            assert torch.is_autocast_enabled("cpu")
            assert_agree(got, X @ TABLE + torch.linalg.matrix_exp(TABLE).sum())


def test_a_subclass_is_taken_apart_by_autograd() -> None:
    from torch.testing._internal.two_tensor import TwoTensor

    x = TwoTensor(X.clone(), X + 1)
    with torch.no_grad(), record() as reports:
        got = on_chip(lambda x: x * 2 + 1)(x)
    assert_agree([got.a, got.b], [X * 2 + 1, (X + 1) * 2 + 1])
    assert [r.unsuited for r in reports] == ["an argument that is TwoTensor"]


@pytest.mark.parametrize("grad", [False, True], ids=["inference", "training"])
def test_regions_that_are_marked_as_repeated(grad: bool) -> None:
    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(4, 4)

        @torch.compiler.nested_compile_region
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(self.linear(x)) + x

    torch.manual_seed(0)
    model = nn.Sequential(*[Layer() for _ in range(5)])
    with torch.set_grad_enabled(grad), record() as reports:
        got = on_chip(model)(X)
        assert_agree(got, model(X))
        if grad:
            mine = torch.autograd.grad(got.sum(), list(model.parameters()))
            assert_agree(mine, torch.autograd.grad(model(X).sum(), list(model.parameters())))
    assert not any(r.on_host for r in reports) and len(reports) == 1 + grad
    assert {r.unsuited for r in reports} == ({"gradients"} if grad else {""})


@pytest.mark.parametrize("mode", ["default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs", "lite"])
def test_modes_of_pytorch(mode: str) -> None:
    x = torch.rand(4)
    assert torch.equal(torch.compile(lambda x: x * 2 + 1, backend="tt", mode=mode)(x), x * 2 + 1)


def test_a_mode_that_is_not_known() -> None:
    with pytest.raises(ValueError, match="mode 'fastest' is not known; known: default, reduce-overhead, max-autotune"):
        torch.compile(lambda x: x * 2, backend="tt", mode="fastest")(torch.rand(4))
