# SPDX-License-Identifier: Apache-2.0
"""Requests of the configuration for ops, by their names, as attributes of the compiler's ops."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from _ttmlir_runtime import runtime
from torch.fx import Graph, Node
from torch.utils._pytree import tree_leaves
from ttmlir.torch.importer import ON_HOST, OP_ATTRIBUTES

from ..config import CompilerConfig
from ..enums import FORWARD
from ..errors import PlacementError
from ..tenstorrent.chip import TILE, Chip
from .copies import Request, insert_copies, tilize
from .functions import CONVOLUTIONS, JOINS, function_of, label_of, makes_ops, node_names, plain, source_of
from .schedule import reorder

EPOCH_BREAK, FUSION_GROUP, GRID = "ttcore.epoch_break", "ttcore.fusion_group", "ttcore.grid"
CUT, CUT_WINDOW = "ttcore.cut", "ttcore.cut_window"


def is_cut(node: Any) -> bool:
    """Returns whether a node of a fracture group is (op, -2 for rows or -1 for columns, factor)."""
    if not isinstance(node, tuple | list) or len(node) != 3:
        return False
    name, dimension, factor = node
    return isinstance(name, str) and type(dimension) is type(factor) is int and dimension in (-1, -2) and factor > 0


def requested_names(config: CompilerConfig) -> set[str]:
    """Returns names that the configuration has something to say about: these ops stay as they are."""
    found = set(config.op_overrides) | set(config.op_names_dont_fuse) | set(config.op_intermediates_to_save)
    for group in (*config.op_names_to_epoch_break, *config.op_names_to_chip_break, *config.scheduler_constraints):
        found |= set(group)
    for source, reader, *_ in config.insert_queues:
        found |= {source, reader}
    for source, readers, _ in config.buffering_nops:
        found |= {source, *readers}
    for nodes, _ in config.fracture_groups:
        found |= {node[0] for node in nodes if is_cut(node)}
    return found


def whole(names: Iterable[str]) -> frozenset[str]:
    """Returns names of ops; for a part of an op the name of the op: softmax for softmax.dc.exp.2."""
    return frozenset(name.partition(".dc.")[0] for name in names)


@dataclass(frozen=True)
class Requests:
    """The requests; without arguments, there are none.

    breaks: groups of ops; the first op of each begins an epoch. alone: ops that are not fused with others.
    fused: ops that are fused; empty: all. grids: rows and columns of cores.
    cuts: dimension and number of parts of results. windows: numbers of parts of convolutions' windows.
    copies: of `insert_nop`. orders: ops that run one after the other. arguments: names of the forward graph's.
    tilized: those of inputs that the device tilizes. node_grids: by names of nodes.
    """

    breaks: tuple[frozenset[str], ...] = ()
    alone: frozenset[str] = frozenset()
    fused: frozenset[str] = frozenset()
    grids: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    cuts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    windows: Mapping[str, int] = field(default_factory=dict)
    copies: tuple[Request, ...] = ()
    orders: tuple[tuple[str, ...], ...] = ()
    arguments: tuple[str, ...] = ()
    tilized: frozenset[str] = frozenset()
    node_grids: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, config: CompilerConfig, chip: Chip, chips: Sequence[int], arguments: Sequence[str], inputs: Sequence[str]
    ) -> Requests:
        """Returns what a configuration requests of a chip. Grids that the simulated one does not have are in the
        netlist alone, and those that the configured one does not have are refused there."""
        groups = (*config.op_names_to_epoch_break, *config.op_names_to_chip_break)
        simulated = runtime.chip_figures(chip.costs.arch)["grid"]
        rows = 1 if config.place_on_one_row else min(simulated[0], chip.rows)
        columns = min(simulated[1], chip.columns)
        sizes = {name: x["grid_shape"] for name, x in config.op_overrides.items() if "grid_shape" in x}
        grids = {name: (r, c) for name, (r, c) in sizes.items() if r <= rows and c <= columns}
        windows = {name: x["fracture_factor"] for name, x in config.op_overrides.items() if "fracture_factor" in x}
        return cls(
            tuple(map(whole, groups)), whole(requested_names(config)), whole(config.op_names_manual_fuse), grids,
            dict(cuts_of(config, chips)), {name: n for name, n in windows.items() if n > 1},
            tuple(config.buffering_nops), tuple(map(tuple, config.scheduler_constraints)), tuple(map(plain, arguments)),
            frozenset(map(plain, inputs)) if config.enable_device_tilize and config.tti_dump_format == "backend" else
            frozenset(),
        )  # fmt: skip

    def apply(self, graph: Graph, epoch_type: str) -> set[int]:
        """Marks the nodes of a graph with the attributes of their ops, inserts copies, and orders the nodes; returns
        the numbers of the copies.

        Raises:
            PlacementError: an op that cannot be computed in parts, or an order that contradicts the data.
        """
        if self == NO_REQUESTS:
            return set()
        names = node_names(graph, epoch_type)
        placeholders = [node for node in graph.nodes if node.op == "placeholder"]
        if epoch_type == FORWARD and len(placeholders) == len(self.arguments):
            names = dict(zip(placeholders, self.arguments, strict=True)) | names
        copies = insert_copies(graph, names, self.copies)
        tilize(graph, {node: name for node, name in names.items() if name in self.tilized and node.op == "placeholder"})
        names = node_names(graph, epoch_type)
        if self.orders:
            reorder(graph, names, self.orders)
        for node, name in names.items():
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
            if grid := self.grids.get(name) or self.node_grids.get(node.name):
                found[GRID] = "#ttcore.grid<{}x{}>".format(*grid)
            if name in self.cuts and makes_ops(node):
                found[CUT] = "array<i64: {}, {}>".format(*checked_cut(node, name, *self.cuts[name]))
            if name in self.windows and function_of(node) in CONVOLUTIONS:
                found[CUT_WINDOW] = f"{checked_window(node, name, self.windows[name])} : i64"
            if found:
                node.meta.setdefault(OP_ATTRIBUTES, {}).update(found)
        for name in self.windows:
            kinds = {label_of(function_of(x)) for x, each in names.items() if each == name and makes_ops(x)}
            if kinds and not kinds & CONVOLUTIONS:
                raise PlacementError(
                    f"override_multi_op_fracture_factor({name!r}): the op is {', '.join(sorted(kinds))}; expected a "
                    "convolution"
                )
        return copies


NO_REQUESTS = Requests()


def cuts_of(config: CompilerConfig, chips: Sequence[int]) -> Iterable[tuple[str, tuple[int, int]]]:
    """Yields ops of fracture groups with a dimension and a number of parts.

    Raises:
        PlacementError: something else, an op that is named twice, or a chip that the device does not have.
    """
    known: dict[str, Sequence[Any]] = {}
    for nodes, chip_ids in config.fracture_groups:
        if bad := [x for x in chip_ids if x not in chips]:
            raise PlacementError(f"insert_fracture_group: chip {bad[0]} is none of the device's, {list(chips)}")
        for node in nodes:
            if not is_cut(node):
                raise PlacementError(
                    f"insert_fracture_group has {node!r}; expected (op, -2 for rows or -1 for columns, factor)"
                )
            if node[0] in known:
                raise PlacementError(
                    f"insert_fracture_group names op {node[0]!r} twice, in {known[node[0]]!r} and in {node!r}; "
                    "expected one cut of an op"
                )
            known[node[0]] = node
            yield node[0], (node[1], node[2])


def check_parts(graph: Graph) -> None:
    """Refuses parts of ops that PyTorch runs in place of the chip, whose compiler does not cut them.

    Raises:
        PlacementError: names the op, and the reason.
    """
    for node in graph.nodes:
        for name, function in ((CUT, "insert_fracture_group"), (CUT_WINDOW, "override_multi_op_fracture_factor")):
            if node.meta.get(ON_HOST) and name in node.meta.get(OP_ATTRIBUTES, {}):
                raise PlacementError(f"{function}: op {(source_of(node)[0] or node.name)!r}: {node.meta[ON_HOST]}")


def checked_cut(node: Node, name: str, dim: int, parts: int) -> tuple[int, int]:
    """Returns the dimension and the number of parts, which have whole tiles.

    Raises:
        PlacementError: they have not, or the op moves elements to places that depend on others.
    """
    (fake, *_) = [x for x in tree_leaves(node.meta["val"]) if isinstance(x, torch.Tensor)]
    shape = (1, 1, *fake.shape)
    if shape[dim] % (parts * TILE):
        raise PlacementError(
            f"insert_fracture_group: dimension {dim} of op {name!r} has size {shape[dim]}; expected a multiple of "
            f"{parts} tiles ({parts * TILE})"
        )
    if function_of(node) in JOINS:
        raise PlacementError(f"insert_fracture_group: op {name!r} is a splice, which is not cut along {dim}")
    return dim, parts


def checked_window(node: Node, name: str, parts: int) -> int:
    """Returns the number of parts of a convolution's window.

    Raises:
        PlacementError: there are no such parts.
    """
    rows, columns = (1, *node.args[1].meta["val"].shape[2:])[-2:]  # type: ignore[union-attr]
    if columns % (parts // math.gcd(parts, rows)):
        raise PlacementError(
            f"override_multi_op_fracture_factor({name!r}, {parts}): the windows have {rows}x{columns} places; expected "
            "a divisor"
        )
    return parts


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
