# SPDX-License-Identifier: Apache-2.0
"""Compile the module of a function; sizes that its input shapes name stay open."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from golden.optional import torch
from ttmlir.ir import Module
from ttmlir.sizes import OpenSizeError, Size, open_flatbuffer

from builder.base.builder import Builder
from builder.base.errors import TTBuilderCompileException
from builder.base.open_shapes import Bounds, OpenShapes, bounds_of
from builder.goldens.module_goldens import golden_of
from builder.goldens.open_goldens import Built, OpenGoldens
from builder.ops.structure import public_functions, symbol

from .artifacts import Artifact, check_target, emitted
from .lowering import Lowering, built, lower, lowered_module

# Programs for sizes that the open one does not take.
KEPT = 4


@dataclass(frozen=True)
class Compiled:
    """What compiling a function gives. Of open sizes, module and lowered module are for one value of each."""

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


@contextmanager
def told(shapes: OpenShapes) -> Iterator[None]:
    """Errors begin with the sizes of the build."""
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
    open_sizes = [size_of(n, bounds.get(n, Bounds())) for n in shapes.names if not is_fixed(bounds.get(n))]
    if open_sizes:
        check_numbers_are_not_needed(source.how, open_sizes)
    with told(shapes):
        lowered, snapshot = lowered_module(module, builder, builder.mesh_shape, source.how)
        if not open_sizes:
            artifact = emitted(lowered, source.how.target, source.how.emit_options())
            return Compiled(module, builder, artifact, lowered, snapshot.programs, snapshot.intermediates)

    def lower_at(point: Sequence[int]) -> Any:
        values = {**shapes.values, **dict(zip((size.name for size in open_sizes), point, strict=True))}
        at = OpenShapes(bounds, values)
        try:
            made, own = source.built(at)
            with told(at):
                return lowered_module(made, own, own.mesh_shape, source.how, is_open=True)[0]
        except TTBuilderCompileException as error:  # of this size: it was compiled for another one
            raise OpenSizeError(str(error)) from error

    data = open_flatbuffer(lower_at, open_sizes)
    goldens = OpenGoldens(builds(source, bounds, shapes.names), shapes.shapes, dict(shapes.values))
    return Compiled(module, builder, Artifact(data, source.how.target), lowered, goldens, snapshot.intermediates)


def is_fixed(bounds: Bounds | None) -> bool:
    return bounds is not None and bounds.least == bounds.most


def size_of(name: str, bounds: Bounds) -> Size:
    """0 and 1 have programs of their own."""
    if bounds.most is not None and bounds.most < 2:
        raise OpenSizeError(f"size {name} goes from 0 to 1: each is a program of its own")
    return Size(name, max(bounds.least, 2), bounds.most)


def check_numbers_are_not_needed(how: Lowering, sizes: Sequence[Size]) -> None:
    """
    Raises:
        OpenSizeError: the target has no programs with open sizes.
    """
    check_target(how.target)
    if how.target != "ttnn":
        names = ", ".join(size.name for size in sizes)
        raise OpenSizeError(
            f"target {how.target!r} needs numbers, and the input shapes leave {names} open; give numbers, as in "
            f"sizes={{{sizes[0].name!r}: 64}}, or compile for the target 'ttnn'"
        )


def builds(
    source: Source, bounds: Mapping[str, Bounds], names: Sequence[str]
) -> Callable[[Mapping[str, int], Mapping[str, Sequence[Any]]], Built]:
    """Gives the module for some sizes, with inputs by function."""

    @functools.lru_cache(maxsize=KEPT)
    def flatbuffer(*sizes: int) -> bytes:
        at = OpenShapes(bounds, dict(zip(names, sizes, strict=True)))
        module, builder = source.built(at)
        with told(at):
            data = lower(module, builder, builder.mesh_shape, source.how)[0].data
        assert isinstance(data, bytes)
        return data

    def build(sizes: Mapping[str, int], inputs: Mapping[str, Sequence[Any]]) -> Built:
        for name, value in sizes.items():
            bounds.get(name, Bounds()).check(name, value)
        at = OpenShapes(bounds, dict(sizes))
        module, builder = source.built(at)
        at.check_names(sizes, "at")
        for function in public_functions(module.operation):
            if (name := symbol(function)) in inputs:
                types = [argument.type for argument in function.regions[0].blocks[0].arguments]
                values = [tensor_of(value, type_) for value, type_ in zip(inputs[name], types, strict=True)]
                builder.goldens.set_inputs(name, [golden_of(*v, builder.mesh_shape) for v in values])
        snapshot = builder.goldens.snapshot(module)
        own = functools.partial(flatbuffer, *(at.values[name] for name in names))
        return Built(dict(at.values), snapshot.programs, snapshot.intermediates, own)

    return build


def tensor_of(value: Any, type_: Any) -> tuple[Any, Any]:
    return value if not isinstance(value, (list, tuple)) else torch.tensor(value), type_
