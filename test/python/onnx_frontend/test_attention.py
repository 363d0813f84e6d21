# SPDX-License-Identifier: Apache-2.0
"""Attention and rotary embeddings of both domains, compared with the evaluator and onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import ttmlir.onnx as tt
from compared import computed
from onnx import helper
from single import check, expected_of, node_model, typed
from ttmlir.onnx import OnnxError

MICROSOFT = "com.microsoft"


def floats(*shape: int, by: float = 1.0, seed: int = 0, dtype: Any = np.float32) -> Any:
    return (by * np.random.default_rng(seed + sum(shape)).standard_normal(shape)).astype(dtype)


def heads(batch: int = 2, queries: int = 6, keys: int = 3, rows: int = 4, columns: int = 5, size: int = 8,
          value: int = 8, dtype: Any = np.float32) -> list[Any]:  # fmt: skip
    return [
        floats(batch, queries, rows, size, dtype=dtype), floats(batch, keys, columns, size, seed=1, dtype=dtype),
        floats(batch, keys, columns, value, seed=2, dtype=dtype),
    ]  # fmt: skip


MASKS = {
    "none": None, "bool": np.random.default_rng(3).random((4, 5)) < 0.6, "float": floats(2, 1, 4, 5),
    "heads": floats(6, 4, 5), "short": floats(4, 3), "hidden": np.array([[False] * 5] * 2 + [[True] * 5] * 2),
}  # fmt: skip


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"is_causal": 1},
        {"softcap": 2.0},
        {"scale": 0.3},
        {"softmax_precision": 16},
        {"is_causal": 1, "softcap": 1.5},
    ],
    ids=str,
)
def test_masks(mask: str, attributes: dict[str, Any]) -> None:
    check("Attention", [*heads(value=3), MASKS[mask]], oracle="reference", opset=23, tolerance=1e-2 if
          "softmax_precision" in attributes else None, **attributes)  # fmt: skip


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
@pytest.mark.parametrize("mask", ["none", "float", "hidden"])
def test_scores(mask: str, mode: int) -> None:
    # The evaluator's form 0 has softcap, other than the definition's.
    options: dict[str, Any] = {"is_causal": 1, "softcap": 2.0 if mode else 0.0, "qk_matmul_output_mode": mode}
    model, given = node_model("Attention", [*heads(), MASKS[mask]], 4, opset=23, **options)
    expected = expected_of(model, given, "reference")
    found = computed(typed(model, expected), given)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.maximum(x, -1e30), np.maximum(y, -1e30), rtol=1e-4, atol=1e-5)


def test_a_mask_of_one_key() -> None:
    """Is for all keys in version 23, and hides the others from version 24 on."""
    q, k, v = heads()
    for opset, mask in ((23, floats(4, 1)), (24, floats(4, 1)), (24, np.ones((4, 1), bool))):
        hides = opset > 23
        expected = np.repeat(v[:, :, :1], 2, 1).repeat(4, 2) if hides else None
        if expected is None:
            check("Attention", [q, k, v, np.repeat(mask, 5, 1)], oracle="reference", opset=23)
            model, given = node_model("Attention", [q, k, v, np.repeat(mask, 5, 1)], opset=23)
            (expected,) = expected_of(model, given, "reference")
        check("Attention", [q, k, v, mask], expected=[expected], opset=opset)


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_types(dtype: Any) -> None:
    check("Attention", heads(dtype=dtype), oracle="reference", opset=23, is_causal=1)


@pytest.mark.parametrize("attributes", [{}, {"is_causal": 1}])
def test_caches(attributes: dict[str, Any]) -> None:
    past = [floats(2, 3, 2, 8, seed=4), floats(2, 3, 2, 8, seed=5)]
    check("Attention", [*heads(), floats(4, 7), *past], 3, oracle="reference", opset=23, **attributes)
    counts = np.array([3, 5], np.int64)
    check("Attention", [*heads(), None, None, None, counts], oracle="reference", opset=24, **attributes)


@pytest.mark.parametrize("bounds", [(1, -1), (-1, 1), (2, 0), (0, 0)])
@pytest.mark.parametrize("causal", [0, 1])
def test_windows(bounds: tuple[int, int], causal: int) -> None:
    options = {"left_window_size": bounds[0], "right_window_size": bounds[1], "is_causal": causal}
    check("Attention", heads(), oracle="reference", opset=25, **options)


def test_three_dimensions() -> None:
    operands = [floats(2, 4, 6 * 8), floats(2, 5, 3 * 8), floats(2, 5, 3 * 4)]
    check("Attention", operands, oracle="reference", opset=23, q_num_heads=6, kv_num_heads=3)


@pytest.mark.parametrize(
    ("operands", "attributes", "text"),
    [
        (heads(queries=5), {}, "a number of their heads that divides"),
        ([floats(2, 4, 48), floats(2, 5, 24), floats(2, 5, 24)], {"q_num_heads": 5, "kv_num_heads": 3}, "with 5 heads"),
        ([*heads(), floats(3, 7)], {}, "expected a shape that broadcasts"),
        ([*heads(), None, floats(2, 3, 2, 8)], {}, "expected past_key and past_value"),
        (heads(), {"qk_matmul_output_mode": 7}, "expected 0, 1, 2 or 3"),
    ],
)
def test_refused(operands: list[Any], attributes: dict[str, Any], text: str) -> None:
    model, given = node_model("Attention", operands, opset=24, **attributes)
    with pytest.raises(OnnxError, match=text):
        computed(typed(model, [np.zeros(1, np.float32)]), given)


#
# Rotary embeddings
#


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("width", [0, 4])
@pytest.mark.parametrize("rank", [3, 4])
def test_rotary_embeddings(rank: int, width: int, interleaved: int) -> None:
    x = floats(2, 5, 3 * 8) if rank == 3 else floats(2, 3, 5, 8)
    caches = [floats(12, (width or 8) // 2), floats(12, (width or 8) // 2, seed=1)]
    places = np.random.default_rng(0).integers(0, 12, (2, 5))
    options: dict[str, Any] = {"interleaved": interleaved}
    if width:
        options["rotary_embedding_dim"] = width
    more = {"num_heads": 3} if rank == 3 else {}
    check("RotaryEmbedding", [x, *caches, places], oracle="reference", opset=23, **options, **more)
    each = [floats(2, 5, (width or 8) // 2), floats(2, 5, (width or 8) // 2, seed=1)]
    check("RotaryEmbedding", [x, *each], oracle="reference", opset=23, **options, **more)
    more = {"num_heads": 3} if width else {}
    for given in (places, np.array([3])):
        check("RotaryEmbedding", [x, given, *caches], domain=MICROSOFT, **options, **more)


#
# com.microsoft
#

PADDINGS: list[Any] = [
    None, np.array([3, 5]), np.array([4, 5, 1, 0]), np.array([[1, 1, 0, 1, 1], [0, 1, 1, 1, 0]]),
    np.random.default_rng(0).integers(0, 2, (2, 4, 5)),
]  # fmt: skip


@pytest.mark.parametrize("padding", range(5))
@pytest.mark.parametrize(
    "attributes", [{}, {"unidirectional": 1}, {"mask_filter_value": -1.0}, {"scale": 0.7}], ids=str
)
@pytest.mark.parametrize("past", [0, 1])
def test_merged_projections(padding: int, attributes: dict[str, Any], past: int) -> None:
    rows = 4 if past else 5
    mask = PADDINGS[padding]
    if mask is not None and mask.ndim == 3:
        mask = mask[:, :rows] if past else np.concatenate([mask, mask[:, :1]], 1)
    mask = None if mask is None else mask.astype(np.int32)
    operands = [floats(2, rows, 6), floats(6, 3 * 12, by=0.5), floats(36), mask]
    if past:
        operands += [floats(2, 2, 3, 1, 4)]
    check("Attention", operands, 2, domain=MICROSOFT, num_heads=3, tolerance=1e-3, **attributes)


def test_projections_of_other_sizes() -> None:
    operands = [floats(2, 4, 6), floats(6, 12 + 12 + 9, by=0.5), floats(33), None, None, floats(1, 3, 4, 4)]
    sizes = {"qkv_hidden_sizes": [12, 12, 9]}
    check("Attention", operands, domain=MICROSOFT, num_heads=3, tolerance=1e-3, **sizes)


def test_quantized_projections() -> None:
    random = np.random.default_rng(0)
    x, weights = (
        random.integers(0, 256, (2, 4, 6)).astype(np.uint8),
        random.integers(-128, 128, (6, 36)).astype(np.int8),
    )
    scales = random.uniform(0.005, 0.02, 36).astype(np.float32)
    operands = [x, weights, floats(36), np.float32(0.02), scales, None, np.uint8(117), np.zeros(36, np.int8)]
    check("QAttention", operands, 2, domain=MICROSOFT, num_heads=3, tolerance=1e-3, weights=(1, 7))


@pytest.mark.parametrize("form", ["rows", "heads", "past"])
@pytest.mark.parametrize("padding", [0, 1, 3, 4])
@pytest.mark.parametrize("attributes", [{}, {"unidirectional": 1}, {"scale": 0.7}], ids=str)
def test_multi_head_attention(form: str, padding: int, attributes: dict[str, Any]) -> None:
    mask = None if PADDINGS[padding] is None else PADDINGS[padding].astype(np.int32)
    count = 4 if form == "past" else 5
    key, value = floats(2, count, 12), floats(2, count, 12, seed=1)
    operands: list[Any] = [floats(2, 4, 12), key, value, floats(36), mask, floats(1, 3, 4, 5)]
    if form == "heads":
        operands[1:4] = [floats(2, 3, 5, 4), floats(2, 3, 5, 4, seed=1), None]
    if form == "past":
        operands += [floats(2, 3, 1, 4), floats(2, 3, 1, 4, seed=1)]
    outputs = 3 if form == "past" else 1
    check("MultiHeadAttention", operands, outputs, domain=MICROSOFT, num_heads=3, tolerance=1e-3, **attributes)


def test_packed_operands_are_those_next_to_each_other() -> None:
    """onnxruntime has none on the CPU."""
    q, k, v = (floats(2, 4, 3, 4, seed=i) for i in range(3))
    flat = [x.reshape(2, 4, 12) for x in (q, k, v)]
    model, given = node_model("MultiHeadAttention", flat, domain=MICROSOFT, num_heads=3)
    expected = computed(typed(model, [flat[0]]), given)
    every = [np.stack([q, k, v], 3)]
    check("MultiHeadAttention", every, expected=expected, domain=MICROSOFT, num_heads=3)
    check("MultiHeadAttention", [flat[0], np.stack([k, v], 3)], expected=expected, domain=MICROSOFT, num_heads=3)


def group_query(
    batch: int, rows: int, past: int, buffer: int, lasts: list[int], packed: bool = False, rotary: bool = False,
    bias: bool = False, sink: bool = False, outputs: int = 3, **attributes: Any,
) -> None:  # fmt: skip
    """A call with 6 and 2 heads of 16; rows of caches behind a sequence's last one have any value."""
    total = rows + past
    q, k, v = floats(batch, rows, 96), floats(batch, rows, 32, seed=1), floats(batch, rows, 32, seed=2)
    operands: list[Any] = [np.concatenate([q, k, v], 2), None, None] if packed else [q, k, v]
    operands += [floats(batch, 2, buffer, 16, seed=i) if buffer else None for i in (3, 4)]
    operands += [np.array(lasts, np.int32), np.array(total, np.int32)]
    operands += [floats(16, 8), floats(16, 8, seed=1)] if rotary else [None, None]
    operands += [None, floats(1, 6, rows, total) if bias else None, floats(6) if sink else None]
    attributes |= {"num_heads": 6, "kv_num_heads": 2, "do_rotary": int(rotary)}
    model, given = node_model("GroupQueryAttention", operands, outputs, domain=MICROSOFT, **attributes)
    expected = expected_of(model, given, "runtime")
    found = computed(typed(model, expected), given, ["i6"])
    for n, (x, y) in enumerate(zip(found, expected, strict=True)):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        for b, last in enumerate(lasts):
            part = np.s_[b, :, : last + 1] if n in (1, 2) else np.s_[b, ..., : last + 1] if n == 3 else np.s_[b]
            np.testing.assert_allclose(x[part], y[part], rtol=1e-3, atol=1e-4)


OPTIONS: list[dict[str, Any]] = [
    {}, {"packed": True}, {"rotary": True}, {"rotary": True, "rotary_interleaved": 1}, {"bias": True}, {"sink": True},
    {"smooth_softmax": 1}, {"softcap": 2.0, "scale": 0.3}, {"local_window_size": 2}, {"outputs": 4, "qk_output": 1},
    {"outputs": 4, "qk_output": 2, "local_window_size": 3},
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_group_query_attention(options: dict[str, Any]) -> None:
    group_query(2, 5, 0, 0, [4, 4], **options)  # a prompt
    group_query(2, 5, 0, 8, [4, 4], **options)  # a prompt in a cache with room
    group_query(3, 1, 5, 5, [5, 2, 4], **options)  # a step of sequences of different lengths
    group_query(3, 1, 5, 9, [5, 2, 4], **options)
    group_query(1, 3, 4, 4, [6], **options)  # several steps


def test_steps_of_a_decoder_have_one_program() -> None:
    """The mask is as long as the past and the new rows together, which its name in the file does not say."""
    sizes = {"q": ["b", 4, "s", 8], "k": ["b", 2, "s", 8], "v": ["b", 2, "s", 8], "mask": ["b", 1, "s", "t"],
             "past_k": ["b", 2, "p", 8], "past_v": ["b", 2, "p", 8]}  # fmt: skip
    node = helper.make_node("Attention", list(sizes), ["y", "new_k", "new_v"], is_causal=1)
    kind = helper.make_tensor_value_info
    results = [kind("y", 1, ["b", 4, "s", 8]), kind("new_k", 1, ["b", 2, "n", 8]), kind("new_v", 1, ["b", 2, "n", 8])]
    graph = helper.make_graph([node], "g", [kind(name, 1, shape) for name, shape in sizes.items()], results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
    compiled = tt.load(model)
    for past in (0, 7, 8, 9, 10, 25):
        rows = 1 if past else 7
        given = {"q": floats(1, 4, rows, 8), "k": floats(1, 2, rows, 8), "v": floats(1, 2, rows, 8, seed=1),
                 "mask": floats(1, 1, rows, rows + past), "past_k": floats(1, 2, past, 8, seed=2),
                 "past_v": floats(1, 2, past, 8, seed=3)}  # fmt: skip
        for x, y in zip(compiled(**given), expected_of(model, given, "reference"), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
    assert len(compiled._opened) == 1
    assert len(compiled._fixed) == 2  # the prompt, and the first step


@pytest.mark.parametrize(
    ("op", "operands", "attributes", "text"),
    [
        ("Attention", [floats(2, 4, 6), floats(6, 36), None, np.zeros((3, 4), np.int32)], {}, "none of the forms"),
        ("Attention", [floats(2, 4, 6), floats(6, 36), None], {"do_rotary": 1}, "do_rotary"),
        ("MultiHeadAttention", [floats(2, 4, 12)], {}, "expected key and value with the query"),
        ("MultiHeadAttention", [floats(2, 4, 13), floats(2, 4, 12), floats(2, 4, 12)], {}, "with 3 heads"),
        ("PagedAttention", [floats(2, 4)], {}, "layouts or pages of another device"),
        ("BeamSearch", [floats(2, 4)], {}, "token by token"),
    ],
)
def test_refused_ops(op: str, operands: list[Any], attributes: dict[str, Any], text: str) -> None:
    model, given = node_model(op, operands, domain=MICROSOFT, num_heads=3, **attributes)
    with pytest.raises(OnnxError, match=text):
        computed(typed(model, [np.zeros(1, np.float32)]), given)
