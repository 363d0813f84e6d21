# SPDX-License-Identifier: Apache-2.0
"""Models of one node, compared with onnxruntime, the onnx package's evaluator, or given values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from compared import computed, session_options
from onnx import helper, numpy_helper

# The version of a domain in models, where ops of a newer one are other ops.
VERSIONS = {"com.microsoft": 1, "ai.onnx.ml": 5}


def node_model(
    op: str, operands: Sequence[Any], outputs: int = 1, domain: str = "", opset: int = 21, inside: Sequence[int] = (),
    version: int | None = None, **attributes: Any,
) -> tuple[onnx.ModelProto, dict[str, Any]]:  # fmt: skip
    """A node and its inputs i0, i1, ... -> o0, o1, ...; None is left out, those of `inside` are in the file."""
    arrays = [None if x is None else np.asarray(x) for x in operands]
    while arrays and arrays[-1] is None:
        arrays.pop()
    names = ["" if x is None else f"i{k}" for k, x in enumerate(arrays)]
    given = {f"i{k}": x for k, x in enumerate(arrays) if x is not None and k not in inside}
    node = helper.make_node(op, names, [f"o{k}" for k in range(outputs)], domain=domain, **attributes)
    kind = helper.np_dtype_to_tensor_dtype
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info(n, kind(x.dtype), x.shape) for n, x in given.items()],
        [onnx.ValueInfoProto(name=f"o{k}") for k in range(outputs)],
        [numpy_helper.from_array(arrays[k], f"i{k}") for k in inside],
    )  # fmt: skip
    imports = [helper.make_opsetid("", opset)]
    if domain:
        imports.append(helper.make_opsetid(domain, version or VERSIONS.get(domain, 1)))
    return helper.make_model(graph, opset_imports=imports, ir_version=10), given


def typed(model: onnx.ModelProto, values: Sequence[Any]) -> onnx.ModelProto:
    """The model with outputs of the types that these have."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    for output, value in zip(result.graph.output, values, strict=True):
        kind = helper.np_dtype_to_tensor_dtype(np.asarray(value).dtype)
        output.CopyFrom(helper.make_tensor_value_info(output.name, kind, np.shape(value)))
    return result


def expected_of(model: onnx.ModelProto, given: Mapping[str, Any], oracle: str) -> list[Any]:
    if oracle == "reference":
        from onnx.reference import ReferenceEvaluator

        return list(ReferenceEvaluator(model).run(None, dict(given)))
    onnxruntime = pytest.importorskip("onnxruntime")
    options = session_options()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return list(session.run(None, dict(given)))


def as_unsigned(operands: Sequence[Any], weights: int, zero: int) -> list[Any]:
    """Returns operands with int8 weights and their zero points moved by 128: uint8 of the same real values."""
    changed = [*operands, *[None] * (zero + 1 - len(operands))]
    if np.asarray(changed[weights]).dtype != np.int8:
        return list(operands)
    for k, value in ((weights, changed[weights]), (zero, np.int8(0) if changed[zero] is None else changed[zero])):
        changed[k] = (np.asarray(value).astype(np.int16) + 128).astype(np.uint8)
    return changed


def check(
    op: str, operands: Sequence[Any], outputs: int = 1, expected: Sequence[Any] | None = None, oracle: str = "runtime",
    known: Sequence[int] = (), tolerance: float | None = None, off_by: int = 0, weights: tuple[int, int] | None = None,
    **options: Any,
) -> list[Any]:  # fmt: skip
    """Requires the outputs of a node to be those of the oracle, and returns them.

    tolerance: of floats, relative to the largest one. off_by: of integers, for one in thirty of them. weights: numbers
    of weights and their zero points, which onnxruntime gets as uint8: its sums of products of uint8 and int8 saturate
    on CPUs without VNNI.
    """
    model, given = node_model(op, operands, outputs, **options)
    if expected is None:
        queried = operands if weights is None else as_unsigned(operands, *weights)
        expected = expected_of(*node_model(op, queried, outputs, **options), oracle)
    found = computed(typed(model, expected), given, [f"i{k}" for k in known])
    for x, y in zip(found, expected, strict=True):
        y = np.asarray(y)
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        a, b = (z.astype(np.float64) for z in (x, y))
        if y.dtype.kind in "iub" or "int" in y.dtype.name:
            apart = np.abs(a - b)
            assert not apart.size or (apart.max() <= off_by and (apart > 0).mean() <= 1 / 30)
            continue
        close = tolerance or (1e-2 if y.dtype.itemsize < 4 else 1e-4)
        largest = float(np.abs(b[np.isfinite(b)]).max(initial=0))
        np.testing.assert_allclose(a, b, rtol=close, atol=close * max(largest, 1e-6))
    return found
