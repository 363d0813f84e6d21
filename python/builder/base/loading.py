# SPDX-License-Identifier: Apache-2.0
"""Modules from text, and modules of single ops: one generic walk each, for ops of any dialect."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ttmlir import apart, ir
from ttmlir.dialects import func, stablehlo, ttcore

from builder.goldens.module_goldens import OpGoldens, golden_of
from builder.ops.structure import axes_of, number_ops, public_functions, symbol, walk

from .errors import TTBuilderCompileException, diagnostics_of, did_you_mean

if TYPE_CHECKING:
    from .builder import Builder

BYTECODE = b"ML\xefR"  # how it begins

AnyBuilder = TypeVar("AnyBuilder", bound="Builder")


def meshes_of(module: Any) -> tuple[list[str], list[OrderedDict[str, int]]]:
    """Returns names and axes of the module's meshes: those of ttcore.meshes or sdy.mesh ops, else one of 1x1."""
    names: list[str] = []
    meshes: list[OrderedDict[str, int]] = []
    attributes = module.operation.attributes
    if "ttcore.meshes" in attributes:
        known: Any = ttcore
        for mesh in known.MeshesAttr(attributes["ttcore.meshes"]).meshes:
            names.append(mesh.name)
            meshes.append(OrderedDict(zip("xyz", mesh.shape, strict=False)))
    for op in walk(module.operation) if not names else ():
        if op.name == "sdy.mesh":
            names.append(symbol(op))
            meshes.append(OrderedDict(axes_of(op)))
    return (names, meshes) if names else (["mesh"], [OrderedDict([("x", 1), ("y", 1)])])


def load_module(
    builder_class: type[AnyBuilder],
    context: ir.Context,
    mlir_text: str | bytes,
    golden_inputs: Mapping[str, Sequence[Any]] | None = None,
) -> tuple[ir.Module, AnyBuilder]:
    """Parses a module and make the builder that knows its goldens."""
    what = "the text is not a valid module"
    try:
        if isinstance(mlir_text, bytes) and stablehlo.is_portable_artifact(mlir_text):
            what = "the portable artifact cannot be read"
            module = stablehlo.deserialize_portable_artifact(context, mlir_text)
        elif isinstance(mlir_text, bytes) and mlir_text.startswith(BYTECODE):
            what = "the bytecode cannot be read"
            module = apart.read(context, mlir_text)
        else:
            module = ir.Module.parse(mlir_text, context)
    except ir.MLIRError as error:
        found = diagnostics_of(error)
        raise TTBuilderCompileException(what if found else f"{what}: {error}", found) from error
    names, meshes = meshes_of(module)
    builder = builder_class(context, module.operation.location, names, meshes)
    builder.adopt(module)
    set_inputs(builder, module, golden_inputs or {})
    return module, builder


def set_inputs(builder: Builder, module: Any, golden_inputs: Mapping[str, Sequence[Any]]) -> None:
    """Checks the given inputs against the functions they are for, and keep them."""
    found = {symbol(f): f for f in public_functions(module.operation)}
    for name, values in golden_inputs.items():
        if name not in found:
            raise ValueError(f"golden_inputs: the module has no public function {name!r}{did_you_mean(name, found)}")
        arguments = found[name].regions[0].blocks[0].arguments
        if len(values) != len(arguments):
            raise ValueError(f"golden_inputs: {name!r} takes {len(arguments)} tensors, {len(values)} were given")
        goldens = []
        for i, (value, argument) in enumerate(zip(values, arguments, strict=True)):
            try:
                goldens.append(golden_of(value, argument.type, builder.mesh_shape))
            except (TypeError, ValueError) as error:
                raise type(error)(f"golden_inputs: argument {i} of {name!r}: {error}") from error
        builder.goldens.set_inputs(name, goldens)


def split_module(module: Any, builder: Builder) -> list[tuple[ir.Module, Builder]]:
    """Returns one module for each op that a run executes, in that order; see `builder_apis.split_mlir_file`."""
    evaluation = builder.goldens.snapshot(module).evaluation
    return [single_op(record, builder) for record in evaluation.all_records().values()]


def split_op(op: Any, builder: AnyBuilder) -> tuple[ir.Module, AnyBuilder]:
    """Returns the module of one op of the builder's module; of one that runs often, as it ran last."""
    module = builder._require_module()
    number = number_ops(module.operation).get(op.operation)
    evaluation = builder.goldens.snapshot(module).evaluation
    found = [record for record in evaluation.all_records().values() if record.source.rpartition("/")[2] == str(number)]
    if not found:
        raise ValueError(f"{op.operation.name}: no such op with goldens in the module of this builder")
    return single_op(found[-1], builder)


def single_op(record: OpGoldens, builder: AnyBuilder) -> tuple[ir.Module, AnyBuilder]:
    """Returns a module whose function takes the op's operands and returns its results."""
    op, context = record.operation, builder.context
    location = op.location
    module = ir.Module.create(location)
    copy_mesh(op, module)
    inputs: OrderedDict[Any, Any] = OrderedDict()  # an operand that is used twice is one argument
    producers: OrderedDict[Any, Any] = OrderedDict()  # values that are no tensors (a device) are created again inside
    for value, golden in zip(op.operands, record.operands, strict=True):
        if golden is not None:
            inputs.setdefault(value, golden)
        else:
            producers.setdefault(value, value.owner.operation)
    types = [v.type for v in inputs]
    results = [r.type for r in op.results]
    name = op.name.partition(".")[2].replace("-", "_")
    with context, location:
        function = func.FuncOp(name, ir.FunctionType.get(types, results), ip=ir.InsertionPoint(module.body))
        block = function.body.blocks.append(*types, arg_locs=[location] * len(types))
        ip = ir.InsertionPoint(block)
        values = dict(zip(inputs, block.arguments, strict=True))
        for value, producer in producers.items():
            values[value] = producer.clone(ip=ip).results[value.result_number]
        clone = op.clone(ip=ip)
        for i, value in enumerate(op.operands):
            clone.operands[i] = values[value]
        func.ReturnOp(list(clone.results), ip=ip)
    names, meshes = meshes_of(module)
    part = type(builder)(context, location, names, meshes, seed=builder.goldens.seed)
    part.adopt(module)
    part.goldens.set_inputs(name, list(inputs.values()))
    for result, golden in zip(clone.results, record.results, strict=True):
        part.goldens.override(result, golden, clone.operation)
    part.goldens.settle(module)
    return module, part


def copy_mesh(op: Any, module: ir.Module) -> None:
    """Declares the meshes that the op's module has."""
    root = op
    while root.parent is not None:
        root = root.parent.operation
    if "ttcore.meshes" in root.attributes:
        module.operation.attributes["ttcore.meshes"] = root.attributes["ttcore.meshes"]
    for inner in walk(root):
        if inner.name == "sdy.mesh":
            inner.clone(ip=ir.InsertionPoint(module.body))


__all__ = ["load_module", "meshes_of", "split_module", "split_op"]
