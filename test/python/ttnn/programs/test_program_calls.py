# SPDX-License-Identifier: Apache-2.0
"""Calls of the programs of examples/ttnn have the form of calls of the library (ttnn 0.81.1): they run on a card."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[4]
EXAMPLES = ROOT / "examples" / "ttnn"
FORMS: dict[str, list[list[Any]]] = {}
for _line in (ROOT / "test" / "python" / "ttnn" / "library_signatures.jsonl").read_text().splitlines():
    _name, *_parameters = json.loads(_line)
    FORMS.setdefault(_name, []).append(_parameters)


def dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def is_form(call: ast.Call, parameters: list[Any]) -> bool:
    """Compares names and places; parameters by name without default may have one that the form does not tell."""
    if "**kwargs" in parameters:
        return True
    names = [each if isinstance(each, str) else each[0] for each in parameters]
    places = names.index("*") if "*" in names else len(names)
    given = {each.arg for each in call.keywords if each.arg}
    missing = {each for each in parameters[len(call.args) : places] if isinstance(each, str)} - given
    return (
        len(call.args) <= places
        and given <= {*names[len(call.args) :]} - {"*"}
        and (not missing or any(each.arg is None for each in call.keywords))
    )


def other_calls(text: str) -> Iterator[str]:
    """Yields the calls of functions of ttnn that no form of the library's function allows."""
    for node in (each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Call)):
        forms = FORMS.get(dotted(node.func), [])
        if forms and not any(is_form(node, form) for form in forms):
            yield f"line {node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.py")))
def test_calls_have_the_form_of_the_library(name: str) -> None:
    assert not list(other_calls((EXAMPLES / f"{name}.py").read_text()))


@pytest.mark.parametrize(
    "call",
    [
        "ttnn.open_device(device_id=0, num_command_queues=2)",
        "ttnn.open_device(0)",
        "ttnn.add(x, y, z, True)",
        "ttnn.conv2d(x, weight)",
        "ttnn.fill_cache(cache, x)",
    ],
)
def test_other_calls_are_found(call: str) -> None:
    assert list(other_calls(f"ttnn.add(x, y, dtype=ttnn.float32)\n{call}")) == [f"line 2: {call}"]


def test_there_are_twenty_programs() -> None:
    assert len(list(EXAMPLES.glob("*.py"))) >= 20
