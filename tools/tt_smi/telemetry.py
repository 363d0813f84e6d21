# SPDX-License-Identifier: Apache-2.0
"""Telemetry of chips: which values there are, and their readings.

A simulated chip has a clock, memory, and what ran on it. It has no voltage, current, power, or temperature: these are
None, and shown as N/A.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .machine import Chip, Work

MEBI, KIBI = 1 << 20, 1 << 10


@dataclass(frozen=True)
class Rates:
    """Rates of the time between two readings. busy: the part in which the host ran something on the chip. chip: the
    estimated part of the chip itself. ops: per second."""

    busy: float
    chip: float
    ops: float


@dataclass(frozen=True)
class Field:
    """value: None for what a simulated chip does not have. limit: the most that it can be."""

    key: str
    heading: str
    unit: str
    digits: int = 0
    value: Callable[[Chip, Rates], float | None] = lambda chip, rates: None
    limit: Callable[[Chip], float | None] = lambda chip: None

    @property
    def title(self) -> str:
        return f"{self.heading} ({self.unit})"

    def text(self, value: float | None) -> str:
        return "N/A" if value is None else f"{value:.{self.digits}f}"


FIELDS = (
    Field("core_voltage", "Core Voltage", "V", 3),
    Field("aiclk", "AICLK", "MHz", 0, lambda chip, rates: chip.clock_mhz, lambda chip: chip.clock_mhz),
    Field("arcclk", "ARCCLK", "MHz"),
    Field("axiclk", "AXICLK", "MHz"),
    Field("core_current", "Core Current", "A"),
    Field("core_power", "Core Power", "W"),
    Field("core_temp", "Core Temp", "°C", 1),
    Field("vreg_temp", "VREG Temp", "°C"),
    Field("inlet_temp", "Inlet Temp", "°C"),
    Field("outlet_temp_1", "Outlet Temp 1", "°C"),
    Field("outlet_temp_2", "Outlet Temp 2", "°C"),
    # What a simulated chip has besides.
    Field("busy", "Busy", "%", 1, lambda chip, rates: 100 * rates.busy, lambda chip: 100.0),
    Field("chip_time", "Chip Time", "%", 2, lambda chip, rates: 100 * rates.chip),
    Field("ops", "Ops", "1/s", 0, lambda chip, rates: rates.ops),
    Field("dram", "DRAM", "MiB", 1, lambda chip, rates: chip.memories["DRAM"].used / MEBI,
          lambda chip: chip.memories["DRAM"].total / MEBI),
    Field("l1", "L1 per core", "KiB", 1, lambda chip, rates: chip.memories["L1"].bank_used / KIBI,
          lambda chip: chip.memories["L1"].bank_bytes / KIBI),
)  # fmt: skip

Reading = tuple[float | None, ...]  # a value for each of FIELDS


class Sampler:
    """Readings, one after another: rates are of the time since the reading before, or since the chip was opened."""

    def __init__(self) -> None:
        self._before: dict[tuple[int, int, int], tuple[float, Work]] = {}

    def read(self, chips: Sequence[Chip], now: float | None = None) -> list[Reading]:
        now = time.time() if now is None else now
        before, self._before = self._before, {chip.key: (now, chip.work) for chip in chips}
        return [self._reading(chip, now, before.get(chip.key)) for chip in chips]

    @staticmethod
    def _reading(chip: Chip, now: float, before: tuple[float, Work] | None) -> Reading:
        then, work = before or (chip.process.opened.timestamp() if chip.process else now, Work())
        seconds = now - then

        def rate(new: int, old: int, per: float) -> float:
            # A chip whose sub-mesh was closed may have done less than before.
            return max(new - old, 0) / per / seconds if seconds > 0 else 0.0

        rates = Rates(
            min(rate(chip.work.busy_ns, work.busy_ns, 1e9), 1.0),
            rate(chip.work.chip_ns, work.chip_ns, 1e9),
            rate(chip.work.ops, work.ops, 1),
        )
        return tuple(field.value(chip, rates) for field in FIELDS)


class Averages:
    """Means of the readings of each chip since it was first seen."""

    def __init__(self) -> None:
        self._sums: dict[tuple[int, int, int], tuple[int, list[float | None]]] = {}

    def add(self, chips: Sequence[Chip], readings: Sequence[Reading]) -> None:
        known, self._sums = self._sums, {}
        for chip, reading in zip(chips, readings, strict=True):
            count, sums = known.get(chip.key, (0, [None if x is None else 0.0 for x in reading]))
            self._sums[chip.key] = (
                count + 1,
                [None if x is None or s is None else s + x for s, x in zip(sums, reading, strict=True)],
            )

    def of(self, chip: Chip) -> Reading:
        count, sums = self._sums.get(chip.key, (0, [None] * len(FIELDS)))
        return tuple(None if s is None else s / count for s in sums)
