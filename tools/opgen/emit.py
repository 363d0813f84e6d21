# SPDX-License-Identifier: Apache-2.0
"""The files that C++ and Python read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import public
from describe import Dialects, Op
from functions import FIELDS

WRITTEN = "Written by the build from the dialects' ODS and tools/opgen/functions.py; change those."


def quoted(text: str | None) -> str:
    return json.dumps(text) if text else "{}"


def flag(value: bool) -> str:
    return "true" if value else "false"


@dataclass
class Table:
    """A C++ array; rows of others are spans of it."""

    type: str
    name: str
    rows: list[str] = field(default_factory=list)

    def span(self, rows: Iterable[str]) -> str:
        start = len(self.rows)
        self.rows += rows
        return f"{{{self.name} + {start}, {len(self.rows) - start}}}" if len(self.rows) > start else "{}"

    def text(self) -> str:
        rows = self.rows or ["{}"]
        return f"constexpr {self.type} {self.name}[] = {{\n" + "".join(f"    {row},\n" for row in rows) + "};\n"


# AttributeKind of runtime and compiler by the shape of an ODS constraint; a function is known by its number.
KINDS = {
    "bool": "Bool",
    "int": "Int",
    "symbol": "Int",
    "symbols": "IntArray",
    "float": "Float",
    "number": "Number",
    "string": "String",
    "ints": "IntArray",
    "floats": "FloatArray",
    "integers": "Integers",
    "list": "List",
    "constant": "Constant",
    "enum": "Enum",
    "struct": "Struct",
}


def api(dialects: Dialects) -> str:
    """Yields tables of include/ttmlir/Target/TTNN/Api.h."""
    names = Table("std::string_view", "names")
    operands, attributes = Table("Operand", "operands"), Table("AttributeSpec", "attributes")
    parameters, cases, fields = (
        Table("Parameter", "parameters"),
        Table("Enum::Case", "cases"),
        Table("Struct::Field", "fields"),
    )
    ops, functions = Table("Op", "ops_"), Table("Function", "functions_")
    enums, structs = Table("Enum", "enums_"), Table("Struct", "structs_")

    def attribute_rows(op: Op) -> Iterable[str]:
        for each in op.attributes:
            if public.is_known(dialects, each.kind):
                kind = dialects.kinds[each.kind]
                required = not each.optional and each.default is None
                what = f"AttributeKind::{KINDS[kind.shape]}, {flag(required)}, {quoted('|'.join(kind.types))}"
                yield f'{{"{each.name}", {what}}}'

    for name, op in sorted(public.with_aliases(dialects).items()):
        takes = [o for o in op.operands if o.what == "tensor"]
        own = operands.span(f'{{"{o.name}", {flag(o.optional)}, {flag(o.variadic)}}}' for o in takes)
        results = names.span(quoted(result.name) for result in op.results)
        absent = sum(result.optional for result in op.results)
        facts = names.span(map(quoted, op.facts))
        variadic = flag(any(result.variadic for result in op.results))
        described = f"{own}, {attributes.span(attribute_rows(op))}, {results}, {variadic}, {absent}, {facts}"
        ops.rows.append(f'{{"{name}", {described}}}')

    def parameter_row(p: public.Parameter) -> str:
        flags = (p.optional, p.default is not None and p.role != "fixed", p.variadic, p.keyword_only)
        role = f"Role::{p.role.capitalize()}"
        return f'{{"{p.name}", "{p.ods}", {quoted(p.default)}, {role}, {", ".join(map(flag, flags))}}}'

    made = public.functions_of(dialects)
    for function in made:
        aliases = names.span(quoted(name) for name in function.names[1:])
        own = parameters.span(parameter_row(parameter) for parameter in function.parameters)
        what = f'"{function.op}", "{function.names[0]}", {aliases}, {own}, "{function.rule}"'
        functions.rows.append(f'{{{what},\n     {quoted(function.doc)}, "{function.into}", "{function.demands}"}}')

    public_enums, public_structs = public.public_types(dialects)
    for enum in public_enums:
        own = cases.span(f'{{"{name}", "{symbol}", {value}}}' for name, symbol, value in enum.cases)
        enums.rows.append(f'{{"{enum.type}", "{enum.name}", {own}}}')
    for struct in public_structs:
        rows = []
        for each in public.fields_of(struct):
            numbers = each.list and each.kind in ("int", "float")
            kind = each.kind + "s" if numbers else each.kind
            named = FIELDS.get(each.name, each.name)
            lists = f"{flag(each.list and not numbers)}, {flag(each.optional)}"
            rows.append(f'{{"{each.name}", "{named}", "{kind}", {lists}}}')
        structs.rows.append(f'{{"{struct.type}", "{struct.cls}", {fields.span(rows)}}}')

    tables = (names, operands, attributes, parameters, cases, fields, ops, functions, enums, structs)
    return f"// {WRITTEN}\n" + "\n".join(table.text() for table in tables)


def visitor(dialects: Dialects) -> str:
    """Returns rows of include/ttmlir/Target/TTNN/AttributeVisitor.h."""
    text = f"// {WRITTEN}\n#ifdef TTNN_ENUM\n"
    text += "".join(
        f'TTNN_ENUM({enum.cpp}, "{type_}")\n' for type_, enum in sorted(dialects.enums.items()) if is_ours(type_)
    )
    text += "#endif\n\n#ifdef TTNN_ENUM_ATTR\n"
    text += "".join(
        f"TTNN_ENUM_ATTR({cpp})\n" for cpp, type_ in sorted(dialects.enum_attributes.items()) if is_ours(type_)
    )
    text += "#endif\n\n#ifdef TTNN_STRUCT\n"
    ops = [op for op in dialects.ops.values() if op.dialect == "ttnn"]
    for type_ in public.types_of_ops(dialects, ops):
        if struct := dialects.structs.get(type_):
            own = "".join(f'\n            TTNN_FIELD("{f.name}", {f.accessor})' for f in public.fields_of(struct))
            text += f"TTNN_STRUCT({struct.cpp},{own})\n"
    return text + "#endif\n"


def is_ours(type_: str) -> bool:
    return type_.partition(".")[0] in ("ttnn", "ttcore")


def description(dialects: Dialects) -> str:
    """Returns all of it for Python; what is false or empty is left out."""

    def some(**values: Any) -> dict[str, Any]:
        return {name: value for name, value in values.items() if value not in (False, None, "", [], ())}

    def value(row: Any) -> dict[str, Any]:
        what = "" if row.what == "tensor" else row.what
        return some(name=row.name, what=what, optional=row.optional, variadic=row.variadic)

    ops = {
        name: some(
            summary=op.summary,
            operands=[value(each) for each in op.operands],
            attributes=[some(name=a.name, kind=a.kind, optional=a.optional, default=a.default) for a in op.attributes],
            results=[value(each) for each in op.results],
            like_operand=op.like_operand,
            segmented=op.segmented,
            facts=op.facts,
            computes=op.computes,
        )
        for name, op in sorted(dialects.ops.items())
    }
    kinds = {
        name: some(shape=kind.shape, types=kind.types, choices=kind.choices, text=kind.text)
        for name, kind in sorted(dialects.kinds.items())
    }
    enums = {type_: [[case.text, case.value] for case in enum.cases] for type_, enum in sorted(dialects.enums.items())}
    structs = {
        type_: [some(name=f.name, kind=f.kind, list=f.list, optional=f.optional) for f in struct.fields]
        for type_, struct in sorted(dialects.structs.items())
    }
    sections = {"ops": ops, "kinds": kinds, "enums": enums, "structs": structs}
    compact = {"separators": (",", ":")}
    lines = [
        f"{json.dumps(section)}:{{\n"
        + ",\n".join(f"{json.dumps(name)}:{json.dumps(row, **compact)}" for name, row in rows.items())
        + "\n}"
        for section, rows in sections.items()
    ]
    return "{" + ",\n".join(lines) + "}\n"
