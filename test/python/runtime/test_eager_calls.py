# SPDX-License-Identifier: Apache-2.0
"""Ops called one by one give the bits that the executor gives, with the shapes that the compiler inferred."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from op_cases import TABLE, build_cases, lowered
from op_gaps import GAPS
from ttmlir.passes import ttnn_to_flatbuffer_bin

CHECK = Path(__file__).resolve().parents[3] / "build" / "bin" / "ttrt-eager-check"
# Random indices fit no result: test/unittests/api has slices of it.
NOT_WITH_RANDOM_INDICES = {"ttir.slice_dynamic", "stablehlo.dynamic_slice", "stablehlo.dynamic_update_slice"}
NAMES = [name for name in sorted(TABLE) if name not in {*GAPS, *NOT_WITH_RANDOM_INDICES}]
# Every op by itself takes minutes; some of each family come with every run.
SAMPLE = """add all_gather argmax avg_pool2d batch_norm_training broadcast concat conv2d conv_transpose2d div embedding
    gather group_norm layer_norm linear matmul max max_pool2d mesh_shard pad permute pow reduce_scatter repeat reshape
    scatter scaled_dot_product_attention slice_static softmax sort split_query_key_value_and_split_heads sum topk
    transpose typecast update_cache upsample2d where"""


def marked(name: str) -> pytest.ParameterSet | str:
    return name if name.removeprefix("ttir.") in SAMPLE.split() else pytest.param(name, marks=pytest.mark.slow)


@pytest.mark.parametrize("name", [marked(name) for name in NAMES])
def test_calls_give_the_bits_of_the_executor(name: str, tmp_path: Path) -> None:
    assert CHECK.exists(), f"{CHECK} is missing; build the target ttrt-eager-check"
    result, files = TABLE[name], []
    for dtype in result.dtypes:
        module, _ = build_cases(name, result, result.cases, dtype)
        file = tmp_path / f"{dtype}.ttnn"
        file.write_bytes(ttnn_to_flatbuffer_bin(lowered(module, result.mesh)))
        files.append(str(file))
    done = subprocess.run([CHECK, *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
