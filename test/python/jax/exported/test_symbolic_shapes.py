# SPDX-License-Identifier: Apache-2.0
"""Modules that jax.export makes with symbolic shapes: refined to concrete ones, lowered and run, equal to JAX."""

from __future__ import annotations

from collections.abc import Callable

import _ttmlir_runtime as rt
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from builder.base.builder_apis import load_mlir_file
from golden.tensor import GoldenMapTensor
from jax import export
from op_cases import execute, lowered
from ttmlir.ir import MLIRError
from ttmlir.passes import ttnn_to_flatbuffer_bin
from ttmlir.passmanager import PassManager


def attention(x: jax.Array, w: jax.Array) -> jax.Array:
    """One head, of which the mask depends on the length."""
    scores = (x @ w) @ x.T
    mask = jnp.arange(x.shape[0])[:, None] >= jnp.arange(x.shape[0])[None, :]
    return jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1) @ x


def shapes(x: jax.Array, w: jax.Array) -> tuple[jax.Array, ...]:
    y = jnp.tanh(x @ w)
    both = jnp.concatenate([y, -y], axis=0)
    padded = jnp.pad(y, ((1, 2), (0, 0))).reshape(-1)
    return both, padded, y[: x.shape[0] // 2], jnp.mean(y, 0) * x.shape[0], jnp.cumsum(y, axis=0)


FUNCTIONS = {"attention": attention, "shapes": shapes}


def exported(function: Callable[..., object]) -> str:
    (n,) = export.symbolic_shape("n", constraints=["n>=2"])
    result = export.export(jax.jit(function))(
        jax.ShapeDtypeStruct((n, 8), jnp.float32), jax.ShapeDtypeStruct((8, 8), jnp.float32)
    )
    return result.mlir_module()


def lower(text: str, rows: int) -> object:
    module, _ = load_mlir_file(text, target="stablehlo")
    types = f"tensor<{rows}x8xf32>,tensor<8x8xf32>"
    passes = f"builtin.module(stablehlo-refine-arguments{{types={types}}})"
    PassManager.parse(passes, module.context).run(module.operation)
    return lowered(module, (1, 1))


@pytest.mark.parametrize("rows", [2, 5, 33])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_equal_to_jax(name: str, rows: int) -> None:
    random = np.random.default_rng(0)
    x, w = (random.standard_normal(shape).astype(np.float32) for shape in ((rows, 8), (8, 8)))
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lower(exported(FUNCTIONS[name]), rows)))
    inputs = [GoldenMapTensor({0: torch.from_numpy(each)}) for each in (x, w)]
    found = [np.asarray(shards[0]) for shards in execute(binary, 0, inputs, (1, 1))]
    expected = jax.tree.leaves(FUNCTIONS[name](x, w))
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, np.asarray(theirs), rtol=1e-4, atol=1e-5)


def test_constraint_of_the_shape_is_checked() -> None:
    with pytest.raises(MLIRError, match="constraint n>=2"):
        lower(exported(shapes), 1)
