# SPDX-License-Identifier: Apache-2.0
"""Several processes share a mesh: they compute what one does, bit for bit, and none waits for one that is lost."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import _ttmlir_runtime  # noqa: F401  (loads libttrt.so)
import launch
import pytest
from launch import launched, script

# The runtime that this process has loaded.
LIBRARY = next(
    Path(line.split()[-1]) for line in Path("/proc/self/maps").read_text().splitlines() if line.endswith("/libttrt.so")
)
# What a rank may take to hear of another's end, with the start of Python and a busy machine.
SOON = 300


def ttrt(*words: str) -> list[str]:
    return [sys.executable, "-m", "ttrt", *words]


# The same results


@pytest.mark.long
def test_ranks_compute_and_see_what_one_process_does(mlp: Path) -> None:
    found = {}
    for size in (1, 2, 4):
        done = launched([(size, script("same.py", str(mlp), f"{size}.json"))], timeout=1200)
        assert done.code == 0, done.err
        found[size] = json.loads(Path(f"{size}.json").read_text())
    assert len(found[1]) > 10
    for size in (2, 4):
        assert found[size] == {name: hashes * size for name, hashes in found[1].items()}


@pytest.mark.long
def test_tests_of_meshes_pass_on_ranks() -> None:
    tests = Path(__file__).parents[1] / "ttnn" / "test_meshes.py"
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", str(tests)]
    done = launched([(2, pytest_)], timeout=1200)
    assert done.code == 0, done.out + done.err


@pytest.mark.long
def test_ttrt_run(mlp: Path) -> None:
    import numpy as np

    for size in (1, 3):
        done = launched(
            [(size, ttrt("run", str(mlp), "--mesh", "2x4", "--save-outputs", f"{size}.npz", "--json", f"{size}.json"))]
        )
        assert done.code == 0, done.err
    assert done.out.count("wall time") == 2, "rank 0 alone tells, of the run and in the table of processes"
    report = json.loads(Path("3.json").read_text())["programs"][0]
    assert [row["chips"] for row in report["ranks"]] == [[0, 1], [2, 3, 4], [5, 6, 7]]
    assert all(row["median_ns"] > 0 for row in report["ranks"])
    assert "ranks" not in json.loads(Path("1.json").read_text())["programs"][0]
    one, three = np.load("1.npz"), np.load("3.npz")
    assert one.files == three.files
    assert all((one[name] == three[name]).all() for name in one.files)


@pytest.mark.long
def test_a_rank_has_memory_for_its_own_chips_only() -> None:
    """A value of 32 MiB on each of 8 chips, and results of the same size."""
    found = {}
    for size in (1, 4):
        done = launched([(size, script("memory.py", "32"))], timeout=1200)
        assert done.code == 0, done.err
        found[size] = [int(line) for line in done.out.split()]
        assert len(found[size]) == size
    (whole,) = found[1]
    assert whole > 2 * 8 * 32, "MiB of one process, beyond what it has at the start"
    assert max(found[4]) < whole / 4 * 1.25


# Ranks that are lost

LOST = "op 5 (ttnn.aggregate_tensor) of program"
FAULTS = {
    "kill": ["rank 1", "signal 9 (Killed)"],
    "end": ["ttrt: rank 0 of 2: ", LOST, "rank 1 has ended, and this rank waits for it"],
    "raise": ["RuntimeError: this rank has had enough", "rank 1 has ended"],
    "hang": [LOST, "nothing came from rank 1 for 2 seconds (TTRT_RANKS_TIMEOUT)"],
    "other call": ["gather_from_ranks: nothing came from rank 0 for 2 seconds"],
    "interrupt": ["KeyboardInterrupt"],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_lost_rank_ends_all(fault: str, mlp: Path) -> None:
    more = {"TTRT_RANKS_TIMEOUT": "2"} if fault in ("hang", "other call") else {}
    done = launched([(2, script("faulty.py", str(mlp), "2x4", fault))], timeout=SOON, **more)
    assert "running" in done.out
    assert done.code != 0
    for part in FAULTS[fault]:
        assert part in done.err


def test_ctrl_c_ends_all(mlp: Path) -> None:
    words = launch.command([(2, script("faulty.py", str(mlp), "2x4", "none"))])
    with subprocess.Popen(
        words,
        env=launch.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # Who runs tests in the background ignores the signal, and what it starts would, too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as job:
        try:
            assert job.stdout is not None
            # Lines of two ranks may come as one.
            assert job.stdout.readline().startswith(b"running")
            job.send_signal(signal.SIGINT)
            assert job.wait(SOON) != 0
        finally:
            job.kill()


@pytest.mark.long
def test_files_of_killed_ranks_are_removed_by_the_next_ones(mlp: Path) -> None:
    """OpenMPI's memory of them, in /dev/shm. Those of ranks that run stay, and a job that ends leaves none."""

    def folders(*ranks: int) -> list[Path]:
        return [x for rank in ranks for x in Path("/dev/shm").glob(f"ttranks-{os.geteuid()}-{rank}-*")]

    def started() -> tuple[subprocess.Popen[bytes], list[int]]:
        words = launch.command([(2, script("faulty.py", str(mlp), "2x4", "none"))])
        job = subprocess.Popen(words, env=launch.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert job.stdout is not None
        # Lines of two ranks may come as one.
        assert job.stdout.readline().startswith(b"running")
        ranks = subprocess.run(["ps", "-o", "pid=", "--ppid", str(job.pid)], capture_output=True, text=True, check=True)
        return job, [int(rank) for rank in ranks.stdout.split()]

    jobs = [started(), started()]
    (killed, stale), (_, running) = jobs
    try:
        assert len(folders(*stale)) == len(folders(*running)) == 2
        assert all(len(list(folder.iterdir())) == 2 for folder in folders(*stale))  # a lock, and the memory
        killed.kill()  # mpirun, too, which would remove them
        for rank in stale:
            os.kill(rank, signal.SIGKILL)
        killed.wait()
        third = launch.launched([(2, [sys.executable, "-c", OPENED])])
        assert third.code == 0, third.err
        assert not folders(*stale) and len(folders(*running)) == 2
        assert not folders(*map(int, third.out.split()))
    finally:
        for job, ranks in jobs:
            job.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                job.wait(SOON)
            job.kill()
            for rank in ranks:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rank, signal.SIGKILL)


OPENED = """
import os, ttnn
print(f"{os.getpid()}\\n", end="")
with ttnn.create_mesh_device(ttnn.MeshShape(2, 4)):
    assert not [name for name in os.environ if "backing_directory" in name]
"""


# Ranks that differ


def test_another_mesh(mlp: Path) -> None:
    done = launched(
        [(1, script("faulty.py", str(mlp), "2x4", "none")), (1, script("faulty.py", str(mlp), "4x2", "none"))]
    )
    assert done.code != 0
    assert "rank 1 of 2: mesh_shape is 4x2; expected 2x4, as on rank 0" in done.err


def test_another_arithmetic(mlp: Path) -> None:
    done = launched([(1, script("faulty.py", str(mlp), "2x4", fault)) for fault in ("none", "exact")])
    assert done.code != 0
    assert "rank 1 of 2: exact is on; expected off, as on rank 0" in done.err


@pytest.mark.long
def test_another_file(mlp: Path, other_mlp: Path) -> None:
    files = [(1, script("faulty.py", str(path), "2x4", "none")) for path in (mlp, other_mlp)]
    done = launched(files)
    assert done.code != 0
    assert re.search(r"rank 1 of 2: the file \S*mlp\.ttnn is \w{16} \(\d+ bytes\); expected \w{16} ", done.err)


def copied_library(folder: Path, appended: bytes) -> Path:
    """The runtime in another file, which a process takes when it is preloaded."""
    copy = folder / LIBRARY.name
    shutil.copy(LIBRARY.resolve(), copy)
    with copy.open("ab") as file:
        file.write(appended)
    return copy


def test_another_version(mlp: Path, tmp_path: Path) -> None:
    copy = copied_library(tmp_path, b"another build")
    (tmp_path / "libttrt_mpi.so").symlink_to(LIBRARY.resolve().parent / "libttrt_mpi.so")
    usual = script("faulty.py", str(mlp), "2x4", "none")
    done = launched([(1, usual), (1, ["env", f"LD_PRELOAD={copy}", *usual])])
    assert done.code != 0
    assert "rank 1 of 2: the version of the runtime is 0.1.0, build " in done.err


def test_without_the_library_for_mpi(mlp: Path, tmp_path: Path) -> None:
    copy = copied_library(tmp_path, b"")
    done = launched([(2, ["env", f"LD_PRELOAD={copy}", *script("faulty.py", str(mlp), "2x4", "none")])])
    assert done.code != 0
    assert "this process is one of 2 that share a mesh over MPI, but " in done.err
    assert "apt-get install openmpi-bin libopenmpi-dev" in done.err


@pytest.mark.long
@pytest.mark.parametrize("text", ["soon", "0"])
def test_a_bad_timeout(text: str, mlp: Path) -> None:
    done = launched([(2, script("faulty.py", str(mlp), "2x4", "none"))], TTRT_RANKS_TIMEOUT=text)
    assert done.code != 0
    assert f'TTRT_RANKS_TIMEOUT is "{text}"; expected a number of seconds above 0' in done.err


def test_a_forked_child_is_no_rank() -> None:
    """It says so at once: its parent goes on."""
    done = launched([(2, script("forked.py"))], timeout=SOON)
    assert done.code == 0, done.err
    assert done.out.count("a process that was forked off is no rank") == 2
