#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a script whose `sys.executable` starts forks of a process that has imported PyTorch.

    forked_python.py SCRIPT [ARGUMENT ...]

The script runs in this process. Its `sys.executable` is a program in a temporary folder that takes what Python takes
as `python_process.run` does: `-c`, `-m` or a file. The program sends its arguments, environment, folder and standard
streams to a server, which forks, and ends as the fork ends. Where the fork could not have the environment, or the
arguments are other options of Python, it becomes a new Python. The folder also has the other commands that are
installed next to Python, so that it can stand in `PATH`.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

import python_process  # noqa: E402

IMPORTS = ("torch", "torch._dynamo")
WRAPPER = """#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
exec '{python}' -IS '{client}' '{socket}' '{python}' "$@"
"""


def commands(folder: Path, address: Path, python: Path) -> Path:
    """Writes the program that stands for Python, next to links to all that is installed with Python."""
    folder.mkdir()
    for other in python.parent.iterdir():
        if not other.name.startswith("python"):
            (folder / other.name).symlink_to(other)
    text = WRAPPER.format(python=python, client=FOLDER / "forked_client.py", socket=address)
    for name in ("python", "python3"):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder / "python"


# ---------------------------------------------------------------------- in the server


def received(connection: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """Returns a request and the standard streams; None where the client went away."""
    data, streams, _, _ = socket.recv_fds(connection, 1 << 16, 3)
    while data and not data.endswith(b"\0"):  # JSON has no such byte
        more = connection.recv(1 << 16)
        if not more:
            return None
        data += more
    return (json.loads(data[:-1]), streams) if data else None


def watch(connection: socket.socket, pid: int) -> None:
    """Waits for a fork, passes signals on to it, and reports how it ended. It ends with its client."""
    ended = os.pidfd_open(pid)
    while True:
        ready, _, _ = select.select([connection, ended], [], [])
        if ended in ready:
            break
        numbers = connection.recv(16)
        with contextlib.suppress(ProcessLookupError):
            for number in numbers or [signal.SIGKILL]:
                os.killpg(pid, number)
        if not numbers:
            break
    status = os.waitpid(pid, 0)[1]
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)  # what it left behind
    with contextlib.suppress(OSError):
        connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())


def handle(connection: socket.socket, environment: dict[str, str]) -> dict[str, Any] | None:
    """Returns the request in the process that becomes a program; None in the one that watches it."""
    got = received(connection)
    if got is None:
        return None
    request, streams = got
    if not python_process.suits(environment, request["environment"]):
        connection.sendall(b"new")
        return None
    pid = os.fork()
    if pid:
        watch(connection, pid)
        return None
    os.setsid()
    connection.close()
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
        if stream > 2:
            os.close(stream)
    return request


def serve(address: str, environment: dict[str, str]) -> dict[str, Any] | None:
    """Forks for each connection. Returns the request in a fork that becomes a program; ends with standard input.

    environment: that of the imports.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(address)
        listener.listen(64)
        print("ready", flush=True)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # watchers report to clients
        while True:
            ready, _, _ = select.select([listener, 0], [], [])
            if 0 in ready:
                return None
            connection, _ = listener.accept()
            if os.fork():
                connection.close()
                continue
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            request = handle(connection, environment)
            if request is None:
                os._exit(0)
            return request


# ---------------------------------------------------------------------- in the script's process


@contextlib.contextmanager
def forked_python(*imports: str) -> Iterator[Path]:
    """Yields a program that stands for Python while the block runs."""
    python = Path(sys.executable)
    with tempfile.TemporaryDirectory(prefix="forked-") as folder:
        address = Path(folder) / "socket"
        server = subprocess.Popen(
            [python, __file__, "--serve", address, *imports], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert server.stdin is not None and server.stdout is not None
        try:
            if server.stdout.readline() != "ready\n":
                raise SystemExit(f"forked_python.py: cannot import {', '.join(imports)}")
            yield commands(Path(folder) / "bin", address, python)
        finally:
            server.stdin.close()
            server.wait()
            server.stdout.close()


def main(script: str, *arguments: str) -> None:
    with forked_python(*IMPORTS) as python:
        sys.executable = str(python)
        sys.argv = [script, *arguments]
        sys.path[0] = str(Path(script).resolve().parent)
        runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        sys.path[:] = [path for path in sys.path if path != str(FOLDER)]
        given = dict(os.environ)  # imports add to it
        for package in sys.argv[3:]:
            importlib.import_module(package)
        gc.freeze()
        program = serve(sys.argv[2], given)
        if program is not None:
            python_process.become(program)
    elif len(sys.argv) < 2:
        raise SystemExit("usage: forked_python.py SCRIPT [ARGUMENT ...]")
    else:
        main(*sys.argv[1:])
