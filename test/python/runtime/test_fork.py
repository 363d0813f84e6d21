# SPDX-License-Identifier: Apache-2.0
"""Programs run in children that were forked from a process that has run programs on several threads."""

from __future__ import annotations

import multiprocessing
import threading
import traceback

import _ttmlir_runtime as rt
import pytest
import torch
import ttnn

runtime = rt.runtime
SIZE = 300
SECONDS = 60
THREADS = 4


def network(b):
    """Our own loops, and those of the kernel library."""

    @b.func([(1, 16, 16, 8), (8, 8, 3, 3), (SIZE, SIZE), (SIZE, SIZE)], [torch.float32] * 4)
    def f(image, weight, x, y, b):
        out = b.conv2d(image, weight, None, stride=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1)
        return out, b.softmax(b.matmul(b.gelu(x), y), dimension=1)


@pytest.fixture(scope="module")
def inputs():
    generator = torch.Generator().manual_seed(0)
    shapes = ((1, 16, 16, 8), (8, 8, 3, 3), (SIZE, SIZE), (SIZE, SIZE))
    return [runtime.create_host_tensor(torch.rand(shape, generator=generator)) for shape in shapes]


def results(device, binary, inputs) -> list[bytes]:
    """No torch: its own threads do not survive a fork."""
    return [
        bytes(runtime.to_host(tensor, untilize=True)[0].get_data_buffer())
        for tensor in runtime.submit(device, binary, 0, inputs)
    ]


def in_child(function, *arguments):
    """Returns the result of function(*arguments) in a forked child."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def run():
        try:
            sender.send(function(*arguments))
        except BaseException:
            sender.send(traceback.format_exc())

    child = context.Process(target=run)
    child.start()
    try:
        assert receiver.poll(SECONDS), "the child hangs"
        return receiver.recv()
    finally:
        child.kill()
        child.join()


def test_a_child_gives_the_same_bits(binary, device, inputs):
    expected = results(device, binary, inputs)
    assert in_child(results, device, binary, inputs) == expected
    assert results(device, binary, inputs) == expected  # the parent has threads again
    assert in_child(lambda: in_child(results, device, binary, inputs)) == expected  # and so has a grandchild


def test_a_child_prepares_programs(binary, device, inputs):
    expected = results(device, binary, inputs)

    def anew():
        own = runtime.open_mesh_device()
        copy = rt.binary.load_binary_from_bytes(binary.as_bytes())
        return results(own, copy, inputs)

    assert in_child(anew) == expected


def test_a_pool_of_children(binary, device, inputs):
    expected = results(device, binary, inputs)
    global _of_pool
    _of_pool = (device, binary, inputs)
    with multiprocessing.get_context("fork").Pool(3) as pool:
        assert pool.map_async(_run_of_pool, range(6)).get(SECONDS) == [expected] * 6


_of_pool: tuple = ()


def _run_of_pool(_: int) -> list[bytes]:
    return results(*_of_pool)


def test_functions_of_ttnn(device):
    x = ttnn.ones([SIZE, SIZE], dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)

    def compute():
        return bytes(ttnn.softmax(ttnn.matmul(x, x), dim=-1).cpu().get_data_buffer())

    assert in_child(compute) == compute()


@pytest.mark.long
def test_forks_while_other_threads_run_programs(binary, inputs):
    """Whatever the other thread is in, a child with a device of its own runs."""
    expected, ended = None, threading.Event()
    mine, others = runtime.open_mesh_device(), runtime.open_mesh_device()
    expected = results(mine, binary, inputs)

    def run():
        while not ended.is_set():
            runtime.submit(others, binary, 0, inputs)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        for _ in range(20):
            assert in_child(lambda: results(runtime.open_mesh_device(), binary, inputs)) == expected
    finally:
        ended.set()
        thread.join()


def test_a_device_that_was_busy_says_so(binary, device, inputs):
    inside, ended = threading.Event(), threading.Event()

    def hold(*_):
        inside.set()
        ended.wait(SECONDS)

    runtime.DebugHooks.get(pre_program=hold)
    thread = threading.Thread(target=lambda: runtime.submit(device, binary, 0, inputs))
    thread.start()
    try:
        assert inside.wait(SECONDS)

        def submit():
            runtime.unregister_hooks()
            with pytest.raises(rt.Error, match="in use by another thread when this process was forked"):
                runtime.submit(device, binary, 0, inputs)
            return "said so"

        assert in_child(submit) == "said so"
    finally:
        ended.set()
        thread.join()
        runtime.unregister_hooks()
