# SPDX-License-Identifier: Apache-2.0
"""The live display: its tabs and keys, and the real program in a real terminal."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import DataTable, Static, TabbedContent
from tt_smi.live import LiveDisplay


def display(act: Callable[[LiveDisplay, Pilot], Awaitable[None]], size: tuple[int, int] = (160, 50), **options) -> None:
    async def run() -> None:
        app = LiveDisplay(**{"interval": 0.05, **options})
        async with app.run_test(size=size) as pilot:
            await pilot.pause(0.2)
            await act(app, pilot)

    asyncio.run(run())


def table(app: LiveDisplay, name: str) -> tuple[list[str], list[list[str]]]:
    found = app.query_one(f"#{name}-table", DataTable)
    heads = [str(column.label) for column in found.columns.values()]
    return heads, [[str(cell) for cell in found.get_row_at(i)] for i in range(found.row_count)]


def text_of(app: LiveDisplay, name: str) -> str:
    return str(app.query_one(f"#{name}", Static).render())


@pytest.mark.long
def test_the_tabs(worker, net):
    one = worker("open_mesh a 1 2", f"allocate a {12 << 20}", "submit a")

    async def act(app: LiveDisplay, pilot: Pilot) -> None:
        tabs = app.query_one("#tabs", TabbedContent)
        assert tabs.active == "info"
        heads, rows = table(app, "info")
        first = dict(zip(heads, rows[0], strict=True))
        assert first["Board"] == "n300" and first["Chip"] == "wormhole_b0 [0, 0]" and first["PID"] == str(one.pid)
        assert first["DRAM"].startswith("12.0 MiB / 12.0 GiB") or first["DRAM"].startswith("12.")
        assert first["DRAM status"] == "12 channels good" and first["PCIe link"] == "N/A" and len(rows) == 2
        await pilot.press("2")
        assert tabs.active == "telemetry"
        heads, rows = table(app, "telemetry")
        assert heads == ["", "0: n300 [0, 0]", "1: n300 [0, 1]"]
        values = {row[0]: row[1] for row in rows}
        assert values["AICLK (MHz)"] == "1000" and values["Core Voltage (V)"] == "N/A"
        await pilot.press("3")
        assert tabs.active == "firmware"
        heads, rows = table(app, "firmware")
        assert rows[1][heads.index("ARC FW")] == "N/A" and rows[1][heads.index("Runtime")]
        await pilot.press("1")
        assert tabs.active == "info"

    display(act)


@pytest.mark.long
def test_limits_and_averages(worker):
    worker("open_mesh a 1 1")

    async def act(app: LiveDisplay, pilot: Pilot) -> None:
        await pilot.press("2", "w")
        heads, rows = table(app, "telemetry")
        assert heads[1:] == ["0: n150 [0, 0]", "limit"]
        assert {row[0]: row[2] for row in rows}["AICLK (MHz)"] == "1000"
        assert {row[0]: row[2] for row in rows}["Core Temp (°C)"] == ""
        cell = app.query_one("#telemetry-table", DataTable).get_row_at(1)[2]
        assert "bold" in str(cell.style) and app.theme_variables["warning"] in str(cell.style)  # yellow
        await pilot.press("v")
        assert table(app, "telemetry")[0][1:] == ["0: n150 [0, 0]", "average", "limit"]
        await pilot.press("w", "v")
        assert table(app, "telemetry")[0][1:] == ["0: n150 [0, 0]"]

    display(act)


def test_boxes_come_and_go():
    async def act(app: LiveDisplay, pilot: Pilot) -> None:
        for key, name, shown in (("t", "sidebar", True), ("h", "helper", False)):
            assert app.query_one(f"#{name}").display is shown
            await pilot.press(key)
            assert app.query_one(f"#{name}").display is not shown
            await pilot.press(key)
            assert app.query_one(f"#{name}").display is shown
        assert app.query_one("#host").border_title == "Host Info"
        assert app.query_one("#compatibility").border_title == "Compatibility Check"
        assert "Kernel" in text_of(app, "host") and "pass" in text_of(app, "compatibility")
        assert "Toggle view of telemetry limits" in text_of(app, "helper")

    display(act)


def test_it_follows_what_processes_do(worker, net):
    async def act(app: LiveDisplay, pilot: Pilot) -> None:
        assert table(app, "info")[1][0][3] == "idle"
        one = worker("open_mesh a 2 4")
        await pilot.pause(0.4)
        heads, rows = table(app, "info")
        assert len(rows) == 8 and {row[heads.index("Board")] for row in rows} == {"llmbox"}
        ops = heads.index("Ops run")
        assert rows[0][ops] == "0"
        one.do("open_mesh b 1 1")
        one.do("submit b")
        await pilot.pause(0.4)
        assert table(app, "info")[1][8][ops] != "0"
        one.kill()
        await pilot.pause(0.4)
        assert len(table(app, "info")[1]) == 1

    display(act)


def test_damaged_files_are_told_of(folder):
    folder.mkdir()
    (folder / "what").write_text("?")

    async def act(app: LiveDisplay, pilot: Pilot) -> None:
        assert app.query_one("#problems").display and "what: damaged" in text_of(app, "problems")
        assert "FAIL Published files" in re.sub(" +", " ", text_of(app, "compatibility"))
        (folder / "what").unlink()
        await pilot.pause(0.4)
        assert not app.query_one("#problems").display

    display(act)


def test_snapshots_and_dumps_by_keys(worker):
    worker("open_mesh a 1 1")

    async def act(app: LiveDisplay, pilot: Pilot) -> None:
        await pilot.press("s", "d")
        await pilot.pause(0.3)
        await pilot.press("d")
        await pilot.pause(0.1)

    display(act)
    names = sorted(path.name for path in Path("tt-smi-logs").iterdir())
    assert [name.split("_")[0] for name in names] == ["tt-smi-dump", "tt-smi-snapshot"]
    assert json.loads(Path("tt-smi-logs", names[1]).read_text())["device_info"][0]["board_info"]["board"] == "n150"
    assert len(Path("tt-smi-logs", names[0], "chip_0.csv").read_text().splitlines()) > 2
    assert Path("tt-smi-logs", names[0], "telemetry.xlsx").stat().st_size > 1000


def test_a_dump_is_saved_when_the_display_ends():
    async def act(app: LiveDisplay, pilot: Pilot) -> None:
        await pilot.press("d")
        await pilot.pause(0.2)
        await pilot.press("q")

    display(act)
    (folder,) = Path("tt-smi-logs").iterdir()
    assert sorted(path.name for path in folder.iterdir()) == ["chip_0.csv", "telemetry.xlsx"]


def test_files_that_cannot_be_written_are_told_of():
    Path("tt-smi-logs").write_text("")

    async def act(app: LiveDisplay, pilot: Pilot) -> None:
        await pilot.press("s", "d")
        await pilot.pause(0.1)
        told = [note.message for note in app._notifications]
        assert any("snapshot tt-smi-logs/" in text for text in told)
        assert any("telemetry dump tt-smi-logs/" in text for text in told)
        assert app.is_running

    display(act)


@pytest.mark.long
@pytest.mark.sampled(3)
@pytest.mark.parametrize("size", [(160, 50), (80, 24), (30, 8)])
@pytest.mark.parametrize("theme", ["default", "dark"])
def test_sizes_and_themes(worker, size, theme):
    worker("open_mesh a 8 4")

    async def act(app: LiveDisplay, pilot: Pilot) -> None:
        for key in "2wv3h1":
            await pilot.press(key)
        assert app.theme == theme and app.current_theme.dark is (theme == "default")

    display(act, size, theme=theme)


#
# In a terminal
#


def in_terminal(arguments: list[str], keys: str = "", seconds: float = 4.0) -> tuple[str, int]:
    """Returns what `tt-smi` writes to a terminal of 160x50 while keys are pressed; it is ended by "q"."""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
        # Python's view of the environment: readline puts COLUMNS and LINES into the one of the process.
        environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
        command = [sys.executable, "-m", "tt_smi", *arguments]
        os.execve(sys.executable, command, environment | {"TERM": "xterm-256color"})
    written, waiting, start, status = b"", list(keys + "q"), time.monotonic(), None
    pause = seconds / (len(waiting) + 1)
    while status is None and time.monotonic() < start + seconds + 20:
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                written += os.read(terminal, 65536)
            except OSError:
                time.sleep(0.05)
        if waiting and b"TT-SMI" in written and time.monotonic() > start + pause * (len(keys) + 2 - len(waiting)):
            os.write(terminal, waiting.pop(0).encode())
        ended, found = os.waitpid(pid, os.WNOHANG)
        if ended:
            status = os.waitstatus_to_exitcode(found)
    if status is None:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    os.close(terminal)
    assert status is not None, "it did not end"
    return written.decode("utf-8", "replace"), status


SEQUENCE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-_])")


@pytest.mark.long
def test_a_real_terminal(worker, folder):
    one = worker("open_mesh a 1 1")
    written, status = in_terminal([], "123thwv")
    text = SEQUENCE.sub("", written)
    assert status == 0
    for words in (
        "TT-SMI",
        "Host Info",
        "Compatibility Check",
        "1 Device Info",
        "Core Voltage",
        "ARC FW",
        str(one.pid),
    ):
        assert words in text, words


@pytest.mark.long
def test_no_color(folder):
    written, status = in_terminal(["-nc"], "2w")
    assert status == 0 and "TT-SMI" in written
    colors = [m for m in re.findall(r"\x1b\[([\d;]*)m", written) if re.search(r"(^|;)([34][0-8]|9\d|10[0-7])(;|$)", m)]
    assert colors == []
    assert re.search(r"\x1b\[[\d;]*38;", in_terminal([], "2w", 2)[0]), "there are some without -nc"
