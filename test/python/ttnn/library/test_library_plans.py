# SPDX-License-Identifier: Apache-2.0
"""How the library runs ops, as it shows without a card (ttnn 0.81.1), compared with the plans of calls here.

library_plans.jsonl has a line for each of 113 calls: the programs, their compute configs, the bytes of circular buffers
of a core (negative: a tensor has them), and compile-time arguments and formats of compute kernels.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import ttnn
from _ttmlir_runtime import runtime

Plan = list[dict[str, Any]]
CASES = [json.loads(line) for line in (Path(__file__).parent / "library_plans.jsonl").read_text().splitlines()]
TYPES = {"bf16": ttnn.bfloat16, "f32": ttnn.float32, "bfp8": ttnn.bfloat8_b}
FORMATS = {"Float32": 0, "Tf32": 4, "Float16_b": 5, "Bfp8_b": 6}
REDUCTIONS = ("sum", "mean", "max", "min")
MATMUL = "bmm_large_block_zm_fused_bias_activation_metal2"


@pytest.fixture(scope="module")
def device() -> Iterator[ttnn.Device]:
    opened = ttnn.open_device(device_id=0, l1_small_size=32768)
    yield opened
    ttnn.close_device(opened)


def call(device: ttnn.Device, case: dict[str, Any]) -> None:
    """Makes the call of a case."""
    dtype = TYPES[case.get("dtype", "bf16")]

    def tensor(shape: list[int], dtype: ttnn.DataType = dtype, layout: ttnn.Layout = ttnn.TILE_LAYOUT) -> ttnn.Tensor:
        return ttnn.from_torch(torch.zeros(shape), dtype=dtype, layout=layout, device=device)

    op = case["op"]
    if op in ("matmul", "linear"):
        how: dict[str, Any] = {"dtype": TYPES[case["out"]]} if "out" in case else {}
        if op == "linear":
            how["bias"] = tensor([1, case["b"][-1]])
        other = TYPES[case["dtype_b"]] if "dtype_b" in case else dtype
        getattr(ttnn, op)(tensor(case["a"]), tensor(case["b"], other), **how)
    elif op in ("conv2d", "max_pool2d"):
        image = tensor([1, 1, case["n"] * case["h"] * case["w"], case["cin"]], layout=ttnn.ROW_MAJOR_LAYOUT)
        places = {"kernel_size": [case["k"]] * 2, "stride": [case["s"]] * 2, "padding": [case["p"]] * 2}
        if op == "max_pool2d":
            ttnn.max_pool2d(image, case["n"], case["h"], case["w"], case["cin"], *places.values(), [1, 1])
            return
        weight = ttnn.from_torch(torch.zeros(case["cout"], case["cin"], case["k"], case["k"]), dtype=dtype)
        ttnn.conv2d(input_tensor=image, weight_tensor=weight, device=device, in_channels=case["cin"],
                    out_channels=case["cout"], batch_size=case["n"], input_height=case["h"], input_width=case["w"],
                    **places)  # fmt: skip
    elif op in REDUCTIONS:
        getattr(ttnn, op)(tensor(case["a"]), dim=case["dim"])
    elif op == "sdpa":
        x = tensor(case["a"])
        ttnn.transformer.scaled_dot_product_attention(x, x, x, is_causal=case.get("causal", True))
    elif op in ("add", "mul"):
        getattr(ttnn, op)(tensor(case["a"]), tensor(case["a"]))
    else:
        getattr(ttnn, op)(tensor(case["a"]), **({"dim": -1} if op == "softmax" else {}))


def planned(call: Callable[[], None]) -> Plan:
    """Returns the programs of all functions that a call is made of."""
    found: list[dict[str, Any]] = []
    number = runtime.observe_calls(lambda device, text, perf, begun: found.extend(json.loads(text)["plan"]))
    try:
        call()
    finally:
        runtime.end_observing_calls(number)
    return found


def plan_of(device: ttnn.Device, case: dict[str, Any]) -> Plan:
    return planned(lambda: call(device, case))


def matmul_arguments(blocks: dict[str, int]) -> dict[str, int]:
    """Compile-time arguments of the library's product kernel, from the blocks of a plan."""
    height, width, depth = blocks["out_block_h"], blocks["out_block_w"], blocks["in0_block_w"]
    rows, columns = blocks["out_subblock_h"], blocks["out_subblock_w"]
    return {
        "batch": blocks["batch"], "bias_ntiles": width, "get_batch_from_reader": 0,
        "in0_block_num_tiles": height * depth, "in0_block_w": depth, "in0_num_subblocks": height // rows,
        "in0_subblock_num_tiles": rows * depth, "in1_block_num_tiles": width * depth, "in1_block_w": width,
        "in1_num_subblocks": width // columns, "num_blocks_h_dim": blocks["per_core_M"] // height,
        "num_blocks_inner_dim": blocks["num_blocks"], "num_blocks_w_dim": blocks["per_core_N"] // width,
        "out_block_num_tiles": height * width, "out_subblock_h": rows, "out_subblock_num_tiles": rows * columns,
        "out_subblock_w": columns, "untilize_out": 0,
    }  # fmt: skip


def differences(case: dict[str, Any], plan: Plan) -> list[str]:
    """Returns the parts of a case's record that the plan lacks."""
    names = [step["operation"] for step in plan]
    expected = [step["op"] for step in case["steps"]]
    if names != expected:
        return [f"programs {names}; the library has {expected}"]
    found = []

    def compare(what: str, ours: Any, theirs: Any) -> None:
        if ours != theirs:
            found.append(f"{what} {ours}; the library has {theirs}")

    for step, known in zip(plan, case["steps"], strict=True):
        name = known["op"]
        compare(f"{name}: factory", step["factory"], known.get("factory") or "")
        own = [buffer for buffer in step["buffers"] if not buffer["shared"]]
        sizes = [-buffer["bytes"] if buffer["globally_allocated"] else buffer["bytes"] for buffer in own]
        compare(f"{name}: buffers", sizes, known["buffers"])
        if known.get("compute"):
            compare(f"{name}: compute config", step.get("compute"), known["compute"])
    for kernel in case["kernels"]:
        found += kernel_differences(kernel, plan)
    return found


STEPS_OF_KERNELS = {
    MATMUL: "Matmul", "tilize_metal2": "Tilize", "softmax": "Softmax", "layernorm": "LayerNorm",
    "layernorm_large_tensor": "LayerNorm", "reduce": "Reduce", "reduce_w_neg": "Reduce", "reduce_h_neg": "Reduce",
    "eltwise_sfpu_metal2": "Unary", "eltwise_typecast": "Typecast", "fill_pad_compute": "FillPad",
}  # fmt: skip


def kernel_differences(kernel: dict[str, Any], plan: Plan) -> list[str]:
    """Compares formats and arguments of a kernel with the program that it is part of; one of several is enough."""
    name = kernel["kernel"]
    reasons: list[list[str]] = []
    for step in plan:
        if step["operation"].removesuffix("DeviceOperation") != STEPS_OF_KERNELS[name]:
            continue
        buffers = step["buffers"]
        result = {
            "formats in L1": [FORMATS[buffer["format"]] for buffer in buffers],
            "unpacked formats": [FORMATS[buffer["unpacked"]] for buffer in buffers],
        }
        known = {"formats in L1": kernel["pack_src"], "unpacked formats": kernel["unpack_dst"]}
        if "compute" in step and name != "tilize_metal2":
            result |= {"fidelity": step["compute"]["math_fidelity"],
                     "approximate": str(bool(step["compute"]["math_approx_mode"])).lower()}  # fmt: skip
            known |= {"fidelity": kernel["fidelity"], "approximate": kernel["approx"]}
        if name == MATMUL:
            result["adds in L1"] = bool(step["compute"]["packer_l1_acc"]) and step["blocks"]["num_blocks"] > 1
            known["adds in L1"] = kernel.get("packer_l1_acc", False)
        result["arguments"] = step["arguments"] | (matmul_arguments(step["blocks"]) if name == MATMUL else {})
        known["arguments"] = kernel["args"]
        reasons.append([f"{name}: {what} {result[what]}; the library has {known[what]}"
                        for what in result if result[what] != known[what]])  # fmt: skip
    return min(reasons, key=len) if reasons else [f"{name}: no program has it"]


def test_plans_are_the_library_s(device: ttnn.Device) -> None:
    """At least 95 % of the calls have the programs, compute configs, blocks, buffers and kernels of the library."""
    unequal = {}
    for case in CASES:
        if reasons := differences(case, plan_of(device, case["case"])):
            unequal[json.dumps(case["case"])] = reasons
    for name, reasons in unequal.items():
        print(name, *reasons, sep="\n  ")
    equal = len(CASES) - len(unequal)
    print(f"{equal} of {len(CASES)} plans are the library's")
    assert equal >= 0.95 * len(CASES)
