# SPDX-License-Identifier: Apache-2.0
"""`ttmlir.jax.compile`: the program at every step, its files, and calls."""

from __future__ import annotations

import numpy as np
import pytest
import python_process

jax = pytest.importorskip("jax", reason="jax is not installed: pip install 'ttmlir[jax]'")
import jax.numpy as jnp  # noqa: E402
import ttmlir.jax  # noqa: E402
from ttmlir.ir import MLIRError  # noqa: E402

X = np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32)
W = np.random.default_rng(1).standard_normal((8, 3)).astype(np.float32)


def layer(parameters, x, scale=1.0):
    return {"y": jnp.tanh(x @ parameters["w"] + parameters["b"]) * scale, "n": x.shape[0]}


PARAMETERS = {"w": W, "b": np.ones(3, np.float32)}


@pytest.fixture(scope="module")
def compiled():
    return ttmlir.jax.compile(layer, (PARAMETERS, X), scale=np.float32(2))


def test_texts(compiled):
    assert "stablehlo.dot_general" in compiled.stablehlo
    assert "ttir.tanh" in compiled.ttir and "ttnn." in compiled.ttnn and "ttir." not in compiled.ttnn


@pytest.mark.parametrize("rank", [4, 5])
def test_windows_are_pools(rank):
    """JAX broadcasts the number that a window begins with."""
    window, steps = (1, *[3] * (rank - 2), 1), (1, *[2] * (rank - 2), 1)
    x = np.random.default_rng(2).standard_normal((2, *range(7, 5 + rank), 3)).astype(np.float32)
    for kind, start, op in (("max", -np.inf, jax.lax.max), ("avg", 0.0, jax.lax.add)):
        pool = ttmlir.jax.compile(lambda v: jax.lax.reduce_window(v, start, op, window, steps, "SAME"), (x,))  # noqa: B023
        assert pool.ttir.count(f"ttir.{kind}_pool{rank - 2}d") == 1 and "slice" not in pool.ttir
        expected = jax.lax.reduce_window(x, start, op, window, steps, "SAME")
        np.testing.assert_allclose(pool(x), expected, rtol=1e-5, atol=1e-5)


def test_calls_like_the_function(compiled):
    found = compiled(PARAMETERS, jnp.asarray(X), scale=np.float32(2))
    np.testing.assert_allclose(found["y"], np.tanh(X @ W + 1) * 2, rtol=1e-4, atol=1e-5)
    assert found["n"] == 4 and found["y"].dtype == np.float32


def test_report(compiled):
    report = compiled.report()
    assert "ttnn.multiply" in report
    assert int(report.split("\nall")[1].split()[0]) > 0


@pytest.mark.parametrize("suffix", [".ttnn", ".mlir", ".py", ".cpp"])
def test_saves(compiled, suffix, tmp_path):
    for path in compiled.save(tmp_path / f"layer{suffix}"):
        assert path.is_dir() or path.stat().st_size > 0
    if suffix == ".ttnn":
        done = python_process.run(["-m", "ttrt", "run", tmp_path / "layer.ttnn"])
        assert done.returncode == 0, done.stderr


DTYPES = (
    "bool uint8 uint16 uint32 int8 int16 int32 int4 uint4 int2 uint2 float16 bfloat16 float32 complex64 "
    "float8_e4m3fn float8_e5m2 float8_e4m3b11fnuz float8_e4m3fnuz float8_e5m2fnuz float8_e3m4 float8_e4m3 "
    "float8_e8m0fnu float4_e2m1fn"
)


@pytest.mark.long
@pytest.mark.parametrize("shape", [(2, 3), (), (0, 2)])
def test_dtypes(shape):
    for name in DTYPES.split():
        dtype = jnp.dtype(name)
        x = np.resize(np.array([1, 2, 0.5, 1, 2, 1]), shape).astype(dtype)
        if dtype.kind == "c":
            x = (x * (1 - 2j)).astype(dtype)
        found = ttmlir.jax.compile(lambda v: v, (x,))(x)
        assert found.dtype == x.dtype and found.shape == shape and (found == x).all(), name


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda c: c.save("layer.onnx"), ValueError, "known: .ttnn, .mlir"),
        (lambda c: c(PARAMETERS), TypeError, "the function was compiled for"),
        (lambda c: c(PARAMETERS, X.T, scale=np.float32(2)), ValueError, r"argument \d is float32\[8, 4\]"),
    ],
)
def test_wrong_use(compiled, call, error, message):
    with pytest.raises(error, match=message):
        call(compiled)


def test_unlowered_op_is_named():
    with pytest.raises(MLIRError, match="transforms 5000 elements; expected 1 to 4096"):
        ttmlir.jax.compile(jnp.fft.fft, (jnp.zeros(5000),))
