"""Timing two ways of doing the same work fairly, and what is written down of it."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

# Below this ratio a line needs a reason, which bench/reasons.py gives by its name and dtype.
SLOW = 0.8


@dataclass(frozen=True)
class Result:
    """One line. ratio: peer_ms / ours_ms, so that more than 1 means that we are faster; None without a peer."""

    name: str
    dtype: str
    ours_ms: float
    peer: str | None = None
    peer_ms: float | None = None

    @property
    def ratio(self) -> float | None:
        return None if self.peer_ms is None else self.peer_ms / self.ours_ms

    def to_dict(self) -> dict[str, object]:
        return {**asdict(self), "ratio": self.ratio}


def once(work: Callable[[], object]) -> float:
    """Milliseconds of one call."""
    start = time.perf_counter_ns()
    work()
    return (time.perf_counter_ns() - start) / 1e6


def alternate(
    ours: Callable[[], object], peer: Callable[[], object], seconds: float, block_ms: float = 20.0
) -> tuple[float, float]:
    """Median milliseconds of each of two functions, called in turns for about `seconds` altogether.

    They take turns in blocks of calls that last `block_ms`, so that both meet the same state of the machine. The first
    call of a block is not counted: it finds the other's data in the caches and the other's threads still awake.
    """
    sides = (ours, peer)
    for work in sides:
        for _ in range(3):
            work()
    sizes = [max(3, int(block_ms / max(min(once(work) for _ in range(3)), 1e-3))) for work in sides]
    times: tuple[list[float], list[float]] = ([], [])
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[1]) < 10:
        for work, size, kept in zip(sides, sizes, times, strict=True):
            work()
            kept.extend(once(work) for _ in range(size - 1))
    return statistics.median(times[0]), statistics.median(times[1])


def median_of(work: Callable[[], object], repeats: int) -> float:
    """Median milliseconds of `repeats` calls after one that is not counted."""
    work()
    return statistics.median(once(work) for _ in range(repeats))


def cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def cpu_features() -> list[str]:
    """The vector and matrix units that decide which kernels both sides run."""
    wanted = ("avx2", "avx512f", "avx512_bf16", "avx512_fp16", "amx_bf16", "amx_int8", "asimd", "bf16", "sve")
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return []
    flags = {flag for line in text.splitlines() if line.startswith(("flags", "Features")) for flag in line.split()}
    return [flag for flag in wanted if flag in flags]


def machine(threads: int) -> dict[str, object]:
    import torch

    return {
        "cpu": cpu_model(),
        "features": cpu_features(),
        "cores": len(os.sched_getaffinity(0)),
        "threads": threads,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "load_before": round(os.getloadavg()[0], 2),
    }


def write_whole(path: Path, data: object) -> None:
    """JSON that takes the place of an older file when all is written."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(json.dumps(data, indent=1) + "\n")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def save(folder: Path, results: Iterable[Result], threads: int) -> None:
    write_whole(folder / "machine.json", machine(threads))
    write_whole(folder / "results.json", [result.to_dict() for result in results])
