# SPDX-License-Identifier: Apache-2.0
"""Execution of the debug dialect: breakpoints, memory snapshots, prints and dumps."""

from __future__ import annotations

import cmd
import code
import io
import json
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from golden import Comparison, GoldenMapTensor, compare
from golden.optional import torch
from ttmlir.files import write_whole

from builder.base.errors import TTBuilderRuntimeException

from .device_tensors import create_tensor, fetched, runtime
from .memory_log import MemoryLog, location_of

LOG = logging.getLogger("builder.debug")


@dataclass(frozen=True)
class Breakpoint:
    """A program that stopped at a breakpoint, as a callback or the prompt sees it.

    program: name of the program; index: place of the breakpoint among its ops; location: where the source has it.
    op, op_location: the op that computed the value, as MLIR prints it, or the argument of the program that it is.
    tensors: the value, by device when each has its own; golden: what it should be, None when it is not known.
    inputs: operands of `op` as far as they are still alive, first device. device: the runtime's mesh device.
    write: puts other values, by device, in the place of the value.
    """

    program: str
    index: int
    location: str
    op: str
    op_location: str
    tensors: Sequence[torch.Tensor]
    golden: GoldenMapTensor | None
    inputs: Sequence[torch.Tensor]
    device: Any
    write: Callable[[Sequence[torch.Tensor]], None] = field(repr=False, compare=False, default=lambda values: None)

    def replace(self, value: torch.Tensor | Sequence[torch.Tensor]) -> None:
        """Gives later ops another value: one for all devices, or one for each."""
        values = [value] * len(self.tensors) if isinstance(value, torch.Tensor) else list(value)
        if len(values) != len(self.tensors):
            raise ValueError(f"{len(values)} values for a value on {len(self.tensors)} devices")
        for new, old in zip(values, self.tensors, strict=True):
            if new.shape != old.shape:
                raise ValueError(f"a value of shape {list(new.shape)} in place of one of {list(old.shape)}")
        self.write([new.to(old.dtype) for new, old in zip(values, self.tensors, strict=True)])

    @property
    def tensor(self) -> torch.Tensor:
        return self.tensors[0]

    def comparison(self, device: int = 0) -> Comparison | None:
        """Returns the value on a device compared with its golden; None without a golden."""
        if self.golden is None:
            return None
        found, golden = self.tensors[device], self.golden.shard_at(device)
        if golden.dtype == torch.bool:
            golden, found = golden.to(torch.int32), (found != 0).to(torch.int32)
        return compare(golden, found.reshape(golden.shape) if found.numel() == golden.numel() else found)

    def describe(self) -> str:
        """Returns one line: where, what, and how near the golden, on the device where it is farthest."""
        tensor = self.tensor
        text = f"breakpoint at {self.location} in {self.program!r}: {list(tensor.shape)} {tensor.dtype}"
        found = {device: c for device in range(len(self.tensors)) if (c := self.comparison(device)) is not None}
        if not found:
            return f"{text}, no golden"
        device, worst = min(found.items(), key=lambda each: each[1].pcc)
        where = f" on device {device}" if len(found) > 1 else ""
        return f"{text}, PCC {worst.pcc:.6f}, largest error {worst.max_abs:.4g}{where}"


class StopRun(RuntimeError):
    """The user ended the run at a breakpoint."""


# What a callback returns is None, or NEXT to be called again after the next op that computes something.
NEXT = "next"
BreakpointCallback = Callable[[Breakpoint], str | None]
_callback: BreakpointCallback | None = None


def set_breakpoint_callback(callback: BreakpointCallback | None) -> BreakpointCallback | None:
    """Sets the function for breakpoints of runs without one, or None for the prompt. Returns the previous one."""
    global _callback
    if callback is not None and not callable(callback):
        raise TypeError(
            f"set_breakpoint_callback: callback is a {type(callback).__name__}, expected a function of a Breakpoint"
        )
    former, _callback = _callback, callback
    return former


# ---------------------------------------------------------------------- the prompt


class Prompt(cmd.Cmd):
    """A prompt at a breakpoint. Commands are its do_ methods; what is none of them is Python, with the names below."""

    prompt = "(breakpoint) "

    def __init__(self, stop: Breakpoint, **streams: Any):
        super().__init__(**streams)
        self.stop = stop
        self.intro = f"{stop.describe()}\n  {stop.op}\nhelp lists the commands; anything else is Python."
        golden = stop.golden.shard_at(0) if stop.golden is not None else None
        names = {"stop": stop, "tensor": stop.tensor, "tensors": stop.tensors, "golden": golden,
                 "inputs": stop.inputs, "device": stop.device, "torch": torch}  # fmt: skip
        self.console = code.InteractiveConsole(names)
        self.answer: str | None = None

    def say(self, value: Any) -> None:
        self.stdout.write(f"{value}\n")

    def do_where(self, _: str) -> None:
        """Returns program, op and location."""
        self.say(f"program {self.stop.program!r}, op {self.stop.index}, {self.stop.location}")
        self.say(f"the value is of {self.stop.op_location}:\n  {self.stop.op}")

    def do_tensor(self, device: str) -> None:
        """Shows the value: tensor [device]."""
        self.say(self.stop.tensors[self.number(device)])

    def do_golden(self, device: str) -> None:
        """Shows what the golden is, golden [device]: what the value should be."""
        golden = self.stop.golden
        self.say("no golden" if golden is None else golden.shard_at(self.number(device)))

    def do_diff(self, device: str) -> None:
        """Shows, diff [device]: how far the value is from its golden."""
        c = self.stop.comparison(self.number(device))
        if c is None:
            self.say("no golden")
        else:
            self.say(c.problem or f"PCC {c.pcc:.6f}, largest error {c.max_abs:.4g} at {list(c.worst)}, "
                                  f"largest relative error {c.max_rel:.4g}")  # fmt: skip

    def do_inputs(self, _: str) -> None:
        """Returns operands of the op that computed the value, as far as they are alive."""
        for i, tensor in enumerate(self.stop.inputs):
            self.say(f"{i}: {list(tensor.shape)} {tensor.dtype}\n{tensor}")

    def do_memory(self, _: str) -> None:
        """Shows the resident buffers in the memories of the device."""
        self.say(self.stop.device.memory_report())

    def do_continue(self, _: str) -> bool:
        """Continues to the next breakpoint."""
        return True

    def do_next(self, _: str) -> bool:
        """Stops again after the next op that computes something."""
        self.answer = NEXT
        return True

    def do_quit(self, _: str) -> bool:
        """Ends the run."""
        raise StopRun(f"stopped at {self.stop.location}")

    do_c, do_n, do_q, do_w = do_continue, do_next, do_quit, do_where

    def do_EOF(self, _: str) -> bool:
        self.say("")
        return True

    def number(self, device: str) -> int:
        count = len(self.stop.tensors)
        if not device:
            return 0
        if not device.isdigit() or int(device) >= count:
            self.say(f"no device {device}: the value is on {count}; device 0 is shown")
            return 0
        return int(device)

    def emptyline(self) -> bool:
        return False

    def default(self, line: str) -> None:
        self.console.push(line)


def interact(stop: Breakpoint) -> str | None:
    """Returns a prompt where there is a terminal; elsewhere a line in the log."""
    if sys.stdin is None or not (sys.stdin.isatty() and sys.stdout.isatty()):
        LOG.warning("%s; there is no terminal and no callback: going on", stop.describe())
        return None
    prompt = Prompt(stop)
    try:
        prompt.cmdloop()
        return prompt.answer
    except KeyboardInterrupt:
        raise StopRun(f"stopped at {stop.location}") from None


# ---------------------------------------------------------------------- the ops


@dataclass
class Debugger:
    """Acts at the debug ops of one program.

    goldens: by number of the op, see builder.goldens.module_goldens.
    """

    index: int
    device: Any
    goldens: Mapping[str, Any] | None
    callback: BreakpointCallback | None = None
    memory: MemoryLog | None = None
    _producers: dict[int, tuple[Any, int]] = field(default_factory=dict)  # value -> the op it is a result of, and which
    _attributes: list[Mapping[str, Any]] = field(default_factory=list)
    _stepping: bool = False

    @classmethod
    def of(
        cls,
        executable: Any,
        index: int,
        device: Any,
        goldens: Mapping[str, Any] | None,
        callback: BreakpointCallback | None = None,
    ) -> Debugger | None:
        """Returns one for a program that has ops at which something happens, else None."""
        debugger = cls(index, device, goldens, callback)
        names = set()

        def look(op: Any) -> None:
            names.add(op.name)
            for i, ref in enumerate(runtime.get_op_output_refs(op)):
                debugger._producers[ref.value] = (op, i)

        runtime.walk_program(executable, index, look)
        if not names & ACTIONS.keys():
            return None
        debugger._attributes = [op["attributes"] for op in json.loads(executable.get_program_ops_as_json(index))]
        if "debug.memory_snapshot" in names:
            debugger.memory = MemoryLog(device)
        return debugger

    def after(self, executable: Any, program: Any, op: Any) -> None:
        if self.memory is not None:
            self.memory.add(program, op)
        # Programs that this one calls are made by the compiler, of constants: no breakpoint was requested in them.
        if runtime.get_program_index(program) != self.index:
            return
        action = ACTIONS.get(op.name)
        if action is not None:
            action(self, executable, program, op, self._attributes[op.index])
        elif self._stepping and runtime.get_op_source(op) and runtime.get_op_output_refs(op):
            self.stop(executable, program, op, runtime.get_op_output_refs(op)[0])

    def producer(self, ref: Any, marks: bool = True) -> tuple[Any, int] | None:
        """Returns the source op of a value, looking through ops that the compiler added; None for an argument.

        Without `marks`, those of the debug dialect are looked through, too.
        """
        found = self._producers.get(ref.value)
        while found is not None and (
            not runtime.get_op_source(found[0]) or (not marks and found[0].name.startswith("debug."))
        ):
            inputs = runtime.get_op_input_refs(found[0])
            found = self._producers.get(inputs[0].value) if inputs else None
        return found

    def golden_of(self, ref: Any) -> GoldenMapTensor | None:
        produced = self.producer(ref)
        if produced is None or self.goldens is None:
            return None
        op, result = produced
        golden = self.goldens.get(runtime.get_op_source(op))
        return golden.results[result] if golden is not None and result < len(golden.results) else None

    def values(self, program: Any, ref: Any) -> list[torch.Tensor]:
        tensor = runtime.retrieve_tensor_from_pool(program, ref, True)
        return fetched(tensor) if tensor is not None else []

    def breakpoint(self, executable: Any, program: Any, op: Any, attributes: Mapping[str, Any]) -> None:
        self.stop(executable, program, op, runtime.get_op_input_refs(op)[0])

    def stop(self, executable: Any, program: Any, op: Any, ref: Any) -> None:
        """Shows a value to the callback or the prompt."""
        produced = self.producer(ref, marks=False)
        inputs = runtime.get_op_input_refs(produced[0]) if produced is not None else []
        rows, columns = self.device.get_mesh_shape()

        def write(values: Sequence[torch.Tensor]) -> None:
            tensor = create_tensor(dict(enumerate(values)), (rows, columns))
            runtime.update_tensor_in_pool(program, ref, tensor)

        stop = Breakpoint(
            executable.get_program_name(runtime.get_program_index(program)),
            op.index,
            location_of(op),
            runtime.get_op_debug_str(produced[0])
            if produced is not None
            else f"value {ref.value}, an argument of the program",
            location_of(produced[0]) if produced is not None else "",
            self.values(program, ref),
            self.golden_of(ref),
            [v[0] for v in (self.values(program, i) for i in inputs) if v],
            self.device,
            write,
        )
        callback = self.callback or _callback or interact
        self._stepping = callback(stop) == NEXT

    def memory_snapshot(self, executable: Any, program: Any, op: Any, attributes: Mapping[str, Any]) -> None:
        assert self.memory is not None
        rows, columns = self.device.get_mesh_shape()
        ref = runtime.get_op_input_refs(op)[0]
        produced = self.producer(ref, marks=False)
        text = json.dumps({
            "program": executable.get_program_name(runtime.get_program_index(program)),
            "location": location_of(op),
            "device": {"id": self.device.id, "arch": self.device.arch, "mesh_shape": [rows, columns]},
            "value": {"shape": list(ref.get_shape()), "dtype": str(ref.get_dtype()).rpartition(".")[2],
                      "op": produced[0].name if produced is not None else None},
            "memories": self.memory.snapshot(),
            "operations": self.memory.operations[:-1],
        }, indent=1)  # fmt: skip
        write_file(op, attributes["file_path"], f"{text}\n".encode())

    def print(self, executable: Any, program: Any, op: Any, attributes: Mapping[str, Any]) -> None:
        for device, value in enumerate(values := self.values(program, runtime.get_op_input_refs(op)[0])):
            where = f" (device {device})" if len(values) > 1 else ""
            print(f"{attributes['message']}{where}: {list(value.shape)} {value.dtype}\n{value}", flush=True)

    def dump(self, executable: Any, program: Any, op: Any, attributes: Mapping[str, Any]) -> None:
        """Saves one tensor, or a list of those of each device; torch.load reads it."""
        values = self.values(program, runtime.get_op_input_refs(op)[0])
        buffer = io.BytesIO()
        torch.save(values[0] if len(values) == 1 else values, buffer)
        write_file(op, attributes["file_path"], buffer.getvalue())


ACTIONS: dict[str, Callable[..., None]] = {
    "debug.breakpoint": Debugger.breakpoint,
    "debug.memory_snapshot": Debugger.memory_snapshot,
    "debug.print": Debugger.print,
    "debug.dump": Debugger.dump,
}


def write_file(op: Any, path: str, data: bytes) -> None:
    """Writes a file relative to the working directory; folders are made."""
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
    except OSError as error:
        reason = f"{op.name} at {location_of(op)}: cannot write {path}: {error.strerror or error}"
        raise TTBuilderRuntimeException(reason) from error
