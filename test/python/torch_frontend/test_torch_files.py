# SPDX-License-Identifier: Apache-2.0
"""Models that were compiled ahead, as files: flatbuffers, MLIR, C++, Python, weights inside and separate."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import python_process
import torch
import ttmlir.torch as tt
from torch import nn
from ttmlir import safetensors

X = torch.linspace(-1, 1, 3 * 40).reshape(3, 40)


def model(dtype: torch.dtype = torch.float32) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(40, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 5)).to(dtype).eval()


def ttrt(*words: str) -> subprocess.CompletedProcess[str]:
    return python_process.run(["-m", "ttrt", "run", *words])


@pytest.mark.long
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
def test_ttrt_runs_a_file_with_its_weights(dtype: torch.dtype) -> None:
    net, x = model(dtype), X.to(dtype)
    compiled = tt.compile(net, (x,))
    assert [p.name for p in compiled.save("net.ttnn")] == ["net.ttnn", "net.safetensors"]
    assert [p.name for p in compiled.save("whole.ttnn", weights="inside")] == ["whole.ttnn"]
    torch.save(x, "x.pt")
    with torch.no_grad():
        want = net(x).float()
    name = compiled.exported.graph_signature.user_inputs[0]
    for file, more in (("net", ["--weights", "net.safetensors"]), ("whole", [])):
        done = ttrt(f"{file}.ttnn", *more, "--init", f"{name}=x.pt", "--save-outputs", f"{file}.pt")
        assert done.returncode == 0, done.stderr
        (got,) = torch.load(f"{file}.pt").values()
        assert torch.allclose(got.float(), want, atol=1e-5 if dtype is torch.float32 else 2e-2)
    # Only one of the files has the weights; the other has code that moves them.
    assert Path("whole.ttnn").stat().st_size > Path("net.ttnn").stat().st_size
    row = next(p for p in net.parameters() if p.ndim == 2)[0].detach().view(torch.uint8).numpy().tobytes()
    assert [row in Path(name).read_bytes() for name in ("whole.ttnn", "net.ttnn")] == [True, False]


def test_export_writes_in_one_call() -> None:
    files = tt.export(model(), (X,), "net.mlir")
    assert [f.name for f in files] == ["net.mlir", "net.ttnn.mlir"]
    assert "ttir.linear" in files[0].read_text() and "ttnn.linear" in files[1].read_text()


def test_emitted_programs() -> None:
    compiled = tt.compile(model(), (X,))
    program, *rest = compiled.save("net.py", weights="inside")
    assert "ttnn.linear(" in program.read_text() and [p.name for p in rest] == ["net.py.tensors"]
    python_process.run([program], check=True)
    (source,) = compiled.save("net.cpp")
    assert "ttnn::linear(" in source.read_text()


def test_wrong_names_for_files() -> None:
    compiled = tt.compile(nn.ReLU(), (X,))
    with pytest.raises(ValueError, match=r"suffix '\.txt'; known: \.ttnn, \.mlir, \.safetensors, \.cpp, \.py"):
        compiled.save("net.txt")
    with pytest.raises(ValueError, match="weights='outside'; expected 'beside' or 'inside'"):
        compiled.save("net.ttnn", weights="outside")
    assert [p.name for p in compiled.save("net.ttnn")] == ["net.ttnn"]  # no weights, no file of them


@pytest.mark.long
def test_weights_that_do_not_fit() -> None:
    compiled = tt.compile(nn.Linear(40, 5).eval(), (X,))
    compiled.save("net.ttnn")
    good = {name: np.array(value) for name, value in safetensors.read("net.safetensors").items()}
    wrong = {
        'no input named "p_scale"': good | {"p_scale": good["p_bias"]},
        "p_bias has shape [4], the program takes [5]": good | {"p_bias": good["p_bias"][:4]},
        "p_bias has elements of type float16, the program takes float32": good
        | {"p_bias": good["p_bias"].astype("f2")},
    }
    for text, tensors in wrong.items():
        safetensors.write("wrong.safetensors", tensors)
        done = ttrt("net.ttnn", "--weights", "wrong.safetensors")
        assert done.returncode == 1 and text in done.stderr, done.stderr
    done = ttrt("net.ttnn", "--weights", "w.safetensors", "--inputs", "x.npz")
    assert done.returncode == 1 and "--inputs gives all values and --weights some" in done.stderr


#
# The format
#


def test_safetensors_round_trip_and_agree_with_the_format_s_library() -> None:
    from safetensors.torch import load_file, save_file

    tensors = {
        "a": torch.rand(3, 5), "b": torch.tensor(2.5, dtype=torch.float64), "c": torch.empty(0, 4),
        "d": torch.rand(7).bfloat16(), "e": torch.tensor([True, False, True]), "f": torch.tensor([-(2**63), 2**63 - 1]),
        "g": torch.tensor([255], dtype=torch.uint8),
    }  # fmt: skip
    save_file(tensors, "theirs.safetensors", metadata={"format": "pt"})
    read = safetensors.read("theirs.safetensors")
    assert read.keys() == tensors.keys() and read["d"].dtype == ml_dtypes.bfloat16 and read["b"].shape == ()
    assert not read["a"].flags.writeable
    safetensors.write("ours.safetensors", read)
    again = load_file("ours.safetensors")
    for name, tensor in tensors.items():
        assert again[name].dtype is tensor.dtype and torch.equal(again[name], tensor), name


@pytest.mark.parametrize(
    ("header", "text"),
    [
        (
            {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}},
            r"a: bytes 0 to 4 of 8 for F32\[2\], which takes 8",
        ),
        ({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}, "a: bytes 0 to 16 of 8"),
        ({"a": {"dtype": "F99", "shape": [2], "data_offsets": [0, 8]}}, "a: dtype 'F99' is not known; known: F64"),
        ({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}, "expected lists of sizes"),
        ({"a": {"dtype": "F32", "shape": 3, "data_offsets": [0, 4]}}, "expected lists of sizes"),
        ({"a": {"dtype": "F32", "shape": [2]}}, "a: expected dtype, shape and data_offsets"),
        ({"a": 3}, "a: expected dtype, shape and data_offsets"),
        ([], "its header is no JSON object"),
    ],
)
def test_files_that_are_no_safetensors(header: object, text: str) -> None:
    raw = json.dumps(header).encode()
    Path("x.safetensors").write_bytes(len(raw).to_bytes(8, "little") + raw + bytes(8))
    with pytest.raises(ValueError, match=text):
        safetensors.read("x.safetensors")


def test_files_that_end_too_early() -> None:
    for data, text in (
        (b"", "has 0 bytes"),
        (b"1234567", "has 7 bytes"),
        ((99).to_bytes(8, "little"), "a header of 99"),
    ):
        Path("x.safetensors").write_bytes(data)
        with pytest.raises(ValueError, match=text):
            safetensors.read("x.safetensors")
