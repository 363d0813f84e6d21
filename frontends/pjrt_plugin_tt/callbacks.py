# SPDX-License-Identifier: Apache-2.0
"""Functions of Python that programs call while they run: `jax.pure_callback`, `io_callback`, `jax.debug.print`.

A program has the call as `stablehlo.custom_call @tt.host_call`, with a name that this module finds the function by.
"""

from __future__ import annotations

import ctypes
import functools
import os
import signal
import threading
import traceback
import weakref
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
from jax._src import callback, checkify, debugging, distributed, dtypes
from jax._src.interpreters import mlir
from jax._src.lib.mlir.dialects import hlo
from jax._src.sharding_impls import SPMDAxisContext

# Of tt::DataType, as a program has them.
_DTYPES: dict[int, Any] = {
    0: np.float32,
    1: np.float16,
    2: ml_dtypes.bfloat16,
    9: np.uint32,
    10: np.uint16,
    11: np.uint8,
    12: np.int32,
    13: np.bool_,
}


class _Array(ctypes.Structure):
    _fields_ = (("dtype", ctypes.c_int32), ("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t))

    def values(self) -> np.ndarray:
        """Returns the memory itself, as a vector."""
        if self.dtype not in _DTYPES:
            raise TypeError(f"a value is held in data type {self.dtype} of the chip; a callback takes and gives others")
        dtype = np.dtype(_DTYPES[self.dtype])
        if not self.bytes:
            return np.empty(0, dtype)
        return np.frombuffer((ctypes.c_char * self.bytes).from_address(self.data), dtype)


_Fail = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p)
_Caller = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_char_p,
    ctypes.c_size_t,
    ctypes.POINTER(_Array),
    ctypes.c_size_t,
    ctypes.POINTER(_Array),
    _Fail,
    ctypes.c_void_p,
)


class _Interpreter(ctypes.Structure):
    """Functions of Python's C API, for signals that come while a program runs."""

    _fields_ = (
        *(
            (name, ctypes.c_void_p)
            for name in ("ensure", "release", "check_signals", "fetch", "restore", "add_call", "interrupt")
        ),
        ("main_thread", ctypes.c_ulong),
        ("handled_signal", ctypes.c_int),
    )

    @classmethod
    def of_process(cls) -> _Interpreter:
        state, errors = ("PyGILState_Ensure", "PyGILState_Release"), ("CheckSignals", "Fetch", "Restore")
        names = [*state, *(f"PyErr_{name}" for name in errors), "Py_AddPendingCall", "PyErr_SetInterrupt"]
        functions = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p) for name in names]
        handled = (number for number in (signal.SIGINT, signal.SIGTERM) if callable(signal.getsignal(number)))
        return cls(*functions, threading.main_thread().ident, next(handled, 0))


class _Function:
    """A callback of one program, which keeps it as long as it lives itself."""

    def __init__(self, function: Callable[..., Any], ins: Sequence[Any], outs: Sequence[Any]) -> None:
        self.function, self.ins, self.outs = function, ins, outs

    def call(self, ins: Sequence[_Array], outs: Sequence[_Array]) -> None:
        given = [_as_host(array.values(), aval) for array, aval in zip(ins, self.ins, strict=False)]
        results = self.function(*given)
        if len(results) != len(self.outs):
            raise RuntimeError(f"a callback gave {len(results)} results, expected {len(self.outs)}")
        for number, (array, aval, result) in enumerate(zip(outs, self.outs, results, strict=True)):
            value = np.asarray(dtypes.canonicalize_value(np.asarray(result)))
            if value.shape != aval.shape or value.dtype != aval.dtype:
                raise RuntimeError(
                    f"result {number} of a callback is {value.dtype}{list(value.shape)}, "
                    f"expected {aval.dtype}{list(aval.shape)}"
                )
            _give(value, array.values(), number)


def _as_host(values: np.ndarray, aval: Any) -> np.ndarray:
    """Returns values of the chip as JAX has them; the memory is the program's, so they are copied."""
    if np.issubdtype(aval.dtype, np.complexfloating):
        pairs = values.astype(np.float64 if aval.dtype == np.complex128 else np.float32).reshape(*aval.shape, 2)
        return np.ascontiguousarray(pairs).view(aval.dtype).reshape(aval.shape)
    return values.astype(aval.dtype).reshape(aval.shape)


def _give(value: np.ndarray, to: np.ndarray, number: int) -> None:
    if np.issubdtype(value.dtype, np.complexfloating):
        value = np.stack([value.real, value.imag], -1)
    flat = value.reshape(-1)
    if flat.dtype.itemsize == 8 and np.issubdtype(flat.dtype, np.integer) and flat.size:
        range_ = np.iinfo(to.dtype)
        if flat.min() < range_.min or flat.max() > range_.max:
            raise OverflowError(
                f"result {number} of a callback is {flat.dtype} and has values from {flat.min()} to {flat.max()}; "
                f"the chip holds 64-bit integers in 32 bits, {range_.min} to {range_.max}"
            )
    to[:] = flat.astype(to.dtype)


# By name. Programs, and what JAX knows of them, keep the functions alive.
_functions: weakref.WeakValueDictionary[str, _Function] = weakref.WeakValueDictionary()
_counts: Counter[Any] = Counter()
_library: Any = None
_STORED = "tt/callbacks"  # key of jax.distributed


@functools.cache
def _run() -> str:
    """Returns a text that all processes of this run have: a program of another run, from a cache, calls nothing."""
    state = distributed.global_state
    own = os.urandom(8).hex()
    if state.client is None or (state.num_processes or 1) == 1:
        return own
    if state.process_id == 0:
        state.client.key_value_set(_STORED, own)
    return str(state.client.blocking_key_value_get(_STORED, 60_000))


def _name(ctx: Any, function: _Function) -> str:
    """Names a callback. All processes of a program give it the same name, whatever programs of their own they have."""
    axes = ctx.module_context.axis_context
    chips = getattr(axes, "device_assignment", None)
    if chips is None and (mesh := getattr(axes, "mesh", None)) is not None:
        chips = getattr(mesh, "_flat_devices_tuple", mesh)
    text = str((chips, function.ins, function.outs))
    known = f"{getattr(function.function, '__name__', 'callback')}.{_run()}.{zlib.crc32(text.encode()):08x}"
    _counts[known] += 1
    # Such a call is made by one process, which gives its results to the others: see interpreter.cpp.
    return f"{known}.{_counts[known]}" + ("" if isinstance(axes, SPMDAxisContext) else ".whole")


@_Caller
def _call(name: bytes, in_count: int, ins: Any, out_count: int, outs: Any, fail: Any, to: int) -> int:
    try:
        function = _functions.get(name.decode())
        if function is None:
            raise RuntimeError(f"the function {name.decode()} is not there: the program was made by another process")
        function.call(ins[:in_count], outs[:out_count])
    except BaseException as error:  # it must not leave through C
        text = traceback.format_exc().encode()
        if not isinstance(error, Exception) and threading.current_thread() is threading.main_thread():
            # KeyboardInterrupt and the like end more than the program. The plugin takes the references.
            parts = [ctypes.py_object(part) for part in (type(error), error, error.__traceback__)]
            for part in parts:
                ctypes.pythonapi.Py_IncRef(part)
            _library.ttPjrtRaise(*parts)
        fail(text, len(text), to)
    else:
        fail(None, 0, to)
    return 1


def _is_for_each_chip(ctx: Any) -> bool:
    """Returns whether the call is in a function of one chip (shard_map over all axes, pmap), not of whole values."""
    axes = ctx.module_context.axis_context
    return isinstance(axes, SPMDAxisContext) and set(axes.manual_axes) == set(axes.mesh.axis_names)


def _emit(
    ctx: Any,
    callback: Callable[..., Any],
    token: Any,
    operands: Sequence[Any],
    operand_avals: Sequence[Any],
    result_avals: Sequence[Any],
    **_: Any,
) -> tuple[Sequence[Any], Any, Any]:
    """Replaces JAX's `emit_python_callback`. Programs run in order, so the token is passed on unchanged."""
    result = _Function(callback, list(operand_avals), list(result_avals))
    name = _name(ctx, result)
    _functions[name] = result
    ctx.module_context.add_keepalive(result)
    # Each chip calls, even if its operands are the same on all.
    own = [hlo.partition_id()] if _is_for_each_chip(ctx) else []
    call = mlir.custom_call(
        "tt.host_call",
        result_types=[mlir.aval_to_ir_type(ctx.module_context, aval) for aval in result_avals],
        operands=[*operands, *own],
        backend_config=name,
        has_side_effect=True,
        api_version=2,
    )
    return list(call.results), token, result


def register(platform: str, library: ctypes.CDLL) -> None:
    """Lets programs of the platform call functions of this process."""
    known = callback.emit_python_callback

    def emit_python_callback(ctx: Any, callback: Any, *arguments: Any, **parameters: Any) -> Any:
        emit = _emit if tuple(ctx.module_context.platforms) == (platform,) else known
        return emit(ctx, callback, *arguments, **parameters)

    callback.emit_python_callback = emit_python_callback
    for primitive, rule in (
        (debugging.debug_callback_p, debugging.debug_callback_lowering),
        (debugging.debug_print_p, debugging.debug_print_lowering_rule),
        (checkify.check_p, checkify.check_lowering_rule),
    ):
        mlir.register_lowering(primitive, rule, platform=platform)
    global _library
    _library = library
    library.ttPjrtSetHostFunction(_call)
    library.ttPjrtSetInterpreter(ctypes.byref(_Interpreter.of_process()))
