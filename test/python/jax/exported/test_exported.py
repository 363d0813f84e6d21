# SPDX-License-Identifier: Apache-2.0
"""Functions that are exported with symbolic shapes: one program for all sizes, equal to JAX at each of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import _ttmlir_runtime as tt
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import ttmlir.jax
from jax import export
from ttmlir.sizes import OpenSizeError

SIZES = (1, 17, 64)


@dataclass(frozen=True)
class Row:
    """A function, the symbolic shapes of its arguments, and what JAX may assume of them.

    is_open: one program takes all sizes. sizes: sets of sizes, besides those that all have one of SIZES.
    """

    function: Callable[..., object]
    shapes: Sequence[str]
    constraints: Sequence[str] = ()
    is_open: bool = True
    sizes: Sequence[dict[str, int]] = ()


def attention(x: jax.Array, w: jax.Array) -> jax.Array:
    q = x @ w
    scores = jnp.einsum("bld,bmd->blm", q, x)
    places = jnp.arange(x.shape[1])
    return jax.nn.softmax(jnp.where(places[:, None] >= places[None], scores, -1e9), -1) @ x


def convolution(x: jax.Array, k: jax.Array) -> jax.Array:
    return jax.lax.conv_general_dilated(x, k, (1, 1), "SAME")


def strided(x: jax.Array, k: jax.Array) -> jax.Array:
    return jax.lax.conv_general_dilated(x, k, (2, 2), "VALID")


def twice_strided(x: jax.Array, k: jax.Array) -> jax.Array:
    return strided(strided(x, k), k)


def padded(x: jax.Array, k: jax.Array) -> jax.Array:
    """Padding that depends on what is left over when the size is divided by the stride."""
    return jax.lax.conv_general_dilated(x, k, (3, 3), "SAME")


def parts(x: jax.Array) -> tuple[jax.Array, ...]:
    length = x.shape[0]
    return x[1:], x[: length // 2], x[-1], jax.lax.dynamic_slice_in_dim(x, 1, 2, 0)


def turned(x: jax.Array) -> tuple[jax.Array, ...]:
    return x[::-1], x[::2]


def tied(x: jax.Array, y: jax.Array, z: jax.Array) -> tuple[jax.Array, ...]:
    return jnp.concatenate([x, x]) + y[:, :3], jnp.pad(x, ((0, 1), (0, 0))) * z, x.sum() * x.shape[0]


def constrained(x: jax.Array, y: jax.Array) -> tuple[jax.Array, ...]:
    return x[: x.shape[0] - 2 * y.shape[0]], x[: y.shape[0]] + y


def another_quotient(x: jax.Array, y: jax.Array) -> jax.Array:
    n = x.shape[0]
    half = jnp.tanh(y[:, : n // 2])
    return jnp.sum(half[: n - n // 3] * 2) + jnp.sum(x)


def scanned(x: jax.Array) -> object:
    return jax.lax.scan(lambda sums, row: (sums + row, sums * row), jnp.zeros(x.shape[1]), x)


def scanned_backwards(x: jax.Array) -> object:
    return jax.lax.scan(lambda sums, row: (sums * 0.5 + row, sums), jnp.zeros(x.shape[1]), x, reverse=True)


def dynamic_slices(x: jax.Array, y: jax.Array) -> tuple[jax.Array, ...]:
    start = jnp.argmax(x[:, 0])
    rows = jax.lax.dynamic_slice(x, (start, 0), (3, x.shape[1]))
    return rows, jax.lax.dynamic_slice(x, (start, 0), (2, 1)), jax.lax.dynamic_update_slice(x, y, (start, 0))


def window(x: jax.Array) -> jax.Array:
    return jax.lax.reduce_window(x, 0.0, jax.lax.add, (2, 1), (2, 1), ((1, 1), (0, 0)))


def pooled(size: int, stride: int) -> Callable[[jax.Array], object]:
    def pool(x: jax.Array) -> object:
        windows = (size, size), (stride, stride), "SAME"
        return jax.lax.reduce_window(x, 0.0, jax.lax.add, *windows), jax.lax.reduce_window(
            x, -jnp.inf, jax.lax.max, *windows
        )

    return pool


def images(x: jax.Array) -> jax.Array:
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


PAIRS = [{"b": 1, "l": 17}, {"b": 17, "l": 2}, {"b": 64, "l": 3}]
ROWS = {
    "elementwise": Row(lambda x: jnp.sin(x) * 2 + 1, ["b, l"], sizes=PAIRS),
    "matmul": Row(lambda x, y: x @ y, ["b, l", "l, 8"], sizes=PAIRS),
    "attention": Row(attention, ["b, l, 8", "8, 8"], sizes=PAIRS),
    "merge dimensions": Row(lambda x: x.reshape(-1, 8), ["b, l, 8"], sizes=PAIRS),
    "arange": Row(lambda x: x + jnp.arange(x.shape[1]), ["b, l"], sizes=PAIRS),
    "slices": Row(parts, ["l, 4"], ["l >= 2"]),
    "turned": Row(turned, ["l, 4"]),
    "mean": Row(lambda x: (jnp.mean(x), jnp.mean(x, 0), jnp.max(x, 1)), ["b, l, 4"], sizes=PAIRS),
    "convolution": Row(convolution, ["b, 3, h, w", "4, 3, 3, 3"], sizes=[{"b": 3, "h": 2, "w": 31}]),
    "strided": Row(strided, ["b, 3, h, w", "4, 3, 3, 3"], ["h >= 3", "w >= 3"], sizes=[{"b": 3, "h": 5, "w": 30}]),
    "strided twice": Row(
        twice_strided,
        ["b, 3, h, w", "3, 3, 3, 3"],
        ["h >= 12", "w >= 12"],
        sizes=[{"b": 2, "h": n, "w": n + 5} for n in range(12, 20)],
    ),
    "padded": Row(padded, ["b, 3, h, w", "3, 3, 3, 3"], ["h >= 3", "w >= 3"], is_open=False),
    "tied": Row(tied, ["b, 3", "2*b, b + 5", "b + 1, 3"]),
    "double only": Row(lambda x: jnp.tanh(x.reshape(2, -1)), ["2*l"]),
    "odd only": Row(lambda x: jnp.tanh(x[1:].reshape(2, -1)), ["2*l + 1"]),
    "constraint": Row(
        constrained,
        ["b, 4", "c, 4"],
        ["b >= 2*c"],
        sizes=[{"b": b, "c": c} for b, c in ((2, 1), (17, 2), (64, 31), (64, 32), (4, 2), (300, 17))],
    ),
    "another quotient": Row(
        another_quotient, ["n", "n, n"], ["n >= 4"], sizes=[{"n": n} for n in (9, 10, 12, 64, 65, 66)]
    ),
    "transform": Row(lambda x: jnp.abs(jnp.fft.fft(x)), ["b, 8"]),
    "transform of real numbers": Row(lambda x: jnp.abs(jnp.fft.rfft(x)), ["b, 8"]),
    "scan": Row(scanned, ["b, l"], sizes=PAIRS),
    "scan backwards": Row(scanned_backwards, ["b, l"], sizes=PAIRS),
    "dynamic slices": Row(dynamic_slices, ["b, l", "2, l"], ["b >= 4"], sizes=[{"b": 9, "l": 5}]),
    "gather": Row(lambda x: x[jnp.array([1, 0, 1])] * x[-1], ["b, l"], ["b >= 2"], sizes=[{"b": 9, "l": 5}]),
    "negative pads": Row(lambda x: jax.lax.pad(x, 1.0, ((-1, 2, 1), (2, -1, 0))), ["b, l"], sizes=PAIRS),
    "iota and full": Row(lambda x: (jax.lax.iota(jnp.int32, 2 * x.shape[0]), jnp.full(x.shape, 3.0)), ["b, l"]),
    "window": Row(window, ["b, l"], sizes=PAIRS),
    "same window": Row(pooled(3, 2), ["b, l"], sizes=[*PAIRS, {"b": 6, "l": 5}]),
    "same window of two": Row(pooled(2, 2), ["b, l"], sizes=[*PAIRS, {"b": 6, "l": 5}]),
    "same window of images": Row(images, ["b, h, w, 3"], sizes=[{"b": 2, "h": 6, "w": 9}, {"b": 3, "h": 7, "w": 4}]),
    "lower bound": Row(
        lambda x, y: x[: y.shape[0]] + y,
        ["b, l", "c, l"],
        ["b >= c"],
        sizes=[{"b": b, "c": c, "l": 3} for b, c in ((6, 4), (4, 4), (3, 2), (200, 200), (5, 1))],
    ),
    "multiple": Row(lambda x: x.reshape(-1, 64).sum(1), ["8*l, 8"]),
}


def shapes_of(row: Row) -> list[jax.ShapeDtypeStruct]:
    scope = export.SymbolicScope(tuple(row.constraints))
    return [jax.ShapeDtypeStruct(export.symbolic_shape(text, scope=scope), jnp.float32) for text in row.shapes]


def exported(row: Row) -> export.Exported:
    return export.export(jax.jit(row.function))(*shapes_of(row))


def names_of(row: Row) -> set[str]:
    return {name for text in row.shapes for name in text if name.isalpha()}


def takes(row: Row, sizes: dict[str, int]) -> bool:
    return all(eval(constraint, dict(sizes)) for constraint in row.constraints)


@pytest.mark.parametrize("name", ROWS)
def test_one_program_is_equal_to_jax(name: str) -> None:
    row, random = ROWS[name], np.random.default_rng(0)
    compiled = ttmlir.jax.compile(exported(row))
    assert isinstance(compiled, ttmlir.jax.ExportedFunction)
    assert bool(compiled.open_sizes) == row.is_open, compiled.closed
    for sizes in [*({n: size for n in names_of(row)} for size in SIZES), *row.sizes]:
        if not takes(row, sizes):
            continue
        shapes = [[eval(part, dict(sizes)) for part in text.split(",")] for text in row.shapes]
        arrays = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
        found, expected = compiled(*arrays), row.function(*arrays)
        for ours, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            assert ours.shape == theirs.shape
            np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=2e-5, err_msg=str(sizes))


def test_sizes_of_two_and_more_share_a_program() -> None:
    compiled = ttmlir.jax.compile(exported(ROWS["matmul"]))
    binaries = {id(compiled.program.at([(n, m), (m, 8)])) for n in (2, 17, 64) for m in (2, 33, 100)}
    assert binaries == {id(compiled.program.binary)}
    assert id(compiled.program.at([(1, 5), (5, 8)])) not in binaries


@pytest.mark.parametrize(
    ("name", "shapes", "message"),
    [
        ("attention", [(0, 2, 8), (8, 8)], "Expected value >= 1 for dimension variable 'b'"),
        ("matmul", [(2, 5), (6, 8)], r"dimension size args\[1\].shape\[0\] \(= 6\) and the specification 'l' \(= 5\)"),
        ("tied", [(4, 3), (9, 9), (5, 3)], r"\(= 9\) and the specification '2\*b' \(= 8\)"),
        ("double only", [(7,)], "Division had remainder 1 when computing the value of 'l'"),
        ("constraint", [(7, 4), (4, 4)], "constraint b >= 2\\*c"),
        ("slices", [(1, 4)], "constraint l >= 2"),
    ],
)
def test_refuses_other_sizes(name: str, shapes: list[tuple[int, ...]], message: str) -> None:
    compiled = ttmlir.jax.compile(exported(ROWS[name]))
    with pytest.raises(ttmlir.jax.SizeError, match=message):
        compiled(*(np.zeros(shape, np.float32) for shape in shapes))


def test_refuses_other_arguments() -> None:
    compiled = ttmlir.jax.compile(exported(ROWS["matmul"]))
    with pytest.raises(ValueError, match=r"argument 1 is float32\[2, 9\], expected float32\[l,8\]"):
        compiled(np.zeros((2, 2), np.float32), np.zeros((2, 9), np.float32))
    with pytest.raises(TypeError, match="the function was exported for"):
        compiled(np.zeros((2, 2), np.float32))
    with pytest.raises(TypeError, match="expected no example arguments"):
        ttmlir.jax.compile(exported(ROWS["matmul"]), (1,))


def test_upper_bounds_are_those_of_constraints() -> None:
    row = Row(lambda x: x + 1, ["b, l"], ["b <= 100", "l >= 5", "l <= 48"])
    compiled = ttmlir.jax.compile(exported(row))
    assert [(size.name, size.least, size.most) for size in compiled.open_sizes] == [("b", 2, 100), ("l", 5, 48)]
    with pytest.raises(ttmlir.jax.SizeError, match="constraint b <= 100"):
        compiled(np.zeros((101, 8), np.float32))


def test_functions_with_symbolic_shapes_are_exported() -> None:
    row = ROWS["attention"]
    compiled = ttmlir.jax.compile(row.function, shapes_of(row))
    x, w = np.ones((3, 5, 8), np.float32), np.eye(8, dtype=np.float32)
    np.testing.assert_allclose(compiled(x, w), attention(x, w), rtol=1e-4, atol=1e-5)


def test_serialized_trees_types_and_unused_arguments() -> None:
    def function(tree: dict[str, jax.Array], unused: jax.Array, z: jax.Array) -> dict[str, jax.Array]:
        return {"sum": tree["a"] + tree["b"], "pair": (z * 1j, tree["a"].astype(jnp.int32))}

    b, c = export.symbolic_shape("b, c")
    result = export.export(jax.jit(function), platforms=["cpu", "tpu"])(
        {"a": jax.ShapeDtypeStruct((b,), jnp.bfloat16), "b": jax.ShapeDtypeStruct((b,), jnp.bfloat16)},
        jax.ShapeDtypeStruct((c, 3), jnp.float32),
        jax.ShapeDtypeStruct((b, 2), jnp.complex64),
    )
    compiled = ttmlir.jax.compile(export.deserialize(result.serialize()))
    for n in (1, 4, 40):
        tree = {key: jnp.arange(n, dtype=jnp.bfloat16) for key in "ab"}
        z = np.full((n, 2), 1 + 2j, np.complex64)
        found, expected = compiled(tree, np.zeros((2, 3), np.float32), z), function(tree, None, z)
        assert jax.tree.structure(found) == jax.tree.structure(expected)
        for ours, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs)


def test_file_of_all_sizes(tmp_path: Path) -> None:
    compiled = ttmlir.jax.compile(exported(ROWS["matmul"]))
    (path,) = compiled.save(tmp_path / "matmul.ttnn")
    assert [name for name, *_ in tt.binary.load_binary_from_path(str(path)).open_sizes] == ["b", "l"]


def test_a_size_that_decides_is_named() -> None:
    """Running maxima take steps, as many as the size has bits. Running sums are an op, for any size."""
    compiled = ttmlir.jax.compile(exported(Row(jax.lax.cummax, ["l"])))
    assert not compiled.open_sizes
    with pytest.raises(OpenSizeError, match="reduce_window_max"):
        _ = compiled.flatbuffer
    sums = ttmlir.jax.compile(exported(Row(jnp.cumsum, ["l"])))
    assert sums.open_sizes
    for n in (1, 5, 8):
        x = np.cos(np.arange(n, dtype=np.float32))
        np.testing.assert_array_equal(compiled(x), np.maximum.accumulate(x))
        np.testing.assert_allclose(sums(x), np.cumsum(x), rtol=1e-6)


def test_an_op_that_some_sizes_need_is_named() -> None:
    """A pad of 0 is no op, and its constant is a program of its own."""
    function = lambda x: jax.lax.pad(x, -jnp.inf, ((0, x.shape[0] % 2, 0), (0, 0, 0)))  # noqa: E731
    compiled = ttmlir.jax.compile(exported(Row(function, ["b, 8"])))
    assert not compiled.open_sizes
    assert re.search("ttnn.* it is there for some sizes only", compiled.closed)
    for n in (2, 3, 8, 9):
        x = np.ones((n, 8), np.float32)
        np.testing.assert_array_equal(compiled(x), function(x))


def test_comparisons_of_sizes_close_a_program() -> None:
    """A comparison that is the same at all sample points is not taken for a constant."""

    def equal(x: jax.Array) -> jax.Array:
        return x * jnp.where(jnp.array(x.shape[0]) == jnp.array(x.shape[1]), 2.0, 3.0)

    def multiple(x: jax.Array) -> jax.Array:
        return x * jnp.where(jnp.array(x.shape[0]) % 64 == 0, 2.0, 3.0)

    def larger(x: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, 2, lambda _, y: y * jnp.maximum(x.shape[0], 2 * jnp.array(x.shape[1])), x)

    for function in (equal, multiple, larger):
        compiled = ttmlir.jax.compile(exported(Row(function, ["b, l"])))
        assert not compiled.open_sizes and "cannot stay open" in compiled.closed
        for shape in ((4, 4), (64, 64), (64, 3), (65, 3), (5, 9)):
            x = np.ones(shape, np.float32)
            np.testing.assert_array_equal(compiled(x), function(x))


def test_a_comparison_with_a_number_bounds_a_program() -> None:
    def many(x: jax.Array) -> jax.Array:
        return x * jnp.where(jnp.array(x.shape[0]) > 5000, 2.0, 3.0)

    compiled = ttmlir.jax.compile(exported(Row(many, ["b, 2"])))
    assert [size.most for size in compiled.open_sizes] == [1047]
    for n in (4, 5000, 5001):
        x = np.ones((n, 2), np.float32)
        np.testing.assert_array_equal(compiled(x), many(x))


def test_a_bound_between_dimensions_bounds_no_size() -> None:
    """Leaves both sizes of b >= c at a minimum of 2."""
    compiled = ttmlir.jax.compile(exported(ROWS["lower bound"]))
    assert [(size.name, size.least) for size in compiled.open_sizes] == [("b", 2), ("c", 2), ("l", 2)]


def test_a_program_that_the_chip_refuses_has_a_reason() -> None:
    def strided_window(x: jax.Array) -> jax.Array:
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (5, 1), (3, 1), "SAME")

    compiled = ttmlir.jax.compile(exported(Row(strided_window, ["b, 8"])))
    assert isinstance(compiled, ttmlir.jax.ExportedFunction)
    assert compiled.open_sizes == []
    assert re.search("ttnn.slice_static .*reduce_window_max.*begins.*is 2, 3, 3, 3 and 3 for b 37, 92", compiled.closed)
