# SPDX-License-Identifier: Apache-2.0
"""Modules of one op that break one constraint each, and modules at the edge of what is valid.

The ops are those of the op tables and of the tests in test/ttmlir, in their generic form. A change breaks a constraint
that the description of the op states (tools/opgen): a required attribute, the kind of an attribute, the number and type
of operands and results, the range of a dimension, the shape of a result.
"""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ttmlir import ir
from ttmlir.op_facts import description

ROOT = Path(__file__).resolve().parents[3]
DIALECTS = ("ttir", "ttnn", "stablehlo", "sdy")
# Parents verify their terminators, and these have no meaning in a function.
INSIDE = {
    "stablehlo.return": "ends a region",
    "sdy.return": "ends a region",
    "sdy.mesh": "stands in a module",
}


@dataclasses.dataclass(frozen=True)
class Instance:
    """An op in generic form.

    types: of operands and results. properties, notes: attributes as text, inherent and discardable ones. regions: their
    text, without parentheses. prelude: other ops of the module, which symbols name. mesh: attributes of the module.
    """

    name: str
    operands: tuple[str, ...]
    results: tuple[str, ...]
    properties: tuple[tuple[str, str], ...]
    notes: tuple[tuple[str, str], ...] = ()
    regions: str = ""
    prelude: str = ""
    module: str = ""

    def text(self) -> str:
        """Returns a module with a function of this op."""
        arguments = [f"%a{i}" for i in range(len(self.operands))]
        results = [f"%r#{i}" for i in range(len(self.results))]
        properties = ", ".join(f"{name} = {value}" for name, value in self.properties)
        notes = ", ".join(f"{name} = {value}" for name, value in self.notes)
        op = (
            (f"%r:{len(results)} = " if results else "")
            + f'"{self.name}"({", ".join(arguments)})'
            + (f" <{{{properties}}}>" if properties else "")
            + (f" ({self.regions})" if self.regions else "")
            + (f" {{{notes}}}" if notes else "")
            + f" : ({', '.join(self.operands)}) -> ({', '.join(self.results)})"
        )
        ends = f"return {', '.join(results)} : {', '.join(self.results)}" if results else "return"
        typed = ", ".join(f"{name}: {type_}" for name, type_ in zip(arguments, self.operands, strict=True))
        function = f"func.func @f({typed}) -> ({', '.join(self.results)}) {{\n{op}\n{ends}\n}}"
        attributes = f"attributes {{{self.module}}} " if self.module else ""
        return f"module {attributes}{{\n{self.prelude}\n{function}\n}}"

    def row(self) -> dict[str, Any]:
        """Returns the op's description."""
        return description()["ops"][self.name]  # type: ignore[no-any-return]

    def replaced(self, **changes: Any) -> Instance:
        return dataclasses.replace(self, **changes)

    def with_property(self, name: str, value: str | None) -> Instance:
        """Returns the op with another value of a property, or without it."""
        kept = [(key, old) for key, old in self.properties if key != name]
        return self.replaced(properties=tuple([*kept, (name, value)] if value is not None else kept))


# ---------------------------------------------------------------------------------------------------------------------
# Ops of modules
# ---------------------------------------------------------------------------------------------------------------------


def matching(text: str, start: int) -> int:
    """Returns the index after the bracket that closes the one at `start`; brackets in strings do not count."""
    depth = 0
    for found in re.compile(r'"(?:[^"\\]|\\.)*"|->|[(){}<>\[\]]').finditer(text, start):
        token = found[0]
        if token in ("(", "{", "<", "["):
            depth += 1
        elif token in (")", "}", ">", "]"):
            depth -= 1
            if depth == 0:
                return found.end()
    raise ValueError(f"no bracket closes that at {start} of {text!r}")


def entries(text: str) -> Iterator[tuple[str, str]]:
    """Returns names and values of a printed dictionary."""
    depth, start, tokens = 0, 0, re.compile(r'"(?:[^"\\]|\\.)*"|->|[(){}<>\[\],]|$')
    for found in tokens.finditer(text):
        token = found[0]
        depth += (token in tuple("({<[") and token != "") - (token in tuple(")}>]") and token != "")
        if depth == 0 and token in (",", "") and text[start : found.start()].strip():
            name, is_pair, value = text[start : found.start()].strip().partition(" = ")
            yield name, value if is_pair else "unit"
            start = found.end()


def captures(op: ir.Operation) -> bool:
    """Returns whether a region uses values from outside of the op."""
    inside: set[Any] = set()
    outside = False

    def visit(block: ir.Block) -> None:
        nonlocal outside
        inside.update(block.arguments)
        for child in block.operations:
            outside |= any(operand not in inside for operand in child.operands)
            inside.update(child.results)
            for region in child.regions:
                for each in region.blocks:
                    visit(each)

    for region in op.regions:
        for block in region.blocks:
            visit(block)
    return outside


def instance_of(op: ir.Operation, prelude: str, module: str) -> Instance | None:
    """Returns an op by itself, or None if it needs what is around it."""
    if op.name in INSIDE or op.name not in description()["ops"] or captures(op):
        return None
    if op.parent is None or op.parent.name != "func.func":
        return None
    text = op.get_asm(print_generic_op_form=True, use_local_scope=True)
    head = text.index("(", text.index(f'"{op.name}"'))
    rest = text[matching(text, head) :]
    properties = notes = regions = ""
    if rest.startswith(" <{"):
        end = matching(rest, 1)
        properties, rest = rest[3 : end - 2], rest[end:]
    if rest.startswith(" ({"):
        end = matching(rest, 1)
        regions, rest = rest[2 : end - 1], rest[end:]
    if rest.startswith(" {"):
        notes = rest[2 : matching(rest, 1) - 1]
    return Instance(
        op.name,
        tuple(str(operand.type) for operand in op.operands),
        tuple(str(result.type) for result in op.results),
        tuple(entries(properties)),
        tuple(entries(notes)),
        regions,
        prelude,
        module,
    )


def instances_of(text: str) -> Iterator[Instance]:
    """Returns the ops in functions of a module, nothing of an invalid one."""
    with ir.Context() as context:
        try:
            module = ir.Module.parse(text)
        except ir.MLIRError:
            return
        attributes = ", ".join(f"{name} = {module.operation.attributes[name]}" for name in module.operation.attributes)
        tops = list(module.body.operations)
        symbols = [top for top in tops if "sym_name" in top.attributes]
        for top in tops:
            if top.operation.name != "func.func":
                continue
            for block in top.regions[0].blocks:
                for op in block.operations:
                    if op.operation.name.partition(".")[0] not in DIALECTS:
                        continue
                    # Names of the module's symbols that the op can use.
                    used = "@" in op.operation.get_asm(print_generic_op_form=True, use_local_scope=True)
                    others = [each for each in symbols if each != top] if used else []
                    prelude = "\n".join(
                        each.operation.get_asm(print_generic_op_form=True, use_local_scope=True) for each in others
                    )
                    if "@f" in prelude.replace("@f(", "@f "):
                        prelude = prelude.replace('"f"', '"f_"')
                    found = instance_of(op.operation, prelude, attributes)
                    if found:
                        yield found
        del context


class Checker:
    """Parses modules. A context serves many of them, and is then replaced, because it keeps types and attributes."""

    MODULES = 1000

    def __init__(self) -> None:
        self.left = 0

    def parse(self, text: str) -> ir.Module:
        """Raises MLIRError for what is not valid."""
        if self.left == 0:
            self.context, self.left = ir.Context(), self.MODULES
        self.left -= 1
        return ir.Module.parse(text, self.context)

    def error_of(self, text: str) -> str | None:
        """Returns the message with which a module is refused, or None."""
        try:
            self.parse(text)
        except ir.MLIRError as error:
            return str(error)
        return None

    def round_trip(self, text: str) -> str | None:
        """Returns what differs after printing and parsing, in both forms, or the message of an error, or None."""
        try:
            module = self.parse(text)
            printed = str(module)
            for form in (printed, module.operation.get_asm(print_generic_op_form=True)):
                again = str(self.parse(form))
                if again != printed:
                    return f"printed as {printed}, and after parsing as {again}"
        except ir.MLIRError as error:
            return str(error)
        return None


def texts_of_tables(known: dict[str, list[Instance]]) -> Iterator[str]:
    """Returns the modules of the op tables, those of TTIR also as the pipeline lowers them to TTNN; ops that are known
    in both dialects are left out."""
    from op_cases import TABLE, built, lowered
    from op_gaps import GAPS

    for name, row in sorted(TABLE.items()):
        if name in known and name.replace("ttir.", "ttnn.") in known:
            continue
        module, _ = built(name, row.dtypes[0])
        yield str(module)
        if name.startswith("ttir.") and GAPS.get(name, "ttnn.").startswith("ttnn."):
            yield str(lowered(module, row.mesh))


def texts_of_tests() -> Iterator[str]:
    """Returns the modules of the tests of dialects and conversions."""
    folder = ROOT / "test" / "ttmlir"
    for path in sorted(folder.rglob("*.mlir")):
        yield from path.read_text().split("// -----")


def add_instances(found: dict[str, list[Instance]], modules: Iterable[str], per_op: int = 4) -> None:
    """Adds valid ops that stand by themselves, up to `per_op` of each name."""
    checker = Checker()
    for text in modules:
        for instance in instances_of(text):
            known = found.setdefault(instance.name, [])
            if len(known) < per_op and instance not in known and checker.error_of(instance.text()) is None:
                known.append(instance)


# ---------------------------------------------------------------------------------------------------------------------
# One constraint broken
# ---------------------------------------------------------------------------------------------------------------------

Broken = tuple[str, Instance]  # what is broken
Breaker = Callable[[Instance, random.Random], Iterator[Broken]]


def has_fact(instance: Instance, fact: str) -> bool:
    return fact in instance.row().get("facts", ())


def attribute_rows(instance: Instance) -> Iterator[tuple[dict[str, Any], str | None]]:
    """Returns the description of each attribute with the value that the op has."""
    values = dict(instance.properties)
    for row in instance.row().get("attributes", ()):
        yield row, values.get(row["name"])


def required_attribute(instance: Instance, generator: random.Random) -> Iterator[Broken]:
    for row, value in attribute_rows(instance):
        if value is not None and not row.get("optional") and "default" not in row:
            yield f"without {row['name']}", instance.with_property(row["name"], None)


# Kinds that take every attribute, or the one that is put in.
ANY_KINDS = {"AnyAttr", "UnitAttr", "StableHLO_CustomCallApiVersionAttr"}


def kind_of_attribute(instance: Instance, generator: random.Random) -> Iterator[Broken]:
    for row, value in attribute_rows(instance):
        if value is None or row["kind"] in ANY_KINDS:
            continue
        for wrong in ('"wrong"', "unit", "[[unit]]", "f32", "-1 : i3"):
            if wrong == '"wrong"' and value.startswith('"'):
                continue
            if wrong == "f32" and "Type" in row["kind"]:
                continue
            yield f"{row['name']} = {wrong}", instance.with_property(row["name"], wrong)


def unknown_attribute(instance: Instance, generator: random.Random) -> Iterator[Broken]:
    if instance.row().get("attributes", ()):
        yield "unknown attribute", instance.with_property("zqx", "1 : i32")


def number_of_operands(instance: Instance, generator: random.Random) -> Iterator[Broken]:
    rows = instance.row().get("operands", ())
    if any(row.get("variadic") or row.get("optional") for row in rows):
        return
    yield "one operand more", instance.replaced(operands=(*instance.operands, "tensor<2x2xf32>"))
    if instance.operands:
        yield "one operand less", instance.replaced(operands=instance.operands[:-1])


def number_of_results(instance: Instance, generator: random.Random) -> Iterator[Broken]:
    rows = instance.row().get("results", ())
    if any(row.get("variadic") or row.get("optional") for row in rows):
        return
    yield "one result more", instance.replaced(results=(*instance.results, "tensor<2x2xf32>"))
    if instance.results:
        yield "one result less", instance.replaced(results=instance.results[:-1])


def changed_at(values: tuple[str, ...], index: int, value: str) -> tuple[str, ...]:
    return (*values[:index], value, *values[index + 1 :])


def type_of_value(instance: Instance, generator: random.Random) -> Iterator[Broken]:
    for wrong in ("none", "tuple<f32>"):
        for index, old in enumerate(instance.operands):
            if old.startswith("tensor"):
                yield (
                    f"operand {index} is {wrong}",
                    instance.replaced(operands=changed_at(instance.operands, index, wrong)),
                )
        for index, old in enumerate(instance.results):
            if old.startswith("tensor"):
                yield (
                    f"result {index} is {wrong}",
                    instance.replaced(results=changed_at(instance.results, index, wrong)),
                )


def shape_and_rest(type_: str) -> tuple[list[int], str] | None:
    """Returns the sizes of a tensor type of static shape, and what follows them."""
    found = re.fullmatch(r"tensor<((?:\d+x)*)([^?*].*)>", type_, flags=re.S)
    return ([int(size) for size in found[1].split("x")[:-1]], found[2]) if found else None


def tensor(shape: list[int], rest: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{rest}>"


def shape_of_result(instance: Instance, generator: random.Random) -> Iterator[Broken]:
    for index, old in enumerate(instance.results):
        parts = shape_and_rest(old)
        if parts is None or "#" in parts[1]:  # a layout depends on the rank
            continue
        shape, rest = parts
        for dim in range(len(shape)):
            other = [*shape]
            other[dim] += 1
            yield (
                f"result {index} is larger in {dim}",
                instance.replaced(results=changed_at(instance.results, index, tensor(other, rest))),
            )
        yield (
            f"result {index} has a dimension more",
            instance.replaced(results=changed_at(instance.results, index, tensor([*shape, 3], rest))),
        )


def shape_of_operand(instance: Instance, generator: random.Random) -> Iterator[Broken]:
    """An operand of an elementwise op that does not broadcast, and one with more elements than 64 bits count."""
    parts = [shape_and_rest(type_) for type_ in (*instance.operands, *instance.results)]
    if not has_fact(instance, "elementwise") or instance.regions or not all(parts):
        return
    for index, old in enumerate(instance.operands):
        shape, rest = shape_and_rest(old) or ([], "")
        if "#" in rest or not shape or shape[-1] < 2:
            continue
        other = [*shape[:-1], shape[-1] + 1]
        yield (
            f"operand {index} is larger",
            instance.replaced(operands=changed_at(instance.operands, index, tensor(other, rest))),
        )
    if instance.name.startswith("tt") and "#" not in instance.operands[0]:
        huge = [tensor([4294967296, 4294967296, 2], found[1]) for found in parts if found]
        count = len(instance.operands)
        yield (
            "more elements than 64 bits count",
            instance.replaced(operands=tuple(huge[:count]), results=tuple(huge[count:])),
        )


def element_of_operand(instance: Instance, generator: random.Random) -> Iterator[Broken]:
    """Elements of another kind in one operand of an elementwise op of StableHLO."""
    if not has_fact(instance, "elementwise") or instance.name.partition(".")[0] != "stablehlo" or instance.regions:
        return
    for index, old in enumerate(instance.operands):
        parts = shape_and_rest(old)
        if parts and "quant" not in old:
            wrong = "i32" if parts[1] != "i32" else "f32"
            yield (
                f"operand {index} of {wrong}",
                instance.replaced(operands=changed_at(instance.operands, index, tensor(parts[0], wrong))),
            )


def element_of_result(instance: Instance, generator: random.Random) -> Iterator[Broken]:
    """StableHLO states element types; in TTIR and TTNN a declared one is that to which values are converted."""
    if instance.name.partition(".")[0] not in ("stablehlo", "sdy"):
        return
    for index, old in enumerate(instance.results):
        parts = shape_and_rest(old)
        if parts:
            wrong = "i32" if parts[1] != "i32" else "f32"
            yield (
                f"result {index} of {wrong}",
                instance.replaced(results=changed_at(instance.results, index, tensor(parts[0], wrong))),
            )


def range_of_number(instance: Instance, generator: random.Random) -> Iterator[Broken]:
    """Dimensions out of range, and numbers that have to be positive."""
    for row, value in attribute_rows(instance):
        name = row["name"]
        if value is None:
            continue
        if re.search(r"(^|_)(dims?|axis|axes|dimensions?|permutation)(_|$)", name):
            wrong, more = ("99", "-99"), ["99"]
        elif re.search(r"(^|_)(strides?|dilation|groups|kernel|kernel_size|k|num_heads)$", name):
            wrong, more = ("0", "-3"), ["1"] * 7
        else:
            continue
        if number := re.fullmatch(r"-?\d+ : (\w+)", value):
            for each in wrong:
                if not (each.startswith("-") and number[1].startswith("ui")):
                    yield f"{name} = {each}", instance.with_property(name, f"{each} : {number[1]}")
        listed = re.fullmatch(r"array<(i32|i64): (.*)>", value)
        if not listed:
            continue
        old = listed[2].split(", ")
        lists = {f"{name} is longer": [*old, *more]}
        for each in wrong:
            at = generator.randrange(len(old))
            lists[f"{name}[{at}] = {each}"] = [*old[:at], each, *old[at + 1 :]]
        for what, numbers in lists.items():
            if numbers == old:  # has that number already
                continue
            yield what, instance.with_property(name, f"array<{listed[1]}: {', '.join(numbers)}>")


def choice_of_enum(instance: Instance, generator: random.Random) -> Iterator[Broken]:
    for row, value in attribute_rows(instance):
        if value is None or description()["kinds"].get(row["kind"], {}).get("shape") != "enum":
            continue
        wrong = re.sub(r"([<\s])[\w-]+>$", r"\1zqx>", value)
        if wrong != value:
            yield f"{row['name']} = {wrong}", instance.with_property(row["name"], wrong)


def ends_of_regions(instance: Instance, generator: random.Random) -> Iterator[Broken]:
    """A region that returns nothing, none at all, and one more argument."""
    if not instance.regions:
        return
    ended = re.sub(r'"(\w+\.return)"\([^()]+\) : \([^()]*\)', r'"\1"() : ()', instance.regions, count=1)
    if ended != instance.regions:
        yield "a region returns nothing", instance.replaced(regions=ended)
    yield "no regions", instance.replaced(regions="")
    yield "one region more", instance.replaced(regions=f"{instance.regions}, {instance.regions}")
    more = re.sub(r"(\^\w+)\(", r"\1(%zqx: tensor<7xf32>, ", instance.regions, count=1)
    if more != instance.regions:
        yield "a region takes one value more", instance.replaced(regions=more)


BREAKERS: dict[str, Breaker] = {
    breaker.__name__: breaker
    for breaker in (
        required_attribute, kind_of_attribute, unknown_attribute, number_of_operands, number_of_results, type_of_value,
        shape_of_result, shape_of_operand, element_of_result, element_of_operand, range_of_number, choice_of_enum,
        ends_of_regions,
    )
}  # fmt: skip


# Changes that leave an op valid: breaker -> pattern of op and change -> why.
VALID: dict[str, dict[str, str]] = {
    "type_of_value": {r"stablehlo\.custom_call .*": "takes and gives any types"},
    "shape_of_result": {
        r"stablehlo\.(custom_call|infeed|recv) .*": "values from elsewhere",
        r"stablehlo\.(iota|rng|rng_bit_generator) .*": "the result says how many values there are",
        r"stablehlo\.(real_dynamic_slice|dynamic_\w+) .*": "the size is computed",
        r"stablehlo\.broadcast_in_dim .*": "dimensions that are not mapped have any size",
        r"ttnn\.prepare_conv\w+ .* is larger in [23]": "the library pads",
        r"ttir\.(alloc|arange|empty) .*": "the result says how many values there are",
        r"ttir\.slice_dynamic .*": "the size is computed",
        r"tt(ir|nn)\.(moe_gpt|selective_reduce_combine) .*": "public descriptions disagree on the shapes",
    },
    "element_of_result": {
        r"stablehlo\.(bitcast_convert|convert|dynamic_iota|iota|rng_bit_generator) .*": "the result states its type",
        r"stablehlo\.(custom_call|infeed|recv) .*": "values from elsewhere",
    },
    "range_of_number": {
        r"tt(ir|nn)\.\w+ output_(height|width)_shard_dim = 99": "a number of cores",
        r"tt(ir|nn)\.selective_reduce_combine .*": "public descriptions disagree on its values",
        r"ttir\.index_select stride = 0": "one part only",
    },
}


def stays_valid(breaker: str, instance: Instance, what: str) -> bool:
    """Returns whether a change may leave the op valid."""
    return any(re.fullmatch(pattern, f"{instance.name} {what}") for pattern in VALID.get(breaker, {}))


def broken(instances: list[Instance], seed: int | str) -> Iterator[tuple[str, str, Instance]]:
    """Returns (breaker, what is broken, op) for all changes of the ops."""
    generator = random.Random(f"{seed}")
    for instance in instances:
        for name, breaker in BREAKERS.items():
            for what, changed in breaker(instance, generator):
                yield name, what, changed


# ---------------------------------------------------------------------------------------------------------------------
# The edge of what is valid
# ---------------------------------------------------------------------------------------------------------------------

# Sizes 0 and 1, no dimensions, many of them, and as many elements as 32 bits do not count.
SHAPES: tuple[list[int], ...] = ([], [0], [1], [3, 0], [0, 0, 5], [1, 1], [1] * 9, [2147483647, 3], [65536, 65536, 2])
FLOATS = ("bf16", "f16", "f64")


def notes_of_others(instance: Instance, generator: random.Random) -> Iterator[Broken]:
    yield (
        "notes",
        instance.replaced(notes=(*instance.notes, ("of_nobody.key", '[1, "\\22"]'), ("of_nobody.unit", "unit"))),
    )


def order_of_properties(instance: Instance, generator: random.Random) -> Iterator[Broken]:
    if len(instance.properties) > 1:
        yield "properties the other way round", instance.replaced(properties=instance.properties[::-1])


def default_attribute(instance: Instance, generator: random.Random) -> Iterator[Broken]:
    """Optional attributes are left out. Those that others depend on are not."""
    for row, value in attribute_rows(instance):
        if value is not None and "default" in row and re.sub(r" : .*", "", value) == row["default"]:
            yield f"without {row['name']}", instance.with_property(row["name"], None)


def shapes_of_elementwise(instance: Instance, generator: random.Random) -> Iterator[Broken]:
    types = [shape_and_rest(type_) for type_ in (*instance.operands, *instance.results)]
    if not has_fact(instance, "elementwise") or instance.regions or not all(types):
        return
    rests = [parts[1] for parts in types if parts]
    if any("#" in rest or "quant" in rest for rest in rests):
        return
    for shape in SHAPES:
        new = [tensor(shape, rest) for rest in rests]
        count = len(instance.operands)
        yield f"shape {shape}", instance.replaced(operands=tuple(new[:count]), results=tuple(new[count:]))


# Ops whose element types are tied to something that is not replaced: parts of complex numbers, words of bits, tuples.
TIED = re.compile(
    r"stablehlo\.(abs|bitcast_convert|complex|composite|fft|get_tuple_element|imag|real|tuple|while)|\w+\.bitcast_convert"
)


def element_types(instance: Instance, generator: random.Random) -> Iterator[Broken]:
    if TIED.fullmatch(instance.name):
        return
    types = (*instance.operands, *instance.results)
    if "f32" in str(instance.properties) or "f32" in instance.regions or any("#" in t or "!" in t for t in types):
        return
    for other in FLOATS:
        new = [re.sub(r"([x<])f32>$", rf"\1{other}>", type_) for type_ in types]
        if new != list(types):
            count = len(instance.operands)
            yield f"elements {other}", instance.replaced(operands=tuple(new[:count]), results=tuple(new[count:]))


def dimension_from_the_end(instance: Instance, generator: random.Random) -> Iterator[Broken]:
    """`dim` of TTIR and TTNN counts from either end."""
    parts = shape_and_rest(instance.operands[0]) if instance.operands else None
    if instance.name.partition(".")[0] not in ("ttir", "ttnn") or not parts:
        return
    rank = len(parts[0])
    for name, value in instance.properties:
        found = re.fullmatch(r"(-?\d+) : (s?i\d+)", value)
        # `unsqueeze` counts among the dimensions of its result.
        if (
            name == "dim"
            and instance.name.partition(".")[2] != "unsqueeze"
            and found
            and not -rank <= int(found[1]) < 0
            and int(found[1]) < rank
        ):
            yield f"{name} from the end", instance.with_property(name, f"{int(found[1]) - rank} : {found[2]}")


EDGES: dict[str, Breaker] = {
    edge.__name__: edge
    for edge in (
        notes_of_others, order_of_properties, default_attribute, shapes_of_elementwise, element_types,
        dimension_from_the_end,
    )
}  # fmt: skip


def valid(instances: list[Instance], seed: int | str) -> Iterator[tuple[str, str, Instance]]:
    """Returns (edge, what is special, op) for all changes of the ops, and the ops as they are."""
    generator = random.Random(f"{seed}")
    for instance in instances:
        yield "itself", "", instance
        for name, edge in EDGES.items():
            for what, changed in edge(instance, generator):
                yield name, what, changed
