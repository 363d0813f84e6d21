# SPDX-License-Identifier: Apache-2.0
"""Reads untrusted bytecode in a separate process.

MLIR's reader trusts its input: damaged bytes can end or hang the process that reads them. `read` hands them to one
that is started once and kept, and takes back bytecode which that process has read, verified and written again.
"""

from __future__ import annotations

import atexit
import os
import select
import signal
import struct
import subprocess
import threading
from pathlib import Path

from .ir import Context, MLIRError, Module

PROGRAM = Path(__file__).absolute().parent / "_mlir_libs" / "ttmlir-read"
CPU_SECONDS = 10.0  # that a request may take, and as much again for each 10 MB
_ALLOW_UNREGISTERED = 1
_CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


class _Died(Exception):
    """Says how the reader ended."""


class _Process:
    """A reader and its pipes."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [_program()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the caller
            bufsize=0,
        )
        assert self.process.stdin and self.process.stdout
        self.to, self.back = self.process.stdin.fileno(), self.process.stdout.fileno()

    def ask(self, data: bytes, flags: int) -> tuple[bool, bytes]:
        """Returns whether the bytes are a module, and its bytecode or what is wrong."""
        end = self._cpu() + CPU_SECONDS * (1 + len(data) / 10e6)
        try:
            for part in (struct.pack("<BQ", flags, len(data)), data):
                left = memoryview(part)
                while left:
                    left = left[os.write(self.to, left) :]
        except BrokenPipeError:
            raise _Died(self._ending()) from None
        is_read, size = struct.unpack("<BQ", self._take(9, end))
        return bool(is_read), self._take(size, end)

    def close(self) -> None:
        """Ends the reader."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()

    def _take(self, size: int, end: float) -> bytes:
        parts = []
        while size:
            while not select.select([self.back], [], [], 0.2)[0]:
                if self._cpu() > end:
                    raise _Died("took longer than its limit of CPU time")
            part = os.read(self.back, min(size, 1 << 24))
            if not part:
                raise _Died(self._ending())
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _ending(self) -> str:
        code = self.process.wait()
        return f"died of {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"

    def _cpu(self) -> float:
        """Returns the seconds that the reader has computed for, or 0 after its end."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / _CLOCK_TICKS


_lock = threading.Lock()
_process: _Process | None = None


def _program() -> str:
    if not PROGRAM.is_file():
        raise FileNotFoundError(f"{PROGRAM}, which reads bytecode apart, is not installed; trusted=True reads it here")
    return str(PROGRAM)


def _close() -> None:
    global _process
    if _process:
        _process.close()
        _process = None


def _forget() -> None:
    """Drops the reader and its answers in a child of a fork: they are the parent's."""
    global _process, _lock
    _lock = threading.Lock()
    if _process:
        for pipe in (_process.process.stdin, _process.process.stdout):
            if pipe:
                pipe.close()
        _process.process.returncode = 0  # not ours to wait for
        _process = None


atexit.register(_close)
os.register_at_fork(after_in_child=_forget)


def read(context: Context, data: bytes, what: str = "the bytecode") -> Module:
    """Returns the module of a portable artifact, of bytecode or of text, which another process reads first.

    Args:
        context: of the module.
        data: bytes from anywhere.
        what: names them in errors.
    Raises:
        MLIRError: the bytes are no module, or damaged such that their reader dies, or computes beyond `CPU_SECONDS`.
    """
    global _process
    flags = _ALLOW_UNREGISTERED if context.allow_unregistered_dialects else 0
    with _lock:
        if _process and _process.process.poll() is not None:
            _close()
        if not _process:
            _process = _Process()
        try:
            is_read, answer = _process.ask(data, flags)
        except _Died as died:
            _close()
            raise MLIRError(f"{what} is damaged: the process that read it {died}", []) from None
        except BaseException:
            _close()  # with an unread answer
            raise
    if not is_read:
        raise MLIRError(answer.decode("utf-8", "backslashreplace"), [])
    return Module.parse(answer, context)
