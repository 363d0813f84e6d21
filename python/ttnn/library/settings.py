# SPDX-License-Identifier: Apache-2.0
"""Holds the settings of the package: `ttnn.CONFIG`, and how tensors are printed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from _ttmlir_runtime.runtime import Tensor

from .calls import register_post_operation_hook, register_pre_operation_hook, watch
from .records import Record, field

__all__ = [
    "CONFIG",
    "Config",
    "SetRootDir",
    "load_config_from_dictionary",
    "load_config_from_json_file",
    "manage_config",
    "register_post_operation_hook",
    "register_pre_operation_hook",
    "save_config_to_json_file",
    "set_printoptions",
]

_PATH = (str, Path)


class Config(Record):
    """Holds settings: `Config()`, or a copy of another one.

    `ttnn.CONFIG` is the one that counts. enable_comparison_mode compares each call with its golden function,
    comparison_mode_pcc is the least correlation, and comparison_mode_should_raise_exception makes a lower one an error
    rather than a line of the log. enable_logging writes each call to the logger "ttnn". The others are kept.
    """

    cache_path = field(_PATH, Path.home() / ".cache" / "ttnn")
    model_cache_path = field(_PATH, Path.home() / ".cache" / "ttnn" / "models")
    tmp_dir = field(_PATH, Path("/tmp/ttnn"))
    enable_model_cache = field(bool, False)
    enable_fast_runtime_mode = field(bool, True)
    throw_exception_on_fallback = field(bool, False)
    enable_logging = field(bool, False)
    enable_graph_report = field(bool, False)
    enable_graph_python_stack_traces = field(bool, False)
    enable_detailed_buffer_report = field(bool, False)
    enable_detailed_tensor_report = field(bool, False)
    enable_comparison_mode = field(bool, False)
    comparison_mode_should_raise_exception = field(bool, False)
    comparison_mode_pcc = field(float, 0.9999)
    root_report_path = field(_PATH, Path("generated/ttnn/reports"))
    report_name = field(str, None)
    strict_ccl_topology = field(bool, False)
    validate_program_args = field(bool, False)

    def __init__(self, arg: Config | None = None) -> None:
        if not isinstance(arg, Config | None):
            raise TypeError(f"ttnn.Config: {arg!r} of type {type(arg).__name__}; expected a ttnn.Config")
        super().__init__(**({} if arg is None else arg._values()))

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if self is globals().get("CONFIG"):
            watch()

    @property
    def report_path(self) -> Path | None:
        """Returns the folder of the report; None without a name."""
        return None if self.report_name is None else Path(self.root_report_path) / self.report_name

    def keys(self) -> list[str]:
        """Returns the names of the settings."""
        return list(self._fields)

    def apply_json_overrides(self, json_text: str, strict: bool = True, source: str = "") -> None:
        """Sets what an object of JSON holds.

        Args:
            strict: a name that is no setting is an error, and left out otherwise.
            source: where the text is from, for errors.
        Raises:
            ValueError: the text is no object of JSON, or has an unknown name.
            TypeError: a value is of another type.
        """
        where = f" of {source}" if source else ""
        try:
            found = json.loads(json_text)
        except json.JSONDecodeError as error:
            raise ValueError(f"ttnn.Config: text{where} is no JSON: {error}") from None
        if not isinstance(found, dict):
            raise ValueError(f"ttnn.Config: text{where} is {found!r}; expected an object of JSON")
        unknown = [name for name in found if name not in self._fields]
        if unknown and strict:
            raise ValueError(f"ttnn.Config: there is no setting {unknown[0]}{where}; expected {', '.join(self.keys())}")
        for name, value in found.items():
            if name not in unknown:
                setattr(self, name, value)

    def load_from_file(self, path: str | PathLike[str]) -> None:
        """Sets what a JSON file holds; errors are those of apply_json_overrides."""
        self.apply_json_overrides(Path(path).read_text(), source=str(path))

    def save_to_file(self, path: str | PathLike[str]) -> None:
        """Writes all settings as JSON."""
        text = {name: str(value) if isinstance(value, Path) else value for name, value in self._values().items()}
        Path(path).write_text(json.dumps(text, indent=4) + "\n")


CONFIG = Config()


def load_config_from_dictionary(config: Mapping[str, Any], from_file: bool = False, source: str | None = None) -> None:
    """Sets settings of `ttnn.CONFIG`.

    Args:
        from_file: a name that is no setting is left out.
        source: where the settings are from, for errors.
    Raises:
        ValueError: a name is no setting.
        TypeError: a value is of another type.
    """
    text = json.dumps({name: str(value) if isinstance(value, Path) else value for name, value in config.items()})
    CONFIG.apply_json_overrides(text, not from_file, source or "")


def load_config_from_json_file(json_path: str | PathLike[str]) -> None:
    """Sets what a JSON file holds in `ttnn.CONFIG`; names that are no settings are left out."""
    CONFIG.apply_json_overrides(Path(json_path).read_text(), False, str(json_path))


def save_config_to_json_file(json_path: str | PathLike[str]) -> None:
    """Writes the settings of `ttnn.CONFIG` as JSON."""
    CONFIG.save_to_file(json_path)


@contextmanager
def manage_config(name: str, value: Any) -> Iterator[None]:
    """Sets one setting of `ttnn.CONFIG` within a `with` block.

    Raises:
        AttributeError: there is no such setting.
        TypeError: the value is of another type.
    """
    if name not in Config._fields:
        raise AttributeError(f"ttnn.manage_config: there is no setting {name}; expected {', '.join(CONFIG.keys())}")
    before = getattr(CONFIG, name)
    setattr(CONFIG, name, value)
    try:
        yield
    finally:
        setattr(CONFIG, name, before)


def SetRootDir(root_dir: str) -> None:
    """Keeps the folder of the library's kernels, which the simulator does not read.

    Raises:
        TypeError: root_dir is no text.
    """
    if not isinstance(root_dir, str):
        raise TypeError(f"ttnn.SetRootDir: root_dir is {root_dir!r}; expected a path")


# Tensors in text.

_PROFILES = {"default": (1000, 3), "short": (1000, 2), "full": (None, 0), "empty": (0, 0)}
_native_text: Callable[[Tensor], str] = Tensor.__repr__


def set_printoptions(
    *, profile: str = "default", sci_mode: str | bool | None = "default", precision: int | None = 4
) -> None:
    """Says how tensors are printed.

    Args:
        profile: "default" (three numbers at either end of a dimension when a tensor has more than 1000), "short" (two),
            "full" (all) or "empty" (none).
        sci_mode: True and False print all numbers of floats with or without an exponent; "default" and None choose.
        precision: digits behind the point.
    Raises:
        ValueError: an argument is none of these.
    """
    if profile not in _PROFILES:
        raise ValueError(f"ttnn.set_printoptions: profile is {profile!r}; expected one of {', '.join(_PROFILES)}")
    if sci_mode not in (True, False, None, "default"):
        raise ValueError(f'ttnn.set_printoptions: sci_mode is {sci_mode!r}; expected True, False or "default"')
    digits = 4 if precision is None else precision
    if type(digits) is not int or not 0 <= digits <= 20:
        raise ValueError(f"ttnn.set_printoptions: precision is {precision!r}; expected 0 to 20")
    tensor: Any = Tensor
    if (profile, sci_mode in (None, "default"), digits) == ("default", True, 4):
        tensor.__repr__ = _native_text
    else:
        most, ends = _PROFILES[profile]
        tensor.__repr__ = lambda self: _text(self, most, ends, None if sci_mode == "default" else sci_mode, digits)


def _text(tensor: Tensor, most: int | None, ends: int, sci: Any, digits: int) -> str:
    shape = list(tensor.shape)
    short = most is not None and tensor.volume() > most
    shown: list[float] = []
    head = "ttnn.Tensor("
    values = "..." if most == 0 else _number_texts(tensor.to_list(), ends if short else 0, shown)
    large = [abs(each) for each in shown if each == each and abs(each) != float("inf") and each != 0]
    exponent = bool(sci) if sci is not None else bool(large) and (max(large) >= 1e8 or min(large) < 1e-4)
    form = f"{{:.{digits}{'e' if exponent else 'f'}}}"
    texts = [form.format(each) if isinstance(each, float) else str(each) for each in shown]
    width = max(map(len, texts), default=0)
    nested = _joined(values, iter([each.rjust(width) for each in texts]), len(head)) if most != 0 else "..."
    kinds = f"shape=Shape({shape}), dtype=DataType::{tensor.dtype.name}, layout=Layout::{tensor.layout.name}"
    return f"{head}{nested}, {kinds})"


def _number_texts(values: Any, ends: int, shown: list[float]) -> Any:
    """Returns nested lists of None for numbers, which `shown` gets, and of "..." for what is left out."""
    if not isinstance(values, list):
        shown.append(values)
        return None
    if not ends or len(values) <= 2 * ends:
        return [_number_texts(each, ends, shown) for each in values]
    first = [_number_texts(each, ends, shown) for each in values[:ends]]
    return [*first, "...", *(_number_texts(each, ends, shown) for each in values[-ends:])]


def _joined(values: Any, texts: Iterator[str], indent: int) -> str:
    if values is None:
        return next(texts)
    if values == "...":
        return "..."
    parts = [_joined(each, texts, indent + 1) for each in values]
    deep = any(isinstance(each, list) for each in values)
    return "[" + (",\n" + " " * (indent + 1) if deep else ", ").join(parts) + "]"
