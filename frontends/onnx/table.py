# SPDX-License-Identifier: Apache-2.0
"""The ops of ONNX that programs can have, with their versions, and those that cannot be."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx.defs

from . import ops  # noqa: F401  fills the table
from .model import OLDEST
from .registry import OPS, REFUSED


@dataclass(frozen=True)
class Operator:
    """An op.

    domain: "ai.onnx" for the default one. versions: the opsets that redefined it, from the one that opset 7 has.
    how: "rule" for a rule of its own, "function" for ONNX's definition by other ops, "" for none. reason: why not.
    """

    domain: str
    name: str
    versions: tuple[int, ...]
    how: str
    reason: str = ""


def operators() -> dict[str, list[int]]:
    """Returns the ops of the default domain that programs can have, with the opsets that redefined them."""
    return {x.name: list(x.versions) for x in table() if x.how and x.domain == "ai.onnx"}


def table() -> list[Operator]:
    """Returns the ops of ONNX's own domains, and those of others that have a rule."""
    versions: dict[tuple[str, str], list[int]] = {}
    functions: set[tuple[str, str]] = set()
    schemas: list[Any] = list(onnx.defs.get_all_schemas_with_history())
    for schema in schemas:
        domain = "" if schema.domain == "ai.onnx" else schema.domain
        if schema.deprecated:
            continue
        key = domain, schema.name
        versions.setdefault(key, []).append(schema.since_version)
        if schema.has_function or schema.has_context_dependent_function:
            functions.add(key)
    for key in OPS:
        versions.setdefault(key, [1])
    found = []
    for (domain, name), known in sorted(versions.items()):
        key = domain, name
        how = "rule" if key in OPS else "function" if key in functions and key not in REFUSED else ""
        reason = "" if how else REFUSED.get(key, "this op has no form on the chip")
        found.append(Operator(domain or "ai.onnx", name, tuple(current(domain, known)), how, reason))
    return found


def current(domain: str, versions: Iterable[int]) -> list[int]:
    """Returns the versions that models can have: of the default domain, from the one of the oldest opset."""
    known = sorted(versions)
    if domain:
        return known
    first = max((n for n in known if n <= OLDEST), default=known[0])
    return [n for n in known if n >= first]


def page() -> str:
    """Returns the table as Markdown: one paragraph per domain, and a table of refused ops."""
    parts = []
    every = table()
    for domain in dict.fromkeys(x.domain for x in every):
        rows = [x for x in every if x.domain == domain and x.how]
        if rows:
            names = " ".join(f"{x.name} {', '.join(map(str, x.versions))};" for x in rows)
            parts.append("\n".join(textwrap.wrap(f"`{domain}`: {names}", 120, break_on_hyphens=False)))
    refused: dict[str, list[str]] = {}
    for x in every:
        if not x.how:
            name = x.name if x.domain == "ai.onnx" else f"{x.domain}.{x.name}"
            refused.setdefault(x.reason, []).append(name)
    lines = [f"| {', '.join(names)} | {reason} |" for reason, names in refused.items()]
    return "\n\n".join([*parts, "\n".join(["| refused | why |", "|---|---|", *lines])])


BEGIN, END = "## Ops\n", "<!-- end of the table -->"


def write(path: Path) -> None:
    """Brings the table of a page up to date."""
    text = path.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    intro = rest.partition("\n`ai.onnx`:")[0].rstrip("\n")
    tail = rest.partition(END)[2]
    path.write_text(f"{head}{BEGIN}{intro}\n\n{page()}\n\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
