# SPDX-License-Identifier: Apache-2.0
"""A benchmark in a process of its own.

What a network leaves behind in torch, OpenVINO, the compiler and the runtime (weights in every form, compiled code,
caches) is gone with the process, and what ends the process ends one benchmark only.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from ..harness import Outcome, Settings
from .outcomes import from_fields

ROOT = Path(__file__).resolve().parents[2]


def output_of(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """Returns what a program prints that runs in the root of the checkout.

    Raises:
        RuntimeError: it failed; with its last line.
    """
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().rpartition("\n")[2] or f"ended with {done.returncode}")
    return done.stdout


def resident(process: int) -> int:
    """Bytes that a process and those that it runs have in memory; pages that they share count for each."""
    parents: dict[int, int] = {}
    pages: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()  # the name before may have blanks
        except OSError:  # it has ended
            continue
        number = int(stat.parent.name)
        parents[number], pages[number] = int(fields[1]), int(fields[21])

    def belongs(number: int) -> bool:
        return number == process or (number in parents and belongs(parents[number]))

    return sum(pages[number] for number in parents if belongs(number)) * os.sysconf("SC_PAGE_SIZE")


def own_peak() -> int:
    """Bytes that this process had at its most. Its ru_maxrss may be that of the one that started it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


class Watch:
    """Looks every second at what a process and its children have in memory, which takes it a few milliseconds."""

    def __init__(self, process: int) -> None:
        self.process, self.most, self.ended = process, 0, threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self) -> None:
        while not self.ended.wait(1):
            self.most = max(self.most, resident(self.process))

    def end(self) -> None:
        self.ended.set()
        self.thread.join()


class Died(Exception):
    """A benchmark's process did not come to its end."""


class Isolated:
    """Runs a benchmark and yields its outcomes as they are measured.

    peak: most resident memory of its process, or of that and those that it ran at one time as far as `Watch` saw, in
    bytes; known when all outcomes were taken.
    """

    def __init__(self, name: str, settings: Settings, modules: Sequence[str]) -> None:
        self.name, self.peak = name, 0
        self.request = {
            "name": name,
            "modules": list(modules),
            "settings": asdict(replace(settings, lock=None)),
            "lock": str(settings.lock.path) if settings.lock else None,
        }

    def __iter__(self) -> Iterator[Outcome]:
        reading, writing = os.pipe()
        command = [sys.executable, "-m", "bench.isolated.child", json.dumps({**self.request, "pipe": writing})]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
        try:
            child = subprocess.Popen(command, pass_fds=[writing], env=environment, cwd=ROOT)
        finally:
            os.close(writing)
        watch = Watch(child.pid)
        try:
            with os.fdopen(reading) as pipe:
                for line in pipe:
                    yield from_fields(json.loads(line))
        except BaseException:
            child.kill()
            raise
        finally:
            watch.end()
            own = own_peak()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            # A process begins with the figure of the one that started it.
            largest = usage.ru_maxrss * 1024
            self.peak = max(watch.most, largest if largest > own else 0)
        if child.returncode < 0:
            raise Died(f"{self.name} was ended by {signal.Signals(-child.returncode).name}")
        if child.returncode:
            raise Died(f"{self.name} failed")
