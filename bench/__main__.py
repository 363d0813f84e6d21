# SPDX-License-Identifier: Apache-2.0
"""The command line: `python -m bench [--only PATTERN]` from the root of the repository."""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from rich.console import Console
from ttrt.usage import ShowVersion

from .harness import Absent, Lock, Outcome, Profile, Settings
from .isolated import Died, Isolated, own_peak
from .registry import MODULES, benchmarks
from .report import saved, short, show
from .report.progress import Progress

FOLDER = Path(__file__).resolve().parent
EPILOG = """
examples:
  python -m bench                                   everything, about 40 minutes
  python -m bench --only 'matmul*' --seconds 1      some kernels
  python -m bench --only '*bert*' --peers 'torch eager' --add
                                                    fewer peers; other lines of results.json stay
  python -m bench --only 'compile*' --passes        with the time of each pass
  python -m bench --resume                          what is left of a run that was ended

ratio: the peer's time over ours, so that more than 1 means that we are faster. Each benchmark has a process of its own,
in which all sides run in turns, with the same number of threads; every result is checked against ours first. Written to
--output, as soon as it is measured: results.json (name, dtype, ours_ms, peer, peer_ms, ratio), results-measures.json
(what is not a ratio of times), machine.json; and at the end results.svg, a plot of the ratios. While a run has not
come to its end, unfinished.json says what of it is done.
"""


def parser(peers: tuple[str, ...]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Benchmarks that compare the simulated chip and the compiler with other libraries, in one process.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only", action="append", metavar="PATTERN", help="benchmarks whose name matches, like 'matmul*'; repeatable"
    )
    parser.add_argument("--seconds", type=float, default=3.0, help="for each comparison (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of each side (default: all)")
    parser.add_argument("--peers", metavar="NAMES", default=",".join(peers), help="by commas (default: %(default)s)")
    parser.add_argument("--no-peer", action="append", default=[], metavar="NAME", help="leave one out; repeatable")
    parser.add_argument("--passes", action="store_true", help="list the time of each pass when compiling")
    parser.add_argument("--lock", type=Path, metavar="FILE", help="measure only while holding this file's lock (flock)")
    parser.add_argument("--list", action="store_true", help="print the names and end")
    parser.add_argument("--show", action="store_true", help="run nothing; print and plot what --output holds")
    parser.add_argument("--add", action="store_true", help="keep the lines of benchmarks that do not run this time")
    parser.add_argument("--resume", action="store_true", help="run what is left of a run that did not come to its end")
    parser.add_argument(
        "--module", action="append", metavar="NAME", help="take a Python module's BENCHMARKS instead; repeatable"
    )
    parser.add_argument("--output", type=Path, default=FOLDER, help="folder of the results (default: bench)")
    parser.add_argument("--version", action=ShowVersion)
    return parser


def model_names() -> list[str]:
    """The networks over which means are taken."""
    from .models import MODELS

    return list(MODELS)


def draw(folder: Path, console: Console) -> None:
    from .report.plot import plot

    results, _ = saved(folder)
    text = plot(results, folder / "results.svg")
    console.print(f"\n{text}", highlight=False)


def main() -> int:
    # Which names there are is known without loading the libraries that read OMP_NUM_THREADS.
    from .names import PEERS

    arguments = parser(PEERS)
    args = arguments.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 140)
    if args.threads < 1 or args.seconds <= 0:
        arguments.error("--threads and --seconds take positive numbers")
    for name in args.module or ():
        if not is_there(name):
            arguments.error(f"no module {name!r}; expected one with BENCHMARKS, like bench.frontends.starting")
    requested = [name.strip() for name in args.peers.split(",") if name.strip()]
    for name in (*requested, *args.no_peer):
        if name not in PEERS:
            arguments.error(f"no peer {name!r}; there are {', '.join(PEERS)}")
    if not args.output.is_dir():
        print(f"bench: --output {args.output}: no such folder", file=sys.stderr)
        return 1

    os.environ["OMP_NUM_THREADS"] = str(args.threads)
    if args.show:
        results, measures = saved(args.output)
        show([*results, *measures], model_names(), console)
        draw(args.output, console)
        return 0
    modules = args.module or MODULES
    chosen = [name for name in benchmarks(modules) if any(fnmatchcase(name, p) for p in args.only or ["*"])]
    if not chosen:
        print(f"bench: no benchmark is named like {' or '.join(args.only)}; --list shows all", file=sys.stderr)
        return 1
    if args.list:
        print("\n".join(chosen))
        return 0

    peers = tuple(name for name in requested if name not in args.no_peer)
    settings = Settings(args.seconds, args.threads, peers, args.lock and Lock(args.lock), args.passes)
    try:
        progress = Progress(args.output, settings, chosen, args.add, args.resume)
    except ValueError as error:
        print(f"bench: --resume: {error}", file=sys.stderr)
        return 1
    unsaved, failed = measure(progress, settings, modules)
    results, measures = progress.found()
    show([*results, *measures, *unsaved], chosen if args.module else model_names(), console)
    draw(args.output, console)
    return int(failed)


def is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):  # of a package that is not there; an empty name
        return False


def measure(progress: Progress, settings: Settings, modules: Sequence[str]) -> tuple[list[Outcome], bool]:
    """Runs what is left. The outcomes that no file keeps, and whether a benchmark failed: what the others find is worth
    keeping."""
    unsaved: list[Outcome] = []
    failed: list[str] = []
    peaks: dict[str, int] = {}
    for name in progress.left():
        run = Isolated(name, settings, modules)
        try:
            for outcome in run:
                print(short(outcome), file=sys.stderr, flush=True)
                if isinstance(outcome, Profile | Absent):
                    unsaved.append(outcome)
                else:
                    progress.add(outcome)
            progress.finish(name)
        except KeyboardInterrupt:
            print(f"bench: interrupted in {name}; --resume runs what is left", file=sys.stderr)
            sys.exit(128 + signal.SIGINT)
        except Died as error:
            failed.append(name)
            print(f"bench: {error}, with at most {run.peak / 1e9:.2f} GB", file=sys.stderr, flush=True)
        peaks[name] = run.peak
    if not failed:
        progress.end()
    if peaks:
        own = own_peak()
        most = max(peaks, key=peaks.__getitem__)
        total, part = (own + peaks[most]) / 1e9, own / 1e9
        print(f"peak memory: {total:.2f} GB, in {most}; {part:.2f} GB of it is this process", file=sys.stderr)
    return unsaved, bool(failed)


if __name__ == "__main__":
    sys.exit(main())
