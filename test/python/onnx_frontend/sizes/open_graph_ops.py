# SPDX-License-Identifier: Apache-2.0
"""Ops of random graphs with named dimensions: each takes values that are there and adds others."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from open_graph_images import (
    blocks,
    convolution,
    down_and_up,
    global_pool,
    normalization,
    pool,
    resize,
    transposed_convolution,
)
from open_graphs import Builder, Size, Unfit

UNARY = ("Relu", "Tanh", "Sigmoid", "Abs", "Neg", "Erf", "Softplus", "Softsign", "Elu", "Gelu", "HardSigmoid", "Sin",
         "LeakyRelu", "Mish", "HardSwish", "Floor")  # fmt: skip


def unary(b: Builder) -> None:
    x, op = b.pick(), b.random.choice(UNARY)
    if op == "Floor" and not x.is_exact:
        op = "Cos"
    b.add(b.node(op, [x.name]), x.dims)


def bounded(b: Builder, name: str) -> str:
    return str(b.node("Tanh", [name])) if b.random.random() < 0.5 else name


def binary(b: Builder) -> None:
    """Two values that broadcast, at least at some points."""
    x, y = b.pick(), b.pick()
    op = b.random.choice(("Add", "Sub", "Mul", "Max", "Min", "Mean"))
    rank = max(x.rank, y.rank)
    one = b.constant(1)
    left, right = ((*([one] * (rank - t.rank)), *t.dims) for t in (x, y))
    dims = []
    for m, n in zip(left, right, strict=True):
        if not b.same(m, n):
            b.require((m == n) | (m == 1) | (n == 1))
        dims.append(np.where(m == 1, n, m))
    b.add(bounded(b, b.node(op, [x.name, y.name])), dims)


def with_weight(b: Builder) -> None:
    x = b.pick()
    n = b.static(x.dims[-1])
    shape = [n] if n and b.random.random() < 0.7 else [1] * b.random.randrange(0, 3)
    y = b.weight(b.numbers.standard_normal(shape).astype(np.float32))
    dims = [b.constant(1)] * (len(shape) - x.rank) + list(x.dims)
    b.add(b.node(b.random.choice(("Add", "Mul", "Sub", "Max")), [x.name, y]), dims)


def softmax(b: Builder) -> None:
    x = b.pick()
    d = b.open_dim(x)
    b.add(b.node(b.random.choice(("Softmax", "Softmax", "LogSoftmax")), [x.name], axis=b.axis(x, d)), x.dims)


def layer_norm(b: Builder) -> None:
    x = b.pick(least=2)
    n = b.static(x.dims[-1])
    if n is None or n < 2:
        raise Unfit
    op = b.random.choice(("LayerNormalization", "RMSNormalization"))
    b.add(b.node(op, [x.name, b.floats(n)], axis=-1), x.dims)


def reduction(b: Builder) -> None:
    x = b.pick()
    count = b.random.choice((1, 1, 2))
    dims = sorted({b.open_dim(x) for _ in range(count)})
    op = b.random.choice(("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceLogSumExp",
                          "ReduceSumSquare", "ReduceL1", "ReduceMean"))  # fmt: skip
    keep = b.random.choice((0, 1))
    if op not in ("ReduceSum", "ReduceL1", "ReduceSumSquare", "ReduceL2"):
        b.require(np.all([x.dims[d] > 0 for d in dims], axis=0))
    axes = b.ints(*(b.axis(x, d) for d in dims))
    result = b.node(op, [x.name, axes], keepdims=keep)
    shape = [b.constant(1) if d in dims else n for d, n in enumerate(x.dims) if keep or d not in dims]
    b.add(b.node("Tanh", [result]) if op == "ReduceSumSquare" else result, shape)


def variance(b: Builder) -> None:
    """x - mean, times 1 / sqrt(sum of squares / (n - 1) + 1), n from the shape."""
    x = b.pick()
    d = b.open_dim(x)
    b.require(x.dims[d] > 1)
    axes = b.ints(d)
    centred = b.node("Sub", [x.name, b.node("ReduceMean", [x.name, axes], keepdims=1)])
    total = b.node("ReduceSum", [b.node("Mul", [centred, centred]), axes], keepdims=1)
    count = b.node("Cast", [b.node("Sub", [b.size_of(x, d).name, b.ints(1)])], to=TensorProto.FLOAT)
    spread = b.node("Sqrt", [b.node("Add", [b.node("Div", [total, count]), b.weight(np.float32([1]))])])
    b.add(b.node("Div", [centred, spread]), x.dims)


def scaled(b: Builder) -> None:
    """A value times or over a size."""
    x, a = b.pick(), b.positive()
    real = b.node("Cast", [a.name], to=TensorProto.FLOAT)
    if b.random.random() < 0.5:
        real = b.node("Sqrt", [real])
    b.add(b.node("Tanh", [b.node(b.random.choice(("Div", "Mul", "Add")), [x.name, real])]), x.dims)


def transpose(b: Builder) -> None:
    x = b.pick(least=2)
    order = b.random.sample(range(x.rank), x.rank)
    b.add(b.node("Transpose", [x.name], perm=order), [x.dims[d] for d in order], x.is_exact)


def merge(b: Builder) -> None:
    """Two dimensions become one, whose size is computed, or -1."""
    x = b.pick(least=2)
    d = b.random.randrange(x.rank - 1)
    way = b.random.randrange(3)
    merged: Size | int = -1
    if way == 0:
        merged = b.times(b.size_of(x, d), b.size_of(x, d + 1))
    dims: list[Size | int] = [b.size_or_number(x, k) for k in range(x.rank)]
    if way == 1:
        dims[:d] = [0] * d
    shape = [*dims[:d], merged, *dims[d + 2 :]]
    if merged == -1:  # nothing says what -1 is where there are no elements
        b.require(np.all([n > 0 for k, n in enumerate(x.dims) if k not in (d, d + 1)], axis=0) if x.rank > 2 else True)
    else:
        b.require(np.all([n > 0 for n in x.dims], axis=0))
    out = [*x.dims[:d], x.dims[d] * x.dims[d + 1], *x.dims[d + 2 :]]
    b.add(b.node("Reshape", [x.name, b.shape(shape)]), out, x.is_exact)


def divide(b: Builder) -> None:
    """A dimension becomes two: a number and -1 or a quotient."""
    x = b.pick()
    d = b.random.randrange(x.rank)
    n = b.random.choice((2, 4, 2, 3))
    b.require((x.dims[d] % n == 0) & np.all([m > 0 for m in x.dims], axis=0))
    many: Size | int = -1 if b.random.random() < 0.5 else b.over(b.size_of(x, d), n)
    two: list[Size | int] = [many, n] if b.random.random() < 0.5 else [n, many]
    dims = [b.size_or_number(x, k) for k in range(x.rank)]
    out = [x.dims[d] // n if m is many else b.constant(n) for m in two]
    name = b.node("Reshape", [x.name, b.shape([*dims[:d], *two, *dims[d + 1 :]])])
    b.add(name, [*x.dims[:d], *out, *x.dims[d + 1 :]], x.is_exact)


def flatten(b: Builder) -> None:
    x = b.pick()
    axis = b.random.randrange(x.rank + 1)
    product = [np.prod([b.constant(1), *part], axis=0) for part in (x.dims[:axis], x.dims[axis:])]
    b.add(b.node("Flatten", [x.name], axis=axis), product, x.is_exact)


def unsqueeze(b: Builder) -> None:
    x = b.pick()
    d = b.random.randrange(x.rank + 1)
    b.add(b.node("Unsqueeze", [x.name, b.ints(d)]), [*x.dims[:d], b.constant(1), *x.dims[d:]], x.is_exact)


def concat(b: Builder) -> None:
    x = b.pick()
    d = b.random.randrange(x.rank)
    others = [t for t in b.tensors if t.rank == x.rank
              and all(b.same(m, n) for k, (m, n) in enumerate(zip(t.dims, x.dims, strict=True)) if k != d)]  # fmt: skip
    parts = [x, b.random.choice(others)]
    b.random.shuffle(parts)
    out = [sum(t.dims[d] for t in parts) if k == d else n for k, n in enumerate(x.dims)]
    b.add(b.node("Concat", [t.name for t in parts], axis=b.axis(x, d)), out)


def slice_of(b: Builder) -> None:
    x = b.pick()
    d = b.open_dim(x)
    n = x.dims[d]
    far = b.number(2**31 - 1 if b.random.random() < 0.5 else 2**63 - 1)
    begin = b.random.choice((b.number(0), b.number(0), b.number(b.random.choice((1, 2, 5, -1, -3, -20))),
                             b.computed_size()))  # fmt: skip
    end = b.random.choice((far, b.number(b.random.choice((3, -1, -2, 10, 100))), b.computed_size()))
    step = b.number(b.random.choice((1, 1, 1, 2, 3)))
    if b.random.random() < 0.15:
        begin, end, step = b.number(-1), b.number(-(2**63) + 1), b.number(b.random.choice((-1, -2)))
    count = [len(range(*slice(int(p), int(q), int(s)).indices(int(m)))) if s > 0 else -(-int(m) // int(-s))
             for p, q, s, m in zip(begin.values, end.values, step.values, n, strict=True)]  # fmt: skip
    out = np.array(count, np.int64)
    b.require(out > 0 if b.random.random() < 0.8 else True)
    inputs = [x.name, begin.name, end.name, b.ints(b.axis(x, d)), step.name]
    b.add(b.node("Slice", inputs), [out if k == d else m for k, m in enumerate(x.dims)], x.is_exact)


def half(b: Builder) -> None:
    """The first and the last half, joined the other way round or multiplied."""
    x = b.pick()
    d = b.open_dim(x)
    a = b.over(b.size_of(x, d), b.random.choice((2, 2, 3)))
    axis = b.ints(d)
    first = b.node("Slice", [x.name, b.ints(0), a.name, axis])
    last = b.node("Slice", [x.name, a.name, b.ints(2**63 - 1), axis])
    b.add(b.node("Concat", [b.node("Neg", [last]), first], axis=d), x.dims)


def split(b: Builder) -> None:
    x = b.pick()
    d = b.open_dim(x)
    if b.random.random() < 0.4:
        count = b.random.choice((2, 3))
        b.require(x.dims[d] >= count)
        each = -(-x.dims[d] // count)
        b.require(each * (count - 1) < x.dims[d])
        parts = b.node("Split", [x.name], count, axis=d, num_outputs=count)
        sizes = [each] * (count - 1) + [x.dims[d] - each * (count - 1)]
    else:
        a = b.over(b.size_of(x, d), 2) if b.random.random() < 0.5 else b.number(b.random.choice((1, 2, 4)))
        b.require((a.values <= x.dims[d]) & (a.values > 0))
        rest = b.less(b.size_of(x, d), a)
        parts = b.node("Split", [x.name, b.shape([a, rest])], 2, axis=d)
        sizes = [a.values, rest.values]
    for name, size in zip(parts, sizes, strict=True):
        b.add(name, [size if k == d else n for k, n in enumerate(x.dims)], x.is_exact)


def expand(b: Builder) -> None:
    """A dimension of 1 is repeated as often as a size says."""
    x = b.pick()
    ones = [d for d in range(x.rank) if b.static(x.dims[d]) == 1]
    if not ones:
        x = b.add(b.node("Unsqueeze", [x.name, b.ints(0)]), [b.constant(1), *x.dims])
        ones = [0]
    d, a = b.random.choice(ones), b.positive(most=40)
    way = b.random.randrange(3)
    if way == 0:
        shape = b.shape([a if k == d else 1 for k in range(x.rank)])
        name = b.node("Expand", [x.name, shape])
    elif way == 1:
        name = b.node("Expand", [x.name, b.shape([a if k == d else b.size_or_number(x, k) for k in range(x.rank)])])
    else:
        name = b.node("Tile", [x.name, b.shape([a if k == d else 1 for k in range(x.rank)])])
    b.add(name, [a.values if k == d else n for k, n in enumerate(x.dims)], x.is_exact)


def expand_as(b: Builder) -> None:
    """Expand to the shape of another value, or fill a tensor of its shape."""
    x = b.pick()
    if b.random.random() < 0.5:
        value = numpy_helper.from_array(np.array([0.25], np.float32))
        filled = b.node("ConstantOfShape", [b.shape_of(x)], value=value)
        b.add(b.node("Add", [x.name, filled]), x.dims)
        return
    d = b.open_dim(x)
    b.require(x.dims[d] > 0)
    mean = b.node("ReduceMean", [x.name, b.ints(d)], keepdims=1)
    b.add(b.node("Expand", [mean, b.shape_of(x)]), x.dims)


def tile(b: Builder) -> None:
    x = b.pick()
    d, a = b.open_dim(x), b.positive(most=5)
    b.require(a.values < 50)
    repeats = b.shape([a if k == d else 1 for k in range(x.rank)])
    b.add(b.node("Tile", [x.name, repeats]), [n * a.values if k == d else n for k, n in enumerate(x.dims)], x.is_exact)


def pad(b: Builder) -> None:
    x = b.pick()
    d = b.open_dim(x)
    mode = b.random.choice(("constant", "constant", "edge", "reflect", "wrap"))
    before = b.number(b.random.choice((0, 1, 2))) if b.random.random() < 0.6 else b.positive(0, 20)
    after = b.positive(0, 20) if b.random.random() < 0.6 else b.number(b.random.choice((0, 1, 2)))
    if mode != "constant":
        b.require(np.all([n > 0 for n in x.dims], axis=0))
        b.require((x.dims[d] > before.values) & (x.dims[d] > after.values))
    b.require((before.values <= 3000) & (after.values <= 3000))
    if b.random.random() < 0.5:
        name = b.node("Pad", [x.name, b.shape([before, after]), "", b.ints(d)], mode=mode)
    else:
        zeros: list[Size | int] = [0] * x.rank
        pads = [*zeros[:d], before, *zeros[d + 1 :], *zeros[:d], after, *zeros[d + 1 :]]
        name = b.node("Pad", [x.name, b.shape(pads)], mode=mode)
    b.add(name, [n + before.values + after.values if k == d else n for k, n in enumerate(x.dims)])


def windows(b: Builder) -> None:
    """Pads to a multiple, takes it apart in windows, turns these, and cuts off the padding."""
    x = b.pick(least=2)
    d, w = b.open_dim(x), b.random.choice((2, 4, 7))
    n = x.dims[d]
    b.require(np.all([m > 0 for m in x.dims], axis=0))
    size = b.size_of(x, d)
    if b.random.random() < 0.5:
        rest = b.node("Mod", [b.node("Sub", [b.ints(w), b.node("Mod", [size.name, b.ints(w)])]), b.ints(w)])
    else:
        rest = b.node("Mod", [b.node("Neg", [size.name]), b.ints(w)])
    more = Size(rest, -n % w)
    zeros: list[Size | int] = [0] * x.rank
    padded = b.node("Pad", [x.name, b.shape([*zeros, *zeros[:d], more, *zeros[d + 1 :]])])
    many = b.over(b.sum_of(size, more), w)
    sizes = [b.size_or_number(x, k) for k in range(x.rank)]
    parts = b.node("Reshape", [padded, b.shape([*sizes[:d], many, w, *sizes[d + 1 :]])])
    order = [*range(d), d + 1, d, *range(d + 2, x.rank + 1)]
    turned = b.node("Softmax", [b.node("Transpose", [parts], perm=order)], axis=d)
    back = b.node("Reshape", [b.node("Transpose", [turned], perm=order), b.shape([*sizes[:d], -1, *sizes[d + 1 :]])])
    b.add(b.node("Slice", [back, b.ints(0), size.name, b.ints(d)]), x.dims)


def table(b: Builder) -> None:
    """Rows of a table by position, as embeddings of positions are."""
    x = b.pick(least=2)
    n = b.static(x.dims[-1])
    if not n or n > 64 or x.rank < 2:
        raise Unfit
    d = x.rank - 2
    rows = b.floats(5000 if b.random.random() < 0.7 else 700, n)
    limit = b.weights[-1].dims[0]
    b.require(x.dims[d] <= limit)
    size = b.size_of(x, d)
    if b.random.random() < 0.5:
        found = b.node("Slice", [rows, b.ints(0), size.name, b.ints(0)])
    else:
        found = b.node("Gather", [rows, b.range_to(size)], axis=0)
    b.add(b.node("Add", [x.name, found]), x.dims)


def positions(b: Builder) -> None:
    """Adds the positions along a dimension, divided by a number."""
    x = b.pick()
    d = b.open_dim(x)
    real = b.node("Cast", [b.range_to(b.size_of(x, d))], to=TensorProto.FLOAT)
    real = b.node("Mul", [real, b.weight(np.float32(1 / 256))])
    dims = [1] * (x.rank - 1 - d)
    if dims:
        real = b.node("Reshape", [real, b.ints(-1, *dims)]) if b.random.random() < 0.5 else b.node(
            "Unsqueeze", [real, b.ints(*range(1, 1 + len(dims)))])  # fmt: skip
    b.require(x.dims[d] > 0)
    b.add(b.node("Sin", [b.node("Add", [x.name, real])]), x.dims)


def masked(b: Builder) -> None:
    """Softmax of scores where positions compare."""
    x = b.pick(least=2)
    rows, columns = (b.range_to(b.size_of(x, d)) for d in (x.rank - 2, x.rank - 1))
    op = b.random.choice(("Less", "LessOrEqual", "GreaterOrEqual"))
    if b.random.random() < 0.4:
        shift = b.node("Squeeze", [b.computed_size().name])
        rows = b.node("Add", [rows, shift])
    mask = b.node(op, [columns, b.node("Unsqueeze", [rows, b.ints(1)])])
    hidden = b.weight(np.float32(-10000 if b.random.random() < 0.5 else -3))
    b.add(b.node("Softmax", [b.node("Where", [mask, x.name, hidden])], axis=-1), x.dims)


def trilu(b: Builder) -> None:
    x = b.pick(least=2)
    extra = []
    if b.random.random() < 0.5:
        a = b.number(b.random.choice((-1, 1, 2))) if b.random.random() < 0.5 else b.computed_size()
        extra = [b.scalar(a)]
    b.add(b.node("Trilu", [x.name, *extra], upper=b.random.choice((0, 1))), x.dims)


def gram(b: Builder) -> None:
    """x times x transposed, and softmax."""
    x = b.pick(least=2)
    order = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
    pair = [x.name, b.node("Transpose", [x.name], perm=order)]
    dims = [*x.dims[:-2], x.dims[-2], x.dims[-2]]
    if b.random.random() < 0.4:
        pair, dims = pair[::-1], [*x.dims[:-2], x.dims[-1], x.dims[-1]]
    b.add(b.node("Softmax", [b.node("MatMul", pair)], axis=-1), dims)


def product(b: Builder) -> None:
    x = b.pick(least=2)
    n = b.static(x.dims[-1])
    m = b.random.choice((4, 8, 5))
    if n:
        op = b.random.choice(("MatMul", "Gemm")) if x.rank == 2 else "MatMul"
        weight = b.floats(n, m)
        result = b.node("Gemm", [x.name, weight, b.floats(m)]) if op == "Gemm" else b.node("MatMul", [x.name, weight])
        b.add(result, [*x.dims[:-1], b.constant(m)])
        return
    others = [t for t in b.tensors if 2 <= t.rank <= x.rank and b.same(t.dims[-2], x.dims[-1])]
    others = [t for t in others if all(b.same(p, q) for p, q in zip(t.dims[-3::-1], x.dims[-3::-1], strict=False))]
    if not others:
        raise Unfit
    y = b.random.choice(others)
    b.add(b.node("Tanh", [b.node("MatMul", [x.name, y.name])]), [*x.dims[:-1], y.dims[-1]])


def einsum(b: Builder) -> None:
    x = b.pick(3)
    text = b.random.choice(("abc,abd->acd", "abc,adc->abd", "abc,abc->a", "abc,abc->cb"))
    sizes = dict(zip("abc", x.dims, strict=True)) | {"d": x.dims[2] if text.startswith("abc,abd") else x.dims[1]}
    out = text.split("->")[1]
    b.require(np.all([n > 0 for n in x.dims], axis=0))
    b.add(b.node("Tanh", [b.node("Einsum", [x.name, x.name], equation=text)]), [sizes[c] for c in out])


def recurrent(b: Builder) -> None:
    """LSTM, GRU or RNN over [length, batch, c]."""
    x = b.pick(3)
    c = b.static(x.dims[2])
    if not c or c > 64:
        raise Unfit
    op = b.random.choice(("LSTM", "GRU", "RNN"))
    gates, h = {"LSTM": 4, "GRU": 3, "RNN": 1}[op], b.random.choice((3, 4))
    direction = b.random.choice(("forward", "reverse", "bidirectional"))
    many = 2 if direction == "bidirectional" else 1
    b.require((x.dims[0] <= 100) & (x.dims[0] > 0) & (x.dims[1] > 0))
    inputs = [x.name, b.floats(many, gates * h, c), b.floats(many, gates * h, h)]
    if b.random.random() < 0.5:
        inputs.append(b.floats(many, 2 * gates * h))
        if b.random.random() < 0.5:
            zeros = b.node("ConstantOfShape", [b.shape([many, b.size_of(x, 1), h])])
            inputs += ["", zeros]
    y, last = b.node(op, inputs, 2, hidden_size=h, direction=direction)
    if b.random.random() < 0.7:
        b.add(b.node("Squeeze", [y, b.ints(1)]) if many == 1 else y,
              [x.dims[0], *([] if many == 1 else [b.constant(2)]), x.dims[1], b.constant(h)])  # fmt: skip
    else:
        b.add(last, [b.constant(many), x.dims[1], b.constant(h)])


def attention(b: Builder) -> None:
    """Self-attention over [batch, length, c], written out or as one op."""
    x = b.pick(3)
    c = b.static(x.dims[2])
    if not c or c % 2 or c > 64:
        raise Unfit
    b.require((x.dims[0] > 0) & (x.dims[1] > 0))
    q, k, v = (b.node("MatMul", [x.name, b.floats(c, c)]) for _ in range(3))
    if b.random.random() < 0.4:
        b.add(b.node("Attention", [q, k, v], q_num_heads=2, kv_num_heads=2, is_causal=b.random.choice((0, 1))), x.dims)
        return
    batch, length = b.size_of(x, 0), b.size_of(x, 1)
    heads = [b.node("Transpose", [b.node("Reshape", [t, b.shape([batch, length, 2, c // 2])])], perm=[0, 2, 1, 3])
             for t in (q, k, v)]  # fmt: skip
    scores = b.node("MatMul", [heads[0], b.node("Transpose", [heads[1]], perm=[0, 1, 3, 2])])
    scores = b.node("Div", [scores, b.weight(np.float32(math.sqrt(c / 2)))])
    if b.random.random() < 0.5:
        square = b.shape([length, length])
        upper = b.node("Trilu", [b.node("ConstantOfShape", [square], value=helper.make_tensor("v", 1, [1], [-10000.0])),
                                 b.weight(np.array(1, np.int64))], upper=1)  # fmt: skip
        scores = b.node("Add", [scores, upper])
    mixed = b.node("MatMul", [b.node("Softmax", [scores], axis=-1), heads[2]])
    mixed = b.node("Transpose", [mixed], perm=[0, 2, 1, 3])
    b.add(b.node("Reshape", [mixed, b.shape([batch, length, c])]), x.dims)


def scatter(b: Builder) -> None:
    """Replaces the first elements of a dimension, or adds to them."""
    x = b.pick()
    b.require(np.all([n > 0 for n in x.dims], axis=0))
    a = b.over(b.size_of(x, 0), 2)
    b.require(a.values > 0)
    rows = b.range_to(a)
    part = b.node("Slice", [x.name, b.ints(0), a.name, b.ints(0)])
    where = b.node("Unsqueeze", [rows, b.ints(1)])
    reduction_of = b.random.choice(("none", "add"))
    b.add(b.node("ScatterND", [x.name, where, b.node("Neg", [part])], reduction=reduction_of), x.dims)


def gathered(b: Builder) -> None:
    """Rows by computed positions: every second one, the last first, one."""
    x = b.pick()
    d = b.open_dim(x)
    n = x.dims[d]
    b.require(n > 0)
    size = b.size_of(x, d)
    way = b.random.randrange(4)
    if way == 0:
        last = b.scalar(b.less(size, b.number(1)))
        b.add(b.node("Gather", [x.name, last], axis=d), [m for k, m in enumerate(x.dims) if k != d], x.is_exact)
    elif way == 1:
        zero, two = (b.weight(np.array(k, np.int64)) for k in (0, 2))
        rows = b.node("Range", [zero, b.scalar(size), two])
        b.add(b.node("Gather", [x.name, rows], axis=d), [-(-n // 2) if k == d else m for k, m in enumerate(x.dims)])
    elif way == 2:
        rows = b.node("Sub", [b.scalar(b.less(size, b.number(1))), b.range_to(size)])
        b.add(b.node("Gather", [x.name, rows], axis=d), x.dims, x.is_exact)
    else:
        index = b.weight(np.array(b.random.choice((0, -1)), np.int64))
        b.add(b.node("Gather", [x.name, index], axis=d), [m for k, m in enumerate(x.dims) if k != d], x.is_exact)


def cumsum(b: Builder) -> None:
    x = b.pick()
    d = b.open_dim(x)
    axis = b.weight(np.array(d, np.int64))
    result = b.node("CumSum", [x.name, axis], exclusive=b.random.choice((0, 1)), reverse=b.random.choice((0, 1)))
    b.add(b.node("Sin", [b.node("Mul", [result, b.weight(np.float32(0.05))])]), x.dims)


def topk(b: Builder) -> None:
    x = b.pick(exact=True)
    d = b.open_dim(x)
    k = b.positive(1, 5) if b.random.random() < 0.5 else b.over(b.size_of(x, d), 2)
    b.require((k.values <= x.dims[d]) & (k.values > 0))
    values, where = b.node("TopK", [x.name, k.name], 2, axis=d)
    dims = [k.values if j == d else n for j, n in enumerate(x.dims)]
    b.add(values, dims, is_exact=True)
    if b.random.random() < 0.5:
        b.add(b.node("Cast", [where], to=TensorProto.FLOAT), dims, is_exact=False)


def arg(b: Builder) -> None:
    x = b.pick(exact=True)
    d, keep = b.open_dim(x), b.random.choice((0, 1))
    b.require(x.dims[d] > 0)
    result = b.node(b.random.choice(("ArgMax", "ArgMin")), [x.name], axis=d, keepdims=keep)
    dims = [b.constant(1) if j == d else n for j, n in enumerate(x.dims) if keep or j != d]
    b.add(b.node("Cast", [result], to=TensorProto.FLOAT), dims)


def one_hot(b: Builder) -> None:
    depth, many = b.positive(2, 30), b.positive(1, 40)
    values = b.weight(np.array([0, 1], np.float32))
    rows = b.node("Mod", [b.range_to(many), b.weight(np.array(3, np.int64))])
    b.require((depth.values < 60) & (many.values < 300))
    result = b.node("OneHot", [rows, depth.name, values], axis=-1)
    b.add(result, [many.values, depth.values], is_exact=True)


def eye(b: Builder) -> None:
    x = b.pick(2)
    result = b.node("EyeLike", [x.name], k=b.random.choice((0, 1, -1)))
    b.add(b.node("Add", [x.name, result]), x.dims)


def size_as_value(b: Builder) -> None:
    """A size becomes a value [1]."""
    a = b.computed_size()
    real = b.node("Cast", [a.name], to=TensorProto.FLOAT)
    b.add(b.node("Div", [real, b.weight(np.float32([64]))]), [b.constant(1)])


OPS: list[Callable[[Builder], None]] = [
    unary, binary, binary, with_weight, softmax, layer_norm, reduction, variance, scaled, transpose, merge, divide,
    flatten, unsqueeze, concat, slice_of, slice_of, half, split, expand, expand_as, tile, pad, pad, windows, table,
    positions, masked, trilu, gram, product, einsum, convolution, convolution, transposed_convolution, pool,
    global_pool, resize, down_and_up, normalization, blocks, recurrent, attention, scatter, gathered, cumsum, topk,
    arg, one_hot, eye, size_as_value,
]  # fmt: skip
