# SPDX-License-Identifier: Apache-2.0
"""CPUs: modules of PyTorch run in PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from .capture.frameworks import FrameworkModule
from .device import CompilingDevice, loss_arguments
from .errors import PyBudaError
from .module import Module, PyTorchModule, called, leaves
from .tensor import Tensor


class CPUDevice(CompilingDevice):
    """A CPU. Modules are PyTorchModules; an optimizer and a scheduler are those of PyTorch.

    optimizer_f: makes the optimizer of a torch.nn.Module. scheduler_f: makes the scheduler of the optimizer.
    input_dtypes: types that inputs are cast to.
    """

    def __init__(
        self,
        name: str,
        optimizer_f: Callable[[torch.nn.Module], Any] | None = None,
        scheduler_f: Callable[[Any], Any] | None = None,
        mp_context: Any = None,
        retain_backward_graph: bool = False,
        module: Module | Sequence[Module] | None = None,
        input_dtypes: Sequence[torch.dtype] | None = None,
    ) -> None:
        super().__init__(name, mp_context)
        self.optimizer_f, self.scheduler_f = optimizer_f, scheduler_f
        self.retain_backward_graph = retain_backward_graph
        self.input_dtypes = input_dtypes
        self.optimizer: Any = None
        self.scheduler: Any = None
        self._gradient_trace: Any = None
        if module is not None:
            self.place_module(module)

    def _check_module(self, module: Any, where: str) -> None:
        super()._check_module(module, where)
        if not isinstance(module, PyTorchModule | FrameworkModule):
            raise PyBudaError(
                f"{where}: CPU device {self.name!r} runs modules of PyTorch; {module.name!r} is a "
                f"{type(module).__name__}, which a TTDevice runs"
            )

    def place_module(self, module: Module | Sequence[Module]) -> None:
        super().place_module(module)
        self.optimizer = self.scheduler = None

    def _typed(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        if not self.input_dtypes:
            return list(inputs)
        return [x.to(dtype) for x, dtype in zip(inputs, self.input_dtypes, strict=True)]

    def _make_optimizer(self) -> None:
        if self.optimizer_f is not None and self.optimizer is None:
            modules = torch.nn.ModuleList([m.module for m in self.modules if isinstance(m, PyTorchModule)])
            self.optimizer = self.optimizer_f(modules[0] if len(modules) == 1 else modules)
        if self.scheduler_f is not None and self.scheduler is None:
            self.scheduler = self.scheduler_f(self.optimizer)

    def _compile(self, inputs: Sequence[torch.Tensor], targets: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        if self.training:
            if other := [module.name for module in self.modules if not isinstance(module, PyTorchModule)]:
                raise PyBudaError(
                    f"module {other[0]!r} of device {self.name!r} has no backward pass; it is not trained"
                )
            self._make_optimizer()
        state = {name: value.detach().clone() for name, value in self.parameters().items()}
        with torch.no_grad(), torch.random.fork_rng():
            return self._evaluate(state, self._typed(inputs), [])

    def _evaluate(
        self, state: Mapping[str, torch.Tensor], inputs: Sequence[torch.Tensor], targets: Sequence[torch.Tensor]
    ) -> list[torch.Tensor]:
        values = list(inputs)
        for module, part in zip(self.modules, self.split_state(state), strict=True):
            if isinstance(module, PyTorchModule):
                values = leaves(called(module.module, part, values, module.names_of(values)))
            else:
                assert isinstance(module, FrameworkModule)
                values = list(module.forward(*values))
        return self._loss(values, targets) if targets and self.loss_module else values

    def _loss(self, outputs: Sequence[torch.Tensor], targets: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        assert isinstance(self.loss_module, PyTorchModule)
        return list(self.loss_module.forward(*loss_arguments(self.loss_module, outputs, targets)))

    def step_forward(self, inputs: Sequence[torch.Tensor], targets: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        given = [x.detach() for x in self._typed(inputs)]
        if self.training:
            given = [x.requires_grad_() if x.dtype.is_floating_point else x for x in given]
        values: list[torch.Tensor] = given
        with torch.set_grad_enabled(self.training):
            for module in self.modules:
                assert isinstance(module, PyTorchModule | FrameworkModule)
                names = module.names_of(values)
                by_name = dict(zip(names, values, strict=True)) if names is not None else {}
                values = list(module.forward(**by_name) if by_name else module.forward(*values))
            if self.needs_targets():
                values = self._loss(values, targets)
        if self.training:
            self._pending.append((given, values))
        return [x.detach() for x in values]

    def step_backward(self, gradients: Sequence[torch.Tensor | None]) -> list[torch.Tensor]:
        inputs, outputs = self.oldest()
        if not gradients:
            gradients = [torch.ones_like(x) for x in outputs]
        pairs = [(y, g) for y, g in zip(outputs, gradients, strict=True) if g is not None and y.requires_grad]
        torch.autograd.backward(
            [y for y, _ in pairs], [g.to(y.dtype) for y, g in pairs], retain_graph=self.retain_backward_graph
        )
        found = [x.grad if x.grad is not None else torch.zeros_like(x) for x in inputs]
        if self._gradient_trace is not None:
            self._gradient_trace.put(([g for _, g in pairs], found))
        return found

    def zero_grad(self) -> None:
        for value in self.trained().values():
            value.grad = None

    def step_optimizer(self) -> None:
        if self.optimizer is not None:
            self.optimizer.step()

    def step_scheduler(self) -> None:
        if self.scheduler is not None:
            self.scheduler.step()

    def gradients(self) -> dict[str, torch.Tensor]:
        return {name: x.grad for name, x in self.trained().items() if x.grad is not None}

    def pop_parameter_checkpoint(self) -> dict[str, Tensor]:
        """Copies of the parameters."""
        return self.get_parameter_checkpoint()

    def set_debug_gradient_trace_queue(self, q: Any) -> None:
        """Sets a queue that gets a pair for each backward pass: gradients that came in, and that go out."""
        self._gradient_trace = q

    def sync(self) -> None:
        """Waits until the commands that were given have run."""
        super().sync()

    def forward(self, loop_count: int) -> None:
        super().forward(loop_count)

    forward_pt = forward

    def forward_tf(self, loop_count: int) -> None:
        """Refuses a forward run of modules of TensorFlow, of which there are none here."""
        raise PyBudaError(f"device {self.name!r} has modules of PyTorch; expected forward_pt")

    compile_for_pt = CompilingDevice.compile_for

    def compile_for_tf(
        self,
        inputs: Sequence[Any],
        compiler_cfg: Any,
        targets: Sequence[Any] = [],
        microbatch_size: int = 0,
        verify_cfg: Any = None,
    ) -> tuple[Tensor, ...]:
        """Refuses as `forward_tf` does."""
        raise PyBudaError(f"device {self.name!r} has modules of PyTorch; expected compile_for_pt")

    def cpueval_forward(
        self,
        inputs: Sequence[torch.Tensor],
        parameters: Mapping[str, torch.Tensor],
        save_for_backward: bool,
        targets: Sequence[torch.Tensor] = [],
    ) -> list[torch.Tensor]:
        """Returns the outputs of the modules with these parameters."""
        return self.evaluate(inputs, parameters, save_for_backward, targets)

    cpueval_forward_pt = cpueval_forward

    def cpueval_forward_tf(
        self,
        inputs: Sequence[torch.Tensor],
        parameters: Mapping[str, torch.Tensor],
        save_for_backward: bool,
        targets: Sequence[torch.Tensor] = [],
    ) -> list[torch.Tensor]:
        """Refuses as `forward_tf` does."""
        raise PyBudaError(f"device {self.name!r} has modules of PyTorch; expected cpueval_forward_pt")


class GPUDevice:
    """GPUs are not there."""

    def __init__(self, name: str, *args: Any, **kwargs: Any) -> None:
        raise PyBudaError(
            f"GPUDevice {name!r}: this machine has no GPU that PyBuda runs on; expected a CPUDevice or a TTDevice"
        )
