# SPDX-License-Identifier: Apache-2.0
"""The host: what it is, and whether it has what the simulated chips need."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ttrt.usage import version

from .machine import Machine, runtime

# The least that the runtime and its documents ask for.
LEAST_PYTHON = (3, 10)
LEAST_MEMORY = 4 << 30


def _found(path: str, pattern: str) -> str | None:
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    match = re.search(pattern, text, re.MULTILINE)
    return match[1].strip().strip('"') if match else None


def memory_bytes() -> tuple[int, int]:
    """Returns bytes of memory of the host: in all, and available."""
    values = [_found("/proc/meminfo", rf"^{name}:\s*(\d+) kB") for name in ("MemTotal", "MemAvailable")]
    total, free = (int(value or 0) << 10 for value in values)
    return total, free


def host_info() -> dict[str, str]:
    total, free = memory_bytes()
    return {
        "OS": platform.system(),
        "Distro": _found("/etc/os-release", r"^PRETTY_NAME=(.*)$") or "N/A",
        "Kernel": platform.release(),
        "Hostname": platform.node(),
        "Platform": platform.machine(),
        "CPU": _found("/proc/cpuinfo", r"^model name\s*:\s*(.*)$") or platform.processor() or "N/A",
        "Cores": str(os.cpu_count() or 1),
        "Memory": f"{total / (1 << 30):.1f} GiB, {free / (1 << 30):.1f} free",
        "Python": platform.python_version(),
        "Driver": "none: chips are simulated",
    }


@dataclass(frozen=True)
class Check:
    """A requirement, whether it is met, and what was found."""

    name: str
    passed: bool
    found: str


def compatibility(machine: Machine) -> list[Check]:
    """Returns the requirements of host and devices."""
    total, _ = memory_bytes()
    problem = runtime.publication_problem()
    requested = [chip.index for chip in machine.chips if chip.reset_requested]
    damaged = len(machine.problems)
    python = tuple(map(int, platform.python_version_tuple()[:2]))
    return [
        Check("OS", platform.system() == "Linux", platform.system()),
        Check("Python", python >= LEAST_PYTHON, platform.python_version()),
        Check("Memory", total >= LEAST_MEMORY, f"{total / (1 << 30):.1f} GiB"),
        Check("Runtime", True, version()),
        Check("Published chips", not problem, problem or runtime.publication_folder()),
        Check("Published files", not damaged, f"{damaged} damaged" if damaged else "good"),
        Check("Devices", not requested,
              f"reset requested of {_listed(requested)}" if requested else f"{len(machine.chips)} ready"),
    ]  # fmt: skip


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


# Programs of a card's own processors, which a simulated chip does not have; the runtime does what they do.
FIRMWARE = ("ARC FW", "ETH FW", "M3 App FW", "M3 Bootloader FW", "TT-Flash")


def firmware() -> dict[str, str]:
    return {**dict.fromkeys(FIRMWARE, "N/A"), "Runtime": version()}
