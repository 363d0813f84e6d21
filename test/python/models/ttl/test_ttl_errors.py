# SPDX-License-Identifier: Apache-2.0
"""Errors of TT-Lang programs: the text of each, with file and line."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import ttl
import ttnn

PROGRAM = """\
import ttl

@ttl.operation(grid=(2, 1))
def wrong(a, y):
    a_dfb = ttl.make_dataflow_buffer_like(a, shape=(1, 1), block_count=2)
    b_dfb = ttl.make_dataflow_buffer_like(a, shape=(2, 1), block_count=1)
    y_dfb = ttl.make_dataflow_buffer_like(y, shape=(1, 1), block_count=2)
    net = ttl.PipeNet([ttl.Pipe(src=(0, 0), dst=(1, 0))])

    @ttl.compute()
    def compute():
        {compute}

    @ttl.datamovement()
    def read():
        {read}

    @ttl.datamovement()
    def write():
        {write}
"""
COMPUTE = """with a_dfb.wait() as a_blk, y_dfb.reserve() as y_blk:
            y_blk.store(a_blk)"""
READ = """with a_dfb.reserve() as a_blk:
            ttl.copy(a[0, 0], a_blk).wait()"""
WRITE = """with y_dfb.wait() as y_blk:
            ttl.copy(y_blk, y[0, 0]).wait()"""
IN_COMPUTE = "with a_dfb.wait() as a_blk, y_dfb.reserve() as y_blk:\n            "
IN_READ = "with a_dfb.reserve() as a_blk:\n            "


def written(folder: Path, **parts: str) -> tuple[Any, str]:
    """Returns the operation of the program with some kernels of its own, and the file."""
    file = folder / "program.py"
    file.write_text(PROGRAM.format(**({"compute": COMPUTE, "read": READ, "write": WRITE} | parts)))
    spec = importlib.util.spec_from_file_location("program", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.wrong, str(file)


# kernel, its body, the line of the error in the kernel, kind, text
CASES: list[tuple[str, str, int, type[Exception], str]] = [
    ("compute", IN_COMPUTE + "y_blk.store(a_blk)\n            y_blk.store(a_blk)", 2, ttl.BlockError,
     "y_blk.store: the block was stored already; push it and reserve another one"),
    ("compute", "with y_dfb.reserve() as y_blk:\n            for _ in range(2):\n                y_blk.store("
     "ttl.block.fill(1, shape=(1, 1)))", 2, ttl.BlockError,
     "y_blk.store: a loop stores the block, which was reserved in front of it (line 12); reserve one in each round"),
    ("compute", IN_COMPUTE + "y_blk.store(a_blk + y_blk)", 1, ttl.BlockError,
     "a_blk + y_blk reads y_blk, which is reserved from y_dfb; expected a block of y_dfb.wait(), behind a push"),
    ("compute", IN_COMPUTE + "a_blk.store(y_blk)", 1, ttl.BlockError,
     "a_blk.store: the block was waited for; expected one of a_dfb.reserve()"),
    ("compute", "a_blk = a_dfb.wait()\n        y_blk = y_dfb.reserve()\n        y_blk.store(a_blk)\n"
     "        y_blk.push()\n"
     "        y_blk.store(a_blk)", 4, ttl.BlockError, "y_blk.store: y_blk was pushed already"),
    ("compute", "with a_dfb.wait() as a_blk:\n            pass", 1, ttl.BlockError,
     "pop of a_blk (waited for in line 12), which nothing has read; expected a block expression with it"),
    ("compute", "with y_dfb.reserve() as y_blk:\n            pass", 1, ttl.BlockError,
     "push of y_blk (reserved in line 12), to which nothing was written; expected store"),
    ("compute", "with a_dfb.wait() as a_blk, b_dfb.wait() as b_blk, y_dfb.reserve() as y_blk:\n            "
     "y_blk.store(a_blk + b_blk)", 1, ttl.ShapeError,
     "a + b: blocks have shapes (1, 1), (2, 1) in tiles; expected one shape (ttl.block.broadcast expands a block)"),
    ("compute", "with b_dfb.wait() as b_blk, y_dfb.reserve() as y_blk:\n            y_blk.store(b_blk)", 1,
     ttl.ShapeError,
     "y_blk.store: shape (2, 1) has 2 tiles, and the block (1, 1) 1"),
    ("compute", "with b_dfb.wait() as b_blk, y_dfb.reserve() as y_blk:\n            y_blk.store(b_blk @ b_blk)", 1,
     ttl.ShapeError, "a @ b: blocks of shapes (2, 1) and (2, 1) in tiles; expected (..., m, k) and (..., k, n)"),
    ("compute", IN_COMPUTE + "y_blk.store(ttl.block.broadcast(a_blk, dims=[2], shape=(1, 1)))", 1, ttl.ShapeError,
     "ttl.block.broadcast: dimension 2 of a block of shape (1, 1); expected -2 to 1"),
    ("compute", IN_COMPUTE + "y_blk.store(ttl.math.reduce_sum(a_blk, dims=[], shape=(1, 1)))", 1, ttl.ShapeError,
     "ttl.math.reduce_sum: dims is []; expected a list of at least one dimension"),
    ("compute", IN_COMPUTE + "y_blk.store(ttl.math.exp(3))", 1, ttl.ShapeError,
     "ttl.math.exp: 3; expected a block or a block expression"),
    ("compute", IN_COMPUTE + "y_blk.store(a_blk ** -1)", 1, ttl.ShapeError,
     "a ** b: the exponent is -1; expected a whole number from 0 on"),
    ("compute", IN_COMPUTE + "y_blk.store(7)", 1, ttl.ShapeError,
     "y_blk.store: 7; expected a block or a block expression"),
    ("compute", IN_COMPUTE + "ttl.copy(a_blk, y[0, 0])", 1, ttl.BlockError,
     "ttl.copy: kernel compute computes; copies are for @ttl.datamovement()"),
    ("compute", "net.if_src(abs)", 0, ttl.DefinitionError,
     "net.if_src(abs): kernel compute computes; pipe nets are for @ttl.datamovement()"),
    ("read", IN_READ + "a_blk.store(a_blk)", 1, ttl.BlockError,
     "a_blk.store: kernel read moves data; store is for @ttl.compute()"),
    ("read", IN_READ + "pass", 1, ttl.BlockError,
     "push of a_blk (reserved in line 17), to which nothing was written; expected a copy to it"),
    ("read", IN_READ + "xf = ttl.copy(a[0, 0], a_blk)\n        xf.wait()", 1, ttl.BlockError,
     "push of a_blk (line 17) before its copy is done; wait for the transfer first"),
    ("read", IN_READ + "xf = ttl.copy(a[0, 0], a_blk)\n            ttl.copy(a_blk, y[0, 0])\n            xf.wait()", 2,
     ttl.BlockError, "ttl.copy: from a_blk before the copy to it is done; wait for the transfer first"),
    ("read", IN_READ + "ttl.copy(a_blk, y[0, 0])", 1, ttl.BlockError,
     "ttl.copy: from a_blk, which was reserved and has no values yet"),
    ("read", IN_READ + "ttl.copy(a[0:2, 0], a_blk)", 1, ttl.ShapeError,
     "ttl.copy: a has 2 tiles there (2 x 1), and a block of a_dfb has 1 (1, 1)"),
    ("read", IN_READ + "ttl.copy(a[0, 9], a_blk)", 1, ttl.ShapeError,
     "a: tiles 9 to 10 of dimension 1, which has 2 tiles"),
    ("read", IN_READ + "ttl.copy(a[0], a_blk)", 1, ttl.ShapeError, "a has 2 dimensions, and 1 indices are given"),
    ("read", IN_READ + "ttl.copy(3, a_blk)", 1, ttl.DefinitionError,
     "ttl.copy: from 3 to the block a_blk; expected a block, and a part of a tensor (a[row, column]) or a pipe of "
     "if_src "
     "or if_dst"),
    ("read", "a_blk = a_dfb.reserve()\n        for _ in range(2):\n            ttl.copy(a[0, 0], a_blk)\n"
     "            a_blk.push()", 3, ttl.BlockError,
     "a_blk (line 17) is given back in a loop, and was acquired in front of it; expected both in the loop"),
    ("read", "print(nothing)", 0, ttl.DefinitionError, "nothing has no value here"),
    ("read", "x = [i for i in range(3)]", 0, ttl.UnsupportedError,
     "kernel read: [i for i in range(3)] (ListComp) cannot be compiled; kernels have integers, tuples, for over range, "
     "while, if, with blocks, assert, print, nested functions and calls of functions"),
    ("read", "import math", 0, ttl.UnsupportedError, "kernel read: import (import math) cannot be compiled"),
    ("read", "try:\n            pass\n        finally:\n            pass", 0, ttl.UnsupportedError,
     "try (try:) cannot be compiled"),
    ("read", "x = ttl.node(dims=1) / 2", 0, ttl.UnsupportedError,
     "ttl.node(dims=1) / 2 of integers cannot be compiled; kernels have + - * // % << >> & | ^ of integers"),
    ("read", "x = ttl.node(dims=0)", 0, ttl.ShapeError, "ttl.node: dims is 0; expected 1 or more"),
    ("read", "assert 1 == 2, 'no'", 0, ttl.DefinitionError, "assertion failed: no"),
    ("read", "g = ttl.GroupTransfer()\n        g.wait_all()\n        g.wait_all()", 2, ttl.BlockError,
     "GroupTransfer.wait_all: was called already"),
    ("read", "def f(pipe):\n            ttl.copy(pipe, a_dfb.reserve())\n        net.if_src(f)", 1, ttl.DefinitionError,
     "ttl.copy: a pipe of if_src is the target of a copy, and one of if_dst the source; found a pipe of if_src as "
     "the source"),
    ("read", "def f(pipe):\n            print(pipe.src)\n        net.if_src(f)", 1, ttl.DefinitionError,
     "a pipe of if_src has no src; it has dst"),
    ("read", "def f(pipe):\n            return f(pipe)\n        net.if_src(f)", 1, ttl.UnsupportedError,
     "calls of f in each other, more than 32"),
    # On the cores.
    ("read", IN_READ + "n = ttl.node(dims=1) + 5\n            ttl.copy(a[n, 0], a_blk)", 2, ttl.KernelError,
     "kernel read on core (y=0, x=0): ASSERT: a: tiles 5 to 6 of dimension 0, which has 2 ({file}:{line})"),
    ("read", IN_READ + "n = ttl.node(dims=1)\n            ttl.copy(a[n : n * 2, 0], a_blk)", 2, ttl.KernelError,
     "ASSERT: a copy between a and a_dfb: the part has 0 tiles or elements, and a block 1 ({file}:{line})"),
    ("read", "print(1 // ttl.node(dims=1))", 0, ttl.KernelError, "ASSERT: integer division by zero ({file}:{line})"),
    ("read", "assert ttl.node(dims=1) == 7, 'other node'", 0, ttl.KernelError, "ASSERT: other node ({file}:{line})"),
    ("read", "for i in range(0, 3, ttl.node(dims=1)):\n            print(i)", 0, ttl.KernelError,
     "ASSERT: range: the step is 0 ({file}:{line})"),
    ("write", "with y_dfb.wait() as y_blk:\n            ttl.copy(y_blk, y[0, 0])\n        with y_dfb.wait() as y_blk:\n"
     "            ttl.copy(y_blk, y[0, 0])", 2, ttl.KernelError,
     "kernel write on core (y=0, x=0), {file}:{line}: cb_wait_front of port 2 (y_dfb) waits for 1 page, 0 of 2 are "
     "there"),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "body", "line", "kind", "text"), CASES, ids=[f"{at}" for at in range(len(CASES))])
def test_errors(
    kernel: str, body: str, line: int, kind: type[Exception], text: str, tiled: Callable[..., Any], tmp_path: Path
) -> None:
    operation, file = written(tmp_path, **{kernel: body})
    first = next(
        at for at, each in enumerate(Path(file).read_text().splitlines(), 1) if each.strip() == f"def {kernel}():"
    )
    place = f"{file}:{first + 1 + line}"
    with pytest.raises(kind) as caught:
        operation(tiled(torch.zeros(64, 64)), tiled(torch.zeros(64, 64)))
    message = str(caught.value)
    if kind is ttl.KernelError:
        assert text.replace("{file}:{line}", place) in message
    else:
        assert message.startswith(f"{place}: ") and text in message


def refused(kind: type[Exception], text: str, call: Callable[[], Any]) -> None:
    with pytest.raises(kind, match=re.escape(text)):
        call()


def test_definitions(tiled: Callable[..., Any]) -> None:
    a = tiled(torch.zeros(64, 64))

    def run(body: Callable[..., None], *args: Any, **how: Any) -> Callable[[], None]:
        return lambda: ttl.operation(**({"grid": (1, 1)} | how))(body)(*args)

    def nothing(a: Any) -> None:
        pass

    def large(a: Any) -> None:
        ttl.make_dataflow_buffer_like(a, shape=(3, 1))

    def negative(a: Any) -> None:
        ttl.make_dataflow_buffer_like(a, shape=(1, 0))

    def blocks(a: Any) -> None:
        ttl.make_dataflow_buffer_like(a, shape=(1, 1), block_count=0)

    def flat(a: Any) -> None:
        ttl.make_dataflow_buffer_like(a, shape=(1,))

    refused(ttl.DefinitionError, "operation nothing: no argument is a tensor on a device", run(nothing, 3))
    refused(ttl.DefinitionError, "operation nothing: defines 0 kernels that compute and 0 that move data; expected 1 "
            "(@ttl.compute) and 2 (@ttl.datamovement)", run(nothing, a))  # fmt: skip
    refused(
        ttl.ShapeError, "grid is (9, 1); the device has 8 columns and 8 rows of nodes", run(nothing, a, grid=(9, 1))
    )
    refused(ttl.ShapeError, "grid is 'half'; expected 'auto', 'full' or (columns, rows)", run(nothing, a, grid="half"))
    refused(ttl.ShapeError, "grid is (1, 1, 2); expected 2 dimensions", run(nothing, a, grid=(1, 1, 2)))
    refused(ttl.ShapeError, "shape (3, 1) in tiles is larger than the tensor, which has (2, 2)", run(large, a))
    refused(ttl.ShapeError, "shape is (1, 0); expected sizes of 1 or more", run(negative, a))
    refused(ttl.ShapeError, "block_count is 0; expected 1 or more", run(blocks, a))
    refused(ttl.ShapeError, "shape (1,) has 1 dimensions, and the tensor [64, 64]", run(flat, a))
    refused(ttl.DefinitionError, "ttl.make_dataflow_buffer_like: is for the body of an operation",
            lambda: ttl.make_dataflow_buffer_like(a, (1, 1)))  # fmt: skip
    refused(ttl.DefinitionError, "ttl.grid_size: is for the body of an operation", ttl.grid_size)
    refused(ttl.DefinitionError, "ttl.node: is for kernels", ttl.node)
    refused(ttl.DefinitionError, "ttl.copy: is for kernels of data movement", lambda: ttl.copy(1, 2))
    refused(ttl.DefinitionError, "ttl.signpost: is for kernels", lambda: ttl.signpost("x"))
    refused(ttl.DefinitionError, "ttl.GroupTransfer: is for kernels", ttl.GroupTransfer)
    refused(ttl.UnsupportedError, "ttl.math.exp: is for kernels (@ttl.compute)", lambda: ttl.math.exp(a))
    refused(ttl.DefinitionError, "ttl.operation: 3; expected a function", lambda: ttl.operation()(3))  # type: ignore[arg-type]
    refused(ttl.DefinitionError, "ttl.Program: 3; expected kernels", lambda: ttl.Program(3))  # type: ignore[arg-type]


def test_pipes(tiled: Callable[..., Any]) -> None:
    refused(ttl.ShapeError, "ttl.Pipe: src is -1; expected coordinates of a node", lambda: ttl.Pipe(-1, 0))
    refused(ttl.ShapeError, "src (0, 0) and dst 1; expected as many coordinates in both", lambda: ttl.Pipe((0, 0), 1))
    refused(ttl.ShapeError, "dst has slice(3, 1, None), which has no nodes", lambda: ttl.Pipe((0, 0), (slice(3, 1), 0)))
    refused(ttl.ShapeError, "dst has slice(0, 4, 2); expected a slice with start and stop, and no step",
            lambda: ttl.Pipe((0, 0), (slice(0, 4, 2), 0)))  # fmt: skip
    refused(ttl.ShapeError, "ttl.PipeNet: has no pipes", lambda: ttl.PipeNet([]))
    refused(ttl.DefinitionError, "ttl.PipeNet: 3; expected a ttl.Pipe", lambda: ttl.PipeNet([3]))  # type: ignore[list-item]
    point, range_ = ttl.Pipe((0, 0), (1, 0)), ttl.Pipe((0, 0), (slice(1, 2), 0))
    refused(ttl.ShapeError, "has pipes to one node and pipes to ranges", lambda: ttl.PipeNet([point, range_]))
    refused(ttl.ShapeError, "have different numbers of dimensions", lambda: ttl.PipeNet([point, ttl.Pipe(0, 1)]))
    for name in ("if_src", "if_dst"):
        refused(ttl.DefinitionError, f"PipeNet.{name}: is for kernels",
                lambda name=name: getattr(ttl.PipeNet([point]), name)(print))  # fmt: skip


def net_of(pipes: list[Any]) -> Any:
    @ttl.operation(grid=(8, 8))
    def by_net(a: Any) -> None:
        a_dfb = ttl.make_dataflow_buffer_like(a, shape=(1, 1))
        net = ttl.PipeNet(pipes)

        @ttl.compute()
        def compute():
            pass

        @ttl.datamovement()
        def read():
            if net.is_active():
                with a_dfb.reserve() as blk:
                    ttl.copy(a[0, 0], blk)

        @ttl.datamovement()
        def write():
            pass

    return by_net


def test_nets_on_a_grid(tiled: Callable[..., Any]) -> None:
    a = tiled(torch.zeros(32, 32))
    refused(ttl.ShapeError, "dst (slice(0, 9, None), 0) are not inside of the grid of 8x8 nodes",
            lambda: net_of([ttl.Pipe((0, 0), (slice(0, 9), 0))])(a))  # fmt: skip
    many = [ttl.Pipe((x, 0), (0, 1)) for x in range(8)]
    refused(ttl.ShapeError, "its pipe nets need 24 semaphores; a node has 16", lambda: net_of(many)(a))


def test_limits_of_a_node(tiled: Callable[..., Any], device: Any) -> None:
    a = tiled(torch.zeros(1024, 1024))

    def of(count: int, shape: tuple[int, int]) -> Callable[[], None]:
        @ttl.operation(grid=(1, 1))
        def buffers(a: Any) -> None:
            dfbs = [ttl.make_dataflow_buffer_like(a, shape=shape) for _ in range(count)]

            @ttl.compute()
            def compute():
                pass

            @ttl.datamovement()
            def read():
                with dfbs[0].reserve() as blk:
                    ttl.copy(a[0 : shape[0], 0 : shape[1]], blk)

            @ttl.datamovement()
            def write():
                pass

        return lambda: buffers(a)

    refused(ttl.ShapeError, "operation buffers: needs 33 buffers, 0 of them for intermediate values; a node has 32",
            of(33, (1, 1)))  # fmt: skip
    size = device.get_l1_size_per_core()
    refused(ttl.ShapeError, f"operation buffers: its buffers have 8388608 bytes; the L1 of a node has {size}. The "
                            "largest: "
            "dataflow buffer 0 8388608", of(1, (32, 32)))  # fmt: skip
    assert ttnn.to_torch(a).sum() == 0
