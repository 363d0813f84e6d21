# SPDX-License-Identifier: Apache-2.0
"""Runs PyBuda programs: devices run their modules as a pipeline. Tenstorrent devices are simulated chips."""

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ModuleNotFoundError("pybuda needs PyTorch: pip install 'ttmlir[torch]'", name="torch") from None

from . import config, op, optimizers, pybudaglobal, schedulers, torch_schedulers, verify
from ._C import backend_api, balancer, placer
from .capture.formats import DataFormat, MathFidelity
from .capture.frameworks import JaxModule, OnnxModule, TFGraphDefModule, TFLiteModule, TFModule
from .compile import CompileDepth, CompileResults, compile_torch, pybuda_compile
from .config import (
    CompilerConfig,
    configure_mixed_precision,
    insert_buffering_nop,
    insert_nop,
    override_dram_queue_placement,
    override_op_size,
    set_chip_break,
    set_configuration_options,
    set_epoch_break,
)
from .cpudevice import CPUDevice, GPUDevice
from .device import Device
from .enums import BackendDevice, BackendType, DeviceMode, PerfTraceLevel
from .errors import FormatError, OptionError, PyBudaError, ShapeError
from .module import Module, PyBudaModule, PyTorchModule
from .optimizers import LAMB, LARS, SGD, Adam, AdamW
from .pybudaglobal import get_tenstorrent_device, is_silicon, pybuda_reset, set_device_pipeline
from .run import (
    error_raised,
    get_intermediates_queue,
    get_loss_queue,
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
from .tenstorrent.image import PYBUDA_VERSION as __version__
from .tenstorrent.image import ImageError, TTDeviceImage
from .ttdevice import TTDevice, detect_available_devices
from .verify import VerifyConfig

__all__ = [
    "LAMB",
    "LARS",
    "SGD",
    "Adam",
    "AdamW",
    "BackendDevice",
    "BackendType",
    "CPUDevice",
    "CompileDepth",
    "CompileResults",
    "CompilerConfig",
    "DataFormat",
    "Device",
    "DeviceMode",
    "FormatError",
    "GPUDevice",
    "ImageError",
    "JaxModule",
    "MathFidelity",
    "Module",
    "OnnxModule",
    "OptionError",
    "Parameter",
    "PerfTraceLevel",
    "PyBudaError",
    "PyBudaModule",
    "PyTorchModule",
    "ShapeError",
    "TFGraphDefModule",
    "TFLiteModule",
    "TFModule",
    "TTDevice",
    "TTDeviceImage",
    "Tensor",
    "VerifyConfig",
    "__version__",
    "backend_api",
    "balancer",
    "compile_torch",
    "config",
    "configure_mixed_precision",
    "detect_available_devices",
    "error_raised",
    "get_intermediates_queue",
    "get_loss_queue",
    "get_parameter_checkpoint",
    "get_parameter_gradients",
    "get_tenstorrent_device",
    "initialize_pipeline",
    "insert_buffering_nop",
    "insert_nop",
    "is_silicon",
    "op",
    "optimizers",
    "override_dram_queue_placement",
    "override_op_size",
    "placer",
    "pybuda_compile",
    "pybuda_reset",
    "pybudaglobal",
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
    "set_device_pipeline",
    "set_epoch_break",
    "shutdown",
    "sync",
    "torch_schedulers",
    "update_device_parameters",
    "verify",
]
