# SPDX-License-Identifier: Apache-2.0
"""Tenstorrent devices: modules are compiled and run on a simulated chip."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from _ttmlir_runtime import runtime
from ttmlir.torch.options import Options

from .config import _get_global_compiler_config, check_device_mode, precisions
from .device import Device, loss_arguments, through
from .enums import BackendDevice, BackendType, DeviceMode
from .errors import PyBudaError
from .formats import FLOATS, DataFormat, check_float, data_format_of
from .graph import Compiled, accumulate
from .module import Module
from .optimizers import Optimizer
from .tensor import Tensor
from .trace import Formats, Trace

AVAILABLE = 8  # simulated chips


def detect_available_devices() -> list[BackendDevice]:
    """The architectures of the chips that there are."""
    return [BackendDevice.Wormhole_B0] * min(AVAILABLE, runtime.get_num_available_devices())


@dataclass
class DeviceConfig:
    """Which chips a device has."""

    arch: BackendDevice
    chip_ids: list[int]
    backend_type: BackendType
    grid_size: tuple[int, int]


class TTDevice(Device):
    """One or more Tenstorrent chips.

    num_chips: how many, 0 for all; chip_ids: which. Programs run on the first of them.
    fp32_fallback: the format of Float32 values whose format nobody has set.
    """

    def __init__(
        self,
        name: str,
        num_chips: int | None = None,
        chip_ids: Sequence[int] | None = None,
        arch: BackendDevice | None = None,
        devtype: BackendType | None = None,
        device_mode: DeviceMode | None = None,
        optimizer: Optimizer | None = None,
        scheduler: Any = None,
        fp32_fallback: DataFormat = DataFormat.Float16_b,
        mp_context: Any = None,
        module: Module | Sequence[Module] | None = None,
    ) -> None:
        self.arch = arch or BackendDevice.Wormhole_B0
        if not isinstance(self.arch, BackendDevice):
            raise TypeError(f"TTDevice {name!r}: arch is {arch!r}; expected one of BackendDevice")
        self.chip_ids = self._chips(name, num_chips, chip_ids)
        self.devtype = devtype or (BackendType.Golden if os.environ.get("PYBUDA_DEVMODE") == "1" else BackendType.Silicon)
        self.fp32_fallback = check_float(fp32_fallback, f"fp32_fallback of device {name!r}")
        self.device_mode = check_device_mode(device_mode)
        if optimizer is not None and not isinstance(optimizer, Optimizer):
            raise TypeError(
                f"TTDevice {name!r}: optimizer is {type(optimizer).__name__}; expected one of pybuda.optimizers"
            )
        super().__init__(name, mp_context)
        self.optimizer, self.scheduler = optimizer, scheduler
        self._chip: Any = None
        self._compiled: Compiled | None = None
        self._formats: Formats | None = None
        self._saved: list[str] = []
        self._gradients: dict[str, torch.Tensor] = {}
        self._active_subgraph = 0
        self.intermediates: list[torch.Tensor] = []
        if module is not None:
            self.place_module(module)

    @staticmethod
    def _chips(name: str, num_chips: int | None, chip_ids: Sequence[int] | None) -> list[int]:
        available = len(detect_available_devices())
        if num_chips is not None and chip_ids is not None:
            raise PyBudaError(f"TTDevice {name!r} gets num_chips and chip_ids; expected one of them")
        if chip_ids is not None:
            found = list(chip_ids)
            bad = [x for x in found if not isinstance(x, int) or not 0 <= x < available]
            if bad or not found or len(set(found)) != len(found):
                raise PyBudaError(f"TTDevice {name!r}: chip_ids is {found}; expected different chips of 0 to {available - 1}")
            return found
        if num_chips is not None and not 0 <= num_chips <= available:
            raise PyBudaError(f"TTDevice {name!r}: num_chips is {num_chips}; there are {available}")
        return list(range(available if num_chips == 0 else num_chips or 1))

    #
    # Compiling
    #

    def chip(self) -> Any:
        """The simulated chip, opened when it is first needed."""
        if self._chip is None or not self._chip.is_open:
            self._chip = runtime.open_mesh_device(runtime.MeshDeviceOptions())
        return self._chip

    def options(self, data_format: DataFormat) -> Options:
        wanted = None if data_format is DataFormat.Float32 else FLOATS[data_format]
        return Options(device=self.chip(), target_format=wanted)

    def formats(self, inputs: Sequence[torch.Tensor]) -> Formats:
        """Formats of the device: those that were set, else that of the inputs, Float32 by its fallback."""
        config = _get_global_compiler_config()
        default = config.default_df_override
        if default is None:
            found = [data_format_of(x.dtype) for x in inputs if x.dtype.is_floating_point]
            first = found[0] if found else DataFormat.Float32
            default = self.fp32_fallback if first is DataFormat.Float32 else first
        explicit = [f for module in self.modules for f in module.formats().values()]
        return Formats(default, precisions(), explicit)

    def _host_ops(self) -> list[str]:
        config = _get_global_compiler_config()
        return sorted(config.cpu_fallback_ops) if config.enable_tvm_cpu_fallback else []

    def _compile(self, inputs: Sequence[torch.Tensor], targets: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        config = _get_global_compiler_config()
        formats = self._formats = self.formats(inputs)
        self._dtypes = [x.dtype for x in (*inputs, *targets)]
        keys = list(self.parameters())
        losing = self.needs_targets()
        if losing and not targets:
            raise PyBudaError(f"device {self.name!r} has a loss module and no targets; push some, or give sample_targets")
        explicit = {}
        for module in self.modules:
            prefix = f"{module.name}." if len(self.modules) > 1 else ""
            explicit |= {prefix + name: f for name, f in module.formats().items()}
        to_save = [*config.op_intermediates_to_save]
        for module in self.modules:
            to_save += [name for name, _ in getattr(module, "_tapouts", [])]

        def function(*flat: torch.Tensor) -> list[torch.Tensor]:
            state = {
                key: formats.rounded(x, explicit.get(key) or formats.of(key)) for key, x in zip(keys, flat, strict=False)
            }
            given = flat[len(keys) : len(keys) + len(inputs)]
            given = tuple(formats.rounded(x.float() if x.dtype.is_floating_point else x, formats.of(name))
                          for x, name in zip(given, self.modules[0].input_names(len(given)), strict=True))  # fmt: skip
            trace = Trace(formats, to_save)
            outputs = through(self.modules, self.split_state(state), given, trace)
            self._saved = [name for name in to_save if name in trace.saved]
            self._ops = trace.ops
            if missing := [name for name in to_save if name not in trace.saved]:
                known = ", ".join(trace.ops) or "none: only those of PyBuda modules have names"
                raise PyBudaError(f"op_intermediates_to_save has {missing[0]!r}; ops of device {self.name!r}: {known}")
            if losing:
                assert self.loss_module is not None
                wanted = loss_arguments(self.loss_module, outputs, flat[len(keys) + len(inputs) :])
                outputs = self.loss_module.compute(self.loss_module.state(), wanted, trace)
            self._results = len(outputs)
            return [*outputs, *(trace.saved[name] for name in self._saved)]

        self._compiled = Compiled(
            function, len(keys), self.options(formats.base), training=self.training, host_ops=self._host_ops(),
            allow_host=config.enable_tvm_cpu_fallback,
        )  # fmt: skip
        # The first call compiles. Buffers that it writes are copies, and so are random numbers' states.
        buffers = [x if x.requires_grad else x.detach().clone() for x in self.parameters().values()]
        with torch.random.fork_rng():
            outputs = self._compiled(*buffers, *self._tracked(inputs), *(targets if losing else []))
        return [x.detach() for x in outputs[: self._results]]

    def _tracked(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Inputs; in training their gradients are computed."""
        if not self.training:
            return [x.detach() for x in inputs]
        return [x.detach().requires_grad_() if x.dtype.is_floating_point else x.detach() for x in inputs]

    #
    # Running
    #

    def step_forward(self, inputs: Sequence[torch.Tensor], targets: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        assert self._compiled is not None
        if self.device_mode is DeviceMode.CompileOnly:
            raise PyBudaError(f"device {self.name!r} has device_mode CompileOnly; it does not run")
        given = self._tracked(self.typed(inputs, self._dtypes[: len(inputs)]))
        wanted = self.typed(targets, self._dtypes[len(inputs) :]) if self.needs_targets() else []
        outputs = self._compiled(*self.parameters().values(), *given, *wanted)
        results, saved = outputs[: self._results], outputs[self._results :]
        self.intermediates = [x.detach() for x in saved]
        if self.training:
            self._pending.append((given, results))
        return [x.detach() for x in results]

    def step_backward(self, gradients: Sequence[torch.Tensor | None]) -> list[torch.Tensor]:
        inputs, outputs = self.oldest()
        if not gradients:
            gradients = [torch.ones_like(x) for x in outputs]
        trained = self.trained()
        tracked = [x for x in inputs if x.requires_grad]
        pairs = [(y, g) for y, g in zip(outputs, gradients, strict=True) if g is not None and y.requires_grad]
        found = torch.autograd.grad(
            [y for y, _ in pairs], [*tracked, *trained.values()], [g.to(y.dtype) for y, g in pairs], allow_unused=True
        )
        for name, gradient in zip(trained, found[len(tracked) :], strict=True):
            if gradient is not None:
                self._accumulate(name, gradient.detach())
        of_inputs = dict(zip(map(id, tracked), found, strict=False))
        return [
            torch.zeros_like(x) if of_inputs.get(id(x)) is None else of_inputs[id(x)].detach() for x in inputs
        ]

    def _accumulate(self, name: str, gradient: torch.Tensor) -> None:
        known = self._gradients.get(name)
        if known is not None:
            (gradient,) = accumulate(self.options(DataFormat.Float32), known, gradient)
        self._gradients[name] = gradient

    def zero_grad(self) -> None:
        self._gradients.clear()

    def gradients(self) -> dict[str, torch.Tensor]:
        return dict(self._gradients)

    def step_optimizer(self) -> None:
        """New weights, computed on the chip. They have the format of the parameter, with amp_level 0; Float32 else."""
        if self.optimizer is None:
            return
        assert self._formats is not None
        config = _get_global_compiler_config()
        explicit = {name: f for module in self.modules for name, f in module.formats().items()}
        for name, value in self.trained().items():
            if name not in self._gradients:
                continue
            stored = explicit.get(name) or self._formats.of(name)
            data_format = stored if config.amp_level == 0 else DataFormat.Float32
            self.optimizer.step_parameter(name, value, self._gradients[name], self.options(DataFormat.Float32), data_format)

    def step_scheduler(self) -> None:
        if self.scheduler is not None:
            self.scheduler.step()

    #
    # What is on the device
    #

    def get_device_config(self, compiler_cfg: Any = None) -> DeviceConfig:
        """Which chips the device has."""
        return DeviceConfig(self.arch, self.chip_ids, self.devtype, (8, 8))

    def place_module(self, module: Module | Sequence[Module]) -> None:
        super().place_module(module)

    def set_active_subgraph(self, subgraph_index: int) -> None:
        """The subgraph whose queues are used; there is one, number 0."""
        if subgraph_index != 0:
            raise PyBudaError(f"device {self.name!r} has one subgraph, number 0; asked for {subgraph_index}")
        self._active_subgraph = subgraph_index

    def get_active_subgraph(self) -> int:
        return self._active_subgraph

    def compile_for(  # type: ignore[override]
        self,
        inputs: Sequence[Any],
        compiler_cfg: Any,
        targets: Sequence[Any] = [],  # noqa: B006
        microbatch_size: int = 0,
        microbatch_count: int = 1,
        verify_cfg: Any = None,
    ) -> tuple[Tensor, ...]:
        """Compiles the modules for inputs like these (for training with a microbatch_size), and returns outputs."""
        given = self._flat([inputs], "an input")
        wanted = self._flat([targets], "a target") if targets else []
        return tuple(Tensor(x) for x in self.compile(given, wanted, microbatch_size > 0))

    def generate_graph(
        self,
        *inputs: Any,
        target_tensors: Sequence[Any] = [],  # noqa: B006
        return_intermediate: bool = False,
        graph_name: str = "default_graph",
        compiler_cfg: Any = None,
        trace_only: bool = False,
        verify_cfg: Any = None,
    ) -> Any:
        """The program of the modules: its ops by name, outputs, intermediates, inputs and the target."""
        given = self._flat([inputs], "an input")
        wanted = self._flat([target_tensors], "a target") if target_tensors else []
        outputs = tuple(Tensor(x) for x in self.compile(given, wanted, bool(wanted)))
        intermediates = dict(zip(self._saved, map(Tensor, self.intermediates), strict=False)) if return_intermediate else {}
        return self._ops, outputs, intermediates, tuple(map(Tensor, given)), Tensor(wanted[0]) if wanted else None

    def forward(self, loop_count: int) -> None:
        super().forward(loop_count)

    def backward(self, loop_count: int, zero_grad: bool) -> None:
        super().backward(loop_count, zero_grad)

    def generate(  # type: ignore[override]
        self, loop_count: int, write_index: int, tokens_per_iter: int, token_id: int
    ) -> None:
        """A forward run. Caches are inputs and outputs of modules here: the other arguments have no effect."""
        self.forward(loop_count)

    def cpueval_forward(
        self,
        inputs: Sequence[torch.Tensor],
        parameters: Mapping[str, torch.Tensor],
        save_for_backward: bool,
        targets: Sequence[torch.Tensor] = [],  # noqa: B006
    ) -> list[torch.Tensor]:
        """The outputs of the modules with these parameters, in PyTorch and in f32: a reference, not the chip's."""
        return self.evaluate(inputs, parameters, save_for_backward, targets)

    def _evaluate(
        self, state: Mapping[str, torch.Tensor], inputs: Sequence[torch.Tensor], targets: Sequence[torch.Tensor]
    ) -> list[torch.Tensor]:
        trace = Trace(Formats(DataFormat.Float32))
        outputs = through(self.modules, self.split_state(state), inputs, trace)
        if targets and self.loss_module is not None:
            arguments = loss_arguments(self.loss_module, outputs, targets)
            outputs = self.loss_module.compute(self.loss_module.state(), arguments, trace)
        return outputs

    def get_all_parameters(self) -> dict[str, Tensor]:
        """Copies of the parameters."""
        return self.get_parameter_checkpoint()

    def get_parameters(self, ignore_unused_parameters: bool = True) -> list[Tensor]:
        """Parameters of the modules; all of them are inputs of the program."""
        return [Tensor(value, name) for name, value in self.parameters().items()]

    def get_parameter_checkpoint(self) -> dict[str, Tensor]:
        return super().get_parameter_checkpoint()

    def get_parameter_gradients(self) -> dict[str, Tensor]:
        return super().get_parameter_gradients()

    def get_optimizer_params(self, is_buda: bool) -> dict[str, dict[str, Tensor]]:
        """For each parameter what its optimizer keeps: the learning rate, and moments where it has them."""
        if self.optimizer is None:
            return {}
        return {name: self.optimizer.get_optimizer_params(name) for name in self.trained()}

    def get_scheduler_params(self, is_buda: bool) -> dict[str, dict[str, Tensor]]:
        """For each parameter what the scheduler changes: the learning rate."""
        if self.scheduler is None or self.optimizer is None:
            return {}
        return {name: {"lr": self.optimizer.get_optimizer_params(name)["lr"]} for name in self.trained()}

    def get_dram_io_queues(self, queue_type: str) -> list[dict[str, Any]]:
        """Queues of a kind ("input", "output", "parameter"): their names and shapes."""
        if queue_type == "input":
            names = self.modules[0].input_names(len(self.shapes or [])) if self.modules else []
            return [{"name": n, "shape": list(s)} for n, s in zip(names, self.shapes or [], strict=True)]
        if queue_type == "parameter":
            return [{"name": n, "shape": list(x.shape)} for n, x in self.parameters().items()]
        if queue_type == "output":
            return [{"name": f"{self.name}.output_{i}"} for i in range(getattr(self, "_results", 0))]
        raise PyBudaError(f"get_dram_io_queues({queue_type!r}); expected input, output or parameter")

    def shutdown_device(self) -> None:
        """Empties the queues and closes the chip."""
        super().shutdown_device()
        if self._chip is not None and self._chip.is_open:
            runtime.close_mesh_device(self._chip)
        self._chip = self._compiled = None
        self.shapes = None

    def sync(self) -> None:
        """Waits until the commands that were given have run."""
        super().sync()
