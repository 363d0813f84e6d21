# SPDX-License-Identifier: Apache-2.0
"""The agreement of targets on exact devices: ops of the op table whose results have the same bits on both."""

from __future__ import annotations

from typing import Any

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import build_module
from exact_table import DTYPES, Agreement, device, metal, of_ops

# Ops with the same kernels, and some whose results are exact or only rounded on both targets.
SAME = ("ttir.abs", "ttir.asin", "ttir.broadcast", "ttir.dropout", "ttir.exp", "ttir.maximum")
# Ops that move elements to places which they compute.
SELECTED = ("ttir.argmax", "ttir.slice_dynamic", "ttir.sort", "ttir.topk")


@pytest.mark.parametrize(("ops", "dtype"), [(SAME, dtype) for dtype in DTYPES] + [(SELECTED, "f32")])
def test_bits_are_the_same(ops: tuple[str, ...], dtype: str) -> None:
    found = of_ops(ops, dtype)
    assert set(found) == set(ops)
    wrong = [
        f"{entry.name}: {each}"
        for several in found.values()
        for entry, each in several.items()
        if not isinstance(each, Agreement) or each.same != each.count
    ]
    assert not wrong, "\n".join(wrong)


def test_places_and_values_that_tf32_does_not_hold() -> None:
    count = 4500
    x = torch.zeros(2, count)
    x[0, -2:] = torch.tensor([-0.0, float("nan")])
    x[1, 100], x[1, 4097], x[1, -3] = 1 + 2**-21, 1 + 2**-20, 2**-100 / 3
    inputs = [x, torch.tensor([0, count - 3], dtype=torch.int32), torch.tensor([2, count], dtype=torch.int32)]

    def module(builder: Any) -> None:
        @builder.func([tuple(each.shape) for each in inputs], [each.dtype for each in inputs])
        def f(x: Any, begins: Any, ends: Any, builder: Any) -> Any:
            return builder.slice_dynamic(x, begins, ends, output_shape=[2, 3]), builder.argmax(x, dim_arg=[1])

    binary = metal(build_module(module, "ttir")[0], "f32")
    outputs = rt.runtime.submit(device(), binary, 0, [rt.runtime.create_host_tensor(each) for each in inputs])
    end, place = (torch.from_dlpack(rt.runtime.to_host(each)[0]) for each in outputs)
    assert torch.equal(end.contiguous().view(torch.int32), x[:, -3:].contiguous().view(torch.int32))
    assert place.flatten().tolist() == [count - 1, 4097]


def test_places_of_denormals() -> None:
    """They are read as zero: the first of equal zeros is the greatest."""
    x = torch.tensor([[-1.0, 1e-40, -2.0, -3.0], [1e-40, 3e-40, 2e-40, -1e-39], [-1.0, float("nan"), 1e-40, 2.0]])

    def module(builder: Any) -> None:
        @builder.func([tuple(x.shape)], [x.dtype])
        def f(x: Any, builder: Any) -> Any:
            return builder.argmax(x, dim_arg=[1])

    binary = metal(build_module(module, "ttir")[0], "f32")
    [place] = rt.runtime.submit(device(), binary, 0, [rt.runtime.create_host_tensor(x)])
    assert torch.from_dlpack(rt.runtime.to_host(place)[0]).flatten().tolist() == [1, 0, 1]
