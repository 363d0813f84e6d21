# SPDX-License-Identifier: Apache-2.0
"""Random graphs with named dimensions, each at several sizes, compared with onnxruntime."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import ttmlir.onnx as tt
from open_graph_control import graph_of

QUICK, MORE, BATCH = 8, 400, 8
# Of the range of a result.
TOLERANCE = 1e-3
onnxruntime = pytest.importorskip("onnxruntime")


def differing(found: Any, expected: Any) -> str:
    """Returns how a result differs, or ""."""
    if (found.shape, found.dtype) != (expected.shape, expected.dtype):
        return f"{found.dtype}{list(found.shape)}, expected {expected.dtype}{list(expected.shape)}"
    x, y = found.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(y)
    scale = max(1.0, np.abs(y[finite]).max(initial=0))
    if not np.array_equal(x[~finite], y[~finite], equal_nan=True):
        return "other infinities or NaN"
    error = np.abs(x[finite] - y[finite]).max(initial=0)
    return "" if error <= TOLERANCE * scale else f"error {error:.3g} of {scale:.3g}"


def check(seed: int) -> list[str]:
    """Returns what is wrong with a random graph."""
    builder, model = graph_of(seed)
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    compiled = tt.compile(model)
    wrong = []
    for point, sizes in enumerate(builder.at):
        if not builder.alive[point]:
            continue
        given = builder.given(point)
        expected = session.run(None, given)
        found = compiled(**given)
        for x, y in zip(found if isinstance(found, tuple) else [found], expected, strict=True):
            if said := differing(x, y):
                wrong.append(f"seed {seed}, {json.dumps(sizes)}, {' '.join(builder.log)}: {said}")
    return wrong


@pytest.mark.parametrize("batch", range(QUICK // BATCH))
def test_graphs_agree_at_all_sizes(batch: int, seed: int) -> None:
    first = seed * MORE + batch * BATCH
    assert not [said for k in range(first, first + BATCH) for said in check(k)]


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(QUICK // BATCH, MORE // BATCH))
def test_many_graphs_agree_at_all_sizes(batch: int, seed: int) -> None:
    first = seed * MORE + batch * BATCH
    assert not [said for k in range(first, first + BATCH) for said in check(k)]
