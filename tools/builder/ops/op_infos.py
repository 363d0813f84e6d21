"""What the op classes say that mlir-tblgen generates: operands, attributes and results, read from the Python source.

Needs no torch.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

from ttmlir import ir


def dialect_module(name: str) -> ModuleType | None:
    """The Python module of a dialect, or None when this installation has none."""
    try:
        return importlib.import_module(f"ttmlir.dialects.{name}")
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("ttmlir.dialects"):
            return None
        raise


@dataclass(frozen=True)
class Operand:
    name: str
    optional: bool = False
    variadic: bool = False


@dataclass(frozen=True)
class Attribute:
    """`kind` is the ODS record of the constraint ("I32Attr"), or "anonymous_12" when it is an expression."""

    name: str
    kind: str
    optional: bool


@dataclass(frozen=True)
class OpInfo:
    """What the generated class of an op says about it."""

    cls: type
    name: str
    operands: tuple[Operand, ...]
    attributes: tuple[Attribute, ...]
    results: tuple[str, ...]
    infers: bool  # result types need not be given
    like_operand: bool  # results have the type of the first operand
    segmented: bool  # operands are passed group by group

    @property
    def dialect(self) -> str:
        return self.name.partition(".")[0]

    def attribute(self, name: str) -> Attribute | None:
        return next((a for a in self.attributes if a.name == name), None)


CLASS = re.compile(r"^class (\w+)\(_ods_ir\.OpView\):\n(.*?)(?=^(?:@|class |def )|\Z)", re.M | re.S)
INIT = re.compile(r"  def __init__\(self, (.*?)\):\n(.*?)(?=^  @|^  def |\Z)", re.M | re.S)
OPERAND = re.compile(
    r"^ +(?:if (?P<optional>\w+) is not None: )?operands\."
    r"(?:append\((?P<one>\w+)\)|(?:append|extend)\(_get_op_results_or_values\((?P<many>\w+)\)\))",
    re.M,
)
ATTRIBUTE = re.compile(
    r'^ +(?P<if>if (?:\w+ is not None|bool\(\w+\)): )?attributes\["(?P<name>\w+)"\] = '
    r"(?:_ods_ir\.(?P<unit>UnitAttr)|.*?AttrBuilder\.contains\('(?P<kind>\w+)'\))",
    re.M | re.S,
)
RESULT = re.compile(r"^  def (\w+)\(self\)[^\n]*:\n(?:(?!^  def ).)*?self\.operation\.results", re.M | re.S)


def op_infos(module: ModuleType) -> Iterator[OpInfo]:
    """The ops of a dialect module ("ttmlir.dialects.ttir"), from the file that was generated for it."""
    generated = {c.__module__ for c in vars(module).values() if isinstance(c, type) and issubclass(c, ir.OpView)}
    for name in sorted(generated & sys.modules.keys()):
        source = inspect.getsource(sys.modules[name])
        for class_name, body in CLASS.findall(source):
            cls = getattr(module, class_name, None)
            init = INIT.search(body)
            if cls is not None and init is not None:
                made = re.search(rf"-> ([^\n]*):\n  (?:return |op = ){class_name}\(", source)
                yield _op_info(cls, body, *init.groups(), has_results=made is not None and "OpResult" in made[1])


def _op_info(cls: type, body: str, parameters: str, init: str, has_results: bool) -> OpInfo:
    segments = cls._ODS_OPERAND_SEGMENTS
    operands = []
    for i, found in enumerate(OPERAND.finditer(init)):
        size = segments[i] if segments else -1 if found["many"] else 0 if found["optional"] else 1
        operands.append(Operand(found["one"] or found["many"], size == 0, size == -1))
    attributes = [
        Attribute(found["name"], found["kind"] or found["unit"], bool(found["if"]))
        for found in ATTRIBUTE.finditer(init)
    ]
    return OpInfo(
        cls,
        cls.OPERATION_NAME,
        tuple(operands),
        tuple(attributes),
        tuple(RESULT.findall(body)) or (("result",) if has_results else ()),  # StableHLO leaves some without a name
        "results=None" in parameters,
        "results = [operands[0].type]" in init,
        segments is not None,
    )
