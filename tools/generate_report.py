#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables and plots of the graphs that tools/stat_models.py traced.

    tools/generate_report.py

Reads `stat/raw` and writes, next to it, `fw_node_count.csv` and `bw_node_count.csv` (how often each op appears), and
the folders `{fw,bw}_total_{input,output}_size_dist` (for each op, how many calls have so many bytes). Where nothing was
traced yet, the default models of tools/stat_models.py are traced first, with --backward and --profile.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import stat_models
from torch_stat import MissingTraceError, write_report


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("stat"), metavar="DIR", help="default: stat")
    parser.add_argument("--no-plots", action="store_true", help="csv only")
    arguments = parser.parse_args(words)
    try:
        try:
            files = write_report(arguments.folder, not arguments.no_plots)
        except MissingTraceError as error:
            print(f"generate_report: {error}; tracing the default models", file=sys.stderr, flush=True)
            stat_models.main(["--trace_orig", "--backward", "--profile", "--output", str(arguments.folder)])
            files = write_report(arguments.folder, not arguments.no_plots)
    except ValueError as error:
        print(f"generate_report: {error}", file=sys.stderr)
        return 1
    plots = sum(file.suffix == ".png" for file in files)
    print(f"{len(files) - plots} tables and {plots} plots in {arguments.folder}")
    if not plots and not arguments.no_plots:
        print("generate_report: no plots: matplotlib is not installed (pip install matplotlib)", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
