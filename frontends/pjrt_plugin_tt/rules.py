# SPDX-License-Identifier: Apache-2.0
"""Lowering rules that are functions of JAX, traced under their own settings."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
from jax._src import config, core
from jax._src.interpreters import mlir

# The settings of a program that change how a function is traced and not its result on the chip.
_SETTINGS = (
    (config.numpy_dtype_promotion, "standard"),
    (config.numpy_rank_promotion, "allow"),
    (config.explicit_x64_dtypes, "allow"),
    (config.error_checking_behavior_nan, "ignore"),
    (config.error_checking_behavior_divide, "ignore"),
    (config.error_checking_behavior_oob, "ignore"),
    (config.check_static_indices, False),
    (config.debug_key_reuse, False),
    (config.disable_jit, False),
    (config._check_vma, False),
    (config.scan3, False),
    (config.remat3, False),
    (config.custom_vjp3, False),
    # Factorizations lose more than rounding where their products do.
    (config.default_matmul_precision, "highest"),
)


@contextlib.contextmanager
def own_settings() -> Any:
    """Traces with the settings that the rules are written for, whatever the program has set."""
    with contextlib.ExitStack() as stack:
        for setting, value in _SETTINGS:
            stack.enter_context(setting(value))
        yield


def rule(function: Callable[..., Any], *, multiple_results: bool = True) -> Callable[..., Any]:
    """Returns the lowering rule of a function of JAX."""
    return with_own_settings(mlir.lower_fun(function, multiple_results=multiple_results))


def _plain(aval: Any) -> Any:
    """Returns the type without the axes of shard_map that its values vary over; results have no others."""
    return aval.update(manual_axis_type=core.empty_mat) if isinstance(aval, core.ShapedArray) else aval


def with_own_settings(lower: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a lowering rule that traces under the settings of this package."""

    def lower_so(context: Any, *operands: Any, **parameters: Any) -> Any:
        given = [_plain(aval) for aval in context.avals_in]
        with own_settings():
            return lower(context.replace(avals_in=given), *operands, **parameters)

    return lower_so


def is_complex(aval: Any) -> bool:
    return bool(np.issubdtype(aval.dtype, np.complexfloating))
