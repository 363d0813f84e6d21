# SPDX-License-Identifier: Apache-2.0
"""Arguments that share memory, in other ways than at the call before, and are written."""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
import ttmlir.torch
from ttmlir.torch.memory.sharing import overlapping, pattern_of


def write_first(x: Any, y: Any) -> Any:
    x.mul_(2)
    return x + y


def write_both(x: Any, y: Any) -> Any:
    x.add_(1)
    y.mul_(3)
    return (x * y).sum()


def write_last(x: Any, y: Any) -> Any:
    z = x.sum()
    y.zero_()
    return x + z


def write_and_return(x: Any, y: Any) -> Any:
    x.add_(1)
    return y, x[1:], y * 2


def write_part(x: Any, y: Any) -> Any:
    x[1:3] = y[:2] + 1
    return y - x


def separate() -> tuple[torch.Tensor, ...]:
    return torch.arange(4.0), torch.arange(4.0) + 4


def part(first: int, second: int) -> Callable[[], tuple[torch.Tensor, ...]]:
    def pair() -> tuple[torch.Tensor, ...]:
        base = torch.arange(9.0)
        return base[first : first + 4], base[second : second + 4]

    return pair


def detached() -> tuple[torch.Tensor, ...]:
    base = torch.arange(4.0)
    return base, base.detach()


def of_numpy() -> tuple[torch.Tensor, ...]:
    array = torch.arange(6.0).numpy()
    return torch.from_numpy(array)[:4], torch.from_numpy(array)[2:]


def interleaved() -> tuple[torch.Tensor, ...]:
    base = torch.arange(8.0)
    return base[::2], base[1::2]


def other_base() -> tuple[torch.Tensor, ...]:
    base = torch.arange(12.0)
    return base[:8].view(2, 4)[1], base[2:6]


def bits() -> tuple[torch.Tensor, ...]:
    base = torch.arange(4.0)
    return base, base.view(torch.int32)


def resized() -> tuple[torch.Tensor, ...]:
    base = torch.arange(3.0)
    base.resize_(4)[3] = 5.0
    return base, base.view(4)


WAYS = [separate, part(0, 0), part(0, 2), part(2, 0), part(0, 1), part(1, 2), part(0, 4), detached, of_numpy,
        interleaved, other_base, bits, resized]  # fmt: skip
FUNCTIONS = [write_first, write_both, write_last, write_and_return, write_part]


def whole(tensor: torch.Tensor, memory: torch.UntypedStorage) -> torch.Tensor:
    """All of the memory that a tensor is a part of."""
    return torch.empty(0, dtype=tensor.dtype).set_(memory).clone()


def call(function: Callable[..., Any], arguments: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
    memory = [x.untyped_storage() for x in arguments]  # others have it, too: it stays the arguments'
    result = function(*arguments)
    results = list(result) if isinstance(result, tuple) else [result]
    return [x.detach().clone() for x in results] + [whole(x, s) for x, s in zip(arguments, memory, strict=True)]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_writes_are_seen_through_others(function: Callable[..., Any]) -> None:
    """One compiled function is called with all ways one after another, and in another order."""
    order = random.Random(7).sample(range(len(WAYS)), len(WAYS))
    for ways in (WAYS, [WAYS[i] for i in order]):
        torch._dynamo.reset()
        compiled = torch.compile(function, backend="tt")
        for way in [*ways, *ways]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                have, want = call(compiled, way()), call(function, way())
            for x, y in zip(have, want, strict=True):
                torch.testing.assert_close(x, y, msg=lambda m, way=way: f"{way.__qualname__}: {m}")


def test_each_way_is_compiled_once() -> None:
    from ttmlir.torch.report import record

    torch._dynamo.reset()
    compiled = torch.compile(write_first, backend="tt")
    with record() as reports:
        for _ in range(3):
            for way in (separate, part(0, 2), part(0, 1), part(0, 4)):
                call(compiled, way())
    assert len(reports) == 3, [r.unsuited for r in reports]  # parts without a common element are separate
    assert not any(r.on_host for r in reports), [r.reasons for r in reports]


def test_sizes_that_change() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(write_first, backend="tt", dynamic=True)
    for size, shift, marked in itertools.product((4, 6, 5), (0, 2, 8, None), (False, True)):

        def pair(size: int = size, shift: int | None = shift, marked: bool = marked) -> tuple[torch.Tensor, ...]:
            base = torch.arange(16.0)
            x, y = base[:size], torch.ones(size) if shift is None else base[shift : shift + size]
            if marked:
                torch._dynamo.mark_dynamic(x, 0)
                torch._dynamo.mark_dynamic(y, 0)
            return x, y

        for have, want in zip(call(compiled, pair()), call(write_first, pair()), strict=True):
            torch.testing.assert_close(have, want)


def test_gradients_go_through_what_is_written() -> None:
    def function(x: Any, y: Any, w: Any) -> Any:
        x.mul_(w)
        return (x * y).sum()

    def gradients(f: Callable[..., Any], shift: int | None) -> list[torch.Tensor]:
        leaf, w = torch.arange(9.0).requires_grad_(), torch.full((4,), 3.0, requires_grad=True)
        base = leaf * 1
        x, y = base[:4], (base * 1)[:4] if shift is None else base[shift : shift + 4]
        loss = f(x, y, w)
        loss.backward()
        return [loss.detach(), base.detach(), leaf.grad, w.grad]

    torch._dynamo.reset()
    compiled = torch.compile(function, backend="tt")
    for shift in (None, 2, 0, None, 1, 2):
        for have, want in zip(gradients(compiled, shift), gradients(function, shift), strict=True):
            torch.testing.assert_close(have, want)


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(4.0))
        self.register_buffer("state", torch.ones(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.state.add_(x)
        return self.weight * self.state + x


@pytest.mark.parametrize("name", ["weight", "state"])
def test_an_argument_is_a_weight(name: str) -> None:
    def run(compile: bool) -> list[torch.Tensor]:
        model = Model()
        compiled = torch.compile(model, backend="tt") if compile else model
        results = []
        with torch.no_grad():
            for given in (torch.full((4,), 2.0), getattr(model, name), getattr(model, name)[:], torch.zeros(4)):
                results += [compiled(given).clone(), model.state.clone()]
            model.state = model.weight.data  # a write to it is seen by the weight
            results += [compiled(torch.ones(4)).clone(), model.weight.detach().clone()]
        return results

    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for have, want in zip(run(True), run(False), strict=True):
            torch.testing.assert_close(have, want)


def test_files_refuse_what_they_cannot_write() -> None:
    class Exported(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return write_first(x, y)

    compiled = ttmlir.torch.compile(Exported(), separate())
    torch.testing.assert_close(call(compiled, separate()), call(write_first, separate()))
    torch.testing.assert_close(call(compiled, part(0, 4)()), call(write_first, part(0, 4)()))
    with pytest.raises(ValueError, match="x and y share memory, and the model writes to one of them; pass a copy"):
        compiled(*part(0, 2)())


def test_overlaps() -> None:
    base = torch.arange(100.0)
    inner = [base[:50], base[10:11], base[20:22], base[60:70], torch.ones(3), 7, torch.ones(0), base[69:80]]
    assert overlapping(inner) == [(0, 1), (0, 2), (3, 7)]
    assert pattern_of([base[:5], base[5:]]) == ()


def test_random_writes_to_random_views() -> None:
    """Three views of two memories, of random places, and random functions that write some of them."""
    seeds = random.Random(11)

    def views(seed: int) -> tuple[torch.Tensor, ...]:
        chance = random.Random(seed)
        bases = [torch.arange(24.0), -torch.arange(24.0)]
        found = []
        for _ in range(3):
            base, step = chance.choice(bases), chance.choice((1, 1, 2))
            first = chance.randrange(24 - 6 * step + 1)
            view = base[first : first + 6 * step : step]
            found.append(chance.choice((view, view.view(2, 3).flatten() if step == 1 else view, view.detach())))
        return tuple(found)

    def functions(ops: list[tuple[int, int]]) -> Callable[..., Any]:
        def function(*arguments: Any) -> Any:
            total = arguments[0] * 1
            for written, read in ops:
                arguments[written].mul_(0.5).add_(arguments[read].flip(0))
                total = total + arguments[read]
            return total

        return function

    for _ in range(6):
        function = functions([(seeds.randrange(3), seeds.randrange(3)) for _ in range(3)])
        torch._dynamo.reset()
        compiled = torch.compile(function, backend="tt")
        for _ in range(8):
            seed = seeds.randrange(10**6)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for have, want in zip(call(compiled, views(seed)), call(function, views(seed)), strict=True):
                    torch.testing.assert_close(have, want, msg=lambda m, seed=seed: f"views({seed}): {m}")
