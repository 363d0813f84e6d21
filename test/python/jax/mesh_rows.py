# SPDX-License-Identifier: Apache-2.0
"""Functions over meshes of `tt`, against JAX's CPU.

As a script it runs a share of the table on the mesh of TTMLIR_MESH and prints a line of JSON for each row. What is
partitioned by its shardings is compared with the function on one CPU device; functions of shard_map, which ask for
their place, with JAX's own partitioner over as many CPU devices.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

RANDOM = np.random.default_rng(0)
A = RANDOM.standard_normal((16, 32)).astype(np.float32)
B = RANDOM.standard_normal((32, 16)).astype(np.float32)
I = RANDOM.integers(0, 16, (16, 32)).astype(np.int32)  # noqa: E741
C = (A + 1j * A[::-1]).astype(np.complex64)
POSITIVE = (A @ A.T + 40 * np.eye(16)).astype(np.float32)
IMAGES = RANDOM.standard_normal((8, 8, 8, 8)).astype(np.float32)

# How the first arguments are split; the others take the entry after it.
SPLITS = (P("x", "y"), P("y", "x"), P(("x", "y")), P(None, "x"), P("y"), P(None, ("y", "x")))


class Row(NamedTuple):
    name: str
    function: Callable[..., Any]
    arguments: tuple[np.ndarray, ...]
    exact: bool = False  # moves values or counts; else sums may come in another order, within 1e-5 of the range


def rows(exact: bool, table: dict[str, tuple[Any, ...]]) -> list[Row]:
    return [Row(name, function, arguments, exact) for name, (function, *arguments) in table.items()]


def _scan(a):
    return lax.scan(lambda c, _: (jnp.tanh(c) @ jnp.ones((32, 32)) / 32, c.sum()), a, None, length=3)


def _convolution(x):
    return lax.conv_general_dilated(x, jnp.ones((8, 8, 3, 3)) / 9, (1, 1), "SAME")


PARTITIONED = rows(
    False,
    {
        "elementwise": (lambda a: jnp.sin(a) + 1, A),
        "product": (lambda a, b: a @ b, A, B),
        "product of three": (lambda a, b: a @ b @ a, A, B),
        "batched product": (lambda x: jnp.einsum("bcij,bckj->bcik", x, x), IMAGES),
        "softmax": (lambda a: jax.nn.softmax(a, -1), A),
        "layer norm": (lambda a: (a - a.mean(-1, keepdims=True)) * lax.rsqrt(a.var(-1, keepdims=True) + 1e-5), A),
        "sums": (lambda a: (a.sum(0), a.sum(1), a.mean(), a.std()), A),
        "cumsum": (lambda a: jnp.cumsum(a, 0), A),
        "logsumexp": (lambda a: jax.nn.logsumexp(a, 0), A),
        "fft": (lambda a: jnp.abs(jnp.fft.fft(a)), A),
        "cholesky": (jnp.linalg.cholesky, POSITIVE),
        "solve": (jnp.linalg.solve, POSITIVE, A),
        "eigenvalues": (lambda a: jnp.linalg.eigh(a)[0], POSITIVE),
        "qr": (lambda a: jnp.abs(jnp.linalg.qr(a)[1]), POSITIVE),
        "inverse": (jnp.linalg.inv, POSITIVE),
        "complex product": (lambda c: (c @ c.T.conj(), jnp.abs(c)), C),
        "complex sum": (lambda c: (c * (1 + 2j)).sum(0), C),
        "scan": (_scan, A),
        "while with a sum": (
            lambda a: lax.while_loop(lambda c: jnp.abs(c).sum() < 5000, lambda c: c * 2 + c.mean(), a),
            A,
        ),
        "loop over rows": (lambda a: lax.fori_loop(0, 4, lambda i, c: c.at[i].add(c.sum()), a), A),
        "map": (lambda a: lax.map(lambda r: r * r.sum(), a), A),
        "cond": (lambda a: lax.cond(a.sum() > 0, lambda a: a @ a.T, lambda a: a @ a.T - 1, a), A),
        "switch": (
            lambda a, i: lax.switch(i[0, 0] % 3, [lambda a: a, lambda a: a * 2, lambda a: a @ a.T @ a], a),
            A,
            I,
        ),
        "gradient": (lambda a, b: jax.grad(lambda a: jnp.sum(jnp.tanh(a @ b) ** 2))(a), A, B),
        "gradient of a scan": (jax.grad(lambda a: _scan(a)[1].sum()), A),
        "convolution": (_convolution, IMAGES),
        "gradient of a convolution": (jax.grad(lambda x: (_convolution(x) ** 2).sum()), IMAGES),
        "pooling": (
            lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"),
            IMAGES,
        ),
        "normal": (lambda a: a + jax.random.normal(jax.random.key(3), (16, 32)), A),
        "segment sum": (lambda a, i: jax.ops.segment_sum(a, i[:, 0], 16), A, I),
        "outer product": (lambda a: jnp.outer(a[0], a[:, 0]), A),
        "vmap": (lambda a: jax.vmap(lambda r: jnp.outer(r, r).sum())(a), A),
        "constraint inside": (lambda a, b: constrained(jnp.tanh(constrained(a @ b, "y", "x")) @ a, "x", None), A, B),
    },
) + rows(
    True,
    {
        "identity": (lambda a: a, A),
        "maximum": (lambda a: (a.max(0), a.min(), a.argmax(1), a.argmin(0)), A),
        "integers": (lambda i: i * 3 // 2 + i % 5 - (i >> 1), I),
        "sum of integers": (lambda i: (i.sum(0), i.prod(1), i.sum()), I),
        "product of integers": (lambda i: i @ i.T, I),
        "booleans": (lambda a: (a > 0, jnp.any(a > 2, 0), jnp.all(a > -3), jnp.sum(a > 0)), A),
        "bf16": (lambda a: jnp.round(a).astype(jnp.bfloat16) * 2, A),
        "sum of bf16": (lambda a: jnp.sign(a).astype(jnp.bfloat16).sum(0), A),
        "small integers": (lambda i: (i.astype(jnp.int8) * 3, i.astype(jnp.uint16) + 1), I),
        "complex": (lambda c: (c * 2j, c.conj(), c.T), C),
        "sort": (lambda a: (jnp.sort(a, 0), jnp.argsort(a, 1)), A),
        "top_k": (lambda a: lax.top_k(a, 3), A),
        "approx_max_k": (lambda a: lax.approx_max_k(a, 2)[0], A),
        "take": (lambda a, i: jnp.take(a, i[0], axis=0), A, I),
        "take along": (lambda a, i: jnp.take_along_axis(a, i, axis=0), A, I),
        "scatter": (lambda a, i: a.at[i[0, :8]].set(1.0), A, I),
        "dynamic slice": (lambda a: lax.dynamic_slice(a, (jnp.int32(3), jnp.int32(5)), (8, 16)), A),
        "dynamic update": (lambda a: lax.dynamic_update_slice(a, jnp.ones((2, 4)), (jnp.int32(7), jnp.int32(1))), A),
        "reshape": (lambda a: a.reshape(4, 4, 32).transpose(1, 0, 2), A),
        "flatten": (lambda a: a.ravel()[:64], A),
        "concatenate": (lambda a: (jnp.concatenate([a, -a], 0), jnp.stack([a, a], 1)), A),
        "slices": (lambda a: (a[3:11, ::2], a[5], a[:, -1]), A),
        "pad": (lambda a: jnp.pad(a, ((1, 2), (0, 3))), A),
        "roll and flip": (lambda a: (jnp.roll(a, 3, 0), a[::-1], jnp.flip(a, 1)), A),
        "repeat and tile": (lambda a: (jnp.repeat(a, 2, 0), jnp.tile(a, (2, 1))), A),
        "where": (lambda a, i: jnp.where(i > 5, a, 0.0), A, I),
        "iota": (lambda i: i + jnp.arange(32) + jnp.arange(16)[:, None], I),
        "one_hot": (lambda i: jax.nn.one_hot(i, 16), I),
        "triangle": (lambda a: (jnp.tril(a), jnp.triu(a, 2), jnp.diagonal(a)), A),
        "random bits": (lambda i: (i, jax.random.bits(jax.random.key(1), (16, 8))), I),
        "random bits of the hardware's kind": (
            lambda i: (i, jax.random.bits(jax.random.key(1, impl="rbg"), (16, 8))),
            I,
        ),
        "permutation": (lambda a: jax.random.permutation(jax.random.key(3), a), A),
        "a constant": (lambda a: (jnp.ones((4, 4)), a), A),
        "nothing": (lambda a: a[:0] * 2, A),
        "sizes that do not divide": (lambda a: constrained(a[:7, :5], "x", "y") * 1, A),
    },
)


class Placed(NamedTuple):
    """A function of shard_map over A, with the split of its argument and of its result."""

    name: str
    function: Callable[[Any], Any]
    before: P
    after: P


def _ring(by: int) -> Callable[[str], list[tuple[int, int]]]:
    return lambda axis: [(i, (i + by) % lax.axis_size(axis)) for i in range(lax.axis_size(axis))]


def _around(a):
    def turn(_, c):
        return c[0] + c[1], lax.ppermute(c[1], "x", _ring(1)("x"))

    return lax.fori_loop(0, lax.axis_size("x"), turn, (a * 0, a))[0]


XY = P("x", "y")
ON_X = [  # those that a mesh of one axis has, too
    Placed("psum", lambda a: lax.psum(a, "x"), XY, P(None, "y")),
    Placed("pmean", lambda a: lax.pmean(a, "x"), XY, P(None, "y")),
    Placed("pmax and pmin", lambda a: lax.pmax(a, "x") - lax.pmin(a, "x"), XY, P(None, "y")),
    Placed("all_gather tiled", lambda a: lax.all_gather(a, "x", axis=0, tiled=True), XY, P(None, "y")),
    Placed("all_gather", lambda a: lax.all_gather(a, "x", axis=1), XY, P(None, None, "y")),
    Placed("ppermute", lambda a: lax.ppermute(a, "x", _ring(1)("x")), XY, XY),
    Placed("ppermute to some", lambda a: lax.ppermute(a, "x", [(0, lax.axis_size("x") - 1)]), XY, XY),
    Placed("all_to_all", lambda a: lax.all_to_all(a, "x", 1, 0, tiled=True), XY, XY),
    Placed(
        "psum_scatter", lambda a: lax.psum_scatter(a, "x", scatter_dimension=1, tiled=True), XY, P(None, ("y", "x"))
    ),
    Placed("axis_index", lambda a: a * 0 + lax.axis_index("x") * 10, XY, XY),
    Placed("ring", _around, XY, XY),
    Placed(
        "branch by place", lambda a: lax.cond(lax.axis_index("x") == 0, lambda a: a + 1, lambda a: a * 2, a), XY, XY
    ),
    Placed("loop by place", lambda a: lax.fori_loop(0, lax.axis_index("x") + 1, lambda i, c: c * 2, a), XY, XY),
    Placed("sum of integers", lambda a: lax.psum(a.astype(jnp.int32), "x"), XY, P(None, "y")),
    Placed("sum of bf16", lambda a: lax.psum(jnp.round(a).astype(jnp.bfloat16), "x"), XY, P(None, "y")),
    Placed("sum of complex", lambda a: lax.psum(a * (1 + 2j), "x"), XY, P(None, "y")),
    Placed("gathered booleans", lambda a: lax.all_gather(a > 0, "x", axis=0, tiled=True), XY, P(None, "y")),
    Placed(
        "collective in a branch", lambda a: lax.cond(a[0, 0] * 0 == 0, lambda a: lax.psum(a, "x"), jnp.sin, a), XY, XY
    ),
    Placed("gradient through psum", jax.grad(lambda a: jnp.sum(lax.psum(jnp.sin(a), "x") ** 2)), XY, XY),
]
ON_BOTH = [
    Placed("psum over both", lambda a: lax.psum(a, ("x", "y")), XY, P()),
    Placed("all_gather over both", lambda a: lax.all_gather(a, ("x", "y"), axis=0, tiled=True), P(("x", "y")), P()),
    Placed("all_gather the other way", lambda a: lax.all_gather(a, ("y", "x"), axis=0, tiled=True), P(("y", "x")), P()),
    Placed("psum_scatter over both", lambda a: lax.psum_scatter(a, ("x", "y"), tiled=True), P(), P(("x", "y"))),
    Placed("place among both", lambda a: a * 0 + lax.axis_index(("x", "y")), XY, XY),
    Placed("psum along y", lambda a: lax.psum(a, "y"), XY, P("x", None)),
    Placed("all_to_all along y", lambda a: lax.all_to_all(a, "y", 0, 1, tiled=True), XY, XY),
    Placed("pshuffle", lambda a: lax.pshuffle(a, "y", [*range(1, lax.axis_size("y")), 0]), XY, XY),
    Placed("mixed", lambda a: lax.ppermute(lax.psum(a, "y"), "x", _ring(1)("x")) + lax.axis_index("y"), XY, XY),
]

mesh: Mesh  # of the process that runs the table


def known(spec: P) -> P:
    """Returns the axes that the mesh has."""
    entries = []
    for entry in spec:
        axes = tuple(a for a in (entry if isinstance(entry, tuple) else (entry,)) if a in mesh.axis_names)
        entries.append(axes or None)
    return P(*entries)


def constrained(value: Any, *spec: Any) -> Any:
    """Where the function is computed on one device, the value itself."""
    if jax.config.jax_default_device is not None:
        return value
    return lax.with_sharding_constraint(value, NamedSharding(mesh, known(P(*spec))))


def agree(got: Any, want: Any, exact: bool) -> str:
    """Returns what is wrong; nothing when it is right."""
    left, right = jax.tree.leaves(got), jax.tree.leaves(want)
    if len(left) != len(right):
        return f"{len(left)} results, expected {len(right)}"
    for number, (a, b) in enumerate(zip(map(np.asarray, left), map(np.asarray, right), strict=True)):
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            return f"result {number} is {a.dtype}{a.shape}, expected {b.dtype}{b.shape}"
        if not a.size:
            continue
        if exact:
            if not np.array_equal(a, b):
                return f"result {number} differs"
            continue
        a, b = a.astype(np.complex128), b.astype(np.complex128)
        error, span = np.abs(a - b).max(), np.abs(b).max()
        if not error <= 1e-5 * span:
            return f"result {number} is off by {error}, of {span}"
    return ""


def not_of_each_device(compiled: Any) -> str:
    """Returns what is wrong with the text of the chips' program; nothing when each of them runs it."""
    head = compiled.as_text().splitlines()[0]
    return "" if f"num_partitions={mesh.size}" in head else f"as_text() begins with {head}"


def run_partitioned(row: Row, split: int) -> str:
    cpu = jax.devices("cpu")[0]
    with jax.default_device(cpu):
        want = jax.jit(row.function)(*(jax.device_put(a, cpu) for a in row.arguments))
    arguments = []
    for number, argument in enumerate(row.arguments):
        spec = known(SPLITS[(split + number) % len(SPLITS)])
        arguments.append(jax.device_put(argument, NamedSharding(mesh, spec)))
    compiled = jax.jit(row.function).lower(*arguments).compile()
    return not_of_each_device(compiled) or agree(compiled(*arguments), want, row.exact)


def run_placed(row: Placed) -> str:
    results = []
    for over in (mesh, Mesh(np.array(jax.devices("cpu")[: mesh.size]).reshape(mesh.devices.shape), mesh.axis_names)):
        before, after = known(row.before), known(row.after)
        mapped = jax.shard_map(row.function, mesh=over, in_specs=before, out_specs=after, check_vma=False)
        argument = jax.device_put(A, NamedSharding(over, before))
        compiled = jax.jit(mapped).lower(argument).compile()
        if over is mesh and (wrong := not_of_each_device(compiled)):
            return wrong
        results.append(compiled(argument))
    return agree(*results, exact=False)


def main(shape: tuple[int, ...], part: int, parts: int) -> None:
    global mesh
    mesh = Mesh(np.array(jax.devices()).reshape(shape), ("x", "y")[: len(shape)])
    splits = len(SPLITS) if len(shape) == 2 else 4
    work: list[tuple[str, Callable[[], str]]] = []
    for split in range(splits):
        for number, row in enumerate(PARTITIONED):
            # Each share has all functions of some splits, one split after another.
            work.append(
                (
                    f"{row.name} by {known(SPLITS[(split + number) % splits])}",
                    lambda r=row, s=(split + number) % splits: run_partitioned(r, s),
                )
            )
    for placed in ON_X + (ON_BOTH if len(shape) == 2 else []):
        work.append((f"shard_map: {placed.name}", lambda p=placed: run_placed(p)))
    for name, run in work[part::parts]:
        try:
            wrong = run()
        except Exception as error:  # the table goes on
            wrong = f"{type(error).__name__}: {error}"[:500]
        print(json.dumps([name, wrong]), flush=True)


if __name__ == "__main__":
    main(tuple(int(n) for n in sys.argv[1].split("x")), int(sys.argv[2]), int(sys.argv[3]))
