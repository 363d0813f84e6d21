# SPDX-License-Identifier: Apache-2.0
"""ONNX models that are called: inputs are checked, and programs are compiled for the sizes that calls bring."""

from __future__ import annotations

import os
import sys
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import _ttmlir_runtime as tt
import numpy as np
from ttmlir import ir, passes
from ttmlir.chips import lower
from ttmlir.options import CompileOptions, Given
from ttmlir.sizes import OpenSizeError, Size, points

from .arguments import shape_of, taken, to_torch, value_sets
from .errors import OnnxError, UnsupportedOpError, needs_values
from .importer import import_model
from .model import Declared, Model, domain_of, model_of, read_model
from .program import Fixed, Open, Program, Weights
from .sizes import Bounds, Shape, Sizes
from .values import Array
from .ways import Way, accepts, with_sums

MOST_FIXED, MOST_KNOWN = 16, 256
# Ways in which a model is tried with some of its sizes open.
MOST_WAYS = 4
# Seconds of CPU time that a call waits for a program that leaves sizes open; `open_sizes` and `save` have no limit.
LONGEST, TOO_LONG = 20.0, "takes more than"

Key: TypeAlias = tuple[Any, ...]


class OnnxModel:
    """An ONNX model; called with arrays in the order of its inputs, or by name.

    Programs are compiled for the sizes that calls bring: the first call for its own sizes, and when others come, one
    program for all of them where there can be one. `closed` says why there is none; then each set of sizes has its own,
    as have sizes of 0 and 1.

    inputs, outputs: with their shapes and types. sizes: (least, most) of each dimension that has no size, by name; None
    for no bound.
    """

    def __init__(
        self,
        model: Model,
        sizes: Mapping[str, int | Bounds] | None = None,
        options: Given = None,
        known: Mapping[str, Any] | None = None,
    ) -> None:
        for name, given in (("sizes", sizes), ("known", known)):
            if given is not None and not isinstance(given, Mapping):
                raise TypeError(f"{name} is {type(given).__name__}; expected a mapping by name")
        self.model, self.options = model, CompileOptions(options)
        self.known = {name: self._known(name, value) for name, value in (known or {}).items()}
        self.inputs = [x for x in model.inputs if x.name not in self.known]
        self._all = {x.name: x for x in (*self.inputs, *model.optional) if x.name not in self.known}
        self._sizes = Sizes(model, list(self._all.values()), sizes)
        self._weights = Weights()
        self._fixed: OrderedDict[Key, Fixed] = OrderedDict()
        self._found: OrderedDict[Key, Program] = OrderedDict()
        self._by_shapes: dict[tuple[Any, ...], Program] = {}  # where values do not matter
        self._types = [None if x.is_sequence else x.dtype for x in self.inputs]
        self._opened: list[tuple[Way, Open]] = []
        self._tried: set[Way] = set()
        self._slow: set[Way] = set()  # that took longer than a call waits
        self._seen: list[dict[str, int]] = []
        self._last: Key | None = None
        self._by_values = 0  # which inputs have values that programs need, by place in `value_sets`
        self._closed = ""

    #
    # What the model is
    #

    @property
    def path(self) -> Path:
        return self.model.path

    @property
    def sizes(self) -> dict[str, Bounds]:
        return dict(self._sizes.bounds)

    @property
    def outputs(self) -> list[Declared]:
        return self.model.results

    @property
    def opsets(self) -> dict[str, int]:
        """Returns the version of each domain of ops."""
        return {domain or "ai.onnx": version for domain, version in self.model.opsets.items()}

    @property
    def ops(self) -> dict[str, int]:
        """Returns how many nodes of each op there are, those of inner graphs and of the model's functions included."""
        counts: dict[str, int] = {}

        def count(nodes: Any) -> None:
            for node in nodes:
                name = ".".join(filter(None, (domain_of(node.domain), node.op_type)))
                counts[name] = counts.get(name, 0) + 1
                for attribute in node.attribute:
                    for graph in [attribute.g, *attribute.graphs]:
                        count(graph.node)

        count(self.model.proto.graph.node)
        for function in self.model.functions.values():
            count(function.node)
        return dict(sorted(counts.items()))

    def _known(self, name: str, value: Any) -> Array:
        declared = next((x for x in (*self.model.inputs, *self.model.optional) if x.name == name), None)
        if declared is None:
            names = ", ".join(x.name for x in self.model.inputs)
            raise OnnxError(f"{self.model.path}: known has {name!r}, which is no input; the inputs are {names}")
        return taken(declared, value)

    #
    # Calls
    #

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the model's output, or a tuple of several: tensors of PyTorch where an input is one, else arrays.

        Raises:
            TypeError: inputs that are missing, or that the model does not have.
            ValueError: a shape, type or value that the model does not take; names input, dimension and bound.
            OnnxError: a node that has no form on the chip for these sizes.
        """
        given: Mapping[str, Any] = {}
        flat: Sequence[Array] = args
        program = None if kwargs else self._known_program(args)
        if program is None:
            given = self.bound(args, kwargs)
            arrays = {name: taken(self._all[name], value) for name, value in given.items()}
            program, flat = self._program(arrays)
        try:
            results = program.run(flat)
        except tt.Error as error:
            raise OnnxError(f"{self.model.path}: {error}") from None
        torch = sys.modules.get("torch")
        if torch is not None and any(isinstance(x, torch.Tensor) for x in given.values()):
            results = [to_torch(x) for x in results]
        return results[0] if len(results) == 1 else tuple(results)

    def _known_program(self, args: Sequence[Any]) -> Program | None:
        """Returns the program of an earlier call with these shapes, if all inputs are arrays of their types."""
        if len(args) != len(self._types):
            return None
        shapes = []
        for x, dtype in zip(args, self._types, strict=True):
            if type(x) is not np.ndarray or x.dtype != dtype:
                return None
            shapes.append(x.shape)
        return self._by_shapes.get(tuple(shapes))

    def bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the values of inputs by name, in the model's order; optional inputs that are not given are left out.

        Raises:
            TypeError: see `__call__`.
        """
        names = [x.name for x in self.inputs]
        if not kwargs and len(args) == len(names):
            return dict(zip(names, args, strict=True))
        if len(args) > len(names):
            raise TypeError(f"{self._takes()} and was given {len(args)}")
        given = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name in given:
                raise TypeError(f"input {name} is given twice")
            if name not in self._all:
                raise TypeError(f"there is no input {name!r}; {self._takes()}")
            given[name] = value
        missing = [name for name in names if name not in given]
        if missing:
            raise TypeError(f"{self._takes()} and was given {len(given)}: {', '.join(missing)} missing")
        return {name: given[name] for name in self._all if name in given}

    def _takes(self) -> str:
        count = len(self.inputs)
        text = ", ".join(f"{x.name} {x}" for x in self.inputs)
        return f"the model takes {count} input{'s' * (count != 1)} ({text})"

    def _program(self, arrays: Mapping[str, Any]) -> tuple[Program, list[Array]]:
        """Returns the program for arrays, and the arrays that it takes."""
        values: dict[str, Array] = {}
        if self._by_values:
            values = value_sets(arrays)[self._by_values - 1]
        shapes = {name: shape_of(x) for name, x in arrays.items()}
        key = (tuple(shapes.items()), tuple((name, x.tobytes()) for name, x in values.items()))
        program = self._found.get(key)
        if program is None:
            program, values, key = self._compile_for(arrays, shapes, values, key)
            self._found[key] = program
            self._by_shapes.clear()
            if len(self._found) > MOST_KNOWN:
                self._found.popitem(last=False)
        else:
            self._found.move_to_end(key)
        if not self._by_values and list(arrays) == [x.name for x in self.inputs]:
            self._by_shapes[tuple(shapes.values())] = program
        flat: list[Array] = []
        for name, x in arrays.items():
            if name not in values:
                flat += x if isinstance(x, list) else [x]
        return program, flat

    def _compile_for(
        self, arrays: Mapping[str, Any], shapes: dict[str, Any], values: dict[str, Array], key: Key
    ) -> Any:
        """Compiles a program for arrays; where nodes need values of inputs, for those of as few inputs as possible."""
        plain = {name: x for name, x in shapes.items() if not self._all[name].is_sequence}
        sizes = self._sizes.check(plain)
        self._last = key
        try:
            return self._for(shapes, sizes, values, key), values, key
        except OnnxError as error:
            if self._by_values or not needs_values(error):
                raise
            for number, found in enumerate(value_sets(arrays), 1):
                if found:
                    key = (key[0], tuple((name, x.tobytes()) for name, x in found.items()))
                    try:
                        program = self._for(shapes, sizes, found, key)
                    except OnnxError:
                        continue
                    self._last = key
                    self._by_values = number
                    self._closed = f"values of {', '.join(found)} decide what is computed"
                    return program, found, key
            raise

    def _for(self, shapes: dict[str, Any], sizes: dict[str, int], values: Mapping[str, Array], key: Key) -> Program:
        optional = [name for name in shapes if name in self.model.weights]
        if not values and not optional:
            found = self._open(sizes)
            if found is not None:
                return found
        if key not in self._fixed:
            known = {**self.known, **values}
            self._fixed[key] = Fixed(self._with(optional, known), shapes, self.options, known, self._weights)
            if len(self._fixed) > MOST_FIXED:
                dropped, _ = self._fixed.popitem(last=False)
                self._found.pop(dropped, None)
        return self._fixed[key]

    def _with(self, optional: Sequence[str], known: Mapping[str, Array]) -> Model:
        """Returns the model with some of its optional inputs among the others."""
        if not optional and not any(name in self.model.weights for name in known):
            return self.model
        weights = {name: x for name, x in self.model.weights.items() if name not in optional and name not in known}
        inputs = [*self.model.inputs, *(x for x in self.model.optional if x.name in optional)]
        return replace(self.model, inputs=inputs, weights=weights)

    def result_types(self, shapes: Sequence[Shape]) -> list[tuple[Shape, Any]]:
        """Returns the shapes and types of results for shapes of inputs.

        Raises:
            ValueError, OnnxError: as a call does.
        """
        named = dict(zip((x.name for x in self.inputs), shapes, strict=True))
        self._sizes.check(named)
        with ir.Context():
            result = import_model(self._with((), self.known), named, self.known)
            return [(value.shape, value.dtype) for _, value in result.outputs]

    #
    # Open sizes
    #

    def _open(self, sizes: dict[str, int]) -> Open | None:
        """Returns the program that leaves sizes open and takes these, or None."""
        bounds = self._sizes.bounds
        if not bounds or any(shape is None for shape in self._sizes.shapes.values()):
            return None
        for way, program in self._opened:
            if accepts(way, program, sizes):
                return program
        if len(self._tried) >= MOST_WAYS or sizes in self._seen:
            return None
        self._seen.append(dict(sizes))
        if len(self._seen) == 1:
            return None
        for way in self._ways(sizes):
            if way in self._tried or len(self._tried) >= MOST_WAYS:
                continue
            found = self._try(way, LONGEST)
            if found is not None and accepts(way, found, sizes):
                return found
        return None

    def _ways(self, sizes: Mapping[str, int]) -> list[Way]:
        """Lists how sizes may stay open, the most open way first."""
        names = [name for name, (least, most) in self._sizes.bounds.items() if most is None or most > 1]
        alone = {name: 1 for name in self._sizes.bounds if name not in names}
        ways = [Way(tuple((name,) for name in names), tuple(alone.items()))]
        small = [name for name in sizes if sizes[name] < 2]
        alike = [seen for seen in self._seen if small == [name for name in seen if seen[name] < 2]]
        summed = with_sums(sizes, alike)
        if any(sizes[name] < 2 for name in names):
            return [*ways, *summed]
        equal: dict[int, list[str]] = {}
        for name in names:
            equal.setdefault(sizes[name], []).append(name)
        ways.append(Way(tuple(map(tuple, equal.values())), tuple(alone.items())))
        same = {name: sizes[name] for name in names if len({seen[name] for seen in self._seen}) == 1} | alone
        if len(same) < len(sizes):
            ways.append(Way(tuple((name,) for name in names if name not in same), tuple(same.items())))
        return [*ways, *summed]

    def _try(self, way: Way, seconds: float | None = None) -> Open | None:
        """Returns a program that leaves sizes open in this way, or None; then `closed` says why there is none."""
        self._tried.add(way)
        try:
            program = self._compiled(way, seconds=seconds)
        except (OpenSizeError, OnnxError) as error:
            if seconds is not None and TOO_LONG in str(error):
                self._slow.add(way)
            self._closed = self._closed or str(error)
            return None
        self._opened.append((way, program))
        return program

    def _compiled(self, way: Way, inside: bool = False, seconds: float | None = None) -> Open:
        declared = []
        for names in way.groups:
            bounds = [self._sizes.bounds[name] for name in names]
            least = max(2, *(least for least, _ in bounds))
            most = min((most for _, most in bounds if most is not None), default=None)
            if most is not None and most < least:
                raise OpenSizeError(f"size {names[0]} goes from {least} to {most}: each is a program of its own")
            declared.append(Size(names[0], least, most))
        if not declared:
            raise OpenSizeError("no size is open")

        def at(point: Sequence[int]) -> Mapping[str, Shape]:
            return self._sizes.at(way.names(point))

        return Open(self._with((), self.known), declared, at, self.options, self.known, self._weights, inside, seconds)

    def _opened_first(self) -> Open | None:
        """Returns the program for all sizes; compiles it at the first call."""
        unknown = next((name for name, shape in self._sizes.shapes.items() if shape is None), None)
        if unknown is not None:
            self._closed = self._closed or f"the file does not say how many dimensions input {unknown} has"
            return None
        if not self._sizes.bounds:
            return None
        (way, *_) = self._ways({name: 0 for name in self._sizes.bounds})
        if way not in self._tried or way in self._slow:
            self._slow.discard(way)
            self._closed = ""
            self._try(way)
        return next((program for known, program in self._opened if known == way), None)

    @property
    def closed(self) -> str:
        """Returns the reason why there is no program for all sizes, or ""."""
        return "" if self._opened_first() is not None else self._closed

    @property
    def open_sizes(self) -> list[Size]:
        """Returns the sizes that one program leaves open, with their bounds; empty where there is none, see
        `closed`."""
        program = self._opened_first()
        return list(program.declared) if program is not None else []

    #
    # The program
    #

    @property
    def program(self) -> Program | None:
        """Returns the program for all sizes, or for the only ones; None where each set of sizes has its own."""
        if self._by_values and self._last is not None:
            return self._found.get(self._last)
        if not self._sizes.are_known:
            return self._opened_first()
        shapes: dict[str, Any] = {name: self._sizes.shapes[name] for name in (x.name for x in self.inputs)}
        key = (tuple(shapes.items()), ())
        return self._for(shapes, {}, {}, key)

    def needed(self) -> Program:
        """
        Raises:
            OpenSizeError: there is no program for all sizes; says why.
        """
        program = self.program
        if program is None:
            raise OpenSizeError(
                f"the sizes of the model cannot stay open in a file: {self._closed}; give sizes={{name: size}}"
            )
        return program

    @property
    def flatbuffer(self) -> bytes:
        """Returns the program, as `ttrt run` and the runtime load it; raises as `needed` does."""
        return self.needed().flatbuffer

    def flatbuffer_with_weights(self) -> bytes:
        """Returns the program with its weights as constants; raises as `needed` does."""
        from .saved import with_weights

        return with_weights(self, self.needed())

    @property
    def stablehlo(self) -> str:
        """Returns the program as it was imported: StableHLO, and TTIR where that has the op. Where sizes are open it is
        the program for some."""
        return self.texts()[0]

    @property
    def ttir(self) -> str:
        """Returns the program before the pipeline to TTNN; see `stablehlo`."""
        return self.texts()[1]

    @property
    def ttnn(self) -> str:
        """Returns the program after the pipeline; see `stablehlo`."""
        return self.texts()[2]

    def texts(self, inside: bool = False) -> tuple[str, str, str]:
        """Returns the program as StableHLO, TTIR and TTNN; raises as `needed` does."""
        program = self.needed()
        with ir.Context():
            module = self.module(program, inside)
            stablehlo = str(module)
            passes.stablehlo_to_ttir_pipeline(module)
            ttir = str(module)
            is_open = isinstance(program, Open)
            lower(module, self.options.with_(open_sizes=True) if is_open else self.options, is_said=True)
            return stablehlo, ttir, str(module)

    def module(self, program: Program, inside: bool = False) -> ir.Module:
        """Returns the module of a program, in the current context. inside: with weights as constants."""
        if isinstance(program, Fixed):
            return program.at(inside)
        assert isinstance(program, Open)
        return program.at(points(program.declared)[0], inside).module

    def with_weights(self, program: Open) -> Open:
        """Returns a program that leaves sizes open with its weights as constants."""
        way = next(known for known, opened in self._opened if opened is program)
        return self._compiled(way, inside=True)

    def save(self, path: str | os.PathLike[str], weights: str = "beside") -> list[Path]:
        """Writes the program; see `ttmlir.onnx.saved.save`."""
        from .saved import save

        return save(self, path, weights)


def read(model: Any) -> Model:
    """Returns a model from the path of a file, or from a model that the onnx package has loaded."""
    return read_model(model) if isinstance(model, str | os.PathLike) else model_of(model)


def load(model: Any, sizes: Mapping[str, int | Bounds] | None = None, options: Given = None,
         known: Mapping[str, Any] | None = None) -> OnnxModel:  # fmt: skip
    """Returns an ONNX model that is compiled for the shapes with which it is called.

    Args:
        model: the path of a file, or an onnx.ModelProto.
        sizes, options, known: see `compile`.
    Raises:
        OnnxError: the package onnx is missing, or the file is not valid, or TensorFlow's.
        FileNotFoundError: there is no file.
    """
    return OnnxModel(read(model), sizes, options, known)


def compile(
    model: Any,
    inputs: Sequence[Any] | Mapping[str, Any] | None = None,
    sizes: Mapping[str, int | Bounds] | None = None,
    options: Given = None,
    known: Mapping[str, Any] | None = None,
) -> OnnxModel:
    """Returns an ONNX model compiled.

    Args:
        model: the path of a file, or an onnx.ModelProto.
        inputs: examples, whose sizes the program has; None for the shapes that the file states.
        sizes: of named dimensions: one size ({"batch": 1}), or the least and the most ({"batch": (1, 64)}). Dimensions
            without a size may have any; those without a name are called by input and place, "x_0".
        options: of `ttir-to-ttnn-backend-pipeline`: a `ttmlir.CompileOptions`, or what that takes.
        known: inputs whose values are part of the program, and which calls leave out.
    Raises:
        OnnxError: see `load`; or a node that has no form on the chip: names it, and what was expected.
    """
    result = load(model, sizes, options, known)
    if hasattr(inputs, "shape") or isinstance(inputs, str | bytes):
        raise TypeError(f"inputs is {type(inputs).__name__}; expected a list of arrays, or arrays by name")
    if inputs is not None:
        given = result.bound((), inputs) if isinstance(inputs, Mapping) else result.bound(tuple(inputs), {})
        arrays = {name: taken(result._all[name], value) for name, value in given.items()}
        plain = {name: shape_of(x) for name, x in arrays.items() if not result._all[name].is_sequence}
        result._sizes.check(plain)
        result._sizes.fixed(plain)
        result._program(arrays)
    elif result._sizes.are_known and not any(x.is_sequence for x in result.inputs):
        try:
            _ = result.program
        except OnnxError as error:
            if not needs_values(error):
                raise
    else:
        require_form(result)
    return result


def require_form(model: OnnxModel) -> None:
    """Imports a model whose sizes are not known for some sizes, so that ops that cannot be are named at once.

    What these sizes alone do not allow says nothing of those that calls bring.

    Raises:
        UnsupportedOpError: an op has no form.
    """
    bounds = model._sizes.bounds
    if any(shape is None for shape in model._sizes.shapes.values()) or any(x.is_sequence for x in model.inputs):
        return
    for n in (64, 1, 224, 32, 640):
        sizes = {name: min(max(n, least), most if most is not None else n) for name, (least, most) in bounds.items()}
        try:
            with ir.Context():
                import_model(model._with((), model.known), model._sizes.at(sizes), model.known)
            return
        except UnsupportedOpError:
            raise
        except OnnxError:
            continue


def export(
    model: Any,
    path: str | os.PathLike[str],
    inputs: Sequence[Any] | Mapping[str, Any] | None = None,
    sizes: Mapping[str, int | Bounds] | None = None,
    options: Given = None,
    weights: str = "beside",
    known: Mapping[str, Any] | None = None,
) -> list[Path]:
    """Compiles an ONNX model and saves it; see `compile` and `ttmlir.onnx.saved.save`."""
    return compile(model, inputs, sizes, options, known).save(path, weights)
