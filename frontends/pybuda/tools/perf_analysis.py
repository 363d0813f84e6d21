#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The performance analyzer: tables of epochs and ops in a terminal."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pybuda.tools.performance import PerformanceError, collect, load, save

DESCRIPTION = """Perf analyzer collects performance data from various sources and displays it in terminal. To use, run
any pybuda test with PYBUDA_OP_PERF=1 and TT_BACKEND_PERF_ANALYZER=1 switches to generate data, and then run this script
in pybuda root, providing the netlist."""


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(description=DESCRIPTION)
    add = top.add_argument
    add("-n", "--netlist", help="Model netlist")
    add(
        "-s",
        "--spatial_epochs",
        action="store_true",
        help="Show individual spatial epochs instead of temporal ones. Caution - overall performance estimate on "
        "multi-chip runs will not be accurate in this mode.",
    )
    add("--save", help="Save collected data into provided file")
    add("--load", help="Load data from a previously saved file, instead of from current workspace")
    return top  # fmt: skip


def run(args: argparse.Namespace) -> int:
    if args.load and args.netlist:
        raise PerformanceError("--load and -n: data that were saved have their netlist; expected one of them")
    netlist = Path(args.netlist) if args.netlist else None
    performance = load(Path(args.load)) if args.load else collect(netlist)
    if args.save:
        save(performance, Path(args.save))
        print(f"saved performance of {performance.netlist} to {args.save}")
        return 0
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise PerformanceError("the tables need a terminal; --save saves the data without one")
    try:
        from pybuda.tools.perf_tables import PerfTables
    except ModuleNotFoundError as error:
        if error.name != "textual":
            raise
        raise PerformanceError("the tables need the package textual: pip install 'ttmlir[tools]'") from None
    PerfTables(performance if args.spatial_epochs else performance.temporal()).run()
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    args = parser().parse_args(argv)
    try:
        return run(args)
    except PerformanceError as error:
        print(f"perf_analysis.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
