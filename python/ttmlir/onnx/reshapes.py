# SPDX-License-Identifier: Apache-2.0
"""Reshapes of ONNX models whose shapes are known, or follow from the shape of the operand.

onnx2torch computes a shape as a tensor and looks at its elements, which `torch.export` cannot follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch


def _dimensions(value: Any) -> list[int | str | None]:
    """Sizes and names of the dimensions of a value."""
    return [
        dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None
        for dim in value.type.tensor_type.shape.dim
    ]


def _shape(operand: Sequence[int | str | None], result: Sequence[int | str | None]) -> list[int] | None:
    """A shape as Reshape takes it: 0 for a size of the operand, -1 for the one that is left; None where more are."""
    found = []
    for d, n in enumerate(result):
        if isinstance(n, int) and n > 0:
            found.append(n)
        elif isinstance(n, str) and d < len(operand) and operand[d] == n:
            found.append(0)
        else:
            found.append(-1)
    return found if found.count(-1) <= 1 else None


def with_known_shapes(model: Any) -> Any:
    """The model, with constants as shapes of reshapes wherever ONNX's inference of shapes finds enough of them."""
    import onnx

    try:
        inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    except onnx.shape_inference.InferenceError:
        return model
    graph = inferred.graph
    known = {
        value.name: _dimensions(value)
        for value in [*graph.input, *graph.value_info, *graph.output]
        if value.type.HasField("tensor_type") and value.type.tensor_type.HasField("shape")
    }
    constants = {initializer.name for initializer in graph.initializer}
    for number, node in enumerate(graph.node):
        if node.op_type != "Reshape" or len(node.input) != 2 or node.input[1] in constants or node.attribute:
            continue
        operand, result = (known.get(name) for name in (node.input[0], node.output[0]))
        if operand is None or result is None or (shape := _shape(operand, result)) is None:
            continue
        name = f"{node.output[0]}_shape_{number}"
        graph.initializer.append(onnx.helper.make_tensor(name, onnx.TensorProto.INT64, [len(shape)], shape))
        node.input[1] = name
    _drop_unused(graph)
    return inferred


def _drop_unused(graph: Any) -> None:
    """Removes nodes that nothing reads; of a graph without subgraphs, which read names of it."""
    if any(attribute.HasField("g") or attribute.graphs for node in graph.node for attribute in node.attribute):
        return
    needed = {value.name for value in graph.output}
    for node in reversed(list(graph.node)):
        if needed.isdisjoint(node.output):
            graph.node.remove(node)
        else:
            needed.update(node.input)


def reshaped(x: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """Reshape of ONNX: 0 takes the size of the operand, -1 what is left."""
    return torch.reshape(x, [x.shape[d] if n == 0 else n for d, n in enumerate(shape)])


def with_constant_reshapes(module: Any) -> Any:
    """A module of onnx2torch whose reshapes have their constant shapes as numbers."""
    for node in list(module.graph.nodes):
        if node.op != "call_module" or type(module.get_submodule(node.target)).__name__ != "OnnxReshape":
            continue
        x, shape = node.args
        if shape.op != "get_attr":
            continue
        owner, _, name = shape.target.rpartition(".")
        values = tuple(int(n) for n in getattr(module.get_submodule(owner), name))
        with module.graph.inserting_before(node):
            made = module.graph.call_function(reshaped, (x, values))
        node.replace_all_uses_with(made)
        module.graph.erase_node(node)
    module.recompile()
    return module
