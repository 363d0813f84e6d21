# SPDX-License-Identifier: Apache-2.0
"""PyBuda: modules are placed on devices, which run them as a pipeline. Tenstorrent devices are simulated chips."""

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ModuleNotFoundError("pybuda needs PyTorch: pip install 'ttmlir[torch]'", name="torch") from None

from . import config, op, optimizers, pybudaglobal, schedulers, torch_schedulers
from ._C import backend_api, placer
from .config import (
    configure_mixed_precision,
    insert_nop,
    override_op_size,
    set_chip_break,
    set_configuration_options,
    set_epoch_break,
)
from .cpudevice import CPUDevice, GPUDevice
from .device import Device
from .enums import BackendDevice, BackendType, DeviceMode, PerfTraceLevel
from .errors import FormatError, PyBudaError, ShapeError
from .formats import DataFormat, MathFidelity
from .image import ImageError, TTDeviceImage
from .module import Module, PyBudaModule, PyTorchModule
from .run import (
    error_raised,
    get_intermediates_queue,
    get_parameter_checkpoint,
    get_parameter_gradients,
    initialize_pipeline,
    run_backward,
    run_forward,
    run_generate,
    run_inference,
    run_optimizer,
    run_schedulers,
    run_training,
    shutdown,
    sync,
    update_device_parameters,
)
from .tensor import Parameter, Tensor
from .ttdevice import TTDevice, detect_available_devices

__version__ = "0.1.0"
__all__ = [
    "backend_api",
    "BackendDevice",
    "BackendType",
    "config",
    "configure_mixed_precision",
    "CPUDevice",
    "DataFormat",
    "detect_available_devices",
    "Device",
    "DeviceMode",
    "error_raised",
    "FormatError",
    "get_intermediates_queue",
    "get_parameter_checkpoint",
    "get_parameter_gradients",
    "GPUDevice",
    "ImageError",
    "initialize_pipeline",
    "insert_nop",
    "MathFidelity",
    "Module",
    "op",
    "optimizers",
    "override_op_size",
    "Parameter",
    "PerfTraceLevel",
    "placer",
    "PyBudaError",
    "pybudaglobal",
    "PyBudaModule",
    "PyTorchModule",
    "run_backward",
    "run_forward",
    "run_generate",
    "run_inference",
    "run_optimizer",
    "run_schedulers",
    "run_training",
    "schedulers",
    "set_chip_break",
    "set_configuration_options",
    "set_epoch_break",
    "ShapeError",
    "shutdown",
    "sync",
    "Tensor",
    "torch_schedulers",
    "TTDevice",
    "TTDeviceImage",
    "update_device_parameters",
]
