# SPDX-License-Identifier: Apache-2.0
"""ONNX models compiled: programs for given sizes, and programs that leave sizes open."""

from __future__ import annotations

import re
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import _ttmlir_runtime as tt
import numpy as np
from ttmlir import ir, passes
from ttmlir.arrays import DATA_TYPES, fetch, held_type, runtime, send
from ttmlir.chips import default_device, lower
from ttmlir.options import CompileOptions, Given
from ttmlir.sizes import GENERIC, OpenSizeError, Size, open_flatbuffer, points
from ttmlir.stablehlo.program import bisect

from .decisions import Decisions
from .errors import OnnxError, UnsupportedOpError
from .importer import Imported, Trace, import_model, said_by
from .model import Model
from .values import Array

# Types of the device whose memory NumPy's arrays share, and those of them that the buffer protocol has.
SHARED = {np.dtype(name) for name in ("float32", "float16", "int32", "uint8", "uint16", "uint32")}
WEIGHTS = SHARED | {dtype for dtype in DATA_TYPES if dtype.name == "bfloat16"}
FLOAT32 = DATA_TYPES[np.dtype(np.float32)]
# Bounds of sizes that are tried one after the other: some ops refuse very large tensors.
BOUNDS = (None, 8211, 1047)
# Sizes that models take whose bounds are looked for, and the largest size that is looked at.
STARTS, LARGEST = (64, 224, 32, 512, 16, 8, 3), 8211
SAMPLES = sorted({n for row in GENERIC for n in row if n < LARGEST})
# Sizes that a model takes all multiples of some number of: the first of several such sizes, and what may divide them.
WHOLE, STEPS = (3360, 672, 192, 64), (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 48, 64)
# A number is assumed to divide sizes if it fits this many smaller sizes, because others are rounded up to it. That many
# of them have to be within bounds.
NEAR, FEWEST_NEAR = (17, 31, 13, 7, 5, 3, 11, 2, 1), 3
# Sample points whose imports tell what depends on sizes.
TRACES = 3


class Placed:
    """A tensor of the runtime, and the array whose memory it borrows."""

    __slots__ = ("__weakref__", "array", "tensor")

    def __init__(self, tensor: Any, array: Array) -> None:
        self.tensor, self.array = tensor, array


class Weights:
    """Weights of a model as tensors of the runtime, each one once for all of the model's programs."""

    def __init__(self) -> None:
        self._placed: weakref.WeakValueDictionary[Any, Placed] = weakref.WeakValueDictionary()

    def place(self, array: Array, layout: Any) -> Placed:
        """Returns an array as a program takes it. Memory is shared where the program has the array's type."""
        key = array.ctypes.data, array.shape, array.strides, array.dtype, layout.dtype, id(default_device())
        found = self._placed.get(key)
        if found is None or not array.size:
            found = self._placed[key] = placed(array, layout)
        return found


def borrowed(array: Array) -> Any:
    """Returns an array in rows as a tensor of the runtime that uses its memory."""
    strides = [step // array.itemsize for step in array.strides]
    return runtime.create_borrowed_host_tensor(
        array.ctypes.data, list(array.shape), strides, array.itemsize, DATA_TYPES[array.dtype]
    )


def placed(array: Array, layout: Any) -> Placed:
    if array.dtype in WEIGHTS and array.size:
        rows = np.ascontiguousarray(array).reshape(array.shape)
        tensor = borrowed(rows)
        if layout.dtype != DATA_TYPES[rows.dtype]:
            tensor, rows = runtime.to_layout(tensor, default_device(), layout, True), array
    else:
        tensor, rows = send(array, held_type(array.dtype)), array
        if array.size:
            tensor = runtime.to_layout(tensor, default_device(), layout, True)
    tensor.set_parameter()
    return Placed(tensor, rows)


def as_type(result: Any, dtype: np.dtype) -> Array:
    """Returns a result of the runtime as an array of the model's type."""
    if type(result) is not np.ndarray:
        return fetch(result, dtype)
    if result.dtype == dtype:
        return result
    if np.issubdtype(dtype, np.complexfloating):
        return (result[..., 0] + 1j * result[..., 1]).astype(dtype, copy=False)
    return result.astype(dtype)


def blamed(model: Model, labels: Mapping[str, str], error: ir.MLIRError) -> OnnxError:
    """Returns the compiler's message as an error that names the node."""
    for diagnostic in error.error_diagnostics:
        place = str(diagnostic.location)
        names = [name for name in re.findall(r'"((?:[^"\\]|\\.)*)"', place) if name in labels]
        if names:
            return OnnxError(f"{model.path}: {labels[names[0]]}: {' '.join(diagnostic.message.split())}")
    said = said_by(error)
    found = re.match(r"'func.func' op argument (\d+) is ", said)
    if found and int(found[1]) < len(model.inputs):
        said = f"input {model.inputs[int(found[1])].name} is {said[found.end() :]}"
    return OnnxError(f"{model.path}: {said}")


class Program:
    """A flatbuffer with the weights of its model, to be called with arrays of the right shapes and types.

    is_open: takes several sets of sizes. counts: see `Imported`.
    """

    def __init__(self, imported: Imported, flatbuffer: bytes, weights: Weights) -> None:
        self.flatbuffer = flatbuffer
        # Machine code that it has was compiled here.
        self.binary = tt.binary.load_binary_from_bytes(flatbuffer, allow_native=True)
        self.types = [value.dtype for _, value in imported.outputs]
        self.counts = imported.counts
        self._has_sequences = any(count is not None for count in self.counts)
        self.parameters = imported.parameters
        self._store = weights
        self._weights: list[Placed] | None = None
        self._tensors: list[Any] = []
        self._device: Any = None  # that they were placed for

    def run(self, arrays: Sequence[Array]) -> list[Any]:
        """Returns the outputs, lists for sequences."""
        device = default_device()
        if self._weights is None or self._device is not device:
            self._device = device
            self._weights = [
                self._store.place(array, runtime.get_layout(self.binary, 0, len(arrays) + i))
                for i, (_, array) in enumerate(self.parameters)
            ]
            self._tensors = [placed.tensor for placed in self._weights]
        given = [x if x.dtype in SHARED and x.size and x.flags.c_contiguous else send(x, x.dtype) for x in arrays]
        types = [DATA_TYPES.get(x.dtype, FLOAT32) for x in arrays]
        results = runtime.submit_arrays(device, self.binary, 0, given, types, self._tensors)
        found = [as_type(result, dtype) for result, dtype in zip(results, self.types, strict=True)]
        if not self._has_sequences:
            return found
        rest = iter(found)
        return [next(rest) if count is None else [next(rest) for _ in range(count)] for count in self.counts]


class Fixed(Program):
    """A model compiled for shapes of its inputs."""

    def __init__(
        self,
        model: Model,
        shapes: Mapping[str, Sequence[Any]],
        options: Given = None,
        known: Mapping[str, Array] | None = None,
        weights: Weights | None = None,
    ) -> None:
        self.model, self.options, self.known = model, CompileOptions(options), dict(known or {})
        self.shapes = {x.name: shapes[x.name] for x in model.inputs if x.name not in self.known}
        with ir.Context():
            imported = self.imported()
            try:
                passes.stablehlo_to_ttir_pipeline(imported.module)
                lower(imported.module, options, is_said=True)
                flatbuffer = passes.ttnn_to_flatbuffer_bin(imported.module)
            except ir.MLIRError as error:
                raise blamed(model, imported.labels, error) from None
            imported.module = None  # type: ignore[assignment]  # goes with its context
        super().__init__(imported, flatbuffer, weights or Weights())

    def imported(self, inside: bool = False) -> Imported:
        return import_model(self.model, self.shapes, self.known, inside=inside)

    def at(self, inside: bool = False) -> ir.Module:
        """Returns the module of StableHLO and TTIR, in the current context."""
        return self.imported(inside).module


class OnnxProgram(Fixed):
    """A model compiled for shapes of its inputs; called with arrays in their order, returns a list."""

    @property
    def inputs(self) -> list[Any]:
        return [x for x in self.model.inputs if x.name not in self.known]

    def __call__(self, *arrays: Any) -> list[Any]:
        flat: list[Array] = []
        for declared, value in zip(self.inputs, arrays, strict=True):
            if declared.is_sequence:
                flat += map(np.asarray, value)
                continue
            array, expected = np.asarray(value), tuple(self.shapes[declared.name])
            if array.shape != expected or array.dtype != declared.dtype:
                have = f"{array.dtype}{list(array.shape)}"
                raise ValueError(f"input {declared.name} is {have}, expected {declared.dtype}{list(expected)}")
            flat.append(array)
        return self.run(flat)


class Open(Program):
    """A model compiled for all of some sizes.

    declared: the open sizes, with their bounds. steps: what the sizes are multiples of; declared are the quotients.

    Args:
        at: returns the shapes of inputs for values of the open sizes.
        seconds: of CPU time after which no more points are compiled; None for no limit.
    Raises:
        OpenSizeError: a size decides what is computed; names the op.
        OnnxError: as `import_model` does.
    """

    def __init__(
        self,
        model: Model,
        declared: Sequence[Size],
        at: Callable[[Sequence[int]], Mapping[str, Sequence[Any]]],
        options: Given = None,
        known: Mapping[str, Array] | None = None,
        weights: Weights | None = None,
        inside: bool = False,
        seconds: float | None = None,
    ) -> None:
        self.model, self.options, self.known = model, CompileOptions(options), dict(known or {})
        self._shapes_at, self.inside = at, inside
        self.steps = [1] * len(declared)
        self.seconds, self.started = seconds, time.process_time()
        self.first: Imported | None = None
        # One for all points: a context takes longer to make than a small module to compile.
        self.context = ir.Context()
        flatbuffer = self._compiled(declared)
        assert self.first is not None
        self.first.module = self.context = None  # type: ignore[assignment]  # goes with its context
        super().__init__(self.first, flatbuffer, weights or Weights())
        self.declared: list[Size] = [Size(*bounds) for bounds in self.binary.open_sizes]

    def _compiled(self, declared: Sequence[Size]) -> bytes:
        refused: Exception | None = None
        for bound in BOUNDS:
            whole = [Size(s.name, s.least, least_of(s.most, bound, s.least)) for s in declared]
            sizes = self._quotients(whole)
            self.first = None
            try:
                try:
                    self.traces = self._traced(sizes)
                except UnsupportedOpError:
                    raise
                except OnnxError as error:
                    sizes = self._quotients(whole) if self._has_steps(whole) else self._within(sizes, error)
                    self.traces = self._traced(sizes)
                return open_flatbuffer(self._lowered, sizes, doubtful=self._decisions(sizes).doubtful)
            except ir.MLIRError as error:
                labels = self.first.labels if self.first else {}
                refused = refused or blamed(self.model, labels, error)
        assert refused is not None
        raise refused

    def shapes_at(self, point: Sequence[int]) -> Mapping[str, Sequence[Any]]:
        """Returns the shapes of inputs for values of the open sizes."""
        return self._shapes_at([n * step for n, step in zip(point, self.steps, strict=True)])

    def _takes(self, point: Sequence[int]) -> bool:
        """Returns whether the graph can be imported for these sizes."""
        self.require_time()
        try:
            with self.context:
                import_model(self.model, self.shapes_at(point), self.known)
        except OnnxError:
            return False
        return True

    def _quotients(self, sizes: Sequence[Size]) -> list[Size]:
        """Returns the open part of sizes that have to be multiples."""
        most = [GENERIC[0][-1] if s.most is None else s.most for s in sizes]
        return [
            s if step == 1 else Size(f"{s.name}/{step}", max(2, -(-s.least // step)), max(2, n // step))
            for s, step, n in zip(sizes, self.steps, most, strict=True)
        ]

    def _has_steps(self, sizes: Sequence[Size]) -> bool:
        """Finds what sizes have to be multiples of, as those of a U-Net have to. False where nothing is found."""
        if max(self.steps) > 1:
            return False

        def inside(point: Sequence[int]) -> bool:
            return all(s.least <= n and (s.most is None or n <= s.most) for s, n in zip(sizes, point, strict=True))

        starts = ([n * (1 + i) for i in range(len(sizes))] for n in WHOLE)
        start = next((point for point in starts if inside(point) and self._takes(point)), None)
        if start is None:
            return False

        def is_step(step: int, i: int) -> bool:
            near = ([*start[:i], start[i] - many * step, *start[i + 1 :]] for many in NEAR)
            points_of = [point for point in near if inside(point)]
            return len(points_of) >= FEWEST_NEAR and all(map(self._takes, points_of))

        steps = [next((n for n in STEPS if start[i] % n == 0 and is_step(n, i)), 0) for i in range(len(sizes))]
        if 0 in steps or max(steps) == 1:
            return False
        self.steps = steps
        return True

    def _within(self, sizes: Sequence[Size], error: OnnxError) -> list[Size]:
        """Returns sizes with bounds that the model has: tables of positions end, windows need some elements.

        Raises:
            OnnxError: `error`, where no sizes are known that the model takes.
        """

        def clipped(n: int) -> list[int]:
            return [max(s.least, n if s.most is None else min(n, s.most)) for s in sizes]

        # All are distinct: a size that has to be equal is not a separate size.
        starts = ([n + i for i, n in enumerate(clipped(start))] for start in STARTS)
        start = next((point for point in starts if self._takes(point)), None)
        if start is None:
            raise error
        found = []
        for i, size in enumerate(sizes):

            def admits(n: int, i: int = i) -> bool:
                return self._takes([*start[:i], n, *start[i + 1 :]])

            most = min(n for n in (size.most, LARGEST) if n is not None)
            looked_at = sorted(n for n in (*SAMPLES, most) if start[i] < n <= most)
            outside = next((n for n in looked_at if not admits(n)), None)
            last = size.most
            if outside is not None:
                last = max(bisect(admits, start[i], outside) - 1, start[i])  # a slice of all of a table is no slice
            least = bisect(admits, start[i], size.least)
            found.append(Size(size.name, least, last))
        return found

    def _traced(self, sizes: Sequence[Size]) -> list[Trace]:
        return [self._trace(point) for point in points(sizes)[:TRACES]]

    def _trace(self, point: Sequence[int]) -> Trace:
        self.require_time()
        with self.context:
            return import_model(self.model, self.shapes_at(point), self.known).trace

    def _decisions(self, sizes: Sequence[Size]) -> Decisions:
        """Returns the decisions that sizes make in the graph; if there are any, imports it at more points."""

        def probe(point: Sequence[int]) -> Trace | None:
            try:
                return self._trace(point)
            except OnnxError:
                return None

        at = points(sizes)
        least = [s.least for s in sizes]
        found = Decisions(at[:TRACES], self.traces, least, probe)
        if not found.keys:
            return found
        traces = [*self.traces, *(probe(point) for point in at[TRACES:])]
        known = {point: trace for point, trace in zip(at, traces, strict=True) if trace is not None}
        return Decisions(list(known), list(known.values()), least, probe)

    def at(self, point: Sequence[int], inside: bool = False) -> Imported:
        """Returns the module of StableHLO and TTIR for some sizes, in the current context."""
        return import_model(self.model, self.shapes_at(point), self.known, self.traces, inside)

    def require_time(self) -> None:
        """
        Raises:
            OpenSizeError: compiling took longer than it may.
        """
        if self.seconds is not None and time.process_time() - self.started > self.seconds:
            raise OpenSizeError(f"compiling one program for all sizes takes more than {self.seconds:g} s of CPU time")

    def _lowered(self, point: Sequence[int]) -> ir.Module:
        self.require_time()
        # A context keeps the constants of all its modules: weights of a module that has them inside go with each.
        with ir.Context() if self.inside else self.context:
            try:
                imported = self.at(point, self.inside)
            except OnnxError as error:  # bounds that are looked for are tried
                raise OpenSizeError(str(error)) from error
            if self.first is None:
                self.first = imported
            self._require_same(imported)
            passes.stablehlo_to_ttir_pipeline(imported.module)
            lower(imported.module, self.options.with_(open_sizes=True), is_said=True)
            return imported.module

    def _require_same(self, imported: Imported) -> None:
        first = self.first
        assert first is not None
        if [x.dtype for _, x in imported.outputs] != [x.dtype for _, x in first.outputs]:
            raise OpenSizeError("types of results depend on the sizes")
        if imported.counts != first.counts:
            raise OpenSizeError("how many results there are depends on the sizes")
        if len(imported.parameters) != len(first.parameters):
            raise OpenSizeError("how many weights there are depends on the sizes")
        for (name, array), (_, known) in zip(imported.parameters, first.parameters, strict=True):
            is_same = array.ctypes.data == known.ctypes.data and array.strides == known.strides
            if array.shape != known.shape or array.dtype != known.dtype or not (
                is_same or array.tobytes() == known.tobytes()
            ):  # fmt: skip
                raise OpenSizeError(f"the values of {name} depend on the sizes")


def least_of(first: int | None, second: int | None, least: int) -> int | None:
    """Returns the smaller of two bounds, None for none, and not less than `least`."""
    known = [n for n in (first, second) if n is not None]
    return max(min(known), least) if known else None
