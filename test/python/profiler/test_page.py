# SPDX-License-Identifier: Apache-2.0
"""The report in a browser, where there is one."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import browser
import pytest
import torch
from browser import BROWSER, BROWSERS, opened, seen_in
from builder.base.builder_apis import compile_and_execute_ttir
from profiler import report_page, trace

pytestmark = pytest.mark.skipif(BROWSER is None, reason=f"no browser: none of {', '.join(BROWSERS)}")

# What a reader does with the page; the last line leaves what was seen in the title.
ACTIONS = """
const errors = [], texts = selector => [...document.querySelectorAll(selector)].map(node => node.textContent);
const cells = c => texts(`#ops tbody tr:not(.prepare) td:nth-child(${c})`);
addEventListener("error", event => errors.push(event.message));
const heading = name => [...document.querySelectorAll("th")].find(h => h.textContent === name);
const seen = {rows: cells(2), prepared: texts("#ops .prepare td"), hidden: $("hidden").textContent,
              tiles: texts(".tile span"), bars: document.querySelectorAll("#timeline .bar").length};
heading("cycles").click();
seen.slowest = cells(2)[0];
$("filter").value = "softmax"; $("filter").dispatchEvent(new Event("input"));
seen.filtered = cells(2);
$("filter").value = ""; $("filter").dispatchEvent(new Event("input"));
$("group").value = "name"; $("group").dispatchEvent(new Event("change"));
seen.names = cells(2); seen.shares = cells(4).map(parseFloat).reduce((a, b) => a + b);
$("group").value = "op"; $("group").dispatchEvent(new Event("change"));
$("idle").checked = true; $("idle").dispatchEvent(new Event("change"));
seen.every = cells(2); seen.shown = $("hidden").textContent;
seen.memory = [...document.querySelectorAll("#memory path")].map(p => p.getAttribute("d").length);
seen.once = $("once").hidden ? [] : texts("#once tbody tr td:nth-child(2)");
$("clock").value = "chip"; $("clock").dispatchEvent(new Event("change"));
$("timeline").dispatchEvent(new WheelEvent("wheel", {deltaY: -800, clientX: 400, cancelable: true}));
seen.zoomed = state.to - state.from < 1;
$("timeline").dispatchEvent(new Event("dblclick"));
seen.all = [state.from, state.to];
document.querySelector("#timeline .bar").dispatchEvent(new MouseEvent("mousemove", {clientX: 90, clientY: 90}));
seen.tip = $("tip").textContent;
$("runs").querySelector(".bar").dispatchEvent(new Event("click"));
seen.run = $("run").value;
seen.errors = errors;
document.title = JSON.stringify(seen);
"""


def acted(page: str, actions: str = ACTIONS, width: int = 1400) -> dict:
    """Returns what a reader saw after the ACTIONS."""
    return browser.acted(page, actions, width)


def module(builder):
    @builder.func([(64, 96), (96, 32)], [torch.float32, torch.float32])
    def model(a, b, builder):
        product = builder.region_end(builder.matmul(builder.region_start(a, "first"), b), "first")
        return builder.softmax(product, dimension=1)


def test_a_reader_finds_what_is_there():
    with trace("log"):
        compile_and_execute_ttir(module)
    seen = acted(Path("log/report.html").read_text(encoding="utf-8"))
    assert seen["errors"] == []
    assert seen["rows"] == ["ttnn.matmul", "ttnn.softmax"], "what takes no time is hidden at first"
    assert sorted(name for name in seen["every"] if name != "ttnn.deallocate") == [
        "debug.region_end", "debug.region_start", "ttnn.matmul", "ttnn.softmax"]  # fmt: skip
    hidden = len(seen["every"]) - 2
    assert seen["hidden"] == f"{hidden} ops that take no time (deallocations, marks) are hidden"
    assert seen["shown"] == f"{hidden} ops that take no time (deallocations, marks) are shown"
    assert seen["prepared"][1] == "preparation" and seen["prepared"][4].endswith("s")
    assert "preparation, host" in seen["tiles"] and "ops, host" in seen["tiles"]
    assert seen["bars"] >= 3
    assert seen["slowest"] in ("ttnn.matmul", "ttnn.softmax")
    assert seen["filtered"] == ["ttnn.softmax"]
    assert len(seen["names"]) == len(set(seen["names"])) and 99.5 < seen["shares"] < 100.5
    assert len(seen["memory"]) == 3 and min(seen["memory"]) > 20, "DRAM; L1 with circular buffers, and without"
    assert seen["once"] == []
    assert seen["zoomed"] and seen["all"] == [0, 1]
    assert seen["tip"].startswith("first\n")
    assert seen["run"] == "0"


def test_const_eval():
    """The weights' part of a program: a program of its own where the compiler makes one of it."""

    def folded(builder):
        @builder.func([(64, 64)], [torch.float32])
        def model(x, builder):
            weight = builder.constant(torch.linspace(-1, 1, 64 * 64).reshape(64, 64))
            return builder.matmul(x, builder.exp(builder.transpose(weight, dim0=0, dim1=1)))

    with trace("log") as tracing:
        compile_and_execute_ttir(folded)
    (program,) = tracing.recorder.snapshot()[0]
    seen = acted(Path("log/report.html").read_text(encoding="utf-8"))
    assert seen["errors"] == []
    assert seen["once"] == [op.name for once in program.once for op in once.ops]
    if "ttcore.load_cached" in seen["every"]:
        assert "ttnn.exp" in seen["once"] and "ttnn.exp" not in seen["every"]
        assert "ttnn.exp" in Path("log/ops.csv").read_text()


def test_the_page_that_is_served():
    with trace("log", 0) as tracing:
        compile_and_execute_ttir(module)
        document = seen_in(tracing.url)
    assert "while it runs: loads itself anew every 3 s" in document and ">ttnn.softmax</td>" in document


def test_without_a_run():
    with trace("log"):
        pass
    assert "Nothing was submitted yet." in opened(Path("log/report.html").read_text(encoding="utf-8"))


# Elements that do not lie in the window, texts that their picture cuts, and tables that are wider than their frame.
LAYOUT = """
const beyond = [];
const look = () => {
  for (const node of document.querySelectorAll("body *")) {
    if (node.closest("[clip-path], clipPath") && node.tagName !== "text") continue;  // bars that are zoomed into
    const box = node.getBoundingClientRect();
    if (box.width && getComputedStyle(node).visibility !== "hidden" && (box.right > innerWidth + .5 || box.left < -.5))
      beyond.push(`${node.tagName} ${node.id} ${node.textContent.slice(0, 40)}: ${box.left} to ${box.right}`);
  }
  for (const text of document.querySelectorAll("svg text")) {
    const box = text.getBoundingClientRect(), frame = text.ownerSVGElement.getBoundingClientRect();
    if (box.right > frame.right || box.left < frame.left)
      beyond.push(`${text.textContent} in ${text.ownerSVGElement.id}: ${box.left} to ${box.right}`);
  }
  for (const frame of document.querySelectorAll(".scroll"))
    if (frame.scrollWidth > frame.clientWidth) beyond.push(`table: ${frame.scrollWidth} in ${frame.clientWidth}`);
};
look();
$("idle").checked = true; $("idle").dispatchEvent(new Event("change"));
look();
$("clock").value = "chip"; $("clock").dispatchEvent(new Event("change"));
look();
for (let i = 1; i < 8; i++) { state.from = i / 16; state.to = 1 - i / 32; draw(); look(); }
document.title = JSON.stringify({beyond: [...new Set(beyond)], width: innerWidth});
"""


@pytest.mark.parametrize("width", [1920, 1400, 1000, 700])
def test_nothing_lies_beyond_the_window(width):
    """With names, shapes and figures as long as those of large models."""

    def large(builder):
        shapes = [(1, 8, 128, 256), (1, 8, 256, 512)]

        @builder.func(shapes, [torch.bfloat16] * 2)
        def a_program_with_a_name_as_long_as_those_that_frameworks_make(a, b, builder):
            scope = "transformer.encoder.layers.11.self_attention.output_projection"
            x = builder.region_end(builder.matmul(builder.region_start(a, scope), b), scope)
            for i in range(6):
                x = builder.gelu(builder.add(x, x), loc=f"transformer.encoder.layers.{i}.self_attention.projection")
            return builder.softmax(x, dimension=3)

    with trace("log") as tracing:
        compile_and_execute_ttir(large)
    page = Path("log/report.html").read_text(encoding="utf-8")
    program, run = tracing.recorder.snapshot()[0][0], tracing.runs[0]
    # The same program of a size that no test runs: seconds, gigabytes, and traffic between chips.
    slow = [dataclasses.replace(op, cycles=op.cycles * 12_345, device_ns=op.device_ns * 12_345,
                                dram_bytes=op.dram_bytes * 12_345, l1_bytes=987_654_321, fabric_bytes=123_456_789,
                                l1_resident=1_234_567) for op in program.ops]  # fmt: skip
    program = dataclasses.replace(program, ops=tuple(slow))
    runs = [dataclasses.replace(run, number=i, submit_ns=run.submit_ns * 999) for i in range(300)]
    for shown in (page, report_page([program], runs)):
        seen = acted(shown, LAYOUT, width)
        assert seen == {"beyond": [], "width": width}


def test_preparation_is_no_part_of_an_op():
    with trace("log") as tracing:
        compile_and_execute_ttir(module)
        compile_and_execute_ttir(module)
    for run in tracing.runs:
        assert run.prepare_ns + sum(run.host_ns) == run.submit_ns
    rows = [line.split(",") for line in Path("log/ops.csv").read_text().splitlines()]
    name, host = rows[0].index("name"), rows[0].index("host_ns")
    assert [int(r[-1]) for r in rows if r[name] == "preparation"] == [r.prepare_ns for r in tracing.runs]
    assert rows[0][-1] == rows[0][host]
    events = json.loads(Path("log/trace.json").read_text())["traceEvents"]
    prepared = [e for e in events if e.get("cat") == "prepare"]
    submits = [e for e in events if e.get("cat") == "submit"]
    ops = [e for e in events if e.get("cat") == "op" and e["pid"] == 1]
    for before, submit in zip(prepared, submits, strict=True):
        assert before["name"] == "preparation" and before["ts"] == submit["ts"]
        inside = [e for e in ops if submit["ts"] <= e["ts"] <= submit["ts"] + submit["dur"]]
        assert inside and all(e["ts"] >= before["ts"] + before["dur"] - 0.01 for e in inside)
