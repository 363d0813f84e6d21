# SPDX-License-Identifier: Apache-2.0
"""The command line: `tt-smi …` or `python -m tt_smi …`."""

from __future__ import annotations

import argparse
import math
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from ttrt.usage import Parser, ShowVersion, add_completion

INTERVAL = 0.5  # seconds
LONGEST = 365 * 24 * 3600.0  # that is waited for: more than any dump takes, and less than clocks can count
DEFAULT = ""  # of options whose value may be left out
EPILOG = """examples:
  tt-smi                          run the live display
  tt-smi -t dark                  with the theme for light backgrounds
  tt-smi -s -f my_file.log        save a snapshot to ./my_file.log; -f - prints it
  tt-smi -d -dir my_dir -dur 30   dump telemetry for 30 seconds into ./my_dir
  tt-smi -s | jq .processes       print a snapshot, and save it as well
  tt-smi -r 0                     reset device 0
  tt-smi -wr                      ask which devices to reset

exit codes: 0 done; 1 it could not be done, and why is said above; 2 wrong usage"""


def seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (0 < value <= LONGEST):
        raise argparse.ArgumentTypeError(f"{text!r} is no time; expected seconds, like 0.5, and a year at most")
    return value


def parser() -> Parser:
    top = Parser(
        prog="tt-smi", description="Monitor the simulated Tenstorrent chips of running processes.", epilog=EPILOG
    )
    add = top.add_argument
    add("-v", "--version", action=ShowVersion)
    add(
        "-t",
        "--theme",
        choices=("default", "dark"),
        default="default",
        help="change color theme of live display; use dark theme for light backgrounds",
    )
    add("-nc", "--no-color", action="store_true", help="remove color from output")
    add(
        "-i",
        "--interval",
        nargs="?",
        type=seconds,
        const=INTERVAL,
        default=INTERVAL,
        metavar="seconds",
        help=f"change time interval between readings (default: {INTERVAL}s)",
    )
    what = top.add_mutually_exclusive_group()
    what.add_argument(
        "-s", "--snapshot", action="store_true", help="take snapshot of current host and device information"
    )
    add(
        "-f",
        "--filename",
        nargs="?",
        const=DEFAULT,
        metavar="filename",
        help="change filename for snapshot, - for standard output alone (default: tt-smi-snapshot_<timestamp>.log, and "
        "standard output)",
    )
    what.add_argument("-d", "--dump", action="store_true", help="dump device telemetry to file")
    add(
        "-dir",
        "--dump_dir",
        nargs="?",
        const=DEFAULT,
        metavar="dirname",
        help="change directory path to dump to (default: tt-smi-dump_<timestamp>/)",
    )
    add("-dur", "--duration", type=seconds, metavar="seconds", help="set duration in seconds to dump for")
    what.add_argument("-ls", "--list", action="store_true", help="list devices and quit")
    what.add_argument(
        "-r",
        "--reset",
        nargs="*",
        metavar="TARGET",
        help="reset devices by index; 'all', or none: all of them",
    )
    what.add_argument("-wr", "--warm_reset", action="store_true", help="warm reset board")
    what.add_argument("-mr", "--mobo_nb_reset", action="store_true", help="warm reset mobo")
    add("--external", action="store_true", help="accepted, without effect: this is the external version of TT-SMI")
    add("--debug", action="store_true", help="print a stack trace with an error")
    add_completion(top)
    return top  # fmt: skip


def check(args: argparse.Namespace, top: Parser) -> None:
    """Checks options that belong to other options."""
    if args.filename is not None and not args.snapshot:
        top.error("-f is of snapshots; add -s")
    for name, value in (("-dir", args.dump_dir), ("-dur", args.duration)):
        if value is not None and not args.dump:
            top.error(f"{name} is of telemetry dumps; add -d")


def take_snapshot(filename: str | None) -> int:
    """Saves host and devices. Without `-f` it also prints them, as the card's tt-smi does."""
    from .machine import discover
    from .records import default_snapshot, save_snapshot, snapshot
    from .telemetry import Sampler

    machine = discover()
    text = snapshot(machine, Sampler().read(machine.chips))
    if filename == "-":
        print(text, end="")
        return 0
    path = Path(filename) if filename else default_snapshot()
    save_snapshot(path, text)
    said = f"saved a snapshot of {counted(len(machine.chips), 'device')} to {path}"
    if filename is None:
        print(said, file=sys.stderr)
        print(text, end="")
    else:
        print(said)
    return 0


def counted(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")


class Stopped(Exception):
    """A signal has ended a dump."""


def dump(folder: str | None, interval: float, duration: float | None) -> int:
    from .records import Dump, default_dump

    def stop(*_: object) -> None:
        raise Stopped

    path = Path(folder) if folder else default_dump()
    dumping = Dump(path)
    until = "" if duration is not None else "; press Enter to stop"
    older = {}
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            older[number] = signal.signal(number, stop)
        # Who reads that it has begun may end it at once.
        print(f"dumping telemetry to {path}/ every {interval:g} s{until}", flush=True)
        wait(dumping.read, interval, duration)
    except Stopped:
        pass
    finally:
        for number, handler in older.items():
            signal.signal(number, handler)
        dumping.read()
        files = dumping.close()
    print(f"saved telemetry of {counted(dumping.chips, 'device')} to {', '.join(map(str, files))}")
    return 0


def wait(read: object, interval: float, duration: float | None) -> None:
    """Calls `read` in intervals until the duration is over, or, without one, until Enter or the end of the input."""
    assert callable(read)
    start = time.monotonic()
    for number in range(1, sys.maxsize):
        due = start + number * interval
        end = math.inf if duration is None else start + duration
        # Enter ends it even when readings take longer than the interval.
        left = math.inf
        while left > 0:
            left = max(min(due, end) - time.monotonic(), 0)
            if duration is not None:
                time.sleep(left)
            elif select.select([sys.stdin], [], [], left)[0]:
                sys.stdin.readline()
                return
        if time.monotonic() >= end:
            return
        read()


def live(theme: str, color: bool, interval: float) -> int:
    from .machine import SmiError

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise SmiError("the live display needs a terminal; -s takes a snapshot, and -d dumps telemetry without one")
    try:
        from .live import LiveDisplay
    except ModuleNotFoundError as error:
        if error.name != "textual":
            raise
        raise SmiError("the live display needs the package textual: pip install 'ttmlir[tools]'") from None
    LiveDisplay(theme=theme, color=color, interval=interval).run()
    return 0


def replace_closed_streams(args: argparse.Namespace) -> None:
    """Opens closed streams: a closed input is one that has ended, and what would be written to a closed output is
    dropped.

    Raises:
        SmiError: something is requested that is nothing but output, or a question.
    """
    from .machine import SmiError

    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        if args.filename == "-" or args.warm_reset or args.mobo_nb_reset or args.list:
            raise SmiError("standard output is closed")
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115


def run(args: argparse.Namespace) -> int:
    if args.snapshot:
        return take_snapshot(args.filename)
    if args.dump:
        return dump(args.dump_dir, args.interval, args.duration)
    if args.warm_reset or args.mobo_nb_reset:
        from .reset import mobo_reset, warm_reset

        return mobo_reset() if args.mobo_nb_reset else warm_reset()
    if args.list:
        from .reset import list_devices

        return list_devices()
    if args.reset is not None:
        from .reset import reset_targets

        return reset_targets(args.reset)
    return live(args.theme, not args.no_color, args.interval)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool; returns the exit code (wrong usage leaves by SystemExit(2), as argparse does)."""
    top = parser()
    args = top.parse_args(argv)
    check(args, top)
    try:
        replace_closed_streams(args)
        code = run(args)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("tt-smi: interrupted", file=sys.stderr)
        return 130
    except Exception as error:
        from .machine import SmiError

        if args.debug:
            traceback.print_exc()
        kind = "" if isinstance(error, SmiError) else f"{type(error).__name__}: "
        print(f"tt-smi: {kind}{error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
