# SPDX-License-Identifier: Apache-2.0
"""The ODS description of the ops, enums and attributes of our dialects, as plain data.

Reads what `llvm-tblgen --dump-json` prints for include/ttmlir/Dialect/AllOps.td. Everything that has to know operands,
attributes, enums or fields is made from this: see __main__.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

Record = dict[str, Any]


@dataclass(frozen=True)
class Operand:
    """what: "tensor", "device" (the mesh of devices), or "value" for anything else."""

    name: str
    what: str = "tensor"
    optional: bool = False
    variadic: bool = False


@dataclass(frozen=True)
class Attribute:
    """kind: the ODS record of the constraint ("I32Attr") without what makes it optional, a key of `Dialects.kinds`.

    default: as ODS writes it, or None; optional: may be absent from an op, so that it never is one with a default that
    the op fills in.
    """

    name: str
    kind: str
    optional: bool = False
    default: str | None = None


@dataclass(frozen=True)
class Op:
    """like_operand: results have the type of the first operand; segmented: operands are passed group by group;
    rule: the shape rule of lib/shapes, or ""; facts: names of the traits of Families/Facts.td; computes: the function
    of single numbers, for elements of any type and for booleans, or nothing.
    """

    name: str  # "ttnn.topk"
    summary: str
    operands: tuple[Operand, ...]
    attributes: tuple[Attribute, ...]
    results: tuple[Operand, ...]
    like_operand: bool
    segmented: bool
    rule: str
    facts: tuple[str, ...]
    computes: tuple[str, ...]

    @property
    def dialect(self) -> str:
        return self.name.partition(".")[0]

    def attribute(self, name: str) -> Attribute | None:
        return next((each for each in self.attributes if each.name == name), None)

    def operand(self, name: str) -> Operand | None:
        return next((each for each in self.operands if each.name == name), None)


@dataclass(frozen=True)
class Case:
    symbol: str  # "BFloat16", in C++
    text: str  # "bf16", as the IR prints it
    value: int


@dataclass(frozen=True)
class Enum:
    """type: the name under which a flatbuffer knows it, "ttcore.data_type"."""

    type: str
    cpp: str  # "::mlir::tt::ttcore::DataType"
    cls: str  # "DataType"
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class Field:
    """kind: bool, int, float, string, the type of an enum or struct; "" for what has no counterpart outside MLIR."""

    name: str
    accessor: str
    kind: str
    list: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Struct:
    """An attribute with parameters; type: its name in IR and flatbuffer, "ttnn.conv2d_config"."""

    type: str
    cpp: str
    cls: str  # "Conv2dConfig"
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Kind:
    """A constraint on attributes.

    shape: bool, int, float, number (int or float), integers (int or ints), string, ints, floats, list, constant,
    symbol, enum, struct, or "" for what only MLIR knows.
    types: of an enum or struct those that it may be.
    choices: of one that accepts several kinds, these.
    text: of an enum the attribute with "{}" for the case.
    """

    name: str
    shape: str
    types: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    text: str = ""


@dataclass
class Dialects:
    ops: dict[str, Op] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)
    enums: dict[str, Enum] = field(default_factory=dict)
    structs: dict[str, Struct] = field(default_factory=dict)
    enum_attributes: dict[str, str] = field(default_factory=dict)  # C++ class of the attribute -> type of the enum


def snake_case(name: str) -> str:
    """Returns coreRangeSet -> core_range_set, NDShardSpec -> nd_shard_spec, Conv2dSliceType -> conv2d_slice_type."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def accessor(parameter: str) -> str:
    """Returns the name that mlir-tblgen gives the accessor: weights_dtype -> getWeightsDtype."""
    return "get" + re.sub(r"(?:^|_)([a-z0-9])", lambda found: found[1].upper(), parameter)


class Reader:
    """type_names: enum record -> its type, where that is not dialect and name."""

    def __init__(self, records: dict[str, Any], type_names: dict[str, str]):
        self.records = records
        self.dialects = Dialects()
        self.by_cpp: dict[str, str] = {}  # C++ type -> type of the enum or struct
        for name in records["!instanceof"]["EnumInfo"]:
            self.read_enum(name, type_names)
        definitions = records["!instanceof"]["AttrDef"]
        for name in definitions:
            record = records[name]
            if "EnumAttr" in record["!superclasses"]:
                self.dialects.enum_attributes[self.cpp_of(record)] = self.by_cpp[self.cpp_of(self.of(record["enum"]))]
            else:
                self.by_cpp[self.cpp_of(record)] = record["attrName"]
        for name in definitions:
            if "EnumAttr" not in records[name]["!superclasses"]:
                self.read_struct(records[name])
        for name in records["!instanceof"]["Op"]:
            self.read_op(records[name])

    def of(self, reference: Any) -> Record:
        return self.records[reference["def"]]

    @staticmethod
    def cpp_of(record: Record) -> str:
        name = record.get("cppClassName") or record["className"]
        return record["cppNamespace"] + "::" + name

    def read_enum(self, name: str, type_names: dict[str, str]) -> None:
        record = self.records[name]
        namespace = record["cppNamespace"].rpartition("::")[2]
        cases = tuple(Case(case["symbol"], case["str"], case["value"]) for case in map(self.of, record["enumerants"]))
        type_ = type_names.get(name, f"{namespace}.{snake_case(record['className'])}")
        cpp = self.cpp_of(record)
        self.by_cpp[cpp] = type_
        self.dialects.enums[type_] = Enum(type_, cpp, record["className"], cases)

    def read_struct(self, record: Record) -> None:
        namespace = record["cppNamespace"]
        fields = []
        for parameter, name in record["parameters"]["args"]:
            optional = False
            if isinstance(parameter, dict):
                parameter = self.of(parameter)
                optional = bool(parameter["defaultValue"]) or "OptionalParameter" in parameter["!superclasses"]
                optional |= "OptionalArrayRefParameter" in parameter["!superclasses"]
                parameter = parameter["cppType"]
            cpp, is_list = parameter, False
            if found := re.fullmatch(r"std::optional<(.*)>", cpp):
                cpp, optional = found[1], True
            if found := re.fullmatch(r"(?:::llvm::|::mlir::)?ArrayRef<(.*)>", cpp):
                cpp, is_list = found[1], True
            fields.append(Field(snake_case(name), accessor(name), self.field_kind(cpp, namespace), is_list, optional))
        type_ = record["attrName"]
        self.dialects.structs[type_] = Struct(
            type_, self.cpp_of(record), record["cppClassName"].removesuffix("Attr"), tuple(fields)
        )

    PLAIN = {
        "bool": "bool",
        "BoolAttr": "bool",
        "IntegerAttr": "int",
        "FloatAttr": "float",
        "StringAttr": "string",
        "std::string": "string",
        "ShapeAttr": "ints",
    } | dict.fromkeys(("int", "size_t", *(f"{u}int{b}_t" for u in ("", "u") for b in (8, 16, 32, 64))), "int")

    def field_kind(self, cpp: str, namespace: str) -> str:
        cpp = cpp.strip()
        if cpp in self.PLAIN:
            return self.PLAIN[cpp]
        full = cpp if cpp.startswith("::") else f"{namespace}::{cpp}"
        return self.by_cpp.get(full) or self.dialects.enum_attributes.get(full, "")

    def traits(self, references: list[Any]) -> list[Record]:
        found = []
        for reference in references:
            record = self.of(reference)
            found.append(record)
            if "TraitList" in record["!superclasses"]:
                found += self.traits(record["traits"])
        return found

    def read_op(self, record: Record) -> None:
        name = f"{self.of(record['opDialect'])['name']}.{record['opName']}"
        operands, attributes = [], []
        for reference, argument in record["arguments"]["args"]:
            constraint = self.of(reference)
            if "Attr" in constraint["!superclasses"]:
                attributes.append(self.attribute(argument, constraint))
            else:
                operands.append(self.value(argument, constraint))
        results = [
            self.value(result or "result", self.of(type_)) for type_, result in self.arguments(record["results"])
        ]
        traits = self.traits(record["traits"])
        rule = next((trait["shapeRule"] for trait in traits if "shapeRule" in trait), "")
        self.dialects.ops[name] = Op(
            name,
            record["summary"].strip(),
            tuple(operands),
            tuple(attributes),
            tuple(results),
            any(trait["!name"] == "SameOperandsAndResultType" for trait in traits),
            any(trait["!name"] == "AttrSizedOperandSegments" for trait in traits),
            rule,
            tuple(sorted({trait["fact"] for trait in traits if "fact" in trait})),
            next((tuple(trait["computes"]) for trait in traits if "computes" in trait), ()),
        )

    @staticmethod
    def arguments(dag: Any) -> list[tuple[Any, str | None]]:
        return [(entry[0], entry[1]) for entry in dag["args"]]

    def value(self, name: str, constraint: Record) -> Operand:
        if "OpVariable" in constraint["!superclasses"]:  # Res<>, Arg<>
            constraint = self.of(constraint["constraint"])
        classes = constraint["!superclasses"]
        base = self.of(constraint["baseType"]) if "baseType" in constraint else constraint
        known = {"TTNN_Device": "device", "TTNN_GlobalSemaphore": "value"}
        what = known.get(base["!name"], "tensor")
        return Operand(name, what, "Optional" in classes, "Variadic" in classes)

    def attribute(self, name: str, constraint: Record) -> Attribute:
        optional, default = False, None
        while isinstance(constraint.get("baseAttr"), dict):
            optional |= bool(constraint["isOptional"])
            default = constraint["defaultValue"] if default is None else default
            constraint = self.of(constraint["baseAttr"])
        self.read_kind(constraint)
        optional |= constraint["!name"] == "UnitAttr"  # which says no by not being there
        return Attribute(name, constraint["!name"], optional, default)

    def read_kind(self, record: Record) -> Kind:
        name = record["!name"]
        if name not in self.dialects.kinds:
            self.dialects.kinds[name] = self.kind(name, record)
        return self.dialects.kinds[name]

    def kind(self, name: str, record: Record) -> Kind:
        classes = record["!superclasses"]
        if "EnumAttr" in classes:
            type_ = self.by_cpp[self.cpp_of(self.of(record["enum"]))]
            return Kind(name, "enum", (type_,), text=self.enum_text(record))
        if "EnumInfo" in classes:
            return Kind(name, "int")
        if name in ("SymbolRefAttr", "FlatSymbolRefAttr"):
            return Kind(name, "symbol")
        if name == "FlatSymbolRefArrayAttr":
            return Kind(name, "symbols")
        if name == "TTNN_ShapeAttr":
            return Kind(name, "ints")
        if "AttrDef" in classes:
            type_ = record["attrName"]
            return Kind(name, "struct", (type_,))
        if "AnyAttrOf" in classes:
            choices = [self.read_kind(self.of(each)) for each in record["allowedAttributes"]]
            shapes = {choice.shape for choice in choices}
            shape = next(iter(shapes)) if len(shapes) == 1 else ""
            shape = {frozenset(("int", "float")): "number", frozenset(("int", "ints")): "integers"}.get(
                frozenset(shapes), shape
            )
            types = tuple(type_ for choice in choices for type_ in choice.types)
            return Kind(name, shape, types, tuple(choice.name for choice in choices))
        plain = {"BoolAttr": "bool", "UnitAttr": "bool", "StringBasedAttr": "string", "FloatAttrBase": "float"}
        for cls in (name, *classes):
            if cls in plain:
                return Kind(name, plain[cls])
            if cls.endswith("IntegerAttrBase"):
                return Kind(name, "int")
            if cls in ("DenseArrayAttrBase", "TypedArrayAttrBase"):
                return Kind(
                    name, "ints" if re.search(r"I\d+", name) else "floats" if re.search(r"F\d+", name) else "list"
                )
            if cls == "ElementsAttrBase" and not name.startswith("Dense"):
                return Kind(name, "constant")
        return Kind(name, "")

    def enum_text(self, record: Record) -> str:
        """Returns the attribute as the IR prints it, which its assembly format says."""
        head = f"#{self.of(record['dialect'])['name']}"
        bracketed = "`<` $value `>`" in (record["assemblyFormat"] or "")
        return f"{head}.{record['mnemonic']}<{{}}>" if bracketed else f"{head}<{record['mnemonic']} {{}}>"


def read(records: dict[str, Any], type_names: dict[str, str]) -> Dialects:
    return Reader(records, type_names).dialects
