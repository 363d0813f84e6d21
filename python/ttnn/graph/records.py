# SPDX-License-Identifier: Apache-2.0
"""Keeps what programs say of their own functions in addition to a capture, and what captures have more."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from _ttmlir_runtime.runtime import Tensor


class ExitStackWithPop(ExitStack):
    """Leaves context managers one by one."""

    def pop(self) -> None:
        """Leaves the last one that was entered, without an exception.

        Raises:
            IndexError: there is none.
        """
        callbacks = self._exit_callbacks  # type: ignore[attr-defined]
        if not callbacks:
            raise IndexError("ExitStackWithPop.pop: no context manager was entered")
        _, leave = callbacks.pop()
        leave(None, None, None)


@dataclass
class _Recorded:
    """Holds records of functions, of comparisons of tensors, and what is recorded."""

    calls: list[dict[str, Any]] = field(default_factory=list)
    comparisons: dict[str, list[Any]] = field(default_factory=dict)
    arguments: bool = False
    stacks: bool = False
    buffers: bool = False


_recorded = _Recorded()


_Switch = tuple[Callable[[], None], Callable[[], None], Callable[[], bool]]


def _switch(attribute: str, name: str, singular: str, what: str) -> _Switch:
    """Returns the functions that turn on, turn off and tell what is recorded."""

    def enable() -> None:
        setattr(_recorded, attribute, True)

    def disable() -> None:
        setattr(_recorded, attribute, False)

    def is_enabled() -> bool:
        return bool(getattr(_recorded, attribute))

    for function, own, text in (
        (enable, f"enable_{name}", f"Records {what}"),
        (disable, f"disable_{name}", f"Records {what} no more"),
        (is_enabled, f"is_{singular}_enabled", f"Returns whether {what} are recorded"),
    ):
        function.__name__ = function.__qualname__ = own
        function.__doc__ = f"{text}."
    return enable, disable, is_enabled


enable_python_io_recording, disable_python_io_recording, is_python_io_recording_enabled = _switch(
    "arguments", "python_io_recording", "python_io_recording", "arguments of record_python_operation"
)
enable_python_stack_traces, disable_python_stack_traces, is_python_stack_trace_enabled = _switch(
    "stacks", "python_stack_traces", "python_stack_trace", "lines of the program that functions are called from"
)
enable_detailed_buffer_tracing, disable_detailed_buffer_tracing, is_detailed_buffer_tracing_enabled = _switch(
    "buffers", "detailed_buffer_tracing", "detailed_buffer_tracing", "banks and free bytes of memories"
)


def append_python_io_record(name: str) -> dict[str, Any] | None:
    """Begins a record of a function of the program's own, and returns it; None where these are not recorded."""
    if not _recorded.arguments:
        return None
    _recorded.calls.append({"name": name})
    return _recorded.calls[-1]


def record_python_operation(
    name: str, function_args: Sequence[Any], function_kwargs: Mapping[str, Any], *, record: dict[str, Any] | None = None
) -> dict[str, Any] | None:
    """Records the arguments of a function of the program's own: tensors by shape, type and number, others as text.

    Args:
        record: what append_python_io_record returned; without it, a record begins.
    Returns:
        The record; None where these are not recorded.
    """
    record = append_python_io_record(name) if record is None else record
    if record is None:
        return None
    given = {**{f"arg{at}": value for at, value in enumerate(function_args)}, **function_kwargs}
    record["arguments"] = [{"name": key, "value": _described(value)} for key, value in given.items()]
    record["input_tensor_ids"] = [each.get_global_id() for each in given.values() if isinstance(each, Tensor)]
    if _recorded.stacks:
        record["stack_trace"] = traceback.format_stack()[:-1]
    return record


def _described(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"Tensor({value.get_global_id()}, shape={list(value.shape)}, {value.dtype.name}, {value.layout.name})"
    return repr(value)


def record_python_operation_error(record: dict[str, Any] | None, error_type: str, error_message: str) -> None:
    """Says in a record which exception its function raised."""
    if record is not None:
        record["error"] = {"type": error_type, "message": error_message}


def _last(function: str) -> dict[str, Any]:
    if not _recorded.calls:
        raise RuntimeError(f"ttnn.graph.{function}: there is no record; call ttnn.graph.append_python_io_record first")
    return _recorded.calls[-1]


def store_output_tensor_ids(output_tensor_ids: Sequence[int]) -> None:
    """Says in the last record which numbers the results of its function have."""
    _last("store_output_tensor_ids")["output_tensor_ids"] = list(output_tensor_ids)


def store_captured_graph(captured_graph_json: Any) -> None:
    """Puts the capture of its function into the last record."""
    _last("store_captured_graph")["captured_graph"] = captured_graph_json


def record_tensor_comparison_data(
    *,
    local_tensor_comparison_records: Sequence[Any] | None = None,
    global_tensor_comparison_records: Sequence[Any] | None = None,
    tensors: Sequence[Any] | None = None,
) -> None:
    """Keeps how tensors compare with those of golden functions, for end_graph_capture_to_file."""
    given = {
        "local_tensor_comparison_records": local_tensor_comparison_records,
        "global_tensor_comparison_records": global_tensor_comparison_records,
        "tensors": tensors,
    }
    for name, values in given.items():
        if values:
            _recorded.comparisons.setdefault(name, []).extend(values)


def has_comparison_records() -> bool:
    """Returns whether record_tensor_comparison_data has kept comparisons."""
    return any(name != "tensors" for name in _recorded.comparisons)


def reset_comparison_records_data() -> None:
    """Forgets what record_tensor_comparison_data has kept."""
    _recorded.comparisons.clear()


def begin() -> None:
    """Forgets the records of functions, and records from now on."""
    _recorded.calls.clear()
    enable_python_io_recording()


def kept() -> dict[str, Any]:
    """Returns what a report has of the program's own records."""
    calls = {"python_io": list(_recorded.calls)} if _recorded.calls else {}
    comparisons = {"comparisons": dict(_recorded.comparisons)} if _recorded.comparisons else {}
    return calls | comparisons
