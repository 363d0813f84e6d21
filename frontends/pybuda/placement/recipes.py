# SPDX-License-Identifier: Apache-2.0
"""Names of PyTorch's functions in the netlist, by kind; others are ops of their own name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .graph import MATMULS
from .values import Shape, Value

# Functions that are an op of another name.
SIMPLE = {
    "add": "add", "sub": "subtract", "rsub": "subtract", "mul": "multiply", "neg": "multiply", "maximum": "maximum",
    "minimum": "minimum", "exp": "exp", "log": "log", "sqrt": "sqrt", "reciprocal": "reciprocal",
    "sigmoid": "sigmoid", "tanh": "tanh", "relu": "relu", "abs": "abs", "sin": "sine", "cos": "cosine", "gelu": "gelu",
    "pow": "power", "clamp": "clip", "clamp_min": "clip", "clamp_max": "clip", "hardtanh": "clip", "where": "where",
    "leaky_relu": "lrelu", "masked_fill": "where", "gt": "compare", "ge": "compare", "lt": "compare", "le": "compare",
    "eq": "compare", "ne": "compare", "sgn": "compare", "sign": "compare", "logical_not": "compare",
    "threshold_backward": "where", "native_dropout": "dropout", "copy": "nop", "copy_": "nop",
    "div": "divide", "true_divide": "divide", "gelu_backward": "gelu_derivative",
    "native_layer_norm": "layernorm", "native_group_norm": "groupnorm",
    "_native_batch_norm_legit_no_training": "batchnorm", "_native_batch_norm_legit_functional": "batchnorm",
    "native_batch_norm": "batchnorm", "_native_batch_norm_legit": "batchnorm",
    "max_pool2d_with_indices": "max_pool2d",
}  # fmt: skip
# Functions whose result is their operand with other dimensions, and with another type.
VIEWS = frozenset({
    "alias", "clone", "contiguous", "detach", "lift_fresh", "lift_fresh_copy", "lift", "alias_copy", "detach_copy",
    "view", "_unsafe_view", "reshape", "_reshape_alias", "view_copy", "unsqueeze", "unsqueeze_copy", "squeeze",
    "squeeze_copy", "flatten",
})  # fmt: skip
CASTS = frozenset({"_to_copy", "to", "convert_element_type", "_to_dtype", "round_to"})
SAME = VIEWS | CASTS
# Functions that take elements from other places, on the way to what reads them.
MANIPULATIONS = frozenset({
    "permute", "permute_copy", "transpose", "transpose_copy", "swapaxes", "t", "t_copy", "expand", "expand_copy",
    "broadcast_to", "broadcast_in_dim", "slice", "slice_copy", "narrow", "select", "select_copy", "split_with_sizes",
    "split_with_sizes_copy", "split", "split_copy", "chunk", "unbind", "unbind_copy", "flip", "roll", "repeat", "tile",
    "repeat_interleave", "as_strided", "as_strided_copy", "diagonal", "diagonal_copy", "unfold", "unfold_copy",
    "pixel_shuffle",
})  # fmt: skip
CONSTANTS = frozenset({
    "full", "new_full", "full_like", "zeros", "zeros_like", "new_zeros", "empty", "empty_like", "new_empty",
    "new_empty_strided", "ones", "ones_like", "new_ones", "scalar_tensor", "arange", "iota", "linspace", "eye",
})  # fmt: skip
# Functions that only move elements, and have cores of their own to do it.
MOVING = {
    "cat": "splice", "concat": "splice", "stack": "splice", "constant_pad_nd": "pad", "slice_scatter": "splice",
    "select_scatter": "splice", "embedding": "embedding", "index_select": "index", "index": "index",
    "_unsafe_index": "index", "gather": "index", "scatter": "scatter", "scatter_add": "scatter",
    "scatter_reduce": "scatter", "index_put": "scatter", "_unsafe_index_put": "scatter", "index_add": "scatter",
    "index_copy": "scatter", "embedding_dense_backward": "scatter", "topk": "sort", "sort": "sort", "argsort": "sort",
}  # fmt: skip
# Functions that only move elements, to places that no value chooses. `as_strided` reads PyTorch's memory directly.
MOVES = VIEWS | MANIPULATIONS | {name for name, kind in MOVING.items() if kind in ("splice", "pad")}
MOVES -= {"as_strided", "as_strided_copy"}
REDUCTIONS = {
    "sum": "sum", "mean": "avg", "amax": "max", "amin": "min", "max": "max", "min": "min", "argmax": "max",
    "argmin": "min", "prod": "prod", "any": "max", "all": "min",
}  # fmt: skip


def manipulation(kind: str, x: Value, shape: Shape, arguments: Sequence[Any], number: int = 0) -> Value:
    """Returns what a manipulation is called in the netlist."""
    kind = kind.removesuffix("_copy")
    if kind in ("t", "transpose", "swapaxes", "permute"):
        rank = len(x.shape)
        order = [*range(rank)]
        if kind == "permute":
            order = [d % rank for d in arguments[0]]
        elif rank > 1:
            a, b = (d % rank for d in (arguments[:2] if kind != "t" else (0, 1)))
            order[a], order[b] = order[b], order[a]
        if order == [*range(rank)]:
            return x
        swapped = [*range(rank - 2), rank - 1, rank - 2]
        return x.moved(shape, "transpose" if order == swapped else f"permute: {order}")
    if kind in ("expand", "broadcast_to", "broadcast_in_dim", "repeat", "tile"):
        if shape == x.shape:
            return x
        before = (1,) * (len(shape) - len(x.shape)) + x.shape if kind != "broadcast_in_dim" else shape
        letters = [*(f"d{i}" for i in range(len(shape) - 3)), "z", "r", "c"][-len(shape) :]
        grown = [f"{k}: {n // m}" for k, n, m in zip(letters, shape, before, strict=True) if n != m]
        return x.moved(shape, f"broadcast: {{{', '.join(grown)}}}" if grown else "")
    if kind in ("slice", "select", "narrow"):
        return x if shape == x.shape else x.moved(shape, f"select: [{', '.join(str(a) for a in arguments)}]")
    return x.moved(shape, f"{kind}: {number}" if number or kind in ("split", "split_with_sizes", "unbind") else kind)


# Functions that are products of matrices, or sums of them: the numbers of the two factors, and of a bias.
PRODUCTS = {
    "mm": (0, 1, None), "bmm": (0, 1, None), "matmul": (0, 1, None), "mv": (0, 1, None), "dot": (0, 1, None),
    "vdot": (0, 1, None), "linear": (0, 1, 2), "addmm": (1, 2, 0), "baddbmm": (1, 2, 0),
    "product_by_parts": (0, 1, None),
}  # fmt: skip
CONVOLUTIONS = frozenset({"convolution", "_convolution", "conv2d"})
# Functions that reduce along a dimension, and give all elements: the number of the argument that names it.
ALONG = {"_softmax": 1, "softmax": 1, "_log_softmax": 1, "log_softmax": 1}
# What ops of the netlist are called; others have the name of their function.
TYPES = frozenset({
    *SIMPLE.values(), *MOVING.values(), *(f"reduce_{kind}" for kind in REDUCTIONS.values()), *MATMULS,
    "nop", "tilizer", "fused_op",
})  # fmt: skip
