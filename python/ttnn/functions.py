# SPDX-License-Identifier: Apache-2.0
"""The functions of TTNN, made from the rows of the runtime when the package is imported.

A function is Python that knows its parameters, and one call of the runtime, which converts and checks the arguments:

    def sum(input_tensor, dim=None, keepdim=False, *, dtype=None, memory_config=None, layout=None, scalar=1.0):
        if scalar is not _scalar:
            return _extended({"input_tensor": input_tensor, "dim": dim, ..., "scalar": scalar})
        return _call(input_tensor, dim, keepdim, dtype, memory_config, layout)

Parameters that the library has and the row does not, such as `scalar`, are those of parameters.py.
"""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from math import inf
from types import ModuleType, SimpleNamespace
from typing import Any

from _ttmlir_runtime import ttnn as _native
from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import DataType, Function, FunctionParameter, Layout, MemoryConfig

from . import enums
from .constants import DRAM_MEMORY_CONFIG
from .library import modes
from .library.parameters import DEFAULTS, OWN_BY_PLACE, Extra, extended, extras_of
from .library.prepared import PREPARED, Prepared, demands

# What the parameters of every function mean.
_RESULT_PARAMETERS = {
    "dtype": "data type of the result; by default that of {first}.",
    "memory_config": "memory of the result; by default interleaved in the memory of {first}.",
    "layout": "of the result; by default that of {first}.",
}
# Functions whose parameter for a tensor that the result is written to stands before those that are given by name.
_INTO_BY_PLACE = ("full", "to_memory_config")
_NOT_DEFAULTED = ("dtype", "layout", "memory_config")
# Defaults by the name that they are written with.
_DEFAULT_VALUES = {"DataType": DataType, "Layout": Layout, "DRAM_MEMORY_CONFIG": DRAM_MEMORY_CONFIG}


# The names in the source of a function that are the same for all.
_SHARED = {
    **{name: value for module in (enums, modes) for name, value in vars(module).items() if name[0].isupper()},
    **_DEFAULT_VALUES,
    "inf": inf,
}


def place_functions(package: ModuleType, functions: Mapping[str, Callable[..., Any]]) -> None:
    """Puts functions into the package, or the submodules that their names say."""
    for name, function in functions.items():
        module = submodule(package, name.rpartition(".")[0])
        setattr(module, name.rpartition(".")[2], function)
        module.__all__.append(name.rpartition(".")[2])


def submodule(package: ModuleType, path: str) -> ModuleType:
    """Returns a submodule by its dotted name, which is made where it is absent."""
    if not path:
        return package
    name = f"{package.__name__}.{path}"
    if name not in sys.modules:
        parent = submodule(package, path.rpartition(".")[0])
        module = ModuleType(name, f"Functions of TTNN: {path}.")
        module.__dict__["__all__"] = []
        setattr(parent, path.rpartition(".")[2], module)
        sys.modules[name] = module
    return sys.modules[name]


def make_function(function: Function) -> Callable[..., Any]:
    """Returns a Python function with the signature of a row."""
    name = function.name.rpartition(".")[2]
    arguments = ", ".join(python_name(p) for p in function.parameters)
    into = function.into
    call: Callable[..., Any] = function.caller  # type: ignore[assignment]
    call_into: Callable[..., Any] = function.caller_into  # type: ignore[assignment]
    extras = _extras(function)
    defaults = {each: _extra_default(function, each, extra) for each, extra in extras.items()}
    given_by_name = [each for each, extra in extras.items() if not extra.by_place]
    source = f"{signature(function, as_called=True)}\n"
    form = PREPARED.get(function.name, Prepared())
    if form.prepare is not None:
        source += f"    {', '.join(form.replaced)}, = _prepare({', '.join(form.taken)})\n"
        source += f"    {' = '.join(form.used)} = None\n" if form.used else ""
    if extras:
        names = [python_name(p) for p in function.parameters] + ([into] if into else [])
        names += [each for each in extras if each not in names]
        values = ", ".join(f"{each!r}: {each}" for each in names)
        tests = [f"{each} is None" if extra.fill else f"{each} is not _{each}" for each, extra in extras.items()]
        source += f"    if {' or '.join(tests)}:\n        return _extended({{{values}}})\n"
    if into:
        source += f"    if {into} is not None:\n        return _call_into({into!r}, _given({into}), {arguments})\n"
    source += f"    return _call({arguments})\n"

    def given(value: Any) -> list[Tensor]:
        tensors = list(value) if function.results != 1 and isinstance(value, tuple | list) else [value]
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                raise TypeError(
                    f"ttnn.{function.name}: {into} is of type {type(tensor).__name__}; expected "
                    + ("a ttnn.Tensor" if function.results == 1 else "ttnn tensors, one for each result")
                )
        return tensors

    def call_extended(values: dict[str, Any]) -> Any:
        return extended(function.name, plain, into, extras, values, defaults)

    def plain(**own: Any) -> Any:
        target = own.pop(into, None) if into else None
        given_values = [own[python_name(p)] for p in function.parameters]
        if target is None:
            return call(*given_values)
        return call_into(into, given(target), *given_values)

    path = function.name.rpartition(".")[0]
    namespace: dict[str, Any] = {
        **_SHARED,
        **{f"_{name}": default for name, default in defaults.items()},
        "_extended": call_extended,
        "_prepare": form.prepare,
        "_call": call,
        "_call_into": call_into,
        "_given": given,
        "__name__": "ttnn" + (f".{path}" if path else ""),
    }
    # Annotations stay text: their types are resolved on request, and cost nothing otherwise.
    exec(compile("from __future__ import annotations\n" + source, f"<ttnn.{function.name}>", "exec"), namespace)
    result = namespace[name]
    # The very objects that calls are compared with.
    (result.__kwdefaults__ or {}).update({each: value for each, value in defaults.items() if each in given_by_name})
    result.__doc__ = documentation(function)
    if required := _required(function, extras):
        demands(*required)(result)
    return result


def _extras(function: Function) -> Mapping[str, Extra]:
    return extras_of(function.name, tuple(p.name for p in function.parameters))


def _replaced(function: Function, extras: Mapping[str, Extra]) -> set[str]:
    """Returns parameters of the row that other parameters may give."""
    return {extra.alias for extra in extras.values()} | set(PREPARED.get(function.name, Prepared()).replaced)


def _required(function: Function, extras: Mapping[str, Extra]) -> set[str]:
    """Returns parameters that may be absent in other forms of a call alone; they are shown as required."""
    form = PREPARED.get(function.name, Prepared())
    replaced = _replaced(function, extras) - set(form.optional)
    return {p.name for p in function.parameters if p.name in replaced and not p.omissible} | set(form.required)


def python_name(parameter: FunctionParameter) -> str:
    return parameter.name + "_" * keyword.iskeyword(parameter.name)


def signature(function: Function, as_called: bool = False) -> str:
    """Returns `def name(parameters) -> result:`.

    Args:
        as_called: what may be absent in some form of a call has a default, also where it is shown as required.
    """
    extras = _extras(function)
    result = "Any" if any(name.startswith("return_") for name in extras) else result_type(function)
    return f"def {function.name.rpartition('.')[2]}({', '.join(_parameters(function, as_called))}) -> {result}:"


def other_forms(function: Function) -> Iterator[str]:
    """Returns the signatures of the other forms of a call."""
    form = PREPARED.get(function.name, Prepared())
    extras = _extras(function)
    shown = list(_parameters(function, as_called=False))
    named = shown[shown.index("*") + 1 :] if "*" in shown else []
    for plain in form.forms:
        names = re.findall(r"(\w+):", plain)
        left_out = {*names, *(each for each, extra in extras.items() if extra.alias), *form.used, *form.required}
        more = [text for text in named if text.partition(":")[0] not in left_out]
        rest = f", *, {', '.join(more)}" if more else ""
        yield f"def {function.name.rpartition('.')[2]}({plain}{rest}) -> {result_type(function)}:"


def _parameters(function: Function, as_called: bool) -> Iterator[str]:
    extras = _extras(function)
    optional = {*extras, *PREPARED.get(function.name, Prepared()).optional}
    required = set() if as_called else _required(function, extras)
    if as_called:
        optional |= _replaced(function, extras)
    own = {p.name: _parameter(function, p, p.name in optional, p.name in required) for p in function.parameters}
    by_place = OWN_BY_PLACE.get(function.name, ())
    plain = [own[p.name] for p in function.parameters if not p.keyword_only or p.name in by_place]
    named = [own[p.name] for p in function.parameters if p.keyword_only and p.name not in by_place]
    # Behind one that may be left out, by place, all may be.
    for at in range(1, len(plain)):
        if " = " in plain[at - 1] and " = " not in plain[at]:
            plain[at] += " | None = None"
    if into := function.into:
        text = f"{into}: {result_type(function)} | None = None"
        (plain if function.name in _INTO_BY_PLACE else named).append(text)
    for name, extra in extras.items():
        if name in own:
            continue
        text = f"{name}: {extra.hint} = {_extra_text(_extra_default(function, name, extra))}"
        (plain if extra.by_place else named).append(text)
    yield from plain
    if named:
        yield "*"
    yield from named


def _extra_default(function: Function, name: str, extra: Extra) -> Any:
    return DEFAULTS.get(function.name, {}).get(name, extra.default)


def _extra_text(default: Any) -> str:
    if isinstance(default, MemoryConfig):
        return next(name for name, value in _DEFAULT_VALUES.items() if value == default)
    return str(default) if isinstance(default, Enum | DataType | Layout) else repr(default)


def _parameter(
    function: Function, parameter: FunctionParameter, may_be_absent: bool = False, required: bool = False
) -> str:
    changed = DEFAULTS.get(function.name, {})
    if required or (not parameter.omissible and not may_be_absent):
        return f"{python_name(parameter)}: {parameter.type}"
    default = _extra_text(changed[parameter.name]) if parameter.name in changed else default_text(parameter)
    hint = parameter.type + (" | None" if default == "None" and parameter.type != "Any" else "")
    return f"{python_name(parameter)}: {hint} = {default}"


def default_text(parameter: FunctionParameter) -> str:
    """Returns the default value as Python, "None" where there is none."""
    text = parameter.default
    if not text or parameter.name in _NOT_DEFAULTED:
        return "None"
    if parameter.default_kind == "enum":
        return f"{parameter.type}.{text.upper()}"
    if parameter.default_kind == "string":
        return repr(text)
    if text in ("true", "false"):
        return text.title()
    if text.startswith("{"):
        return f"({text[1:-1]})" if "," in text else f"({text[1:-1]},)"
    return text


def result_type(function: Function) -> str:
    if function.results == 0:
        return "None"
    if function.results == 1:
        return "Tensor"
    return f"tuple[{', '.join(['Tensor'] * function.results)}]" if function.results > 0 else "tuple[Tensor, ...]"


def documentation(function: Function) -> str:
    """Returns one line for each op, and what the parameters take."""
    tensors = [p.name for p in function.parameters if p.type.startswith(("Tensor", "Sequence[Tensor]"))]
    lines = [*dict.fromkeys(function.docs), "", "Args:"] if function.parameters else list(function.docs)
    for parameter in function.parameters:
        meaning = _RESULT_PARAMETERS.get(parameter.name, "")
        if meaning and tensors and not parameter.default:
            meaning = " " + meaning.format(first=tensors[0])
        elif meaning and parameter.default:
            meaning = f" of the result; by default {_default_of_results(parameter.default)}."
        else:
            meaning = ""
        lines.append(f"    {python_name(parameter)} ({parameter.type}):{meaning or ' ' + _use(parameter)}")
    if into := function.into:
        what = (
            "existing tensors that the results are"
            if function.results != 1
            else "an existing tensor that the result is"
        )
        lines.append(f"    {into} ({result_type(function)}): {what} written to; of the results' shape and data type.")
    for name, extra in _extras(function).items():
        meaning = f"another name of {extra.alias}." if extra.alias else extra.meaning
        if extra.refused:
            meaning = f"{_extra_text(_extra_default(function, name, extra))} alone: {extra.refused}."
        lines.append(f"    {name} ({extra.hint}): {meaning}")
    return "\n".join([*lines, "", f"Op: {', '.join(function.ops)}."])


def _default_of_results(text: str) -> str:
    names = {
        "bf16": "bfloat16",
        "u32": "uint32",
        "index": "uint16, or uint32 of more than 65536 elements",
        "row_major": "ROW_MAJOR_LAYOUT",
        "tile": "TILE_LAYOUT",
        "dram": "interleaved DRAM",
    }
    parts: Sequence[str] = text.strip("{}").split(", ")
    derived = {"float of ": "float32 of integers", "rows of ": "bfloat16 of a block format"}

    def described_one(part: str) -> str:
        for prefix, otherwise in derived.items():
            if part.startswith(prefix):
                return f"that of {part.removeprefix(prefix)}, {otherwise}"
        return names.get(part, f"that of {part}")

    described = [described_one(part) for part in parts]
    return described[0] if len(described) == 1 else f"{', '.join(described)} (one for each result)"


def _use(parameter: FunctionParameter) -> str:
    if not parameter.omissible:
        return "required."
    default = default_text(parameter)
    return "may be left out." if default == "None" else f"{default} when left out."


# By name and by alias; a dot is a submodule.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: result
    for function in _native.functions()
    for result in [make_function(function)]
    for name in (function.name, *function.aliases)
}
# Those of ttnn itself as attributes, for functions that are made of them.
ops = SimpleNamespace(**{name: function for name, function in FUNCTIONS.items() if "." not in name})
