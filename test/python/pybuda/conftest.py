# SPDX-License-Identifier: Apache-2.0
"""Each test begins without devices and with the default configuration."""

from __future__ import annotations

from collections.abc import Iterator

import pybuda
import pytest
from pybuda.pybudaglobal import pybuda_reset


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    pybuda_reset()
    yield
    pybuda.shutdown()
    pybuda_reset()


@pytest.fixture
def float32() -> None:
    pybuda.set_configuration_options(default_df_override=pybuda.DataFormat.Float32)
