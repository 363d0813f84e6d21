# SPDX-License-Identifier: Apache-2.0
"""JAX functions on the platform `tt` agree with JAX on the CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

jax = pytest.importorskip("jax", reason="jax is not installed: pip install 'ttmlir[jax]'")
import jax_functions  # noqa: E402
import jax_library  # noqa: E402
import numpy as np  # noqa: E402

ROWS = [*jax_functions.ROWS, *jax_library.ROWS]

# What the chip or a lowering lacks, and what the error says. Such a row may run one day; it may not be wrong.
REFUSED = {
    "linalg.eigh": "primitive 'eigh' not found for platform tt",
    "linalg.svd": "primitive 'eigh' not found for platform tt",
    "fp8 cast": "no data format of the chip holds its elements",
    "int4": "no data format of the chip holds its elements",
    "jnp.polyfit": "primitive 'eigh' not found for platform tt",
    "pinv": "primitive 'eigh' not found for platform tt",
    "lstsq": "primitive 'eigh' not found for platform tt",
    "jnp.roots": "primitive 'eig' not found for platform tt",
    "lax.approx_max_k": "stablehlo.custom_call: not converted to TTIR",
}


@pytest.fixture(scope="module")
def verdicts() -> dict[str, list[tuple[str, str]]]:
    """Of all rows, in a process for each table: names may stand for several."""
    found: dict[str, list[tuple[str, str]]] = {}
    for script in (jax_functions, jax_library):
        done = subprocess.run(
            [sys.executable, str(script.__file__)],
            env=os.environ | {"JAX_PLATFORMS": "tt,cpu"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        for line in done.stdout.splitlines():
            name, verdict, reason = json.loads(line)
            found.setdefault(name, []).append((verdict, reason))
    return found


@pytest.mark.parametrize("name", sorted({row.name for row in ROWS}))
def test_agrees_with_the_cpu(verdicts, name):
    for verdict, reason in verdicts[name]:
        if verdict == "fails" and name in REFUSED:
            assert REFUSED[name] in reason
        else:
            assert verdict == "ok", reason


def test_every_row_has_run(verdicts):
    assert sum(map(len, verdicts.values())) == len(ROWS)
    assert verdicts.keys() >= REFUSED.keys()


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (np.float32([1, 2.001, np.nan]), "elementwise"),
        (np.float32([1, 2.001, np.nan]), "contraction"),
        (np.float32([1, 2, 3]), "elementwise"),
        (np.float32([1, np.inf, np.nan]), "contraction"),
        (np.nextafter(np.float32([1, 2, np.nan]), np.float32(9)), "exact"),
        (np.float64([1, 2, np.nan]), "exact"),
        (np.float32([1, 2]), "exact"),
    ],
)
def test_differences_are_seen(found, kind):
    expected = np.float32([1, 2, np.nan])
    assert jax_functions.difference(expected, expected, kind) is None
    assert jax_functions.difference(expected, found, kind) is not None
