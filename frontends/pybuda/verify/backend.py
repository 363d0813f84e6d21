# SPDX-License-Identifier: Apache-2.0
"""Modules on devices, compared with PyTorch on the CPU in f32: results, gradients and trained parameters."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from ..capture.formats import DataFormat
from ..capture.trace import Formats, Trace
from ..config import _get_global_compiler_config, set_configuration_options
from ..cpudevice import CPUDevice, GPUDevice
from ..device import Device, loss_arguments
from ..enums import BackendType, CompileDepth, DeviceMode
from ..errors import PyBudaError, VerificationError
from ..module import Module, PyBudaModule, PyTorchModule
from ..op.eval import compare_tensor_to_golden
from ..optimizers import Optimizer, get_optimizer_type_from_string
from ..run import (
    get_parameter_checkpoint,
    get_parameter_gradients,
    initialize_pipeline,
    run_backward,
    run_forward,
    run_inference,
    run_optimizer,
    run_schedulers,
    shutdown,
    sync,
)
from ..tensor import Parameter, Tensor, to_torch
from ..ttdevice import TTDevice
from .config import VerifyConfig

logger = logging.getLogger("pybuda")

Tensors = tuple[torch.Tensor, ...]
# Integers of random inputs are below this.
INTEGERS = 25000
# PyTorch's optimizers, by the type of a configuration; of others gradients are compared, and no parameters.
REFERENCES: dict[str, Any] = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
# Arguments of PyTorch's optimizers by those of PyBuda's.
ARGUMENTS = {"learning_rate": "lr", "epsilon": "eps", "eps": "eps", "weight_decay": "weight_decay"}


def verify_module(
    module: Module,
    input_shapes: Sequence[Sequence[int]],
    verify_cfg: VerifyConfig,
    input_params: Sequence[Mapping[str, Any]] = (),
    device_type: str = "TTDevice",
    params_centered_on_zero: bool = False,
    scale_params: float = 1.0,
    inputs: Sequence[Sequence[Any]] | None = None,
    loss_module: Module | None = None,
    uniform_inputs: bool = False,
    inputs_centered_on_zero: bool = False,
) -> list[Device]:
    """Runs a module on a device, and compares its results with PyTorch: `verify_module_pipeline` of one module."""
    return verify_module_pipeline(
        [module], input_shapes, verify_cfg, input_params, [device_type], params_centered_on_zero, scale_params, inputs,
        loss_module, uniform_inputs, inputs_centered_on_zero,
    )  # fmt: skip


def verify_module_pipeline(
    modules: Sequence[Module],
    input_shapes: Sequence[Sequence[int]],
    verify_cfg: VerifyConfig,
    input_params: Sequence[Mapping[str, Any]] = (),
    device_types: Sequence[str] = ("TTDevice",),
    params_centered_on_zero: bool = False,
    scale_params: float = 1.0,
    inputs: Sequence[Sequence[Any]] | None = None,
    loss_module: Module | None = None,
    uniform_inputs: bool = False,
    inputs_centered_on_zero: bool = False,
) -> list[Device]:
    """Runs modules on devices, one after another, and compares their results with PyTorch.

    Args:
        modules: of a pipeline. input_shapes: of the inputs of the first one, for random values.
        input_params: for each input "data_format" (a type of PyTorch, float32 by default), "requires_grad" and
            "dev_data_format".
        device_types: "TTDevice", "CPUDevice" or, for a module on the device of the one before, "-"; further modules
            are on the last device.
        params_centered_on_zero, scale_params: parameters that have random values are drawn around 0, and divided.
        inputs: sets of inputs, instead of random ones.
        loss_module: for training; without one a device with a loss of the mean distance is added.
        uniform_inputs: random values are uniform in [0, 1); without it normal, with a deviation of 0.1.
        inputs_centered_on_zero: their mean is 0; without it 0.5, and no value is 0 or below.
    Returns:
        The devices.
    Raises:
        VerificationError: a result, gradient or parameter that differs from PyTorch's; names it.
        PyBudaError: modules that do not compile or run.
    """
    if not isinstance(verify_cfg, VerifyConfig):
        raise PyBudaError(f"verify_cfg is {type(verify_cfg).__name__}; expected a VerifyConfig")
    config = _get_global_compiler_config()
    training = verify_cfg.test_kind.is_training()
    config.enable_training = training
    if training:
        set_configuration_options(enable_recompute=verify_cfg.test_kind.is_recompute())
    for op in verify_cfg.epoch_breaks:
        config.place_on_new_epoch(op)
    draw_parameters(modules, params_centered_on_zero, scale_params)
    count = verify_cfg.total_number_of_inputs()
    if inputs is None:
        given = [
            random_inputs(input_shapes, input_params, uniform_inputs, inputs_centered_on_zero) for _ in range(count)
        ]
    else:
        given = [tuple(to_torch(x, "an input") for x in one) for one in inputs]
        if len(given) < count:
            raise PyBudaError(f"inputs has {len(given)} sets; expected {count}, as VerifyConfig has it")
    devices = place(modules, device_types, verify_cfg, training)
    runs = verify_cfg.devtype is not BackendType.NoBackend and config.compile_depth is CompileDepth.FULL
    try:
        if verify_cfg.devmode is DeviceMode.CompileOnly or not runs:
            compile_only(devices, given[0], verify_cfg, training, loss_module)
        elif training:
            train(devices, given, verify_cfg, loss_module)
        else:
            infer(devices, given, verify_cfg)
    finally:
        if not verify_cfg.skip_shutdown:
            shutdown()
    return devices


def random_inputs(
    shapes: Sequence[Sequence[int]], params: Sequence[Mapping[str, Any]], uniform: bool, centered: bool
) -> Tensors:
    """Returns random tensors: floats as `verify_module_pipeline` says, integers from 0 to `INTEGERS`."""

    if not isinstance(shapes, list | tuple) or not all(
        isinstance(shape, list | tuple | torch.Size) for shape in shapes
    ):
        raise PyBudaError(f"input_shapes is {shapes!r}; expected a shape for each input, such as [(1, 32)]")

    def draw(shape: Sequence[int], about: Mapping[str, Any]) -> torch.Tensor:
        dtype = about.get("data_format", torch.float32)
        if not isinstance(dtype, torch.dtype):
            raise PyBudaError(f"input_params has the data_format {dtype}; expected a type of PyTorch")
        if not dtype.is_floating_point:
            return torch.randint(INTEGERS if dtype.itemsize > 1 else torch.iinfo(dtype).max, tuple(shape), dtype=dtype)
        if uniform:
            values = torch.rand(*shape) - (0.5 if centered else 0.0)
        else:
            values = torch.randn(*shape) * 0.1 + (0.0 if centered else 0.5)
            values = values if centered else values.abs() + 1e-5
        return values.to(dtype).requires_grad_(about.get("requires_grad", True))

    return tuple(draw(shape, params[i] if i < len(params) else {}) for i, shape in enumerate(shapes))


def draw_parameters(modules: Sequence[Module], centered: bool, scale: float) -> None:
    """Sets new random values of parameters that were created from sizes."""
    if scale <= 0:
        raise PyBudaError(f"scale_params is {scale}; expected more than 0")
    for module in modules:
        for parameter in module.get_parameters() if isinstance(module, PyBudaModule) else []:
            if isinstance(parameter, Parameter) and parameter.is_random:
                parameter.set_value((torch.rand(parameter.shape) - (0.5 if centered else 0.0)) / scale)


def place(
    modules: Sequence[Module], device_types: Sequence[str], verify_cfg: VerifyConfig, training: bool
) -> list[Device]:
    """Returns new devices with the modules.

    Raises:
        PyBudaError: a type of device that does not exist.
    """
    devices: list[Device] = []
    for number, module in enumerate(modules):
        kind = device_types[number] if number < len(device_types) else "-"
        if kind == "-" and devices:
            devices[-1].place_module(module)
            continue
        name = f"{kind.removesuffix('Device').lower()}{len(devices)}"
        if kind == "TTDevice" and verify_cfg.devmode is DeviceMode.RunOnly and verify_cfg.tti_path:
            devices.append(TTDevice.load_image(img_path=verify_cfg.tti_path))
            continue
        if kind == "TTDevice":
            device: Any = TTDevice(
                name, devtype=verify_cfg.devtype, arch=verify_cfg.arch, device_mode=verify_cfg.devmode,
                num_chips=verify_cfg.num_chips, chip_ids=verify_cfg.chip_ids, fp32_fallback=verify_cfg.fp32_fallback,
            )  # fmt: skip
        elif kind == "CPUDevice":
            device = CPUDevice(name, optimizer_f=lambda m: reference_optimizer(m.parameters(), verify_cfg))
        elif kind == "GPUDevice":
            device = GPUDevice(name)
        else:
            raise PyBudaError(f"device type {number} is {kind!r}; expected TTDevice, CPUDevice or, behind one, '-'")
        device.place_module(module)
        devices.append(device)
    for device in devices:
        if training and verify_cfg.optimizer and isinstance(device, TTDevice):
            device.optimizer = optimizer_of(device, verify_cfg.optimizer)
            if verify_cfg.scheduler:
                device.scheduler = verify_cfg.scheduler["type"](device.optimizer)
    return devices


def optimizer_of(device: TTDevice, about: Mapping[str, Any]) -> Optimizer:
    kind = get_optimizer_type_from_string(about.get("type", ""))
    try:
        return kind(device_params=True, **about.get("params", {}))
    except TypeError as error:
        raise PyBudaError(f"VerifyConfig: params of optimizer {about['type']!r}: {error}") from None


def reference_optimizer(parameters: Iterator[torch.Tensor], verify_cfg: VerifyConfig) -> torch.optim.Optimizer | None:
    """Returns PyTorch's optimizer of the configuration, if PyTorch has it."""
    about = verify_cfg.optimizer
    trained = [x for x in parameters if x.requires_grad]
    if not about or about["type"] not in REFERENCES or not trained:
        return None
    params = dict(about.get("params", {}))
    known: dict[str, Any] = {ARGUMENTS[name]: value for name, value in params.items() if name in ARGUMENTS}
    if about["type"] != "sgd":
        known["betas"] = (params.get("beta1", 0.9), params.get("beta2", 0.999))
        if not params.get("bias_correction", True):
            return None
    return REFERENCES[about["type"]](trained, **known)


@contextmanager
def gathered(verify_cfg: VerifyConfig) -> Iterator[list[str]]:
    """Collects what differs, and refuses it at the end.

    Raises:
        VerificationError: names what differs.
    """
    wrong: list[str] = []
    yield wrong
    if wrong and verify_cfg.enabled:
        raise VerificationError(f"{len(wrong)} of the values differ from PyTorch's: {', '.join(wrong[:5])}")


def check(
    wrong: list[str], name: str, expected: Any, found: Any, verify_cfg: VerifyConfig, waived: bool = False
) -> None:
    if verify_cfg.enabled and not compare_tensor_to_golden(
        name, expected, found, verify_cfg=verify_cfg, warning_only=waived
    ):
        wrong.append(name)


def compile_only(
    devices: Sequence[Device], inputs: Tensors, verify_cfg: VerifyConfig, training: bool, loss_module: Module | None
) -> None:
    """Compiles the modules, and writes an image of them where the configuration has a path."""
    if verify_cfg.tti_path and isinstance(devices[0], TTDevice) and not training:
        devices[0].compile_to_image(img_path=verify_cfg.tti_path, sample_inputs=inputs)
        return
    targets: Tensors = ()
    if training:
        targets = tuple(add_loss(devices, inputs, verify_cfg, loss_module))
    initialize_pipeline(training, sample_inputs=inputs, sample_targets=targets, _sequential=True)


def reference(devices: Sequence[Device], inputs: Tensors) -> list[torch.Tensor]:
    """Returns the devices' results, computed by PyTorch on the CPU with their parameters."""
    values: list[torch.Tensor] = [x.detach() for x in inputs]
    for device in devices:
        values = device.evaluate(values, {}, False)
    return values


def infer(devices: Sequence[Device], inputs: Sequence[Tensors], verify_cfg: VerifyConfig) -> None:
    expected = [reference(devices, one) for one in inputs] if verify_cfg.devmode is not DeviceMode.RunOnly else []
    for one in inputs:
        devices[0].push_to_inputs(*(x.detach() for x in one))
    queue = run_inference(input_count=len(inputs), _sequential=verify_cfg.sequential)
    with gathered(verify_cfg) as wrong:
        for number in range(len(inputs)):
            results = queue.get()
            for output, result in enumerate(results):
                if expected:
                    name = f"output {output} of input {number}"
                    check(wrong, name, expected[number][output], result.value(), verify_cfg)


class Combined(torch.nn.Module):
    """All results as one: the sum of them, each with zeros to the size of the largest."""

    def forward(self, *outputs: torch.Tensor) -> torch.Tensor:
        if len(outputs) == 1:
            return outputs[0]
        most = max(x.numel() for x in outputs)
        return sum((torch.nn.functional.pad(x.reshape(-1), (0, most - x.numel())) for x in outputs), torch.zeros(()))


class ScaledDistance(torch.nn.Module):
    """The mean distance, times a number."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale

    def forward(self, output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.l1_loss(output, target) * self.scale


def add_loss(
    devices: Sequence[Device], inputs: Tensors, verify_cfg: VerifyConfig, loss_module: Module | None
) -> list[torch.Tensor]:
    """Places a loss after the devices.

    Returns:
        Tensors like its targets.
    """
    outputs = reference(devices, inputs)
    if loss_module is not None:
        devices[-1].place_loss_module(loss_module)
        return outputs
    cpu = CPUDevice("cpu_loss", module=PyTorchModule("combiner0", Combined()))
    cpu.place_loss_module(PyTorchModule("l1loss", ScaledDistance(verify_cfg.scale_loss)))
    devices.append(cpu)  # type: ignore[attr-defined]
    return [Combined()(*outputs)]


class Reference:
    """The devices in PyTorch: copies of their parameters, which are trained as the devices' are."""

    def __init__(self, devices: Sequence[Device], verify_cfg: VerifyConfig) -> None:
        self.devices = devices
        self.states = [
            {name: x.detach().clone().float().requires_grad_(x.requires_grad) if x.dtype.is_floating_point else x
             for name, x in device.parameters().items()}
            for device in devices
        ]  # fmt: skip
        trained = [x for state in self.states for x in state.values() if x.requires_grad]
        self.optimizer = reference_optimizer(iter(trained), verify_cfg)

    def backward(self, inputs: Tensors, targets: Sequence[torch.Tensor]) -> None:
        """Adds up gradients of one set of inputs."""
        values: list[Any] = [x.detach() for x in inputs]
        for device, state in zip(self.devices, self.states, strict=True):
            values = device._evaluate(state, values, [])
            if device.loss_module is not None:
                taken = loss_arguments(device.loss_module, values, targets)
                trace = Trace(Formats(DataFormat.Float32))
                values = device.loss_module.compute(device.loss_module.state(), taken, trace)
        sum((x.sum() for x in values), torch.zeros(())).backward()

    def zero_grad(self) -> None:
        for state in self.states:
            for x in state.values():
                x.grad = None


def train(
    devices: list[Device], inputs: Sequence[Tensors], verify_cfg: VerifyConfig, loss_module: Module | None
) -> None:
    samples = add_loss(devices, inputs[0], verify_cfg, loss_module)
    targets = [tuple(torch.randn(x.shape) * 0.5 for x in samples) for _ in inputs]
    expected = Reference(devices, verify_cfg)
    initialize_pipeline(True, sample_inputs=inputs[0], sample_targets=targets[0], _sequential=verify_cfg.sequential)
    per_step = verify_cfg.accumulation_steps * verify_cfg.microbatch_count
    pairs = iter(zip(inputs, targets, strict=True))
    with gathered(verify_cfg) as wrong:
        for epoch in range(verify_cfg.epochs):
            for step in range(verify_cfg.steps):
                expected.zero_grad()
                for _ in range(per_step):
                    one, target = next(pairs)
                    devices[0].push_to_inputs(*(x.detach() for x in one))
                    devices[-1].push_to_target_inputs(*target)
                    expected.backward(one, target)
                run_forward(per_step, _sequential=verify_cfg.sequential)
                run_backward(per_step, zero_grad=True, _sequential=verify_cfg.sequential)
                sync()
                where = f"epoch {epoch}, step {step}"
                if verify_cfg.enable_parameter_gradient_checking:
                    compare_each(wrong, f"{where}: gradient of", expected, get_parameter_gradients(), verify_cfg, True)
                run_optimizer(_sequential=verify_cfg.sequential)
                if expected.optimizer is not None:
                    expected.optimizer.step()
                    compare_each(wrong, f"{where}: parameter", expected, get_parameter_checkpoint(), verify_cfg, False)
            run_schedulers()
            rates = [
                device.optimizer.learning_rate
                for device in devices
                if isinstance(device, TTDevice) and device.optimizer
            ]
            if expected.optimizer is not None and rates:
                for group in expected.optimizer.param_groups:
                    group["lr"] = rates[0]


def compare_each(
    wrong: list[str], what: str, expected: Reference, found: Sequence[Mapping[str, Tensor]], verify_cfg: VerifyConfig,
    gradients: bool,
) -> None:  # fmt: skip
    """Compares parameters, or their gradients, of all devices; parameters of the reference become the devices', for
    what follows is to tell of one step only."""
    for state, values in zip(expected.states, found, strict=True):
        for name, reference_value in state.items():
            value = reference_value.grad if gradients else reference_value
            if name not in values or value is None or not reference_value.requires_grad:
                continue
            result = values[name].value()
            check(wrong, f"{what} {name}", value, result, verify_cfg, verify_cfg.waives(name))
            if not gradients:
                with torch.no_grad():
                    reference_value.copy_(result)
