# SPDX-License-Identifier: Apache-2.0
"""The command line: snapshots, telemetry dumps, and mistakes."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tt_smi.records import TIME
from tt_smi.telemetry import FIELDS

# As the document prints them, for one chip.
DOCUMENTED = [
    "Timestamp (s)", "Core Voltage (V)", "AICLK (MHz)", "ARCCLK (MHz)", "AXICLK (MHz)", "Core Current (A)",
    "Core Power (W)", "Core Temp (°C)", "VREG Temp (°C)", "Inlet Temp (°C)", "Outlet Temp 1 (°C)", "Outlet Temp 2 (°C)",
]  # fmt: skip


def tool(*arguments: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "tt_smi", *arguments], capture_output=True, text=True, timeout=1200,
                          **options)  # fmt: skip


#
# Snapshots
#


def test_a_snapshot(smi, worker, net):
    one = worker("open_mesh a 1 2", f"allocate a {12 << 20}", "submit a")
    outcome = smi("-s")
    (path,) = Path("tt-smi-logs").iterdir()
    assert re.fullmatch(r"tt-smi-snapshot_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d\.log", path.name)
    assert (outcome.code, outcome.err) == (0, f"saved a snapshot of 2 devices to {path}\n")
    assert outcome.out == path.read_text(), "the card's tt-smi prints it"
    facts = json.loads(outcome.out)
    ours = {"tt_smi", "compatibility", "problems"}
    assert set(facts) == ours | {"time", "host_info", "host_sw_vers", "device_info", "processes"}
    assert facts["host_info"]["OS"] == "Linux" and facts["compatibility"]["Python"]["passed"]
    first, second = facts["device_info"]
    assert (first["index"], first["board_info"]["board"], second["board_info"]["place"]) == (0, "n300", [0, 1])
    assert first["process"]["pid"] == one.pid and first["work"]["programs"] == 1
    assert first["memory"]["DRAM"]["peak_bytes_per_bank"] >= 1 << 20
    assert set(first["telemetry"]) > {field.key for field in FIELDS}
    assert first["telemetry"]["core_voltage"] is None and first["telemetry"]["aiclk"] == 1000
    assert first["firmware"]["ARC FW"] is None and first["firmware"]["Runtime"]
    assert facts["processes"] == [
        {key: process[name] for key, name in (("pid", "pid"), ("user", "user"), ("cmdline", "command"))}
        | {"device": device["index"]}
        for device in facts["device_info"]
        if (process := device["process"])
    ]


def test_the_names_of_the_cards_tt_smi(smi):
    """Accepts the names of tt-smi 6.8."""
    (device,) = json.loads(smi("-s").out)["device_info"]
    names = {"smbus_telem", "board_info", "telemetry", "gddr_telemetry", "firmwares", "limits"}
    assert set(device) > names
    assert (device["board_info"]["board_type"], device["limits"]["asic_fmax"]) == ("n150", "1000")
    assert device["telemetry"]["voltage"] == device["firmwares"]["cm_fw"] == "N/A"
    assert int(device["smbus_telem"]["AICLK"], 16) == device["telemetry"]["aiclk"] == 1000


def test_a_list_of_devices(smi, worker):
    worker("open_mesh a 1 2")
    lines = smi("-ls").out.splitlines()
    assert [line.split()[:2] for line in lines] == [["0", "n300"], ["1", "n300"]]


def test_a_snapshot_under_a_name(smi):
    assert smi("-s", "-f", "my_file.log").out == "saved a snapshot of 1 device to my_file.log\n"
    assert json.loads(Path("my_file.log").read_text())["device_info"][0]["process"] is None
    assert smi("--snapshot", "--filename").code == 0  # without a name: the default
    assert len(list(Path("tt-smi-logs").iterdir())) == 1


def test_a_snapshot_to_standard_output(smi):
    outcome = smi("-s", "-f", "-")
    assert json.loads(outcome.out)["device_info"][0]["chip_info"] == {
        "arch": "wormhole_b0",
        "cores": 64,
        "status": "idle",
    }
    assert list(Path.cwd().iterdir()) == []


def test_a_reader_that_goes_away(folder):
    command = f"{sys.executable} -m tt_smi -s -f - | head -c 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=1200)
    assert (done.stdout, done.stderr) == ("{", "")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no/such/file.log", "snapshot no/such/file.log: No such file or directory"),
        ("folder", "snapshot folder: Is a directory"),
        ("file/x.log", "snapshot file/x.log: Not a directory"),
        ("/proc/x.log", "snapshot /proc/x.log: "),
    ],
)
def test_snapshots_that_cannot_be_written(smi, name, message):
    Path("folder").mkdir()
    Path("file").write_text("")
    before = sorted(Path.cwd().rglob("*"))
    outcome = smi("-s", "-f", name)
    assert outcome.code == 1 and outcome.err.startswith(f"tt-smi: {message}") and outcome.err.count("\n") == 1
    assert sorted(Path.cwd().rglob("*")) == before


#
# Telemetry
#


def sheets(path: Path) -> dict[str, list[list[str]]]:
    """The cells of a workbook, by its sheets."""
    space = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}
    with zipfile.ZipFile(path) as book:
        shared = []
        if "xl/sharedStrings.xml" in book.namelist():
            root = ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
            shared = ["".join(t.text or "" for t in item.iterfind(".//m:t", space)) for item in root]
        names = [
            s.attrib["name"]
            for s in ElementTree.fromstring(book.read("xl/workbook.xml")).iter(f"{{{space['m']}}}sheet")
        ]
        found = {}
        for number, name in enumerate(names, 1):
            root = ElementTree.fromstring(book.read(f"xl/worksheets/sheet{number}.xml"))
            found[name] = [
                [
                    shared[int(c.find("m:v", space).text)] if c.get("t") == "s" else c.find("m:v", space).text
                    for c in row
                ]
                for row in root.iter(f"{{{space['m']}}}row")
            ]
    return found  # fmt: skip


def test_a_dump_of_some_time(smi, worker, net):
    worker("open_mesh a 1 2", "submit a")
    outcome = smi("-d", "-dir", "my_dir", "-dur", "0.35", "-i", "0.1")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines() == [
        "dumping telemetry to my_dir/ every 0.1 s",
        "saved telemetry of 2 devices to my_dir/chip_0.csv, my_dir/chip_1.csv, my_dir/telemetry.xlsx",
    ]
    rows = list(csv.reader(Path("my_dir/chip_0.csv").read_text().splitlines()))
    assert rows[0] == [TIME, *(field.title for field in FIELDS)] and rows[0][: len(DOCUMENTED)] == DOCUMENTED
    times = [float(row[0]) for row in rows[1:]]
    assert len(times) >= 3 and times == sorted(times) and 0.05 < times[0] < 0.3
    aiclk, volts = rows[0].index("AICLK (MHz)"), rows[0].index("Core Voltage (V)")
    assert {row[aiclk] for row in rows[1:]} == {"1000"} and {row[volts] for row in rows[1:]} == {"N/A"}
    book = sheets(Path("my_dir/telemetry.xlsx"))
    assert list(book) == ["chip 0", "chip 1", "chips"]
    assert book["chip 0"][0] == rows[0] and len(book["chip 0"]) == len(rows)
    assert [float(row[0]) for row in book["chip 0"][1:]] == times
    assert book["chip 1"][1][volts] == "N/A" and book["chip 1"][1][aiclk] == "1000"
    assert book["chips"][2][:2] == ["chip 1", "n300"]


def test_a_dump_ends_with_enter_and_with_signals(folder):
    for end in ("enter", "interrupt"):
        process = subprocess.Popen(
            [sys.executable, "-m", "tt_smi", "-d", "-i", "0.05"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        line = process.stdout.readline()
        assert "; press Enter to stop" in line
        path = Path(re.search(r"to (\S+)/ every", line)[1])
        if end == "enter":
            process.stdin.write("\n")
            process.stdin.flush()
        else:
            process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert "saved telemetry of 1 device to" in process.stdout.read()
        assert path.parent == Path("tt-smi-logs") and path.name.startswith("tt-smi-dump_")
        assert sorted(file.name for file in path.iterdir()) == ["chip_0.csv", "telemetry.xlsx"]
        assert len((path / "chip_0.csv").read_text().splitlines()) >= 2, "a reading, however short it was"
        for file in path.iterdir():
            file.unlink()
        path.rmdir()


def test_a_dump_without_input_ends(folder):
    done = tool("-d", "-dir", "x", stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_dump_ends_with_enter_when_readings_take_longer_than_the_interval(folder):
    process = subprocess.Popen(
        [sys.executable, "-m", "tt_smi", "-d", "-dir", "x", "-i", "1e-9"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    process.stdout.readline()
    wait_until(lambda: Path("x/chip_0.csv").exists() and len(Path("x/chip_0.csv").read_text().splitlines()) > 3)
    said, _ = process.communicate("\n", timeout=1200)
    assert process.returncode == 0 and said.startswith("saved telemetry of 1 device to")


def test_a_dump_longer_than_it_is_read_for(smi, folder):
    """A year between readings is no reason to wait for one."""
    assert smi("-d", "-dir", "x", "-i", "31536000", "-dur", "0.05").code == 0
    assert len(Path("x/chip_0.csv").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("command", "code", "out", "error"),
    [
        ("<&-", 1, "", "the live display needs a terminal; -s takes a snapshot, and -d dumps telemetry without one"),
        (">&-", 1, "", "the live display needs a terminal; -s takes a snapshot, and -d dumps telemetry without one"),
        ("-d -dir x -i 0.05 <&-", 0, "saved telemetry of 1 device to x/chip_0.csv, x/telemetry.xlsx\n", ""),
        ("-d -dir x -dur 0.1 -i 0.05 >&-", 0, "", ""),
        ("-d -dir x -dur 0.1 -i 0.05 <&- >&- 2>&-", 0, "", ""),
        ("-wr <&-", 1, "Indices of the devices to reset (0, 2, or all): \n", "nothing was entered; nothing is reset"),
        ("-mr <&-", 1, "Host name of the mobo: \n", "nothing was entered; nothing is reset"),
        ("-wr >&-", 1, "", "standard output is closed"),
        ("-mr >&-", 1, "", "standard output is closed"),
        ("-s -f - >&-", 1, "", "standard output is closed"),
        ("-s -f x.log >&-", 0, "", ""),
        ("-s -f no/x.log 2>&-", 1, "", ""),
    ],
)
def test_closed_streams(folder, command, code, out, error):
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m tt_smi {command}"], capture_output=True, text=True, timeout=1200
    )
    assert (done.returncode, done.stderr) == (code, f"tt-smi: {error}\n" if error else "")
    assert done.stdout.endswith(out) and bool(done.stdout) == bool(out)
    if "-d " in command:
        assert len(Path("x/chip_0.csv").read_text().splitlines()) >= 2
    elif "x.log" in command and not code:
        assert json.loads(Path("x.log").read_text())["device_info"]


def test_chips_that_come_and_go_during_a_dump(worker, folder):
    one = worker("open_mesh a 1 1")
    process = subprocess.Popen(
        [sys.executable, "-m", "tt_smi", "-d", "-dir", "out", "-i", "0.05", "-dur", "4"],
        stdout=subprocess.PIPE,
        text=True,
    )
    process.stdout.readline()
    first = Path("out/chip_0.csv")
    wait_until(lambda: first.exists() and len(first.read_text().splitlines()) > 3)
    two = worker("open_mesh a 1 1 blackhole")
    wait_until(lambda: Path("out/chip_1.csv").exists())
    one.kill()
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    book = sheets(Path("out/telemetry.xlsx"))
    assert [row[5] for row in book["chips"][1:3]] == [str(one.pid), str(two.pid)]
    assert [row[2] for row in book["chips"][1:3]] == ["wormhole_b0", "blackhole"]


def wait_until(holds, seconds: float = 20) -> None:
    import time

    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("folder_name", ["file", "/proc/none", "file/below"])
def test_dumps_that_cannot_be_written(smi, folder_name):
    Path("file").write_text("mine")
    outcome = smi("-d", "-dir", folder_name, "-dur", "0.1")
    assert outcome.code == 1 and outcome.err.startswith(f"tt-smi: telemetry dump {folder_name}: ")
    assert Path("file").read_text() == "mine"


#
# Mistakes
#


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-t", "light"], "argument -t/--theme: 'light' is none of default, dark"),
        (["-i", "0"], "argument -i/--interval: '0' is no time; expected seconds, like 0.5"),
        (["-i", "-1"], "argument -i/--interval: '-1' is no time"),
        (["-i", "soon"], "argument -i/--interval: 'soon' is no time"),
        (
            ["-d", "-i", "1e300"],
            "argument -i/--interval: '1e300' is no time; expected seconds, like 0.5, and a year at",
        ),
        (["-d", "-dur", "31536001"], "argument -dur/--duration: '31536001' is no time"),
        (["-i", "nan"], "argument -i/--interval: 'nan' is no time"),
        (["-d", "-dur"], "argument -dur/--duration: expected one argument"),
        (["-d", "-dur", "inf"], "argument -dur/--duration: 'inf' is no time"),
        (["-s", "-d"], "not allowed with argument"),
        (["-wr", "-mr"], "not allowed with argument"),
        (["-f", "x.log"], "-f is of snapshots; add -s"),
        (["-dir", "x"], "-dir is of telemetry dumps; add -d"),
        (["-s", "-dur", "3"], "-dur is of telemetry dumps; add -d"),
        (["--snapshto"], "unrecognized arguments: --snapshto; did you mean --snapshot?"),
        (["board7"], "unrecognized arguments: board7"),
    ],
)
def test_wrong_usage(smi, arguments, message):
    outcome = smi(*arguments)
    assert outcome.code == 2 and outcome.out == ""
    assert outcome.err.startswith("tt-smi: ") and message in outcome.err and outcome.err.count("\n") == 1
    assert list(Path.cwd().iterdir()) == []


def test_help_and_version(smi):
    text = smi("-h").out
    options = "-h -v -t_{default,dark} -nc -i_[seconds] -s -f_[filename] -d -dir_[dirname] -dur_seconds -ls -wr -mr "
    options += "-r_[TARGET_...] --external"
    for option in options.split():
        option = option.replace("_", " ")
        assert f"[{option}]" in re.sub(r"\s+", " ", text.replace(" | ", "] [")), option
    assert smi("-v").out.startswith("tt-smi 0.1.0")
    assert "complete" in smi("--print-completion", "bash").out


def test_the_live_display_needs_a_terminal(folder):
    done = tool(stdin=subprocess.DEVNULL)
    assert done.returncode == 1
    assert done.stderr == (
        "tt-smi: the live display needs a terminal; -s takes a snapshot, and -d dumps telemetry without one\n"
    )


def test_packages_that_are_not_there(folder, tmp_path):
    """The message says what brings them."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "xlsxwriter.py").write_text("raise ModuleNotFoundError('no', name='xlsxwriter')")
    paths = os.pathsep.join([str(hidden), os.environ.get("PYTHONPATH", "")])
    done = tool("-d", "-dur", "0.1", env={**os.environ, "PYTHONPATH": paths})
    assert done.returncode == 1 and "pip install 'ttmlir[tools]'" in done.stderr
