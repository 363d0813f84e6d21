# SPDX-License-Identifier: Apache-2.0
"""What each function of PyTorch is in ops of the core set, by name; others are elementwise ops of their own name."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .graph import TILE, Op
from .values import Builder, Shape, Value, matrix

Recipe = Callable[..., Any]
RECIPES: dict[str, Recipe] = {}


def recipe(*names: str) -> Callable[[Recipe], Recipe]:
    def add(function: Recipe) -> Recipe:
        RECIPES.update(dict.fromkeys(names, function))
        return function

    return add


# Functions that are one elementwise op of another name.
SIMPLE = {
    "add": "add", "sub": "subtract", "rsub": "subtract", "mul": "multiply", "neg": "multiply", "maximum": "maximum",
    "minimum": "minimum", "exp": "exp", "log": "log", "sqrt": "sqrt", "reciprocal": "reciprocal",
    "sigmoid": "sigmoid", "tanh": "tanh", "relu": "relu", "abs": "abs", "sin": "sine", "cos": "cosine", "gelu": "gelu",
    "pow": "power", "clamp": "clip", "clamp_min": "clip", "clamp_max": "clip", "hardtanh": "clip", "where": "where",
    "leaky_relu": "lrelu", "masked_fill": "where", "gt": "compare", "ge": "compare", "lt": "compare", "le": "compare",
    "eq": "compare", "ne": "compare", "sgn": "compare", "sign": "compare", "logical_not": "compare",
    "threshold_backward": "where", "native_dropout": "dropout", "copy": "nop", "copy_": "nop",
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


@recipe("div", "true_divide")
def _divide(b: Builder, x: Any, y: Any, **_: Any) -> Value:
    values = [v for v in (x, y) if isinstance(v, Value)]
    if not isinstance(y, Value):
        return b.op("multiply", *values)
    inverse = b.op("reciprocal", y, shape=y.shape)
    return b.op("multiply", x, inverse) if isinstance(x, Value) else inverse


@recipe("rsqrt")
def _rsqrt(b: Builder, x: Value) -> Value:
    return b.op("reciprocal", b.op("sqrt", x))


@recipe("gelu_backward", "sigmoid_backward", "tanh_backward")
def _backward(b: Builder, gradient: Value, x: Value, **_: Any) -> Value:
    return b.op("multiply", gradient, b.op("gelu_derivative", x))


@recipe("_softmax", "softmax")
def _softmax(b: Builder, x: Value, dim: int, *_: Any) -> Value:
    shape = tuple(b.out)
    kept = tuple(1 if i == dim % max(len(shape), 1) else n for i, n in enumerate(shape))
    powers = b.op("exp", b.op("subtract", x, b.reduce(x, "max", [dim], kept)))
    return b.op("multiply", powers, b.op("reciprocal", b.reduce(powers, "sum", [dim], kept), shape=kept))


@recipe("_log_softmax", "log_softmax")
def _log_softmax(b: Builder, x: Value, dim: int, *_: Any) -> Value:
    shape = tuple(b.out)
    kept = tuple(1 if i == dim % max(len(shape), 1) else n for i, n in enumerate(shape))
    below = b.op("subtract", x, b.reduce(x, "max", [dim], kept))
    total = b.reduce(b.op("exp", below), "sum", [dim], kept)
    return b.op("subtract", below, b.op("log", total, shape=kept))


@recipe("_softmax_backward_data", "_log_softmax_backward_data")
def _softmax_backward(b: Builder, gradient: Value, y: Value, dim: int, *_: Any) -> Value:
    shape = tuple(b.out)
    kept = tuple(1 if i == dim % max(len(shape), 1) else n for i, n in enumerate(shape))
    weighted = b.op("multiply", gradient, y)
    return b.op("subtract", weighted, b.op("multiply", y, b.reduce(weighted, "sum", [dim], kept)))


def normalized(b: Builder, x: Value, dims: Sequence[int], shape: Shape, kept: Shape) -> tuple[Value, Value, Value]:
    """Returns values less their mean over their deviation, the mean, and one over the deviation."""
    mean = b.reduce(x, "avg", dims, kept)
    centred = b.op("subtract", x, mean, shape=shape)
    variance = b.reduce(b.op("multiply", centred, centred, shape=shape), "avg", dims, kept)
    deviation = b.op("sqrt", b.op("add", variance, shape=kept), shape=kept)
    inverse = b.op("reciprocal", deviation, shape=kept)
    return b.op("multiply", centred, inverse, shape=shape), mean, inverse


def affine(b: Builder, x: Value, weight: Any, bias: Any) -> Value:
    x = b.op("multiply", x, weight, shape=x.shape) if isinstance(weight, Value) else x
    return b.op("add", x, bias, shape=x.shape) if isinstance(bias, Value) else x


@recipe("native_layer_norm", "layer_norm")
def _layer_norm(b: Builder, x: Value, sizes: Sequence[int], weight: Any, bias: Any, *_: Any) -> Any:
    dims = [*range(-len(sizes), 0)]
    kept = (*x.shape[: len(x.shape) - len(sizes)], *([1] * len(sizes)))
    y, mean, inverse = normalized(b, x, dims, x.shape, kept)
    y = affine(b, y, weight, bias)
    return (y, mean, inverse)


@recipe("_native_batch_norm_legit_no_training", "_native_batch_norm_legit_functional", "native_batch_norm",
        "_native_batch_norm_legit")  # fmt: skip
def _batch_norm(b: Builder, x: Value, weight: Any, bias: Any, *rest: Any) -> Any:
    channels = tuple(n if i == 1 else 1 for i, n in enumerate(x.shape))

    def wide(v: Any) -> Any:
        return v.reshaped(channels) if isinstance(v, Value) else v

    if len(rest) == 4 and isinstance(rest[0], Value):  # running mean and variance: of inference
        inverse = b.op("reciprocal", b.op("sqrt", wide(rest[1]), shape=channels), shape=channels)
        scale = b.op("multiply", inverse, *([wide(weight)] if isinstance(weight, Value) else []), shape=channels)
        shift = b.op("subtract", *([wide(bias)] if isinstance(bias, Value) else []), wide(rest[0]), shape=channels)
        return (b.op("add", b.op("multiply", x, scale, shape=x.shape), shift, shape=x.shape), None, None)
    dims = [i for i in range(len(x.shape)) if i != 1]
    y, mean, inverse = normalized(b, x, dims, x.shape, channels)
    y = affine(b, y, wide(weight), wide(bias))
    flat = (x.shape[1],)
    return (y, mean.reshaped(flat), inverse.reshaped(flat), mean.reshaped(flat), inverse.reshaped(flat))


@recipe("var", "std", "var_mean")
def _variance(b: Builder, x: Value, dims: Any = None, **_: Any) -> Any:
    shapes: list[Shape] = [*b.out] if b.out and isinstance(b.out[0], tuple) else [b.out]
    picked = [dims] if isinstance(dims, int) else [*(dims or range(len(x.shape)))]
    kept = tuple(1 if i in {d % len(x.shape) for d in picked} else n for i, n in enumerate(x.shape))
    mean = b.reduce(x, "avg", picked, kept)
    centred = b.op("subtract", x, mean, shape=x.shape)
    variance = b.reduce(b.op("multiply", centred, centred, shape=x.shape), "avg", picked, kept)
    variance = b.op("sqrt", variance, shape=kept) if b.base.endswith("std") else variance
    if len(shapes) == 2:
        return (variance.reshaped(shapes[0]), mean.reshaped(shapes[1]))
    return variance.reshaped(shapes[0])


@recipe("mm", "bmm", "matmul")
def _matmul(b: Builder, x: Value, y: Value) -> Value:
    return b.matmul(x, y)


@recipe("mv", "dot", "vdot")
def _vector(b: Builder, x: Value, y: Value) -> Value:
    x = x if len(x.shape) > 1 else x.reshaped((1, *x.shape))
    return b.matmul(x, y.reshaped((*y.shape, 1)), shape=(*x.shape[:-1], 1)).reshaped(b.out)


@recipe("addmm", "baddbmm")
def _addmm(b: Builder, bias: Value, x: Value, y: Value, **_: Any) -> Value:
    if matrix(bias.shape)[0] == 1:
        return b.matmul(x, y, bias)
    return b.op("add", b.matmul(x, y), bias)


@recipe("linear")
def _linear(b: Builder, x: Value, weight: Value, bias: Any = None) -> Value:
    turned = weight.moved(weight.shape[::-1], "transpose")
    return b.matmul(x, turned, bias if isinstance(bias, Value) else None)


@recipe("scaled_dot_product_attention", "_scaled_dot_product_flash_attention_for_cpu")
def _attention(b: Builder, q: Value, k: Value, v: Value, *rest: Any, attn_mask: Any = None, **_: Any) -> Any:
    out = b.out[0] if b.out and isinstance(b.out[0], tuple) else b.out
    shape = (*q.shape[:-1], k.shape[-2])
    turned = k.moved((*k.shape[:-2], k.shape[-1], k.shape[-2]), "transpose")
    scores = b.op("multiply", b.matmul(q, turned, shape=shape), shape=shape)
    mask = attn_mask if isinstance(attn_mask, Value) else next((x for x in rest if isinstance(x, Value)), None)
    if mask is not None:
        scores = b.op("add", scores, mask, shape=shape)
    b.out = shape
    product = b.matmul(_softmax(b, scores, -1), v, shape=tuple(out))
    return (product, *[None] * 8)


def windows(b: Builder, x: Value, kernel: Sequence[int], out: Shape) -> Value:
    """Returns what each place of the result reads of images, side by side: a product with zeros and ones."""
    n, c = x.shape[:2]
    places, taps = math.prod(out[2:]), math.prod(kernel)
    images = x
    if not x.planes and len(x.shape) == 4:
        images = Value(x.node, (n, math.prod(x.shape[2:]), c), (*x.tms, "reshape"), df=x.df)
    found = b.op("sparse_matmul", images, shape=(n, places, c * taps))
    assert isinstance(found.node, Op)
    if x.planes:
        found.node.operands[0].shape = (n, math.prod(x.shape[2:]), c)
    # Each place takes `taps` rows; a tile row of the result meets about as many of the operand, once each.
    found.node.inner = max(1, min(taps, -(-math.prod(x.shape[2:]) // TILE)))
    return found


@recipe("convolution", "_convolution", "conv2d")
def _convolution(b: Builder, x: Value, weight: Value, bias: Any = None, stride: Any = (1, 1), padding: Any = (0, 0),
                 dilation: Any = (1, 1), transposed: bool = False, output_padding: Any = (0, 0), groups: int = 1,
                 *_: Any) -> Value:  # fmt: skip
    out = tuple(b.out)
    kernel = weight.shape[2:]
    n, channels, places = out[0], out[1], math.prod(out[2:])
    simple = math.prod(kernel) == 1 and set(stride) <= {1} and not any(padding)
    inner = x.shape[1] * math.prod(kernel) // (1 if transposed else groups)
    if simple:
        read = Value(x.node, (n, places, x.shape[1]), x.tms if x.planes else (*x.tms, "reshape"), df=x.df)
    else:
        read = windows(b, x, kernel, out)
        assert isinstance(read.node, Op)
        read.node.attributes["kernel"] = [*kernel]
        read.node.attributes["stride"] = [*stride]
    weights = Value(weight.node, (inner, channels), (*weight.tms, "reshape"), df=weight.df)
    bias = bias if isinstance(bias, Value) else None
    rows = Value(read.node, (n, places, inner), read.tms, df=read.df)
    product = b.matmul(rows, weights, bias, shape=(n, places, channels))
    assert isinstance(product.node, Op)
    product.node.attributes["conv"] = [*kernel]
    return Value(product.node, out, planes=True) if len(out) == 4 else product.reshaped(out)


@recipe("convolution_backward")
def _convolution_backward(b: Builder, gradient: Value, x: Value, weight: Value, *rest: Any) -> Any:
    requested = rest[-1]
    n, channels, places = gradient.shape[0], gradient.shape[1], math.prod(gradient.shape[2:])
    flat = Value(gradient.node, (n, places, channels), gradient.tms if gradient.planes else (*gradient.tms, "reshape"))
    inner = x.shape[1] * math.prod(weight.shape[2:])
    found: list[Any] = [None, None, None]
    if requested[0]:
        weights = Value(weight.node, (channels, inner), (*weight.tms, "reshape"))
        columns = b.matmul(flat, weights, shape=(n, places, inner))
        image = (n, math.prod(x.shape[2:]), x.shape[1])
        summed = b.op("sparse_matmul", columns, shape=image)
        assert isinstance(summed.node, Op)
        summed.node.inner = max(1, math.prod(weight.shape[2:]))
        found[0] = Value(summed.node, x.shape, planes=len(x.shape) == 4)
    if requested[1]:
        read = windows(b, x, weight.shape[2:], gradient.shape)
        turned = read.moved((n, inner, places), "transpose")
        product = b.matmul(turned, flat, shape=(n, inner, channels))
        found[1] = b.reduce(product, "sum", [0], (1, inner, channels)).reshaped(weight.shape)
    if requested[2]:
        found[2] = b.reduce(gradient, "sum", [i for i in range(len(gradient.shape)) if i != 1], (channels,))
    return tuple(found)


@recipe("max_pool2d_with_indices", "max_pool2d", "avg_pool2d", "_adaptive_avg_pool2d", "adaptive_avg_pool2d")
def _pool(b: Builder, x: Value, kernel: Sequence[int], *_: Any, **__: Any) -> Any:
    several = bool(b.out) and isinstance(b.out[0], tuple)
    out = tuple(b.out[0] if several else b.out)
    taps = [kernel] * 2 if isinstance(kernel, int) else [*kernel]
    if b.base.startswith(("_adaptive", "adaptive")):
        taps = [max(1, a // max(1, o)) for a, o in zip(x.shape[2:], out[2:], strict=True)]
    read = windows(b, x, taps, out)
    kind = "max" if "max" in b.base else "avg"
    pooled = b.op(f"reduce_{kind}", read, shape=(out[0], math.prod(out[2:]), out[1]), dim="z")
    value = Value(pooled.node, out, planes=len(out) == 4)
    return (value, None) if several else value
