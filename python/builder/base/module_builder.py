# SPDX-License-Identifier: Apache-2.0
"""Modules and functions while they are being built: arguments, results, calls, meshes, locations."""

from __future__ import annotations

import inspect
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

from golden.optional import torch
from ttmlir import ir
from ttmlir.bounds import is_size
from ttmlir.dialects import builtin, func

from builder.goldens.module_goldens import Goldens, GoldenValue, golden_of
from builder.ops.methods import dialect_module
from builder.ops.structure import symbol

from .builder_utils import (
    Operand,
    Shape,
    TypeInfo,
    as_operand,
    caller,
    element_type,
    mesh_shape_of,
    process_multi_return_result,
    tensor_type,
)
from .errors import TTBuilderCompileException, diagnostics_of
from .open_shapes import OpenShapes

DEFAULT_MESH = OrderedDict([("x", 1), ("y", 1)])


@dataclass
class Function:
    """A function while it is being built. last: the newest op, after which golden overrides take effect."""

    op: func.FuncOp
    block: ir.Block
    argument_attributes: list[dict[str, ir.Attribute]]
    last: ir.Operation | None = None
    device: ir.Value | None = None
    result_attributes: dict[int, dict[str, ir.Attribute]] = field(default_factory=dict)


class ModuleBuilder:
    """Builds the frame in which ops stand. It knows no op; `Builder` adds those of a dialect.

    has_layouts: tensors of the dialect have one.
    """

    has_layouts: ClassVar[bool] = False

    def __init__(
        self,
        ctx: ir.Context,
        location: ir.Location,
        mesh_name: list[str] | str = "mesh",
        mesh_dict: Sequence[Mapping[str, int]] | Mapping[str, int] = DEFAULT_MESH,
        deallocate_goldens: bool = False,
        deallocated_goldens_dir: str | None = "./deallocated_goldens",
        system_desc_path: str | os.PathLike[str] | None = None,
        seed: int = 0,
    ):
        names = [mesh_name] if isinstance(mesh_name, str) else list(mesh_name)
        meshes = [mesh_dict] if isinstance(mesh_dict, Mapping) else list(mesh_dict)
        if len(names) != len(meshes):
            raise ValueError(f"{len(names)} mesh names ({', '.join(names)}) but {len(meshes)} meshes")
        self._ctx, self._loc = ctx, location
        self._meshes = OrderedDict(zip(names, meshes, strict=True))
        self._mesh_shape = mesh_shape_of(meshes[0])
        self.system_desc_path = system_desc_path
        self._block: ir.Block | None = None
        self._functions: list[Function] = []
        self._module: Any = None
        self._declares_meshes = False
        self.goldens = Goldens(self._mesh_shape, seed)
        self.open_shapes = OpenShapes()

    @property
    def context(self) -> ir.Context:
        return self._ctx

    @property
    def location(self) -> ir.Location:
        return self._loc

    @property
    def mesh_shape(self) -> tuple[int, int]:
        return self._mesh_shape

    @property
    def meshes(self) -> Mapping[str, Mapping[str, int]]:
        return self._meshes

    def get_shape(self, input: Operand) -> Shape:
        return list(ir.RankedTensorType(input.type).shape)

    def size(self, name: str) -> int:
        """Returns the size in this build of the module that shapes of inputs name."""
        self.open_shapes.check_names({name: None}, "size")
        return self.open_shapes.value(name)

    def get_type(self, input: Operand) -> ir.Type:
        """Returns the element type."""
        return ir.RankedTensorType(input.type).element_type

    def op_location(self, loc: Any = None) -> ir.Location:
        """Returns the location of an op: the name `file:line` of the user's call, or the user's own text."""
        if isinstance(loc, ir.Location):
            return loc
        if loc is None:
            file, line = caller()
            loc = f"{file}:{line}"
        return ir.Location.name(str(loc), context=self._ctx)

    def added(self, op: Any) -> Any:
        """Records a new op of the function; returns the user's handle of it."""
        if self._functions:
            self._functions[-1].last = op.operation
        results = tuple(op.results)
        if not results:
            return op.operands[0] if len(op.operands) else op
        return results[0] if len(results) == 1 else results

    def argument_type(self, shape: Sequence[int], dtype: Any) -> ir.Type:
        return tensor_type(shape, element_type(dtype, self._ctx), self.create_tensor_encoding(shape, dtype))

    def create_tensor_encoding(self, shape: Sequence[int], element_type: Any) -> ir.Attribute | None:
        return None

    def _value(self, operand: Any) -> ir.Value:
        value = as_operand(operand)
        if value is None:
            raise TypeError(f"expected an operand of the module, not a {type(operand).__name__}")
        return value

    def _override(self, operand: Operand, value: GoldenValue) -> None:
        operand = self._value(operand)
        golden = golden_of(value, operand.type, self._mesh_shape)
        self.goldens.override(operand, golden, self._functions[-1].last if self._functions else None)

    # ------------------------------------------------------------------ attributes of arguments and results

    def _argument(self, operand: Operand) -> tuple[Function, int]:
        for function in self._functions:
            for i, argument in enumerate(function.block.arguments):
                if argument == operand:
                    return function, i
        raise ValueError("expected an argument of the function that is being built")

    def get_arg_attribute(self, operand: Operand, attr_name: str) -> ir.Attribute | None:
        function, index = self._argument(operand)
        return function.argument_attributes[index].get(attr_name)

    def set_arg_attribute(self, operand: Operand, new_attr_name: str, new_attr: ir.Attribute) -> None:
        function, index = self._argument(operand)
        function.argument_attributes[index][new_attr_name] = new_attr

    def set_result_attribute(
        self, func_op: func.FuncOp, result_index: int, new_attr_name: str, new_attr: ir.Attribute
    ) -> None:
        attributes = [dict_of(a) for a in func_op.result_attrs] if has_attribute(func_op, "res_attrs") else []
        attributes += [{} for _ in range(len(func_op.type.results) - len(attributes))]
        attributes[result_index][new_attr_name] = new_attr
        func_op.attributes["res_attrs"] = array_of_dicts(attributes, self._ctx)

    def preshard_arg(self, operand: Operand, shard_dims: Sequence[int]) -> None:
        """Says that the argument comes split over the mesh: dimension shard_dims[i] over axis i of the mesh, -1:
        not."""
        shape = self.get_shape(operand)
        local = self._local_shape(shape, shard_dims)
        local_type = tensor_type(local, self.get_type(operand))
        text = f"#ttcore<runtime_tensor_sharding shard_status = <presharded>, local_shape = {local_type}>"
        self.set_arg_attribute(operand, "ttcore.runtime_tensor_sharding", ir.Attribute.parse(text, self._ctx))
        self.goldens.preshard(operand, shard_dims)
        self._declares_meshes = True

    def _local_shape(self, shape: Sequence[int], shard_dims: Sequence[int]) -> list[int]:
        local, dims = list(shape), f"shard_dims {tuple(shard_dims)}"
        if len(shard_dims) != 2:
            raise ValueError(f"{dims}: expected one dimension (or -1) for each of the 2 mesh axes")
        for axis, dim in enumerate(shard_dims):
            if dim == -1:
                continue
            if not 0 <= dim < len(local):
                raise ValueError(f"{dims}: a tensor of rank {len(local)} has no dimension {dim}")
            devices = self._mesh_shape[axis]
            if local[dim] % devices:
                raise ValueError(f"dimension {dim} of {list(shape)} does not split over {devices} devices")
            local[dim] //= devices
        return local

    # ------------------------------------------------------------------ functions and modules

    def func(
        self,
        input_shapes: Sequence[Sequence[int | str | None]],
        input_types: Sequence[torch.dtype | TypeInfo],
        ttnn_inputs: bool = False,
        custom_inputs: Sequence[Any] | None = None,
        presharded_args: Mapping[int, Sequence[int]] | None = None,
        presharded_results: Mapping[int, Sequence[int]] | None = None,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Builds a public function now, as a decorator, by calling the decorated function with its operands and this
        builder.

        Args:
            input_shapes, input_types: one for each argument; types beyond that are not looked at. A dimension is a
                number, the name of a size that stays open, or None for a size of its own.
            ttnn_inputs: arguments have layouts, which those of the "ttnn" builder have; others refuse it.
            custom_inputs: values of the arguments, as for `set_goldens`.
            presharded_args: argument index -> shard dims, see `preshard_arg`.
            presharded_results: result index -> shard dims of a result that stays split over the mesh.
        """
        if ttnn_inputs and not self.has_layouts:
            raise ValueError('ttnn_inputs is True, but arguments have layouts in modules of the "ttnn" builder only')
        input_types = input_types[: len(input_shapes)]  # programs of the ecosystem give one list for several functions
        if len(input_shapes) != len(input_types):
            raise ValueError(f"{len(input_shapes)} input shapes but {len(input_types)} input types")
        for index, shape in enumerate(input_shapes):
            expected = "integers of at least 0, names of sizes, or None"
            if isinstance(shape, str) or not isinstance(shape, Iterable):
                raise ValueError(f"input {index} has the shape {shape!r}; expected a list of {expected}")
            if not all(is_dimension(size) for size in shape):
                raise ValueError(f"input {index} has shape {tuple(shape)}; expected {expected}")

        def build(function: Callable[..., Any]) -> Callable[..., Any]:
            shapes = self.open_shapes.resolved(function.__name__, input_shapes)
            types = [self.argument_type(s, t) for s, t in zip(shapes, input_types, strict=True)]
            with self._function(function, types, self._loc) as built:
                operands = list(built.block.arguments)
                for i, value in enumerate(custom_inputs or ()):
                    self._override(operands[i], value)
                for i, dims in (presharded_args or {}).items():
                    self.preshard_arg(operands[i], dims)
                self._finish(built, function, operands)
            for i, dims in (presharded_results or {}).items():
                result = built.op.type.results[i]
                local = tensor_type(
                    self._local_shape(ir.RankedTensorType(result).shape, dims), ir.RankedTensorType(result).element_type
                )
                text = f"#ttcore<runtime_tensor_sharding shard_status = <presharded>, local_shape = {local}>"
                attribute = ir.Attribute.parse(text, self._ctx)
                self.set_result_attribute(built.op, i, "ttcore.runtime_tensor_sharding", attribute)
            return function

        return build

    def call(self, nested_func: Callable[..., Any], original_inputs: Sequence[Operand], loc: str | None = None) -> Any:
        """Builds `nested_func` as a private function of the module and call it with `original_inputs`."""
        operands = [self._value(o) for o in original_inputs]
        location = self.op_location(loc)
        function = self.private_function(nested_func, [o.type for o in operands])
        callee = ir.FlatSymbolRefAttr.get(symbol(function), context=self._ctx)
        call = func.CallOp(
            list(function.type.results), callee, operands, loc=location, ip=ir.InsertionPoint(self._open_block())
        )
        return self.added(call)

    def private_function(self, function: Callable[..., Any], types: Sequence[ir.Type]) -> Any:
        """Builds `function` as a private function of the module, with arguments of these types."""
        with self._function(function, types, self._loc, private=True) as built:
            self._finish(built, function, list(built.block.arguments))
        return built.op

    def device_module(self, root_func: Callable[..., Any]) -> Callable[..., Any]:
        """Builds the functions of `root_func` in a module for the device, as a decorator."""
        return self._nested_module(root_func, "device_module")

    def cpu_module(self, root_func: Callable[..., Any]) -> Callable[..., Any]:
        """Builds the functions of `root_func` in a module for the host, as a decorator."""
        return self._nested_module(root_func, "cpu_module")

    def _nested_module(self, root_func: Callable[..., Any], kind: str) -> Callable[..., Any]:
        outer_class = getattr(dialect_module("ttcore"), "DeviceModuleOp" if kind == "device_module" else "CPUModuleOp")
        ip = ir.InsertionPoint(self._module_block())
        outer = outer_class.build_generic(results=[], operands=[], attributes={}, regions=1, loc=self._loc, ip=ip)
        inner = builtin.ModuleOp(loc=self._loc, ip=ir.InsertionPoint(outer.regions[0].blocks.append()))
        saved, self._block = self._block, inner.body
        try:
            root_func(self)
        finally:
            self._block = saved
        return root_func

    def _require_module(self) -> Any:
        if self._module is None:
            raise RuntimeError("this builder has no module yet; see build_module")
        return self._module

    def _module_block(self) -> ir.Block:
        if self._block is None:
            raise RuntimeError("functions are built inside of build_module")
        return self._block

    def _open_block(self) -> ir.Block:
        if not self._functions:
            raise RuntimeError("ops are built inside of a function: @builder.func(shapes, types)")
        return self._functions[-1].block

    @contextmanager
    def _function(
        self, function: Callable[..., Any], types: Sequence[ir.Type], location: ir.Location, private: bool = False
    ) -> Iterator[Function]:
        """Adds a function with its entry block to the module, and makes it the one that is being built."""
        block = self._module_block()
        taken = {symbol(op) for op in block.operations if "sym_name" in op.attributes}
        name, count = function.__name__, 0
        if name in taken and not private:
            raise ValueError(f"the module has a function {name!r} already")
        while name in taken:
            name, count = f"{function.__name__}_{count}", count + 1
        type_ = ir.FunctionType.get(list(types), [], context=self._ctx)
        make: Any = func.FuncOp  # which takes a visibility in addition to what the generated class does
        op = make(name, type_, visibility="private" if private else None, loc=location, ip=ir.InsertionPoint(block))
        entry = op.body.blocks.append(*types, arg_locs=[location] * len(types))
        built = Function(op, entry, [{} for _ in types])
        self._functions.append(built)
        try:
            yield built
        except BaseException:
            op.operation.erase()
            raise
        finally:
            self._functions.pop()

    def _finish(self, built: Function, function: Callable[..., Any], operands: list[ir.Value]) -> None:
        """Calls the user's function and ends the built one with its results."""
        check_parameters(function, len(operands))
        returned = process_multi_return_result(function(*operands, self))
        values = []
        for i, value in enumerate(returned):
            operand = as_operand(value)
            if operand is None:
                raise TypeError(
                    f"{function.__name__} returned a {type(value).__name__} as result {i}, expected an operand"
                )
            values.append(operand)
        func.ReturnOp(values, loc=self._loc, ip=ir.InsertionPoint(built.block))
        type_ = ir.FunctionType.get([o.type for o in operands], [v.type for v in values], context=self._ctx)
        built.op.attributes["function_type"] = ir.TypeAttr.get(type_, context=self._ctx)
        if any(built.argument_attributes):
            built.op.attributes["arg_attrs"] = array_of_dicts(built.argument_attributes, self._ctx)

    def build_block(self, function: Callable[..., Any], block: ir.Block) -> list[ir.Value]:
        """Builds ops into a block by calling `function` with the block's arguments; the values it returned."""
        outer = self._functions[-1]
        self._functions.append(Function(outer.op, block, []))
        try:
            check_parameters(function, len(block.arguments))
            returned = process_multi_return_result(function(*block.arguments, self))
            return [self._value(v) for v in returned]
        finally:
            self._functions.pop()

    def build(self, function: Callable[..., Any]) -> ir.Module:
        """Returns the module that `function` makes with this builder."""
        module = ir.Module.create(self._loc)
        self._module, self._block = module, module.body
        # Collectives infer their shapes from the mesh; a module that is not presharded does not keep the attribute.
        module.operation.attributes["ttcore.meshes"] = self._meshes_attribute()
        self.begin_module()
        function(self)
        if not self._declares_meshes:
            del module.operation.attributes["ttcore.meshes"]
        try:
            with self._ctx:
                module.operation.verify()
        except ir.MLIRError as error:
            raise TTBuilderCompileException("the module that was built is not valid", diagnostics_of(error)) from error
        self.goldens.settle(module)
        return module

    def _meshes_attribute(self) -> ir.Attribute:
        meshes = [f'<"{name}" = {"x".join(map(str, mesh_shape_of(mesh)))}>' for name, mesh in self._meshes.items()]
        return ir.Attribute.parse(f"#ttcore.meshes<[{', '.join(meshes)}]>", self._ctx)

    def begin_module(self) -> None:
        """Adds the ops with which modules of a dialect start."""

    def adopt(self, module: ir.Module) -> None:
        """Makes this the builder of a module that exists."""
        self._module, self._block = module, module.body
        self.goldens.settle(module)


def check_parameters(function: Callable[..., Any], operands: int) -> None:
    """Checks that the function takes its operands and the builder by position."""
    try:
        inspect.signature(function).bind(*[None] * (operands + 1))
    except TypeError as error:
        raise TypeError(f"{function.__name__} is called with {operands} operands and the builder: {error}") from None


def is_dimension(size: Any) -> bool:
    """Returns a number, the name of a size, or None."""
    return (
        size is None or (isinstance(size, str) and size.isidentifier()) or (is_size(size) and 0 <= int(size) < 1 << 63)
    )


def dict_of(attribute: Any) -> dict[str, ir.Attribute]:
    named: Any = ir.DictAttr(attribute)
    return {each.name: each.attr for each in named}


def array_of_dicts(attributes: Sequence[Mapping[str, ir.Attribute]], context: ir.Context) -> ir.Attribute:
    return ir.ArrayAttr.get([ir.DictAttr.get(dict(a), context=context) for a in attributes], context=context)


def has_attribute(op: Any, name: str) -> bool:
    return name in op.attributes
