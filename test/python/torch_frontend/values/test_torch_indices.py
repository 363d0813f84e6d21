# SPDX-License-Identifier: Apache-2.0
"""Types of positions and elements: what PyTorch's kernels refuse is refused with their words, also where its graphs
have no such check."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
import torch
from compiled import assert_agree, on_chip
from torch.nn import functional

X = torch.linspace(0, 1, 15).reshape(5, 3)
ROWS, OTHERS = torch.linspace(2, 3, 6).reshape(2, 3), torch.linspace(2, 3, 6).reshape(2, 3).half()
SCORES = torch.linspace(0, 1, 10).reshape(2, 5).log_softmax(1)
Index = torch.Tensor
# What is done at rows 1 and 3, or at three places in two rows.
CASES: dict[str, Callable[[Index, Index], torch.Tensor]] = {
    "index_copy": lambda i, _: X.index_copy(0, i, ROWS),
    "index_copy_": lambda i, _: X.clone().index_copy_(0, i, ROWS),
    "index_copy of others": lambda i, _: X.index_copy(0, i, OTHERS),
    "index_add": lambda i, _: X.index_add(0, i, ROWS),
    "index_add of others": lambda i, _: X.index_add(0, i, OTHERS),
    "index_fill": lambda i, _: X.index_fill(0, i, 2.0),
    "index_reduce": lambda i, _: X.index_reduce(0, i, ROWS, "amax"),
    "index_select": lambda i, _: X.index_select(0, i),
    "index": lambda i, _: X[i],
    "index_put": lambda i, _: X.index_put((i,), ROWS),
    "index_put of others": lambda i, _: X.index_put((i,), OTHERS),
    "index_put with sums": lambda i, _: X.index_put((i,), ROWS, accumulate=True),
    "gather": lambda _, places: X.gather(0, places),
    "scatter": lambda _, places: X.scatter(0, places, ROWS),
    "scatter_add": lambda _, places: X.scatter_add(0, places, ROWS),
    "scatter_reduce": lambda _, places: X.scatter_reduce(0, places, ROWS, "amax"),
    "take": lambda i, _: X.take(i),
    "take_along_dim": lambda _, places: X.take_along_dim(places, 0),
    "embedding": lambda i, _: functional.embedding(i, X),
    "nll_loss": lambda i, _: functional.nll_loss(SCORES, i),
    "cross_entropy": lambda i, _: functional.cross_entropy(SCORES, i),
}  # fmt: skip
TYPES = (torch.int64, torch.int32, torch.int16, torch.uint8, torch.float32)
# Of uint8 only PyTorch's kernel takes targets, its graphs do not.
OF_KERNELS = {("nll_loss", torch.uint8), ("cross_entropy", torch.uint8)}
ROWS_OF_TABLE = [(name, dtype) for name in CASES for dtype in TYPES if (name, dtype) not in OF_KERNELS]


@pytest.mark.parametrize(("name", "dtype"), ROWS_OF_TABLE, ids=str)
def test_types(name: str, dtype: torch.dtype) -> None:
    function = CASES[name]
    rows, places = torch.tensor([1, 3]).to(dtype), torch.tensor([[0, 1, 2], [2, 1, 0]]).to(dtype)
    compiled = on_chip(lambda: function(rows, places))
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            want = function(rows, places)
        except (RuntimeError, IndexError) as error:
            with pytest.raises((RuntimeError, IndexError)) as found:
                compiled()
            assert_same_text(str(found.value), str(error))
        else:
            assert_agree(compiled(), want)


def assert_same_text(found: str, expected: str) -> None:
    """PyTorch's kernel has refused; or its graph, with words of its own around others."""
    assert expected.partition("\n")[0] in found or "Dynamo failed to run" in found, found
