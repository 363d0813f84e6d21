# SPDX-License-Identifier: Apache-2.0
"""Functions and methods take what programs of the ecosystem give them: names, order, defaults; or a reason why not.

Names themselves are looked at in test_ecosystem_names.py and runtime/test_names.py.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import json
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

FACTS = Path(__file__).resolve().parents[4] / "shared" / "facts"
UNKNOWN = object()  # a default that is no literal

# "place: problem" by pattern, with the reason.
DIFFERENT: dict[str, str] = {
    r".*: [ar]tol is None by default, not 1e-0[58]": "without a number, tolerances are those of the data type",
    r".*: \w+ is None by default, not (\[\]|\{\})": "nothing, as an empty one",
    r".*compile_ttir_module_to_flatbuffer: mesh_dict is None .*": "without one, the mesh is the module's",
    r".*TTIRBuilder\.full: fill_value stands before others": "a data type is taken in between: programs_of_others",
    r".*TTIRBuilder\.upsample2d: no parameter in1": "an older form of the op, with the tensor that it writes to",
}


@dataclass(frozen=True)
class Parameter:
    """name: None where it is only known by its place; default: UNKNOWN where it is no literal."""

    name: str | None
    required: bool = True
    default: Any = UNKNOWN
    any_number: bool = False


# ---------------------------------------------------------------------- what is here


def literal(text: str) -> Any:
    try:
        if found := re.fullmatch(r"OrderedDict\((.*)\)", text):
            return OrderedDict(ast.literal_eval(found[1]))
        if text.startswith("[OrderedDict("):
            return [OrderedDict(each) for each in ast.literal_eval(re.sub(r"OrderedDict\((\[.*?\])\)", r"\1", text))]
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return UNKNOWN


def of_python(function: Callable[..., Any]) -> list[Parameter]:
    found = []
    for parameter in inspect.signature(function).parameters.values():
        many = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        required = parameter.default is parameter.empty and not many
        default = UNKNOWN if required or many else parameter.default
        found.append(Parameter(parameter.name, required, default, many))
    return found


def of_nanobind(text: str) -> list[Parameter]:
    """Parses a signature like "def f(x: int, y: str = ...) -> int"."""
    text = re.sub(r"= \\\d+", "= None", text)
    (function,) = ast.parse(f"{text}: ...").body
    assert isinstance(function, ast.FunctionDef)
    arguments = function.args
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [*[None] * (len(plain) - len(arguments.defaults)), *arguments.defaults]
    found = [
        Parameter(None if a in arguments.posonlyargs else a.arg, d is None)
        for a, d in zip(plain, defaults, strict=True)
    ]
    found += [Parameter(a.arg, d is None) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    return found + [Parameter(a.arg, False, UNKNOWN, True) for a in (arguments.vararg, arguments.kwarg) if a]


def overloads(function: Any) -> list[list[Parameter]]:
    signatures = getattr(function, "__nb_signature__", None)
    return [of_nanobind(each[0]) for each in signatures] if signatures else [of_python(function)]


# ---------------------------------------------------------------------- comparison


def same(theirs: Any, ours: Any) -> bool:
    if isinstance(theirs, (list, tuple)) and isinstance(ours, (list, tuple)):
        return list(theirs) == list(ours)
    if isinstance(theirs, (int, float)) and isinstance(ours, (int, float)):
        return abs(theirs - ours) <= 1e-6 * abs(theirs)
    return bool(theirs == ours)


def problems(theirs: list[Parameter], ours: list[Parameter]) -> Iterator[str]:
    named = {p.name: p for p in ours if p.name and not p.any_number}
    free = [p for p in ours if p.name is None]
    accepts = any(p.any_number for p in ours)
    order = [p.name for p in ours]
    before = -1
    for expected in theirs:
        if expected.any_number:
            continue
        found = named.pop(expected.name, None)
        if found is None and free and expected.name is None:
            found = free.pop(0)
        elif found is None and expected.name is None:  # known by its place, under whatever name
            name = next(iter(named), None)
            found = named.pop(name) if name else None
        if found is None:
            if not accepts:
                yield f"no parameter {expected.name or 'by that place'}"
            continue
        if not expected.required and found.required:
            yield f"{expected.name or 'one'} must be given"
        elif (
            expected.default is not UNKNOWN
            and found.default is not UNKNOWN
            and not same(expected.default, found.default)
        ):
            yield f"{expected.name} is {found.default!r} by default, not {expected.default!r}"
        if expected.name and found.name:
            place = order.index(found.name)
            if place < before and expected.required:
                yield f"{expected.name} stands before others"
            before = max(before, place)
    for name, left in named.items():
        if left.required:
            yield f"{name} must be given"


def best(theirs: list[Parameter], function: Any) -> list[str]:
    return min((list(problems(theirs, ours)) for ours in overloads(function)), key=len)


def parameters_of(row: dict[str, Any]) -> list[Parameter]:
    found = []
    for each in row.get("params", row.get("args", [])):
        is_named = "params" in row or each.get("kw")
        default = literal(each["default"]) if "params" in row and "default" in each else UNKNOWN
        found.append(
            Parameter(each["name"] if is_named else None, "default" not in each, default, bool(each.get("kind")))
        )
    return found


def callables(rows: list[dict[str, Any]], place: Any, path: str) -> Iterator[tuple[str, dict[str, Any], Any, bool]]:
    """(path, facts, what is here, whether it has a self) of what is there."""
    for row in rows:
        found = getattr(place, row["name"], None)
        if found is not None:
            has_self = inspect.isclass(place) and not row.get("static") and not is_static(place, row["name"])
            yield f"{path}.{row['name']}", row, found, has_self


def is_static(cls: type, name: str) -> bool:
    return isinstance(inspect.getattr_static(cls, name), (staticmethod, classmethod))


# Modules of facts, where programs import what they have.
REEXPORTS = {
    "_ttmlir.tt_ir": "ttmlir.dialects.ttcore.ir",
    "_ttmlir.ttir_ir": "ttmlir.dialects.ttir.ir",
    "_ttmlir.ttnn_ir": "ttmlir.dialects.ttnn.ir",
    "_ttmlir.debug_ir": "ttmlir.dialects.debug.ir",
    "_ttmlir.passes": "ttmlir.passes",
    "_ttmlir.util": "ttmlir.util",
    "_ttmlir.optimizer_overrides": "ttmlir.optimizer_overrides",
}


def module_of(name: str) -> Any:
    """A module, or what stands for one in a module of nanobind; None where there is none."""
    name = REEXPORTS.get(name, name)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        top, *rest = name.split(".")
        if not rest or importlib.util.find_spec(top) is None:
            return None
        found = importlib.import_module(top)
        for part in rest:
            found = getattr(found, part, None)
        return found


def differences(modules: list[dict[str, Any]], only: str) -> Iterator[str]:
    for row in modules:
        if not row["module"].startswith(only):
            continue
        module = module_of(row["module"])
        if module is None:
            continue
        rows = list(callables(row.get("functions", []), module, row["module"]))
        for part in row.get("classes", []):
            cls = getattr(module, part["name"], None)
            if cls is not None:
                rows += callables(part.get("methods", []), cls, f"{row['module']}.{part['name']}")
        for path, facts, found, has_self in rows:
            if not callable(found) or isinstance(found, property):
                yield f"{path}: is no function"
                continue
            theirs = parameters_of(facts)
            if has_self:
                theirs = [Parameter(None), *theirs]
            yield from (f"{path}: {problem}" for problem in best(theirs, found))


@pytest.mark.skipif(not FACTS.exists(), reason=f"{FACTS} is not there")
@pytest.mark.parametrize(
    ("file", "part", "only"),
    [
        ("builder_api.json", "builder", "builder."),
        ("builder_api.json", "profiler", "profiler"),
        ("runtime_api.json", "modules", "_ttmlir_runtime"),
        ("runtime_api.json", "modules", "_ttmlir."),
    ],
)
def test_difference_has_a_reason(file: str, part: str, only: str) -> None:
    found = list(differences(json.loads((FACTS / file).read_text())[part], only))
    assert [each for each in found if not any(re.fullmatch(pattern, each) for pattern in DIFFERENT)] == []
    if part == "builder":
        unused = [pattern for pattern in DIFFERENT if not any(re.fullmatch(pattern, each) for each in found)]
        assert unused == [], "reasons for nothing"


def test_differences_are_found() -> None:
    def ours(x: int, *, y: int = 3, z: int, w: Any = None) -> None: ...

    def facts(*parameters: dict[str, Any]) -> list[Parameter]:
        return parameters_of({"params": list(parameters)})

    x, y, z = {"name": "x"}, {"name": "y", "default": "3"}, {"name": "z"}
    assert best(facts(x, y, z), ours) == []
    assert best(facts(x, y), ours) == ["z must be given"]
    assert best(facts(x, {"name": "y", "default": "4"}, z), ours) == ["y is 3 by default, not 4"]
    assert best(facts(x, {"name": "z", "default": "4"}), ours) == ["z must be given"]
    assert best(facts(x, z, {"name": "v", "default": "None"}), ours) == ["no parameter v"]
    assert best(facts(z, x), ours) == ["x stands before others"]
    assert of_nanobind(r"def f(a: int, /, b: str, c: object = \0) -> None") == [
        Parameter(None), Parameter("b"), Parameter("c", False),
    ]  # fmt: skip
