# SPDX-License-Identifier: Apache-2.0
"""Find the first op at which two modules compute different values, or the first pass that changes values.

  ttrt compare A.mlir B.mlir                                    two modules
  ttrt compare A.mlir --passes 'canonicalize,ttir-to-ttnn-backend-pipeline{target-format=bf16}'
                                                                a module before and after every pass

  ttrt compare model.onnx                                       nodes of an ONNX file, compared with onnxruntime
                                                                or ONNX's reference evaluator

  ttrt compare FILE --exact                                     a program's default and exact values, and goldens

A and B may be at any level. Goldens (torch) compute StableHLO and TTIR; a simulated device computes TTNN and .ttnn
files; --via overrides this. All get the same inputs. Ops are matched by their source numbers (or by location, or order)
and compared one by one; outputs decide whether the modules are equal.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ttmlir.files import whole_file

from . import machine
from .errors import InputError
from .file import is_onnx
from .input_arguments import sizes
from .output import table, write_json
from .run import correlation, positive, tolerance

EVALUATORS = ("auto", "goldens", "device")


EXAMPLES = """
ttrt compare a.mlir b.mlir
ttrt compare a.mlir --passes 'canonicalize,ttir-to-ttnn-backend-pipeline{target-format=bf16}'
ttrt compare model.ttnn --exact
ttrt compare model.onnx --sizes batch=4
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="A", help="a module (.mlir), a flatbuffer (.ttnn) or an ONNX file")
    parser.add_argument("other", metavar="B", nargs="?", help="the module or file to compare with A")
    parser.add_argument(
        "--passes",
        "--pipeline",
        metavar="LIST",
        help="instead of B: passes and pipelines, as in name{option=value},name",
    )
    machine.exact_argument(
        parser,
        "instead of B: the same file, in the default and in the chip's arithmetic, op by op compared with goldens",
    )
    parser.add_argument("--via", choices=EVALUATORS, default="auto", help="how to compute values (default: by level)")
    parser.add_argument("--inputs", metavar="FILE", help="tensors for the inputs: .npz, .npy, .pt; for one program")
    parser.add_argument(
        "--mesh", type=machine.mesh, help="rows and columns of chips like 2x4, or a board (default: A's)"
    )
    parser.add_argument(
        "--sizes", type=sizes, default={}, metavar="NAME=N,...", help="values of the open dimensions of an ONNX file"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of random inputs (default: %(default)s)")
    parser.add_argument("--save-stages", metavar="DIR", help="write the module after every pass to DIR")
    parser.add_argument("--json", metavar="FILE", help='write the report to FILE, or to standard output when "-"')
    judged = parser.add_argument_group("tolerances")
    judged.add_argument("--pcc", type=correlation, default=0.99, help="minimum correlation (default: %(default)s)")
    judged.add_argument("--atol", type=tolerance, help="|a - b| <= atol + rtol * |a| (default: by element type)")
    judged.add_argument("--rtol", type=tolerance, help="see --atol")
    judged.add_argument("--strict", action="store_true", help="intermediate values decide, too")
    judged.add_argument("--keep-going", action="store_true", help="continue after the first pass that changes values")
    judged.add_argument("--topk", type=positive, default=5, metavar="N", help="ops to list (default: %(default)s)")


@dataclass(frozen=True)
class Result:
    """A module compared with the first. name: pass or file; by: how it was computed; reason: why it was not."""

    name: str
    changed: bool
    by: str = ""
    matched_by: str = ""
    comparing: Any = None
    reason: str = ""

    @property
    def judges_outputs(self) -> bool:
        return self.comparing is not None and any(pair.kind == "output" for pair in self.comparing.pairs)

    def parts(self, strict: bool) -> bool:
        return self.comparing is not None and not (
            self.comparing.outputs_agree and not (strict and self.comparing.parted)
        )

    def verdict(self, strict: bool) -> str:
        if not self.changed:
            return "not changed"
        if self.comparing is None:
            return f"not computed: {self.reason}"
        if self.parts(strict):
            return "differs"
        inner = len(self.comparing.parted)
        return f"outputs agree, {inner} values inside do not" if inner else "agrees"

    def to_dict(self, strict: bool) -> dict[str, Any]:
        data: dict[str, Any] = {"name": self.name, "changed": self.changed, "by": self.by, "reason": self.reason,
                                "parts": self.parts(strict)}  # fmt: skip
        if self.comparing is not None:
            data |= {
                "matched_by": self.matched_by,
                "outputs_agree": self.comparing.outputs_agree,
                "unmatched": self.comparing.unmatched,
                "values": [asdict(p) | {"comparison": p.comparison.to_dict()} for p in self.comparing.pairs],
            }
        return data


def run(args: argparse.Namespace) -> int:
    if is_onnx(args.file) and args.other is None and not args.passes and not args.exact:
        return nodes(args)
    if args.sizes:
        raise InputError("--sizes are of an ONNX file, whose nodes are compared")
    if [args.other is not None, args.passes is not None, args.exact].count(True) != 1:
        raise InputError("compare takes two files, or one and --passes or --exact")
    if args.exact:
        return three(args)
    from .divergence import Judge
    from .subject import Subject

    mesh = args.mesh.shape if args.mesh else None
    first = Subject.load(args.file, mesh)
    inputs = first.inputs(args.seed, args.inputs)
    start = first.evaluated(inputs, args.via, args.seed)
    judge = Judge(args.pcc, args.atol, args.rtol)
    found = two(args, first, start, inputs, judge) if args.other else chain(args, first, start, inputs, judge)
    results: list[Result] = []
    failure: InputError | None = None
    try:
        for result in found:
            results.append(result)
            if result.parts(args.strict) and not args.keep_going:
                break
    except InputError as error:
        failure = error  # differences found before a pass failed are reported first
    parted = next((r for r in results if r.parts(args.strict)), None)
    if args.json != "-":
        show(args, start, results, parted)
    if args.json:
        write_json(args.json, report_of(args, start, results, parted))
    if failure is not None:
        raise failure
    if parted is None and not any(r.judges_outputs or not r.changed for r in results):
        why = results[-1].reason or "the programs give no values" if results else ""
        raise InputError(f"nothing could be compared: {why}" if results else "there are no passes")
    return 0 if parted is None else 1


def nodes(args: argparse.Namespace) -> int:
    """Returns nodes of an ONNX file, with values that another library computes."""
    from ttmlir.onnx import load
    from ttmlir.onnx.goldens import Judge, compared, random_inputs

    model = load(args.file)
    if args.inputs:
        from .inputs import read_tensors

        inputs: Any = read_tensors(args.inputs)
    else:
        inputs = random_inputs(model, args.sizes, args.seed)
    try:
        by, rows = compared(model, inputs, judge=Judge(args.pcc, args.atol, args.rtol))
    except (TypeError, ValueError) as error:
        raise InputError(f"{args.file}: {error}") from None
    wrong = [row for row in rows if row.problem and (args.strict or row.kind == "output")]
    if args.json != "-":
        show_nodes(args, by, rows)
    if args.json:
        write_json(args.json, {"file": args.file, "by": by, "seed": args.seed, "pcc": args.pcc, "equal": not wrong,
                               "values": [row.to_dict() for row in rows]})  # fmt: skip
    return 1 if wrong else 0


def three(args: argparse.Namespace) -> int:
    """Returns one program with three arithmetics, op by op: goldens, the default of the device, and the chip's."""
    from .divergence import Judge, rows_of, three_ways
    from .subject import Subject

    subject = Subject.load(args.file, args.mesh.shape if args.mesh else None)
    judge = Judge(args.pcc, args.atol, args.rtol)
    rows = list(rows_of(*three_ways(subject, args.seed, args.inputs), judge))
    if not any(row.pair.kind == "output" for row in rows):
        raise InputError(f"{args.file}: nothing could be compared: its programs give no values")
    if args.json != "-":
        show_three(args, rows)
    wrong = [row for row in rows if row.pair.kind == "output" and strays(args, row)]
    if args.json:
        write_json(args.json, {"file": args.file, "seed": args.seed, "pcc": args.pcc, "equal": not wrong,
                               "values": [row.to_dict() for row in rows]})  # fmt: skip
    return 1 if wrong else 0


def strays(args: argparse.Namespace, row: Any) -> list[str]:
    """Returns which arithmetics do not agree with the golden: by correlation, and by tolerances where they are
    given."""
    strict = args.atol is not None or args.rtol is not None
    sides = (("default", row.default), ("exact", row.exact))
    return [name for name, p in sides if p is not None and not (p.passed if strict else p.comparison.agrees(args.pcc))]


def two(args: argparse.Namespace, first: Any, start: Any, inputs: Any, judge: Any) -> Iterator[Result]:
    from .divergence import compared, renamed
    from .subject import Subject
    from .values import NotEvaluated

    second = Subject.load(args.other, args.mesh.shape if args.mesh else None, first.context)
    numbers, by = second.correspondence(first)
    try:
        values = second.evaluated(second.adopted(inputs), args.via, args.seed)
    except NotEvaluated as error:
        raise InputError(f"{args.other}: {error}") from error
    yield Result(args.other, True, values.by, by, compared(start, renamed(values, numbers), judge))


def chain(args: argparse.Namespace, first: Any, start: Any, inputs: Any, judge: Any) -> Iterator[Result]:
    from .stages import expanded, pass_step

    if first.module is None:
        raise InputError(f"{args.file}: passes run on modules, not on flatbuffers")
    steps = [pass_step(text) for text in expanded(args.passes, first.context)]
    return over_steps(first, steps, start, inputs, judge, args.via, args.seed, args.save_stages)


def over_steps(
    first: Any,
    steps: Sequence[Any],
    start: Any,
    inputs: Any,
    judge: Any,
    via: str = "auto",
    seed: int = 0,
    folder: str | None = None,
) -> Iterator[Result]:
    """Yields the module of a `Subject` after each `Step`, compared with what it computed at the start."""
    from .divergence import compared
    from .stages import stages
    from .values import NotEvaluated, evaluated

    for number, stage in enumerate(stages(first.module, steps)):
        if folder:
            save(Path(folder), number, stage)
        if not stage.changed:
            yield Result(stage.name, False)
            continue
        try:
            values = evaluated(stage.module, inputs, first.mesh, via, seed)
        except NotEvaluated as error:
            yield Result(stage.name, True, reason=str(error))
            continue
        yield Result(stage.name, True, values.by, "number", compared(start, values, judge))


def save(folder: Path, number: int, stage: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    name = stage.name.partition("{")[0].replace("(", "-").replace(")", "").replace("/", "-")
    with whole_file(folder / f"{number:02}-{name}.mlir") as file:
        file.write(stage.module.operation.get_asm(enable_debug_info=True).encode())


# ---------------------------------------------------------------------- reports


def report_of(args: argparse.Namespace, start: Any, results: Sequence[Result], parted: Result | None) -> dict[str, Any]:
    return {
        "file": args.file,
        "other": args.other,
        "passes": args.passes,
        "by": start.by,
        "seed": args.seed,
        "pcc": args.pcc,
        "equal": parted is None,
        "parts_after": None if parted is None else parted.name,
        "first": None if parted is None else first_of(parted).describe(),
        "results": [r.to_dict(args.strict) for r in results],
    }


def first_of(result: Result) -> Any:
    """Returns the first value, in the order of the program, that differs."""
    return result.comparing.parted[0]


def short(name: str) -> str:
    """Returns a pass without its options."""
    return name.partition("{")[0] + (")" if "(" in name.partition("{")[0] else "")


def show(args: argparse.Namespace, start: Any, results: Sequence[Result], parted: Result | None) -> None:
    rows = []
    for r in results:
        c = r.comparing
        worst = c.worst.comparison if c is not None and c.worst is not None else None
        rows.append((
            short(r.name) if args.passes else r.name, r.by, "" if c is None else len(c.ops),
            "" if c is None else sum(p.identical for p in c.ops),
            "" if worst is None else f"{worst.pcc:.6f}", "" if worst is None else f"{worst.max_abs:.3g}",
            r.verdict(args.strict),
        ))  # fmt: skip
    what = "after" if args.passes else "module"
    title = f"{args.file}, computed {'by goldens' if start.by == 'goldens' else 'on the device'}, compared with"
    table(title, (what, "by", "ops compared>", "the same bits>", "worst PCC>", "largest error>", ""), rows)
    last = parted or next((r for r in reversed(results) if r.comparing is not None), None)
    if last is None:
        return
    differing = last.comparing.parted
    if parted is not None:
        where = f"after {short(parted.name)}" if args.passes else f"in {parted.name}"
        print(f"results differ {where}, first at {first_of(parted).describe()}")
    if differing:
        columns = ("value", "where", "type", "PCC>", "largest error>", "allowed>", "")
        table(f"{len(differing)} values differ", columns, [difference_row(p) for p in differing[: args.topk]])
    if last.comparing.unmatched:
        print(f"{last.comparing.unmatched} ops of {args.file} have no value there to compare (fused, folded or split)")


def difference_row(p: Any) -> tuple[str, ...]:
    atol, rtol = p.tolerance
    c = p.comparison
    shape = "x".join(map(str, p.shape)) + f" {p.dtype}"
    allowed = f"{atol:.3g} + {rtol:.3g}|a|"
    return (p.name, p.location or f"@{p.program}", shape, f"{c.pcc:.6f}", f"{c.max_abs:.3g}", allowed, c.problem)


def show_nodes(args: argparse.Namespace, by: str, rows: Sequence[Any]) -> None:
    cells = [
        (row.node, row.op, row.name, "x".join(map(str, row.shape)) + f" {row.dtype}",
         "" if row.pcc is None else f"{row.pcc:.6f}", "" if row.error is None else f"{row.error:.3g}",
         f"{row.span:.3g}", row.problem or ("output" if row.kind == "output" else ""))
        for row in rows
    ]  # fmt: skip
    columns = ("node", "op", "value", "type", "PCC>", "largest error>", "range>", "")
    table(f"{args.file}: nodes compared with {by}", columns, cells)
    wrong = [row for row in rows if row.problem]
    if wrong:
        first = wrong[0]
        where = f"{first.name} of {first.node} ({first.op})"
        print(f"{len(wrong)} of {len(rows)} values differ, first {where}: {first.problem}")
    else:
        print(f"{len(rows)} values agree")


def show_three(args: argparse.Namespace, rows: Sequence[Any]) -> None:
    columns = (
        "value",
        "where",
        "type",
        "default PCC>",
        "error>",
        "exact PCC>",
        "error>",
        "differ>",
        "relative RMS>",
        "",
    )
    table(
        f"{args.file}: default and exact compared with goldens and with each other",
        columns,
        [three_cells(args, r) for r in rows],
    )


def three_cells(args: argparse.Namespace, row: Any) -> tuple[str, ...]:
    def errors(p: Any) -> tuple[str, str]:
        return ("", "") if p is None else (f"{p.comparison.pcc:.6f}", f"{p.comparison.max_abs:.3g}")

    type_ = "x".join(map(str, row.pair.shape)) + f" {row.pair.dtype}"
    wrong = strays(args, row)
    return (
        row.pair.name, row.pair.location or f"@{row.pair.program}", type_, *errors(row.default), *errors(row.exact),
        f"{row.share:.1%}", f"{row.rms:.2e}", f"{' and '.join(wrong)} not as golden" if wrong else "",
    )  # fmt: skip
