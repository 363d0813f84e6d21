# SPDX-License-Identifier: Apache-2.0
"""Records of the chips: snapshots (JSON), and dumps of telemetry (CSV and XLSX)."""

from __future__ import annotations

import csv
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from ttmlir.files import check_writable, whole_file, write_whole
from ttrt.usage import version

from .host import compatibility, firmware, host_info
from .machine import Chip, Machine, SmiError, discover
from .telemetry import FIELDS, Reading, Sampler

LOGS = "tt-smi-logs"
MOST_ROWS = 1_048_575  # of a sheet, below its heading
TIME = "Timestamp (s)"


def timestamp() -> str:
    return datetime.now().strftime("%Y-%m-%d_%H-%M-%S")


def default_snapshot() -> Path:
    return Path(LOGS, f"tt-smi-snapshot_{timestamp()}.log")


def default_dump() -> Path:
    return Path(LOGS, f"tt-smi-dump_{timestamp()}")


#
# Snapshots
#


# Names of version 6.8 of the card's tt-smi, whose values are texts, for what a simulated chip does not have.
ABSENT = "N/A"
BOARD_INFO = ("bus_id", "board_id", "dram_speed", "pcie_speed", "pcie_width")
TELEMETRY = ("voltage", "current", "power", "board_power", "asic_temperature", "fan_speed", "heartbeat")
FIRMWARES = ("cm_fw", "cm_fw_date", "eth_fw", "dm_bl_fw", "dm_app_fw", "tt_flash_version", "gddr_fw")
LIMITS = ("vdd_min", "vdd_max", "tdp_limit", "tdc_limit", "therm_trip_l1_limit", "thm_limit", "bus_peak_limit",
          "fan_rpm_limit", "board_power_limit")  # fmt: skip


def card_facts(chip: Chip) -> dict[str, Any]:
    """Returns what the card's tt-smi says of a chip, by its names."""
    absent = {
        name: dict.fromkeys(keys, ABSENT)
        for name, keys in (("board_info", BOARD_INFO), ("telemetry", TELEMETRY), ("firmwares", FIRMWARES))
    }
    board = {"board_type": chip.board, "coords": ABSENT, "dram_status": True}
    return {
        "smbus_telem": {"BOARD_ID": ABSENT, "AICLK": hex(round(chip.clock_mhz))},
        "board_info": absent["board_info"] | board,
        "telemetry": absent["telemetry"],
        "gddr_telemetry": {"speed": ABSENT, "max_temp": ABSENT, "enabled_mask": ABSENT, "channels": []},
        "firmwares": absent["firmwares"],
        "limits": dict.fromkeys(LIMITS, ABSENT) | {"asic_fmax": f"{chip.clock_mhz:.0f}"},
    }


def chip_facts(chip: Chip, reading: Reading) -> dict[str, Any]:
    """Returns what is known of a chip, as JSON has it, by our names and those of the card's tt-smi; None or "N/A" for
    what a simulated chip does not have."""
    process = chip.process
    card = card_facts(chip)
    return card | {
        "index": chip.index,
        "board_info": card["board_info"] | {
            "board": chip.board, "mesh": list(chip.mesh), "place": list(chip.place), "pcie_link": None
        },
        "chip_info": {"arch": chip.arch, "cores": chip.memories["L1"].banks, "status": chip.status},
        "memory": {
            name: {"banks": m.banks, "bytes_per_bank": m.bank_bytes, "used_bytes_per_bank": m.bank_used,
                   "peak_bytes_per_bank": m.bank_peak}
            for name, m in chip.memories.items()
        },
        "process": process and {"pid": process.number, "user": process.user, "command": process.command,
                                "device": chip.device, "opened": process.opened.isoformat(timespec="seconds")},
        "work": {"programs": chip.work.programs, "ops": chip.work.ops, "cycles": chip.work.cycles,
                 "chip_ns": chip.work.chip_ns, "busy_ns": chip.work.busy_ns},
        "telemetry": card["telemetry"] | {f.key: value for f, value in zip(FIELDS, reading, strict=True)},
        "firmware": {name: None if text == "N/A" else text for name, text in firmware().items()},
    }  # fmt: skip


def snapshot(machine: Machine, readings: Sequence[Reading]) -> str:
    """Returns host and devices at one moment, as JSON."""
    facts = {
        "time": datetime.now().astimezone().isoformat(timespec="seconds"),
        "tt_smi": version(),
        "host_info": host_info(),
        "host_sw_vers": {"tt_smi": version(), "pyluwen": ABSENT, "tt_umd": ABSENT},
        "compatibility": {c.name: {"passed": c.passed, "found": c.found} for c in compatibility(machine)},
        "device_info": [chip_facts(chip, reading) for chip, reading in zip(machine.chips, readings, strict=True)],
        "processes": [
            {"pid": chip.process.number, "user": chip.process.user, "device": chip.index,
             "cmdline": chip.process.command}
            for chip in machine.chips if chip.process
        ],
        "problems": list(machine.problems),
    }  # fmt: skip
    return json.dumps(facts, indent=2, ensure_ascii=False) + "\n"


def save_snapshot(path: Path, text: str) -> None:
    """
    Raises:
        SmiError: it cannot be written there.
    """
    try:
        if path.parts[:1] == (LOGS,):
            path.parent.mkdir(exist_ok=True)
        check_writable(path)
        write_whole(path, text)
    except OSError as error:
        raise SmiError(f"snapshot {path}: {error.strerror or error}") from None


#
# Dumps
#


@dataclass
class Dumped:
    """The dump of a chip."""

    chip: Chip
    file: IO[str]
    writer: Any
    rows: list[tuple[float, Reading]] = field(default_factory=list)


class Dump:
    """Telemetry in a folder: chip_0.csv, chip_1.csv, …, written as it is read, and all of it in telemetry.xlsx.

    A chip that comes later has a file of its own; one that goes has no further rows.

    Raises:
        SmiError: the folder cannot be made or written to; the package that writes XLSX is not there.
    """

    def __init__(self, folder: Path) -> None:
        try:
            import xlsxwriter
        except ModuleNotFoundError:
            raise SmiError("a telemetry dump needs the package XlsxWriter: pip install 'ttmlir[tools]'") from None
        self._workbook = xlsxwriter.Workbook
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SmiError(f"telemetry dump {folder}: {error.strerror or error}") from None
        if not os.access(folder, os.W_OK | os.X_OK):
            raise SmiError(f"telemetry dump {folder}: the folder is not writable")
        self._start = time.time()
        self._sampler = Sampler()
        self._dumped: dict[tuple[int, int, int], Dumped] = {}

    @property
    def chips(self) -> int:
        return len(self._dumped)

    def read(self, machine: Machine | None = None) -> None:
        """Adds a row for each chip."""
        chips = (machine or discover()).chips
        now = time.time()
        for chip, reading in zip(chips, self._sampler.read(chips, now), strict=True):
            found = self._dumped.get(chip.key) or self._add(chip)
            elapsed = round(now - self._start, 6)
            try:
                found.writer.writerow([f"{elapsed:.6f}", *(f.text(x) for f, x in zip(FIELDS, reading, strict=True))])
                found.file.flush()
            except OSError as error:
                raise SmiError(f"telemetry dump {found.file.name}: {error.strerror or error}") from None
            if len(found.rows) < MOST_ROWS:
                found.rows.append((elapsed, reading))

    def _add(self, chip: Chip) -> Dumped:
        path = self.folder / f"chip_{len(self._dumped)}.csv"
        try:
            file = open(path, "w", newline="", encoding="utf-8")  # noqa: SIM115 (closed by close)
        except OSError as error:
            raise SmiError(f"telemetry dump {path}: {error.strerror or error}") from None
        found = self._dumped[chip.key] = Dumped(chip, file, csv.writer(file, lineterminator="\n"))
        found.writer.writerow([TIME, *(f.title for f in FIELDS)])
        return found

    def close(self) -> list[Path]:
        """Writes what is left, and says which files there are."""
        for found in self._dumped.values():
            found.file.close()
        path = self.folder / "telemetry.xlsx"
        try:
            with whole_file(path) as out:
                self._write(out)
        except OSError as error:
            raise SmiError(f"telemetry dump {path}: {error.strerror or error}") from None
        return [*(Path(found.file.name) for found in self._dumped.values()), path]

    def _write(self, out: IO[bytes]) -> None:
        book = self._workbook(out, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
        head = book.add_format({"bold": True, "text_wrap": True, "valign": "top"})
        plain = [book.add_format({"num_format": "0." + "0" * f.digits if f.digits else "0"}) for f in FIELDS]
        for number, found in enumerate(self._dumped.values()):
            sheet = book.add_worksheet(f"chip {number}")
            sheet.freeze_panes(1, 1)
            sheet.set_column(0, len(FIELDS), 12)
            sheet.write_row(0, 0, [TIME, *(f.title for f in FIELDS)], head)
            for row, (elapsed, reading) in enumerate(found.rows, 1):
                sheet.write_number(row, 0, elapsed)
                for column, (value, form) in enumerate(zip(reading, plain, strict=True), 1):
                    if value is None:
                        sheet.write_string(row, column, "N/A")
                    else:
                        sheet.write_number(row, column, value, form)
        about = book.add_worksheet("chips")
        about.set_column(0, 6, 16)
        about.write_row(0, 0, ["Sheet", "Board", "Architecture", "Mesh", "Place", "Process", "Command"], head)
        for number, found in enumerate(self._dumped.values()):
            chip = found.chip
            process = chip.process
            about.write_row(number + 1, 0, [
                f"chip {number}", chip.board, chip.arch, f"{chip.mesh[0]}x{chip.mesh[1]}", str(list(chip.place)),
                process.number if process else "idle", process.command if process else "",
            ])  # fmt: skip
        book.close()
