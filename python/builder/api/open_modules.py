# SPDX-License-Identifier: Apache-2.0
"""Compile the module of a function; sizes that its input shapes name stay open."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from golden.optional import torch
from ttmlir.bounds import Bounds, bounds_of
from ttmlir.ir import Module
from ttmlir.sizes import FEWEST, OpenSizeError, Size, open_flatbuffer

from builder.base.builder import Builder
from builder.base.errors import TTBuilderCompileException
from builder.base.open_shapes import OpenShapes
from builder.execution.device_tensors import load_binary
from builder.execution.open_programs import takes
from builder.goldens.module_goldens import golden_of
from builder.goldens.open_goldens import Built, OpenGoldens
from builder.ops.structure import public_functions, symbol

from .artifacts import Artifact, check_target, emitted
from .lowering import Lowering, built, lower, lowered_module

# Programs for sizes that the open one does not take.
KEPT = 4


@dataclass(frozen=True)
class Compiled:
    """The results of compiling a function. With open sizes, both modules are for one value of each size."""

    module: Module
    builder: Builder
    artifact: Artifact
    lowered: Any
    programs: Any
    intermediates: Any


@dataclass(frozen=True)
class Source:
    """A module function and how it is compiled."""

    function: Callable[[Any], Any]
    dialect: str
    mesh_name: Any
    mesh_dict: Any
    how: Lowering

    def built(self, shapes: OpenShapes) -> tuple[Module, Builder]:
        with told(shapes):
            return built(self.function, self.dialect, self.mesh_name, self.mesh_dict, None, shapes)


@contextlib.contextmanager
def told(shapes: OpenShapes) -> Iterator[None]:
    """Puts the sizes of the build before errors."""
    try:
        yield
    except TTBuilderCompileException as error:
        if not shapes.names:
            raise
        text = ", ".join(f"{name} {shapes.values[name]}" for name in shapes.names if name in shapes.values)
        more = TTBuilderCompileException(f"for {text}: {error}")
        more.diagnostics = error.diagnostics
        raise more from error


def compiled(source: Source, sizes: Mapping[str, Any] | None) -> Compiled:
    """
    Raises:
        OpenSizeError: a size decides what is computed; names op and attribute.
        ValueError: sizes with a name that no input has.
    """
    bounds = bounds_of(sizes)
    shapes = OpenShapes(bounds)
    module, builder = source.built(shapes)
    shapes.check_names(bounds, "sizes")
    free = [name for name in shapes.names if not is_fixed(bounds.get(name, Bounds()))]
    if free:
        check_numbers_are_not_needed(source.how, free)
    listed = [name for name in free if has_few_values(bounds.get(name, Bounds()))]
    open_sizes = [size_of(name, bounds.get(name, Bounds())) for name in free if name not in listed]
    with told(shapes):
        lowered, snapshot = lowered_module(module, builder, builder.mesh_shape, source.how)
        if not open_sizes:
            options = source.how.options(builder.mesh_shape, builder.system_desc_path)
            artifact = emitted(lowered, source.how.target, options)
    if not free:
        return Compiled(module, builder, artifact, lowered, snapshot.programs, snapshot.intermediates)
    variants = Variants(source, bounds, shapes.names, open_sizes, listed)
    if open_sizes:
        artifact = Artifact(variants.open_at(shapes.values), source.how.target)
    goldens = OpenGoldens(variants.build, shapes.shapes, dict(shapes.values), listed)
    return Compiled(module, builder, artifact, lowered, goldens, snapshot.intermediates)


def is_fixed(bounds: Bounds) -> bool:
    return bounds.least == bounds.most


def has_few_values(bounds: Bounds) -> bool:
    """Returns whether there are too few values from 2 on for the sample points of an open size."""
    return bounds.most is not None and bounds.most - max(bounds.least, 2) < FEWEST - 1


def size_of(name: str, bounds: Bounds) -> Size:
    """Returns the sizes with separate programs, 0 and 1."""
    return Size(name, max(bounds.least, 2), bounds.most)


def check_numbers_are_not_needed(how: Lowering, names: Sequence[str]) -> None:
    """
    Raises:
        OpenSizeError: the target has no programs with open sizes.
    """
    check_target(how.target)
    if how.target != "ttnn":
        raise OpenSizeError(
            f"target {how.target!r} needs numbers, and the input shapes leave {', '.join(names)} open; give numbers, "
            f"as in sizes={{{names[0]!r}: 64}}, or compile for the target 'ttnn'"
        )


class Variants:
    """The programs of one module function for its sizes, compiled when they are needed.

    names: of all sizes. open_sizes: those that a program leaves open. listed: those that have too few values for that;
        each of their values has a program of its own.
    """

    def __init__(
        self,
        source: Source,
        bounds: Mapping[str, Bounds],
        names: Sequence[str],
        open_sizes: Sequence[Size],
        listed: Sequence[str],
    ) -> None:
        self.source, self.bounds, self.names = source, bounds, names
        self.open_sizes, self.listed = open_sizes, listed
        self._open = functools.lru_cache(maxsize=KEPT)(self._compile_open)
        self._fixed = functools.lru_cache(maxsize=KEPT)(self._compile_fixed)

    def open_at(self, values: Mapping[str, int]) -> bytes:
        """Returns the flatbuffer that leaves sizes open, for these values of the others.

        Raises:
            OpenSizeError: a size decides what is computed; names op and attribute.
        """
        names = {size.name for size in self.open_sizes}
        return self._open(*((name, values[name]) for name in self.names if name not in names))

    def _compile_open(self, *others: tuple[str, int]) -> bytes:
        def lower_at(point: Sequence[int]) -> Any:
            opened = dict(zip((size.name for size in self.open_sizes), point, strict=True))
            at = OpenShapes(self.bounds, {**dict(others), **opened})
            try:
                result, own = self.source.built(at)
                with told(at):
                    return lowered_module(result, own, own.mesh_shape, self.source.how, is_open=True)[0]
            except TTBuilderCompileException as error:  # of this size: it was compiled for another one
                raise OpenSizeError(str(error)) from error

        return open_flatbuffer(lower_at, self.open_sizes)

    def _compile_fixed(self, *sizes: int) -> bytes:
        at = OpenShapes(self.bounds, dict(zip(self.names, sizes, strict=True)))
        module, builder = self.source.built(at)
        with told(at):
            data = lower(module, builder, builder.mesh_shape, self.source.how)[0].data
        assert isinstance(data, bytes)
        return data

    def flatbuffer(self, values: Mapping[str, int]) -> bytes:
        """Returns the flatbuffer for sizes that the first one does not take."""
        if self.listed and self.open_sizes:
            with contextlib.suppress(OpenSizeError):
                if takes(load_binary(data := self.open_at(values)), values):
                    return data
        return self._fixed(*(values[name] for name in self.names))

    def build(self, sizes: Mapping[str, int], inputs: Mapping[str, Sequence[Any]]) -> Built:
        """Returns the module for some sizes, with inputs by function.

        Raises:
            TypeError, ValueError: a size that is none, or is out of bounds; names it.
        """
        for name, value in sizes.items():
            self.bounds.get(name, Bounds()).check(name, value)
        at = OpenShapes(self.bounds, {name: int(value) for name, value in sizes.items()})
        module, builder = self.source.built(at)
        at.check_names(sizes, "at")
        for function in public_functions(module.operation):
            if (name := symbol(function)) in inputs:
                types = [argument.type for argument in function.regions[0].blocks[0].arguments]
                values = [tensor_of(value, type_) for value, type_ in zip(inputs[name], types, strict=True)]
                builder.goldens.set_inputs(name, [golden_of(*v, builder.mesh_shape) for v in values])
        snapshot = builder.goldens.snapshot(module)
        own = functools.partial(self.flatbuffer, dict(at.values))
        return Built(dict(at.values), snapshot.programs, snapshot.intermediates, own)


def tensor_of(value: Any, type_: Any) -> tuple[Any, Any]:
    return value if not isinstance(value, (list, tuple)) else torch.tensor(value), type_
