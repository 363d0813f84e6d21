# SPDX-License-Identifier: Apache-2.0
"""Random graphs with random shardings on random meshes, some completed by auto-sharding, give what one chip gives."""

from __future__ import annotations

import random

import pytest
import torch
from random_graphs import annotated, integers_of, random_graph, random_mesh
from sharded_programs import executed, in_shards

GRAPHS, SLOW_GRAPHS = 40, 2000


@pytest.mark.long
def test_random_graphs_compute_the_same(request: pytest.FixtureRequest) -> None:
    seed = request.config.getoption("--seed")
    for number in range(SLOW_GRAPHS if request.config.getoption("--slow") else GRAPHS):
        rng = random.Random(f"{seed} graphs {number}")
        model = random_graph(rng, rng.randint(5, 40), side=rng.choice([24, 32, 32]))
        mesh = random_mesh(rng)
        inputs = integers_of(model)
        [expected], *_ = executed(model.text, (1, 1), inputs)
        text = annotated(rng, model, mesh)
        for options in ("", "enable-auto-sharding=true"):
            where = f"graph {number} on {mesh} {options}, --seed={seed}\n{text}"
            try:
                found = in_shards(text, mesh, inputs, options)
            except Exception as error:
                raise AssertionError(f"{error}\n{where}") from error
            for shard in found[0]:
                assert torch.equal(expected, shard), where
