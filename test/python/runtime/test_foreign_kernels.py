# SPDX-License-Identifier: Apache-2.0
"""Kernels of TTMetal files are C++ code: nothing compiles or runs them before whoever runs the program allows it.

What decides is what the file holds; its name does not count. The kernels of these tests compute tangents: that nobody
compiled them shows in the folder of compiled kernels. In device images: test/python/pybuda; in C++: MetalTest.cpp.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import compile_and_execute_ttir, compile_ttir_to_flatbuffer
from builder.base.builder_runtime import execute_fb
from builder.base.errors import TTBuilderRuntimeException
from ttmlir import ir, passes
from ttrt.__main__ import main as ttrt

SIZES = iter(range(3, 1000))  # of each test's own: code that one test allows is allowed for the process
REFUSED = r"its kernels are C\+\+ code, .* load the file with\s+allow_native"


def metal(size: int | None = None) -> bytes:
    """tan(x), for a size that no other program has."""
    n = size or next(SIZES) * 1024  # other tiles, so that the kernels differ
    text = f"""
    func.func @main(%x: tensor<{n}x32xf32>) -> tensor<{n}x32xf32> {{
      %0 = "ttir.tan"(%x) : (tensor<{n}x32xf32>) -> tensor<{n}x32xf32>
      return %0 : tensor<{n}x32xf32>
    }}"""
    with ir.Context():
        module = ir.Module.parse(text)
        passes.ttir_to_ttmetal_pipeline(module)
        return passes.ttmetal_to_flatbuffer_bin(module)


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[Path]]:
    """The libraries of kernels that were compiled since the test began."""
    monkeypatch.setenv("TTMLIR_CACHE_DIR", str(tmp_path / "cache"))
    return lambda: list((tmp_path / "cache").rglob("*.so"))


def submitted(program: rt.binary.Binary, device: rt.runtime.Device) -> torch.Tensor:
    (shape,) = (each["desc"]["shape"] for each in json.loads(program.get_program_inputs_as_json(0)))
    given = rt.runtime.create_host_tensor(torch.full(shape, 0.5))
    (output,) = rt.runtime.submit(device, program, 0, [given])
    return torch.from_dlpack(rt.runtime.to_host(output)[0])


@pytest.mark.parametrize("name", ["program.ttm", "program.ttnn", "program"])
@pytest.mark.parametrize("command", [["run"], ["perf"], ["perf", "--program", "0"]], ids=" ".join)
def test_commands_refuse_and_take_permission(
    command: list[str],
    name: str,
    tmp_path: Path,
    compiled: Callable[[], list[Path]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / name
    file.write_bytes(metal())
    assert ttrt([command[0], str(file), *command[1:]]) == 1
    assert "--allow-native" in capsys.readouterr().err
    assert not compiled()
    assert ttrt([command[0], str(file), *command[1:], "--allow-native"]) == 0
    assert compiled()


@pytest.mark.parametrize("name", ["program.ttm", "program.ttnn"])
@pytest.mark.parametrize("rest", [[], ["--exact"], ["--via", "device"]], ids=str)
def test_compare_runs_none(
    rest: list[str], name: str, tmp_path: Path, compiled: Callable[[], list[Path]], capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / name
    file.write_bytes(metal())
    assert ttrt(["compare", str(file), *([] if "--exact" in rest else [str(file)]), *rest]) == 1
    assert "is a TTMetal program" in capsys.readouterr().err
    assert not compiled()


def of_path(data: bytes, folder: Path) -> str:
    (folder / "program.ttm").write_bytes(data)
    return str(folder / "program.ttm")


def of_renamed(data: bytes, folder: Path) -> str:
    (folder / "program.ttnn").write_bytes(data)
    return str(folder / "program.ttnn")


FORMS = {
    "path": of_path,
    "renamed": of_renamed,
    "bytes": lambda data, folder: data,
    "binary": lambda data, folder: rt.binary.load_binary_from_bytes(data),
}


@pytest.mark.parametrize("form", FORMS)
def test_execute_fb_refuses(form: str, tmp_path: Path, compiled: Callable[[], list[Path]]) -> None:
    with pytest.raises(TTBuilderRuntimeException, match=REFUSED):
        execute_fb(FORMS[form](metal(), tmp_path))
    assert not compiled()


LOADERS = {
    "load_binary_from_path": lambda data, folder, **k: rt.binary.load_binary_from_path(of_path(data, folder), **k),
    "load_from_path": lambda data, folder, **k: rt.binary.load_from_path(of_renamed(data, folder), **k),
    "load_binary_from_bytes": lambda data, folder, **k: rt.binary.load_binary_from_bytes(data, **k),
    "load_from_bytes": lambda data, folder, **k: rt.binary.load_from_bytes(data, **k),
    "load_binary_from_capsule": lambda data, folder, **k: rt.binary.load_binary_from_capsule(data, **k),
}


@pytest.mark.parametrize("loader", LOADERS)
def test_submit_refuses_and_takes_permission(
    loader: str, tmp_path: Path, compiled: Callable[[], list[Path]], device: rt.runtime.Device
) -> None:
    data = metal()
    program = LOADERS[loader](data, tmp_path)
    assert program.has_native
    for _ in range(2):  # a refusal leaves nothing behind
        with pytest.raises(rt.OpError, match=REFUSED):
            submitted(program, device)
    assert not compiled()
    found = submitted(LOADERS[loader](data, tmp_path, allow_native=True), device)
    torch.testing.assert_close(found, torch.full_like(found, 0.5).tan())
    assert len(compiled()) == 1
    submitted(program, device)  # the same kernels


def test_permission_is_for_one_code_only(device: rt.runtime.Device) -> None:
    rt.binary.load_binary_from_bytes(metal(), allow_native=True)
    with pytest.raises(rt.OpError, match=REFUSED):
        submitted(rt.binary.load_binary_from_bytes(metal()), device)


def test_a_library_in_the_cache_is_no_permission(compiled: Callable[[], list[Path]], device: rt.runtime.Device) -> None:
    size = next(SIZES) * 1024
    source = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_foreign_kernels import metal, rt, submitted\n"
        f"program = rt.binary.load_binary_from_bytes(metal({size}), allow_native=True)\n"
        "submitted(program, rt.runtime.open_mesh_device(rt.runtime.MeshDeviceOptions()))"
    )
    subprocess.run([sys.executable, "-c", source], check=True)
    assert compiled()
    with pytest.raises(rt.OpError, match=REFUSED):
        submitted(rt.binary.load_binary_from_bytes(metal(size)), device)


def test_code_of_this_process_runs(tmp_path: Path) -> None:
    size = next(SIZES)

    def module(builder):
        @builder.func([(size, 33)], [torch.float32])
        def f(x, builder):
            return builder.tan(x)

    compile_and_execute_ttir(module, target="ttmetal", output_root=str(tmp_path))
    _, path, goldens, _ = compile_ttir_to_flatbuffer(module, target="ttmetal", output_root=str(tmp_path))
    execute_fb(path, goldens)
