# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own samples of its ops (`OpInfo`) through the backend: what passes, for each op, dtype and direction.

    python test/python/torch_frontend/op_samples.py --csv samples.csv [--ops REGEX] [--samples N] [--jobs N]

A run that is stopped goes on where it was: cases that the file has are not run again (`--again wrong,error` runs those
that ended so). All cases take hours: with `--shuffle` those that a stopped run has are of all kinds. The last line is
the sum.
"""

from __future__ import annotations

import argparse
import csv
import faulthandler
import json
import os
import random
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from functorch.compile import make_boxed_func
from torch._functorch.aot_autograd import aot_function
from torch.testing._internal import common_methods_invocations, common_utils
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo import core
from torch.utils._pytree import tree_flatten, tree_unflatten
from ttmlir.torch import Options, report
from ttmlir.torch.decompositions import decompositions
from ttmlir.torch.dynamo import compiler

FORWARD = [torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool]
BACKWARD = [torch.float32, torch.bfloat16]
# Largest error: relative to the element, and as a part of the largest element of the reference.
TOLERANCE = {torch.float32: (1e-4, 1e-5), torch.float16: (2e-3, 2e-3), torch.bfloat16: (1.6e-2, 1e-2)}
# Their results are whatever was in memory.
UNINITIALISED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
# Which of equal elements comes first is not said: places are right when the values are there.
TIES = {"argsort", "sort", "msort", "topk"}
# Samples of random ops set the seed when they are called, which a graph does not record; it is set by us.
common_methods_invocations.wrapper_set_seed = lambda op, *args, **kwargs: op(*args, **kwargs)  # type: ignore[assignment]
# For each list of samples PyTorch looks through the stack for a unittest.TestCase, with the source of each frame: three
# quarters of the time of a test of all ops. There is none.
for module in (common_utils, core):
    assert callable(module.extract_test_fn)
    module.extract_test_fn = lambda: None  # type: ignore[attr-defined]
# How a sample ends: whole on the chip; right, with ops that PyTorch ran; PyTorch has no graph of it (its size depends
# on values: Dynamo breaks the graph); the numbers are those of PyTorch's graph, which differ from eager's for every
# backend; refused; other numbers than PyTorch's; any other exception.
ENDS = ("passed", "host", "untraced", "graph", "unlowered", "wrong", "error")
HOST = re.compile(r"PyTorch runs what the chip has no op for: (.*)")


@dataclass
class Row:
    """A case, how many of its samples ended how, and the first message of the worst."""

    op: str
    dtype: str
    direction: str
    samples: int = 0
    passed: int = 0
    host: int = 0
    untraced: int = 0
    graph: int = 0
    unlowered: int = 0
    wrong: int = 0
    error: int = 0
    seconds: float = 0.0
    host_ops: str = ""
    message: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        return self.op, self.dtype, self.direction


@dataclass(frozen=True)
class Case:
    op: Any  # an OpInfo
    dtype: torch.dtype
    backward: bool

    @property
    def name(self) -> str:
        return self.op.name + (f".{self.op.variant_test_name}" if self.op.variant_test_name else "")

    @property
    def key(self) -> tuple[str, str, str]:
        return self.name, str(self.dtype).removeprefix("torch."), "backward" if self.backward else "forward"


def cases(pattern: str = ".", exact: Sequence[str] = ()) -> Iterator[Case]:
    """All cases of ops whose name matches, or that are named."""
    for op in op_db:
        name = Case(op, torch.float32, False).name
        if name not in exact if exact else not re.search(pattern, name):
            continue
        known = op.supported_dtypes("cpu")
        yield from (Case(op, dtype, False) for dtype in FORWARD if dtype in known)
        if op.supports_autograd:
            known = op.supported_backward_dtypes("cpu")
            yield from (Case(op, dtype, True) for dtype in BACKWARD if dtype in known)


class Sample:
    """A call of an op: the tensors among its arguments, and a function of them that gives a list of tensors."""

    def __init__(self, case: Case, given: Any) -> None:
        self.case = case
        self.leaves, self.spec = tree_flatten(([given.input, *given.args], dict(given.kwargs)))
        self.places = [i for i, leaf in enumerate(self.leaves) if isinstance(leaf, torch.Tensor)]
        self.process = given.output_process_fn_grad if case.backward else lambda output: output

    def tensors(self, wide: bool = False) -> list[torch.Tensor]:
        found = []
        for place in self.places:
            leaf = self.leaves[place]
            copy = leaf.detach().clone()
            if wide and leaf.dtype.is_floating_point:
                copy = copy.double()
            found.append(copy.requires_grad_(leaf.requires_grad))
        return found

    def call(self, *tensors: torch.Tensor) -> list[torch.Tensor]:
        leaves = list(self.leaves)
        for place, tensor in zip(self.places, tensors, strict=True):
            leaves[place] = tensor
        args, kwargs = tree_unflatten(leaves, self.spec)
        output = self.process(self.case.op.op(*args, **kwargs))
        found = [x for x in tree_flatten(output)[0] if isinstance(x, torch.Tensor)]
        return [x if x.layout is torch.strided else x.to_dense() for x in found]

    def results(self, function: Callable[..., list[torch.Tensor]], wide: bool = False) -> list[torch.Tensor]:
        """Outputs, or gradients of the inputs for cotangents that are the same for all."""
        tensors = self.tensors(wide)
        torch.manual_seed(1)
        if not self.case.backward:
            with torch.no_grad():
                return list(function(*tensors))
        outputs = [x for x in function(*tensors) if x.requires_grad]
        inputs = [x for x in tensors if x.requires_grad]
        generator = torch.Generator().manual_seed(2)
        cotangents = [torch.randn(x.shape, generator=generator).to(self.case.dtype).to(x.dtype) for x in outputs]
        if not outputs or not inputs:
            return []
        grads = torch.autograd.grad(outputs, inputs, cotangents, allow_unused=True)
        return [torch.zeros_like(x) if g is None else g for g, x in zip(grads, inputs, strict=True)]

    def __str__(self) -> str:
        def text(leaf: Any) -> str:
            return (
                f"{leaf.dtype}{list(leaf.shape)}".removeprefix("torch.")
                if isinstance(leaf, torch.Tensor)
                else repr(leaf)
            )

        args, kwargs = tree_unflatten([text(leaf) for leaf in self.leaves], self.spec)
        return ", ".join([*map(str, args), *(f"{k}={v}" for k, v in kwargs.items())])


def near(got: torch.Tensor, want: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Returns the elements that agree within the tolerance of `dtype`; NaN with NaN, Inf with Inf."""
    if not got.dtype.is_floating_point and not got.dtype.is_complex:
        return got == want
    relative, of_range = TOLERANCE.get(dtype, TOLERANCE[torch.float32])
    kind = torch.complex128 if got.dtype.is_complex else torch.float64
    a, b = got.to(kind), want.to(kind)
    finite = b[torch.isfinite(b)]
    # What a type cannot hold is infinite in it.
    if got.dtype.is_floating_point:
        limit = torch.finfo(got.dtype).max
        b = torch.where(b.abs() > limit * (1 + relative), b.sign() * torch.inf, b)
    scale = float(finite.abs().max()) if finite.numel() else 0.0
    return torch.isclose(a, b, rtol=relative, atol=of_range * scale + 1e-7, equal_nan=True)


def without_order_of_ties(sample: Sample, results: list[torch.Tensor]) -> list[torch.Tensor]:
    """Places as the values found there, gradients in the order of the elements that they belong to and their own."""
    x = sample.tensors()[0].detach()
    if sample.case.backward:
        grad = results[0].flatten()[results[0].flatten().sort(stable=True).indices]
        by_grad = x.flatten()[results[0].flatten().sort(stable=True).indices]
        return [grad[by_grad.sort(stable=True).indices]]
    if not x.dim() or results[-1].dtype is not torch.int64:
        return results
    values, places = results if len(results) == 2 else (None, results[0])
    for dim in range(x.dim()):
        if any(n != m for d, (n, m) in enumerate(zip(places.shape, x.shape, strict=True)) if d != dim):
            continue
        if places.numel() and int(places.max()) >= x.shape[dim]:
            continue
        distinct = places.sort(dim).values.diff(dim=dim).ne(0).all()
        found = x.take_along_dim(places, dim)
        steps = found.to(torch.float64).diff(dim=dim)
        ordered = bool((steps >= 0).all() or (steps <= 0).all())
        if bool(distinct) and (ordered if values is None else torch.equal(found, values)):
            return [found, torch.zeros_like(places)]
    return results


def difference(
    got: Sequence[torch.Tensor], eager: Sequence[torch.Tensor], wide: Sequence[torch.Tensor] | None, dtype: torch.dtype
) -> str:
    """Returns what is wrong, or nothing.

    An element is right when it is as the wide reference or as eager's, whose rounding is not to judge; so it is when
    its error is of the size of eager's largest, as where the exact value is 0 and what is seen is rounding.
    """
    if len(got) != len(eager):
        return f"{len(got)} results, expected {len(eager)}"
    for i, (a, b) in enumerate(zip(got, eager, strict=True)):
        if a.shape != b.shape or a.dtype is not b.dtype:
            return f"result {i} is {a.dtype}{list(a.shape)}, expected {b.dtype}{list(b.shape)}"
        right = near(a, b, dtype)
        if wide is not None and i < len(wide) and wide[i].shape == a.shape:
            right |= near(a, wide[i], dtype)
            if a.dtype.is_floating_point and a.numel():
                own = (b.double() - wide[i]).abs().nan_to_num(0, 0, 0).max()
                right |= (a.double() - wide[i]).abs() <= 4 * own
        if not bool(right.all()):
            at = tuple((~right).nonzero()[0].tolist())
            want = b[at].item() if wide is None else f"{b[at].item()} ({wide[i][at].item()} in f64)"
            count = f"{int((~right).sum())} of {a.numel()} differ"
            return f"result {i}: {count}; at {list(at)} {a[at].item()}, expected {want}"
    return ""


def run_sample(case: Case, sample: Sample) -> tuple[str, str, str] | None:
    """How it ended, with a message and the ops that PyTorch ran; None where PyTorch itself refuses the sample."""
    try:
        eager = sample.results(sample.call)
    except Exception:
        return None
    if not eager:
        return None
    wide = None
    if case.dtype.is_floating_point:
        try:
            wide = sample.results(sample.call, wide=True)
        except Exception:
            wide = None
    entered = []

    def ours(backward: bool) -> Callable[..., Any]:
        compile_one = compiler(Options(), report.BACKWARD if backward else report.FORWARD, training=case.backward)

        def compile_and_say(graph: Any, inputs: Sequence[Any]) -> Callable[..., Any]:
            entered.append(True)
            return compile_one(graph, inputs)

        return compile_and_say

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            compiled = aot_function(
                sample.call, fw_compiler=ours(False), bw_compiler=ours(True), decompositions=decompositions()
            )
            got = sample.results(compiled)
        except Exception as error:
            text = re.sub(r"^\S*:\d+: ", "", " ".join(str(error).split("\n")[:3]))
            text = f"{type(error).__name__}: {text[:300]} for ({sample})"
            if not entered:
                return "untraced", text, ""
            return ("unlowered" if type(error).__name__ == "UnsupportedError" else "error"), text, ""
    host = ", ".join(sorted({m[1] for w in seen if (m := HOST.search(str(w.message)))}))
    if case.op.name in UNINITIALISED:
        text = "" if [x.shape for x in got] == [x.shape for x in eager] else "shapes differ"
    else:
        if case.op.name in TIES:
            got, eager = (without_order_of_ties(sample, x) for x in (got, eager))
            wide = None
        text = difference(got, eager, wide, case.dtype)
    if not text:
        return ("host" if host else "passed"), "", host
    end = "graph" if is_of_graph(case, sample, got) else "wrong"
    return end, f"{text} for ({sample})", host


def is_of_graph(case: Case, sample: Sample, got: Sequence[torch.Tensor]) -> bool:
    """Whether PyTorch's own graph of the call, run by PyTorch, has these numbers: what AOTAutograd always takes apart
    can differ from eager's kernel, for every backend."""
    try:
        plain = aot_function(sample.call, fw_compiler=lambda graph, _: make_boxed_func(graph.forward))
        return not difference(got, sample.results(plain), None, case.dtype)
    except Exception:
        return False


def run_case(case: Case, limit: int) -> Row:
    row = Row(*case.key)
    started = time.perf_counter()
    torch.manual_seed(0)
    try:
        given = list(case.op.sample_inputs("cpu", case.dtype, requires_grad=case.backward))
    except Exception as error:
        row.message = f"no samples: {error}"[:200]
        return row
    if len(given) > limit:  # spread over all
        given = [given[i * len(given) // limit] for i in range(limit)]
    rank = -1
    hosts: set[str] = set()
    for one in given:
        ended = run_sample(case, Sample(case, one))
        if ended is None:
            continue
        end, message, host = ended
        row.samples += 1
        setattr(row, end, getattr(row, end) + 1)
        if host:
            hosts.add(host)
        if message and ENDS.index(end) > rank:
            rank, row.message = ENDS.index(end), message
    row.host_ops = "; ".join(sorted(hosts))
    row.seconds = round(time.perf_counter() - started, 2)
    return row


#
# The runner
#


def read_rows(path: Path) -> dict[tuple[str, str, str], Row]:
    """Rows of a file; of those of one case the last."""
    kinds = {f.name: f.type for f in fields(Row)}
    convert: dict[Any, Callable[[str], Any]] = {"int": int, "float": float, "str": str}
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        rows = [Row(**{k: convert[kinds[k]](v) for k, v in r.items()}) for r in csv.DictReader(file)]
    return {row.key: row for row in rows}


def append(path: Path, row: Row) -> None:
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, [f.name for f in fields(Row)])
        if not file.tell():
            writer.writeheader()
        writer.writerow(asdict(row))


def work(path: Path, part: int, limit: int, timeout: int) -> None:
    """Runs the cases that standard input names, one a line."""
    torch.set_num_threads(1)
    known = {case.key: case for case in cases()}
    mark = path.with_suffix(f".running{part}")
    for line in sys.stdin:
        case = known[tuple(json.loads(line))]
        mark.write_text(line)
        faulthandler.dump_traceback_later(timeout, exit=True)
        row = run_case(case, limit)
        faulthandler.cancel_dump_traceback_later()
        append(path, row)
        mark.unlink()


def run_part(path: Path, part: int, keys: Sequence[tuple[str, str, str]], options: argparse.Namespace) -> None:
    """Runs cases in a process of their own; a case that ends the process is an error of that case."""
    mark = path.with_suffix(f".running{part}")
    left = list(keys)
    log = path.with_suffix(f".log{part}")
    while left:
        command = [sys.executable, __file__, "--csv", str(path), "--worker", str(part)]
        command += ["--samples", str(options.samples), "--timeout", str(options.timeout)]
        with log.open("a") as errors:
            text = "".join(json.dumps(key) + "\n" for key in left)
            code = subprocess.run(command, input=text, text=True, stderr=errors, stdout=errors).returncode
        if not mark.exists():
            if code:
                raise RuntimeError(f"the worker ended with {code}; see {log}")
            return
        key = tuple(json.loads(mark.read_text()))
        mark.unlink()
        append(path, Row(*key, samples=1, error=1, message=f"the process ended with {code}; see {log}"))
        left = left[left.index(key) + 1 :]


def table(rows: Sequence[Row]) -> str:
    """The rows as text, and a line with the sums."""
    lines = [f"{'op':44} {'dtype':9} {'way':8} {'samples':>7}" + "".join(f"{end:>10}" for end in ENDS)]
    for row in sorted(rows, key=lambda r: r.key):
        counts = "".join(f"{getattr(row, end) or '':>10}" for end in ENDS)
        lines.append(f"{row.op:44} {row.dtype:9} {row.direction:8} {row.samples:>7}{counts}")
    sums = "".join(f"{sum(getattr(r, end) for r in rows):>10}" for end in ENDS)
    ops = f"{len({r.op for r in rows})} ops, {len(rows)} cases"
    lines.append(f"{ops:63} {sum(r.samples for r in rows):>7}{sums}")
    return "\n".join(lines)


def positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r}; expected a number, 1 or more")
    return int(text)


def pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no regular expression: {error}") from None
    return text


def among(known: Sequence[str]) -> Callable[[str], list[str]]:
    """Converts names with commas between them."""

    def names(text: str) -> list[str]:
        found = [name for name in text.split(",") if name]
        if unknown := [name for name in found if name not in known]:
            raise argparse.ArgumentTypeError(f"{unknown[0]}: known: {', '.join(known)}")
        return found

    return names


def main(arguments: Sequence[str] | None = None) -> int:
    dtypes = [str(dtype).removeprefix("torch.") for dtype in FORWARD]
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--csv", type=Path, required=True, help="where rows are added; cases that it has are not run")
    parser.add_argument("--ops", type=pattern, default=".", help="regular expression of names")
    parser.add_argument("--dtypes", type=among(dtypes), default=dtypes, help=f"of {','.join(dtypes)}; all by default")
    parser.add_argument("--samples", type=positive, default=10, help="at most so many of a case, spread over all")
    parser.add_argument("--shuffle", type=int, metavar="SEED", help="run cases in an order drawn with this seed")
    parser.add_argument("--jobs", type=positive, default=1, help="processes")
    parser.add_argument("--timeout", type=positive, default=600, help="seconds for a case")
    parser.add_argument(
        "--again", type=among(ENDS), default=[], help="run cases again that have samples that ended so: wrong,error"
    )
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.worker is not None:
        work(options.csv, options.worker, options.samples, options.timeout)
        return 0
    done = {k for k, r in read_rows(options.csv).items() if not any(getattr(r, end) for end in options.again)}
    keys = [case.key for case in cases(options.ops) if case.key[1] in options.dtypes]
    if options.shuffle is not None:
        random.Random(options.shuffle).shuffle(keys)
    left = [key for key in keys if key not in done]
    import concurrent.futures

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda n: run_part(options.csv, n, left[n :: options.jobs], options), range(options.jobs)))
    rows = [r for k, r in read_rows(options.csv).items() if k in set(keys)]
    print(table(rows))
    return 1 if any(r.wrong or r.error for r in rows) else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
