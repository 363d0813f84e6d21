# SPDX-License-Identifier: Apache-2.0
"""The backend tests of the package onnx: each case imported, run and compared.

usage: python -m onnx_zoo.backend [FILE]    prints the table, or writes it into a page
"""

from __future__ import annotations

import io
import re
import sys
import textwrap
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

GROUPS = ("node", "simple", "pytorch-operator", "pytorch-converted")
AGREES, REFUSED, WRONG, RANDOM = "agrees", "refused", "differs", "random"
# Cases of random numbers, which are another implementation's.
DRAWS = re.compile("bernoulli")
# What refused cases have that the chip has not, by words of the errors.
LACKING = {
    "strings": "type string|texts|strings",
    "optionals": "is no tensor but optional",
    "training": "training",
    "results of unknown number": "how many",
    "64-bit values": "does not fit into|64 bits in 32",
    "image files and text features": "no form on the chip",
}
BEGIN, END = "<!-- backend tests -->\n", "<!-- end of backend tests -->\n"


@dataclass(frozen=True)
class Case:
    """A model with inputs and expected outputs."""

    group: str
    name: str
    model: Any
    sets: Sequence[tuple[Sequence[Any], Sequence[Any]]]
    rtol: float
    atol: float


@dataclass(frozen=True)
class Result:
    case: Case
    kind: str
    reason: str = ""


def cases() -> Iterator[Case]:
    """Yields the cases of nodes, and those of models that the package has as files."""
    import onnx
    import onnx.backend.test.case.node as nodes
    from onnx import numpy_helper

    def plain(value: Any) -> Any:
        return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value

    with warnings.catch_warnings(), np.errstate(all="ignore"), redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        collected = nodes.collect_testcases(None)
    for case in collected:
        sets = [([plain(x) for x in given], [plain(x) for x in expected]) for given, expected in case.data_sets or ()]
        yield Case("node", case.name, case.model, sets, case.rtol, case.atol)
    data = Path(onnx.__file__).parent / "backend" / "test" / "data"
    for group in GROUPS[1:]:
        for folder in sorted((data / group).iterdir()):
            model = onnx.load(folder / "model.onnx")
            sets = [
                (read(each, "input", model.graph.input), read(each, "output", model.graph.output))
                for each in sorted(folder.glob("test_data_set_*"))
            ]
            yield Case(group, folder.name, model, sets, 1e-3, 1e-7)


def read(folder: Path, kind: str, declared: Any) -> list[Any]:
    """Returns the inputs or outputs of a data set."""
    import onnx
    from onnx import numpy_helper

    found: list[Any] = []
    for i in range(len(list(folder.glob(f"{kind}_*.pb")))):
        data = (folder / f"{kind}_{i}.pb").read_bytes()
        if declared[i].type.WhichOneof("value") == "sequence_type":
            found.append(numpy_helper.to_list(onnx.SequenceProto.FromString(data)))
        elif declared[i].type.WhichOneof("value") == "optional_type":
            found.append(numpy_helper.to_optional(onnx.OptionalProto.FromString(data)))
        else:
            found.append(numpy_helper.to_array(onnx.TensorProto.FromString(data)))
    return found


def flat(values: Any) -> list[Any]:
    return [x for value in values for x in (flat(value) if isinstance(value, list | tuple) else [value])]


def without_undefined(case: Case, given: Sequence[Any], found: Any, expected: Any) -> Any:
    """Replaces what ONNX leaves open by what was found: floats as integers that do not hold them.

    There the package expects what its NumPy types do: those of ml_dtypes 0.6 wrap, those of 0.7 are 0.
    """
    import ml_dtypes

    is_integer = expected.dtype.kind in "iu" or expected.dtype.name in ("int4", "uint4", "int2", "uint2")
    if not re.match("test_cast(like)?_", case.name) or not is_integer or found.shape != expected.shape:
        return expected
    numbers: Any = np.trunc(np.asarray(given[0]).astype(np.float64))
    info = ml_dtypes.iinfo(expected.dtype)
    return np.where((numbers >= int(info.min)) & (numbers <= int(info.max)), expected, found.astype(expected.dtype))


def differs(found: Any, expected: Any, rtol: float, atol: float) -> str:
    """Returns how a result differs from what was expected, or ""."""
    ours: Any = np.asarray(found)
    theirs: Any = np.asarray(expected)
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return f"{ours.dtype}{list(ours.shape)}; expected {theirs.dtype}{list(theirs.shape)}"
    narrow = theirs.dtype.itemsize < 4 and theirs.dtype.kind not in "biu"
    if theirs.dtype.kind not in "biu":
        ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    rtol, atol = (max(rtol, 1e-2), max(atol, 1e-2)) if narrow else (max(rtol, 1e-3), max(atol, 1e-5))
    if np.allclose(ours, theirs, rtol=rtol, atol=atol, equal_nan=True):
        return ""
    with np.errstate(all="ignore"):
        return f"largest difference {np.nanmax(np.abs(ours - theirs)):.3g}"


def run(case: Case) -> Result:
    import ttmlir.onnx

    for given, expected in case.sets:
        try:
            model = ttmlir.onnx.compile(case.model, given)
            found = model(*given)
        except (ttmlir.onnx.OnnxError, ValueError) as error:
            return Result(case, REFUSED, str(error))
        results, reference = flat([found]), flat(expected)
        if len(results) != len(reference):
            return Result(case, WRONG, f"{len(results)} outputs; expected {len(reference)}")
        for ours, theirs in zip(results, reference, strict=True):
            defined = without_undefined(case, given, np.asarray(ours), np.asarray(theirs))
            reason = differs(ours, defined, case.rtol, case.atol)
            if reason:
                return Result(case, RANDOM if DRAWS.search(case.name) else WRONG, reason)
    return Result(case, AGREES)


def lacking(result: Result) -> str:
    """Returns what the chip has not that a refused case has."""
    return next((name for name, words in LACKING.items() if re.search(words, result.reason)), "other reasons")


def table(results: Sequence[Result]) -> str:
    """Returns the table of the page."""
    lines = ["| cases | all | agree | random numbers | refused | differ |", "|---|--:|--:|--:|--:|--:|"]
    for group in GROUPS:
        kinds = Counter(result.kind for result in results if result.case.group == group)
        counts = (kinds.total(), kinds[AGREES], kinds[RANDOM], kinds[REFUSED], kinds[WRONG])
        lines.append(f"| {group} | " + " | ".join(f"{n:,}" for n in counts) + " |")
    reasons = Counter(lacking(result) for result in results if result.kind == REFUSED)
    text = ", ".join(f"{name} {n}" for name, n in reasons.most_common())
    return "\n".join([*lines, "", textwrap.fill(f"Refused cases have {text}.", 120), ""])


def main(arguments: Sequence[str]) -> int:
    results = [run(case) for case in cases()]
    for result in results:
        if result.kind == WRONG:
            print(f"{result.case.name}: {result.reason}", file=sys.stderr)
    if not arguments:
        print(table(results))
        return 0
    page = Path(arguments[0])
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    page.write_text(before + BEGIN + table(results) + END + rest.partition(END)[2], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
