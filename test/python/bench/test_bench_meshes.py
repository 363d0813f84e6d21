# SPDX-License-Identifier: Apache-2.0
"""The program of one chip, which benchmarks of meshes compare with that of the mesh: it gives what the mesh gives."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

sys.path.append(str(Path(__file__).resolve().parents[3]))
pytest.importorskip("jax", reason="jax is not installed: pip install 'ttmlir[jax]'")

from bench.meshes import MODELS, ZOO
from bench.meshes.programs import in_shards, of_one_chip, sides, splits_of
from bench.meshes.ranks import AXES, mlp, store

MESH = (2, 2)


@pytest.mark.long
@pytest.mark.parametrize("name", ["llama", "experts", "training"])
def test_chips_alone_give_what_the_mesh_gives(name: str) -> None:
    model = ZOO.SMALL[name]
    values = [torch.from_numpy(value) for value in model.values()]
    weights = [i >= model.inputs for i in range(len(values))]
    text = model.text(MESH, annotate=True, everywhere=True)
    found = sides(text, values, weights, MESH)
    assert found.collectives >= 1 and found.sent > 0
    assert len(found.mesh()) <= len(found.chips()[0])
    assert len(found.chips()) == 4


def test_the_program_of_one_chip_exchanges_nothing() -> None:
    ttir, results = in_shards(ZOO.SMALL["llama"].text(MESH, annotate=True, everywhere=True))
    assert results == 1 and "ttir.all_reduce" in ttir and "ttcore.meshes" in ttir
    assert splits_of(ttir)[0] == (0, -1)
    alone = of_one_chip(ttir)
    assert "ttir.all_reduce" not in alone and "mesh" not in alone.replace("device_module", "")


def test_collectives_of_loops_are_refused() -> None:
    text = """sdy.mesh @mesh = <["x"=1, "y"=2]>
    func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
                    %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x8xf32> {
      %n = stablehlo.constant dense<0> : tensor<i32>
      %end = stablehlo.constant dense<3> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %r:2 = stablehlo.while(%k = %n, %v = %x) : tensor<i32>, tensor<8x8xf32>
       cond {
        %p = stablehlo.compare LT, %k, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      } do {
        %m = stablehlo.add %k, %one : tensor<i32>
        %u = stablehlo.dot_general %v, %w, contracting_dims = [1] x [0]
          : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
        stablehlo.return %m, %u : tensor<i32>, tensor<8x8xf32>
      }
      return %r#1 : tensor<8x8xf32>
    }"""
    ttir, _ = in_shards(text)
    with pytest.raises(ValueError, match="1 of 1 collectives are not ops of the function itself"):
        of_one_chip(ttir)


def test_there_is_a_row_for_each_model_and_way() -> None:
    assert set(MODELS) == {"Llama block", "BERT", "ResNet-50", "mixture of experts", "training step of an MLP"}


@pytest.mark.parametrize("way", AXES)
def test_ranks_have_a_program(way: str, tmp_path: Path) -> None:
    store(mlp(*AXES[way]), tmp_path / "mlp.ttnn")
    assert (tmp_path / "mlp.ttnn").stat().st_size > 1000
