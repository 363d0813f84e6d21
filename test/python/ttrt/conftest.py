# SPDX-License-Identifier: Apache-2.0
"""Flatbuffers to look into, and the tool as a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from builder.base.builder_apis import build_module
from ttmlir.passes import ttir_to_ttnn_backend_pipeline, ttnn_to_flatbuffer_file
from ttrt.__main__ import main


def two_programs(builder: Any) -> None:
    """main(x, y) = softmax(x @ w + y) with a constant w; other(x) = exp(x)."""
    weight = torch.linspace(-1, 1, 65 * 17).reshape(65, 17)

    @builder.func([(33, 65), (1, 17)], [torch.float32, torch.float32])
    def main(x, y, builder):
        return builder.softmax(builder.add(builder.matmul(x, builder.constant(weight)), y), dimension=1)

    @builder.func([(32, 32)], [torch.bfloat16])
    def other(x, builder):
        return builder.exp(x)


def one_program(builder: Any) -> None:
    @builder.func([(2, 3), (2, 3)], [torch.int32, torch.int32])
    def add(x, y, builder):
        return builder.add(x, y)


def logarithm(builder: Any) -> None:
    """Only positive values have one."""

    @builder.func([(33, 65)], [torch.float32])
    def log(x, builder):
        return builder.log(x)


def on_mesh(builder: Any) -> None:
    @builder.func([(64, 32)], [torch.float32])
    def meshed(x, builder):
        options = {"shard_type": "devices", "shard_shape": [1, 2], "shard_dims": [-1, 1]}
        part = builder.mesh_shard(x, shard_direction="full_to_shard", **options)
        return builder.mesh_shard(builder.exp(part), shard_direction="shard_to_full", **options)


def compiled(folder: Path, build: Callable[[Any], None], mesh: tuple[int, int] = (1, 1), options: str = "") -> str:
    module, _ = build_module(build, "ttir", mesh_dict={"x": mesh[0], "y": mesh[1]})
    ttir_to_ttnn_backend_pipeline(module, f"mesh-shape={mesh[0]},{mesh[1]} {options}")
    path = folder / f"{build.__name__}.ttnn"
    ttnn_to_flatbuffer_file(module, path)
    return str(path)


@dataclass(frozen=True)
class Files:
    two: str
    one: str
    logarithm: str
    mesh: str
    blackhole: str


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder, other = tmp_path_factory.mktemp("ttnn"), tmp_path_factory.mktemp("blackhole")
    return Files(
        compiled(folder, two_programs),
        compiled(folder, one_program),
        compiled(folder, logarithm),
        compiled(folder, on_mesh, (1, 2)),
        compiled(other, one_program, options="mock-system-desc-arch=blackhole"),
    )


@pytest.fixture
def flatbuffer(tmp_path: Path) -> Callable[[Callable[[Any], None]], str]:
    """Compiles what a function builds."""
    return lambda build: compiled(tmp_path, build)


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture
def ttrt(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Runs the tool with arguments; wrong usage is exit code 2, too."""

    def call(*arguments: str) -> Outcome:
        capsys.readouterr()
        try:
            code = main(arguments)
        except SystemExit as leave:
            code = int(leave.code or 0)
        out, err = capsys.readouterr()
        return Outcome(code, out, err)

    return call
