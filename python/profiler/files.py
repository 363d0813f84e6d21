# SPDX-License-Identifier: Apache-2.0
"""Output of recordings: a Chrome (Perfetto) trace, a table, and a self-contained page."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import _ttmlir_runtime as tt_runtime
from ttmlir.files import write_whole

from .cores import core_events, longest, page_cores, row_names
from .database import memory_report
from .ops_table import device_log, ops_perf_results
from .page import page
from .records import Exchange, OpRecord, ProfilerError, ProgramInfo, Run

HOST, CHIP = 1, 2  # process numbers of the trace
# What chips of a mesh after the first may add to a trace; viewers load no more than some millions.
MOST_CHIP_EVENTS = 200_000
PREPARATION = "preparation"  # in the place of an op's name: what a submit takes besides its ops
REPORT, TRACE, TABLE = "report.html", "trace.json", "ops.csv"
# What the chip's own tools read.
LIBRARY_TABLE, DEVICE_LOG, DATABASE = "ops_perf_results.csv", "profile_log_device.csv", "db.sqlite"


def microseconds(ns: float) -> float:
    return round(ns / 1000, 3)


def chrome_trace(programs: Sequence[ProgramInfo], runs: Sequence[Run]) -> dict[str, Any]:
    """Writes for chrome://tracing and ui.perfetto.dev: measured host time by thread, estimated time by chip.

    The ops of a run stand end to end, the last at the end of the submit, behind what it was prepared with. A device
    begins a run when the host does, or when it is done with the one before. Chips of a mesh do the same in step: the
    rows of all but the first end after MOST_CHIP_EVENTS.
    """
    events: list[dict[str, Any]] = [
        {"ph": "M", "pid": HOST, "name": "process_name", "args": {"name": "host (measured)"}},
        {"ph": "M", "pid": CHIP, "name": "process_name", "args": {"name": "chip (estimated)"}},
    ]
    threads = {thread: i for i, thread in enumerate(dict.fromkeys(run.thread for run in runs))}
    for thread in threads.values():
        name = "submit" if thread == 0 else f"submit, thread {thread}"
        events.append({"ph": "M", "pid": HOST, "tid": thread, "name": "thread_name", "args": {"name": name}})
    for device, chip, name in chip_rows(programs):
        events.append({"ph": "M", "pid": CHIP, "tid": chip_row(device, chip), "name": "thread_name",
                       "args": {"name": name}})  # fmt: skip
    every = [record for program in programs for record in program.cores]
    shown = longest(every)
    events += row_names([record for record in every if id(record) in shown])
    free: dict[int, float] = {}
    of_chips = 0
    first_runs: dict[int, int] = {}
    for run in runs:
        first_runs.setdefault(run.program, run.number)
    for run in runs:
        host: dict[str, Any] = {"ph": "X", "pid": HOST, "tid": threads[run.thread], "ts": microseconds(run.start_ns)}
        if run.error:
            events.append(host | {"name": "failed submit", "dur": microseconds(run.submit_ns), "cat": "submit",
                                  "args": {"run": run.number, "error": run.error}})  # fmt: skip
            continue
        program = programs[run.program]
        events.append(host | {"name": program.name, "dur": microseconds(run.submit_ns), "cat": "submit",
                              "args": {"run": run.number, "file": program.file}})  # fmt: skip
        events.append(host | {"name": PREPARATION, "dur": microseconds(run.prepare_ns), "cat": "prepare",
                              "args": {"run": run.number}})  # fmt: skip
        events += slices(program, run.host_ns, run.start_ns + run.prepare_ns, HOST, threads[run.thread])
        start = max(free.get(program.device, 0.0), float(run.start_ns))
        estimated = [op.device_ns for op in program.ops]
        events += slices(program, estimated, start, CHIP, chip_row(program.device, 0))
        timed = max(1, sum(op.device_ns > 0 for op in program.ops))
        fitting = min(program.chips, 1 + (MOST_CHIP_EVENTS - of_chips) // timed)
        for chip in range(1, fitting):
            events += chip_slices(program, start, chip)
        of_chips += (fitting - 1) * timed
        events += memory_counters(program, start)
        if run.number == first_runs[run.program]:
            events += cores_of(program, start, shown)
        free[program.device] = start + program.device_ns
    return {"traceEvents": events, "displayTimeUnit": "ns"}


def slices(program: ProgramInfo, taken: Sequence[float], start: float, pid: int, tid: int) -> list[dict[str, Any]]:
    """Returns the ops and scopes of one run."""
    begins = [start]
    for ns in taken:
        begins.append(begins[-1] + ns)
    at = {"pid": pid, "tid": tid}
    events: list[dict[str, Any]] = []
    for scope in program.scopes:
        event = at | {"name": scope.name, "cat": "scope", "ts": microseconds(begins[scope.begin])}
        if scope.end > scope.begin:
            event |= {"ph": "X", "dur": microseconds(begins[scope.end] - begins[scope.begin])}
        else:
            event |= {"ph": "i", "s": "t"}
        events.append(event)
    exchanges = {exchange.op: exchange for exchange in program.exchanges} if pid == CHIP else {}
    for op, begin, ns in zip(program.ops, begins, taken, strict=False):
        args = {k: v for k, v in readable(op).items() if k not in ("name", "device_ns")}
        args |= partners(exchanges.get(op.index), 0)
        events.append(at | {"ph": "X", "name": op.name, "cat": "op", "ts": microseconds(begin),
                            "dur": microseconds(ns), "args": args})  # fmt: skip
    return events


def cores_of(program: ProgramInfo, start: float, shown: set[int]) -> list[dict[str, Any]]:
    """Returns the cores in the first run of a program, whose kernels begin when they are launched."""
    if not program.cores:
        return []
    ns_per_cycle = 1 / tt_runtime.runtime.chip_figures(program.arch)["clock_ghz"]
    records = {record.op: record for record in program.cores if id(record) in shown}
    events = []
    for op in program.ops:
        if op.index in records:
            events += core_events(records[op.index], start + op.launch_ns, ns_per_cycle)
        start += op.device_ns
    return events


def chip_row(device: int, chip: int) -> int:
    """Returns the number of a row; that of the only chip of a device is the device's."""
    return device if chip == 0 else (device + 1) << 16 | chip


def chip_rows(programs: Sequence[ProgramInfo]) -> list[tuple[int, int, str]]:
    """Returns (device, chip, name) of each row. Chips of a mesh are numbered row by row."""
    rows = []
    for device, arch in {p.device: p.arch for p in programs}.items():
        mesh = max((p.mesh for p in programs if p.device == device), key=math.prod)
        if math.prod(mesh) == 1:
            rows.append((device, 0, f"device {device} ({arch})"))
            continue
        for chip in range(math.prod(mesh)):
            place = f"row {chip // mesh[1]}, column {chip % mesh[1]}"
            rows.append((device, chip, f"device {device}, chip {chip} ({arch}; {place})"))
    return rows


def chip_slices(program: ProgramInfo, start: float, chip: int) -> list[dict[str, Any]]:
    """Returns the ops of one run on a chip of a mesh. All chips run in step; what is said of an op stands with the
    first."""
    events: list[dict[str, Any]] = []
    exchanges = {exchange.op: exchange for exchange in program.exchanges}
    for op in program.ops:
        if op.device_ns:
            events.append({"ph": "X", "pid": CHIP, "tid": chip_row(program.device, chip), "name": op.name, "cat": "op",
                           "ts": microseconds(start), "dur": microseconds(op.device_ns),
                           "args": {"index": op.index} | partners(exchanges.get(op.index), chip)})  # fmt: skip
        start += op.device_ns
    return events


def partners(exchange: Exchange | None, chip: int) -> dict[str, list[str]]:
    """Returns what a chip sends to which others in an op, and what it receives; nothing of an op that sends nothing."""
    found: dict[str, list[str]] = {}
    for sender, receiver, count, hops in exchange.sends if exchange else ():
        over = "" if hops == 1 else f" over {hops} links"
        if sender == chip:
            found.setdefault("sends", []).append(f"{count} bytes to chip {receiver}{over}")
        if receiver == chip:
            found.setdefault("receives", []).append(f"{count} bytes from chip {sender}{over}")
    return found


def memory_counters(program: ProgramInfo, start: float) -> list[dict[str, Any]]:
    events = []
    for op in program.ops:
        shares = {"bytes per bank": op.l1_resident, "circular buffers": op.circular_buffers}
        for name, values in (("DRAM", {"bytes per bank": op.dram_resident}), ("L1", shares)):
            events.append({"ph": "C", "pid": CHIP, "name": f"{name} of device {program.device}",
                           "ts": microseconds(start), "args": values})  # fmt: skip
        start += op.device_ns
    return events


def op_table(programs: Sequence[ProgramInfo], runs: Sequence[Run]) -> str:
    """Returns CSV with a line for each op of each run, and one for its preparation; several inputs or outputs are
    separated by semicolons.

    Ops of programs that are evaluated once, before the first run, have neither a run nor a host time.
    """
    names = [f.name for f in fields(OpRecord)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["run", "program", "device", *names, "host_ns"])

    def write(run: int | str, name: str, device: int, op: OpRecord, host: int | str) -> None:
        values = [getattr(op, name) for name in names]
        texts = ["; ".join(map(str, v)) if isinstance(v, tuple) else v for v in values]
        writer.writerow([run, name, device, *texts, host])

    for program in programs:
        for once in program.once:
            for op in once.ops:
                write("", once.name, program.device, op, "")
    for run in runs:
        if not run.error:
            program = programs[run.program]
            blank = ["" for _ in names]
            blank[names.index("name")] = PREPARATION
            writer.writerow([run.number, program.name, program.device, *blank, run.prepare_ns])
            for op, host in zip(program.ops, run.host_ns, strict=True):
                write(run.number, program.name, program.device, op, host)
    return out.getvalue()


def readable(op: OpRecord) -> dict[str, Any]:
    """Returns the fields of an op, its tensors as text."""
    values = {f.name: getattr(op, f.name) for f in fields(op)}
    return values | {"inputs": [str(t) for t in op.inputs], "outputs": [str(t) for t in op.outputs]}


def page_data(program: ProgramInfo, shown: set[int]) -> dict[str, Any]:
    once = [{"name": each.name, "ops": [readable(op) for op in each.ops]} for each in program.once]
    whole = asdict(replace(program, ops=(), once=(), cores=()))
    cores = [page_cores(record, id(record) in shown) for record in program.cores]
    return whole | {"ops": [readable(op) for op in program.ops], "once": once, "cores": cores}


def report_page(programs: Sequence[ProgramInfo], runs: Sequence[Run], live: bool = False) -> str:
    """Returns the report; `live` makes it reload while the traced block runs."""
    shown = longest(record for program in programs for record in program.cores)
    data = {"live": live, "programs": [page_data(p, shown) for p in programs], "runs": [asdict(r) for r in runs]}
    return page("report.html", data)


def write_files(directory: str | os.PathLike[str], programs: Sequence[ProgramInfo], runs: Sequence[Run]) -> None:
    """Writes the report, the trace, the table, and the files for the chip's tools, each completely or not at all."""
    files: dict[str, str | bytes] = {
        REPORT: report_page(programs, runs),
        TRACE: json.dumps(chrome_trace(programs, runs)),
        TABLE: op_table(programs, runs),
        LIBRARY_TABLE: ops_perf_results(programs, runs),
        DEVICE_LOG: device_log(programs, runs),
        DATABASE: memory_report(programs, runs),
    }
    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            write_whole(folder / name, text)
    except OSError as error:
        raise ProfilerError(f"trace: cannot write to {folder}: {error.strerror or error}") from error
