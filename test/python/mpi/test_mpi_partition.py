# SPDX-License-Identifier: Apache-2.0
"""The network between two machines fails: network namespaces stand for machines, a pair of virtual cards for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import launch
import pytest

TIMEOUT = 4  # of an exchange, in seconds
# As of two machines: TCP alone, and mpirun looks after its daemons more often than every few minutes.
OPTIONS = {
    "btl": "tcp,self",
    "oob_tcp_if_include": "10.77.0.0/24",
    "btl_tcp_if_include": "10.77.0.0/24",
    "oob_tcp_keepalive_time": "1",
    "oob_tcp_keepalive_intvl": "1",
    "oob_tcp_keepalive_probes": "3",
}


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@dataclass
class Wire:
    machines: tuple[str, str]

    def cut(self) -> None:
        ip("-n", self.machines[1], "link", "set", "card1", "down")


@pytest.fixture
def wire() -> Iterator[Wire]:
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("network namespaces need root and iproute2")
    names = (f"tt{os.getpid()}a", f"tt{os.getpid()}b")
    result: list[str] = []
    try:
        for name in names:
            try:
                ip("netns", "add", name)
            except subprocess.CalledProcessError as error:
                pytest.skip(f"this system has no network namespaces: {error.stderr.decode().strip()}")
            result.append(name)
        ip("link", "add", "card0", "netns", names[0], "type", "veth", "peer", "name", "card1", "netns", names[1])
        for i, name in enumerate(names):
            ip("-n", name, "addr", "add", f"10.77.0.{i + 1}/24", "dev", f"card{i}")
            ip("-n", name, "link", "set", f"card{i}", "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield Wire(names)
    finally:
        for name in result:
            ip("netns", "del", name)


@pytest.mark.slow
def test_a_network_that_fails_ends_all(wire: Wire, mlp: Path) -> None:
    # In place of ssh: HOST COMMAND..., on a machine with a name of its own.
    agent = Path("agent.sh")
    agent.write_text(
        f"""#!/bin/sh
shift
exec ip netns exec {wire.machines[1]} unshare -u sh -c 'hostname other-machine; exec sh -c "$0"' "$*"
"""
    )
    agent.chmod(0o755)
    options = [word for name, value in OPTIONS.items() for word in ("--mca", name, value)]
    options += ["--mca", "plm_rsh_agent", str(agent.resolve()), "--host", "10.77.0.1:1,10.77.0.2:1"]
    options += [word for name in ("OMP_NUM_THREADS", "TTRT_RANKS_TIMEOUT", "PATH") for word in ("-x", name)]
    words = launch.command([(2, launch.script("faulty.py", str(mlp), "2x4", "none"))], options)
    with (
        Path("output").open("wb") as output,
        subprocess.Popen(
            ["ip", "netns", "exec", wire.machines[0], *words],
            env=launch.environment(TTRT_RANKS_TIMEOUT=str(TIMEOUT)),
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as job,
    ):
        try:
            until = time.monotonic() + 60
            while Path("output").read_text().count("running") < 2:
                assert job.poll() is None and time.monotonic() < until, Path("output").read_text()
                time.sleep(0.1)
            wire.cut()
            began = time.monotonic()
            assert job.wait(60) != 0
        finally:
            job.kill()
    assert time.monotonic() - began < TIMEOUT + 20
    text = Path("output").read_text()
    assert (
        f"nothing came from rank 1 for {TIMEOUT} seconds" in text or "lost communication with a remote daemon" in text
    )
    # Those on the other side of the gap end, too, though nobody can tell them.
    until = time.monotonic() + TIMEOUT + 20
    while time.monotonic() < until and ranks_of(str(mlp)):
        time.sleep(0.2)
    assert not ranks_of(str(mlp))


def ranks_of(path: str) -> list[int]:
    """Processes of Python with this file on their command line."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes().split(b"\0") if process.name.isdigit() else []
        except OSError:
            continue
        if b"python" in (words or [b""])[0].rpartition(b"/")[2] and path.encode() in words:
            found.append(int(process.name))
    return found
