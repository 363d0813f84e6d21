# SPDX-License-Identifier: Apache-2.0
"""Runs Python programs in processes of their own that need not import PyTorch or JAX again.

`run` is `subprocess.run([sys.executable, ...], capture_output=True, text=True)`. The process is a fork of a server that
has imported the packages and done nothing else, so that it starts in milliseconds instead of seconds. Everything else
is as in a new process: arguments, environment, working folder, `sys.path`, `__main__` and the end of the interpreter.
Of the libraries, those that the program has loaded itself run their destructors. A server belongs to one process of
pytest and ends with it.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import io
import json
import os
import runpy
import socket
import subprocess
import sys
import tempfile
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

# Libraries read these when they are loaded, which the server has done already.
READ_AT_IMPORT = ("JAX_", "OMP_", "MKL_", "KMP_", "GOMP_", "OPENBLAS_", "TORCH", "PYTORCH_", "PYTHON", "LD_", "MALLOC_")
# What a fork can still set. Inductor reads its folder at each call, and sets it when it is imported.
MAY_DIFFER = frozenset(["JAX_PLATFORMS", "PYTHONIOENCODING", "PYTHONPATH", "TORCHINDUCTOR_CACHE_DIR"])


def suits(imported: Mapping[str, str], environment: Mapping[str, str]) -> bool:
    """Whether a fork of a process that imported packages with one environment can have another."""
    return not any(
        name.startswith(READ_AT_IMPORT) and environment.get(name) != imported.get(name)
        for name in (environment.keys() | imported.keys()) - MAY_DIFFER
    )


class Server:
    """Holds the connection with a process that has imported some packages."""

    def __init__(self, imports: Sequence[str]) -> None:
        self.environment = {name: value for name, value in os.environ.items() if name not in MAY_DIFFER}
        self.connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        command = [sys.executable, __file__, str(theirs.fileno()), *imports]
        self.process = subprocess.Popen(
            command,
            env=self.environment,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        theirs.close()
        atexit.register(self.end)

    def end(self) -> None:
        self.connection.close()
        self.process.wait()

    def suits(self, environment: Mapping[str, str]) -> bool:
        return suits(self.environment, environment)

    def run(self, request: dict[str, Any], streams: Sequence[IO[bytes]]) -> int:
        """Returns the exit code."""
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:  # an environment may not fit into a message
            json.dump(request, file)
            file.flush()
            name = file.name.encode()
            socket.send_fds(self.connection, [name], [stream.fileno() for stream in streams])
            answer = self.connection.recv(64)
        if not answer:
            raise RuntimeError("the process that has imported the packages has ended")
        return int(answer)


servers: dict[tuple[int, str], Server] = {}


def run(
    arguments: Sequence[object],
    imports: str = "torch",
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    check: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Runs `python ARGUMENTS`.

    arguments: ["-c", program, ...], ["-m", module, ...] or [file, ...]. imports: packages, separated by spaces.
    """
    words = [str(argument) for argument in arguments]
    environment = dict(os.environ if env is None else env)
    key = (os.getpid(), imports)
    if key not in servers:
        servers[key] = Server(imports.split())
    if not servers[key].suits(environment):
        return subprocess.run(
            [sys.executable, *words], env=environment, cwd=cwd, capture_output=True, text=True, check=check
        )
    with open(os.devnull, "rb") as nothing, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        request = {"arguments": words, "environment": environment, "folder": os.path.abspath(cwd or os.curdir)}
        code = servers[key].run(request, [nothing, out, err])
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode())
    done = subprocess.CompletedProcess([sys.executable, *words], code, *texts)
    if check:
        done.check_returncode()
    return done


# ---------------------------------------------------------------------- in the server


def serve(connection: socket.socket) -> dict[str, Any] | None:
    """Forks for each request. Returns the request in the fork, None in the server when it has no more to do."""
    while True:
        name, streams, _, _ = socket.recv_fds(connection, 4096, 3)
        if not name:
            return None
        pid = os.fork()
        if not pid:
            request: dict[str, Any] = json.loads(Path(os.fsdecode(name)).read_text())
            connection.close()
            for target, stream in enumerate(streams):
                os.dup2(stream, target)
                os.close(stream)
            return request
        for stream in streams:
            os.close(stream)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        connection.sendall(str(code).encode())


def open_streams(chosen: str) -> None:
    """Opens the standard streams as the interpreter does. chosen: PYTHONIOENCODING."""
    encoding, _, errors = chosen.partition(":")
    encoding = encoding or sys.stdout.encoding
    errors = errors or sys.stdout.errors or "strict"
    at_once = bool(os.environ.get("PYTHONUNBUFFERED"))
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(  # type: ignore[misc]
        io.BufferedReader(io.FileIO(0, closefd=False)), encoding=encoding, errors=errors
    )
    for number, name in ((1, "stdout"), (2, "stderr")):
        raw = io.FileIO(number, "w", closefd=False)
        stream = io.TextIOWrapper(
            raw if at_once else io.BufferedWriter(raw),  # type: ignore[arg-type]
            encoding=encoding,
            errors="backslashreplace" if number == 2 else errors,
            line_buffering=number == 2 or raw.isatty(),
            write_through=at_once,
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def leave_destructors() -> None:
    """Ends the process before the destructors of libraries that are loaded now: PyTorch's take a quarter of a second.

    The C library calls what is registered here in reverse order, after what is registered later: it closes the streams
    of C and ends the process with its exit code.
    """
    library = ctypes.CDLL(None)
    library.on_exit(library._exit, None)
    library.on_exit(library.fcloseall, None)


def become(request: dict[str, Any]) -> None:
    """Runs a program as if the interpreter had just started with it."""
    leave_destructors()
    first, *rest = request["arguments"]
    environment: dict[str, str] = request["environment"]
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(environment)
    if "jax" in sys.modules and "JAX_PLATFORMS" in environment:
        sys.modules["jax"].config.update("jax_platforms", environment["JAX_PLATFORMS"])
    open_streams(environment.get("PYTHONIOENCODING", ""))
    folders = [folder for folder in environment.get("PYTHONPATH", "").split(os.pathsep) if folder]
    sys.path[:0] = [os.path.abspath(folder) for folder in folders]
    if first == "-c":
        sys.argv = ["-c", *rest[1:]]
        sys.path.insert(0, "")
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(rest[0], "<string>", "exec"), main.__dict__)
    elif first == "-m":
        sys.argv = ["-m", *rest[1:]]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = [first, *rest]
        sys.path.insert(0, os.path.dirname(os.path.realpath(first)))
        runpy.run_path(first, run_name="__main__")


if __name__ == "__main__":
    del sys.path[0]  # the folder of this file
    for package in sys.argv[2:]:
        importlib.import_module(package)
    gc.freeze()
    program = serve(socket.socket(fileno=int(sys.argv[1])))
    if program is not None:
        become(program)
