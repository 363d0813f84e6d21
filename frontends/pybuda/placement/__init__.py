# SPDX-License-Identifier: Apache-2.0
"""The netlist of a device: ops and places of its programs, in epochs, with blocks, and queues in memory."""

from ..errors import PlacementError
from .build import Optimizing, Traced, graph_of, place, spills, take_rows
from .names import check_names
from .overrides import overridden_places
from .program import Executable, programs_of
from .summary import Result, write

__all__ = [
    "Executable", "Optimizing", "PlacementError", "Result", "Traced", "check_names", "graph_of", "overridden_places",
    "place", "programs_of", "spills", "take_rows", "write",
]  # fmt: skip
