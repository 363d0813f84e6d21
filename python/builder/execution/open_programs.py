# SPDX-License-Identifier: Apache-2.0
"""Programs and goldens of runs whose program leaves sizes open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from builder.goldens.open_goldens import OpenGoldens

from .device_tensors import load_binary

Inputs = Sequence[Any] | Mapping[str, Sequence[Any]]


def public_names(executable: Any) -> list[str]:
    return [
        executable.get_program_name(i)
        for i in range(executable.get_num_programs())
        if not executable.is_program_private(i)
    ]


def by_function(executable: Any, inputs: Inputs) -> dict[str, Sequence[Any]]:
    """Returns inputs by function; a list is of the only one."""
    names = public_names(executable)
    if isinstance(inputs, Mapping):
        wrong = [name for name in inputs if name not in names]
        if wrong:
            raise ValueError(f"inputs are given for {wrong[0]!r}; the binary has {', '.join(names)}")
        return dict(inputs)
    if len(names) != 1:
        raise ValueError(f"inputs is a list, and the binary has {', '.join(names)}; expected a mapping by function")
    return {names[0]: inputs}


def for_run(
    executable: Any, goldens: Any, intermediates: Any, inputs: Inputs | None, at: Mapping[str, int] | None
) -> tuple[Any, Any, Any]:
    """Returns (binary, goldens, goldens of ops) of a run for these inputs, or for random ones of these sizes.

    Sizes that the open program does not take have a program of their own.

    Raises:
        ValueError: inputs and sizes that contradict each other or the program; names them.
    """
    if at is not None and not (isinstance(at, Mapping) and all(isinstance(name, str) for name in at)):
        raise TypeError(f"at is {at!r} of type {type(at).__name__}; expected sizes by name, as {{'batch': 4}}")
    if inputs is not None and at is not None:
        raise ValueError("inputs and at are given; expected one of them: the inputs have the sizes")
    if isinstance(goldens, OpenGoldens):
        built = goldens.of(by_function(executable, inputs)) if inputs is not None else goldens.at(**(at or {}))
        if not (goldens.has(built.sizes) and takes(executable, built.sizes)):
            executable = load_binary(built.compile())
        return executable, built.programs, built.intermediates
    if at is not None:
        raise ValueError("at is given, and the goldens are of a program without open sizes")
    if inputs is None:
        return executable, goldens, intermediates
    if goldens is not None:
        raise ValueError("inputs is given, and the goldens are of other inputs; set_goldens gives a builder's inputs")
    given = by_function(executable, inputs)
    missing = [name for name in public_names(executable) if name not in given]
    if missing:
        raise ValueError(f"inputs has none for {', '.join(missing)}")
    values = [given[name] for name in public_names(executable)]
    return executable, {i: {f"input_{k}": v for k, v in enumerate(each)} for i, each in enumerate(values)}, None


def takes(executable: Any, sizes: Mapping[str, int]) -> bool:
    """Returns whether the sizes are between the bounds of the binary."""
    return all(least <= sizes[name] <= most for name, least, most in executable.open_sizes if name in sizes)
