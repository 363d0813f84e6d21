# SPDX-License-Identifier: Apache-2.0
"""ONNX graphs as modules of StableHLO and TTIR, for given sizes of the inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from ttmlir import ir
from ttmlir.dialects import func
from ttmlir.sizes import OpenSizeError

import onnx
import onnx.defs
from onnx import AttributeProto, helper, numpy_helper

from . import ops  # noqa: F401  fills OPS
from .decisions import Folded
from .emitter import Emitter
from .errors import Expand, NoForm, OnnxError, Refused, UnsupportedOpError
from .files import dense_of
from .folding import LARGEST, evaluate, is_of, small_results
from .model import Model, domain_of
from .registry import OPS, REFUSED, Node
from .values import F32, Array, Given, Optional, Value
from .values import Sequence as Items

MOST_VARYING = 64  # elements of an array of sizes
DEEPEST = 64  # of graphs and functions inside of others


@dataclass
class Trace:
    """The shape of each value of an import, and its elements where they were known.

    folded: nodes that were computed and can decide something, by their first outputs.
    """

    values: dict[str, tuple[tuple[int, ...], Array | None]] = field(default_factory=dict)
    folded: dict[str, Folded] = field(default_factory=dict)


@dataclass
class Imported:
    """A module of one function @main: the model's inputs, then `parameters`, arrays by name.

    outputs: names and types of the results. counts: of each output of the model, how many results a sequence is, None
    for a tensor. labels: nodes by the names that locations have.
    """

    module: ir.Module
    parameters: list[tuple[str, Array]]
    outputs: list[tuple[str, Value]]
    trace: Trace
    counts: list[int | None] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)


class Scope:
    """Names of one graph, and of those around it. prefix: makes names of different scopes different."""

    def __init__(self, opsets: Mapping[str, int], around: Scope | None = None, prefix: str = "") -> None:
        self.around, self.prefix, self.opsets = around, prefix, opsets
        self.values: dict[str, Given] = {}

    def find(self, name: str) -> Given:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            scope = scope.around
        raise Refused(f"no value is called {name!r}")


class Graph(Emitter):
    """The emitter, with what rules of control flow need: the graphs that are attributes of nodes."""

    def __init__(self, context: ir.Context, importer: Importer) -> None:
        super().__init__(context)
        self.importer = importer
        self.scope: Scope = Scope({})
        self.where = ""  # the first output of the current node

    def traced(self, name: str) -> list[tuple[tuple[int, ...], Array | None]]:
        """Returns shapes and elements of a value of the current scope in the imports for other sizes; empty if
        unknown."""
        found = [trace.values.get(self.scope.prefix + name) for trace in self.importer.traces]
        return [x for x in found if x is not None] if None not in found else []

    def subgraph(self, graph: onnx.GraphProto, given: Sequence[Given], label: str = "") -> list[Given]:
        """Returns the outputs of a graph inside of the current node, imported at the current insertion point."""
        return self.importer.subgraph(graph, given, self.scope, label)

    def seen_elements(self, x: Value) -> list[Array]:
        found = [trace.values[x.name] for trace in self.importer.traces if x.varying and x.name in trace.values]
        return [known for shape, known in found if known is not None and shape == x.shape]

    def seen_sizes(self, x: Value, dim: int) -> list[int]:
        found = [trace.values[x.name][0] for trace in self.importer.traces if x.name in trace.values]
        return [shape[dim] for shape in found if len(shape) == x.rank]

    def is_open_size(self, x: Value, dim: int) -> bool:
        traces = self.importer.traces
        known = [trace.values[x.name][0] for trace in traces if x.name in trace.values]
        return bool(traces) and (len(known) < len(traces) or len({shape[dim] for shape in known}) > 1)


def import_model(
    model: Model,
    shapes: Mapping[str, Sequence[Any]],
    known: Mapping[str, Array] | None = None,
    traces: Sequence[Trace] = (),
    inside: bool = False,
) -> Imported:
    """Returns the module of a model for these shapes of its inputs, in the current context.

    Args:
        shapes: of each input; of a sequence a list of shapes.
        known: inputs whose elements are known, and which are no arguments of the program.
        traces: of imports for other sizes; then the program is to be taken for all sizes. Numbers that differ in them
            become numbers of the program.
        inside: weights are constants of the module.
    Raises:
        OnnxError: names file, node and reason.
        OpenSizeError: a size decides what is computed.
    """
    return Importer(model, traces).run(shapes, known or {}, inside)


class Importer:
    def __init__(self, model: Model, traces: Sequence[Trace] = ()) -> None:
        self.model, self.traces = model, traces
        self.trace = Trace()
        self.context: ir.Context = ir.Context.current
        self.graph = Graph(self.context, self)
        self.depth = 0
        self.labels: dict[str, str] = {}

    def run(self, shapes: Mapping[str, Sequence[Any]], known: Mapping[str, Array], inside: bool) -> Imported:
        model, g = self.model, self.graph
        g.is_open, g.inside = bool(self.traces), inside
        scope = Scope(model.opsets)
        with ir.Location.unknown(self.context):
            module = ir.Module.create()
            given = [x for x in model.inputs if x.name not in known]
            listed = [(x, shape) for x in given for shape in (shapes[x.name] if x.is_sequence else [shapes[x.name]])]
            with self.blamed("input", ""):
                types = [g.type(shape, x.dtype) for x, shape in listed]
            with ir.InsertionPoint(module.body):
                function = func.FuncOp("main", (types, []))
            block = g.block = function.add_entry_block([ir.Location.name(x.name) for x, _ in listed])
            arguments = [
                Value(tuple(map(int, shape)), x.dtype, argument)
                for (x, shape), argument in zip(listed, block.arguments, strict=True)
            ]
            g.names |= {x.name for x in given}
            rest = iter(arguments)
            for x in given:
                value: Given = (
                    Items(tuple(next(rest) for _ in shapes[x.name]), x.dtype) if x.is_sequence else next(rest)
                )
                scope.values[x.name] = self.seen(scope, x.name, value)
            for name, array in (*model.weights.items(), *known.items()):
                scope.values[name] = Value.of(array, name)
            with ir.InsertionPoint(block):
                self.nodes(model.proto.graph.node, scope)
                outputs, counts = [], list[int | None]()
                for name in model.outputs:
                    with self.blamed(f"output {name}", ""):
                        value = scope.find(name)
                        value = value.value if isinstance(value, Optional) else value
                        items = value.items if isinstance(value, Items) else [value]
                        if not all(isinstance(x, Value) for x in items):
                            raise Refused("is an optional without a value; expected tensors")
                        counts.append(len(items) if isinstance(value, Items) else None)
                        outputs += [(name, Value(x.shape, x.dtype, g.ir(x))) for x in items]
                func.ReturnOp([value.ir for _, value in outputs])
            function.attributes["function_type"] = ir.TypeAttr.get(
                ir.FunctionType.get([a.type for a in block.arguments], [v.ir.type for _, v in outputs])
            )
            kinds = ["input"] * len(listed) + ["parameter"] * len(g.parameters)
            function.arg_attrs = [
                ir.DictAttr.get({"ttcore.argument_type": g.attribute(f"#ttcore.argument_type<{kind}>")})
                for kind in kinds
            ]
        return Imported(module, g.parameters, outputs, self.trace, counts, self.labels)

    #
    # Nodes
    #

    @contextmanager
    def blamed(self, what: str, place: str) -> Iterator[None]:
        try:
            yield
        except Refused as error:
            kind = UnsupportedOpError if isinstance(error, NoForm) else OnnxError
            raise kind(f"{self.model.path}: {what}{place}: {error}") from None
        except (OnnxError, OpenSizeError):
            raise
        except Exception as error:  # whatever a rule did not foresee of a damaged node
            reason = (str(error).strip() or "no reason given").splitlines()[0]
            raise OnnxError(f"{self.model.path}: {what}{place}: {type(error).__name__}: {reason}") from error

    def nodes(self, protos: Sequence[onnx.NodeProto], scope: Scope) -> None:
        for i, proto in enumerate(protos):
            name = proto.name or next(filter(None, proto.output), "")
            op = ".".join(filter(None, (domain_of(proto.domain), proto.op_type)))
            label = f"{scope.prefix}node {i} {name!r} ({op})"
            self.labels.setdefault(scope.prefix + name, label)
            with self.blamed(label, ""), ir.Location.name(scope.prefix + name):
                result = self.node(proto, scope, label)
                for output, value in zip(proto.output, result, strict=False):
                    if output:
                        scope.values[output] = self.seen(scope, output, value)
                lacking = [x for x in proto.output[len(result) :] if x]
                if lacking:
                    raise Refused(f"output {lacking[0]!r} is not made here")

    def seen(self, scope: Scope, name: str, value: Given) -> Given:
        """Records the known properties of a value, and whether it depends on open sizes."""
        if not isinstance(value, Value):
            return value
        key = scope.prefix + name
        self.trace.values[key] = (value.shape, value.known)
        if self.traces and value.known is not None:
            value.varying = self.varies(key)
        if not value.name:
            value.name = key
        return value

    def node(self, proto: onnx.NodeProto, scope: Scope, label: str) -> Sequence[Given]:
        domain = domain_of(proto.domain)
        inputs = [scope.find(name) if name else None for name in proto.input]
        own = self.model.functions.get((domain, proto.op_type, proto.overload))
        if own is not None:
            return self.function(own, proto, inputs, scope)
        opset = scope.opsets.get(domain, 1 if domain else onnx.defs.onnx_opset_version())
        schema = self.schema(proto.op_type, opset, domain)
        row = OPS.get((domain, proto.op_type))
        node = Node(
            proto, domain, proto.op_type, schema.since_version if schema is not None else opset, opset,
            self.attributes(proto), list(proto.output), label,
        )  # fmt: skip
        folded = self.folded(node, schema, inputs, scope, row)
        if folded is not None:
            return folded
        if row is not None:
            try:
                self.graph.scope, self.graph.where = scope, next(filter(None, proto.output), proto.name)
                result = row.rule(self.graph, node, *inputs)
                return result if isinstance(result, tuple | list) else (result,)
            except Expand:
                pass
            except ir.MLIRError as error:
                raise Refused(said_by(error)) from None
        body = self.body(schema, node, inputs, opset)
        if body is not None:
            return self.function(body, proto, inputs, scope, schema)
        if (domain, proto.op_type) in REFUSED:
            raise NoForm(REFUSED[domain, proto.op_type])
        if schema is None and row is None:
            raise NoForm(f"domain {domain or 'ai.onnx'} has no op {proto.op_type} in opset {opset}")
        raise NoForm("this op has no form on the chip")

    @staticmethod
    def schema(name: str, opset: int, domain: str) -> Any:
        try:
            return onnx.defs.get_schema(name, opset, domain)
        except onnx.defs.SchemaError:
            return None

    def body(self, schema: Any, node: Node, inputs: Sequence[Given], opset: int) -> Any:
        """Returns the function by which ONNX defines an op, or None."""
        if schema is None:
            return None
        found = None
        if schema.has_function:
            versions = [v for v in schema.function_opset_versions if v <= opset] or schema.function_opset_versions
            found = schema.get_function_with_opset_version(max(versions))
        elif schema.has_context_dependent_function:
            kinds = [b"" if x is None else type_of(x).SerializeToString() for x in inputs]
            known = schema.context_dependent_function_opset_versions
            versions = [v for v in known if v <= opset] or known
            raw = schema.get_context_dependent_function_with_opset_version(
                max(versions), node.proto.SerializeToString(), kinds
            )
            found = onnx.FunctionProto.FromString(raw) if raw else None
        return onnx.FunctionProto.FromString(found) if isinstance(found, bytes) else found

    def function(self, body: Any, proto: onnx.NodeProto, inputs: Sequence[Given], scope: Scope,
                 schema: Any = None) -> Sequence[Given]:  # fmt: skip
        """Returns a call of a function, inlined. schema: of an op that the function defines, for defaults of
        attributes."""
        opsets = {domain_of(x.domain): x.version for x in body.opset_import} or scope.opsets
        inner = Scope({**scope.opsets, **opsets}, None, f"{scope.prefix}{proto.output[0] or proto.name}/")
        for i, name in enumerate(body.input):
            inner.values[name] = inputs[i] if i < len(inputs) else None
        given = {a.name: a for a in body.attribute_proto}
        if schema is not None:
            defaults = {name: x.default_value for name, x in schema.attributes.items()}
            given |= {name: x for name, x in defaults.items() if x.type != AttributeProto.UNDEFINED}
        given |= {a.name: a for a in proto.attribute}
        with self.nested():
            self.nodes([bound(node, given) for node in body.node], inner)
        return [inner.find(name) for name in body.output]

    def subgraph(self, graph: onnx.GraphProto, given: Sequence[Given], around: Scope, label: str) -> list[Given]:
        where = self.graph.where
        inner = Scope(around.opsets, around, "/".join([*filter(None, (around.prefix.rstrip("/"), where, label)), ""]))
        for name, array in self.initializers(graph).items():
            inner.values[name] = Value.of(array, inner.prefix + name)
        names = [x.name for x in graph.input if x.name not in inner.values]
        if len(names) != len(given):
            raise Refused(f"graph {graph.name!r} takes {len(names)} inputs and gets {len(given)}")
        for name, value in zip(names, given, strict=True):
            inner.values[name] = self.seen(inner, name, value)
        try:
            with self.nested():
                self.nodes(graph.node, inner)
        finally:
            self.graph.scope, self.graph.where = around, where
        return [inner.find(x.name) for x in graph.output]

    # What is read of a node or graph that is imported several times is read once: a weight in the body of a loop is
    # one parameter. The messages are kept, so that no other one has their identity.

    def attributes(self, proto: onnx.NodeProto) -> dict[str, Any]:
        found = self.model.read.get(id(proto))
        if found is None:
            found = proto, attributes_of(proto)
            if any(a.type in (AttributeProto.TENSOR, AttributeProto.GRAPH) for a in proto.attribute):
                self.model.read[id(proto)] = found
        return found[1]

    def initializers(self, graph: onnx.GraphProto) -> dict[str, Array]:
        found = self.model.read.get(id(graph))
        if found is None:
            arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
            arrays |= {sparse.values.name: dense_of(sparse) for sparse in graph.sparse_initializer}
            found = self.model.read[id(graph)] = graph, arrays
        return found[1]

    @contextmanager
    def nested(self) -> Iterator[None]:
        self.depth += 1
        if self.depth > DEEPEST:
            raise Refused(f"graphs and functions are nested more than {DEEPEST} deep")
        try:
            yield
        finally:
            self.depth -= 1

    #
    # Known values
    #

    def folded(self, node: Node, schema: Any, inputs: Sequence[Given], scope: Scope, row: Any) -> list[Value] | None:
        """Returns the outputs of a node whose inputs are known and small."""
        if schema is None or (row is not None and row.keeps(inputs)):
            return None
        arrays: list[Array | None] = []
        for x in inputs:
            if x is not None and (not isinstance(x, Value) or x.known is None or x.size > LARGEST):
                return None
            arrays.append(x.known if x is not None else None)
        if not node.proto.input or any(a.type == AttributeProto.GRAPH for a in node.proto.attribute):
            return None
        if self.traces and not self.folds(node, scope):
            return None
        shapes = small_results(schema, node.proto, arrays, scope.opsets)
        if shapes is None:
            return None
        found = evaluate(node.proto, node.domain, node.version, arrays, scope.opsets)
        if found is None or any(x.size > LARGEST or x.dtype.kind in "OUST" for x in found):
            return None
        if not all(is_of(x, shapes.get(name)) for name, x in zip(node.proto.output, found, strict=False)):
            return None
        if row is not None and row.decides and node.outputs[0]:
            key = scope.prefix + node.outputs[0]
            self.trace.folded[key] = Folded(row, tuple(x for x in arrays if x is not None), found[0])
        given = [x for x in inputs if isinstance(x, Value)]
        values = [Value.of(x) for x in found]
        if any(x.varying for x in given):
            for i, (output, value) in enumerate(zip(node.outputs, values, strict=False)):
                value.varying = self.varies(scope.prefix + output)
                value.emit = self.emitted(node, row, inputs, i, scope)
        return values

    def folds(self, node: Node, scope: Scope) -> bool:
        """Returns whether the outputs have elements that were known for all sizes, of one shape."""
        for output in filter(None, node.outputs):
            known = [trace.values.get(scope.prefix + output) for trace in self.traces]
            shapes = {x[0] if x is not None and x[1] is not None else None for x in known}
            if len(shapes) != 1 or None in shapes:
                return False
            (shape,) = shapes
            if self.varies(scope.prefix + output) and int(np.prod(shape or (1,))) > MOST_VARYING:
                return False
        return True

    def varies(self, key: str) -> bool:
        """Returns whether elements differ between the imports for other sizes."""
        known = [trace.values[key][1] for trace in self.traces if key in trace.values]
        return any(x is None or known[0] is None or x.tobytes() != known[0].tobytes() for x in known)

    def emitted(self, node: Node, row: Any, inputs: Sequence[Given], output: int, scope: Scope) -> Callable[[], Value]:
        """Makes an output of a node that was folded."""

        def emit() -> Value:
            if row is None:
                raise Refused(f"{node.place} depends on an open size and is no integer")
            self.graph.scope = scope
            result = row.rule(self.graph, node, *inputs)
            return result[output] if isinstance(result, tuple | list) else result

        return emit


def said_by(error: ir.MLIRError) -> str:
    """Returns the first message of an error."""
    found = error.error_diagnostics
    return found[0].message if found else " ".join(str(error).split())


def type_of(value: Given) -> onnx.TypeProto:
    if isinstance(value, Optional):
        return helper.make_optional_type_proto(type_of(value.value))
    if isinstance(value, Items):
        dtype = value.items[0].dtype if value.items else value.dtype or F32
        kind = helper.make_tensor_type_proto(int(helper.np_dtype_to_tensor_dtype(dtype)), None)
        return helper.make_sequence_type_proto(kind)
    if value is None:
        return onnx.TypeProto()
    return helper.make_tensor_type_proto(int(helper.np_dtype_to_tensor_dtype(value.dtype)), value.shape)


def attributes_of(proto: onnx.NodeProto) -> dict[str, Any]:
    """Returns attributes as Python's numbers, texts, lists, arrays and graphs."""
    found: dict[str, Any] = {}
    for attribute in proto.attribute:
        value = helper.get_attribute_value(attribute)
        if isinstance(value, bytes):
            value = value.decode(errors="replace")
        elif attribute.type == AttributeProto.STRINGS:
            value = [x.decode(errors="replace") for x in value]
        elif attribute.type == AttributeProto.TENSOR:
            value = numpy_helper.to_array(value)
        elif attribute.type in (AttributeProto.INTS, AttributeProto.FLOATS):
            value = list(value)
        found[attribute.name] = value
    return found


def bound(node: onnx.NodeProto, given: Mapping[str, Any]) -> onnx.NodeProto:
    """Returns a node of a function's body with the attributes of the call in place of those that refer to them."""
    if not any(a.ref_attr_name or a.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS) for a in node.attribute):
        return node
    result = onnx.NodeProto()
    result.CopyFrom(node)
    del result.attribute[:]
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            value = given.get(attribute.ref_attr_name)
            if value is not None:
                copied = result.attribute.add()
                copied.CopyFrom(value)
                copied.name = attribute.name
        else:
            copied = result.attribute.add()
            copied.CopyFrom(attribute)
            for graph in [copied.g] if attribute.type == AttributeProto.GRAPH else copied.graphs:
                nodes = [bound(x, given) for x in graph.node]
                del graph.node[:]
                graph.node.extend(nodes)
    return result
