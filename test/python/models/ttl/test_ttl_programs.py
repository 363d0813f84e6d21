# SPDX-License-Identifier: Apache-2.0
"""Programs of TT-Lang on simulated cores: the examples, pipes between nodes, tensors in shards and rows, integers."""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
import ttl
import ttnn


def examples() -> ModuleType:
    """Loads examples/ttl/programs.py under a name of its own: tests of JAX have a module `programs`, too."""
    path = Path(__file__).resolve().parents[4] / "examples" / "ttl" / "programs.py"
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location("ttl_examples", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


programs = examples()

Put = Callable[..., Any]


@pytest.mark.long
@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_examples(name: str) -> None:
    found, expected, _ = programs.run(name, ttnn.float32, torch.float32, 256)
    torch.testing.assert_close(found.double(), expected, rtol=2e-5, atol=2e-5)
    report = programs.PROGRAMS[name][1].report
    assert report.cycles == math.ceil(max(each.end for each in report.kernels))
    assert {each.name for each in report.kernels} >= {"read", "write"}


@pytest.mark.parametrize("name", ["elementwise blocks", "matmul four_nodes"])
def test_examples_in_bf16(name: str) -> None:
    """Values are rounded to 8 bits in each register; the sum goes through a buffer of bf16 in each step."""
    found, expected, _ = programs.run(name, ttnn.bfloat16, torch.bfloat16, 256)
    torch.testing.assert_close(found.double(), expected, rtol=0.02, atol=0.06)


@ttl.operation(grid=(4, 2))
def row_sums(a: ttnn.Tensor, y: ttnn.Tensor) -> None:
    """Sends the tiles of each row of nodes to its first node, which adds them."""
    columns, rows = ttl.grid_size()
    a_dfb, y_dfb = (ttl.make_dataflow_buffer_like(each, shape=(1, 1)) for each in (a, y))
    net = ttl.PipeNet([ttl.Pipe(src=(x, row), dst=(0, row)) for x in range(1, columns) for row in range(rows)])

    @ttl.compute()
    def add():
        column, _ = ttl.node(dims=2)
        if column == 0:
            with y_dfb.reserve() as y_blk:
                total = ttl.block.fill(0, shape=(1, 1))
                for _ in range(columns):
                    with a_dfb.wait() as a_blk:
                        total += a_blk
                y_blk.store(total)

    @ttl.datamovement()
    def read():
        column, row = ttl.node(dims=2)

        def send(pipe):
            with a_dfb.reserve() as blk:
                ttl.copy(a[row, column], blk).wait()
                ttl.copy(blk, pipe).wait()

        def receive(pipe):
            with a_dfb.reserve() as blk:
                ttl.copy(pipe, blk).wait()

        if column == 0:
            with a_dfb.reserve() as blk:
                ttl.copy(a[row, column], blk).wait()
        net.if_src(send)
        net.if_dst(receive)

    @ttl.datamovement()
    def write():
        column, row = ttl.node(dims=2)
        if column == 0:
            with y_dfb.wait() as y_blk:
                ttl.copy(y_blk, y[row, 0])


def test_sums_of_a_row_of_nodes(tiled: Put) -> None:
    values = torch.randn(64, 128, generator=torch.Generator().manual_seed(1))
    a, y = tiled(values), tiled(torch.zeros(64, 32))
    row_sums(a, y)
    expected = values.double().reshape(2, 32, 4, 32).sum(2).reshape(64, 32)
    torch.testing.assert_close(ttnn.to_torch(y).double(), expected, rtol=1e-6, atol=1e-6)


@ttl.operation(grid=(4, 2))
def multicast(a: ttnn.Tensor, y: ttnn.Tensor) -> None:
    """Sends the tiles that the first node of each row reads to the others of the row."""
    columns, rows = ttl.grid_size()
    count = a.shape[1] // 32
    a_dfb, y_dfb = (ttl.make_dataflow_buffer_like(each, shape=(1, 1)) for each in (a, y))
    net = ttl.PipeNet([ttl.Pipe(src=(0, row), dst=(slice(1, columns), row)) for row in range(rows)])

    @ttl.compute()
    def double():
        for _ in range(count):
            with a_dfb.wait() as a_blk, y_dfb.reserve() as y_blk:
                y_blk.store(a_blk + a_blk)

    @ttl.datamovement()
    def read():
        _, row = ttl.node(dims=2)
        for at in range(count):
            with a_dfb.reserve() as blk:

                def send(pipe, at=at):
                    ttl.copy(a[row, at], blk).wait()
                    ttl.copy(blk, pipe).wait()

                def receive(pipe):
                    assert pipe.src[0] == 0
                    ttl.copy(pipe, blk).wait()

                net.if_src(send)
                net.if_dst(receive)

    @ttl.datamovement()
    def write():
        column, row = ttl.node(dims=2)
        for at in range(count):
            with y_dfb.wait() as y_blk:
                ttl.copy(y_blk, y[row * columns + column, at])


def test_a_multicast(tiled: Put) -> None:
    values = torch.randn(64, 96, generator=torch.Generator().manual_seed(2))
    a, y = tiled(values), tiled(torch.zeros(256, 96))
    multicast(a, y)
    expected = torch.cat([values[32 * row : 32 * row + 32] * 2 for row in range(2) for _ in range(4)])
    assert torch.equal(ttnn.to_torch(y), expected)


@ttl.operation(grid=(1, 4))
def ring(a: ttnn.Tensor, y: ttnn.Tensor) -> None:
    """Sends a tile to the next node of a column, and the last one's to the first."""
    _, rows = ttl.grid_size()
    own_dfb, other_dfb, y_dfb = (ttl.make_dataflow_buffer_like(each, shape=(1, 1)) for each in (a, a, y))
    net = ttl.PipeNet([ttl.Pipe(src=(0, row), dst=(0, (row + 1) % rows)) for row in range(rows)])

    @ttl.compute()
    def triple():
        with other_dfb.wait() as blk, y_dfb.reserve() as y_blk:
            y_blk.store(blk * 3)

    @ttl.datamovement()
    def exchange():
        row = ttl.node(dims=1)
        with own_dfb.reserve() as own, other_dfb.reserve() as other:

            def send(pipe):
                ttl.copy(a[row, 0], own).wait()
                own_xf = ttl.copy(own, pipe)
                own_xf.wait()

            def receive(pipe):
                other_xf = ttl.copy(pipe, other)
                other_xf.wait()

            net.if_src(send)
            net.if_dst(receive)

    @ttl.datamovement()
    def write():
        row = ttl.node(dims=1)
        with y_dfb.wait() as y_blk:
            ttl.copy(y_blk, y[row, 0])


def test_a_ring(tiled: Put) -> None:
    """Every node sends first: no deadlock."""
    values = torch.randn(128, 32, generator=torch.Generator().manual_seed(3))
    a, y = tiled(values), tiled(torch.zeros(128, 32))
    ring(a, y)
    assert torch.equal(ttnn.to_torch(y), values.roll(32, 0) * 3)


@ttl.operation(grid=(2, 2))
def difference(a: ttnn.Tensor, y: ttnn.Tensor) -> None:
    """Computes a * a - a of a row of tiles on each node, with explicit pops and pushes."""
    width = a.shape[1] // 32
    a_dfb, y_dfb = (ttl.make_dataflow_buffer_like(each, shape=(1, width)) for each in (a, y))

    @ttl.compute()
    def subtract():
        a_blk = a_dfb.wait()
        y_blk = y_dfb.reserve()
        square = ttl.math.square(a_blk)
        y_blk.store(square - a_blk)
        a_blk.pop()
        y_blk.push()

    @ttl.datamovement()
    def read():
        number = ttl.node(dims=1)
        a_blk = a_dfb.reserve()
        ttl.copy(a[number, 0:width], a_blk).wait()
        a_blk.push()

    @ttl.datamovement()
    def write():
        number = ttl.node(dims=1)
        y_blk = y_dfb.wait()
        with ttl.signpost("write y"):
            ttl.copy(y_blk, y[number : number + 1, :]).wait()


@pytest.mark.parametrize("strategy", ["HEIGHT", "WIDTH", "BLOCK", "DRAM"])
def test_tensors_in_shards(strategy: str, tiled: Put) -> None:
    values = torch.randn(128, 64, generator=torch.Generator().manual_seed(4))
    memory = ttnn.DRAM_MEMORY_CONFIG
    if strategy != "DRAM":
        grid = ttnn.CoreGrid(y=2, x=2) if strategy == "BLOCK" else ttnn.CoreGrid(y=1, x=2)
        memory = ttnn.create_sharded_memory_config((128, 64), grid, getattr(ttnn.ShardStrategy, strategy))
    a, y = tiled(values, memory_config=memory), tiled(torch.zeros(128, 64), memory_config=memory)
    difference(a, y)
    torch.testing.assert_close(ttnn.to_torch(y), values * values - values, rtol=1e-6, atol=1e-6)


@ttl.operation(grid=(1, 1))
def upsample(x: ttnn.Tensor, y: ttnn.Tensor) -> None:
    """Repeats pixels of images twice in both directions; tensors are in rows."""
    images, height, width, channels = x.shape
    x_dfb = ttl.make_dataflow_buffer_like(x, shape=(channels,))

    @ttl.compute()
    def nothing():
        pass

    @ttl.datamovement()
    def read():
        for image in range(images):
            for row in range(height):
                for column in range(width):
                    with x_dfb.reserve() as blk:
                        ttl.copy(x[image, row, column, :], blk)

    @ttl.datamovement()
    def write():
        for image in range(images):
            for row in range(height):
                for column in range(width):
                    with x_dfb.wait() as blk:
                        group = ttl.GroupTransfer()
                        for down in range(2):
                            for right in range(2):
                                xf = ttl.copy(blk, y[image, row * 2 + down, column * 2 + right, :])
                                group.add(xf)
                        group.wait_all()


def test_rows(device: Any) -> None:
    values = torch.randn(2, 3, 4, 7, generator=torch.Generator().manual_seed(5))
    x, y = (
        ttnn.from_torch(each, dtype=ttnn.float32, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
        for each in (values, torch.zeros(2, 6, 8, 7))
    )
    upsample(x, y)
    assert torch.equal(ttnn.to_torch(y), values.repeat_interleave(2, 1).repeat_interleave(2, 2))


def halves(value, by=2):
    """Is called by a kernel, too."""
    return value // by, value % by


def numbers(start):
    """Prints what Python computes of integers; start is known only when it runs."""
    for a in (-7, 7, 0):
        for b in (2, -3):
            print(a + start, (a + start) // b, (a + start) % b, divmod(a + start, b)[1], sep=", ")
    total = 0
    for i in range(start + 5, -3, -2):
        if i == 3:
            continue
        total += i * i
        if total > 60 and i < 0:
            break
    print("total", total, f"and {total - 1}")
    count = start
    while count < 5 and not (count == 4 or count > 8):
        count += 1
    print(count, -count, abs(-count), min(count, 3, start), max(count, start), (count << 2) | 1, count ^ 5)
    print(1 if count > 3 else 2, count if start else 9, 3 < count <= 4, count in (1, 4), (count, 1) == (4, 1))
    quotient, rest = halves(count + 1)
    print("halves", quotient, rest, (start and 3) or 8)
    if start == 0 and count == 4:
        shown = 10
        print("both")
    else:
        shown = 20
    print(shown)


@ttl.operation(grid=(1, 1))
def counted(a: ttnn.Tensor) -> None:
    a_dfb = ttl.make_dataflow_buffer_like(a, shape=(1, 1))

    @ttl.compute()
    def nothing():
        pass

    @ttl.datamovement()
    def count():
        numbers(ttl.node(dims=1))

    @ttl.datamovement()
    def touch():
        with a_dfb.reserve() as blk:
            ttl.copy(a[0, 0], blk)


def test_integers_are_those_of_python(tiled: Put, capsys: Any) -> None:
    numbers(0)
    expected = capsys.readouterr().out
    counted(tiled(torch.zeros(32, 32)))
    found = capsys.readouterr().out.replace("(y=0, x=0) count: ", "")
    truth = expected.replace("True", "1").replace("False", "0")
    assert found == truth


def test_a_block_is_printed(tiled: Put, capsys: Any) -> None:
    @ttl.operation(grid=(1, 1))
    def shown(a: ttnn.Tensor) -> None:
        a_dfb = ttl.make_dataflow_buffer_like(a, shape=(1, 1))

        @ttl.compute()
        def nothing():
            pass

        @ttl.datamovement()
        def read():
            with a_dfb.reserve() as blk:
                ttl.copy(a[0, 0], blk).wait()
                print("block:", blk)

        @ttl.datamovement()
        def write():
            print("buffer", a_dfb)

    shown(tiled(torch.arange(1024).reshape(32, 32).float()))
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "(y=0, x=0) read: " + " ".join(map(str, range(32)))
    assert lines[-1] == "(y=0, x=0) write: buffer DataflowBuffer(a_dfb, shape=(1, 1), block_count=2, dtype=FLOAT32)"


def test_another_address_compiles_nothing(tiled: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels get the places of tensors when they run."""
    monkeypatch.setenv("TTMLIR_CACHE_DIR", str(tmp_path))
    first = torch.randn(128, 64, generator=torch.Generator().manual_seed(6))
    a, y = tiled(first), tiled(torch.zeros(128, 64))
    difference(a, y)
    made = list((tmp_path / "kernels").glob("*.so"))
    compiled = dict(difference._compiled)
    other, z = tiled(first + 1), tiled(torch.zeros(128, 64))
    assert other.buffer_address() != a.buffer_address()
    difference(other, z)
    torch.testing.assert_close(ttnn.to_torch(z), (first + 1) ** 2 - (first + 1), rtol=1e-6, atol=1e-6)
    assert len(made) == 1 and list((tmp_path / "kernels").glob("*.so")) == made
    assert difference._compiled == compiled
    difference(tiled(torch.ones(128, 32)), tiled(torch.zeros(128, 32)))
    assert len(list((tmp_path / "kernels").glob("*.so"))) == 2, "another shape is another kernel"


@ttl.compute()
def program_compute():
    pass


@ttl.datamovement()
def program_read():
    print("node", ttl.node(dims=1))


@ttl.datamovement()
def program_write():
    pass


def test_a_program_needs_tensors(tiled: Put) -> None:
    with pytest.raises(ttl.DefinitionError, match="its kernels read and write no tensor"):
        ttl.Program(program_compute, program_read, program_write, grid=(1, 1))(tiled(torch.zeros(32, 32)))
