# SPDX-License-Identifier: Apache-2.0
"""Resets: what runs ends with an error that says why, the process goes on, and nothing else is touched."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest
from _ttmlir_runtime import DeviceError, runtime
from tt_smi.machine import discover


def test_a_run_is_ended(smi, worker, net):
    one, other = worker("open_mesh a 1 1"), worker("open_mesh a 1 1")
    one.send("forever a")
    assert one.answer() == "running"
    outcome = smi("-wr", given="0\n")
    assert (outcome.code, outcome.err) == (0, "")
    assert f"device 0: reset; what ran on it in process {one.pid} (" in outcome.out and "has ended" in outcome.out
    message = one.answer()
    assert message.startswith("DeviceError: device 0 (1x1 wormhole_b0) was reset from outside (tt-smi, process ")
    assert message.endswith("); open it again")
    # The process lives, its mesh is closed and says why, and it can open another.
    one.send("submit a")
    assert "is closed: it was reset from outside (tt-smi" in one.answer()
    one.do("open_mesh a 1 1")
    one.do("submit a")
    assert [c.process.number for c in discover().chips] == [other.pid, one.pid]
    other.do("submit a")


def test_targets_on_the_command_line(smi, worker, net):
    one, other = worker("open_mesh a 1 1", "submit a"), worker("open_mesh a 1 1", "submit a")
    outcome = smi("-r", "1")
    assert outcome.code == 0 and outcome.out.startswith("device 1: reset") and outcome.out.count("\n") == 1
    assert [chip.status for chip in discover().chips] == ["open", "reset requested"]
    assert [line.split(":")[0] for line in smi("-r").out.splitlines()] == ["device 0", "device 1"]
    for process in (one, other):
        process.send("submit a")
        assert "was reset from outside" in process.answer()
    assert smi("-r", "7").err == "tt-smi: there is no device 7; there is 0 alone\n"
    assert smi("-r", "0000:0a:00.0").err.startswith("tt-smi: '0000:0a:00.0' is no device; expected numbers")


@pytest.mark.long
def test_a_process_that_runs_nothing_is_told_later(smi, worker, net):
    one = worker("open_mesh a 1 1", "submit a")
    outcome = smi("-wr", given="0\n")
    assert outcome.code == 0
    assert f"device 0: reset is requested; process {one.pid} (" in outcome.out
    assert "runs nothing on it now, and gets an error when it" in outcome.out
    (chip,) = discover().chips
    assert chip.status == "reset requested"
    one.send("submit a")
    assert "was reset from outside" in one.answer()
    assert discover().chips[0].process is None
    one.do("open_mesh a 1 1")
    one.do("submit a")


@pytest.mark.long
def test_eager_ops_are_ended(worker, folder):
    """Calls of ttnn; the second request changes nothing."""
    program = """
import sys
import torch, ttnn
device = ttnn.open_device(device_id=0)
x = ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
print("open", flush=True)
sys.stdin.readline()
try:
    ttnn.add(x, x)
except Exception as error:
    print(error, flush=True)
try:
    ttnn.to_torch(x)
except Exception as error:
    print(error, flush=True)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "open\n"
    for _ in range(2):
        runtime.request_reset(process.pid, 0)
    first, second = process.communicate("\n", timeout=1200)[0].splitlines()
    assert "device 0 (1x1 wormhole_b0) was reset from outside" in first
    assert "is closed: it was reset from outside" in second


@pytest.mark.long
def test_a_mesh_is_reset_as_one(smi, worker, net):
    one = worker("open_mesh a 1 2", "open_mesh b 1 1", "part c a 1 1 0 1")
    outcome = smi("-wr", given="0, 1\n")
    assert outcome.code == 0
    assert "device 0: reset with its mesh of 1x2 chips is requested" in outcome.out
    assert "device 1: reset with its mesh\n" in outcome.out
    one.do("submit b")  # another mesh of the process
    one.send("submit c")
    assert "device 0 (1x2 wormhole_b0) was reset from outside" in one.answer()
    one.do("submit b")
    assert [c.board for c in discover().chips] == ["n150"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("", "nothing was entered; nothing is reset"),
        ("\n", "'' is no device; expected numbers like 0, 2, or all"),
        ("1\n", "there is no device 1; there is 0 alone"),
        ("-1\n", "'-1' is no device"),
        ("zero\n", "'zero' is no device"),
        ("0 99999999999999999999\n", "'99999999999999999999' is no device"),
    ],
)
def test_answers_that_name_no_device(smi, worker, given, message):
    one = worker("open_mesh a 1 1")
    outcome = smi("-wr", given=given)
    assert outcome.code == 1 and outcome.err.startswith("tt-smi: ") and message in outcome.err
    assert discover().chips[0].status == "open" and discover().chips[0].process.number == one.pid


def test_idle_devices(smi):
    outcome = smi("-wr", given="0\n")
    assert (outcome.code, outcome.err) == (0, "")
    assert "device 0: idle: no process has it open, and there is nothing to reset" in outcome.out


@pytest.mark.long
def test_the_mobo(smi, worker, net):
    one = worker("open_mesh a 1 2", "open_mesh b 1 1")
    outcome = smi("-mr", given=f"{platform.node()}\n1\n")
    assert outcome.code == 0 and "port 1: reset is requested" in outcome.out
    assert [c.status for c in discover().chips] == ["open", "open", "reset requested"]
    assert smi("-mr", given="localhost\nall\n").code == 0
    for name in ("a", "b"):
        one.send(f"submit {name}")
        assert "was reset" in one.answer()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("elsewhere\n0\n", "there is no mobo 'elsewhere'; simulated chips are on this host"),
        ("localhost\n7\n", "there is no port 7; there is 0 alone"),
        ("localhost\n", "nothing was entered; nothing is reset"),
    ],
)
def test_mobos_and_ports_that_are_not_there(smi, given, message):
    outcome = smi("-mr", given=given)
    assert outcome.code == 1 and message in outcome.err


def test_a_mesh_that_is_not_there(worker):
    one = worker("open_mesh a 1 1")
    for process, device in ((one.pid, 7), (1, 0), (4194305, 0)):
        with pytest.raises(DeviceError, match=f"reset device {device} of process {process}: there is none"):
            runtime.request_reset(process, device)
