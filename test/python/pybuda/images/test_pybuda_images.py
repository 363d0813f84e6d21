# SPDX-License-Identifier: Apache-2.0
"""Device images: what is saved is what runs; damaged and foreign ones are refused; several become one."""

from __future__ import annotations

import json
import re
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pybuda
import pytest
import torch
from modules import Product, read
from pybuda import BackendDevice, ImageError, TTDeviceImage
from pybuda.pybudaglobal import pybuda_reset
from pybuda.tools.tti_merge import Channels, main, merge_models
from ttmlir import ir, passes

W = torch.linspace(-1, 1, 12).reshape(4, 3)
B = torch.tensor([0.5, -1.0, 2.0])
X = torch.linspace(-2, 2, 8).reshape(2, 4)


def save(path: Path, name: str = "tt0", arch: BackendDevice = BackendDevice.Wormhole_B0) -> Path:
    pybuda_reset()
    pybuda.set_configuration_options(default_df_override=pybuda.DataFormat.Float32)
    device = pybuda.TTDevice(name, arch=arch, module=Product("product", W, B))
    device.compile_to_image(img_path=path, sample_inputs=(X,))
    pybuda_reset()
    return path


@pytest.mark.parametrize("variable", ["", "PYBUDA_TTI_BACKEND_FORMAT", "PYBUDA_TTI_BACKEND_TILIZED_FORMAT"])
def test_an_image_runs_without_its_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    if variable:
        monkeypatch.setenv(variable, "1")
    device = pybuda.TTDevice.load_image(img_path=save(tmp_path / "deep" / "one.tti"))
    for x in (X, X + 1):
        device.push_to_inputs({"x": x})
        (got,) = read(pybuda.run_inference())
        np.testing.assert_allclose(got.numpy(), x.numpy() @ W.numpy() + B.numpy(), rtol=1e-5, atol=1e-6)
    with pytest.raises(pybuda.ShapeError, match=r"gets inputs \[\[1, 4\]\]; it is compiled for \[\[2, 4\]\]"):
        device.push_to_inputs(torch.ones(1, 4))


def test_info(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pybuda.set_configuration_options(harvested_rows=[2, 7])
    device = pybuda.TTDevice("gs", arch=BackendDevice.Grayskull, module=Product("product", W, B))
    image = device.compile_to_image(img_path=tmp_path / "gs.tti", sample_inputs=(X,))
    image.info()
    said = capsys.readouterr().out
    for line in (
        "- arch: BackendDevice.Grayskull",
        "- grid size: [8, 12]",
        "harvested rows: 132",
        "shapes: [[2, 4]]",
    ):
        assert line in said
    pybuda_reset()
    pybuda.set_configuration_options(harvested_rows=[1])
    with pytest.raises(ImageError, match=r"image 'gs' is for harvested rows \[2, 7\]; the device has \[1\]"):
        pybuda.TTDevice.load_image(img=image)


def rewritten(path: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def described(**values: object) -> Callable[[dict[str, bytes]], None]:
    def change(members: dict[str, bytes]) -> None:
        members["device.json"] = json.dumps({**json.loads(members["device.json"]), **values}).encode()

    return change


DAMAGED: dict[str, tuple[Callable[[dict[str, bytes]], object], str]] = {
    "no description": (lambda m: m.pop("device.json"), "no device image: it has no device.json"),
    "no program": (
        lambda m: m.pop("backend_build_binaries/epoch_programs/program.ttnn"), "it has no backend_build_binaries",
    ),
    "version": (described(version=9), "version 9; this PyBuda reads 3"),
    "an older version": (described(version=2), "version 2; this PyBuda reads 3"),
    "JSON": (lambda m: m.update({"device.json": b"{"}), "device.json is damaged: JSONDecodeError"),
    "JSON list": (lambda m: m.update({"device.json": b"[]"}), "device.json is damaged"),
    "field": (described(more=1), "device.json is damaged: TypeError"),
    "arch": (described(arch="M68000"), "device.json is damaged: KeyError: 'M68000'"),
    "argument": (described(arguments=[7]), "arguments has [7]"),
    "an argument below zero": (described(arguments=[-1]), "arguments has [-1]"),
    "an argument that is none": (described(arguments=["x"]), "arguments has ['x']"),
    "no results": (described(results=[]), "results has []; expected a number, 0 or more, for each of 1 outputs"),
    "a result below zero": (described(results=[-1]), "results has [-1]; expected a number"),
    "a result that is none": (described(results=["x"]), "results has ['x']; expected a number"),
    "results that are none": (described(results=0), "results has 0; expected a number"),
    "a row that is not there": (
        described(harvested_rows=[6]), "harvested_rows has [6]; expected rows 1 to 5 and 7 to 11",
    ),
    "a row below zero": (described(harvested_rows=[-1]), "harvested_rows has [-1]; expected rows 1 to 5"),
    "rows that are none": (described(harvested_rows="x"), "harvested_rows has 'x'; expected rows 1 to 5"),
    "an arithmetic that is none": (described(exact=1), "exact has 1; expected true or false"),
    "no arithmetic": (
        lambda m: m.update({"device.json": m["device.json"].replace(b'"exact"', b'"inexact"')}),
        "device.json is damaged",
    ),
    "type": (described(inputs=[[[2, 4], "float13"]]), "names the type 'float13'"),
    "no values": (lambda m: m.pop("tensors/weights.pt"), "no values of parameter 'weights'"),
    "values": (lambda m: m.update({"tensors/weights.pt": b"x"}), "the values of parameter 'weights' are damaged"),
    "other values": (lambda m: m.update({"tensors/weights.pt": m["tensors/bias.pt"]}), "values than float32[4, 3]"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_images(tmp_path: Path, name: str) -> None:
    change, text = DAMAGED[name]
    path = rewritten(save(tmp_path / "one.tti"), lambda members: change(members) and None)
    with pytest.raises(ImageError, match=re.escape(text)):
        TTDeviceImage.load_from_disk(path)


def test_a_damaged_program_is_refused(tmp_path: Path) -> None:
    name = "backend_build_binaries/epoch_programs/program.ttnn"
    path = rewritten(save(tmp_path / "one.tti"), lambda members: members.update({name: members[name][:100]}))
    with pytest.raises(ImageError, match="its program is not loadable"):
        pybuda.TTDevice.load_image(img_path=path)


def metal_program() -> bytes:
    """tan(x) of the shape of X as kernels in C++, which nobody allowed."""
    text = """
    func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
      %0 = "ttir.tan"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
      return %0 : tensor<2x4xf32>
    }"""
    with ir.Context():
        module = ir.Module.parse(text)
        passes.ttir_to_ttmetal_pipeline(module)
        return passes.ttmetal_to_flatbuffer_bin(module)


def with_kernels(members: dict[str, bytes]) -> None:
    members["backend_build_binaries/epoch_programs/program.ttnn"] = metal_program()
    described(parameters=[], arguments=[0], outputs=[[[2, 4], "float32"]])(members)


def test_kernels_in_an_image_do_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTMLIR_CACHE_DIR", str(tmp_path / "cache"))
    path = rewritten(save(tmp_path / "one.tti"), with_kernels)
    with pytest.raises(ImageError, match=r"its program has kernels in C\+\+; an image holds a TTNN program"):
        pybuda.TTDevice.load_image(img_path=path)
    assert not list(tmp_path.rglob("*.so"))


def test_results_that_the_program_does_not_have_are_refused(tmp_path: Path) -> None:
    path = rewritten(save(tmp_path / "one.tti"), lambda members: described(results=[3])(members) and None)
    with pytest.raises(ImageError, match=r"device.json: results has \[3\]; the program has 1 outputs"):
        pybuda.TTDevice.load_image(img_path=path)


def packed(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize(
    ("name", "size", "reason"),
    [
        ("device.json", 65 << 20, "device.json has 68157440 bytes; expected 67108864 at most"),
        ("tensors/weights.pt", 300 << 20, "its members unpack to"),
        (
            "tensors/weights.pt",
            1 << 20,
            "tensors/weights.pt has 1048576 bytes; expected at most 65584 for float32[4, 3]",
        ),
        ("backend_build_binaries/epoch_programs/program.ttnn", 300 << 20, "its members unpack to"),
        ("another", 300 << 20, "its members unpack to"),
    ],
)
def test_oversized_archive_is_not_read(tmp_path: Path, name: str, size: int, reason: str) -> None:
    with zipfile.ZipFile(save(tmp_path / "one.tti")) as archive:
        members = {n: archive.read(n) for n in archive.namelist()}
    path = packed(tmp_path / "large.tti", {**members, name: bytes(size)})
    assert path.stat().st_size < 1 << 20
    tracemalloc.start()
    with pytest.raises(ImageError, match=re.escape(reason)):
        TTDeviceImage.load_from_disk(path)
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


def test_parameters_share_no_file(tmp_path: Path) -> None:
    def change(members: dict[str, bytes]) -> None:
        about = json.loads(members["device.json"])
        about["parameters"][1][3] = about["parameters"][0][3]
        members["device.json"] = json.dumps(about).encode()

    path = rewritten(save(tmp_path / "one.tti"), change)
    with pytest.raises(ImageError, match=r"parameters '.*' and '.*' are both in tensors/"):
        TTDeviceImage.load_from_disk(path)


def test_files_that_are_no_images(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"none.tti: not loadable as a device image"):
        TTDeviceImage.load_from_disk(tmp_path / "none.tti")
    whole = save(tmp_path / "one.tti").read_bytes()
    for size in range(0, len(whole), len(whole) // 16):
        (tmp_path / "cut.tti").write_bytes(whole[:size])
        with pytest.raises(ImageError):
            TTDeviceImage.load_from_disk(tmp_path / "cut.tti")


def test_images_that_cannot_be(tmp_path: Path) -> None:
    device = pybuda.TTDevice("tt0", module=pybuda.PyTorchModule("table", torch.nn.Embedding(4, 4)))
    with pytest.raises(ImageError, match=r"PyTorch runs aten.embedding.default"):
        device.compile_to_image(img_path=tmp_path / "one.tti", sample_inputs=(torch.tensor([1]),))
    with pytest.raises(pybuda.PyBudaError, match="images are for inference"):
        device.compile_to_image(img_path=tmp_path / "one.tti", training=True, sample_inputs=(torch.tensor([1]),))
    assert not (tmp_path / "one.tti").exists()


def test_several_images_in_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        save(tmp_path / f"{name}.tti", name)
    merged = tmp_path / "both.tti"
    assert main(["-mbl", str(tmp_path), "-mdl", "a", "b", "-mml", str(merged)]) == 0
    said = capsys.readouterr().out
    # Two parameters of one tile of f32 (4 KiB, 0.00 MB) for each model, in channels 0 to 3.
    assert said.count(" : 0.0\n") == 10
    with pytest.raises(ImageError, match=r"no model None; model= is one of a, b"):
        TTDeviceImage.load_from_disk(merged)
    image = TTDeviceImage.load_from_disk(merged, model="b")
    assert image.description.name == "b" and image.get_input_shapes() == [[2, 4]]
    save(tmp_path / "gs.tti", "gs", BackendDevice.Grayskull)
    with pytest.raises(ImageError, match=r"compiled for BackendDevice.Grayskull; the models are merged for"):
        merge_models(str(tmp_path), ["gs"])
    assert main(["-mbl", str(tmp_path), "-mdl", "c"]) == 1
    assert "c.tti: not loadable" in capsys.readouterr().err
    for wrong, text in ((dict(models=["a"], arch="x86"), "arch is 'x86'"), (dict(models=["a", "a"]), "each once")):
        with pytest.raises(pybuda.PyBudaError, match=text):
            merge_models(str(tmp_path), **wrong)


def test_memory_of_merged_images() -> None:
    kept = Channels(2, 100, "DRAM", switch=True, overlap=True)
    for size in (60, 80, 40, 20):
        kept.keep("p", size)
    assert kept.kept == [100, 100]
    with pytest.raises(pybuda.PyBudaError, match="p needs 1 bytes of DRAM; a channel has 0 left"):
        kept.keep("p", 1)
    fixed = Channels(2, 100, "DRAM", switch=False, overlap=False)
    fixed.keep("p", 60)
    fixed.keep("p", 80)
    with pytest.raises(pybuda.PyBudaError, match=r"a channel has 40 left; channels can be switched"):
        fixed.keep("p", 50)
    shared, alone = (Channels(1, 100, "Host", True, overlap) for overlap in (True, False))
    for channels in (shared, alone):
        channels.queues("a", [30, 10])
        channels.queues("b", [50])
    assert (shared.shared, alone.shared) == ([50], [90])
    with pytest.raises(pybuda.PyBudaError, match="the queues of c need 20 bytes of Host channel 0"):
        alone.queues("c", [20])
