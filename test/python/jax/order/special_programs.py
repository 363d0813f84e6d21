# SPDX-License-Identifier: Apache-2.0
"""Elementwise functions of JAX over zeros of both signs, infinities, NaN and ties: on `tt` and on the CPU.

    JAX_PLATFORMS=tt,cpu .venv/bin/python test/python/jax/order/special_programs.py --dtype bfloat16

NumPy's ufuncs that JAX has, functions of jax.lax that are primitives, and activations of jax.nn; of two operands, also
with a number for each. Prints a line for each function: its name, and what differs, or "ok". Numbers below the normal
ones are left out: XLA makes them 0.
"""

from __future__ import annotations

import argparse
import functools
import json
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

DTYPES = ("float32", "bfloat16", "float16")
RELATIVE = {"float32": 2e-5, "bfloat16": 2**-7, "float16": 2**-9}
SCALARS = (0.0, -0.0, 1.0, -1.0, 2.5, -3.0, np.inf, -np.inf, np.nan)
WITH_NUMBERS = ("arctan2", "copysign", "floor_divide", "fmod", "power", "remainder", "true_divide")
ACTIVATIONS = """celu elu gelu hard_sigmoid hard_silu hard_tanh leaky_relu log_sigmoid mish relu relu6 selu sigmoid silu
soft_sign softplus squareplus""".split()  # noqa: SIM905
# Numbers at the ends of the range are beyond what their series hold for, in XLA as well.
SERIES = {"lax.igamma", "lax.igammac", "lax.igamma_grad_a", "lax.polygamma", "lax.zeta", "lax.random_gamma_grad"}
LEFT_OUT = {"nn.celu": "XLA makes a quotient by the largest number 0"}

# So many calls are compiled as one, which takes less time.
TOGETHER = 16

Function = Callable[..., Any]


def functions() -> Iterator[tuple[str, Function]]:
    for name in dir(lax):
        if hasattr(lax, f"{name}_p") and not name.startswith("cum"):
            yield f"lax.{name}", getattr(lax, name)
    for name in dir(np):
        if isinstance(getattr(np, name), np.ufunc) and hasattr(jnp, name):
            yield f"jnp.{name}", getattr(jnp, name)
    for name in ACTIVATIONS:
        yield f"nn.{name}", getattr(jax.nn, name)
    for name in ("round", "sinc", "nan_to_num"):
        yield f"jnp.{name}", getattr(jnp, name)
    for power in (0, 1, 2, 3, -1, -2, -3):
        yield f"lax.integer_pow {power}", functools.partial(lambda x, n: lax.integer_pow(x, n), n=power)
    for name in WITH_NUMBERS:
        for number in SCALARS:
            of = getattr(jnp, name)
            yield f"jnp.{name} by {number}", functools.partial(lambda x, of, y: of(x, y), of=of, y=number)
            yield f"jnp.{name} of {number}", functools.partial(lambda x, of, y: of(y, x), of=of, y=number)
    for name in ("sum", "prod", "max", "min", "mean"):
        of = getattr(jnp, name)
        yield f"jnp.{name} of one", functools.partial(lambda x, of: of(x[:, None], axis=1), of=of)


def table(dtype: Any) -> np.ndarray:
    info = jnp.finfo(dtype)
    tie = 2.0**info.nmant
    half = [0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 6.0, 7.0, 20.0, 100.0, 0.49999997, np.inf, np.nan]
    half += [float(info.tiny), float(info.max), tie - 0.5, tie, tie + 1]
    values = np.array(half, np.float32).astype(dtype)
    return np.concatenate([values, -values])


def arguments(name: str, dtype: Any, count: int) -> list[np.ndarray]:
    values = table(dtype) if count < 3 else np.array(SCALARS, np.float32).astype(dtype)
    if name in SERIES:
        values = values[np.abs(values.astype(np.float32)) <= 20]
        values = values[(values == 0) | (np.abs(values.astype(np.float32)) >= 0.25)]
    return [part.reshape(-1) for part in np.meshgrid(*[values] * count, indexing="ij")]


def counts(function: Function, dtype: Any) -> list[int]:
    """How many arrays a function takes such that its results have their shape and are real."""
    found = []
    for count in (1, 2, 3):
        try:
            results = jax.tree.leaves(jax.eval_shape(function, *[jax.ShapeDtypeStruct((4,), dtype)] * count))
        except Exception:  # whatever a function says of arguments that it does not take
            continue
        real = (getattr(x, "shape", None) == (4,) and not jnp.issubdtype(x.dtype, jnp.complexfloating) for x in results)
        if results and all(real):
            found.append(count)
    return found


def differing(got: Any, want: Any) -> np.ndarray:
    got, want = np.asarray(got), np.asarray(want)
    if got.dtype != want.dtype or got.shape != want.shape:
        return np.ones(want.shape, bool)
    if not jnp.issubdtype(want.dtype, jnp.floating):
        return got != want
    relative, least = RELATIVE.get(want.dtype.name, 2e-5), float(jnp.finfo(want.dtype).tiny)
    got, want = got.astype(np.float32), want.astype(np.float32)
    with np.errstate(all="ignore"):
        near = (np.abs(got - want) <= relative * np.abs(want) + least + 1e-6) & np.isfinite(got) & np.isfinite(want)
    same = ((got == want) | near) & ~((got == 0) & (want == 0) & (np.signbit(got) != np.signbit(want)))
    return ~(same | (np.isnan(got) & np.isnan(want)))


def different(operands: list[np.ndarray], found: list[Any], expected: list[Any]) -> list[str]:
    """Says what each element that differs was made of."""
    wrong = []
    for got, want in zip(found, expected, strict=True):
        for i in np.flatnonzero(differing(got, want)).tolist():
            given = [float(x[i]) for x in operands]
            wrong.append(f"{given} gives {np.asarray(got)[i]}, on the CPU {np.asarray(want)[i]}")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dtype", choices=DTYPES, default=DTYPES[0])
    parser.add_argument("--only", default="", help="functions whose name holds this")
    options = parser.parse_args()
    dtype = jnp.dtype(options.dtype)
    calls = [
        (f"{name} of {count}", function, arguments(name, dtype, count))
        for name, function in functions()
        if options.only in name and name not in LEFT_OUT
        for count in counts(function, dtype)
    ]
    for first in range(0, len(calls), TOGETHER):
        several = calls[first : first + TOGETHER]
        together = jax.jit(lambda given, of=[f for _, f, _ in several]: [f(*x) for f, x in zip(of, given, strict=True)])
        found, expected = (
            together([[jax.device_put(x, device) for x in operands] for _, _, operands in several])
            for device in (jax.devices("tt")[0], jax.devices("cpu")[0])
        )
        for (name, _, operands), got, want in zip(several, found, expected, strict=True):
            wrong = different(operands, jax.tree.leaves(got), jax.tree.leaves(want))
            problem = f"{len(wrong)} differ: {'; '.join(wrong[:4])}" if wrong else "ok"
            print(json.dumps([name, problem]), flush=True)


if __name__ == "__main__":
    main()
