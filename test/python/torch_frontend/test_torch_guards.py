# SPDX-License-Identifier: Apache-2.0
"""Sizes that depend on each other: programs are compared at sizes for which PyTorch's guards hold."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import sympy
import torch
import ttmlir.torch
from compiled import assert_agree, on_chip
from torch import nn
from torch.nn import functional
from ttmlir.sizes import GENERIC, Size
from ttmlir.torch.report import record
from ttmlir.torch.sizes.guards import Conditions, met, residues


def with_remainder(x: torch.Tensor) -> torch.Tensor:
    assert x.shape[0] % 8 == 3
    return x[3:].view(-1, 8, 2) * 2


def more_than_twice(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if x.shape[0] > 2 * y.shape[0]:
        return x[: x.shape[0] - 2 * y.shape[0]] * 2
    return y * 3


def between(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if y.shape[0] < x.shape[0] < 3 * y.shape[0]:
        return x[y.shape[0] - 1 :] * 2
    return x + 1


def padded(x: torch.Tensor) -> torch.Tensor:
    """Pools with as much padding as the size is short of, with branches, as MobileNetV2 has it in each layer."""
    for _ in range(4):
        pad = 0 if x.shape[0] % 2 == 0 else 1
        x = functional.pad(x, (0, 0, 0, pad))
        x = x[::2] + x[1::2]
    return x


# What a function does, the function, what the sizes of its arguments are, and how many programs take all of them.
CASES: dict[str, tuple[Callable[..., Any], Sequence[tuple[int, ...]], int]] = {
    "a multiple": (lambda x: x.view(-1, 8, 2).sum(1), [(16,), (24,), (80,), (800,)], 1),
    "a remainder": (with_remainder, [(19,), (27,), (83,), (803,)], 1),
    "a difference": (lambda x, y: x[3:] * y, [(9, 6), (10, 7), (53, 50), (5, 2)], 1),
    "a sum": (lambda x, y, z: torch.cat([x, y]) * z, [(9, 6, 15), (10, 4, 14), (53, 50, 103)], 1),
    "twice": (lambda x, y: x.view(2, -1, 2) + y, [(90, 45), (100, 50), (4, 2)], 1),
    "more than twice": (more_than_twice, [(9, 3), (50, 7), (6, 2), (100, 10)], 1),
    "twice or less": (more_than_twice, [(6, 5), (4, 7), (100, 70)], 1),
    "between": (between, [(9, 6), (53, 50), (50, 40)], 1),
    "no more than": (lambda x, y: torch.stack([x[: y.shape[0]], y]), [(90, 20), (100, 99), (12, 5)], 1),
    "halves of halves": (padded, [(80,), (48,), (112,), (816,)], 1),
    "halves of odd ones": (padded, [(77,), (45,), (61,), (813,)], 1),
    "far": (lambda x: x[100:] * 2, [(109,), (150,), (102,), (1000,)], 1),
    "near": (lambda x: functional.pad(x, (0, 0, 0, 100 - x.shape[0])) * 2, [(9,), (50,), (98,), (3,)], 1),
    "windows": (lambda x: x.unfold(0, 16, 8) * 2, [(90,), (100,), (53,), (24,), (31,)], 1),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_sizes_that_depend_on_each_other(name: str) -> None:
    function, shapes, count = CASES[name]
    compiled = on_chip(function, dynamic=True)
    with torch.no_grad(), record() as reports:
        for sizes in shapes:
            arguments = [torch.rand(n, 2) for n in sizes]
            for x in arguments:
                torch._dynamo.mark_static(x, 1)
            assert_agree(compiled(*arguments), function(*arguments), str(sizes))
    assert len(reports) == count and all(r.open for r in reports), [(r.open, r.closed) for r in reports]


def test_bounds_are_sizes_of_the_graph() -> None:
    """A program counts in multiples; the report has the sizes that arguments have."""
    compiled = on_chip(with_remainder, dynamic=True)
    with torch.no_grad(), record() as reports:
        compiled(torch.rand(27, 2))
    assert reports[0].open == ("19 <= s77 <= 1048827, s77 % 8 == 3",), reports[0].open


def test_products_of_five_sizes() -> None:
    """Five points do not tell a product of five sizes from sums of them."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return x.flatten() * 2

    compiled = on_chip(function, dynamic=True)
    with torch.no_grad(), record() as reports:
        for shape in ((3, 4, 5, 6, 7), (5, 6, 7, 8, 9), (2, 3, 2, 3, 2)):
            x = torch.rand(shape)
            assert_agree(compiled(x), function(x), str(shape))
    assert [len(r.open) for r in reports] == [5], [(r.open, r.closed) for r in reports]


A, B, C = sympy.symbols("a b c", integer=True, positive=True)
CONDITIONS: dict[str, list[Any]] = {
    "more than twice": [A > 2 * B],
    "ordered": [A > B, B > C],
    "within": [A < 5 * B, A > 3 * B, C >= A],
    "equal": [sympy.Eq(A, B + 3)],
    "product": [sympy.Eq(A * B, C)],
    "remainder": [sympy.Eq((A + B) % 8, 5)],
    "bounded": [A <= 90, B >= 200, C * 3 >= 1000],
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_points_are_admitted(name: str) -> None:
    """All sample points satisfy the conditions, and no further linear relation holds at all of them."""
    conditions = Conditions(CONDITIONS[name], [A, B, C])
    sizes = [conditions.bounded(Size(n, 2), i) for i, n in enumerate("abc")]
    for generic in GENERIC:
        points = conditions.points(sizes, generic)
        assert len(set(points)) >= 4, points
        for point in points:
            values = dict(zip((A, B, C), point, strict=True))
            assert all(condition.subs(values) == sympy.true for condition in CONDITIONS[name]), point
        free = 3 - sum(isinstance(c, sympy.Eq) and not c.lhs.has(sympy.Mod) for c in CONDITIONS[name])
        assert sympy.Matrix([(1, *point) for point in points]).rank() >= min(1 + free, len(set(points))), points


def test_nearest_points_and_bounds() -> None:
    conditions = Conditions([A > 2 * B, sympy.Ge(A // 8, 3), A < 900], [A, B])
    sizes = [conditions.bounded(Size(n, 2), i) for i, n in enumerate("ab")]
    assert [(size.least, size.most) for size in sizes] == [(24, 899), (2, None)]
    assert conditions.nearest((24, 2), sizes) == (24, 2)
    found = conditions.nearest((24, 300), sizes)
    assert found is not None and conditions.admits(found)
    impossible = Conditions([A > B, B > A], [A, B])
    assert impossible.nearest((5, 5), [Size("a"), Size("b")]) is None


def test_residues() -> None:
    """Also of several guards, none of which leaves one remainder."""
    mod = torch.utils._sympy.functions.Mod
    guards = [
        sympy.Eq(mod(A, 8), 3),
        sympy.Eq(mod(A, 6), 1),
        sympy.Eq(mod(2 * B - 6, 16), 0),
        sympy.Eq(mod(C * A, 4 * A), 0),
    ]
    floor = torch.utils._sympy.functions.FloorDiv
    halves = [sympy.Eq(mod(floor(A, 2**i), 2), 0) for i in range(3)]
    assert residues([*halves, sympy.Ne(mod(floor(A, 8), 2), 0)]) == {A: (16, 8)}
    assert residues(guards) == {A: (24, 19), B: (8, 3), C: (4, 0)}


class Calling(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *given: torch.Tensor) -> Any:
        return self.function(*given)


Dim = torch.export.Dim
SMALL, LARGER = Dim("small", min=2, max=64), Dim("larger", min=3, max=64)
# A function, the dimensions of its arguments, sizes that it takes, and others with what is wrong with them.
EXPORTED: dict[str, tuple[Callable[..., Any], Sequence[Any], list[tuple[int, ...]], dict[tuple[int, ...], str]]] = {
    "even": (
        lambda x: x.view(2, -1, 3).sum(0), [2 * SMALL], [(8,), (4,), (66,), (128,)],
        {(n,): rf"dimension 0 is {n}; expected 2\*s\d+ for s\d+ from 2 to 64" for n in (7, 130, 2)},
    ),
    "odd": (
        lambda x: x[1:].view(2, -1, 3).sum(0), [2 * SMALL + 1], [(9,), (5,), (129,)],
        {(n,): rf"is {n}; expected 2\*s\d+ \+ 1 for s\d+ from 2 to 64" for n in (8, 131)},
    ),
    "one less": (
        lambda x, y: x[1:] * y, [LARGER, LARGER - 1], [(8, 7), (3, 2), (64, 63)],
        {(8, 8): r"dimension 0 is 8; expected s\d+ \+ 1, 9 here", (65, 64): "is 64; expected 2 to 63"},
    ),
    "twice another": (
        lambda x, y: torch.cat([x, x]) * y, [SMALL, 2 * SMALL], [(8, 16), (2, 4), (64, 128)],
        {(8, 8): r"dimension 0 is 8; expected 2\*s\d+, 16 here"},
    ),
    "a multiple": (
        lambda x: x.view(-1, 4, 3) + x.shape[0], [Dim.AUTO], [(8,), (20,), (128,)],
        {(9,): "dimension 0 is 9; expected a multiple of 4"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPORTED)
def test_exported_dimensions(name: str) -> None:
    """Dimensions that are computed from others, right and wrong ones."""
    function, dimensions, right, wrong = EXPORTED[name]
    given = [torch.rand(n, 3) for n in right[0]]
    shapes = (tuple({0: dimension} for dimension in dimensions),)
    compiled = ttmlir.torch.compile(Calling(function), tuple(given), dynamic_shapes=shapes)
    assert compiled.closed == ""
    with torch.no_grad():
        for sizes in right:
            given = [torch.rand(n, 3) for n in sizes]
            assert_agree(compiled(*given), function(*given), str(sizes))
        for sizes, text in wrong.items():
            with pytest.raises(ValueError, match=text):
                compiled(*(torch.rand(n, 3) for n in sizes))


def test_training_with_a_smaller_last_batch() -> None:
    """Two programs for each direction: one of the first batch, and one for all others; the losses are PyTorch's."""
    torch.manual_seed(0)
    ours = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Dropout(0.2),
                         nn.Linear(64, 10))  # fmt: skip
    theirs, compiled = copy.deepcopy(ours), on_chip(ours)
    images, labels = torch.randn(29, 1, 9, 9), torch.arange(29) % 10
    models = [
        (compiled, torch.optim.SGD(ours.parameters(), 0.05)),
        (theirs, torch.optim.SGD(theirs.parameters(), 0.05)),
    ]
    with record() as reports:
        for step in (*range(0, 29, 8), *range(0, 29, 8)):
            losses = []
            for model, optimizer in models:
                torch.manual_seed(step)
                optimizer.zero_grad()
                loss = functional.cross_entropy(model(images[step : step + 8]), labels[step : step + 8])
                loss.backward()
                optimizer.step()
                losses.append(loss.detach())
            assert_agree(losses[:1], losses[1:], f"images from {step}")
    assert [bool(r.open) for r in reports] == [False, False, True, True], [(r.open, r.closed) for r in reports]


def test_inequalities_that_only_meet_are_an_equation():
    a, b = sympy.symbols("a b", integer=True, positive=True)
    assert met([sympy.Le(b + 1, a), sympy.Le(a, b + 1)]) == [sympy.Eq(a - b - 1, 0)]
    assert met([sympy.Lt(b, a), sympy.Ge(b + 1, a)]) == [sympy.Eq(a - b - 1, 0)]
    others = [sympy.Le(b, a), sympy.Le(a, b + 1), sympy.Eq(a, 2 * b)]
    assert met(others) == others
    tied = Conditions([sympy.Le(b + 1, a), sympy.Le(a, b + 1)], [a, b])
    assert tied.nearest((5, 5), [Size("a"), Size("b")]) in ((5, 4), (6, 5))


@pytest.mark.parametrize(
    ("guard", "apart"), [("a > 2*b", True), ("Eq(a, b + 1)", True), ("a >= b", False), ("Eq(a + b, 50)", False)]
)
def test_sizes_that_are_never_equal(guard, apart):
    names = sympy.symbols("a b", integer=True, positive=True)
    expression = sympy.sympify(guard, locals=dict(zip("ab", names, strict=True)))
    assert Conditions([expression], names).tells_apart() is apart
