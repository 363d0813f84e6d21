# SPDX-License-Identifier: Apache-2.0
"""The pipeline: devices one after another, and the thread that runs the API's commands."""

from __future__ import annotations

import os
import queue
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ..capture.trace import Formats
from ..config import _get_global_compiler_config
from ..device import Device, InputQueue, Stopped, elsewhere
from ..errors import OptionError, PyBudaError
from ..placement import check_names
from ..tensor import Tensor


class ResultQueue(queue.Queue):
    """A queue of results. After a failed run, `get` returns the existing results and then raises the failure."""

    def __init__(self) -> None:
        super().__init__()
        self._failure: BaseException | None = None
        self._process = os.getpid()

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        if os.getpid() != self._process:
            raise elsewhere(self._process)
        return super().get(block, timeout)

    def __reduce__(self) -> Any:
        raise PyBudaError(
            "a queue that PyBuda has made is of one process; give output_queue=, a queue of multiprocessing, to read "
            "results in another"
        )

    def fail(self, failure: BaseException) -> None:
        with self.mutex:
            self._failure = failure
            self.not_empty.notify_all()

    def _qsize(self) -> int:
        return len(self.queue) or (1 if self._failure is not None else 0)

    def _get(self) -> Any:
        if not self.queue and self._failure is not None:
            raise PyBudaError(f"the run has failed: {self._failure}") from self._failure
        return super()._get()


def wrapped(values: Sequence[torch.Tensor]) -> tuple[Tensor, ...]:
    return tuple(Tensor(x.detach()) for x in values)


class Pipeline:
    """Compiled devices and where their results go.

    results: outputs, in inference. checkpoints, losses: of training. intermediates: of the ops that were requested.
    sequential: commands run in the caller's thread, and only on inputs that were pushed.
    """

    def __init__(
        self,
        devices: Sequence[Device],
        training: bool,
        results: Any = None,
        checkpoints: Any = None,
        forward_queues: Sequence[Any] = (),
        backward_queues: Sequence[Any] = (),
        sequential: bool = False,
    ) -> None:
        self.devices, self.training, self.sequential = list(devices), training, sequential
        self.results = results if results is not None else ResultQueue()
        self.checkpoints = checkpoints if checkpoints is not None else ResultQueue()
        self.losses: Any = None
        self.intermediates = ResultQueue()
        self.forward_queues, self.backward_queues = list(forward_queues), list(backward_queues)
        self.error: BaseException | None = None
        self.endless = False  # the last forward run has no end
        self._commands: queue.Queue[Callable[[], None] | None] = queue.Queue()
        self._cancelled = threading.Event()
        self._thread: threading.Thread | None = None
        self._undelivered: list[tuple[Any, Any]] = []  # what a queue of the user had no room for when a run was ended
        self.process = os.getpid()
        for device in self.devices:
            device.inputs.process = device.targets.process = self.process

    def compile(self, inputs: Sequence[torch.Tensor], targets: Sequence[torch.Tensor]) -> None:
        """Prepares each device for the outputs of the one before it."""
        values = list(inputs)
        for device in self.devices:
            if device.loss_module is not None and device is not self.devices[-1]:
                raise PyBudaError(
                    f"device {device.name!r} has a loss module and is not the last one, {self.devices[-1].name!r} is"
                )
        if self.training and self.devices[-1].loss_module is None:
            raise PyBudaError(
                f"training needs a loss module on the last device, {self.devices[-1].name!r}; place one "
                "(place_loss_module)"
            )
        for device in self.devices:
            values = device.compile(values, targets if device is self.devices[-1] else (), self.training)
        self._check_nops()
        self._check_rules()
        placements = [x.placement for x in self.devices if x.placement is not None]
        if placements:
            check_names(placements, _get_global_compiler_config())

    def _check_nops(self) -> None:
        """Refuses nops between ops that no device has.

        Raises:
            PyBudaError: names the nop, and the ops that there are.
        """
        used = {number for device in self.devices for number in getattr(device, "used_nops", ())}
        for number, (source, readers, _) in enumerate(_get_global_compiler_config().buffering_nops):
            if number not in used:
                ops = [name for device in self.devices for name in getattr(device, "op_names", ())]
                raise PyBudaError(
                    f"insert_nop({source!r}, {readers}): none of these ops reads {source!r}; ops with names: "
                    f"{', '.join(ops) or 'none'}"
                )

    def _check_rules(self) -> None:
        """Warns of calls of `configure_mixed_precision` that nothing fits.

        Raises:
            OptionError: a call has a format for an operand that none of its ops has.
        """
        formats = [x for x in (getattr(device, "_formats", None) for device in self.devices) if isinstance(x, Formats)]
        for rule in _get_global_compiler_config().amp_properties:
            if formats and all(rule in x.unused() for x in formats):
                warnings.warn(f"{rule} has no effect: no op, parameter or input of the devices fits", stacklevel=2)
            count, name = max((x.most_operands(rule) for x in formats), default=(0, ""))
            for number in sorted(x.number for x in rule.input_df if x.number is not None):
                if count and number >= count:
                    raise OptionError(
                        f"{rule}: input_df has operand {number}; op {name!r} has {count}, and no op that fits has more"
                    )

    #
    # Commands
    #

    def submit(self, command: Callable[[], None]) -> None:
        """Runs a command, after those before it.

        Raises:
            PyBudaError: one of those has failed.
        """
        self.check()
        if self.sequential:
            try:
                command()
            except Exception as error:
                self._fail(error)
                raise
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="pybuda", daemon=True)
            self._thread.start()
        self._commands.put(command)

    def _run(self) -> None:
        while True:
            command = self._commands.get()
            try:
                if command is None:
                    return
                if self.error is None:
                    command()
            except Stopped:
                pass
            except Exception as error:
                self._fail(error)
            finally:
                self._commands.task_done()

    def _fail(self, error: BaseException) -> None:
        self.error = error
        for results in (self.results, self.checkpoints, self.losses, self.intermediates):
            if isinstance(results, ResultQueue):
                results.fail(error)

    def _check_process(self) -> None:
        if os.getpid() != self.process:
            raise elsewhere(self.process)

    def check(self) -> None:
        """Raises PyBudaError if a command has failed, or this is another process than that of the pipeline."""
        self._check_process()
        if self.error is not None:
            raise PyBudaError(f"the run has failed: {self.error}") from self.error

    def sync(self) -> None:
        """Waits until all commands have run."""
        self._check_process()
        if threading.current_thread() is not self._thread:
            self._commands.join()
        self.check()

    def cancel(self) -> None:
        """Ends a forward run that has no end."""
        self._cancelled.set()
        for device in self.devices:
            device.inputs.stop()
        self._commands.join()
        for device in self.devices:
            device.inputs.restart()
        self._cancelled.clear()

    def stop(self) -> None:
        """Ends the thread. Unread inputs stay; in a process that was forked, nothing does."""
        if os.getpid() != self.process:
            for device in self.devices:
                device.inputs, device.targets = InputQueue(), InputQueue()
            return
        self._cancelled.set()
        for device in self.devices:
            device.inputs.stop()
            device.targets.stop()
        if self._thread is not None:
            self._commands.put(None)
            self._thread.join()
        self._thread = None
        for device in self.devices:
            for one in (device.inputs, device.targets):
                one.restart()
                one.process = None

    #
    # What commands do
    #

    def _put(self, results: Any, values: Any) -> None:
        """Puts into a queue. One of the user's may be full: the run waits for room, and the next one if it is ended."""
        if isinstance(results, ResultQueue) or not hasattr(results, "full"):
            results.put(values)
            return
        while True:
            try:
                results.put(values, timeout=0.1)
                return
            except queue.Full:
                if self._cancelled.is_set():
                    self._undelivered.append((results, values))
                    return

    def forward(self, count: int) -> None:
        """Runs this many inputs through all devices; 0: until the run is cancelled. Sequential: the pushed inputs."""
        done = 0
        kept, self._undelivered = self._undelivered, []
        for results, values in kept:
            self._put(results, values)
        while (count == 0 or done < count) and not self._cancelled.is_set():
            if self.sequential and not len(self.devices[0].inputs):
                return
            self.forward_one()
            done += 1

    def forward_one(self) -> None:
        wait = not self.sequential
        values = self.devices[0].inputs.get(wait)
        for number, device in enumerate(self.devices):
            targets = self._targets(device, wait)
            values = device.step_forward(values, targets)
            if number < len(self.devices) - 1 and number < len(self.forward_queues):
                self._put(self.forward_queues[number], wrapped(values))
            if saved := getattr(device, "intermediates", []):
                self._put(self.intermediates, wrapped(saved))
        if not self.training:
            self._put(self.results, wrapped(values))
        elif self.losses is not None:
            self._put(self.losses, wrapped(values))

    def _targets(self, device: Device, wait: bool) -> Sequence[torch.Tensor]:
        if not device.needs_targets():
            return ()
        try:
            return device.targets.get(wait)
        except Stopped:
            if wait:
                raise
            raise PyBudaError(
                f"device {device.name!r} has a loss module and no targets; push_to_target_inputs"
            ) from None

    def backward(self, count: int, zero_grad: bool) -> None:
        if not self.training:
            raise PyBudaError("run_backward in a pipeline for inference; expected initialize_pipeline(training=True)")
        if zero_grad:
            for device in self.devices:
                device.zero_grad()
        for _ in range(max(count, 1)):
            self.backward_one()

    def backward_one(self) -> None:
        gradients: list[torch.Tensor] = []
        for number in reversed(range(len(self.devices))):
            gradients = self.devices[number].step_backward(gradients)
            if 0 < number <= len(self.backward_queues):
                self._put(self.backward_queues[number - 1], wrapped(gradients))

    def optimize(self, checkpoint: bool) -> None:
        for device in self.devices:
            device.step_optimizer()
        if checkpoint:
            self._put(self.checkpoints, self.checkpoint())

    def schedule(self) -> None:
        for device in self.devices:
            device.step_scheduler()

    def checkpoint(self) -> list[dict[str, Tensor]]:
        return [device.get_parameter_checkpoint() for device in self.devices]

    def train(self, epochs: int, steps: int, accumulation: int, microbatches: int, interval: int) -> None:
        """Runs a whole training; the schedulers are stepped after each epoch."""
        taken = 0
        for _ in range(epochs):
            for _ in range(steps):
                for part in range(accumulation):
                    for _ in range(microbatches):
                        self.forward_one()
                    self.backward(microbatches, zero_grad=part == 0)
                taken += 1
                self.optimize(checkpoint=interval > 0 and taken % interval == 0)
            self.schedule()
        self._put(self.checkpoints, self.checkpoint())

    def update(self, devices: Sequence[Device], parameters: Sequence[Mapping[str, Any]]) -> None:
        for device, values in zip(devices, parameters, strict=True):
            device.update_parameters(values)
