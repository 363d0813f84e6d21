# SPDX-License-Identifier: Apache-2.0
"""Calls of functions that move elements or choose them by indices: every data type keeps its values."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
import ttnn
from composite_cases import ids, of
from value_rows import ALL, FLOATS, NUMBERS, WIDE, Rows

Tensor = torch.Tensor
INF, NAN = float("inf"), float("nan")
SPECIAL = torch.tensor([[NAN, INF, -INF], [0.0, -0.0, 1.0]])


def scatter(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: Any = None) -> Tensor:
    if reduce is None or reduce == ttnn.ReduceType.Invalid:
        return input.scatter(dim, index, src)
    how = {ttnn.ReduceType.Sum: "sum", ttnn.ReduceType.Prod: "prod", ttnn.ReduceType.Max: "amax",
           ttnn.ReduceType.Min: "amin"}[reduce]  # fmt: skip
    return input.scatter_reduce(dim, index, src, how)


def embedding(input_tensor: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    return F.embedding(input_tensor, weight.reshape(weight.shape[-2:]), padding_idx)


def embedding_bw(input_tensor: Tensor, weight_tensor: Tensor, output_gradient_tensor: Tensor) -> Tensor:
    grads = output_gradient_tensor.reshape(-1, weight_tensor.shape[-1])
    found = torch.zeros_like(weight_tensor).reshape(-1, weight_tensor.shape[-1])
    return found.index_add(0, input_tensor.reshape(-1), grads).reshape(weight_tensor.shape)


def pad(input_tensor: Tensor, padding: Any, value: float = 0.0) -> Tensor:
    sides = [side for pair in reversed(padding) for side in pair]
    return F.pad(input_tensor, sides, value=value)


def cut(input_tensor: Tensor, starts: list[int], ends: list[int], steps: list[int] | None = None) -> Tensor:
    steps = steps or [1] * len(starts)
    return input_tensor[tuple(map(slice, starts, ends, steps))]


SHAPES = (of(2, 3, 5, 37), of(1, 1, 1, 1))
INDEX = ids([0, 3, 3], [1, 1, 1], [6, 5, 4], [2, 2, 0], [0, 0, 0])

TABLE: dict[str, Rows] = {
    "permute": Rows(lambda input_tensor, dims: input_tensor.permute(dims), ALL, [
        {"input_tensor": x, "dims": d} for x in SHAPES for d in ([3, 1, 2, 0], [0, 2, 1, 3], [1, 0, 3, 2], [0, 1, 2, 3],
                                                                 [-1, -2, 0, 1])
    ] + [{"input_tensor": of(0, 3), "dims": [1, 0]}, {"input_tensor": SPECIAL, "dims": [1, 0]},
         {"input_tensor": of(5), "dims": [0]}]),
    "transpose": Rows(lambda input_tensor, dim1, dim2: input_tensor.transpose(dim1, dim2), ALL, [
        {"input_tensor": x, "dim1": a, "dim2": b} for x in SHAPES for a, b in ((0, 1), (-1, -2), (1, 3), (2, 2))
    ] + [{"input_tensor": of(0, 3), "dim1": 0, "dim2": 1}, {"input_tensor": SPECIAL, "dim1": 0, "dim2": 1}]),
    "reshape": Rows(lambda input_tensor, shape: input_tensor.reshape(shape), ALL, [
        {"input_tensor": of(2, 3, 5, 36), "shape": s} for s in ([6, -1], [1080], [2, 3, 6, 30], [1, 1, 15, 72])
    ] + [{"input_tensor": of(0, 3), "shape": [3, 0]}, {"input_tensor": of(1), "shape": []},
         {"input_tensor": SPECIAL, "shape": [6]}]),
    "concat": Rows(lambda tensors, dim=0: torch.cat(tensors, dim), ALL, [
        {"tensors": [of(2, 3, n) for n in sizes], "dim": d} for sizes in ((5, 33, 1), (4,)) for d in (2, -1)
    ] + [{"tensors": [of(n, 3) for n in (2, 0, 5)], "dim": 0}, {"tensors": [of(33, 2), of(40, 2)], "dim": -2},
         {"tensors": [SPECIAL, SPECIAL], "dim": 1}]),
    "slice": Rows(cut, ALL, [
        {"input_tensor": of(2, 5, 37), "starts": s, "ends": e, **own} for s, e, own in (
            ([0, 0, 0], [2, 5, 37], {}), ([1, 2, 3], [2, 4, 36], {}), ([0, 1, 0], [2, 5, 37], {"steps": [1, 2, 5]}),
            ([0, 2, 0], [2, 2, 37], {}))
    ] + [{"input_tensor": SPECIAL, "starts": [0, 1], "ends": [2, 3]}]),
    "pad": Rows(pad, NUMBERS, [
        {"input_tensor": of(2, 3, 5, 7), "padding": [(0, 1), (2, 0), (0, 0), (3, 4)], "value": v} for v in (0.0, 2.0)
    ] + [{"input_tensor": of(0, 3), "padding": [(1, 1), (0, 2)], "value": 1.0},
         {"input_tensor": SPECIAL, "padding": [(1, 0), (0, 1)], "value": -1.0}]),
    "repeat": Rows(lambda input_tensor, repeat_dims: input_tensor.repeat(repeat_dims), ALL, [
        {"input_tensor": of(2, 1, 5), "repeat_dims": d} for d in ([1, 1, 1], [2, 3, 1], [1, 1, 4], [2, 1, 1, 2])
    ] + [{"input_tensor": SPECIAL, "repeat_dims": [1, 2]}]),
    "roll": Rows(lambda input_tensor, shifts, dim: torch.roll(input_tensor, shifts, dim), ALL, [
        {"input_tensor": of(2, 3, 5, 37), "shifts": shifts, "dim": dim}
        for shifts, dim in ((1, 0), (-3, 2), ([5, 47], [3, 2]), (0, 1), (40, 3), (-1, -1))
    ] + [{"input_tensor": x, "shifts": 2, "dim": 1} for x in (of(0, 3), of(1, 1), SPECIAL)]),
    "repeat_interleave": Rows(
        lambda input_tensor, repeats, dim: input_tensor.repeat_interleave(repeats, dim), ALL, [
            {"input_tensor": of(2, 3, 5), "repeats": n, "dim": d} for n in (1, 3) for d in (0, 1, -1)
        ] + [{"input_tensor": of(0, 3), "repeats": 2, "dim": 1}, {"input_tensor": SPECIAL, "repeats": 2, "dim": 0}]),
    "gather": Rows(lambda input, dim, index: input.gather(dim, index), FLOATS + " i32 u32 u16", [
        {"input": of(5, 7), "dim": 1, "index": INDEX}, {"input": of(7, 3), "dim": 0, "index": INDEX},
        {"input": of(5, 7), "dim": -1, "index": INDEX[:2]}, {"input": of(1, 1), "dim": 0, "index": ids([0], [0])},
        {"input": of(2, 3, 4), "dim": 1, "index": ids([[2, 0, 1, 1]], [[0, 0, 0, 2]])},
        {"input": SPECIAL, "dim": 1, "index": ids([2, 1, 0, 0], [1, 1, 0, 2])}]),
    "scatter": Rows(scatter, WIDE + " i32", [
        {"input": of(5, 7), "dim": 1, "index": ids([0, 3, 2], [1, 4, 5], [6, 5, 4], [2, 1, 0], [0, 6, 1]),
         "src": of(5, 3)},
        {"input": of(7, 3), "dim": 0, "index": ids([0, 3, 6], [1, 4, 5]), "src": of(2, 3)},
        {"input": of(1, 1), "dim": 0, "index": ids([0]), "src": of(1, 1)}] + [
        {"input": of(5, 7), "dim": 1, "index": INDEX, "src": of(5, 3), "reduce": r}
        for r in (ttnn.ReduceType.Sum, ttnn.ReduceType.Prod, ttnn.ReduceType.Max, ttnn.ReduceType.Min)], 2),
    "embedding": Rows(embedding, FLOATS, [
        {"input_tensor": i, "weight": w}
        for i, w in ((ids([3, 0, 1, 3], [9, 9, 2, 0]), of(10, 37)), (ids([0]), of(1, 1)),
                     (ids([1, 0, 1]), of(2, 64)), (ids([1, 0]), SPECIAL),
                     (torch.zeros(1, 0, dtype=torch.int32), of(3, 8)))]),
    "embedding_bw": Rows(embedding_bw, WIDE, [
        {"input_tensor": ids([3, 0, 1, 3], [9, 9, 2, 0]), "weight_tensor": of(10, 64),
         "output_gradient_tensor": of(1, 1, 8, 64)},
        {"input_tensor": ids([0]), "weight_tensor": of(1, 32), "output_gradient_tensor": of(1, 1, 1, 32)},
        {"input_tensor": ids([1] * 40), "weight_tensor": of(3, 32), "output_gradient_tensor": of(1, 1, 40, 32)}], 4),
    "where": Rows(lambda predicate, true_value, false_value: torch.where(predicate != 0, true_value, false_value),
                  NUMBERS, [
        {"predicate": p, "true_value": of(3, 5, 37), "false_value": b}
        for p in (torch.tensor([[[1.0], [0.0], [NAN], [-0.0], [1e-30]]]), of(3, 5, 1)) for b in (of(37), of(3, 5, 37))
    ] + [{"predicate": SPECIAL, "true_value": SPECIAL, "false_value": SPECIAL * 0},
         {"predicate": of(0, 3), "true_value": of(0, 3), "false_value": of(1, 3)}]),
    "clone": Rows(lambda input: input, ALL, [{"input": x} for x in (*SHAPES, SPECIAL, of(0, 3))]),
    "unsqueeze_to_4D": Rows(lambda tensor: tensor.reshape([1] * (4 - tensor.dim()) + list(tensor.shape)), NUMBERS, [
        {"tensor": x} for x in (of(5, 7), of(3,), of(1, 2, 3, 4), of(0, 3))]),
    "squeeze": Rows(lambda input_tensor, dim: input_tensor.squeeze(dim), NUMBERS, [
        {"input_tensor": of(1, 3, 1, 37), "dim": d} for d in (0, 2, -2, 1)]),
    "unsqueeze": Rows(lambda input_tensor, dim: input_tensor.unsqueeze(dim), NUMBERS, [
        {"input_tensor": of(3, 37), "dim": d} for d in (0, 1, -1, 2)]),
    "expand": Rows(lambda input_tensor, output_shape: input_tensor.expand(output_shape), NUMBERS, [
        {"input_tensor": of(1, 3, 1), "output_shape": s} for s in ([2, 3, 5], [1, 3, 1], [-1, -1, 4], [2, 1, 3, 7])]),
}  # fmt: skip
