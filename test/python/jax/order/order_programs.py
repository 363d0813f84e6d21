# SPDX-License-Identifier: Apache-2.0
"""Programs that depend on the order of numbers, over zeros, infinities and NaN of both signs: on `tt` and on the CPU.

    JAX_PLATFORMS=tt,cpu .venv/bin/python test/python/jax/order/order_programs.py --dtype bfloat16

Prints a line for each program: its name, and what differs, or "ok". What is only moved is compared bit by bit, else the
sign of a NaN is nobody's. `--together N` compiles N programs as one, which takes less time and runs the same kernels.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn

DTYPES = ("float32", "bfloat16", "float16")
NUMBERS = (1.0, -1.0, 0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 2.0, -3.0)
SIZES = (1, 7, 33, 100)


@dataclass(frozen=True)
class Program:
    """moves: whether results are elements of the operands, with the sign of each NaN."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[np.ndarray, ...]
    moves: bool = False


def drawn(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, numbers: Any = NUMBERS) -> np.ndarray:
    # copysign, as the sign of a NaN that is written as a number depends on who converts it.
    picked = rng.choice(np.asarray(numbers), shape)
    return np.copysign(np.abs(picked), np.where(np.signbit(picked), -1.0, 1.0)).astype(dtype)


def elementwise(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> list[Program]:
    two: dict[str, Callable[..., Any]] = {
        "maximum": jnp.maximum,
        "minimum": jnp.minimum,
        "swapped maximum": lambda a, b: jnp.maximum(b, a),
        "lax.max in a chain": lambda a, b: lax.max(lax.min(a, b) * 2, -lax.max(a, b)),
        "clamp by tensors": lambda a, b: lax.clamp(lax.min(a, b), a, lax.max(a, b)),
    }
    one: dict[str, Callable[..., Any]] = {
        "relu": nn.relu,
        "relu of a chain": lambda a: nn.relu(a * 2) + 1 / nn.relu(-a),
        "relu6": nn.relu6,
        "maximum with 0": lambda a: jnp.maximum(0.0, a),
        "maximum with -0": lambda a: jnp.maximum(-0.0, a),
        "minimum with 0": lambda a: jnp.minimum(a, 0.0),
        "minimum with -0": lambda a: jnp.minimum(a, -0.0),
        "clip to 0, 1": lambda a: jnp.clip(a, 0.0, 1.0),
        "clip to -1, -0": lambda a: jnp.clip(a, -1.0, -0.0),
        "clip to 0, 6": lambda a: lax.clamp(np.asarray(0.0, a.dtype), a, np.asarray(6.0, a.dtype)),
        "clip to -0, 6": lambda a: lax.clamp(np.asarray(-0.0, a.dtype), a, np.asarray(6.0, a.dtype)),
        "constants": lambda a: lax.max(a, jnp.full_like(a, jnp.maximum(a.dtype.type(-0.0), a.dtype.type(0.0)))),
        "folded maximum": lambda a: lax.max(jnp.full(a.shape, 0.0, a.dtype), jnp.full(a.shape, -0.0, a.dtype)),
        "folded minimum": lambda a: lax.min(jnp.full(a.shape, 0.0, a.dtype), jnp.full(a.shape, -0.0, a.dtype)),
    }
    return [
        *(Program(name, function, (a, b)) for name, function in two.items()),
        *(Program(name, function, (a,)) for name, function in one.items()),
        Program("abs", jnp.abs, (a,), moves=True),
        Program("clip by tensors", lax.clamp, (b, a, c)),
    ]


def reductions(x: np.ndarray) -> list[Program]:
    """Reduces a matrix along both dimensions and as a whole, and windows of it."""
    programs = []
    for name, reduce, start in (("max", lax.max, -np.inf), ("min", lax.min, np.inf)):
        of = getattr(jnp, name)
        for axis in (0, 1, None):
            programs.append(Program(f"{name} along {axis}", lambda x, of=of, axis=axis: of(x, axis=axis), (x,)))
            arg = getattr(jnp, f"arg{name}")
            programs.append(Program(f"arg{name} along {axis}", lambda x, of=arg, axis=axis: of(x, axis=axis), (x,)))
        programs.append(Program(f"{name} from 0", lambda x, of=of: of(x, axis=1, initial=0.0), (x,)))
        programs.append(Program(f"{name} from -0", lambda x, of=of: of(x, axis=0, initial=-0.0), (x,)))
        programs.append(Program(f"{name} where", lambda x, of=of: of(x, axis=0, initial=1, where=x < 2), (x,)))
        cumulative = getattr(lax, f"cum{name}")
        for axis in (0, 1):
            programs.append(Program(f"cum{name} {axis}", lambda x, of=cumulative, axis=axis: of(x, axis), (x,)))
        programs.append(Program(f"cum{name} backwards", lambda x, of=cumulative: of(x, 1, reverse=True), (x,)))
        if min(x.shape) < 2:
            continue
        window = lambda x, size, by=reduce, start=start: lax.reduce_window(  # noqa: E731
            x, np.asarray(start, x.dtype), by, size, (1,) * len(size), "SAME"
        )
        programs.append(Program(f"{name} of windows", lambda x, w=window: w(x, (2, 2)), (x,)))
        image = lambda x, w=window: w(jnp.stack([x, -x, x.T.reshape(x.shape)], -1)[None], (1, 2, 2, 1))  # noqa: E731
        programs.append(Program(f"{name} pool", image, (x,)))
    return programs


def sorts(x: np.ndarray) -> list[Program]:
    last = x.shape[-1]
    return [
        Program("sort", lambda x: lax.sort(x), (x,), moves=True),
        Program("sort columns", lambda x: lax.sort(x, dimension=0), (x,), moves=True),
        Program("sort downwards", lambda x: jnp.sort(x, descending=True), (x,), moves=True),
        Program("argsort", jnp.argsort, (x,)),
        Program("argsort downwards", lambda x: jnp.argsort(x, descending=True), (x,)),
        Program("sort by two keys", lambda x: lax.sort((jnp.abs(x), x, lax.neg(x)), num_keys=2), (x,), moves=True),
        *(Program(f"top_k {k}", lambda x, k=k: lax.top_k(x, k), (x,), moves=True) for k in {1, (last + 1) // 2, last}),
        Program("median", lambda x: jnp.median(jnp.where(jnp.isfinite(x), x, 0.0), axis=1), (x,)),
        Program("searchsorted", lambda x: jnp.searchsorted(jnp.sort(x[0]), x[0]), (x,)),
        Program("total order", lambda x: [lax.lt_to_p.bind(x, x.T.reshape(x.shape)), lax.le_to_p.bind(x, -x)], (x,)),
    ]


def scatters(x: np.ndarray, rng: np.random.Generator) -> list[Program]:
    places = rng.integers(0, x.shape[0], 2 * x.shape[0]).astype(np.int32)
    updates = drawn(rng, (len(places), x.shape[1]), x.dtype)
    return [
        Program("scatter max", lambda x, i, u: x.at[i].max(u), (x, places, updates)),
        Program("scatter min", lambda x, i, u: x.at[i].min(u), (x, places, updates)),
        Program("segment max", lambda u, i: jax.ops.segment_max(u, i, x.shape[0]), (updates, places)),
        Program("segment min", lambda u, i: jax.ops.segment_min(u, i, x.shape[0]), (updates, places)),
    ]


def fused(rng: np.random.Generator, dtype: Any) -> list[Program]:
    """Products and convolutions that a relu follows: sums of zeros of both signs, and NaN."""
    numbers = (0.0, -0.0, 1.0, -1.0)
    a, b = drawn(rng, (40, 24), dtype, numbers), drawn(rng, (24, 70), dtype, (0.0, -0.0))
    image, kernel = drawn(rng, (1, 9, 9, 8), dtype, numbers), drawn(rng, (3, 3, 8, 16), dtype, (0.0, -0.0))
    a[3, 5] = image[0, 4, 4, 2] = np.nan
    bias = np.full(70, -0.0, dtype)
    convolve = lambda x, k: lax.conv_general_dilated(  # noqa: E731
        x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    return [
        Program("relu of a product", lambda a, b: nn.relu(a @ b), (a, b)),
        Program("relu of a product and a bias", lambda a, b, c: nn.relu(a @ b + c), (a, b, bias)),
        Program("relu6 of a product", lambda a, b: nn.relu6(a @ b), (a, b)),
        Program("relu of a convolution", lambda x, k: nn.relu(convolve(x, k)), (image, kernel)),
    ]


def nothing() -> list[Program]:
    none, flat, zeros = np.zeros((0,), bool), np.zeros((0,), np.int32), np.zeros((0, 4), np.float32)
    return [
        Program("any of nothing", jnp.any, (none,)),
        Program("any of nothing, where", lambda x: jnp.any(x, where=np.array(False)), (none,)),
        Program("any along nothing", lambda x: jnp.any(x, axis=1), (np.zeros((3, 0), bool),)),
        Program("all along nothing", lambda x: jnp.all(x, axis=0), (np.zeros((0, 3), bool),)),
        Program("any of no rows", lambda x: jnp.any(x, axis=1), (np.zeros((0, 3), bool),)),
        Program("all of nothing", jnp.all, (none,)),
        Program("sum of nothing", lambda x: jnp.sum(x, axis=0), (zeros,)),
        Program("product of nothing", lambda x: jnp.prod(x, axis=(0, 1)), (zeros,)),
        Program("max from 2", lambda x: jnp.max(x, initial=2.0), (zeros,)),
        Program("min from -2", lambda x: jnp.min(x, axis=0, initial=-2.0), (zeros,)),
        Program("and of nothing", lambda x: lax.reduce_and(x, (0,)), (flat,)),
        Program("or of nothing", lambda x: lax.reduce_or(x, (0,)), (flat,)),
        Program("xor of nothing", lambda x: lax.reduce_xor(x, (0,)), (flat,)),
        Program("max of nothing", lambda x: lax.reduce_max(x, (0,)), (flat,)),
        Program("compress", lambda x: jnp.compress(np.array([True, False]), x, size=1), (np.arange(2.0),)),
    ]


def programs(dtype: str, seed: int) -> list[Program]:
    rng, kind = np.random.default_rng(seed), jnp.dtype(dtype)
    result = nothing() if dtype == DTYPES[0] else []
    result += fused(rng, kind)
    for size in SIZES:
        result += elementwise(*(drawn(rng, (size,), kind) for _ in range(3)))
        zeros = drawn(rng, (3, size), kind, (0.0, -0.0))
        result += reductions(zeros) + reductions(drawn(rng, (size, 5), kind)) + sorts(drawn(rng, (3, size), kind))
        result += scatters(drawn(rng, (size, 4), kind), rng)
    every = np.array(NUMBERS, kind)
    result += elementwise(np.repeat(every, len(every)), np.tile(every, len(every)), np.tile(every[::-1], len(every)))
    return result


def differing(got: Any, want: Any, moves: bool) -> int:
    got, want = np.asarray(got), np.asarray(want)
    if got.dtype != want.dtype or got.shape != want.shape:
        return -1
    if not jnp.issubdtype(want.dtype, jnp.floating):
        return int((got != want).sum())
    got, want = got.astype(np.float32), want.astype(np.float32)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    return int((~(same & ((np.signbit(got) == np.signbit(want)) | (np.isnan(want) & (not moves))))).sum())


def results_of(several: Sequence[Program]) -> Iterator[list[list[Any]]]:
    """Yields the results of each program, compiled as one: on the chip, then on the CPU."""
    function = several[0].function if len(several) == 1 else None
    for device in (jax.devices("tt")[0], jax.devices("cpu")[0]):
        arguments = [[jax.device_put(x, device) for x in program.arguments] for program in several]
        if function:
            yield [jax.tree.leaves(jax.jit(function)(*arguments[0]))]
        else:
            together = jax.jit(lambda given: [p.function(*x) for p, x in zip(several, given, strict=True)])
            yield [jax.tree.leaves(results) for results in together(arguments)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dtype", choices=DTYPES, nargs="+", default=DTYPES[:1])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--together", type=int, default=1, metavar="N", help="compile N programs as one")
    parser.add_argument("--cache", metavar="DIR", help="keep compiled programs, also small ones, for other runs")
    options = parser.parse_args()
    if options.cache:
        jax.config.update("jax_compilation_cache_dir", options.cache)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    result = [program for dtype in options.dtype for program in programs(dtype, options.seed)]
    for first in range(0, len(result), options.together):
        several = result[first : first + options.together]
        for program, found, expected in zip(several, *results_of(several), strict=True):
            counts = [differing(a, b, program.moves) for a, b in zip(found, expected, strict=True)]
            shapes = [list(x.shape) for x in program.arguments]
            problem = f"{counts} of {[int(np.size(b)) for b in expected]} elements of {shapes} differ"
            print(json.dumps([program.name, problem if any(counts) else "ok"]), flush=True)


if __name__ == "__main__":
    main()
