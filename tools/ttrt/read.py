# SPDX-License-Identifier: Apache-2.0
"""Show what a flatbuffer holds: version, the machine it is for, programs with inputs, outputs and ops, its MLIR."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from ttmlir.files import write_whole

from . import artifacts
from .file import File, Program, load
from .machine import mesh_text
from .output import grouped, pairs, print_json, table, write_json


def version(file: File) -> dict[str, Any]:
    description = file.description
    return {"file": file.path, "version": description["version"], "schema_version": description["schema_version"]}


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
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE.ttnn")
    parser.add_argument(
        "--section", choices=["all", *SECTIONS], default="all", help="only this part; 'all' leaves out mlir in tables"
    )
    parser.add_argument("--json", action="store_true", help="print JSON: the section, or an object of all of them")
    parser.add_argument("--result-file", metavar="FILE", help="write the same JSON to FILE")
    artifacts.arguments(parser, "all sections (JSON) and the MLIR")


def run(args: argparse.Namespace) -> int:
    file = load(args.file)
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


def show_version(file: File) -> None:
    found = version(file)
    pairs(file.path, [("compiler", found["version"]), ("schema version", found["schema_version"])])


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
