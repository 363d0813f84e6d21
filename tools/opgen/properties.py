# SPDX-License-Identifier: Apache-2.0
"""Rewrites the functions that set the properties of ops from a dictionary, as mlir-tblgen generates them.

usage: python properties.py DEFINITIONS RESULT

The generated functions ignore keys that an op does not have, so that a misspelled attribute vanishes. Each becomes one
call of tt::setProperties with the names and places of the op's properties (ttmlir/Dialect/Properties.h), which
refuses such keys. What reads the dictionary of a custom syntax is the same function: which attributes an op needs, its
verifier says.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HEADER = '#include "ttmlir/Dialect/Properties.h"\n'
FUNCTION = re.compile(
    r"^(?P<head>::llvm::LogicalResult \w+::setPropertiesFromAttr\([^\n]*\) {\n)(?P<body>.*?)^}\n", re.M | re.S
)
PARSED = re.compile(r"^(::llvm::LogicalResult \w+::setPropertiesFromParsedAttr\([^\n]*\) {\n).*?^}\n", re.M | re.S)
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


def properties(body: str) -> list[tuple[str, str]]:
    """Returns the properties that the body of a generated function sets: name, member of Properties."""
    found = PREFIX.match(body)
    at = found.end() if found else 0
    result = []
    while found and (found := ATTRIBUTE.match(body, at) or SEGMENTS.match(body, at)):
        result.append((found["name"], found["storage"]))
        at = found.end()
    if not END.match(body, at):
        sys.exit(f"properties: mlir-tblgen writes setPropertiesFromAttr otherwise now: {body}")
    return result


def checked(definitions: str) -> str:
    """Returns the definitions of ops with functions that refuse keys that an op does not have."""

    def call(function: re.Match[str]) -> str:
        entries = ", ".join(f'{{"{name}", prop.{storage}}}' for name, storage in properties(function["body"]))
        entries = f"{{{entries}}}" if entries else "{}"
        arguments = f"getOperationName(), attr, emitError, {entries}"
        return f"{function['head']}  return ::mlir::tt::setProperties({arguments});\n}}\n"

    return PARSED.sub(r"\1  return setPropertiesFromAttr(prop, attr, emitError);\n}\n", FUNCTION.sub(call, definitions))


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
