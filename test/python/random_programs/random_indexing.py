# SPDX-License-Identifier: Apache-2.0
"""Ops that look up, sort and write elements, of random modules, each compared with its reference; see
random_modules.py."""

from __future__ import annotations

import torch
from random_elementwise import is_number
from random_values import Draw, Generator, is_float
from torch import Tensor


def embedding(g: Generator) -> None:
    table = g.pick(lambda v: is_float(v) and v.rank == 2)
    rows = table.shape[0]
    # In addition to the sign: any integer is made a row.
    indices = g.pick(lambda v: v.dtype is torch.int32 and v.exact and v.least >= 0 and v.most < rows and 0 < v.rank < 3)
    text = f"builder.embedding({indices.name}, {table.name})"
    g.emit(text, lambda: g.each(lambda i, t: t[i.long()], indices, table, dtype=table.dtype), table.exact)


def embedding_of_rows(g: Generator) -> None:
    table = g.pick(lambda v: is_float(v) and v.rank == 2)
    indices = g.indices([g.choice.choice([1, 3, 8, 33]) for _ in range(g.choice.randint(1, 2))], table.shape[0])
    text = f"builder.embedding({indices.name}, {table.name})"
    g.emit(text, lambda: g.each(lambda i, t: t[i], indices, table, dtype=table.dtype), table.exact)


def gather(g: Generator) -> None:
    x = g.pick(lambda v: v.rank > 0 and is_number(v))
    dim = g.choice.randrange(x.rank)
    shape = [g.choice.choice([1, 3, 8]) if d == dim else n for d, n in enumerate(x.shape)]
    indices = g.indices(shape, x.shape[dim])
    text = f"builder.gather({x.name}, {indices.name}, dim={dim})"
    g.emit(text, lambda: g.each(lambda v, i: v.gather(dim, i), x, indices), x.exact)


def scatter(g: Generator) -> None:
    """Every element is written once at most: of several writes, any may be the last."""
    x = g.pick(lambda v: is_float(v) and v.rank > 0)
    dim = g.choice.randrange(x.rank)
    count = g.choice.randint(1, min(4, x.shape[dim]))
    shape = [count if d == dim else n for d, n in enumerate(x.shape)]
    order = torch.rand([*shape[:dim], x.shape[dim], *shape[dim + 1 :]], generator=g.torch).argsort(dim)
    indices = g.given(order.narrow(dim, 0, count).to(torch.int32).contiguous())
    source = g.new_input(tuple(shape), x.dtype)
    kind, function = g.choice.choice([("invalid", Tensor.scatter), ("sum", Tensor.scatter_add)])
    g.emit(
        f'builder.scatter({x.name}, {indices.name}, {source.name}, dim={dim}, scatter_reduce_type="{kind}")',
        lambda: g.each(lambda v, i, s: function(v, dim, i, s), x, indices, source),
        x.exact and kind == "invalid",
    )


def index(g: Generator) -> None:
    x = g.pick(lambda v: v.rank > 0)
    dim = g.choice.randrange(x.rank)
    begin = g.choice.randrange(x.shape[dim])
    end, step = g.choice.randint(begin + 1, x.shape[dim]), g.choice.choice([1, 2, 7])
    cut = (*[slice(None)] * dim, slice(begin, end, step))
    text = f"builder.index({x.name}, dim={dim}, begin={begin}, end={end}, step={step})"
    g.emit(text, lambda: [s[cut].contiguous() for s in x.shards], x.exact)


def index_select(g: Generator) -> None:
    x = g.pick(lambda v: v.rank > 0)
    dim = g.choice.randrange(x.rank)
    begin = g.choice.randrange(x.shape[dim])
    length = g.choice.randint(1, x.shape[dim] - begin)
    text = f"builder.index_select({x.name}, dim={dim}, begin={begin}, length={length}, stride=0)"
    g.emit(text, lambda: [s.narrow(dim, begin, length).contiguous() for s in x.shards], x.exact)


def slice_dynamic(g: Generator) -> None:
    x = g.pick(lambda v: v.rank > 0)
    begins = [g.choice.randrange(n) for n in x.shape]
    ends = [g.choice.randint(b + 1, n) for b, n in zip(begins, x.shape, strict=True)]
    low, high = (g.given(torch.tensor(v, dtype=torch.int32)) for v in (begins, ends))
    cut = tuple(slice(b, e) for b, e in zip(begins, ends, strict=True))
    shape = [e - b for b, e in zip(begins, ends, strict=True)]
    text = f"builder.slice_dynamic({x.name}, {low.name}, {high.name}, output_shape={shape})"
    g.emit(text, lambda: [s[cut].contiguous() for s in x.shards], x.exact)


def in_order(g: Generator) -> None:
    """The values of sort and topk; equal ones have their positions in any order."""
    x = g.pick(lambda v: v.rank > 0 and v.dtype in (torch.float32, torch.bfloat16, torch.int32))
    dim, descending = g.choice.randrange(x.rank), g.choice.random() < 0.5
    if g.choice.random() < 0.5:
        text, count = f"builder.sort({x.name}, dim={dim}, descending={descending}, stable=True)[0]", x.shape[dim]
    else:
        count = g.choice.randint(1, x.shape[dim])
        text = f"builder.topk({x.name}, k={count}, dim={dim}, largest={descending}, sorted=True)[0]"
    ordered = lambda v: v.sort(dim, descending=descending).values.narrow(dim, 0, count)  # noqa: E731
    g.emit(text, lambda: g.each(ordered, x), x.exact)


def fill_cache(g: Generator) -> None:
    cache = g.pick(lambda v: is_float(v) and v.rank == 4 and not v.name.startswith("x"))
    positions, place = g.choice.randint(1, cache.shape[2]), g.choice.randrange(cache.shape[0])
    new = g.new_input((1, cache.shape[1], positions, cache.shape[3]), cache.dtype)

    def function(old: Tensor, given: Tensor) -> Tensor:
        whole = old.clone()
        whole[place, :, :positions] = given[0]
        return whole

    text = f"builder.fill_cache({cache.name}, {new.name}, batch_offset={place})"
    g.values.remove(cache)  # it is written in place
    g.emit(text, lambda: g.each(function, cache, new), cache.exact)


INDEXING: list[Draw] = [
    embedding,
    embedding_of_rows,
    gather,
    scatter,
    index,
    index_select,
    slice_dynamic,
    in_order,
    fill_cache,
]
