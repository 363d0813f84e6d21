"""The report in a browser, where there is one."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import torch
from builder.base.builder_apis import compile_and_execute_ttir
from profiler import trace

# scripts/setup.sh installs the first where none of them is.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason=f"no browser: none of {', '.join(BROWSERS)}")

# What a reader does with the page; the last line leaves what was seen in the title.
ACTIONS = """
const errors = [], texts = selector => [...document.querySelectorAll(selector)].map(node => node.textContent);
const cells = c => texts(`#ops tbody tr td:nth-child(${c})`);
addEventListener("error", event => errors.push(event.message));
const heading = name => [...document.querySelectorAll("th")].find(h => h.textContent === name);
const seen = {rows: cells(2), bars: document.querySelectorAll("#timeline .bar").length};
heading("cycles").click();
seen.slowest = cells(2)[0];
$("filter").value = "softmax"; $("filter").dispatchEvent(new Event("input"));
seen.filtered = cells(2);
$("filter").value = ""; $("filter").dispatchEvent(new Event("input"));
$("group").value = "name"; $("group").dispatchEvent(new Event("change"));
seen.names = cells(2); seen.shares = cells(4).map(parseFloat).reduce((a, b) => a + b);
$("group").value = "op"; $("group").dispatchEvent(new Event("change"));
$("idle").checked = false; $("idle").dispatchEvent(new Event("change"));
seen.busy = cells(2);
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


def seen_in(where: str) -> str:
    """The document at a URL after its scripts ran."""
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={Path.cwd()}/browser",
               "--window-size=1400,1000", "--dump-dom", where]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def opened(page: str) -> str:
    path = Path("page.html")
    path.write_text(page, encoding="utf-8")
    return seen_in(path.resolve().as_uri())


def acted(page: str) -> dict:
    """What a reader saw who did what ACTIONS says."""
    document = opened(page.replace("</script>", f"{ACTIONS}</script>"))
    return json.loads(html.unescape(re.search(r"<title>(.*?)</title>", document, re.S)[1]))


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
    assert [name for name in seen["rows"] if name != "ttnn.deallocate"] == [
        "debug.region_start", "ttnn.matmul", "debug.region_end", "ttnn.softmax"]  # fmt: skip
    assert seen["bars"] >= 3
    assert seen["slowest"] in ("ttnn.matmul", "ttnn.softmax")
    assert seen["filtered"] == ["ttnn.softmax"]
    assert len(seen["names"]) == len(set(seen["names"])) and 99.5 < seen["shares"] < 100.5
    assert {"ttnn.matmul", "ttnn.softmax"} <= set(seen["busy"]) and "ttnn.deallocate" not in seen["busy"]
    assert len(seen["memory"]) == 2 and min(seen["memory"]) > 20
    assert seen["once"] == []
    assert seen["zoomed"] and seen["all"] == [0, 1]
    assert seen["tip"].startswith("first\n")
    assert seen["run"] == "0"


def test_what_is_evaluated_once():
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
    if "ttcore.load_cached" in seen["rows"]:
        assert "ttnn.exp" in seen["once"] and "ttnn.exp" not in seen["rows"]
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
