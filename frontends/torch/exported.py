# SPDX-License-Identifier: Apache-2.0
"""Models as files: what `torch.export` captures, compiled ahead."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from ttmlir import ir, passes, safetensors
from ttmlir.chips import lower
from ttmlir.emitted import LANGUAGES, check_suffix, write_program, write_texts
from ttmlir.files import write_whole

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils._pytree import tree_flatten, tree_unflatten

from .compilation import compile_graph
from .decompositions import decompositions
from .errors import UnsupportedError
from .importer import import_graph
from .memory.sharing import overlapping
from .options import Options
from .program import Program
from .report import FORWARD
from .sizes.convolutions import any_image_size

# Where a saved program has its weights.
SEPARATE, INSIDE = "beside", "inside"
STATE = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)


class CompiledModel:
    """A model that was compiled ahead; called as the model was.

    ttir, ttnn: the program as text, before and after the pipeline. Where sizes are open it is the program for some.
    closed: why the sizes of a model that was exported with several are not open, or "". Then the program is that of the
        example arguments, and calls with other sizes compile others.
    flatbuffer: what `ttrt run` and the runtime load.
    """

    def __init__(self, exported: ExportedProgram, options: Options) -> None:
        self.exported, self.options = exported, options
        signature = exported.graph_signature
        specs = signature.input_specs
        if any(spec.kind is InputKind.TOKEN for spec in specs):
            raise UnsupportedError("the model has ops with effects (tokens)")
        state = [i for i, spec in enumerate(specs) if spec.kind in STATE]
        self._state = {i: self._tensor(specs[i]) for i in state}
        self._parameters, self.closed = state, ""
        self._run: Callable[[Sequence[Any]], Any]
        self.program = self._compiled()
        self.ttir, self.ttnn = self.program.ttir, self.program.ttnn
        self._outputs = signature.output_specs
        numbers = {spec.target or spec.arg.name: i for i, spec in enumerate(specs)}
        mutations = (OutputKind.BUFFER_MUTATION, OutputKind.USER_INPUT_MUTATION)
        self._written = {numbers[spec.target] for spec in self._outputs if spec.kind in mutations}

    def _compiled(self) -> Program:
        """Compiles the program: for all sizes of the model, or else for those of its example arguments."""
        from .sizes.specialising import Specialising, is_dynamic  # loads what PyTorch has for symbols

        graph_module = self.exported.graph_module
        if not is_dynamic(graph_module):
            program = compile_graph(graph_module, self._parameters, self.options, keep_text=True)
            self._run = program
            return program
        ranges = self.exported.range_constraints
        run = Specialising(graph_module, self._parameters, self.options, FORWARD, False, "", ranges, keep_text=True)
        self._run = run
        program = run.of_examples()
        self.closed = run.closed
        return program

    def _tensor(self, spec: Any) -> torch.Tensor:
        target = spec.target
        if target in self.exported.state_dict:
            return self.exported.state_dict[target]
        return self.exported.constants[target]

    @cached_property
    def _residues(self) -> Mapping[Any, tuple[int, int]]:
        """Returns the sizes that guards allow: multiples of a number, plus a remainder."""
        from .sizes.guards import guards_of, residues

        values = [node.meta.get("val") for node in self.exported.graph.nodes]
        sizes: list[Any] = [n for x in values if isinstance(x, torch.Tensor) for n in x.shape]
        symbolic = next((n for n in sizes if isinstance(n, torch.SymInt)), None)
        return {} if symbolic is None else residues(guards_of(symbolic.node.shape_env))

    @property
    def flatbuffer(self) -> bytes:
        return self.program.flatbuffer

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what the model returns, computed on the chip. Buffers that the model writes are written.

        Raises:
            ValueError: other arguments or sizes than the model was exported with, or some that share memory and are
                written.
        """
        given, spec = tree_flatten((args, kwargs))
        if spec != self.exported.call_spec.in_spec:
            raise ValueError(f"called with {spec}; the model was exported with {self.exported.call_spec.in_spec}")
        users = iter(given)
        specs = self.exported.graph_signature.input_specs
        arguments = [self._state[i] if i in self._state else next(users) for i in range(len(specs))]
        if self._run is not self.program:
            check_sizes(self.exported, arguments, self._residues)
        for pair in overlapping(arguments) if self._written else ():
            if not self._written.isdisjoint(pair):
                first, second = (specs[number].arg.name for number in pair)
                raise ValueError(f"{first} and {second} share memory, and the model writes to one of them; pass a copy")
        results = []
        with torch.no_grad():
            for spec, value in zip(self._outputs, self._run(arguments), strict=True):
                if spec.kind is OutputKind.BUFFER_MUTATION:
                    self.exported.state_dict[spec.target].copy_(value)
                elif spec.kind is OutputKind.USER_INPUT_MUTATION:
                    names = [s.arg.name for s in specs]
                    arguments[names.index(spec.target)].copy_(value)
                elif spec.kind is OutputKind.USER_OUTPUT:
                    results.append(value)
                else:
                    raise UnsupportedError(f"an output of kind {spec.kind.name}")
        return tree_unflatten(results, self.exported.call_spec.out_spec)

    def save(self, path: str | os.PathLike[str], weights: str = SEPARATE) -> list[Path]:
        """Writes the program; the suffix of `path` says as what.

        Args:
            path: .ttnn (flatbuffer), .mlir (TTIR, and TTNN in a `.ttnn.mlir` next to it), .cpp or .py (a program that
                calls the library), .safetensors (the weights alone).
            weights: of a flatbuffer: "beside", as inputs whose values are in a `.safetensors` of the same name
                (`ttrt run --weights`), or "inside", as constants. Of .cpp and .py they are inputs or constants, too.
        Returns:
            The files that were written.
        Raises:
            UnsupportedError: sizes that cannot stay open, or open sizes with weights inside.
            ValueError: another suffix, or another place for the weights.
        """
        target = Path(path)
        check_suffix(target, (".ttnn", ".mlir", ".safetensors", *LANGUAGES))
        if weights not in (SEPARATE, INSIDE):
            raise ValueError(f"save with weights={weights!r}; expected {SEPARATE!r} or {INSIDE!r}")
        if target.suffix == ".mlir":
            return write_texts(target, self.ttir, self.ttnn)
        if target.suffix in LANGUAGES:
            return write_program(self._module(weights), target, self.options.compile_options())
        written = []
        if target.suffix == ".ttnn":
            if self.closed:
                raise UnsupportedError(f"the sizes of the model cannot stay open in a file: {self.closed}")
            data = self.flatbuffer
            if weights == INSIDE and self._run is not self.program:
                raise UnsupportedError("weights inside of a file whose sizes are open; save them next to it")
            if weights == INSIDE:
                module = self._module(weights)
                lower(module, self.options.compile_options())
                data = passes.ttnn_to_flatbuffer_bin(module)
            write_whole(target, data)
            written.append(target)
        if self._state and weights == SEPARATE:
            values = target.with_suffix(".safetensors")
            safetensors.write(values, {name: as_numpy(tensor) for name, tensor in self.weights().items()})
            written.append(values)
        return written

    def weights(self) -> dict[str, torch.Tensor]:
        """Returns parameters and buffers by the names of the program's inputs."""
        names = [node.name for node in self.exported.graph.nodes if node.op == "placeholder"]
        return {names[i]: tensor for i, tensor in self._state.items()}

    def _module(self, weights: str) -> ir.Module:
        constants = {i: tensor.detach() for i, tensor in self._state.items()} if weights == INSIDE else None
        with unset_fake_temporarily():
            return import_graph(self.exported.graph_module, self._state, constants=constants).module


def check_sizes(
    exported: ExportedProgram, arguments: Sequence[Any], residues: Mapping[Any, tuple[int, int]] | None = None
) -> None:
    """Checks the sizes of inputs.

    residues: of symbols that are multiples of a number, plus a remainder.

    Raises:
        ValueError: a size that the model was not exported for; names argument, dimension and bounds.
    """
    known: dict[Any, tuple[int, str]] = {}
    for node, given in zip(exported.graph.find_nodes(op="placeholder"), arguments, strict=True):
        requested = node.meta.get("val")
        if not isinstance(requested, torch.Tensor) or not isinstance(given, torch.Tensor):
            continue
        if given.dim() != requested.dim():
            raise ValueError(f"{node.name} has {given.dim()} dimensions; expected {requested.dim()}")
        for dimension, (want, have) in enumerate(zip(requested.shape, given.shape, strict=True)):
            place = f"{node.name}: dimension {dimension}"
            if not isinstance(want, torch.SymInt):
                if want != have:
                    raise ValueError(f"{place} is {have}; expected {want}")
                continue
            expression = want.node.expr
            if not expression.is_Symbol:
                continue
            bounds = exported.range_constraints.get(expression)
            name = name_of(want.node.shape_env, expression)
            if bounds is not None and not bounds.lower <= have <= bounds.upper:
                raise ValueError(f"{place}{name} is {have}; expected {bounds.lower} to {bounds.upper}")
            factor, remainder = (residues or {}).get(expression, (1, 0))
            if have % factor != remainder:
                more = f", plus {remainder}" if remainder else ""
                raise ValueError(f"{place}{name} is {have}; expected a multiple of {factor}{more}")
            first, where = known.setdefault(expression, (have, place))
            if first != have:
                raise ValueError(f"{place}{name} is {have}; expected {first}, as {where} is")
    for node, given in zip(exported.graph.find_nodes(op="placeholder"), arguments, strict=True):
        requested = node.meta.get("val")
        for dimension, want in enumerate(requested.shape if isinstance(requested, torch.Tensor) else ()):
            if not isinstance(want, torch.SymInt):
                continue
            solve(exported, node.name, dimension, want.node, given.shape[dimension], known)
            if want.node.expr.free_symbols <= known.keys():
                expected = want.node.expr.subs({symbol: n for symbol, (n, _) in known.items()})
                if given.shape[dimension] != expected:
                    text = f"{want.node.expr}, {expected} here"
                    raise ValueError(f"{node.name}: dimension {dimension} is {given.shape[dimension]}; expected {text}")


def solve(
    exported: ExportedProgram, argument: str, dimension: int, size: Any, have: int, known: dict[Any, tuple[int, str]]
) -> None:
    """Adds the symbol of a size such as 2*d to the known ones, where no dimension is the symbol alone.

    Raises:
        ValueError: the symbol has no value, or one beyond its bounds.
    """
    from .sizes.expressions import linear

    parts = linear(size.expr)
    if parts is None or parts[0] in known:
        return
    symbol, scale, shift = parts
    value, rest = divmod(have - shift, scale)
    bounds = exported.range_constraints.get(symbol)
    if rest or (bounds is not None and not bounds.lower <= value <= bounds.upper):
        within = "" if bounds is None else f" for {symbol} from {bounds.lower} to {bounds.upper}"
        raise ValueError(f"{argument}: dimension {dimension} is {have}; expected {size.expr}{within}")
    known[symbol] = value, f"{argument}: dimension {dimension}"


def name_of(environment: Any, symbol: Any) -> str:
    """Returns the name that the user gave a dimension, in brackets; or ""."""
    names = getattr(environment, "source_name_to_debug_name", {})
    sources = [source.name for source in environment.var_to_sources.get(symbol, ())]
    found = [names[s] for source in sources if (s := source() if callable(source) else source) in names]
    return f" ({found[0]})" if found else ""


def as_numpy(tensor: torch.Tensor) -> np.ndarray:
    """Returns the values of a tensor, without a copy if they are row-major."""
    tensor = tensor.detach().contiguous()
    if tensor.dtype is torch.bfloat16:  # which numpy lacks
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def export(
    model: torch.nn.Module | ExportedProgram,
    args: Sequence[Any],
    path: str | os.PathLike[str],
    kwargs: Mapping[str, Any] | None = None,
    options: Options | Mapping[str, Any] | None = None,
    weights: str = SEPARATE,
    dynamic_shapes: Any = None,
) -> list[Path]:
    """Compiles a model for these example arguments and saves it; see `compile` and `CompiledModel.save`."""
    return compile(model, args, kwargs, options, dynamic_shapes).save(path, weights)


def compile(
    model: torch.nn.Module | ExportedProgram,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    options: Options | Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
) -> CompiledModel:
    """Returns a model compiled for these example arguments.

    dynamic_shapes: dimensions that may have other sizes, as `torch.export.export` takes them.

    Raises:
        UnsupportedError: an op that has no form on the chip; names it, its operands and the line of Python.
    """
    with any_image_size():
        if not isinstance(model, ExportedProgram):
            model = torch.export.export(model, tuple(args), dict(kwargs or {}), dynamic_shapes=dynamic_shapes)
        decomposed = model.run_decompositions(decompositions(composite=True))
    return CompiledModel(decomposed, Options.of(options))
