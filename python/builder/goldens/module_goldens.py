# SPDX-License-Identifier: Apache-2.0
"""Goldens of a module: what every value is, computed by walking the IR on request (see `evaluation`).

The same walk serves modules that were built, loaded or split, of any dialect.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from golden import GoldenMapTensor
from golden.collective import split_over_mesh
from golden.optional import torch
from ttmlir import ir

from builder.base.builder_utils import torch_dtype
from builder.ops.structure import number_ops, symbol

from .evaluation import Evaluation, Producer
from .records import Key, OpGoldens, Override, key_of

# As text: PyTorch is loaded at its first use.
GoldenValue: TypeAlias = "torch.Tensor | Mapping[int, torch.Tensor] | GoldenMapTensor | Callable[..., torch.Tensor]"


def golden_of(value: GoldenValue, type_: ir.Type, mesh_shape: tuple[int, int]) -> GoldenMapTensor:
    """Returns a golden given by the user, checked against the type of its operand and cast to its dtype."""
    tensor = ir.RankedTensorType(type_)
    shape, dtype = tuple(tensor.shape), torch_dtype(tensor.element_type)
    if callable(value) and not isinstance(value, (torch.Tensor, GoldenMapTensor)):
        value = called(value, shape, dtype)
    if not isinstance(value, (torch.Tensor, GoldenMapTensor, Mapping)):
        raise TypeError(f"a golden is a {type(value).__name__}, expected a tensor, tensors by device, or a function")
    golden = GoldenMapTensor.of(dict(value) if isinstance(value, Mapping) else value, mesh_shape)
    if not golden.is_distributed and tuple(golden.shape) != shape:
        raise ValueError(f"golden of shape {list(golden.shape)} for an operand of type {type_}: expected {list(shape)}")
    return golden.map(lambda t: t.detach().to(dtype))


def called(function: Callable[..., torch.Tensor], shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Returns function(shape), or function(shape, dtype=dtype) when it takes one."""
    try:
        parameters = inspect.signature(function).parameters.values()
        takes = any(p.name == "dtype" or p.kind is p.VAR_KEYWORD for p in parameters)
    except (TypeError, ValueError):  # torch's factory functions have no signature and take one
        takes = True
    # torch.randn and the like make floating-point values only; casting them is the caller's wish then.
    if takes:
        try:
            return function(shape, dtype=dtype)
        except (RuntimeError, TypeError):
            pass
    return function(shape)


class Goldens:
    """The goldens of one module, and the user's settings for them."""

    def __init__(self, mesh_shape: tuple[int, int], seed: int = 0):
        self.mesh_shape, self.seed = mesh_shape, seed
        self.graph_level = False
        self.checked: list[ir.Value] | None = None
        self.bypassed: list[ir.Value] = []
        self._open: list[tuple[ir.Value, GoldenMapTensor, Any]] = []
        self._open_shards: list[tuple[ir.Value, tuple[int, ...]]] = []
        self._module: Any = None
        self._overrides: list[Override] = []
        self._sharded: dict[Key, tuple[int, ...]] = {}
        self._checked: frozenset[str] | None = None
        self._bypassed: frozenset[str] = frozenset()

    def override(self, value: ir.Value, golden: GoldenMapTensor, after: Any) -> None:
        self._open.append((value, golden, after))

    def preshard(self, value: ir.Value, shard_dims: Sequence[int]) -> None:
        self._open_shards.append((value, tuple(shard_dims)))

    def settle(self, module: Any) -> None:
        """Replaces the values that were named so far by their numbers, which outlive changes of the module."""
        self._module = module
        if not (self._open or self._open_shards or self.checked is not None or self.bypassed):
            return
        numbers = number_ops(module.operation)
        for value, golden, after in self._open:
            number = None if after is None or after not in numbers else str(numbers[after])
            self._overrides.append(Override(key_of(value, numbers), golden, number))
        for value, dims in self._open_shards:
            self._sharded[key_of(value, numbers)] = dims
        self._open, self._open_shards = [], []
        if self.checked is not None:
            self._checked = frozenset(key_of(v, numbers).owner for v in self.checked)
            self.checked = None
        self._bypassed |= {key_of(v, numbers).owner for v in self.bypassed if not isinstance(v, ir.BlockArgument)}
        self.bypassed = []

    def set_inputs(self, function: str, goldens: Sequence[GoldenMapTensor]) -> None:
        for i, golden in enumerate(goldens):
            self._overrides.append(Override(Key(function, i, True), golden, None))

    def of(self, value: ir.Value) -> GoldenMapTensor:
        """Returns the golden of a value, also while its function is being built. What its arguments are given for it,
        they keep.

        Raises:
            ValueError: a value of an inner block, which runs as often as its op says.
        """
        block = value.owner if isinstance(value, ir.BlockArgument) else value.owner.operation.block
        root = function = block.owner.operation
        while root.parent is not None:
            root = root.parent.operation
        if function.name != "func.func":
            raise ValueError(
                f"{value}: a golden is requested inside of {function.name}; expected a value of a function"
            )
        so_far = Goldens(self.mesh_shape, self.seed)
        so_far._open, so_far._overrides = list(self._open), list(self._overrides)
        so_far._open_shards, so_far._sharded = list(self._open_shards), dict(self._sharded)
        so_far.settle(root)
        evaluation = Evaluation(root, self.mesh_shape, self.seed, tuple(so_far._overrides), so_far._sharded)
        given = evaluation.inputs(function)
        known = {(o.key.owner, o.key.index) for o in so_far._overrides if o.key.argument}
        for argument, golden in zip(block.arguments, given, strict=True):
            if (symbol(function), argument.arg_number) not in known:
                self.override(argument, golden, None)
        return evaluation.value(function, value)

    def snapshot(self, module: Any) -> Snapshot:
        """Returns the goldens of the module in its current state; later changes of it have no effect on them."""
        if self._module is not None:
            self.settle(self._module)
        clone = module.operation.clone(ip=False)
        evaluation = Evaluation(clone, self.mesh_shape, self.seed, tuple(self._overrides), dict(self._sharded))
        checked = frozenset() if self.graph_level else self._checked
        return Snapshot(Programs(evaluation), IntermediateGoldens(evaluation, checked, self._bypassed), evaluation)


@dataclass(frozen=True)
class Snapshot:
    programs: Programs
    intermediates: IntermediateGoldens
    evaluation: Evaluation


# ---------------------------------------------------------------------- what execution reads


class ProgramGoldens(Mapping[str, GoldenMapTensor]):
    """Goldens of one public function: input_0, ..., output_0, ... Outputs are computed when one is read."""

    def __init__(self, evaluation: Evaluation, function: Any):
        self._evaluation, self.function = evaluation, function
        self.name = symbol(function)
        block = function.regions[0].blocks[0]
        self.input_names = [f"input_{i}" for i in range(len(block.arguments))]
        type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        self.output_names = [f"output_{i}" for i in range(len(type_.results))]

    @property
    def inputs(self) -> list[GoldenMapTensor]:
        """Returns the inputs as the program takes them: split over the mesh where the argument is presharded."""
        goldens = []
        for i, golden in enumerate(self._evaluation.inputs(self.function)):
            dims = self._evaluation.shard_dims(self.function, i)
            if dims is not None and not golden.is_distributed:
                golden = split_over_mesh(golden.shard_at(0), golden.mesh_shape, dims)
            goldens.append(golden)
        return goldens

    @property
    def outputs(self) -> list[GoldenMapTensor]:
        return self._evaluation.outputs(self.function)

    @property
    def producers(self) -> dict[str, Producer]:
        """Returns output -> the op that computes it; those that are arguments are left out."""
        producers = {name: self._evaluation.producer(self.function, i) for i, name in enumerate(self.output_names)}
        return {name: producer for name, producer in producers.items() if producer is not None}

    def __getitem__(self, name: str) -> GoldenMapTensor:
        if name in self.input_names:
            return self.inputs[self.input_names.index(name)]
        if name in self.output_names:
            return self.outputs[self.output_names.index(name)]
        raise KeyError(f"{self.name} has no {name}; there are {', '.join(self)}")

    def __iter__(self) -> Iterator[str]:
        return iter([*self.input_names, *self.output_names])

    def __len__(self) -> int:
        return len(self.input_names) + len(self.output_names)


class Programs(Mapping[int, ProgramGoldens]):
    """Goldens of all public functions, in the order of the module."""

    def __init__(self, evaluation: Evaluation):
        self._programs = [ProgramGoldens(evaluation, f) for f in evaluation.functions]

    def __getitem__(self, index: int) -> ProgramGoldens:
        if not 0 <= index < len(self._programs):
            raise KeyError(f"no program {index}; there are {len(self._programs)}")
        return self._programs[index]

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self._programs)))

    def __len__(self) -> int:
        return len(self._programs)

    def named(self, name: str) -> ProgramGoldens | None:
        return next((p for p in self._programs if p.name == name), None)


class IntermediateGoldens(Mapping[str, OpGoldens]):
    """Goldens of every op by its number ("12", or "3/12" through a call).

    to_check: sources to compare, None for all; bypassed: those whose device value is replaced by the golden. Where only
    such are requested, no others are kept.
    """

    def __init__(self, evaluation: Evaluation, to_check: frozenset[str] | None, bypassed: frozenset[str]):
        self._evaluation, self.to_check, self.bypassed = evaluation, to_check, bypassed

    def __getitem__(self, source: str) -> OpGoldens:
        chosen = self.bypassed | (self.to_check or frozenset())
        return self._evaluation.all_records(chosen if source in chosen else None)[source]

    def producer(self, source: str, result: int) -> Producer:
        """Returns the producer that is consulted when a value of a result of an op is not its golden."""
        return self._evaluation.producer_of(self[source], result)

    def __iter__(self) -> Iterator[str]:
        return iter(self._evaluation.all_records())

    def __len__(self) -> int:
        return len(self._evaluation.all_records())
