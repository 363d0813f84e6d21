# SPDX-License-Identifier: Apache-2.0
"""Methods of the StableHLO builder in addition to the dialect's ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from builder.base.builder_apis import build_module, compile_and_execute_shlo
from builder.stablehlo.stablehlo_builder import StableHLOBuilder
from builder.ttir.ttir_builder import TTIRBuilder
from ttmlir.ir import Context, StringAttr

Body = Callable[..., Any]


def program(body: Body, *shapes: tuple[int, ...], dtype: torch.dtype = torch.float32) -> Body:
    def make(builder: Any) -> None:
        builder.func(list(shapes), [dtype] * len(shapes))(named(body, len(shapes)))

    return make


def named(body: Body, count: int) -> Body:
    def main(*operands: Any) -> Any:
        return body(*operands)

    return main


def built(body: Body, *shapes: tuple[int, ...], **how: Any) -> tuple[Any, Any]:
    return build_module(program(body, *shapes, **how), "stablehlo")


def golden(builder: Any, name: str) -> torch.Tensor:
    return builder.golden_map[0][0][name].shard_at(0)


def ran(body: Body, *shapes: tuple[int, ...]) -> None:
    compile_and_execute_shlo(program(body, *shapes), check_atol=True, atol=1e-5)


def ops_of(module: Any, name: str) -> list[Any]:
    return [
        op.operation
        for function in module.body.operations
        if function.operation.name == "func.func"
        for op in function.regions[0].blocks[0].operations
        if op.operation.name == name
    ]


POOLS: dict[str, tuple[dict[str, Any], Callable[[torch.Tensor], torch.Tensor]]] = {
    "side by side": ({"kernel_size": [2, 3]}, lambda x: torch.nn.functional.max_pool2d(x, (2, 3))),
    "strides": (
        {"kernel_size": [3, 3], "stride": [1, 2], "padding": [1, 1]},
        lambda x: torch.nn.functional.max_pool2d(x, 3, (1, 2), 1),
    ),
    "means": (
        {"kernel_size": [3, 2], "stride": [2, 1], "padding": [1, 0], "pool_type": "avg"},
        lambda x: torch.nn.functional.avg_pool2d(x, (3, 2), (2, 1), (1, 0)),
    ),
    "other edges": (
        {"kernel_size": [2, 2], "stride": [1, 1], "padding": [0, 1, 1, 0], "pool_type": "avg"},
        lambda x: torch.nn.functional.avg_pool2d(torch.nn.functional.pad(x, (1, 0, 0, 1)), 2, 1),
    ),
}


@pytest.mark.parametrize("name", POOLS)
def test_pooling(name: str) -> None:
    how, expected = POOLS[name]

    def body(x: Any, b: Any) -> Any:
        return b.pool_2d(x, **how)

    _, builder = built(body, (2, 3, 6, 7))
    torch.testing.assert_close(golden(builder, "output_0"), expected(golden(builder, "input_0")))
    ran(body, (2, 3, 6, 7))


@pytest.mark.parametrize(
    ("how", "shape", "dtype", "message"),
    [
        ({"kernel_size": [2]}, (1, 1, 4, 4), torch.float32, r"kernel_size is \[2\]; expected 2 integers of at least 1"),
        ({"kernel_size": [2, 0]}, (1, 1, 4, 4), torch.float32, "kernel_size is .*; expected 2 integers of at least 1"),
        (
            {"kernel_size": [2, 2], "padding": [1]},
            (1, 1, 4, 4),
            torch.float32,
            "padding is .*; expected 2 or 4 integers",
        ),
        ({"kernel_size": [2, 2], "pool_type": "sum"}, (1, 1, 4, 4), torch.float32, "is 'sum'; expected max or avg"),
        ({"kernel_size": [2, 2]}, (1, 4, 4), torch.float32, "in0 has rank 3; expected 4"),
        ({"kernel_size": [2, 2]}, (1, 1, 4, 4), torch.int32, "in0 has elements i32; expected a floating-point type"),
    ],
)
def test_pooling_that_cannot_be(how: dict[str, Any], shape: tuple[int, ...], dtype: torch.dtype, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        built(lambda x, b: b.pool_2d(x, **how), shape, dtype=dtype)


def test_shape_of_gathered_values() -> None:
    def body(x: Any, b: Any) -> Any:
        assert b.infer_all_gather_output_shape(x, 1, [[0, 1, 2], [3, 4, 5]]) == [2, 15]
        assert b.infer_all_gather_output_shape(x, -2, None) == [2, 5]
        with pytest.raises(ValueError, match="dimension 2 of a tensor of rank 2; expected -2 to 1"):
            b.infer_all_gather_output_shape(x, 2, None)
        return x

    built(body, (2, 5))


def halved(x: Any, b: Any) -> Any:
    return b.mul(b.tanh(x), b.constant(torch.full((2, 3), 0.5)))


def test_composites() -> None:
    """By a function of the builder, by the name of one of the module, and by the function itself."""

    def body(x: Any, b: Any) -> Any:
        first = b.composite("my.op", [x], halved, composite_attributes={"mode": StringAttr.get("a", b.context)})
        second = b.composite("my.op", [first], "halved")
        (function,) = (op for op in b._module_block().operations if str(op.sym_name) == '"halved"')
        return b.composite("my.op", [second], function)

    module, builder = built(body, (2, 3))
    assert str(module).count("func.func private @halved") == 1
    assert '{composite_attributes = {mode = "a"}, decomposition = @halved}' in str(module)
    expected = golden(builder, "input_0")
    for _ in range(3):
        expected = expected.tanh() / 2
    torch.testing.assert_close(golden(builder, "output_0"), expected)
    ran(body, (2, 3))


def test_composites_of_no_function() -> None:
    with pytest.raises(ValueError, match="composite: the module has no function 'nobody'"):
        built(lambda x, b: b.composite("my.op", [x], "nobody"), (2, 3))
    with pytest.raises(TypeError, match="decomposition is a int; expected a function or its name"):
        built(lambda x, b: b.composite("my.op", [x], 3), (2, 3))


def test_ops_that_are_called_by_name() -> None:
    """Attention whose values are parts of the keys, and the scores of an indexer."""

    def latent(q: Any, k: Any, mask: Any, b: Any) -> Any:
        return (
            b.flash_mla_prefill(q, k, 16),
            b.flash_mla_prefill(q, k, 16, attention_mask=mask, scale=0.3),
            b.flash_mla_prefill(q, k, 24, value=k, is_causal=False),
        )

    def score(q: Any, k: Any, w: Any, b: Any) -> Any:
        return b.indexer_score_dsa(q, k, w), b.indexer_score_dsa(q, k, w, chunk_start_idx=3)

    ran(latent, (1, 4, 8, 24), (1, 2, 8, 24), (1, 1, 8, 8))
    ran(score, (2, 4, 5, 8), (2, 1, 9, 8), (2, 4, 5, 1))
    with pytest.raises(ValueError, match=r"query, key and weights have ranks \[4, 4, 3\]; expected 4"):
        built(score, (2, 4, 5, 8), (2, 1, 9, 8), (2, 4, 5))


# Modules


def body_of_two(x: Any, b: Any) -> Any:
    return b.reduce([b.exp(x)], [b.constant(torch.tensor(0.0))], [1], "add")


def test_a_module_becomes_its_parts() -> None:
    module, builder = built(body_of_two, (2, 5))
    (reduce,) = ops_of(module, "stablehlo.reduce")
    part, own = builder.split_op(reduce)
    assert isinstance(own, StableHLOBuilder)
    assert [len(ops_of(part, name)) for name in ("stablehlo.reduce", "stablehlo.exponential")] == [1, 0]
    torch.testing.assert_close(golden(own, "input_0"), golden(builder, "input_0").exp())
    torch.testing.assert_close(golden(own, "output_0"), golden(builder, "output_0"))
    parts = StableHLOBuilder.split_module(module, builder)
    assert [name for name in ("exponential", "constant", "reduce") for p, _ in parts if f"@{name}(" in str(p)] == [
        "exponential", "constant", "reduce"]  # fmt: skip
    with pytest.raises(ValueError, match=r"stablehlo\.reduce: no such op with goldens in the module of this builder"):
        own_builder = built(lambda x, b: b.exp(x), (2, 5))[1]
        own_builder.split_op(reduce)


def test_a_builder_of_text() -> None:
    module, _ = built(body_of_two, (2, 5))
    x = torch.randn(2, 5)
    again, builder = StableHLOBuilder.from_module(Context(), str(module), {"main": [x]})
    assert type(builder) is StableHLOBuilder
    assert str(again) == str(module)
    torch.testing.assert_close(golden(builder, "output_0"), x.exp().sum(1))


def test_classes_by_name() -> None:
    for cls, name in ((StableHLOBuilder, "stablehlo.add"), (TTIRBuilder, "ttir.add"), (TTIRBuilder, "debug.annotate")):
        assert name == cls.build_opname_to_opview_map()[name].OPERATION_NAME
    assert "ttir.add" not in StableHLOBuilder.build_opname_to_opview_map()
