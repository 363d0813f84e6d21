"""The command line: `python -m bench [--only PATTERN]` from the root of the repository."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from rich.console import Console
from ttrt.usage import version

from .harness import Lock, Outcome, Settings
from .report import save, saved, short, show

FOLDER = Path(__file__).resolve().parent
EPILOG = """
examples:
  python -m bench                                   everything, about 20 minutes
  python -m bench --only 'matmul*' --seconds 1      some kernels
  python -m bench --only '*bert*' --peers 'torch eager' --add
                                                    fewer peers; other lines of results.json stay
  python -m bench --only 'compile*' --passes        with the time of each pass

ratio: the peer's time over ours, so that more than 1 means that we are faster. All sides run in one process, in turns,
with the same number of threads; every result is checked against ours first. Written to --output: results.json (name,
dtype, ours_ms, peer, peer_ms, ratio), results-measures.json (what is not a time beside another), machine.json, and
results.svg, a plot of the ratios.
"""


def parser(peers: tuple[str, ...]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Benchmarks of the simulated chip and the compiler beside other libraries, in one process.",
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
    parser.add_argument("--output", type=Path, default=FOLDER, help="folder of the results (default: bench)")
    parser.add_argument("--version", action="version", version=f"%(prog)s {version()}")
    return parser


def benchmarks() -> dict[str, Callable[[Settings], Iterator[Outcome]]]:
    from . import compiling, emitted, hooks, kernels, loading, memory, models, native

    modules = (kernels, native, models, loading, hooks, emitted, memory, compiling)
    return {name: run for module in modules for name, run in module.BENCHMARKS.items()}


def draw(folder: Path, console: Console) -> None:
    from .plot import plot

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
    wanted = [name.strip() for name in args.peers.split(",") if name.strip()]
    for name in (*wanted, *args.no_peer):
        if name not in PEERS:
            arguments.error(f"no peer {name!r}; there are {', '.join(PEERS)}")
    if not args.output.is_dir():
        print(f"bench: --output {args.output}: no such folder", file=sys.stderr)
        return 1

    os.environ["OMP_NUM_THREADS"] = str(args.threads)
    from .models import MODELS

    if args.show:
        results, measures = saved(args.output)
        show([*results, *measures], MODELS, console)
        draw(args.output, console)
        return 0
    chosen = {n: b for n, b in benchmarks().items() if any(fnmatchcase(n, p) for p in args.only or ["*"])}
    if not chosen:
        print(f"bench: no benchmark is named like {' or '.join(args.only)}; --list shows all", file=sys.stderr)
        return 1
    if args.list:
        print("\n".join(chosen))
        return 0

    import torch

    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    peers = tuple(name for name in wanted if name not in args.no_peer)
    settings = Settings(args.seconds, args.threads, peers, args.lock and Lock(args.lock), args.passes)
    outcomes: list[Outcome] = []
    failed = False
    for name, run in chosen.items():
        try:
            for outcome in run(settings):
                print(short(outcome), file=sys.stderr, flush=True)
                outcomes.append(outcome)
        except Exception:
            # What the others found is worth keeping.
            failed = True
            print(f"bench: {name} failed:\n{traceback.format_exc()}", file=sys.stderr, flush=True)
    save(args.output, outcomes, args.threads, args.add)
    show(outcomes, MODELS, console)
    draw(args.output, console)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
