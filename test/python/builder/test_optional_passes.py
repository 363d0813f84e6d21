# SPDX-License-Identifier: Apache-2.0
"""Passes that change how something is computed, by what they compute."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
import torch
from builder.base.builder_apis import compile_ttir_to_flatbuffer
from builder.base.builder_runtime import execute_fb
from builder.base.builder_utils import create_custom_ttir_pipeline_fn


@pytest.mark.parametrize("config", ["ttnn", "ttmetal", "cpu-fallback"])
def test_decompositions_compute_the_same(config: str, tmp_path: Path) -> None:
    def build(builder: Any) -> None:
        @builder.func([(2, 3, 4, 5), (5, 2, 6, 3)], [torch.float32] * 2)
        def model(x: Any, y: Any, builder: Any) -> Any:
            dot = builder.dot_general(x, y, [0], [1, 3], [1], [3, 0])
            part = builder.index(x, dim=3, begin=1, end=5, step=2)
            return dot, builder.squeeze(builder.unsqueeze(part, dim=0), dim=0)

    pipeline = f"ttir-to-ttir-decomposition{{config={config}}},ttir-to-ttnn-backend-pipeline"
    _, path, goldens, _ = compile_ttir_to_flatbuffer(
        build, output_root=str(tmp_path), custom_pipeline=create_custom_ttir_pipeline_fn(pipeline)
    )
    assert execute_fb(path, goldens, pcc=0.9999).passed


def test_collectives_in_a_block_format(tmp_path: Path) -> None:
    """Rounded to 8 bits, and less on the links."""

    def build(builder: Any) -> None:
        @builder.func([(256, 512)], [torch.bfloat16])
        def model(x: Any, builder: Any) -> Any:
            mine = builder.mesh_shard(x, "devices", "full_to_shard", (1, 2), (-1, 1))
            whole = builder.all_gather(mine, all_gather_dim=1, cluster_axis=1)
            return builder.mesh_shard(whole, "replicate", "shard_to_full", (1,), (-1,))

    mesh = OrderedDict([("x", 1), ("y", 2)])
    for option in ("false", "true"):
        _, path, goldens, _ = compile_ttir_to_flatbuffer(
            build,
            mesh_dict=mesh,
            output_root=str(tmp_path / option),
            pipeline_options=[f"enable-activation-dtype-lowering={option}"],
        )
        # Blocks of 8 bits are within a percent; bf16 is sent as it is.
        assert execute_fb(path, goldens, pcc=0.999 if option == "true" else 1.0).passed
