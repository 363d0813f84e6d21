# SPDX-License-Identifier: Apache-2.0
"""The builder: ops and goldens in the functions of a `ModuleBuilder`. Op methods come from the dialects (see `ops`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from golden import GoldenMapTensor
from golden.optional import torch  # noqa: F401 - GoldenValue names it
from ttmlir import ir

from builder.goldens.module_goldens import GoldenValue
from builder.ops.methods import OpInfo, dialect_module, methods_of
from builder.ops.structure import infos

from . import loading
from .builder_utils import Operand, element_type, is_tensor, retyped, tensor_type, torch_dtype
from .errors import TTBuilderCompileException, diagnostics_of, did_you_mean
from .module_builder import DEFAULT_MESH, ModuleBuilder


class Builder(ModuleBuilder):
    """Builds one module. Subclasses name a dialect, whose ops become methods.

    Operands are arguments of a function or results of ops. Locations are the user's lines. Goldens are computed when
    they are requested: see `set_goldens` and `golden_map`; `seed` decides which inputs are drawn. The arguments about
    deallocating goldens are accepted for existing programs and have no effect.
    """

    dialects: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any):
        """Adds the ops of the dialects to the class; attributes that the class defines itself stay."""
        super().__init_subclass__(**kwargs)
        for name in cls.dialects:
            module = dialect_module(name)
            for method, function in (methods_of(module) if module else {}).items():
                if not hasattr(cls, method):
                    setattr(cls, method, function)

    def __getattr__(self, name: str) -> Any:
        """Resolves names that the class does not define."""
        hint = "" if name.startswith("_") else did_you_mean(name, (n for n in dir(type(self)) if not n.startswith("_")))
        raise AttributeError(f"{type(self).__name__} has no op or method {name!r}{hint}")

    # ------------------------------------------------------------------ goldens

    @property
    def golden_map(self) -> tuple[Mapping[int, Any], Mapping[str, Any]]:
        """Returns goldens of inputs and outputs by program, and of intermediate values by the number of their op."""
        snapshot = self.goldens.snapshot(self._require_module())
        return snapshot.programs, snapshot.intermediates

    def set_goldens(
        self,
        inputs: Mapping[Operand, GoldenValue],
        outputs: Mapping[Operand, GoldenValue] | None = None,
        set_all_outputs: bool = True,
    ) -> None:
        """Gives the function's arguments (and results) their values.

        Args:
            inputs: argument -> tensor, tensors by device, or a function of the shape (and of dtype=, where it takes
                one) such as torch.zeros. Every golden is computed from them, and the device gets them.
            outputs: value -> golden to compare with, in place of the computed one.
            set_all_outputs: check the outputs given here only, when False.
        Raises:
            ValueError: a value of another shape than its operand's.
        """
        for operand, value in inputs.items():
            self._override(operand, value)
        for operand, value in (outputs or {}).items():
            self._override(operand, value)
        if outputs and not set_all_outputs:
            self.goldens.checked = [self._value(o) for o in outputs]

    def set_goldens_from_builder_tensor(
        self, inputs: Mapping[Operand, GoldenMapTensor], outputs: Mapping[Operand, GoldenMapTensor] | None = None
    ) -> None:
        self.set_goldens(inputs, outputs)

    def set_operand_goldens(self, operands: Mapping[Operand, GoldenValue]) -> None:
        """Replaces goldens; ops that are built on these operands after this call use them."""
        for operand, value in operands.items():
            self._override(operand, value)

    def set_goldens_to_check(self, operands: Sequence[Operand], override: bool = False) -> None:
        """Compares only these intermediate values; `override` forgets those named before."""
        values = [self._value(o) for o in operands]
        self.goldens.checked = values if override or self.goldens.checked is None else self.goldens.checked + values

    def set_graph_level_check(self, check: bool) -> None:
        """Compares outputs only, and no intermediate value."""
        self.goldens.graph_level = bool(check)

    def bypass(self, operand: Operand) -> None:
        """Gives later ops on the device the golden of `operand` instead of its computed value."""
        self.goldens.bypassed.append(self._value(operand))

    # Programs of the ecosystem use these three.

    def _set_golden_tensor(self, operand: Operand, golden: GoldenValue) -> None:
        """Replaces the golden of an operand, as `set_operand_goldens` does."""
        self.set_operand_goldens({operand: golden})

    def _get_golden_tensor(self, operand: Operand) -> GoldenMapTensor:
        """Returns the golden of an operand, also while its function is being built."""
        return self.goldens.of(self._value(operand))

    @property
    def _bypass_ops(self) -> list[str]:
        """Numbers of the ops that `bypass` named, for `execute_fb(bypass_ops=...)`."""
        return sorted(self.goldens.snapshot(self._require_module()).intermediates.bypassed)

    # ------------------------------------------------------------------ ops

    def create_op(
        self,
        info: OpInfo,
        operands: list[Any],
        attributes: dict[str, ir.Attribute],
        shapes: Mapping[int, Sequence[int]] | None = None,
        elements: Mapping[int, Any] | None = None,
        encoding: Mapping[str, Any] | None = None,
        common: Mapping[str, Any] | None = None,
        regions: int | None = None,
    ) -> Any:
        """Creates an op from converted arguments and return its results: one value, or a tuple of several.

        An op without results returns its first operand. shapes, elements: of results by index, where they are not to be
        inferred; encoding: what the dialect's tensor types have besides.
        """
        common = common or {}
        shapes, elements = dict(shapes or {}), dict(elements or {})
        location = self.op_location(common.get("loc"))
        for name in common.get("unit_attrs") or ():
            attributes[name] = ir.UnitAttr.get(self._ctx)
        if common.get("sharding_attr") is not None:
            attributes["sdy.sharding"] = common["sharding_attr"]
        self.complete_attributes(info, operands, attributes, elements)
        types = self._result_types(info, operands, shapes, elements, common)
        given = types is not None and not info.like_operand
        try:
            with self._ctx:
                op = info.cls.build_generic(
                    results=types,
                    operands=operands,
                    attributes=attributes,
                    regions=regions,
                    loc=location,
                    ip=ir.InsertionPoint(self._open_block()),
                )
        except (ir.MLIRError, ValueError) as error:
            raise self._build_error(info, error, location) from error
        if not given:
            for index, requested in elements.items():
                self._retype(op.results[index], requested)
        for result in op.results:
            if is_tensor(result.type):
                completed = self.complete_type(info, result.type, encoding or {})
                if completed is not None:
                    result.set_type(completed)
        return self.added(op)

    def _result_types(
        self,
        info: OpInfo,
        operands: Sequence[Any],
        shapes: Mapping[int, Sequence[int]],
        elements: Mapping[int, Any],
        common: Mapping[str, Any],
    ) -> list[ir.Type] | None:
        """Returns types that inference cannot know, or None."""
        if common.get("result_types") is not None:
            return list(common["result_types"])
        whole = {i: e for i, e in elements.items() if isinstance(e, ir.Type) and is_tensor(e)}
        if whole and len(whole) == len(info.results):
            return [whole[i] for i in range(len(info.results))]
        if not shapes and info.like_operand and operands and isinstance(operands[0], ir.Value):
            return [operands[0].type] * max(len(info.results), 1)
        if not shapes:
            return None if info.infers else []
        first = next((v.type for v in operands if isinstance(v, ir.Value) and is_tensor(v.type)), None)
        default: Any = ir.RankedTensorType(first).element_type if first is not None else np.float32
        missing = [info.results[i] for i in range(len(info.results)) if i not in shapes]
        if missing:
            raise TypeError(f"{info.name}: no shape for the results {', '.join(missing)}")
        return [
            tensor_type(shapes[i], element_type(elements.get(i, default), self._ctx)) for i in range(len(info.results))
        ]

    def _retype(self, value: ir.Value, requested: Any) -> None:
        if isinstance(requested, ir.Type) and is_tensor(requested):
            value.set_type(requested)
        else:
            value.set_type(retyped(value.type, element=element_type(requested, self._ctx)))

    def _build_error(self, info: OpInfo, error: Exception, location: ir.Location) -> TTBuilderCompileException:
        diagnostics = diagnostics_of(error)
        where = str(location).removeprefix("loc(").removesuffix(")")
        text = "" if diagnostics else f": {error}"
        return TTBuilderCompileException(f"{where}: cannot build {info.name}{text}", diagnostics)

    # What a dialect adds; overridden by its builder.

    def complete_attributes(
        self, info: OpInfo, operands: Any, attributes: dict[str, ir.Attribute], elements: Any
    ) -> None:
        """Adds attributes that follow from the others."""

    def complete_type(self, info: OpInfo, type_: ir.Type, encoding: Mapping[str, Any]) -> ir.Type | None:
        """Returns the type that a result gets instead of `type_`, or None."""
        if encoding:
            raise TypeError(f"{info.name}: {', '.join(encoding)} are of TTNN tensors only")
        return None

    def device_operand(self) -> ir.Value:
        raise TypeError("this dialect has no device")

    # ------------------------------------------------------------------ modules

    @classmethod
    def from_module(
        cls,
        ctx: ir.Context,
        mlir_text: str | bytes,
        golden_inputs: Mapping[str, Sequence[Any]] | None = None,
        deallocate_goldens: bool = False,
        deallocated_goldens_dir: str | None = ".",
    ) -> tuple[ir.Module, Self]:
        """Parses a module, and make the builder that knows its goldens; see `builder_apis.load_mlir_file`.

        Goldens are freed with the builder anyway: deallocate_goldens and deallocated_goldens_dir change nothing.
        """
        return loading.load_module(cls, ctx, mlir_text, golden_inputs)

    def split_op(self, parsed_op: Any) -> tuple[ir.Module, Self]:
        """Returns a module of one op of this builder's module, whose arguments are the goldens of its operands."""
        return loading.split_op(parsed_op, self)

    @staticmethod
    def split_module(module: ir.Module, builder: Builder) -> list[tuple[ir.Module, Builder]]:
        """Returns a module for each op that a run executes, in that order; see `builder_apis.split_mlir_file`."""
        return loading.split_module(module, builder)

    # ------------------------------------------------------------------ op classes

    @classmethod
    def build_opname_to_opview_map(cls) -> dict[str, type]:
        """Returns the classes of the dialects' ops, by the ops' full names."""
        return {name: info.cls for dialect in cls.dialects for name, info in infos(dialect).items()}

    def get_builder_from_opview(self, opview: type) -> Callable[..., Any]:
        """Returns the method that builds ops of a class."""
        name = getattr(opview, "OPERATION_NAME", str(opview))
        known = {}
        for function in vars(type(self)).values():
            if implementation := getattr(function, "implementation", None):
                known[implementation.info.name] = function
        if name not in known:
            raise KeyError(f"{type(self).__name__} has no method for {name}{did_you_mean(name, known)}")
        return known[name]

    def get_opview_from_method(self, method: Callable[..., Any]) -> type:
        """Returns the op class that a method builds."""
        function: Any = getattr(method, "__func__", method)
        return function.implementation.info.cls


__all__ = ["DEFAULT_MESH", "Builder", "Operand", "torch_dtype"]
