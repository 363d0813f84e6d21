# SPDX-License-Identifier: Apache-2.0
"""A build without Shardy says so where its attributes are requested, and nowhere else."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
sys.modules["ttmlir._mlir_libs._sdy"] = None  # as where it was not built
from ttmlir.dialects import sdy
from builder.base.builder_apis import build_module
assert not hasattr(sdy.ir, "__all__") and sdy.MeshOp
for module in (sdy, sdy.ir):
    try:
        module.MeshAttr
    except ImportError as error:
        print(error)
"""


def test_attributes_are_missed_by_name() -> None:
    path = f"import sys; sys.path[:0] = {sys.path!r}\n"
    found = subprocess.run([sys.executable, "-c", path + PROGRAM], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    lines = found.stdout.splitlines()
    assert len(lines) == 2
    assert all(
        line.startswith("sdy.MeshAttr needs Shardy, which this build is without; `make build`") for line in lines
    )
