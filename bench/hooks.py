# SPDX-License-Identifier: Apache-2.0
"""The cost of hooks: a run without any compared with runs after they were removed, and with ones that do nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import _ttmlir_runtime as rt

from .comparing import DTYPES
from .device import compiled, runner
from .harness import Outcome, Result, Settings, alternate
from .models import SMALL

# Runs for each time that hooks are set or taken away.
RUNS = 50


def nothing(*_: Any) -> None:
    pass


def hooks(settings: Settings) -> Iterator[Outcome]:
    """A small network, whose runs are over before a large one's first op."""
    case = dataclasses.replace(SMALL["digits, batch 1"](), name="hooks, digits, batch 1")
    run = runner(compiled(case.build(DTYPES["f32"])), case.given(DTYPES["f32"]))

    def runs() -> None:
        for _ in range(RUNS):
            run()

    def removed() -> None:
        rt.runtime.DebugHooks.get(pre_op=nothing, post_op=nothing)
        rt.runtime.unregister_hooks()
        runs()

    def around(**which: Any) -> Callable[[], None]:
        def work() -> None:
            rt.runtime.DebugHooks.get(**which)
            try:
                runs()
            finally:
                rt.runtime.unregister_hooks()

        return work

    sides = {
        "hooks taken away": removed,
        "empty program hooks": around(pre_program=nothing, post_program=nothing),
        "empty op hooks": around(pre_op=nothing, post_op=nothing),
    }
    with settings.quiet():
        ours, *others = alternate([runs, *sides.values()], settings.seconds)
    for side, ms in zip(sides, others, strict=True):
        yield Result(case.name, "f32", ours / RUNS, side, ms / RUNS)


BENCHMARKS: dict[str, Callable[[Settings], Iterator[Outcome]]] = {"hooks, digits, batch 1": hooks}
