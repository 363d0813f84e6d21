# SPDX-License-Identifier: Apache-2.0
"""The rows of the scalar table (include/ttmlir/scalars/Functions.h), as the tests of its users need them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
# Functions of tiles, which come last, are no ops: test_kernels.py calls them.
SOURCE = (ROOT / "include/ttmlir/scalars/Functions.h").read_text(encoding="utf-8").partition("auto tileFunctions(")[0]
ROW = re.compile(r'make\(\s*"(ttnn\.)?(\w+)",\s*(?:kept\()?(floats|both|pair|integers|approximated)<(\d)>')
# Name -> (kind of expression, number of operands).
ROWS = {name: (kind, int(count)) for _, name, kind, count in ROW.findall(SOURCE)}
OPS = {name for dialect, name, _, _ in ROW.findall(SOURCE) if dialect}
ATTRIBUTES = {"clamp_scalar": {"min": -1, "max": 2}, "leaky_relu": {"parameter": 0.25}, "pow_scalar": {"rhs": 3}}

HAVE_FLOATS = {name for name, (kind, _) in ROWS.items() if kind != "integers"}
# Approximated functions of floats that are computed of integers, too.
HAVE_INTEGERS = {name for name, (kind, _) in ROWS.items() if kind in ("both", "integers", "pair")} | {
    "clamp_scalar",
    "pow_scalar",
    "pow_tensor",
    "remainder",
}
# Names of ops in TTIR, where they are others.
TTIR_NAMES = {"divide": "div", "pow_tensor": "pow"}
# Ops that fold: their functions are exact, and they have no attributes.
_FOLDING = OPS - ATTRIBUTES.keys() - {"assign", "typecast"}
FOLDED_FLOATS = {name for name in _FOLDING & HAVE_FLOATS if ROWS[name][0] != "approximated"}
FOLDED_INTEGERS = _FOLDING & HAVE_INTEGERS


def ttir_names(names: set[str], operands: int) -> list[str]:
    """Returns the names in TTIR of the functions of so many operands, sorted."""
    return sorted(TTIR_NAMES.get(name, name) for name in names if ROWS[name][1] == operands)
