# SPDX-License-Identifier: Apache-2.0
"""Pages of compilations: what is in them, and what a reader finds in a browser."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pybuda
import pytest
import torch
from browser import BROWSER, BROWSERS, acted, screenshot
from modules import Product, read
from pybuda.tools.reportify import INITIAL, PLACED, ReportError, main, read_placement, report_page
from workspaces import NETLIST, placement, workspace

needs_browser = pytest.mark.skipif(BROWSER is None, reason=f"no browser: none of {', '.join(BROWSERS)}")


def data_of(text: str) -> dict:
    return json.loads(re.search(r"^const DATA = (.*);$", text, re.M)[1])


def product(name: str = "net") -> Product:
    return Product(name, torch.rand(32, 64), torch.rand(64))


def compiled(monkeypatch: pytest.MonkeyPatch, name: str = "net") -> str:
    monkeypatch.setenv("PYBUDA_REPORTIFY_DIR", "reports")
    read(pybuda.run_inference(product(name), inputs=[(torch.rand(4, 32),)]))
    return Path("reports", f"{name}.html").read_text(encoding="utf-8")


def test_graphs_of_a_compilation(monkeypatch):
    (program, *_) = data_of(compiled(monkeypatch))["programs"]
    assert program["kind"] == "forward"
    names = [stage["name"] for stage in program["stages"]]
    assert names[0] == INITIAL and "convert-ttir-to-ttnn" in names and len(names) == len(set(names))
    first, last = program["stages"][0], program["stages"][-1]
    kinds = [(node["kind"], node["type"]) for node in first["nodes"]]
    assert kinds.count(("parameter", "32x64 f32")) == 1 and kinds.count(("input", "4x32 f32")) == 1
    by_op = {node["op"]: number for number, node in enumerate(first["nodes"])}
    assert [by_op["ttir.matmul"], by_op["ttir.add"]] in first["edges"]
    assert any(node["op"].startswith("ttnn.") and "tile" in node["type"] for node in last["nodes"])
    assert all(0 <= a < len(s["nodes"]) and 0 <= b < len(s["nodes"]) for s in program["stages"] for a, b in s["edges"])
    assert all(op[3] > 0 for op in program["ops"]), "bytes of DRAM that are held"
    graphs = [(stage["nodes"], stage["edges"]) for stage in program["stages"]]
    assert all(a != b for a, b in pairwise(graphs)), "only passes that changed something"


def test_nothing_is_written_unless_it_is_requested():
    read(pybuda.run_inference(product(), inputs=[(torch.rand(4, 32),)]))
    assert not list(Path.cwd().rglob("*.html"))


def test_training_has_a_backward_program(monkeypatch):
    monkeypatch.setenv("PYBUDA_REPORTIFY_DIR", "reports")
    sgd = pybuda.optimizers.SGD(learning_rate=0.1, device_params=True)
    module = pybuda.PyTorchModule("model", torch.nn.Linear(8, 1))
    device = pybuda.TTDevice("tt0", module=module, optimizer=sgd)
    device.place_loss_module(pybuda.op.loss.MSELoss("loss"))
    device.push_to_inputs(torch.rand(16, 8))
    device.push_to_target_inputs(torch.rand(16, 1))
    pybuda.run_training(steps=1)
    pybuda.sync()
    kinds = [p["kind"] for p in data_of(Path("reports/model.html").read_text())["programs"] if p["kind"] != "placed"]
    assert kinds == ["forward", "backward"]


def test_missing_parts_are_left_out():
    data = data_of(report_page("bare", []))
    assert data["programs"] == [] and data["placement"] is None and data["netlist"] == ""


def test_a_page_needs_no_network(monkeypatch):
    for text in (compiled(monkeypatch), report_page("net", [], placement(), NETLIST)):
        assert not re.search(
            r"""(src|href)\s*=|@import|fetch\(|XMLHttpRequest|url\(""", re.sub(r"const DATA = .*", "", text)
        )
        assert re.findall(r"https?://\S+", re.sub(r"const DATA = .*", "", text)) == ['http://www.w3.org/2000/svg",']


def test_names_and_texts_do_not_end_the_script(monkeypatch):
    hostile = placement()
    hostile["epochs"][0]["ops"][1]["name"] = "</script><script>alert(1)"
    assert report_page("</title>", [], hostile, "</script>").count("</script>") == 1


def test_pages_of_what_the_compiler_wrote(capsys):
    workspace()
    assert main(["tt_build", "-o", "pages"]) == 0
    assert capsys.readouterr().out == "pages/net.html\n"
    data = data_of(Path("pages/net.html").read_text())
    assert [e["number"] for e in data["placement"]["epochs"]] == [0, 1, 2] and data["netlist"] == NETLIST
    ((stage,),) = [p["stages"] for p in data["programs"]]
    assert stage["name"] == PLACED
    names = [node["name"] for node in stage["nodes"]]
    assert [names.index("w1"), names.index("first_matmul")] in stage["edges"]
    assert [names.index("last"), names.index("net.output")] in stage["edges"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is no *_placement.json; compile a model first"),
        ("{", "net_placement.json: no placement as the compiler writes it: JSONDecodeError"),
        ("[]", "net_placement.json: no placement as the compiler writes it: TypeError"),
        ('{"queues": []}', "net_placement.json: no placement as the compiler writes it: KeyError 'epochs'"),
        ('{"queues": [3], "epochs": []}', "net_placement.json: no placement as the compiler writes it: TypeError"),
    ],
)
def test_damaged_placements(text, message, capsys):
    workspace()
    path = Path("tt_build/net_placement.json")
    path.unlink() if text is None else path.write_text(text)
    assert main(["tt_build"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("reportify: ") and message in error and error.count("\n") == 1


def test_folders_that_cannot_be_written(monkeypatch, capsys):
    workspace()
    Path("file").write_text("")
    assert main(["tt_build", "-o", "file"]) == 1
    assert "reportify: report file/net.html: File exists" in capsys.readouterr().err
    with pytest.raises(ReportError, match="No such file or directory"):
        read_placement(Path("none_placement.json"))
    monkeypatch.setenv("PYBUDA_REPORTIFY_DIR", "/proc/none")
    with pytest.raises(ReportError, match=r"report /proc/none/net\.html: "):
        read(pybuda.run_inference(product(), inputs=[(torch.rand(4, 32),)]))


# What a reader does with the page; the last line leaves what was seen in the title.
ACTIONS = """
const errors = [], texts = selector => [...document.querySelectorAll(selector)].map(node => node.textContent);
addEventListener("error", event => errors.push(event.message));
const click = node => node.dispatchEvent(new MouseEvent("click", {bubbles: true}));
const count = selector => document.querySelectorAll(selector).length;
const seen = {tabs: texts("#tabs button"), tiles: texts(".tile span"), stages: texts("#stage option"),
              nodes: count("#graph .node"), edges: count("#graph .edge")};
click(document.querySelector("#graph .node rect").parentNode);
seen.about = texts("#about h3")[0]; seen.marked = document.querySelectorAll("#graph .edge.in, #graph .edge.out").length;
$("find").value = "matmul"; $("find").dispatchEvent(new Event("input"));
seen.found = $("counted").textContent;
const before = state.view.scale;
$("graph").dispatchEvent(new WheelEvent("wheel", {deltaY: -400, clientX: 300, clientY: 300, cancelable: true}));
seen.zoomed = state.view.scale > before;
$("graph").dispatchEvent(new Event("dblclick"));
seen.fits = [...document.querySelectorAll("#graph .node")].every(node => {
  const a = node.getBoundingClientRect(), b = $("graph").getBoundingClientRect();
  return a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
});
if (stages().length > 1) {
  $("stage").value = stages().length - 1;
  $("stage").dispatchEvent(new Event("change"));
  seen.last = graph().name;
}
const tab = name => {
  const button = document.querySelector(`#tabs [data-tab=${name}]`);
  if (button) click(button);
  return !!button;
};
if (tab("placement")) {
  seen.placed = count("#grid .placed"); seen.cores = count("#grid .core");
  const op = document.querySelector('#grid [data-op="gelu"]') || document.querySelector("#grid [data-op]");
  op.dispatchEvent(new MouseEvent("mouseenter"));
  seen.arrows = count("#grid .arrow"); seen.hovered = texts("#op h3")[0]; seen.used = $("used").textContent;
  const epochs = document.querySelectorAll("#epochs tbody tr");
  click(epochs[1] || epochs[0]);
  seen.epoch = $("epoch").selectedOptions[0].textContent; seen.ops = texts("#ops tbody td:first-child");
}
if (tab("memory")) {
  seen.queues = texts("#queues tbody td:first-child"); seen.bars = document.querySelectorAll("#bars .bar").length;
  seen.channels = texts("#bars .soft"); seen.curve = document.querySelectorAll("#curve rect").length;
  seen.parts = ["channels", "held"].filter(id => !$(id).hidden);
}
if (tab("netlist")) seen.netlist = $("text").textContent.length;
seen.errors = errors;
document.title = JSON.stringify(seen);
"""


@needs_browser
def test_a_reader_finds_what_was_compiled(monkeypatch):
    seen = acted(compiled(monkeypatch), ACTIONS)
    assert seen["errors"] == []
    assert seen["stages"][0].startswith(INITIAL) and seen["nodes"] >= 6 and seen["edges"] >= 5
    assert seen["about"] in ("mm", "add") and seen["marked"] >= 2 and seen["found"].endswith("1 found")
    assert seen["zoomed"] and seen["fits"] and seen["last"] != INITIAL
    assert seen["parts"] == ["channels", "held"] and seen["curve"] > 2
    assert seen["tabs"] == ["Passes", "Placement", "Memory", "Netlist"]
    assert seen["cores"] == 64 and 1 <= seen["placed"] == len(seen["ops"]) and seen["hovered"] in seen["ops"]
    assert seen["queues"] and seen["netlist"] > 500


@needs_browser
def test_a_reader_finds_the_placement():
    seen = acted(report_page("net", [], placement(), NETLIST), ACTIONS)
    assert seen["errors"] == []
    assert seen["tabs"] == ["Passes", "Placement", "Memory", "Netlist"]
    assert seen["tiles"] == ["on wormhole_b0, 8x8 cores", "cycles for an input", "inputs, estimated", "queues in DRAM"]
    assert seen["cores"] == 64 and seen["placed"] == 2 and seen["used"].startswith("12 of 64 in use")
    assert seen["hovered"] == "gelu" and seen["arrows"] == 1
    assert seen["epoch"].startswith("1 · ") and len(seen["ops"]) == 1
    assert set(seen["queues"]) == {"act", "w1", "w2", "e2e_queue", "net.output"}
    assert seen["bars"] == 7 and len(seen["channels"]) == 8 and seen["parts"] == ["channels"]
    assert seen["netlist"] == len(NETLIST)


LAYOUT = """
const beyond = [];
for (const [id, , there] of TABS) {
  if (!there) continue;
  show(id);
  for (const node of document.querySelectorAll("body *")) {
    const box = node.getBoundingClientRect();
    if (box.width && !node.closest(".scroll, #graph, #tip") && (box.right > innerWidth + .5 || box.left < -.5))
      beyond.push(`${id}: ${node.tagName} ${node.id} ${node.textContent.slice(0, 40)}`);
  }
  for (const text of document.querySelectorAll("#grid text, #bars text, #curve text")) {
    const box = text.getBoundingClientRect(), frame = text.ownerSVGElement.getBoundingClientRect();
    if (box.width && (box.right > frame.right || box.left < frame.left)) beyond.push(`${id}: ${text.textContent}`);
  }
}
document.title = JSON.stringify({beyond});
"""


@pytest.mark.long
@needs_browser
@pytest.mark.parametrize("width", [1920, 1000, 700])
def test_nothing_lies_beyond_the_window(monkeypatch, width):
    compiled(monkeypatch, "a_module_with_a_name_as_long_as_those_that_frameworks_make_of_their_layers_and_scopes")
    (page,) = Path("reports").iterdir()
    for text in (page.read_text(), report_page("net", [], placement(), NETLIST)):
        assert acted(text, LAYOUT, width) == {"beyond": []}


@pytest.mark.long
@needs_browser
def test_pictures_of_the_page():
    """Each part is drawn: the pictures differ, and none is blank."""
    path = Path("net.html")
    path.write_text(report_page("net", [], placement(), NETLIST))
    pictures = [screenshot(path, tab) for tab in ("passes", "placement", "memory", "netlist")]
    assert all(picture.startswith(b"\x89PNG") and len(picture) > 15_000 for picture in pictures)
    assert len(set(pictures)) == 4
