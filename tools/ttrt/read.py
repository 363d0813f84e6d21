# SPDX-License-Identifier: Apache-2.0
"""Show what a flatbuffer holds: version, the machine it is for, programs with inputs, outputs and ops, its MLIR.

With --mesh, what its programs do on their mesh, op by op: how values are split, what each chip holds and sends.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ttmlir.files import write_whole

from . import artifacts
from .errors import InputError
from .file import File, Program, load
from .machine import DEFAULT_ARCH, mesh_text
from .output import duration, fitted, grouped, pairs, print_json, size, table, write_json

if TYPE_CHECKING:
    from profiler.meshes import MeshOp, MeshProgram, MeshValue

MOST_LINKS = 16  # more are summed up


def version(file: File) -> dict[str, Any]:
    description = file.description
    return {
        "file": file.path,
        "version": description["version"],
        "schema_version": description["schema_version"],
        "open_sizes": description["open_sizes"],
        "native": description.get("native"),
    }


def constants(file: File) -> dict[str, Any]:
    sizes = [constant["bytes"] for constant in file.description["constants"]]
    return {"count": len(sizes), "bytes": sum(sizes)}


def programs(file: File) -> list[dict[str, Any]]:
    return [
        {
            "index": p.index,
            "name": p.name,
            "private": p.private,
            "mesh_shape": list(p.mesh),
            "inputs": len(p.inputs),
            "outputs": len(p.outputs),
            "operations": len(p.operations),
            "op_counts": p.op_counts,
        }
        for p in file.programs
    ]


def values(which: str) -> Callable[[File], dict[str, Any]]:
    return lambda file: {p.name: [{"name": t.name, **t.desc} for t in getattr(p, which)] for p in file.programs}


def operations(file: File) -> dict[str, Any]:
    return {p.name: list(p.operations) for p in file.programs}


# Section -> what it holds, as JSON.
SECTIONS: dict[str, Callable[[File], Any]] = {
    "version": version,
    "system_desc": lambda file: file.system,
    "programs": programs,
    "inputs": values("inputs"),
    "outputs": values("outputs"),
    "constants": constants,
    "operations": operations,
    "mlir": lambda file: file.mlir,
}


EXAMPLES = """
ttrt read model.ttnn
ttrt read model.ttnn --section operations --json
ttrt read model.ttnn --mesh --html mesh.html
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE.ttnn")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--section", choices=["all", *SECTIONS], default="all", help="only this part; 'all' leaves out mlir in tables"
    )
    what.add_argument(
        "--mesh", action="store_true", help="how values are split over the chips, what these hold and send, op by op"
    )
    parser.add_argument("--html", metavar="FILE", help="with --mesh: write a page to step through the ops to FILE")
    parser.add_argument("--json", action="store_true", help="print JSON: the section, or an object of all of them")
    parser.add_argument("--result-file", metavar="FILE", help="write the same JSON to FILE")
    artifacts.arguments(parser, "all sections (JSON) and the MLIR")


def run(args: argparse.Namespace) -> int:
    if args.html is not None and not args.mesh:
        raise InputError("--html is the page of --mesh; give both")
    file = load(args.file)
    if args.mesh:
        return run_mesh(args, file)
    folder = artifacts.prepared(args, artifacts.READ_REPORT)
    if args.json or args.result_file or folder is not None:
        sections = {name: section(file) for name, section in SECTIONS.items()}
        data = sections if args.section == "all" else sections[args.section]
        if args.result_file:
            write_json(args.result_file, data)
        if folder is not None:
            write_json(str(folder / artifacts.READ_REPORT), sections)
            write_whole(folder / "module.mlir", file.mlir)
        if args.json:
            print_json(data)
            return 0
    for name in [n for n in SECTIONS if n != "mlir"] if args.section == "all" else [args.section]:
        SHOW[name](file)
    return 0


def run_mesh(args: argparse.Namespace, file: File) -> int:
    """Returns what the programs of several chips do on them; private ones only where they send."""
    if args.save_artifacts:
        raise InputError("--save-artifacts saves the sections of a file; --mesh has --json, --result-file and --html")
    if file.is_metal:
        raise InputError(f"{file.path}: is a TTMetal file; --mesh shows the programs of .ttnn files")
    meshes = [p for p in file.programs if p.mesh[0] * p.mesh[1] > 1]
    if not meshes:
        raise InputError(f"{file.path}: its programs run on one chip; --mesh shows those of several")
    from profiler.meshes import as_json, mesh_page, mesh_programs

    found = mesh_programs(file.binary, file.arch or DEFAULT_ARCH, [p.index for p in meshes])
    found = [p for p in found if not p.private or any(op.sends for op in p.ops)] or found
    if args.html:
        write_whole(args.html, mesh_page(file.path, found))
    if args.json or args.result_file:
        data = {"file": file.path, "programs": [as_json(program) for program in found]}
        if args.result_file:
            write_json(args.result_file, data)
        if args.json:
            print_json(data)
            return 0
    for program in found:
        show_mesh(program)
    if args.html:
        print(f"page: {args.html}")
    return 0


def axes_text(value: MeshValue) -> str:
    """Returns the axes of the mesh along which chips hold different parts."""
    from profiler.meshes import AXES

    if value.place != "each":
        return "on the host" if value.place == "host" else "nothing"
    return " and ".join(AXES[axis] for axis in value.differs) or "nothing"


def cut_text(value: MeshValue, mesh: tuple[int, int]) -> str:
    """Returns text like "8x64, dimension 0 over rows": the whole, and what cuts it."""
    from profiler.meshes import AXES

    if value.dims is None or value.whole is None:
        return "" if value.place != "each" else "not said"
    cuts = [f"dimension {dim} over {AXES[a]}" for a, dim in enumerate(value.dims) if dim >= 0 and mesh[a] > 1]
    return ", ".join(["x".join(map(str, value.whole)) or "scalar", *(cuts or ["whole on each chip"])])


def value_text(value: MeshValue) -> str:
    shape, dtype, *_ = value.type.split(" ")
    return fitted(f"{shape} {dtype}", 26)


def sends_text(op: MeshOp) -> str:
    runs = f"runs {' and '.join(dict.fromkeys(op.runs))}" if op.runs else ""
    if runs and op.sends:
        return f"{fitted(runs, 24)}, {grouped(sum(s.bytes for s in op.sends))} B"
    if runs:
        return fitted(runs, 40)
    if len(op.sends) == 1:
        (send,) = op.sends
        over = f", {send.hops} hops" if send.hops > 1 else ""
        return f"chip {send.route[0]} to {send.route[-1]}, {grouped(send.bytes)} B{over}"
    if not op.sends:
        return ""
    groups, most = len(op.groups), max(map(len, op.groups))
    return f"{groups} group{'s' if groups > 1 else ''} of {most} chips, {grouped(sum(s.bytes for s in op.sends))} B"


def show_mesh(program: MeshProgram) -> None:
    links, sending = program.links(), [op for op in program.ops if op.sends]
    took, busy = (sum(op.device_ns for op in ops) for ops in (sending, program.ops))
    share = f", {took / busy:.0%} of it in the {len(sending)} that send" if sending else ""
    pairs(
        f"{program.name} on {mesh_text(program.mesh)} chips ({program.arch}), numbered row by row",
        [
            ("time", f"{duration(program.device_ns)} in {len(program.ops)} ops{share}"),
            ("DRAM held", f"{size(max((op.dram_held for op in program.ops), default=0))} on each chip at most"),
            ("sent", f"{size(sum(links.values()))} over {len(links)} links"),
        ],
    )
    given = zip(program.input_names, (program.values[v] for v in program.inputs), strict=True)
    rows: list[tuple[Any, ...]] = [
        (i, fitted(name, 24), value_text(value), axes_text(value), cut_text(value, program.mesh))
        for i, (name, value) in enumerate(given)
    ]
    table("inputs", ("#>", "name", "on each chip", "differs along", "the whole"), rows)
    rows = []
    for op in program.ops:
        out = program.values[op.outs[0]] if op.outs else None
        rows.append((
            op.index, fitted(op.name.removeprefix("ttnn."), 24), value_text(out) if out else "",
            axes_text(out) if out else "", size(op.dram_held), duration(op.device_ns), sends_text(op),
        ))  # fmt: skip
    columns = ("#>", "op", "result on each chip", "differs along", "DRAM held>", "time>", "sends")
    table("ops", columns, rows)
    if not sending:
        runs = any(op.runs for op in program.ops)
        print("nothing is sent between chips" + (", but by what is run in between" if runs else ""))
        return
    rows = [row for op in sending for row in link_rows(f"{op.index} {op.name.removeprefix('ttnn.')}", op.links(), op)]
    rows += link_rows("all", links, None)
    table("links", ("op", "link", "bytes>", "hops>", "time>"), rows)


def link_rows(name: str, links: dict[tuple[int, int], int], op: MeshOp | None) -> list[tuple[Any, ...]]:
    """Returns what passes each link, or of many the most, the least and all of it."""
    last = (op.hops, duration(op.fabric_ns)) if op else ("", "")
    if len(links) <= MOST_LINKS:
        rows = [(f"{a} -> {b}", grouped(sent)) for (a, b), sent in links.items()]
    else:
        (a, b), most = max(links.items(), key=lambda item: item[1])
        rows = [
            (f"most, of {len(links)} links: {a} -> {b}", grouped(most)),
            ("least", grouped(min(links.values()))),
            ("all", grouped(sum(links.values()))),
        ]
    return [(fitted(name, 32) if i == 0 else "", *row, *(last if i == 0 else ("", ""))) for i, row in enumerate(rows)]


def show_version(file: File) -> None:
    found = version(file)
    rows = [("compiler", found["version"]), ("schema version", found["schema_version"])]
    for each in found["open_sizes"]:
        bounds = f"{grouped(each['least'])} to {grouped(each['most'])}; shapes are those for {grouped(each['written'])}"
        rows.append((f"size {each['name']}", bounds))
    if found["native"]:
        native = found["native"]
        rows.append(("native code", f"{grouped(native['bytes'])} bytes for {native['triple']}"))
    pairs(file.path, rows)


def show_system(file: File) -> None:
    chips = file.system["chips"]
    if not chips:
        pairs("machine", [("chips", "not said")])
        return
    grid = "x".join(map(str, chips[0]["grid"]))
    mesh = file.system["mesh_shape"] or [1, len(chips)]
    pairs(
        "machine", [("chips", f"{len(chips)} x {chips[0]['arch']}, {grid} cores"), ("mesh", "x".join(map(str, mesh)))]
    )


def show_programs(file: File) -> None:
    rows = [
        (p.index, p.name, "private" if p.private else "public", mesh_text(p.mesh), len(p.inputs), len(p.outputs),
         len(p.operations))
        for p in file.programs
    ]  # fmt: skip
    table("programs", ("#>", "name", "", "mesh", "inputs>", "outputs>", "ops>"), rows)


def show_values(which: str) -> Callable[[File], None]:
    def show(file: File) -> None:
        rows = [
            (p.name, i, t.name, t.type, t.place, "one for each device" if t.distributed else "")
            for p in file.programs
            for i, t in enumerate(getattr(p, which))
        ]
        table(which, ("program", "#>", "name", "type", "where", ""), rows)

    return show


def show_constants(file: File) -> None:
    found = constants(file)
    pairs("constants", [("count", grouped(found["count"])), ("bytes", grouped(found["bytes"]))])


def show_operations(file: File) -> None:
    for program in file.programs:
        show_counts(program)


def show_counts(program: Program) -> None:
    table(f"ops of {program.name}", ("op", "count>"), program.op_counts.items())


SHOW: dict[str, Callable[[File], None]] = {
    "version": show_version,
    "system_desc": show_system,
    "programs": show_programs,
    "inputs": show_values("inputs"),
    "outputs": show_values("outputs"),
    "constants": show_constants,
    "operations": show_operations,
    "mlir": lambda file: print(file.mlir),
}
