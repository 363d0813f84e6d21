# SPDX-License-Identifier: Apache-2.0
"""Output of recordings: a Chrome (Perfetto) trace, a table, and a self-contained page."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, fields
from importlib import resources
from pathlib import Path
from typing import Any

from ttmlir.files import write_whole

from .recorder import OpRecord, ProfilerError, ProgramInfo, Run

HOST, CHIP = 1, 2  # process numbers of the trace
PREPARATION = "preparation"  # in the place of an op's name: what a submit takes besides its ops
REPORT, TRACE, TABLE = "report.html", "trace.json", "ops.csv"


def microseconds(ns: float) -> float:
    return round(ns / 1000, 3)


def chrome_trace(programs: Sequence[ProgramInfo], runs: Sequence[Run]) -> dict[str, Any]:
    """For chrome://tracing and ui.perfetto.dev: measured host time by thread, estimated chip time by device.

    The ops of a run stand end to end, the last at the end of the submit, behind what it was prepared with. A device
    begins a run when the host does, or when it is done with the one before.
    """
    events: list[dict[str, Any]] = [
        {"ph": "M", "pid": HOST, "name": "process_name", "args": {"name": "host (measured)"}},
        {"ph": "M", "pid": CHIP, "name": "process_name", "args": {"name": "chip (estimated)"}},
    ]
    threads = {thread: i for i, thread in enumerate(dict.fromkeys(run.thread for run in runs))}
    for thread in threads.values():
        name = "submit" if thread == 0 else f"submit, thread {thread}"
        events.append({"ph": "M", "pid": HOST, "tid": thread, "name": "thread_name", "args": {"name": name}})
    for device, arch in {p.device: p.arch for p in programs}.items():
        name = f"device {device} ({arch})"
        events.append({"ph": "M", "pid": CHIP, "tid": device, "name": "thread_name", "args": {"name": name}})
    free: dict[int, float] = {}
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
        events += slices(program, estimated, start, CHIP, program.device)
        events += memory_counters(program, start)
        free[program.device] = start + program.device_ns
    return {"traceEvents": events, "displayTimeUnit": "ns"}


def slices(program: ProgramInfo, taken: Sequence[float], start: float, pid: int, tid: int) -> list[dict[str, Any]]:
    """The ops and scopes of one run."""
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
    for op, begin, ns in zip(program.ops, begins, taken, strict=False):
        args = {k: v for k, v in asdict(op).items() if k not in ("name", "device_ns")}
        events.append(at | {"ph": "X", "name": op.name, "cat": "op", "ts": microseconds(begin),
                            "dur": microseconds(ns), "args": args})  # fmt: skip
    return events


def memory_counters(program: ProgramInfo, start: float) -> list[dict[str, Any]]:
    events = []
    for op in program.ops:
        for name, value in (("DRAM", op.dram_resident), ("L1", op.l1_resident)):
            events.append({"ph": "C", "pid": CHIP, "name": f"{name} of device {program.device}",
                           "ts": microseconds(start), "args": {"bytes per bank": value}})  # fmt: skip
        start += op.device_ns
    return events


def op_table(programs: Sequence[ProgramInfo], runs: Sequence[Run]) -> str:
    """CSV with a line for each op of each run, and one for its preparation; several inputs or outputs are separated by
    semicolons.

    Ops of programs that are evaluated once, before the first run, have neither a run nor a host time.
    """
    names = [f.name for f in fields(OpRecord)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["run", "program", "device", *names, "host_ns"])

    def write(run: int | str, name: str, device: int, op: OpRecord, host: int | str) -> None:
        values = [getattr(op, name) for name in names]
        texts = ["; ".join(v) if isinstance(v, tuple) else v for v in values]
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


def report_page(programs: Sequence[ProgramInfo], runs: Sequence[Run], live: bool = False) -> str:
    """The report; `live` has it load itself anew while the traced block runs."""
    data = {"live": live, "programs": [asdict(p) for p in programs], "runs": [asdict(r) for r in runs]}
    # "<" cannot end the script element then, whatever a location says.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    template = resources.files(__package__).joinpath("report.html").read_text(encoding="utf-8")
    return template.replace("/*data*/null", text)


def write_files(directory: str | os.PathLike[str], programs: Sequence[ProgramInfo], runs: Sequence[Run]) -> None:
    """report.html, trace.json and ops.csv, each there completely or not at all."""
    files = {
        REPORT: report_page(programs, runs),
        TRACE: json.dumps(chrome_trace(programs, runs)),
        TABLE: op_table(programs, runs),
    }
    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            write_whole(folder / name, text)
    except OSError as error:
        raise ProfilerError(f"trace: cannot write to {folder}: {error.strerror or error}") from error
