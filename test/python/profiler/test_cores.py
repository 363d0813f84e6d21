# SPDX-License-Identifier: Apache-2.0
"""The timeline of cores: steps of kernels, loads of links and banks, zones, and where they are shown."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browser
import pytest
import torch
import ttl
import ttnn
from _ttmlir_runtime import metal, runtime
from _ttmlir_runtime.runtime import DataType
from _ttmlir_runtime.ttnn import BufferType
from builder.base.builder_apis import build_module
from profiler import trace
from profiler.cores import MOST_STEPS, CoresRecord, KernelRecord, bound_by, longest
from ttmlir import passes
from ttrt.__main__ import main as ttrt

MOST = 512  # steps of a kernel on a core
BYTES = 96


@pytest.fixture(name="machine")
def machine_fixture() -> Iterator[metal.Machine]:
    runtime.set_perf_recording(True)
    yield metal.Machine("wormhole_b0")
    runtime.set_perf_recording(False)


def moved(machine: metal.Machine, body: str, core: tuple[int, int]) -> metal.CoreActivity:
    """Returns what the cores did while a kernel on one of them ran; port 0 has 4 KiB on all cores."""
    source = f'#include "dataflow_api.h"\nvoid kernel_main() {{\nconst uint32_t at = get_write_ptr(0);\n{body}\n}}\n'
    ring = metal.CircularBuffer(0, DataType.Float32, 4096, 1, metal.core_range((0, 0), (7, 7)))
    return machine.run([metal.Kernel("k", source, [core])], [ring]).activity


@pytest.mark.parametrize(
    ("core", "body", "links"),
    [
        ((1, 1), "noc_async_write(at, get_noc_addr(3, 2, at), N);", ["11>21", "21>31", "31>32"]),
        ((3, 2), "noc_async_write(at, get_noc_addr(1, 1, at), N);", ["32>22", "22>12", "12>11"]),
        ((1, 1), "noc_async_read(get_noc_addr(3, 2, at), at, N);", ["32>22", "22>12", "12>11"]),
        ((4, 4), "noc_async_write(at, get_noc_addr(4, 4, at), N);", []),
        (
            (0, 0),
            "noc_async_write_multicast(at, get_noc_multicast_addr(0, 0, 2, 1, at), N, 5);",
            ["00>10", "10>20", "00>01", "10>11", "20>21"],
        ),
    ],
)
def test_bytes_go_along_the_row_and_then_along_the_column(
    machine: metal.Machine, core: tuple[int, int], body: str, links: list[str]
) -> None:
    """A link of a multicast is used once, whatever the number of receivers behind it."""
    activity = moved(machine, body.replace("N", str(BYTES)), core)
    expected = {(tuple(map(int, a)), tuple(map(int, b))): BYTES for a, b in (each.split(">") for each in links)}
    assert {(a, b): count for a, b, count in activity.links} == expected
    assert activity.grid == (8, 8)
    assert sum(activity.dram_bytes) == 0


def test_bytes_of_banks(machine: metal.Machine) -> None:
    pages = machine.allocate(BufferType.DRAM, page_bytes=64, pages=len(moved(machine, "", (0, 0)).dram_bytes))
    body = f"""for (uint32_t bank = 1; bank < 4; ++bank)
      noc_async_read(get_noc_addr_from_bank_id<true>(bank, {pages.address}), at, 16 * bank);"""
    assert moved(machine, body, (2, 5)).dram_bytes[:5] == [0, 16, 32, 48, 0]
    assert moved(machine, body, (2, 5)).links == []


def check_steps(kernel: metal.KernelTime) -> None:
    """Steps follow each other without gaps from the beginning to the end."""
    now = 0.0
    for begin, end, _, _ in kernel.steps:
        assert begin == now and end > begin
        now = end
    assert now == kernel.end


def test_steps_are_what_the_clock_counts(machine: metal.Machine) -> None:
    """Producer and consumer of a buffer with one page: the consumer waits for pages, then both by turns."""
    cores = [(0, 0)]
    producer = """#include "dataflow_api.h"
    void kernel_main() {
      for (uint32_t i = 0; i < 4; ++i) {
        cb_reserve_back(0, 1);
        { DeviceZoneScopedN("read"); noc_async_read(get_noc_addr(7, 7, get_write_ptr(0)), get_write_ptr(0), 4096); }
        cb_push_back(0, 1);
      }
    }
    """
    consumer = """#include "compute_kernel_api/eltwise_unary/eltwise_unary.h"
    void kernel_main() {
      init_sfpu(0, 16);
      DeviceZoneScopedN("all");
      for (uint32_t i = 0; i < 4; ++i) {
        cb_wait_front(0, 1);
        tile_regs_acquire();
        copy_tile(0, 0, 0);
        exp_tile(0);
        tile_regs_commit();
        tile_regs_wait();
        tile_regs_release();
        cb_pop_front(0, 1);
      }
    }
    """
    rings = [metal.CircularBuffer(port, DataType.Float32, 4096, 1, cores) for port in (0, 16)]
    kernels = [metal.Kernel("p", producer, cores), metal.Kernel("c", consumer, cores, compute=True)]
    report = machine.run(kernels, rings)
    moves, computes = report.kernels
    for kernel in (moves, computes):
        check_steps(kernel)
        for activity, total in zip(
            ("computes", "moves", "waits"), (kernel.computing, kernel.moving, kernel.waiting), strict=True
        ):
            assert sum(end - begin for begin, end, does, _ in kernel.steps if does == activity) == total
        assert sum(kernel.waits.values()) == pytest.approx(kernel.waiting)
    assert set(moves.waits) == {"room in port 0", "transfers"} and set(computes.waits) == {"pages of port 0"}
    assert [zone.name for zone in moves.zones] == ["read"] * 4
    assert sum(zone.end - zone.begin for zone in moves.zones) == moves.moving
    (whole,) = computes.zones
    assert (whole.begin, whole.end) == (0, computes.end)
    assert [r[2] for r in computes.steps] == ["waits", "computes"] * 4
    runtime.set_perf_recording(False)
    assert machine.run(kernels, rings).kernels[0].steps == [] and machine.run(kernels, rings).kernels[1].zones == []


def test_the_number_of_steps_is_bounded(machine: metal.Machine) -> None:
    """Neighbors are merged; the first and the last cycle stay."""
    pair = """#include "dataflow_api.h"
    void kernel_main() {
      for (uint32_t i = 0; i < 3000; ++i) {
        FIRST(0, 1);
        noc_async_read(get_noc_addr(7, 7, 200000), 300000, 512);
        SECOND(0, 1);
      }
    }
    """
    cores = [(0, 0)]
    names = [("cb_reserve_back", "cb_push_back"), ("cb_wait_front", "cb_pop_front")]
    kernels = [
        metal.Kernel(f"k{at}", pair.replace("FIRST", a).replace("SECOND", b), cores, noc=at)
        for at, (a, b) in enumerate(names)
    ]
    report = machine.run(kernels, [metal.CircularBuffer(0, DataType.Float32, 4096, 2, cores)])
    for kernel in report.kernels:
        assert MOST / 2 <= len(kernel.steps) <= MOST
        check_steps(kernel)


def metal_file(options: str = "") -> Path:
    """A product in several steps of K on four cores, and a function."""

    def module(builder: Any) -> None:
        @builder.func([(64, 2048), (2048, 64)], [torch.bfloat16] * 2)
        def f(x: Any, y: Any, b: Any) -> Any:
            return b.exp(b.matmul(x, y))

    built, _ = build_module(module, "ttir")
    passes.ttir_to_ttmetal_pipeline(
        built, f"override-device-shape=2,2 test-assume-l1-capacity=250000 {options}".strip()
    )
    path = Path("net.ttm")
    path.write_bytes(bytes(passes.ttmetal_to_flatbuffer_bin(built)))
    return path


def test_ttrt_says_what_bounds_a_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    path = metal_file()
    assert ttrt(["perf", str(path), "--allow-native", "--kernels", "--json", "perf.json"]) == 0
    text = capsys.readouterr().out
    assert "bound by datamovement_kernel" in text or "bound by compute_kernel" in text
    (program,) = json.loads(Path("perf.json").read_text())["programs"]
    assert len(program["kernels"]) == sum(op["name"] == "EnqueueProgramCommand" for op in program["ops"])
    product = max(program["kernels"], key=lambda each: len(each["links"]))
    assert f"command {product['op']}, " in text and f"bound by {product['bound_by']}" in text
    for kernel in product["kernels"]:
        assert kernel["cores"] == 4 and kernel["computes"] + kernel["moves"] + kernel["waits"] <= 1 + 1e-9
    links = {(*each["from"], *each["to"]): each["bytes"] for each in product["links"]}
    # The first core of each row multicasts a row of tiles of the first operand, that of each column one of the second.
    multicasts = [links.pop(each) for each in ((0, 0, 1, 0), (0, 1, 1, 1), (0, 0, 0, 1), (1, 0, 1, 1))]
    assert multicasts == [32 * 2048 * 2] * 4
    # What they read of it lies on both cores.
    assert links.items() >= {(1, 0, 0, 0): 32 * 2048, (1, 1, 0, 1): 32 * 2048}.items()


def test_ops_of_kernels_are_zones() -> None:
    """One zone for each call of the function of an op."""
    path = metal_file("insert-profiler-traces=true profiler-traits=fpu,unary")
    with trace("profile") as tracing:
        assert ttrt(["perf", str(path), "--allow-native", "--loops", "1"]) == 0
    (program,), _ = tracing.recorder.snapshot()
    zones = [zone for record in program.cores for kernel in record.kernels for zone in kernel.zones]
    names = Counter(name for name, _, _ in zones)
    assert names["exp_tile"] == 4, "a tile of each core"
    assert set(names) == {"exp_tile", "copy_tile", "experimental.matmul_block"}
    computing = {kernel.core: kernel for record in program.cores for kernel in record.kernels if kernel.zones}
    assert len(computing) == 4
    assert all(0 <= begin <= end for _, begin, end in zones)


def test_ttrt_without_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    path = metal_file()
    assert ttrt(["perf", str(path), "--allow-native", "--kernels", "--estimate"]) == 1
    assert "--kernels records runs, and --estimate does not run" in capsys.readouterr().err


def kernel_of(name: str, computing: float, moving: float, end: float, waits: tuple[tuple[str, float], ...] = ()) -> Any:
    return KernelRecord(name, (0, 1), computing, moving, end - computing - moving, end, waits, (), ())


@pytest.mark.parametrize(
    ("kernels", "expected"),
    [
        (
            [kernel_of("c", 80, 0, 100), kernel_of("r", 0, 40, 90)],
            "c on core (y=1, x=0), which computes 80% of the time",
        ),
        ([kernel_of("c", 10, 0, 100), kernel_of("r", 0, 95, 95)], "r on core (y=1, x=0), which moves data 95% of"),
        (
            [kernel_of("c", 30, 0, 100, (("pages of port 0", 60), ("transfers", 10)))],
            "waiting: the busiest kernel, c on core (y=1, x=0), works 30% of the time and waits for pages of port 0",
        ),
        ([], "nothing"),
    ],
)
def test_what_bounds_a_program(kernels: list[KernelRecord], expected: str) -> None:
    assert bound_by(CoresRecord(0, (8, 8), tuple(kernels), (), ())).startswith(expected)


def test_steps_of_the_longest_programs_are_kept() -> None:
    def record(cycles: float, steps: int) -> CoresRecord:
        kernel = KernelRecord("k", (0, 0), cycles, 0, 0, cycles, (), ((0.0, cycles, "computes", ""),) * steps, ())
        return CoresRecord(0, (8, 8), (kernel,), (), ())

    short, long, too_many = record(10, 1), record(100, MOST_STEPS - 1), record(50, 2)
    assert longest([short, too_many, long]) == {id(long), id(short)}


@ttl.operation(grid=(2, 1))
def double(a: ttnn.Tensor, y: ttnn.Tensor) -> None:
    a_dfb, y_dfb = (ttl.make_dataflow_buffer_like(each, shape=(1, 1)) for each in (a, y))

    @ttl.compute()
    def add() -> None:
        with a_dfb.wait() as a_blk, y_dfb.reserve() as y_blk:
            y_blk.store(a_blk + a_blk)

    @ttl.datamovement()
    def read() -> None:
        column = ttl.node(dims=1)
        with ttl.signpost("read a"), a_dfb.reserve() as a_blk:
            ttl.copy(a[0, column], a_blk).wait()

    @ttl.datamovement()
    def write() -> None:
        column = ttl.node(dims=1)
        with y_dfb.wait() as y_blk, ttl.signpost("write y"):
            ttl.copy(y_blk, y[0, column]).wait()


@pytest.fixture(name="traced", scope="module")
def traced_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a trace of a program of TTMetal, and of an operation of TT-Lang with zones."""
    folder = tmp_path_factory.mktemp("traced")
    device = ttnn.open_device(device_id=0)
    a, y = (ttnn.full([32, 64], float(value), layout=ttnn.TILE_LAYOUT, device=device) for value in (3, 0))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        path = metal_file()
        with trace(folder):
            double(a, y)
            assert ttrt(["perf", str(path), "--allow-native", "--loops", "2"]) == 0
    assert (ttnn.to_torch(y) == 6).all()
    ttnn.close_device(device)
    return folder


def test_the_trace_has_rows_of_cores(traced: Path) -> None:
    events = json.loads((traced / "trace.json").read_text())["traceEvents"]
    rows = {e["tid"]: e["args"]["name"] for e in events if e["pid"] == 3 and e["name"] == "thread_name"}
    slices = [e for e in events if e["pid"] == 3 and e["ph"] == "X"]
    assert {"core y=0 x=0, processor 0", "core y=1 x=1, processor 2", "core y=0 x=0, processor 1: zones"} <= set(
        rows.values()
    )
    assert {e["tid"] for e in slices} == set(rows)
    zones = [e for e in slices if e["cat"] == "zone"]
    assert sorted(e["name"] for e in zones) == ["read a"] * 2 + ["write y"] * 2
    for row in rows:  # slices of a row do not overlap
        own = sorted((e["ts"], e["dur"]) for e in slices if e["tid"] == row)
        assert all(begin + taken <= after + 0.002 for (begin, taken), (after, _) in itertools.pairwise(own))
    programs = [e for e in events if e["pid"] == 2 and e["name"] == "EnqueueProgramCommand"]
    product = max(programs, key=lambda e: e["dur"])
    inside = [e for e in slices if product["ts"] <= e["ts"] < product["ts"] + product["dur"]]
    assert inside and max(e["ts"] + e["dur"] for e in inside) == pytest.approx(product["ts"] + product["dur"], abs=0.01)


ACTIONS = """
const errors = [], count = selector => document.querySelectorAll(selector).length;
addEventListener("error", event => errors.push(event.message));
const seen = {cores: $("chip").querySelectorAll("[data-core]").length};
const metal = DATA.programs.findIndex(p => p.ops.some(op => op.name === "EnqueueProgramCommand"));
$("program").value = metal; $("program").dispatchEvent(new Event("change"));
$("kernels").value = DATA.programs[metal].cores.find(c => c.links.length).op;
$("kernels").dispatchEvent(new Event("change"));
seen.programs = $("kernels").length; seen.steps = count("#lanes [data-kernel]");
seen.links = count("#chip [data-link]");
seen.about = $("about").textContent;
$("heat").value = "waiting"; $("heat").dispatchEvent(new Event("change"));
$("chip").querySelector("[data-core='1,1']").dispatchEvent(new MouseEvent("mousemove", {clientX: 90, clientY: 90}));
seen.tip = $("tip").textContent;
$("lanes").dispatchEvent(new WheelEvent("wheel", {deltaY: -800, clientX: 900, cancelable: true}));
seen.zoomed = state.zoom[1] - state.zoom[0] < 1;
$("kernels").selectedIndex = 0; $("kernels").dispatchEvent(new Event("change"));
seen.first = state.kernels === DATA.programs[metal].cores[0].op && state.zoom[1] === 1;
$("program").value = 1 - metal; $("program").dispatchEvent(new Event("change"));
seen.zones = [...document.querySelectorAll("#lanes [data-zone]")].map(z => z.dataset.zone).sort();
seen.errors = errors;
document.title = JSON.stringify(seen);
"""


@pytest.mark.skipif(browser.BROWSER is None, reason="no browser")
def test_the_page_shows_the_cores(traced: Path) -> None:
    seen = browser.acted((traced / "report.html").read_text(encoding="utf-8"), ACTIONS)
    assert seen["errors"] == []
    assert seen["cores"] == 64 and seen["programs"] >= 3
    assert seen["links"] >= 6 and seen["steps"] > 12
    assert seen["about"].startswith("estimated, first run; bound by ")
    assert seen["tip"].startswith("core y=1 x=1\n") and "waits" in seen["tip"] and "for pages of port 0" in seen["tip"]
    assert seen["zoomed"] and seen["first"]
    assert seen["zones"] == ["read a", "read a", "write y", "write y"]
