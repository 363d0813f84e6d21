# SPDX-License-Identifier: Apache-2.0
"""JAX functions as text, through `ttmlir-opt`, `ttmlir-translate` and `ttrt`, agree with JAX on the CPU.

The rows are those of test_jax_functions.py, which runs them by the plugin.
"""

from __future__ import annotations

import json
import os
import sys

import pytest
import python_process

jax = pytest.importorskip("jax", reason="jax is not installed: pip install 'ttmlir[jax]'")
import text_path  # noqa: E402
from test_jax_functions import SCRIPTS  # noqa: E402

EVERY = 20  # of the rows of every other table run always, and the others in as many parts with --slow


def parts() -> list[object]:
    return [
        pytest.param(script, part, id=f"{script} {part}", marks=[] if part == 0 and place % 2 else [pytest.mark.slow])
        for place, script in enumerate(SCRIPTS)
        for part in range(EVERY)
    ]


@pytest.mark.long
@pytest.mark.parametrize(("script", "part"), parts())
def test_agrees_with_the_cpu(script, part, tmp_path):
    places = [str(place) for place in range(part, len(SCRIPTS[script].ROWS), EVERY)]
    done = python_process.run(
        [text_path.__file__, script, tmp_path, *places],
        "jax jax.numpy",
        env=os.environ | {"JAX_PLATFORMS": "cpu", "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [name for name, _, _ in found] == [SCRIPTS[script].ROWS[int(place)].name for place in places]
    wrong = [f"{name}: {verdict}: {reason[:400]}" for name, verdict, reason in found if verdict != "ok"]
    assert not wrong, "\n".join(wrong)
