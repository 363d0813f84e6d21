# SPDX-License-Identifier: Apache-2.0
"""The public functions, enums and structs of `ttnn`: ODS, with what functions.py has of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import describe
import functions
from describe import Dialects, Op

# What is said of results. A function takes these without listing them.
RESULT = ("dtype", "memory_config", "layout")
# Attributes that say it in the IR.
NOT_PARAMETERS = {"dtype", "output_dtype", "layout", "memory_config"}


@dataclass(frozen=True)
class Parameter:
    """role: value (an operand or attribute), device, result or fixed; default: text, or None."""

    name: str
    ods: str
    role: str = "value"
    default: str | None = None
    optional: bool = False
    variadic: bool = False
    keyword_only: bool = False


@dataclass(frozen=True)
class Function:
    op: str
    names: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    rule: str
    doc: str
    into: str  # the parameter that takes tensors for the results; empty: none
    demands: str  # of a strict device: "integers:si32,u32|tiles"


def split(text: str) -> list[str]:
    """Returns the parts between commas that are not within braces."""
    return [part.strip() for part in re.split(r",(?![^{]*\})", text) if part.strip()]


def default_of(dialects: Dialects, op: Op, name: str) -> str | None:
    """Returns a default of ODS, a C++ expression, as functions.py writes it."""
    attribute = op.attribute(name)
    assert attribute is not None
    if attribute.optional:
        return None
    if attribute.default is None:
        return functions.DEFAULTS.get(name)
    kind = dialects.kinds[attribute.kind]
    if kind.shape == "enum":
        symbol = attribute.default.rpartition("::")[2]
        return next(case.text for case in dialects.enums[kind.types[0]].cases if case.symbol == symbol)
    if kind.shape == "float":
        return repr(float(attribute.default.removesuffix("f")))
    return attribute.default.strip('"\\') if kind.shape == "string" else attribute.default


def demands_of(op: Op, names: tuple[str, ...]) -> str:
    """Returns what a strict device demands of a call of a function, with "|" between the demands."""
    integers = [f"integers:{','.join(types.split())}" for types, takers in functions.INTEGERS.items()
                if set(names) & set(takers.split())]  # fmt: skip
    is_unary = "elementwise" in op.facts and len(op.operands) == 1
    if is_unary and not integers and not set(names) & set(functions.ANY_INTEGERS.split()):
        return "integers:|on_device"
    return "|".join(integers + [each for each, takers in functions.DEMANDS.items() if set(names) & set(takers.split())])


class MethodBuilder:
    """The function of one op."""

    def __init__(self, dialects: Dialects, op: Op):
        self.dialects, self.op = dialects, op
        self.standard = {o.name: functions.OPERANDS.get(o.name, o.name) for o in op.operands if o.what == "tensor"}
        self.standard |= {
            a.name: functions.ATTRIBUTES.get(a.name, a.name) for a in op.attributes if a.name not in NOT_PARAMETERS
        }

    def value(self, name: str, ods: str) -> Parameter:
        if operand := self.op.operand(ods):
            return Parameter(name, ods, optional=operand.optional, variadic=operand.variadic)
        attribute = self.op.attribute(ods)
        if attribute is None:
            raise SystemExit(f"functions.py: {self.op.name}: {name}: the op has neither operand nor attribute {ods!r}")
        return Parameter(name, ods, default=default_of(self.dialects, self.op, ods), optional=attribute.optional)

    def parse(self, text: str) -> Parameter:
        found = re.fullmatch(r"(\w+)(?:=(\w+))?(\?)?(?:!(\w*))?(?::(.+))?", text)
        if not found:
            raise SystemExit(f"functions.py: {self.op.name}: {text!r} is no parameter")
        name, ods, optional, fixed, default = found.groups()
        if fixed:
            return Parameter(name, name, "fixed", fixed)
        if name in RESULT:
            return Parameter(name, name, "result", default, bool(optional))
        operand = self.op.operand(ods or name)
        if operand is not None and operand.what == "device":
            return Parameter(name, operand.name, "device", None, bool(optional))
        if ods is None and name not in self.standard:
            ods = next((o for o, public in self.standard.items() if public == name), name)
        parameter = self.value(name, ods or name)
        if default is not None or fixed == "":
            parameter = replace(parameter, default=default, optional=False)
        return replace(parameter, default=None, optional=True) if optional else parameter

    def parameters(self, text: str) -> Iterator[Parameter]:
        parts = split(text or "...")
        own = {part: self.parse(part) for part in parts if part not in ("*", "...")}
        named = {parameter.ods for parameter in own.values() if parameter.role == "value"}
        rest = [self.value(public, ods) for ods, public in self.standard.items() if ods not in named]
        if rest and "..." not in parts:
            raise SystemExit(f"functions.py: {self.op.name}: nothing takes {', '.join(p.ods for p in rest)}")
        keyword_only = False
        for part in parts:
            keyword_only |= part == "*"
            for parameter in () if part == "*" else rest if part == "..." else (own[part],):
                yield replace(parameter, keyword_only=keyword_only)

    def make(self) -> Function:
        row = functions.FUNCTIONS.get(self.op.name, functions.Row())
        bare = self.op.name.removeprefix("ttnn.")
        parameters = tuple(self.parameters(row.parameters))
        names = tuple(row.names.split("|")) if row.names else (bare,)
        into = {parameter for parameter, takers in functions.INTO.items() if set(names) & set(takers.split())}
        if self.op.rule in functions.INTO_OUTPUT_TENSOR and self.op.name not in functions.ALIASES:
            into = {"output_tensor"}
        return Function(
            self.op.name,
            names,
            parameters,
            row.rule or self.op.rule or ("same" if self.op.results else "nothing"),
            row.doc or self.documentation(parameters),
            # An op that has the parameter itself takes it as any other.
            next(iter(into - {parameter.name for parameter in parameters}), ""),
            demands_of(self.op, names),
        )

    def documentation(self, parameters: tuple[Parameter, ...]) -> str:
        """Returns the summary, with public names where it has those of the dialect. What "the input" is, is no name."""
        names = {p.ods: p.name for p in parameters if p.role == "value" and p.ods != p.name and len(p.ods) > 1}
        if not names:
            return self.op.summary
        words = rf"(?<![Tt]he )(?<![Aa]n )\b({'|'.join(map(re.escape, names))})\b"
        return re.sub(words, lambda found: names[found[1]], self.op.summary)


def with_aliases(dialects: Dialects) -> dict[str, Op]:
    """Returns the ops that a runtime knows."""
    ops = {name: op for name, op in dialects.ops.items() if op.dialect in ("ttnn", "debug")}
    ops |= {name: op for name, op in dialects.ops.items() if op.dialect == "ttcore" and "runs_functions" in op.facts}
    return ops | {name: replace(ops[like], name=name) for name, like in functions.ALIASES.items()}


def functions_of(dialects: Dialects) -> list[Function]:
    """Returns functions by op, but those of one public name in the order of functions.FUNCTIONS."""
    ops = with_aliases(dialects)
    if unknown := (functions.FUNCTIONS.keys() | functions.NOT_CALLED) - ops.keys():
        raise SystemExit(f"functions.py: no op is called {', '.join(sorted(unknown))}")
    order = {name: place for place, name in enumerate(functions.FUNCTIONS)}
    result = [
        MethodBuilder(dialects, op).make() for name, op in sorted(ops.items()) if name not in functions.NOT_CALLED
    ]
    tables = (functions.INTO, functions.INTEGERS, functions.DEMANDS, {"": functions.ANY_INTEGERS})
    takers = {name for table in tables for names in table.values() for name in names.split()}
    if unknown := takers - {name for function in result for name in function.names}:
        raise SystemExit(f"functions.py: no function is called {', '.join(sorted(unknown))}")
    first: dict[str, str] = {}
    for function in result:
        first.setdefault(function.names[0], function.op)
    return sorted(result, key=lambda function: (first[function.names[0]], order.get(function.op, 0)))


@dataclass(frozen=True)
class PublicEnum:
    type: str
    name: str
    cases: tuple[tuple[str, str, int], ...]  # public name, as the IR prints it, value


def public_enum(row: describe.Enum) -> PublicEnum:
    own, camel = functions.CASES.get(row.type, {}), row.type in functions.CAMEL_CASE
    cases = tuple(
        (own.get(case.text) or (case.symbol if camel else case.text.upper()), case.text, case.value)
        for case in row.cases
        if case.text not in functions.NO_CASES.get(row.type, ())
    )
    return PublicEnum(row.type, row.cls, cases)


def fields_of(struct: describe.Struct) -> list[describe.Field]:
    """Returns fields of a flatbuffer and of functions."""
    fields = []
    for each in struct.fields:
        name = f"{struct.type}.{each.name}"
        if name not in functions.LEFT_OUT_FIELDS:
            fields.append(replace(each, optional=each.optional and name not in functions.REQUIRED_FIELDS))
    return fields


def is_written(dialects: Dialects, type_: str) -> bool:
    """Returns whether all that a struct holds can be written down without MLIR."""
    return all(
        field.kind and (field.kind not in dialects.structs or is_written(dialects, field.kind))
        for field in fields_of(dialects.structs[type_])
    )


def types_in(dialects: Dialects, type_: str, found: dict[str, None]) -> None:
    """Adds a type behind those that it consists of."""
    if type_ in dialects.structs:
        for field in fields_of(dialects.structs[type_]):
            types_in(dialects, field.kind, found)
    if type_ in dialects.structs or type_ in dialects.enums:
        found.setdefault(type_)


def types_of_ops(dialects: Dialects, ops: list[Op]) -> dict[str, None]:
    """Returns the enums and structs that attributes of ops are of, each behind those that it consists of."""
    found: dict[str, None] = {}
    for op in ops:
        for attribute in op.attributes:
            kind = dialects.kinds[attribute.kind]
            for type_ in kind.types if is_known(dialects, attribute.kind) else ():
                types_in(dialects, type_, found)
    return found


def is_known(dialects: Dialects, kind: str) -> bool:
    """Returns whether a flatbuffer holds attributes of this kind."""
    row = dialects.kinds[kind]
    return bool(row.shape) and (row.shape != "struct" or all(is_written(dialects, type_) for type_ in row.types))


def public_types(dialects: Dialects) -> tuple[list[PublicEnum], list[describe.Struct]]:
    """Returns those that functions take."""
    called = [op for name, op in with_aliases(dialects).items() if name not in functions.NOT_CALLED]
    types = types_of_ops(dialects, called)
    enums = [public_enum(dialects.enums[type_]) for type_ in types if type_ in dialects.enums]
    structs = [
        dialects.structs[type_] for type_ in types if type_ in dialects.structs and type_ not in functions.OWN_CLASSES
    ]
    return enums, structs
