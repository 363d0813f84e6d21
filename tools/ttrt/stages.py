# SPDX-License-Identifier: Apache-2.0
"""A module after each pass of a pipeline."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from builder.base.builder_utils import plain_location
from builder.base.errors import diagnostics_of
from ttmlir import ir, passes, util
from ttmlir.passmanager import PassManager

from .errors import InputError

NUMBER_OPS = "ttir-number-ops"


@dataclass(frozen=True)
class Step:
    """A pass, or any change of a module in place. name: as the pass is written, with its options."""

    name: str
    apply: Callable[[ir.Module], None]


@dataclass(frozen=True)
class Stage:
    """The module after a step; `changed` says whether the step did anything to it."""

    name: str
    module: ir.Module
    changed: bool


def parts(text: str) -> list[str]:
    """Returns the elements of a list of passes; commas inside of braces and parentheses are part of one."""
    found, depth, start = [], 0, 0
    for i, character in enumerate(text):
        depth += (character in "({") - (character in ")}")
        if character == "," and depth == 0:
            found.append(text[start:i])
            start = i + 1
    return [part.strip() for part in [*found, text[start:]] if part.strip()]


def expanded(pipeline: str, context: ir.Context) -> list[str]:
    """Returns the passes behind a list of passes and pipelines, each as text that runs alone on a module.

    Raises:
        InputError: no such pass or option.
    """
    try:
        text = str(PassManager.parse(f"builtin.module({','.join(parts(pipeline))})", context))
    except (ValueError, ir.MLIRError) as error:
        raise InputError(f"{pipeline!r} is no list of passes: {error}") from error
    return list(flattened(text.removeprefix("builtin.module(").removesuffix(")")))


def flattened(text: str) -> Iterator[str]:
    """Returns passes, also those on nested ops, one by one: func.func(a,b) becomes func.func(a) and func.func(b)."""
    for part in parts(text):
        anchor, bracket, inner = part.partition("(")
        if bracket and "{" not in anchor:
            for nested in flattened(inner.removesuffix(")")):
                yield f"{anchor}({nested})"
        else:
            yield part


def unnested(text: str) -> str:
    """Returns the pass without the ops that it is nested in: func.func(cse) is cse."""
    anchor, bracket, inner = text.partition("(")
    return unnested(inner.removesuffix(")")) if bracket and "{" not in anchor else text


def pass_step(text: str) -> Step:
    def apply(module: ir.Module) -> None:
        passes.run_pass(module, text)

    return Step(unnested(text), apply)


def numbered(module: ir.Module) -> ir.Module:
    """Returns a copy whose ops have numbers (see ttir-number-ops), by which they are known after every pass."""
    copy = clone(module)
    passes.run_pass(copy, NUMBER_OPS)
    return copy


def clone(module: ir.Module) -> Any:
    """Returns a copy, as the operation that it is."""
    return module.operation.clone(ip=False)


def fingerprint(module: ir.Module) -> str:
    """Returns equal for equal modules, large constants included."""
    digest = hashlib.sha256()

    class Sink:
        def write(self, data: bytes) -> None:
            digest.update(data)

    module.operation.write_bytecode(Sink())
    return digest.hexdigest()


def reasons(error: BaseException) -> str:
    """Returns what the compiler said, without its notes; the first of many."""
    said = [f"{plain_location(util.without_source_number(d.location))}: {d.message}" for d in diagnostics_of(error)]
    more = f"; and {len(said) - 3} more errors" if len(said) > 3 else ""
    return "; ".join(said[:3]) + more if said else " ".join(str(error).split())


def stages(module: ir.Module, steps: Sequence[Step]) -> Iterator[Stage]:
    """Yields the module after each step; `module` itself is not changed, and each stage is a copy.

    Raises:
        InputError: a pass failed; names it, with its diagnostics.
    """
    current, last = clone(module), fingerprint(module)
    for step in steps:
        try:
            step.apply(current)
        except (ir.MLIRError, ValueError, RuntimeError) as error:
            raise InputError(f"{step.name} failed: {reasons(error)}") from error
        now = fingerprint(current)
        yield Stage(step.name, clone(current), now != last)
        last = now
