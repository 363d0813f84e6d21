# SPDX-License-Identifier: Apache-2.0
"""Programs that are kept in a folder: found by whatever they are made of, and by nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from torch import nn
from ttmlir.torch import cache, program
from ttmlir.torch.options import Options


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + torch.tensor([1.5, -2.25, 3.125, 4.0, 5.0, 6.0, 7.0, 8.0])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "kept"))
    monkeypatch.setenv("TTMLIR_CACHE_DIR", str(tmp_path / "user"))
    yield tmp_path / "kept"
    torch._dynamo.reset()


def compiled(options: dict[str, object] | None = None, rows: int = 2) -> int:
    """How many programs were compiled for a new model, as in a new process; its result is right."""
    torch._dynamo.reset()
    model, x, count = Model(), torch.rand(rows, 8), []
    before = program.Program.compile

    def counting(self: program.Program, pipeline: str) -> None:
        count.append(pipeline)
        before(self, pipeline)

    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        patch.setattr(program.Program, "compile", counting)
        found = torch.compile(model, backend="tt", options=options, dynamic=False)(x)
        precise = not options or "target_format" not in options
        torch.testing.assert_close(found, model(x), rtol=1e-5 if precise else 0.05, atol=1e-5 if precise else 0.05)
    return len(count)


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def test_a_program_is_compiled_once(folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled() == 1
        (file,) = files(folder)
        assert compiled() == 0, "weights are no part of a program"
    assert file.stat().st_mode & 0o777 == 0o600 and folder.stat().st_mode & 0o777 == 0o700


def test_another_graph_or_option_is_another_program(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [compiled(), compiled(rows=3), compiled({"target_format": "bf16"})] == [1, 1, 1]
    assert [compiled(), compiled(rows=3), compiled({"target_format": "bf16"})] == [0, 0, 0]
    assert len(files(folder)) == 3
    # Another build of the compiler, or another CPU.
    monkeypatch.setattr(cache, "compiler", lambda: b"another")
    assert compiled() == 1 and len(files(folder)) == 4


def test_switches(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(cache.VARIABLE)
    assert Options().cache is None and compiled() == 1 and not files(folder)
    monkeypatch.setenv(cache.VARIABLE, "on")
    assert compiled() == 1 and compiled() == 0 and len(files(tmp_path / "user" / "torch")) == 1
    assert compiled({"cache": False}) == 1
    assert compiled({"cache": tmp_path / "own"}) == 1 and compiled({"cache": str(tmp_path / "own")}) == 0
    monkeypatch.setenv(cache.VARIABLE, "off")
    assert compiled({"cache": tmp_path / "own"}) == 1 and compiled({"cache": True}) == 1
    monkeypatch.delenv("TTMLIR_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache.user_folder() == Path("/somewhere/ttmlir/torch")


def test_switches_that_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.VARIABLE, "of")
    with pytest.raises(ValueError, match="TTMLIR_CACHE=of; expected off, on, or the path of a folder with a '/' in it"):
        compiled()
    with pytest.raises(TypeError, match=r"option cache is 3; expected a folder, True \(the user's\), False, "):
        compiled({"cache": 3})


def flipped(file: Path, place: int) -> None:
    data = bytearray(file.read_bytes())
    data[place] ^= 1
    file.write_bytes(data)


def changed_constant(file: Path) -> None:
    """The value of a constant: the flatbuffer is sound, and would give another result."""
    data = file.read_bytes()
    value = torch.tensor([-2.25, 3.125]).numpy().tobytes()
    assert data.count(value) == 1
    file.write_bytes(data.replace(value, torch.tensor([-2.5, 3.125]).numpy().tobytes()))


def given_away(file: Path) -> None:
    if os.geteuid() == 0:
        os.chown(file, 4321, -1)
    else:  # nobody else may give files away
        mine = os.geteuid()
        os.geteuid = lambda: mine + 1  # type: ignore[assignment]


def replaced_by_a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (lambda file: file.write_bytes(b""), "it is damaged"),
    "half": (lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]), "it is damaged"),
    "longer": (lambda file: file.write_bytes(file.read_bytes() + b"\0"), "it is damaged"),
    "head": (lambda file: flipped(file, 3), "it is damaged"),
    "digest": (lambda file: flipped(file, 20), "it is damaged"),
    "flatbuffer": (lambda file: flipped(file, -9), "it is damaged"),
    "constant": (changed_constant, "it is damaged"),
    "anything": (lambda file: file.write_bytes(os.urandom(5000)), "it is damaged"),
    "writable": (lambda file: file.chmod(0o666), "every user may write it"),
    "pipe": (replaced_by_a_pipe, "it is no regular file"),
    "foreign": (given_away, "it belongs to user"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_files_that_are_not_used(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiled() == 1
    (file,) = files(folder)
    damage, text = DAMAGE[name]
    monkeypatch.setattr(os, "geteuid", os.geteuid)  # put back at the end
    damage(file)
    with pytest.warns(UserWarning, match=rf"{file.name} is not used: {text}"):
        assert compiled() == 1
    monkeypatch.undo()
    monkeypatch.setenv(cache.VARIABLE, str(folder))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled() == 0, "the file that was not used is replaced"


def test_the_file_of_another_program_is_not_used(folder: Path) -> None:
    assert compiled() == 1
    (first,) = files(folder)
    assert compiled(rows=3) == 1
    (second,) = set(files(folder)) - {first}
    first.write_bytes(second.read_bytes())
    with pytest.warns(UserWarning, match="is not used: it is damaged, or was written for another program"):
        assert compiled() == 1


def test_refused_file_is_not_used(folder: Path) -> None:
    assert compiled() == 1
    (file,) = files(folder)
    file.write_bytes(cache.HEAD + cache.digest(file.name, b"not a flatbuffer") + b"not a flatbuffer")
    with pytest.warns(UserWarning, match="is not used: "):
        assert compiled() == 1
    assert compiled() == 0


def test_folders_that_cannot_be_written(folder: Path) -> None:
    folder.write_text("no folder")
    with pytest.warns(UserWarning, match="is not kept: "):
        assert compiled() == 1


def test_machine_code_is_not_kept(folder: Path) -> None:
    """It would not run: a file may be from elsewhere."""
    kept = cache.Cache.of(folder)
    kept.keep("x.ttnn", b"... native:0123456789abcdef:function ...")
    assert not files(folder)


def test_two_processes_at_once(folder: Path) -> None:
    code = (
        "import torch, sys; torch.manual_seed(0); m = torch.nn.Linear(8, 8); x = torch.rand(2, 8)\n"
        "with torch.no_grad(): y = torch.compile(m, backend='tt')(x)\n"
        "print(bool(torch.allclose(y, m(x), atol=1e-5)))"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for each in running:
        said, errors = each.communicate(timeout=600)
        assert each.returncode == 0 and said.split() == ["True"] and "is not" not in errors, errors
    assert len(files(folder)) == 1
