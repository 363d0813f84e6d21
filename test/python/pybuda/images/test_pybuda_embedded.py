# SPDX-License-Identifier: Apache-2.0
"""Device images from C++: the program of the user guide, and everything that it may do wrong."""

from __future__ import annotations

import itertools
import os
import random
import re
import shutil
import signal
import subprocess
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pybuda
import pytest
import torch
import ttnn
from modules import Function, Product, read
from pybuda.pybudaglobal import pybuda_reset
from pybuda.tools.tti_merge import merge_models
from test_pybuda_images import DAMAGED, described, rewritten, with_kernels

SOURCE = Path(__file__).with_name("embedded.cpp")
GUIDE = Path(__file__).resolve().parents[4] / "docs" / "pybuda.md"
W = torch.linspace(-1, 1, 12).reshape(4, 3)
B = torch.tensor([0.5, -1.0, 2.0])
X = torch.linspace(-2, 2, 8).reshape(2, 4)
OUT = "product.output_add"


def compiled(folder: Path, source: Path) -> Path:
    compiler = os.environ.get("CXX") or next(filter(shutil.which, ("c++", "g++", "clang++")), None)
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    program = folder / source.stem
    command = [compiler, "-std=c++17", "-Wall", "-Wextra", str(source), *ttnn.config.backend_flags()]
    result = subprocess.run([*command, "-o", str(program)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return program


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("embedded"), SOURCE)


@pytest.fixture(autouse=True)
def _stored_for_cpp(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYBUDA_TTI_BACKEND_FORMAT", "1")
    monkeypatch.chdir(tmp_path)


def save(path: Path, module: Any, *inputs: torch.Tensor, dump_format: str = "default") -> Path:
    pybuda_reset()
    pybuda.set_configuration_options(default_df_override=pybuda.DataFormat.Float32)
    pybuda.config._get_global_compiler_config().tti_dump_format = dump_format
    pybuda.TTDevice("tt0", module=module).compile_to_image(img_path=path, sample_inputs=inputs)
    pybuda_reset()
    return path


def product(path: Path, dump_format: str = "default") -> Path:
    return save(path, Product("product", W, B), X, dump_format=dump_format)


def started(program: Path, image: Path, *words: object) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([program, image, "tt_build/out", *map(str, words)], stdout=pipe, stderr=pipe, text=True)


def ran(program: Path, image: Path, *words: object, code: int = 0) -> tuple[list[str], str]:
    """Returns the output of commands, a line each, and the errors."""
    process = started(program, image, *words)
    said, errors = process.communicate(timeout=1200)
    assert process.returncode == code, said + errors
    return said.splitlines(), errors


def values(x: torch.Tensor, path: str) -> str:
    Path(path).write_bytes(x.contiguous().view(torch.uint8).numpy().tobytes())
    return path


def read_back(path: str, *shape: int) -> torch.Tensor:
    return torch.frombuffer(bytearray(Path(path).read_bytes()), dtype=torch.float32).reshape(shape)


def expected(x: torch.Tensor) -> np.ndarray[Any, Any]:
    return np.asarray(x.numpy().astype(np.float64) @ W.numpy().astype(np.float64) + B.numpy())


@pytest.mark.long
@pytest.mark.parametrize("tiled", [False, True])
def test_numbers_are_those_of_run_inference(
    embedded: Path, tmp_path: Path, tiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if tiled:
        monkeypatch.delenv("PYBUDA_TTI_BACKEND_FORMAT")
    image = product(tmp_path / "one.tti", "backend_tilized" if tiled else "default")
    with zipfile.ZipFile(image) as archive:
        assert ("tensors/weights.tiles.bin" in archive.namelist()) is tiled
    loops = 3
    pushes = [w for i in range(loops) for w in ("push", "x", values(X + i, f"in{i}"))]
    gets = [w for i in range(loops) for w in ("get", OUT, f"out{i}", "pop", OUT)]
    said, _ = ran(
        embedded, image, "create", "names", "init", "describe", "x", *pushes, "run", "run_fwd_0", loops, *gets,
        "finish",
    )  # fmt: skip
    assert said[1] == f"names: x | {OUT} | run_fwd_0 | Success"
    assert said[3] == "describe: 2 4 format 0 Success"
    assert all(line.endswith("Success") for line in said)
    device = pybuda.TTDevice.load_image(img_path=image)
    for i in range(loops):
        device.push_to_inputs(X + i)
        (reference,) = read(pybuda.run_inference())
        got = read_back(f"out{i}", 2, 3)
        np.testing.assert_allclose(got.numpy(), reference.numpy(), rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(got.numpy(), expected(X + i), rtol=1e-5, atol=1e-5)


@pytest.mark.long
def test_arithmetic_is_that_of_each_image(embedded: Path, tmp_path: Path) -> None:
    """An image that asks for a card's arithmetic and one that does not, in one file."""
    rng = np.random.default_rng(0)
    x, w = (torch.from_numpy(rng.normal(size=(64, 64)).astype(np.float32)) for _ in range(2))
    expected = {}
    for name, fidelity in {"low": pybuda.MathFidelity.LoFi, "plain": None}.items():
        for saves in (False, True):
            pybuda_reset()
            pybuda.set_configuration_options(default_df_override=pybuda.DataFormat.Float32, math_fidelity=fidelity)
            module = Product("product", w, torch.zeros(64))
            if saves:
                image = tmp_path / f"{name}.tti"
                pybuda.TTDevice(name, module=module).compile_to_image(img_path=image, sample_inputs=(x,))
            else:
                expected[name] = module.run(x)[0].value().numpy()
    assert not np.array_equal(expected["low"], expected["plain"])
    both = tmp_path / "both.tti"
    merge_models(str(tmp_path), list(expected), merged_model_location=str(both))
    inputs = values(x, "in")
    words: list[object] = []
    for name in expected:
        words += ["push", f"{name}.x", inputs, "run", f"{name}.run_fwd_0", 1]
        words += ["get", f"{name}.{OUT}", f"out_{name}", "pop", f"{name}.{OUT}"]
    said, _ = ran(embedded, both, "create", "init", *words, "finish")
    assert all(line.endswith("Success") for line in said)
    for name, value in expected.items():
        np.testing.assert_array_equal(read_back(f"out_{name}", 64, 64).numpy(), value)


def guide() -> str:
    (program,) = re.findall(r"```cpp\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.S)
    return str(program)


def test_the_program_of_the_page(tmp_path: Path) -> None:
    """The program of docs/pybuda.md, over the image that the page makes."""
    (tmp_path / "app.cpp").write_text(guide())
    app = compiled(tmp_path, tmp_path / "app.cpp")
    image = product(tmp_path / "layer.tti")
    done = subprocess.run([app, image], capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{OUT}: 6 values"] * 2


def test_values_of_the_backend(embedded: Path, tmp_path: Path) -> None:
    """Compares values of fill_tensor_with_data with those that were computed with."""
    image = product(tmp_path / "one.tti")
    ran(
        embedded, image, "create", "init", "push-dummy", "x", "in", "run", "run_fwd_0", 1, "get", OUT, "out", "finish",
    )  # fmt: skip
    x = read_back("in", 2, 4)
    assert ((x >= 0) & (x < 1)).all() and len(x.unique()) == 8
    np.testing.assert_allclose(read_back("out", 2, 3).numpy(), expected(x), rtol=1e-5, atol=1e-5)


def test_formats_and_several_inputs(embedded: Path, tmp_path: Path) -> None:
    """Inputs are converted to what the queue holds; outputs have the type that Python returns."""
    module = Function("sums", lambda x, y: (pybuda.op.Add("sum", x, y), pybuda.op.Multiply("twice", y, y)))
    x, y = torch.tensor([[1.5, -2.25]], dtype=torch.bfloat16), torch.tensor([[0.5, 3.0]], dtype=torch.bfloat16)
    pybuda_reset()
    device = pybuda.TTDevice("tt0", module=module)
    device.compile_to_image(img_path=tmp_path / "two.tti", sample_inputs=(x, y))
    names = device.placement.output_names() if device.placement else []
    pybuda_reset()
    said, _ = ran(
        embedded, tmp_path / "two.tti", "create", "init", "describe", "inputs_0", "push", "inputs_0", values(x, "x"),
        # In f32, and with outer dimensions of 1.
        "push-as", "inputs_1", values(y.float(), "y"), 0, 4, 1, 1, 1, 2, "run", "run_fwd_0", 1,
        "get", names[0], "sum", "get", names[1], "twice", "finish",
    )  # fmt: skip
    assert "describe: 1 2 format 5 Success" in said
    assert read_back("sum", 1, 2).tolist() == [[2.0, 0.75]]
    assert read_back("twice", 1, 2).tolist() == [[0.25, 9.0]]


def test_entries_of_a_microbatch(embedded: Path, tmp_path: Path) -> None:
    image = product(tmp_path / "one.tti")
    first, second = values(X[:1], "first"), values(X[1:], "second")
    said, _ = ran(
        embedded, image, "create", "init", "seconds", 0, "run", "run_fwd_0", 1, "push-one", "x", first,
        "get", OUT, "none", "push-one", "x", second, "seconds", 5, "get-one", OUT, "a", "pop-one", OUT,
        "get-one", OUT, "b", "pop-one", OUT, "seconds", 0, "pop-one", OUT, "finish",
    )  # fmt: skip
    assert [line.split(": ")[1] for line in said].count("TimeoutError") == 2
    got = torch.cat([read_back(name, 1, 3) for name in ("a", "b")])
    np.testing.assert_allclose(got.numpy(), expected(X), rtol=1e-5, atol=1e-5)


def test_merged_images(embedded: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        product(tmp_path / f"{name}.tti")
    merge_models(str(tmp_path), ["a", "b"], merged_model_location="both.tti")
    said, _ = ran(
        embedded, Path("both.tti"), "create", "names", "init", "push", "b.x", values(X, "in"), "run", "b.run_fwd_0",
        1, "get", f"b.{OUT}", "out", "finish",
    )  # fmt: skip
    assert said[1] == f"names: a.x b.x | a.{OUT} b.{OUT} | a.run_fwd_0 b.run_fwd_0 | Success"
    np.testing.assert_allclose(read_back("out", 2, 3).numpy(), expected(X), rtol=1e-5, atol=1e-5)


WRONG: dict[str, tuple[list[object], str, str]] = {
    "pop before push": (["init", "pop", OUT], "TimeoutError", ""),
    "get before push": (["init", "get", OUT, "out"], "TimeoutError", ""),
    "a full queue": (["init", "seconds", 0, *["push", "x", "in"] * 65], "TimeoutError", ""),
    "not initialized": (["push", "x", "in"], "RuntimeError", "no backend with this output path is initialized"),
    "run, not initialized": (["run", "run_fwd_0", 1], "RuntimeError", "not initialized in this process"),
    "finish, not initialized": (["finish"], "RuntimeError", "not initialized in this process"),
    "twice": (["init", "init"], "RuntimeError", "initialized already"),
    "before the beginning": (
        ["push", "x", "in", "init", "seconds", 0, "pop", OUT],
        "TimeoutError",
        "no backend with this output path",
    ),
    "behind the end": (
        ["init", "finish", "pop", OUT, "init", "seconds", 0, "pop", OUT],
        "TimeoutError",
        "no backend with this output",
    ),
    "after the end": (["init", "finish", "pop", OUT], "RuntimeError", "no backend with this output path"),
    "no program": (["init", "run", "fwd", 1], "RuntimeError", "no program fwd; there are run_fwd_0"),
    "no number": (["init", "run", "run_fwd_0", "two"], "RuntimeError", '$p_loop_count is "two"'),
    "an output": (["init", "push", OUT, "in"], "RuntimeError", f"{OUT} is a queue of outputs"),
    "an input": (["init", "pop", "x"], "RuntimeError", "x is a queue of inputs"),
    "shape": (["init", "push-as", "x", "in", 0, 4, 4, 2], "RuntimeError", "x takes [2, 4]; the tensor has [4, 2]"),
    "rank": (["init", "push-as", "x", "in", 0, 4, 2, 1, 4], "RuntimeError", "the tensor has [2, 1, 4]"),
    "type": (["init", "push-as", "x", "in", 8, 4, 2, 4], "RuntimeError", "x takes f32; the tensor has si32"),
    "format": (["init", "push-as", "x", "in", 6, 1, 2, 4], "RuntimeError", "format 6; expected Float32, Float16"),
    "itemsize": (["init", "push-as", "x", "in", 0, 2, 2, 4], "RuntimeError", "itemsize is 2; f32 has 4 bytes"),
    "unfinished": (["init", "run", "run_fwd_0", 1, "finish"], "RuntimeError", "a program waits: x is empty"),
    "idle": (["init", "run", "run_fwd_0", 1, "idle", 0], "TimeoutError", ""),
}


TWO_ARE_WRONG = ("before the beginning", "behind the end")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    os.environ["PYBUDA_TTI_BACKEND_FORMAT"] = "1"
    try:
        return product(tmp_path_factory.mktemp("images") / "one.tti")
    finally:
        del os.environ["PYBUDA_TTI_BACKEND_FORMAT"]


@pytest.mark.parametrize("name", WRONG)
def test_wrong_use_has_a_status_and_a_reason(embedded: Path, image: Path, name: str) -> None:
    words, status, reason = WRONG[name]
    values(X, "in")
    said, errors = ran(embedded, image, "create", *words)
    assert said[-1].endswith(f": {status}")
    assert sum(not line.endswith(": Success") for line in said) == (2 if name in TWO_ARE_WRONG else 1)
    assert errors == "" if not reason else reason in errors


@pytest.mark.parametrize("words", [("describe", "z"), ("push", "z", "in")])
def test_wrong_names_throw(embedded: Path, image: Path, words: tuple[str, ...]) -> None:
    _, errors = ran(embedded, image, "create", "init", *words, code=1)
    assert f"{image}: there is no queue z; there are x, {OUT}" in errors


def test_damaged_images(embedded: Path, image: Path, tmp_path: Path) -> None:
    """Everything that Python refuses, C++ does."""
    for name, (change, _) in DAMAGED.items():
        damaged = tmp_path / "damaged.tti"
        shutil.copy(image, damaged)

        def renamed(members: dict[str, bytes], change: Any = change) -> None:
            # The rows are about parameters that are stored for Python.
            other = {k.replace(".bin", ".pt"): v for k, v in members.items()}
            change(other)
            members.clear()
            members.update({k.replace(".pt", ".bin"): v for k, v in other.items()})

        _, errors = ran(embedded, rewritten(damaged, renamed), code=1)
        assert errors.startswith(f"{damaged}: "), name


def test_each_byte_of_an_image_counts(embedded: Path, image: Path, tmp_path: Path) -> None:
    """A file that was cut or changed is refused or runs; nothing crashes."""
    whole = image.read_bytes()
    damaged = tmp_path / "damaged.tti"
    for at in range(0, len(whole), len(whole) // 40):
        for text in (whole[:at], whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :]):
            damaged.write_bytes(text)
            process = started(embedded, damaged, "create", "init", "finish")
            _, errors = process.communicate(timeout=1200)
            assert process.returncode in (0, 1), errors
            assert process.returncode == 0 or errors.startswith(f"{damaged}: ")


FOREIGN: dict[str, tuple[Any, str]] = {
    "a program that is cut": (
        lambda m: m.update({k: v[:100] for k, v in m.items() if k.endswith("ttnn")}), "program.ttnn",
    ),
    "kernels in C++": (with_kernels, "program.ttnn: has kernels in C++; an image holds a TTNN program"),
    "fewer arguments": (described(arguments=[1]), "arguments has 1 numbers; the program has 3 inputs"),
    "other results": (described(results=[3]), "results has 3; the program has 1 outputs"),
    "another shape": (described(inputs=[[[2, 5], "float32"]]), "argument 2 is [2, 5]; the program has [2, 4]"),
    "rank 6": (described(inputs=[[[1, 1, 1, 1, 2, 4], "float32"]]), "x has shape [1, 1, 1, 1, 2, 4]"),
    "names": (described(output_names=[]), "1 outputs and 0 output_names"),
    "one name": (described(output_names=["x"]), "two queues are called x"),
    "a result that is no number": (described(results=[True]), "results has true; expected numbers, 0 or more"),
    "short values": (lambda m: m.update({"tensors/bias.bin": b"12"}), "has 2 bytes; expected 12"),
}  # fmt: skip


@pytest.mark.parametrize("name", FOREIGN)
def test_images_that_do_not_agree_with_their_program(embedded: Path, image: Path, tmp_path: Path, name: str) -> None:
    change, reason = FOREIGN[name]
    damaged = Path(shutil.copy(image, tmp_path / "damaged.tti"))
    _, errors = ran(embedded, rewritten(damaged, change), code=1)
    assert errors.startswith(f"{damaged}: ") and reason in errors


def test_images_for_python_and_for_other_chips(
    embedded: Path, image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, errors = ran(embedded, image, "create-harvested", code=1)
    assert "compiled for other harvested rows than those of chip 0" in errors
    monkeypatch.delenv("PYBUDA_TTI_BACKEND_FORMAT")
    python = product(tmp_path / "python.tti")
    _, errors = ran(embedded, python, code=1)
    assert "is stored for Python (tensors/weights.pt); save the image with PYBUDA_TTI_BACKEND_FORMAT=1" in errors
    _, errors = ran(embedded, tmp_path / "none.tti", code=1)
    assert errors.startswith(f"{tmp_path}/none.tti: not loadable as a device image: No such file")


def test_one_process_pushes_and_another_runs(embedded: Path, image: Path) -> None:
    values(X, "in")
    loops = 100
    runtime = started(
        embedded, image, "create", "init", "touch", "ready", "run", "run_fwd_0", loops, "idle", 30,
        "touch", "idle", "wait-for", "read", "finish",
    )  # fmt: skip
    io = started(
        embedded, image, "create", "wait-for", "ready", "seconds", 30,
        *[w for i in range(loops) for w in ("push", "x", "in", "get", OUT, f"out{i % 3}", "pop", OUT)], "touch", "read",
    )  # fmt: skip
    for process in (io, runtime):
        said, errors = process.communicate(timeout=1200)
        assert process.returncode == 0 and errors == "", said + errors
        assert all(line.endswith(": Success") for line in said.splitlines())
    np.testing.assert_allclose(read_back("out1", 2, 3).numpy(), expected(X), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("output", ["new/folder", "new/folder/", "./new/../new/folder", ""])
def test_output_path_is_shared_before_it_exists(embedded: Path, image: Path, output: str) -> None:
    """Delivers pushes from before the folder existed to the program that creates it."""
    values(X, "in")
    pipe = subprocess.PIPE
    commands = {
        output: ["touch", "started", "wait-for", "ready", "push", "x", "in", "touch", "pushed"],
        str(Path(output).resolve()): [
            "wait-for", "started", "init", "cd", "/", "touch", Path("ready").resolve(), "wait-for",
            Path("pushed").resolve(), "run", "run_fwd_0", 1, "seconds", 30, "pop", OUT, "finish",
        ],
    }  # fmt: skip
    both = [
        subprocess.Popen([embedded, image, path, "create", "describe", "x", *map(str, words)], stdout=pipe, text=True)
        for path, words in commands.items()
    ]
    for process in both:
        said, _ = process.communicate(timeout=1200)
        assert process.returncode == 0 and all(line.endswith("Success") for line in said.splitlines()), said


def test_an_output_path_stays_when_the_program_goes_elsewhere(embedded: Path, image: Path) -> None:
    values(X, "in")
    here = str(Path.cwd())
    said, errors = ran(
        embedded, image, "create", "init", "push", "x", "in", "cd", "/", "run", "run_fwd_0", 1, "seconds", 30,
        "get", OUT, f"{here}/out", "pop", OUT, "finish",
    )  # fmt: skip
    assert all(line.endswith(": Success") for line in said) and errors == ""
    assert Path("tt_build/out").is_dir()


def test_an_output_path_is_one_backends(embedded: Path, image: Path) -> None:
    first = started(embedded, image, "create", "init", "touch", "ready", "wait-for", "end", "finish")
    while not Path("ready").exists():
        time.sleep(0.01)
    said, errors = ran(embedded, image, "create", "init")
    assert said[-1] == "init: RuntimeError" and "another process runs an image with this output path" in errors
    # A process that is killed leaves the path to the next one.
    first.send_signal(signal.SIGKILL)
    first.communicate()
    said, errors = ran(embedded, image, "create", "pop", OUT)
    assert said[-1] == "pop: RuntimeError" and "no backend with this output path" in errors
    said, _ = ran(embedded, image, "create", "init", "finish")
    assert said == ["create: Success", "init: Success", "finish: Success"]


def logged(pattern: str) -> list[list[tuple[str, int]]]:
    """Returns the logs of processes, one list each, in the order of their files' names."""
    found = []
    for path in sorted(Path().glob(pattern)):
        # The last line of a process that was killed may be half.
        lines = path.read_text().rpartition("\n")[0].splitlines()
        found.append([(word, int(number)) for word, number in map(str.split, lines)])
    return found


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_processes_are_killed_and_no_tensor_is_lost_or_doubled(
    embedded: Path, tmp_path: Path, count: int, seed: int
) -> None:
    """Three processes push and one pops; a random one is killed now and then, and another takes its place."""
    draw = random.Random(seed)
    image = save(tmp_path / "plus.tti", Function("plus", lambda x: x + 1.0), torch.zeros(8, 4096))
    about = pybuda.TTDeviceImage.load_from_disk(image).description
    (source,), (output,) = about.input_names, about.output_names
    runtime = started(embedded, image, "create", "init", "touch", "ready", "run", "run_fwd_0", 10**9, "wait-for", "end")
    while not Path("ready").exists():
        time.sleep(0.01)
    numbers = itertools.count(0, 1000)  # each process that pushes has its own
    logs = itertools.count()

    def pushes() -> subprocess.Popen[str]:
        return started(
            embedded, image, "create", "seconds", 20, "push-numbers", source, next(numbers), count // 3 + 1,
            f"push-{next(logs):04}",
        )  # fmt: skip

    def pops() -> subprocess.Popen[str]:
        return started(embedded, image, "create", "get-numbers", output, f"pop-{next(logs):04}", "all")

    pushing, popping = [pushes() for _ in range(3)], pops()
    # A fast machine may pass all tensors before a process is killed.
    kills = 0
    try:
        while kills < 3 or sum(word == "done" for log in logged("push-*") for word, _ in log) < count:
            time.sleep(draw.uniform(0.01, 0.08))
            victim = draw.randrange(4)
            if victim == 3:
                popping.kill()
                popping.communicate()
                popping = pops()
                kills += 1
            elif pushing[victim].poll() is None or pushing[victim].returncode == 0:
                pushing[victim].kill()
                pushing[victim].communicate()
                pushing[victim] = pushes()
                kills += 1
            assert runtime.poll() is None
        for process in pushing:
            process.kill()
            process.communicate()
        Path("all").touch()
        said, errors = popping.communicate(timeout=1200)
        assert said.endswith("get-numbers: Success\n"), said + errors
        Path("end").touch()
        runtime.communicate(timeout=1200)
    finally:
        for process in (*pushing, popping, runtime):
            process.kill()
            process.communicate()
    pushed, popped = logged("push-*"), logged("pop-*")
    begun = {number for log in pushed for word, number in log if word == "begin"}
    done = {number for log in pushed for word, number in log if word == "done"}
    got: list[int] = []
    for log in popped:
        values = [number - 1 for word, number in log if word == "got"]  # the program adds one
        # Who is killed between get and pop leaves the tensor to the next one.
        if got and values and values[0] == got[-1]:
            values = values[1:]
        got += values
    assert len(done) >= count
    assert len(got) == len(set(got)), "a tensor came twice"
    assert done <= set(got), "a tensor was lost"
    assert set(got) <= begun, "a tensor came from nowhere"
    for log in pushed:
        mine = {number for word, number in log if word == "begin"}
        assert [x for x in got if x in mine] == sorted(x for x in got if x in mine), "tensors changed their order"


def queue_file(output: Path) -> Path:
    """Returns the queue file of an output path, by its hash (FNV-1a)."""
    number = 14695981039346656037
    for byte in str(output.resolve()).encode():
        number = (number ^ byte) * 1099511628211 % 2**64
    return Path(f"/dev/shm/ttqueues-{os.geteuid()}-{number:016x}")


def test_files_of_processes_that_were_killed_are_removed_by_the_next(
    embedded: Path, image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Removes files of killed processes, also of other output paths; queues of live processes stay."""

    def begun(name: str) -> tuple[subprocess.Popen[str], Path]:
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        process = started(embedded, image, "create", "init", "touch", "ready", "run", "run_fwd_0", 1, "sleep", 60000)
        while not Path("ready").exists():
            time.sleep(0.01)
        file = queue_file(Path("tt_build/out"))
        assert file.exists()
        return process, file

    killed, stale = begun("killed")
    running, live = begun("running")
    try:
        killed.kill()
        killed.communicate()
        third, _ = begun("third")
        third.kill()
        third.communicate()
        assert live.exists() and not stale.exists()
        monkeypatch.chdir(tmp_path / "running")
        said, errors = ran(embedded, image, "create", "push", "x", values(X, "in"), "seconds", 30, "get", OUT, "out")
        assert said[-1] == "get: Success", errors
        np.testing.assert_allclose(read_back("out", 2, 3).numpy(), expected(X), rtol=1e-5)
    finally:
        for process in (killed, running):
            process.kill()
            process.communicate()


def test_processes_that_begin_at_the_same_time_keep_their_files(embedded: Path, image: Path, tmp_path: Path) -> None:
    """Each removes what others have left; none that of another which has just been made."""
    folders = [tmp_path / str(i) for i in range(4)]
    for folder in folders:
        folder.mkdir()
    for _ in range(5):
        command = [embedded, image, "tt_build/out", "create", "init", "finish"]
        running = [
            subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for folder in folders
        ]
        for process in running:
            said, errors = process.communicate(timeout=1200)
            assert said.splitlines()[-1] == "finish: Success", said + errors


def test_who_waits_is_told_that_the_other_process_was_killed(embedded: Path, image: Path) -> None:
    runtime = started(embedded, image, "create", "init", "touch", "ready", "sleep", 60000)
    io = started(embedded, image, "create", "wait-for", "ready", "touch", "waits", "seconds", 60, "get", OUT, "out")
    while not Path("waits").exists():
        time.sleep(0.01)
    time.sleep(0.2)
    runtime.kill()
    runtime.communicate()
    said, errors = io.communicate(timeout=1200)
    assert said.splitlines()[-1] == "get: RuntimeError" and "which runs the programs, has ended" in errors
