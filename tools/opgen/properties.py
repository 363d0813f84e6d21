# SPDX-License-Identifier: Apache-2.0
"""Rewrites the hooks of properties, as mlir-tblgen generates them for each op, to one table per op.

usage: python properties.py DEFINITIONS RESULT

A row of the table has the name of a property, its place in the op's Properties, its class of attributes, and whether
it is optional. Each hook becomes a call of one function that all ops share (ttmlir/Dialect/Properties.h). The functions
that set properties from a dictionary refuse keys that an op does not have: those that are generated ignore them, so
that a misspelled attribute vanishes. What reads the dictionary of a custom syntax is the same function: which
attributes an op needs, its verifier says.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HEADER = '#include "ttmlir/Dialect/Properties.h"\n'
FUNCTION = re.compile(
    r"^(?P<head>::llvm::LogicalResult (?P<op>\w+)::setPropertiesFromAttr\([^\n]*\) {\n)(?P<body>.*?)^}\n", re.M | re.S
)
# What may stand in a body: its check of the dictionary, one block for each property, and the return.
PREFIX = re.compile(r'.*?"expected DictionaryAttr to set properties";\s*return ::mlir::failure\(\);\s*}\s*', re.S)
ATTRIBUTE = re.compile(
    r"{\s*auto &propStorage = prop\.(?P<storage>\w+);\s*auto attr = dict\.get\(\"(?P<name>\w+)\"\);\s*if \(attr\) {.*?"
    r"return ::mlir::failure\(\);\s*}\s*}\s*}\s*",
    re.S,
)
SEGMENTS = re.compile(
    r"{\s*auto setFromAttr = .*?};\s*auto attr = dict\.get\(\"(?P<name>\w+)\"\);[^\n]*[;\s]*"
    r"if \(attr && ::mlir::failed\(setFromAttr\(prop\.(?P<storage>\w+), attr, emitError\)\)\)\s*"
    r"return ::mlir::failure\(\);\s*}\s*",
    re.S,
)
END = re.compile(r"return ::mlir::success\(\);\s*$")
# The order in which bytecode has the properties; sizes of segments stand at their place in old versions only.
READ = re.compile(r"reader\.(?P<how>readAttribute|readOptionalAttribute)\(prop\.(?P<storage>\w+)\)")
OLD_SEGMENTS = re.compile(
    r"< /\*kNativePropertiesODSSegmentSize=\*/6\) {\s*auto &propStorage = prop\.(?P<storage>\w+);"
)
# The other hooks: result, parameters and the shared function that has the body.
HOOKS = {
    "setPropertiesFromParsedAttr": "return setPropertiesFromAttr(prop, attr, emitError);",
    "getPropertiesAsAttr": "return ::mlir::tt::propertiesAsAttr(ctx, &prop, {table});",
    "computePropertiesHash": "return ::mlir::tt::hashOfProperties(&prop, {table});",
    "getInherentAttr": "return ::mlir::tt::inherentAttr(ctx, &prop, {table}, name);",
    "setInherentAttr": "::mlir::tt::setInherentAttr(&prop, {table}, name, value);",
    "populateInherentAttrs": "::mlir::tt::populateInherentAttrs(ctx, &prop, {table}, attrs);",
    "readProperties": "return ::mlir::tt::readProperties(reader, &state.getOrAddProperties<Properties>(), {table});",
    "writeProperties": "::mlir::tt::writeProperties(writer, getContext(), &getProperties(), {table});",
}
HOOK = re.compile(
    rf"^(?P<head>[\w:<> ]+ (?P<op>\w+)::(?P<hook>{'|'.join(HOOKS)})\([^\n]*\) {{\n)(?P<body>.*?)^}}\n(?=\n*(?!if )\S)",
    re.M | re.S,
)


def properties(body: str) -> dict[str, str]:
    """Returns the properties that the body of a generated function sets: member of Properties, name."""
    found = PREFIX.match(body)
    at = found.end() if found else 0
    result = {}
    while found and (found := ATTRIBUTE.match(body, at) or SEGMENTS.match(body, at)):
        result[found["storage"]] = found["name"]
        at = found.end()
    if not END.match(body, at):
        sys.exit(f"properties: mlir-tblgen writes setPropertiesFromAttr otherwise now: {body}")
    return result


def table(op: str, names: dict[str, str], read: str) -> str:
    """Returns the table of an op, in the order of the function that reads bytecode."""
    places = [(each.start(), each["storage"], each["how"] != "readAttribute") for each in READ.finditer(read)]
    places += [(each.start(), each["storage"], False) for each in OLD_SEGMENTS.finditer(read)]
    if sorted(storage for _, storage, _ in places) != sorted(names):
        sys.exit(f"properties: mlir-tblgen writes readProperties of {op} otherwise now: {read}")
    rows = ", ".join(
        f'TT_PROPERTY({op}, {storage}, "{names[storage]}", {str(optional).lower()})'
        for _, storage, optional in sorted(places)
    )
    return f"static constexpr ::mlir::tt::Property propertiesOf{op}[] = {{{rows}}};\n"


def checked(definitions: str) -> str:
    """Returns the definitions of ops with one table of properties for each, which their hooks pass on."""
    bodies = {(each["op"], each["hook"]): each["body"] for each in HOOK.finditer(definitions)}
    tables: dict[str, str] = {}

    def set_all(function: re.Match[str]) -> str:
        op, names = function["op"], properties(function["body"])
        rows = table(op, names, bodies[op, "readProperties"]) if names else ""
        tables[op] = f"propertiesOf{op}" if names else "{}"
        call = f"::mlir::tt::setProperties(getOperationName(), attr, emitError, &prop, {tables[op]})"
        return f"{rows}{function['head']}  return {call};\n}}\n"

    def hook(function: re.Match[str]) -> str:
        if function["op"] not in tables:
            return function[0]
        return f"{function['head']}  {HOOKS[function['hook']].format(table=tables[function['op']])}\n}}\n"

    return HOOK.sub(hook, FUNCTION.sub(set_all, definitions))


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    text = checked(Path(sys.argv[1]).read_text(encoding="utf-8"))
    start = "#ifdef GET_OP_CLASSES\n#undef GET_OP_CLASSES\n"
    if start not in text:
        sys.exit(f"properties: {sys.argv[1]} has no {start.splitlines()[0]}")
    result, text = Path(sys.argv[2]), text.replace(start, start + HEADER)
    # A file that is as before is not written, so that nothing is compiled again.
    if not result.exists() or result.read_text(encoding="utf-8") != text:
        result.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
