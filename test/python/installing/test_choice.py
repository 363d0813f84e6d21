# SPDX-License-Identifier: Apache-2.0
"""scripts/choose_tests.py chooses tests for every file, and every test for some file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from layer_table import LAYERS, ROOT, graph, sources

sys.path.insert(0, str(ROOT / "scripts"))
import choose_tests

TABLES = (
    *choose_tests.TESTS.values(),
    *choose_tests.ENTRANCES.values(),
    *(tests for _, tests in choose_tests.PLACES),
    *(tests for _, tests in choose_tests.FOLDERS),
)
NAMED = {test for tests in TABLES for test in tests.split() if "\\" not in test}


def test_every_layer_has_tests_that_are_there() -> None:
    assert choose_tests.TESTS.keys() == LAYERS.keys()
    assert not choose_tests.ENTRANCES.keys() - LAYERS.keys()
    assert sorted(test for test in NAMED if not choose_tests.exists(test)) == []
    functions = [test.removeprefix("python:").split("::") for test in NAMED if "::" in test]
    missing = [each for each in functions if f"def {each[1]}(" not in (ROOT / "test/python" / each[0]).read_text()]
    assert missing == []


def test_every_source_has_tests() -> None:
    assert [file for file in graph() if not choose_tests.tests_of(file)] == []


def test_every_test_is_of_some_source() -> None:
    """A change of a source runs it, not only a change of the test itself."""
    files = [file for file in sources() if Path(file).name.startswith("test_") and file.endswith(".py")]
    alone = [
        file for file in files
        if (test := f"python:{file.removeprefix('test/python/')}") not in NAMED and not choose_tests.within(test, NAMED)
    ]  # fmt: skip
    assert alone == ["test/python/test_layers.py"], "which concerns every source, and takes part in every choice"


CHOICES = [
    # A pass of TTIR: its own tests, and one of each entrance.
    (
        ["lib/Dialect/TTIR/Transforms/Fusing/Fusing.cpp"],
        ["lit:Transforms/TTIR", "lit:Pipelines", "python:passes", "python:onnx_frontend/test_onnx.py::test_a_network"],
        ["python:onnx_frontend", "python:torch_frontend", "cpp:ttrt-tests"],
    ),
    # A row of an op: also the passes that ask its facts, and the tables of Python that are made of rows.
    (
        ["include/ttmlir/Dialect/Families/Elementwise.td"],
        [
            "lit:Dialect",
            "lit:Transforms",
            "lit:Conversion",
            "python:ops/test_op_tables.py",
            "python:golden/test_tables.py",
        ],
        ["python:ops", "python:golden", "python:builder", "cpp:ttnn-tests", "lit:Transforms/TTIR"],
    ),
    (
        ["runtime/lib/kernels/window/pool.cpp"],
        ["cpp:ttnn-tests", "units:*pool*", "python:ops/window", "python:ttnn/test_functions.py::test_operators"],
        ["lit:Pipelines", "python:passes"],
    ),
    (["frontends/onnx/compiled.py"], ["python:onnx_frontend"], ["python:torch_frontend", "lit:Pipelines"]),
    # What a chosen folder has is not named again.
    (["python/golden/op.py"], ["python:golden", "python:ops"], ["python:ops/test_op_tables.py"]),
    (["test/ttmlir/version.mlir"], ["lit:version.mlir"], ["lit:Pipelines"]),
    (["test/python/ops/op_cases.py"], ["python:ops/test_op_tables.py"], ["python:golden/test_tables.py"]),
    (["test/python/ttrt/conftest.py"], ["python:ttrt"], []),
    # A page: the tests that read it.
    (
        ["docs/torch.md"],
        ["python:docs", "python:torch_frontend/test_torch_programs.py"],
        ["python:torch_frontend", "python:ttnn/test_ttnn_docs.py"],
    ),
    (["docs/sizes-ops.md"], ["python:builder/sizes/test_open_ops.py"], ["python:builder/sizes/test_networks.py"]),
    (["README.md"], ["python:docs", "python:builder/test_docs.py"], ["python:torch_frontend/test_torch_tools.py"]),
    (["test/python/conftest.py"], ["all"], []),
    (["some/new/place.txt"], ["all"], []),
    ([], [], ["all"]),
]


@pytest.mark.parametrize(
    ("files", "there", "absent"), CHOICES, ids=[" ".join(files) or "nothing" for files, *_ in CHOICES]
)
def test_choices(files: list[str], there: list[str], absent: list[str]) -> None:
    found = choose_tests.chosen(files)
    assert set(there) <= set(found) and not set(absent) & set(found)


def test_the_command_sees_what_git_does(tmp_path: Path) -> None:
    script = [sys.executable, str(ROOT / "scripts" / "choose_tests.py")]
    done = subprocess.run([*script, "no-such-revision"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "no-such-revision" in done.stderr
    done = subprocess.run([*script, "HEAD"], cwd=tmp_path, capture_output=True, text=True)
    kinds = {line.partition(" ")[0] for line in done.stdout.splitlines()}
    assert done.returncode == 0 and kinds <= {"cpp", "lit", "units", "programs", "python", "all"}, done.stderr
