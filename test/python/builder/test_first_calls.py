# SPDX-License-Identifier: Apache-2.0
"""Calls as a newcomer writes them, with as few arguments as possible: all of them build, run and agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from builder.api.modules import builder_classes, compile_and_execute_shlo, compile_and_execute_ttir
from builder.ops.methods import Method

# Shape of the only argument, the call, the result's shape.
CALLS: dict[str, tuple[tuple[int, ...], Callable[..., Any], tuple[int, ...]]] = {
    "slice": ((4, 4), lambda x, b: b.slice(x, [0, 0], [2, 2]), (2, 2)),
    "slice with tuples": ((4, 4), lambda x, b: b.slice(x, begins=(1, 0), ends=(4, 4)), (3, 4)),
    "sort": ((4, 4), lambda x, b: b.sort(x)[0], (4, 4)),
    "upsample2d": ((1, 4, 4, 4), lambda x, b: b.upsample2d(x, 2), (1, 8, 8, 4)),
    "topk": ((4, 4), lambda x, b: b.topk(x, 2)[0], (4, 2)),
    "argmax": ((4, 4), lambda x, b: b.argmax(x), ()),
    "max_pool2d": ((1, 4, 4, 4), lambda x, b: b.max_pool2d(x, 2, 2), (1, 2, 2, 4)),
    "avg_pool2d": ((1, 4, 4, 4), lambda x, b: b.avg_pool2d(x, 2, 2), (1, 2, 2, 4)),
    "max_pool3d": ((1, 4, 4, 4, 4), lambda x, b: b.max_pool3d(x, 2, 2), (1, 2, 2, 2, 4)),
    "avg_pool3d": ((1, 4, 4, 4, 4), lambda x, b: b.avg_pool3d(x, 2, 2), (1, 2, 2, 2, 4)),
    "sum": ((4, 4), lambda x, b: b.sum(x), (1, 1)),
    "mean": ((4, 4), lambda x, b: b.mean(x), (1, 1)),
    "max": ((4, 4), lambda x, b: b.max(x), (1, 1)),
    "softmax": ((4, 4), lambda x, b: b.softmax(x), (4, 4)),
    "transpose": ((4, 5), lambda x, b: b.transpose(x), (5, 4)),
    "squeeze": ((1, 5), lambda x, b: b.squeeze(x), (5,)),
    "unsqueeze": ((5,), lambda x, b: b.unsqueeze(x), (1, 5)),
    "concat": ((2, 5), lambda x, b: b.concat([x, x]), (4, 5)),
    "pad": ((2, 5), lambda x, b: b.pad(x, [0, 1, 0, 1]), (3, 6)),
    "leaky_relu": ((4,), lambda x, b: b.leaky_relu(x), (4,)),
    "repeat_interleave": ((4, 4), lambda x, b: b.repeat_interleave(x, 2, 0), (8, 4)),
    "reshape": ((4, 4), lambda x, b: b.reshape(x, (2, 8)), (2, 8)),
    "full": ((4,), lambda x, b: b.add(x, b.full([4], 2.0)), (4,)),
    "rank 0": ((), lambda x, b: b.relu(x), ()),
    "sum of rank 0": ((), lambda x, b: b.sum(x), ()),
    "no elements": ((0, 4), lambda x, b: b.relu(x), (0, 4)),
    "sum of no elements": ((0, 4), lambda x, b: b.sum(x, dim_arg=[0]), (1, 4)),
    "reshape of no elements": ((0, 4), lambda x, b: b.reshape(x, [2, 0]), (2, 0)),
    "nearly constant": ((32, 9), lambda x, b: b.sum(b.softmax(x, dimension=0), dim_arg=[0]), (1, 9)),
}
STABLEHLO: dict[str, tuple[tuple[int, ...], Callable[..., Any], tuple[int, ...]]] = {
    "slice": ((4, 4), lambda x, b: b.slice(x, [0, 1], [2, 4]), (2, 3)),
}


@pytest.mark.parametrize(
    ("run", "call"),
    [(compile_and_execute_ttir, c) for c in CALLS.values()]
    + [(compile_and_execute_shlo, c) for c in STABLEHLO.values()],
    ids=[*CALLS, *(f"stablehlo {n}" for n in STABLEHLO)],
)
def test_short_calls(run: Callable[..., Any], call: tuple[Any, Callable[..., Any], tuple[int, ...]]) -> None:
    shape, body, expected = call

    def module(builder: Any) -> None:
        @builder.func([shape], [torch.float32])
        def f(x: Any, b: Any) -> Any:
            return body(x, b)

    report = run(module, check_atol=True, check_rtol=True)
    assert report.passed and report.programs[0].outputs[0].shape == expected


def test_required_attributes_have_a_default_or_a_parameter() -> None:
    """A parameter that can be left out is an attribute that can: else MLIR's verifier complains of a name that nobody
    wrote."""
    from builder.ops.signatures import EACH

    missing = []
    for cls in builder_classes().values():
        for function in vars(cls).values():
            method = getattr(function, "implementation", None)
            if not isinstance(method, Method):
                continue
            filled = {EACH[method.info.name][0]} if method.info.name in EACH else set()
            for p in method.parameters:
                attribute = method.info.attribute(p.field) if p.role == "attribute" else None
                if attribute is not None and p.default is None and not attribute.optional and p.field not in filled:
                    missing.append(f"{method.info.name}.{p.field}")
    # The data type of a TTNN result is filled in from its type.
    assert not [m for m in missing if not m.endswith(".dtype")]
