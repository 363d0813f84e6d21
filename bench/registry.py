# SPDX-License-Identifier: Apache-2.0
"""All benchmarks, by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence

from .harness import Outcome, Settings

MODULES = tuple(
    f"bench.{name}"
    for name in (
        "kernels",
        "cores",
        "native",
        "models",
        "by_hand",
        "loading",
        "hooks",
        "emitted",
        "meshes",
        "meshes.ranks",
        "memory",
        "compiling",
    )
)


def benchmarks(modules: Sequence[str] = MODULES) -> dict[str, Callable[[Settings], Iterator[Outcome]]]:
    """Returns the BENCHMARKS of all modules."""
    return {name: run for module in modules for name, run in importlib.import_module(module).BENCHMARKS.items()}
