# SPDX-License-Identifier: Apache-2.0
"""Options of pipelines: `CompileOptions`, which every entrance of the compiler takes.

Names, defaults, values and help come from the registered pipelines; nothing is repeated here.

    options = CompileOptions(target_format="bf16", mesh_shape=(1, 2))
    str(options)  # target-format=bf16 mesh-shape=1,2
    print(CompileOptions.help())
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ._mlir_libs._ttmlir import translate as _translate

DEFAULT_PIPELINE = "ttir-to-ttnn-backend-pipeline"
CLOSING = {"{": "}", "[": "]", "(": ")", "'": "'", '"': '"'}


class OptionError(ValueError):
    """An option that a pipeline does not have, or a value that the option does not take."""


@dataclass(frozen=True)
class Option:
    """An option of a pipeline, as the pipeline describes it.

    default: as text. kind: "boolean", "integer", "number", "text" or "choice"; of a list, that of its parts.
    expected: the values in words. choices: values of a choice, each with its help.
    """

    name: str
    help: str
    default: str
    kind: str
    is_list: bool
    expected: str
    choices: tuple[tuple[str, str], ...]

    @property
    def values(self) -> str:
        """Returns the values that the option takes, in words."""
        return f"{self.expected}, separated by commas" if self.is_list else self.expected

    def read(self, text: str) -> Any:
        """Returns the Python value of a text that the option takes."""
        if self.is_list:
            return tuple(self._part(part) for part in text.split(",")) if text else ()
        return self._part(text)

    def _part(self, text: str) -> Any:
        if self.kind == "boolean":
            return text == "true"
        return int(text) if self.kind == "integer" else float(text) if self.kind == "number" else text


@functools.cache
def _described() -> dict[str, Any]:
    return json.loads(_translate.describe_pipelines())


def pipelines() -> dict[str, str]:
    """Returns the help of each registered pipeline, by name."""
    return {name: row["help"] for name, row in _described().items()}


@functools.cache
def options_of(pipeline: str) -> dict[str, Option]:
    """Returns the options of a pipeline, by name.

    Raises:
        OptionError: no pipeline has this name; suggests the nearest name.
    """
    if pipeline not in _described():
        _, message = _translate.check_pipeline_option(pipeline, "", "")
        raise OptionError(message)
    rows = _described()[pipeline]["options"]
    return {row["name"]: Option(**{**row, "choices": tuple(map(tuple, row["choices"]))}) for row in rows}


def framework_options() -> CompileOptions:
    """Returns what the front ends of PyTorch and JAX set unless the user does."""
    return CompileOptions(_translate.framework_options())


def written(name: str, value: Any) -> str:
    """Returns a Python value as the text of an option's value.

    Raises:
        OptionError: a value of another type than options have; names the option.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | os.PathLike):
        return os.fspath(value)
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return ",".join(written(name, part) for part in value)
    try:
        return str(value.__index__())  # integers of NumPy
    except AttributeError:
        kind = type(value).__name__
        raise OptionError(f"option {name} is {value!r} of type {kind}; expected text, a number or a list") from None


def split(text: str) -> Iterator[tuple[str, str]]:
    """Yields names and values of options as pipelines write them: `name=value other={a b} flag`.

    Raises:
        OptionError: a brace or quotation mark that is not closed.
    """
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        start = position
        open_: list[str] = []
        while position < len(text) and (open_ or not text[position].isspace()):
            letter = text[position]
            if open_ and letter == open_[-1]:
                open_.pop()
            elif letter in CLOSING and not (open_ and open_[-1] in "'\""):
                open_.append(CLOSING[letter])
            position += 1
        if open_:
            raise OptionError(f"options {text!r}: expected {open_[-1]!r} at the end of {text[start:]!r}")
        name, _, value = text[start:position].partition("=")
        if len(value) > 1 and value[0] in "{'\"" and value[-1] == CLOSING[value[0]]:
            value = value[1:-1]
        yield name.removeprefix("--"), value


class CompileOptions(Mapping[str, str]):
    """Options of a pipeline that have been set: a mapping from names to values, as text.

    Later values of an option replace earlier ones. Options that are not set have the pipeline's defaults.
    `options.value(name)` is the Python value of an option, its default where it is not set.

    Args:
        given: text as for ttmlir-opt ("target-format=bf16 mesh-shape=1,2"), a list of such texts, a mapping, or
            options; None for none.
        pipeline: the pipeline that the options are for.
        keywords: options by name, with underscores for hyphens. None leaves an option unset.
    Raises:
        OptionError: an option that the pipeline does not have, or a value that it does not take; names the option, the
            value, and what was expected or which name is near.
        TypeError: `given` is of another type.
    """

    def __init__(self, given: Given = None, /, *, pipeline: str = DEFAULT_PIPELINE, **keywords: Any) -> None:
        self.pipeline = pipeline
        self._set: dict[str, str] = {}
        if isinstance(given, str):
            pairs: list[tuple[str, Any]] = list(split(given))
        elif isinstance(given, Mapping):
            pairs = list(given.items())
        elif given is None:
            pairs = []
        elif isinstance(given, Sequence) and all(isinstance(text, str) for text in given):
            pairs = [pair for text in given for pair in split(text)]
        else:
            raise TypeError(f"options is {given!r}; expected options of {pipeline} as text")
        options_of(pipeline)
        for name, value in [*pairs, *keywords.items()]:
            self._add(name, value)

    def _add(self, name: str, value: Any) -> None:
        if value is None:
            return
        if not isinstance(name, str):
            raise TypeError(f"the name of an option is {name!r}; expected text")
        name = name.replace("_", "-")
        taken, text = _translate.check_pipeline_option(self.pipeline, name, written(name, value))
        if not taken:
            raise OptionError(text)
        self._set[name] = text

    def __getitem__(self, name: str) -> str:
        return self._set[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._set)

    def __len__(self) -> int:
        return len(self._set)

    def __str__(self) -> str:
        """Returns the text for the pipeline: what has been set, in order."""
        return " ".join(f"{name}={braced(value)}" for name, value in self._set.items())

    def __repr__(self) -> str:
        return f"CompileOptions({str(self)!r}, pipeline={self.pipeline!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CompileOptions):
            return NotImplemented
        return self.pipeline == other.pipeline and self._set == other._set

    def __hash__(self) -> int:
        return hash((self.pipeline, frozenset(self._set.items())))

    def value(self, name: str) -> Any:
        """Returns the Python value of an option: bool, int, float, str, or a tuple of them.

        Raises:
            OptionError: the pipeline has no such option.
        """
        name = name.replace("_", "-")
        if name not in options_of(self.pipeline):
            raise OptionError(_translate.check_pipeline_option(self.pipeline, name, "")[1])
        option = options_of(self.pipeline)[name]
        return option.read(self._set.get(name, option.default))

    def with_(self, given: Given = None, /, **keywords: Any) -> CompileOptions:
        """Returns these options, then others, which replace those of the same names."""
        more = CompileOptions(given, pipeline=self.pipeline, **keywords)
        return CompileOptions({**self._set, **more}, pipeline=self.pipeline)

    def of(self, pipeline: str) -> CompileOptions:
        """Returns those of the options that another pipeline has, for that one."""
        known = options_of(pipeline)
        return CompileOptions({name: self[name] for name in self if name in known}, pipeline=pipeline)

    @staticmethod
    def help(pipeline: str = DEFAULT_PIPELINE) -> str:
        """Returns the options of a pipeline with their values, defaults and help, to read.

        Raises:
            OptionError: no pipeline has this name.
        """
        lines = [f"{pipeline}: {pipelines()[pipeline]}"] if options_of(pipeline) else [f"{pipeline} has no options"]
        for option in options_of(pipeline).values():
            lines.append(f"  {option.name}  ({option.values}; default: {option.default or 'none'})")
            lines.append(f"      {option.help}")
            lines += [f"      {value}: {text}" for value, text in option.choices if text]
        return "\n".join(lines)

    @staticmethod
    def markdown(pipeline: str = DEFAULT_PIPELINE) -> str:
        """Returns the options of a pipeline as a table of Markdown: that of docs/options.md.

        One that begins as the default pipeline does has only its further options in the table.
        """
        options, common = options_of(pipeline), options_of(DEFAULT_PIPELINE)
        lines = []
        if len(options) > len(common) and common.items() <= options.items():
            options = {name: option for name, option in options.items() if name not in common}
            lines += [f"All options of `{DEFAULT_PIPELINE}`, and:", ""]
        lines += ["| option | values | default | effect |", "|---|---|---|---|"]
        for option in options.values():
            cells = [
                f"`{option.name}`",
                option.values,
                f"`{option.default}`" if option.default else "none",
                option.help,
            ]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        return "\n".join(lines)


# What can stand for options: text, single texts, names with values, or options.
Given: TypeAlias = CompileOptions | str | Sequence[str] | Mapping[str, Any] | None


def braced(value: str) -> str:
    """Returns a value as it stands in a text of options."""
    return f"{{{value}}}" if not value or any(letter.isspace() for letter in value) else value


def tables() -> str:
    """Returns the tables of docs/options.md: a section for each pipeline, with its options."""
    sections: dict[str, list[str]] = {}
    for name in pipelines():
        if options_of(name):
            sections.setdefault(CompileOptions.markdown(name), []).append(name)
    titled = {names[0]: (names, table) for table, names in sections.items()}
    lines = []
    for first in sorted(titled, key=lambda name: (name != DEFAULT_PIPELINE, name)):
        names, table = titled[first]
        lines += [f"\n## {first}\n", "\n".join(f"`{name}`: {pipelines()[name]}." for name in names), "", table]
    return "\n".join(lines)


if __name__ == "__main__":
    print(tables())
