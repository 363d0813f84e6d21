# SPDX-License-Identifier: Apache-2.0
"""Balancer and placer: ops of a device on the grid of its chips, in epochs, and queues in memory; the netlist."""

from .build import Optimizing, Traced, place, spills
from .graph import PlacementError
from .names import check_names
from .program import Executable, computed_nodes, computed_steps, programs_of
from .summary import Result, write

__all__ = [
    "Executable", "Optimizing", "PlacementError", "Result", "Traced", "check_names", "computed_nodes",
    "computed_steps", "place", "programs_of", "spills", "write",
]  # fmt: skip
