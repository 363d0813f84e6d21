# SPDX-License-Identifier: Apache-2.0
"""Divide what mlir-tblgen generates for a dialect by op, so that a change of one op compiles what names it and no more.

usage: python split.py [--names] NAME PARTS HEADER

NAME is a path without ending, as in build/include/ttmlir/Dialect/TTIR/IR/TTIROps; HEADER declares the dialect, its
attributes and its types, and is included by what is written:

    NAME.all.h.inc, NAME.all.cpp.inc    read: mlir-tblgen -gen-op-decls and -gen-op-defs
    Ops/<class>.h                       one op class each, without comments, which hold the ops' descriptions
    NAME.h                              includes them all
    NAME<part>.cpp.inc                  definitions of the ops of one part, and a function that registers them; part 0
                                        has `void register<NAME>(mlir::Dialect &)` for all of them
    NAME.names                          the classes by name; with --names alone, it is all that is written

An op's part follows from its name, so that an op that is new moves no other; ops of a small family (FAMILY) have the
part of its name, so that a change of the family compiles one. A file that is as before is not written.

Of an op's builders nearly half the generated code would have no callers; one that is missing is a compile error:

  - `create` is one template instead of two functions for each `build` (ttmlir/Dialect/Families/Create.h);
  - result types are given: no `build` of an op with operands infers them, where another takes them;
  - where one `build` takes the type of a single result, none takes it as a range with the same operands.

The hooks of properties become one table for each op (properties.py).

Ops with the trait Row (ttmlir/Dialect/Families/Rows.td) that are equal but for their names share one class: that of the
first, called <class>Rows. The part of this class registers the name of each.
"""

from __future__ import annotations

import re
import sys
import zlib
from pathlib import Path

import properties

SECTION = re.compile(
    r"namespace (?P<space>[\w:]+) {\s*//===-+===//\n"
    r"// ::(?P=space)::(?P<name>\w+) (?:declarations|definitions)\n//===-+===//\n"
)
BUILD = re.compile(r"^void \w+::build\((?P<parameters>[^\n]*)\) {\n(?P<body>.*?)^}\n\n?", re.M | re.S)
CREATE = re.compile(r"^\w+ \w+::create\([^\n]*\) {\n.*?^}\n\n?", re.M | re.S)
DECLARED = re.compile(r"^  static \w+ (?P<name>build|create)\((?P<parameters>[^\n]*)\);\n", re.M)
RESULTS = re.compile(r"::mlir::Type(?:Range resultTypes| \w+), ")
CREATE_TEMPLATE = """  template <class Builder, class... Arguments>
  static {name} create(Builder &builder, Arguments &&...arguments) {{
    return ::mlir::tt::createOp<{name}>(builder, std::forward<Arguments>(arguments)...);
  }}
"""
BASE = "  using Op::Op;\n"
CLASSOF = """  static bool classof(::mlir::Operation *op) {{ return ::mlir::tt::hasRowClass<{name}>(op); }}
"""
FAMILY = re.compile(r"::mlir::tt::(trait::\w+)")  # traits of a class
MOST_OF_FAMILY = 16
ROW = re.compile(r"::mlir::tt::trait::Row\b")
MNEMONIC = re.compile(r'getOperationName\(\) {\s*return ::llvm::StringLiteral\("(?P<name>[^"]+)"\)')
CONSTRAINT = re.compile(r"^static ::llvm::LogicalResult (\w+)\(.*?^}\n", re.M | re.S)


Ops = dict[str, tuple[str, str]]  # as `sections` finds them


def write(path: Path, text: str) -> None:
    """Leaves a file that has this text as it is, so that nothing is compiled again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def sections(path: Path) -> tuple[str, dict[str, tuple[str, str]]]:
    """Returns (what stands before the first op, class: (its namespace, its text)), in order."""
    text = path.read_text(encoding="utf-8")
    end = text.rfind("#endif // GET_OP_CLASSES")
    found = list(SECTION.finditer(text, 0, end))
    if end < 0 or not found:
        sys.exit(f"split: {path} has no sections of ops under GET_OP_CLASSES; mlir-tblgen writes them otherwise now")
    ends = [each.start() for each in found[1:]] + [end]
    ops = {
        each["name"]: (each["space"], f"namespace {each['space']} {{\n{text[each.end() : to]}")
        for each, to in zip(found, ends, strict=True)
    }
    return text[: found[0].start()], ops


def share_classes(declared: Ops, defined: Ops) -> tuple[Ops, Ops, dict[str, list[str]]]:
    """Returns declarations and definitions with one class for equal rows, and class: names of its ops.

    Without definitions, they are not compared.
    """
    groups: dict[str, list[tuple[str, str]]] = {}
    for name, (_, body) in declared.items():
        head = body.partition(f"class {name} :")[2].partition("{")[0]
        if ROW.search(head) and (mnemonic := MNEMONIC.search(body)):
            groups.setdefault(anonymous(body, name, mnemonic["name"]), []).append((name, mnemonic["name"]))
    rows = {}
    for members in groups.values():
        (first, called), *others = members
        for name, named in others if defined else []:
            if anonymous(defined[name][1], name, named) != anonymous(defined[first][1], first, called):
                sys.exit(f"split: {first} and {name} are rows with one interface and different definitions")
        family = f"{first}Rows"
        for ops in filter(None, (declared, defined)):
            space, body = ops[first]
            body = re.sub(rf"\b{first}", family, body)
            ops[first] = (space, body.replace(BASE, BASE + CLASSOF.format(name=family), 1))
        rows[family] = [each for _, each in members]
    renamed = {members[0][0]: f"{members[0][0]}Rows" for members in groups.values()}
    dropped = {name for members in groups.values() for name, _ in members[1:]}

    def shared(ops: Ops) -> Ops:
        return {renamed.get(name, name): text for name, text in ops.items() if name not in dropped}

    return shared(declared), shared(defined), rows


def anonymous(body: str, name: str, mnemonic: str) -> str:
    """Returns the code of an op class without comments and its names."""
    return re.sub(r"\n *//[^\n]*", "", re.sub(rf"\b{name}", "$", body).replace(f'"{mnemonic}"', "$"))


def keys(declarations: dict[str, tuple[str, str]]) -> dict[str, str]:
    """Returns what decides the part of each class: its smallest family, or else its own name."""
    families: dict[str, list[str]] = {}
    for name, (_, body) in declarations.items():
        # Those of the class, which is declared after its adaptors.
        for family in {*FAMILY.findall(body.partition(f"class {name} :")[2].partition("{")[0])}:
            families.setdefault(family, []).append(name)
    found = {name: name for name in declarations}
    for family, members in sorted(families.items(), key=lambda each: (-len(each[1]), each[0])):
        if 1 < len(members) <= MOST_OF_FAMILY:
            found.update(dict.fromkeys(members, family))
    return found


def part_of(key: str, parts: int) -> int:
    return zlib.crc32(key.encode()) % parts


def used(constraints: dict[str, list[str]], text: str) -> str:
    """Returns the constraint functions that text calls; each is static."""
    called = set(re.findall(r"__mlir_ods_local_\w+", text))
    return "\n".join(body for name, bodies in constraints.items() if name in called for body in bodies)


def unused_builders(definitions: str) -> set[str]:
    """Returns parameters of the `build` functions of an op that are left out."""
    builders = {each["parameters"]: "inferredReturnTypes" in each["body"] for each in BUILD.finditer(definitions)}
    # By what follows the builder and the state.
    given = {RESULTS.sub("", tail, count=1) for tail in map(arguments, builders) if RESULTS.match(tail)}
    single = {RESULTS.sub("", tail, count=1) for tail in map(arguments, builders) if tail.startswith("::mlir::Type ")}
    unused = set()
    for parameters, infers in builders.items():
        tail = arguments(parameters)
        inferred = infers and tail in given and "::mlir::Value" in tail
        ranged = tail.startswith("::mlir::TypeRange resultTypes, ") and RESULTS.sub("", tail, count=1) in single
        if inferred or ranged:
            unused.add(parameters)
    return unused


def arguments(parameters: str) -> str:
    """Returns those of a `build` without builder and state, ending in a comma."""
    return "".join(f"{each}, " for each in parameters.split(", ")[2:])


def without_builders(text: str, name: str, unused: set[str]) -> str:
    """Returns declarations of an op class without the unused `build` functions, and with one `create`."""

    def kept(declared: re.Match[str]) -> str:
        parameters = re.sub(r" = (\{\}|\w+)(?=, |$)", "", declared["parameters"])
        return declared[0] if declared["name"] == "build" and parameters not in unused else ""

    builders = [each for each in DECLARED.finditer(text) if each["name"] == "create"]
    if not builders:
        return text
    start = builders[0].start()
    return DECLARED.sub(kept, text[:start]) + CREATE_TEMPLATE.format(name=name) + DECLARED.sub(kept, text[start:])


def write_declarations(path: Path, header: str, ops: Ops, definitions: Ops, rows: dict[str, list[str]]) -> None:
    for name, (space, body) in ops.items():
        guard = re.sub(r"\W", "_", f"{space}::Ops::{name}::h").upper()
        body = without_builders(body, name, unused_builders(definitions[name][1]))
        body = re.sub(r"\n *//[^\n]*", "", body).strip()
        named = sorted({*re.findall(r"\w+", body)} & {*ops})  # itself, and the terminators of its regions
        declared = f"namespace {space} {{\n" + "".join(f"class {each};\n" for each in named) + "}\n"
        includes = f'#include "{header}"\n#include "ttmlir/Dialect/Families/Create.h"\n'
        if name in rows:
            includes += '#include "ttmlir/Dialect/Families/Rows.h"\n'
        text = f"#ifndef {guard}\n#define {guard}\n{includes}{declared}{body}\n#endif\n"
        write(path.parent / "Ops" / f"{name}.h", text)
    for stale in (path.parent / "Ops").glob("*.h"):
        if stale.stem not in ops:
            stale.unlink()
    folder = Path(header).parent
    write(path.with_name(path.name + ".h"), "".join(f'#include "{folder}/Ops/{name}.h"\n' for name in ops))


def definitions_of(text: str) -> str:
    unused = unused_builders(text)
    text = BUILD.sub(lambda each: "" if each["parameters"] in unused else each[0], CREATE.sub("", text))
    return properties.checked(text)


def registration(name: str, rows: dict[str, list[str]]) -> str:
    if name not in rows:
        return f"  ::mlir::tt::registerOp<{name}>(dialect);\n"
    names = ", ".join(f'"{each}"' for each in rows[name])
    return f"  ::mlir::tt::registerRows<{name}>(dialect, {{{names}}});\n"


def write_definitions(
    path: Path, parts: int, header: str, head: str, ops: Ops, key: dict[str, str], rows: dict[str, list[str]]
) -> None:
    constraints: dict[str, list[str]] = {}
    for each in CONSTRAINT.finditer(head):
        constraints.setdefault(each[1], []).append(each[0])
    space = next(iter(ops.values()))[0]
    functions = [f"register{path.name}{part}" for part in range(parts)]
    whole = "".join(f"void {each}(::mlir::Dialect &);\n" for each in functions)
    whole += f"void register{path.name}(::mlir::Dialect &dialect) {{\n"
    whole += "".join(f"  {each}(dialect);\n" for each in functions) + "}\n"
    for part in range(parts):
        mine = [name for name in ops if part_of(key[name], parts) == part]
        bodies = "".join(definitions_of(ops[name][1]) for name in mine)
        write(
            path.with_name(f"{path.name}{part}.cpp.inc"),
            properties.HEADER
            + "".join(f'#include "{Path(header).parent}/Ops/{name}.h"\n' for name in mine)
            + f"{used(constraints, bodies)}\n{bodies}"
            + f"namespace {space} {{\n{'' if part else whole}"
            + f"void {functions[part]}(::mlir::Dialect &dialect) {{\n"
            + "".join(registration(name, rows) for name in mine)
            + "}\n}\n",
        )


def main() -> int:
    arguments = [each for each in sys.argv[1:] if each != "--names"]
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    path, parts, header = Path(arguments[0]), int(arguments[1]), arguments[2]
    _, declared = sections(path.with_name(path.name + ".all.h.inc"))
    names = "--names" in sys.argv
    head, defined = ("", {}) if names else sections(path.with_name(path.name + ".all.cpp.inc"))
    declared, defined, rows = share_classes(declared, defined)
    write(path.with_name(path.name + ".names"), "".join(f"{name}\n" for name in declared))
    if not names:
        write_declarations(path, header, declared, defined, rows)
        write_definitions(path, parts, header, head, defined, keys(declared), rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
