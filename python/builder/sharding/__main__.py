# SPDX-License-Identifier: Apache-2.0
"""Split a StableHLO module over a mesh such that it takes least time, and tell what that costs, compared with other
ways."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence

import _ttmlir_runtime
from ttmlir import ir
from ttmlir.files import whole_file

from builder.api.least_time import ShardingChoice, get_optimal_module_least_time
from builder.base.errors import TTBuilderCompileException

from .estimates import estimate_on_mesh, plot_speed_up

Mesh = tuple[int, int]
# What a user's file, mesh or memory can cause.
ERRORS = (OSError, ValueError, ImportError, TTBuilderCompileException, ir.MLIRError, _ttmlir_runtime.Error)


def mesh(text: str) -> Mesh:
    found = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is no mesh; expected ROWSxCOLUMNS like 2x4")
    return int(found[1]), int(found[2])


def meshes(text: str) -> list[Mesh]:
    return [mesh(part) for part in text.split(",")]


def bytes_of(text: str) -> int:
    if not re.fullmatch(r"[1-9]\d*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of bytes; expected 1 or more")
    return int(text)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m builder.sharding", description=__doc__)
    top.add_argument("file", metavar="FILE.mlir")
    top.add_argument("--mesh", type=mesh, metavar="ROWSxCOLUMNS", help="for a module that has no mesh")
    top.add_argument("--dram-bytes", type=bytes_of, default=0, help="what a chip has room for (default: its DRAM)")
    top.add_argument("--output", metavar="FILE", help="write the module with its shardings")
    top.add_argument("--ops", action="store_true", help="show the shardings of all ops, too")
    top.add_argument(
        "--meshes", type=meshes, metavar="1x1,1x2,…", help="compile for each of these, and tell what a chip takes"
    )
    top.add_argument("--plot", metavar="FILE", help="with --meshes: the speed-up as a picture, .svg or .png")
    return top


def milliseconds(ns: float) -> str:
    return f"{ns / 1e6:.3f} ms"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    for row in [columns, *rows]:
        cells = [
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


def show(choice: ShardingChoice, ops: bool) -> None:
    print(f"mesh {'x'.join(map(str, choice.mesh_shape))}, room for {choice.dram_bytes:,} bytes on a chip")
    columns = ("variant", "time", "compute", "memory", "collectives", "arguments", "activations", "fits", "optimal")
    table(
        columns,
        [
            (
                v.name,
                *map(milliseconds, (v.time_ns, v.compute_ns, v.memory_ns, v.collectives_ns)),
                f"{v.argument_bytes:,}",
                f"{v.activation_bytes:,}",
                "yes" if v.fits else "no",
                "yes" if v.is_optimal else "not proved",
            )
            for v in choice.variants
        ],
    )
    for index, sharding in enumerate(choice.arguments):
        print(f"argument {index}: {sharding or 'no tensor'}")
    for name, results in choice.ops if ops else ():
        print(f"{name}: {', '.join(results)}")


def run(args: argparse.Namespace) -> None:
    with open(args.file, encoding="utf-8") as file:
        text = file.read()
    if args.plot and not args.meshes:
        raise ValueError("--plot is of --meshes; give both")
    if args.meshes:
        estimates = [estimate_on_mesh(text, shape, dram_bytes=args.dram_bytes) for shape in args.meshes]
        table(
            ("mesh", "time per chip", "speed-up", "collectives", "DRAM per chip", "sent per chip"),
            [
                (
                    f"{e.mesh_shape[0]}x{e.mesh_shape[1]}",
                    milliseconds(e.time_ns),
                    f"{estimates[0].time_ns / e.time_ns:.2f}",
                    f"{e.collectives_share:.1%}",
                    f"{e.dram_bytes:,}",
                    f"{e.sent_bytes:,}",
                )
                for e in estimates
            ],
        )
        if args.plot:
            plot_speed_up(estimates, args.plot)
        if args.mesh is None:
            return
    choice = get_optimal_module_least_time(text, args.mesh, dram_bytes=args.dram_bytes)
    show(choice, args.ops)
    if args.output:
        with whole_file(args.output) as out:
            out.write(str(choice.module).encode())


def main(arguments: Sequence[str] | None = None) -> int:
    args = parser().parse_args(arguments)
    try:
        run(args)
    except ERRORS as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
