# SPDX-License-Identifier: Apache-2.0
"""Targets "emitc" and "emitpy": files, names, editing and running them, and what goes wrong."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from builder.base.builder_apis import (
    build_module,
    compile_and_execute_ttir,
    compile_ttir_module_to_flatbuffer,
    compile_ttir_to_flatbuffer,
    execute_cpp,
    execute_py,
)
from builder.base.errors import (
    TTBuilderCompileException,
    TTBuilderGoldenException,
    TTBuilderRuntimeException,
)
from builder.execution import cpp_library

RUN = {"emitc": execute_cpp, "emitpy": execute_py}
SUFFIX = {"emitc": ".cpp", "emitpy": ".py"}
WEIGHTS = torch.sin(7.0 * torch.arange(32 * 32)).reshape(32, 32)


def model(builder: Any) -> None:
    @builder.func([(32, 32)], [torch.float32])
    def modela(in0: Any, builder: Any) -> Any:
        weights = builder.constant(WEIGHTS, loc="encoder.0/weights")
        scores = builder.matmul(in0, weights, loc="encoder.0/scores")
        return builder.sum(scores, dim_arg=[1], keep_dim=True)


def two_programs(builder: Any) -> None:
    @builder.func([(4, 4)], [torch.float32])
    def main(in0: Any, builder: Any) -> Any:
        return builder.exp(in0)

    @builder.func([(8, 8), (8, 8)], [torch.bfloat16, torch.bfloat16])
    def second(in0: Any, in1: Any, builder: Any) -> Any:
        return builder.add(in0, in1), builder.subtract(in0, in1)


def compiled(target: str, module: Any = model, **options: Any) -> tuple[Path, Any]:
    _, path, goldens, _ = compile_ttir_to_flatbuffer(module, target=target, **options)
    return Path(path), goldens


def edited(path: Path, old: str, new: str) -> Path:
    text = path.read_text()
    assert old in text, text
    path.write_text(text.replace(old, new, 1))
    return path


@pytest.mark.long
@pytest.mark.parametrize("target", RUN)
def test_files_and_names(target: str) -> None:
    path, goldens = compiled(target)
    assert path == Path("ttir-builder-artifacts") / target / f"test_ttnn.mlir{SUFFIX[target]}"
    folder = path.parent
    assert {p.name for p in folder.iterdir()} == {path.name, "test_ttnn.mlir.tensors"}
    assert [p.name for p in (folder / "test_ttnn.mlir.tensors").iterdir()] == ["encoder_0_weights.tensorbin"]
    text = path.read_text()
    assert "encoder_0_scores = ttnn" in text
    assert max(map(len, text.splitlines())) <= 120
    report = RUN[target](path, goldens, pcc=0.999)
    assert report.passed and [p.name for p in report.programs] == ["modela"]


@pytest.mark.long
@pytest.mark.parametrize("target", RUN)
def test_constants_of_an_earlier_program_go(target: str) -> None:
    path, _ = compiled(target)
    assert (path.parent / "test_ttnn.mlir.tensors").is_dir()
    path, goldens = compiled(target, two_programs)
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    report = RUN[target](path, goldens)
    assert [(p.name, len(p.outputs)) for p in report.programs] == [("main_", 1), ("second", 2)]


@pytest.mark.parametrize("target", [*RUN, "ttnn"])
def test_nothing_is_written_when_told_so(target: str) -> None:
    _, data, _, _ = compile_ttir_to_flatbuffer(model, target=target, artifact_dir=None)
    assert list(Path().iterdir()) == []
    assert isinstance(data, bytes if target == "ttnn" else str) and b"sum" in (
        data if isinstance(data, bytes) else data.encode()
    )


@pytest.mark.long
@pytest.mark.parametrize("target", RUN)
def test_module_and_executor(target: str) -> None:
    module, builder = build_module(model, "ttir")
    text, *_ = compile_ttir_module_to_flatbuffer(module, builder, target=target)
    assert "encoder_0_scores" in text and list(Path().iterdir()) == []
    path, goldens, _ = compile_ttir_module_to_flatbuffer(
        module, builder, target=target, save_artifacts=True, artifact_dir="made"
    )
    assert Path(path).parent == Path("made") and RUN[target](path, goldens).passed
    assert compile_and_execute_ttir(model, target=target).passed
    assert compile_and_execute_ttir(model, target=target, save_artifacts=True, output_root="saved").passed
    assert next(Path("saved").rglob(f"*{SUFFIX[target]}"))


def test_the_script_runs() -> None:
    path, _ = compiled("emitpy")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=environment)
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("modela: ") and "32" in found.stdout


@pytest.mark.long
@pytest.mark.parametrize("target", RUN)
def test_inputs_of_its_own(target: str) -> None:
    path, _ = compiled(target, two_programs)
    report = RUN[target](path)
    assert report.passed and [len(p.records) for p in report.programs] == [0, 0]


@pytest.mark.long
@pytest.mark.parametrize("target", RUN)
def test_a_changed_op_is_found_by_the_goldens(target: str) -> None:
    """And changed back, the program passes again: the library of the first run is used."""
    path, goldens = compiled(target)
    text = path.read_text()
    assert RUN[target](path, goldens).passed
    call = {"emitc": "ttnn::sum(", "emitpy": "ttnn.sum("}[target]
    edited(path, call, call.replace("sum", "max"))
    with pytest.raises(TTBuilderGoldenException, match=r"output_0 \(.*\): PCC .*, largest error"):
        RUN[target](path, goldens)
    path.write_text(text)
    assert RUN[target](path, goldens).passed


# ---------------------------------------------------------------------- the compiler


@pytest.fixture
def counting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compiler that writes a line for each call, and a cache of its own."""
    log = tmp_path / "calls"
    wrapper = tmp_path / "compiler.sh"
    wrapper.write_text(f'#!/bin/sh\necho call >> {log}\nexec c++ "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("CXX", str(wrapper))
    monkeypatch.setenv("TTMLIR_CACHE_DIR", str(tmp_path / "cache"))
    return log


@pytest.mark.long
def test_the_same_code_is_compiled_once(counting: Path) -> None:
    path, goldens = compiled("emitc")
    for calls in (1, 1):
        execute_cpp(path, goldens)
        assert counting.read_text().count("call") == calls
    (path.parent / "mine.hpp").write_text("inline constexpr int64_t dim = 1;\n")
    edited(path, "#include <ttnn/ttnn.hpp>", '#include <ttnn/ttnn.hpp>\n#include "mine.hpp"')
    edited(path, "/*dim=*/{1}", "/*dim=*/{dim}")
    execute_cpp(path, goldens)
    assert counting.read_text().count("call") == 2
    execute_cpp(path, goldens)
    assert counting.read_text().count("call") == 2
    (path.parent / "mine.hpp").write_text("// changed\ninline constexpr int64_t dim = 0;\n")
    with pytest.raises(TTBuilderGoldenException):
        execute_cpp(path, goldens)
    assert counting.read_text().count("call") == 3


@pytest.mark.long
@pytest.mark.parametrize("name", ["c++", pytest.param("clang++-22", marks=pytest.mark.slow)])
def test_headers_are_precompiled(name: str, counting: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Behind the first programs of a cache, and again when a header changes; not where the compiler cannot."""
    wrapper, header, source = (tmp_path / each for each in ("compiler.sh", "mine.hpp", "program.cpp"))
    wrapper.write_text(
        f'#!/bin/sh\ncase "$*" in *c++-header*) echo header ;; *-include*) echo with ;; *) echo without ;; esac '
        f'>> {counting}\nexec {name} "$@"\n'
    )
    monkeypatch.setattr(cpp_library, "PROGRAMS_BEFORE", 1)
    monkeypatch.setattr(cpp_library, "HEADERS", ("tt/types.h",))
    monkeypatch.setattr(cpp_library, "FLAGS", (*cpp_library.FLAGS, f"-I{tmp_path}"))

    def calls(extra: str) -> list[str]:
        counting.write_text("")
        source.write_text(f"#include <tt/types.h>\nconst tt::Shape shape{{1}};\n{extra}")
        cpp_library.compiled([source])
        return counting.read_text().split()

    assert calls("") == ["without"]
    assert calls("int one;\n") == ["header", "with"]
    header.write_text("int two;\n")
    assert calls('#include "mine.hpp"\n') == ["with"]
    assert calls('#include "mine.hpp"\n') == []
    header.write_text("int three = shape;\n")
    with pytest.raises(TTBuilderRuntimeException, match=r"mine.hpp:1:\d+: error: "):
        calls('#include "mine.hpp"\n')
    monkeypatch.setattr(cpp_library, "HEADERS", ("tt/types.h", "mine.hpp"))
    header.write_text("int four;\n")
    (folder,) = (tmp_path / "cache" / "programs" / "headers").iterdir()
    (folder / "record.json").write_text("{")
    assert calls("int five;\n") == ["header", "with"]
    header.write_text("int six;\n")  # a header that the library has
    assert calls("int five;\n") == ["header", "with"]
    assert calls("int four;\n") == ["with"]  # would be there twice with the form made before
    monkeypatch.setenv("CXX", f"{wrapper} -DFLAG")
    assert calls("#ifndef FLAG\n#error\n#endif\n") == ["header", "with"]


def test_precompiled_headers_that_fail(counting: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The compiler is a script: $GENERATES is what it does for the form, and programs fail with a form not good."""
    wrapper, header, source = (tmp_path / each for each in ("compiler.py", "mine.hpp", "program.cpp"))
    wrapper.write_text(f"""#!{sys.executable}
import os, pathlib, sys
words, log = sys.argv[1:], open({str(counting)!r}, "a")
output, depends = (pathlib.Path(words[words.index(option) + 1]) for option in ("-o", "-MF"))
form = "-include" in words and pathlib.Path(words[words.index("-include") + 1] + ".gch").read_text()
depends.write_text("x: {header}\\n")
if "c++-header" in words:
    print("header", file=log)
    exec(os.environ["GENERATES"])
else:
    print("with" if form else "without", file=log)
    if form and form != "good":
        sys.exit("a form of another compiler")
    output.write_text("library")
""")
    wrapper.chmod(0o755)
    monkeypatch.setattr(cpp_library, "PROGRAMS_BEFORE", 0)
    header.write_text("")

    def calls(number: int, generates: str) -> list[str]:
        """The calls for the program with this number."""
        monkeypatch.setenv("GENERATES", generates)
        counting.write_text("")
        source.write_text(f"int number = {number};\n")
        cpp_library.compiled([source])
        return counting.read_text().split()

    def fresh(name: str) -> Path:
        """Begins an empty cache. Returns where the folder of forms will be."""
        monkeypatch.setenv("TTMLIR_CACHE_DIR", str(tmp_path / name))
        monkeypatch.setenv("CXX", f"{wrapper} -D{name}")
        return tmp_path / name / "programs" / "headers"

    good = "output.write_text('good')"
    fresh("good")
    assert [calls(number, good) for number in (0, 1, 0)] == [["header", "with"], ["with"], []]

    # The compiler cannot make one: it is called again after a time only.
    folder = fresh("none")
    assert [calls(number, "sys.exit(1)") for number in (0, 1)] == [["header", "without"], ["without"]]
    os.utime(next(folder.iterdir()) / "refused", (0, 0))
    assert calls(2, good) == ["header", "with"]
    # Programs of before stay valid.
    assert [calls(number, good) for number in (0, 1, 2)] == [[], [], []]

    # The compiler refuses it: programs are compiled without, and it is gone.
    fresh("refused")
    assert calls(0, "output.write_text('bad')") == ["header", "with", "without"]
    assert calls(1, good) == ["without"]

    # A header changes while the compiler reads it: the form is not kept.
    fresh("changed")
    edit = f"import time; time.sleep(0.05); pathlib.Path({str(header)!r}).write_text('// edited'); {good}"
    assert calls(0, edit) == ["header", "without"]
    assert calls(1, good) == ["header", "with"]

    # Another process generates it, or was ended while it did.
    folder = fresh("ended")
    assert calls(0, edit) == ["header", "without"]
    (own,) = folder.iterdir()
    (own / "generatingX").mkdir()
    with open(own / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert calls(1, good) == ["without"]
    assert calls(2, good) == ["header", "with"]
    assert not (own / "generatingX").exists()


def test_no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path, goldens = compiled("emitc")
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TTBuilderRuntimeException, match=r"no C\+\+ compiler: .* \(apt install g\+\+\) or set CXX"):
        execute_cpp(path, goldens)
    monkeypatch.setenv("CXX", "no-such-compiler -O2")
    with pytest.raises(TTBuilderRuntimeException, match="CXX is 'no-such-compiler', which cannot be run"):
        execute_cpp(path, goldens)
    monkeypatch.setenv("CXX", "g++ 'a")
    with pytest.raises(TTBuilderRuntimeException, match="which is no command: No closing quotation"):
        execute_cpp(path, goldens)


@pytest.mark.long
def test_a_mistake_in_cpp() -> None:
    path, goldens = compiled("emitc")
    line = next(i for i, text in enumerate(path.read_text().splitlines(), 1) if "ttnn::sum(" in text)
    edited(path, "ttnn::sum(", "ttnn::sun(")
    with pytest.raises(TTBuilderRuntimeException) as caught:
        execute_cpp(path, goldens)
    message = str(caught.value)
    assert "does not compile" in message and f"{path.resolve()}:{line}:" in message and "sun" in message
    assert len(message.splitlines()) <= 8


@pytest.mark.long
def test_a_refused_call_in_cpp() -> None:
    path, goldens = compiled("emitc")
    edited(path, "/*dim=*/{1}", "/*dim=*/{7}")
    with pytest.raises(TTBuilderRuntimeException, match=r"program 'modela': ttnn\.sum.*7"):
        execute_cpp(path, goldens)


@pytest.mark.long
def test_no_programs_in_cpp(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text("#include <ttnn/program.hpp>\nint a;\n")
    with pytest.raises(TTBuilderRuntimeException, match=r"offers no programs: it has no TTNN_PROGRAM"):
        execute_cpp(tmp_path / "a.cpp")
    (tmp_path / "b.cpp").write_text("int b;\n")
    with pytest.raises(TTBuilderRuntimeException, match="offers no programs: it has no TTNN_PROGRAM"):
        execute_cpp(tmp_path / "b.cpp")
    with pytest.raises(TTBuilderRuntimeException, match=r"cannot read .*missing\.cpp: No such file"):
        execute_cpp(tmp_path / "missing.cpp")


def test_a_cache_that_cannot_be_written_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path, goldens = compiled("emitc")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TTMLIR_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(TTBuilderRuntimeException, match=r"cannot keep the compiled program in .*file"):
        execute_cpp(path, goldens)


# ---------------------------------------------------------------------- Python


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ttnn.sum(", "ttnn.sun(", r"program 'modela' failed: AttributeError: .*sun.*\n.*py:\d+: in modela"),
        ("ttnn.sum(", "ttnn.sum((", r"test_ttnn.mlir.py:\d+: SyntaxError: "),
        ("import ttnn\n", "import ttnm\n", r"ModuleNotFoundError: No module named 'ttnm'\n.*py:\d+: in <module>"),
        ("dim=[1]", "dim=[7]", r"program 'modela' failed: .*ttnn\.sum.*7.*\n.*py:\d+: in modela"),
        ("create_inputs_for_modela(", "other(", r"has no programs: functions with a create_inputs_for_<name>"),
    ],
)  # fmt: skip
def test_a_mistake_in_python(old: str, new: str, message: str) -> None:
    path, goldens = compiled("emitpy")
    edited(path, old, new)
    with pytest.raises(TTBuilderRuntimeException, match=message) as caught:
        execute_py(path, goldens)
    assert "builder/base" not in str(caught.value)


def test_no_such_python_file() -> None:
    with pytest.raises(TTBuilderRuntimeException, match=r"cannot read .*a\.py: No such file"):
        execute_py("a.py")


# ---------------------------------------------------------------------- arguments


@pytest.mark.long
@pytest.mark.parametrize("target", RUN)
def test_inputs_of_another_program(target: str) -> None:
    path, _ = compiled(target)
    values = torch.zeros(32, 32)
    with pytest.raises(TTBuilderRuntimeException, match="program 'modela' takes 1 inputs, 2 were given"):
        RUN[target](path, {0: {"input_0": values, "input_1": values}})
    with pytest.raises(TTBuilderRuntimeException, match=r"input 0 has shape \[3, 3\], the program takes \[32, 32\]"):
        RUN[target](path, {0: {"input_0": torch.zeros(3, 3)}})
    with pytest.raises(TTBuilderRuntimeException, match="no goldens for program 0"):
        RUN[target](path, {1: {"input_0": values}})


@pytest.mark.parametrize("target", [*RUN, "ttnn"])
def test_folder_that_cannot_be_created(target: str) -> None:
    Path("file").write_text("")
    with pytest.raises(TTBuilderCompileException, match=r"cannot write file/.*: Not a directory"):
        compile_ttir_to_flatbuffer(model, target=target, output_root="file")


def test_targets() -> None:
    with pytest.raises(TTBuilderCompileException, match=r"no target 'emitpi'; did you mean 'emitpy'\?"):
        compile_ttir_to_flatbuffer(model, target="emitpi")
