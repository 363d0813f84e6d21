# SPDX-License-Identifier: Apache-2.0
"""Variables of the environment that set options, and which values they have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..capture.formats import DataFormat, MathFidelity
from ..capture.trace import Precision
from ..enums import CompileDepth, Named, PerfTraceLevel

WEIGHTS = r"(^|\.|_)(weights?\d*|bias)$"
AMP_SWITCHES: dict[str, dict[str, list[Precision]]] = {
    "PYBUDA_AMP_LIGHT": {
        "0": [],
        "1": [
            Precision(name_regex=WEIGHTS, output_df=DataFormat.Bfp8_b),
            Precision(op_type="matmul", math_fidelity=MathFidelity.HiFi2),
        ],
        "2": [
            Precision(name_regex=WEIGHTS, output_df=DataFormat.Bfp4_b),
            Precision(op_type="matmul", math_fidelity=MathFidelity.LoFi),
        ],
    },
    "PYBUDA_AMP_LEVEL": {
        "0": [],
        "1": [
            Precision(name_regex="", output_df=DataFormat.Bfp8_b),
            Precision(op_type="Softmax", output_df=DataFormat.Float16_b),
            Precision(op_type="Layernorm", output_df=DataFormat.Float16_b),
            Precision(op_type="matmul", math_fidelity=MathFidelity.HiFi2),
        ],
    },
}


def _switch(option: str, is_off: bool = False) -> tuple[str, dict[str, Any]]:
    return option, {"1": not is_off, "0": is_off}


def _members(kind: type[Named]) -> Callable[[], dict[str, Any]]:
    return lambda: {member.name.lower(): member for member in kind}


# Variables of the environment that set options, and the options' values by theirs.
VARIABLES: dict[str, tuple[str, Any]] = {
    "PYBUDA_PERFORMANCE_TRACE": ("performance_trace", _members(PerfTraceLevel)),
    "PYBUDA_COMPILE_DEPTH": ("compile_depth", _members(CompileDepth)),
    "PYBUDA_DEFAULT_DF": ("default_df_override", _members(DataFormat)),
    "PYBUDA_DISABLE_OP_FUSING": _switch("enable_auto_fusing", is_off=True),
    "PYBUDA_ENABLE_INPUT_QUEUES_ON_HOST": _switch("input_queues_on_host"),
    "PYBUDA_ENABLE_OUTPUT_QUEUES_ON_HOST": _switch("output_queues_on_host"),
    "PYBUDA_DEFAULT_DRAM_PARAMETERS": _switch("default_dram_parameters"),
    "PYBUDA_PRESTRIDE_DISABLE": _switch("enable_conv_prestride", is_off=True),
    "PYBUDA_DISABLE_STABLE_SOFTMAX": _switch("enable_stable_softmax", is_off=True),
    "PYBUDA_DISABLE_ENUMERATE_U_KT": _switch("enable_enumerate_u_kt", is_off=True),
    "PYBUDA_ENABLE_SINGLE_BUFFER_FALLBACK": _switch("enable_single_buffer_fallback"),
    "PYBUDA_CONVERT_PARAMS_TO_TVM": _switch("convert_framework_params_to_tvm"),
    "PYBUDA_ENABLE_DEVICE_TILIZE": _switch("enable_device_tilize"),
    "PYBUDA_ENABLE_FORKED_DRAM_INPUTS": _switch("enable_forked_dram_inputs"),
}
