# SPDX-License-Identifier: Apache-2.0
"""Transfers of programs of several chips, as data, as a page and in the timeline."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import _ttmlir_runtime as rt
import numpy
import pytest
from profiler import chrome_trace, files, mesh_page, mesh_program, report_page, trace
from test_page import BROWSER, acted
from ttmlir import ir
from ttmlir.passes import ttir_to_ttnn_backend_pipeline, ttnn_to_flatbuffer_bin

IDENTITY = "shard_type = #ttcore.shard_type<identity>"
DEVICES = "shard_type = #ttcore.shard_type<devices>"


def shard(direction: str, dims: str, shape: str, kind: str = DEVICES) -> str:
    return (
        f"<{{shard_dims = array<i64: {dims}>, shard_direction = #ttcore.shard_direction<{direction}>, "
        f"shard_shape = array<i64: {shape}>, {kind}}}>"
    )


def binary(body: str, arguments: str, result: str, mesh: tuple[int, int]):
    text = f"module {{ func.func @main({arguments}) -> {result} {{\n{body}\n}} }}"
    module = ir.Module.parse(text, ir.Context())
    ttir_to_ttnn_backend_pipeline(module, f"mesh-shape={mesh[0]},{mesh[1]}")
    return rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(module))


def collective(op: str, before: str, after: str, mesh: tuple[int, int], attributes: str):
    """One op between a split over both axes of the mesh and the way back."""
    rows, columns = mesh
    whole = [int(n) for n in before.split("x")]
    whole = f"{whole[0] * rows}x{whole[1] * columns}"
    back = [int(n) for n in after.split("x")]
    back = f"{back[0] * rows}x{back[1] * columns}"
    both = f"{rows}, {columns}"
    body = f"""
    %0 = "ttir.mesh_shard"(%x) {shard("full_to_shard", "0, 1", both)} : (tensor<{whole}xf32>) -> tensor<{before}xf32>
    %1 = "ttir.{op}"(%0) <{{{attributes}}}> : (tensor<{before}xf32>) -> tensor<{after}xf32>
    %2 = "ttir.mesh_shard"(%1) {shard("shard_to_full", "0, 1", both)} : (tensor<{after}xf32>) -> tensor<{back}xf32>
    return %2 : tensor<{back}xf32>"""
    return binary(body, f"%x: tensor<{whole}xf32>", f"tensor<{back}xf32>", mesh)


SUM = "cluster_axis = {axis} : ui32, reduce_type = #ttcore.reduce_type<sum>"
NORM = "cluster_axis = {axis} : ui32, operandSegmentSizes = array<i32: 1, {absent}>"
# op, what it says, result of 64x64 on each chip of 2x4, messages, bytes of each: f32 tiles take 4096 bytes.
RINGS = {
    "all_gather over columns": (
        "all_gather",
        "all_gather_dim = 1 : si32, cluster_axis = 1 : ui32",
        "64x256",
        3 * 16384,
    ),
    "all_gather over rows": ("all_gather", "all_gather_dim = 0 : si32, cluster_axis = 0 : ui32", "128x64", 16384),
    "all_reduce over columns": ("all_reduce", SUM.format(axis=1), "64x64", 2 * 3 * 16384 // 4),
    "all_reduce over rows": ("all_reduce", SUM.format(axis=0), "64x64", 2 * 16384 // 2),
    "reduce_scatter over rows": (
        "reduce_scatter",
        SUM.format(axis=0) + ", scatter_dim = 0 : si32",
        "32x64",
        16384 // 2,
    ),
    # A tile's width of sums for each row, and two where the mean is needed, too.
    "distributed_rms_norm over columns": (
        "distributed_rms_norm",
        NORM.format(axis=1, absent="0, 0"),
        "64x64",
        3 * 8192,
    ),
    "distributed_layer_norm over rows": (
        "distributed_layer_norm",
        NORM.format(axis=0, absent="0, 0, 0"),
        "64x64",
        16384,
    ),
}


@pytest.mark.parametrize("case", RINGS)
def test_transfers_around_a_ring(case):
    op, attributes, after, expected = RINGS[case]
    program = mesh_program(collective(op, "64x64", after, (2, 4), attributes), 0, "wormhole_b0")
    (sending,) = [o for o in program.ops if o.sends]
    assert sending.name == f"ttnn.{op}"
    columns = case.endswith("columns")
    groups = ((0, 1, 2, 3), (4, 5, 6, 7)) if columns else ((0, 4), (1, 5), (2, 6), (3, 7))
    assert sending.groups == groups
    following = {(g[i], g[(i + 1) % len(g)]): expected for g in groups for i in range(len(g))}
    assert sending.links() == dict(sorted(following.items())) == program.links()
    assert {s.hops for s in sending.sends} == {1} and sending.hops == 1
    # The clock's own figures: 20.8 GB/s of a ring, and 2.5 us for each of its steps, of which a sum takes two rounds.
    report = rt.runtime.estimate(collective(op, "64x64", after, (2, 4), attributes), 0, "wormhole_b0", (2, 4))
    assert [o.fabric_bytes for o in report.ops if o.fabric_bytes] == [expected]
    steps = (2 if op == "all_reduce" else 1) * len(groups[0]) // 2
    assert sending.fabric_ns == pytest.approx(expected / 20.8 + 2500 * steps)
    assert sending.fabric_ns + 6000 <= sending.device_ns + 1e-6


@pytest.mark.parametrize(
    ("pair", "route"),
    [((0, 7), (0, 1, 2, 3, 7)), ((6, 1), (6, 5, 1)), ((3, 7), (3, 7)), ((5, 5), None)],
)
def test_the_way_from_chip_to_chip(pair, route):
    """Along the row first, then along the column."""
    text = f"source_target_pairs = dense<[[{pair[0]}, {pair[1]}]]> : tensor<1x2xi64>"
    program = mesh_program(collective("collective_permute", "32x32", "32x32", (2, 4), text), 0, "wormhole_b0")
    sends = [send for op in program.ops for send in op.sends]
    if route is None:
        assert sends == [] and program.links() == {}
        return
    assert [(s.route, s.bytes, s.hops) for s in sends] == [(route, 4096, len(route) - 1)]
    assert program.links() == dict(sorted(dict.fromkeys(pairwise(route), 4096).items()))
    (op,) = [op for op in program.ops if op.sends]
    assert op.name == "ttnn.collective_permute" and op.groups == (tuple(sorted(pair)),)
    assert op.fabric_ns == pytest.approx(4096 * (len(route) - 1) / 12 + 711 * (len(route) - 1))


def test_transfers_of_an_exchange():
    """An equal part to each chip of the group, along the row; chips at its ends have the longest ways."""
    text = "split_dim = 1 : si32, concat_dim = 0 : si32, split_count = 4 : si32, "
    text += "replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>"
    program = mesh_program(collective("all_to_all", "64x128", "256x32", (2, 4), text), 0, "wormhole_b0")
    (op,) = [op for op in program.ops if op.sends]
    part = 64 * 128 * 4 // 4
    assert op.name == "ttnn.all_to_all" and op.groups == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert {(s.route[0], s.route[-1]): (s.bytes, s.hops) for s in op.sends} == {
        (row + a, row + b): (part, abs(a - b)) for row in (0, 4) for a in range(4) for b in range(4) if a != b
    }
    assert op.fabric_ns == pytest.approx((1 + 2 + 3) * part / 12 + 711 * 3)


def test_values_say_how_they_are_split():
    result = collective("all_gather", "64x64", "64x256", (2, 4), RINGS["all_gather over columns"][1])
    program = mesh_program(result, 0, "wormhole_b0")
    by_op = {op.name: [program.values[v] for v in op.outs] for op in program.ops}
    (gathered,) = by_op["ttnn.all_gather"]
    assert gathered.place == "each" and gathered.differs == (0,), "chips of a row hold the same now"
    split = [v for v in program.values if v.differs == (0, 1)]
    assert split and all(v.shape == (64, 64) for v in split)
    known = [v for v in split if v.dims is not None]
    assert known and all((v.dims, v.whole) == ((0, 1), (128, 256)) for v in known)
    assert program.values[program.ops[-1].ins[0]].place in ("host", "each")


def test_presharded_inputs_say_it_themselves():
    split = shard("full_to_shard", "-1, 0", "2, 1", IDENTITY)
    body = f"""
    %0 = "ttir.mesh_shard"(%x) {split} : (tensor<64x32xf32>) -> tensor<32x32xf32>
    %1 = "ttir.exp"(%0) : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %2 = "ttir.mesh_shard"(%1) {shard("shard_to_full", "-1, 0", "2, 1")} : (tensor<32x32xf32>) -> tensor<64x32xf32>
    return %2 : tensor<64x32xf32>"""
    status = (
        "{ttcore.shard_status = #ttcore.shard_status<presharded>, "
        "ttcore.local_shape = #ttcore<local_shape local_shape = tensor<32x32xf32>>}"
    )
    program = mesh_program(
        binary(body, f"%x: tensor<64x32xf32> {status}", "tensor<64x32xf32>", (1, 2)), 0, "wormhole_b0"
    )
    (given,) = [program.values[v] for v in program.inputs]
    assert (given.place, given.dims, given.whole, given.differs) == ("each", (-1, 0), (64, 32), (1,))
    assert not program.links()


def test_a_program_that_is_not_there():
    with pytest.raises(rt.Error, match="program 7"):
        rt.runtime.sends(collective("all_reduce", "32x32", "32x32", (1, 2), SUM.format(axis=1)), 7)


def test_an_architecture_that_is_not_simulated():
    with pytest.raises(rt.Error, match='"abacus" is not simulated'):
        rt.runtime.sends(collective("all_reduce", "32x32", "32x32", (1, 2), SUM.format(axis=1)), 0, "abacus")


ACTIONS = """
const errors = [], texts = selector => [...document.querySelectorAll(selector)].map(node => node.textContent);
addEventListener("error", event => errors.push(event.message));
const seen = {title: $("title").textContent, tiles: texts(".tile b"), rows: texts("#ops tbody td:nth-child(2)")};
const press = (key, shiftKey = false) => dispatchEvent(new KeyboardEvent("keydown", {key, shiftKey, cancelable: true}));
const busy = () => [...document.querySelectorAll("#mesh .busy[data-link]")].map(n => n.dataset.link).sort();
const click = id => $(id).dispatchEvent(new Event("click"));
Object.defineProperty(KeyboardEvent.prototype, "target", {get: () => document.body});
seen.first = op().name; seen.busy = busy(); seen.chips = document.querySelectorAll("#mesh [data-chip]").length;
seen.part = document.querySelectorAll("#mesh .part").length;
const wires = [...document.querySelectorAll("#mesh .busy[data-link]")];
seen.width = [...new Set(wires.map(n => getComputedStyle(n).strokeWidth))];
seen.facts = texts("#facts dd").join("|"); seen.labels = texts("#drawn svg text");
press("Home"); seen.home = state.op; seen.back = $("back").disabled;
press("End"); seen.end = [state.op === ops().length - 1, $("on").disabled]; seen.idle = busy();
press("ArrowLeft"); seen.left = state.op;
press("ArrowLeft", true); seen.sends = op().name;
$("over").value = "all"; $("over").dispatchEvent(new Event("change")); seen.all = busy();
$("by").value = "sent"; $("by").dispatchEvent(new Event("change")); seen.sent = texts("#mesh text:not(.number)");
$("over").value = "op"; $("over").dispatchEvent(new Event("change"));
$("at").value = 0; $("at").dispatchEvent(new Event("input")); seen.slider = state.op;
document.querySelector("#ops tbody tr:last-child").click(); seen.row = state.op === ops().length - 1;
document.querySelector("#strip .bar").dispatchEvent(new MouseEvent("mousemove", {clientX: 40, clientY: 40}));
seen.tip = $("tip").textContent; seen.links = texts("#links tbody td:first-child");
seen.errors = errors;
document.title = JSON.stringify(seen);
"""
NO_BROWSER = pytest.mark.skipif(BROWSER is None, reason="no browser")


@NO_BROWSER
def test_a_reader_steps_through_the_page():
    result = collective("all_reduce", "64x64", "64x64", (2, 4), SUM.format(axis=1))
    program = mesh_program(result, 0, "wormhole_b0")
    seen = acted(mesh_page("a </script> b.ttnn", [program]), ACTIONS)
    assert seen["errors"] == [] and seen["title"] == "a </script> b.ttnn"
    assert seen["rows"] == [op.name for op in program.ops]
    assert seen["first"] == "ttnn.all_reduce" == seen["sends"], "the page opens at the first op that sends"
    links = sorted(f"{a}>{b}" for a, b in program.links())
    assert seen["busy"] == seen["all"] == links and len(links) == 8
    assert seen["chips"] == 8 and seen["part"] == 8 and seen["width"] == ["6.5px"]
    assert "0 1 2 3  ·  4 5 6 7" in seen["facts"] and "8 messages of 24 KiB, 1 hop each at most" in seen["facts"]
    assert set("01234567") <= set(seen["labels"]), "the split tensors name the chips"
    assert seen["home"] == 0 and seen["back"] and seen["end"] == [True, True] and seen["idle"] == []
    assert seen["left"] == len(program.ops) - 2 and seen["slider"] == 0 and seen["row"]
    assert seen["sent"] == ["24 KiB"] * 8
    assert program.ops[0].name in seen["tip"]
    assert sorted(text.replace(" → ", ">") for text in seen["links"]) == links


LAYOUT = """
const beyond = [];
for (let i = 0; i < ops().length; i++) {
  choose(i);
  for (const node of document.querySelectorAll("body *")) {
    const box = node.getBoundingClientRect();
    if (box.width && !node.closest(".scroll, defs") && (box.right > innerWidth + .5 || box.left < -.5))
      beyond.push(`${node.tagName} ${node.id} ${box.left} to ${box.right}`);
  }
  for (const text of document.querySelectorAll("svg text")) {
    const box = text.getBoundingClientRect(), frame = text.ownerSVGElement.getBoundingClientRect();
    if (box.right > frame.right + .5 || box.left < frame.left - .5)
      beyond.push(text.textContent);
  }
}
document.title = JSON.stringify({beyond: [...new Set(beyond)]});
"""


@NO_BROWSER
@pytest.mark.parametrize("width", [1920, 1000, 700])
@pytest.mark.parametrize("mesh", [(8, 4), (1, 32), (32, 1)], ids=str)
def test_large_meshes_stay_in_the_window(mesh, width):
    result = collective("all_reduce", "32x32", "32x32", mesh, SUM.format(axis=0 if mesh[0] > 1 else 1))
    page = mesh_page("large", [mesh_program(result, 0, "wormhole_b0")])
    assert acted(page, LAYOUT, width) == {"beyond": []}


def run_traced():
    result = collective("all_reduce", "64x64", "64x64", (2, 4), SUM.format(axis=1))
    options = rt.runtime.MeshDeviceOptions()
    options.mesh_shape = (2, 4)
    with trace("log") as tracing, rt.runtime.open_mesh_device(options) as device:
        value = numpy.ones((128, 256), numpy.float32)
        given = rt.runtime.create_owned_host_tensor(
            value.ctypes.data, [128, 256], [256, 1], 4, rt.runtime.DataType.Float32
        )
        rt.runtime.submit(device, result, 0, [given])
    return tracing


def test_the_trace_has_a_row_for_each_chip():
    run_traced()
    events = json.loads(Path("log/trace.json").read_text())["traceEvents"]
    rows = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name" and e["pid"] == 2}
    assert len(rows) == 8 and sorted(int(re.search(r"chip (\d+)", name)[1]) for name in rows.values()) == list(range(8))
    reduced = [e for e in events if e.get("cat") == "op" and e["pid"] == 2 and e["name"] == "ttnn.all_reduce"]
    assert Counter(e["tid"] for e in reduced) == dict.fromkeys(rows, 1)
    assert len({(e["ts"], e["dur"]) for e in reduced}) == 1, "chips run in step"
    said = {re.search(r"chip (\d+)", rows[e["tid"]])[1]: e["args"] for e in reduced}
    assert said["7"]["sends"] == ["24576 bytes to chip 4"] and said["7"]["receives"] == ["24576 bytes from chip 6"]


@pytest.mark.parametrize(("most", "rows"), [(0, [1, 1, 1]), (6, [3, 1, 1]), (30, [8, 4, 1])])
def test_a_trace_of_many_runs_stays_small(monkeypatch, most, rows):
    """The first runs have the rows of all chips, or of some; every run has that of the first chip."""
    programs, runs = run_traced().recorder.snapshot()
    assert sum(op.device_ns > 0 for op in programs[0].ops) == 3, "all_reduce, and what is before and behind"
    monkeypatch.setattr(files, "MOST_CHIP_EVENTS", most)
    later = [replace(runs[0], number=i, start_ns=runs[0].start_ns + i * 10**9) for i in range(3)]
    events = chrome_trace(programs, later)["traceEvents"]
    reduced = [e["ts"] for e in events if e.get("cat") == "op" and e["pid"] == 2 and e["name"] == "ttnn.all_reduce"]
    assert [count for _, count in sorted(Counter(reduced).items())] == rows


@NO_BROWSER
def test_the_timeline_has_a_row_for_each_chip():
    tracing = run_traced()
    page = report_page(*tracing.recorder.snapshot())
    seen = acted(page, """
const said = $("rows").textContent;
$("clock").value = "chip"; $("clock").dispatchEvent(new Event("change"));
const parts = [...document.querySelectorAll("#timeline [data-chip]")], tips = new Set();
for (const part of parts) {
  part.dispatchEvent(new MouseEvent("mousemove", {clientX: 90, clientY: 90}));
  tips.add($("tip").textContent);
}
const chips = [...new Set(parts.map(p => +p.dataset.chip))];
document.title = JSON.stringify({said, chips, tips: [...tips].filter(t => t.includes("all_reduce"))});
""")  # fmt: skip
    assert seen["said"] == "; by the chips' clock: a row for each chip"
    assert seen["chips"] == list(range(8)) and len(seen["tips"]) == 8
    assert any("24 KiB to chip 0\n24 KiB from chip 2" in html.unescape(text) for text in seen["tips"]), seen["tips"]
