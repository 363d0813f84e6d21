# SPDX-License-Identifier: Apache-2.0
"""Outcomes as lines of JSON, between the process that measures and the one that writes the files."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from ..harness import Absent, Measure, Outcome, Profile, Result

KINDS = {kind.__name__: kind for kind in (Result, Measure, Profile, Absent)}


def to_line(outcome: Outcome) -> str:
    return json.dumps({"kind": type(outcome).__name__, **asdict(outcome)}) + "\n"


def from_fields(fields: dict[str, Any]) -> Outcome:
    """fields: what a line holds."""
    return KINDS[fields["kind"]](**{name: value for name, value in fields.items() if name != "kind"})
