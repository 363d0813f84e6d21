# SPDX-License-Identifier: Apache-2.0
"""Parameters of functions, compared with those of the library (ttnn 0.81.1), of which library_signatures.jsonl has one
form of a call on each line: the function, its parameters in order, [name, default] for those that may be left out.

A function is as in the library if its signature is one of the library's forms: the same names, the same places, the
same parameters that are given by name alone, the same defaults, and no default where the library has none. Parameters
of this package's own have defaults, and are given by name. The other forms of a call are accepted, too.
docs/differences.md lists what differs; `python test/python/ttnn/test_signatures.py` writes the list.
"""

from __future__ import annotations

import enum
import inspect
import json
import keyword
import math
import types
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
import ttnn

PAGE = Path(__file__).parents[3] / "docs" / "differences.md"
TITLE = "## Parameters of ttnn that differ"
FORMS: dict[str, list[list[Any]]] = {}
for _line in (Path(__file__).parent / "library_signatures.jsonl").read_text().splitlines():
    _name, *_parameters = json.loads(_line)
    FORMS.setdefault(_name, []).append(_parameters)


def found(name: str) -> Any:
    return reduce(lambda at, part: getattr(at, part, None), name.split(".")[1:], ttnn)


NAMES = [name for name in FORMS if callable(found(name))]

# Functions that differ, and why.
_BEHIND = "a required parameter stands behind one that may be left out, which Python's functions cannot have"
_OP = "the form is that of the dialect's op"
DIFFERENT = {
    "ttnn.empty": _BEHIND,
    "ttnn.moreh_arange": _BEHIND,
    "ttnn.moreh_fold": _BEHIND,
    "ttnn.moreh_getitem": _BEHIND,
    "ttnn.open_device": "the sizes and the dispatch have the library's defaults, which its signature does not show",
    "ttnn.sparse_matmul": "program_config may be left out: the compiler writes calls without it",
    "ttnn.wait_for_event": _BEHIND,
    "ttnn.transformer.flash_multi_latent_attention_decode": _BEHIND,
    "ttnn.transformer.paged_flash_multi_latent_attention_decode": _BEHIND,
    "ttnn.experimental.all_gather_matmul_async": _BEHIND,
    "ttnn.experimental.all_reduce_async": _OP,
    "ttnn.experimental.reduce_scatter_minimal_async": _BEHIND,
}
SOFTMAXES = ("SOFTMAX", "SOFTMIN", "LOGSOFTMAX")
# Defaults of the library that None stands for, by parameter: what the documentation of the functions says.
MEANT = {
    "memory_config": ("MemoryConfig(INTERLEAVED,buffer_type=DRAM)",),
    "layout": ("Layout.ROW_MAJOR", "Layout.TILE"),
    "tile": ("Tile with shape: [32, 32]",),
    "min": (-math.inf,),
    "max": (math.inf,),
    "numeric_stable": (True, False),
    "overlap_qk_coregrid": (True,),
    "topology": ("Topology.Linear", "Topology.Ring"),
    "op": tuple(f"MorehSoftmax{kind}Op.{name}" for kind in ("", "Backward") for name in SOFTMAXES),
    "strategy": tuple(f"MorehSoftmax{kind}OpParallelizationStrategy.NONE" for kind in ("", "Backward")),
}


def plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, ttnn.MemoryConfig) and value == ttnn.DRAM_MEMORY_CONFIG:
        return "MemoryConfig(INTERLEAVED,buffer_type=DRAM)"
    if isinstance(value, enum.Enum) or type(type(value)).__name__ == "nb_meta" or hasattr(value, "name"):
        return f"{type(value).__name__}.{value.name}"
    return value


def same(parameter: str, ours: Any, theirs: Any) -> bool:
    kind, _, name = theirs.partition(".") if isinstance(theirs, str) else ("", "", "")
    if name and isinstance(ours, enum.Enum) and type(ours).__name__ == kind:
        return type(ours).__members__.get(name) is ours  # which may have two names
    ours = plain(ours)
    if isinstance(ours, float | int) and isinstance(theirs, float | int) and not isinstance(ours, bool):
        return math.isclose(ours, theirs, rel_tol=1e-6)
    if theirs == [] and ours is None:
        return True
    either = MEANT.get(parameter, ())
    return bool(ours == theirs or (ours is None and theirs in either) or (theirs is None and ours in either))


def parameters_of(form: list[Any]) -> list[tuple[str, bool, list[Any]]]:
    """Returns the name of each parameter, whether it is given by name alone, and its default in a list."""
    named, result = False, []
    for each in form:
        if each == "*":
            named = True
            continue
        parameter, *default = each if isinstance(each, list) else [each]
        result.append((parameter + "_" * keyword.iskeyword(parameter), named, default))
    return result


def differences(name: str, form: list[Any]) -> list[str]:
    """Returns what differs from a form of the library."""
    ours = list(inspect.signature(found(name)).parameters.values())
    by_name = {p.name: p for p in ours}
    free = any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in ours)
    result = []
    theirs = parameters_of(form)
    for place, (parameter, named, default) in enumerate(theirs):
        unnamed = parameter.rstrip("0123456789") == "arg"  # the library takes it by its place alone
        if parameter.startswith("*"):
            continue
        if unnamed:
            if place >= len(ours) or ours[place].kind not in (inspect.Parameter.POSITIONAL_ONLY, _PLAIN):
                result.append(f"the parameter in place {place} is missing")
            continue
        own = by_name.get(parameter)
        if own is None:
            result += [] if free else [f"{parameter} is missing"]
        elif named != (own.kind is own.KEYWORD_ONLY):
            result.append(f"{parameter} is given by name {'alone there' if named else 'alone'}")
        elif not named and ours[place].name != parameter:
            result.append(f"{parameter} stands elsewhere")
        elif default and own.default is own.empty:
            result.append(f"{parameter} is required")
        elif default and not same(parameter, own.default, default[0]):
            result.append(f"{parameter} is {plain(own.default)!r} by default, not {default[0]!r}")
        elif not default and own.default is not own.empty:
            result.append(f"{parameter} may be left out")
    names = {parameter for parameter, *_ in theirs}
    if not any(each.startswith(("*a", "arg")) for each in names):
        required = [p for p in ours if p.name not in names and p.default is p.empty and p.kind in (_PLAIN, _NAMED)]
        result += [f"{p.name} is required" for p in required]
    return result


_PLAIN, _NAMED = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY


def all_differences(name: str) -> list[str]:
    """Returns those of the form that is nearest, and names of others that are missing."""
    forms = [differences(name, form) for form in FORMS[name]]
    nearest = min(forms, key=len)
    missing = [text for form in forms for text in form if text.endswith("missing")]
    return list(dict.fromkeys([*nearest, *missing]))


@pytest.mark.parametrize("name", NAMES)
def test_takes_the_calls_of_the_library(name: str) -> None:
    result = all_differences(name)
    if name in DIFFERENT:
        assert result, f"{name} is as in the library now; take it out of DIFFERENT"
    else:
        assert result == []


def as_called(function: Any) -> inspect.Signature:
    """Returns the parameters that a function has, not those that are shown."""
    if isinstance(function, types.FunctionType):
        bare = types.FunctionType(function.__code__, {}, argdefs=function.__defaults__, closure=function.__closure__)
        bare.__kwdefaults__ = function.__kwdefaults__
        return inspect.signature(bare)
    return inspect.signature(function)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in DIFFERENT and len(FORMS[name]) > 1])
def test_takes_every_form(name: str) -> None:
    """Binds calls that give what a form requires, by place and by name."""
    taken = as_called(found(name))
    for form in FORMS[name]:
        theirs = parameters_of(form)
        if any(parameter.startswith(("*", "arg")) for parameter, *_ in theirs):
            continue
        required = [(parameter, named) for parameter, named, default in theirs if not default]
        by_name = {parameter: None for parameter, named in required if named}
        taken.bind(*(None for _, named in required if not named), **by_name)
        shown = inspect.signature(found(name))  # of functions that take any arguments and bind them themselves
        shown.bind_partial(*(None for _, named in required if not named))
        taken.bind(**{parameter: None for parameter, *_ in theirs})


def section() -> str:
    """Returns the section of the page."""
    lines = [
        TITLE,
        "",
        "All functions that the library has, too, have one of its signatures: names, order, defaults, and parameters",
        "that are given by name alone. Parameters of this package's own, such as `dtype` and `layout` of functions",
        "without them there, are given by name. These differ:",
        "",
        "| function | differs in | reason |",
        "| --- | --- | --- |",
    ]
    lines += [f"| `{name}` | {'; '.join(all_differences(name))} | {why} |" for name, why in DIFFERENT.items()]
    return "\n".join(lines) + "\n"


def rewritten(page: str) -> str:
    """Returns the page with the section as it is now, at its end or in its place."""
    before, _, after = page.partition(TITLE)
    rest = after.partition("\n## ")
    return before.rstrip("\n") + "\n\n" + section() + ("\n## " + rest[2] if rest[1] else "")


def test_the_list_of_differences_is_right() -> None:
    assert rewritten(PAGE.read_text()) == PAGE.read_text()


def test_own_parameters_are_given_by_name() -> None:
    """Passes parameters that the library lacks by name. A form of `pad` has its value in a fourth place."""
    found_by_place = {}
    for name in NAMES:
        theirs = {parameter for form in FORMS[name] for parameter, *_ in parameters_of(form)}
        if not any(parameter.startswith(("*", "arg")) for parameter in theirs):
            own = [p.name for p in inspect.signature(found(name)).parameters.values() if p.kind is _PLAIN]
            if more := sorted(set(own) - theirs):
                found_by_place[name] = more
    assert found_by_place == {"ttnn.pad": ["fill"]}


def test_few_functions_differ() -> None:
    assert DIFFERENT.keys() <= set(NAMES)
    assert len(NAMES) > 650
    assert len(DIFFERENT) <= 0.02 * len(NAMES)


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text()))
