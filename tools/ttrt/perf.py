# SPDX-License-Identifier: Apache-2.0
"""Show the cost of every op of a program: time of the simulation on this machine, and cycles and bytes on the chip.

The chip's figures are estimates of a cost model; with --estimate nothing is run and only they are shown.
"""

from __future__ import annotations

import argparse
import contextlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ttmlir.files import write_whole

from . import input_arguments, machine
from .errors import InputError
from .file import CALL, CALLS, Program, load
from .output import duration, grouped, table, write_json
from .run import largest, loop_argument, native_argument, positive, program_argument, report_argument

ORDERS = {"program": None, "host": "host_ns", "device": "device_ns"}


EXAMPLES = """
ttrt perf model.ttnn --by-op --sort device
ttrt perf model.ttnn --filter matmul --trace profile
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE.ttnn")
    program_argument(parser)
    native_argument(parser)
    loop_argument(parser)
    parser.add_argument("--estimate", action="store_true", help="do not run; the chip's figures only")
    parser.add_argument("--by-op", action="store_true", help="one row for all ops of a name")
    parser.add_argument("--sort", choices=ORDERS, default="program", help="order of the rows (default: %(default)s)")
    parser.add_argument("--loops", type=positive, default=3, metavar="N", help="runs; the last one is shown")
    parser.add_argument(
        "--kernels", action="store_true", help="also show what bounds the programs of kernels (TTMetal, ttnn.generic)"
    )
    parser.add_argument("--filter", metavar="TEXT", default="", help="only ops with TEXT in their name or location")
    parser.add_argument(
        "--trace", metavar="DIR", help="also write the profiler's report, trace and tables of the runs to DIR"
    )
    parser.add_argument(
        "--csv", metavar="FILE", help="also write the runs' ops to FILE, in the form that tt-perf-report reads"
    )
    report_argument(parser, "figures")
    input_arguments.arguments(parser)
    machine.arguments(parser, "that of the file")


def run(args: argparse.Namespace) -> int:
    file = input_arguments.sized(load(args.file, allow_native=args.allow_native, sizes=args.sizes), args)
    programs = file.chosen(args.program)
    if not programs:
        raise InputError(f"{args.file}: has private programs only; name one by --program")
    input_arguments.check(args, programs)
    arch, shape = machine.chosen(args, file.arch, largest(programs))
    for option in ("trace", "csv", "kernels"):
        if getattr(args, option) and args.estimate:
            raise InputError(f"--{option} records runs, and --estimate does not run; give one of them")
    measure = estimated if args.estimate else executed
    with tracing(args.trace), ops_csv(args.csv):
        reports = [
            {"name": p.name, "index": p.index, "mesh_shape": list(p.mesh), **measure(args, file, p, arch, shape)}
            for p in programs
        ]
        for report in reports:
            report.update(machine.without_trace(arch, report))
    if args.json != "-":
        for report in reports:
            show(report, args)
    if args.json:
        write_json(
            args.json,
            {
                "file": args.file,
                "arch": arch,
                "mesh_shape": list(shape),
                "executed": not args.estimate,
                "programs": reports,
            },
        )
    return 0


def tracing(folder: str | None) -> Any:
    if folder is None:
        return contextlib.nullcontext()
    from profiler import trace

    return trace(folder)


@contextlib.contextmanager
def ops_csv(path: str | None) -> Iterator[None]:
    """Records what is submitted in the block, and writes its ops as a table at the end."""
    if path is None:
        yield
        return
    from profiler.ops_table import ops_perf_results
    from profiler.recorder import Recorder

    recorder = Recorder()
    recorder.start()
    try:
        yield
    finally:
        recorder.stop()
    try:
        write_whole(Path(path), ops_perf_results(*recorder.snapshot()))
    except OSError as error:
        raise InputError(f"--csv: cannot write {path}: {error.strerror or error}") from error


def estimated(args: argparse.Namespace, file: Any, program: Program, arch: str, shape: machine.Mesh) -> dict[str, Any]:
    import _ttmlir_runtime as rt

    return machine.run_figures(rt.runtime.estimate(file.binary, program.index, arch, shape))


def executed(args: argparse.Namespace, file: Any, program: Program, arch: str, shape: machine.Mesh) -> dict[str, Any]:
    import _ttmlir_runtime as rt

    from .arrays import placed
    from .inputs import of_program

    values = of_program(args, file, program)
    rt.runtime.set_perf_recording(True)
    try:
        with machine.opened(arch, shape) as device:
            given = placed(device, file.binary, program.index, values)
            for _ in range(args.loops):
                rt.runtime.submit(device, file.binary, program.index, given, args.max_loop_iterations)
            report = rt.runtime.last_run(device)
            return {**machine.run_figures(report), **kernel_figures(report)}
    finally:
        rt.runtime.set_perf_recording(False)


def kernel_figures(report: Any) -> dict[str, Any]:
    """Returns what the kernels of each program of kernels did, and what bounds it; nothing if there are none."""
    from profiler.cores import bound_by, cores_records, summaries

    records = cores_records(report.ops)
    if not records:
        return {}
    return {
        "kernels": [
            {
                "op": record.op,
                "cycles": record.cycles,
                "bound_by": bound_by(record),
                "kernels": [asdict(each) for each in summaries(record)],
                "links": [{"from": a, "to": b, "bytes": sent} for a, b, sent in record.links],
                "dram_bytes": record.dram_bytes,
            }
            for record in records
        ]
    }


def show_kernels(report: dict[str, Any], args: argparse.Namespace) -> None:
    """Prints a table of the kernels of each program, and what bounds it."""
    programs = report.get("kernels", [])
    if not programs:
        expected = "expected a TTMetal program (.ttm) that computes, or ttnn.generic"
        raise InputError(f"{args.file}: --kernels: program {report['name']} ran no kernels; {expected}")
    for program in programs:
        op = report["ops"][program["op"]]
        where = op["loc"].removeprefix("loc(").removesuffix(")").replace('"', "")
        if args.filter not in op["name"] and args.filter not in op["loc"]:
            continue
        rows = [
            (
                each["name"],
                str(each["cores"]),
                *(f"{each[share]:.0%}" for share in ("computes", "moves", "waits")),
                each["waits_for"],
                "(y={1}, x={0})".format(*each["core"]),
            )
            for each in program["kernels"]
        ]
        kind = "op" if op["name"].startswith("ttnn.") else "command"
        title = f"{kind} {program['op']}, {where}: {grouped(round(program['cycles']))} cycles"
        table(title, ("kernel", "cores>", "computes>", "moves>", "waits>", "mostly for", "busiest core"), rows)
        print(f"bound by {program['bound_by']}")


def merged(ops: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns one entry for all ops of a name, figures added up; its bound is that of the op that takes longest."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for op in ops:
        groups[op["name"]].append(op)
    figures = (
        "host_ns", "device_cycles", "device_ns", "uncertainty_ns", "kernel_programs", "dram_bytes", "l1_bytes",
        "fabric_bytes",
    )  # fmt: skip
    return [
        {
            "name": name,
            "loc": f"{len(group)} ops",
            "bound": max(group, key=lambda op: op["device_ns"])["bound"],
            "kind": group[0]["kind"],
            **{f: sum(op[f] for op in group) for f in figures},
        }
        for name, group in groups.items()
    ]


def show(report: dict[str, Any], args: argparse.Namespace) -> None:
    if "stages" in report:
        for stage in report["stages"]:
            show_ops(stage, args)
        machine.show_stages(report)
    else:
        show_ops(report, args)
    if args.kernels:
        show_kernels(report, args)
    ran = "" if args.estimate else f"host time {duration(report['host_ns'])}, "
    took = with_uncertainty(report["device_ns"], report["uncertainty_ns"])
    print(f"{ran}device time, estimated {took} ({grouped(report['device_cycles'])} cycles)")
    if programs := report["kernel_programs"]:
        print(
            f"without a trace {duration(report['untraced_ns'])}: the host takes "
            f"{duration(report['untraced_host_ns'])} for {programs} program{'s' * (programs > 1)} of kernels"
        )
    if machine.devices(report["mesh_shape"]) > 1 and "stages" not in report:
        print(mesh_line(report))


def show_ops(report: dict[str, Any], args: argparse.Namespace) -> None:
    ops = [op for op in report["ops"] if args.filter in op["name"] or args.filter in op["loc"]]
    ops = merged(ops) if args.by_op else ops
    if key := ORDERS[args.sort]:
        ops = sorted(ops, key=lambda op: -op[key])
    host = [] if args.estimate else ["host time>"]
    rows = [
        (
            op["name"],
            *([] if args.estimate else [duration(op["host_ns"])]),
            with_uncertainty(op["device_ns"], op["uncertainty_ns"]),
            grouped(op["device_cycles"]),
            op["bound"],
            grouped(op["dram_bytes"]),
            grouped(op["l1_bytes"]),
            grouped(op["fabric_bytes"]),
            op["loc"].removeprefix("loc(").removesuffix(")").replace('"', ""),
        )
        for op in ops
    ]
    moved = ("DRAM bytes>", "L1 bytes>", "fabric bytes>")
    columns = ("op", *host, "est. device time>", "est. cycles>", "bound by", *moved, "where")
    table(report["name"], columns, rows)


def with_uncertainty(ns: float, uncertainty: float) -> str:
    """Returns a time, and how far it may be off: one standard deviation."""
    return f"{duration(ns)} \u00b1{uncertainty / ns:.0%}" if ns else duration(ns)


def mesh_line(report: dict[str, Any]) -> str:
    """Returns how well the chips of a mesh are used: they run in step, so each takes the time of the program, and what
    is not in ops that send is its own work."""
    total, sending = report["device_ns"], sum(op["device_ns"] for op in report["ops"] if op["fabric_bytes"])
    chips, share = machine.devices(report["mesh_shape"]), sending / total if total else 0.0
    runs = any(op["name"] in CALLS and op["name"] != CALL for op in report["ops"])
    inside = "; what loops and branches send counts as work" if runs else ""
    return (
        f"each of {chips} chips {duration(total)}, {share:.1%} of it in ops that send: {duration(total - sending)} of "
        f"other work on each, {duration(chips * (total - sending))} on all; efficiency {1 - share:.2f}{inside}"
    )
