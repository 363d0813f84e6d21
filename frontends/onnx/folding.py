# SPDX-License-Identifier: Apache-2.0
"""Nodes of known inputs, computed by the reference evaluator of the onnx package."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

import onnx
from onnx import TensorProto, helper
from onnx.reference.op_run import OpRun
from onnx.reference.ops._op_list import load_op

from .values import Array

# Elements of results that are computed when a graph is imported.
LARGEST = 4096


def element_type(array: Array) -> int:
    return int(helper.np_dtype_to_tensor_dtype(array.dtype))


# Sizes of an output, None where they are not known.
Sizes: TypeAlias = "list[int | None] | None"


def small_results(
    schema: Any, node: onnx.NodeProto, inputs: Sequence[Array | None], opsets: Mapping[str, int]
) -> dict[str, Sizes] | None:
    """Returns the shapes of outputs as shape inference knows them before they are computed, by name.

    None where inference fails, or an output has more than LARGEST elements.
    """
    named = [(name, array) for name, array in zip(node.input, inputs, strict=True) if name and array is not None]
    types = {name: helper.make_tensor_type_proto(element_type(array), array.shape) for name, array in named}
    data = {
        name: helper.make_tensor(name, element_type(array), array.shape, array.tobytes(), raw=True)
        for name, array in named
        if array.dtype.itemsize and array.dtype.kind in "iufb" and array.size <= LARGEST
    }
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    try:
        found = onnx.shape_inference.infer_node_outputs(schema, node, types, data, opset_imports=imports)
    except Exception:  # inference errors have no common type; the rule or the evaluation says what is wrong
        return None
    shapes: dict[str, Sizes] = {}
    for name, kind in found.items():
        known = kind.tensor_type.HasField("shape")
        dims = [dim.dim_value if dim.HasField("dim_value") else None for dim in kind.tensor_type.shape.dim]
        if int(np.prod([1 if n is None else n for n in dims], dtype=object)) > LARGEST:
            return None
        shapes[name] = dims if known else None
    return shapes


def is_of(array: Array, expected: Sizes) -> bool:
    """Returns whether an array has these sizes; the evaluator takes some empty arrays for scalars."""
    return expected is None or (
        array.ndim == len(expected) and all(n is None or n == m for n, m in zip(expected, array.shape, strict=True))
    )


def evaluate(node: onnx.NodeProto, domain: str, version: int, inputs: Sequence[Array | None],
             opsets: Mapping[str, int]) -> list[Array] | None:  # fmt: skip
    """Returns the outputs of a node, or None if the evaluator lacks the op or refuses it."""
    parameters = {"log": lambda *_: None, "opsets": dict(opsets), "verbose": 0, "evaluator_cls": None, "new_ops": None}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            runner: Any = load_op(domain, node.op_type, version)
            if not isinstance(runner, type) or not issubclass(runner, OpRun):
                return None
            found = runner(node, parameters).run(*inputs)
    except Exception:  # the evaluator's errors have no common type
        return None
    if any(not isinstance(x, np.ndarray | np.generic) for x in found):
        return None
    return [np.asarray(x) for x in found]


__all__ = ["LARGEST", "TensorProto", "evaluate", "is_of", "small_results"]
