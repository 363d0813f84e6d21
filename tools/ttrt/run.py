"""Run a flatbuffer's programs on a simulated machine.

Inputs are random, or come from a file of tensors: .npz (by name: the input's own, input_0 or arg0) or .pt. With
--golden, every output is compared with what the goldens of the ops compute from the same inputs.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

from . import machine
from .errors import InputError
from .file import Program, load
from .output import duration, grouped, table, write_json


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no positive number")
    return int(text)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE.ttnn")
    parser.add_argument("--program", metavar="NAME", help="only this one, by name or index (default: all public ones)")
    parser.add_argument("--inputs", metavar="FILE", help="tensors for the inputs: .npz, .npy, .pt")
    parser.add_argument("--seed", type=int, default=0, help="of random inputs (default: %(default)s)")
    parser.add_argument("--loops", type=positive, default=1, metavar="N", help="run N times, report the median time")
    parser.add_argument("--save-outputs", metavar="FILE", help="write outputs to FILE (.npz or .pt)")
    parser.add_argument("--json", metavar="FILE", help='write the report to FILE, or to standard output when "-"')
    golden = parser.add_argument_group("golden check")
    golden.add_argument("--golden", action="store_true", help="compare outputs with their goldens")
    golden.add_argument("--pcc", type=float, default=0.99, help="least correlation accepted (default: %(default)s)")
    golden.add_argument("--atol", type=float, help="also demand |a - b| <= atol + rtol * |b|")
    golden.add_argument("--rtol", type=float, help="see --atol")
    machine.arguments(parser, "what the file was compiled for")


def run(args: argparse.Namespace) -> int:
    if (args.atol is not None or args.rtol is not None) and not args.golden:
        raise InputError("--atol and --rtol judge a golden check; give --golden as well")
    file = load(args.file)
    programs = file.chosen(args.program)
    if args.inputs and len(programs) > 1:
        names = ", ".join(p.name for p in programs)
        raise InputError(f"--inputs are for one program; choose one of {names} by --program")
    if not programs:
        raise InputError(f"{args.file}: has private programs only; name one by --program")
    arch, shape = machine.chosen(args, file.arch, largest(programs))
    saved: dict[str, Any] = {}
    with machine.opened(arch, shape) as device:
        reports = [run_program(args, file, program, device, saved) for program in programs]
    if args.save_outputs:
        from .inputs import write_tensors

        write_tensors(args.save_outputs, saved)
    passed = all(output["passed"] for r in reports for output in r["outputs"])
    report = {
        "file": args.file,
        "arch": arch,
        "mesh_shape": list(shape),
        "seed": args.seed,
        "passed": passed,
        "programs": reports,
    }
    if args.json != "-":
        for program in reports:
            show(program, args.golden)
    if args.json:
        write_json(args.json, report)
    if not passed:
        wrong = [
            f'"{o["name"]}" of "{r["name"]}": {o["problem"]}' for r in reports for o in r["outputs"] if not o["passed"]
        ]
        raise InputError(f"outputs differ from their goldens: {'; '.join(wrong)}")
    return 0


def largest(programs: list[Program]) -> machine.Mesh:
    """The mesh that all programs run on: programs of one chip run on any."""
    meshes = {p.mesh for p in programs} - {(1, 1)}
    if len(meshes) > 1:
        raise InputError(
            f"programs for different meshes ({', '.join(map(machine.mesh_text, meshes))}); choose by --program"
        )
    return meshes.pop() if meshes else (1, 1)


def run_program(
    args: argparse.Namespace, file: Any, program: Program, device: Any, saved: dict[str, Any]
) -> dict[str, Any]:
    """Run one program as the command line says; its part of the report. Outputs for --save-outputs go to `saved`."""
    import _ttmlir_runtime as rt
    from builder.base.builder_runtime import convert_input_layouts, create_tensor, fetched

    from .evaluate import Source, constants_of
    from .inputs import given, random_inputs

    # The same seed gives the same inputs with a golden check and without one.
    source = Source(file) if args.golden or (file.mlir and not args.inputs) else None
    if args.inputs:
        inputs = given(args.inputs, program)
    else:
        inputs = random_inputs(program, source.ranges(program) if source else {}, args.seed)
    host = [create_tensor(value.golden_map_tensor_as_torch_tensors(), value.mesh_shape) for value in inputs]
    placed = convert_input_layouts(device, host, fbb=file.binary, program_index=program.index)
    times = []
    for _ in range(args.loops):
        started = time.perf_counter_ns()
        outputs = rt.runtime.submit(device, file.binary, program.index, placed)
        times.append(time.perf_counter_ns() - started)
    found = [fetched(tensor) for tensor in outputs]
    took = machine.last_run(device)
    goldens = None
    if args.golden and source:
        goldens = source.outputs(program, inputs, constants_of(device, file, program, placed), args.seed)
    report = {
        "name": program.name,
        "index": program.index,
        "inputs": [t.type for t in program.inputs],
        "outputs": [
            output_report(args, program, i, shards, None if goldens is None else goldens[i])
            for i, shards in enumerate(found)
        ],
        "loops": args.loops,
        "wall_ns": {"first": times[0], "median": statistics.median(times), "least": min(times)},
        **took,
    }
    prefix = "" if args.program else f"{program.name}."
    for i, shards in enumerate(found):
        for d, shard in enumerate(shards):
            saved[f"{prefix}output_{i}" + (f".{d}" if len(shards) > 1 else "")] = shard
    return report


def output_report(
    args: argparse.Namespace, program: Program, index: int, shards: list[Any], golden: Any
) -> dict[str, Any]:
    """What is known of one output; its worst shard counts."""
    from builder.base.builder_runtime import Verdict, compare_shards

    wanted = program.outputs[index]
    report: dict[str, Any] = {
        "name": f"output_{index}",
        "type": wanted.type,
        "shards": len(shards),
        "pcc": None,
        "max_abs_error": None,
        "passed": True,
        "problem": None,
    }
    if golden is None:
        return report
    tight = args.atol is not None or args.rtol is not None
    verdict = Verdict(args.pcc, args.atol or 0.0, args.rtol or 0.0, check_atol=tight, check_rtol=tight)
    compared = [c for _, _, c in compare_shards(golden, shards, verdict, True)]
    worst = min(compared, key=lambda c: (verdict.accepts(c), c.pcc))
    report |= {"pcc": worst.pcc, "max_abs_error": worst.max_abs, "passed": verdict.accepts(worst)}
    if not report["passed"]:
        report["problem"] = worst.problem or (
            f"PCC {worst.pcc:.6f}, expected {args.pcc} or more"
            if not worst.pcc >= args.pcc
            else f"largest error {worst.max_abs:.4g} at {list(worst.worst)}, outside of the tolerance"
        )
    return report


def show(report: dict[str, Any], golden: bool) -> None:
    rows = [
        (
            o["name"],
            o["type"] + (f" on {o['shards']} devices" if o["shards"] > 1 else ""),
            "" if o["pcc"] is None else f"{o['pcc']:.6f}",
            "" if o["max_abs_error"] is None else f"{o['max_abs_error']:.3g}",
            ("ok" if o["passed"] else o["problem"]) if golden else "",
        )
        for o in report["outputs"]
    ]
    title = f"{report['name']}({', '.join(report['inputs'])})"
    table(title, ("output", "type", "PCC>", "largest error>", ""), rows)
    wall = report["wall_ns"]
    loops = f" (median of {report['loops']}; first {duration(wall['first'])})" if report["loops"] > 1 else ""
    print(f"wall time {duration(wall['median'])}{loops}")
    print(f"device time, estimated {duration(report['device_ns'])} ({grouped(report['device_cycles'])} cycles)")
    peaks = ", ".join(f"{name} {grouped(size)}" for name, size in report["memory_peak_bytes_per_bank"].items())
    print(f"memory high-water, bytes per bank: {peaks}")
