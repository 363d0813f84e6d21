# SPDX-License-Identifier: Apache-2.0
"""Functions of PyTorch's graphs: which compute, and what their ops are called."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from torch.fx import Graph, Node
from ttmlir.torch.importer import ON_HOST, is_call, is_known, is_supported, is_write, op_name

from ..enums import FORWARD
from .trace import SOURCE, SOURCE_TYPE

# Functions whose result is their operand with other dimensions, or with another type.
VIEWS = frozenset({
    "alias", "clone", "contiguous", "detach", "lift_fresh", "lift_fresh_copy", "lift", "alias_copy", "detach_copy",
    "view", "_unsafe_view", "reshape", "_reshape_alias", "view_copy", "unsqueeze", "unsqueeze_copy", "squeeze",
    "squeeze_copy", "flatten",
})  # fmt: skip
SAME = VIEWS | {"_to_copy", "to", "convert_element_type", "_to_dtype", "round_to"}
# Functions that take elements from other places, on the way to what reads them.
MANIPULATIONS = frozenset({
    "permute", "permute_copy", "transpose", "transpose_copy", "swapaxes", "t", "t_copy", "expand", "expand_copy",
    "broadcast_to", "broadcast_in_dim", "slice", "slice_copy", "narrow", "select", "select_copy", "split_with_sizes",
    "split_with_sizes_copy", "split", "split_copy", "chunk", "unbind", "unbind_copy", "flip", "roll", "repeat", "tile",
    "repeat_interleave", "as_strided", "as_strided_copy", "diagonal", "diagonal_copy", "unfold", "unfold_copy",
    "pixel_shuffle",
})  # fmt: skip
# Functions that join elements of operands, on cores.
JOINS = frozenset({"cat", "concat", "stack", "constant_pad_nd", "slice_scatter", "select_scatter"})
# Functions that only move elements, to places that no value chooses. `as_strided` reads PyTorch's memory directly.
MOVES = (VIEWS | MANIPULATIONS | JOINS) - {"as_strided", "as_strided_copy"}
CONSTANTS = frozenset({
    "full", "new_full", "full_like", "zeros", "zeros_like", "new_zeros", "empty", "empty_like", "new_empty",
    "new_empty_strided", "ones", "ones_like", "new_ones", "scalar_tensor", "arange", "iota", "linspace", "eye",
})  # fmt: skip
CONVOLUTIONS = frozenset({"convolution", "_convolution", "conv2d"})
# What ops are called that come from functions of other names.
LABELS = {
    "mm": "matmul", "bmm": "matmul", "addmm": "matmul", "baddbmm": "matmul", "product_by_parts": "matmul",
    "convolution": "conv2d", "_convolution": "conv2d", "convolution_backward": "conv2d_backward",
    "cat": "concatenate", "sub": "subtract", "rsub": "subtract", "mul": "multiply", "neg": "multiply",
    "div": "divide", "true_divide": "divide", "sin": "sine", "cos": "cosine", "pow": "power",
    "clamp": "clip", "clamp_min": "clip", "clamp_max": "clip", "hardtanh": "clip", "leaky_relu": "lrelu",
    "masked_fill": "where", "threshold_backward": "where", "native_dropout": "dropout", "copy": "nop", "copy_": "nop",
    "gelu_backward": "gelu_derivative", "native_layer_norm": "layernorm", "native_group_norm": "groupnorm",
    "_native_batch_norm_legit_no_training": "batchnorm", "_native_batch_norm_legit_functional": "batchnorm",
    "native_batch_norm": "batchnorm", "_native_batch_norm_legit": "batchnorm", "max_pool2d_with_indices": "max_pool2d",
} | dict.fromkeys(("gt", "ge", "lt", "le", "eq", "ne", "sgn", "sign", "logical_not"), "compare")  # fmt: skip


def function_of(node: Node) -> str:
    """Returns the name of the function that a node calls, without its overload."""
    kind = op_name(node.target).split(".")
    return kind[1] if kind[0] in ("prims", "pybuda") else kind[0]


def label_of(function: str) -> str:
    """Returns what ops of a function of PyTorch are called."""
    return LABELS.get(function, function).lstrip("_")


def source_of(node: Node) -> tuple[str, str]:
    """Returns name and type of the op of PyBuda that a node is a part of, or empty texts."""
    custom = node.meta.get("custom") or {}
    return custom.get(SOURCE, ""), custom.get(SOURCE_TYPE, "")


def is_move(node: Node) -> bool:
    """Returns whether a node only moves, rounds or converts elements of one operand."""
    return is_call(node) and function_of(node) in SAME | MANIPULATIONS


def makes_ops(node: Node) -> bool:
    """Returns whether a node becomes ops of the netlist: it is neither a constant nor a move, and runs on the chip."""
    if not is_call(node) or is_known(node) or node.meta.get(ON_HOST) or not node.all_input_nodes:
        return False
    return function_of(node) not in CONSTANTS and not is_move(node) and not is_write(node) and is_supported(node)


def in_epoch(name: str, epoch_type: str) -> str:
    """Returns the name of an op in epochs of a type: "gelu", "bwd_gelu"."""
    return name if epoch_type == FORWARD else f"{epoch_type}_{name}"


def node_names(graph: Graph, epoch_type: str, scope: str = "") -> dict[Node, str]:
    """Returns what ops of the netlist that nodes become are called; where a node becomes several, or several nodes are
    an op of the module, their names begin with it.

    scope: is a part of names of ops that have none in the module.
    """
    names: dict[Node, str] = {}
    numbers = itertools.count()
    for node in graph.nodes:
        if source := source_of(node)[0]:
            names[node] = in_epoch(source, epoch_type)
        elif makes_ops(node):
            label = label_of(function_of(node))
            label = f"{scope}_{label}" if scope else label
            names[node] = in_epoch(f"{label}_{next(numbers)}", epoch_type)
    return names


def behind(node: Node) -> Iterator[Node]:
    """Yields the nodes whose values a node reads, behind those that only move elements."""
    for x in node.all_input_nodes:
        while (is_move(x) or not is_call(x)) and len(x.all_input_nodes) == 1:
            x = x.all_input_nodes[0]
        yield x


def plain(name: str) -> str:
    """Returns a name with letters, digits, dots and underscores only."""
    return re.sub(r"[^A-Za-z0-9_.]", "_", name)
