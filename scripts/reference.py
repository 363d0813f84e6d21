#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the reference pages of a built tree: a page for each dialect, one for the passes.

Text comes from ODS. The example of an op is a function around one of the tests, so that it is one that parses.

usage: scripts/reference.py [FOLDER]      (default: build/docs)
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from ttmlir import ir
from ttmlir.dialects import func

ROOT = Path(__file__).resolve().parents[1]
MLIR = Path("/usr/lib/llvm-22")
DIALECTS = ("TTCore", "TTIR", "TTNN", "StableHLO", "Chlo", "Sdy", "D2M", "TTKernel", "TTMetal", "EmitPy", "Debug")
LONGEST = 2000  # characters of an example
HEADING = re.compile(r"^### `([\w.]+)` \(", re.M)


def tblgen(file: Path, *options: str) -> str:
    folders = (ROOT / "include", ROOT / "build" / "include", MLIR / "include")
    command = [str(MLIR / "bin" / "mlir-tblgen"), *options, *(f"-I{folder}" for folder in folders), str(file)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


# ---------------------------------------------------------------------- examples


def tested_modules() -> Iterator[Any]:
    """Yields those of the MLIR tests, short ones first."""
    chunks: list[str] = []
    for path in sorted((ROOT / "test" / "ttmlir").rglob("*.mlir")):
        chunks += path.read_text(encoding="utf-8").split("// -----")
    for text in sorted(chunks, key=len):
        context = ir.Context()
        context.emit_error_diagnostics = False
        with contextlib.suppress(ir.MLIRError):  # a test of an error
            yield ir.Module.parse(text, context)


def table_modules() -> Iterator[Any]:
    """Yields one for each row of the op tables, and what it is lowered to."""
    sys.path[:0] = [str(ROOT / "test" / "python" / "ops")]
    from builder.base.errors import TTBuilderCompileException

    cases: Any = import_module("op_cases")  # of the tests
    for name, row in cases.TABLE.items():
        with contextlib.suppress(TTBuilderCompileException, ir.MLIRError):  # a gap that the tests know
            module, _ = cases.build_cases(name, row, [row.cases[0]], row.dtypes[0])
            yield module
            yield cases.lowered(module, row.mesh)


def walk(operation: Any) -> Iterator[Any]:
    for region in operation.regions:
        for block in region.blocks:
            for view in block.operations:
                yield view.operation
                yield from walk(view.operation)


def alone(operation: Any) -> str | None:
    """Returns a module with nothing but the op in a function of its operands; None where that does not verify."""
    with operation.context, ir.Location.unknown():
        module = ir.Module.create()
        types = [value.type for value in operation.operands]
        results = [result.type for result in operation.results]
        function = func.FuncOp("example", ir.FunctionType.get(types, results), ip=ir.InsertionPoint(module.body))
        block = function.add_entry_block()
        clone = operation.clone(ip=ir.InsertionPoint(block))
        for index, argument in enumerate(block.arguments):
            clone.operands[index] = argument
        try:
            func.ReturnOp(list(clone.results), ip=ir.InsertionPoint(block))
            text = str(module)
            ir.Module.parse(text)
        except (ir.MLIRError, ValueError, IndexError):  # refers to others, or ends a block
            return None
    return text if len(text) <= LONGEST else None


def example_of(operation: Any) -> str | None:
    """Returns the op alone, else in the op or function around it, else in its module; None where all of that is too
    long."""
    around = operation
    while (text := alone(around)) is None:
        if around.parent is None:
            whole = str(around)
            return whole if len(whole) <= LONGEST else None
        around = around.parent.operation
    return text


@functools.cache
def examples() -> dict[str, str]:
    """Returns examples by op."""
    found: dict[str, str] = {}
    for module in itertools.chain(tested_modules(), table_modules()):
        for operation in walk(module.operation):
            if operation.name not in found and (example := example_of(operation)) is not None:
                found[operation.name] = example
    return found


# ---------------------------------------------------------------------- pages


def dialect_page(dialect: str) -> str:
    """Returns the page of mlir-tblgen, with an example behind the text of each op."""
    name = dialect.lower()
    text = tblgen(ROOT / f"include/ttmlir/Dialect/{dialect}/IR/{dialect}Ops.td", "-gen-dialect-doc", f"-dialect={name}")
    parts = re.split(r"(?=^### `)", text, flags=re.M)
    for i, part in enumerate(parts):
        heading = HEADING.match(part)
        example = examples().get(heading[1]) if heading else None
        if example is not None:
            parts[i] = f"{part.rstrip()}\n\n#### Example:\n\n```mlir\n{example.rstrip()}\n```\n\n"
    return "".join(parts)


def passes_page() -> str:
    files = sorted((ROOT / "include" / "ttmlir").rglob("Passes.td"))
    return "# Passes\n\n" + "\n".join(tblgen(file, "-gen-pass-doc") for file in files)


def pages() -> dict[str, str]:
    """Returns pages by path below the folder of pages."""
    found = {f"ops/{dialect.lower()}.md": dialect_page(dialect) for dialect in DIALECTS}
    found["passes.md"] = passes_page()
    rows = [f"* [{dialect}](ops/{dialect.lower()}.md)" for dialect in DIALECTS]
    found["index.md"] = "\n".join(["# Reference", "", *rows, "* [passes](passes.md)", ""])
    return found


def main() -> int:
    arguments = sys.argv[1:]
    if arguments in (["-h"], ["--help"]) or len(arguments) > 1:
        print((__doc__ or "").strip())
        return 0 if len(arguments) == 1 else 2
    folder = Path(arguments[0]) if arguments else ROOT / "build" / "docs"
    for name, text in pages().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    print(f"reference pages: {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
