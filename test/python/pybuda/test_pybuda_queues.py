# SPDX-License-Identifier: Apache-2.0
"""Queues between threads and processes: nothing is lost, doubled or waited for in vain."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing as mp
import os
import queue
import random
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pybuda
import pytest
import torch
from modules import Function, read

LIMIT = 1200.0  # seconds: far more than anything here takes


def bounded(function: Callable[[], Any]) -> Any:
    """Returns the result of a function that must not hang."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(function()), daemon=True)
    thread.start()
    thread.join(LIMIT)
    assert not thread.is_alive(), "it hangs"
    return results[0]


def plus_one(**options: Any) -> pybuda.TTDevice:
    pybuda.set_configuration_options(default_df_override=pybuda.DataFormat.Float32)
    return pybuda.TTDevice("tt0", module=Function("plus", lambda x: x + 1.0), **options)


def number(value: int) -> torch.Tensor:
    return torch.full((1, 4), float(value))


def numbers(results: Any, expected: int, timeout: float = 0.5) -> Iterator[int]:
    """Returns the pushed numbers from the outputs: a fixed count on any machine, and what else comes soon."""
    with contextlib.suppress(queue.Empty):
        for count in itertools.count():
            (tensor,) = results.get(timeout=LIMIT if count < expected else timeout)
            value = tensor.value()
            assert (value == value[0, 0]).all(), "a tensor has parts of two"
            yield int(value[0, 0]) - 1


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.005)


def test_a_full_queue_does_not_hold_up_the_end() -> None:
    device, mine = plus_one(), queue.Queue(maxsize=1)
    for value in range(4):
        device.push_to_inputs(number(value))
    pybuda.run_inference(input_count=0, output_queue=mine)
    until(mine.full)
    assert bounded(pybuda.shutdown) is True


def test_overflow_of_a_full_queue_comes_with_the_next_run() -> None:
    device, mine = plus_one(), queue.Queue(maxsize=1)
    for value in range(4):
        device.push_to_inputs(number(value))
    pybuda.run_inference(input_count=0, output_queue=mine)
    until(lambda: mine.full() and len(device.inputs) == 2)  # the second one waits
    bounded(lambda: pybuda.run_inference(input_count=2))
    assert list(numbers(mine, 4)) == [0, 1, 2, 3]


def in_a_child(function: Callable[[], object]) -> str:
    """Returns what a function raises in a forked process."""
    ours, theirs = mp.Pipe()
    context = mp.get_context("fork")

    def run() -> None:
        try:
            theirs.send(f"returned {function()}")
        except Exception as error:
            theirs.send(f"{type(error).__name__}: {error}")

    child = context.Process(target=run)
    child.start()
    assert ours.poll(LIMIT), "the child hangs"
    said = ours.recv()
    child.join(LIMIT)
    assert child.exitcode == 0
    return str(said)


# A process that is forked has no thread that would run anything: before, it waited for ever or lost what was pushed.
USES: dict[str, Callable[[pybuda.TTDevice, Any], object]] = {
    "push": lambda device, results: device.push_to_inputs(number(1)),
    "run_inference": lambda device, results: pybuda.run_inference(),
    "run_forward": lambda device, results: pybuda.run_forward(),
    "sync": lambda device, results: pybuda.sync(),
    "get": lambda device, results: results.get(),
}


@pytest.mark.parametrize("name", USES)
def test_a_forked_process_is_told_where_the_pipeline_is(name: str) -> None:
    device = plus_one()
    device.push_to_inputs(number(1))
    results = pybuda.run_inference()
    assert list(numbers(results, 1)) == [1]
    said = in_a_child(lambda: USES[name](device, results))
    assert said.startswith(f"PyBudaError: the pipeline runs in process {os.getpid()}, which process ")
    assert "by queues of multiprocessing (output_queue=)" in said


def test_a_forked_process_may_begin_anew() -> None:
    device = plus_one()
    device.push_to_inputs(number(1))
    results = pybuda.run_inference()
    assert list(numbers(results, 1)) == [1]

    def again() -> list[int]:
        pybuda.shutdown()
        device.push_to_inputs(number(7))
        return list(numbers(pybuda.run_inference(), 1))

    assert in_a_child(again) == "returned [7]"
    device.push_to_inputs(number(2))
    assert list(numbers(pybuda.run_inference(), 1)) == [2]


def test_queues_of_one_process_cannot_be_sent_to_another() -> None:
    device = plus_one()
    device.push_to_inputs(number(1))
    results = pybuda.run_inference()
    with pytest.raises(pybuda.PyBudaError, match="give output_queue=, a queue of multiprocessing"):
        mp.reduction.ForkingPickler.dumps(results)
    read(results)


def test_a_tensor_outlives_the_process_that_sent_it(tmp_path: Path) -> None:
    """As queues of multiprocessing send it."""
    sent = tmp_path / "sent"

    def send() -> None:
        values = [torch.arange(6.0).reshape(2, 3).t(), torch.tensor(1.5, dtype=torch.bfloat16), torch.empty(0, 3)]
        tensors = [pybuda.Tensor(x, "x", pybuda.DataFormat.Float16) for x in [*values, torch.tensor([True])]]
        sent.write_bytes(mp.reduction.ForkingPickler.dumps(tensors))

    assert in_a_child(send) == "returned None"
    found = mp.reduction.ForkingPickler.loads(sent.read_bytes())
    expected = [torch.tensor([[0.0, 3], [1, 4], [2, 5]]), torch.tensor(1.5, dtype=torch.bfloat16), torch.empty(0, 3)]
    for tensor, value in zip(found, [*expected, torch.tensor([True])], strict=True):
        torch.testing.assert_close(tensor.value(), value, rtol=0, atol=0)
        assert (tensor.name, tensor.data_format) == ("x", pybuda.DataFormat.Float16)


def source(first: int, pipe: Connection) -> None:
    for value in range(first, first + 10**5):
        pipe.send(value)
        pipe.recv()  # one at a time


class Source:
    """A process that sends numbers, and the thread that pushes them; either may end at any moment."""

    def __init__(self, first: int, device: pybuda.TTDevice, pushed: list[int], lock: Any) -> None:
        self.pipe, theirs = mp.Pipe()
        self.process = mp.get_context("fork").Process(target=source, args=(first, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.thread = threading.Thread(target=self._push, args=(device, pushed, lock), daemon=True)
        self.ended = False
        self.thread.start()

    def _push(self, device: pybuda.TTDevice, pushed: list[int], lock: Any) -> None:
        with contextlib.suppress(EOFError, OSError):
            while not self.ended:
                value = self.pipe.recv()
                with lock:
                    device.push_to_inputs(number(value))
                    pushed.append(value)
                self.pipe.send(None)

    def end(self) -> None:
        self.ended = True
        self.process.kill()
        self.process.join(LIMIT)
        self.thread.join(LIMIT)
        assert not self.thread.is_alive()


@pytest.mark.long
@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["thread", "process"])
def test_processes_push_and_are_killed_while_the_pipeline_is_shut_down(count: int, kind: str, seed: int) -> None:
    """Three processes push through threads; they are killed, and the pipeline is shut down, at random moments."""
    draw, lock = random.Random(seed), threading.Lock()
    device = plus_one()
    first = iter(range(0, 10**7, 10**5))
    received = 0
    while received < count:
        # A queue of multiprocessing has a buffer that a thread of its own sends; the other is full now and then.
        results: Any = queue.Queue(maxsize=4) if kind == "thread" else mp.get_context("fork").Queue()
        pushed: list[int] = []
        device.push_to_inputs(number(-1))
        pushed.append(-1)
        pybuda.run_inference(input_count=0, output_queue=results)
        sources = [Source(next(first), device, pushed, lock) for _ in range(3)]
        got: list[int] = []
        for _ in range(draw.randrange(2, 6)):
            got += itertools.islice(numbers(results, count), draw.randrange(1, count // 4))
            victim = draw.randrange(3)
            sources[victim].end()
            sources[victim] = Source(next(first), device, pushed, lock)
        with lock:
            bounded(pybuda.shutdown)
            accepted = list(pushed)
        for each in sources:
            each.end()
        got += numbers(results, 0)
        assert got == accepted[: len(got)], "a tensor was lost or doubled"
        received += len(got)
        # What was pushed behind the end is for the next pipeline.
        pybuda.shutdown()
    assert received >= count
    for value in range(3):
        device.push_to_inputs(number(value))
    assert list(numbers(pybuda.run_inference(input_count=3), 3)) == [0, 1, 2]
