# SPDX-License-Identifier: Apache-2.0
"""Signals are handled while programs run: Ctrl-C ends a run between two ops, and the device can be used again."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import contextmanager

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import compile_ttir_to_flatbuffer, execute_fb
from builder.execution.cpp_library import compiled
from ttrt.__main__ import main as ttrt

runtime = rt.runtime
SIZE, OPS = 1024, 2000  # minutes in all, an op takes little


def many_matmuls(b, ops=OPS):
    @b.func([(SIZE, SIZE), (SIZE, SIZE)], [torch.float32] * 2)
    def many(x, y, b):
        for _ in range(ops):
            x = b.matmul(x, y)
        return x


network = many_matmuls


@pytest.fixture(scope="module")
def inputs():
    return [runtime.create_host_tensor(torch.rand(SIZE, SIZE) / SIZE) for _ in range(2)]


def allocated(device) -> list[int]:
    return [view.total_bytes_allocated_per_bank for view in device.get_memory_view().values()]


def is_in_a_call(thread: threading.Thread, ended: threading.Event) -> bool:
    """Waits until a thread has been in one call for a while; False when `ended` comes first.

    A signal that comes while Python drops weak references is lost there: callbacks ignore exceptions.
    """
    place: tuple[int, int] | None = None
    while not ended.wait(0.1):
        frame = sys._current_frames()[thread.ident]
        place, last = (id(frame), frame.f_lasti), place
        if place == last:
            return True
    return False


@contextmanager
def soon(number: int = signal.SIGINT, seconds: float = 0.3):
    """A signal to this process, some time into the block and when this thread is in a call."""
    ended = threading.Event()
    this = threading.current_thread()

    def send():
        if not ended.wait(seconds) and is_in_a_call(this, ended):
            os.kill(os.getpid(), number)

    sender = threading.Thread(target=send)
    sender.start()
    started = time.process_time()
    try:
        yield
    finally:
        ended.set()
        sender.join()
    assert time.process_time() - started < 30, "the run went on"


def test_ctrl_c_ends_a_run(binary, device, inputs):
    runtime.set_perf_recording(False)
    before = allocated(device)
    for _ in range(2):  # prepared anew, and found
        with soon(), pytest.raises(KeyboardInterrupt):
            runtime.submit(device, binary, 0, inputs)
        assert allocated(device) == before


def test_the_device_runs_on_behind_it(binary, device, inputs, compiled_program):
    with soon(), pytest.raises(KeyboardInterrupt):
        runtime.submit(device, binary, 0, inputs)
    few = compiled_program(lambda b: many_matmuls(b, 3))
    x, y = (torch.from_dlpack(tensor) for tensor in inputs)
    found = torch.from_dlpack(runtime.to_host(runtime.submit(device, few, 0, inputs)[0], untilize=True)[0])
    assert torch.allclose(found, x @ y @ y @ y, rtol=1e-3)


@pytest.mark.parametrize("observed", ["perf recording", "hooks"])
def test_ctrl_c_ends_an_observed_run(binary, device, inputs, observed):
    before = allocated(device)
    hooks = runtime.DebugHooks.get(pre_op=lambda *_: None) if observed == "hooks" else None
    runtime.set_perf_recording(observed == "perf recording")
    try:
        with soon(), pytest.raises(KeyboardInterrupt):
            runtime.submit(device, binary, 0, inputs)
    finally:
        runtime.set_perf_recording(False)
        runtime.unregister_hooks()
    assert allocated(device) == before and (hooks is None or "pre_op set" in str(hooks))


class Stop(Exception):
    pass


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGALRM, signal.SIGUSR1])
def test_other_signals_with_handlers(binary, device, inputs, number):
    """So time limits of test runners work."""

    def stop(*_):
        raise Stop

    before = signal.signal(number, stop)
    time.sleep(0.05)  # handlers that are newer than that may be missed
    try:
        with soon(number), pytest.raises(Stop):
            runtime.submit(device, binary, 0, inputs)
    finally:
        signal.signal(number, before)


@pytest.mark.long
def test_a_handler_that_returns_lets_the_run_go_on(device, inputs, compiled_program):
    some = compiled_program(lambda b: many_matmuls(b, 200))
    seen: list[float] = []
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(time.monotonic()))
    time.sleep(0.05)
    try:
        timers = [threading.Timer(n / 10, os.kill, (os.getpid(), signal.SIGUSR1)) for n in (1, 2)]
        for timer in timers:
            timer.start()
        outputs = runtime.submit(device, some, 0, inputs)
        ended = time.monotonic()
        for timer in timers:
            timer.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert outputs[0].is_allocated()
    assert seen and seen[0] < ended, "the handler was called when the run had ended"


@pytest.mark.long
def test_a_handler_is_not_called_by_other_threads(device, inputs, compiled_program):
    """A run in another thread goes on; the main thread is interrupted where it is."""
    program = compiled_program(lambda b: many_matmuls(b, 100))
    outputs: list[object] = []
    thread = threading.Thread(target=lambda: outputs.extend(runtime.submit(device, program, 0, inputs)))
    with soon(), pytest.raises(KeyboardInterrupt):
        thread.start()
        for _ in range(2000):
            time.sleep(0.01)
    thread.join()
    assert len(outputs) == 1


def test_execute_fb():
    _, path, goldens, _ = compile_ttir_to_flatbuffer(lambda b: many_matmuls(b, 500))
    with soon(seconds=1), pytest.raises(KeyboardInterrupt):
        execute_fb(path, goldens, disable_golden=True)


@pytest.mark.long
def test_emitted_cpp(device):
    """Programs of emitted C++ are interrupted between their calls."""
    _, path, _, _ = compile_ttir_to_flatbuffer(lambda b: many_matmuls(b, 120), target="emitc")
    program = runtime.ProgramLibrary(str(compiled([path]))).programs[0]
    inputs = program.create_inputs(device)
    with soon(), pytest.raises(KeyboardInterrupt):
        program.run(inputs, device)


def test_ttrt_run_says_that_it_was_interrupted(binary, capsys):
    binary.store("model.ttnn")
    with soon(seconds=1):
        assert ttrt(["run", "model.ttnn"]) == 130
    assert capsys.readouterr().err.endswith("ttrt run: interrupted\n")
