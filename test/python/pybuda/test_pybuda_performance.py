# SPDX-License-Identifier: Apache-2.0
"""The performance analyzer: its figures, its files, its screens, and what is wrong with data."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import stat
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pybuda
import pytest
from pybuda.tools.perf_analysis import main
from pybuda.tools.perf_tables import PerfTables
from pybuda.tools.performance import OpTime, Performance, PerformanceError, collect, load, save
from textual.pilot import Pilot
from textual.widgets import DataTable, Static
from workspaces import LONG, NETLIST, workspace

SCRIPT = Path(pybuda.__file__).parent / "tools" / "perf_analysis.py"


#
# Figures
#


def test_spatial_epochs():
    found = collect(workspace())
    assert (found.netlist, found.arch, found.clock, found.batch) == ("your_netlist", "wormhole_b0", 1.0, 4)
    first, second, third = found.epochs
    assert [e.name for e in found.epochs] == [f"fwd_0_{i}_temporal_epoch_{i // 2}" for i in range(3)]
    assert (first.chips, second.chips, third.chips) == ((0,), (1,), (0,))
    assert first.cycles == 8200, "that of the slowest op"
    assert found.speed(first) == 4 * 1e9 / 8200
    assert first.utilization == (4100 * 10 + 1000 * 2) / (8200 * 64)
    assert first.balancer_utilization == (4000 * 10 + 900 * 2) / (4000 * 64)
    assert (first.matmul_cores, second.matmul_cores, third.matmul_cores) == (10, 16, 0)
    op = first.ops[0]
    assert (op.kernel, op.bw_kernel, op.est, op.problem) == (4100, 8200, 4000, "dram read")
    assert (op.in_required, op.in_actual, op.mblock, op.u_kt, op.m_k) == (64.0, 32.0, (2, 1), 1, 4)
    assert op.has_small_u_kt and not second.ops[0].has_small_u_kt


def test_temporal_epochs_run_at_the_same_time():
    spatial = collect(workspace())
    temporal = spatial.temporal()
    first, second = temporal.epochs
    assert (first.chips, len(first.ops), first.cycles) == ((0, 1), 3, 8200)
    assert first.utilization == (4100 * 10 + 1000 * 2 + 5000 * 16) / (8200 * 64 * 2)
    assert temporal.cycles == 8200 + 1800 and spatial.cycles == 8200 + 5000 + 1800
    assert temporal.inputs_per_second == 4 * 1e9 / 10000
    assert temporal.utilization == pytest.approx((first.utilization * 8200 + second.utilization * 1800) / 10000)


def test_estimates_of_op_perf_come_first():
    netlist = workspace()
    rows = "name, type, epoch, grid, tiles, cycles, limiter_cycles\ngelu, gelu, 0, 2x1, 16, 777, 8200\n"
    Path("op_perf.csv").write_text(rows)
    by_name = {op.name: op.est for epoch in collect(netlist).epochs for op in epoch.ops}
    assert by_name["gelu"] == 777 and by_name["first_matmul"] == 4000


def test_the_newest_netlist_is_taken_without_a_name():
    workspace()
    assert collect().netlist == "net_netlist"


def test_light_trace_records_less():
    (op, *_), *_ = [epoch.ops for epoch in collect(workspace(everything=False)).epochs]
    assert op.in_required is None and op.out_actual is None and op.bw_kernel == 8200


def test_an_epoch_without_ops_takes_no_time():
    empty = Performance("n", "wormhole_b0", 1.0, 1, ())
    assert (empty.cycles, empty.inputs_per_second, empty.utilization) == (0, 0.0, 0.0)
    nothing = OpTime("x", "nop", (0, 0), (1, 1), 0, 0)
    assert not nothing.is_matmul and nothing.cores == 1


def test_data_are_saved_and_loaded_elsewhere(capsys):
    netlist = workspace()
    assert main(["-n", str(netlist), "--save", "kept.bin"]) == 0
    assert capsys.readouterr().out == "saved performance of your_netlist to kept.bin\n"
    assert load(Path("kept.bin")) == collect(netlist)
    elsewhere = Path("elsewhere")
    elsewhere.mkdir()
    again = elsewhere / "again.bin"
    save(load(Path("kept.bin")), again)
    assert again.read_bytes() == Path("kept.bin").read_bytes()


#
# What is wrong
#


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "netlist your_netlist.yaml: No such file or directory"),
        ("graphs: [", "netlist your_netlist.yaml: no YAML: while parsing"),
        ("\x00", "netlist your_netlist.yaml: no YAML"),
        ("devices: {}", "netlist your_netlist.yaml: no netlist; expected sections devices, queues and graphs"),
        ("just words", "netlist your_netlist.yaml: no netlist"),
        ("graphs: {fwd: {op: 3}}", "netlist your_netlist.yaml: graph fwd: expected ops with their attributes"),
        (NETLIST.replace("gelu:", "silu:"), "no performance data of the ops of the netlist (net.json lacks silu)"),
        (NETLIST.replace("grid_size: [2, 1]", "grid_size: [2]"), "not enough values to unpack"),
    ],
)
def test_netlists(text, message):
    netlist = workspace()
    netlist.unlink() if text is None else netlist.write_text(text)
    with pytest.raises(PerformanceError) as raised:
        collect(netlist)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("tt_build/perf_results/net.json", "{", "tt_build/perf_results/net.json: damaged"),
        ("tt_build/perf_results/net.json", '{"ops": [{}]}', "tt_build/perf_results/net.json: damaged: KeyError 'name'"),
        ("tt_build/perf_results/net.json", '{"ops": []}', "no performance data of the ops of the netlist"),
        ("tt_build/net_placement.json", None, "tt_build/net_placement.json: No such file or directory"),
        ("tt_build/net_placement.json", "{}", "net_placement.json: KeyError 'grid_size'"),
        ("op_perf.csv", "a,b\n1,2\n", "op_perf.csv: not as a run with PYBUDA_OP_PERF=1 writes it"),
        ("op_perf.csv", "name, cycles\nx, many\n", "op_perf.csv: not as a run with PYBUDA_OP_PERF=1 writes it"),
    ],
)
def test_data(file, text, message, capsys):
    netlist = workspace()
    Path(file).unlink() if text is None else Path(file).write_text(text)
    assert main(["-n", str(netlist)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("perf_analysis.py: ") and message in error and error.count("\n") == 1


def test_without_a_performance_run():
    netlist = workspace()
    for path in Path("tt_build/perf_results").iterdir():
        path.unlink()
    with pytest.raises(PerformanceError, match="; run with performance_trace or TT_BACKEND_PERF_ANALYZER=1"):
        collect(netlist)


def test_without_anything():
    with pytest.raises(
        PerformanceError, match=r"there is no \*_netlist.yaml in tt_build, and no placer here that writes one"
    ):
        collect()


@pytest.mark.parametrize(
    "data",
    [b"", b"text", gzip.compress(b"{}", mtime=0), gzip.compress(b"[]", mtime=0),
     gzip.compress(b'{"format": "other"}', mtime=0),
     gzip.compress(json.dumps({"format": "pybuda performance 1", "epochs": [{}]}).encode(), mtime=0),
     gzip.compress(b"x" * 99, mtime=0)[:30]],
)  # fmt: skip
def test_other_files_are_not_loaded(data, capsys):
    Path("kept.bin").write_bytes(data)
    assert main(["--load", "kept.bin"]) == 1
    assert capsys.readouterr().err.startswith("perf_analysis.py: kept.bin: ")


def test_files_that_cannot_be_written(capsys):
    workspace()
    assert main(["--save", "no/such/folder/x"]) == 1
    assert "no/such/folder/x: No such file or directory" in capsys.readouterr().err
    assert main(["--load", "x", "-n", "y"]) == 1
    assert "expected one of them" in capsys.readouterr().err


@pytest.mark.long
def test_the_script_runs_by_its_name():
    """As the guide calls it; what it needs is a terminal."""
    assert SCRIPT.stat().st_mode & stat.S_IXUSR
    netlist = workspace()
    paths = os.pathsep.join(sys.path)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run([SCRIPT, "-n", netlist], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, "PYTHONPATH": paths, "PATH": path})  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "perf_analysis.py: the tables need a terminal; --save saves the data without one\n"


#
# Screens
#


def shown(performance: Performance, act: Callable[[PerfTables, Pilot], Awaitable[None]], size=(140, 40)) -> None:
    async def run() -> None:
        app = PerfTables(performance)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await act(app, pilot)

    asyncio.run(run())


def table(app: PerfTables) -> list[dict[str, str]]:
    found = app.query_one(DataTable)
    heads = [str(column.label) for column in found.columns.values()]
    return [dict(zip(heads, map(str, found.get_row_at(i)), strict=True)) for i in range(found.row_count)]


def text_of(app: PerfTables, name: str) -> str:
    return str(app.query_one(f"#{name}", Static).render())


def test_the_summary_and_the_epochs():
    async def act(app: PerfTables, pilot: Pilot) -> None:
        assert "your_netlist" in text_of(app, "top") and "400,000 inputs/s" in text_of(app, "top")
        first, second = table(app)
        assert first["cycles"] == "8,200" and first["speed"] == "487,805" and first["util"] == "11.7%"
        assert first["mm cores"] == "26" and first["chips"] == "0, 1" and second["balancer util"] == "1.6%"
        await pilot.press("N")
        rows = table(app)
        assert [row["bw_kernel"] for row in rows] == ["8,200", "5,000", "1,000"], "the slowest first"
        assert rows[0]["op"] == "first_matmul" and rows[0]["bw problem"] == "dram read"
        assert rows[0]["in req"] == "64.00" and rows[0]["in act"] == "32.00" and rows[0]["u_kt"] == "1"
        assert rows[1]["op"] != LONG and "…" in rows[1]["op"] and len(rows[1]["op"]) == 50
        assert "red" in str(app.query_one(DataTable).get_row_at(0)[6].style)
        await pilot.press("F")
        assert table(app)[1]["op"] == LONG
        await pilot.press("F", "N")
        assert [row["op"] for row in table(app)] == ["last"]
        await pilot.press("N")
        assert [row["op"] for row in table(app)] == ["last"], "the last epoch stays"
        await pilot.press("P", "P", "P")
        assert len(table(app)) == 2 and "cycles" in table(app)[0], "the summary is before the first"

    shown(collect(workspace()).temporal(), act)


def test_help_and_jumps():
    async def act(app: PerfTables, pilot: Pilot) -> None:
        assert not app.query_one("#help").display
        await pilot.press("H")
        assert app.query_one("#help").display and "balancer util" in text_of(app, "help")
        await pilot.press("e", "2", "enter")
        assert app.at == 2 and "bw_kernel" in text_of(app, "help")
        await pilot.press("e", "9", "enter")
        assert app.at == 2
        assert [note.message for note in app._notifications] == ["there is no epoch '9'; there are 0 to 2"]
        await pilot.press("e", "escape", "s")
        assert app.at is None and not app.query_one("#jump").display
        await pilot.press("down", "enter")
        assert app.at == 1
        await pilot.press("H", "q")

    shown(collect(workspace()), act)


@pytest.mark.long
@pytest.mark.parametrize("size", [(200, 60), (80, 24), (20, 6)])
def test_sizes(size):
    async def act(app: PerfTables, pilot: Pilot) -> None:
        for key in ["N", "F", "right", "right", "down", "P", "H"]:
            await pilot.press(key)

    shown(collect(workspace()), act, size)
