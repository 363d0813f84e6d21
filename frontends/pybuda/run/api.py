# SPDX-License-Identifier: Apache-2.0
"""The run API: functions over the pipeline of the devices that were made."""

from __future__ import annotations

import atexit
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..cpudevice import CPUDevice
from ..device import Device, devices
from ..enums import SEQUENTIAL, DeviceMode
from ..errors import PyBudaError
from ..module import API, Module
from ..tensor import Tensor
from ..ttdevice import TTDevice, detect_available_devices
from .pipeline import Pipeline

__all__ = [
    "detect_available_devices", "error_raised", "get_intermediates_queue", "get_loss_queue", "get_parameter_checkpoint",
    "get_parameter_gradients", "initialize_pipeline", "reset", "run_backward", "run_forward", "run_generate",
    "run_inference", "run_optimizer", "run_schedulers", "run_training", "running", "shutdown", "sync",
    "update_device_parameters",
]  # fmt: skip

_pipeline: Pipeline | None = None
_automatic: TTDevice | None = None  # the device of a module that was run without a place


def running() -> Pipeline:
    """Returns the pipeline.

    Raises:
        PyBudaError: there is none yet.
    """
    if _pipeline is None:
        raise PyBudaError("there is no pipeline; call initialize_pipeline, run_inference or run_training first")
    return _pipeline


def _is_sequential(requested: bool) -> bool:
    in_caller = any(isinstance(device, TTDevice) and device.devtype in SEQUENTIAL for device in devices())
    return requested or in_caller or os.environ.get("PYBUDA_DEVMODE") == "1"


def _count(value: Any, name: str, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise PyBudaError(f"{name} is {value!r}; expected {least} or more")
    return value


def initialize_pipeline(
    training: bool,
    output_queue: Any = None,
    checkpoint_queue: Any = None,
    sample_inputs: Sequence[Any] | Mapping[str, Any] = (),
    sample_targets: Sequence[Any] = (),
    microbatch_count: int = 1,
    d2d_fwd_queues: Sequence[Any] = [],
    d2d_bwd_queues: Sequence[Any] = [],
    _sequential: bool = False,
    _verify_cfg: Any = None,
    _device_mode: DeviceMode = DeviceMode.CompileAndRun,
) -> Any:
    """Compiles the modules on all devices, in the order in which devices were made.

    Args:
        output_queue, checkpoint_queue: queues for results; made where they are not given.
        sample_inputs, sample_targets: say shapes and types; by default the first that were pushed do.
        d2d_fwd_queues: get what each device but the last gives to the next one.
        d2d_bwd_queues: get the gradients that each device but the first gives to the one before.
    Returns:
        The queue of outputs, in training that of checkpoints.
    Raises:
        PyBudaError: no device, a device without a module, no inputs, no loss module; a module that does not compile.
    """
    global _pipeline
    if not devices():
        raise PyBudaError("there are no devices; make a TTDevice and place a module on it")
    _count(microbatch_count, "microbatch_count", 1)
    first, last = devices()[0], devices()[-1]
    given: Any = sample_inputs
    is_given = given is not None and len(given) > 0
    samples = first.checked_samples(given) if is_given else first.inputs.peek()
    if samples is None:
        raise PyBudaError(
            f"no inputs were pushed to device {first.name!r}; push one set (push_to_inputs) or give sample_inputs: "
            "shapes and formats come from it"
        )
    targets = last._flat([sample_targets], "a target") if len(sample_targets) else last.targets.peek() or ()
    if _pipeline is not None:
        _pipeline.stop()
    pipeline = Pipeline(
        devices(), training, output_queue, checkpoint_queue, d2d_fwd_queues, d2d_bwd_queues, _is_sequential(_sequential)
    )
    pipeline.losses = output_queue if training else None
    pipeline.compile(samples, targets)
    _pipeline = pipeline
    return pipeline.checkpoints if training else pipeline.results


def _is_ready(training: bool) -> bool:
    if _pipeline is None or _pipeline.training is not training:
        return False
    return _pipeline.devices == devices() and all(device.shapes is not None for device in devices())


def _place(module: Module) -> Device:
    """Returns the device of a module that runs without a placement: a separate one."""
    global _automatic
    if module._device is not None:
        return devices()[0]
    if _automatic is not None and devices() == [_automatic]:
        shutdown()
        _automatic.remove_modules()
        _automatic.shapes = None
        _automatic.place_module(module)
        return _automatic
    if devices():
        raise PyBudaError(
            f"module {module.name!r} is run directly, and there are devices already: "
            f"{', '.join(device.name for device in devices())}; place it on one of them, or call pybuda_reset"
        )
    _automatic = TTDevice(f"{module.name}_device", module=module)
    return _automatic


def run_inference(
    module: Module | None = None,
    inputs: Sequence[Any] = [],
    input_count: int = 1,
    output_queue: Any = None,
    _sequential: bool = False,
    _perf_trace: bool = False,
    _verify_cfg: Any = None,
) -> Any:
    """Runs inference: compiles devices that are not compiled yet, and starts the run.

    Args:
        module: run on a device of its own; by default the modules that were placed.
        inputs: sets of inputs, pushed first: tuples, or dictionaries by the names of forward's parameters.
        input_count: sets of inputs to run; 0: until shutdown, or until the next call. `inputs` are all run.
        output_queue: gets a tuple of tensors for each set of inputs; made where it is not given.
    Returns:
        The queue of outputs.
    """
    _count(input_count, "input_count", 0)
    if module is not None:
        if not isinstance(module, Module):
            raise TypeError(
                f"run_inference of {type(module).__name__}; expected a module of PyBuda, as pybuda.PyTorchModule is"
            )
        _place(module)
    if not devices():
        raise PyBudaError("there are no devices; make a TTDevice and place a module on it, or give run_inference one")
    if _pipeline is not None and _pipeline.devices == devices():
        _pipeline.check()
    for one in inputs:
        devices()[0].push_to_inputs(*(one if isinstance(one, tuple | list) else (one,)))
    if not _is_ready(training=False):
        initialize_pipeline(False, output_queue, _sequential=_sequential)
    elif output_queue is not None:
        running().results = output_queue
    pipeline = running()
    count = max(len(inputs), input_count) if input_count else 0
    if not pipeline.sequential and pipeline.endless:
        pipeline.cancel()
    pipeline.endless = count == 0
    pipeline.submit(lambda: pipeline.forward(count))
    return pipeline.results


def run_training(
    epochs: int = 1,
    steps: int = 1,
    accumulation_steps: int = 1,
    microbatch_count: int = 1,
    checkpoint_queue: Any = None,
    loss_queue: Any = None,
    checkpoint_interval: int = 0,
    _sequential: bool = False,
    _perf_trace: bool = False,
    _verify_cfg: Any = None,
) -> Any:
    """Trains the modules that were placed: for each step forward and backward runs, then the optimizers.

    Args:
        epochs: after each of them schedulers are stepped. steps: of each epoch.
        accumulation_steps, microbatch_count: sets of inputs of a step, whose gradients are added up.
        checkpoint_queue: gets the parameters after each `checkpoint_interval` steps, and at the end.
        loss_queue: gets the loss of each set of inputs.
    Returns:
        The queue of checkpoints.
    """
    _count(epochs, "epochs", 1)
    _count(steps, "steps", 1)
    _count(accumulation_steps, "accumulation_steps", 1)
    _count(microbatch_count, "microbatch_count", 1)
    _count(checkpoint_interval, "checkpoint_interval", 0)
    if not _is_ready(training=True):
        initialize_pipeline(True, None, checkpoint_queue, _sequential=_sequential)
    elif checkpoint_queue is not None:
        running().checkpoints = checkpoint_queue
    pipeline = running()
    if loss_queue is not None:
        pipeline.losses = loss_queue
    pipeline.submit(lambda: pipeline.train(epochs, steps, accumulation_steps, microbatch_count, checkpoint_interval))
    return pipeline.checkpoints


def run_forward(input_count: int = 1, _sequential: bool = False) -> None:
    """Runs this many sets of inputs through the pipeline; 0: until shutdown, or until the next run_inference."""
    count = _count(input_count, "input_count", 0)
    pipeline = running()
    pipeline.endless = count == 0
    pipeline.submit(lambda: pipeline.forward(count))


def run_generate(input_count: int = 1, write_index: int = 0, _sequential: bool = False) -> None:
    """Runs forward. Caches are inputs and outputs of modules here: `write_index` has no effect."""
    run_forward(input_count, _sequential)


def run_backward(input_count: int = 1, zero_grad: bool = False, _sequential: bool = False) -> None:
    """Runs the backward pass of this many forward runs, the oldest first. zero_grad: sums of gradients restart at 0."""
    count = _count(input_count, "input_count", 0)
    pipeline = running()
    if not pipeline.training:
        raise PyBudaError("run_backward in a pipeline for inference; expected initialize_pipeline(training=True)")
    pipeline.submit(lambda: pipeline.backward(count, zero_grad))


def run_optimizer(checkpoint: bool = False, _sequential: bool = False) -> None:
    """Steps the optimizers of all devices; with `checkpoint` the parameters go to the queue of checkpoints."""
    pipeline = running()
    if not pipeline.training:
        raise PyBudaError("run_optimizer in a pipeline for inference; expected initialize_pipeline(training=True)")
    pipeline.submit(lambda: pipeline.optimize(checkpoint))


def run_schedulers(_sequential: bool = False) -> None:
    """Steps the schedulers of all devices."""
    pipeline = running()
    pipeline.submit(pipeline.schedule)
    pipeline.sync()


def _of(device: Device | None) -> list[Device]:
    pipeline = running()
    pipeline.sync()
    if device is None:
        return pipeline.devices
    if device not in pipeline.devices:
        raise PyBudaError(f"device {device.name!r} is not in the pipeline")
    return [device]


def get_parameter_checkpoint(
    device: CPUDevice | TTDevice | None = None, _sequential: bool = False
) -> list[dict[str, Tensor]]:
    """Returns the parameters of a device, or of all: for each a dictionary."""
    return [one.get_parameter_checkpoint() for one in _of(device)]


def get_parameter_gradients(
    device: CPUDevice | TTDevice | None = None, _sequential: bool = False
) -> list[dict[str, Tensor]]:
    """Returns the gradients that were added up on a device, or on all: for each a dictionary."""
    return [one.get_parameter_gradients() for one in _of(device)]


def update_device_parameters(
    device: CPUDevice | TTDevice | None = None,
    parameters: Sequence[Mapping[str, Any]] = [],
    _sequential: bool = False,
) -> None:
    """Sets new values of parameters: a dictionary for the device, or one for each.

    Raises:
        PyBudaError: another number of dictionaries than devices, or a name that no parameter has.
    """
    requested = _of(device)
    if len(parameters) != len(requested):
        raise PyBudaError(f"update_device_parameters gets {len(parameters)} dictionaries for {len(requested)} devices")
    running().update(requested, parameters)


def get_intermediates_queue() -> Any:
    """Returns the queue of the results of ops in `op_intermediates_to_save`: a tuple for each set of inputs, in that
    order."""
    return running().intermediates


def get_loss_queue() -> Any:
    return running().losses


def error_raised() -> bool:
    """Returns whether a run has failed."""
    return _pipeline is not None and _pipeline.error is not None


def sync() -> None:
    """Waits until all started runs have ended."""
    if _pipeline is not None:
        _pipeline.sync()


def shutdown() -> bool:
    """Ends all runs. Devices and modules stay; their compiled programs are dropped."""
    global _pipeline
    if _pipeline is not None:
        _pipeline.stop()
    _pipeline = None
    for device in devices():
        device.shutdown_device()
        device.shapes = None
    return True


API.update(run_inference=run_inference, run_forward=run_forward, run_backward=run_backward, sync=sync)


@atexit.register
def _stop() -> None:
    """Stops the pipeline before Python ends, which would end a thread in the middle of a program."""
    if _pipeline is not None and _pipeline.process == os.getpid():
        _pipeline.stop()


def reset() -> None:
    """Ends what runs, and forgets devices and modules."""
    global _automatic
    shutdown()
    for device in devices():
        device.remove_modules()
    devices().clear()
    _automatic = None
