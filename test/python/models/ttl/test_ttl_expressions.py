# SPDX-License-Identifier: Apache-2.0
"""Block expressions of TT-Lang compared with PyTorch in f64: all of ttl.math and ttl.block, and every operator."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
import ttl
import ttnn

Tensors = dict[str, torch.Tensor]
SPECIAL = torch.tensor([0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -1.5, -2.5, 3.0, -3.0, 100.25, -100.25, 0.25, -0.75, 1.0, -1.0])


def operation_of(expressions: list[str], inputs: Tensors, shapes: list[tuple[int, ...]], folder: Path) -> Any:
    """Writes an operation that stores each expression of blocks into a tensor of its own."""
    tiles = {name: (*value.shape[:-2], *(size // 32 for size in value.shape[-2:])) for name, value in inputs.items()}
    lines = ["import ttl", "", "", "@ttl.operation(grid=(1, 1))", "def evaluate(inputs, outputs):"]
    for at, name in enumerate(inputs):
        lines += [f"    {name}_t = inputs[{at}]",
                  f"    {name}_dfb = ttl.make_dataflow_buffer_like({name}_t, {tiles[name]}, 1)"]  # fmt: skip
    kinds = sorted(set(shapes))
    for shape in kinds:
        first = shapes.index(shape)
        lines.append(
            f"    out{kinds.index(shape)}_dfb = ttl.make_dataflow_buffer_like(outputs[{first}], shape={shape}, "
            "block_count=2)"
        )
    lines += ["", "    @ttl.compute()", "    def compute():"]
    lines += [f"        {name} = {name}_dfb.wait()" for name in inputs]
    for text, shape in zip(expressions, shapes, strict=True):
        lines += [f"        with out{kinds.index(shape)}_dfb.reserve() as y:", f"            y.store({text})"]
    lines += ["", "    @ttl.datamovement()", "    def read():"]
    for name in inputs:
        part = ", ".join(":" for _ in tiles[name])
        lines += [
            f"        with {name}_dfb.reserve() as block:",
            f"            ttl.copy({name}_t[{part}], block).wait()",
        ]
    lines += ["", "    @ttl.datamovement()", "    def write():"]
    for at, shape in enumerate(shapes):
        part = ", ".join(":" for _ in shape)
        lines += [f"        with out{kinds.index(shape)}_dfb.wait() as block:",
                  f"            ttl.copy(block, outputs[{at}][{part}])"]  # fmt: skip
    file = folder / "evaluated.py"
    file.write_text("\n".join(lines) + "\n")
    spec = importlib.util.spec_from_file_location("evaluated", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.evaluate


def evaluated(
    expressions: list[str],
    inputs: Tensors,
    shapes: list[tuple[int, ...]],
    put: Callable[..., Any],
    folder: Path,
    dtype: Any,
) -> list[torch.Tensor]:
    def elements(shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape[:-2], shape[-2] * 32, shape[-1] * 32)

    operation = operation_of(expressions, inputs, shapes, folder)
    outputs = [put(torch.zeros(elements(shape)), dtype) for shape in shapes]
    operation([put(each, dtype) for each in inputs.values()], outputs)
    return [ttnn.to_torch(each).double() for each in outputs]


def row(seed: int, change: Callable[[torch.Tensor], torch.Tensor] = lambda x: x) -> torch.Tensor:
    """Returns a tile of values that bf16 has, with special ones among them."""
    values = torch.randn(32, 32, generator=torch.Generator().manual_seed(seed)) * 3
    values[0, : len(SPECIAL)] = SPECIAL
    return change(values.bfloat16().float()).bfloat16().float()


ANY, POSITIVE, UNIT, ABOVE = (
    row(1),
    row(2, lambda x: x.abs() + 0.125),
    row(3, lambda x: x.tanh() * 0.9375),
    row(4, lambda x: x.abs() + 1),
)
INPUTS: Tensors = {"x": ANY, "p": POSITIVE, "u": UNIT, "g": ABOVE}
# Each function of one block, with PyTorch's and an input inside of its domain.
UNARY: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], str]] = {
    "abs": (torch.abs, "x"), "neg": (torch.neg, "x"), "exp": (torch.exp, "u"), "exp2": (torch.exp2, "u"),
    "expm1": (torch.expm1, "u"), "log": (torch.log, "p"), "logp1": (torch.log1p, "p"), "sqrt": (torch.sqrt, "p"),
    "square": (torch.square, "x"), "rsqrt": (torch.rsqrt, "p"), "recip": (torch.reciprocal, "p"),
    "tan": (torch.tan, "u"), "tanh": (torch.tanh, "x"), "atan": (torch.atan, "x"), "atanh": (torch.atanh, "u"),
    "sin": (torch.sin, "x"), "asin": (torch.asin, "u"), "asinh": (torch.asinh, "x"), "cos": (torch.cos, "x"),
    "acos": (torch.acos, "u"), "acosh": (torch.acosh, "g"), "relu": (torch.relu, "x"),
    "sigmoid": (torch.sigmoid, "x"), "gelu": (F.gelu, "x"), "silu": (F.silu, "x"), "softsign": (F.softsign, "x"),
    "hardsigmoid": (F.hardsigmoid, "x"), "selu": (F.selu, "x"), "floor": (torch.floor, "x"),
    "ceil": (torch.ceil, "x"), "frac": (torch.frac, "x"), "trunc": (torch.trunc, "x"), "sign": (torch.sign, "x"),
    "signbit": (lambda x: torch.signbit(x).double(), "x"), "round": (torch.round, "x"),
}  # fmt: skip
X, P, U = ANY.double(), POSITIVE.double(), UNIT.double()
OTHERS: dict[str, torch.Tensor] = {
    "ttl.math.rsub(x, 3)": 3 - X,
    "ttl.math.relu_max(x, 2)": X.relu().clamp(max=2),
    "ttl.math.relu_min(x, 1)": X.clamp(min=1).relu(),
    "ttl.math.leaky_relu(x, 2)": F.leaky_relu(X, 2),
    "ttl.math.elu(u, 2)": F.elu(U, 2),
    "ttl.math.celu(u, 2, 1)": F.celu(U, 2),
    "ttl.math.prelu(x, 3)": F.leaky_relu(X, 3),
    "ttl.math.softplus(x, 2, 1, 3)": F.softplus(X, 2, 3),
    "ttl.math.hardtanh(x, 1, 2)": X.clamp(1, 2),
    "ttl.math.clamp(x, min=1, max=2)": X.clamp(1, 2),
    "ttl.math.threshold(x, 1, 7)": torch.where(X > 1, 7.0, X),
    "ttl.math.pow(x, 2)": X**2,
    "x ** 3": X**3,
    "p ** u": P**U,
    "abs(-x)": X.abs(),
    "ttl.math.max(x, u)": torch.maximum(X, U),
    "ttl.math.min(x, u)": torch.minimum(X, U),
    "ttl.math.gt(x, u)": (X > U).double(),
    "ttl.math.lt(x, u)": (X < U).double(),
    "ttl.math.eq(x, x)": torch.ones_like(X),
    "ttl.math.ne(x, u)": (X != U).double(),
    "x >= u": (X >= U).double(),
    "x <= 1": (X <= 1).double(),
    "x + u": X + U,
    "x - u": X - U,
    "x * u": X * U,
    "x / p": X / P,
    "x // p": torch.floor(X / P),
    "x % p": torch.remainder(X, P),
    "2 / p": 2 / P,
    "1 - x": 1 - X,
    "2 + x * 0.5": 2 + X * 0.5,
    "ttl.block.where(x > 0, u, p)": torch.where(X > 0, U, P),
    "ttl.block.mask(x, u > 0)": torch.where(U > 0, 0.0, X),
    "ttl.block.mask_posinf(x, u > 0)": torch.where(U > 0, math.inf, X),
    "ttl.block.fill(1.5, shape=(1, 1))": torch.full_like(X, 1.5),
    "ttl.block.transpose(x)": X.T,
    "ttl.block.squeeze(ttl.block.unsqueeze(x, dims=[0]), dims=[0])": X,
}


def test_every_function_has_a_case() -> None:
    used = " ".join(OTHERS)
    of_shapes = {"reduce_sum", "reduce_max", "broadcast"}
    missing = [name for name in vars(ttl.math) if name not in UNARY and f"ttl.math.{name}(" not in used]
    missing += [name for name in vars(ttl.block) if f"ttl.block.{name}(" not in used]
    assert set(missing) - of_shapes - {"ge", "le"} == set(), "those are operators"


@pytest.mark.parametrize(("kind", "tolerance"), [("float32", 4e-6), ("bfloat16", 2**-6)])
def test_functions(kind: str, tolerance: float, tiled: Callable[..., Any], tmp_path: Path) -> None:
    expected = {f"ttl.math.{name}({of})": function(INPUTS[of].double()) for name, (function, of) in UNARY.items()}
    expected |= OTHERS
    found = evaluated(
        list(expected), INPUTS, [(1, 1)] * len(expected), tiled, tmp_path, getattr(ttnn, kind)
    )  # fmt: skip
    wrong = []
    for (name, want), got in zip(expected.items(), found, strict=True):
        # A quotient near a whole number may round to it.
        near = torch.zeros_like(want, dtype=torch.bool)
        if name in ("x // p", "x % p") and kind == "bfloat16":
            near = (X / P - torch.round(X / P)).abs() < 2**-5 * (X / P).abs().clamp(min=1)
        close = torch.isclose(got, want, rtol=tolerance, atol=tolerance, equal_nan=True) | near
        if not close.all():
            at = (~close).nonzero()[0].tolist()
            wrong.append(f"{name} at {at}: {got[tuple(at)]}, expected {want[tuple(at)]}")
    assert wrong == []


def test_shapes(tiled: Callable[..., Any], tmp_path: Path) -> None:
    """Products, reductions and broadcasts of blocks of several tiles, also of expressions, and in 3 dimensions."""
    generator = torch.Generator().manual_seed(5)
    a, b = (torch.randn(size, generator=generator) for size in ((64, 96), (96, 64)))
    c, column, line = (torch.randn(size, generator=generator) for size in ((64, 64), (64, 32), (32, 64)))
    batch = torch.randn(2, 32, 64, generator=generator)
    inputs = {"a": a, "b": b, "c": c, "column": column, "line": line, "batch": batch}
    a, b, c, column, line, batch = (each.double() for each in inputs.values())
    wide = "shape=(2, 2)"
    peak = "ttl.block.broadcast(ttl.math.reduce_max(c, dims=[-1], shape=(2, 1)), dims=[-1], shape=(2, 2))"
    cases: list[tuple[str, torch.Tensor, tuple[int, ...]]] = [
        ("a @ b", a @ b, (2, 2)),
        ("ttl.math.relu(c + a @ b)", (c + a @ b).relu(), (2, 2)),
        ("a @ b + c * 2", a @ b + c * 2, (2, 2)),
        ("(a + a) @ (b * 0.5) - c", a @ b - c, (2, 2)),
        ("a @ b - c @ c", a @ b - c @ c, (2, 2)),
        ("ttl.block.transpose(a) @ c", a.T @ c, (3, 2)),
        ("ttl.block.transpose(a + a)", 2 * a.T, (3, 2)),
        (f"c - ttl.block.broadcast(column, dims=[-1], {wide})", c - column[:, :1], (2, 2)),
        (f"c * ttl.block.broadcast(line * 2, dims=[0], {wide})", c * line[:1] * 2, (2, 2)),
        ("batch + ttl.block.broadcast(ttl.block.unsqueeze(line, dims=[0]), dims=[0], shape=(2, 1, 2))", batch + line,
         (2, 1, 2)),
        ("batch @ c", batch @ c, (2, 1, 2)),
        (f"ttl.math.exp(c - {peak})", (c - c.amax(1, keepdim=True)).exp(), (2, 2)),
    ]  # fmt: skip
    deep = "((c + 1) / (c * c + 2) + (c - 1) / (c * c + 3)) * ((c + 2) / (c * c + 4) - (c - 3) / (c * c + 5))"
    deeper = f"({deep}) * ((c * 3) / (c * c + 6) - ({deep}) / (c * c + 7)) + ({deep}) / (({deep}) + 9)"
    x = c
    first = ((x + 1) / (x * x + 2) + (x - 1) / (x * x + 3)) * ((x + 2) / (x * x + 4) - (x - 3) / (x * x + 5))
    cases.append((deeper, first * ((x * 3) / (x * x + 6) - first / (x * x + 7)) + first / (first + 9), (2, 2)))
    corners: list[tuple[str, torch.Tensor, tuple[int, ...]]] = [
        ("ttl.math.reduce_sum(c * c, dims=[-1], shape=(2, 1))", (c * c).sum(1, keepdim=True), (2, 1)),
        ("ttl.math.reduce_max(a, dims=[0], shape=(1, 3))", a.amax(0, keepdim=True), (1, 3)),
        ("ttl.math.reduce_sum(c, dims=[0, 1], shape=(1, 1))", c.sum().reshape(1, 1), (1, 1)),
        ("ttl.math.reduce_sum(batch, dims=[0], shape=(1, 1, 2))", batch.sum(0, keepdim=True), (1, 1, 2)),
        ("ttl.math.reduce_max(batch, dims=[0], shape=(1, 1, 2))", batch.amax(0, keepdim=True), (1, 1, 2)),
    ]
    everything = [*cases, *corners]
    found = evaluated(
        [text for text, *_ in everything], inputs, [shape for *_, shape in everything], tiled, tmp_path, ttnn.float32
    )
    for (text, want, _), got in zip(everything, found, strict=True):
        there = got[tuple(slice(size) for size in want.shape)]  # a reduction's values lie in the first row or column
        torch.testing.assert_close(there, want, rtol=2e-5, atol=2e-5, msg=lambda m, text=text: f"{text}: {m}")
