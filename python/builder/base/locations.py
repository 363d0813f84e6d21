# SPDX-License-Identifier: Apache-2.0
"""Locations as people write them. Needs no torch."""

from __future__ import annotations

import re
from typing import Any


def plain_location(location: Any) -> str:
    """Returns a location as people write it: file:line:column, or the name of a name location; else as MLIR prints
    it."""
    text = str(location).removeprefix("loc(").removesuffix(")")
    simple = re.fullmatch(r'"([^"]*)"((?::\d+)*)', text)
    return simple[1] + simple[2] if simple else text
