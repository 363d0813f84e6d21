# SPDX-License-Identifier: Apache-2.0
"""Arguments that get other memory (`x.data = ...`): which tensors share memory afterwards is as in eager mode."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from compiled import on_chip
from torch.utils._pytree import tree_leaves
from ttmlir.torch.report import record


def transposed(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.data = x.t()
    return x * 2 + y.sum()


def transposed_and_written(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.data = x.t()
    x.data.mul_(y)
    return x + 1


def a_row(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.data = x.data[1]
    return x.sum() + y


def another_argument(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.data = y.t()
    return x * y


def exchanged(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = x.data
    x.data = y.data
    y.data = z
    return x - 2 * y


def one_memory_for_both(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = x * y
    x.data = z
    y.data = z[:2]
    return x.sum() + y.sum()


def a_result(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    z = x * 2
    x.data = z
    return z, x + y


def written_before(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.data.add_(1)
    x.data = x * y
    return x + 1


def under_autocast(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        z = (x @ y).float()
        x.data = x.t()
        return z + x


def as_it_was(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.data = x.data.contiguous()
    return x + y


def fresh(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.data = (x * y).t()
    return x + 1


def twice(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.data = x * 2
    x.data = x * y
    return x + 1


# A function, and why PyTorch runs its graph ("": the chip does).
CASES: dict[Callable[..., Any], str] = {
    transposed: "memory of an argument",
    transposed_and_written: "memory of an argument",
    a_row: "memory of an argument",
    another_argument: "memory of an argument",
    exchanged: "memory of an argument",
    one_memory_for_both: "memory of an argument",
    a_result: "memory of a result",
    written_before: "others see what it had",
    under_autocast: "memory of an argument",
    as_it_was: "",
    fresh: "",
    twice: "",
}


def state(function: Callable[..., Any], x: torch.Tensor, y: torch.Tensor, grad: bool) -> dict[str, Any]:
    """Returns the values after a call, and after a write to each tensor."""
    weight = torch.full((), 3.0, requires_grad=grad)
    before = x[:]
    results = tree_leaves(function(x, y * weight if grad else y))
    if grad:
        results[-1].sum().backward()
    tensors = [x, y, before, *results]
    found = {
        "sizes": [(t.dtype, tuple(t.shape), t.storage_offset()) for t in tensors],
        "strides of arguments": [t.stride() for t in tensors[:3]],
        "values": [t.detach().clone() for t in tensors],
        "shared": [a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
                   for a, b in itertools.combinations(tensors, 2)],
        "gradient": [weight.grad],
    }  # fmt: skip
    for number, tensor in enumerate(tensors):
        with torch.no_grad():
            tensor.fill_(number)
        found[f"written {number}"] = [t.detach().clone() for t in tensors]
    return found


def compare(function: Callable[..., Any], x: torch.Tensor, y: torch.Tensor, grad: bool = False) -> list[Any]:
    with torch.set_grad_enabled(grad):
        want = state(function, x.clone(), y.clone(), grad)
        with record() as reports:
            got = state(on_chip(function), x.clone(), y.clone(), grad)
    assert torch.is_grad_enabled() and not torch.is_autocast_enabled("cpu")
    assert got.keys() == want.keys()
    for name, values in want.items():
        if isinstance(values, list) and any(isinstance(v, torch.Tensor) for v in values):
            torch.testing.assert_close(got[name], values, msg=lambda text, name=name: f"{name}: {text}")
        else:
            assert got[name] == values, name
    return reports


X = torch.linspace(-2, 2, 9).reshape(3, 3)
Y = torch.linspace(1, 3, 9).reshape(3, 3)


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_who_shares_memory(function: Callable[..., Any]) -> None:
    reason = CASES[function]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        (report,) = compare(function, X, Y)
    said = [str(w.message) for w in seen if "PyTorch runs a graph" in str(w.message)]
    assert bool(reason) == bool(said)
    assert reason or set(report.on_host) <= {"aten.set_.source_Tensor"}
    if reason:
        assert reason in said[0] and report.on_host == report.ops and set(report.reasons) == set(report.ops)
        if "result" not in reason:
            assert f"{__file__}:" in said[0]


@pytest.mark.filterwarnings("ignore:PyTorch runs a graph")
@pytest.mark.parametrize("function", [transposed, another_argument, a_result], ids=lambda f: f.__name__)
def test_gradients(function: Callable[..., Any]) -> None:
    compare(function, X, Y, grad=True)


@pytest.mark.filterwarnings("ignore:PyTorch runs a graph")
@pytest.mark.parametrize("shape", [(2, 3), (1, 3), (0, 3)], ids=str)
def test_other_shapes(shape: tuple[int, ...]) -> None:
    x = torch.rand(shape)
    compare(transposed, x, Y)


@pytest.mark.filterwarnings("ignore:PyTorch runs a graph")
def test_a_parameter() -> None:
    weight = torch.nn.Parameter(X.clone())

    def function(x: torch.Tensor) -> torch.Tensor:
        y = x @ weight
        weight.data = weight.data.t()
        return y

    compiled = on_chip(function)
    with torch.no_grad():
        for matrix in (X, X.t(), X):
            torch.testing.assert_close(weight.detach(), matrix)
            torch.testing.assert_close(compiled(Y), Y @ matrix)
    assert weight.requires_grad and weight.is_leaf


def test_two_arguments_on_one_memory() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.data = x * 2
        return x + y

    x, x2 = X.clone(), X.clone()
    with pytest.warns(UserWarning, match="others see what it had"):
        got = on_chip(function)(x, x.t())
    torch.testing.assert_close(got, function(x2, x2.t()))
    torch.testing.assert_close(x, x2)
