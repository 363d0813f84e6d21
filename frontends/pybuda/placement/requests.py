# SPDX-License-Identifier: Apache-2.0
"""Requests of the configuration for ops, by their names, as attributes of the compiler's ops."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from _ttmlir_runtime import runtime
from torch.fx import Graph
from ttmlir.torch.importer import OP_ATTRIBUTES

from ..config import CompilerConfig
from ..enums import FORWARD
from .chip import Chip
from .lower import node_names, source_of
from .passes import requested_copies

EPOCH_BREAK, FUSION_GROUP, GRID = "ttcore.epoch_break", "ttcore.fusion_group", "ttcore.grid"


def whole(names: Iterable[str]) -> frozenset[str]:
    """Returns names of ops; for a part of an op the name of the op: softmax for softmax.dc.exp.2."""
    return frozenset(name.partition(".dc.")[0] for name in names)


@dataclass(frozen=True)
class Requests:
    """The requests; without arguments, there are none.

    breaks: groups of ops; the first op of each begins an epoch. alone: ops that are not fused with others.
    fused: ops that are fused; empty: all. grids: rows and columns of cores.
    """

    breaks: tuple[frozenset[str], ...] = ()
    alone: frozenset[str] = frozenset()
    fused: frozenset[str] = frozenset()
    grids: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, config: CompilerConfig, chip: Chip) -> Requests:
        """Returns what a configuration requests of a chip. Grids that the simulated one does not have are in the
        netlist alone, and those that the configured one does not have are refused there."""
        groups = (*config.op_names_to_epoch_break, *config.op_names_to_chip_break)
        simulated = runtime.chip_figures(chip.costs.arch)["grid"]
        rows = 1 if config.place_on_one_row else min(simulated[0], chip.rows)
        columns = min(simulated[1], chip.columns)
        sizes = {name: x["grid_shape"] for name, x in config.op_overrides.items() if "grid_shape" in x}
        grids = {name: (r, c) for name, (r, c) in sizes.items() if r <= rows and c <= columns}
        return cls(
            tuple(map(whole, groups)), whole(requested_copies(config)), whole(config.op_names_manual_fuse), grids
        )

    def apply(self, graph: Graph, epoch_type: str) -> None:
        """Marks the nodes of a graph with the attributes of their ops."""
        if self == NO_REQUESTS:
            return
        for node, name in node_names(graph, epoch_type).items():
            source = source_of(node)[0]
            found = {}
            labels = [
                str(number) for number, group in enumerate(self.breaks)
                if name in group or (source in group and epoch_type == FORWARD)
            ]  # fmt: skip
            if labels:
                found[EPOCH_BREAK] = json.dumps(labels)
            if name in self.alone or source in self.alone or (self.fused and name not in self.fused):
                found[FUSION_GROUP] = json.dumps(name)
            if name in self.grids:
                found[GRID] = "#ttcore.grid<{}x{}>".format(*self.grids[name])
            if found:
                node.meta.setdefault(OP_ATTRIBUTES, {}).update(found)


NO_REQUESTS = Requests()
# Policies of the pass that places ops; a result in pieces is the netlist's alone.
POLICIES = {
    "default": "auto", "NLP": "work", "Ribbon": "ribbon", "CNN": "ribbon", "MinimizeGrid": "smallest",
    "MaximizeTMinimizeGrid": "smallest", "Random": "any",
}  # fmt: skip


def epoch_options(config: CompilerConfig, chip: Chip) -> dict[str, Any]:
    """Returns the options of the compiler that place the ops of programs on the cores of a chip."""
    if config.balancer_policy == "CNN":
        warnings.warn("balancer_policy 'CNN' is deprecated; it is 'Ribbon'", DeprecationWarning, stacklevel=2)
    return {
        "enable-epochs": True, "epoch-rows": chip.rows, "epoch-columns": chip.columns,
        "epoch-policy": POLICIES[config.balancer_policy], "epoch-one-row": config.place_on_one_row,
        "epoch-other-grids": config.use_interactive_placer,
        "epoch-transpose-grids": config.enable_auto_transposing_placement,
    }  # fmt: skip
