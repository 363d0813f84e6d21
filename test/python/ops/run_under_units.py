# SPDX-License-Identifier: Apache-2.0
"""The op table, special values and small networks under every cap of vector units (TTRT_UNITS) that this CPU has.

    .venv/bin/python test/python/ops/run_under_units.py

Everything is compiled once. Kernels look at TTRT_UNITS once, when the first is made, so that each cap gets a process of
its own, a fork of the one that compiled; where the CPU has none of them, there is one run. Prints the CPU and, for each
cap, what ran, what disagrees with its golden and how long it took; exit code 1 when anything disagrees. What the CPU
lacks is listed as skipped.
"""

from __future__ import annotations

import argparse
import functools
import os
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).parent
sys.path[:0] = [
    str(path) for path in (HERE, HERE / "special", HERE.parent, ROOT, ROOT / "tools", ROOT / "build/python_packages")
]

import _ttmlir_runtime as rt  # noqa: E402
import torch  # noqa: E402
from builder.api import lowering  # noqa: E402
from models import test_models  # noqa: E402
from op_cases import TABLE, Compiled, compared, compiled, runs  # noqa: E402
from op_gaps import GAPS  # noqa: E402
from special_values import cases, prepared  # noqa: E402

from bench.report.machine import cpu_model  # noqa: E402

CAPS = ("avx2", "avx512", "avx512_bf16", "amx")
MODELS = ("bert-base", "resnet-18")

Check = tuple[str, Callable[[], int]]


def checked_row(row: Compiled) -> int:
    """How many results of a row's cases agree with their goldens: all, or an AssertionError."""
    count = 0
    for outcome in compared(row):
        problem = outcome.comparison.problem or f"error {outcome.comparison.max_abs:.3g}"
        assert outcome.comparison.within, f"case {outcome.case}, output {outcome.output}: {problem}"
        count += 1
    assert count, "no case"
    return count


def checked_model(model: test_models.Prepared) -> int:
    test_models.check(model)
    return len(model.expected)


def checks(patterns: Sequence[str]) -> list[Check]:
    """Returns the tests that run under each cap, compiled."""

    def chosen(name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in patterns)

    result: list[Check] = []
    for name, dtype in runs(TABLE):
        if name not in GAPS and chosen(name):
            result.append((f"{name} {dtype}", functools.partial(checked_row, compiled(name, dtype))))
    for name, dtype, place in cases():
        if place in ("plain", "chained") and chosen(name):
            result.append((f"special values of {name} {dtype}, {place}", prepared(name, dtype, place).check))
    for name in MODELS:
        for dtype in test_models.DTYPES if chosen(name) else ():
            result.append(
                (f"{name} {dtype}", functools.partial(checked_model, test_models.prepared(name, dtype, reduced=True)))
            )
    return result


def under(cap: str, work: Sequence[Check]) -> int:
    """In a process of its own: the exit code, 0 when all agree."""
    if cap in CAPS:
        os.environ["TTRT_UNITS"] = cap
        assert rt.runtime.get_units() == cap, f"kernels use {rt.runtime.get_units()} under TTRT_UNITS={cap}"
    start, results, failed = time.perf_counter(), 0, 0
    for name, check in work:
        try:
            results += check()
        except Exception as error:
            failed += 1
            known = isinstance(error, AssertionError)
            print(f"{cap}: {name}: {error if known else traceback.format_exc()}")
    seconds = time.perf_counter() - start
    print(f"{cap}: {len(work) - failed} of {len(work)} rows and networks agree, {results} results, {seconds:.1f} s")
    return int(failed > 0)


def forked(cap: str, work: Sequence[Check]) -> bool:
    """Whether all agree under a cap."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = under(cap, work)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)  # destructors would wait for threads that the fork left behind
    return os.waitpid(child, 0)[1] == 0


def main() -> int:
    parser = argparse.ArgumentParser(description="The op table and networks under every cap of vector units.")
    parser.add_argument("--only", nargs="+", default=["*"], metavar="PATTERN", help="ops and networks of these names")
    parser.add_argument("--caps", nargs="+", default=CAPS, choices=CAPS, help="default: all")
    args = parser.parse_args()
    present = rt.runtime.get_available_units()
    print(f"{cpu_model()} has {', '.join(present) or 'none of ' + ', '.join(CAPS)}")
    torch.set_num_threads(1)  # a fork would leave its other threads behind
    # One context for all modules: making one takes as long as compiling a row.
    with mock.patch.object(lowering, "Context", functools.cache(lowering.Context)):
        work = checks(args.only)
    if not work:
        print(f"no op or network is named like {' or '.join(args.only)}", file=sys.stderr)
        return 2
    agree = True
    for cap in args.caps:
        if cap in present:
            agree &= forked(cap, work)
        else:
            print(f"{cap}: skipped, the CPU does not have it")
    if not present:
        agree &= forked("none of them", work)
    return int(not agree)


if __name__ == "__main__":
    sys.exit(main())
