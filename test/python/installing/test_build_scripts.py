# SPDX-License-Identifier: Apache-2.0
"""The build: scripts/progress.sh (jobs under one bar, in logs of CI and on a terminal) and tools/opgen/split.py."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCRIPTS = ROOT / "scripts"
COUNT = 'for i in 1 2 3 4; do echo "[$i/4] compiling x"; sleep 0.4; done'


def script(folder: Path, body: str) -> list[str]:
    """The command that runs `body`, written over progress.sh, in `folder`."""
    file = folder / "job.sh"
    file.write_text(f"set -euo pipefail\ncd {folder}\nsource {SCRIPTS / 'progress.sh'}\n{body}\n")
    return ["bash", str(file)]


def run(folder: Path, body: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(script(folder, body), capture_output=True, text=True, timeout=1200)


def alive(marker: str) -> bool:
    return subprocess.run(["pgrep", "-f", marker], capture_output=True).returncode == 0


@pytest.mark.long
def test_log_has_a_line_for_each_step_and_progress(tmp_path):
    done = run(tmp_path, f"step compiling 0 500; run build bash -c '{COUNT}'; step testing 500 1000; run tests true")
    assert done.returncode == 0, done.stderr
    lines = [re.sub(r" +\d+s  ", " ", line) for line in done.stdout.splitlines()]
    assert lines[0] == "[  0%] compiling" and "[ 50%] testing" in lines
    assert any(re.fullmatch(r"\[ *\d+%\] compiling [1-4]/4", line) for line in lines)
    assert "\r" not in done.stdout and "\033" not in done.stdout
    assert (tmp_path / "build/log/build.log").read_text().count("compiling x") == 4


@pytest.mark.parametrize("front", [True, False], ids=["in front", "in the background"])
def test_a_job_that_fails_ends_the_rest_with_the_end_of_its_log(tmp_path, front):
    bad = "bash -c 'echo no network; exit 3'"
    others = f"start other 'other things' sleep 4711.{os.getpid()}"
    body = f"{others}; run python {bad}" if front else f"start python packages {bad}; {others}; wait_for other"
    done = run(tmp_path, f"step packages 0 1000; {body}; echo not reached")
    assert done.returncode == 1 and "not reached" not in done.stdout
    assert done.stderr == "error: python failed (exit code 3); the end of build/log/python.log:\nno network\n"
    assert not alive(f"sleep 4711.{os.getpid()}")


def test_an_interrupt_on_a_terminal_ends_every_job(tmp_path):
    marker = f"sleep 4712.{os.getpid()}"
    command = script(tmp_path, f"step compiling 0 1000; start far 'far away' {marker}; run build {marker}")
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(command[0], command)
    shown = b""
    while b"far away" not in shown:
        shown += os.read(terminal, 4096)
    os.write(terminal, b"\x03")
    while True:
        try:
            shown += os.read(terminal, 4096)
        except OSError:  # the terminal is closed with its last program
            break
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 130
    assert b"interrupted" in shown and b"\r\033[K" in shown
    assert not alive(marker)


@pytest.mark.long
def test_a_job_that_heeds_no_request_is_killed(tmp_path):
    marker = f"4714.{os.getpid()}"
    job = f"""bash -c 'trap "" TERM; echo ready; sleep {marker}; sleep {marker}'"""
    done = run(tmp_path, f"start deaf deaf {job}; wait_for_line deaf ready; exit 3")
    assert done.returncode == 3
    for _ in range(100):  # a process that was killed takes its time to go
        if not alive(f"sleep {marker}"):
            break
        time.sleep(0.05)
    assert not alive(f"sleep {marker}")


def test_a_job_that_is_killed_is_an_error(tmp_path):
    done = run(tmp_path, "step compiling 0 1000; run build bash -c 'kill -9 $PPID; sleep 9'")
    assert (
        done.returncode == 1
        and "error: build failed (exit code killed); the end of build/log/build.log:" in done.stderr
    )


def test_a_line_of_a_log_is_waited_for(tmp_path):
    marker = f"4713.{os.getpid()}"
    job = f"bash -c 'echo ready; sleep {marker}; echo end'"
    done = run(tmp_path, f"start python packages {job}; wait_for_line python ready; cat build/log/python.log")
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "ready"
    assert not alive(f"sleep {marker}")
    done = run(tmp_path, "start python packages echo ready; wait_for_line python steady")
    assert done.returncode == 1 and done.stderr.startswith('error: python failed (exit code 0, without "steady")')


def divide(folder: Path, parts: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools/opgen/split.py"), str(folder / "NOps"), str(parts), "d/IR/N.h"]
    return subprocess.run(command, capture_output=True, text=True, timeout=1200)


@pytest.mark.long
@pytest.mark.parametrize("optional", ["ON", "OFF"])
def test_a_new_folder_is_configured(tmp_path, optional):
    parts = [f"-DTTMLIR_BUILD_OPTIONAL={optional}", "-DTTMLIR_BUILD_TESTS=OFF", "-DTTRT_TESTS=OFF"]
    command = ["cmake", "--preset", "dev", "-B", str(tmp_path / "build"), "-DTTMLIR_BUILD_PYTHON=ON", *parts]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr


RULE = "//===" + "-" * 70 + "===//\n"
CONSTRAINT = """static ::llvm::LogicalResult __mlir_ods_local_type_constraint_NOps{0}(
    ::mlir::Operation *op) {{
  return ::mlir::success();
}}
"""


def generate(folder: Path, descriptions: dict[str, str], bodies: dict[str, str], base: str = "Op<ReturnOp>") -> None:
    """Returns mlir-tblgen's output for a dialect `a::n` with these op classes."""

    def whole(kind: str, head: str, texts: dict[str, str]) -> str:
        ops = "".join(f"namespace a::n {{\n\n{RULE}// ::a::n::{op} {kind}\n{RULE}{texts[op]}}}\n" for op in texts)
        return f"#ifdef GET_OP_CLASSES\n{head}{ops}\n#endif // GET_OP_CLASSES\n"

    classes = {op: f"\n  /// {text}\nclass {op} : {base} {{}};\n" for op, text in descriptions.items()}
    (folder / "NOps.all.h.inc").write_text(whole("declarations", "", classes))
    head = CONSTRAINT.format(1) + CONSTRAINT.format(2)
    (folder / "NOps.all.cpp.inc").write_text(whole("definitions", head, bodies))


def test_generated_ops_are_divided_and_unchanged_files_kept(tmp_path):
    def written() -> dict[str, int]:
        files = [*tmp_path.glob("NOps*"), *tmp_path.glob("Ops/*")]
        return {str(f.relative_to(tmp_path)): f.stat().st_mtime_ns for f in files if ".all." not in f.name}

    descriptions = {"AddOp": "one; description", "MulOp": "another", "ReturnOp": "the end"}
    bodies = {
        "AddOp": '"first; [x]\\n" __mlir_ods_local_type_constraint_NOps2(op)\n',
        "MulOp": '"second"\n',
        "ReturnOp": '"third"\n',
    }
    generate(tmp_path, descriptions, bodies)
    assert divide(tmp_path, 2).returncode == 0
    header = (tmp_path / "Ops/AddOp.h").read_text()
    assert '#include "d/IR/N.h"' in header and "description" not in header and "class AddOp : Op<ReturnOp>" in header
    assert "class ReturnOp;" in header  # declared: a terminator is named before its own header is read
    assert (tmp_path / "NOps.h").read_text() == "".join(f'#include "d/IR/Ops/{op}.h"\n' for op in descriptions)
    assert (tmp_path / "NOps.names").read_text().split() == list(descriptions)
    parts = [(tmp_path / f"NOps{part}.cpp.inc").read_text() for part in range(2)]
    for op, body in bodies.items():
        (part,) = (part for part in parts if body in part)  # each op in one part,
        assert f'#include "d/IR/Ops/{op}.h"' in part  # with its header and what registers it
        assert f"::mlir::tt::registerOp<{op}>(dialect);" in part
    (first,) = (part for part in parts if "first" in part)
    assert "LogicalResult __mlir_ods_local_type_constraint_NOps2" in first  # a constraint only where it is called
    assert "constraint_NOps1" not in parts[0] + parts[1]
    assert "void registerNOps(::mlir::Dialect &dialect)" in parts[0]

    before = written()
    generate(tmp_path, descriptions | {"AddOp": "other words"}, bodies | {"MulOp": '"second, changed"\n'})
    assert divide(tmp_path, 2).returncode == 0
    (changed,) = (file for file, time in written().items() if time != before[file])
    assert changed in ("NOps0.cpp.inc", "NOps1.cpp.inc") and "changed" in (tmp_path / changed).read_text()

    generate(tmp_path, {"AddOp": "alone"}, {"AddOp": bodies["AddOp"]})  # ops that go take their headers with them
    assert divide(tmp_path, 2).returncode == 0
    assert [f.name for f in (tmp_path / "Ops").iterdir()] == ["AddOp.h"]

    (tmp_path / "NOps.all.h.inc").write_text("class A;\n")
    outcome = divide(tmp_path, 2)
    assert outcome.returncode != 0 and "has no sections of ops" in outcome.stderr


@pytest.mark.parametrize(("members", "together"), [(2, True), (16, True), (17, False)])
def test_ops_of_a_small_family_are_one_part(tmp_path, members, together):
    """Puts ops of a small family into one part, and those of a large one into parts of their own."""
    bodies = {f"Op{n}": f'"body {n}"\n' for n in range(members)}
    generate(tmp_path, dict.fromkeys(bodies, "one"), bodies, "Op<ReturnOp, ::mlir::tt::trait::Kind>")
    assert divide(tmp_path, 2).returncode == 0
    parts = [(tmp_path / f"NOps{part}.cpp.inc").read_text() for part in range(2)]
    assert [sum(body in part for body in bodies.values()) for part in parts].count(0) == int(together)
    assert all(sum(body in part for part in parts) == 1 for body in bodies.values())


ROW = """  using Op::Op;
  static constexpr ::llvm::StringLiteral getOperationName() {{
    return ::llvm::StringLiteral("n.{0}");
  }}
  // {0}
"""


def test_rows_share_a_class(tmp_path):
    """Keeps one class for rows that are equal but for their names, and refuses rows whose definitions differ."""
    bodies = {op: f'{op}::verify() {{ check("n.{op[:3]}"); }}\n' for op in ("AbsOp", "CosOp", "SinOp")}
    path = tmp_path / "NOps.all.h.inc"

    def rows(bodies: dict[str, str]) -> None:
        generate(tmp_path, {**dict.fromkeys(bodies, "one"), "TanOp": "no row"}, bodies | {"TanOp": '"tan"\n'})
        text = path.read_text()
        for op in bodies:
            body = ROW.format(op[:3])
            text = text.replace(f"class {op} : Op<ReturnOp> {{", f"class {op} : Op<::mlir::tt::trait::Row> {{\n{body}")
        path.write_text(text)

    rows(bodies)
    assert divide(tmp_path, 1).returncode == 0
    assert (tmp_path / "NOps.names").read_text().split() == ["AbsOpRows", "TanOp"]
    assert sorted(f.name for f in (tmp_path / "Ops").iterdir()) == ["AbsOpRows.h", "TanOp.h"]
    header, code = ((tmp_path / name).read_text() for name in ("Ops/AbsOpRows.h", "NOps0.cpp.inc"))
    assert "static bool classof(::mlir::Operation *op) { return ::mlir::tt::hasRowClass<AbsOpRows>(op); }" in header
    assert '::mlir::tt::registerRows<AbsOpRows>(dialect, {"n.Abs", "n.Cos", "n.Sin"});' in code
    assert code.count("::verify()") == 1 and "registerOp<TanOp>" in code

    rows(bodies | {"SinOp": "SinOp::verify() { other(); }\n"})
    outcome = divide(tmp_path, 1)
    assert outcome.returncode == 1
    assert outcome.stderr == "split: AbsOp and SinOp are rows with one interface and different definitions\n"


BUILDER, STATE = "::mlir::OpBuilder &odsBuilder, ::mlir::OperationState &odsState", "  odsState.addOperands(x);\n"
INFER = "  ::llvm::SmallVector<::mlir::Type, 2> inferredReturnTypes;\n  if (failed) {\n  }\n"


def test_unused_builders_are_dropped(tmp_path):
    """Drops unused builders: with the type of the result, with a range that may hold it, without."""
    value, seed = "::mlir::Value x, bool keep", "::mlir::ElementsAttr value"
    single, ranged = f"::mlir::Type result, {value}", f"::mlir::TypeRange resultTypes, {value}"
    several = "::mlir::TypeRange resultTypes, ::mlir::Value y"
    builders = {single: STATE, ranged: STATE, value: INFER, several: STATE, seed: INFER}
    declared = "".join(
        f"  static void build({BUILDER}, {each}{' = {}' if each == several else ''});\n"
        f"  static AddOp create(::mlir::OpBuilder &builder, ::mlir::Location location, {each});\n"
        f"  static AddOp create(::mlir::ImplicitLocOpBuilder &builder, {each});\n"
        for each in builders
    )
    defined = "".join(
        f"void AddOp::build({BUILDER}, {each}) {{\n{body}}}\n\n"
        f"AddOp AddOp::create(::mlir::OpBuilder &builder, ::mlir::Location location, {each}) {{\n  return made;\n}}\n\n"
        for each, body in builders.items()
    )
    generate(tmp_path, {"AddOp": "one"}, {"AddOp": defined})
    path = tmp_path / "NOps.all.h.inc"
    head = "class AddOp : Op<ReturnOp> {"
    path.write_text(path.read_text().replace(head, f"{head}\n{declared}"))
    assert divide(tmp_path, 1).returncode == 0
    header, code = ((tmp_path / name).read_text() for name in ("Ops/AddOp.h", "NOps0.cpp.inc"))
    kept = [single, several, seed]
    assert re.findall(r"static void build\(.*?odsState, (.*?)(?: = {})?\);", header) == kept
    assert re.findall(r"void AddOp::build\(.*?odsState, (.*?)\) {", code) == kept
    assert header.count(" create(") == 1 and "createOp<AddOp>(builder, std::forward" in header
    assert "::create(" not in code and code.count(INFER) == 1


@pytest.mark.parametrize("dialect", ["TTIR", "TTNN"])
def test_only_tables_that_name_most_ops_include_all_of_a_dialect(dialect):
    """Each of these is compiled again when any op changes."""
    header = f'#include "ttmlir/Dialect/{dialect}/IR/{dialect}Ops.h"'
    sources = [f for folder in ("include", "lib", "python", "tools") for f in (ROOT / folder).rglob("*.[ch]*")]
    texts = {f.name: f.read_text() for f in sources if f.suffix in (".h", ".cpp")}
    names = {name: len(set(re.findall(r"\b\w+Op\b", text))) for name, text in texts.items() if header in text}
    assert names and min(names.values()) >= 16, names
    assert not any(name.endswith(".h") for name in names), names
