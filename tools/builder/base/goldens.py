"""Goldens of a module: what every value is, computed by walking the IR when somebody asks.

The same walk serves modules that were built, loaded or split, of any dialect. Ops are identified by their number: the
position among all ops with results in a walk over the module, as in the compiler's source numbers. An op that is
reached through calls has the calls' numbers in front ("3/12").
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from golden import GoldenMapTensor, TensorSpec, find_op
from golden.collective import join_by_axes, split_by_axes, split_over_mesh
from golden.sampling import generator, random_tensor
from golden.tensor import shardwise
from ttmlir import ir

from .builder_utils import is_tensor, torch_dtype
from .elements import attribute_values
from .errors import TTBuilderGoldenException
from .input_range_constraints import infer_arg_ranges
from .structure import calls, location_text, number_ops, operand_groups, public_functions, symbol, walk

GoldenValue = torch.Tensor | Mapping[int, torch.Tensor] | GoldenMapTensor | Callable[..., torch.Tensor]

# Dtypes in which torch does no arithmetic; goldens are computed in the wider one and rounded to the declared one.
WIDENED = {torch.bfloat16: torch.float32, torch.float16: torch.float32, torch.uint16: torch.int64,
           torch.uint32: torch.int64, torch.uint64: torch.int64}  # fmt: skip


def golden_of(value: GoldenValue, type_: ir.Type, mesh_shape: tuple[int, int]) -> GoldenMapTensor:
    """A golden given by the user, checked against the type of its operand and cast to its dtype."""
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
    """function(shape), or function(shape, dtype=dtype) when it takes one."""
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


@dataclass(frozen=True)
class Key:
    """A value of the module that outlives its Python object: argument `index` of a function or result of an op."""

    owner: str  # function name, or the number of an op
    index: int
    argument: bool
    op: str = ""  # name of the op, by which a module that was changed meanwhile is noticed


def key_of(value: ir.Value, numbers: Mapping[Any, int]) -> Key:
    if isinstance(value, ir.BlockArgument):
        owner = value.owner.owner
        return Key(symbol(owner.operation), value.arg_number, True)
    op = value.owner.operation
    return Key(str(numbers[op]), ir.OpResult(value).result_number, False, op.name)


@dataclass(frozen=True)
class Override:
    key: Key
    golden: GoldenMapTensor
    after: str | None  # number of the op after which it holds; None: from the start


class Goldens:
    """The goldens of one module, and what the user said about them."""

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
        """Replace the values that were named so far by their numbers, which outlive changes of the module."""
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

    def snapshot(self, module: Any) -> Snapshot:
        """The goldens of the module as it is now; later changes of it have no effect on them."""
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


@dataclass(frozen=True)
class OpGoldens:
    """Goldens of the results of one op, and of its operands (None for what is no tensor).

    source: its number, behind those of the calls that lead to it; operation: where it was read from.
    """

    source: str
    op: str
    location: str
    results: tuple[GoldenMapTensor, ...]
    operands: tuple[GoldenMapTensor | None, ...] = field(repr=False, default=())
    operation: Any = field(repr=False, compare=False, default=None)


@dataclass
class Evaluation:
    """One walk over all public functions of a module, made when a value is first needed."""

    root: Any
    mesh_shape: tuple[int, int]
    seed: int
    overrides: tuple[Override, ...] = ()
    sharded: Mapping[Key, tuple[int, ...]] = field(default_factory=dict)
    records: dict[str, OpGoldens] = field(default_factory=dict)
    unknown: dict[Any, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.functions = public_functions(self.root)
        self.numbers = number_ops(self.root)
        self.names = {str(n): op.name for op, n in self.numbers.items()}
        self._inputs: dict[str, list[GoldenMapTensor]] = {}
        self._outputs: dict[str, list[GoldenMapTensor]] = {}
        self._arguments = {(o.key.owner, o.key.index): o.golden for o in self.overrides if o.key.argument}
        self._after: dict[str | None, list[Override]] = {}
        for override in self.overrides:
            # An override of a module that was lowered meanwhile concerns an op that is no more.
            if not override.key.argument and self.names.get(override.key.owner) == override.key.op:
                self._after.setdefault(override.after, []).append(override)
        self._by_number = {str(n): op for op, n in self.numbers.items()}

    # ------------------------------------------------------------------ functions

    def inputs(self, function: Any) -> list[GoldenMapTensor]:
        """Of each argument: what the user gave, else random values that the ops which use it accept."""
        name = symbol(function)
        if name not in self._inputs:
            ranges = infer_arg_ranges(function)
            self._inputs[name] = [
                self._arguments.get((name, i)) or self._random(name, i, argument.type, ranges.get(i))
                for i, argument in enumerate(function.regions[0].blocks[0].arguments)
            ]
        return self._inputs[name]

    def _random(self, name: str, index: int, type_: ir.Type, domain: Any) -> GoldenMapTensor:
        tensor = ir.RankedTensorType(type_)
        source = generator(self.seed, name, index)
        value = random_tensor(tensor.shape, torch_dtype(tensor.element_type), domain, source)
        return GoldenMapTensor({0: value}, self.mesh_shape)

    def shard_dims(self, function: Any, index: int) -> tuple[int, ...] | None:
        """How an argument is split before the program gets it, or None."""
        return self.sharded.get(Key(symbol(function), index, True))

    def outputs(self, function: Any) -> list[GoldenMapTensor]:
        name = symbol(function)
        if name not in self._outputs:
            self._outputs[name] = self.run(function, self.inputs(function), "")
        return self._outputs[name]

    def all_records(self) -> dict[str, OpGoldens]:
        for function in self.functions:
            self.outputs(function)
        return self.records

    def run(self, function: Any, inputs: Sequence[GoldenMapTensor], path: str) -> list[GoldenMapTensor]:
        block = function.regions[0].blocks[0]
        values: dict[Any, Any] = dict(zip(block.arguments, inputs, strict=True))
        if path == "":
            for override in self._after.get(None, ()):
                self._replace(values, override)
        return self.run_block(block, values, path)

    def run_block(self, block: Any, values: dict[Any, Any], path: str) -> list[Any]:
        """Values of the operands of the block's terminator."""
        for view in block.operations:
            op = view.operation
            if len(op.results) == 0 and is_terminator(op):
                return [self._known(values, v, op) for v in op.operands]
            self.run_op(op, values, path)
        return []

    def _replace(self, values: dict[Any, Any], override: Override) -> None:
        op = self._by_number[override.key.owner]
        values[op.results[override.key.index]] = override.golden

    def _known(self, values: Mapping[Any, Any], value: ir.Value, user: Any) -> Any:
        found = values.get(value)
        if found is None:
            reason = self.unknown.get(value, "it was not computed")
            raise TTBuilderGoldenException(
                f"no golden for an operand of {user.name} at {location_text(user)}: {reason}"
            )
        return found

    # ------------------------------------------------------------------ ops

    def run_op(self, op: Any, values: dict[Any, Any], path: str) -> None:
        number = self.numbers.get(op)
        source = None if number is None else f"{path}{number}"
        callee = calls(op, self.root)
        if callee is not None:
            inputs = [self._known(values, v, op) for v in op.operands]
            results: Any = self.run(callee, inputs, f"{source}/")
        elif op.name == "sdy.manual_computation":
            results = self.per_device(op, values, path)
        else:
            results = self.compute(op, values)
        if results is not None:
            for value, golden in zip(op.results, results, strict=True):
                values[value] = golden
        if source is not None and path == "":
            for override in self._after.get(str(number), ()):
                self._replace(values, override)
        if source is not None and callee is None:
            goldens = tuple(values[r] for r in op.results if r in values)
            if goldens and len(goldens) == len(op.results):
                operands = tuple(values.get(v) for v in op.operands)
                self.records[source] = OpGoldens(source, op.name, location_text(op), goldens, operands, op)

    def per_device(self, op: Any, values: dict[Any, Any], path: str) -> list[GoldenMapTensor]:
        """A region on the parts of tensors that lie on each device, and the whole tensors that its results make."""
        sizes = mesh_axes(self.root)
        block = op.regions[0].blocks[0]
        inner = dict(values)
        for argument, operand, axes in zip(block.arguments, op.operands, shardings(op, "in_shardings"), strict=True):
            whole = self._known(values, operand, op)
            inner[argument] = GoldenMapTensor(split_by_axes(whole.shard_at(0), axes, sizes), self.mesh_shape)
        parts = self.run_block(block, inner, path)
        return [
            GoldenMapTensor({0: join_by_axes(part.shard_at, axes, sizes)}, self.mesh_shape)
            for part, axes in zip(parts, shardings(op, "out_shardings"), strict=True)
        ]

    def compute(self, op: Any, values: dict[Any, Any]) -> list[Any] | None:
        """Goldens of the op's results, or None when there is nothing to compute or nobody knows how."""
        row = find_op(op.name)
        missing = next((v for v in op.operands if v not in values and is_tensor(v.type)), None)
        if row is None or missing is not None:
            reason = self.unknown.get(missing) if missing is not None else None
            reason = reason or f"{op.name} at {location_text(op)} has no golden; set_operand_goldens can give one"
            self.unknown.update(dict.fromkeys(op.results, reason))
            return None
        specs = [
            TensorSpec(tuple(t.shape), torch_dtype(t.element_type))
            for t in (ir.RankedTensorType(r.type) for r in op.results if is_tensor(r.type))
        ]
        keep = row.exact_types or row.moves
        operands = [pick(g, values, keep) for g in operand_groups(op) if not is_device(g)]
        attributes: dict[str, Any] = attribute_values(op)
        attributes["out"] = specs[0] if len(specs) == 1 else specs
        if len(op.regions):
            attributes["regions"] = [Region(self, r, values) for r in op.regions]
        try:
            results = row(*operands, **attributes) if row.mesh else shardwise(row, *operands, **attributes)
        except TTBuilderGoldenException:
            raise
        except Exception as error:
            raise TTBuilderGoldenException(
                f"the golden of {op.name} at {location_text(op)} failed: {type(error).__name__}: {error}"
            ) from error
        if row.updates:
            cache = op.operands[0]
            spec = ir.RankedTensorType(cache.type)
            values[cache] = results.map(lambda t: t.to(torch_dtype(spec.element_type)))
            return [values[cache]] * len(op.results)
        return [self._declared(op, g, s) for g, s in zip(listed(results, self.mesh_shape), specs, strict=True)]

    def _declared(self, op: Any, golden: GoldenMapTensor, spec: TensorSpec) -> GoldenMapTensor:
        """Rounded to the dtype that the op declares for its result."""
        if tuple(golden.shape) != spec.shape:
            raise TTBuilderGoldenException(
                f"the golden of {op.name} at {location_text(op)} has shape {list(golden.shape)}, "
                f"the op declares {list(spec.shape)}"
            )
        return golden.map(lambda t: t.to(spec.dtype))


def mesh_axes(root: Any) -> dict[str, int]:
    """Axes of the module's first mesh."""
    mesh = next((op for op in walk(root) if op.name == "sdy.mesh"), None)
    return {axis: int(size) for axis, size in re.findall(r'"([^"]+)"\s*=\s*(\d+)', str(mesh))}


def shardings(op: Any, name: str) -> list[list[list[str]]]:
    """Of each value, of each dimension: the names of the manual axes that split it."""
    manual = re.findall(r'"([^"]+)"', str(op.attributes["manual_axes"]))
    return [
        [[a for a in re.findall(r'"([^"]+)"', axes) if a in manual] for axes in re.findall(r"\{([^}]*)\}", dims)]
        for dims in re.findall(r"<@\w+, \[([^\]]*)\]", str(op.attributes[name]))
    ]


def is_terminator(op: Any) -> bool:
    return op.name in ("func.return", "stablehlo.return", "sdy.return", "ttcore.yield")


def listed(results: Any, mesh_shape: tuple[int, int]) -> list[GoldenMapTensor]:
    items = list(results) if isinstance(results, (list, tuple)) else [results]
    # A value without operands, the same on all devices, does not know of the mesh yet.
    return [GoldenMapTensor(GoldenMapTensor.of(r, mesh_shape).shard_map, mesh_shape) for r in items]


def is_device(group: Any) -> bool:
    """Whether an operand group is a device, of which goldens know nothing."""
    return isinstance(group, ir.Value) and not is_tensor(group.type)


def pick(group: Any, values: Mapping[Any, Any], keep: bool) -> Any:
    """The goldens of an operand group (a value, a list of them, or None), widened for computing."""
    if isinstance(group, list):
        return [pick(v, values, keep) for v in group]
    if group is None or group not in values:
        return None
    golden = values[group]
    wide = None if keep else WIDENED.get(golden.dtype)
    return golden if wide is None else golden.map(lambda t: t.to(wide))


class Region:
    """A region of an op as a function on tensors. kind: name of its only op when that takes the arguments in order."""

    def __init__(self, evaluation: Evaluation, region: Any, values: Mapping[Any, Any]):
        self._evaluation, self._block, self._values = evaluation, region.blocks[0], values
        operations = [view.operation for view in self._block.operations]
        only = operations[0] if len(operations) == 2 else None
        plain = only is not None and list(only.operands) == list(self._block.arguments)
        self.kind = only.name.partition(".")[2] if plain and only is not None else None

    def __call__(self, *tensors: Any) -> list[Any]:
        values = dict(self._values)
        values.update(zip(self._block.arguments, tensors, strict=True))
        for view in self._block.operations:
            op = view.operation
            if len(op.results) == 0:
                return [values[v] for v in op.operands]
            # Elements are scalars in the IR; whole tensors go through at once.
            row = find_op(op.name)
            if row is None:
                raise ValueError(f"{op.name} in a region has no golden")
            spec = TensorSpec((), torch_dtype(ir.RankedTensorType(op.results[0].type).element_type))
            result = row(*(values[v] for v in op.operands), **attribute_values(op), out=spec)
            values[op.results[0]] = result.to(spec.dtype)
        return []


# ---------------------------------------------------------------------- what execution reads


class ProgramGoldens(Mapping[str, GoldenMapTensor]):
    """Goldens of one public function: input_0, ..., output_0, ... Outputs are computed when one is read."""

    def __init__(self, evaluation: Evaluation, function: Any):
        self._evaluation, self._function = evaluation, function
        self.name = symbol(function)
        block = function.regions[0].blocks[0]
        self.input_names = [f"input_{i}" for i in range(len(block.arguments))]
        type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        self.output_names = [f"output_{i}" for i in range(len(type_.results))]

    @property
    def inputs(self) -> list[GoldenMapTensor]:
        """As the program takes them: split over the mesh where the argument is presharded."""
        goldens = []
        for i, golden in enumerate(self._evaluation.inputs(self._function)):
            dims = self._evaluation.shard_dims(self._function, i)
            if dims is not None and not golden.is_distributed:
                golden = split_over_mesh(golden.shard_at(0), golden.mesh_shape, dims)
            goldens.append(golden)
        return goldens

    @property
    def outputs(self) -> list[GoldenMapTensor]:
        return self._evaluation.outputs(self._function)

    @property
    def makers(self) -> dict[str, tuple[str, str]]:
        """Output -> name and location of the op that computes it; those that are arguments are left out."""
        terminator = list(self._function.regions[0].blocks[0].operations)[-1].operation
        owners = {name: value.owner for name, value in zip(self.output_names, terminator.operands, strict=False)
                  if not isinstance(value, ir.BlockArgument)}  # fmt: skip
        return {name: (owner.operation.name, location_text(owner.operation)) for name, owner in owners.items()}

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

    to_check: sources to compare, None for all; bypassed: those whose device value is replaced by the golden.
    """

    def __init__(self, evaluation: Evaluation, to_check: frozenset[str] | None, bypassed: frozenset[str]):
        self._evaluation, self.to_check, self.bypassed = evaluation, to_check, bypassed

    def __getitem__(self, source: str) -> OpGoldens:
        return self._evaluation.all_records()[source]

    def __iter__(self) -> Iterator[str]:
        return iter(self._evaluation.all_records())

    def __len__(self) -> int:
        return len(self._evaluation.all_records())
