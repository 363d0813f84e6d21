# SPDX-License-Identifier: Apache-2.0
"""The description of all ops, which tools/opgen writes at build time, and the facts that rows of ops state.

Facts are the traits of include/ttmlir/Dialect/Families/Facts.td, by their names there: `moves_values`.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any


@functools.cache
def description() -> dict[str, Any]:
    """Returns ops, kinds (constraints on attributes), enums and structs by name; see `description` of
    tools/opgen/emit.py."""
    text = (Path(__file__).parent / "ops.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def has_fact(op: str, fact: str) -> bool:
    """Returns whether a fact is on the row of an op ("ttir.permute")."""
    return fact in description()["ops"].get(op, {}).get("facts", ())


@functools.cache
def ops_with(fact: str) -> frozenset[str]:
    """Returns the names of the ops that a fact is on."""
    return frozenset(name for name, row in description()["ops"].items() if fact in row.get("facts", ()))


@functools.cache
def functions_on_booleans() -> dict[str, str]:
    """Returns the functions that mean another one for booleans, with that one: `{"add": "logical_or", ...}`.

    The rows of StableHLO state both (TT_Computes).
    """
    pairs = (row["computes"] for row in description()["ops"].values() if "computes" in row)
    return {function: on_booleans for function, on_booleans in pairs if on_booleans != function}
