# SPDX-License-Identifier: Apache-2.0
"""Processes with meshes to look at, and the tool as a function. What other processes publish is not seen."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tt_smi.__main__ import main
from ttmlir import ir
from ttmlir.passes import ttir_to_ttnn_backend_pipeline, ttnn_to_flatbuffer_file

# Does what is written to its input, a line at a time, and answers each line with one.
WORKER = """
import os, subprocess, sys, time
import _ttmlir_runtime as tt
runtime = tt.runtime
meshes, kept = {}, []

def open_mesh(name, rows, columns, arch="wormhole_b0"):
    options = runtime.MeshDeviceOptions()
    options.mesh_shape, options.arch = (int(rows), int(columns)), arch
    meshes[name] = runtime.open_mesh_device(options)

def part(name, of, rows, columns, row, column):
    meshes[name] = runtime.create_sub_mesh_device(meshes[of], (int(rows), int(columns)), (int(row), int(column)))

def allocate(name, size):
    # Pages of 1 KiB, one after another in the channels of DRAM.
    kept.append(tt.utils.allocate_dram_buffer(meshes[name], int(size), 1024))

def forever(name, path="net.ttnn"):
    binary = tt.binary.load_binary_from_path(path)
    print("running", flush=True)
    while True:
        runtime.submit(meshes[name], binary, 0, inputs())

def close(name):
    runtime.close_mesh_device(meshes[name])

def inputs():
    import numpy
    x = numpy.ones((32, 64), numpy.float32)
    return [runtime.create_owned_host_tensor(x.ctypes.data, [32, 64], [64, 1], 4, runtime.DataType.Float32)] * 2

def submit(name, path="net.ttnn"):
    binary = tt.binary.load_binary_from_path(path)
    kept.append(runtime.submit(meshes[name], binary, 0, inputs()))

def drop():
    kept.clear()

def become():
    os.execvp("sh", ["sh", "-c", "echo another program; exec sleep 60"])

def start_children():
    forked = os.fork()
    if not forked:
        time.sleep(60)
    started = subprocess.Popen(["sleep", "60"])
    time.sleep(0.2)
    print(forked, started.pid, flush=True)

print("ready", flush=True)
for line in sys.stdin:
    call, *arguments = line.split()
    try:
        globals()[call](*arguments)
        print("done", flush=True)
    except Exception as error:
        print(f"{type(error).__name__}: {error}", flush=True)
"""
NET = """func.func @main(%x: tensor<32x64xf32>, %y: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %0 = "ttir.add"(%x, %y) : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %1 = "ttir.softmax"(%0) <{dimension = 1 : si32}> : (tensor<32x64xf32>) -> tensor<32x64xf32>
  return %1 : tensor<32x64xf32>
}
"""


class Worker:
    def __init__(self, environment: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **(environment or {})},
        )  # fmt: skip
        assert self.answer() == "ready"

    @property
    def pid(self) -> int:
        return self.process.pid

    def answer(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().rstrip("\n")

    def send(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def do(self, line: str) -> None:
        self.send(line)
        assert self.answer() == "done"

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.stdin.close()  # type: ignore[union-attr]
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
        self.process.stdout.close()  # type: ignore[union-attr]


@pytest.fixture(autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where processes of the test publish."""
    path = tmp_path_factory.mktemp("published") / "chips"
    monkeypatch.setenv("TTRT_PUBLISH", str(path))
    return path


@pytest.fixture
def worker() -> Iterator[Callable[..., Worker]]:
    started: list[Worker] = []

    def start(*lines: str, **environment: str) -> Worker:
        started.append(Worker(environment))
        for line in lines:
            started[-1].do(line)
        return started[-1]

    yield start
    for each in started:
        each.end()


@pytest.fixture
def net() -> None:
    module = ir.Module.parse(NET, ir.Context())
    ttir_to_ttnn_backend_pipeline(module)
    ttnn_to_flatbuffer_file(module, "net.ttnn")


@dataclass
class Outcome:
    code: int | str | None
    out: str
    err: str


@pytest.fixture
def smi(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """tt-smi with arguments and, as input, text."""

    def run(*arguments: str, given: str = "") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.StringIO(given))
        try:
            code: Any = main(arguments)
        except SystemExit as stopped:
            code = stopped.code
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run
