# SPDX-License-Identifier: Apache-2.0
"""The dialect and the `ttnn` functions ask one shape rule: they accept the same calls and give results the same shapes.

Calls are those of the op tables and, of each, many with one thing changed: a size of an operand, a dimension more or
less, a number of an attribute.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
import ttnn
from _ttmlir_runtime import ttnn as native
from builder.api import lowering
from builder.base.builder_apis import build_module
from builder.base.errors import TTBuilderCompileException
from builder.ttnn.ttnn_builder import TTNNBuilder
from op_cases import DTYPES, TABLE, method_name
from op_rows import Case, Operand, Row, Shape, named, row
from ttmlir.ir import MLIRError

MOST_ELEMENTS = 1 << 16  # of an operand: shapes are what counts
NO_SHAPES = {"seed", "token_index", "chunk_start_idx"}  # attributes whose width is the dialect's alone
# Sizes of images that a program may have as 0, before open sizes are known, and that kernels refuse
# (docs/differences.md).
NOT_EMPTY = {
    "channels", "in_channels", "input_depth", "input_height", "input_length", "input_width", "out_channels",
}  # fmt: skip
MUTANTS = 24  # of each op; with --slow ten times as many


def image(
    kernel: Sequence[int], *, batch: int = 2, height: int = 7, width: int = 5, channels: int = 4
) -> dict[str, Any]:
    return {
        "batch_size": batch,
        "input_height": height,
        "input_width": width,
        "kernel_size": list(kernel),
        "stride": [2, 1],
        "padding": [1, 0],
        "dilation": [1, 1],
        "channels": channels,
    }


def convolution(kernel: Sequence[int], out: int, groups: int = 1, **more: Any) -> dict[str, Any]:
    attributes = image(kernel) | {"out_channels": out, "groups": groups} | more
    attributes["in_channels"] = attributes.pop("channels")
    return attributes


POOL = {"ceil_mode": True}
STEP = {"lr": 0.1, "beta1": 0.8, "beta2": 0.99, "beta1_pow": 0.32768, "beta2_pow": 0.95, "epsilon": 1e-8} | {
    "weight_decay": 0.1
}
FILLED = row(named({"shape": [3, 4]}), named({"shape": []}), dtypes=("f32",))
# Ops whose rows in the table are of TTIR, which says it otherwise.
EXPERT = {"hidden_size": 8, "intermediate_size": 5}
OWN: dict[str, Row] = {
    "ttnn.conv2d": row(
        named(convolution((3, 2), 6, 2), input=(1, 1, 70, 4), weight=(6, 2, 3, 2), bias=(1, 1, 1, 6)),
        named(convolution((1, 1), 3), input=(2, 7, 5, 4), weight=(3, 4, 1, 1)),
    ),
    "ttnn.conv_transpose2d": row(
        named(convolution((3, 2), 6, 2, output_padding=[1, 0]), input=(1, 1, 70, 4), weight=(4, 3, 3, 2)),
        # A result of size 0 or 1 in height, by one number more or less.
        named(
            convolution((1, 1), 3, output_padding=[0, 0]) | {"input_height": 3, "padding": [2, 0]},
            input=(1, 1, 30, 4),
            weight=(4, 3, 1, 1),
        ),
    ),
    "ttnn.conv_transpose3d": row(
        named(
            {
                "in_channels": 4,
                "out_channels": 6,
                "batch_size": 1,
                "input_depth": 2,
                "input_height": 3,
                "input_width": 4,
                "kernel_size": [2, 3, 2],
                "stride": [2, 1, 2],
                "padding": [0, 1, 1, 0, 0, 0],
                "output_padding": [1, 0, 0],
                "dilation": [1, 1, 2],
                "groups": 2,
            },
            input=(1, 2, 3, 4, 4),
            weight=(4, 3, 2, 3, 2),
            bias=(1, 1, 1, 1, 6),
        ),
    ),
    "ttnn.max_pool2d": row(named(image((3, 2)) | POOL, input=(1, 1, 70, 4))),
    "ttnn.avg_pool2d": row(named(image((2, 2)) | POOL, input=(2, 7, 5, 4))),
    "ttnn.max_pool2d_with_indices": row(named(image((3, 2)) | POOL, input=(1, 1, 70, 4)), dtypes=("bf16",)),
    "ttnn.empty": FILLED,
    "ttnn.zeros": FILLED,
    "ttnn.ones": FILLED,
    "ttnn.full": row(named({"shape": [3, 4], "fill_value": 1.5})),
    "ttnn.rand": row(named({"size": [3, 4]})),
    "ttnn.arange": row(named({"start": 3, "end": 11, "step": 2}), named({"start": 9, "end": -2, "step": -3})),
    "ttnn.pad": row(named({"padding": [1, 2, 0, 3], "value": 0.0, "use_multicore": True}, input=(3, 5))),
    "ttnn.repeat": row(named({"repeat_dims": [2, 1, 3]}, input=(2, 3, 4))),
    "ttnn.upsample": row(
        named({"scale_factor": [2, 3]}, input=(1, 3, 4, 5)), named({"scale_factor": 2}, input=(1, 3, 4, 5))
    ),
    # The bias of TTIR's may also widen the product.
    "ttnn.linear": row(
        named(a=(64, 128), b=(128, 32), bias=(32,)),
        named({"transpose_b": True}, a=(33, 65), b=(17, 65), bias=(1, 17)),
        named(a=(2, 33, 65), b=(65, 17), bias=(17,)),
        named(a=(33, 65), b=(65, 17)),
    ),
    "ttnn.prod": row(named({"dim_arg": 1, "keep_dim": True}, input=(2, 3, 4))),
    "ttnn.argmax": row(named({"dim": 1, "keep_dim": False}, input=(2, 3, 4))),
    "ttnn.quantize": row(
        named({"axis": 1, "output_dtype": "si32"}, input=(2, 3, 4), scale=(3,), zero_point=(3,)),
        named({"output_dtype": "si32"}, input=(2, 3, 4), scale=(1,), zero_point=()),
        dtypes=("f32",),
        fixed={"zero_point": "i32"},
    ),
    "ttnn.layer_norm": row(named({"epsilon": 1e-5}, input=(2, 3, 8), weight=(8,), bias=(1, 8))),
    "ttnn.rms_norm": row(named({"epsilon": 1e-5}, input=(2, 3, 8), weight=(1, 1, 8))),
    "ttnn.group_norm": row(named({"num_groups": 2}, input=(2, 1, 12, 8), weight=(8,))),
    "ttnn.batch_norm_inference": row(
        named(
            {}, input=(2, 4, 3, 5), running_mean=(1, 4, 1, 1), running_var=(1, 4, 1, 1), weight=(4,), bias=(1, 4, 1, 1)
        )
    ),
    "ttnn.scaled_dot_product_attention_decode": row(
        named(
            {"is_causal": True},
            query=(1, 2, 4, 8),
            key=(2, 2, 16, 8),
            value=(2, 2, 16, 8),
            attention_mask=(2, 1, 4, 16),
            cur_pos_tensor=(2,),
        ),
        fixed={"cur_pos_tensor": "i32"},
        dtypes=("f32",),
    ),
    "ttnn.paged_scaled_dot_product_attention_decode": row(
        named(
            {"is_causal": True},
            query=(1, 2, 4, 8),
            key=(6, 2, 32, 8),
            value=(6, 2, 32, 8),
            page_table=(2, 3),
            cur_pos_tensor=(2,),
        ),
        fixed={"cur_pos_tensor": "i32", "page_table": "i32"},
        dtypes=("f32",),
    ),
    "ttnn.chunked_scaled_dot_product_attention": row(
        named({}, query=(2, 4, 32, 8), key=(6, 2, 32, 8), value=(6, 2, 32, 8), page_table=(2, 3), chunk_start_idx=(1,)),
        fixed={"chunk_start_idx": "i32", "page_table": "i32"},
        dtypes=("f32",),
    ),
    "ttnn.fill_cache": row(named({"batch_offset": 1}, cache=(3, 2, 8, 4), input=(2, 2, 5, 4))),
    "ttnn.update_cache": row(
        named({"batch_offset": 1}, cache=(3, 2, 8, 4), input=(1, 2, 2, 4), update_index=(1,)),
        fixed={"update_index": "i32"},
    ),
    "ttnn.paged_update_cache": row(
        named({}, cache=(6, 2, 8, 4), input=(1, 3, 2, 4), update_index=(3,), page_table=(3, 2)),
        named({"share_cache": True}, cache=(1, 2, 8, 4), input=(1, 3, 4, 4), update_index=(3,)),
        fixed={"update_index": "i32", "page_table": "i32"},
    ),
    "ttnn.paged_fill_cache": row(
        named({}, cache=(6, 2, 8, 4), input=(1, 2, 12, 4), page_table=(3, 2), batch_idx_tensor=(1,)),
        named({}, cache=(6, 2, 8, 4), input=(2, 2, 12, 4), page_table=(3, 2), batch_idx_tensor=(2,)),
        fixed={"batch_idx_tensor": "i32", "page_table": "i32"},
    ),
    "ttnn.adamw": row(
        named(STEP, param=(33, 65), grad=(33, 65), exp_avg=(33, 65), exp_avg_sq=(33, 65)),
        named(STEP, param=(5,), grad=(5,), exp_avg=(5,), exp_avg_sq=(5,), max_exp_avg_sq=(5,)),
    ),
    "ttnn.prepare_moe_compute_w0_w1_weights": row(
        named(EXPERT, w0=(2, 3, 8, 5), w1=(2, 3, 8, 5)),
        named(EXPERT, w0=(1, 1, 8, 5), w1=(1, 1, 8, 5), bias_0=(1, 1, 5), bias_1=(1, 1, 5)),
    ),
    "ttnn.prepare_moe_compute_w2_weights": row(
        named(EXPERT, w2=(2, 3, 5, 8)), named(EXPERT, w2=(1, 1, 5, 8), bias_2=(1, 1, 8))
    ),
    "ttnn.rotary_embedding": row(named({}, input=(1, 2, 6, 8), cos_cache=(1, 1, 8, 8), sin_cache=(1, 1, 8, 8))),
    "ttnn.rotary_embedding_llama": row(
        named({}, input=(1, 2, 6, 8), cos_cache=(1, 1, 6, 8), sin_cache=(1, 1, 6, 8), trans_mat=(1, 1, 4, 4))
    ),
}

ROWS = {name: found for function in native.functions() for found in function.rows for name in [found.op]}
FILL = {"ttnn.sampling": 1}  # what operands hold, where 0 is refused
# Sizes follow from values (test_functions.py), from the mesh (below), or are not the rule's.
OTHER_TESTS = {
    "ttnn.aggregate_tensor",
    "ttnn.all_gather",
    "ttnn.all_reduce",
    "ttnn.all_reduce_async",
    "ttnn.all_to_all",
    "ttnn.all_to_all_combine",
    "ttnn.all_to_all_dispatch",
    "ttnn.all_to_all_dispatch_metadata",
    "ttnn.collective_permute",
    "ttnn.distribute_tensor",
    "ttnn.mesh_partition",
    "ttnn.moe_compute",
    "ttnn.moe_expert_token_remap",
    "ttnn.point_to_point",
    "ttnn.reduce_scatter",
    "ttnn.slice_dynamic",
}


def calls() -> dict[str, Row]:
    """Calls that are right, of each op of TTNN: its own, or those of the op of TTIR that is called the same."""
    found = dict(OWN)
    for dialect in ("ttnn", "ttir"):
        for name, result in TABLE.items():
            op = f"ttnn.{name.partition('.')[2]}"
            if name.startswith(f"{dialect}.") and op in ROWS and op not in OTHER_TESTS and result.mesh == (1, 1):
                taken = {ods for _, ods, _ in ROWS[op].parameters}
                if all(set(case.attributes) <= taken for case in result.cases):
                    found.setdefault(op, result)
    return found


CALLS = calls()


# ---------------------------------------------------------------------- both sides


def dialect(name: str, created: Row, case: Case, dtype: str) -> list[list[int]]:
    """Shapes that the dialect infers; the builder raises when there are none."""
    shapes = [shape for shape in tensors(case)]
    dtypes = [DTYPES[created.fixed.get(key, dtype)] for key, _ in flat(case)]
    found: list[list[int]] = []

    def module(builder: TTNNBuilder) -> None:
        @builder.func(shapes, dtypes)
        def call(*arguments: Any) -> Any:
            values = list(arguments[:-1])
            operands = {
                key: [values.pop(0) for _ in operand] if isinstance(operand, list) else values.pop(0)
                for key, operand in case.items()
                if operand is not None
            }
            positional = [value for key, value in operands.items() if isinstance(key, int)]
            by_name = {key: value for key, value in operands.items() if isinstance(key, str)}
            results = getattr(builder, method_name(name))(*positional, **by_name, **case.attributes)
            results = list(results) if isinstance(results, (list, tuple)) else [results]
            results = results[: max(0, ROWS[name].results)]  # a call of an op that writes an operand gives that
            found.extend(list(builder.get_shape(result)) for result in results)
            return results[0] if results else arguments[0]

    module_, _ = build_module(module, "ttnn")
    assert module_.operation.verify()
    return found


def function(name: str, created: Row, case: Case, dtype: str) -> list[list[int]]:
    """Shapes of what the function returns, by the names of the dialect."""
    found = ROWS[name]
    public = {ods: parameter for parameter, ods, _ in found.parameters}
    kinds = {ods: kind for _, ods, kind in found.parameters}
    names = [ods for _, ods, kind in found.parameters if kind in ("tensor", "tensors")]
    arguments: dict[str, Any] = {}
    for position, (key, operand) in enumerate(case.items()):
        ods = names[position] if isinstance(key, int) else key
        make = [
            tensor(shape, created.fixed.get(key, dtype), FILL.get(name, 0))
            for shape in (operand if isinstance(operand, list) else [operand])
        ]
        arguments[public[ods]] = make if kinds[ods] == "tensors" else make[0]
    for ods, value in case.attributes.items():
        if ods == "output_dtype":
            arguments["dtype"] = ttnn.int32
        elif ods == "scatter_reduce_type":
            arguments[public[ods]] = getattr(ttnn.ReduceType, value.capitalize())
        elif ods == "mask_type":
            arguments[public[ods]] = getattr(ttnn.AttentionMaskType, value.upper())
        else:
            arguments[public[ods]] = value
    made_by = next(each for each in native.functions() if name in each.ops)
    for parameter in made_by.parameters:
        if parameter.name == "device" and not parameter.omissible:
            arguments["device"] = ttnn.GetDefaultDevice() or ttnn.open_device(device_id=0)
        if parameter.name in ("dtype", "layout") and not parameter.omissible:
            arguments[parameter.name] = {"dtype": ttnn.float32, "layout": ttnn.TILE_LAYOUT}[parameter.name]
    call: Any = ttnn
    for part in made_by.name.split("."):
        call = getattr(call, part)
    results = call(**arguments)
    return [
        list(result.shape)
        for result in ([] if results is None else results if isinstance(results, tuple) else [results])
    ]


def tensor(shape: Shape | None, dtype: str, value: int = 0) -> Any:
    types = {
        "f32": ttnn.float32,
        "bf16": ttnn.bfloat16,
        "i32": ttnn.int32,
        "i1": ttnn.bool if hasattr(ttnn, "bool") else ttnn.uint8,
    }
    return None if shape is None else ttnn.full(list(shape), value, dtype=types[dtype], layout=ttnn.TILE_LAYOUT)


def flat(case: Case) -> Iterator[tuple[str | int, Shape]]:
    for key, operand in case.items():
        for shape in operand if isinstance(operand, list) else [operand]:
            if isinstance(shape, tuple):
                yield key, shape


def tensors(case: Case) -> list[Shape]:
    return [shape for _, shape in flat(case)]


# ---------------------------------------------------------------------- calls with one thing changed


def other_number(draw: random.Random, value: int) -> int:
    return draw.choice([0, -1, 1, 2, value - 1, value + 1, value + 2, 2 * value, -value])


def other_shape(draw: random.Random, shape: Shape) -> Shape:
    sizes, kind = list(shape), draw.randrange(6)
    if kind == 0:
        sizes.insert(draw.randint(0, len(sizes)), draw.choice([1, 2]))
    elif kind == 1 and sizes:
        sizes.pop(draw.randrange(len(sizes)))
    elif kind == 2 and len(sizes) > 1:
        i, j = draw.sample(range(len(sizes)), 2)
        sizes[i], sizes[j] = sizes[j], sizes[i]
    elif sizes:
        at = draw.randrange(len(sizes))
        sizes[at] = max(0, other_number(draw, sizes[at]))
    return tuple(sizes)


def other_value(draw: random.Random, value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return other_number(draw, value)
    if isinstance(value, (list, tuple)) and all(isinstance(n, int) for n in value):
        values, kind = list(value), draw.randrange(4)
        if kind == 0:
            values.append(draw.choice([0, 1]))
        elif kind == 1 and values:
            values.pop()
        elif values:
            at = draw.randrange(len(values))
            values[at] = other_number(draw, values[at])
        return values
    return value


def mutant(draw: random.Random, case: Case) -> Case:
    operands: dict[str | int, Operand] = dict(case.items())
    attributes: dict[str, Any] = dict(case.attributes)
    for _ in range(draw.choice([1, 1, 1, 2])):
        names = sorted(set(attributes) - NO_SHAPES)
        if names and draw.random() < 0.5:
            name = draw.choice(names)
            attributes[name] = other_value(draw, attributes[name])
        elif operands:
            key = draw.choice(sorted(operands, key=str))
            operand = operands[key]
            if isinstance(operand, list) and operand:
                at = draw.randrange(len(operand))
                operands[key] = [other_shape(draw, shape) if i == at else shape for i, shape in enumerate(operand)]
            elif isinstance(operand, tuple):
                operands[key] = other_shape(draw, operand)
    return Case(operands if isinstance(case.operands, Mapping) else list(operands.values()), attributes)


def is_small(case: Case) -> bool:
    sizes = [1]
    for shape in tensors(case):
        count = 1
        for size in shape:
            count *= size
        sizes.append(count)
    return max(sizes) <= MOST_ELEMENTS


def usable(case: Case) -> bool:
    """Not for here: numbers for constants, empty images, and what a function takes for an op's (a dimension of
    `permute` counted from the end, -1 in the shape of a `reshape`)."""
    said_otherwise = [n for name in ("permutation", "shape") for n in case.attributes.get(name, ()) if n < 0]
    is_empty = any(case.attributes.get(name) == 0 for name in NOT_EMPTY)
    return (
        is_small(case)
        and not said_otherwise
        and not is_empty
        and not any(isinstance(each, float) for _, each in case.items())
    )


# ---------------------------------------------------------------------- tests


def verdict(ask: Any, *arguments: Any) -> tuple[list[list[int]] | None, str]:
    try:
        return ask(*arguments), ""
    except (
        TTBuilderCompileException,
        MLIRError,
        RuntimeError,
        ValueError,
        TypeError,
    ) as error:  # OpError is a RuntimeError
        return None, f"{type(error).__name__}: {error}"


@pytest.fixture(autouse=True)
def one_context(monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds the modules of a test in one context, which takes longer to make than to build and verify one of them."""
    monkeypatch.setattr(lowering, "Context", functools.cache(lowering.Context))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", sorted(CALLS))
def test_dialect_and_function_agree(name: str, seed: int, request: pytest.FixtureRequest) -> None:
    result = CALLS[name]
    cases = [case for case in result.cases if usable(case)]
    if not cases:
        pytest.fail(f"{name} has no case to begin with")
    draw = random.Random(f"{name}{seed}")
    count = MUTANTS * (10 if request.config.getoption("--slow") else 1)
    mutants = [mutant(draw, draw.choice(cases)) for _ in range(count)]
    accepted = 0
    for case in [*cases, *filter(usable, mutants)]:
        dtype = result.dtypes[0]
        inferred, why = verdict(dialect, name, result, case, dtype)
        returned, why_not = verdict(function, name, result, case, dtype)
        assert inferred == returned, f"{name} of {case}: the dialect {inferred} {why}; ttnn {returned} {why_not}"
        accepted += inferred is not None
    assert accepted >= len(cases), f"{name}: only {accepted} calls are right"
