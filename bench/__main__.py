"""The command line: `python -m bench [--only PATTERN]` from the root of the repository."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from .harness import SLOW, Result, save
from .reasons import reason

FOLDER = Path(__file__).resolve().parent
WIDTHS = (30, 6, 12, 14, 12, 7)


def line(*cells: str) -> str:
    """Name and dtype to the left, numbers to the right, a reason at the end."""
    padded = [c.ljust(w) if i < 2 else c.rjust(w) for i, (c, w) in enumerate(zip(cells, WIDTHS, strict=False))]
    return "".join([*padded, *(f"  {c}" for c in cells[len(WIDTHS) :])]).rstrip()


def milliseconds(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}" if value < 1 else f"{value:.2f}"


def shown(result: Result) -> str:
    ratio = "" if result.ratio is None else f"{result.ratio:.2f}x"
    slow = result.ratio is not None and result.ratio < SLOW
    why = (reason(result.name, result.dtype) or "SLOW, and bench/reasons.py gives no reason") if slow else ""
    return line(
        result.name,
        result.dtype,
        milliseconds(result.ours_ms),
        result.peer or "",
        milliseconds(result.peer_ms),
        ratio,
        why,
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__import__("bench").__doc__)
    parser.add_argument("--only", default="*", metavar="PATTERN", help="benchmarks whose name matches, like 'matmul*'")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each comparison (default: %(default)s)")
    parser.add_argument(
        "--threads", type=int, default=len(os.sched_getaffinity(0)), help="of both sides (default: all)"
    )
    parser.add_argument("--list", action="store_true", help="print the names and end")
    parser.add_argument("--output", type=Path, default=FOLDER, help="folder of results.json and machine.json")
    args = parser.parse_args()
    if args.threads < 1 or args.seconds <= 0:
        parser.error("--threads and --seconds take positive numbers")

    # Both libraries read it when they are loaded, which is below.
    os.environ["OMP_NUM_THREADS"] = str(args.threads)
    from . import compiling, kernels, models, network

    chosen = [
        (name, make)
        for module in (kernels, network, models, compiling)
        for name, make in module.BENCHMARKS.items()
        if fnmatchcase(name, args.only)
    ]
    if not chosen:
        print(f"bench: no benchmark is named like {args.only!r}; --list shows all", file=sys.stderr)
        return 1
    if args.list:
        print("\n".join(name for name, _ in chosen))
        return 0
    if not args.output.is_dir():
        print(f"bench: --output {args.output}: no such folder", file=sys.stderr)
        return 1
    import torch

    torch.set_num_threads(args.threads)
    torch.manual_seed(0)

    def results() -> Iterator[Result]:
        for _, make in chosen:
            for result in make(args.seconds):
                print(shown(result), flush=True)
                yield result

    print(line("name", "dtype", "ours ms", "peer", "peer ms", "ratio", "reason below 0.80x"))
    done = list(results())
    save(args.output, done, args.threads)
    slow = [r for r in done if r.ratio is not None and r.ratio < SLOW and reason(r.name, r.dtype) is None]
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
