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
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from .harness import Outcome, Settings
from .outcomes import from_fields

ROOT = Path(__file__).resolve().parent.parent


class Died(Exception):
    """A benchmark's process did not come to its end."""


class Isolated:
    """Runs a benchmark and yields its outcomes as they are measured.

    peak: most resident memory of its process and, added, of the largest of the processes that it ran, in bytes; known
    when all outcomes were taken. Of one that died, that of its largest process.
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
        command = [sys.executable, "-m", "bench.child", json.dumps({**self.request, "pipe": writing})]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
        try:
            child = subprocess.Popen(command, pass_fds=[writing], env=environment, cwd=ROOT)
        finally:
            os.close(writing)
        try:
            with os.fdopen(reading) as pipe:
                for line in pipe:
                    found = json.loads(line)
                    if "peak" in found:
                        self.peak = found["peak"]
                    else:
                        yield from_fields(found)
        except BaseException:
            child.kill()
            raise
        finally:
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            self.peak = self.peak or usage.ru_maxrss * 1024
        if child.returncode < 0:
            raise Died(f"{self.name} was ended by {signal.Signals(-child.returncode).name}")
        if child.returncode:
            raise Died(f"{self.name} failed")
