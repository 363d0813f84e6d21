# SPDX-License-Identifier: Apache-2.0
"""JAX functions on the platform `tt` agree with JAX on the CPU."""

from __future__ import annotations

import json
import os

import pytest

jax = pytest.importorskip("jax", reason="jax is not installed: pip install 'ttmlir[jax]'")
import jax_convolutions  # noqa: E402
import jax_functions  # noqa: E402
import jax_lax  # noqa: E402
import jax_library  # noqa: E402
import jax_numpy  # noqa: E402
import jax_science  # noqa: E402
import jax_small_floats  # noqa: E402
import numpy as np  # noqa: E402
import python_process  # noqa: E402

SCRIPTS = {
    script.__name__: script
    for script in (
        jax_functions,
        jax_lax,
        jax_library,
        jax_numpy,
        jax_science,
        jax_small_floats,
        jax_convolutions,
    )
}
# Of each table; the first has every twelfth row, and the others, which are slow, the rest. The first runs always of
# every other table: those between run in test_jax_text.py.
PARTS, EVERY = 6, 12


def rows_of(script: str, part: int) -> list[jax_functions.Row]:
    rows = SCRIPTS[script].ROWS
    quick = rows[::EVERY]
    if part == 0:
        return quick
    return [row for number, row in enumerate(rows) if number % EVERY][part - 1 :: PARTS - 1]


def parts() -> list[object]:
    return [
        pytest.param(script, part, id=f"{script} {part}", marks=[pytest.mark.slow] if part or place % 2 else [])
        for place, script in enumerate(SCRIPTS)
        for part in range(PARTS)
    ]


@pytest.mark.long
@pytest.mark.parametrize(("script", "part"), parts())
def test_agrees_with_the_cpu(script, part):
    """In a process for each part of a table, which is given the places of its rows."""
    rows = rows_of(script, part)
    places = [str(next(i for i, known in enumerate(SCRIPTS[script].ROWS) if known is row)) for row in rows]
    done = python_process.run(
        [SCRIPTS[script].__file__, "--places", *places], "jax jax.numpy", env=os.environ | {"JAX_PLATFORMS": "tt,cpu"}
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [name for name, _, _ in found] == [row.name for row in rows]
    wrong = [f"{name}: {verdict}: {reason[:400]}" for name, verdict, reason in found if verdict != "ok"]
    assert not wrong, "\n".join(wrong)


def test_every_row_is_in_one_part():
    for script, table in SCRIPTS.items():
        taken = [id(row) for part in range(PARTS) for row in rows_of(script, part)]
        assert sorted(taken) == sorted(map(id, table.ROWS))


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
