# SPDX-License-Identifier: Apache-2.0
"""Tenstorrent devices: modules are compiled and run on a simulated chip."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from _ttmlir_runtime import runtime
from ttmlir.options import CompileOptions
from ttmlir.torch.options import Options

from .capture.computing import AS_BY_DEFAULT, Computing
from .capture.formats import FLOATS, DataFormat, check_float, data_format_of
from .capture.graph import Compiled, Parts, accumulate
from .capture.requests import Requests, epoch_options
from .capture.trace import Formats, Trace
from .config import _get_global_compiler_config, cache_of_programs, check_device_mode, precisions
from .device import loss_arguments, through
from .enums import FORWARD, BackendDevice, BackendType, DeviceMode
from .errors import PyBudaError
from .module import Module
from .optimizers import Optimizer
from .placement import Optimizing, Traced, graph_of, overridden_places, place, programs_of, spills, take_rows, write
from .tenstorrent.chip import SIMULATED, chip_of
from .tenstorrent.image import ImageError, ImageModule, TTDeviceImage, dtype_of, image_of
from .tenstorrent.reports import DeviceConfig, Reports, get_device_config

__all__ = ["DeviceConfig", "TTDevice", "detect_available_devices", "get_device_config"]

AVAILABLE = 8  # simulated chips


def detect_available_devices() -> list[BackendDevice]:
    """Returns the architectures of the chips that there are."""
    return [BackendDevice.Wormhole_B0] * min(AVAILABLE, runtime.get_num_available_devices())


class TTDevice(Reports):
    """One or more Tenstorrent chips.

    num_chips: how many, 0 for all; chip_ids: which. Programs run on the first of them.
    fp32_fallback: the format of Float32 values whose format is not set.
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
        self.devtype = devtype or (
            BackendType.Golden if os.environ.get("PYBUDA_DEVMODE") == "1" else BackendType.Silicon
        )
        self.fp32_fallback = check_float(fp32_fallback, f"fp32_fallback of device {name!r}")
        self.device_mode = check_device_mode(device_mode)
        if optimizer is not None and not isinstance(optimizer, Optimizer):
            raise TypeError(
                f"TTDevice {name!r}: optimizer is {type(optimizer).__name__}; expected one of pybuda.optimizers"
            )
        super().__init__(name, mp_context)
        self.optimizer, self.scheduler = optimizer, scheduler
        self._chip: Any = None
        self._computing = AS_BY_DEFAULT
        self._is_exact = False  # the chip computes as a card does
        self._compiled: Compiled | None = None
        self._formats: Formats | None = None
        self._saved: list[str] = []
        self.op_names: dict[str, str] = {}
        self.netlist_filename = ""  # once it is written
        self.used_nops: set[int] = set()
        self._gradients: dict[str, torch.Tensor] = {}
        self.intermediates: list[torch.Tensor] = []
        self._looped: dict[int, torch.Tensor] = {}  # inputs that are outputs of the run before, by number
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
                raise PyBudaError(
                    f"TTDevice {name!r}: chip_ids is {found}; expected different chips of 0 to {available - 1}"
                )
            return found
        if num_chips is not None and not 0 <= num_chips <= available:
            raise PyBudaError(f"TTDevice {name!r}: num_chips is {num_chips}; there are {available}")
        return list(range(available if num_chips == 0 else num_chips or 1))

    #
    # Compiling
    #

    def chip(self) -> Any:
        """Returns the simulated chip, opened at its first use, and reopened for another arithmetic."""
        is_open = self._chip is not None and self._chip.is_open
        if is_open and self._chip.exact is not self._is_exact:
            runtime.close_mesh_device(self._chip)
            is_open = False
        if not is_open:
            options = runtime.MeshDeviceOptions(exact=self._is_exact)
            options.arch = SIMULATED[self.arch]
            self._chip = runtime.open_mesh_device(options)
        return self._chip

    def options(self, data_format: DataFormat) -> Options:
        requested = None if data_format is DataFormat.Float32 else FLOATS[data_format]
        chip = {} if SIMULATED[self.arch] == "wormhole_b0" else {"mock-system-desc-arch": SIMULATED[self.arch]}
        pipeline = CompileOptions({**_get_global_compiler_config().compile_options(), **chip})
        return Options(device=self.chip(), target_format=requested, pipeline=pipeline, cache=cache_of_programs())

    def placing(self, options: Options) -> Options:
        """Returns options with which the compiler also places the ops of programs."""
        config = _get_global_compiler_config()
        epochs = epoch_options(config, chip_of(self.arch, config))
        return replace(options, pipeline=CompileOptions(options.pipeline).with_(epochs))

    def formats(self, inputs: Sequence[torch.Tensor]) -> Formats:
        """Returns formats of the device: those that were set, else that of the inputs, Float32 by its fallback."""
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
        if (image := self._image()) is not None:
            return self._compile_image(image, inputs)
        config = _get_global_compiler_config()
        config.apply_env_config_overrides()
        formats = self._formats = self.formats(inputs)
        computing = self._computing = Computing.of(formats, config)
        self._is_exact = computing.is_exact
        self._dtypes = [x.dtype for x in (*inputs, *targets)]
        keys = list(self.parameters())
        losing = self.needs_targets()
        if losing and not targets:
            raise PyBudaError(
                f"device {self.name!r} has a loss module and no targets; push some, or give sample_targets"
            )
        explicit: dict[str, DataFormat] = {}
        for prefix, module in zip(self.prefixes(), self.modules, strict=True):
            explicit |= {prefix + name: f for name, f in module.formats().items()}
        to_save = [*config.op_intermediates_to_save]
        for module in self.modules:
            to_save += [name for name, _ in getattr(module, "_tapouts", [])]

        def function(*flat: torch.Tensor) -> list[torch.Tensor]:
            state = {
                key: formats.rounded(x, explicit.get(key) or formats.of(key), f"parameter {key!r}")
                for key, x in zip(keys, flat, strict=False)
            }
            given = flat[len(keys) : len(keys) + len(inputs)]
            given = tuple(
                formats.rounded(x.float() if x.dtype.is_floating_point else x, formats.of(name), f"input {name!r}")
                for x, name in zip(given, self.modules[0].input_names(len(given)), strict=True)
            )
            trace = Trace(formats, to_save, [(source, readers) for source, readers, _ in config.buffering_nops])
            outputs = through(self.modules, self.split_state(state), given, trace)
            self._saved = [name for name in to_save if name in trace.saved]
            self.op_names = trace.ops
            self.used_nops = trace.used
            if missing := [name for name in to_save if name not in trace.saved]:
                known = ", ".join(trace.ops) or "none: only those of PyBuda modules have names"
                raise PyBudaError(f"op_intermediates_to_save has {missing[0]!r}; ops of device {self.name!r}: {known}")
            if losing:
                assert self.loss_module is not None
                requested = loss_arguments(self.loss_module, outputs, flat[len(keys) + len(inputs) :])
                outputs = self.loss_module.compute(self.loss_module.state(), requested, trace)
            self._results = len(outputs)
            return [*outputs, *(trace.saved[name] for name in self._saved)]

        chip, options = chip_of(self.arch, config), self.placing(self.options(formats.base))
        names = [*keys, *self.modules[0].input_names(len(inputs)), *(f"target_{i}" for i in range(len(targets)))]
        inputs_end = len(keys) + len(inputs)
        requests = Requests.of(
            config, chip, self.chip_ids, names if losing else names[:inputs_end], names[len(keys) : inputs_end]
        )

        def run(parts: Parts, places: str, requests: Requests) -> list[torch.Tensor]:
            pipeline = CompileOptions(options.pipeline).with_({"epoch-overrides": places} if places else {})
            placing = replace(options, pipeline=pipeline)
            self._compiled = Compiled(
                function, len(keys), placing, training=self.training, host_ops=self._host_ops(),
                allow_host=config.enable_tvm_cpu_fallback, recompute=config.enable_recompute and self.training,
                moves_depth=config.tm_cpu_fallback_max_depth if config.enable_tm_cpu_fallback else 0, parts=parts,
                computing=computing, requests=requests,
            )  # fmt: skip
            # The first call compiles. Buffers that it writes are copies, and so are random numbers' states.
            buffers = [x if x.requires_grad else x.detach().clone() for x in self.parameters().values()]
            with torch.random.fork_rng():
                return list(self._compiled(*buffers, *self._tracked(inputs), *(targets if losing else [])))

        outputs = run({}, "", requests)
        given = inputs, targets if losing else ()
        traced = self._traced(formats, *given)
        graph = graph_of(traced, config)
        places, grids = overridden_places(graph, chip, config)
        if places or grids:
            requests = replace(requests, node_grids=grids)
            outputs = run({}, places, requests)
            traced = self._traced(formats, *given)
            graph = graph_of(traced, config)
        self.placement = place(traced, graph, config)
        self.used_nops |= self.compiled.copies
        self._looped = {}
        if parts := self._spills(formats):
            outputs = run(parts, places, requests)
            take_rows(graph, graph_of(self._traced(formats, *given), config))
        self._write_placement()
        return [x.detach() for x in outputs[: self._results]]

    def _spills(self, formats: Formats) -> Parts:
        """Returns products that are added up in parts, as placement decides, in formats of rules."""
        rules = [rule for rule in formats.rules if rule.intermediate_df]
        found = spills(self.placement) if rules and self.placement is not None else {}
        if rules and not found:
            warnings.warn(
                f"{rules[-1]} changes no number of device {self.name!r}: of none of its products are sums in memory "
                "between parts of the inner dimension (m_k is 1); override_u_kt makes parts",
                stacklevel=2,
            )
        return {"forward" if kind == FORWARD else "backward": parts for kind, parts in found.items()}

    def _traced(self, formats: Formats, inputs: Sequence[torch.Tensor], targets: Sequence[torch.Tensor]) -> Traced:
        """Returns the compiled modules, to be placed on the chips."""
        first, optimizing = self.modules[0], None
        trained = set(self.trained())
        if self.training and self.optimizer is not None:
            o = self.optimizer
            trained &= o.parameters if o.parameters is not None else trained
            steps = {
                name: o.compiled_step(x.shape, *self._step_of(name)) for name, x in self.trained().items()
                if name in trained
            }  # fmt: skip
            optimizing = Optimizing(steps, o.kept, ["lr", *o.numbers])
        return Traced(
            first.name, self.arch, self.chip_ids, formats,
            {name: (tuple(x.shape), name in trained) for name, x in self.parameters().items()},
            first.input_names(len(inputs)), [f"target_{i}" for i in range(len(targets))], self._results, self._saved,
            inputs[0].shape[0] if inputs and inputs[0].dim() > 1 else 1, self.training, bool(targets),
            self.compiled.graphs, self.compiled.executables, self.op_names, optimizing,
        )  # fmt: skip

    def _write_placement(self) -> None:
        """Adds to the placement what runs of it, and writes the netlist."""
        assert self.placement is not None
        graph, epochs = self.placement.graph, {op.name: x.epoch for op, x in self.placement.placement.of.items()}
        self.placement.programs = programs_of(self.compiled.executables, graph, epochs, SIMULATED[self.arch])
        self.compiled.graphs.clear()
        try:
            self.netlist_filename = str(write(self.placement, _get_global_compiler_config()))
        except OSError as error:
            warnings.warn(f"the netlist of device {self.name!r} is not written: {error}", stacklevel=2)

    def _tracked(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Returns the inputs; in training they require gradients."""
        if not self.training:
            return [x.detach() for x in inputs]
        return [x.detach().requires_grad_() if x.dtype.is_floating_point else x.detach() for x in inputs]

    @property
    def compiled(self) -> Compiled:
        """Returns the modules as programs.

        Raises:
            PyBudaError: they are not compiled yet.
        """
        if self._compiled is None:
            raise PyBudaError(f"device {self.name!r} is not compiled yet")
        return self._compiled

    def compile_to_image(
        self,
        *,
        img_path: str | os.PathLike[str],
        training: bool = False,
        sample_inputs: Sequence[Any] = (),
        sample_targets: Sequence[Any] = (),
        microbatch_count: int = 1,
    ) -> TTDeviceImage:
        """Compiles the modules for inputs like these, and writes the image.

        Raises:
            PyBudaError: no sample inputs; images for training, which there are none of.
            ImageError: a module of which PyTorch runs a part.
        """
        if training:
            raise PyBudaError(f"device {self.name!r}: images are for inference; expected training=False")
        inputs = self.checked_samples(sample_inputs)
        image = image_of(self, inputs, self.compile(inputs, (), False))
        image.save_to_disk(img_path)
        return image

    @staticmethod
    def load_image(*, img: TTDeviceImage | None = None, img_path: str | os.PathLike[str] | None = None) -> TTDevice:
        """Returns a device that runs an image.

        Raises:
            PyBudaError: none, or two images. ImageError: an image for a device with other harvested rows.
        """
        if (img is None) == (img_path is None):
            raise PyBudaError("load_image gets img or img_path; expected one of them")
        image = img if img is not None else TTDeviceImage.load_from_disk(img_path or "")
        about = image.description
        rows = sorted(_get_global_compiler_config().harvested_rows)
        if rows and rows != about.harvested_rows:
            raise ImageError(
                f"image {about.name!r} is for harvested rows {about.harvested_rows}; the device has {rows}"
            )
        device = TTDevice(
            about.name, chip_ids=about.chip_ids, arch=BackendDevice[about.arch], devtype=BackendType[about.devtype]
        )
        device._is_exact = about.exact
        device.place_module(ImageModule(image))
        return device

    def _image(self) -> ImageModule | None:
        first = self.modules[0] if self.modules else None
        return first if isinstance(first, ImageModule) else None

    def _compile_image(self, image: ImageModule, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Checks the inputs of an image, which is compiled already."""
        about = image.image.description
        if self.training or len(self.modules) > 1:
            raise PyBudaError(f"device {self.name!r} runs an image, for inference and alone")
        self._check_shapes(inputs, [torch.Size(shape) for shape, _ in about.inputs], "input")
        return [torch.empty(tuple(shape), dtype=dtype_of(dtype)) for shape, dtype in about.outputs]

    #
    # Running
    #

    def step_forward(self, inputs: Sequence[torch.Tensor], targets: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        if self.device_mode is DeviceMode.CompileOnly:
            raise PyBudaError(f"device {self.name!r} has device_mode CompileOnly; it does not run")
        if (image := self._image()) is not None:
            return image.run_program(inputs, self.chip())
        looped = [self._looped.get(number, x) for number, x in enumerate(inputs)]
        given = self._tracked(self.typed(looped, self._dtypes[: len(inputs)]))
        requested = self.typed(targets, self._dtypes[len(inputs) :]) if self.needs_targets() else []
        outputs = self.compiled(*self.parameters().values(), *given, *requested)
        results, saved = outputs[: self._results], outputs[self._results :]
        self.intermediates = [x.detach() for x in saved]
        if self.placement is not None and self.placement.loops:
            self._looped = {number: results[output].detach() for number, output in self.placement.loops}
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
        return [torch.zeros_like(x) if of_inputs.get(id(x)) is None else of_inputs[id(x)].detach() for x in inputs]

    def _accumulate(self, name: str, gradient: torch.Tensor) -> None:
        known = self._gradients.get(name)
        if known is not None:
            (gradient,) = accumulate(self.options(DataFormat.Float32), self._computing, known, gradient)
        self._gradients[name] = gradient

    def zero_grad(self) -> None:
        self._gradients.clear()

    def gradients(self) -> dict[str, torch.Tensor]:
        return dict(self._gradients)

    def step_optimizer(self) -> None:
        """Computes new weights on the chip. They have the format of the parameter, with amp_level 0; Float32 else."""
        if self.optimizer is None:
            return
        for name, value in self.trained().items():
            if name in self._gradients:
                self.optimizer.step_parameter(name, value, self._gradients[name], *self._step_of(name))

    def _step_of(self, name: str) -> tuple[Options, Computing, DataFormat]:
        """Returns how the step of a parameter is computed, and the format of the new weight."""
        assert self._formats is not None
        config = _get_global_compiler_config()
        explicit = {name: f for module in self.modules for name, f in module.formats().items()}
        stored = explicit.get(name) or self._formats.of(name)
        data_format = stored if config.amp_level == 0 else DataFormat.Float32
        data_format = self._formats.of_step(name) or data_format
        options = self.placing(self.options(DataFormat.Float32))
        return options, self._computing.of_optimizer(config.amp_level), data_format

    def step_scheduler(self) -> None:
        if self.scheduler is not None:
            self.scheduler.step()

    def shutdown_device(self) -> None:
        """Empties the queues and closes the chip."""
        super().shutdown_device()
        if self._chip is not None and self._chip.is_open:
            runtime.close_mesh_device(self._chip)
        self._chip = self._compiled = None
        self.shapes = None
