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

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium")

# What a reader does with the page; the last line leaves what was seen in the title.
ACTIONS = """
const errors = [], cells = c => [...document.querySelectorAll(`tbody tr td:nth-child(${c})`)].map(d => d.textContent);
addEventListener("error", event => errors.push(event.message));
const heading = name => [...document.querySelectorAll("th")].find(h => h.textContent === name);
const seen = {rows: cells(2), bars: document.querySelectorAll("#timeline .bar").length};
heading("cycles").click();
seen.slowest = cells(2)[0];
$("filter").value = "softmax"; $("filter").dispatchEvent(new Event("input"));
seen.filtered = cells(2);
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


def opened(page: str) -> str:
    """The document after its scripts ran."""
    path = Path("page.html")
    path.write_text(page, encoding="utf-8")
    command = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={Path.cwd()}/browser",
               "--window-size=1400,1000", "--dump-dom", path.resolve().as_uri()]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def module(builder):
    @builder.func([(64, 96), (96, 32)], [torch.float32, torch.float32])
    def model(a, b, builder):
        product = builder.region_end(builder.matmul(builder.region_start(a, "first"), b), "first")
        return builder.softmax(product, dimension=1)


def test_a_reader_finds_what_is_there():
    with trace("log"):
        compile_and_execute_ttir(module)
    page = Path("log/report.html").read_text(encoding="utf-8")
    page = page.replace("</script>", f"{ACTIONS}</script>")
    seen = json.loads(html.unescape(re.search(r"<title>(.*?)</title>", opened(page), re.S)[1]))
    assert seen["errors"] == []
    assert [name for name in seen["rows"] if name != "ttnn.deallocate"] == [
        "debug.region_start", "ttnn.matmul", "debug.region_end", "ttnn.softmax"]  # fmt: skip
    assert seen["bars"] >= 3
    assert seen["slowest"] in ("ttnn.matmul", "ttnn.softmax")
    assert seen["filtered"] == ["ttnn.softmax"]
    assert seen["zoomed"] and seen["all"] == [0, 1]
    assert seen["tip"].startswith("first\n")
    assert seen["run"] == "0"


def test_without_a_run():
    with trace("log"):
        pass
    assert "Nothing was submitted yet." in opened(Path("log/report.html").read_text(encoding="utf-8"))
