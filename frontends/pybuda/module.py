# SPDX-License-Identifier: Apache-2.0
"""Modules: the code that is placed on a device."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch.func import functional_call
from torch.utils._pytree import tree_leaves

from .capture.trace import Rounding, Trace
from .errors import PyBudaError
from .tensor import Parameter, Tensor, to_torch, write

# Functions of the run API by name, which methods of modules and devices call; `run` fills it.
API: dict[str, Callable[..., Any]] = {}


class Module:
    """A workload for one device.

    State (parameters and buffers) is tensors of PyTorch by name; `compute` is the module as a function of state and
    inputs.
    """

    takes_names = False  # of inputs that follow an argument of forward that is left out
    named: list[str] | None = None  # names of the inputs, if such an argument was left out
    _is_given = False  # inputs: `named` is that of all

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise TypeError(f"a module's name is {name!r}; expected text")
        self.name = name
        self._device: Any = None

    def get_device(self) -> Any:
        """Returns the device that the module is placed on, or None."""
        return self._device

    def get_name(self) -> str:
        return self.name

    def run(self, *args: Any) -> tuple[Any, ...]:
        """Runs the module on a separate device.

        Raises:
            PyBudaError: other modules are placed on devices.
        """
        return API["run_inference"](self, inputs=[args]).get()

    def state(self) -> dict[str, torch.Tensor]:
        """Returns parameters and buffers; those that are trained require gradients."""
        raise NotImplementedError

    def formats(self) -> dict[str, Any]:
        """Returns formats of parameters that were set one by one."""
        return {}

    def compute(self, state: Mapping[str, torch.Tensor], inputs: Sequence[torch.Tensor], trace: Trace) -> list[Any]:
        """Returns the results, as tensors of PyTorch."""
        raise NotImplementedError

    def _parameters_of_forward(self) -> inspect.Signature:
        raise NotImplementedError

    def names_of(self, inputs: Sequence[torch.Tensor]) -> list[str] | None:
        """Returns the names by which forward takes these inputs, or None if it takes them in order."""
        return self.named if self.named is not None and len(self.named) == len(inputs) else None

    def input_names(self, count: int) -> list[str]:
        """Returns names of the first inputs."""
        found: list[str] = []
        for parameter in self._parameters_of_forward().parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                found += [f"{parameter.name}_{i}" for i in range(count - len(found))]
            elif parameter.kind is not parameter.VAR_KEYWORD:
                found.append(parameter.name)
        if self.named is not None and len(self.named) == count:
            return list(self.named)
        return (found + [f"input_{i}" for i in range(len(found), count)])[:count]

    def ordered(self, inputs: Mapping[str, Any]) -> list[Any]:
        """Returns inputs that are given by name, in the order of forward's parameters.

        Raises:
            PyBudaError: a name that forward does not have, or one of it is missing.
        """
        parameters = self._parameters_of_forward().parameters
        known = [n for n, p in parameters.items() if p.kind < p.VAR_KEYWORD]
        if unknown := [n for n in inputs if n not in known]:
            raise PyBudaError(f"module {self.name!r} has no input {unknown[0]!r}; it has {', '.join(known)}")
        given = [n for n in known if n in inputs]
        missing = [n for n in known[: len(given)] if n not in inputs]
        required = [n for n in missing if not self.takes_names or parameters[n].default is inspect.Parameter.empty]
        if required:
            raise PyBudaError(f"module {self.name!r} gets no input {required[0]!r}")
        self.settle(given if missing else None)
        return [inputs[n] for n in given]

    def settle(self, names: list[str] | None) -> None:
        """Takes the names of a set of inputs, None if they are in order: all sets run the same program.

        Raises:
            PyBudaError: they are not those of the sets before.
        """
        if self._is_given and names != self.named:
            before, now = (f"by the names {', '.join(n)}" if n else "in order" for n in (self.named, names))
            raise PyBudaError(
                f"module {self.name!r} was given inputs {before}, and is now given them {now}; "
                "expected the same arguments in each set of inputs"
            )
        self.named, self._is_given = names, True

    def forget_names(self) -> None:
        """Lets the next set of inputs have other names: nothing is compiled for those before."""
        self.named, self._is_given = None, False


class PyBudaModule(Module):
    """A module of PyBuda's ops: a subclass has parameters as attributes, and `forward`."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._parameters: dict[str, Parameter] = {}
        self._constants: dict[str, Tensor] = {}
        self._submodules: dict[str, PyBudaModule] = {}
        self._tapouts: list[tuple[str, int]] = []

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"module {self.name!r} ({type(self).__name__}) has no forward")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the module as a part of another one's forward."""
        self.pre_forward(*args, **kwargs)
        return self.forward(*args, **kwargs)

    def pre_forward(self, *args: Any, **kwargs: Any) -> None:
        """Runs before forward, with its arguments; a subclass may have its own."""

    def __setattr__(self, name: str, value: Any) -> None:
        tables = {Parameter: "_parameters", PyBudaModule: "_submodules"}
        for kind, table in tables.items():
            if isinstance(value, kind):
                if table not in self.__dict__:
                    raise PyBudaError(f"{type(self).__name__}.{name} is set before super().__init__(name) is called")
                if isinstance(value, Parameter) and not value.name:
                    value.name = name
                self.__dict__[table][name] = value
        super().__setattr__(name, value)

    def add_parameter(self, name: str, parameter: Parameter, prepend_name: bool = False) -> None:
        """Adds a parameter; with `prepend_name`, its name begins with the module's."""
        name = f"{self.name}.{name}" if prepend_name else name
        if name in self._parameters:
            raise PyBudaError(f"module {self.name!r} has a parameter {name!r} already")
        parameter.name = name
        self._parameters[name] = parameter

    def add_constant(self, name: str, prepend_name: bool = False, shape: tuple[int, ...] | None = None) -> None:
        """Adds a constant; `set_constant` sets its value (zeros until then, if `shape` is given)."""
        name = f"{self.name}.{name}" if prepend_name else name
        self._constants[name] = Parameter(torch.zeros(shape or (1,)), requires_grad=False, name=name)

    def get_constant(self, name: str) -> Tensor:
        return self._found(self._constants, "constant", name)

    def set_constant(self, name: str, data: Any) -> None:
        self._found(self._constants, "constant", name)
        value = to_torch(data, f"constant {name!r}")
        self._constants[name] = Parameter(value, requires_grad=False, name=name)

    def get_parameter(self, name: str) -> Parameter:
        return self._found(self._named(), "parameter", name)

    def get_parameters(self, submodules: bool = True) -> list[Parameter]:
        return list((self._named() if submodules else self._parameters).values())

    def set_parameter(self, name: str, data: Any) -> None:
        self.get_parameter(name).set_value(data)

    def load_parameter_dict(self, data: Mapping[str, Any]) -> None:
        """Sets new values of parameters, by name."""
        for name, value in data.items():
            self.set_parameter(name, value)

    def insert_tapout_queue_for_op(self, op_name: str, output_index: int) -> tuple[str, int]:
        """Keeps an op's result: `get_intermediates_queue` returns it.

        Raises:
            PyBudaError: an index other than 0; ops have one result.
        """
        if output_index != 0:
            raise PyBudaError(f"op {op_name!r} has one result, number 0; requested number {output_index}")
        self._tapouts.append((op_name, output_index))
        return op_name, output_index

    def _found(self, table: Mapping[str, Any], kind: str, name: str) -> Any:
        if name not in table:
            known = ", ".join(table) or "none"
            raise PyBudaError(f"module {self.name!r} has no {kind} {name!r}; it has {known}")
        return table[name]

    def _named(self) -> dict[str, Parameter]:
        """Returns parameters by name, those of submodules after the submodule's."""
        found = dict(self._parameters)
        for name, module in self._submodules.items():
            found |= {f"{name}.{inner}": parameter for inner, parameter in module._named().items()}
        return found

    def _all(self) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {**self._named(), **self._constants}
        for name, module in self._submodules.items():
            found |= {f"{name}.{inner}": constant for inner, constant in module._constants.items()}
        return found

    def state(self) -> dict[str, torch.Tensor]:
        return {name: tensor.value() for name, tensor in self._all().items()}

    def formats(self) -> dict[str, Any]:
        return {name: p.explicit_format for name, p in self._named().items() if p.explicit_format}

    def _parameters_of_forward(self) -> inspect.Signature:
        return inspect.signature(self.forward)

    def compute(self, state: Mapping[str, torch.Tensor], inputs: Sequence[torch.Tensor], trace: Trace) -> list[Any]:
        tensors = self._all()
        kept = {name: tensor._value for name, tensor in tensors.items()}
        try:
            for name, tensor in tensors.items():
                tensor._value = state[name]
            names = self.input_names(len(inputs))
            given = [Tensor(x, name) for x, name in zip(inputs, names, strict=True)]
            with trace.module(self.name):
                try:
                    self._parameters_of_forward().bind(*given)
                except TypeError as error:
                    raise PyBudaError(f"module {self.name!r} gets {len(given)} inputs: {error}") from None
                results = self(*given)
            results = list(results) if isinstance(results, tuple | list) else [results]
            for number, result in enumerate(results):
                if not isinstance(result, Tensor):
                    raise PyBudaError(
                        f"forward of module {self.name!r} returns {type(result).__name__} as result {number}; expected "
                        "pybuda.Tensor"
                    )
            return [result.value() for result in results]
        finally:
            for name, tensor in tensors.items():
                tensor._value = kept[name]


@contextmanager
def _compiling() -> Any:
    """Sets PyTorch's flag of compilation: models read it, and omit code that depends on values."""
    before = torch.compiler._is_compiling_flag
    torch.compiler._is_compiling_flag = True
    try:
        yield
    finally:
        torch.compiler._is_compiling_flag = before


def called(
    module: torch.nn.Module, state: Mapping[str, torch.Tensor], inputs: Sequence[torch.Tensor],
    names: Sequence[str] | None = None,
) -> Any:  # fmt: skip
    """Returns the result of a module with this state, for inputs in order or by `names`. Its own state is restored
    afterwards: PyTorch leaves that of modules that are used twice exchanged.
    """
    own = [(part, dict(part._parameters), dict(part._buffers)) for part in module.modules()]
    try:
        if names is not None:
            return functional_call(module, dict(state), (), dict(zip(names, inputs, strict=True)))
        return functional_call(module, dict(state), tuple(inputs))
    finally:
        for part, parameters, buffers in own:
            part._parameters.update(parameters)
            part._buffers.update(buffers)


class PyTorchModule(Module):
    """A module of PyTorch. A CPUDevice calls it, a TTDevice compiles it."""

    takes_names = True

    def __init__(self, name: str, module: torch.nn.Module, redirect_forward: bool = True) -> None:
        super().__init__(name)
        if not isinstance(module, torch.nn.Module):
            raise TypeError(f"PyTorchModule {name!r}: module is {type(module).__name__}; expected a torch.nn.Module")
        self.module = module
        self.redirect_forward = redirect_forward

    def forward(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Calls the module in PyTorch."""
        given = [to_torch(x, f"an input of module {self.name!r}") for x in args]
        result = self.module(*given, **{k: to_torch(x, f"input {k!r}") for k, x in kwargs.items()})
        return tuple(leaves(result))

    def backward(self, *args: tuple[torch.Tensor, torch.Tensor]) -> None:
        """Returns the gradients of parameters, from pairs of an output and its gradient."""
        torch.autograd.backward([output for output, _ in args], [gradient for _, gradient in args])

    def add_parameter(self, name: str, parameter: Parameter) -> None:
        """Adds a parameter to the module of PyTorch."""
        self.module.register_parameter(name, torch.nn.Parameter(parameter.value().detach().clone()))

    def set_parameters(self, **kwargs: Any) -> None:
        """Sets new values of parameters, by name."""
        known = dict(self.module.named_parameters())
        for name, value in kwargs.items():
            if name not in known:
                raise PyBudaError(f"module {self.name!r} has no parameter {name!r}; it has {', '.join(known)}")
            write(known[name], to_torch(value, f"parameter {name!r}"), name)

    def get_parameters(self) -> list[Parameter]:
        return [
            Parameter(value, requires_grad=value.requires_grad, name=name)
            for name, value in self.module.named_parameters()
        ]

    def state(self) -> dict[str, torch.Tensor]:
        return {**dict(self.module.named_parameters()), **dict(self.module.named_buffers())}

    def _parameters_of_forward(self) -> inspect.Signature:
        return inspect.signature(self.module.forward)

    def compute(self, state: Mapping[str, torch.Tensor], inputs: Sequence[torch.Tensor], trace: Trace) -> list[Any]:
        rounding = Rounding(trace, list(state.values()), inputs) if trace.formats.touches else nullcontext()
        with _compiling(), rounding:
            return leaves(called(self.module, state, inputs, self.names_of(inputs)))


def leaves(result: Any) -> list[torch.Tensor]:
    """Returns the tensors that a module returns, whatever it puts them into."""
    return [x for x in tree_leaves(result) if isinstance(x, torch.Tensor)]
