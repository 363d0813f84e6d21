# SPDX-License-Identifier: Apache-2.0
"""Attributes that an op does not have: as properties they are errors, and as notes of others they change nothing."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from op_cases import TABLE, built, lowered
from op_gaps import GAPS
from ttmlir import ir

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("TTMLIR_BUILD", ROOT / "build"))
DIALECTS = ("chlo", "d2m", "debug", "emitpy", "sdy", "stablehlo", "ttcore", "ttir", "ttkernel", "ttmetal", "ttnn",
            "vhlo")  # fmt: skip


def find_attribute_names() -> dict[str, list[str]]:
    """The attributes of every op of our dialects: what TableGen made of them, and the table of VHLO."""
    names = {}
    for path in sorted((BUILD / "include/ttmlir/Dialect").glob("*/IR/*Ops*.h.inc")):
        for body in path.read_text().split("getAttributeNames() {")[1:]:
            listed, _, rest = body.partition("getOperationName()")
            (op,) = re.findall(r'StringLiteral\("([^"]+)"\)', rest.partition("}")[0])
            names[op] = re.findall(r'StringRef\("(\w+)"\)', listed)
    table = (ROOT / "lib/Dialect/Vhlo/IR/Ops.def").read_text()
    text = r'"[^"]*"'
    for op, attributes in re.findall(rf'VHLO_OP\("(\w+)",(?:\s*{text},){{3}}((?:\s*{text})*)\)', table):
        names[f"vhlo.{op}"] = re.findall(r"(?<![\w@:=])\w+", attributes)
    return names


NAMES = find_attribute_names()


CONTEXT = ir.Context()  # making one takes longer than to parse an op


def error_of(text: str) -> str:
    with CONTEXT:
        try:
            ir.Module.parse(text)
        except ir.MLIRError as error:
            return str(error)
    return ""


def error_of_bytecode(op: str, properties: str, path: Path) -> str:
    """The error of a file that was written where the op was not known, which keeps all of its properties."""
    dialect, _, name = op.partition(".")
    other = "z" * len(dialect)
    with ir.Context() as unknown:
        unknown.allow_unregistered_dialects = True
        module = ir.Module.parse(f'"{other}.{name}"() <{{{properties}}}> : () -> ()')
        with path.open("wb") as file:
            module.operation.write_bytecode(file)
    path.write_bytes(path.read_bytes().replace(other.encode(), dialect.encode()))
    with ir.Context():
        try:
            ir.Module.parseFile(str(path))
        except ir.MLIRError as error:
            return str(error)
    return ""


def test_all_dialects_are_looked_at() -> None:
    assert {name.partition(".")[0] for name in NAMES} == set(DIALECTS)
    assert NAMES["ttir.softmax"] == ["dimension", "numericStable"]
    assert NAMES["vhlo.cbrt_v2"] == ["result_accuracy"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_unknown_property_is_an_error(dialect: str) -> None:
    """It names the op and the key, and the nearest name that the op has."""
    wrong = []
    for op, names in NAMES.items():
        if op.partition(".")[0] != dialect:
            continue
        names = [name for name in names if not name.endswith("SegmentSizes")]
        cases = {"zqx_of_nobody": f"{op} has no attribute 'zqx_of_nobody'" if names else op}
        for name in names:
            if len(name) > 3 and (key := name[0] + name[2:]) not in names:  # without a letter
                cases[key] = f"{op} has no attribute '{key}'; did you mean '"
        for key, expected in cases.items():
            error = error_of(f'"{op}"() <{{{key} = 1 : i32}}> : () -> ()')
            if expected not in error or key not in error:
                wrong.append(f"{op} <{{{key}}}>: expected {expected!r}, found {error!r}")
    assert not wrong, f"{len(wrong)} of {len(NAMES)}\n" + "\n".join(wrong[:20])


@pytest.mark.parametrize("op", ["ttir.softmax", "ttir.conv3d", "ttnn.concat", "stablehlo.iota", "d2m.arange_block"])
def test_unknown_properties_in_bytecode_are_errors(op: str, tmp_path: Path) -> None:
    """Files hold the values of properties in the order of the definition, without names: others do not fit."""
    error = error_of_bytecode(op, "zqx_of_nobody = 1 : i32", tmp_path / "unknown.mlirbc")
    assert re.search("expected mlir::.*zqx_of_nobody|at the end of the bytecode", error), error


# What JAX, XLA and others attach to ops, functions, their arguments and modules; and names that ops of TTNN have, which
# an op of TTIR or StableHLO of another name does not get.
NOTES = {
    "note": "3 : i32",
    "result_layout": "dense<[0, 1]> : tensor<2xindex>",
    "xla_shape": '"f32[4,8]{1,0}"',
    "mark_of_nobody": "unit",
    "activation": '"relu"',
    "memory_config": '"dram"',
    "mhlo.frontend_attributes": '{zqx = "1"}',
    "mhlo.layout_mode": '"default"',
    "of_nobody.key": "[1, 2]",
    "jax.buffer_donor": "true",
}


def is_note(op: ir.Operation, name: str) -> bool:
    return name not in NAMES.get(op.name, ())


def annotated(module: ir.Module) -> ir.Module:
    """A copy with notes at every op, at functions and their arguments and results, and at the module."""
    result = ir.Module.parse(module.operation.get_asm(enable_debug_info=True), module.context)
    notes = {name: ir.Attribute.parse(text, module.context) for name, text in NOTES.items()}

    def attach(op: ir.Operation) -> ir.WalkResult:
        for name, value in notes.items():
            # An attribute of a dialect may be no other than that dialect's at the module.
            if is_note(op, name) and (op.name != "builtin.module" or "." in name):
                op.attributes[name] = value
        if op.name == "func.func":
            for kind, count in (("arg_attrs", len(op.regions[0].blocks[0].arguments)),):
                dotted = {name: value for name, value in notes.items() if "." in name}
                old = op.attributes[kind] if kind in op.attributes else [ir.DictAttr.get({}, module.context)] * count
                op.attributes[kind] = ir.ArrayAttr.get(
                    [ir.DictAttr.get({**{a.name: a.attr for a in each}, **dotted}, module.context) for each in old],
                    module.context,
                )
        return ir.WalkResult.ADVANCE

    result.operation.walk(attach)
    assert result.operation.verify()
    return result


def without_notes(module: ir.Module) -> str:
    def detach(op: ir.Operation) -> ir.WalkResult:
        for name in NOTES:
            if name in op.attributes and is_note(op, name):
                del op.attributes[name]
        if op.name == "func.func" and "arg_attrs" in op.attributes:
            kept = [
                {each.name: each.attr for each in argument if each.name not in NOTES}
                for argument in op.attributes["arg_attrs"]
            ]
            del op.attributes["arg_attrs"]
            if any(kept):
                op.attributes["arg_attrs"] = ir.ArrayAttr.get(
                    [ir.DictAttr.get(each, module.context) for each in kept], module.context
                )
        return ir.WalkResult.ADVANCE

    module.operation.walk(detach)
    # Constants of one context are told apart by numbers.
    return re.sub(r"\bconstant_\w+", "constant", module.operation.get_asm(enable_debug_info=True))


LOWERED = [name for name in sorted(TABLE) if GAPS.get(name, "ttnn.").startswith("ttnn.")]


@pytest.mark.parametrize("name", LOWERED)
def test_notes_of_others_change_nothing(name: str) -> None:
    """The lowered module is that of the module without them."""
    result = TABLE[name]
    module, _ = built(name, result.dtypes[0])
    expected = without_notes(lowered(module, result.mesh))
    assert without_notes(lowered(annotated(module), result.mesh)) == expected


@pytest.mark.parametrize("name", sorted(TABLE))
def test_own_attributes_among_the_others_keep_their_meaning(name: str) -> None:
    """Text of older writers has no properties: `{...}` holds all attributes."""
    result = TABLE[name]
    module, _ = built(name, result.dtypes[0])
    text = module.operation.get_asm(enable_debug_info=True, print_generic_op_form=True)
    # Both dictionaries become one; those of an op with regions stand apart.
    joined = re.sub(r" <{(.*?)}>(?: {(.*?)})?(?= : \()", join_dictionaries, text)
    again = ir.Module.parse(joined, ir.Context())
    assert again.operation.get_asm(enable_debug_info=True) == module.operation.get_asm(enable_debug_info=True)


def join_dictionaries(found: re.Match[str]) -> str:
    return " {" + ", ".join(filter(None, found.groups())) + "}"
