# SPDX-License-Identifier: Apache-2.0
"""A program of the module's own, and a device to run it on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import _ttmlir_runtime as rt
import pytest
from builder.base.builder_apis import build_module
from ttmlir import passes


@pytest.fixture(scope="session")
def compiled_program() -> Callable[[Callable[[Any], None]], Any]:
    """From a function of a TTIR builder to a loaded binary."""

    def binary_of(network: Callable[[Any], None]) -> Any:
        module = build_module(network, "ttir")[0]
        passes.ttir_to_ttnn_backend_pipeline(module)
        return rt.binary.load_binary_from_bytes(passes.ttnn_to_flatbuffer_bin(module))

    return binary_of


@pytest.fixture(scope="module")
def binary(request: pytest.FixtureRequest, compiled_program: Callable[[Callable[[Any], None]], Any]) -> Any:
    """The module's `network`."""
    return compiled_program(request.module.network)


@pytest.fixture
def device(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A device of one chip, with the module's number of THREADS."""
    rt.runtime.set_threads(getattr(request.module, "THREADS", 0))
    device = rt.runtime.open_mesh_device()
    yield device
    rt.runtime.close_mesh_device(device)
    rt.runtime.set_threads(0)
