# SPDX-License-Identifier: Apache-2.0
"""The networks of examples/models: flatbuffer, emitted Python and emitted C++ give the same bits."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from builder.base.builder_apis import build_module
from emit_cases import Subject, compare_all
from golden import GoldenMapTensor
from op_cases import lowered

sys.path.append(str(Path(__file__).resolve().parents[3] / "examples" / "models"))

from zoo import ZOO

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


def subject(name: str, dtype: str, reduced: bool) -> Subject:
    model = ZOO[name]
    network, inputs = model.make(reduced)
    kind = DTYPES[dtype]
    module, _ = build_module(model.on_chip(network, inputs, kind), "ttir")
    values = [GoldenMapTensor({0: value}) for value in model.chip_inputs(inputs, kind)]
    return Subject(f"{name} {dtype}", lowered(module, (1, 1)), [values])


@pytest.mark.long
@pytest.mark.parametrize("dtype", DTYPES)
def test_reduced_models(dtype: str, request: pytest.FixtureRequest) -> None:
    """Every second network in one of the dtypes, the others in the other; with --slow, all in both."""
    names = list(ZOO) if request.config.getoption("--slow") else list(ZOO)[list(DTYPES).index(dtype) :: len(DTYPES)]
    problems = compare_all([subject(name, dtype, reduced=True) for name in names])
    assert not problems, "\n".join(problems)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ZOO)
def test_models_as_published(name: str, dtype: str) -> None:
    problems = compare_all([subject(name, dtype, reduced=False)])
    assert not problems, "\n".join(problems)
