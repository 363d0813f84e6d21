# SPDX-License-Identifier: Apache-2.0
"""The chips that there are: those of meshes that running processes have open, or else one idle board."""

from __future__ import annotations

import contextlib
import json
import math
import os
import pwd
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import _ttmlir_runtime as tt_runtime

runtime = tt_runtime.runtime


class SmiError(Exception):
    """Something that the user can put right."""


@dataclass(frozen=True)
class Memory:
    """One memory of a chip. The others are bytes per bank; all banks of a mesh have the same."""

    banks: int
    bank_bytes: int
    bank_used: int
    bank_peak: int

    @property
    def total(self) -> int:
        return self.banks * self.bank_bytes

    @property
    def used(self) -> int:
        return self.banks * self.bank_used

    @property
    def share(self) -> float:
        return self.bank_used / self.bank_bytes if self.bank_bytes else 0.0


@dataclass(frozen=True)
class Process:
    number: int
    user: str
    command: str
    opened: datetime


@dataclass(frozen=True)
class Work:
    """The work of a chip since it was opened. busy_ns: on the host; chip_ns, cycles: estimated for the chip."""

    programs: int = 0
    ops: int = 0
    cycles: int = 0
    chip_ns: int = 0
    busy_ns: int = 0

    def __add__(self, more: Work) -> Work:
        return Work(
            self.programs + more.programs, self.ops + more.ops, self.cycles + more.cycles,
            self.chip_ns + more.chip_ns, self.busy_ns + more.busy_ns,
        )  # fmt: skip


@dataclass(frozen=True)
class Chip:
    """index: what options and prompts name it by. number: in its mesh, row by row. process: None when it is idle."""

    index: int
    board: str
    arch: str
    mesh: tuple[int, int]
    number: int
    clock_mhz: int
    memories: Mapping[str, Memory]
    process: Process | None = None
    device: int = 0
    work: Work = field(default_factory=Work)
    reset_requested: bool = False

    @property
    def place(self) -> tuple[int, int]:
        return divmod(self.number, self.mesh[1])

    @property
    def key(self) -> tuple[int, int, int]:
        """Returns the key of this chip, which holds as long as its process has it open."""
        return (self.process.number if self.process else 0, self.device, self.number)

    @property
    def status(self) -> str:
        if self.reset_requested:
            return "reset requested"
        return "open" if self.process else "idle"


@dataclass(frozen=True)
class Machine:
    """problems: published files that cannot be read, and why."""

    chips: Sequence[Chip]
    problems: Sequence[str] = ()


def board_of(arch: str, mesh: tuple[int, int]) -> str:
    """Returns the board or box that has such a mesh."""
    for name, preset in runtime.get_mesh_presets().items():
        if preset == (arch, *mesh):
            return name
    return f"{mesh[0]}x{mesh[1]} mesh"


def idle_chip() -> Chip:
    """Returns the machine that programs get when they ask for none: one chip."""
    system = json.loads(runtime.get_current_system_desc().as_json())
    (chip,) = system["chips"]
    mesh = tuple(system["mesh_shape"])
    dram = Memory(chip["num_dram_channels"], chip["dram_unreserved_end"] - chip["dram_unreserved_base"], 0, 0)
    l1 = Memory(math.prod(chip["grid"]), chip["l1_size"] - chip["l1_unreserved_base"], 0, 0)
    arch = chip["arch"]
    return Chip(0, board_of(arch, mesh), arch, mesh, 0, clock_of(arch), {"DRAM": dram, "L1": l1})


def clock_of(arch: str) -> int:
    """Returns the clock in MHz."""
    return round(runtime.get_clock_mhz(arch))


def process_of(number: int, opened_ns: int) -> Process:
    user, command = "?", "?"
    with contextlib.suppress(OSError):
        owner = os.stat(f"/proc/{number}").st_uid
        user = str(owner)
        with contextlib.suppress(KeyError):
            user = pwd.getpwuid(owner).pw_name
        words = Path(f"/proc/{number}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        command = " ".join(printable(word.decode("utf-8", "replace")) for word in words)
    return Process(number, user, command or "?", datetime.fromtimestamp(opened_ns / 1e9))


def printable(text: str) -> str:
    """Returns text without characters that a terminal acts on."""
    return "".join(c if c.isprintable() else "�" for c in text)


def work_of(mesh: Any) -> Work:
    return Work(mesh.programs, mesh.ops, mesh.cycles, mesh.chip_ns, mesh.busy_ns)


def chips_of(mesh: Any, parts: Iterable[Any]) -> list[Chip]:
    """Returns the chips of a mesh that its process simulates. parts: its sub-meshes, whose memory is some of its
    chips'."""
    rows, columns = mesh.mesh_shape
    first = Chip(
        0, board_of(mesh.arch, (rows, columns)), mesh.arch, (rows, columns), 0, mesh.clock_mhz,
        {name: Memory(*figures) for name, figures in mesh.memories.items()},
        process_of(mesh.process, mesh.opened_ns), mesh.device, work_of(mesh), mesh.reset_requested_by != 0,
    )  # fmt: skip
    chips = [replace(first, number=number) for number in range(*mesh.local_chips)]
    for part in parts:
        (top, left), (height, width) = part.mesh_offset, part.mesh_shape
        for i, chip in enumerate(chips):
            row, column = chip.place
            if not (top <= row < top + height and left <= column < left + width):
                continue
            memories = dict(chip.memories)
            for name, (_, _, used, peak) in part.memories.items():
                whole = memories[name]
                memories[name] = replace(whole, bank_used=whole.bank_used + used,
                                         bank_peak=max(whole.bank_peak, peak))  # fmt: skip
            # The host runs one part of a mesh at a time; what it takes is said of the mesh.
            chips[i] = replace(chip, memories=memories, work=chip.work + replace(work_of(part), busy_ns=0))
    return chips


def discover() -> Machine:
    """Returns the chips of the meshes that are open now, the oldest first; one idle chip when there are none."""
    meshes, problems = runtime.published_meshes()
    whole = sorted((m for m in meshes if m.parent < 0), key=lambda m: (m.opened_ns, m.process, m.device))
    found: list[Chip] = []
    for mesh in whole:
        found += chips_of(mesh, [m for m in meshes if (m.process, m.parent) == (mesh.process, mesh.device)])
    if not found:
        return Machine([idle_chip()], problems)
    return Machine([replace(chip, index=i) for i, chip in enumerate(found)], problems)
