# SPDX-License-Identifier: Apache-2.0
"""Programs as JAX's users write them, each in a process of its own with JAX_PLATFORMS=tt."""

from __future__ import annotations

import textwrap

import pytest

pytest.importorskip("jax", reason="jax is not installed: pip install 'ttmlir[jax]'")
import model_programs
import science_programs
import user_programs
from programs import fails, succeeds

HEAD = "import jax, jax.numpy as jnp, numpy as np\n"
PROGRAMS = (
    user_programs.TRAINING
    | user_programs.TRANSFORMATIONS
    | user_programs.RUNNING
    | science_programs.SCIENCE
    | model_programs.MODELS
)


@pytest.mark.sampled(12)  # a process takes 2 seconds
@pytest.mark.parametrize("name", PROGRAMS)
def test_runs(name):
    succeeds(HEAD + textwrap.dedent(PROGRAMS[name]))


@pytest.mark.long
@pytest.mark.parametrize("name", user_programs.ERRORS)
def test_says_what_is_wrong(name):
    program, message = user_programs.ERRORS[name]
    assert message in fails(HEAD + textwrap.dedent(program))
