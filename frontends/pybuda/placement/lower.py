# SPDX-License-Identifier: Apache-2.0
"""Graphs of PyTorch's functions, which AOTAutograd has traced, as the graph that is placed."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch.fx import Graph as FxGraph
from torch.fx import Node as FxNode
from torch.utils._pytree import tree_leaves
from ttmlir.torch.importer import ON_HOST, is_call, is_known, is_supported, is_write, op_name
from ttmlir.torch.saved import MODEL_OUTPUTS

from ..capture.formats import FLOATS, DataFormat, data_format_of
from ..capture.formats import PRODUCTS as SPLIT_PRODUCTS
from ..capture.trace import SOURCE, SOURCE_TYPE
from .graph import Graph, Op, Operand, Queue
from .recipes import (
    ALONG,
    CONSTANTS,
    CONVOLUTIONS,
    MANIPULATIONS,
    MOVING,
    PRODUCTS,
    REDUCTIONS,
    SAME,
    SIMPLE,
    manipulation,
)  # fmt: skip
from .values import Builder, Precisions, Value, constant, in_epoch, letters, matrix

OF_CHIP = {name: data_format for data_format, name in FLOATS.items()}

# Ops of PyBuda, in small letters, that are one manipulation whatever functions of PyTorch they call.
DATA_MOVEMENT = frozenset({"hslice", "hstack", "vslice", "vstack", "transpose", "reshape", "index", "select", "repeat"})
# What ops are called that come from functions of other names.
LABELS = {
    "mm": "matmul", "bmm": "matmul", "addmm": "matmul", "baddbmm": "matmul", "convolution": "conv2d",
    "convolution_backward": "conv2d_backward", "cat": "concatenate", "product_by_parts": "matmul",
}  # fmt: skip


def label_of(function: str) -> str:
    """Returns what ops of a function of PyTorch are called."""
    return LABELS.get(function, SIMPLE.get(function, function)).lstrip("_")


def function_of(node: FxNode) -> str:
    kind = op_name(node.target).split(".")
    return kind[1] if kind[0] in ("prims", "pybuda") else kind[0]


def source_of(node: FxNode) -> tuple[str, str]:
    custom = node.meta.get("custom") or {}
    return custom.get(SOURCE, ""), custom.get(SOURCE_TYPE, "")


def makes_ops(node: FxNode) -> bool:
    """Returns whether a node becomes ops of the netlist: it is neither a constant nor a movement, and runs on the
    chip."""
    if not is_call(node) or is_known(node) or node.meta.get(ON_HOST) or not node.all_input_nodes:
        return False
    return function_of(node) not in CONSTANTS | SAME | MANIPULATIONS and not is_write(node) and is_supported(node)


def node_names(graph: FxGraph, epoch_type: str, scope: str = "") -> dict[FxNode, str]:
    """Returns what ops of the netlist that nodes become are called; where a node becomes several, or several nodes are
    an op of the module, their names begin with it.

    scope: is a part of names of ops that have none in the module.
    """
    names: dict[FxNode, str] = {}
    numbers = itertools.count()
    for node in graph.nodes:
        if source := source_of(node)[0]:
            names[node] = in_epoch(source, epoch_type)
        elif makes_ops(node):
            label = label_of(function_of(node))
            label = f"{scope}_{label}" if scope else label
            names[node] = in_epoch(f"{label}_{next(numbers)}", epoch_type)
    return names


def values_in(arguments: Sequence[Any]) -> list[Value]:
    found = []
    for x in arguments:
        if isinstance(x, Value):
            found.append(x)
        elif isinstance(x, list | tuple):
            found += values_in(x)
    return found


def shape_of(fake: Any) -> Any:
    """Returns the shape of a result, or of each."""
    if isinstance(fake, torch.Tensor):
        return tuple(int(n) for n in fake.shape)
    if isinstance(fake, tuple | list):
        return tuple(shape_of(x) for x in fake)
    return ()


class Lowering:
    """One module's graphs, forward and backward, one after the other.

    values: what each node of PyTorch's graphs is, by its name: a backward graph takes some over from the forward one.
    """

    def __init__(self, graph: Graph, precisions: Precisions) -> None:
        self.graph, self.precisions = graph, precisions
        self.values: dict[str, Any] = {}
        self.scope = ""  # in names of ops
        self.names: dict[FxNode, str] = {}  # of what nodes become
        self.entries: dict[str, Value] = {}  # what ops of PyBuda that only move elements are given

    def format_of(self, fake: torch.Tensor) -> DataFormat:
        if fake.dtype.is_floating_point:
            return self.precisions.out("", "")
        return data_format_of(fake.dtype) if not fake.dtype.is_complex else DataFormat.Float32

    def run(self, fx: FxGraph, epoch_type: str, arguments: Mapping[str, Value]) -> list[Any]:
        """Lowers a graph, and returns what it returns.

        arguments: values of placeholders by their names; those of no name here are inputs of the chip.
        """
        builder = Builder(self.graph, self.precisions, epoch_type)
        self.names = node_names(fx, epoch_type, self.scope)
        for node in fx.nodes:
            if node.op == "placeholder":
                name = str(node.target)
                if name in arguments:
                    self.values[node.name] = arguments[name]
                elif name in self.values:
                    self.values[node.name] = self.values[name]
                elif node.name not in self.values and isinstance(node.meta.get("val"), torch.Tensor):
                    self.values[node.name] = self.from_host(node, node.meta["val"], name)
            elif node.op == "get_attr":
                fake = node.meta.get("val")
                shape = shape_of(fake) if isinstance(fake, torch.Tensor) else ()
                df = self.format_of(fake) if isinstance(fake, torch.Tensor) else DataFormat.Float32
                self.values[node.name] = constant(self.graph, f"constant_{node.name}", shape, df)
            elif node.op == "call_function":
                self.values[node.name] = self.call(builder, node)
            elif node.op == "output":
                builder.finish()
                returned = node.args[0] if isinstance(node.args[0], Sequence) else [node.args[0]]
                return [self.value(x) for x in returned]
        return []

    def value(self, argument: Any) -> Any:
        if isinstance(argument, FxNode):
            return self.values.get(argument.name)
        if isinstance(argument, list | tuple):
            return [self.value(x) for x in argument]
        return argument

    def from_host(self, node: FxNode, fake: torch.Tensor, name: str) -> Value:
        return Value(self.graph.queue(name, shape_of(fake), self.format_of(fake), "input"), shape_of(fake))

    def call(self, b: Builder, node: FxNode) -> Any:
        fake = node.meta.get("val")
        if is_known(node):
            return fake
        if node.target is operator.getitem:
            source, number = self.value(node.args[0]), node.args[1]
            there = isinstance(source, list | tuple) and isinstance(number, int) and number < len(source)
            return source[number] if there else None
        name = function_of(node)
        arguments = [self.value(x) for x in node.args]
        keywords = {key: self.value(x) for key, x in node.kwargs.items()}
        if node.meta.get(ON_HOST) or not is_supported(node):
            return self.on_host(b, node, [*arguments, *keywords.values()], fake)
        out = shape_of(fake)
        source, source_type = source_of(node)
        if name == "round_to":
            return self.rounded(*arguments)
        b.begin(name, self.names.get(node) or label_of(name), out, source, source_type.lower())
        if source and source not in b.sources:
            b.sources[source] = []
        try:
            return self.lowered(b, node, name, out, arguments, keywords)
        finally:
            for op in b.made:
                op.node = node.name
                op.is_product = name in SPLIT_PRODUCTS
            b.end()

    def lowered(self, b: Builder, node: FxNode, name: str, out: Any, arguments: list[Any], keywords: Any) -> Any:
        values = values_in([*arguments, *keywords.values()])
        if is_write(node):
            written = arguments[0].node if isinstance(arguments[0], Value) else None
            return self.write(b, arguments[1], written)
        if name in CONSTANTS or not values:
            fake = next((x for x in tree_leaves(node.meta.get("val")) if isinstance(x, torch.Tensor)), None)
            return None if fake is None else constant(self.graph, f"constant_{node.name}", shape_of(fake),
                                                      self.format_of(fake))  # fmt: skip
        first = values[0]
        if b.kind in DATA_MOVEMENT:
            self.entries.setdefault(b.source, first)
            if name in ("cat", "stack"):
                return self.entries[b.source].moved(out, f"{b.kind}: {len(values)}")
        if name in SAME:
            return first.reshaped(out)
        if name in MANIPULATIONS:
            if out and isinstance(out[0], tuple):
                return [manipulation(name, first, s, arguments[1:], i) for i, s in enumerate(out)]
            return manipulation(name, first, out, arguments[1:])
        if name in REDUCTIONS:
            return self.reduced(b, name, first, out, arguments[1:], keywords)
        if name in MOVING:
            several = bool(out) and isinstance(out[0], tuple)
            found = b.op(MOVING[name], *values, shape=out[0] if several else out, dim="")
            return [found] * len(out) if several else found
        if name in PRODUCTS:
            factors: list[Any] = [
                arguments[n] if n is not None and n < len(arguments) else None for n in PRODUCTS[name]
            ]
            x, y, bias = factors
            more = [bias] if isinstance(bias, Value) else []
            return b.product("matmul", matrix(x.shape)[1] if len(x.shape) > 1 else x.shape[0], x, y, *more)
        if name in CONVOLUTIONS:
            return convolution(b, out, *arguments)
        if name == "convolution_backward":
            return convolution_backward(b, *arguments)
        several = bool(out) and isinstance(out[0], tuple)
        shape = out[0] if several else out
        dim = {}
        if name in ALONG and shape:
            dim["dim"] = letters([arguments[ALONG[name]] % len(shape)], len(shape))
        found = b.op(SIMPLE.get(name, name).lstrip("_"), *values, shape=shape, **dim)
        return [found] * len(out) if several else found

    @staticmethod
    def reduced(b: Builder, name: str, x: Value, out: Any, arguments: list[Any], keywords: Any) -> Any:
        given = keywords.get("dim", arguments[0] if arguments else None)
        dims = [given] if isinstance(given, int) else [*(given or range(len(x.shape)))]
        several = bool(out) and isinstance(out[0], tuple)
        shape = out[0] if several else out
        if several or not isinstance(given, int | list | tuple | None):
            return [b.reduce(x, REDUCTIONS[name], dims, shape)] * len(out)
        return b.reduce(x, REDUCTIONS[name], dims, shape)

    def rounded(self, x: Any, name: str, read: bool = False) -> Any:
        """Returns a result in its format, or as one op reads it."""
        if isinstance(x, Value) and read:
            return replace(x, df=OF_CHIP[name])
        if isinstance(x, Value) and not x.tms and isinstance(x.node, Op | Queue):
            x.node.df = OF_CHIP[name]
        return x

    def on_host(self, b: Builder, node: FxNode, arguments: list[Any], fake: Any) -> Any:
        """Returns an op that PyTorch runs: its operands leave the chip, and its results come back."""
        for x in values_in(arguments):
            if isinstance(x.node, Op):
                self.output(b, x, f"host_{node.name}_{x.node.type}", "output")
        if source := source_of(node)[0]:
            self.graph.aliases[source] = "PyTorch runs it, on the host"
        results = [fake] if isinstance(fake, torch.Tensor) else [*(fake or [])]
        found = [
            self.from_host(node, x, f"host_{node.name}" + (f"_{i}" if len(results) > 1 else ""))
            if isinstance(x, torch.Tensor)
            else None
            for i, x in enumerate(results)
        ]
        return found[0] if isinstance(fake, torch.Tensor) else found

    def write(self, b: Builder, x: Any, target: Any) -> Any:
        """Writes a new value to a buffer of the module."""
        if isinstance(x, Value) and isinstance(target, Queue):
            op = self.computed(b, x)
            target.producer = op
        return x

    def computed(self, b: Builder, x: Value) -> Op:
        """Returns the op whose result a value is; one that copies where there is none, or elements move behind it."""
        if isinstance(x.node, Op) and not x.tms:
            return x.node
        operand = Operand(x.node, x.shape, x.tms)
        copy = Op(self.graph.unique(f"nop_{x.node.name}"), x.shape, x.node.df, "nop", [operand], b.epoch_type)
        self.graph.ops.append(copy)
        return copy

    def output(self, b: Builder, x: Value, name: str, kind: str) -> Queue:
        return self.graph.queue(name, x.shape, x.node.df, kind, self.computed(b, x))

    def keep(self, epoch_type: str) -> Builder:
        """Returns a builder for what is added behind a graph."""
        return Builder(self.graph, self.precisions, epoch_type)


def convolution(
    b: Builder, out: Any, x: Value, weight: Value, bias: Any = None, stride: Any = (1, 1), padding: Any = (0, 0),
    dilation: Any = (1, 1), transposed: bool = False, output_padding: Any = (0, 0), groups: int = 1, *_: Any,
) -> Value:  # fmt: skip
    """Adds a convolution: a product of windows and weights."""
    kernel = weight.shape[2:]
    inner = x.shape[1] * math.prod(kernel) // (1 if transposed else groups)
    weights = Value(weight.node, (inner, out[1]), (*weight.tms, "reshape"), df=weight.df)
    more = [bias] if isinstance(bias, Value) else []
    return b.product("conv2d", inner, x, weights, *more, shape=out, kernel=[*kernel], stride=[*stride])


def convolution_backward(b: Builder, gradient: Value, x: Value, weight: Value, *rest: Any) -> Any:
    """Adds what a convolution gives for its image, its weights and its bias, each where it is requested."""
    found: list[Any] = [None, None, None]
    taps, places = math.prod(weight.shape[2:]), gradient.shape[0] * math.prod(gradient.shape[2:])
    if rest[-1][0]:
        found[0] = b.product("conv2d", gradient.shape[1] * taps, gradient, weight, shape=x.shape)
    if rest[-1][1]:
        found[1] = b.product("conv2d", places, x, gradient, shape=weight.shape)
    if rest[-1][2]:
        dims = [i for i in range(len(gradient.shape)) if i != 1]
        found[2] = b.reduce(gradient, "sum", dims, (gradient.shape[1],))
    return tuple(found)


def model_outputs(fx: FxGraph, results: int) -> tuple[int, int]:
    """Returns where the results of the modules begin and end among what a forward graph returns."""
    (output,) = [n for n in fx.nodes if n.op == "output"]
    returned = output.args[0] if isinstance(output.args[0], Sequence) else [output.args[0]]
    end = output.meta.get(MODEL_OUTPUTS, len(returned))
    return max(0, end - results), end
