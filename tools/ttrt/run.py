# SPDX-License-Identifier: Apache-2.0
"""Run a flatbuffer's programs on a simulated machine.

Inputs are random values that the program's ops accept (an embedding gets rows of its table), or come from a file of
tensors: .npz (by name: the input's own, input_0 or arg0) or .pt; --init generates others, for one input or all. With
--golden, every output is compared with what the goldens of the ops compute from the same inputs; with --ops, so is the
value of every op. Ops of the debug dialect take effect: a breakpoint opens a prompt on a terminal and writes a log
line elsewhere; print, dump and memory_snapshot run.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import statistics
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ttmlir.files import write_whole

from . import artifacts, input_arguments, machine
from .errors import InputError
from .file import File, Program, is_onnx, load
from .output import duration, grouped, table, write_json

if TYPE_CHECKING:
    from .execution import Execution
    from .run_report import Row

BREAKPOINT = "debug.breakpoint"


def correlation(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not -1 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from -1 to 1")
    return value


def tolerance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 on")
    return value


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no positive number")
    if int(text) >= 2**63:
        raise argparse.ArgumentTypeError(f"{text!r} is beyond 2^63 - 1")
    return int(text)


def program_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--program",
        "--program-index",
        metavar="NAME",
        help="only this one, by name or index (default: all public ones)",
    )


def native_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--allow-native",
        action="store_true",
        help="run code in the file (kernels, machine code for the host). It has all your rights: allow only files "
        "from a source that you trust",
    )


def loop_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--max-loop-iterations", type=positive, metavar="N",
        help="stop with an error when the loops of a run exceed N iterations in total (default: no limit)",
    )  # fmt: skip


def report_argument(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "--json", "--result-file", metavar="FILE", help=f'write the {what} to FILE, or to standard output when "-"'
    )


EXAMPLES = """
ttrt run model.ttnn --golden --ops
ttrt run model.ttnn --init ids=0:32000 --init mask=ones --seed 7
ttrt run model.ttnn --inputs inputs.npz --save-outputs outputs.npz
ttrt run model.onnx --sizes batch=4 --golden
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE.ttnn", help="a flatbuffer, or an ONNX file, which is compiled")
    program_argument(parser)
    native_argument(parser)
    parser.add_argument("--loops", type=positive, default=1, metavar="N", help="run N times, report the median time")
    parser.add_argument("--save-outputs", metavar="FILE", help="write outputs to FILE (.npz or .pt)")
    loop_argument(parser)
    report_argument(parser, "report")
    machine.exact_argument(parser, "compute with the chip's arithmetic, bit for bit where it is published")
    input_arguments.arguments(parser)
    checks = parser.add_argument_group("checks")
    checks.add_argument("--golden", "--enable-golden", action="store_true", help="compare outputs with their goldens")
    checks.add_argument("--ops", action="store_true", help="also compare the value of every op; requires --golden")
    checks.add_argument("--identity", action="store_true", help="outputs must be equal to the inputs")
    checks.add_argument("--non-zero", action="store_true", help="no output may be zero everywhere")
    checks.add_argument("--check-memory-leak", action="store_true", help="the run must free all that it allocates")
    checks.add_argument("--pcc", type=correlation, default=0.99, help="minimum correlation (default: %(default)s)")
    checks.add_argument("--atol", type=tolerance, help="also require |a - b| <= atol + rtol * |b|")
    checks.add_argument("--rtol", type=tolerance, help="see --atol")
    checks.add_argument(
        "--topk", "--golden-diff-topk", type=positive, default=10, metavar="N",
        help="report the N elements of a failed output that differ most (default: %(default)s)",
    )  # fmt: skip
    look = parser.add_argument_group("looking inside")
    look.add_argument(
        "--memory", action="store_true", help="show what is allocated after every op, and its circular buffers"
    )
    look.add_argument("--print-tensors", "--print-input-output-tensors", action="store_true",
                      help="print inputs and outputs")  # fmt: skip
    look.add_argument("--watch", type=numbers, metavar="ID,…", default=(),
                      help="print device buffers of a TTMetal program after each change")  # fmt: skip
    look.add_argument("--no-debug-ops", "--disable-ttrt-callbacks", action="store_true",
                      help="ignore ops of the debug dialect")  # fmt: skip
    artifacts.arguments(parser, "inputs, outputs, goldens (.pt), the report and the MLIR")
    machine.arguments(parser, "that of the file")


def checked(args: argparse.Namespace) -> None:
    """Checks options that make no sense without or with others."""
    if (args.atol is not None or args.rtol is not None) and not (args.golden or args.identity):
        raise InputError("--atol and --rtol judge a golden check; give --golden as well")
    if args.ops and not args.golden:
        raise InputError("--ops extends the golden check; give --golden as well")
    if args.identity and args.golden:
        raise InputError("--identity compares outputs with inputs and --golden with goldens; give one of them")


def run(args: argparse.Namespace) -> int:
    checked(args)
    file = input_arguments.sized(load(args.file, allow_native=args.allow_native, sizes=args.sizes), args)
    if args.golden and args.sizes and not is_onnx(args.file):
        raise InputError(f"{args.file}: goldens are those of its MLIR, which has fixed shapes; leave out --sizes")
    programs = file.chosen(args.program)
    if not programs:
        raise InputError(f"{args.file}: has private programs only; name one by --program")
    input_arguments.check(args, programs)
    if args.save_outputs:
        input_arguments.check_written(args.save_outputs)
    arch, shape = machine.chosen(args, file.arch, largest(programs))
    folder = artifacts.prepared(args, artifacts.RUN_REPORT)
    saved: dict[str, Any] = {}
    # What debug.print says is no part of a report on standard output.
    said = contextlib.redirect_stdout(sys.stderr) if args.json == "-" else contextlib.nullcontext()
    with machine.opened(arch, shape, args.exact) as device, said:
        reports = [run_program(args, file, program, device, saved, folder) for program in programs]
    # Every rank has the same results; the first one tells.
    first = machine.rank() == 0
    if args.save_outputs and first:
        from .inputs import write_tensors

        write_tensors(args.save_outputs, saved)
    wrong = [problem for report in reports for problem in problems(report)]
    if args.golden or args.identity or args.non_zero:
        wrong += [f'"{r["name"]}" gives no value: nothing was compared' for r in reports
                  if not r["outputs"] and not r.get("ops_checked")]  # fmt: skip
    report = {
        "file": args.file,
        "arch": arch,
        "mesh_shape": list(shape),
        "seed": args.seed,
        "exact": args.exact,
        "passed": not wrong,
        "programs": reports,
    }
    if args.json != "-":
        for program in reports:
            show(program, args)
    if args.json and first:
        write_json(args.json, report)
    if folder is not None and first:
        write_json(str(folder / artifacts.RUN_REPORT), report)
        write_whole(folder / "module.mlir", file.mlir)
    if wrong:
        raise InputError(
            f"{'outputs differ from their goldens' if args.golden else 'not as demanded'}: {'; '.join(wrong)}"
        )
    return 0


def numbers(text: str) -> tuple[int, ...]:
    """Reads numbers that commas separate."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no list of numbers; expected 3 or 3,7") from None


@contextlib.contextmanager
def watching(ids: Sequence[int], program: Program) -> Iterator[None]:
    """Prints changes of device buffers in the block.

    Raises:
        InputError: the program creates no such buffer.
    """
    if not ids:
        yield
        return
    from _ttmlir_runtime import metal

    made = {op["attributes"]["buffer"]["id"] for op in program.operations if op["name"] == "CreateBufferCommand"}
    if missing := sorted(set(ids) - made):
        raise InputError(
            f"--watch: program {program.name} creates no device buffer {missing[0]}; there are "
            f"{', '.join(map(str, sorted(made))) or 'none'}"
        )
    metal.watch_buffers(set(ids), print_change)
    try:
        yield
    finally:
        metal.watch_buffers(set(), None)


def print_change(change: Any) -> None:
    """Prints what a command has made of a buffer: how much, the range, and the corners of the matrix."""
    import numpy as np

    values = np.frombuffer(change.values, np.float64).reshape(change.rows, change.columns)
    finite = values[np.isfinite(values)]
    bounds = f"{finite.min():g} to {finite.max():g}, mean {finite.mean():g}" if finite.size else "nothing finite"
    others = f", {values.size - finite.size} not finite" if finite.size < values.size else ""
    where = change.loc.removeprefix("loc(").removesuffix(")").replace('"', "")
    print(f"command {change.number}, {change.command} {where}: buffer {change.buffer}, {change.rows}x{change.columns} "
          f"{change.data_type}: {change.changed} of {values.size} elements changed; {bounds}{others}")  # fmt: skip
    print(np.array2string(values, threshold=64, edgeitems=4, precision=5, max_line_width=120))


def problems(report: dict[str, Any]) -> list[str]:
    """Returns what is wrong with a program's results, values of ops before outputs."""
    found = [
        f'{row["op"] or chr(34) + row["name"] + chr(34)}{where(row)} of "{report["name"]}": {row["problem"]}'
        for row in [*report.get("ops_checked", []), *({"op": "", **row} for row in report["outputs"])]
        if not row["passed"]
    ]
    if report["leaked_bytes_per_bank"]:
        sizes = ", ".join(f"{size} bytes per bank of {name}" for name, size in report["leaked_bytes_per_bank"].items())
        found.append(f'"{report["name"]}" leaves {sizes} allocated')
    return found


def where(row: dict[str, Any]) -> str:
    return f" at {row['location']}" if row.get("location") else ""


def largest(programs: list[Program]) -> machine.Mesh:
    """Returns the mesh that all programs run on: programs of one chip run on any."""
    meshes = {p.mesh for p in programs} - {(1, 1)}
    if len(meshes) > 1:
        raise InputError(
            f"programs for different meshes ({', '.join(map(machine.mesh_text, meshes))}); choose by --program"
        )
    return meshes.pop() if meshes else (1, 1)


def run_program(
    args: argparse.Namespace, file: File, program: Program, device: Any, saved: dict[str, Any], folder: Any
) -> dict[str, Any]:
    """Runs one program as the command line says; its part of the report. Outputs for --save-outputs go to `saved`."""
    from .execution import execute
    from .inputs import of_program
    from .run_report import op_rows, output_rows

    if args.watch and not file.is_metal:
        raise InputError(f"{args.file}: --watch is for buffers of TTMetal programs; --print-tensors prints tensors")
    if args.golden and file.is_metal:
        raise InputError(f"{args.file}: is a TTMetal program, whose kernels have no goldens; run it without --golden")
    values = of_program(args, file, program)
    goldens = None
    if args.golden:
        from .flatbuffer_goldens import Source, constants_of

        constants = constants_of(device, file, program, values)
        # Values inside are looked at by --ops, and at breakpoints.
        inside = args.ops or (not args.no_debug_ops and any(op["name"] == BREAKPOINT for op in program.operations))
        goldens = Source(file).goldens(file, program, values, constants, args.seed, inside)
        del constants
    with watching(args.watch, program):
        done = execute(
        file, program, device, values, goldens.ops if goldens else None, args.loops, not args.no_debug_ops,
        args.ops, args.memory, args.max_loop_iterations,
        )  # fmt: skip
    outputs = list(output_rows(args, done, goldens))
    if args.print_tensors:
        print_tensors(done)
    if folder is not None and machine.rank() == 0:
        artifacts.save_run(folder, done, goldens)
    prefix = "" if args.program else f"{program.name}."
    for i, shards in enumerate(done.found):
        for d, shard in enumerate(shards):
            saved[f"{prefix}output_{i}" + (f".{d}" if len(shards) > 1 else "")] = shard
    ops = list(op_rows(args, done, goldens)) if args.ops and goldens else None
    report = report_of(args, done, outputs, ops)
    if args.exact and file.is_metal:
        from _ttmlir_runtime import runtime

        report["rounded_only"] = runtime.rounded_only(file.binary)
    return report


def report_of(
    args: argparse.Namespace, run: Execution, outputs: Sequence[Row], ops: Sequence[Row] | None
) -> dict[str, Any]:
    return {
        "name": run.program.name,
        "index": run.program.index,
        "inputs": [t.type for t in run.program.inputs],
        "outputs": [row.to_dict() for row in outputs],
        **({} if ops is None else {"ops_checked": [row.to_dict() for row in ops]}),
        "loops": len(run.times),
        "wall_ns": {"first": run.times[0], "median": statistics.median(run.times), "least": min(run.times)},
        **({"ranks": run.ranks} if len(run.ranks) > 1 else {}),
        **run.figures,
        **({"memory": run.memory} if args.memory else {}),
        "leaked_bytes_per_bank": run.leaked if args.check_memory_leak else {},
    }


def print_tensors(run: Execution) -> None:
    for i, value in enumerate(run.inputs):
        for device, shard in value.arrays.items():
            print(f"input_{i}{f' of device {device}' if value.is_distributed else ''}:\n{shard}")
    for i, shards in enumerate(run.found):
        for device, shard in enumerate(shards):
            print(f"output_{i}{f' of device {device}' if len(shards) > 1 else ''}:\n{shard}")


def cells(row: dict[str, Any], judged: bool) -> tuple[str, ...]:
    return (
        row["type"] + (f" on {row['shards']} devices" if row["shards"] > 1 else ""),
        "" if row["pcc"] is None else f"{row['pcc']:.6f}",
        "" if row["max_abs_error"] is None else f"{row['max_abs_error']:.3g}",
        (f"ok{': ' if row['note'] else ''}{row['note']}" if row["passed"] else row["problem"]) if judged else "",
    )


def show(report: dict[str, Any], args: argparse.Namespace) -> None:
    judged = args.golden or args.identity or args.non_zero
    columns = ("type", "PCC>", "largest error>", "")
    if "ops_checked" in report:
        rows = [(r["name"], r["op"], r["location"], *cells(r, True)) for r in report["ops_checked"]]
        table(f"ops of {report['name']}", ("number>", "op", "where", *columns), rows)
    title = f"{report['name']}({', '.join(report['inputs'])})"
    table(title, ("output", *columns), [(o["name"], *cells(o, judged)) for o in report["outputs"]])
    for output in report["outputs"]:
        if differences := output.get("largest_differences"):
            rows = [(d["at"], f"{d['golden']:.8g}", f"{d['found']:.8g}") for d in differences]
            table(f"largest differences of {output['name']}", ("at", "golden>", "found>"), rows)
    if functions := report.get("rounded_only"):
        print(f"arithmetic not published, computed as by default and rounded: {', '.join(functions)}")
    if args.memory:
        show_memory(report)
    wall = report["wall_ns"]
    loops = f" (median of {report['loops']}; first {duration(wall['first'])})" if report["loops"] > 1 else ""
    print(f"wall time {duration(wall['median'])}{loops}")
    if ranks := report.get("ranks"):
        rows = [(row["rank"], chips_text(row["chips"]), duration(row["median_ns"])) for row in ranks]
        table("processes", ("rank>", "chips", "wall time>"), rows)
    machine.show_stages(report)
    print(f"device time, estimated {duration(report['device_ns'])} ({grouped(report['device_cycles'])} cycles)")
    peaks = ", ".join(f"{name} {grouped(size)}" for name, size in report["memory_peak_bytes_per_bank"].items())
    print(f"memory high-water, bytes per bank: {peaks}")


def chips_text(chips: Sequence[int]) -> str:
    return "none" if not chips else f"{chips[0]} to {chips[-1]}" if len(chips) > 1 else str(chips[0])


def show_memory(report: dict[str, Any]) -> None:
    names = list(report["memory"][0]["memories"]) if report["memory"] else []
    rows = [
        (
            entry["op"],
            *(grouped(entry["memories"][n]["allocated_bytes_per_bank"]) for n in names),
            grouped(entry["circular_buffer_bytes"]),
            entry["location"],
        )
        for entry in report["memory"]
    ]
    columns = ("op", *(f"{n}>" for n in names), "circular buffers>", "where")
    table(f"allocated after each op of {report['name']}, and what its kernels had in L1, bytes per bank", columns, rows)
