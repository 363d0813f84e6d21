# SPDX-License-Identifier: Apache-2.0
"""Data that processes publish of their meshes, and how it is shown."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from _ttmlir_runtime import runtime
from tt_smi.machine import Work, discover
from tt_smi.telemetry import FIELDS, Averages, Sampler

KEYS = [field.key for field in FIELDS]
ROWS = 24  # bytes before the rows of a published file


def of(reading: tuple, key: str) -> float | None:
    return reading[KEYS.index(key)]


def test_without_processes_there_is_one_idle_chip():
    (chip,) = discover().chips
    assert (chip.board, chip.arch, chip.mesh, chip.process, chip.status) == (
        "n150",
        "wormhole_b0",
        (1, 1),
        None,
        "idle",
    )
    assert chip.memories["DRAM"].banks == 12 and chip.memories["L1"].banks == 64
    assert chip.memories["DRAM"].used == chip.memories["L1"].used == 0
    assert chip.work == Work() and chip.clock_mhz == 1000


def test_a_process_and_its_mesh(worker, folder, net):
    one = worker("open_mesh a 1 2")
    chips = discover().chips
    assert [(c.index, c.board, c.number, c.place) for c in chips] == [(0, "n300", 0, (0, 0)), (1, "n300", 1, (0, 1))]
    assert {c.process.number for c in chips} == {one.pid}
    assert "-c" in chips[0].process.command and chips[0].process.user
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / str(one.pid)).stat().st_mode) == 0o600

    one.do(f"allocate a {12 << 20}")
    for chip in discover().chips:
        assert chip.memories["DRAM"].bank_used == 1 << 20 and chip.memories["DRAM"].used == 12 << 20
        assert chip.memories["L1"].used == 0
    one.do("drop")
    assert [c.memories["DRAM"].bank_used for c in discover().chips] == [0, 0]
    assert [c.memories["DRAM"].bank_peak for c in discover().chips] == [1 << 20] * 2

    one.do("submit a")
    first = discover().chips[0].work
    assert first.programs == 1 and first.ops > 1 and first.chip_ns > 0 and first.cycles > 0
    one.do("submit a")
    assert discover().chips[0].work.ops == 2 * first.ops
    one.do("close a")
    assert discover().chips[0].process is None


def test_several_processes_and_architectures(worker):
    first = worker("open_mesh a 1 1", "open_mesh b 2 4")
    second = worker("open_mesh a 1 1 blackhole")
    chips = discover().chips
    assert len(chips) == 10 and [c.index for c in chips] == list(range(10))
    assert [c.process.number for c in chips] == [first.pid] * 9 + [second.pid]
    assert [c.board for c in chips] == ["n150", *["llmbox"] * 8, "p150"]
    assert (chips[-1].arch, chips[-1].clock_mhz) == ("blackhole", round(runtime.get_clock_mhz("blackhole")))
    assert chips[8].place == (1, 3)
    second.end()
    assert len(discover().chips) == 9


def test_memory_of_a_sub_mesh_is_its_chips_alone(worker, net):
    one = worker("open_mesh a 2 2", "part b a 1 2 1 0", f"allocate a {12 << 20}", f"allocate b {24 << 20}")
    chips = discover().chips
    assert [c.memories["DRAM"].bank_used >> 20 for c in chips] == [1, 1, 3, 3]
    one.do("submit b")
    ops = [c.work.ops for c in discover().chips]
    assert ops[:2] == [0, 0] and ops[2] == ops[3] > 0
    one.do("close b")
    chips = discover().chips
    assert [c.memories["DRAM"].bank_used >> 20 for c in chips] == [1, 1, 1, 1]
    assert all(c.work.ops == ops[2] for c in chips), "what ran on a part is kept with the mesh"


def test_rates_are_of_the_time_between_readings(worker, net):
    one = worker("open_mesh a 1 1")
    sampler = Sampler()
    sampler.read(discover().chips)
    one.send("forever a")
    assert one.answer() == "running"
    time.sleep(0.6)
    sampler.read(discover().chips)
    time.sleep(0.6)
    (reading,) = sampler.read(discover().chips)
    assert of(reading, "ops") > 100
    assert 5 < of(reading, "busy") <= 100 and of(reading, "chip_time") > 0
    assert of(reading, "aiclk") == 1000
    for missing in ("core_voltage", "arcclk", "axiclk", "core_current", "core_power", "core_temp", "outlet_temp_2"):
        assert of(reading, missing) is None
    one.kill()


def test_readings_and_averages():
    (chip,) = discover().chips
    sampler, means = Sampler(), Averages()
    for now in (10.0, 10.0, 12.0):  # no time at all is no division by it
        readings = sampler.read([chip], now)
        means.add([chip], readings)
    assert of(readings[0], "busy") == of(readings[0], "ops") == 0
    assert of(means.of(chip), "aiclk") == 1000 and of(means.of(chip), "core_temp") is None


def test_files_of_processes_that_were_killed_go(worker, folder):
    one = worker("open_mesh a 1 1")
    one.kill()
    assert (folder / str(one.pid)).exists()
    assert discover().chips[0].process is None
    assert not (folder / str(one.pid)).exists()
    # The next process that opens a mesh does so, too.
    other = worker("open_mesh a 1 1")
    other.kill()
    worker("open_mesh a 1 1")
    assert not (folder / str(other.pid)).exists()


def test_a_file_of_an_earlier_process_of_the_same_number_goes(worker, folder):
    one = worker("open_mesh a 1 1")
    path = folder / str(one.pid)
    page = bytearray(path.read_bytes())
    copy = folder / str(os.getppid())
    struct.pack_into("<I", page, 12, os.getppid())
    copy.write_bytes(page)
    assert [c.process.number for c in discover().chips] == [one.pid]
    assert not copy.exists() and path.exists()


def test_a_process_that_becomes_another_program_has_no_chips(worker, folder):
    one = worker("open_mesh a 1 1")
    path = folder / str(one.pid)
    one.send("become")
    assert one.answer() == "another program"
    assert one.process.poll() is None and path.exists()
    assert discover().chips[0].process is None
    assert not path.exists()
    one.kill()


def test_children_do_not_keep_the_chips_of_their_parent(worker, folder):
    """Whether they were forked, or were started as other programs, before it was killed."""
    one = worker("open_mesh a 1 1")
    one.send("start_children")
    children = [int(word) for word in one.answer().split()]
    assert discover().chips[0].process.number == one.pid
    one.kill()
    try:
        assert all(Path(f"/proc/{child}").exists() for child in children)
        assert discover().chips[0].process is None
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)


def hold(descriptor: int) -> None:
    """Takes the lock that says that the file's process runs."""
    fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda page: page[:17], "17 bytes; expected"),
        (lambda page: b"", "0 bytes; expected"),
        (lambda page: b"X" + page[1:], "not written by this version of the runtime"),
        (lambda page: page[:12] + struct.pack("<I", 77) + page[16:], "of process 77 by its contents"),
        (lambda page: page[:20] + struct.pack("<I", 65) + page[24:], "65 meshes; expected at most 64"),
        (lambda page: page[: ROWS + 8] + bytes(4) + page[ROWS + 12 :], "a mesh of 0x2 chips"),
        (lambda page: page[: ROWS + 8] + b"\xff" * 8 + page[ROWS + 16 :], "a mesh of 4294967295x4294967295 chips"),
        (lambda page: page[: ROWS + 16] + struct.pack("<II", 5, 2) + page[ROWS + 24 :], "chips 5 to 2 of a mesh"),
        (lambda page: page[: ROWS + 40] + b"z" * 16 + page[ROWS + 56 :], "an unknown architecture"),
    ],
)  # fmt: skip
def test_damaged_files(worker, folder, damage, message):
    """They are named; the others are read all the same."""
    one = worker("open_mesh a 1 2")
    other = worker("open_mesh a 1 1")
    path = folder / str(one.pid)
    bad = damage(path.read_bytes())
    path.unlink()  # the process keeps its memory
    path.write_bytes(bad)
    with path.open("rb+") as file:
        hold(file.fileno())
        machine = discover()
        assert [c.process.number for c in machine.chips] == [other.pid]
        (problem,) = machine.problems
    assert problem.startswith(f"{path}: damaged: ") and message in problem


def test_foreign_files_are_ignored(worker, folder):
    one = worker("open_mesh a 1 1")
    (folder / "notes.txt").write_text("?")
    os.mkfifo(folder / str(os.getppid()))
    (folder / str(os.getpid())).symlink_to(folder / str(one.pid))
    machine = discover()
    assert [c.process.number for c in machine.chips] == [one.pid]
    assert len(machine.problems) == 3
    assert f"{folder}/notes.txt: damaged: its name is no number of a process" in machine.problems


@pytest.mark.parametrize("place", ["/proc/none", "/dev/null", "0", "/tmp/no/such/folder"])
def test_programs_run_where_nothing_can_be_published(worker, net, place):
    one = worker("open_mesh a 1 1", TTRT_PUBLISH=place)
    one.do("submit a")
    assert discover().chips[0].process is None


def test_the_default_folder(worker, monkeypatch, tmp_path):
    monkeypatch.delenv("TTRT_PUBLISH")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert runtime.publication_folder() == f"{tmp_path}/ttmlir"
    one = worker("open_mesh a 1 1")
    assert (tmp_path / "ttmlir" / str(one.pid)).exists()
    assert one.pid in [chip.process.number for chip in discover().chips if chip.process]
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/no/such/folder")
    assert runtime.publication_folder() == f"/tmp/ttmlir-{os.geteuid()}"


def test_chips_are_found_whatever_folder_of_the_user_they_are_published_in(tmp_path):
    """A program with XDG_RUNTIME_DIR, and a tool without, as cron jobs and sudo have none."""
    user, login = (os.geteuid(), None) if os.geteuid() else (54321, Path("/run/user/54321"))
    program = """
import os, sys
import _ttmlir_runtime as tt
os.setresuid(*[int(sys.argv[1])] * 3)
os.environ["XDG_RUNTIME_DIR"] = f"/run/user/{os.geteuid()}"
device = tt.runtime.open_mesh_device(tt.runtime.MeshDeviceOptions())
print(tt.runtime.publication_folder())
del os.environ["XDG_RUNTIME_DIR"]
print(tt.runtime.publication_folder())
print([m.process == os.getpid() for m in tt.runtime.published_meshes()[0]])
"""
    environment = {k: v for k, v in os.environ.items() if k not in ("TTRT_PUBLISH", "XDG_RUNTIME_DIR")}
    result = next((x for x in (login.parent, login) if not x.exists()), None) if login else None
    try:
        if login:
            login.mkdir(parents=True, mode=0o700)
            os.chown(login, user, user)
        done = subprocess.run(
            [sys.executable, "-c", program, str(user)], capture_output=True, text=True, timeout=1200, env=environment
        )
    finally:
        if result:
            shutil.rmtree(result)
    lines = done.stdout.splitlines()
    # A user who is not logged in has no such folder.
    known = login or Path(f"/run/user/{user}").is_dir()
    folders = [f"/run/user/{user}/ttmlir" if known else f"/tmp/ttmlir-{user}", f"/tmp/ttmlir-{user}"]
    assert lines[:2] == folders and "True" in lines[2], done.stderr


def test_a_relative_folder_is_where_the_process_began(folder):
    program = """
import os
import _ttmlir_runtime as tt
here = os.getcwd()
os.environ["TTRT_PUBLISH"] = "chips"
device = tt.runtime.open_mesh_device(tt.runtime.MeshDeviceOptions())
os.chdir("/")
print(tt.runtime.publication_folder() == f"{here}/chips")
print([m.process == os.getpid() for m in tt.runtime.published_meshes()[0]])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=1200)
    assert (done.stdout, done.stderr) == ("True\n[True]\n", "")
    assert list(Path("chips").iterdir()) == [], "the file goes with the process"


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("{here}/file", "{here}/file: is no folder"),
        ("file", "{here}/file: is no folder"),
        ("link", "{here}/link: is no folder"),
        ("{here}/no/such", "{here}/no: No such file or directory"),
        ("{here}/file/below", "{here}/file/below: Not a directory"),
        ("0", "off (TTRT_PUBLISH=0)"),
    ],
)
def test_the_host_says_why_nothing_is_published(place, problem):
    here = Path.cwd()
    Path("file").write_text("")
    Path("link").symlink_to(here)
    done = subprocess.run(
        [sys.executable, "-m", "tt_smi", "-s", "-f", "-"], capture_output=True, text=True, timeout=1200,
        env={**os.environ, "TTRT_PUBLISH": place.format(here=here)},
    )  # fmt: skip
    facts = json.loads(done.stdout)["compatibility"]["Published chips"]
    assert (facts["passed"], facts["found"]) == (False, problem.format(here=here)), done.stderr


def test_folders_of_another_user_are_not_published_in(monkeypatch, tmp_path):
    if os.geteuid():
        other = "/"
    else:
        other = str(tmp_path / "other")
        os.mkdir(other)
        os.chown(other, 54321, 54321)
    monkeypatch.setenv("TTRT_PUBLISH", other)
    assert runtime.publication_problem() == f"{other}: belongs to another user"
    monkeypatch.setenv("TTRT_PUBLISH", str(tmp_path / "mine"))
    assert runtime.publication_problem() == ""


def test_children_of_a_fork_leave_the_file_alone(worker, folder, net):
    program = """
import os, sys
import _ttmlir_runtime as tt
device = tt.runtime.open_mesh_device(tt.runtime.MeshDeviceOptions())
child = os.fork()
if not child:
    other = tt.runtime.open_mesh_device(tt.runtime.MeshDeviceOptions())  # has a file of its own
    print(len(tt.runtime.published_meshes()[0]), flush=True)
    sys.exit(0)
os.waitpid(child, 0)
print([m.process == os.getpid() for m in tt.runtime.published_meshes()[0]], flush=True)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=1200)
    assert (done.stdout, done.stderr) == ("2\n[True]\n", "")
    assert list(folder.iterdir()) == [], "both have ended"


def test_more_meshes_than_a_file_has_room_for(worker, net):
    one = worker(*(f"open_mesh m{i} 1 1" for i in range(66)))
    assert len(discover().chips) == 64
    one.do("submit m65")
    for i in range(64):
        one.do(f"close m{i}")
    one.do("open_mesh again 1 1")
    assert len(discover().chips) == 1


def test_processes_are_distinguished_while_they_come_and_go(worker):
    for _ in range(5):
        one = worker("open_mesh a 1 1")
        assert [c.process.number for c in discover().chips] == [one.pid]
        one.end()
    assert discover().chips[0].process is None
