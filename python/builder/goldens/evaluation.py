# SPDX-License-Identifier: Apache-2.0
"""Evaluation of goldens: a walk over the IR, op by op, that keeps live values only.

Ops are identified by their number: the position among all ops with results in a walk over the module, as in the
compiler's source numbers. An op that is reached through calls has the calls' numbers in front ("3/12").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from golden import GoldenMapTensor, TensorSpec, coarser
from golden.collective import join_by_axes, split_by_axes
from golden.optional import dtype_name, torch
from golden.sampling import generator, random_tensor
from golden.tensor import shardwise
from ttmlir import ir

from builder.base.builder_utils import is_tensor, torch_dtype
from builder.base.errors import TTBuilderGoldenException
from builder.base.input_range_constraints import infer_arg_ranges
from builder.ops.attribute_values import attribute_values
from builder.ops.op_infos import has_fact
from builder.ops.structure import (
    calls,
    location_text,
    named,
    number_ops,
    operand_groups,
    passed,
    public_functions,
    symbol,
    walk,
)

from .blocks import CONTROL, branch, chosen, is_device, is_terminator, last_uses, mesh_axes, shardings, terminator
from .records import Kept, Key, OpGoldens, Override, covers
from .rows import FLOAT, UNSIGNED, WIDENED, Region, find_op, golden_name, listed, quantized, rounding_errors, wide


@dataclass(frozen=True, eq=False)
class Producer:
    """The op that computes a value, and the known properties of the value if it is not its golden.

    key: number of the op, behind those of the calls that lead to it; result: which of its results; program: the
    function that runs it; output: which of that one's outputs, None for a value inside.
    """

    evaluation: Evaluation = field(repr=False)
    program: Any = field(repr=False)
    operation: Any = field(repr=False)
    key: str
    result: int
    output: int | None = None

    @property
    def op(self) -> str:
        return self.operation.name

    @property
    def location(self) -> str:
        return location_text(self.operation)

    @property
    def precision(self) -> torch.dtype | None:
        """Returns the coarsest known floating-point dtype of the values that the golden was computed from."""
        return self.evaluation.precision

    def noise(self, device: int) -> float:
        """Returns the rounding error of the golden, root mean square; 0 when it cannot be known."""
        where = ("", self.output) if self.output is not None else (self.key, self.result)
        return self.evaluation.noise(self.program).get((*where, device), 0.0)

    def meaning(
        self, golden: torch.Tensor, found: torch.Tensor, device: int
    ) -> tuple[torch.Tensor, torch.Tensor, bool]:
        """Returns the elements at the positions of the golden and at those that were found, and whether they are known
        exactly.

        Raises:
            LookupError: the value is no positions, or of what is not known.
            ValueError: positions that cannot be meant; says which.
        """
        row = find_op(self.op)
        if row is None or self.result not in row.points_to:
            raise LookupError
        record = self.evaluation.record(self.program, self.key)
        operands = [None if v is None else v.shard_at(device) for v in record.operands]
        elements = row.elements(self.result, operands, attribute_values(self.operation))
        exact = "/" not in self.key and all(isinstance(v, ir.BlockArgument) for v in self.operation.operands)
        return elements(golden), elements(found), exact


@dataclass
class Evaluation:
    """The goldens of the public functions of a module, computed by a walk over a function when one is first needed."""

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
        self._kept: dict[str, Kept] = {}
        self._noise: dict[str, Mapping[tuple[str, int, int], float]] = {}
        self._program: Any = None  # the function that is being run
        self._arguments = {(o.key.owner, o.key.index): o.golden for o in self.overrides if o.key.argument}
        self._after: dict[str | None, list[Override]] = {}
        for override in self.overrides:
            # An override of a module that was lowered meanwhile refers to an op that no longer exists.
            if not override.key.argument and self.names.get(override.key.owner) == override.key.op:
                self._after.setdefault(override.after, []).append(override)
        self._by_number = {str(n): op for op, n in self.numbers.items()}

    # ------------------------------------------------------------------ functions

    def inputs(self, function: Any) -> list[GoldenMapTensor]:
        """Returns the value of each argument: the user's, or else random values that its users accept."""
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
        """Returns how an argument is split before the program gets it, or None."""
        return self.sharded.get(Key(symbol(function), index, True))

    def outputs(self, function: Any, keep: Kept = frozenset()) -> list[GoldenMapTensor]:
        """Returns the goldens of the outputs of a public function.

        keep: sources of the ops whose goldens become `records`, None for all. Other goldens are freed after their last
        use.
        """
        name = symbol(function)
        before = self._kept.get(name, frozenset())
        if name not in self._outputs or not covers(before, keep):
            self._kept[name] = keep = None if keep is None or before is None else before | keep
            self._program = function
            self._outputs[name] = self.run(function, list(self.inputs(function)), "")
        return self._outputs[name]

    def value(self, function: Any, value: ir.Value) -> GoldenMapTensor:
        """Returns the golden of a value of a public function's block, which may still be open."""
        block = function.regions[0].blocks[0]
        values: dict[Any, Any] = dict(zip(block.arguments, self.inputs(function), strict=True))
        self._program = function
        self._kept[symbol(function)] = frozenset()
        for override in self._after.get(None, ()):
            self._replace(values, override)
        for view in block.operations:
            if value in values:
                break
            self.run_op(view.operation, values, "")
        return values[value]

    def all_records(self, keep: Kept = None) -> dict[str, OpGoldens]:
        for function in self.functions:
            self.outputs(function, keep)
        return self.records

    def record(self, function: Any, source: str) -> OpGoldens:
        """
        Raises:
            LookupError: the op has no golden.
        """
        if source not in self.records:
            # Those that may be requested as well, so that one walk is enough.
            others = {str(n) for op, n in self.numbers.items() if (row := find_op(op.name)) and row.points_to}
            self.outputs(function, frozenset([source, *others]))
        return self.records[source]

    def producer_of(self, record: OpGoldens, result: int) -> Producer:
        return Producer(self, record.program, record.operation, record.source, result)

    def producer(self, function: Any, output: int) -> Producer | None:
        """Returns the producer of an output of a public function, through calls; None when it is an argument."""
        value = terminator(function).operands[output]
        path: list[Any] = []  # calls that lead to the function in which the value is
        while True:
            if isinstance(value, ir.BlockArgument):
                if not path:
                    return None
                value = passed(path.pop())[value.arg_number]
                continue
            op, result = value.owner.operation, ir.OpResult(value).result_number
            callee = calls(op, self.root)
            if callee is None:
                key = "/".join(str(self.numbers[o]) for o in [*path, op])
                return Producer(self, function, op, key, result, output)
            path.append(op)
            value = terminator(callee).operands[result]

    # ------------------------------------------------------------------ rounding

    @property
    def precision(self) -> torch.dtype | None:
        """Returns the coarsest floating-point dtype of a value of the module."""
        if not hasattr(self, "_precision"):
            types = {v.type for op in walk(self.root) for v in (*op.operands, *op.results) if is_tensor(v.type)}
            elements = {str(ir.RankedTensorType(t).element_type) for t in types}
            self._precision = coarser(*(torch_dtype(e) for e in elements if "!quant" not in e))
        return self._precision

    def noise(self, function: Any) -> Mapping[tuple[str, int, int], float]:
        """Returns the rounding errors (root mean square) of the goldens of a public function, compared with goldens
        that are computed with float64 throughout.

        By (source, result, device) of what is in `records`, and ("", output, device). Empty when an op cannot be
        computed in float64.
        """
        name = symbol(function)
        if name not in self._noise:
            outputs = self.outputs(function)
            twin = Double(self.root, self.mesh_shape, self.seed, self.overrides, self.sharded, known=self)
            try:
                wider = twin.outputs(function)
            except TTBuilderGoldenException:
                self._noise[name] = {}
            else:
                self._noise[name] = twin.found | rounding_errors("", outputs, wider)
        return self._noise[name]

    # ------------------------------------------------------------------ a function

    def run(self, function: Any, inputs: list[GoldenMapTensor], path: str) -> list[GoldenMapTensor]:
        block = function.regions[0].blocks[0]
        values: dict[Any, Any] = dict(zip(block.arguments, inputs, strict=True))
        inputs.clear()  # the caller's list: what only this function needs is freed by it
        if path == "":
            for override in self._after.get(None, ()):
                self._replace(values, override)
        return self.run_block(block, values, path)

    def run_block(self, block: Any, values: dict[Any, Any], path: str) -> list[Any]:
        """Returns values of the operands of the block's terminator. Removes others from `values` after their last
        use."""
        dying = last_uses(block)
        for place, view in enumerate(block.operations):
            op = view.operation
            if len(op.results) == 0 and is_terminator(op):
                return [self._known(values, v, op) for v in op.operands]
            self.run_op(op, values, path, dying[place])
            for value in dying[place]:
                values.pop(value, None)
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

    def run_op(self, op: Any, values: dict[Any, Any], path: str, dying: Sequence[Any] = ()) -> None:
        """Evaluates an op. dying: values that no later op needs."""
        number = self.numbers.get(op)
        source = None if number is None else f"{path}{number}"
        callee = calls(op, self.root)
        if callee is not None:
            inputs = [self._known(values, v, op) for v in passed(op)]
            for value in dying:
                values.pop(value, None)
            results: Any = self.run(callee, inputs, f"{source}/")
        elif op.name == "sdy.manual_computation":
            results = self.per_device(op, values, path)
        elif op.name in CONTROL:
            results = self.control(op, values, path, source)
        else:
            results = self.compute(op, values)
        if results is not None:
            for value, golden in zip(op.results, results, strict=True):
                values[value] = golden
        if source is not None and path == "":
            for override in self._after.get(str(number), ()):
                self._replace(values, override)
        if source is not None and callee is None:
            self.note(source, op, values)

    def note(self, source: str, op: Any, values: Mapping[Any, Any]) -> None:
        """Keeps the goldens of an op, when they are to be kept."""
        if not covers(self._kept[symbol(self._program)], frozenset([source])):
            return
        goldens = tuple(values[r] for r in op.results if r in values)
        if goldens and len(goldens) == len(op.results):
            operands = tuple(values.get(v) for v in op.operands)
            record = OpGoldens(source, op.name, location_text(op), goldens, operands, op, self._program)
            self.records[source] = record

    def control(self, op: Any, values: dict[Any, Any], path: str, source: str | None) -> list[Any]:
        """Evaluates a loop or a branch. What is kept of the ops inside is of the last time that they ran."""
        operands = [self._known(values, v, op) for v in op.operands]
        if op.name.startswith("ttcore."):  # functions of all operands

            def run(name: Any, inputs: list[Any]) -> list[Any]:
                return self.run(named(op, name, self.root), list(inputs), f"{source}/")

            if op.name == "ttcore.case":
                branches = list(ir.ArrayAttr(op.attributes["branches"]))
                return run(branches[branch(operands[0], len(branches))], operands[1:])
            state = operands[: len(op.results)]
            while chosen(run(op.attributes["cond"], [*state, *operands[len(state) :]])[0]):
                state = run(op.attributes["body"], [*state, *operands[len(state) :]])
            return state

        def block(region: Any, arguments: Sequence[Any] = ()) -> list[Any]:
            entry = region.blocks[0]
            return self.run_block(entry, values | dict(zip(entry.arguments, arguments, strict=True)), path)

        if op.name == "stablehlo.case":
            return block(op.regions[branch(operands[0], len(op.regions))])
        if op.name == "stablehlo.if":
            return block(op.regions[0 if chosen(operands[0]) else 1])
        while chosen(block(op.regions[0], operands)[0]):
            operands = block(op.regions[1], operands)
        return operands

    def per_device(self, op: Any, values: dict[Any, Any], path: str) -> list[GoldenMapTensor]:
        """Computes a region on the shards of each device. Returns the tensors that its results are joined to."""
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
        """Returns goldens of the op's results, or None when there is nothing to compute or no golden function."""
        row = find_op(golden_name(op))
        missing = next((v for v in op.operands if v not in values and is_tensor(v.type)), None)
        if row is None or missing is not None:
            reason = self.unknown.get(missing) if missing is not None else None
            reason = reason or f"{op.name} at {location_text(op)} has no golden; set_operand_goldens can give one"
            self.unknown.update(dict.fromkeys(op.results, reason))
            return None
        declared = [
            TensorSpec(tuple(t.shape), self.dtype(t.element_type))
            for t in (ir.RankedTensorType(r.type) for r in op.results if is_tensor(r.type))
        ]
        moves = has_fact(op.name, "moves_values") and not has_fact(op.name, "fills_values")
        moves |= has_fact(op.name, "forwards_values")
        # Computations use the floats that quantized elements represent; data movement ops keep the elements.
        stored = [None if moves or not len(op.operands) else quantized(r.type) for r in op.results if is_tensor(r.type)]
        specs = [
            TensorSpec(s.shape, self.dtype(FLOAT) if kind else s.dtype)
            for s, kind in zip(declared, stored, strict=True)
        ]
        operands = [self.picked(g, values, row, moves) for g in operand_groups(op) if not is_device(g)]
        attributes: dict[str, Any] = attribute_values(op)
        attributes["out"] = specs[0] if len(specs) == 1 else specs
        if len(op.regions):
            attributes["regions"] = [Region(r, values, self.dtype) for r in op.regions]
        try:
            results = row(*operands, **attributes) if row.mesh else shardwise(row, *operands, **attributes)
        except TTBuilderGoldenException:
            raise
        except Exception as error:
            raise TTBuilderGoldenException(
                f"the golden of {op.name} at {location_text(op)} failed: {type(error).__name__}: {error}"
            ) from error
        if row.updates:
            groups = list(operand_groups(op))
            written = [groups[i] for i in row.updates if groups[i] is not None]
            for target, golden in zip(written, listed(results, self.mesh_shape), strict=True):
                dtype = self.dtype(ir.RankedTensorType(target.type).element_type)
                values[target] = golden.map(partial(torch.Tensor.to, dtype=dtype))
            return [values[written[0]]] * len(op.results)
        return [
            self._declared(op, g if kind is None else g.map(partial(kind.quantize, dtype=s.dtype)), s)
            for g, s, kind in zip(listed(results, self.mesh_shape), declared, stored, strict=True)
        ]

    def _declared(self, op: Any, golden: GoldenMapTensor, spec: TensorSpec) -> GoldenMapTensor:
        """Rounds to the dtype that the op declares for its result."""
        if tuple(golden.shape) != spec.shape:
            raise TTBuilderGoldenException(
                f"the golden of {op.name} at {location_text(op)} has shape {list(golden.shape)}, "
                f"the op declares {list(spec.shape)}"
            )
        return golden.map(lambda t: t.to(spec.dtype))

    def dtype(self, element: ir.Type | str) -> torch.dtype:
        """Returns the dtype in which values of this element type are held."""
        return torch_dtype(element)

    def picked(self, group: Any, values: Mapping[Any, Any], row: Any, moves: bool) -> Any:
        """Returns the goldens of an operand group (a value, a list of them, or None), widened for computing."""
        if isinstance(group, list):
            return [self.picked(v, values, row, moves) for v in group]
        if group is None or group not in values:
            return None
        golden = values[group]
        if not moves and (kind := quantized(group.type)):
            return golden.map(partial(kind.dequantize, dtype=self.dtype(FLOAT)))
        widened = {} if row.exact_types else UNSIGNED if moves else WIDENED
        name = widened.get(dtype_name(golden.dtype) or "")
        return golden if name is None else golden.map(lambda t: t.to(getattr(torch, name)))


@dataclass
class Double(Evaluation):
    """The same goldens with float64 in the place of every floating-point type.

    known: those in the module's types; found: how far they are from these, as in `Evaluation.noise`.
    """

    known: Any = None
    found: dict[tuple[str, int, int], float] = field(default_factory=dict)

    def inputs(self, function: Any) -> list[GoldenMapTensor]:
        return [wide(golden) for golden in self.known.inputs(function)]

    def _replace(self, values: dict[Any, Any], override: Override) -> None:
        super()._replace(values, override)
        op = self._by_number[override.key.owner]
        values[op.results[override.key.index]] = wide(override.golden)

    def note(self, source: str, op: Any, values: Mapping[Any, Any]) -> None:
        record = self.known.records.get(source)
        goldens = [values[r] for r in op.results if r in values]
        if record is not None and len(goldens) == len(record.results):
            self.found |= rounding_errors(source, record.results, goldens)

    def dtype(self, element: ir.Type | str) -> torch.dtype:
        exact = super().dtype(element)
        return torch.float64 if exact.is_floating_point else exact

    def picked(self, group: Any, values: Mapping[Any, Any], row: Any, moves: bool) -> Any:
        golden = super().picked(group, values, row, moves)
        if row.exact_types and isinstance(golden, GoldenMapTensor):  # bits are those of the module's types
            exact = torch_dtype(ir.RankedTensorType(group.type).element_type)
            return golden.map(lambda t: t.to(exact))
        return golden
