#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chooses the tests of a change.

    scripts/choose_tests.py REV

Reads which files differ from REV, files that git does not track included. A file belongs to a layer
(test/python/installing/layer_table.py) or to a folder that FOLDERS lists; TESTS has the tests of each layer. Layers
above a changed one run the few tests of ENTRANCES. A file that nothing lists runs everything.

Prints one test per line, as scripts/test.sh reads it: its kind, a space, and its name. Kinds: cpp (a test program of
build/bin), lit (a folder or file of test/ttmlir), units (a pattern of op names for run_under_units.py), programs (a
regular expression of the documents' programs), python (a folder, file or test of test/python), and all.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test" / "python" / "installing"))
from layer_table import LAYERS, allowed, layer_of, statements  # noqa: E402

CPP = "cpp:ttrt-tests cpp:ttnn-tests"
COST = "python:docs/test_cost_model.py"
# By layer. Of layers with many files, the rows of PLACES say more.
TESTS = {
    "schema": f"{CPP} {COST} lit:Target python:ttrt/test_ttrt_read.py python:runtime/test_names.py",
    "scalars": "cpp:ttnn-tests python:ops/special lit:Transforms/StableHLO lit:Dialect/TTIR",
    "shapes": "cpp:shapes-tests python:ops/rules/test_shape_rules.py lit:Dialect/TTIR lit:Dialect/TTNN",
    "costs": f"{CPP} {COST} python:ops/rules/test_costs.py python:runtime/test_circular_buffers.py lit:Transforms/TTNN",
    "base": f"{CPP} python:runtime/test_interrupts.py python:runtime/test_fork.py",
    "sim": f"{CPP} python:runtime/test_systems.py python:runtime/test_sub_meshes.py python:tt_smi/test_smi_chips.py",
    "mpi": "python:mpi",
    "tensor": f"{CPP} python:ttnn/test_tensors.py",
    "core": f"{CPP} {COST} python:runtime/test_circular_buffers.py python:ttnn/test_host_call.py",
    "kernels.elementwise": "cpp:ttnn-tests python:ops/special python:ops/test_integers.py python:runtime/test_order.py",
    "kernels.matmul": "cpp:ttnn-tests units:*mat* units:*linear* units:*dot*",
    "kernels.window": "cpp:ttnn-tests units:*pool* units:*conv* python:ops/window",
    "kernels.attention": "cpp:ttnn-tests units:*attention* units:*heads*",
    "kernels.normalization": "cpp:ttnn-tests units:*norm* units:*softmax*",
    "kernels.exact": "python:runtime/exact python:runtime/test_chip_arithmetic.py",
    "kernels.others": "cpp:ttnn-tests units:*",
    "binary": "cpp:ttrt-tests python:runtime/test_names.py python:ttrt/test_ttrt_read.py",
    "run": "cpp:ttrt-tests python:runtime",
    "program": "cpp:ttrt-tests python:runtime python:models",
    "metal": (
        "cpp:ttrt-tests python:runtime/test_ttmetal.py python:runtime/test_foreign_kernels.py "
        "python:runtime/test_kernels.py python:wrong_use/test_damaged_kernels.py"
    ),
    "api": f"{CPP} python:ttnn python:runtime",
    "backend": "python:pybuda/images/test_pybuda_embedded.py",
    "runtime.python": "python:runtime python:ttnn python:wrong_use/test_wrong_calls.py",
    "dialects": "lit:Dialect python:ttmlir python:wrong_use/test_attributes.py python:wrong_use/test_broken_modules.py",
    "passes": "python:passes",
    "target": "lit:Target python:wrong_use/test_output_files.py",
    "conversion": "lit:Conversion python:wrong_use/test_errors.py",
    "pipelines.options": "lit:Pipelines python:docs/test_option_defaults.py",
    "pipelines": "lit:Pipelines python:docs/test_option_defaults.py python:builder/test_passes.py "
    "python:random_programs python:wrong_use/test_mutations.py",
    "compiler": "lit:Tools lit:Pipelines python:ttmlir",
    "compiler.tools": "lit:version.mlir lit:Tools python:ttmlir python:docs/test_option_defaults.py",
    "opgen": "python:ttmlir/test_opgen.py python:installing/test_build_scripts.py",
    "ttmlir": "python:ttmlir",
    "ttnn": "python:ttnn",
    "pjrt": "python:jax/test_pjrt_api.py python:jax/test_jax_plugin.py python:jax/test_jax_programs.py "
    "python:jax/placement",
    "stablehlo": "python:stablehlo",
    "jax": "python:jax/test_jax_compile.py python:jax/exported/test_exported.py",
    "pjrt.python": "python:jax/test_pjrt_api.py python:jax/test_jax_plugin.py python:jax/placement",
    "golden": "python:golden python:ops",
    "torch": "python:torch_frontend programs:torch_ttnn/",
    "onnx": "python:onnx_frontend",
    "pybuda": "python:pybuda programs:pybuda_(?:config|advanced) programs:pybuda/test_(?!transformers)",
    "ttl": "python:models/ttl",
    "torch_zoo": "python:torch_frontend/test_torch_models.py python:torch_frontend/test_torch_tools.py",
    "onnx_zoo": "python:onnx_frontend/test_backend.py python:onnx_frontend/test_published.py "
    "python:onnx_frontend/test_onnx_exported.py",
    "torch_stat": "python:torch_frontend/test_torch_tools.py",
    "tools": "python:torch_frontend/test_torch_tools.py",
    "builder.common": "python:builder",
    "builder.ops": "python:builder",
    "builder.ranges": "python:builder",
    "builder.goldens": "python:builder python:golden",
    "builder.base": "python:builder programs:builder/",
    "builder.dialects": "python:builder programs:builder/",
    "builder.execution": "python:builder programs:builder/",
    "builder.api": "python:builder programs:builder/",
    "builder.names": "python:builder/test_public_functions.py python:builder/test_ecosystem_names.py",
    "builder.sharding": "python:builder/test_sharding_command.py python:stablehlo/test_auto_sharding.py",
    "profiler": "python:profiler",
    "ttrt": "python:ttrt",
    "tt_smi": "python:tt_smi programs:tt_smi/",
}
# Tests by the place of a file, as regular expressions; all that fit count. A folder that is not there has none.
PLACES = (
    # Rows of ops: passes and lowerings depend on their facts, and Python's tables are generated from them.
    (
        r"include/ttmlir/Dialect/(?:Families/|(?:TTIR|TTNN)/IR/.*\.td)",
        "lit:Conversion lit:Transforms python:golden/test_tables.py python:ops/test_op_tables.py python:ops/rules "
        "python:builder/test_docs.py python:builder/test_public_functions.py",
    ),
    (r"(?:lib|include/ttmlir)/Dialect/(\w+)/Transforms/", r"lit:Transforms/\1 lit:Dialect/\1/Transforms"),
    (r"(?:lib|include/ttmlir)/Dialect/(?:Sdy|StableHLO|Vhlo)/", "lit:Dialect/Sdy lit:Transforms/StableHLO python:sdy"),
    (r"(?:lib|include/ttmlir)/Dialect/Vhlo/", "lit:Dialect/Vhlo python:stablehlo/test_portable_artifacts.py"),
    (r"(?:lib|include/ttmlir)/Dialect/TTNN/Transforms/Optimizer", "python:models/test_optimizer.py"),
    (r"(?:lib|include/ttmlir)/Dialect/TTIR/Transforms/", "lit:Pipelines"),
    (r"lib/Conversion/StableHLOToTTIR/", "python:stablehlo python:jax"),
    (r"lib/Conversion/TTIRToTTNN/", "python:ops/test_op_tables.py python:ops/test_mesh_ops.py"),
    (r"lib/Conversion/TTIRToLinalg/", "python:ops/test_host_path.py python:passes/test_cpu_fallback.py"),
    (
        r"lib/Conversion/(?:TTIRToD2M|D2MToTTMetal)/",
        "python:runtime/test_ttmetal.py python:ops/special/test_metal_table.py",
    ),
    (r"lib/(?:Conversion/TTNNToEmit|Target/(?:Cpp|Emit|Python))/", "python:builder/test_emitted.py"),
    (r"lib/Target/TTMetal/", "python:runtime/test_ttmetal.py"),
    (r"lib/Target/TTNN/", "python:runtime/test_names.py"),
)
# What runs of a layer when one below it changes: a few seconds each, through the layer from end to end.
ENTRANCES = {
    "compiler": "lit:Pipelines",
    "builder.api": "python:builder/test_execute.py::test_every_dialect_runs",
    "ttnn": "python:ttnn/test_functions.py::test_operators",
    "ttrt": "python:ttrt/test_ttrt_run.py::test_runs_every_program_and_says_what_it_took",
    "torch": "python:torch_frontend/test_torch_programs.py::test_training_follows_pytorch",
    "onnx": "python:onnx_frontend/test_onnx.py::test_a_network",
    "pybuda": "python:pybuda/test_pybuda_inference.py::test_a_model_of_pytorch",
    "pjrt": "python:jax/test_jax_plugin.py::test_another_chip",
    "ttl": "python:models/ttl/test_ttl_programs.py::test_sums_of_a_row_of_nodes",
}
# Files that belong to no layer.
FOLDERS = (
    (r"test/unittests/", f"{CPP} cpp:shapes-tests"),
    (r"test/acceptance\.txt", "programs:."),
    (r"docs/|LICENSE|NOTICE", "python:docs"),
    (r"bench/", "python:bench"),
    (r"examples/models/", "python:models/test_command.py"),
    (r"examples/torch/", "python:torch_frontend/test_torch_examples.py"),
    (r"examples/jax/", "python:jax/test_jax_examples.py"),
    (r"examples/ttnn/", "python:ttnn/programs python:ttnn/test_ttnn_docs.py"),
    (r"examples/", "python:docs/test_docs_commands.py"),
    (r"scripts/|\.ci/|Makefile", "python:installing"),
    (r"runtime/lib/precompiled\.h|.*Precompiled\w*\.(?:h|cpp)|\.clang-format|findings/|\.gitignore", ""),
)
PAGE = re.compile(r"(?:docs/.*|README|CONTRIBUTING)\.md")
# What a script of the build changes is seen by building; these are what only tests see.
BUILD = re.compile(r".*CMakeLists\.txt|cmake/|CMakePresets\.json|.*\.cmake")


def changed(revision: str) -> list[str]:
    """Returns the files that differ from a revision, and those that git does not track."""
    calls = (["diff", "--name-only", "--no-renames", revision, "--"], ["ls-files", "--others", "--exclude-standard"])
    lines: set[str] = set()
    for call in calls:
        done = subprocess.run(["git", *call], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"choose_tests: {done.stderr.strip()}")
        lines.update(done.stdout.splitlines())
    return sorted(lines)


@cache
def texts_of_tests() -> dict[str, str]:
    """Returns the Python files of the tests."""
    files = (ROOT / "test" / "python").rglob("*.py")
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in files}


@cache
def test_imports() -> dict[str, frozenset[str]]:
    """Returns, for each Python file of the tests, the names of the modules that it imports."""
    found = {}
    for file, text in texts_of_tests().items():
        names: set[str] = set()
        for node, _ in statements(text):
            if isinstance(node, ast.Import):
                names.update(alias.name.rpartition(".")[2] for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                names.add((node.module or "").rpartition(".")[2])
                names.update(alias.name for alias in node.names)
        found[file] = frozenset(names)
    return found


def tests_that_import(file: str) -> set[str]:
    """Returns the test files that import a helper of the tests, also through other helpers, and a test file itself."""
    found, todo = set(), [file]
    while todo:
        each = todo.pop()
        if each in found:
            continue
        found.add(each)
        stem = Path(each).stem
        todo += [other for other, names in test_imports().items() if stem in names]
    return {each for each in found if Path(each).name.startswith("test_")}


@cache
def has_string(file: str, value: str) -> bool:
    """Returns whether a Python file of the tests has a string literal, as a whole."""
    text = texts_of_tests()[file]
    return value in text and any(
        isinstance(node, ast.Constant) and node.value == value for node in ast.walk(ast.parse(text))
    )


def tests_of_a_page(file: str) -> set[str]:
    """Returns the tests of all documents, and the test files that name this one: they run what it shows."""
    name = Path(file).name
    found = {test for reader in texts_of_tests() if has_string(reader, name) for test in tests_that_import(reader)}
    return {"python:docs", *(f"python:{each.removeprefix('test/python/')}" for each in found)}


def tests_of_a_test_file(file: str) -> set[str] | None:
    """Returns the tests of a file below test/python or test/ttmlir, None for one that all tests read."""
    if file.startswith("test/ttmlir/"):
        path = file.removeprefix("test/ttmlir/")
        if Path(file).name == "lit.cfg.py":
            return {"lit:."}
        return {f"lit:{path}" if path.endswith((".mlir", ".test")) else f"lit:{Path(path).parent}"}
    if file == "test/python/conftest.py":
        return None
    if Path(file).name == "conftest.py" or not file.endswith(".py"):
        return {f"python:{Path(file).parent.relative_to('test/python')}"}
    return {f"python:{each.removeprefix('test/python/')}" for each in tests_that_import(file) if (ROOT / each).exists()}


def exists(test: str) -> bool:
    kind, _, name = test.partition(":")
    folder = {"lit": "test/ttmlir", "python": "test/python"}.get(kind)
    return folder is None or (ROOT / folder / name.partition("::")[0]).exists()


def tests_of(file: str) -> set[str] | None:
    """Returns the tests of one file without those of the layers above, None where all tests are."""
    if file.startswith(("test/python/", "test/ttmlir/")):
        return tests_of_a_test_file(file)
    if PAGE.fullmatch(file):
        return tests_of_a_page(file)
    layer = layer_of(file)
    if layer:
        places = [match.expand(tests) for pattern, tests in PLACES if (match := re.match(pattern, file))]
        return {test for tests in (TESTS[layer], *places) for test in tests.split() if exists(test)}
    for pattern, tests in FOLDERS:
        if re.match(pattern, file):
            return set(tests.split())
    if BUILD.match(file):
        return set(" ".join(ENTRANCES.values()).split())
    return None


def above(layers: Iterable[str]) -> set[str]:
    """Returns the tests of the entrances over some layers."""
    changed_layers = set(layers)
    return {
        test
        for layer, tests in ENTRANCES.items()
        if changed_layers & (allowed(layer) | runs_on(layer))
        for test in tests.split()
    }


def runs_on(layer: str) -> frozenset[str]:
    """Returns the layers that an entrance loads without naming them: programs that are compiled run on the runtime."""
    return frozenset() if layer == "compiler" else allowed("runtime.python")


def within(test: str, others: Iterable[str]) -> bool:
    """Returns whether a folder or file among others has a test already."""
    kind = test.partition(":")[0]
    return any(
        test != other and (test.startswith((f"{other}/", f"{other}::")) or other in (f"{kind}:.", f"{kind}:*"))
        for other in others
    )


def chosen(files: Iterable[str]) -> list[str]:
    """Returns the tests of some changed files; ["all"] where one of them concerns every test."""
    tests: set[str] = set()
    layers = set()
    for file in files:
        own = tests_of(file)
        if own is None:
            return ["all"]
        tests |= own
        if layer := layer_of(file):
            layers.add(layer)
    tests |= above(layers)
    if layers:
        tests.add("python:test_layers.py")
    return sorted(test for test in tests if not within(test, tests))


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints the tests of a change.")
    parser.add_argument("revision", help="what the working tree is compared with, like HEAD or origin/main")
    for test in chosen(changed(parser.parse_args().revision)):
        print(*test.split(":", 1))


if __name__ == "__main__":
    assert TESTS.keys() == LAYERS.keys()
    main()
