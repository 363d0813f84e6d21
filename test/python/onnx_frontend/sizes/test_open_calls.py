# SPDX-License-Identifier: Apache-2.0
"""Models with open sizes that are called often: by several threads, at changing sizes, and opened many times."""

from __future__ import annotations

import gc
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import ttmlir.onnx as tt
from onnx import TensorProto, helper

THREADS, TURNS = 4, 20
LARGEST = 40


def attention() -> onnx.ModelProto:
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["x", "t"], ["s"]),
        helper.make_node("Softmax", ["s"], ["p"], axis=-1),
        helper.make_node("MatMul", ["p", "x"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "length", 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "net", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def expected(x: Any) -> Any:
    scores = np.exp(x @ x.transpose(0, 2, 1))
    return scores / scores.sum(-1, keepdims=True) @ x


def drawn(draw: random.Random) -> Any:
    return np.random.default_rng(draw.randrange(1000)).standard_normal(
        (draw.randint(1, 5), draw.randint(1, LARGEST), 8)
    ).astype(np.float32)  # fmt: skip


def memory() -> float:
    """Returns the resident memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def test_threads_call_one_model_at_different_sizes() -> None:
    model = tt.compile(attention())
    failed: list[BaseException] = []

    def call(seed: int) -> None:
        draw = random.Random(seed)
        try:
            for _ in range(TURNS):
                x = drawn(draw)
                np.testing.assert_allclose(model(x), expected(x), rtol=1e-3, atol=1e-4)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=call, args=(seed,)) for seed in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert not failed and not any(thread.is_alive() for thread in threads)
    assert 1 <= len(model._opened) <= 2  # one more where the first call has equal sizes, which are one size then


def growth(turn: Callable[[], object], first: int, count: int) -> float:
    """Returns by how many MB memory grows over `count` turns, behind the first ones."""
    for _ in range(first):
        turn()
    gc.collect()
    before = memory()
    for _ in range(count):
        turn()
    gc.collect()
    return memory() - before


@pytest.mark.slow
def test_calls_at_changing_sizes_keep_memory() -> None:
    model, draw = tt.compile(attention()), random.Random(0)
    assert growth(lambda: model(drawn(draw)), 1000, 2000) < 25


@pytest.mark.slow
def test_models_that_are_dropped_leave_nothing() -> None:
    draw = random.Random(0)

    def turn() -> None:
        model = tt.compile(attention())
        for _ in range(3):
            model(drawn(draw))

    assert growth(turn, 10, 50) < 25
