# SPDX-License-Identifier: Apache-2.0
"""Devices: the common part of CPUs and Tenstorrent devices, and the queues of their inputs.

Who waits at a queue is woken by a failure or a shutdown.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from .capture.trace import Trace
from .errors import PyBudaError, ShapeError
from .module import API, Module, PyTorchModule
from .placement import Result
from .tensor import Tensor, to_torch


class Stopped(Exception):
    """The pipeline is shut down while a caller waits for inputs."""


def elsewhere(process: int) -> PyBudaError:
    """Returns the error of a process that was forked from the one with the pipeline: nothing here would run."""
    return PyBudaError(
        f"the pipeline runs in process {process}, which process {os.getpid()} was forked from; push, run and read "
        "there, and exchange tensors with it by queues of multiprocessing (output_queue=)"
    )


class InputQueue:
    """Tuples of tensors for a device.

    process: that of the pipeline that takes them, once there is one.
    """

    def __init__(self, capacity: int = 0) -> None:
        self._items: deque[Any] = deque()
        self._changed = threading.Condition()
        self._stopped = False
        self.process: int | None = None

    def put(self, item: Any) -> None:
        if self.process not in (None, os.getpid()):
            raise elsewhere(self.process or 0)
        with self._changed:
            self._items.append(item)
            self._changed.notify_all()

    def get(self, wait: bool = True) -> Any:
        """Returns the oldest item.

        Raises:
            Stopped: there is none, and no more will come (or `wait` is False).
        """
        with self._changed:
            while not self._items:
                if self._stopped or not wait:
                    raise Stopped
                self._changed.wait()
            return self._items.popleft()

    def peek(self) -> Any | None:
        with self._changed:
            return self._items[0] if self._items else None

    def __len__(self) -> int:
        return len(self._items)

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def restart(self) -> None:
        with self._changed:
            self._stopped = False

    def clear(self) -> None:
        with self._changed:
            self._items.clear()


# Devices in the order in which they were made: the pipeline.
_devices: list[Device] = []


def devices() -> list[Device]:
    return _devices


class Device:
    """One stage of the pipeline: modules that run one after another, and the queues of their inputs."""

    def __init__(self, name: str, mp_context: Any = None) -> None:
        if any(device.name == name for device in _devices):
            raise PyBudaError(f"there is a device named {name!r} already; expected a name of its own")
        self.name: str = name
        self.mp_context = mp_context
        self.modules: list[Module] = []
        self.loss_module: Module | None = None
        self.inputs, self.targets = InputQueue(), InputQueue()
        self.commands: deque[Any] = deque()
        self.shapes: list[torch.Size] | None = None  # of inputs, once it is compiled
        self.target_shapes: list[torch.Size] | None = None
        self.training = False
        self.placement: Result | None = None  # of a Tenstorrent device, once it is compiled
        self._pending: deque[Any] = deque()  # what the backward pass of each forward pass needs
        _devices.append(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__} {self.name!r}"

    #
    # Placement
    #

    def place_module(self, module: Module | Sequence[Module]) -> None:
        """Places modules, which run one after another.

        Raises:
            TypeError: something that is no module of PyBuda.
            PyBudaError: a module that is placed already.
        """
        given: list[Any] = list(module) if isinstance(module, list | tuple) else [module]
        for one in given:
            self._check_module(one, "place_module")
            if one._device is not None:
                raise PyBudaError(f"module {one.name!r} is placed on device {one._device.name!r} already")
            one._device = self
            self.modules.append(one)
        self.shapes = None

    def _check_module(self, module: Any, where: str) -> None:
        if not isinstance(module, Module):
            raise TypeError(
                f"{where} on device {self.name!r}: {type(module).__name__} is no module of PyBuda; a torch.nn.Module "
                "goes into a pybuda.PyTorchModule"
            )

    def place_loss_module(self, module: Module) -> None:
        """Places the module that computes the loss, on the last device."""
        self._check_module(module, "place_loss_module")
        module._device = self
        self.loss_module = module
        self.shapes = None

    def remove_loss_module(self) -> None:
        if self.loss_module is not None:
            self.loss_module._device = None
        self.loss_module = None
        self.shapes = None

    def remove_modules(self) -> None:
        """Removes all modules that were placed."""
        for module in self.modules:
            module._device = None
        self.modules = []
        self.remove_loss_module()

    #
    # Inputs
    #

    def push_to_inputs(self, *tensors: Any) -> None:
        """Queues one set of inputs: tensors, a tuple of them, or a dictionary by the names of forward's parameters."""
        self.inputs.put(self.checked_inputs(tensors))

    def push_to_target_inputs(self, *tensors: Any) -> None:
        """Queues one set of targets."""
        given = self._flat(tensors, "a target")
        self._check_shapes(given, self.target_shapes, "target")
        self.targets.put(given)

    @staticmethod
    def typed(given: Sequence[torch.Tensor], dtypes: Sequence[torch.dtype]) -> list[torch.Tensor]:
        """Returns tensors of the types that the device was compiled for."""
        return [x.to(dtype) for x, dtype in zip(given, dtypes, strict=True)]

    def checked_inputs(self, tensors: Sequence[Any]) -> list[torch.Tensor]:
        """Returns inputs as tensors of PyTorch.

        Raises:
            ShapeError: other shapes than the device was compiled for.
        """
        if len(tensors) == 1 and isinstance(tensors[0], Mapping):
            if not self.modules:
                raise PyBudaError(f"device {self.name!r} has no module: inputs by name have no order; place one first")
            tensors = self.modules[0].ordered(tensors[0])
        elif self.modules:
            self.modules[0].settle(None)
        given = self._flat(tensors, "an input")
        self._check_shapes(given, self.shapes, "input")
        return given

    def checked_samples(self, samples: Any) -> list[torch.Tensor]:
        """Returns inputs that are given to compile for: any shapes."""
        self.shapes = None
        for module in self.modules[:1]:
            module.forget_names()
        return self.checked_inputs((samples,))

    def _flat(self, tensors: Sequence[Any], what: str) -> list[torch.Tensor]:
        if len(tensors) == 1 and isinstance(tensors[0], tuple | list):
            tensors = tensors[0]
        if not tensors:
            raise PyBudaError(f"nothing is pushed to device {self.name!r}; expected {what} at least")
        return [to_torch(x, f"{what} of device {self.name!r}").detach() for x in tensors]

    def _check_shapes(self, given: Sequence[torch.Tensor], expected: Sequence[torch.Size] | None, kind: str) -> None:
        if expected is not None and [x.shape for x in given] != list(expected):
            raise ShapeError(
                f"device {self.name!r} gets {kind}s {[list(x.shape) for x in given]}; it is compiled for "
                f"{[list(x) for x in expected]}"
            )

    def get_first_inputs(self, peek: bool = False) -> Any:
        """Returns the first inputs that were pushed, or None; without `peek` they are taken."""
        return self.inputs.peek() if peek or not len(self.inputs) else self.inputs.get()

    def get_first_targets(self) -> Any:
        """Returns the first targets that were pushed, or None."""
        return self.targets.peek()

    #
    # Running, by the pipeline
    #

    def compile(
        self, inputs: Sequence[torch.Tensor], targets: Sequence[torch.Tensor], training: bool
    ) -> list[torch.Tensor]:
        """Prepares the modules for inputs of these shapes, and returns outputs of the shapes that they will have."""
        if not self.modules:
            raise PyBudaError(f"device {self.name!r} has no module; place one (place_module) before it runs")
        self.training = training
        self.target_shapes = [x.shape for x in targets] if self.loss_module is not None and targets else None
        outputs = self._compile(inputs, targets)
        self.shapes = [x.shape for x in inputs]
        return outputs

    def _compile(self, inputs: Sequence[torch.Tensor], targets: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        raise NotImplementedError

    def step_forward(self, inputs: Sequence[torch.Tensor], targets: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Runs one set of inputs through the modules; in training, the values for the backward pass are kept."""
        raise NotImplementedError

    def step_backward(self, gradients: Sequence[torch.Tensor | None]) -> list[torch.Tensor]:
        """Returns gradients of the inputs of the oldest forward pass whose backward pass has not run yet."""
        raise NotImplementedError

    def needs_targets(self) -> bool:
        return self.training and self.loss_module is not None

    def oldest(self) -> Any:
        if not self._pending:
            raise PyBudaError(f"device {self.name!r} has no forward pass left to go back through; run_forward first")
        return self._pending.popleft()

    def zero_grad(self) -> None:
        raise NotImplementedError

    def step_optimizer(self) -> None:
        raise NotImplementedError

    def step_scheduler(self) -> None:
        raise NotImplementedError

    def parameters(self) -> dict[str, torch.Tensor]:
        """Returns the trained parameters, by name."""
        pairs = zip(self.prefixes(), self.modules, strict=True)
        return {prefix + name: value for prefix, module in pairs for name, value in module.state().items()}

    def prefixes(self) -> list[str]:
        """Returns what names of parameters begin with, for each module: nothing where there is one, else its name and,
        where one before has the same, its number."""
        if len(self.modules) == 1:
            return [""]
        found: list[str] = []
        for number, module in enumerate(self.modules):
            prefix = f"{module.name}."
            found.append(prefix if prefix not in found else f"{module.name}_{number}.")
        return found

    def trained(self) -> dict[str, torch.Tensor]:
        return {name: x for name, x in self.parameters().items() if x.requires_grad}

    def gradients(self) -> dict[str, torch.Tensor]:
        raise NotImplementedError

    def get_parameter_checkpoint(self) -> dict[str, Tensor]:
        """Copies of the parameters."""
        return {name: Tensor(value.detach().clone(), name) for name, value in self.parameters().items()}

    def get_parameter_gradients(self) -> dict[str, Tensor]:
        """Copies of the gradients that were accumulated."""
        return {name: Tensor(value.detach().clone(), name) for name, value in self.gradients().items()}

    def update_parameters(self, values: Mapping[str, Any]) -> None:
        """Sets new values, by the names of a checkpoint.

        Raises:
            PyBudaError: a name that no parameter has. ShapeError: another shape.
        """
        known = self.parameters()
        for name, value in values.items():
            if name not in known:
                raise PyBudaError(
                    f"device {self.name!r} has no parameter {name!r}; it has {', '.join(known) or 'none'}"
                )
            given = to_torch(value, f"parameter {name!r}")
            if given.shape != known[name].shape:
                raise ShapeError(
                    f"parameter {name!r} of device {self.name!r} has shape {list(known[name].shape)}; given: "
                    f"{list(given.shape)}"
                )
        with torch.no_grad():
            for name, value in values.items():
                known[name].copy_(to_torch(value, name))

    #
    # Commands one by one
    #

    def push_to_command_queue(self, cmd: Callable[[Device], Any]) -> None:
        """Queues a command: a function of the device, which `run_next_command` calls."""
        self.commands.append(cmd)

    def get_next_command(self, command_queue: Any) -> Any:
        """Returns the next command of a queue, or None."""
        if isinstance(command_queue, deque):
            return command_queue.popleft() if command_queue else None
        return command_queue.get()

    def run_next_command(self, cmd: Callable[[Device], Any] | None) -> bool:
        """Runs a command; True when there was none."""
        if cmd is None:
            return True
        self._response = cmd(self)
        return False

    def get_command_queue_response(self) -> Any:
        """Returns the result of the last command."""
        return getattr(self, "_response", None)

    def run(self, output_dir: str) -> None:
        """Runs the commands that are queued. `output_dir` has no effect: nothing is written."""
        while not self.run_next_command(self.get_next_command(self.commands)):
            pass

    def forward(self, loop_count: int) -> None:
        """Runs the pipeline of which this device is a part forward over this many inputs."""
        API["run_forward"](loop_count)

    def backward(self, loop_count: int, zero_grad: bool) -> None:
        """Runs the pipeline, which this device is a part of, backward."""
        API["run_backward"](loop_count, zero_grad)

    def generate(self, loop_count: int, write_index: int) -> None:
        """Runs forward. Caches are inputs and outputs of modules here: `write_index` has no effect."""
        self.forward(loop_count)

    def dc_transfer(self, direction: str) -> None:
        """Waits until what devices send each other has arrived."""
        if direction not in ("forward_input", "forward_output", "backward_input", "backward_output"):
            raise PyBudaError(
                f"dc_transfer: direction is {direction!r}; expected forward_ or backward_input or _output"
            )
        self.sync()

    def dc_transfer_thread(self, direction: str, direction_queue: Any) -> None:
        """Transfers in each direction that the queue requests, until it returns None."""
        while direction_queue.get() is not None:
            self.dc_transfer(direction)

    def sync(self) -> None:
        """Waits until the commands that were given have run."""
        API["sync"]()

    def shutdown_device(self) -> None:
        """Empties the queues."""
        self.inputs.clear()
        self.targets.clear()
        self._pending.clear()

    def compile_for(self, training: bool, microbatch_size: int = 0, microbatch_count: int = 1) -> None:
        """Records for what the device is compiled next. Sizes of micro-batches follow from the inputs."""
        if training is not self.training:
            self.shapes = None
        self.training = training

    def cpueval_backward(self, bw_inputs: Sequence[torch.Tensor], parameters: Mapping[str, torch.Tensor]) -> Any:
        """Returns gradients of inputs and of parameters, after `cpueval_forward` with `save_for_backward`.

        Raises:
            PyBudaError: there was no such call.
        """
        saved = getattr(self, "_evaluated", None)
        if saved is None:
            raise PyBudaError(f"cpueval_backward of device {self.name!r} before cpueval_forward with save_for_backward")
        inputs, state, outputs = saved
        tracked = [x for x in inputs if x.requires_grad]
        found = torch.autograd.grad(outputs, tracked + list(state.values()), list(bw_inputs), allow_unused=True)
        return list(found[: len(tracked)]), dict(zip(state, found[len(tracked) :], strict=True))

    def evaluate(
        self, inputs: Sequence[Any], parameters: Mapping[str, Any], save_for_backward: bool, targets: Sequence[Any] = ()
    ) -> list[torch.Tensor]:
        """Returns the modules with these parameters: `cpueval_forward`."""
        state = {n: to_torch(x, n).detach().clone() for n, x in {**self.parameters(), **parameters}.items()}
        trained = {n: x.requires_grad_() for n, x in state.items() if x.dtype.is_floating_point}
        given = [to_torch(x, "an input").detach().clone() for x in inputs]
        if save_for_backward:
            given = [x.requires_grad_() if x.dtype.is_floating_point else x for x in given]
        outputs = self._evaluate(state, given, [to_torch(x, "a target") for x in targets])
        if save_for_backward:
            self._evaluated = given, trained, outputs
        return outputs if save_for_backward else [x.detach() for x in outputs]

    def _evaluate(
        self, state: Mapping[str, torch.Tensor], inputs: Sequence[torch.Tensor], targets: Sequence[torch.Tensor]
    ) -> list[torch.Tensor]:
        raise NotImplementedError

    def split_state(self, state: Mapping[str, torch.Tensor]) -> list[dict[str, torch.Tensor]]:
        """Returns the part of each module, by the names that it has there."""
        if len(self.modules) == 1:
            return [dict(state)]
        pairs = zip(self.prefixes(), self.modules, strict=True)
        return [{name: state[prefix + name] for name in module.state()} for prefix, module in pairs]


# Losses whose targets may be classes.
BY_CLASS = (torch.nn.CrossEntropyLoss, torch.nn.NLLLoss)


def loss_arguments(module: Module, outputs: Sequence[Any], targets: Sequence[Any]) -> list[Any]:
    """Returns the arguments of a loss: outputs and targets, or outputs alone if its forward takes no more."""
    if isinstance(module, PyTorchModule) and isinstance(module.module, BY_CLASS):
        # Targets that do not have the outputs' shape are classes, whatever type they come in.
        targets = [x if x.shape == y.shape else x.long() for x, y in zip(targets, outputs, strict=False)]
    taken = [*outputs, *targets]
    try:
        module._parameters_of_forward().bind(*taken)
    except TypeError:
        module._parameters_of_forward().bind(*outputs)
        return list(outputs)
    return taken


def through(
    modules: Sequence[Module], states: Sequence[Mapping[str, torch.Tensor]], inputs: Sequence[Any], trace: Trace
) -> list[Any]:
    """Returns inputs through modules, one after another."""
    values = list(inputs)
    for module, state in zip(modules, states, strict=True):
        values = module.compute(state, values, trace)
        trace.between += values
    return values


class CompilingDevice(Device):
    """A device that compiles its modules for inputs that it is given."""

    def compile_for(  # type: ignore[override]
        self,
        inputs: Sequence[Any],
        compiler_cfg: Any,
        targets: Sequence[Any] = [],
        microbatch_size: int = 0,
        microbatch_count: int = 1,
        verify_cfg: Any = None,
    ) -> tuple[Tensor, ...]:
        """Compiles the modules for inputs like these (for training with a microbatch_size).

        Returns:
            Outputs of the shapes and types that the modules give for them.
        """
        given = self._flat([inputs], "an input")
        expected = self._flat([targets], "a target") if targets else []
        return tuple(Tensor(x) for x in self.compile(given, expected, microbatch_size > 0))
