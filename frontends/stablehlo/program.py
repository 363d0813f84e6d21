# SPDX-License-Identifier: Apache-2.0
"""Programs of StableHLO modules with open dimensions: one flatbuffer for many sizes, and others where it cannot be."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import _ttmlir_runtime as tt
from ttmlir import ir, passes
from ttmlir.bounds import Bounds, bounds_of
from ttmlir.chips import lower
from ttmlir.dialects import stablehlo
from ttmlir.options import CompileOptions, Given
from ttmlir.sizes import GENERIC, OpenSizeError, Size, open_flatbuffer, points

from .decisions import Decisions
from .dimensions import Dimensions, SizeError, holds, read_dimensions

# Bounds of sizes that are tried one after the other: some ops refuse very large tensors.
BOUNDS = (None, 8211, 1047)
# Of more sizes than MANY, whose product is then no integer of 32 bits.
MANY, BOUND_OF_MANY = 3, 40
LARGEST = 1 << 20  # of sizes that assertions bound from below
MOST_FIXED, MOST_KNOWN = 16, 256
MOST_NEAR = 256  # points near one that sizes do not go together at
Shapes: TypeAlias = tuple[tuple[int, ...], ...]
Stated: TypeAlias = "int | tuple[int, int | None]"


def parse(source: str | bytes) -> ir.Module:
    """Returns a StableHLO module from text, bytecode or a portable artifact, in the current context.

    Raises:
        ttmlir.ir.MLIRError: it is no valid module.
    """
    context = ir.Context.current
    if isinstance(source, bytes) and context is not None and stablehlo.is_portable_artifact(source):
        return stablehlo.deserialize_portable_artifact(context, source)
    return ir.Module.parse(source)


class OpenProgram:
    """A StableHLO module whose arguments have open dimensions.

    dimensions: what the module says about them. declared: the sizes that the flatbuffer leaves open, with bounds.
    closed: why there is no flatbuffer for all sizes, or "". Then, and where a size is 0, 1 or beyond the bounds, `at`
        compiles a program for the sizes of the call.

    Args:
        source: text, bytecode, or a portable artifact as `jax.export` writes it.
        shapes: dimensions of each argument by name, where the module has no names: ["batch, 64", "batch, 2*length"].
            Without them each open dimension of such a module is a size of its own, `arg0_1`.
        sizes: bounds of sizes: {"batch": (1, 64), "length": (2, None)}.
        options: of `ttir-to-ttnn-backend-pipeline`: a `ttmlir.CompileOptions`, or what that takes.
    Raises:
        TypeError: an argument of another kind.
        ValueError: names or bounds that do not fit the module.
        ttmlir.ir.MLIRError: no valid module.
    """

    def __init__(
        self,
        source: str | bytes,
        shapes: Sequence[str] | None = None,
        sizes: Mapping[str, Stated] | None = None,
        options: Given = None,
    ) -> None:
        if not isinstance(source, (str, bytes)):
            raise TypeError(f"source is of type {type(source).__name__}; expected the text or bytes of a module")
        self.source, self.options = source, CompileOptions(options)
        with ir.Context():
            self.dimensions: Dimensions = read_dimensions(parse(source), shapes)
        self.bounds = bounds_of(sizes)
        for name in self.bounds:
            if name not in self.dimensions.names:
                known = ", ".join(self.dimensions.names) or "none"
                raise ValueError(f"sizes has {name!r}, which no dimension is called; the module has {known}")
        self.closed = ""
        self.declared: list[Size] = []
        self._compiled: tuple[bytes, Any] | None = None
        self._fixed: OrderedDict[Shapes, Any] = OrderedDict()
        self._known: OrderedDict[Shapes, Any] = OrderedDict()

    @property
    def flatbuffer(self) -> bytes:
        """Returns the program for all sizes; compiled when it is first read.

        Raises:
            OpenSizeError: a size decides what is computed; names op and attribute.
            ttmlir.ir.MLIRError: an op that has no form on the chip.
        """
        return self._open()[0]

    @property
    def binary(self) -> Any:
        """Returns the program for all sizes as the runtime has it; raises as `flatbuffer` does."""
        return self._open()[1]

    def _open(self) -> tuple[bytes, Any]:
        if self.closed:
            raise OpenSizeError(self.closed)
        if self._compiled is None:
            try:
                flatbuffer = self._compile_open()
            except (OpenSizeError, ir.MLIRError) as error:
                self.closed = str(error)
                raise
            # Machine code that it has was compiled here.
            binary = tt.binary.load_binary_from_bytes(flatbuffer, allow_native=True)
            self.declared = [Size(*bounds) for bounds in binary.open_sizes]
            self._compiled = flatbuffer, binary
        return self._compiled

    def _compile_open(self) -> bytes:
        if not self.dimensions.names:
            return passes.ttnn_to_flatbuffer_bin(self._lowered({}))
        refused: ir.MLIRError | None = None
        decisions = Decisions(self.dimensions, self._admits)
        for bound in (*BOUNDS, BOUND_OF_MANY) if len(self.dimensions.names) > MANY else BOUNDS:
            sizes = [self._size(name, bound) for name in self.dimensions.names]
            try:
                return open_flatbuffer(
                    self._lowered_at,
                    sizes,
                    self._points,
                    self._admits,
                    self.dimensions.periods,
                    partial(self._nearest, sizes),
                    decisions.doubtful,
                )
            except ir.MLIRError as error:
                refused = refused or error
        assert refused is not None
        unnamed = self.dimensions.unnamed
        if len(unnamed) > 1:
            raise OpenSizeError(
                f"{str(refused).strip()}\n{', '.join(unnamed)} are sizes of their own; "
                "name those that are equal by shapes="
            )
        raise refused

    def _size(self, name: str, bound: int | None) -> Size:
        """Returns a size with the bounds given by the caller and by assertions about it alone."""
        stated = self.bounds.get(name, Bounds(2))
        least, most = stated.least, stated.most
        most = min((n for n in (most, bound) if n is not None), default=None)
        read = self.dimensions.read[name]
        for place, upper in self.dimensions.bounds.items():
            if read.leaf == place:
                most = upper if most is None else min(most, upper)
        alone = [a.condition for a in self.dimensions.assertions if a.condition.leaves() == read.leaves()]

        def admits(n: int) -> bool:
            found = read.solve(n, {})
            return found is not None and all(holds(condition, dict([found])) for condition in alone)

        least = max(2, least)
        first = next((n for n in (least, *GENERIC[0], LARGEST) if n >= least and admits(n)), None)
        if first is None:
            return Size(name, least, most if most is None else max(least, most))
        least = bisect(admits, first, least)
        last = bisect(admits, first, LARGEST)
        if last < LARGEST:
            most = last if most is None else min(most, last)
        if most is not None and most < least:
            raise OpenSizeError(f"size {name} has no value of 2 or more that the module takes")
        return Size(name, least, most)

    def _points(self, sizes: Sequence[Size], generic: Sequence[int]) -> list[tuple[int, ...]]:
        """Returns points that satisfy assertions about several sizes: some sizes grow, or shrink, until they do."""
        names = self.dimensions.names
        chosen: list[tuple[int, ...]] = []
        for number, point in enumerate(points(sizes, generic)):
            found = next(
                (p for p in near(point, sizes, number) if p not in chosen and self._admits(p)),
                None,
            )
            if found is not None:
                chosen.append(found)
            elif point not in chosen and not sum(1 for _ in sizes) > 1:
                chosen.append(point)
        if len(set(chosen)) < 3:
            raise OpenSizeError(f"few values of {', '.join(names)} go together; each set is a program of its own")
        return (chosen * len(generic))[: len(generic)]

    def _admits(self, point: tuple[int, ...]) -> bool:
        return self._values(point) is not None

    def _nearest(self, sizes: Sequence[Size], point: tuple[int, ...], least: Sequence[int]) -> tuple[int, ...] | None:
        """Returns consistent sizes near others. If possible, both sides of an assertion such as b >= c differ."""
        bounded = [replace(size, least=n) for size, n in zip(sizes, least, strict=True)]
        tight: tuple[int, ...] | None = None
        for other in (*little_more(point, bounded), *itertools.islice(near(point, bounded, 0), MOST_NEAR)):
            values = self._values(other)
            if values is not None and all(not a.is_tight(values) for a in self.dimensions.assertions):
                return other
            tight = tight or (other if values is not None else None)
        return tight

    def _values(self, point: tuple[int, ...]) -> dict[Any, int] | None:
        return self.dimensions.at(dict(zip(self.dimensions.names, point, strict=True)))

    def _lowered_at(self, point: tuple[int, ...]) -> ir.Module:
        values = self._values(point)
        if values is None:
            text = ", ".join(f"{name} = {n}" for name, n in zip(self.dimensions.names, point, strict=True))
            raise OpenSizeError(f"the module does not take {text}")
        return self._lowered(values, is_open=True)

    def _lowered(self, values: Mapping[Any, int], is_open: bool = False) -> ir.Module:
        """Lowers the module for these open dimensions to TTNN."""
        with ir.Context():
            module = self._ttir(values)
            lower(module, self.options.with_(open_sizes=True) if is_open else self.options)
            return module

    def _ttir(self, values: Mapping[Any, int]) -> ir.Module:
        module = parse(self.source)
        types = []
        for i, (shape, element) in enumerate(zip(self.dimensions.shapes, self.dimensions.elements, strict=True)):
            sizes = [n if n >= 0 else values[i, d] for d, n in enumerate(shape)]
            types.append("tensor<" + "".join(f"{n}x" for n in sizes) + element + ">")
        if types and values:
            passes.run_pass(module, "stablehlo-refine-arguments", f"types={','.join(types)}")
        passes.stablehlo_to_ttir_pipeline(module)
        return module

    def texts(self, shapes: Sequence[Sequence[int]]) -> tuple[str, str]:
        """Returns TTIR and TTNN of the program for arguments of these shapes."""
        _, values = self.dimensions.sizes(shapes)
        with ir.Context():
            module = self._ttir(values)
            ttir = str(module)
            lower(module, self.options)
            return ttir, str(module)

    def check(self, shapes: Sequence[Sequence[int]]) -> dict[str, int]:
        """Returns the sizes that arguments of these shapes bring.

        Raises:
            SizeError: names the argument and dimension or the size, and its bound.
        """
        sizes, _ = self.dimensions.sizes(shapes)
        for name, n in sizes.items():
            bounds = self.bounds.get(name, Bounds())
            least, most = bounds.least, bounds.most
            if n < least or (most is not None and n > most):
                expected = f"at least {least}" if most is None else f"from {least} to {most}"
                raise SizeError(f"size {name} is {n}; expected {expected}")
        return sizes

    def at(self, shapes: Sequence[Sequence[int]]) -> Any:
        """Returns the binary that takes arguments of these shapes.

        Raises:
            TypeError: shapes that are no lists of integers.
            SizeError: see `check`.
            ttmlir.ir.MLIRError: an op that has no form on the chip.
        """
        try:
            key = tuple(map(tuple, shapes))
        except TypeError:
            self.dimensions.check_kinds(shapes)
            raise
        if (found := self._known.get(key)) is not None:
            return found
        found = self._binary(key, self.check(key))
        self._known[key] = found
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)
        return found

    def _binary(self, key: Shapes, sizes: Mapping[str, int]) -> Any:
        _, values = self.dimensions.sizes(key)
        if not self.closed and all(n > 1 for n in values.values()) and all(n > 1 for n in sizes.values()):
            try:
                binary = self.binary
                if all(d.least <= sizes[d.name] <= (d.most or sizes[d.name]) for d in self.declared):
                    return binary
            except (OpenSizeError, ir.MLIRError) as error:
                self.closed = str(error)
        if (found := self._fixed.get(key)) is None:
            flatbuffer = passes.ttnn_to_flatbuffer_bin(self._lowered(values))
            found = self._fixed[key] = tt.binary.load_binary_from_bytes(flatbuffer, allow_native=True)
            if len(self._fixed) > MOST_FIXED:
                dropped, _ = self._fixed.popitem(last=False)
                self._known.pop(dropped, None)
        return found


def bisect(admits: Callable[[int], bool], inside: int, outside: int) -> int:
    """Returns the last number from `inside` toward `outside` that is admitted, where all between are."""
    if admits(outside):
        return outside
    while abs(outside - inside) > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if admits(middle) else (inside, middle)
    return inside


def little_more(point: tuple[int, ...], sizes: Sequence[Size]) -> Iterator[tuple[int, ...]]:
    """Yields a point, then others of which one size is a little larger."""
    yield point
    for more, (place, size) in itertools.product((1, 2, 3), enumerate(sizes)):
        if size.most is None or point[place] + more <= size.most:
            yield (*point[:place], point[place] + more, *point[place + 1 :])


def near(point: Sequence[int], sizes: Sequence[Size], number: int) -> Any:
    """Yields a point, then others with one size larger or smaller, which are in no relation to it."""
    yield tuple(point)
    for shift in (7 + 5 * number, 0, *range(1, 8)):
        for power in range(1, 18):
            for place, size in enumerate(sizes):
                for n in (point[place] * 2**power + shift, point[place] // 2**power + shift, point[place] + shift):
                    if size.least <= n and (size.most is None or n <= size.most):
                        yield (*point[:place], n, *point[place + 1 :])


def stablehlo_to_open_flatbuffer(
    source: str | bytes,
    shapes: Sequence[str] | None = None,
    sizes: Mapping[str, Stated] | None = None,
    options: Given = None,
) -> bytes:
    """Returns one flatbuffer for all sizes of a StableHLO module whose arguments have open dimensions; see
    `OpenProgram`.

    Raises:
        OpenSizeError: a size decides what is computed; names op and attribute.
        ValueError, ttmlir.ir.MLIRError: as `OpenProgram` does.
    """
    return OpenProgram(source, shapes, sizes, options).flatbuffer
