# SPDX-License-Identifier: Apache-2.0
"""Timing several ways of doing the same work fairly, and what is written down of it."""

from __future__ import annotations

import fcntl
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

Work = Callable[[], object]


@dataclass(frozen=True)
class Result:
    """One comparison. ratio: peer_ms / ours_ms, so that more than 1 means that we are faster; None without a peer."""

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


@dataclass(frozen=True)
class Measure:
    """A number that is not a ratio of times. expected: as text, "<= 1.3"; note: what it is made of."""

    name: str
    dtype: str
    value: float
    unit: str
    expected: str = ""
    note: str = ""


@dataclass(frozen=True)
class Profile:
    """The ops of one benchmark that take most of our time, with their share."""

    name: str
    dtype: str
    text: str


@dataclass(frozen=True)
class Absent:
    """A comparison that did not happen, and why."""

    name: str
    dtype: str
    peer: str
    reason: str


Outcome = Result | Measure | Profile | Absent


class Lock:
    """A file's lock (flock) that several users of a machine take in turns. It is kept over several measurements, up to
    about HOLD seconds, so that not each has to wait."""

    HOLD = 45.0

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.file = path.open("a")
        self.since: float | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        if self.since is None:
            fcntl.flock(self.file, fcntl.LOCK_EX)
            self.since = time.monotonic()
        try:
            yield
        finally:
            if time.monotonic() - self.since > self.HOLD:
                fcntl.flock(self.file, fcntl.LOCK_UN)
                self.since = None


@dataclass(frozen=True)
class Settings:
    """The settings of the command line.

    seconds: for each comparison, all sides together; threads: of each side; peers: names of the libraries that we are
    compared with.
    lock: held while something is measured, for machines with several users; passes: list times by pass.
    """

    seconds: float = 3.0
    threads: int = 2
    peers: tuple[str, ...] = ()
    lock: Lock | None = None
    passes: bool = False

    def quiet(self) -> AbstractContextManager[None]:
        """The time in which nobody else who takes the lock, too, keeps the machine busy."""
        return nullcontext() if self.lock is None else self.lock.held()


class OtherLoad:
    """The share of the processors that other processes use: their jiffies since `restart` over those that passed."""

    def __init__(self) -> None:
        self.known = Path("/proc/stat").exists()
        self.restart()

    def restart(self) -> None:
        self.all, self.own, self.start = self.busy(), os.times(), time.perf_counter()

    def busy(self) -> float:
        """Seconds that the processors worked, or were taken by other virtual machines."""
        if not self.known:
            return 0.0
        user, nice, system, _, _, irq, soft, steal, *_ = map(
            int, Path("/proc/stat").read_text().partition("\n")[0].split()[1:]
        )
        return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")

    def share(self) -> float:
        """Returns the load of one processor. Times come in steps of 10 ms, so ask after a tenth of a second or more."""
        own = os.times()
        ours = own.user - self.own.user + own.system - self.own.system
        return max(0.0, self.busy() - self.all - ours) / max(time.perf_counter() - self.start, 1e-6)


def once(work: Work) -> float:
    """Milliseconds of one call."""
    start = time.perf_counter_ns()
    work()
    return (time.perf_counter_ns() - start) / 1e6


# A round in which other processes had more than this share of a processor is measured again: where every op waits for
# all threads, one that lost its processor costs whole time slices.
TOLERATED = 0.08
# Rounds that count, at least; and how many times `seconds` may pass before disturbed rounds are taken as they are.
ROUNDS, PATIENCE = 4, 4
# Seconds between two sides. The threads of an OpenMP library keep their processors for a while (libgomp's for 300,000
# pauses, about 16 ms) in case that there is more to do; the next side would run at the same time.
PAUSE = 0.03


def alternate(sides: Sequence[Work], seconds: float, block_ms: float = 40.0) -> list[float]:
    """Median milliseconds of each of some functions, called in turns for about `seconds` altogether.

    They take turns in blocks of calls that last `block_ms`, every other time in reverse order, so that all meet the
    same state of the machine. The first calls of a block are not counted: they find the others' data in the caches.
    """
    for work in sides:
        for _ in range(2):
            work()
    sizes = [max(2, int(block_ms / max(min(once(work) for _ in range(2)), 1e-3))) for work in sides]
    quiet: list[list[float]] = [[] for _ in sides]
    disturbed: list[list[float]] = [[] for _ in sides]
    load = OtherLoad()
    turns = list(range(len(sides)))
    start, rounds = time.perf_counter(), 0
    while True:
        load.restart()
        times: list[list[float]] = [[] for _ in sides]
        for side in turns:
            work, size = sides[side], sizes[side]
            time.sleep(PAUSE)
            for _ in range(1 + size // 10):
                work()
            times[side] = [once(work) for _ in range(size)]
        turns.reverse()
        calm = load.share() <= TOLERATED
        for kept, new in zip(quiet if calm else disturbed, times, strict=True):
            kept.extend(new)
        rounds += calm
        passed = time.perf_counter() - start
        if (passed >= seconds and rounds >= ROUNDS) or passed >= PATIENCE * seconds:
            break
    return [statistics.median(calm or rest) for calm, rest in zip(quiet, disturbed, strict=True)]


def median_of(work: Work, repeats: int) -> float:
    """Median milliseconds of `repeats` calls after one that is not counted."""
    work()
    return statistics.median(once(work) for _ in range(repeats))
