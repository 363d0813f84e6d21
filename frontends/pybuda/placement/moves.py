# SPDX-License-Identifier: Apache-2.0
"""Ops of programs that only move elements, as the netlist writes them: tensor manipulations (tms) of an operand."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ttmlir.op_facts import has_fact

Shape = tuple[int, ...]


def matrix(shape: Shape) -> Shape:
    """Returns rows and columns."""
    return (1, 1, *shape)[-2:]


def letters(dims: Collection[int], rank: int) -> str:
    """Returns dimensions in letters: c for columns, r for rows, z for all others."""
    found = {{1: "c", 2: "r"}.get(rank - d % rank, "z") for d in dims}
    return "".join(letter for letter in "crz" if letter in found)


def reshaped(before: Shape, after: Shape) -> str:
    """Returns other dimensions; "" if only dimensions of size 1 come or go, and rows and columns stay."""
    squeezed = [[n for n in shape if n != 1] for shape in (before, after)]
    same = squeezed[0] == squeezed[1] and matrix(before) == matrix(after)
    return "" if same else f"reshape: [{', '.join(map(str, after))}]"


def broadcast(before: Shape, after: Shape) -> str:
    """Returns a repetition along dimensions, or "" if no dimension grows."""
    names = [*(f"d{i}" for i in range(len(after) - 3)), *"zrc"[max(0, 3 - len(after)) :]]
    sizes = (1,) * (len(after) - len(before)) + before
    grown = [f"{name}: {n // max(m, 1)}" for name, n, m in zip(names, after, sizes, strict=True) if n != m]
    return f"broadcast: {{{', '.join(grown)}}}" if grown else ""


def permuted(order: list[int], before: Shape, after: Shape) -> str:
    """Returns an order of dimensions; those of size 1 do not count."""
    kept = [d for d in order if before[d] != 1]
    if kept == sorted(kept):
        return reshaped(before, after)
    rank = len(order)
    return "transpose" if order == [*range(rank - 2), rank - 1, rank - 2] else f"permute: {order}"


def text_of(op: Mapping[str, Any], before: Shape, after: Shape, number: int) -> str:
    """Returns what the netlist has of an op with one operand, or "" for one that moves no element.

    number: which of its results.
    """
    name, attributes, rank = op["name"].removeprefix("ttnn."), op["attributes"], len(before)
    if name == "permute":
        return permuted(attributes["permutation"], before, after)
    if name == "transpose":
        order = [*range(rank)]
        a, b = attributes["dim0"] % rank, attributes["dim1"] % rank
        order[a], order[b] = order[b], order[a]
        return permuted(order, before, after)
    if name == "slice_static":
        sizes = zip(attributes["begins"], attributes["ends"], attributes["step"], before, strict=True)
        cuts = [[d, b, e, *([s] if s != 1 else [])] for d, (b, e, s, n) in enumerate(sizes) if (b, e, s) != (0, n, 1)]
        return ", ".join(f"select: {cut}" for cut in cuts)
    if has_fact(op["name"], "keeps_order"):
        return reshaped(before, after)
    if name == "repeat":
        return broadcast(before, after)
    numbers = [v for k, v in attributes.items() if is_numbers(v) and not k.startswith("ttcore.")]
    if before == after and not numbers:
        return ""
    return f"{name}: {[*numbers, number] if len(op['outs']) > 1 else numbers}"


def is_numbers(value: Any) -> bool:
    """Returns whether an attribute is a number, or a list of them."""
    return all(type(x) is int for x in (value if isinstance(value, list) else [value]))
