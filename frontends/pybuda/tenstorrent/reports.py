# SPDX-License-Identifier: Apache-2.0
"""Reports of a Tenstorrent device: its chips, parameters, queues, graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from ttmlir.files import write_whole

from ..capture.formats import DataFormat
from ..capture.trace import Formats, Trace
from ..config import _get_global_compiler_config
from ..device import CompilingDevice, loss_arguments, through
from ..enums import BackendDevice, BackendType
from ..errors import PyBudaError
from ..optimizers import Optimizer
from ..tensor import Tensor
from ..tools.reportify import report
from .chip import chip_of, descriptor, grid_of


@dataclass
class DeviceConfig:
    """The chips of a device."""

    arch: BackendDevice
    chip_ids: list[int]
    backend_type: BackendType
    grid_size: tuple[int, int]


def get_device_config(
    arch: BackendDevice,
    chip_ids: Sequence[int] = (),
    backend_cluster_descriptor_path: str = "",
    backend_runtime_params_path: str = "",
    store_backend_db_to_yaml: bool = False,
    backend_type: BackendType = BackendType.Golden,
    device_yaml: str = "",
) -> DeviceConfig:
    """Returns the chips of an architecture, without a device.

    Args:
        backend_runtime_params_path: a file with grid, L1 and channels, which `store_backend_db_to_yaml` writes. Without
            it, the file is read if it exists.
        device_yaml: a device descriptor.

    Raises:
        PyBudaError: a chip that there is not, or a file that is no descriptor.
    """
    if not isinstance(arch, BackendDevice) or not isinstance(backend_type, BackendType):
        raise PyBudaError(
            f"get_device_config: arch is {arch!r} and backend_type {backend_type!r}; expected a BackendDevice and a "
            "BackendType"
        )
    bad = [x for x in chip_ids if not isinstance(x, int) or isinstance(x, bool) or x < 0]
    if bad or len(set(chip_ids)) != len(chip_ids):
        raise PyBudaError(f"get_device_config: chip_ids is {list(chip_ids)}; expected different numbers of chips")
    config = replace(
        _get_global_compiler_config(),
        backend_cluster_descriptor_path=backend_cluster_descriptor_path,
        backend_runtime_params_path=backend_runtime_params_path,
        store_backend_db_to_yaml=store_backend_db_to_yaml,
        backend_device_descriptor_path=device_yaml,
    )
    chip = chip_of(arch, config)
    if store_backend_db_to_yaml and backend_runtime_params_path:
        write_whole(Path(backend_runtime_params_path), descriptor(chip).encode())
    return DeviceConfig(arch, list(chip_ids), backend_type, (chip.rows, chip.columns))


class Reports(CompilingDevice):
    """The part of a TTDevice that computes nothing on the chip."""

    arch: BackendDevice
    chip_ids: list[int]
    devtype: BackendType
    compiled: Any
    _compiled: Any
    optimizer: Optimizer | None
    scheduler: Any
    op_names: dict[str, str]
    intermediates: list[torch.Tensor]
    _saved: list[str]
    _active_subgraph: int = 0

    def compile(
        self, inputs: Sequence[torch.Tensor], targets: Sequence[torch.Tensor], training: bool
    ) -> list[torch.Tensor]:
        outputs = super().compile(inputs, targets, training)
        if self._compiled is not None:
            report(self._compiled.log, self.modules[0].name, _get_global_compiler_config().backend_output_dir)
        return outputs

    def get_device_config(self, compiler_cfg: Any = None) -> DeviceConfig:
        """Returns which chips the device has."""
        return DeviceConfig(
            self.arch, self.chip_ids, self.devtype, grid_of(self.arch, compiler_cfg or _get_global_compiler_config())
        )

    def set_active_subgraph(self, subgraph_index: int) -> None:
        """Sets the subgraph whose queues are used; there is one, number 0."""
        if subgraph_index != 0:
            raise PyBudaError(f"device {self.name!r} has one subgraph, number 0; requested {subgraph_index}")
        self._active_subgraph = subgraph_index

    def get_active_subgraph(self) -> int:
        return self._active_subgraph

    def generate_graph(
        self,
        *inputs: Any,
        target_tensors: Sequence[Any] = [],
        return_intermediate: bool = False,
        graph_name: str = "default_graph",
        compiler_cfg: Any = None,
        trace_only: bool = False,
        verify_cfg: Any = None,
    ) -> Any:
        """Returns the program of the modules: its ops by name, outputs, intermediates, inputs and the target."""
        given = self._flat([inputs], "an input")
        expected = self._flat([target_tensors], "a target") if target_tensors else []
        outputs = tuple(Tensor(x) for x in self.compile(given, expected, bool(expected)))
        intermediates = (
            dict(zip(self._saved, map(Tensor, self.intermediates), strict=False)) if return_intermediate else {}
        )
        return (
            self.op_names,
            outputs,
            intermediates,
            tuple(map(Tensor, given)),
            Tensor(expected[0]) if expected else None,
        )

    def forward(self, loop_count: int) -> None:
        super().forward(loop_count)

    def backward(self, loop_count: int, zero_grad: bool) -> None:
        super().backward(loop_count, zero_grad)

    def generate(  # type: ignore[override]
        self, loop_count: int, write_index: int, tokens_per_iter: int, token_id: int
    ) -> None:
        """Runs forward. Caches are inputs and outputs of modules here: the other arguments have no effect."""
        self.forward(loop_count)

    def cpueval_forward(
        self,
        inputs: Sequence[torch.Tensor],
        parameters: Mapping[str, torch.Tensor],
        save_for_backward: bool,
        targets: Sequence[torch.Tensor] = [],
    ) -> list[torch.Tensor]:
        """Returns the outputs of the modules with these parameters, in PyTorch and in f32: a reference, not the
        chip's."""
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
        """Returns parameters of the modules; all of them are inputs of the program."""
        return [Tensor(value, name) for name, value in self.parameters().items()]

    def get_parameter_checkpoint(self) -> dict[str, Tensor]:
        return super().get_parameter_checkpoint()

    def get_parameter_gradients(self) -> dict[str, Tensor]:
        return super().get_parameter_gradients()

    def get_optimizer_params(self, is_buda: bool) -> dict[str, dict[str, Tensor]]:
        """Returns the optimizer's state for each parameter: the learning rate, and moments if it has them."""
        if self.optimizer is None:
            return {}
        return {name: self.optimizer.get_optimizer_params(name) for name in self.trained()}

    def get_scheduler_params(self, is_buda: bool) -> dict[str, dict[str, Tensor]]:
        """Returns the values that the scheduler changes for each parameter: the learning rate."""
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

    def sync(self) -> None:
        """Waits until the commands that were given have run."""
        super().sync()
