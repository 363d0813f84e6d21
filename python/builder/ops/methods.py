# SPDX-License-Identifier: Apache-2.0
"""Builder methods from the description of the ops, which says everything that a method needs.

Operands and attributes are those of ODS, the order and defaults of parameters those of `signatures` where it has a row;
attribute values are converted by the kind that ODS names. No op has a function here.
"""

from __future__ import annotations

import ast
import functools
import inspect
import keyword
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
from ttmlir import ir

from builder.base.builder_utils import TypeInfo, as_operand, element_type, is_tensor
from builder.base.errors import did_you_mean

from .attributes import check_held, convert
from .op_infos import Operand, OpInfo, op_infos
from .op_infos import dialect_module as dialect_module
from .signatures import EACH, METHOD_NAMES, SIGNATURES

# Attributes of ops that make tensors, by the op's bare name: numbers that become elements.
ELEMENTS = {"full": ("fill_value",), "pad": ("value",), "arange": ("start",)}
PLAIN = {"input", "operand", "lhs", "rhs", "a", "b", "first", "second", "third", "x"}
DEVICE = {"device", "mesh_device"}
ENCODING = ("layout", "buffer_type", "tensor_memory_layout", "grid_shape", "core_range_set")
REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True)
class Parameter:
    """role: operand, attribute, shape, dtype or encoding; field: which operand or attribute, or the result's name."""

    name: str
    role: str
    field: str
    default: Any = REQUIRED


def _parameter(info: OpInfo, name: str, field: str, default: Any) -> Parameter:
    operands = {o.name: o for o in info.operands}
    if field not in operands and (place := re.fullmatch(r"in(\d+)", field)) and int(place[1]) < len(info.operands):
        field = info.operands[int(place[1])].name
    if field in operands:
        return Parameter(name, "operand", field, default)
    if info.attribute(field):
        return Parameter(name, "attribute", field, default)
    if name in ("input", "operand", "tensor") and info.operands:
        return Parameter(name, "operand", info.operands[0].name, default)
    if name in ("shape", "output_shape", "dtype"):
        return Parameter(name, "dtype" if name == "dtype" else "shape", info.results[0], default)
    if name == "output":
        return Parameter(name, "like", info.results[0], default)
    result, _, what = name.rpartition("_")
    if result in info.results and what in ("shape", "type"):
        return Parameter(name, "shape" if what == "shape" else "dtype", result, default)
    if name in ENCODING:
        return Parameter(name, "encoding", name, default)
    raise ValueError(f"signatures: {info.name} has nothing for the parameter {name!r}")


def parameters_of(info: OpInfo) -> tuple[Parameter, ...]:
    """Returns the method's parameters: those of the row in SIGNATURES or by rule, then what the op has besides."""
    row = SIGNATURES.get(info.name)
    chosen: list[Parameter] = []
    if row is not None:
        parsed: Any = ast.parse(f"def f({row}): pass").body[0]
        arguments = parsed.args
        defaults = [REQUIRED] * (len(arguments.args) - len(arguments.defaults))
        defaults += [ast.literal_eval(d) for d in arguments.defaults]
        for argument, default in zip(arguments.args, defaults, strict=True):
            field = argument.annotation.id if argument.annotation is not None else argument.arg
            chosen.append(_parameter(info, argument.arg, field, default))
    seen = {p.field for p in chosen if p.role in ("operand", "attribute")}
    devices = [o for o in info.operands if o.name in DEVICE]
    for index, operand in enumerate(o for o in info.operands if o not in devices):
        if operand.name not in seen:
            name = operand.name if operand.name not in PLAIN else f"in{index}"
            free = operand.optional or row is not None
            chosen.append(Parameter(name, "operand", operand.name, None if free else REQUIRED))
    for attribute in info.attributes:
        if attribute.name not in seen:
            name = attribute.name + "_" * keyword.iskeyword(attribute.name)
            free = attribute.optional or attribute.name == "dtype" or row is not None
            chosen.append(Parameter(name, "attribute", attribute.name, None if free else REQUIRED))
    chosen += [Parameter(o.name, "operand", o.name, None) for o in devices if o.name not in seen]
    names = [p.name for p in chosen]
    if not info.infers and not {"shape", "output_shape"} & set(names) and info.results and len(info.results) == 1:
        chosen.append(Parameter("output_shape", "shape", info.results[0], None))
    return tuple(sorted(chosen, key=lambda p: p.default is not REQUIRED))


def is_unit_attrs(value: Any) -> bool:
    return value is None or (isinstance(value, (list, tuple)) and all(isinstance(name, str) for name in value))


def is_dtype(value: Any) -> bool:
    """Returns what says of which type elements are: torch's and numpy's, MLIR's, and the builder's."""
    kind = type(value)
    return isinstance(value, (ir.Type, np.dtype, TypeInfo)) or (
        issubclass(value, np.generic)
        if isinstance(value, type)
        else kind.__name__ == "dtype" and kind.__module__ == "torch"
    )


class Method:
    """A builder method for one op; binds its arguments, converts them and has the builder create the op."""

    # What every method takes besides the op's own parameters.
    COMMON: ClassVar[dict[str, Any]] = {
        "output_type": None,
        "unit_attrs": None,
        "loc": None,
        "sharding_attr": None,
        "result_types": None,
    }

    def __init__(self, info: OpInfo, name: str):
        self.info, self.name = info, name
        self.parameters = parameters_of(info)
        self.names = [p.name for p in self.parameters]
        # ODS names stand for the parameter that was given another one.
        self.aliases = {p.field: p.name for p in self.parameters if p.field not in self.names and p.role != "encoding"}
        self.has_dtype = info.attribute("dtype") is not None

    def signature(self) -> inspect.Signature:
        kinds = inspect.Parameter
        own = [kinds("self", kinds.POSITIONAL_OR_KEYWORD)]
        own += [kinds(p.name, kinds.POSITIONAL_OR_KEYWORD, default=p.default) for p in self.parameters]
        common = [n for n in self.COMMON if n not in ("result_types",) and n not in self.names]
        if self.info.dialect != "stablehlo":
            common.remove("sharding_attr")
        own += [kinds(name, kinds.KEYWORD_ONLY, default=None) for name in common]
        return inspect.Signature(own)

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Returns (value of each parameter, values of the common ones); TypeError when the call does not fit."""
        args, common = self._by_place(args)
        if len(args) > len(self.names):
            raise TypeError(f"{self.info.name}: takes at most {len(self.names)} arguments ({', '.join(self.names)}), "
                            f"{len(args)} were given")  # fmt: skip
        values = dict(zip(self.names, args, strict=False))
        for name, value in kwargs.items():
            own = name if name in self.names else self.aliases.get(name)
            if own is None and name in self.COMMON:
                common[name] = value
            elif own is None:
                hint = did_you_mean(name, [*self.names, *(n for n in self.COMMON if n != "result_types")])
                raise TypeError(f"{self.info.name} has no operand or attribute {name!r}{hint}")
            elif own in values:
                raise TypeError(f"{self.info.name}: {own!r} is given twice")
            else:
                values[own] = value
        missing = [p.name for p in self.parameters if p.default is REQUIRED and p.name not in values]
        if missing:
            raise TypeError(f"{self.info.name}: no value for {', '.join(missing)}; takes ({', '.join(self.names)})")
        for p in self.parameters:
            if p.name not in values:
                values[p.name] = p.default
        return values, common

    def _by_place(self, args: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The method's own arguments, and those of all methods that stand by place: a data type of the result where no
        data type of the op's own stands, with a location behind it, and unit attributes as the last."""
        own, common = list(args), {}
        for place, value in enumerate(own):
            if is_dtype(value) and not (place < len(self.parameters) and self._is_dtype(self.parameters[place])):
                common["output_type"] = own.pop(place)
                break
        count = len(self.names)
        if "output_type" in common and len(own) > count and isinstance(own[count], str):
            common["loc"] = own.pop(count)
        if len(own) == count + 1 and is_unit_attrs(own[-1]):
            common["unit_attrs"] = own.pop()
        return own, common

    def _is_dtype(self, parameter: Parameter) -> bool:
        if parameter.role == "attribute":
            found = self.info.attribute(parameter.field)
            return found is not None and "DataType" in found.kind
        return parameter.role == "dtype"

    def operand(self, parameter: str, spec: Operand, value: Any) -> Any:
        if value is None and spec.optional:
            return None
        if spec.variadic:
            items = [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]
            return [self.operand(f"{parameter}[{i}]", Operand(spec.name), v) for i, v in enumerate(items)]
        found = as_operand(value)
        if found is None:
            kind = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}".removeprefix("builtins.")
            hint = "; builder.constant(tensor) makes an operand of a tensor" if kind.startswith("torch.") else ""
            raise TypeError(
                f"{self.info.name}: {parameter} is a {kind}, expected an operand (an argument of the function or the "
                f"result of another op){hint}"
            )
        return found

    def __call__(self, builder: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        values, common = self.bind(args, kwargs)
        return self.create(builder, values, common)

    def create(self, builder: Any, values: dict[str, Any], common: dict[str, Any]) -> Any:
        info, context = self.info, builder.context
        attribute, like, number = EACH.get(info.name, ("", "", 0))
        if attribute and values[attribute] is None and hasattr(values[like], "__len__"):
            values[attribute] = [number] * len(values[like])
        fields = {p.field: (p.name, values[p.name]) for p in self.parameters if p.role in ("operand", "attribute")}
        operands = []
        for spec in info.operands:
            name, value = fields[spec.name]
            if value is None and spec.name in DEVICE and not spec.optional:
                value = builder.device_operand()
            operands.append(self.operand(name, spec, value))
        attributes = {}
        for requested in info.attributes:
            name, value = fields[requested.name]
            if value is not None:
                attributes[requested.name] = convert(info.name, requested.name, requested.kind, value, context)
        shapes: dict[str, Any] = {}
        elements: dict[str, Any] = {}
        encoding: dict[str, Any] = {}
        for p in self.parameters:
            if values[p.name] is None or p.role in ("operand", "attribute"):
                continue
            if p.role == "shape":
                sizes = values[p.name]
                if not isinstance(sizes, (list, tuple)) or not all(
                    isinstance(n, Integral) and not isinstance(n, bool) and 0 <= int(n) < 1 << 63 for n in sizes
                ):
                    raise ValueError(f"{info.name}: {p.name} is {sizes!r}; expected a list of sizes of at least 0")
            if p.role == "like":
                shapes[p.field] = values[p.name].type.shape
                elements[p.field] = values[p.name].type.element_type
            else:
                {"shape": shapes, "dtype": elements, "encoding": encoding}[p.role][p.field] = values[p.name]
        if info.results and common.get("output_type") is not None:
            elements[info.results[0]] = common["output_type"]
        self.check_elements(builder, values, operands, elements)
        return builder.create_op(
            info,
            operands
            if info.segmented
            else [v for o in operands for v in (o if isinstance(o, list) else [o]) if v is not None],
            attributes,
            shapes={info.results.index(r): list(s) for r, s in shapes.items()},
            elements={info.results.index(r): e for r, e in elements.items()},
            encoding=encoding,
            common=common,
        )

    def check_elements(
        self, builder: Any, values: dict[str, Any], operands: list[Any], elements: dict[str, Any]
    ) -> None:
        """Numbers that become elements of the result must be possible there; see ELEMENTS."""
        names = ELEMENTS.get(self.info.name.partition(".")[2], ())
        requested = elements.get(self.info.results[0]) if self.info.results else None
        if requested is None and operands and isinstance(operands[0], ir.Value) and is_tensor(operands[0].type):
            requested = ir.RankedTensorType(operands[0].type).element_type
        if not names or requested is None:
            return
        element = element_type(requested, builder.context)
        element = ir.RankedTensorType(element).element_type if is_tensor(element) else element
        for p in self.parameters:
            if p.role == "attribute" and p.field in names and values[p.name] is not None:
                check_held(self.info.name, p.name, values[p.name], element)


def described(function: Callable[..., Any], **attributes: Any) -> Callable[..., Any]:
    """Returns the function, with attributes."""
    vars(function).update(attributes)
    return function


def takes_common(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a method written by hand, whose **common are the keywords that every method takes."""
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    common = [n for n in Method.COMMON if n != "result_types" and n not in signature.parameters]

    @functools.wraps(function)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        known = [p.name for p in own] + common
        wrong = next((name for name in kwargs if name not in known), None)
        if wrong is not None:
            raise TypeError(f"{function.__name__} takes no {wrong!r}{did_you_mean(wrong, known[1:])}")
        try:
            signature.bind(self, *args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.dialects[0]}.{function.__name__}: {error}") from None
        return function(self, *args, **kwargs)

    keywords = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=None) for n in common]
    return described(call, __signature__=signature.replace(parameters=[*own, *keywords]))


def method(info: OpInfo, name: str) -> Callable[..., Any]:
    """Returns a function to put on a builder class, with the op's signature and documentation."""
    implementation = Method(info, name)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return implementation(self, args, kwargs)

    call.__name__ = name
    call.__doc__ = inspect.cleandoc(info.cls.__doc__) if info.cls.__doc__ else f"Add a `{info.name}` op."
    return described(call, __signature__=implementation.signature(), implementation=implementation)


def python_name(op: str) -> str:
    name = op.partition(".")[2].replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


@functools.cache
def methods_of(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """Returns functions by name of the method, for every op of a dialect: under the op's name and the one programs
    use."""
    found: dict[str, Callable[..., Any]] = {}
    infos = list(op_infos(module))
    for info in infos:
        name = METHOD_NAMES.get(info.name, python_name(info.name))
        found[name] = method(info, name)
    for info in infos:
        found.setdefault(python_name(info.name), found[METHOD_NAMES.get(info.name, python_name(info.name))])
    return found
