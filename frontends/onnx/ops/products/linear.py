# SPDX-License-Identifier: Apache-2.0
"""Products of matrices and of tensors by named dimensions."""

from __future__ import annotations

from ...emitter import Emitter
from ...errors import Refused
from ...registry import MICROSOFT, Node, op
from ...values import F32, Value, is_integer


def product(g: Emitter, x: Value, y: Value) -> Value:
    """Returns NumPy's matmul of two tensors of one type.

    Raises:
        Refused: types or sizes do not agree.
    """
    if x.dtype != y.dtype:
        raise Refused(f"operands {x!r} and {y!r} have different types")
    return g.matmul(x, y)


@op("MatMul")
def matmul(g: Emitter, node: Node, x: Value, y: Value) -> Value:
    return product(g, x, y)


def swapped(g: Emitter, x: Value) -> Value:
    """Returns the transposed matrices."""
    order = list(range(x.rank))
    order[-2:] = order[-2:][::-1]
    return g.transpose(x, order)


def scaled(g: Emitter, x: Value, factor: float) -> Value:
    """Returns x * factor; products of integers with fractions are cut off."""
    if factor == 1:
        return x
    if is_integer(x.dtype) and factor != int(factor):
        return g.cast(g.mul(g.cast(x, F32), g.full((), factor, F32)), x.dtype)
    return g.mul(x, g.scalar(int(factor) if is_integer(x.dtype) else factor, x))


@op("Gemm")
def gemm(g: Emitter, node: Node, a: Value, b: Value, c: Value | None = None) -> Value:
    if a.rank != 2 or b.rank != 2:
        raise Refused(f"operands {a!r} and {b!r}; expected matrices")
    if a.dtype != b.dtype or (c is not None and c.dtype != a.dtype):
        raise Refused(f"operands {', '.join(repr(x) for x in (a, b, c) if x is not None)} have different types")
    left, right = (0 if node.get("transA", 0) else 1), (1 if node.get("transB", 0) else 0)
    if a.shape[left] != b.shape[right]:
        raise Refused(f"product of {a!r} and {b!r}: inner dimensions {a.shape[left]} and {b.shape[right]} differ")
    result = scaled(g, g.dot(a, b, ((left,), (right,))), node.get("alpha", 1.0))
    beta = node.get("beta", 1.0)
    if c is None or not beta:
        return result
    if g.common_shape(result, c) != result.shape:
        raise Refused(f"C is {c!r}; expected a shape that broadcasts to {list(result.shape)}")
    return g.add(result, scaled(g, c, beta))


@op("FusedMatMul", "TransposeMatMul", domain=MICROSOFT)
def fused_matmul(g: Emitter, node: Node, x: Value, y: Value) -> Value:
    """Multiplies matrices. transBatch: the first dimension is one of the matrices, [m, batch..., k]."""

    def turned(x: Value, side: str) -> Value:
        if x.rank > 2 and node.get(f"transBatch{side}", 0):
            x = g.transpose(x, [*range(1, x.rank - 1), 0, x.rank - 1])
        return swapped(g, x) if x.rank > 1 and node.get(f"trans{side}", 0) else x

    return scaled(g, product(g, turned(x, "A"), turned(y, "B")), node.get("alpha", 1.0))


#
# Einsum
#


def parsed(equation: str, ranks: list[int]) -> tuple[list[list[str]], list[str]]:
    """Returns the names of the dimensions of each operand, and of the result.

    Those of an ellipsis are "0", "1", ..., counted from its end.

    Raises:
        Refused: the equation does not fit to operands of these ranks.
    """
    text = "".join(equation.split())
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise Refused(f"equation {equation!r} has {len(terms)} terms for {len(ranks)} operands")

    def letters(term: str) -> tuple[str, str, bool]:
        before, dots, after = term.partition("...")
        if not (before + after).isalpha() and before + after:
            raise Refused(f"term {term!r} of equation {equation!r}; expected letters and at most one ...")
        return before, after, bool(dots)

    operands, widest = [], 0
    for term, rank in zip(terms, ranks, strict=True):
        before, after, dots = letters(term)
        free = rank - len(before) - len(after)
        if free < 0 or (free and not dots):
            raise Refused(f"term {term!r} of equation {equation!r} for an operand of {rank} dimensions")
        widest = max(widest, free)
        operands.append([*before, *map(str, reversed(range(free))), *after])
    ellipsis = [str(i) for i in reversed(range(widest))]
    if arrow:
        before, after, dots = letters(right)
        result = [*before, *(ellipsis if dots else []), *after]
    else:
        every = [name for names in operands for name in names if name.isalpha()]
        result = ellipsis + sorted(name for name in set(every) if every.count(name) == 1)
    known = {name for names in operands for name in names}
    strange = [name for name in result if name not in known or result.count(name) > 1]
    if strange:
        raise Refused(f"equation {equation!r}: {strange[0]!r} of the result; expected names of the operands, each once")
    return operands, result


def diagonal(g: Emitter, x: Value, names: list[str]) -> tuple[Value, list[str]]:
    """Returns the elements where dimensions of one name have one index, and the names, each once."""
    for name in sorted({n for n in names if names.count(n) > 1}):
        while names.count(name) > 1:
            i = names.index(name)
            j = names.index(name, i + 1)
            x = g.transpose(x, [d for d in range(x.rank) if d not in (i, j)] + [i, j])
            *rest, n, m = x.shape
            if n != m:
                raise Refused(f"dimensions {name!r} of one operand have sizes {n} and {m}")
            x = g.slice_dim(g.reshape(x, (*rest, n * n)), len(rest), 0, n * n, n + 1)
            names = [k for d, k in enumerate(names) if d not in (i, j)] + [name]
    return x, names


def without(g: Emitter, x: Value, names: list[str], gone: list[str]) -> tuple[Value, list[str]]:
    """Returns the sums over dimensions."""
    dims = [d for d, name in enumerate(names) if name in gone]
    return (g.reduce("add", x, dims) if dims else x), [name for name in names if name not in gone]


def aligned(g: Emitter, x: Value, names: list[str], order: list[str]) -> Value:
    """Returns a tensor with dimensions in this order, of size 1 where it has none."""
    kept = [name for name in order if name in names]
    x = g.transpose(x, [names.index(name) for name in kept])
    return g.expand_dims(x, *(d for d, name in enumerate(order) if name not in names))


def contracted(g: Emitter, x: Value, xs: list[str], y: Value, ys: list[str],
               needed: set[str]) -> tuple[Value, list[str]]:  # fmt: skip
    """Returns the product of two tensors, summed over the names that no later operand or result has."""
    shared = [name for name in xs if name in ys]
    x, xs = without(g, x, xs, [name for name in xs if name not in ys and name not in needed])
    y, ys = without(g, y, ys, [name for name in ys if name not in xs and name not in needed])
    summed = [name for name in shared if name not in needed]
    kept = [name for name in shared if name in needed]
    own = [name for name in xs if name not in shared], [name for name in ys if name not in shared]
    order = kept + own[0] + own[1]
    if not summed:
        return g.mul(aligned(g, x, xs, order), aligned(g, y, ys, order)), order

    def places(names: list[str], of: list[str]) -> list[int]:
        return [of.index(name) for name in names]

    result = g.dot(x, y, (places(summed, xs), places(summed, ys)), (places(kept, xs), places(kept, ys)))
    return result, order


@op("Einsum")
def einsum(g: Emitter, node: Node, *operands: Value) -> Value:
    names, result = parsed(node.need("equation"), [x.rank for x in operands])
    if len({x.dtype for x in operands}) > 1:
        raise Refused(f"operands {', '.join(map(repr, operands))} have different types")
    given = [diagonal(g, x, own) for x, own in zip(operands, names, strict=True)]
    sizes: dict[str, int] = {}
    for x, own in given:
        for name, n in zip(own, x.shape, strict=True):
            if sizes.setdefault(name, n) not in (1, n) and n != 1:
                raise Refused(f"dimension {name!r} has sizes {sizes[name]} and {n}")
            sizes[name] = n if sizes[name] == 1 else sizes[name]
    # A dimension of size 1 is repeated where another operand has more.
    lean = [without_ones(g, x, own, sizes) for x, own in given]
    x, own = lean[0]
    for i, (y, others) in enumerate(lean[1:], 1):
        needed = set(result).union(*(more for _, more in lean[i + 1 :]))
        x, own = contracted(g, x, own, y, others, needed)
    x, own = without(g, x, own, [name for name in own if name not in result])
    return g.broadcast(aligned(g, x, own, result), [sizes[name] for name in result])


def without_ones(g: Emitter, x: Value, names: list[str], sizes: dict[str, int]) -> tuple[Value, list[str]]:
    kept = [d for d, name in enumerate(names) if not (x.shape[d] == 1 and sizes[name] != 1)]
    return g.reshape(x, [x.shape[d] for d in kept]), [names[d] for d in kept]


__all__ = ["product", "scaled", "swapped"]
