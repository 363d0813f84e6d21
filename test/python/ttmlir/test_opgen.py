# SPDX-License-Identifier: Apache-2.0
"""tools/opgen: an op's definition is enough for all that read the description, and a wrong override is told."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from _ttmlir_runtime import runtime
from _ttmlir_runtime import ttnn as native
from builder.ops.op_infos import description

ROOT = Path(__file__).resolve().parents[3]
OPGEN = ROOT / "tools" / "opgen"
TBLGEN = next(filter(None, map(shutil.which, ("llvm-tblgen-22", "llvm-tblgen"))), "/usr/lib/llvm-22/bin/llvm-tblgen")

NEW_OPS = """
include "ttmlir/Dialect/AllOps.td"
defm Twice : Elementwise<"twice", TT_Unary, "input + input.">;
defm Tilt : Elementwise<"tilt", TT_Binary, "lhs + slope * rhs.",
    (ins TT_F32<"0.5">:$slope, OptionalAttr<I32Attr>:$axis, TTCore_ReduceTypeAttr:$mode)>;
def TTNN_HalvesOp : TT_PureOp<TTNN_Dialect, "halves", (ins AnyRankedTensor:$input, Optional<AnyRankedTensor>:$bias),
    (ins I32Attr:$parts), "Two halves.", "same(report, op.getInput(), results)"> {
  let results = (outs AnyRankedTensor:$low, AnyRankedTensor:$high);
}
"""


def described(folder: Path, text: str, opgen: Path = OPGEN) -> subprocess.CompletedProcess[str]:
    """Runs the generator over definitions, as the build does."""
    source, records = folder / "ops.td", folder / "records.json"
    source.write_text(text, encoding="utf-8")
    include = [f"-I{ROOT / 'include'}", "-I/usr/lib/llvm-22/include"]
    subprocess.run([TBLGEN, "--dump-json", *include, str(source), "-o", str(records)], check=True)
    return subprocess.run([sys.executable, "-B", str(opgen), str(records), str(folder)], capture_output=True, text=True)


@pytest.fixture(scope="module")
def new_ops(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("opgen")
    ran = described(folder, NEW_OPS)
    assert ran.returncode == 0, ran.stderr
    return folder


def function_row(folder: Path, op: str) -> tuple[str, list[str]]:
    """The C++ row of a function and those of its parameters."""
    text = (folder / "ttmlir/Target/TTNN/Api.inc").read_text(encoding="utf-8")
    functions = text.partition("constexpr Function functions_[]")[2].partition("\n};")[0]
    row = next(found for found in functions.split("\n    {") if found.startswith(f'"{op}"'))
    start, count = map(int, re.findall(r"\{parameters \+ (\d+), (\d+)\}", row)[0])
    table = re.findall(r"Parameter parameters\[\] = \{\n(.*?)^\};", text, re.M | re.S)[0].splitlines()
    return row, [line.strip() for line in table[start : start + count]]


def test_a_definition_is_a_function(new_ops: Path) -> None:
    row, parameters = function_row(new_ops, "ttnn.twice")
    assert '"twice"' in row and '"elementwise"' in row and '"input_tensor + input_tensor."' in row
    assert parameters == ['{"input_tensor", "input", {}, Role::Value, false, false, false, false},']
    row, parameters = function_row(new_ops, "ttnn.tilt")
    assert '"input_tensor_a + slope * input_tensor_b."' in row
    assert parameters[2:] == [
        '{"slope", "slope", "0.5", Role::Value, false, true, false, false},',
        '{"axis", "axis", {}, Role::Value, true, false, false, false},',
        '{"mode", "mode", {}, Role::Value, false, false, false, false},',
    ]


def test_a_definition_is_what_the_loader_checks(new_ops: Path) -> None:
    text = (new_ops / "ttmlir/Target/TTNN/Api.inc").read_text(encoding="utf-8")
    for row in (
        '{"slope", AttributeKind::Float, false, {}},',
        '{"axis", AttributeKind::Int, false, {}},',
        '{"mode", AttributeKind::Enum, true, "ttcore.reduce_type"},',
        '{"bias", true, false},',
    ):
        assert row in text
    halves = r'\{"ttnn.halves", \{operands \+ \d+, 2\}, \{attributes \+ \d+, 1\}, \{names \+ \d+, 2\}, false, 0, \{\}\}'
    assert re.search(halves, text)


def test_a_definition_is_a_builder_method(new_ops: Path) -> None:
    ops = json.loads((new_ops / "ops.json").read_text(encoding="utf-8"))["ops"]
    assert ops["ttir.tilt"]["attributes"] == [
        {"name": "slope", "kind": "F32Attr", "default": "0.5"},
        {"name": "axis", "kind": "I32Attr", "optional": True},
        {"name": "mode", "kind": "TTCore_ReduceTypeAttr"},
    ]
    assert ops["ttnn.halves"]["results"] == [{"name": "low"}, {"name": "high"}]
    assert ops["ttnn.halves"]["operands"] == [{"name": "input"}, {"name": "bias", "optional": True}]


def test_nothing_is_written_when_nothing_changed(new_ops: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in new_ops.rglob("*.inc")}
    assert described(new_ops, NEW_OPS).returncode == 0
    assert before and before == {path: path.stat().st_mtime_ns for path in before}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('"ttnn.nosuch": Row("...")', "no op is called ttnn.nosuch"),
        ('"ttnn.topk": Row("..., depth")', "ttnn.topk: depth: the op has neither operand nor attribute 'depth'"),
        ('"ttnn.topk": Row("input_tensor, k")', "ttnn.topk: nothing takes dim, largest, sorted"),
        ('"ttnn.topk": Row("..., k=")', "ttnn.topk: 'k=' is no parameter"),
    ],
)
def test_a_wrong_override_is_told(tmp_path: Path, row: str, message: str) -> None:
    shutil.copytree(OPGEN, tmp_path / "opgen", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "opgen" / "functions.py").open("a", encoding="utf-8") as overrides:
        overrides.write(f"FUNCTIONS |= {{{row}}}\n")
    ran = described(tmp_path, 'include "ttmlir/Dialect/AllOps.td"\n', tmp_path / "opgen")
    assert ran.returncode == 1 and f"functions.py: {message}" in ran.stderr


def test_the_runtime_checks_what_the_dialects_say() -> None:
    """Operands, results and attributes of every op with a kernel are those of the description that Python reads."""
    shapes = {"ints": "int_array", "floats": "float_array", "symbol": "int", "symbols": "int_array"}
    ops, kinds = description()["ops"], description()["kinds"]
    # What the writer adds: the chip for which kernels were compiled.
    written = {"ttnn.generic": {"arch": ("string", True)}}
    for name, row in runtime.list_ops().items():
        op = ops.get(name, ops["ttnn.typecast"])  # ttnn.to_dtype
        expected = {
            a["name"]: (shapes.get(kinds[a["kind"]]["shape"], kinds[a["kind"]]["shape"]),
                        not a.get("optional") and "default" not in a)
            for a in op.get("attributes", ())
            if kinds[a["kind"]].get("shape")
        } | written.get(name, {})  # fmt: skip
        assert {a: (spec["kind"], spec["required"]) for a, spec in row["attributes"].items()} == expected, name
        tensors = [o for o in op.get("operands", ()) if "what" not in o]
        assert row["max_ins"] == (None if any("variadic" in o for o in tensors) else len(tensors)), name
        assert row["outs"] == (
            -1 if any("variadic" in r for r in op.get("results", ())) else len(op.get("results", ()))
        )


def test_the_page_says_what_is_in_the_files() -> None:
    """docs/adding-an-op.md shows the rows of an op as they are."""
    page = (ROOT / "docs" / "adding-an-op.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w/.\-]+)` \| `(.*?)` \|", page, re.M)
    assert len(rows) >= 4
    for path, row in rows:
        if " " in row or '"' in row:
            assert row in (ROOT / path).read_text(encoding="utf-8"), path
    assert "ttnn.log2" in runtime.list_ops() and any(f.name == "log2" for f in native.functions())
