# SPDX-License-Identifier: Apache-2.0
"""Reports of compilations as pages: the graph after each pass, placement, epochs, memory.

PYBUDA_REPORTIFY_DIR=DIR writes DIR/NAME.html for each Tenstorrent device that is compiled, NAME its first module's.
`python -m pybuda.tools.reportify tt_build -o DIR` makes pages of what the compiler has written there, without passes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ttmlir import chips, ir
from ttmlir.files import write_whole
from ttmlir.passes import MLIRModuleLogger

FOLDER = "PYBUDA_REPORTIFY_DIR"
PLACEMENT, NETLIST = "_placement.json", "_netlist.yaml"
INITIAL, PLACED = "initial_graph", "post_placer"
# Ops that compute and move nothing.
LEFT_OUT = ("ttnn.get_device", "ttnn.deallocate", "ttcore.device", "func.return", "return")
MOST_TEXT = 400  # characters of an attribute


class ReportError(Exception):
    """A report that cannot be made or written."""


#
# Graphs
#


def graphs_of(module: Any) -> dict[str, Any]:
    """Returns the ops of all functions of a module. A node has its op, the name and type of its value, and a kind;
    edges are pairs of nodes."""
    nodes: list[dict[str, Any]] = []
    edges: list[tuple[int, int]] = []
    for function in functions_in(module.body.operations):
        created: dict[Any, int] = {}
        block = function.regions[0].blocks[0]
        kinds = argument_kinds(function)
        for number, argument in enumerate(block.arguments):
            created[argument] = len(nodes)
            nodes.append({"op": kinds[number], "name": named(argument.location) or f"arg{number}",
                          "type": short_type(argument.type), "kind": kinds[number], "more": {}})  # fmt: skip
        for op in block.operations:
            name = op.operation.name
            if name in ("func.return", "return"):
                for number, value in enumerate(op.operands):
                    if value in created:
                        edges.append((created[value], len(nodes)))
                    nodes.append({"op": "output", "name": f"output {number}", "type": short_type(value.type),
                                  "kind": "output", "more": {}})  # fmt: skip
                continue
            if name in LEFT_OUT:
                continue
            node = len(nodes)
            edges += [(created[value], node) for value in op.operands if value in created]
            types = [short_type(result.type) for result in op.results]
            nodes.append({"op": name, "name": named(op.location), "type": ", ".join(types),
                          "kind": "constant" if name.endswith((".constant", ".full")) else "op",
                          "more": attributes_of(op)})  # fmt: skip
            created |= dict.fromkeys(op.results, node)
    return {"nodes": nodes, "edges": edges}


def functions_in(operations: Any) -> Iterator[Any]:
    """Returns functions of a module, and of modules in it."""
    for op in operations:
        name = op.operation.name
        if name == "func.func":
            if len(op.regions[0].blocks):
                yield op
        elif name in ("builtin.module", "ttcore.device_module"):
            for block in op.regions[0].blocks:
                yield from functions_in(block.operations)


def argument_kinds(function: Any) -> list[str]:
    """Returns "parameter" or "input" of each argument."""
    count = len(function.regions[0].blocks[0].arguments)
    if "arg_attrs" not in function.attributes:
        return ["input"] * count
    texts = [str(attributes) for attributes in function.attributes["arg_attrs"]]
    return ["parameter" if re.search(r"<(parameter|constant)>", text) else "input" for text in texts]


def named(location: Any) -> str:
    """Returns the name that a location has, that of a graph's node."""
    found = re.search(r'"([^"]*)"(?!:)', str(location))
    return found[1] if found else ""


def short_type(kind: Any) -> str:
    """Returns text like "32x64 bf16, tile, L1"."""
    text = str(kind)
    if not text.startswith("tensor<"):
        return text[:60]
    shape = ir.RankedTensorType(kind)
    found = "x".join(map(str, shape.shape)) or "scalar"
    layout = re.search(r"#ttnn\.buffer_type<(\w+)>|#(dram|l1|system_memory)", text)
    memory = next((part for part in layout.groups() if part), "") if layout else ""
    tile = re.search(r"!ttcore\.tile<\d+x\d+, (\w+)>", text)
    element = tile[1] if tile else str(shape.element_type)
    return f"{found} {element}{', tile' if tile else ''}{', ' + memory if memory else ''}"


def attributes_of(op: Any) -> dict[str, str]:
    found = {name: str(op.attributes[name]) for name in op.attributes}
    return {name: text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + "…" for name, text in found.items()}


#
# What is collected while a device is compiled
#


@dataclass
class Stage:
    """The graph after a pass."""

    name: str
    graph: dict[str, Any]


@dataclass
class CompiledProgram:
    """kind: "forward" or "backward". ops: (op, name, cycles, bytes per bank of DRAM and of L1 that are held)."""

    kind: str
    stages: list[Stage] = field(default_factory=list)
    ops: list[tuple[str, str, int, int, int]] = field(default_factory=list)


class Log:
    """The programs of a device. changed: called when there is one more."""

    def __init__(self) -> None:
        self.programs: list[CompiledProgram] = []
        self.began = time.time()
        self.changed: Callable[[], None] = lambda: None

    @contextmanager
    def compiling(self, kind: str) -> Iterator[None]:
        """Makes modules that are compiled while it is open programs of the device."""
        from ttmlir.torch.report import record

        found: list[CompiledProgram] = []

        def watch(module: Any) -> Callable[[], None]:
            program = CompiledProgram(kind, [Stage(INITIAL, graphs_of(module))])
            log = MLIRModuleLogger()
            log.attach_context(module.context)

            def end() -> None:
                program.stages += stages_of(log.module_log, program.stages[0].graph)
                found.append(program)

            return end

        chips.watchers.append(watch)
        try:
            with record() as reports:
                yield
        finally:
            chips.watchers.remove(watch)
        # What was compiled and thrown away, because the chip refused an op of it, is left out.
        kept = [program for report in reports for program in report.programs]
        for program, compiled in zip(found[len(found) - len(kept) :], kept, strict=True):
            program.ops = held(compiled.binary)
            self.programs.append(program)
        self.changed()


def stages_of(log: Sequence[tuple[str, str]], first: dict[str, Any]) -> list[Stage]:
    """Returns the graphs after passes that changed something."""
    found: list[Stage] = []
    before, text_before = first, ""
    for name, text in log:
        if text == text_before:
            continue
        text_before = text
        graph = graphs_of(ir.Module.parse(text, ir.Context()))
        if graph != before:
            times = 1 + sum(stage.name.partition(" (")[0] == name for stage in found)
            found.append(Stage(name if times == 1 else f"{name} ({times})", graph))
            before = graph
    return found


def held(binary: Any) -> list[tuple[str, str, int, int, int]]:
    from _ttmlir_runtime import runtime

    return [
        (op.name, named(op.loc) or op.loc, op.cycles, op.dram_resident_bytes_per_bank, op.l1_resident_bytes_per_bank)
        for op in runtime.estimate(binary, 0).ops
        if op.name not in LEFT_OUT
    ]


def requested_log() -> Log | None:
    return Log() if os.environ.get(FOLDER) else None


@contextmanager
def compiling(log: Log | None, kind: str) -> Iterator[None]:
    if log is None:
        yield
    else:
        with log.compiling(kind):
            yield


#
# Pages
#


def placed_graph(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the graph as it was placed: ops and queues of the netlist."""
    nodes: list[dict[str, Any]] = []
    numbers: dict[str, int] = {}
    for queue in summary["queues"]:
        numbers[queue["name"]] = len(nodes)
        kind = {"input": "input", "output": "output", "parameter": "parameter", "constant": "constant"}
        nodes.append({"op": f"{queue['kind']} queue", "name": queue["name"],
                      "type": f"{by(queue['shape'])} {queue['df']}",
                      "kind": kind.get(queue["kind"], "queue"), "more": texts(queue)})  # fmt: skip
    for epoch in summary["epochs"]:
        for op in epoch["ops"]:
            numbers[op["name"]] = len(nodes)
            nodes.append({"op": op["type"], "name": op["name"], "type": f"{by(op['shape'])} {op['out_df']}",
                          "kind": "op", "more": {"epoch": str(epoch["number"]), **texts(op)}})  # fmt: skip
    edges = [
        (numbers[source], numbers[op["name"]])
        for epoch in summary["epochs"] for op in epoch["ops"] for source in op["inputs"] if source in numbers
    ]  # fmt: skip
    edges += [(numbers[q["input"]], numbers[q["name"]]) for q in summary["queues"] if q["input"] in numbers]
    return {"nodes": nodes, "edges": edges}


def by(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))


def texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}


def report_page(
    name: str, programs: Sequence[CompiledProgram], summary: Mapping[str, Any] | None = None, netlist: str = ""
) -> str:
    """Returns the page. summary: the placer's report, as in NAME_placement.json; missing parts are omitted."""
    from profiler.page import page  # the profiler is not loaded by those who ask for no report

    found: list[dict[str, Any]] = [
        {"kind": p.kind, "ops": p.ops, "stages": [{"name": s.name, **s.graph} for s in p.stages]} for p in programs
    ]
    if summary is not None:
        found.append({"kind": "placed", "ops": [], "stages": [{"name": PLACED, **placed_graph(summary)}]})
    return page(
        "reportify.html", {"name": name, "programs": found, "placement": summary, "netlist": netlist}, __package__
    )


def placement_in(folder: Path, since: float) -> tuple[Mapping[str, Any] | None, str]:
    """Returns what the compiler has written there since then: the newest placement, and its netlist."""
    found = [path for path in folder.glob("*" + PLACEMENT) if path.stat().st_mtime >= since - 1]
    if not found:
        return None, ""
    return read_placement(max(found, key=lambda path: path.stat().st_mtime))


def read_placement(path: Path) -> tuple[Mapping[str, Any], str]:
    """
    Raises:
        ReportError: it cannot be read, or is another file.
    """
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
        placed_graph(summary)
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"{path}: no placement as the compiler writes it: {type(error).__name__} {error}") from None
    netlist = path.with_name(path.name.removesuffix(PLACEMENT) + NETLIST)
    return summary, netlist.read_text(encoding="utf-8") if netlist.exists() else ""


def write_page(folder: Path, name: str, text: str) -> Path:
    """
    Raises:
        ReportError: it cannot be written there.
    """
    path = folder / f"{re.sub(r'[^A-Za-z0-9._-]', '_', name)}.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
    except OSError as error:
        raise ReportError(f"report {path}: {error.strerror or error}") from None
    return path


def report(log: Log | None, name: str, output: str | os.PathLike[str]) -> None:
    """Writes the page of a device, now and when one more of its programs is compiled.

    output: the folder in which the compiler leaves netlists.
    """
    if log is None:
        return

    def write() -> None:
        text = report_page(name, log.programs, *placement_in(Path(output), log.began))
        write_page(Path(os.environ[FOLDER]), name, text)

    folder = os.environ.get(FOLDER)
    if folder:
        log.changed = write
        write()


def main(argv: Sequence[str] | None = None) -> int:
    top = argparse.ArgumentParser(prog="reportify", description=(__doc__ or "").splitlines()[0])
    top.add_argument("folder", help="where the compiler has left netlists (tt_build)")
    top.add_argument("-o", "--output", default=".", metavar="DIR", help="where pages are written (default: here)")
    args = top.parse_args(argv)
    try:
        paths = sorted(Path(args.folder).glob("*" + PLACEMENT))
        if not paths:
            raise ReportError(f"{args.folder}: there is no *{PLACEMENT}; compile a model first")
        for path in paths:
            summary, netlist = read_placement(path)
            name = path.name.removesuffix(PLACEMENT)
            print(write_page(Path(args.output), name, report_page(name, [], summary, netlist)))
    except ReportError as error:
        print(f"reportify: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
