# SPDX-License-Identifier: Apache-2.0
"""Overrides of ops: the attributes that a configuration can set of one op, and what each of them takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any

from ..errors import OptionError

Values = dict[str, Any]
STREAM_DIRECTIONS = ("R", "C", "RZ", "CZ", "Z")


def is_number(value: Any, least: int) -> bool:
    """Returns whether a value is a whole number, `least` at least."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def number(value: Any, what: str, op_name: str, least: int = 1) -> int:
    """Returns a whole number.

    Raises:
        OptionError: it is something else, or below `least`.
    """
    if not is_number(value, least):
        raise OptionError(f"{what} of op {op_name!r} is {value!r}; expected {least} or more")
    return value


def two(value: Any, what: str, op_name: str) -> tuple[int, int]:
    """Returns rows and columns.

    Raises:
        OptionError: they are no two numbers, 1 at least.
    """
    if not isinstance(value, tuple | list) or len(value) != 2 or not all(is_number(x, 1) for x in value):
        raise OptionError(f"{what} of op {op_name!r} is {value!r}; expected (rows, columns), 1 at least")
    return value[0], value[1]


def direction(value: Any, op_name: str) -> str:
    """Returns a direction of streaming.

    Raises:
        OptionError: there is none of this name.
    """
    if not isinstance(value, str) or value.upper() not in STREAM_DIRECTIONS:
        raise OptionError(
            f"the streaming direction of op {op_name!r} is {value!r}; expected {', '.join(STREAM_DIRECTIONS)}"
        )
    return value.upper()


def buffers(value: Any, op_name: str) -> Values:
    """Returns multipliers of the buffers of operands, by operand.

    Raises:
        OptionError: they are no dictionary of numbers.
    """
    if not isinstance(value, Mapping):
        raise OptionError(f"the buffer multipliers of op {op_name!r} are {value!r}; expected {{operand: multiplier}}")
    return {
        f"input_buffer_{number(operand, 'the operand index', op_name, 0)}": number(
            multiplier, "the buffer multiplier", op_name
        )
        for operand, multiplier in value.items()
    }


# By attribute: the stored value for an op's name and a value.
ATTRIBUTES: dict[str, Callable[[str, Any], Values]] = {
    "grid_shape": lambda op, value: {"grid_shape": two(value, "the grid size", op)},
    "t_stream_shape": lambda op, value: {"t_stream_shape": two(value, "the streaming shape", op)},
    "t_stream_dir": lambda op, value: {"t_stream_dir": direction(value, op)},
    "u_kt": lambda op, value: {"u_kt": number(value, "u_kt", op)},
    "fracture_factor": lambda op, value: {"fracture_factor": number(value, "the fracture factor", op)},
    "force_dram_parameters": lambda op, value: {"force_dram_parameters": bool(value)},
    "input_buffer_multiplier": lambda op, value: buffers(value, op),
}


class FractureFactors(MutableMapping[str, int]):
    """Fracture factors by op: those that overrides have."""

    def __init__(self, overrides: dict[str, Values]) -> None:
        self.overrides = overrides

    def __getitem__(self, op_name: str) -> int:
        return self.overrides[op_name]["fracture_factor"]

    def __setitem__(self, op_name: str, factor: int) -> None:
        self.overrides.setdefault(op_name, {}).update(ATTRIBUTES["fracture_factor"](op_name, factor))

    def __delitem__(self, op_name: str) -> None:
        del self.overrides[op_name]["fracture_factor"]

    def __iter__(self) -> Iterator[str]:
        return (name for name, values in self.overrides.items() if "fracture_factor" in values)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class OpOverride:
    """The attributes that a configuration sets of one op: `ATTRIBUTES`. None stands for one that is not set.

    Raises:
        OptionError: an attribute is set to what its function refuses.
    """

    def __init__(self, **attributes: Any) -> None:
        self._bind("", {})
        for name, value in attributes.items():
            setattr(self, name, value)

    def _bind(self, op_name: str, values: Values) -> None:
        """Keeps the attributes in `values`, which a configuration holds."""
        object.__setattr__(self, "_op_name", op_name)
        object.__setattr__(self, "_values", values)

    def __getattr__(self, name: str) -> Any:
        if name not in ATTRIBUTES:
            raise AttributeError(f"OpOverride has no attribute {name!r}; known: {', '.join(ATTRIBUTES)}")
        if name == "input_buffer_multiplier":
            prefix = "input_buffer_"
            found = {int(k[len(prefix) :]): v for k, v in self._values.items() if k.startswith(prefix)}
            return found or None
        return self._values.get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in ATTRIBUTES:
            raise AttributeError(f"OpOverride has no attribute {name!r}; known: {', '.join(ATTRIBUTES)}")
        if name == "input_buffer_multiplier":
            for key in [k for k in self._values if k.startswith("input_buffer_")]:
                del self._values[key]
        else:
            self._values.pop(name, None)
        if value is not None:
            self._values.update(ATTRIBUTES[name](self._op_name, value))

    def attributes(self) -> Values:
        """Returns the attributes that are set."""
        found = {name: getattr(self, name) for name in ATTRIBUTES}
        return {name: value for name, value in found.items() if value is not None}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpOverride) and self.attributes() == other.attributes()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"OpOverride({', '.join(f'{name}={value!r}' for name, value in self.attributes().items())})"


class OpOverrides(MutableMapping[str, OpOverride]):
    """Overrides by op, as objects: a change of one changes the configuration."""

    def __init__(self, overrides: dict[str, Values]) -> None:
        self.overrides = overrides

    def __getitem__(self, op_name: str) -> OpOverride:
        override = OpOverride()
        override._bind(op_name, self.overrides[op_name])
        return override

    def __setitem__(self, op_name: str, override: OpOverride) -> None:
        if not isinstance(op_name, str) or not isinstance(override, OpOverride):
            raise OptionError(
                f"the override of op {op_name!r} is {override!r}; expected an OpOverride, by an op's name"
            )
        values: Values = {}
        for name, value in override.attributes().items():
            values.update(ATTRIBUTES[name](op_name, value))
        self.overrides[op_name] = values
        # Programs go on setting attributes of the object that they gave.
        override._bind(op_name, values)

    def __delitem__(self, op_name: str) -> None:
        del self.overrides[op_name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.overrides)

    def __len__(self) -> int:
        return len(self.overrides)
