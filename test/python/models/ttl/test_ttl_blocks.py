# SPDX-License-Identifier: Apache-2.0
"""Block expressions over loops and branches, of several types, in traces; random ones compared with PyTorch in f64."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import ttl
import ttnn
from test_ttl_expressions import evaluated

Put = Callable[..., Any]
BLOCK = 2  # rows of tiles


@ttl.operation(grid=(1, 1))
def norms(a: Any, b: Any, c: Any, d: Any, y: Any, z: Any) -> None:
    """Computes y[n] and z[m]: sums of roots over one dimension of a[n, m] and of vectors, which outlive a loop."""
    width, blocks = a.shape[1] // 32, a.shape[0] // 32 // BLOCK
    a_dfb = ttl.make_dataflow_buffer_like(a, shape=(BLOCK, width))
    b_dfb = ttl.make_dataflow_buffer_like(b, shape=(BLOCK, 1))
    c_dfb = ttl.make_dataflow_buffer_like(c, shape=(1, width))
    d_dfb = ttl.make_dataflow_buffer_like(d, shape=(1, 1))
    y_dfb = ttl.make_dataflow_buffer_like(y, shape=(BLOCK, 1))
    z_dfb = ttl.make_dataflow_buffer_like(z, shape=(1, width))

    @ttl.datamovement()
    def read():
        with c_dfb.reserve() as c_blk, d_dfb.reserve() as d_blk:
            c_xf = ttl.copy(c[0:1, :], c_blk)
            d_xf = ttl.copy(d[0, 0], d_blk)
            c_xf.wait()
            d_xf.wait()
        for at in range(blocks):
            with a_dfb.reserve() as a_blk, b_dfb.reserve() as b_blk:
                rows = slice(at * BLOCK, (at + 1) * BLOCK)
                ttl.copy(a[rows, :], a_blk)
                ttl.copy(b[rows, 0], b_blk)

    @ttl.compute()
    def compute():
        with c_dfb.wait() as c_blk, d_dfb.wait() as d_blk, z_dfb.reserve() as z_blk:
            c_all = ttl.block.broadcast(c_blk**2, dims=[0], shape=(BLOCK, width))
            d_all = ttl.block.broadcast(d_blk**2, dims=[0, 1], shape=(BLOCK, width))
            total = ttl.block.fill(0, shape=(1, width))
            for _ in range(blocks):
                with a_dfb.wait() as a_blk, b_dfb.wait() as b_blk, y_dfb.reserve() as y_blk:
                    square = a_blk**2
                    b_all = ttl.block.broadcast(b_blk**2, dims=[-1], shape=(BLOCK, width))
                    root = ttl.math.sqrt(square + b_all + c_all + d_all)
                    other = ttl.math.sqrt(abs(square - b_all - c_all - d_all))
                    y_blk.store(ttl.math.reduce_sum(root, dims=[-1], shape=(BLOCK, 1)))
                    total += ttl.math.reduce_sum(other, dims=[0], shape=(1, width))
            z_blk.store(total)

    @ttl.datamovement()
    def write():
        for at in range(blocks):
            with y_dfb.wait() as y_blk:
                ttl.copy(y_blk, y[slice(at * BLOCK, (at + 1) * BLOCK), :]).wait()
        with z_dfb.wait() as z_blk:
            ttl.copy(z_blk, z[0, :]).wait()


def test_expressions_outlive_loops(tiled: Put) -> None:
    generator = torch.Generator().manual_seed(1)
    a, b, c, d = (torch.randn(size, generator=generator) for size in ((128, 96), (128, 32), (32, 96), (32, 32)))
    y, z = tiled(torch.zeros(128, 32)), tiled(torch.zeros(32, 96))
    norms(*(tiled(each) for each in (a, b, c, d)), y, z)
    a, b, c, d = a.double() ** 2, b[:, :1].double() ** 2, c[:1].double() ** 2, d[0, 0].double() ** 2
    torch.testing.assert_close(ttnn.to_torch(y)[:, 0].double(), (a + b + c + d).sqrt().sum(1), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(ttnn.to_torch(z)[0].double(), (a - b - c - d).abs().sqrt().sum(0), rtol=1e-3, atol=1e-3)


@ttl.operation(grid=(1, 1))
def batches(a: Any, b: Any, c: Any, y: Any) -> None:
    """Multiplies each matrix of a batch by one matrix; the sum is a block expression."""
    count, rows, steps, columns = a.shape[0], a.shape[1] // 32, a.shape[2] // 32, b.shape[1] // 32
    a_dfb, y_dfb = (ttl.make_dataflow_buffer_like(each, shape=(count, 1, 1)) for each in (a, y))
    b_dfb, c_dfb = (ttl.make_dataflow_buffer_like(each, shape=(1, 1)) for each in (b, c))

    @ttl.datamovement()
    def read():
        for row in range(rows):
            for column in range(columns):
                with c_dfb.reserve() as c_blk:
                    ttl.copy(c[row, column], c_blk)
                for step in range(steps):
                    with a_dfb.reserve() as a_blk, b_dfb.reserve() as b_blk:
                        ttl.copy(a[0:count, row, step], a_blk)
                        ttl.copy(b[step, column], b_blk)

    @ttl.compute()
    def compute():
        for _ in range(rows * columns):
            with y_dfb.reserve() as y_blk:
                total = ttl.block.fill(0, shape=(count, 1, 1))
                for _ in range(steps):
                    with a_dfb.wait() as a_blk, b_dfb.wait() as b_blk:
                        b_all = ttl.block.broadcast(ttl.block.unsqueeze(b_blk, dims=[0]), dims=[0], shape=(count, 1, 1))
                        total += a_blk @ b_all
                with c_dfb.wait() as c_blk:
                    c_all = ttl.block.broadcast(ttl.block.unsqueeze(c_blk, dims=[0]), dims=[0], shape=(count, 1, 1))
                    total = total + c_all
                y_blk.store(total)

    @ttl.datamovement()
    def write():
        for row in range(rows):
            for column in range(columns):
                with y_dfb.wait() as y_blk:
                    ttl.copy(y_blk, y[0:count, row : row + 1, column : column + 1])


def test_batches(tiled: Put) -> None:
    generator = torch.Generator().manual_seed(2)
    a, b, c = (torch.randn(size, generator=generator) for size in ((3, 64, 96), (96, 64), (64, 64)))
    y = tiled(torch.zeros(3, 64, 64))
    batches(tiled(a), tiled(b), tiled(c), y)
    expected = a.double() @ b.double() + c.double()
    torch.testing.assert_close(ttnn.to_torch(y).double(), expected, rtol=1e-5, atol=1e-5)


def scaled(value, by):
    """Is called by a kernel."""
    more = value * by
    return more + 1


@ttl.operation(grid=(1, 1))
def by_turns(a: Any, y: Any) -> None:
    """Takes the maximum of even tiles, and adds odd ones, in branches of a while loop."""
    count = a.shape[0] // 32
    a_dfb, y_dfb = (ttl.make_dataflow_buffer_like(each, shape=(1, 1)) for each in (a, y))

    @ttl.compute()
    def compute():
        at = 0
        best = ttl.block.fill(-100, shape=(1, 1))
        total = ttl.block.fill(0, shape=(1, 1))
        while at < count:
            blk = a_dfb.wait()
            if at % 2 == 0:
                best = ttl.math.max(best, blk)
            else:
                total += scaled(blk, 3)
                if at > 2:
                    total = total - blk
            blk.pop()
            at += 1
        out = y_dfb.reserve()
        out.store(best + total)
        out.push()

    @ttl.datamovement()
    def read():
        for at in range(count):
            with a_dfb.reserve() as blk:
                ttl.copy(a[at, 0], blk)

    @ttl.datamovement()
    def write():
        with y_dfb.wait() as blk:
            ttl.copy(blk, y[0, 0])


def turns(values: torch.Tensor) -> torch.Tensor:
    t = values.double().reshape(5, 32, 32)
    return torch.stack([t[0], t[2], t[4]]).amax(0) + (t[1] * 3 + 1) + (t[3] * 3 + 1) - t[3]


def test_branches_and_traces(tiled: Put, device: Any) -> None:
    """A recorded call computes again on what the tensors hold then."""
    values = torch.randn(160, 32, generator=torch.Generator().manual_seed(3))
    a, y = tiled(values), tiled(torch.zeros(32, 32))
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    by_turns(a, y)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    torch.testing.assert_close(ttnn.to_torch(y).double(), turns(values), rtol=1e-6, atol=1e-6)
    more = ttnn.from_torch(values * 2, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT)
    ttnn.copy_host_to_device_tensor(more, a)
    ttnn.execute_trace(device, trace, cq_id=0)
    torch.testing.assert_close(ttnn.to_torch(y).double(), turns(values * 2), rtol=1e-6, atol=1e-6)
    ttnn.release_trace(device, trace)


@ttl.operation(grid=(1, 1))
def polynomial(a: Any, y: Any) -> None:
    a_dfb, y_dfb = (ttl.make_dataflow_buffer_like(each, shape=(1, 1)) for each in (a, y))

    @ttl.compute()
    def compute():
        with a_dfb.wait() as blk, y_dfb.reserve() as out:
            out.store(blk * blk + blk)

    @ttl.datamovement()
    def read():
        with a_dfb.reserve() as blk:
            ttl.copy(a[0, 0], blk)

    @ttl.datamovement()
    def write():
        with y_dfb.wait() as blk:
            ttl.copy(blk, y[0, 0])


@pytest.mark.parametrize("kind", ["int32", "bfloat8_b"])
def test_types(kind: str, tiled: Put) -> None:
    values = torch.randint(-40000, 40000, (32, 32), generator=torch.Generator().manual_seed(4), dtype=torch.int32)
    if kind != "int32":
        values = (values / 30000).bfloat16().float()
    a, y = tiled(values, getattr(ttnn, kind)), tiled(torch.zeros_like(values), getattr(ttnn, kind))
    polynomial(a, y)
    if kind == "int32":
        assert torch.equal(ttnn.to_torch(y), values * values + values), "sums wrap to 32 bits"
        return
    x = ttnn.to_torch(a).double()
    torch.testing.assert_close(ttnn.to_torch(y).double(), x * x + x, rtol=0.02, atol=0.05)


def drawn(random_: random.Random, depth: int) -> str:
    """Returns a random expression of blocks x, p (positive) and u, whose value stays moderate."""
    if depth == 0 or random_.random() < 0.1:
        return random_.choice("xpu")
    inner = [drawn(random_, depth - 1) for _ in range(3)]
    form = random_.choice(
        (
            "({0} + {1})", "({0} - {1})", "({0} * ttl.math.tanh({1}))", "({0} / (abs({1}) + 1))",
            "ttl.math.max({0}, {1})", "ttl.math.sigmoid({0})", "(2 - {0})", "ttl.block.where({0} > {1}, {2}, {1})",
            "ttl.block.transpose({0})", "ttl.math.softsign({0})", "(({0}) @ ({1} * 0.125))",
            "ttl.math.clamp({0}, -1, 1)", "(-{0})",
            "ttl.block.broadcast(ttl.math.reduce_max({0}, dims=[-1], shape=(1, 1)), dims=[-1], shape=(1, 1))",
        )
    )  # fmt: skip
    return str(form.format(*inner))


class Reference:
    """Has the functions that random expressions use, on tensors of PyTorch."""

    math = block = None

    max, sigmoid, tanh = staticmethod(torch.maximum), staticmethod(torch.sigmoid), staticmethod(torch.tanh)
    softsign, clamp = staticmethod(torch.nn.functional.softsign), staticmethod(torch.clamp)
    where = staticmethod(torch.where)
    transpose = staticmethod(lambda x: x.T)
    reduce_max = staticmethod(lambda x, dims, shape: x.amax(dims[0], keepdim=True))
    broadcast = staticmethod(lambda x, dims, shape: x.expand(32, 32))


Reference.math = Reference.block = Reference  # type: ignore[assignment]


@pytest.mark.long
@pytest.mark.parametrize("seed", [11, 22])
def test_random_expressions(seed: int, tiled: Put, tmp_path: Path) -> None:
    """Trees that need more registers than there are, and operands that need buffers."""
    random_ = random.Random(seed)
    generator = torch.Generator().manual_seed(5)
    inputs = {name: torch.randn(32, 32, generator=generator) for name in "xu"}
    inputs["p"] = torch.rand(32, 32, generator=generator) + 0.5
    expressions = [drawn(random_, 2 + at % 4) for at in range(24)]
    found = evaluated(expressions, inputs, [(1, 1)] * len(expressions), tiled, tmp_path, ttnn.float32)
    names = {name: value.double() for name, value in inputs.items()} | {"ttl": Reference, "abs": abs}
    for text, got in zip(expressions, found, strict=True):
        want = eval(text, names)
        # A comparison of nearly equal values may go the other way.
        near = torch.isclose(got, want, rtol=1e-3, atol=1e-3)
        assert near.double().mean() > 0.995, text
