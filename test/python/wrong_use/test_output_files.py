# SPDX-License-Identifier: Apache-2.0
"""Every writer of files follows links, writes what is no regular file in place, keeps permissions, and leaves nothing
half-written. One test for each place to write to, over all writers."""

from __future__ import annotations

import os
import stat
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

import _ttmlir_runtime as rt
import numpy as np
import pytest
import torch
import ttnn
from builder.base.builder_apis import build_module
from builder.execution.program_outputs import save_torch_tensor
from profiler.files import write_files
from profiler.records import ProfilerError
from ttmlir import passes
from ttmlir.files import check_writable, whole_file, write_whole
from ttrt.__main__ import main as ttrt
from ttrt.inputs import write_tensors


@cache
def module():
    def add(b):
        @b.func([(4, 8), (4, 8)], [torch.float32] * 2)
        def f(x, y, b):
            return b.add(x, y)

    result = build_module(add, "ttir")[0]
    passes.ttir_to_ttnn_backend_pipeline(result)
    return result


@cache
def binary():
    return rt.binary.load_binary_from_bytes(passes.ttnn_to_flatbuffer_bin(module()))


def tool(*arguments: str) -> None:
    if ttrt(list(arguments)) != 0:
        raise OSError("ttrt has failed")


def run(path: str, *arguments: str) -> None:
    binary().store("model.ttnn")
    tool(*[argument.replace("FILE", path) for argument in ("run", "model.ttnn", *arguments)])


# Each writes one file of bytes that are not those of OLD.
WRITERS: dict[str, Callable[[str], object]] = {
    "Binary.store": lambda path: binary().store(path),
    "SystemDesc.store": lambda path: rt.runtime.get_current_system_desc().store(path),
    "ttnn.dump_tensor": lambda path: ttnn.dump_tensor(path, ttnn.ones([4, 4])),
    "passes.ttnn_to_flatbuffer_file": lambda path: passes.ttnn_to_flatbuffer_file(module(), path),
    "ttrt query --save": lambda path: tool("query", "--quiet", "--save", path),
    "ttrt query --result-file": lambda path: tool("query", "--quiet", "--result-file", path),
    "ttrt run --json": lambda path: run(path, "--json", "FILE"),
    "ttrt run --save-outputs": lambda path: write_tensors(path, {"a": np.ones(3, np.float32)}),
    "ttrt perf --csv": lambda path: (binary().store("model.ttnn"), tool("perf", "model.ttnn", "--csv", path)),
    "ttrt perf --json": lambda path: (binary().store("model.ttnn"), tool("perf", "model.ttnn", "--json", path)),
    "save_torch_tensor": lambda path: save_torch_tensor(torch.ones(3), Path(path).parent, Path(path).stem),
    "profiler.write_files": lambda path: write_files(Path(path).parent, [], []),
    "write_whole": lambda path: write_whole(path, "new"),
}
# Those that say which file in the folder they write.
NAMES = {"ttrt run --save-outputs": "out.pt", "save_torch_tensor": "out.pt", "profiler.write_files": "report.html"}
PROFILE = {"trace.json", "ops.csv", "ops_perf_results.csv", "profile_log_device.csv", "db.sqlite"}
MAKE_FOLDERS = ("save_torch_tensor", "profiler.write_files")
OLD = b"older\n"


@pytest.fixture(params=WRITERS)
def writer(request, tmp_path):
    folder = tmp_path / "into"
    folder.mkdir()
    name = NAMES.get(request.param, "out")
    before = {path.name for path in folder.iterdir()}

    def write(path: Path = folder / name) -> None:
        WRITERS[request.param](str(path))

    write.path = folder / name
    yield write
    # Only what was requested, and no temporary file.
    extra = PROFILE if request.param == "profiler.write_files" else set()
    assert {path.name for path in folder.iterdir()} - before - extra <= {name}


def test_a_new_file_has_the_usual_permissions(writer):
    before = os.umask(0o027)
    try:
        writer()
    finally:
        os.umask(before)
    assert writer.path.read_bytes() != OLD
    assert stat.S_IMODE(writer.path.stat().st_mode) == 0o640


@pytest.mark.parametrize("mode", [0o600, 0o755])
def test_an_older_file_keeps_its_permissions(writer, mode):
    writer.path.write_bytes(OLD)
    writer.path.chmod(mode)
    kept_open = writer.path.open("rb")
    writer()
    assert writer.path.read_bytes() != OLD
    assert stat.S_IMODE(writer.path.stat().st_mode) == mode
    assert kept_open.read() == OLD, "the file was written in place, not replaced"


@pytest.mark.parametrize("exists", [True, False], ids=["to a file", "dangling"])
@pytest.mark.parametrize("absolute", [True, False], ids=["absolute", "relative"])
def test_links_are_followed(writer, tmp_path, exists, absolute):
    other = tmp_path / "other"
    other.mkdir()
    real, between = other / "real", other / "link"
    if exists:
        real.write_bytes(OLD)
        real.chmod(0o604)
    between.symlink_to("real")
    writer.path.symlink_to(between if absolute else Path("..") / "other" / "link")
    writer()
    assert writer.path.is_symlink() and between.is_symlink()
    assert real.is_file() and not real.is_symlink() and real.read_bytes() not in (OLD, b"")
    assert not exists or stat.S_IMODE(real.stat().st_mode) == 0o604
    assert sorted(path.name for path in other.iterdir()) == ["link", "real"]


@pytest.mark.parametrize("linked", [False, True], ids=["pipe", "link to a pipe"])
def test_a_pipe_is_written_to(writer, tmp_path, linked):
    pipe = tmp_path / "pipe" if linked else writer.path
    os.mkfifo(pipe)
    if linked:
        writer.path.symlink_to(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    writer()
    reader.join(30)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert read and read[0] not in (OLD, b"")


@pytest.mark.parametrize("place", ["directory", "missing folder", "link to itself", "file as a folder"])
def test_unwritable_file_is_an_error(request, writer, place):
    path = writer.path
    if place == "directory":
        path.mkdir()
    elif place == "link to itself":
        path.symlink_to(path)
    elif place == "missing folder":
        path = path.parent.parent / "missing" / path.name
    else:
        path.write_bytes(OLD)
        path = path / path.name
    if place == "missing folder" and request.node.callspec.params["writer"] in MAKE_FOLDERS:
        writer(path)
        assert path.is_file()
        return
    with pytest.raises((OSError, RuntimeError, ProfilerError)):
        writer(path)
    with pytest.raises(OSError, match=str(path.parent)):
        check_writable(path)
    if place == "file as a folder":
        assert writer.path.read_bytes() == OLD
    if place == "missing folder":
        assert not path.parent.exists()


def test_a_read_only_file_and_folder_are_refused():
    """As another user where this one is root, who may do all."""
    with tempfile.TemporaryDirectory() as name:
        folder, locked = Path(name), Path(name) / "locked"
        (folder / "file").write_bytes(OLD)
        (folder / "file").chmod(0o444)
        locked.mkdir(mode=0o555)
        folder.chmod(0o777)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                if os.geteuid() == 0:
                    os.setegid(65534)
                    os.seteuid(65534)
                for path in (folder / "file", locked / "new"):
                    with pytest.raises(PermissionError, match=str(folder)):
                        check_writable(path)
                for write in (write_whole, lambda path, data: rt.runtime.get_current_system_desc().store(path)):
                    for path in (folder / "file", locked / "new"):
                        with pytest.raises(
                            (OSError, RuntimeError), match=f"ermission denied.*{path}|{path}.*ermission"
                        ):
                            write(path, "new")
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert (folder / "file").read_bytes() == OLD
        assert sorted(path.name for path in folder.iterdir()) == ["file", "locked"] and not list(locked.iterdir())


def test_a_block_that_raises_changes_nothing(tmp_path):
    (tmp_path / "out").write_bytes(OLD)
    os.mkfifo(tmp_path / "pipe")
    for name in ("out", "new", "pipe"):
        with pytest.raises(ZeroDivisionError), whole_file(tmp_path / name) as file:
            file.write(b"half")
            raise ZeroDivisionError
    assert (tmp_path / "out").read_bytes() == OLD
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "pipe"]


def test_standard_output_by_its_name(tmp_path):
    """/dev/stdout leads to what is open, which is not replaced; here a file in its place."""
    read, write = os.pipe()
    write_whole(f"/proc/self/fd/{write}", "a")
    rt.runtime.get_current_system_desc().store(f"/proc/self/fd/{write}")
    os.close(write)
    with os.fdopen(read) as pipe:
        assert pipe.read().startswith('a{"mesh_shape"')
    with (tmp_path / "file").open("w") as file:
        print("first", file=file, flush=True)
        (tmp_path / "link").symlink_to(f"/proc/self/fd/{file.fileno()}")
        write_whole(tmp_path / "link", "second")
    assert (tmp_path / "file").read_text() == "first\nsecond"


def test_names_that_are_as_long_as_can_be(tmp_path):
    for write in (lambda path: write_whole(path, "new"), lambda path: binary().store(path)):
        path = tmp_path / ("n" * 255)
        write(path)
        assert path.stat().st_size
        path.unlink()
