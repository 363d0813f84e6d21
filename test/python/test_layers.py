# SPDX-License-Identifier: Apache-2.0
"""Every file includes and imports what lies before it: LAYERS says what each layer may use. No cycle between files."""

from __future__ import annotations

import os
import sys

import pytest
from layer_table import LAYERS, ROOT, allowed, edges_of, graph, is_precompiled, layer_of, rooted, sources

# What a folder may take from outside of the project, by the first part of its name, and what no file of it may.
ONLY = {"python/golden/": {"torch", "numpy", "ml_dtypes"}}
NEVER = {"runtime/": {"mlir", "llvm", "mlir-c"}, "lib/": {"tt", "ttnn"}, "include/": {"tt", "ttnn"}}
MOST_ENTRIES = 25


def upward(file: str, targets: list[tuple[str, bool]]) -> list[str]:
    mine = layer_of(file)
    assert mine, f"{file} is in no layer"
    return [
        f"{file} ({mine}) uses {target} ({layer_of(target)})"
        for target, _ in targets
        if not target.startswith("<") and layer_of(target) not in allowed(mine)
    ]


def foreign(file: str, targets: list[tuple[str, bool]]) -> list[str]:
    outside = [target[1:] for target, _ in targets if target.startswith("<")]
    first = {name: name.split("/")[0] for name in outside}
    found = []
    for prefix, names in ONLY.items():
        if file.startswith(prefix):
            strange = [name for name in outside if first[name] not in names | sys.stdlib_module_names]
            found += [f"{file} uses {name}; expected {', '.join(sorted(names))} alone" for name in strange]
    for prefix, names in NEVER.items():
        if file.startswith(prefix):
            found += [f"{file} uses {name}" for name in outside if first[name] in names]
    return found


def cycles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Groups of files that reach each other (Tarjan)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in edges.get(node, ()):
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            at = stack.index(node)
            group = stack[at:]
            del stack[at:]
            if len(group) > 1 or node in edges.get(node, ()):
                found.append(sorted(group))

    for node in edges:
        if node not in order:
            visit(node)
    return found


@pytest.mark.long
def test_every_file_uses_what_lies_before_it() -> None:
    assert len(graph()) > 500
    assert [line for file, targets in graph().items() for line in upward(file, targets)] == []


def test_nothing_foreign() -> None:
    assert [line for file, targets in graph().items() for line in foreign(file, targets)] == []


def test_no_cycle_between_files() -> None:
    assert cycles({file: {target for target, run in targets if run} for file, targets in graph().items()}) == []


def test_the_layers_have_an_order_and_files() -> None:
    assert cycles({name: set(layer.uses.split()) for name, layer in LAYERS.items()}) == []
    used = {layer_of(file) for file in graph()}
    assert set(LAYERS) - used == set()
    for layer in LAYERS.values():
        for path in layer.paths.split():
            assert (ROOT / path).exists() or path.endswith("/"), f"{path} is not there"


@pytest.mark.parametrize(
    "folder",
    sorted({os.path.dirname(file) for file in sources() if rooted(file) or file.startswith(("bench/", "test/"))}),
)
def test_a_folder_has_few_entries(folder: str) -> None:
    inside = [file for file in sources() if file.startswith(folder + "/") and not is_precompiled(file)]
    entries = {file[len(folder) + 1 :].split("/")[0] for file in inside}
    assert len(entries) <= MOST_ENTRIES


# A line that each rule refuses, in a file that is there.
REFUSED = [
    ("runtime/lib/sim/clock.cpp", '#include "tt/ttnn/kernel.h"', upward),
    ("runtime/lib/program/plan.h", '#include "metal/execute.h"', upward),
    ("runtime/lib/metal/core.h", '#include "program/plan.h"', upward),
    ("runtime/lib/base/types.cpp", "#include <llvm/ADT/StringRef.h>", foreign),
    ("lib/Dialect/TTNN/IR/TTNNOps.cpp", '#include "tt/types.h"', foreign),
    ("lib/Dialect/TTIR/IR/TTIROps.cpp", '#include "ttmlir/Conversion/TTIRToTTNN/Passes.h"', upward),
    ("python/golden/op.py", "def f():\n    from ttmlir import ir", upward),
    ("python/golden/op.py", "import rich", foreign),
    ("python/builder/base/builder.py", "def f():\n    from builder.ttir.ttir_builder import TTIRBuilder", upward),
    ("python/ttnn/tensor.py", "import builder.api.modules", upward),
]


@pytest.mark.parametrize(("file", "line", "rule"), REFUSED, ids=[f"{file}-{i}" for i, (file, *_) in enumerate(REFUSED)])
def test_a_wrong_line_is_found(file: str, line: str, rule: object) -> None:
    assert callable(rule) and file in sources()
    assert len(rule(file, edges_of(file, line))) == 1


def test_a_cycle_is_found() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "d"}}) == [["a", "b", "c"], ["d"]]
