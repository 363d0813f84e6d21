# SPDX-License-Identifier: Apache-2.0
"""The settings of verification: what is compared, and the tolerances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from ..capture.formats import DataFormat, check_float
from ..enums import BackendDevice, BackendType, DeviceMode, Named
from ..errors import OptionError

FLOAT_TYPES = (torch.float32, torch.float16, torch.bfloat16)


class TestKind(Named):
    """The kind of run. TRAINING_RECOMPUTE computes the forward pass again for the backward pass."""

    __test__ = False  # no tests of pytest's

    INFERENCE = 1
    TRAINING = 2
    TRAINING_RECOMPUTE = 3

    def is_training(self) -> bool:
        return self is not TestKind.INFERENCE

    def is_recompute(self) -> bool:
        return self is TestKind.TRAINING_RECOMPUTE

    @classmethod
    def get(cls, training: bool, recompute: bool = False) -> TestKind:
        if not training:
            return cls.INFERENCE
        return cls.TRAINING_RECOMPUTE if recompute else cls.TRAINING


@dataclass
class VerifyConfig:
    """The settings of `verify_module`.

    A result is right when all of its elements are near the reference, or its Pearson correlation is `pcc` at least.

    enabled: compare; without it modules only run.
    rtol, atol: one number, or one for each type of PyTorch. relative_atol: the default of atol, in parts of the
        largest absolute value of the reference.
    golden_compare_callback: gets the reference and the result; False is a mismatch.
    waive_gradient_errors: parts of names of parameters whose gradients and values are not compared.
    devtype: NoBackend compiles only. devmode: CompileOnly writes an image to tti_path, where there is one; RunOnly runs
        the image in it.
    scale_loss: factor of the loss that is added where none is given.
    optimizer: {"type": "sgd", "adam", "adamw", "lamb" or "lars", "params": its arguments}, or None.
    scheduler: {"type": a class whose instances step an optimizer}.
    epochs, steps, accumulation_steps, microbatch_count: as in `run_training`; inference takes their product of inputs.
    epoch_breaks: ops that begin a new epoch. skip_shutdown: leaves what was compiled.

    Fields that are about stages of another compiler (intermediates, dump_tensors_path, run_golden, run_net2pipe,
    golden_ignore_df_precision, verify_each_buda_pass, verify_tvm_compile, verify_pipeline_result_vs_framework,
    verify_pybuda_codegen_vs_framework, verify_all, verify_last, verify_post_autograd_passes, verify_post_placer) have
    no effect: results are compared with PyTorch's in any case.
    """

    graph_name: str = "graph"
    enabled: bool = True
    intermediates: bool = True
    rtol: Any = field(default_factory=dict)
    atol: Any = field(default_factory=dict)
    relative_atol: float = 0.1
    pcc: float | None = None
    dump_tensors_path: str = ""
    run_golden: bool = False
    run_net2pipe: bool = False
    golden_ignore_df_precision: bool = True
    chip_ids: Sequence[int] | None = None
    num_chips: int | None = None
    verify_each_buda_pass: bool = False
    golden_compare_callback: Callable[[Any, Any], bool] | None = None
    verify_tvm_compile: bool = False
    verify_pipeline_result_vs_framework: bool = False
    verify_pybuda_codegen_vs_framework: bool = False
    verify_all: bool = False
    verify_last: bool = True
    verify_post_autograd_passes: bool = False
    verify_post_placer: bool = False
    waive_gradient_errors: set[str] = field(default_factory=set)
    sequential: bool = True
    test_kind: TestKind = TestKind.INFERENCE
    devtype: BackendType = BackendType.Golden
    devmode: DeviceMode = DeviceMode.CompileAndRun
    arch: BackendDevice = BackendDevice.Wormhole_B0
    scale_loss: float = 50.0
    optimizer: dict[str, Any] | None = field(default_factory=lambda: {"type": "sgd", "params": {"learning_rate": 50.0}})
    scheduler: dict[str, Any] | None = None
    epochs: int = 1
    steps: int = 1
    accumulation_steps: int = 1
    microbatch_count: int = 1
    epoch_breaks: list[str] = field(default_factory=list)
    fp32_fallback: DataFormat = DataFormat.Float16_b
    skip_shutdown: bool = False
    tti_path: str | None = None
    checkpoint_interval: int = 1
    enable_input_gradient_checking: bool = True
    enable_parameter_gradient_checking: bool = True

    def __post_init__(self) -> None:
        for name in ("rtol", "atol"):
            value = getattr(self, name)
            if isinstance(value, int | float):
                setattr(self, name, dict.fromkeys(FLOAT_TYPES, value))
            elif not isinstance(value, dict):
                raise OptionError(f"VerifyConfig: {name} is {value!r}; expected a number, or a dictionary by type")
        self.pcc = 0.99 if self.pcc is None else self.pcc
        check_float(self.fp32_fallback, "VerifyConfig: fp32_fallback")
        for name, kind in (
            ("test_kind", TestKind), ("devtype", BackendType), ("devmode", DeviceMode), ("arch", BackendDevice),
        ):  # fmt: skip
            if not isinstance(getattr(self, name), kind):
                raise OptionError(f"VerifyConfig: {name} is {getattr(self, name)!r}; expected one of {kind.__name__}")
        for name in ("epochs", "steps", "accumulation_steps", "microbatch_count"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise OptionError(f"VerifyConfig: {name} is {value!r}; expected 1 or more")

    @classmethod
    def disabled(cls) -> VerifyConfig:
        """Returns a configuration that compares nothing."""
        return cls(enabled=False, verify_last=False, intermediates=False, scale_loss=1.0)

    def total_number_of_inputs(self) -> int:
        return self.epochs * self.steps * self.accumulation_steps * self.microbatch_count

    def waives(self, name: str) -> bool:
        """Returns whether a parameter is not compared."""
        return any(part in name for part in self.waive_gradient_errors)


def should_waive_gradient(param_name: str, verify_cfg: VerifyConfig) -> bool:
    return verify_cfg.waives(param_name)


_config = VerifyConfig()


def _get_global_verify_config() -> VerifyConfig:
    """Returns the configuration of the process."""
    return _config


def _set_global_verify_config(config: VerifyConfig) -> None:
    global _config
    _config = config


def _clear_global_verify_config() -> None:
    _set_global_verify_config(VerifyConfig())
