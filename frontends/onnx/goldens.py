# SPDX-License-Identifier: Apache-2.0
"""ONNX models compared with onnxruntime or ONNX's reference evaluator, node by node."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import onnx
from onnx import numpy_helper

from .compiled import OnnxModel
from .errors import OnnxError
from .files import one_line
from .model import Declared, domain_of
from .program import Fixed
from .values import Array, is_float

ONNXRUNTIME, REFERENCE = "onnxruntime", "reference"


@dataclass(frozen=True)
class Row:
    """A value that a node makes, as the chip and an evaluator compute it.

    kind: "op" or "output". problem: what is wrong with it, or "". pcc, error: None where shapes differ.
    """

    kind: str
    node: str
    op: str
    name: str
    shape: tuple[int, ...]
    dtype: str
    pcc: float | None
    error: float | None
    span: float
    problem: str

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "shape": list(self.shape)}


@dataclass(frozen=True)
class Judge:
    """The tolerance of a comparison. pcc: least correlation. atol, rtol: |a - b| <= atol + rtol * |b|, where given."""

    pcc: float = 0.99
    atol: float | None = None
    rtol: float | None = None

    def problem(self, found: Array, golden: Array) -> tuple[str, float | None, float | None]:
        """Returns the error text, the correlation and the largest error."""
        if found.shape != golden.shape:
            return f"has the shape {list(found.shape)}, its golden {list(golden.shape)}", None, None
        if found.dtype != golden.dtype:
            return f"is of {found.dtype.name}, its golden of {golden.dtype.name}", None, None
        a, b = (wide(x) for x in (found, golden))
        if not (np.isnan(a) == np.isnan(b)).all():
            return "NaN at other places", None, None
        with np.errstate(all="ignore"):
            apart = np.where((a == b) | np.isnan(a), 0, np.abs(a - b))
            allowed = (self.atol or 0) + (self.rtol or 0) * np.abs(b)
        error = float(apart.max(initial=0))
        pcc = correlation(a, b)
        if self.atol is not None or self.rtol is not None or not is_float(golden.dtype):
            return ("" if (apart <= allowed).all() else f"differs by {error:.3g}"), pcc, error
        return ("" if pcc >= self.pcc else f"correlates by {pcc:.4f}"), pcc, error


def wide(x: Array) -> Array:
    return x.astype(np.float64) if x.dtype.kind != "c" else x.view(x.real.dtype)


def correlation(a: Array, b: Array) -> float:
    """Returns Pearson's coefficient of finite elements; 1 where both are equal, or constant and close."""
    a, b = a.reshape(-1), b.reshape(-1)
    finite = np.isfinite(a) & np.isfinite(b)
    if not (a[~finite] == b[~finite])[~np.isnan(a[~finite])].all():
        return 0.0
    a, b = a[finite], b[finite]
    if a.size == 0 or np.array_equal(a, b):
        return 1.0
    scale = max(np.abs(a).max(), np.abs(b).max())
    a, b = a / scale, b / scale
    x, y = a - a.mean(), b - b.mean()
    spread = float(np.sqrt((x * x).sum() * (y * y).sum()))
    if spread <= 1e-12 * a.size:
        return 1.0 if np.abs(a - b).max() <= 1e-4 else 0.0
    return float((x * y).sum() / spread)


def nodes_of(model: OnnxModel) -> dict[str, tuple[str, str]]:
    """Returns the values of the graph's nodes, with the name and the op of each."""
    found = {}
    for i, node in enumerate(model.model.proto.graph.node):
        op = ".".join(filter(None, (domain_of(node.domain), node.op_type)))
        for output in filter(None, node.output):
            found[output] = (node.name or f"node {i}", op)
    return found


def compared(model: OnnxModel, inputs: Sequence[Any] | Mapping[str, Any], by: str = "", judge: Judge | None = None,
             inside: bool = True) -> tuple[str, list[Row]]:  # fmt: skip
    """Returns which evaluator computed the goldens, and the values of nodes and outputs.

    Args:
        by: "onnxruntime", "reference", or "" for the first of them that is installed and takes the model.
        inside: also values that are not outputs. The program has them as outputs, too, and fuses less.
    Raises:
        OnnxError: a node that has no form, or that no evaluator computes.
    """
    given = model.bound((), inputs) if isinstance(inputs, Mapping) else model.bound(tuple(inputs), {})
    from .arguments import shape_of, taken

    arrays = {name: taken(model._all[name], value) for name, value in given.items()}
    outputs = [x.name for x in model.outputs]
    known = nodes_of(model)
    names = [*outputs, *(name for name in known if name not in outputs)] if inside else outputs
    by, goldens = evaluated(model, {**model.known, **arrays}, names, by)
    names = [name for name in names if isinstance(goldens[name], np.ndarray)]
    whole = model._with([name for name in arrays if name in model.model.weights], model.known)
    shapes = {name: shape_of(x) for name, x in arrays.items()}
    model._sizes.check({name: x for name, x in shapes.items() if not model._all[name].is_sequence})
    program = Fixed(replace(whole, outputs=names), shapes, model.options, model.known, model._weights)
    flat = [x for value in arrays.values() for x in (value if isinstance(value, list) else [value])]
    results = dict(zip(names, program.run(flat), strict=True))
    rows = [row_of(name, known.get(name), results[name], goldens[name], judge or Judge(), outputs) for name in known
            if name in results]  # fmt: skip
    rows += [row_of(name, None, results[name], goldens[name], judge or Judge(), outputs) for name in outputs
             if name in results and name not in known]  # fmt: skip
    return by, rows


def row_of(name: str, node: tuple[str, str] | None, found: Array, golden: Array, judge: Judge,
           outputs: Sequence[str]) -> Row:  # fmt: skip
    problem, pcc, error = judge.problem(found, golden)
    finite = wide(golden)[np.isfinite(wide(golden))]
    span = float(finite.max() - finite.min()) if finite.size else 0.0
    label, op = node or ("", "")
    kind = "output" if name in outputs else "op"
    return Row(kind, label, op, name, golden.shape, golden.dtype.name, pcc, error, span, problem)


def complete(model: OnnxModel) -> onnx.ModelProto:
    """Returns the model with its weights, as other libraries read it."""
    result = onnx.ModelProto()
    result.CopyFrom(model.model.proto)
    del result.graph.initializer[:]
    del result.graph.sparse_initializer[:]
    for name, array in model.model.weights.items():
        result.graph.initializer.append(numpy_helper.from_array(array, name))
    return result


def evaluated(model: OnnxModel, inputs: Mapping[str, Any], names: Sequence[str], by: str) -> tuple[str, dict[str, Any]]:
    """Returns the evaluator, and values by name.

    Raises:
        OnnxError: none takes the model; says why.
    """
    proto = complete(model)
    refused = []
    for each in [by] if by else [ONNXRUNTIME, REFERENCE]:
        if each == ONNXRUNTIME and importlib.util.find_spec(ONNXRUNTIME) is None:
            refused.append("onnxruntime is not installed")
            continue
        try:
            run = by_onnxruntime if each == ONNXRUNTIME else by_reference
            return each, dict(zip(names, run(proto, inputs, names), strict=True))
        except Exception as error:  # the packages' errors have no common type
            refused.append(f"{each}: {one_line(error)}")
    raise OnnxError(f"{model.path}: no evaluator has goldens of it: {'; '.join(refused)}")


def by_onnxruntime(proto: onnx.ModelProto, inputs: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    import onnxruntime

    listed = {value.name for value in proto.graph.output}
    for name in names:
        if name not in listed:
            proto.graph.output.append(onnx.ValueInfoProto(name=name))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    # On CPUs without VNNI, products of uint8 and int8 would otherwise saturate sums of two at 16 bits.
    options.add_session_config_entry("session.x64quantprecision", "1")
    # Values inside are those of the file's nodes.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    with quiet():
        session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
        known = {x.name for x in session.get_inputs()} | {x.name for x in session.get_overridable_initializers()}
        found: list[Any] = session.run(list(names), {name: x for name, x in inputs.items() if name in known})
    return found


def by_reference(proto: onnx.ModelProto, inputs: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    from onnx.reference import ReferenceEvaluator

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found: Any = ReferenceEvaluator(proto).run(None, dict(inputs), intermediate=True)
    return [np.asarray(found[name]) if isinstance(found[name], np.generic) else found[name] for name in names]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Drops output of a library on the process's standard error."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def random_inputs(model: OnnxModel, sizes: Mapping[str, int], seed: int = 0) -> dict[str, Array]:
    """Returns random values of inputs: integers are small and not negative, as ids and lengths are.

    Raises:
        OnnxError: a size that is not given.
    """
    source = np.random.default_rng(seed)
    found = {}
    for each in model.inputs:
        shape = model._sizes.shapes[each.name]
        if shape is None or each.is_sequence:
            raise OnnxError(f"{model.path}: input {each.name} is {each}; give its values")
        missing = [n for n in shape if isinstance(n, str) and n not in sizes]
        if missing:
            raise OnnxError(f"{model.path}: size {missing[0]} is not known; give {missing[0]}=N")
        found[each.name] = sample(each, tuple(n if isinstance(n, int) else sizes[n] for n in shape), source)
    return found


def sample(declared: Declared, shape: tuple[int, ...], source: np.random.Generator) -> Array:
    dtype = declared.dtype
    if dtype == np.bool_:
        return source.random(shape) < 0.5
    if is_float(dtype):
        return source.standard_normal(shape).astype(dtype)
    return source.integers(0, 2, shape).astype(dtype)
