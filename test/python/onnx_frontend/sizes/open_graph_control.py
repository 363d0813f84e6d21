# SPDX-License-Identifier: Apache-2.0
"""Random graphs with named dimensions: If, Loop and Scan, and whole graphs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from open_graph_ops import OPS
from open_graphs import Builder, Unfit

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name: str, kind: int = FLOAT, shape: Sequence[int | None] | None = None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def number(array: object, name: str) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(array), name)


def if_by_size(b: Builder) -> None:
    """Branches of one shape, chosen by a size."""
    x, a = b.pick(), b.computed_size()
    op = b.random.choice(("Less", "Greater"))
    condition = b.node(op, [b.scalar(a), b.weight(np.array(b.random.choice((1, 10, 200)), np.int64))])
    one, other = b.fresh(), b.fresh()
    then = helper.make_graph([helper.make_node("Tanh", [x.name], [one])], "then", [], [value(one)])
    otherwise = helper.make_graph([helper.make_node("Neg", [x.name], [other])], "else", [], [value(other)])
    b.add(b.node("If", [condition], then_branch=then, else_branch=otherwise), x.dims)


def if_by_value(b: Builder) -> None:
    """Branches that use a size, chosen by an element."""
    x, a = b.pick(), b.positive()
    b.require(np.all([n > 0 for n in x.dims], axis=0))
    total = b.node("ReduceMean", [x.name], keepdims=0)
    condition = b.node("Greater", [total, b.weight(np.float32(0))])
    names = [b.fresh() for _ in range(4)]
    cast = helper.make_node("Cast", [a.name], [names[0]], to=FLOAT)
    scaled = [helper.make_node("Div", [x.name, names[0]], [names[1]]), helper.make_node("Tanh", [names[1]], [names[2]])]
    then = helper.make_graph([cast, *scaled], "then", [], [value(names[2])])
    otherwise = helper.make_graph([helper.make_node("Abs", [x.name], [names[3]])], "else", [], [value(names[3])])
    b.add(b.node("If", [condition], then_branch=then, else_branch=otherwise), x.dims)


def loop(b: Builder) -> None:
    """As many turns as a size says; the body uses the number of the turn, and another size."""
    x, turns = b.pick(), b.positive(0, 20)
    b.require(turns.values <= 64)
    a = b.any_size()
    i, go, state, on, real, size, both, more, after = (b.fresh() for _ in range(9))
    nodes = [
        helper.make_node("Identity", [go], [on]),
        helper.make_node("Cast", [i], [real], to=FLOAT),
        helper.make_node("Cast", [a.name], [size], to=FLOAT),
        helper.make_node("Mul", [real, size], [both]),
        helper.make_node("Add", [state, both], [more]),
        helper.make_node("Sin", [more], [after]),
    ]
    body = helper.make_graph(nodes, "body", [value(i, INT64, ()), value(go, BOOL, ()), value(state)],
                             [value(on, BOOL), value(after)])  # fmt: skip
    one = b.weight(np.array(True))
    b.add(b.node("Loop", [b.scalar(turns), one if b.random.random() < 0.5 else "", x.name], body=body), x.dims)


def loop_of_rows(b: Builder) -> None:
    """One turn for each row, which gives a row of the result."""
    x = b.pick()
    b.require((x.dims[0] <= 64) & (x.dims[0] > 0))
    trips = b.scalar(b.size_of(x, 0))
    i, go, state, on, row, after, out = (b.fresh() for _ in range(7))
    nodes = [
        helper.make_node("Identity", [go], [on]),
        helper.make_node("Gather", [x.name, i], [row], axis=0),
        helper.make_node("Add", [state, row], [after]),
        helper.make_node("Tanh", [after], [out]),
    ]
    nodes.append(helper.make_node("Identity", [out], [twin := b.fresh()]))
    body = helper.make_graph(nodes, "body", [value(i, INT64, ()), value(go, BOOL, ()), value(state)],
                             [value(on, BOOL), value(out), value(twin)])  # fmt: skip
    zero = b.node("Gather", [x.name, b.weight(np.array(0, np.int64))], axis=0)
    last, rows = b.node("Loop", [trips, "", zero], 2, body=body)
    if b.random.random() < 0.7:
        b.add(rows, x.dims)
    else:
        b.add(last, x.dims[1:])


def scan(b: Builder) -> None:
    """A state that follows the rows of a value."""
    x = b.pick(least=2)
    axis = b.random.choice((0, 1, 0))
    b.require((x.dims[axis] <= 64) & np.all([n > 0 for n in x.dims], axis=0))
    any_shape = [None] * (x.rank - 1)
    zero = b.node("Gather", [x.name, b.weight(np.array(0, np.int64))], axis=axis)
    state, row, more, after, out = (b.fresh() for _ in range(5))
    nodes = [
        helper.make_node("Add", [state, row], [more]),
        helper.make_node("Tanh", [more], [after]),
        helper.make_node("Neg", [after], [out]),
    ]
    body = helper.make_graph(nodes, "body", [value(state, FLOAT, any_shape), value(row, FLOAT, any_shape)],
                             [value(after, FLOAT, any_shape), value(out, FLOAT, any_shape)])  # fmt: skip
    back = b.random.choice((0, 1))
    last, rows = b.node("Scan", [zero, x.name], 2, body=body, num_scan_inputs=1, scan_input_axes=[axis],
                        scan_input_directions=[back], scan_output_axes=[axis])  # fmt: skip
    if b.random.random() < 0.6:
        b.add(rows, x.dims)
    else:
        b.add(last, [n for d, n in enumerate(x.dims) if d != axis])


CONTROL = [if_by_size, if_by_value, loop, loop_of_rows, scan]


def graph_of(seed: int, most: int = 9) -> tuple[Builder, onnx.ModelProto]:
    """Returns a random graph, and its model."""
    b = Builder(seed)
    for k in range(b.random.choice((1, 1, 2))):
        open_names = b.random.sample(b.names, min(len(b.names), b.random.choice((1, 2, 2, 3))))
        shape: list[int | str] = [*open_names]
        if len(shape) == 3 or (len(shape) == 2 and b.random.random() < 0.4):
            shape.insert(1, b.random.choice((4, 3, 8)))  # an image
        elif b.random.random() < 0.85:
            shape.append(b.random.choice((8, 4, 6)))
        b.inputs.append((f"x{k}", shape))
        dims = [b.constant(n) if isinstance(n, int) else np.array([at[n] for at in b.at]) for n in shape]
        try:
            b.add(f"x{k}", dims, is_exact=True)
        except Unfit:
            b.inputs.pop()
            if k == 0:
                return graph_of(seed + 1_000_000, most)
    expected, grown = b.random.randint(2, most), 0
    for _ in range(20 * expected):
        ops = OPS if b.random.random() < 0.88 else CONTROL
        grown += b.grow(b.random.choice(ops))
        if grown == expected:
            break
    read = {name for node in b.nodes for name in node.input}
    outputs = [t.name for t in b.tensors if t.name not in read and t.name not in dict(b.inputs)]
    outputs = outputs[-3:] or [b.nodes[-1].output[0]]
    if b.sizes and b.random.random() < 0.4:
        outputs.append(b.sizes[-1].name)
    used = {n for _, shape in b.inputs for n in shape}
    b.names = [n for n in b.names if n in used]
    return b, b.model(list(dict.fromkeys(outputs)))
