# SPDX-License-Identifier: Apache-2.0
"""FX graphs of aten ops as TTIR modules."""

from __future__ import annotations

import operator
import re
import traceback
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ttmlir import ir, passes
from ttmlir.dialects import func

import torch
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_flatten, tree_map

from . import ops  # noqa: F401  fills RULES
from .errors import UnsupportedError
from .growth import limit_result
from .lowering import RULES, Draw, HostNumber, Lowering, Number, Value
from .lowering import described as value_of
from .ops.caches import cache_updates, update_cache
from .saved import MODEL_OUTPUTS
from .strided import read_owners
from .types import ELEMENT_TYPES, element_type

# What a function's argument is, as `ttcore.argument_type` has it.
INPUT, PARAMETER = "input", "parameter"


@dataclass(frozen=True)
class Argument:
    """An output of a graph that is one of its arguments, by number: no copy of it, and nothing of the program's."""

    number: int


@dataclass
class Imported:
    """A module of one function @main.

    draws: what the host makes before each run, for the inputs behind those of the graph.
    results: for each output of the graph, the number of the function's result, or what the output is when that is known
        now (None, a number, an `Argument`).
    writes: (placeholder, by number; number of the function's result) of the arguments that the graph writes.
    updated: placeholders, by number, that the program writes where they are.
    limits: (number of the function's result, an f32; what it is of): integers fit into 32 bits while it is small.
    filled: numbers that tensors are filled with, in the order of ops.
    names: of what the graph returns and then of what it writes, with their ops, for errors.
    """

    module: ir.Module
    results: list[int | None]
    known: list[Any] = field(default_factory=list)
    draws: list[Draw | HostNumber] = field(default_factory=list)
    writes: list[tuple[int, int]] = field(default_factory=list)
    limits: list[tuple[int, str]] = field(default_factory=list)
    updated: list[int] = field(default_factory=list)
    filled: list[Number] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


# Marks nodes that PyTorch runs: a rule or a pass refused them. The value is the reason.
ON_HOST = "tt_on_host"
# Of nodes: attributes of the ops of their lowering, by name, as text (`#ttnn.device_compute_kernel_config<...>`).
OP_ATTRIBUTES = "tt_op_attributes"


def op_name(target: Any) -> str:
    """Returns name of an overload as the rules have it: "add.Tensor", "relu"; of another namespace with it:
    "prims.iota"."""
    name = str(target).removeprefix("aten.")
    return name.removesuffix(".default")


def is_call(node: Node) -> bool:
    """Returns whether a node is an op; taking one of several results is none, nor is arithmetic of sizes."""
    return node.op == "call_function" and node.target is not operator.getitem and not is_known(node)


def is_known(node: Node) -> bool:
    """Returns whether a node is a number, known for the sizes that the graph is compiled for."""
    return isinstance(node.meta.get("val"), int | float)


# Ops that draw, and that PyTorch does not mark.
UNMARKED = {torch.ops.aten.binomial.default, torch.ops.aten._sample_dirichlet.default}


def is_draw(node: Node) -> bool:
    """Returns whether an op takes numbers of PyTorch's generator."""
    op = node.target
    if not isinstance(op, torch._ops.OpOverload):
        return False
    if op is torch.ops.aten.native_dropout.default:
        return node.args[2] is not False and node.args[1] not in (0, 1)
    if torch.Tag.nondeterministic_seeded not in op.tags and op not in UNMARKED:
        return False
    given = dict(zip((x.name for x in op._schema.arguments), node.args, strict=False)) | node.kwargs
    chances = [given.get(x.name, x.default_value) for x in op._schema.arguments if x.name == "dropout_p"]
    return chances != [0.0]  # attention has a mask only with a chance


def is_write(node: Node) -> bool:
    """Returns whether a node writes to an argument of the graph; AOTAutograd makes such nodes the last ones."""
    if node.target is not torch.ops.aten.copy_.default:
        return False
    written = node.args[0]
    return isinstance(written, Node) and written.op == "placeholder"


def is_supported(node: Node) -> bool:
    """Returns whether a node of a graph has a rule, and tensors of types that the chip has."""
    if node.meta.get(ON_HOST):
        return False
    if node.op != "call_function" or is_write(node) or is_known(node):
        return True
    if node.target is operator.getitem:  # what an op gives that PyTorch runs is PyTorch's
        if not is_supported(node.all_input_nodes[0]):
            return False
    elif op_name(node.target) not in RULES:
        return False
    read = [n.meta.get("val") for n in node.all_input_nodes] if node.target is not operator.getitem else []
    values, _ = tree_flatten([node.meta.get("val"), read])
    return all(value.dtype in ELEMENT_TYPES for value in values if isinstance(value, torch.Tensor))


_FRAME = re.compile(r'File "([^"]*)", line (\d+)')


def source_line(node: Node) -> tuple[str, int] | None:
    """Returns the innermost line of Python that made a node, outside of PyTorch."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    mine = [f for f in frames if "/torch/" not in f[0].replace("\\", "/")] or frames
    return (mine[-1][0], int(mine[-1][1])) if mine else None


def location(node: Node, context: ir.Context) -> ir.Location:
    place = source_line(node)
    inner = ir.Location.file(place[0], place[1], 0, context) if place else ir.Location.unknown(context)
    return ir.Location.name(node.name, inner, context)


def described(node: Node) -> str:
    """Returns an op with its operands and its place, for errors."""

    def text(value: Any) -> str:
        if isinstance(value, Node):
            meta = value.meta.get("val")
            return (
                f"{meta.dtype}{list(meta.shape)}".removeprefix("torch.")
                if isinstance(meta, torch.Tensor)
                else value.name
            )
        return repr(value)

    operands = ", ".join([*map(text, node.args), *(f"{k}={text(v)}" for k, v in node.kwargs.items())])
    place = source_line(node)
    where = f"{place[0]}:{place[1]}: " if place else ""
    return f"{where}{node.target}({operands})"


def reason_of(error: Exception) -> str:
    """Returns an error's message in one line; if it is empty, the line of Python that raised it."""
    if isinstance(error, ir.MLIRError):
        found = error.error_diagnostics
        return found[0].message if found else str(error).strip().partition("\n")[0]
    text = str(error)
    if isinstance(error, UnsupportedError):
        return text
    return f"{type(error).__name__}: {text or traceback.extract_tb(error.__traceback__)[-1].line}"


@contextmanager
def blame(node: Node) -> Iterator[None]:
    """Makes what goes wrong inside an `UnsupportedError` of this node: whatever a rule did not foresee is PyTorch's to
    run, too, and not an error of the user's.
    """
    try:
        yield
    except Exception as error:
        blamed = UnsupportedError(f"{described(node)}: {reason_of(error)}")
        blamed.node = node
        raise blamed from error


def import_graph(
    graph_module: GraphModule,
    parameters: Iterable[int] = (),
    context: ir.Context | None = None,
    constants: Mapping[int, torch.Tensor] | None = None,
    checks: bool = False,
    sizes: Sequence[int] = (),
    varying: Container[int] | None = None,
) -> Imported:
    """Returns the TTIR module of a functional graph of aten ops, with fake tensors in `meta["val"]`.

    Args:
        parameters: placeholders, by number, whose values stay: weights. They become parameters of the program.
        constants: placeholders, by number, whose values become a part of the module.
        checks: results are added that say whether sums of 64-bit integers fit into 32 bits (`Imported.limits`).
        sizes: for each of them the function gets a last argument [size, 0], which it does not use.
        varying: of a program that leaves sizes open: numbers that it fills tensors with (`Imported.filled`), by place,
            which depend on them and become attributes of ops.
    Raises:
        UnsupportedError: an op or type that has no form in TTIR; names it, its operands and the line of Python.
    """
    read_owners(graph_module.graph)
    context = context or ir.Context()
    with context, ir.Location.unknown():
        importer = _Importer(graph_module, frozenset(parameters), context, constants or {})
        importer.lowering.checks = checks
        if varying is not None:
            importer.lowering.varying, importer.lowering.is_open = varying, True
        return importer.run(sizes)


class _Importer:
    def __init__(
        self,
        graph_module: GraphModule,
        parameters: frozenset[int],
        context: ir.Context,
        constants: Mapping[int, torch.Tensor],
    ) -> None:
        self.graph_module = graph_module
        self.constants = constants
        self.parameters = parameters
        self.context = context
        self.lowering = Lowering(context)
        self.values: dict[Node, Any] = {}
        self.written: dict[Node, Value] = {}
        self.updates = cache_updates(graph_module.graph)

    def run(self, sizes: Sequence[int]) -> Imported:
        placeholders = [n for n in self.graph_module.graph.nodes if n.op == "placeholder"]
        numbers = {node: i for i, node in enumerate(placeholders)}
        tensors = [
            n for n in placeholders if isinstance(n.meta.get("val"), torch.Tensor) and numbers[n] not in self.constants
        ]
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            function = func.FuncOp("main", ([self.type_of(n) for n in tensors], []))
        block = function.add_entry_block()
        attributes = []
        for node, argument in zip(tensors, block.arguments, strict=True):
            fake = node.meta["val"]
            self.values[node] = Value(argument, tuple(fake.shape), fake.dtype)
            stays = numbers[node] in self.parameters and node not in self.updates.values()
            kind = PARAMETER if stays else INPUT
            attributes.append({"ttcore.argument_type": ir.Attribute.parse(f"#ttcore.argument_type<{kind}>")})
            argument.set_location(location(node, self.context))
        self.lowering.block = block
        with ir.InsertionPoint(block):
            for node in placeholders:
                if numbers[node] in self.constants:
                    with location(node, self.context):
                        self.values[node] = self.lowering.constant(self.constants[numbers[node]])
                elif node not in self.values:
                    self.values[node] = passed_on(node.meta.get("val"), numbers[node])
            outputs = self.body()
            for place, node in self.kept_arguments():
                outputs[place] = Argument(numbers[node])
            returned = [x for x in outputs if isinstance(x, Value)]
            writes = [(numbers[node], len(returned) + i) for i, node in enumerate(self.written)]
            returned += self.written.values()
            limits = [(len(returned) + i, text) for i, (_, text) in enumerate(self.lowering.limits)]
            returned += [value for value, _ in self.lowering.limits]
            for size in sizes:
                block.add_argument(self.lowering.type((size, 0), torch.uint8), ir.Location.unknown())
            func.ReturnOp([x.ir for x in returned])
        function.attributes["function_type"] = ir.TypeAttr.get(
            ir.FunctionType.get([a.type for a in block.arguments], [x.ir.type for x in returned])
        )
        drawn = {"ttcore.argument_type": ir.Attribute.parse(f"#ttcore.argument_type<{INPUT}>")}
        attributes += [drawn] * (len(self.lowering.draws) + len(sizes))
        function.arg_attrs = [ir.DictAttr.get(a) for a in attributes]
        self.configure(block)
        if self.lowering.has_stablehlo:
            passes.stablehlo_to_ttir_pipeline(module)
        count = iter(range(len(returned)))
        results = [next(count) if isinstance(x, Value) else None for x in outputs]
        known = [None if isinstance(x, Value) else x for x in outputs]
        updated = [numbers[node] for node in self.updates.values()]
        names = [f"{n.name} ({n.target})" if isinstance(n, Node) else str(n) for n in (*self.returned(), *self.written)]
        return Imported(
            module, results, known, self.lowering.draws, writes, limits, updated, self.lowering.filled, names
        )

    def returned(self) -> list[Any]:
        """Returns the results of the graph: nodes, and known numbers."""
        (output,) = [n for n in self.graph_module.graph.nodes if n.op == "output"]
        return list(output.args[0]) if isinstance(output.args[0], Sequence) else [output.args[0]]

    def type_of(self, node: Node) -> ir.Type:
        fake = node.meta["val"]
        with blame(node):
            return ir.RankedTensorType.get([int(n) for n in fake.shape], element_type(fake.dtype, self.context))

    def body(self) -> list[Any]:
        for node in self.graph_module.graph.nodes:
            if node.op == "output":
                outputs = self.values_of(node.args[0])
                return list(outputs) if isinstance(outputs, Sequence) else [outputs]
            if node.op == "get_attr":
                with location(node, self.context), blame(node):
                    self.values[node] = self.attribute(node)
            elif node.op == "call_function":
                with location(node, self.context), blame(node):
                    self.values[node] = self.write(node) if is_write(node) else self.call(node)
            elif node.op != "placeholder":
                raise UnsupportedError(f"{described(node)}: a graph of aten ops has no node '{node.op}'")
        raise UnsupportedError("the graph has no output")

    def configure(self, block: ir.Block) -> None:
        """Gives ops with operands the attributes of the node whose name is in their location."""
        nodes = self.graph_module.graph.nodes
        attributes = {node.name: node.meta[OP_ATTRIBUTES] for node in nodes if OP_ATTRIBUTES in node.meta}
        if not attributes:
            return
        for op in block.operations:
            made_for = op.location.name_str if op.location.is_a_name() else ""
            if made_for in attributes and len(op.operation.operands):
                for name, text in attributes[made_for].items():
                    op.attributes[name] = ir.Attribute.parse(text, self.context)

    def kept_arguments(self) -> list[tuple[int, Node]]:
        """The numbers of outputs that are unchanged arguments: those that the backward graph receives, and integers of
        any kind that AOTAutograd derives from the results (offsets of nested tensors are known by identity).
        """
        (output,) = [n for n in self.graph_module.graph.nodes if n.op == "output"]
        returned = self.returned()
        first = output.meta.get(MODEL_OUTPUTS, len(returned))
        return [
            (place, node)
            for place, node in enumerate(returned)
            if isinstance(node, Node)
            and node.op == "placeholder"
            and isinstance(self.values[node], Value)
            and (place >= first or not self.values[node].dtype.is_floating_point)
            and node not in self.written
        ]

    def attribute(self, node: Node) -> Any:
        value = self.graph_module
        for name in str(node.target).split("."):
            value = getattr(value, name)
        return self.lowering.constant(value) if isinstance(value, torch.Tensor) else value

    def write(self, node: Node) -> Value:
        written: Any = node.args[0]
        if node.args[1] in self.updates:
            return self.values[written]
        fake = written.meta["val"]
        lowering = self.lowering
        value = lowering.expand(lowering.cast(self.values_of(node.args[1]), fake.dtype), tuple(fake.shape))
        self.written[written] = value
        return value

    def call(self, node: Node) -> Any:
        if node.target is operator.getitem:
            source, position = node.args
            return self.values_of(source)[position]
        fake = node.meta.get("val")
        if not isinstance(fake, torch.Tensor | tuple | list):
            return static(fake)
        rule = RULES.get(op_name(node.target))
        if rule is None:
            raise UnsupportedError("no rule lowers this op to TTIR")
        lowering = self.lowering
        lowering.node, lowering.fake, lowering.used = node, fake, read_results(node)
        lowering.given = list(map(value_of, node.args))
        if node in self.updates:
            cache, _, index, source = map(self.values_of, node.args)
            return update_cache(lowering, cache, index, source)
        tensors = [x for x in tree_flatten(fake)[0] if isinstance(x, torch.Tensor)]
        if tensors and not any(x.numel() for x in tensors):
            # Nothing is computed, whatever the op: not all kernels take no elements.
            return tree_map(lambda x: lowering.full(x.shape, 0, x.dtype) if isinstance(x, torch.Tensor) else x, fake)
        args, kwargs = self.values_of(node.args), self.values_of(dict(node.kwargs))
        result = rule(lowering, *args, **kwargs)
        self.check(fake, result)
        limit_result(lowering, op_name(node.target), args, kwargs)
        return result

    def check(self, fake: Any, result: Any) -> None:
        """Checks that the result of a rule has the metadata that PyTorch states, where it is used."""
        single = isinstance(fake, torch.Tensor)
        pairs = (
            [(None, fake, result)] if single else [(i, *pair) for i, pair in enumerate(zip(fake, result, strict=False))]
        )
        for number, want, have in pairs:
            if (number is not None and not self.lowering.wants(number)) or not isinstance(want, torch.Tensor):
                continue
            if have.shape != tuple(want.shape) or have.dtype is not want.dtype:
                raise AssertionError(
                    f"the rule gives {have.dtype}{list(have.shape)}, PyTorch {want.dtype}{list(want.shape)}"
                )

    def values_of(self, argument: Any) -> Any:
        if isinstance(argument, Node):
            return self.values[argument]
        if isinstance(argument, Mapping):
            return {name: self.values_of(value) for name, value in argument.items()}
        if isinstance(argument, Sequence) and not isinstance(argument, str):
            return [self.values_of(value) for value in argument]
        return argument


def read_results(node: Node) -> frozenset[int] | None:
    """Returns results of an op with several that have users; None for all."""
    found = set()
    for user in node.users:
        if user.target is not operator.getitem:
            return None
        if user.users:
            found.add(user.args[1])
    return frozenset(found)


def passed_on(value: Any, number: int) -> Any:
    """Returns an argument that is not a tensor: a number, or a size of nested tensors, which can only be a result."""
    if isinstance(value, torch.SymInt) and getattr(value.node, "hint", None) is None:
        return Argument(number)
    return static(value)


def static(value: Any) -> Any:
    """Returns a number of the graph, which is known for the shapes that it was made for."""
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        hint = getattr(value.node, "hint", None)
        if hint is None:
            raise UnsupportedError("a size that depends on values")
        return hint
    return value


Compile = Callable[[GraphModule, Sequence[Any]], Callable[..., Any]]
