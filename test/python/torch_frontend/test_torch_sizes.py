# SPDX-License-Identifier: Apache-2.0
"""Graphs whose sizes change: one program for all sizes of 2 and more, with the numbers of PyTorch at each."""

from __future__ import annotations

import collections
import copy
import re
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import _ttmlir_runtime as tt
import pytest
import torch
import ttmlir.sizes
import ttmlir.torch
from compiled import assert_agree, on_chip
from torch import nn
from torch.nn import functional
from ttmlir.torch.lowering import RULES
from ttmlir.torch.program import Call, Program
from ttmlir.torch.report import Report, record
from ttmlir.torch.sizes import specialising
from ttmlir.torch.sizes.opened import OpenProgram

SIZES = (17, 3, 0, 64, 1, 2, 65)
WEIGHT = torch.linspace(-1, 1, 64).reshape(8, 8)
FILLED = (torch.bool, torch.int64, torch.bfloat16)
CONVOLUTION = nn.Conv2d(3, 5, 3, padding=1)


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


def running_statistics(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    mean, variance = torch.zeros(3), torch.ones(3)
    return functional.batch_norm(x, mean, variance, training=True), mean, variance


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
    "padding to a multiple": (lambda x: functional.pad(x, (0, 0, 0, -x.shape[0] % 16), value=2.0) + 1, rows),
    "padding in front": (lambda x: functional.pad(x, (0, 0, -x.shape[0] % 5, 0)), rows),
    "two sizes as one": (lambda x: x.flatten() * 2, lambda n: (torch.rand(n, n + 2, 3),)),
    "variance of two sizes": (lambda x: (x.var(), x.std((0, 1))), lambda n: (torch.rand(n + 2, n + 4, 3),)),
    "running statistics": (running_statistics, lambda n: (torch.rand(n + 1, 3, n + 2),)),
    "expand": (lambda x: x[:, None].expand(-1, 3, 8).reshape(-1, 8) * 2, rows),
    "triangle": (lambda x: torch.tril(x @ x.T) + torch.ones(x.shape[0], x.shape[0]).triu(1), rows),
    "filled": (
        lambda x: tuple(x + torch.full((x.shape[0], 1), True, dtype=d) for d in FILLED),
        rows,
    ),
    "an argument written": (written, rows),
    "views of an argument": (views, rows),
    "numbers": (with_numbers, rows),
    "convolution": (
        lambda x: CONVOLUTION(x).relu().mean((2, 3)), lambda n: (torch.rand(n, 3, 6, 6),)
    ),
    "nearest pixels": (
        lambda x: functional.interpolate(x, scale_factor=2.0) + 1, lambda n: (torch.rand(2, 3, n + 5, n + 9),)
    ),
    "counted in floats": (lambda x: x[:, 0] * torch.arange(7, x.shape[0] + 7, dtype=torch.float32), rows),
    "images": (
        lambda x: functional.max_pool2d(CONVOLUTION(x), 2), lambda n: (torch.rand(1, 3, n + 5, n + 5),)
    ),
}  # fmt: skip


# Where sizes within the graph are 0 or 1 also for other sizes of its arguments: they may have a program for each size.
MAY_CLOSE = {"halves"}


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
            ours = arguments(n)
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


def marked(x: torch.Tensor, **bounds: int) -> torch.Tensor:
    torch._dynamo.mark_dynamic(x, 0, **bounds)
    return x


def test_marked_dimensions_and_their_bounds() -> None:
    compiled = on_chip(lambda x: (x @ WEIGHT).sum(0))
    with torch.no_grad(), record() as reports:
        for n in (17, 3, 64, 2):
            x = marked(torch.rand(n, 8), min=2, max=64)
            assert_agree(compiled(x), (x @ WEIGHT).sum(0))
    assert [r.open for r in reports] == [("2 <= s77 <= 64",)], [(r.open, r.closed) for r in reports]
    with pytest.raises(Exception, match="64"):
        compiled(marked(torch.rand(65, 8), min=2, max=64))


def test_a_dimension_that_may_be_dynamic() -> None:
    compiled = on_chip(lambda x: x.softmax(0))
    with torch.no_grad(), record() as reports:
        for n in (17, 3, 65):
            x = torch.rand(n, 8)
            torch._dynamo.maybe_mark_dynamic(x, 0)
            assert_agree(compiled(x), x.softmax(0))
    assert open_and_closed(reports) == (1, [])


def test_sizes_that_change_by_themselves() -> None:
    """The first size has a program, what changes makes one for all others."""
    compiled = on_chip(lambda x: x.cumsum(0) * x.shape[0])
    with torch.no_grad(), record() as reports:
        for n in (17, 3, 64, 65, 2, 17):
            x = torch.rand(n, 8)
            assert_agree(compiled(x), x.cumsum(0) * n)
    assert [bool(r.open) for r in reports] == [False, True] and not any(r.closed for r in reports)
    assert reports[1].programs[0].calls == 5


def images() -> nn.Module:
    """Layers whose numbers of elements cross PyTorch's threshold between two kernels, each at another size."""
    layers = [
        *(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, 2, 1)),
        *(nn.Conv2d(8, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 16, 1, stride=2), nn.AvgPool2d(2)),
        *(nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten()),
    ]
    return nn.Sequential(*layers).eval()


def sized_images() -> list[torch.Tensor]:
    return [torch.rand(1, 3, n, n + 7 * (i % 2)) for i, n in enumerate((64, 49, 200, 37, 128, 90, 256, 65))]


def test_images_that_change_by_themselves() -> None:
    """One image: PyTorch's guards on the kernels that it would choose are none of this backend's."""
    net = images()
    compiled = on_chip(net)
    with torch.no_grad(), record() as reports:
        for x in sized_images():
            assert_agree(compiled(x), net(x), f"{list(x.shape)}")
    assert [len(r.open) for r in reports] == [0, 2], [(r.open, r.closed) for r in reports]


def test_images_of_other_backends_have_their_guards() -> None:
    graphs = []
    torch._dynamo.reset()
    compiled = torch.compile(images(), backend=lambda graph, _: graphs.append(graph) or graph.forward)  # type: ignore[func-returns-value]
    with torch.no_grad():
        for x in sized_images():
            compiled(x)
    assert len(graphs) > 2


def test_numbers_of_sizes_beyond_32_bits() -> None:
    """PyTorch runs calls whose sizes make integers that the chip does not hold; draws are those of one call."""

    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        n = x.shape[0]
        return x * 2, torch.full((2,), n**3), torch.tensor(-(n**3)), torch.arange(2) * n**3, torch.rand(3)

    compiled = on_chip(function, dynamic=True)
    with torch.no_grad(), record() as reports:
        for n in (3, 1000, 2000, 1290, 1291, 5):
            x = torch.rand(n)
            torch.manual_seed(n)
            want = function(x)
            torch.manual_seed(n)
            with pytest.warns(UserWarning, match=f"the size {n**3} exceeds") if n > 1290 else nullcontext():
                assert_agree(compiled(x), want, f"{n}")
    assert open_and_closed(reports) == (1, [])


def test_exported_images() -> None:
    net = images()
    auto = torch.export.Dim.AUTO
    model = ttmlir.torch.compile(net, (torch.rand(1, 3, 64, 71),), dynamic_shapes=({2: auto, 3: auto},))
    assert not model.closed
    for x in sized_images():
        assert_agree(model(x), net(x), f"{list(x.shape)}")


def test_numbers_that_are_arguments() -> None:
    """An integer that no tensor has as a size, and one that is a multiple."""

    def function(x: torch.Tensor, n: int) -> tuple[torch.Tensor, int]:
        return torch.arange(n) * 2 + n + x.sum().long() * 0, n + 1

    compiled = on_chip(function, dynamic=True)
    with torch.no_grad(), record() as reports:
        for n in (17, 3, 64, 65):
            assert_agree(compiled(WEIGHT, n)[0], function(WEIGHT, n)[0])
            assert compiled(WEIGHT, n)[1] == n + 1
    assert open_and_closed(reports)[0] == 1, reports


def test_multiples() -> None:
    function: Callable[[torch.Tensor], torch.Tensor] = lambda x: x.view(-1, 4).sum(0) + x.view(4, -1).sum(1)  # noqa: E731
    compiled = on_chip(function, dynamic=True)
    with torch.no_grad(), record() as reports:
        for n in (16, 64, 8, 260):
            x = torch.rand(n)
            assert_agree(compiled(x), function(x), f"{n} values")
    assert open_and_closed(reports) == (1, []), [(r.open, r.closed) for r in reports]


@pytest.mark.parametrize("seed", [0, 5])
def test_draws_of_all_sizes_are_those_of_pytorch(seed: int) -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        noise = torch.rand_like(x) + torch.randn(x.shape[0], 3).sum(1, keepdim=True)
        return functional.dropout(x, 0.3) + noise, torch.randint(0, 9, (x.shape[0] + 1,))

    compiled = on_chip(function, dynamic=True)
    with torch.no_grad(), record() as reports:
        for n in (17, 3, 64, 65, 2):
            x = torch.rand(n, 8)
            torch.manual_seed(seed)
            want = function(x)
            after = torch.get_rng_state()
            torch.manual_seed(seed)
            assert_agree(compiled(x), want, f"{n} rows")
            assert torch.equal(torch.get_rng_state(), after)
    assert open_and_closed(reports) == (1, [])


def test_integers_that_do_not_fit_at_some_size() -> None:
    """Whether a sum may exceed 32 bits depends on how many values there are."""
    compiled = on_chip(lambda x: x.long().sum(0), dynamic=True)
    with torch.no_grad(), record() as reports:
        for n in (3, 65):
            x = torch.full((n, 8), 2**25, dtype=torch.int32)
            if n * 2**25 < 2**31:
                assert_agree(compiled(x), x.long().sum(0))
            else:
                with pytest.warns(UserWarning, match="may exceed the 32 bits"):
                    assert_agree(compiled(x), x.long().sum(0))
    assert open_and_closed(reports)[0] == 1


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(8), nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x + self.down(functional.gelu(self.up(self.norm(x))))).square().mean()


def test_training_with_sizes_that_change() -> None:
    torch.manual_seed(0)
    ours, theirs = Layer(), Layer()
    ours.load_state_dict(theirs.state_dict())
    compiled = on_chip(ours, dynamic=True)
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in (ours, theirs)]
    with record() as reports:
        for n in (17, 3, 64, 65, 2):
            x = torch.rand(n, 8)
            for run, optimizer in zip((compiled, theirs), optimizers, strict=True):
                optimizer.zero_grad()
                run(x).backward()
                optimizer.step()
            assert_agree(list(ours.parameters()), list(theirs.parameters()), f"{n} rows")
    assert [(r.kind, bool(r.open)) for r in reports] == [("forward", True), ("backward", True)], [
        (r.kind, r.open, r.closed) for r in reports
    ]


def test_batch_norms_of_few_rows_are_as_exact_as_eager() -> None:
    """Gradients and running statistics compared with those in f64. Gradients of biases in front of a batch norm are 0
    but for rounding, which an optimizer such as Adam makes steps of: weights after training are no measure.
    """
    torch.manual_seed(0)
    layers = (nn.Linear(12, 24), nn.LayerNorm(24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 16), nn.BatchNorm1d(16))
    ours = nn.Sequential(*layers, nn.Tanh(), nn.Linear(16, 3))
    eager, exact = copy.deepcopy(ours), copy.deepcopy(ours).double()
    compiled = on_chip(ours, dynamic=True)

    def state_after(model: nn.Module, run: Callable[..., Any], x: torch.Tensor) -> dict[str, torch.Tensor]:
        model.zero_grad()
        run(x).square().mean().backward()
        state = {name: parameter.grad for name, parameter in model.named_parameters()}
        return {name: x.double() for name, x in {**state, **dict(model.named_buffers())}.items() if x is not None}

    def errors(state: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> dict[str, float]:
        return {
            name: float((state[name] - want).abs().max()) / max(float(want.abs().max()), 0.1)
            for name, want in expected.items()
        }

    # Gradients of two rows cancel. What is left of their rounding in one step and one weight depends on the CPU: the
    # bound is the largest error of eager mode in all steps of as many rows.
    found, usual = [], collections.defaultdict(float)
    with record() as reports:
        for n in (7, 2, 3, 5, 9, 4, 2, 2):
            x = torch.randn(n, 12)
            expected = state_after(exact, exact, x.double())
            found.append((n, errors(state_after(ours, compiled, x), expected)))
            usual[n] = max(usual[n], *errors(state_after(eager, eager, x), expected).values())
    for n, by_name in found:
        for name, error in by_name.items():
            assert error <= 4 * usual[n] + 1e-6, f"{name}, {n} rows: off by {error:.1e}, eager mode by {usual[n]:.1e}"
    assert [(r.kind, bool(r.open)) for r in reports] == [("forward", True), ("backward", True)]


def test_weights_are_shared_by_all_sizes() -> None:
    model = nn.Linear(8, 8)
    compiled = on_chip(model, dynamic=True)
    with torch.no_grad(), record() as reports:
        for n in (17, 3, 64):
            x = torch.rand(n, 8)
            assert_agree(compiled(x), model(x))
            model.weight.mul_(1.5)
    (report,) = reports
    assert len(report.programs[0].resident) == 2


def test_closed_sizes_have_a_program_each() -> None:
    """And the report names the op. What PyTorch runs in between is one reason."""
    compiled = on_chip(lambda x: torch.linalg.matrix_exp(x @ x.T / 8 + torch.eye(x.shape[0])) + x.sum(), dynamic=True)
    with torch.no_grad(), record() as reports, pytest.warns(UserWarning, match="PyTorch runs"):
        for n in (3, 4, 3, 5):
            x = torch.rand(n, 8)
            assert_agree(compiled(x), torch.linalg.matrix_exp(x @ x.T / 8 + torch.eye(n)) + x.sum())
    assert [r.closed for r in reports] == ["PyTorch runs aten.linalg_matrix_exp.default"] * 3


SIZED_BY_VALUES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "mask": lambda x: x[x > 0] * 2,
    "sum of a mask": lambda x: x[x > 0].square().sum() + x,
    "nonzero": lambda x: torch.nonzero(x > 0) + 1,
    "where": lambda x: torch.where(x > 0)[1] * 3,
    "unique": lambda x: torch.unique((x * 3).int()) + 1,
    "bincount": lambda x: torch.bincount((x.abs() * 4).long().flatten(), minlength=6)[:4] + x,
    "repeats": lambda x: torch.repeat_interleave(x, torch.tensor([1, 2, 0]), 0) + 1,
    "new tensor": lambda x: torch.ones(int((x > 0).sum())) * 2,
}


@pytest.mark.parametrize("name", SIZED_BY_VALUES)
def test_sizes_that_depend_on_values(name: str) -> None:
    """Dynamo captures such graphs whole; with gradients, too."""
    function = SIZED_BY_VALUES[name]
    generator = torch.Generator().manual_seed(0)
    given = [torch.rand(3, 4, generator=generator) - low for low in (0.5, 0.2)]
    compiled = on_chip(function)
    gradients = []
    with pytest.warns(UserWarning, match="sizes depend on values from"), record() as reports:
        for x in given:
            assert_agree(compiled(x), function(x))
        for run in (compiled, function):
            x = given[0].clone().requires_grad_()
            result = run(x)
            if result.requires_grad:
                result.sum().backward()
            gradients.append(x.grad)
    assert_agree(gradients[0], gradients[1])
    assert reports and all(report.on_host for report in reports)


def test_why_sizes_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names the op, its operands, and the tried sizes when a rule fails."""

    def refusing(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setitem(RULES, "sin", refusing)
    compiled = on_chip(lambda x: x.sin(), dynamic=True)
    with torch.no_grad(), record() as reports, pytest.warns(UserWarning, match="PyTorch runs"):
        compiled(torch.rand(17, 8))
    (report,) = reports
    text = (
        r"py:\d+: aten\.sin\.default\(float32\[37, 92\]\): AssertionError: raise AssertionError, for s77 = 37, s27 = 92"
    )
    assert re.search(text, report.closed), report.closed


def test_sizes_that_a_program_refuses_have_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runtime refuses sizes that the front end took for its bounds; draws are those of one call."""
    monkeypatch.setattr(OpenProgram, "accepts", lambda *_: True)
    monkeypatch.setattr(ttmlir.sizes, "LEAST", ())  # the file is for 37 and more
    net = images()

    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return net(x), torch.rand(x.shape[3])

    compiled = on_chip(function, dynamic=True)
    with torch.no_grad(), record() as reports, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for height, width in ((64, 71), (34, 30), (50, 60), (30, 33), (34, 30)):
            x = torch.rand(1, 3, height, width)
            torch.manual_seed(height)
            want = function(x)
            torch.manual_seed(height)
            assert_agree(compiled(x), want, f"{height} by {width}")
    opened, closed = open_and_closed(reports)
    refused = [reason for reason in closed if "(l_x_)" in reason]
    assert opened == 1 and len(refused) == len(closed) == 2, closed
    assert "s53 = 34" in refused[0] and "has 34 in dimension 2" in refused[0], refused
    assert [str(w.message) for w in warned if "single sizes" in str(w.message)] == [
        f"a program is compiled for single sizes: {refused[0]}"
    ]


def test_results_of_another_shape_name_their_op(monkeypatch: pytest.MonkeyPatch) -> None:
    """An open program that gives another shape than PyTorch's graph is replaced; a program for one size is an error."""
    described = OpenProgram.call_at

    def wrong(program: OpenProgram, point: Any) -> Any:
        call = described(program, point)
        call.outputs = [torch.empty(n, 7, device="meta") if (n := x.shape[0]) == 17 else x for x in call.outputs]
        return call

    monkeypatch.setattr(OpenProgram, "call_at", wrong)
    compiled = on_chip(lambda x: x.sin() + 1, dynamic=True)
    with torch.no_grad(), record() as reports:
        for n in (3, 17, 17, 64):
            x = torch.rand(n, 8)
            with pytest.warns(UserWarning, match="add.Tensor") if n == 17 and len(reports) == 1 else nullcontext():
                assert_agree(compiled(x), x.sin() + 1, f"{n} rows")
    text = r"s77 = 17, s27 = 8: add \(aten.add.Tensor\): the program gives \[17, 8\]; expected \[17, 7\]"
    assert len(reports) == 2 and re.match(text, reports[1].closed), reports

    monkeypatch.setattr(Program, "at", lambda *_: Call([torch.empty(2, 7, device="meta")], [None]))
    with torch.no_grad(), pytest.raises(tt.Error, match=r"sin \(aten.sin.default\): .* gives \[2, 8\]; expected"):
        on_chip(lambda x: x.sin())(torch.rand(2, 8))


def test_programs_of_single_sizes_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(specialising, "MOST_PROGRAMS", 2)
    compiled = on_chip(lambda x: torch.linalg.matrix_exp(x @ x.T / 8) + 1, dynamic=True)
    with torch.no_grad(), record() as reports, pytest.warns(UserWarning, match="PyTorch runs"):
        for n in (3, 4, 5, 5, 4, 3):
            x = torch.rand(n, 8)
            assert_agree(compiled(x), torch.linalg.matrix_exp(x @ x.T / 8) + 1)
    assert len(reports) == 4


class Exported(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, int]:
        self.calls.add_(1)
        return self.linear(x).relu() @ y.T, x.shape[0]


DIMENSIONS: dict[str, Any] = {
    "named": {"x": {0: torch.export.Dim("batch", min=2, max=65)}, "y": {0: torch.export.Dim("other")}},
    "auto": {"x": {0: torch.export.Dim.AUTO}, "y": {0: torch.export.Dim.AUTO}},
    "dynamic": {"x": {0: torch.export.Dim.DYNAMIC}, "y": None},
}


@pytest.mark.parametrize("name", DIMENSIONS)
def test_exported_models(name: str, tmp_path: Path) -> None:
    model, plain = Exported(), Exported()
    plain.load_state_dict(model.state_dict())
    y = torch.rand(6, 8)
    compiled = ttmlir.torch.compile(model, (torch.rand(4, 8), y), dynamic_shapes=DIMENSIONS[name])
    assert compiled.closed == ""
    with torch.no_grad():
        for n in (17, 3, 64, 2, 65):
            x, y = torch.rand(n, 8), y if name == "dynamic" else torch.rand(n + 1, 8)
            have, want = compiled(x, y), plain(x, y)
            assert_agree(have[0], want[0], f"{n} rows")
            assert have[1] == want[1]
    assert int(compiled.exported.state_dict["calls"]) == 5
    written = compiled.save(tmp_path / "model.ttnn")
    assert [path.suffix for path in written] == [".ttnn", ".safetensors"]
    binary = tt.binary.load_binary_from_path(str(written[0]))
    assert len(binary.open_sizes) == (1 if name == "dynamic" else 2)


def test_wrong_sizes_of_exported_models() -> None:
    batch = torch.export.Dim("batch", min=2, max=16)
    compiled = ttmlir.torch.compile(
        Exported(), (torch.rand(4, 8), torch.rand(4, 8)), dynamic_shapes={"x": {0: batch}, "y": {0: batch}}
    )
    right = torch.rand(4, 8)
    wrong = {
        r"x: dimension 0 \(batch\) is 17; expected 2 to 16": (torch.rand(17, 8), right),
        r"x: dimension 0 \(batch\) is 1; expected 2 to 16": (torch.rand(1, 8), right),
        "x: dimension 1 is 9; expected 8": (torch.rand(4, 9), right),
        r"y: dimension 0 \(batch\) is 5; expected 4, as x: dimension 0 is": (right, torch.rand(5, 8)),
        "x has 1 dimensions; expected 2": (torch.rand(8), right),
    }
    for text, arguments in wrong.items():
        with pytest.raises(ValueError, match=text):
            compiled(*arguments)


def test_exported_sizes_that_cannot_stay_open(tmp_path: Path) -> None:
    class Identity(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.unflatten(0, (2, -1)).sum() + x.sort(0).values

    compiled = ttmlir.torch.compile(
        Identity(), (torch.rand(8, 8),), dynamic_shapes={"x": {0: 2 * torch.export.Dim("half", min=4, max=6)}}
    )
    with torch.no_grad():
        for n in (8, 12, 10):
            x = torch.rand(n, 8)
            assert_agree(compiled(x), x.unflatten(0, (2, -1)).sum() + x.sort(0).values)
    assert compiled.closed
    with pytest.raises(ttmlir.torch.UnsupportedError, match="the sizes of the model cannot stay open in a file: "):
        compiled.save(tmp_path / "model.ttnn")


QUOTIENTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "rounded": lambda x: x.roll((x.shape[0] + 4) // 8, 0),
    "fifths": lambda x: x.roll((x.shape[0] + 1) // 5, 0),
    "down": lambda x: x.roll((x.shape[0] - 1) // 8, 0),
    "pads": lambda x: torch.nn.functional.pad(x, (0, 0, (x.shape[0] + 4) // 8, x.shape[0] - (x.shape[0] + 4) // 8)),
    "windows": lambda x: x.unfold(0, 8, 8).sum(-1),
    "ends": lambda x: x[(x.shape[0] + 4) // 8 :] * 2,
    "one": lambda x: x[(x.shape[0] - 1) // 8] * 2,
    "remainder": lambda x: x.roll(x.shape[0] % 7, 0),
    "multiple": lambda x: torch.nn.functional.pad(x, (0, 0, 0, -x.shape[0] % 32)),
    "hundredths": lambda x: x.roll((x.shape[0] + 3) // 100, 0),
}


@pytest.mark.parametrize("name", QUOTIENTS)
def test_quotients_of_sizes(name: str) -> None:
    """A few points do not tell floor((n + 4) / 8) from n / 8 rounded up: wrong numbers are wrong values in silence."""
    function = QUOTIENTS[name]
    compiled = torch.compile(function, backend="tt", dynamic=True)
    for n in (37, 50, 9, 14, 39, 44, 54, 59, 63, 64, 65, 66, 67, 96, 99, 100, 128, 129, 199, 200, 1023, 1024, 1025):
        x = torch.arange(n * 8.0).view(n, 8)
        with torch.no_grad():
            assert torch.equal(compiled(x), function(x)), n


@pytest.mark.parametrize("most", [34, 66, 1026])
def test_remainders_within_bounds(most: int) -> None:
    """Bounds must not choose points that are all even."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return x.roll(x.shape[0] % 2, 0) * 2

    compiled = torch.compile(function, backend="tt")
    for n in (6, 7, 9, 2, 3, 33, 34):
        x = torch.arange(n * 8.0).view(n, 8)
        torch._dynamo.mark_dynamic(x, 0, min=2, max=most)
        with torch.no_grad():
            assert torch.equal(compiled(x), function(x)), n


def test_kept_programs_of_other_expressions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs with one program at all sample points, but not at other sizes, have files of their own."""
    monkeypatch.setenv("TTMLIR_CACHE", str(tmp_path))
    for shift in (0, 1, 0):

        def rows_of(x: torch.Tensor, shift: int = shift) -> torch.Tensor:
            return x[: (x.shape[0] + shift) // 5] * 2

        torch._dynamo.reset()
        compiled = torch.compile(rows_of, backend="tt", dynamic=True)
        with torch.no_grad():
            for n in (20, 24, 29, 34, 99, 100):
                x = torch.rand(n, 3)
                torch.testing.assert_close(compiled(x), rows_of(x))
